/* The account of a part: what blooming it takes, as a whole or in tiles. It follows from the limit,
 * the header and the settings alone, so that the same run has the same tiles. */
#include "base/mem.h"
#include "base/number.h"
#include "bloom/part_work.h"
#include "bloom/solve.h"

#include <string.h>

bool part_needs_open(part_needs *n, const part_plan *p, err *e) {
    const part_job *j = p->j;
    const bloom_settings *s = j->s;
    float tap = 1;
    psf k = {.tap = &tap, .w = 1, .h = 1, .channels = 1}; /* where the kernel is not known */
    uint32_t most = 0;
    plan_planes planes = {.glare = bloom_emits(s)};
    *n = (part_needs){.p = p, .class = ENGINE_CPU, .threads = (uint32_t)par_threads(j->threads)};
    for (int i = 0; i < p->m.groups; i++) {
        most = max_u32(most, p->group[i].count);
        planes.masked |= p->group[i].light.mask[0] != 0;
    }
    const kernel_need need = part_need(j, most, s->sharpen);
    if (j->session && !part_psf(&k, j, &need, NULL, e)) return false;
    n->ask = kernel_at_plan(s, &k, &need, planes);
    n->ask.precision = s->precision;
    if (j->session) psf_free(&k);
    if (!j->session || (s->device && strcmp(s->device, "cpu") == 0)) return true;
    err ignored = {0};
    bloom_forecasts f = {.each = mem_new(ENGINE_DEVICES, sizeof *f.each, "forecasts", e)};
    int best = f.each ? session_forecast(j->session, &n->ask, &f, &ignored) : -1;
    n->drivers = f.devices > 1; /* they were loaded with the list */
    if (best >= 0) n->class = f.device[best].class;
    if (best >= 0) n->plan = f.each[best].plan;
    mem_free(f.each);
    return f.each != NULL;
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

uint64_t part_memory(mem_plan *to, const part_needs *n, const tiling *t) {
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
    const bool tinted = s->tint[0] != 0 || s->tint[1] != 0 || s->tint[2] != 0;
    mem_plan_add(to, "kernel", kernel_at_bytes(ask) * (tinted ? ask->channels : 1));
    mem_plan_add(to, "spectrum",
                 spectrum_bytes(ask->reach_lo[PLAN_X] + 1 + ask->reach_hi[PLAN_X],
                                ask->reach_lo[PLAN_Y] + 1 + ask->reach_hi[PLAN_Y], ask->spectra,
                                &lines, &making));
    /* It is made before the engine has memory of its own. */
    mem_plan_add(to, "transforms",
                 max_u64(engine_bytes(whole ? n->class : ENGINE_CPU, &worst, n->threads), making));
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

/* The program and its libraries take 10 to 15 MB. A Vulkan driver takes 50 to 130 MB with its
 * shaders (lavapipe; docs/notebook.md, "Tiles"). */
void part_uncounted(mem_plan *to, const part_needs *n) {
    enum { LIBRARIES = 16 << 20, PAGES = 16 << 20, DRIVERS = 144 << 20 };
    uint64_t all = mem_limit();
    mem_plan_add(to, "libraries", min_u64(all / 5, LIBRARIES) + min_u64(all / 32, PAGES));
    if (n->drivers) mem_plan_add(to, "drivers", min_u64(all / 3, DRIVERS));
}
