/* The tiles of a part, and the account of what blooming takes, as a whole or in them. It follows
 * from the limit, the header and the settings alone, so that the same run has the same tiles. */
#include "bloom/part_work.h"
#include "bloom/solve.h"

/* What the memory that blooming takes follows from, beside its tiles. */
typedef struct {
    const part_plan *p;
    plan_request ask; /* of the whole part, for its largest group */
    bool drivers;     /* those of Vulkan are loaded */
    engine_class class;
    plan plan; /* of the whole part, where the class is not the CPU's */
    uint32_t threads;
    bloom_forecasts f;
    int on;          /* the device that must do the tiles; -1: any */
    uint64_t memory; /* for tiles */
    /* Of a field, in place of one transform's: its kernels, spectra, transforms, and planes. */
    uint64_t kernels, spectra, transforms, windows;
} part_needs;

/* Adds up what the nodes of a field take. With several images each keeps its engine. Tiles have
 * margins for all of them. */
static bool add_nodes(part_needs *n, const kernel_field *f, const kernel_need *need, err *e) {
    const bloom_settings *s = n->p->j->s;
    uint64_t most = 0;
    for (uint32_t i = 0; i < field_nodes(&f->grid); i++) {
        kernel_at k = {.need = *need, .planes = n->ask.planes};
        plan about;
        uint64_t making, lines_of, transforms;
        if (!kernel_at_sketch(&k, s, &f->node[i], e)) return false;
        for (int a = 0; a < PLAN_AXES; a++) {
            n->ask.reach_lo[a] = max_u32(n->ask.reach_lo[a], k.ask.reach_lo[a]);
            n->ask.reach_hi[a] = max_u32(n->ask.reach_hi[a], k.ask.reach_hi[a]);
        }
        const field_window w = field_window_of(&f->grid, &need->frame, i, &k.ask);
        if (field_window_empty(&w)) continue;
        plan_request ask = field_window_ask(&w, &k.ask);
        ask.precision = s->precision;
        if (!plan_make(&about, &ask, e)) return false;
        const spectrum_request lines = session_spectrum(s, ENGINE_CPU, &about);
        lines_of = spectrum_bytes(ask.reach_lo[PLAN_X] + 1 + ask.reach_hi[PLAN_X],
                                  ask.reach_lo[PLAN_Y] + 1 + ask.reach_hi[PLAN_Y], ask.spectra,
                                  &lines, &making);
        transforms = max_u64(engine_bytes(ENGINE_CPU, &about, n->threads), making);
        most = max_u64(most, (uint64_t)ask.size[PLAN_X] * ask.size[PLAN_Y]);
        n->kernels += kernel_at_bytes(&k.ask);
        n->spectra = s->images > 1 ? n->spectra + lines_of : max_u64(n->spectra, lines_of);
        n->transforms = s->images > 1 ? n->transforms + transforms
                                      : max_u64(n->transforms, transforms);
    }
    n->windows = need->channels * (mem_rounded(most * sizeof(float)) +
                                   mem_rounded((uint64_t)need->w * need->h * sizeof(float)));
    return true;
}

/* Without a session: as if the kernel were one tap. Free n->f.each, also after a failure. */
static bool open_needs(part_needs *n, const part_plan *p, err *e) {
    const part_job *j = p->j;
    const bloom_settings *s = j->s;
    kernel_at k = {.planes = {.glare = bloom_emits(s)}};
    uint32_t most = 0;
    *n = (part_needs){.p = p,
                      .class = ENGINE_CPU,
                      .threads = (uint32_t)par_threads(j->threads),
                      .f.each = mem_new(ENGINE_DEVICES, sizeof *n->f.each, "forecasts", e),
                      .on = -1};
    if (!n->f.each) return false;
    for (int i = 0; i < p->m.groups; i++) {
        most = max_u32(most, p->group[i].count);
        k.planes.masked |= p->group[i].light.mask[0] != 0;
    }
    k.need = part_need(j, most, s->sharpen);
    if (!kernel_at_sketch(&k, s, j->session ? session_kernel(j->session) : NULL, e)) return false;
    n->ask = k.ask;
    n->ask.precision = s->precision;
    const kernel_field *field = j->session ? session_kernel(j->session)->field : NULL;
    if (field) return add_nodes(n, field, &k.need, e);
    if (!j->session || (s->device && strcmp(s->device, "cpu") == 0)) return true;
    err ignored = {0};
    const int best = session_forecast(j->session, &n->ask, &n->f, &ignored);
    n->drivers = n->f.devices > 1; /* they were loaded with the list */
    if (best >= 0) n->class = n->f.device[best].class, n->plan = n->f.each[best].plan;
    return true;
}

/* Returns about the plan of a tile; of the whole, the plan. */
static bool plan_of(plan *to, const part_needs *n, const tiling *t, bool doubles) {
    err ignored = {0};
    plan_request ask = n->ask;
    if (doubles) ask.precision = PRECISION_FLOAT64;
    if (part_is_whole(t) && n->class != ENGINE_CPU) return *to = n->plan, true;
    if (part_is_whole(t)) return plan_make(to, &ask, &ignored);
    to->sample_bytes = doubles ? sizeof(double) : sizeof(float);
    to->halves = t->length[PLAN_X] / 2 + 1;
    for (int a = 0; a < PLAN_AXES; a++)
        to->axis[a].length = t->length[a], to->axis[a].extent = t->tile[a];
    return true;
}

/* Return the bytes of n pixels of a group as they come, of its mask and with it. */
static uint64_t mask_bytes(const part_group *g, uint64_t n) {
    return g->light.mask[0] ? mem_rounded(n * sizeof(float)) : 0;
}
static uint64_t bytes_in(const part_plan *p, const part_group *g, uint64_t n) {
    uint64_t bytes = mask_bytes(g, n);
    for (uint32_t c = g->first; c < g->first + g->count; c++)
        bytes += mem_rounded(n * pixel_bytes(p->channel[c].type));
    return bytes;
}

/* Returns the bytes of a tile of a group: its image, and what an attempt makes of it. */
static uint64_t tile_bytes(const part_needs *n, const part_group *g, const tiling *t) {
    const bloom_settings *s = n->p->j->s;
    const bool whole = part_is_whole(t);
    const float mask = 0;
    image img = {.head = g->head};
    view v = part_view(n->p, g, &img, g->light.mask[0] ? &mask : NULL);
    v.pixels = (size_t)t->tile[PLAN_X] * t->tile[PLAN_Y];
    v.kept.w = whole ? 0 : t->kept[PLAN_X];
    return attempt_bytes(&v) + (!whole || s->verify ? bytes_in(n->p, g, v.pixels) : 0) +
           (s->solve ? solve_bytes(&v) : 0) +
           (v.emits ? v.channels * mem_rounded(v.pixels * sizeof(float)) : 0);
}

/* Adds what blooming in these tiles takes. Returns its bytes. */
static uint64_t add_memory(mem_plan *to, const part_needs *n, const tiling *t) {
    const part_plan *p = n->p;
    const bloom_settings *s = p->j->s;
    const bool whole = part_is_whole(t), lent = whole && p->j->in->lend;
    /* What is made in doubles, only its pixels tell. A part that is lent and has no memory for that
     * is made again in tiles. */
    const bool doubles = lent ? s->precision == PRECISION_FLOAT64
                              : s->precision != PRECISION_FLOAT32;
    const uint64_t start = to->bytes, kept = (uint64_t)p->w * t->kept[PLAN_Y],
                   held = kept + (uint64_t)p->w * (t->before[PLAN_Y] + t->after[PLAN_Y]);
    plan about = {.first = PLAN_X};
    if (!plan_of(&about, n, t, doubles)) return 0;
    const plan_request *ask = &n->ask;
    spectrum_request lines = session_spectrum(s, n->class, &about);
    plan worst = about;
    if (!whole) { /* either axis of a tile may be the first one */
        worst.first = PLAN_Y;
        lines.mode = SPECTRUM_EXACT, lines.by_lines = lines.at_once = false;
    }
    uint64_t making, tile = 0, in = 0, out = 0;
    const bool tinted = s->tint[0] != 0 || s->tint[1] != 0 || s->tint[2] != 0, field = n->windows;
    uint64_t kernels = field ? n->kernels : kernel_at_bytes(ask), spectra = n->spectra,
             transforms = n->transforms, windows = n->windows;
    if (!field || !whole) { /* the spectrum is made before the engine has memory of its own */
        spectra = spectrum_bytes(ask->reach_lo[PLAN_X] + 1 + ask->reach_hi[PLAN_X],
                                 ask->reach_lo[PLAN_Y] + 1 + ask->reach_hi[PLAN_Y], ask->spectra,
                                 &lines, &making);
        transforms =
            max_u64(engine_bytes(whole ? n->class : ENGINE_CPU, &worst, n->threads), making);
    }
    if (field && !whole) { /* no window is larger than a tile; kernels: of the part and of tiles */
        const uint64_t tile_is = (uint64_t)t->tile[PLAN_X] * t->tile[PLAN_Y];
        enum { PLACES = 6 }; /* tiles that are known at the same time */
        kernels = 2 * kernels + PLACES * kernel_at_bytes(ask);
        windows = ask->channels *
                  (mem_rounded((uint64_t)t->length[PLAN_X] * t->length[PLAN_Y] * sizeof(float)) +
                   mem_rounded(tile_is * sizeof(float)));
        spectra *= 1 + t->idle, transforms *= 1 + t->idle;
    }
    mem_plan_add(to, "kernel", kernels * (tinted ? ask->channels : 1));
    mem_plan_add(to, "spectrum", spectra);
    mem_plan_add(to, "transforms", transforms);
    if (field) mem_plan_add(to, "windows of a field", windows);
    for (int i = 0; i < p->m.groups; i++) {
        const part_group *g = &p->group[i];
        tile = max_u64(tile, tile_bytes(n, g, t));
        in += lent ? mask_bytes(g, held) : bytes_in(p, g, held);
        for (uint32_t c = g->first; c < g->first + g->count; c++)
            out += (uint64_t)(!whole + bloom_emits(s)) *
                   mem_rounded(kept * pixel_bytes(p->channel[c].becomes));
    }
    mem_plan_add(to, "rows that are read", in);
    mem_plan_add(to, "rows of the result", out);
    mem_plan_add(to, whole ? "planes" : "a tile", tile);
    return to->bytes - start;
}

/* Adds what nobody counts: libraries, drivers, and what rounds up to whole pages. The program and
 * its libraries take 10 to 15 MB. A Vulkan driver takes 50 to 130 MB with its
 * shaders (lavapipe; docs/inside/notebook.md, "Tiles"). */
static void add_uncounted(mem_plan *to, const part_needs *n) {
    enum { LIBRARIES = 16 << 20, PAGES = 16 << 20, DRIVERS = 144 << 20 };
    uint64_t total = mem_limit();
    mem_plan_add(to, "libraries", min_u64(total / 5, LIBRARIES) + min_u64(total / 32, PAGES));
    if (n->drivers) mem_plan_add(to, "drivers", min_u64(total / 3, DRIVERS));
}

/* --- choosing tiles ------------------------------------------------------------------------- */

static uint64_t bytes_of(void *ctx, const tiling *t) {
    mem_plan own = {0};
    return add_memory(&own, ctx, t);
}

/* Returns whether the device that the tiles are for can do one, or any where they are for no device
 * of their own. A device of software has no memory of its own: it takes from that of the tile. */
static bool a_device_fits(void *ctx, const tiling *t, const plan_request *tile) {
    part_needs *n = ctx;
    err ignored = {0};
    plan_request own = *tile;
    own.precision = n->ask.precision; /* lines are those of doubles, memory need not be */
    int best = session_forecast(n->p->j->session, &own, &n->f, &ignored);
    if (n->on >= 0) best = n->f.each[n->on].possible ? n->on : -1;
    return best >= 0 && (n->f.device[best].class != ENGINE_SOFTWARE ||
                         t->bytes + plan_device_bytes(&n->f.each[best].plan) <= n->memory);
}

/* Chooses tiles for the device that the run would take, with lines that it holds, also those of
 * doubles; else for the CPU, where that may be taken, too. */
static bool choose_for_devices(tiling *t, part_needs *n, tiling_request *r, err *e) {
    session *s = n->p->j->session;
    err ignored = {0};
    const plan_request whole = r->ask;
    n->f.pixels = (double)whole.size[PLAN_X] * whole.size[PLAN_Y];
    session_forecast(s, &whole, &n->f, &ignored);
    const engine_device *d = n->f.devices && n->f.preferred >= 0 ? &n->f.device[n->f.preferred]
                                                                 : NULL;
    if (!d || d->class == ENGINE_CPU) return tiling_choose(t, r, e);
    n->on = n->f.preferred;
    r->ask.limits = d->limits;
    if (whole.precision == PRECISION_AUTO && d->limits.float64)
        r->ask.precision = PRECISION_FLOAT64;
    if (tiling_choose(t, r, e)) return true;
    for (uint32_t i = 0; i < n->f.devices; i++) {
        if (!n->f.each[i].wanted || n->f.device[i].class != ENGINE_CPU) continue;
        *e = (err){0};
        n->on = -1;
        r->ask = whole;
        return tiling_choose(t, r, e);
    }
    return false;
}

/* Returns how many times the points of a tile's transform the windows of a field have, with the
 * farthest reach: along each axis the lengths of all columns (rows) of nodes in all tiles. */
static double windows_of(const part_needs *n, const field_grid *g, const tiling *t) {
    const uint32_t *nodes = g->nodes, step[] = {1, nodes[PLAN_X]};
    const plan_request ask = tiling_ask(t, &n->ask);
    double sum[PLAN_AXES] = {0}, common[PLAN_AXES] = {0}, tiles = 1;
    for (int a = 0; a < PLAN_AXES; a++) {
        tiles *= (double)t->count[a] * t->length[a];
        for (uint32_t i = 0; i < t->count[a]; i++) {
            const uint32_t from = i * t->kept[a], kept = min_u32(t->kept[a], t->size[a] - from);
            const int64_t first = (int64_t)from - t->before[a];
            field_frame f = part_need(n->p->j, ask.channels, 0).frame;
            part_place(&f, n->p, t, (int64_t[]){first, first}, (uint32_t[]){kept, kept});
            for (uint32_t k = 0; k < nodes[a]; k++)
                sum[a] += field_window_of(g, &f, k * step[a], &ask).axis[a].length;
            if (g->common > 0)
                common[a] += field_window_of(g, &f, nodes[0] * nodes[1], &ask).axis[a].length;
        }
    }
    return (sum[PLAN_X] * sum[PLAN_Y] + common[PLAN_X] * common[PLAN_Y]) / tiles;
}

/* Keeps engines of a field's windows from tile to tile where there is memory left. A device of
 * software would take from it, too. */
static void keep_engines(tiling *t, const part_needs *n, uint32_t nodes) {
    if (n->on >= 0 && n->f.device[n->on].class == ENGINE_SOFTWARE) return;
    for (uint32_t i = 1; i <= nodes; i++) {
        tiling more = *t;
        mem_plan own = {0};
        more.idle = i;
        if ((more.bytes = add_memory(&own, n, &more)) > n->memory) return;
        *t = more;
    }
}

bool part_tiles(tiling *t, mem_plan *memory, const part_plan *p, double most, err *e) {
    const part_job *j = p->j;
    const bool lent = j->in->lend;
    part_needs n = {.p = p};
    bool ok = (lent && !p->m.groups) || open_needs(&n, p, e);
    *memory = j->beside;
    *t = part_one_tile(p);
    if (ok && (!lent || j->session)) add_uncounted(memory, &n);
    n.memory = mem_limit() - min_u64(mem_limit(), memory->bytes);
    tiling_request r = {.ask = n.ask,
                        .memory = n.memory,
                        .limit = mem_limit(),
                        .most = most,
                        .rows = j->out->step(j->out->ctx, j->part),
                        .planes = p->channels,
                        .bytes = bytes_of,
                        .fits = a_device_fits,
                        .ctx = &n};
    ok = ok && (lent || choose_for_devices(t, &n, &r, e));
    if (ok && n.windows && !part_is_whole(t)) {
        const field_grid *grid = &session_kernel(j->session)->field->grid;
        keep_engines(t, &n, field_nodes(grid));
        t->windows = windows_of(&n, grid, t);
    }
    const bool solves = ok && j->s->solve && !part_is_whole(t);
    if (solves) *t = part_one_tile(p);
    if (ok && p->m.groups) add_memory(memory, &n, t);
    if (solves)
        ok = err_set(
            e, ERR_MEMORY,
            "%u x %u pixels are to be solved at once, which takes %.3g GB of memory; %.3g GB "
            "are allowed (--mem-limit), or the device holds no such lines",
            p->w, p->h, (double)memory->bytes / 1e9, (double)mem_limit() / 1e9);
    mem_free(n.f.each);
    return ok;
}

bool part_choose(tiling *t, mem_plan *memory, const part_job *j, err *e) {
    OWN(part_plan) p = {0};
    return part_plan_make(&p, j, e) && part_tiles(t, memory, &p, 0, e);
}
