/* cpu_engine.c - the engine on the host's cores: memory and order of cpu_passes.h's passes. */
#include "base/clock.h"
#include "base/host.h"
#include "base/mem.h"
#include "engine/cpu/cpu_passes.h"
#include "engine/engine.h"

typedef struct {
    engine base;
    par *threads; /* the caller's */

    /* Made by prepare and freed by unprepare; in between they are const, so that the threads that
     * submit may share them without a lock. */
    plan p;
    const cpu_passes *pass, *narrow; /* of all lanes, of half as many; NULL: there is none */
    cpu_cut batches, blocks;         /* the pieces of the passes along both axes */
    cpu_job job;                     /* what the planes of all frames have in common */
    spectrum_lines kernel;           /* taken from the caller */
    double scale; /* left out by the transforms: 1 / L per axis, 1/2 for two real lines in one */

    /* Each slot belongs to the thread that submits to it. */
    struct {
        void *half;         /* spectrum of the plane at work */
        void *columns;      /* what comes in columns, before its rows are joined; NULL: rows come */
        join_stats *row;    /* of each row of it */
        engine_times times; /* of the last frame, */
        join_stats stats[ENGINE_CHANNELS]; /* and what was measured of it */
    } slot[ENGINE_SLOTS];
    uint32_t slots; /* 0: not prepared */
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
    static const char *const LANES[LANES_FORMS] = {"4", "8", "16"};
    if (!room) return 0;
    *to = (engine_device){.class = ENGINE_CPU, .limits.float64 = true};
    cpu_name(to->name);
    snprintf(to->driver, sizeof to->driver, "lanes of %s", LANES[lanes_form()]);
    return 1;
}

/* --- prepare ------------------------------------------------------------------------------ */

static void forget(engine *base) {
    cpu_engine *g = (cpu_engine *)base;
    spectrum_lines_free(&g->kernel);
}

static void unprepare(cpu_engine *g) {
    for (int i = 0; i < 2; i++) lanes_free(&g->job.fft[i]);
    mem_free(g->job.beyond);
    mem_free(g->job.source);
    for (uint32_t i = 0; i < ENGINE_SLOTS; i++) {
        mem_free(g->slot[i].half);
        mem_free(g->slot[i].columns);
        mem_free(g->slot[i].row);
    }
    memset(g->slot, 0, sizeof g->slot);
    forget(&g->base);
    mem_free(g->job.room);
    mem_free(g->job.join.scratch);
    g->job = (cpu_job){0};
    g->slots = 0;
}

static bool prepare_axes(cpu_engine *g, err *e) {
    cpu_job *j = &g->job;
    const plan_axis *a = g->p.axis;
    bool float64 = g->p.ask.precision == PRECISION_FLOAT64;
    for (int i = 0; i < 2; i++)
        if (!(j->fft[i] = lanes_new(a[i].length, float64, e))) return false;
    j->lines = ceil_div_size(a[1].extent, CPU_LINES) * CPU_LINES + 1;
    if (!(j->beyond = mem_raw(a[0].length - a[0].extent, sizeof *j->beyond, "border map", e)) ||
        !(j->source = mem_raw(a[1].length, sizeof *j->source, "border map", e)))
        return false;
    for (uint32_t k = a[0].extent; k < a[0].length; k++)
        j->beyond[k - a[0].extent] = (int32_t)plan_source(&a[0], k);
    const lanes *f = j->fft[1];
    for (uint32_t k = 0; k < f->n; k++) {
        int64_t line = plan_source(&a[1], k);
        j->source[k % f->b * f->a + k / f->b] = line < 0 ? (uint32_t)j->lines - 1 : (uint32_t)line;
    }
    return true;
}

/* Takes the kernel, its lines in the order in which the second axis leaves frequencies. */
static bool take_kernel(cpu_engine *g, spectrum_lines *k, err *e) {
    const lanes *f = g->job.fft[1];
    uint32_t *order = mem_raw(f->n, sizeof *order, "order of frequencies", e);
    for (uint32_t i = 0; order && i < f->n; i++) order[i] = i / f->b + f->a * (i % f->b);
    bool ok = order && (k->half[0] || spectrum_arrange(k, order, g->pass->lanes, g->threads, e));
    mem_free(order);
    if (!ok) return false;
    spectrum_lines_free(&g->kernel);
    g->kernel = *k;
    *k = (spectrum_lines){0};
    return true;
}

static uint64_t columns_bytes(const plan *p) {
    return p->first == PLAN_X ? 0
                              : (uint64_t)p->axis[0].extent * p->axis[1].extent * p->sample_bytes;
}

/* The half spectrum is that of one channel. Each worker has lines of both axes; whatever the form
 * of the transforms, their complex numbers of every lane have the same bytes. */
static uint64_t cpu_bytes(engine_class class, const plan *p, uint32_t threads) {
    enum { LANES = 16, NUMBER = 128, LEVELS = 1024 };
    uint64_t lines = ceil_div_u64(p->axis[1].extent, CPU_LINES) * CPU_LINES + 1;
    uint64_t half = ceil_div_u64(p->halves, LANES) * LANES * lines * 2 * p->sample_bytes;
    uint64_t line = max_u32(p->axis[0].length, p->axis[1].length) + p->axis[0].length + LEVELS;
    if (p->sample_bytes == sizeof(double)) line += 2 * (uint64_t)p->axis[1].length;
    return mem_rounded(half) + (threads + 1) * line * NUMBER + mem_rounded(columns_bytes(p));
}

static bool prepare_slot(cpu_engine *g, uint32_t i, size_t half, err *e) {
    uint64_t columns = columns_bytes(&g->p);
    g->slot[i].half = mem_raw(half, 1, "half spectrum", e);
    g->slot[i].row = mem_raw(g->p.ask.size[PLAN_Y], sizeof *g->slot[i].row, "statistics", e);
    if (columns) g->slot[i].columns = mem_raw(columns, 1, "columns", e);
    return g->slot[i].half && g->slot[i].row && (!columns || g->slot[i].columns);
}

/* Cuts the passes for the threads. With several slots other frames take the threads that one leaves
 * without work. */
static void cut_passes(cpu_engine *g, uint32_t slots) {
    bool float64 = g->p.ask.precision == PRECISION_FLOAT64;
    int form = lanes_form();
    g->pass = g->narrow = cpu_passes_of(form, float64);
    while (form > 0 && g->narrow->lanes == g->pass->lanes)
        g->narrow = cpu_passes_of(--form, float64);
    cpu_job *j = &g->job;
    j->p = &g->p;
    j->threads = (size_t)par_threads(g->threads);
    j->lanes = g->pass->lanes;
    size_t share = slots == 1 && g->narrow->lanes * 2 == j->lanes ? j->threads : 1;
    g->batches = cpu_cut_of(cpu_passes_batches(j), share);
    g->blocks = cpu_cut_of(cpu_passes_blocks(j), share);
    j->wide = g->blocks.narrow ? g->blocks.wide * j->lanes : SIZE_MAX;
}

/* Makes all that a plan needs, with nothing prepared before. */
static bool make_all(cpu_engine *g, const plan *p, spectrum_lines *k, uint32_t slots, err *e) {
    cpu_job *j = &g->job;
    size_t half, bytes;
    g->p = *p;
    g->scale = 0.5 / ((double)p->axis[0].length * p->axis[1].length);
    cut_passes(g, slots);
    if (!prepare_axes(g, e)) return false;
    if (!mem_mul(cpu_passes_blocks(j), j->lines, &half) || !mem_mul(half, g->pass->number, &bytes))
        return err_set(e, ERR_DATA, "the half spectrum does not fit in memory");
    j->room_bytes = cpu_passes_room(j, g->pass);
    j->room = mem_raw((size_t)par_workers(g->threads), j->room_bytes, "lines of a worker", e);
    j->join.p = &g->p;
    j->join.scratch = mem_raw((size_t)par_workers(g->threads), cpu_join_room(p), "rows", e);
    if (!j->room || !j->join.scratch) return false;
    for (uint32_t i = 0; i < slots; i++)
        if (!prepare_slot(g, i, bytes, e)) return false;
    if (!take_kernel(g, k, e)) return false;
    g->slots = slots;
    return true;
}

static bool prepare(engine *base, const plan *p, spectrum_lines *k, const engine_options *o,
                    err *e) {
    cpu_engine *g = (cpu_engine *)base;
    const uint32_t slots = o && o->slots ? o->slots : 1;
    if (g->slots == slots && plan_same(&g->p, p)) return take_kernel(g, k, e);
    unprepare(g);
    if (slots > ENGINE_SLOTS)
        return err_set(e, ERR_INTERNAL, "%u slots; %d are the most", slots, ENGINE_SLOTS);
    if (make_all(g, p, k, slots, e)) return true;
    unprepare(g);
    return err_in(e, "CPU engine, %u x %u", p->ask.size[PLAN_X], p->ask.size[PLAN_Y]);
}

/* --- frames ------------------------------------------------------------------------------- */

typedef struct {
    cpu_job *j;
    par_fn *wide, *narrow;
    cpu_cut cut;
    int counts; /* its time as that of this pass */
} cut_pass;

/* Does a piece; narrow ones are counted as if there were no others. */
static bool do_piece(void *ctx, size_t index, int worker, err *e) {
    const cut_pass *p = ctx;
    size_t wide = p->cut.wide;
    return index < wide ? p->wide(p->j, index, worker, e)
                        : p->narrow(p->j, index + wide, worker, e);
}

static bool join_columns(void *ctx, size_t y, int worker, err *e) {
    const cpu_job *j = ctx;
    const char *row = (const char *)j->columns + y * j->p->ask.size[PLAN_X] * j->p->sample_bytes;
    cpu_join_row(&j->join, (uint32_t)y, worker, row);
    return true;
}

static bool run_plane(const cpu_engine *g, cpu_job *j, engine_times *t, err *e) {
    const cpu_passes *a = g->pass, *b = g->narrow;
    const cpu_cut rows = {j->columns ? g->p.ask.size[PLAN_Y] : 0, 0};
    cut_pass pass[] = {{j, a->forward, b->forward, g->batches, 0},
                       {j, a->convolve, b->convolve, g->blocks, 1},
                       {j, a->inverse, b->inverse, g->batches, 2},
                       {j, join_columns, NULL, rows, 2}};
    for (size_t i = 0; i < COUNT(pass); i++) {
        double start = clock_now();
        if (!par_for(g->threads, pass[i].cut.wide + pass[i].cut.narrow, do_piece, &pass[i], e))
            return false;
        t->pass[pass[i].counts] += clock_now() - start;
    }
    return true;
}

/* Does the work, on the caller's thread and the pool's; wait only hands out what was measured.
 * Frames of several slots share the pool. */
static bool submit(engine *base, uint32_t slot, const engine_frame *f, err *e) {
    cpu_engine *g = (cpu_engine *)base;
    if (slot >= g->slots)
        return err_set(e, ERR_INTERNAL, "slot %u of %u was submitted", slot, g->slots);
    engine_times *t = &g->slot[slot].times;
    cpu_job j = g->job;
    *t = (engine_times){0};
    const plan *p = &g->p;
    const double channels = p->ask.channels;
    j.half = g->slot[slot].half;
    j.columns = g->slot[slot].columns;
    j.kernel = &g->kernel;
    j.halfs = p->ask.planes.in == PLAN_HALFS;
    const bool again = p->ask.planes.again;
    const uint32_t steps = again && f->steps ? f->steps : 1;
    j.spread = again || join_spreads_all(&f->join->spread) ? NULL : &f->join->spread;
    j.join.f = f;
    j.join.row = g->slot[slot].row;
    for (uint32_t c = 0; c < p->ask.channels; c++) {
        j.lost = f->lost ? f->lost[c] : NULL;
        j.spectrum = p->ask.spectra > 1 ? c : 0;
        j.gain = f->join->channel[c].gain * g->scale;
        j.join.channel = c;
        double start = clock_now();
        for (uint32_t step = 0; step < steps; step++) {
            if (!host_ask((c + (step + 1.0) / steps) / (channels + 2), e)) return false;
            j.in = f->goes_on || step ? f->out[c] : f->in[c];
            if (!run_plane(g, &j, t, e)) return false;
        }
        g->slot[slot].stats[c] = cpu_join_stats(&j.join);
        t->total += clock_now() - start;
    }
    return true;
}

static bool wait_for(engine *base, uint32_t slot, join_stats *st, engine_times *t, err *e) {
    cpu_engine *g = (cpu_engine *)base;
    if (slot >= g->slots)
        return err_set(e, ERR_INTERNAL, "slot %u of %u was waited for", slot, g->slots);
    if (st) memcpy(st, g->slot[slot].stats, g->p.ask.channels * sizeof *st);
    if (t) *t = g->slot[slot].times;
    return true;
}

/* --- benchmarks --------------------------------------------------------------------------- */

static bool repeat(engine *base, const engine_frame *f, engine_repeat *r, err *e) {
    *r = (engine_repeat){.count = r->count};
    for (uint32_t i = 0; i < r->count; i++) {
        engine_times t;
        if (!engine_run(base, f, &t, e)) return false;
        r->frame += t.total / r->count;
        for (int k = 0; k < PLAN_PASSES; k++) r->pass[k] += t.pass[k] / r->count;
    }
    return true;
}

static void close_engine(engine *base) {
    cpu_engine *g = (cpu_engine *)base;
    unprepare(g);
    mem_free(g);
}

static engine *beside(const engine *base, err *e);

static engine *open_engine(const engine_device *d, par *threads, const char *cache_dir, err *e) {
    static const engine_calls CALLS = {prepare, forget, submit,      wait_for,
                                       repeat,  beside, close_engine};
    cpu_engine *g = mem_new(1, sizeof *g, "CPU engine", e);
    if (!g) return NULL;
    g->base.call = &CALLS;
    g->threads = threads;
    return &g->base;
}

static engine *beside(const engine *base, err *e) {
    const cpu_engine *g = (const cpu_engine *)base;
    return open_engine(NULL, g->threads, NULL, e);
}

const engine_kind ENGINE_KIND_CPU = {cpu_bytes, devices, open_engine, NULL, NULL, NULL};
