#include "engine/gpu/gpu_planes.h"

#include "base/half.h"

#include <string.h>

typedef struct {
    const gpu_planes *p;
    const void *const *in; /* NULL: from the device to `out`, or to the sink */
    void *const *out;
    const engine_sink *sink;
} job;

enum { ROWS_AT_ONCE = 32, PIECE = 512 };

/* By pieces in the cache: what the device has may be slow to write but in one go, and must not be
 * read. That nothing is lost is cheap to see beside that. */
static bool narrow(uint16_t *to, const float *from, size_t n, err *e) {
    uint16_t half[PIECE];
    float back[PIECE];
    for (size_t i = 0; i < n; i += PIECE) {
        size_t count = n - i < PIECE ? n - i : PIECE;
        half_from_floats(half, from + i, count);
        half_to_floats(back, half, count);
        for (size_t k = 0; k < count && memcmp(back, from + i, count * sizeof *back) != 0; k++)
            if (back[k] != from[i + k])
                return err_set(e, ERR_INTERNAL,
                               "%.9g in an image of halfs is none; the nearest is %.9g",
                               (double)from[i + k], (double)back[k]);
        memcpy(to + i, half, count * sizeof *half);
    }
    return true;
}

static bool copy_row(const job *j, uint32_t channel, uint32_t y, int worker, err *e) {
    const gpu_planes *p = j->p;
    size_t row = p->width * p->sample_bytes;
    if (p->halfs)
        return narrow((uint16_t *)p->there[channel] + y * p->pitch,
                      (const float *)j->in[channel] + (size_t)y * p->width, p->width, e);
    uint8_t *there = (uint8_t *)p->there[channel] + y * p->pitch * p->sample_bytes;
    if (j->sink)
        j->sink->row(j->sink->ctx, channel, y, worker, (const float *)(const void *)there);
    else if (j->in)
        memcpy(there, (const uint8_t *)j->in[channel] + y * row, row);
    else
        memcpy((uint8_t *)j->out[channel] + y * row, there, row);
    return true;
}

static uint32_t bands_of(const gpu_planes *p) {
    return (p->height + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
}

static bool copy_band(void *ctx, size_t index, int worker, err *e) {
    const job *j = ctx;
    uint32_t bands = bands_of(j->p), y = (uint32_t)(index % bands) * ROWS_AT_ONCE,
             end = y + ROWS_AT_ONCE < j->p->height ? y + ROWS_AT_ONCE : j->p->height;
    for (; y < end; y++)
        if (!copy_row(j, (uint32_t)(index / bands), y, worker, e)) return false;
    return true;
}

bool gpu_planes_write(const gpu_planes *to, const void *const *from, par *threads, err *e) {
    job j = {.p = to, .in = from};
    return par_for(threads, (size_t)bands_of(to) * to->channels, copy_band, &j, e);
}

bool gpu_planes_read(const gpu_planes *from, void *const *to, par *threads, err *e) {
    job j = {.p = from, .out = to};
    return par_for(threads, (size_t)bands_of(from) * from->channels, copy_band, &j, e);
}

bool gpu_planes_sink(const gpu_planes *from, const engine_sink *to, par *threads, err *e) {
    job j = {.p = from, .sink = to};
    return par_for(threads, (size_t)bands_of(from) * from->channels, copy_band, &j, e);
}
