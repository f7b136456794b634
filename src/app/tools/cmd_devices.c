/* cmd_devices.c - `fftbloom devices`: lists the devices; and, as a node's self-test, tries each. */
#include "app/run/report.h"
#include "app/tools/tools.h"
#include "base/clock.h"
#include "base/file.h"
#include "bloom/bloom.h"

/* Returns the number of the device that --device auto takes for that many images of 1920 x 1080 and
 * a kernel of 256; -1 for none. */
static int chosen(device_list *l, uint32_t images) {
    device_decision d;
    const plan_request ask = {.size = {1920, 1080},
                              .reach_lo = {128, 128},
                              .reach_hi = {127, 127},
                              .channels = 3,
                              .spectra = 3};
    device_request r = {.images = images, .ask = ask};
    device_decide(&d, l, &r);
    const device_choice *c = &d.way[WAY_FLOAT32];
    return c->possible ? c->device.number : -1;
}

/* Makes a small picture: noise with lamps in it, or taps that fall off from the middle. */
static image *small_picture(uint32_t side, bool taps, err *e) {
    image *img = image_plain(side, side, 3, PIXEL_FLOAT, e);
    uint32_t seed = 1;
    for (int c = 0; img && c < 3; c++) {
        float *p = img->plane[0][c];
        for (uint32_t i = 0; i < side * side; i++, seed = seed * 1664525u + 1013904223u) {
            const double x = (double)(i % side) - side / 2, y = (double)(i / side) - side / 2;
            const float noise = (float)((seed >> 22) + 1) * 0x1p-10F;
            p[i] = taps ? (float)(1 / (1 + x * x + y * y)) : seed >> 24 == 7 ? 1000 : noise;
        }
    }
    return img;
}

/* Blooms a small picture on one device, and proves some of its pixels. */
static bool try_device(const cli *c, const engine_device *d, err *e) {
    enum { PICTURE = 96, TAPS = 31 };
    char number[16];
    snprintf(number, sizeof number, "%d", d->number);
    bloom_settings s;
    bloom_defaults(&s);
    s.device = number, s.cache_dir = c->kernels.in.cache, s.verify = c->s.bloom.verify;
    OWN(kernel_source) kernel = {0};
    OWN(image) *taps = small_picture(TAPS, true, e);
    const bool read = taps && kernel_source_image(&kernel, "taps", taps, e);
    OPEN(device_pool) *pool = read ? device_pool_open(c->threads, s.cache_dir, 0, e) : NULL;
    OPEN(bloom) *b = pool ? bloom_open_on(&s, NULL, &kernel, pool, e) : NULL;
    OWN(image) *picture = b ? small_picture(PICTURE, false, e) : NULL;
    bloom_report r = {0};
    return picture && bloom_image(b, picture, &r, e);
}

/* Makes a file in a folder, and takes it away again. */
static bool try_folder(const char *folder, err *e) {
    OWN_MEM char *path = mem_strf(e, "%s/fftbloom-self-test", folder);
    OWN(file_out) *f = path ? file_out_open(path, FILE_NEW, e) : NULL;
    return f && file_out_write(f, 0, "0123456789", 10, e);
}

/* Adds what became of one trial. The first failure is that of the command. */
static void tried(json_out *j, const char *what, double since, const err *one, err *e) {
    const double seconds = clock_now() - since;
    json_object(j, NULL);
    json_string(j, "what", what);
    if (j->words)
        json_string(j, NULL, one->code ? one->msg : "works");
    else
        json_bool(j, "ok", !one->code);
    json_fixed(j, "seconds", 3, seconds);
    if (one->code && !j->words) json_string(j, "error", one->msg);
    json_close(j);
    if (one->code && !e->code) *e = *one;
}

static void self_test(const cli *c, const device_list *l, json_out *j, err *e) {
    const char *const folder[] = {c->kernels.in.cache, c->s.output};
    json_list(j, "test");
    for (uint32_t i = 0; c->s.bloom.verify && i < l->count; i++) {
        err one = {0};
        char what[32];
        const double since = clock_now();
        snprintf(what, sizeof what, "device %u", i);
        if (!try_device(c, &l->device[i], &one)) err_in(&one, "device '%s'", l->device[i].name);
        tried(j, what, since, &one, e);
    }
    for (int i = 0; i < 2; i++) {
        err one = {0};
        const double since = clock_now();
        if (!folder[i]) continue;
        if (i > 0 || file_make_dirs(folder[i], 0700, &one)) try_folder(folder[i], &one);
        tried(j, i ? "output" : "cache", since, &one, e);
    }
    json_close(j);
}

int cmd_devices(const cli *c, text *out, err *e) {
    device_list l = {.count = 0};
    device_list_fill(&l, NULL);
    int one = chosen(&l, 1), many = chosen(&l, 1000);
    json_out j = told_begin(out, c->s.json);
    json_list(&j, "devices");
    for (uint32_t i = 0; i < l.count; i++) describe_device(&j, NULL, &l.device[i], (int)i);
    json_close(&j);
    if (c->s.json) {
        json_object(&j, "auto");
        json_int(&j, "image", one);
        json_int(&j, "sequence", many);
        json_close(&j);
    } else if (l.count) {
        text_add(out,
                 "\n--device auto takes %d for one image of 1920 x 1080 and %d for a thousand; "
                 "'fftbloom plan' says why",
                 one, many);
    }
    if (c->s.bloom.verify || c->s.output) self_test(c, &l, &j, e);
    json_end(&j);
    cli_print(out);
    *c->answered = true;
    return 0;
}
