/* taps.h - kernels by formula, for tests. */
#ifndef UNIT_TAPS_H
#define UNIT_TAPS_H

#include "base/text.h"
#include "kernel/make/model.h"
#include "unit/check.h"
#include "unit/make_image.h"

/* Sets NAME=VALUE of a request. */
static inline bool set_word(model_request *r, const char *word, err *e) {
    text_assignment is;
    return text_next(&word, &is) && model_set(r, is.name, is.value, e);
}

/* A list of NAME=VALUE. */
#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline model_request request(const char *name, uint32_t w, uint32_t h,
                                    const char *const *set) {
    const model *m = model_find(name);
    assert_non_null(m);
    model_request r = model_defaults(m);
    r.w = w, r.h = h;
    for (; set && *set; set++) CHECK_OK(set_word(&r, *set, &e));
    return r;
}

/* OWN(taps) k = taps_of(&r, make_threads()); */
typedef struct {
    float *of[MODEL_CHANNELS];
    uint32_t channels;
} taps;

static inline taps taps_of(const model_request *r, par *threads) {
    taps k = {.channels = model_channels(r->of)};
    model_taps made;
    OWN_MEM double *rows = MADE(mem_raw((size_t)r->h * k.channels, sizeof *rows, "rows", &e));
    const size_t n = (size_t)r->w * r->h;
    for (uint32_t c = 0; c < k.channels; c++) {
        made.plane[c] = k.of[c] = MADE(mem_raw(n, sizeof(float), "taps", &e));
        made.rows[c] = rows + c * r->h;
    }
    CHECK_OK(model_make(&made, r, threads, &e));
    for (uint32_t c = 0; c < k.channels; c++)
        for (size_t t = 0; t < n; t++) k.of[c][t] = (float)((double)k.of[c][t] / made.sum[c]);
    return k;
}

static inline void taps_free(taps *k) {
    for (int c = 0; c < MODEL_CHANNELS; c++) mem_free(k->of[c]);
}

#endif
