#include "kernel/spectrum_file.h"

#include "base/file.h"
#include "base/mem.h"
#include "kernel/spectrum_resample.h"
#include "math/lengths.h"

/* The file is little-endian, and so are the hosts; its parts are written as they lie in memory. A
 * host of the other kind would have to turn every number around here and in psf_hash. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "see above");

/* As in PNG: what a transfer as text, 7-bit or cut at ^Z would do to a file shows here. */
static const uint8_t MAGIC[8] = {0x89, 'F', 'B', 'S', '\r', '\n', 0x1a, '\n'};

/* docs/inside/formats.md describes it. Behind it: scale and sum, one double each per channel; the
 * taps; the values; the checksum of all of that. */
typedef struct {
    uint8_t magic[8];
    uint32_t version, head_bytes;
    uint64_t file_bytes;
    uint32_t w, h, channels, cx, cy, m[2], filter_taps;
    uint32_t normalize, center, correlate;
    float wide; /* kernel_scale x / y over the pixel aspect, less 1: 0 is that of square pixels */
    double at[2], size, luminance[3];
    hash128 kernel;
    double turn; /* in files of SPECTRUM_FILE_TURNED alone */
} file_head;
_Static_assert(sizeof(file_head) == 144, "the layout is that of docs/inside/formats.md");

static uint32_t head_of(uint32_t version) {
    return version < SPECTRUM_FILE_TURNED ? offsetof(file_head, turn) : sizeof(file_head);
}

enum { PART_SCALE, PART_SUM, PART_TAPS, PART_VALUES, PARTS };
typedef struct {
    void *data;
    size_t bytes;
} part;

static void list_parts(const spectrum *s, part to[PARTS]) {
    const psf *k = &s->kernel;
    to[PART_SCALE] = (part){(void *)k->scale, k->channels * sizeof *k->scale};
    to[PART_SUM] = (part){(void *)k->sum, k->channels * sizeof *k->sum};
    to[PART_TAPS] = (part){k->tap, (size_t)k->w * k->h * k->channels * sizeof *k->tap};
    to[PART_VALUES] = (part){s->value, spectrum_floats(s) * sizeof *s->value};
}

static uint64_t file_bytes(const spectrum *s, uint32_t version) {
    part p[PARTS];
    list_parts(s, p);
    uint64_t sum = head_of(version) + sizeof(hash128);
    for (int i = 0; i < PARTS; i++) sum += p[i].bytes;
    return sum;
}

bool spectrum_file_write(const char *path, const spectrum *s, err *e) {
    file_out *f = file_out_open(path, FILE_OWN, e);
    return f && spectrum_file_write_to(f, s, e);
}

bool spectrum_file_write_to(file_out *to, const spectrum *s, err *e) {
    OWN(file_out) *f = to;
    const psf *k = &s->kernel;
    const psf_options *o = &k->made;
    const uint32_t version = o->turn == 0 ? SPECTRUM_FILE_VERSION : SPECTRUM_FILE_TURNED;
    file_head head = {.version = version,
                      .head_bytes = head_of(version),
                      .file_bytes = file_bytes(s, version),
                      .w = k->w,
                      .h = k->h,
                      .channels = k->channels,
                      .cx = k->cx,
                      .cy = k->cy,
                      .m = {s->m[0], s->m[1]},
                      .filter_taps = RESAMPLE_TAPS,
                      .normalize = o->normalize,
                      .center = o->center,
                      .correlate = o->correlate,
                      .wide = (float)(o->wide - 1),
                      .at = {o->at[0], o->at[1]},
                      .size = o->size,
                      .luminance = {o->luminance[0], o->luminance[1], o->luminance[2]},
                      .kernel = psf_hash(k),
                      .turn = o->turn};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    part p[PARTS];
    list_parts(s, p);
    hash_state sum;
    hash_begin(&sum);
    hash_add(&sum, &head, head.head_bytes);
    uint64_t at = head.head_bytes;
    bool ok = file_out_write(f, 0, &head, head.head_bytes, e);
    for (int i = 0; ok && i < PARTS; at += p[i++].bytes) {
        hash_add(&sum, p[i].data, p[i].bytes);
        ok = file_out_write(f, at, p[i].data, p[i].bytes, e);
    }
    hash128 checksum = hash_end(&sum);
    return ok && file_out_write(f, at, &checksum, sizeof checksum, e) && file_out_commit(&f, e);
}

bool spectrum_file_is(const char *path) {
    uint8_t magic[sizeof MAGIC];
    OPEN(file_in) *f = file_in_open(path, NULL);
    return f && file_in_size(f) >= sizeof magic && file_in_read(f, 0, magic, sizeof magic, NULL) &&
           memcmp(magic, MAGIC, sizeof magic) == 0;
}

/* Checks all that can be known before anything else is read. */
static bool check_head(const file_head *h, err *e) {
    if (memcmp(h->magic, MAGIC, sizeof MAGIC) != 0)
        return err_set(e, ERR_DATA, "it does not begin as a .spectrum file does");
    if (h->version > SPECTRUM_FILE_TURNED)
        return err_set(e, ERR_DATA,
                       "it is of version %u, newer than the %d that this program knows: update the "
                       "program or make the file again with this one",
                       h->version, SPECTRUM_FILE_TURNED);
    if (h->version == 0) return err_set(e, ERR_DATA, "its version is 0; the first one is 1");
    if (h->head_bytes != head_of(h->version) || h->filter_taps != RESAMPLE_TAPS)
        return err_set(
            e, ERR_DATA,
            "its head is damaged: %u bytes of head and %u filter taps; %u and %d are expected",
            h->head_bytes, h->filter_taps, head_of(h->version), RESAMPLE_TAPS);
    if (!(h->wide > -1 && h->wide < 1e6f) || (h->version == 1 && h->wide != 0))
        return err_set(e, ERR_DATA,
                       "its head is damaged: a width of %g by the height, in version %u",
                       1 + (double)h->wide, h->version);
    if (h->version == SPECTRUM_FILE_TURNED && !(h->turn > 0 && h->turn < 360))
        return err_set(e, ERR_DATA, "its head is damaged: a turn of %g degrees", h->turn);
    if (h->w == 0 || h->h == 0 || h->w > PSF_SIDE || h->h > PSF_SIDE || h->channels == 0 ||
        h->channels > PSF_CHANNELS)
        return err_set(
            e, ERR_DATA,
            "it claims %u x %u taps in %u channels; 1 to %d a side in 1 to %d are possible", h->w,
            h->h, h->channels, PSF_SIDE, PSF_CHANNELS);
    if (h->cx >= h->w || h->cy >= h->h || h->m[0] != length_next(2 * h->w, 2) ||
        h->m[1] != length_next(2 * h->h, 2))
        return err_set(e, ERR_DATA,
                       "its %u x %u taps do not go with the centre %u, %u and the grid %u x %u",
                       h->w, h->h, h->cx, h->cy, h->m[0], h->m[1]);
    if (h->normalize > PSF_NONE || h->center > PSF_AT || h->correlate > 1)
        return err_set(
            e, ERR_DATA,
            "its settings are none that exist (normalize %u, kernel_center %u, correlate %u)",
            h->normalize, h->center, h->correlate);
    return true;
}

/* The exponent bits of infinities and NaN are all ones. */
static bool all_finite(const float *v, size_t n) {
    uint32_t bad = 0, bits;
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, v + i, sizeof bits);
        bad |= (bits & 0x7f800000) == 0x7f800000;
    }
    return !bad;
}

/* Reads and checks what follows the head. The sizes decide how long the file must be, so a false
 * size is found before memory is asked for: no more than the file has. */
static bool read_parts(spectrum *s, const file_head *head, const file_in *f, err *e) {
    psf *k = &s->kernel;
    uint64_t want = file_bytes(s, head->version), bytes = file_in_size(f), at = head->head_bytes;
    if (head->file_bytes != want)
        return err_set(e, ERR_DATA,
                       "it claims to have %" PRIu64 " bytes; for what it holds it needs %" PRIu64,
                       head->file_bytes, want);
    if (bytes < want)
        return err_set(e, ERR_DATA,
                       "it is cut short: %" PRIu64 " of its %" PRIu64 " bytes are there", bytes,
                       want);
    if (bytes > want)
        return err_set(e, ERR_DATA, "%" PRIu64 " bytes follow after its end", bytes - want);
    k->tap = mem_raw((size_t)k->w * k->h * k->channels, sizeof *k->tap, "kernel", e);
    s->value = k->tap ? mem_raw(spectrum_floats(s), sizeof *s->value, "kernel spectrum", e) : NULL;
    if (!s->value) return false;
    part p[PARTS];
    list_parts(s, p);
    hash_state sum;
    hash_begin(&sum);
    hash_add(&sum, head, head->head_bytes);
    for (int i = 0; i < PARTS; at += p[i++].bytes) {
        if (!file_in_read(f, at, p[i].data, p[i].bytes, e)) return false;
        hash_add(&sum, p[i].data, p[i].bytes);
    }
    hash128 claimed, found = hash_end(&sum);
    if (!file_in_read(f, at, &claimed, sizeof claimed, e)) return false;
    if (found.lo != claimed.lo || found.hi != claimed.hi)
        return err_set(e, ERR_DATA, "it is damaged: its checksum does not match its content");
    bool numbers = all_finite(k->tap, (size_t)k->w * k->h * k->channels) &&
                   all_finite(s->value, spectrum_floats(s));
    for (uint32_t c = 0; c < k->channels; c++)
        numbers = numbers && isfinite(k->scale[c]) && isfinite(k->sum[c]);
    if (!numbers) return err_set(e, ERR_DATA, "it holds numbers that are not finite");
    const hash128 own = psf_hash(k);
    if (own.lo != head->kernel.lo || own.hi != head->kernel.hi)
        return err_set(e, ERR_DATA, "its kernel is not the one whose hash it carries");
    return true;
}

bool spectrum_file_read(spectrum *to, const char *path, err *e) {
    file_head h = {0};
    OPEN(file_in) *f = file_in_open(path, e);
    if (!f) return false;
    const uint64_t total = file_in_size(f);
    const bool ok =
        total >= head_of(1)
            ? file_in_read(f, 0, &h, min_u64(total, sizeof h), e) && check_head(&h, e)
            : err_set(e, ERR_DATA, "%" PRIu64 " bytes are too few for a .spectrum file", total);
    if (!ok) return err_in(e, "spectrum '%s'", path);
    spectrum s = {.m = {h.m[0], h.m[1]},
                  .kernel = {.w = h.w, .h = h.h, .channels = h.channels, .cx = h.cx, .cy = h.cy}};
    s.kernel.made = (psf_options){.normalize = (psf_normalize)h.normalize,
                                  .center = (psf_center)h.center,
                                  .at = {h.at[0], h.at[1]},
                                  .correlate = h.correlate,
                                  .size = h.size,
                                  .wide = 1 + (double)h.wide,
                                  .turn = h.version < SPECTRUM_FILE_TURNED ? 0 : h.turn};
    memcpy(s.kernel.made.luminance, h.luminance, sizeof h.luminance);
    if (!read_parts(&s, &h, f, e)) return spectrum_free(&s), err_in(e, "spectrum '%s'", path);
    *to = s;
    return true;
}
