/* fuzz_lib.c - any bytes as calls of the library: kernels, recipes, settings, images and planes
 * with sizes, strides and types that may be wrong, in contexts with little memory. All calls must
 * return; an image whose planes pass the checks must stay within them. The address sanitizer
 * watches the planes, which are as large as their strides say.
 *
 * `make fuzz` builds it with libFuzzer. */
#include "fuzz/bytes.h"
#include "lib/fftbloom.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Mostly small, now and then anything. */
static uint32_t size_of(bytes *b) {
    uint32_t any, v = byte(b);
    if (v < 250) return v % 40;
    fill(b, &any, sizeof any);
    return any;
}

/* Planes in one block each, as large as the strides say; now and then without the block. */
enum { PLANES = 4, MOST = 1 << 20 };
typedef struct {
    fb_plane plane[PLANES];
    void *block[PLANES];
} planes;

static void make_planes(planes *p, bytes *b, uint32_t w, uint32_t h) {
    static const int64_t SIZE[] = {2, 4, 8, 1, 2};
    *p = (planes){0};
    for (int i = 0; i < PLANES; i++) {
        fb_plane *is = &p->plane[i];
        uint8_t how = byte(b);
        int64_t bytes = SIZE[how % 5], x = bytes * (1 + (how >> 4 & 3)), y = x * (int64_t)w;
        is->type = 1 + how % 5;
        if (how & 128) x = -x;
        if (how & 64) y = -y;
        if (byte(b) == 255) x = (int8_t)byte(b);
        if (byte(b) == 255) y = (int16_t)(byte(b) << 8 | byte(b));
        if (byte(b) == 255) {
            is->type = (int8_t)byte(b);
            bytes = is->type >= FB_HALF && is->type <= FB_SHORT ? SIZE[is->type - 1] : 8;
        }
        is->pixel_stride = x, is->row_stride = y;
        int64_t low = 0, high = bytes, wide, tall;
        if (__builtin_mul_overflow(x, (int64_t)w - 1, &wide) ||
            __builtin_mul_overflow(y, (int64_t)h - 1, &tall) || llabs(wide) > MOST ||
            llabs(tall) > MOST || !w || !h)
            continue; /* too large for a block: data is NULL */
        low += (wide < 0 ? wide : 0) + (tall < 0 ? tall : 0);
        high += (wide > 0 ? wide : 0) + (tall > 0 ? tall : 0);
        p->block[i] = malloc((size_t)(high - low));
        if (!p->block[i]) abort();
        fill(b, p->block[i], (size_t)(high - low) < 256 ? (size_t)(high - low) : 256);
        if (high - low > 256)
            memset((char *)p->block[i] + 256, byte(b), (size_t)(high - low) - 256);
        is->data = (char *)p->block[i] - low;
    }
}

static void free_planes(planes *p) {
    for (int i = 0; i < PLANES; i++) free(p->block[i]);
}

static int ask(void *user, double done) {
    (void)done;
    return ++*(int *)user > 3;
}

static uint32_t width_of, height_of; /* the kernel's */

static fb_kernel *make_kernel(fb_context *c, bytes *b) {
    fb_kernel *k = NULL;
    char json[512] = "";
    planes p;
    if (byte(b) % 4 == 0) {
        size_t n = byte(b) * 2u;
        fill(b, json, n);
        fb_kernel_make(&k, c, json, NULL);
    } else {
        uint32_t w = size_of(b), h = size_of(b), channels = byte(b) % 4;
        make_planes(&p, b, w, h);
        fb_kernel_copy(&k, c, w, h, channels, p.plane, NULL);
        free_planes(&p);
    }
    return k;
}

/* The gradient goes to planes of some size, perhaps not that of the kernel. */
static void learn(fb_session *s, const fb_image *is, fb_report *r, bytes *b) {
    enum { ROOM = 40 * 40 };
    static double to[3 * ROOM];
    fb_plane plane[3];
    const uint8_t w = byte(b) % 8 ? 40 : byte(b) % 40; /* now and then too narrow */
    for (int c = 0; c < 3; c++)
        plane[c] = (fb_plane){to + c * ROOM, sizeof *to, w * (ptrdiff_t)sizeof *to, FB_DOUBLE, 0};
    if (width_of <= 40 && height_of <= 40) fb_kernel_adjoint(s, is, 1, plane, r, NULL);
}

static void use(fb_session *s, bytes *b) {
    planes in, out, more;
    fb_error e;
    fb_report r = {.size = sizeof r};
    int calls = byte(b) % 8;
    fb_image is = {
        .size = sizeof is, .width = size_of(b), .height = size_of(b), .channels = byte(b) % 6};
    make_planes(&in, b, is.width, is.height);
    make_planes(&out, b, is.width, is.height);
    make_planes(&more, b, is.width, is.height);
    is.in = in.plane;
    is.out = byte(b) % 4 ? out.plane : in.plane;
    if (byte(b) % 8 == 0) is.progress = ask, is.user = &calls;
    const uint8_t how = byte(b);
    if (how & 16) is.mask = how & 32 ? more.plane : out.plane;
    if (how & 64) is.emit = more.plane;
    if (how & 128) is.session = s;
    if (how & 4) is.space = byte(b) % 2 ? "logc3" : "srgb";
    if (how & 8) is.pixel_aspect = byte(b) / 64.0;
    if (how % 16 == 15) is.size = offsetof(fb_image, mask);
    switch (how % 4) {
    case 0: fb_bloom(s, &is, &r, &e); break;
    case 1:
        if (calls % 4 == 1 || calls % 4 == 2) { /* a ratio near 1 takes thousands of steps */
            const bool turned = calls % 4 == 2;
            is.progress = ask, is.user = &calls, calls = -200;
            if (turned)
                fb_solve_adjoint(s, &is, &r, &e);
            else
                fb_solve_all(s, &is, 1, &r, &e);
        } else
            fb_apply_adjoint(s, &is, &r, &e);
        break;
    case 2: learn(s, &is, &r, b); break;
    default: fb_bloom_all(s, &is, 1, &r, &e);
    }
    free_planes(&more);
    free_planes(&in);
    free_planes(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static fb_context *roomy, *tight;
    bytes b = {data, data + n};
    const fb_context_options
        few = {.size = sizeof few, .threads = 1, .device = "cpu", .mem_limit = 3 << 20},
        many = {.size = sizeof many, .threads = 2, .device = "cpu", .mem_limit = 300 << 20};
    if (!roomy && (fb_context_open(&roomy, &many, NULL) || fb_context_open(&tight, &few, NULL)))
        abort();
    fb_context *c = byte(&b) % 4 ? roomy : tight;
    fb_settings set;
    fb_settings_init(&set, sizeof set);
    if (byte(&b) % 2) {
        uint8_t words[9];
        fill(&b, words, sizeof words);
        set.padding_x = words[0] % 5, set.padding_y = words[1] % 5;
        set.kernel_center = words[2] % 6, set.normalize = words[3] % 5;
        set.correlate = words[4] % 3, set.precision = words[5] % 4, set.nan = words[6] % 4;
        set.half_overflow = words[7] % 3, set.alpha = words[8] % 3;
        set.amount = byte(&b) / 250.0, set.threshold = byte(&b) / 16.0, set.knee = byte(&b) / 16.0;
        set.center_x = byte(&b) / 8.0, set.center_y = byte(&b) / 8.0;
        set.verify = byte(&b) % 4;
        set.emit = byte(&b) % 5;
        if (byte(&b) % 8 == 0) set.kernel_scale = byte(&b) / 32.0;
        if (byte(&b) % 8 == 0) set.kernel_turn = byte(&b) * 3.0 - 200;
        if (byte(&b) % 8 == 0) fill(&b, &set.tolerance, sizeof set.tolerance);
    }
    fb_kernel *k = make_kernel(c, &b);
    fb_session *s = NULL;
    char said[200];
    if (k) fb_kernel_size(k, &width_of, &height_of, NULL);
    if (k) fb_kernel_check(k, said, 1 + byte(&b) % sizeof said, NULL);
    if (k) fb_session_open(&s, k, &set, NULL);
    fb_kernel_close(k);
    for (int i = 0; s && i < 3 && b.at < b.end; i++) use(s, &b);
    fb_session_close(s);
    return 0;
}
