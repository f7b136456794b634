/* hdr.c - Radiance pictures (.hdr, .pic).
 *
 * A file has lines of text up to an empty one, a line with the size and the orientation, and scan
 * lines of pixels whose three mantissas share an exponent. EXPOSURE and COLORCORR say by what the
 * stored values were multiplied, so they are divided by them. A reader holds the picture as four
 * bytes for each pixel. XYZE and pictures that are stored turned are refused. */
#include "base/file.h"
#include "base/mem.h"
#include "image/flat/flat.h"

/* --- scan lines ----------------------------------------------------------------------------
 *
 * A line is stored as it stands; in old run lengths, where a pixel 1 1 1 n repeats the one before;
 * or, from 8 to 32767 pixels, in new ones, each component for itself. */

enum { NEW_SHORTEST = 8, NEW_LONGEST = 32767, RUN_FLAG = 128 };

/* The bytes of a file in memory that are still to be read. */
typedef struct {
    const uint8_t *at, *end;
} cursor;

static bool cut_off(err *e) {
    return err_set(e, ERR_DATA, "the file is cut off within a scan line");
}

static bool read_new(uint8_t *line, size_t n, cursor *in, err *e) {
    const uint8_t *p = in->at, *end = in->end;
    for (size_t c = 0; c < 4; c++) {
        for (size_t x = 0; x < n;) {
            if (p == end) return cut_off(e);
            size_t count = *p++;
            bool run = count > RUN_FLAG;
            if (run) count -= RUN_FLAG;
            if (count == 0 || count > n - x)
                return err_set(e, ERR_DATA, "a run of %zu pixels at %zu in a scan line of %zu",
                               count, x, n);
            if ((size_t)(end - p) < (run ? 1 : count)) return cut_off(e);
            for (size_t i = 0; i < count; i++) line[4 * (x + i) + c] = run ? *p : p[i];
            p += run ? 1 : count;
            x += count;
        }
    }
    in->at = p;
    return true;
}

/* Runs that follow each other count in units of 1, 256, 65536: eight bits of the length each. */
static bool read_old(uint8_t *line, size_t n, cursor *in, err *e) {
    const uint8_t *p = in->at, *end = in->end;
    int shift = 0;
    for (size_t x = 0; x < n;) {
        if (end - p < 4) return cut_off(e);
        if (p[0] == 1 && p[1] == 1 && p[2] == 1) {
            size_t count = shift < 32 ? (size_t)p[3] << shift : 0;
            if (x == 0 || count > n - x || shift >= 32)
                return err_set(e, ERR_DATA, "a run of %zu pixels at %zu in a scan line of %zu",
                               count, x, n);
            for (; count > 0; count--, x++) memcpy(line + 4 * x, line + 4 * (x - 1), 4);
            shift += 8;
        } else {
            memcpy(line + 4 * x++, p, 4);
            shift = 0;
        }
        p += 4;
    }
    in->at = p;
    return true;
}

static bool read_line(uint8_t *line, size_t n, cursor *in, err *e) {
    const uint8_t *p = in->at, *end = in->end;
    bool is_new = n >= NEW_SHORTEST && n <= NEW_LONGEST && end - p >= 4 && p[0] == 2 && p[1] == 2 &&
                  !(p[2] & 0x80);
    if (!is_new) return read_old(line, n, in, e);
    size_t says = (size_t)p[2] << 8 | p[3];
    if (says != n)
        return err_set(e, ERR_DATA, "a scan line says it has %zu pixels, not %zu", says, n);
    in->at += 4;
    return read_new(line, n, in, e);
}

typedef struct {
    flat_file flat; /* pixels: four bytes each, as in the file */
    double divide[3];
    double aspect; /* height / width of a pixel */
    float primaries[8];
    bool has_primaries;
} hdr_reader;

/* Reads `count` finite numbers, all or none. */
static bool numbers(const char *s, double *to, int count) {
    double v[8];
    for (int i = 0; i < count; i++) {
        char *end;
        v[i] = strtod(s, &end);
        if (end == s || !isfinite(v[i])) return false;
        s = end;
    }
    memcpy(to, v, (size_t)count * sizeof *to);
    return true;
}

/* Reads the variable of one line of the header, if it is one that counts. */
static bool read_variable(hdr_reader *r, const char *line, err *e) {
    enum { FORMAT, EXPOSURE, CORRECTION, ASPECT, PRIMARIES, VARIABLES };
    static const struct {
        const char *name;
        int count; /* of its numbers */
        const char *kind;
    } KNOWN[VARIABLES] = {{"FORMAT=", 0, ""},
                          {"EXPOSURE=", 1, "a positive number"},
                          {"COLORCORR=", 3, "three positive numbers"},
                          {"PIXASPECT=", 1, "a positive number"},
                          {"PRIMARIES=", 8, "eight numbers"}};
    int which = 0;
    while (which < VARIABLES && strncmp(line, KNOWN[which].name, strlen(KNOWN[which].name)) != 0)
        which++;
    if (which == VARIABLES) return true;
    const char *v = line + strlen(KNOWN[which].name);
    const int n = KNOWN[which].count;
    double x[8];
    bool ok = numbers(v, x, n);
    for (int i = 0; i < n && which != PRIMARIES; i++) ok = ok && x[i] > 0;
    if (!ok)
        return err_set(e, ERR_DATA, "%s%.*s is not %s", KNOWN[which].name, n == 8 ? 60 : 40, v,
                       KNOWN[which].kind);
    for (int c = 0; c < 3 && (which == EXPOSURE || which == CORRECTION); c++)
        r->divide[c] *= x[n == 3 ? c : 0];
    if (which == ASPECT) r->aspect *= x[0];
    for (int i = 0; i < 8 && which == PRIMARIES; i++) r->primaries[i] = (float)x[i];
    r->has_primaries |= which == PRIMARIES;
    if (which != FORMAT || strcmp(v, "32-bit_rle_rgbe") == 0) return true;
    if (strcmp(v, "32-bit_rle_xyze") != 0)
        return err_set(e, ERR_DATA, "the pixel format '%.40s' is unknown", v);
    return err_set(e, ERR_DATA,
                   "the pixels are XYZE, which is not supported; convert them to RGBE "
                   "first (Radiance's ra_xyze -r)");
}

enum { LONGEST_LINE = 2048 };

static bool take_line(char line[LONGEST_LINE], cursor *in, err *e) {
    const uint8_t *stop = memchr(in->at, '\n', (size_t)(in->end - in->at));
    if (!stop) return err_set(e, ERR_DATA, "the file is cut off within its header");
    size_t n = (size_t)(stop - in->at);
    if (n >= LONGEST_LINE)
        return err_set(e, ERR_DATA, "a line of the header has %zu characters", n);
    memcpy(line, in->at, n);
    if (n > 0 && line[n - 1] == '\r') n--;
    line[n] = 0;
    in->at = stop + 1;
    return true;
}

/* Takes the line of the size: "-Y 480 +X 640" is a picture whose rows go down, from the left. */
static bool take_size(flat_size *size, cursor *in, err *e) {
    char line[LONGEST_LINE], sign[2], axis[2];
    uint64_t length[2];
    int used = 0;
    if (!take_line(line, in, e)) return false;
    bool ok = sscanf(line, " %c%c %9" SCNu64 " %c%c %9" SCNu64 " %n", &sign[0], &axis[0],
                     &length[0], &sign[1], &axis[1], &length[1], &used) == 6 &&
              line[used] == 0;
    for (int i = 0; ok && i < 2; i++)
        ok = (sign[i] == '+' || sign[i] == '-') && (axis[i] == 'X' || axis[i] == 'Y');
    if (!ok || axis[0] == axis[1])
        return err_set(e, ERR_DATA, "the line of the size, '%.60s', is damaged", line);
    if (sign[0] != '-' || axis[0] != 'Y' || sign[1] != '+')
        return err_set(e, ERR_DATA,
                       "the picture is stored turned, as '%.60s'; only '-Y HEIGHT +X WIDTH' is "
                       "read: oiiotool IN -o OUT.exr makes one that is upright",
                       line);
    *size = (flat_size){length[1], length[0], 3, false};
    return true;
}

static bool take_pixels(hdr_reader *r, cursor *in, err *e) {
    size_t n = r->flat.width, lines = r->flat.height;
    if (lines > (size_t)(in->end - in->at) / 4) /* a line has a pixel, or as many bytes of head */
        return err_set(e, ERR_DATA, "the file is cut off: %zu bytes do not hold %zu scan lines",
                       (size_t)(in->end - in->at), lines);
    uint8_t *pixels = r->flat.pixels = mem_raw(n * lines, 4, "the picture", e);
    if (!pixels) return false;
    for (size_t i = 0; i < lines; i++)
        if (!read_line(pixels + 4 * n * i, n, in, e))
            return err_in(e, "scan line %zu of %zu", i, lines);
    return true;
}

static bool read_row(void *ctx, size_t i, int worker, err *e) {
    const hdr_reader *r = ctx;
    size_t width = r->flat.width;
    float unit[256];
    unit[0] = 0; /* an exponent of 0 means black */
    for (int k = 1; k < 256; k++) unit[k] = ldexpf(1, k - 136);
    const uint8_t *line = (const uint8_t *)r->flat.pixels + 4 * width * (r->flat.row + i);
    for (int c = 0; c < 3; c++) {
        float *to = r->flat.plane[r->flat.picture.colour[c]];
        for (size_t x = 0; to && x < width; x++)
            to[i * width + x] =
                (float)((float)line[4 * x + (size_t)c] * unit[line[4 * x + 3]] / r->divide[c]);
    }
    return true;
}

static bool parse(hdr_reader *r, cursor *in, const image_limits *limits, image_header *h, err *e) {
    char line[LONGEST_LINE];
    flat_size size;
    do
        if (!take_line(line, in, e) || !read_variable(r, line, e)) return false;
    while (line[0]);
    if (!take_size(&size, in, e) || !flat_header(&r->flat, h, &size, limits, e)) return false;
    image_part *p = &h->part[0];
    p->aspect = (float)(1 / r->aspect);
    const primaries gamut = primaries_from_floats(r->primaries);
    if (r->has_primaries && !image_set_primaries(p, &gamut, e)) return false;
    if (!take_pixels(r, in, e)) return false;
    h->behind = (uint64_t)(in->end - in->at);
    return true;
}

static void *hdr_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    hdr_reader *r = flat_new(sizeof *r, read_row, threads, e);
    if (!r) return NULL;
    r->divide[0] = r->divide[1] = r->divide[2] = r->aspect = 1;
    /* 4 bytes hold 3 samples; run lengths of one pixel each, the worst, need twice as many. */
    size_t n, room = 1 << 20, most = SIZE_MAX / 4;
    if (limits->samples < most / 4) most = (size_t)limits->samples * 3 + room;
    OWN_MEM uint8_t *bytes = file_read_all(path, most, &n, e);
    if (bytes && parse(r, &(cursor){bytes, bytes + n}, limits, h, e)) return r;
    flat_close(r);
    return NULL;
}

const image_format FORMAT_HDR = {
    .name = "hdr",
    .extensions = "hdr,pic,rgbe",
    .magic = {"#?"},
    .open = hdr_open,
    .read = flat_read,
    .close = flat_close,
};
