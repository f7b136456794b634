/* stage.h - a plug-in in its bundle, the host of the tests with one effect, and the program that
 * its pixels are compared with. */
#pragma once

#include "image/format.h"
#include "ofx/rig.h"
#include "unit/load_save.h"
#include "unit/make_image.h"
#include "unit/street.h"

#include <unistd.h>

enum { W = 61, H = 47 };
#define KERNEL "testdata/kernel.exr"
static const char WORDS[] = "RGBA";

/* Visits each sample of a picture: x, y, c. */
#define EACH(p)                                       \
    for (int y = (p)->at.y1; y < (p)->at.y2; y++)     \
        for (int x = (p)->at.x1; x < (p)->at.x2; x++) \
            for (int c = 0; c < (p)->channels; c++)

/* --- a bundle, and the program ---------------------------------------------------------------- */

/* Returns the path of something that is built beside these tests. */
static inline const char *built(const char *name) {
    static char path[2][4200];
    static int turn;
    char own[4096];
    char *to = path[turn = !turn];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    assert_true(n > 0);
    own[n] = 0;
    *strrchr(own, '/') = 0;
    snprintf(to, sizeof path[0], "%s/../%s", own, name);
    return to;
}

static inline void shell(const char *f, ...) {
    char command[9000];
    va_list list;
    va_start(list, f);
    vsnprintf(command, sizeof command, f, list);
    va_end(list);
    if (system(command) != 0) fail_msg("%s", command);
}

/* Makes a bundle of this name, with links to the shipped kernels, and returns its binary. */
static inline const char *bundle(const char *name) {
    static char path[2][4200];
    static int turn;
    char *to = path[turn = !turn];
    snprintf(to, sizeof path[0], "%s/Contents/Linux-x86-64/fftbloom.ofx", make_path(name));
    if (access(to, R_OK) == 0) return to;
    const char *folder = make_folder(name);
    shell("mkdir -p '%s/Contents/Resources' '%s/Contents/Linux-x86-64' && cp '%s' '%s' && "
          "ln -s \"$PWD/kernels\" '%s/Contents/Resources/kernels'",
          folder, folder, built("fftbloom.ofx"), to, folder);
    return to;
}

typedef struct {
    rig *r;
    struct ofx_effect *x;
} stage;

static inline stage open_stage(const char *context) {
    stage s = {.r = rig_open(bundle("one.ofx.bundle"), 0)};
    assert_non_null(s.r);
    assert_non_null((s.x = rig_effect(s.r, context)));
    rig_set_kernel(s.x, KERNEL);
    return s;
}
static inline void stage_close(stage *s) {
    rig_effect_close(s->r, &s->x);
    rig_close(&s->r);
}

/* What stands for 1. */
static inline double pic_most(pic_type t) {
    return t == PIC_BYTE ? 255 : t == PIC_SHORT ? 65535 : 1;
}

/* A picture of an image's pixels: its upper left corner is at x1, y2 - 1. */
static inline pic *pic_of(const image *img, int left, int low, int channels, pic_type type, int pad,
                          bool down) {
    const image_part *p = &img->head.part[0];
    const int w = (int)image_width(p), h = (int)image_height(p);
    pic *to = pic_new((ofx_rect_i){left, low, left + w, low + h}, channels, type, pad, down);
    const double most = pic_most(type);
    EACH(to) {
        const int from = image_find_channel(p, (char[]){WORDS[c], 0});
        const size_t i = (size_t)((low + h - 1 - y) * w + x - left);
        const double v = most * (double)glare_get(img, from, i);
        pic_put(to, x, y, c, most > 1 ? fmin(fmax(rint(v), 0), most) : v);
    }
    return to;
}

static inline pic *pic_like(const pic *p) {
    return pic_new(p->at, p->channels, p->type, 0, false);
}

/* A picture with lights, and alpha in it. */
static inline image *scene(const char *type) {
    char list[80];
    snprintf(list, sizeof list, "R:%s G:%s B:%s A:%s", type, type, type, type);
    image *img = street_image(list, W, H, 12);
    for (size_t i = 0; i < W * H; i++)
        glare_put(img, image_find_channel(&img->head.part[0], "A"), i, i % 5 ? 1 : 0.5f);
    return img;
}

/* What the program makes of the image. */
static inline image *program(const image *img, const char *options) {
    const char *in = make_path("in.exr"), *out = make_path("out.exr");
    save(in, img);
    shell("'%s' -q '%s' %s -o '%s' --device cpu --existing replace %s", built("fftbloom"), in,
          KERNEL, out, options);
    return load(out);
}

/* Compares a picture with channels of an image of its size. */
static inline void check_same(const pic *got, const image *want, const char *layer, int channels) {
    const image_part *p = &want->head.part[0];
    EACH(got) {
        char name[20];
        if (c >= channels) continue;
        snprintf(name, sizeof name, "%s%c", layer, WORDS[c]);
        const int at = (got->at.y2 - 1 - y) * (int)image_width(p) + x - got->at.x1;
        const double v = (double)glare_get(want, image_find_channel(p, name), (size_t)at),
                     g = pic_get(got, x, y, c);
        if (v != g) fail_msg("%s of pixel %d, %d: %.9g, not %.9g", name, x, y, g, v);
    }
}

/* Opens a picture of this image as the source. */
static inline pic *show(stage *s, const image *img, int channels, pic_type type) {
    pic *p = pic_of(img, 0, 0, channels, type, 0, false);
    rig_connect(s->x, RIG_SOURCE, p);
    return p;
}

/* Renders the picture that is connected; the result is the caller's. */
static inline pic *render(stage *s) {
    pic *out = pic_like(s->x->clip[RIG_SOURCE].picture);
    rig_connect(s->x, RIG_OUTPUT, out);
    assert_int_equal(rig_render(s->r, s->x, 0, NULL), OFX_OK);
    assert_int_equal(s->x->open_images, 0);
    if (s->x->messages) fail_msg("%s", s->x->said);
    return out;
}
