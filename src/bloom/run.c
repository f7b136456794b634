#include "bloom/run.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

void run_note(bloom_report *r, const char *fmt, ...) {
    if (r->notes == BLOOM_NOTES) return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->note[r->notes++], sizeof r->note[0], fmt, args);
    va_end(args);
}

image_part *run_part(const run *g) {
    return &g->img->head.part[g->part];
}
void **run_plane(const run *g, uint32_t c) {
    return &g->img->plane[g->part][g->channel[c]];
}
const char *run_name(const run *g, uint32_t c) {
    return run_part(g)->channel[g->channel[c]].name;
}
finish_excess run_excess(const run *g) {
    return (finish_excess){(float)g->b->s.threshold, (float)g->b->s.knee};
}
bool run_spreads_all(const run *g) {
    return !(g->b->s.threshold > 0);
}
bool run_gives_halfs(const run *g) {
    bool all = run_spreads_all(g);
    for (uint32_t c = 0; c < g->n; c++)
        all &= g->type[c] == PIXEL_HALF && g->method.exponent[c] == 0;
    return all;
}
uint32_t run_channels(const bloom *b, const layer_group *layer) {
    return (uint32_t)layer->channels + (b->s.alpha == ALPHA_CONVOLVE && layer->alpha >= 0);
}

void run_open(run *g, bloom *b, image *img, int part, const layer_group *layer, bloom_report *r) {
    *g = (run){.b = b, .img = img, .part = part, .r = r};
    for (; g->n < (uint32_t)layer->channels; g->n++) g->channel[g->n] = layer->channel[g->n];
    if (b->s.alpha == ALPHA_CONVOLVE && layer->alpha >= 0) g->channel[g->n++] = layer->alpha;
    const image_part *p = run_part(g);
    for (uint32_t c = 0; c < g->n; c++) {
        g->type[c] = g->to[c] = p->channel[g->channel[c]].type;
        if (b->s.half && g->type[c] == PIXEL_FLOAT) g->to[c] = PIXEL_HALF;
    }
    g->pixels = (size_t)image_width(p) * image_height(p);
}

void run_close(run *g) {
    scan_free(&g->scanned);
    core_free(&g->core);
    for (uint32_t c = 0; c < g->n; c++) {
        bright_free(&g->bright[c]);
        mem_free(g->glare[c]);
        mem_free(g->original[c]);
    }
}

typedef struct {
    run *g;
    void (*fn)(run *g, uint32_t c, size_t first, size_t n);
} each_block;

static bool run_block(void *ctx, size_t index, int worker, err *e) {
    const each_block *b = ctx;
    (void)worker, (void)e;
    size_t all = b->g->pixels, blocks = (all + RUN_BLOCK - 1) / RUN_BLOCK,
           first = index % blocks * RUN_BLOCK;
    b->fn(b->g, (uint32_t)(index / blocks), first,
          all - first < RUN_BLOCK ? all - first : RUN_BLOCK);
    return true;
}

bool run_blocks(run *g, void (*fn)(run *g, uint32_t c, size_t first, size_t n), err *e) {
    each_block b = {g, fn};
    return par_for(g->b->threads, g->n * ((g->pixels + RUN_BLOCK - 1) / RUN_BLOCK), run_block, &b,
                   e);
}

void run_load(run *g, uint32_t c, size_t first, size_t n) {
    finish_excess x = run_excess(g);
    float *to = (float *)g->b->plane[0][c] + first;
    if (g->own[c]) return;
    image_to_float(to, *run_plane(g, c), g->type[c], first, n);
    if (!run_spreads_all(g)) finish_excess_row(&x, to, to, n);
}
