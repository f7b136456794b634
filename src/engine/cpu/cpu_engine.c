/* cpu_engine.c - the engine on the host's cores: memory and order of the passes of cpu_passes.h. */
#include "base/clock.h"
#include "base/mem.h"
#include "engine/cpu/cpu_fft.h"
#include "engine/cpu/cpu_passes.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

enum { FORWARD, CONVOLVE, INVERSE, PASSES_HERE };

typedef struct {
    engine base;
    par *threads;
    const char *cache_dir; /* NULL: none */

    /* Set by prepare, then only read. */
    plan p;
    const cpu_passes *pass;
    cpu_job job; /* what all frames have in common */
    int32_t *beyond[2];
    cpu_fft *fft[2];
    void *kernel, *block;
    /* What the transforms leave out: 1 / L for each axis, 1/2 for the parting of two real lines. */
    double scale;

    /* Each slot belongs to the thread that submits to it. */
    struct {
        void *half;         /* spectrum of the plane at work */
        engine_times times; /* of the last frame */
    } slot[ENGINE_SLOTS];
    uint32_t slots;
} cpu_engine;

/* --- devices ------------------------------------------------------------------------------ */

static void cpu_name(char name[ENGINE_NAME]) {
    snprintf(name, ENGINE_NAME, "CPU");
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (!f) return;
    char line[512];
    while (fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += 1 + strspn(value + 1, " ");
        value[strcspn(value, "\n")] = 0;
        snprintf(name, ENGINE_NAME, "%.200s", value);
        break;
    }
    fclose(f);
}

static uint32_t devices(engine_device *to, uint32_t room) {
    if (!room) return 0;
    *to = (engine_device){.class = ENGINE_CPU, .limits.float64 = true};
    cpu_name(to->name);
    snprintf(to->driver, sizeof to->driver, "%s", cpu_fft_version());
    return 1;
}

/* --- prepare ------------------------------------------------------------------------------ */

static void unprepare(cpu_engine *g) {
    for (int i = 0; i < 2; i++) {
        cpu_fft_free(&g->fft[i]);
        mem_free(g->beyond[i]);
        g->beyond[i] = NULL;
    }
    for (uint32_t i = 0; i < ENGINE_SLOTS; i++) {
        mem_free(g->slot[i].half);
        g->slot[i].half = NULL;
    }
    mem_free(g->kernel);
    mem_free(g->block);
    g->kernel = g->block = NULL;
    g->slots = 0;
}

/* A mismatch is a bug of the caller that must not become a read beyond the spectrum's end. */
static bool fits(const plan *p, const spectrum_lines *k, err *e) {
    bool float64 = p->ask.precision == PRECISION_FLOAT64;
    if (k->halves == p->halves && k->length == p->axis[1].length && k->channels == p->ask.spectra &&
        k->float64 == float64 && p->halves == p->axis[0].length / 2 + 1)
        return true;
    return err_set(e, ERR_INTERNAL,
                   "the kernel's spectrum is %u x %u x %u float%d, the plan needs %u x %u x %u "
                   "float%d",
                   k->channels, k->halves, k->length, k->float64 ? 64 : 32, p->ask.spectra,
                   p->axis[0].length / 2 + 1, p->axis[1].length, float64 ? 64 : 32);
}

static int32_t *border_map(const plan_axis *a, err *e) {
    int32_t *map = mem_raw(a->length - a->extent, sizeof *map, "border map", e);
    for (uint32_t i = a->extent; map && i < a->length; i++)
        map[i - a->extent] = (int32_t)plan_source(a, i);
    return map;
}

/* An odd number of cache lines, so that the same place of many lines does not fall into the same
 * few sets of the cache. */
static size_t odd_pitch(size_t n) {
    return ((n + 7) / 8 | 1) * 8;
}

/* count * pitch complex numbers. */
static void *new_lines(const cpu_engine *g, size_t count, size_t pitch, const char *what, err *e) {
    size_t n;
    if (mem_mul(count, pitch, &n)) return mem_raw(n, g->pass->complex_bytes, what, e);
    err_set(e, ERR_DATA, "%s: %zu lines of %zu do not fit in memory", what, count, pitch);
    return NULL;
}

static bool plan_transforms(cpu_engine *g, double patience, err *e) {
    bool float64 = g->p.ask.precision == PRECISION_FLOAT64;
    for (int i = 0; i < 2; i++) {
        cpu_fft_request r = {g->p.axis[i].length, float64, patience / 2, g->cache_dir};
        if (!(g->fft[i] = cpu_fft_new(&r, e)) || !(g->beyond[i] = border_map(&g->p.axis[i], e)))
            return false;
    }
    return true;
}

static bool prepare(engine *base, const plan *p, spectrum_lines *k, const engine_options *o,
                    err *e) {
    cpu_engine *g = (cpu_engine *)base;
    unprepare(g);
    if (!fits(p, k, e)) return false;
    g->p = *p;
    g->scale = 0.5 / ((double)p->axis[0].length * p->axis[1].length);
    g->slots = o && o->slots ? o->slots : 1;
    g->pass = k->float64 ? &CPU_PASSES_FLOAT64 : &CPU_PASSES_FLOAT32;
    g->job = (cpu_job){
        .p = &g->p,
        .line_pitch = odd_pitch(p->axis[0].length),
    };
    cpu_job *j = &g->job;
    j->block_bytes = cpu_passes_block(j, g->pass);
    if (!plan_transforms(g, o ? o->patience : 0, e)) goto fail;
    for (uint32_t i = 0; i < g->slots; i++)
        if (!(g->slot[i].half =
                  new_lines(g, cpu_passes_batches(j) * p->halves, CPU_LINES, "half spectrum", e)))
            goto fail;
    g->block = mem_raw((size_t)par_workers(g->threads), j->block_bytes, "lines of a worker", e);
    if (!g->block) goto fail;
    j->block = g->block;
    for (int i = 0; i < 2; i++) {
        j->beyond[i] = g->beyond[i];
        j->fft[i] = g->fft[i];
    }
    g->base.sinks = p->first == PLAN_X && !k->float64;
    g->kernel = k->value;
    k->value = NULL;
    return true;
fail:
    unprepare(g);
    return err_in(e, "CPU engine, %u x %u", p->ask.size[PLAN_X], p->ask.size[PLAN_Y]);
}

/* --- frames ------------------------------------------------------------------------------- */

static bool run_plane(const cpu_engine *g, cpu_job *j, engine_times *t, err *e) {
    const struct {
        par_fn *fn;
        size_t pieces;
    } order[PASSES_HERE] = {
        [FORWARD] = {g->pass->forward, cpu_passes_batches(j)},
        [CONVOLVE] = {g->pass->convolve, cpu_passes_blocks(j)},
        [INVERSE] = {g->pass->inverse, cpu_passes_batches(j)},
    };
    for (int i = 0; i < PASSES_HERE; i++) {
        double start = clock_now();
        if (!par_for(g->threads, order[i].pieces, order[i].fn, j, e)) return false;
        t->pass[i] += clock_now() - start;
    }
    return true;
}

/* The work is done here, on the caller's thread and the pool's, and wait only hands out the times.
 * Frames of several slots share the pool. */
static bool submit(engine *base, uint32_t slot, const engine_frame *f, err *e) {
    cpu_engine *g = (cpu_engine *)base;
    if (slot >= g->slots)
        return err_set(e, ERR_INTERNAL, "slot %u of %u was submitted", slot, g->slots);
    engine_times *t = &g->slot[slot].times;
    cpu_job j = g->job;
    *t = (engine_times){0};
    j.half = g->slot[slot].half;
    double start = clock_now();
    const plan *p = &g->p;
    const engine_term *term = &f->term[0];
    size_t plane = (size_t)p->halves * p->axis[1].length * g->pass->complex_bytes;
    for (uint32_t c = 0; c < p->ask.channels; c++) {
        j.kernel = (const char *)g->kernel + (p->ask.spectra > 1 ? c * plane : 0);
        j.in = term->in[c];
        j.out = f->out[c];
        j.channel = c;
        j.sink = g->base.sinks ? f->sink : NULL;
        j.tap = j.sink ? 0 : term->tap[c];
        j.gain = term->gain[c] * g->scale;
        if (!run_plane(g, &j, t, e)) return false;
    }
    t->total = clock_now() - start;
    return true;
}

static bool wait_for(engine *base, uint32_t slot, engine_times *t, err *e) {
    cpu_engine *g = (cpu_engine *)base;
    if (slot >= g->slots)
        return err_set(e, ERR_INTERNAL, "slot %u of %u was waited for", slot, g->slots);
    if (t) *t = g->slot[slot].times;
    return true;
}

/* --- benchmarks --------------------------------------------------------------------------- */

enum { COPY_PIECE = 1 << 18, COPY_MOST = 1 << 27 };

typedef struct {
    char *from, *to;
    size_t bytes;
} copied;

static bool copy_piece(void *ctx, size_t index, int worker, err *e) {
    (void)worker, (void)e;
    const copied *c = ctx;
    size_t at = index * COPY_PIECE, left = c->bytes - at;
    memcpy(c->to + at, c->from + at, left < COPY_PIECE ? left : COPY_PIECE);
    return true;
}

/* Seconds for each pass's bytes, half read and half written, by all threads; of what is larger
 * than any cache a part is enough. */
static size_t copy_part(uint64_t bytes) {
    return bytes / 2 < COPY_MOST ? (size_t)bytes / 2 : COPY_MOST;
}

static bool time_copies(cpu_engine *g, engine_repeat *r, err *e) {
    size_t most = 0;
    for (uint32_t i = 0; i < g->p.passes; i++)
        most = copy_part(g->p.pass[i].bytes) > most ? copy_part(g->p.pass[i].bytes) : most;
    char *room = mem_new(2, most, "copies", e);
    bool ok = room != NULL;
    r->copy = 0;
    for (uint32_t i = 0; ok && i < g->p.passes; i++) {
        char *end[2] = {room, room + most};
        copied c = {end[i % 2], end[1 - i % 2], copy_part(g->p.pass[i].bytes)};
        double start = clock_now();
        for (uint32_t n = 0; ok && n < r->count; n++)
            ok = par_for(g->threads, (c.bytes + COPY_PIECE - 1) / COPY_PIECE, copy_piece, &c, e);
        double share = (double)g->p.pass[i].bytes / 2 / (double)(c.bytes ? c.bytes : 1);
        r->copy_pass[i] = (clock_now() - start) / r->count * share;
        r->copy += r->copy_pass[i];
    }
    mem_free(room);
    return ok;
}

static bool repeat(engine *base, const engine_frame *f, engine_repeat *r, err *e) {
    r->frame = 0;
    memset(r->pass, 0, sizeof r->pass);
    for (uint32_t i = 0; i < r->count; i++) {
        engine_times t;
        if (!engine_run(base, f, &t, e)) return false;
        r->frame += t.total / r->count;
        for (int k = 0; k < PLAN_PASSES; k++) r->pass[k] += t.pass[k] / r->count;
    }
    return !r->ceiling || time_copies((cpu_engine *)base, r, e);
}

static void close_engine(engine *base) {
    cpu_engine *g = (cpu_engine *)base;
    unprepare(g);
    mem_free(g);
}

static engine *open_engine(const engine_device *d, par *threads, const char *cache_dir, err *e) {
    static const engine_calls CALLS = {prepare, submit, wait_for, repeat, close_engine};
    (void)d;
    cpu_engine *g = mem_new(1, sizeof *g, "CPU engine", e);
    if (!g) return NULL;
    g->base.call = &CALLS;
    g->threads = threads;
    g->cache_dir = cache_dir;
    return &g->base;
}

const engine_kind ENGINE_KIND_CPU = {"cpu", devices, open_engine};
