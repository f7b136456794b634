#include "app/check/suite_pictures.h"

#include "base/mem.h"
#include "image/flat/png.h"
#include "image/flat/preview.h"

const char *const SUITE_PICTURE_NAME[PICTURES] = {
    [PICTURE_REFERENCE] = "reference",
    [PICTURE_RESULT] = "result",
    [PICTURE_DIFFERENCE] = "difference",
    [PICTURE_COLOURS] = "colours",
};

/* The part's colour as a PNG file, with the exposure in *exposure, which is found where it is 0.
 * A part without colour has no picture; that is no error. */
static bool develop(suite_pictures *p, suite_picture which, const image *img, int part,
                    float *exposure, par *threads, err *e) {
    preview_picture v;
    preview_options o = {.width = SUITE_PICTURES_WIDEST, .exposure = *exposure};
    err why = {0};
    if (!preview_make(&v, &img->head.part[part], (const void *const *)img->plane[part], threads, &o,
                      &why))
        return why.code == ERR_DATA || err_set(e, why.code, "%s", why.msg);
    *exposure = v.exposure;
    p->png[which] = png_encode(v.pixel, v.width, v.height, v.channels, &p->bytes[which], e);
    mem_free(v.pixel);
    return p->png[which] != NULL;
}

static bool show_differences(suite_pictures *p, const image *result, const suite_match *m, err *e) {
    heat h;
    if (!heat_make(&h, &m->worst, result, m->part, m->reference, m->part, SUITE_PICTURES_WIDEST, e))
        return false;
    const uint8_t *pixels[] = {h.amplified, h.colours};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        int which = PICTURE_DIFFERENCE + i;
        p->png[which] = png_encode(pixels[i], h.width, h.height, 3, &p->bytes[which], e);
        ok = p->png[which] != NULL;
    }
    p->h = h;
    p->compared = ok;
    p->h.amplified = p->h.colours = NULL;
    heat_free(&h);
    return ok;
}

bool suite_pictures_make(suite_pictures *p, const image *result, const suite_match *m, par *threads,
                         err *e) {
    float exposure = 0;
    const image *reference = m ? m->reference : NULL;
    int part = m ? m->part : 0;
    *p = (suite_pictures){.box = result->head.part[part].data};
    if (reference && !develop(p, PICTURE_REFERENCE, reference,
                              part < reference->head.parts ? part : 0, &exposure, threads, e))
        return false;
    if (!develop(p, PICTURE_RESULT, result, part, &exposure, threads, e)) return false;
    return !reference || m->verdict == COMPARE_SIZE || show_differences(p, result, m, e);
}

void suite_pictures_free(suite_pictures *p) {
    for (int i = 0; i < PICTURES; i++) mem_free(p->png[i]);
    heat_free(&p->h);
    *p = (suite_pictures){0};
}
