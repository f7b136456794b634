/* bench_engine.h - the CPU engine with frames as a run gives them to it.
 *
 * What the last pass does depends on the pixels and on the join, so both are those of a run: the
 * kernel's centre tap is in the join, the spectrum of floats is resampled, at once as for a
 * sequence, and light that leaves the image is weighed. An ordinary frame has nothing below zero.
 * One of signs has grain around black, of which half is below zero. One under a mask spreads a part
 * of its light. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "base/mem.h"
#include "bloom/promise/ledger.h"
#include "device/device_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_CHANNELS = 3 };
typedef enum { BENCH_ORDINARY, BENCH_SIGNS, BENCH_MASK, BENCH_KINDS } bench_kind;
static const char *const BENCH_KIND[] = {"ordinary", "signs", "mask"};

typedef struct {
    plan p;
    psf kernel;
    kernel_tail tail;
    spill spill;
    engine *g;
    float *in[BENCH_KINDS][BENCH_CHANNELS], *out[BENCH_CHANNELS], *mask;
    join how[BENCH_KINDS];
} bench_engine;

static inline void *bench_need(void *p, const err *e) {
    if (p) return p;
    fprintf(stderr, "bench: %s\n", e->msg);
    exit(1);
}

static inline float *bench_floats(size_t n) {
    err e = {0};
    return bench_need(mem_new(n, sizeof(float), "bench", &e), &e);
}

/* Makes the planes of a kind, and what becomes of them. */
static inline void bench_frame(bench_engine *b, bench_kind kind) {
    const uint32_t *size = b->p.ask.size, channels = b->p.ask.channels;
    const size_t n = (size_t)size[PLAN_X] * size[PLAN_Y];
    join *how = &b->how[kind];
    uint32_t seed = 1;
    *how = (join){.spill = &b->spill};
    if (kind == BENCH_MASK) how->spread.mask = b->mask = bench_floats(n);
    for (size_t i = 0; b->mask && i < n; i++) b->mask[i] = (float)(i % 7) / 6;
    for (uint32_t c = 0; c < channels; c++) {
        const noise_tail sums = tail_sums(&b->tail, c);
        how->channel[c] = (join_channel){.centre = b->tail.centre[c],
                                         .gain = 1,
                                         .nonnegative = kind != BENCH_SIGNS,
                                         .dark = 1e-4,
                                         .most = sums.sum};
        float *to = b->in[kind][c] = bench_floats(n);
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            to[i] = (float)((seed >> 8) + 1) * 0x1p-24F - (kind == BENCH_SIGNS ? 0.5F : 0);
        }
    }
}

/* Returns an engine for RGB, or for a part of it, with a kernel of that many taps a side. */
static inline bench_engine bench_open(uint32_t w, uint32_t h, uint32_t taps, uint32_t channels,
                                      bool doubles, par *threads) {
    bench_engine b = {.g = NULL};
    spectrum source = {0};
    spectrum_lines lines;
    err e = {0};
    bool ok = measure_kernel(&b.kernel, taps, channels, &e);
    const psf *k = &b.kernel;
    const plan_request ask = {.size = {w, h},
                              .reach_lo = {k->cx, k->cy},
                              .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                              .border = {BORDER_ZERO, BORDER_ZERO},
                              .precision = doubles ? PRECISION_FLOAT64 : PRECISION_FLOAT32,
                              .channels = channels,
                              .spectra = channels};
    double full[BENCH_CHANNELS];
    const kernel_need plain = {.channels = channels};
    for (uint32_t c = 0; c < channels; c++) full[c] = k->scale[c] * k->sum[c];
    ok = ok && plan_make(&b.p, &ask, &e) &&
         tail_make(&b.tail, &(tail_request){k, full, &plain, !doubles, &ask, false}, &e) &&
         ledger_spill_make(&b.spill, &b.tail, &e) && spectrum_make(&source, k, threads, &e);
    const spectrum_request want = {.mode = doubles ? SPECTRUM_EXACT : SPECTRUM_RESAMPLED,
                                   .first = b.p.first,
                                   .length = {b.p.axis[0].length, b.p.axis[1].length},
                                   .float64 = doubles,
                                   .at_once = true};
    const engine_device d = {.class = ENGINE_CPU};
    ok = ok && spectrum_at(&lines, &source, &want, threads, &e) &&
         (b.g = engine_open(&d, threads, NULL, &e)) &&
         engine_prepare(b.g, &b.p, &lines, &(engine_options){0}, &e);
    if (!ok) bench_need(NULL, &e);
    spectrum_free(&source);
    spectrum_lines_free(&lines);
    for (uint32_t c = 0; c < channels; c++) b.out[c] = bench_floats((size_t)w * h);
    for (int kind = 0; kind < BENCH_KINDS; kind++) bench_frame(&b, (bench_kind)kind);
    return b;
}

static inline void bench_close(bench_engine *b) {
    engine_close(&b->g);
    for (int i = 0; i < BENCH_KINDS * BENCH_CHANNELS; i++)
        mem_free(b->in[i / BENCH_CHANNELS][i % BENCH_CHANNELS]);
    for (int c = 0; c < BENCH_CHANNELS; c++) mem_free(b->out[c]);
    mem_free(b->mask);
    ledger_spill_free(&b->spill);
    tail_free(&b->tail);
    psf_free(&b->kernel);
}

/* Does a frame. */
static inline engine_times bench_run(bench_engine *b, bench_kind kind) {
    const engine_frame f = {.in = (const void *const *)b->in[kind],
                            .out = (void *const *)b->out,
                            .join = &b->how[kind]};
    engine_times t = {0};
    err e = {0};
    if (!engine_run(b->g, &f, &t, &e)) bench_need(NULL, &e);
    return t;
}

#endif
