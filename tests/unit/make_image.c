#include "unit/make_image.h"

#include "base/file.h"
#include "unit/check.h"

#include <sys/stat.h>
#include <unistd.h>

uint64_t make_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double make_chance(uint64_t *state) {
    return (double)(make_random(state) >> 11) * 0x1p-53;
}

uint32_t make_below(uint64_t *state, uint32_t n) {
    return (uint32_t)(make_random(state) % n);
}

static void add_channels(image_part *p, const char *list, err *e) {
    char name[256], type[16];
    for (int n; sscanf(list, " %255[^: ]:%15s%n", name, type, &n) == 2; list += n) {
        pixel_type t = PIXEL_UINT;
        while (strcmp(type, pixel_name(t)) != 0) t++;
        CHECK_OK(image_add_channel(p, name, t, e), *e);
    }
}

/* A slope, a bright disc, and a little noise in the low bits. */
static float shape_at(uint32_t x, uint32_t y, const image_part *p, int c, uint64_t *seed) {
    float u = (float)x / (float)image_width(p), v = (float)y / (float)image_height(p);
    float value = 0.1f + u * 0.5f + v * 0.25f * (float)(c + 1);
    if (hypotf(u - 0.3f, v - 0.6f) < 0.1f) value += 900;
    return value + 0.01f * (float)(make_random(seed) >> 40) * 0x1p-24f;
}

static void fill(image *img, int part, uint64_t *seed) {
    const image_part *p = &img->head.part[part];
    for (int c = 0; c < p->channels; c++)
        for (uint32_t y = 0, i = 0; y < image_height(p); y++)
            for (uint32_t x = 0; x < image_width(p); x++, i++) {
                float v = shape_at(x, y, p, c, seed);
                image_from_float(img->plane[part][c], p->channel[c].type, i, &v, 1);
            }
}

image *make_image(const make_part part[], int parts) {
    image_header h = {.format = "exr", .parts = parts};
    h.part = mem_new((size_t)parts, sizeof *h.part, "parts", &e);
    for (int i = 0; i < parts; i++) {
        const make_part *m = &part[i];
        image_part *p = &h.part[i];
        int32_t x1 = m->x0 + (int32_t)m->width - 1, y1 = m->y0 + (int32_t)m->height - 1;
        *p = (image_part){.data = {m->x0, m->y0, x1, y1},
                          .display = {-3, 2, 99, 79},
                          .aspect = 1.25f,
                          .packing = m->packing,
                          .order = m->order,
                          .tile_w = m->tile_w,
                          .tile_h = m->tile_h};
        if (m->name) p->name = mem_str(m->name, &e);
        add_channels(p, m->channels, &e);
    }
    image *img = MADE(image_new(&h, &e));
    image_header_free(&h);
    uint64_t seed = 1;
    for (int i = 0; i < parts; i++) fill(img, i, &seed);
    return img;
}

image *make_blank(const char *channels, int32_t left, int32_t top, uint32_t w, uint32_t h) {
    image *img = make_image(&(const make_part)PART(channels, left, top, w, h), 1);
    const image_part *p = &img->head.part[0];
    for (int c = 0; c < p->channels; c++)
        memset(img->plane[0][c], 0, (size_t)w * h * pixel_bytes(p->channel[c].type));
    return img;
}

void make_noise(image *img, uint64_t seed) {
    for (int i = 0; i < img->head.parts; i++) {
        const image_part *p = &img->head.part[i];
        size_t n = (size_t)image_width(p) * image_height(p);
        for (int c = 0; c < p->channels; c++) {
            uint8_t *bytes = img->plane[i][c];
            for (size_t b = 0; b < n * pixel_bytes(p->channel[c].type); b++)
                bytes[b] = (uint8_t)make_random(&seed);
        }
    }
}

static char folder[256];

static void remove_folder(void) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "cannot remove %s\n", folder);
}

const char *make_path(const char *name) {
    static char path[10][512];
    static int next;
    if (!folder[0]) {
        const char *base = getenv("TEST_TMP");
        snprintf(folder, sizeof folder, "%.200s/unit.XXXXXX", base ? base : "/tmp");
        assert_non_null(mkdtemp(folder));
        atexit(remove_folder);
    }
    next = (next + 1) % 10;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

const char *make_file(const char *name, const void *bytes, size_t n) {
    const char *path = make_path(name);
    char in[512];
    snprintf(in, sizeof in, "%s", path);
    *strrchr(in, '/') = 0;
    CHECK_OK(file_make_dirs(in, 0777, &e));
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) fail_msg("%s cannot be written", path);
    return path;
}

const char *make_text(const char *name, const char *content) {
    return make_file(name, content, strlen(content));
}

const char *make_folder(const char *name) {
    const char *path = make_path(name);
    if (mkdir(path, 0777) != 0) fail_msg("%s cannot be made", path);
    return path;
}

const char *make_shared(const char *name) {
    static char path[512];
    const char *root = getenv("FFTBLOOM_ROOT");
    snprintf(path, sizeof path, "%s/../shared/data/openexr-images/%s", root ? root : ".", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static par *threads;

static void close_threads(void) {
    par_close(&threads);
}

par *make_threads(void) {
    if (threads) return threads;
    threads = MADE(par_open(3, &e));
    atexit(close_threads);
    return threads;
}

static void check_same_plane(const image_part *p, int part, int c, const uint8_t *a,
                             const uint8_t *b) {
    size_t size = pixel_bytes(p->channel[c].type);
    size_t n = (size_t)image_width(p) * image_height(p) * size;
    if (memcmp(a, b, n) == 0) return;
    size_t at = 0;
    while (a[at] == b[at]) at++;
    fail_msg("part %d channel %s: first difference at row %zu, column %zu", part,
             p->channel[c].name, at / size / image_width(p), at / size % image_width(p));
}

void check_same_pixels(const image *a, const image *b) {
    assert_int_equal(a->head.parts, b->head.parts);
    for (int i = 0; i < a->head.parts; i++) {
        const image_part *p = &a->head.part[i], *q = &b->head.part[i];
        assert_int_equal(p->channels, q->channels);
        assert_int_equal(image_width(p), image_width(q));
        assert_int_equal(image_height(p), image_height(q));
        for (int c = 0; c < p->channels; c++) {
            assert_string_equal(p->channel[c].name, q->channel[c].name);
            assert_int_equal(p->channel[c].type, q->channel[c].type);
            check_same_plane(p, i, c, a->plane[i][c], b->plane[i][c]);
        }
    }
}

void check_same_file(const char *a, const char *b) {
    size_t na = 0, nb = 0;
    OWN_MEM uint8_t *da = MADE(file_read_all(a, SIZE_MAX / 2, &na, &e));
    OWN_MEM uint8_t *db = MADE(file_read_all(b, SIZE_MAX / 2, &nb, &e));
    if (na != nb || memcmp(da, db, na) != 0)
        fail_msg("'%s' (%zu bytes) and '%s' (%zu bytes) are not the same", a, na, b, nb);
}
