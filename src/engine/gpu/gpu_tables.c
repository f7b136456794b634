#include "engine/gpu/gpu_tables.h"

#include "base/mem.h"
#include "math/fft.h"

#include <string.h>

/* --- twiddle factors ------------------------------------------------------------------------ */

gpu_twiddles gpu_twiddles_layout(const plan *p) {
    gpu_twiddles t = {0};
    uint32_t entry = 0, complex_bytes = 2 * p->sample_bytes;
    for (int i = 0; i < 2; i++) {
        const plan_axis *a = &p->axis[i];
        if (a->one_pass) {
            t.fft[i] = entry;
            entry += plan_twiddle_entries(&a->fft);
            t.line[i] = 2 * entry;
            if (a->alone) entry += (a->fft.length / 2 + 2) / 2;
            continue;
        }
        t.outer[i] = entry;
        entry += plan_twiddle_entries(&a->outer);
        t.inner[i] = entry;
        entry += plan_twiddle_entries(&a->inner);
        t.line[i] = 2 * entry;
        entry += (a->length + 1) / 2;
    }
    t.copy = entry;
    t.bytes = 2 * 2ull * entry * complex_bytes;
    return t;
}

/* exp(-2 pi i m / n) as the complex number `index` of the buffer. */
static void put_root(void *to, bool float64, uint64_t index, uint64_t m, uint64_t n) {
    double re, im;
    fft_root(m, n, &re, &im);
    if (float64) {
        ((double *)to)[2 * index] = re;
        ((double *)to)[2 * index + 1] = im;
    } else {
        ((float *)to)[2 * index] = (float)re;
        ((float *)to)[2 * index + 1] = (float)im;
    }
}

static void fill_stages(void *to, bool float64, const plan_fft *f, uint64_t entry) {
    uint32_t block = f->length;
    for (uint32_t s = 0; s + 1 < f->stages; s++) {
        uint32_t rest = block / f->radix[s];
        for (uint32_t n = 0; n < rest; n++, entry++) {
            put_root(to, float64, 2 * entry, n, block);
            put_root(to, float64, 2 * entry + 1, 4ull * n, block);
        }
        block = rest;
    }
}

void gpu_twiddles_fill(void *to, const plan *p, const gpu_twiddles *t) {
    bool float64 = p->sample_bytes == 8;
    for (int i = 0; i < 2; i++) {
        const plan_axis *a = &p->axis[i];
        if (a->one_pass) {
            fill_stages(to, float64, &a->fft, t->fft[i]);
            for (uint32_t m = 0; a->alone && m <= a->fft.length / 2; m++)
                put_root(to, float64, t->line[i] + m, m, a->length);
            continue;
        }
        fill_stages(to, float64, &a->outer, t->outer[i]);
        fill_stages(to, float64, &a->inner, t->inner[i]);
        for (uint32_t m = 0; m < a->length; m++)
            put_root(to, float64, t->line[i] + m, m, a->length);
    }
    memcpy((char *)to + t->bytes / 2, to, t->bytes / 2);
}

/* --- orders --------------------------------------------------------------------------------- */

void gpu_places_fill(uint32_t *to, const plan_axis *a) {
    for (uint32_t o = 0; o < a->outer.length; o++)
        for (uint32_t i = 0; i < a->inner.length; i++) {
            uint32_t k = plan_frequency(&a->outer, o) +
                         a->outer.length * plan_frequency(&a->inner, i);
            to[k] = o * a->inner.length + i;
        }
}

/* order[n]: the frequency that stands at number n of a line of convolve.comp's spectrum. */
static void fill_order(uint32_t *order, const plan_axis *a) {
    const plan_fft *f = a->one_pass ? &a->fft : &a->inner;
    uint32_t radix = f->radix[f->stages - 1], blocks = f->length / radix;
    uint32_t parts = a->one_pass ? 1 : a->outer.length;
    for (uint32_t o = 0; o < parts; o++)
        for (uint32_t q = 0; q < radix; q++)
            for (uint32_t b = 0; b < blocks; b++) {
                uint32_t k = plan_frequency(f, b * radix + q);
                uint32_t high = a->one_pass ? 0 : plan_frequency(&a->outer, o);
                order[o * f->length + q * blocks + b] = high + parts * k;
            }
}

typedef struct {
    void *to;
    const spectrum_lines *from;
    const uint32_t *order;
    uint32_t first;
    double scale;
    bool float64; /* of `to` */
} permute;

static bool permute_line(void *ctx, size_t index, int worker, err *e) {
    (void)worker, (void)e;
    const permute *p = ctx;
    size_t n = p->from->length, source = (p->first * (size_t)p->from->halves + index) * n;
    for (size_t i = 0; i < n; i++) {
        size_t k = 2 * (source + p->order[i]), at = 2 * (index * n + i);
        for (int c = 0; c < 2; c++) {
            double v = p->from->float64 ? ((const double *)p->from->value)[k + (size_t)c]
                                        : (double)((const float *)p->from->value)[k + (size_t)c];
            if (p->float64)
                ((double *)p->to)[at + (size_t)c] = v * p->scale;
            else
                ((float *)p->to)[at + (size_t)c] = (float)(v * p->scale);
        }
    }
    return true;
}

bool gpu_spectrum_fill(void *to, const spectrum_lines *from, const plan *p, uint32_t first,
                       uint32_t count, par *threads, err *e) {
    uint32_t *order = mem_raw(from->length, sizeof *order, "frequency order", e);
    if (!order) return false;
    fill_order(order, &p->axis[1]);
    permute job = {.to = to,
                   .from = from,
                   .order = order,
                   .first = first,
                   .scale = 0.5 / p->axis[0].length / p->axis[1].length,
                   .float64 = p->sample_bytes == 8};
    bool ok = par_for(threads, (size_t)count * from->halves, permute_line, &job, e);
    mem_free(order);
    return ok;
}
