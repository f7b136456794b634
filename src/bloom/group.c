#include "bloom/group.h"

#include "base/clock.h"
#include "base/mem.h"
#include "bloom/convolve.h"
#include "bloom/look.h"
#include "bloom/prepare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- half floats ----------------------------------------------------------------------------- */

static uint64_t count_over(const run *g) {
    uint64_t over = 0;
    for (uint32_t c = 0; c < g->n; c++)
        if (g->to[c] == PIXEL_HALF) over += g->stats[c].over;
    return over;
}

/* Finite pixels make no others, unless the kernel's sum is large. */
static bool fits_floats(const run *g, err *e) {
    for (uint32_t c = 0; c < g->n; c++)
        if (!isfinite(g->stats[c].largest) || !isfinite(g->stats[c].sum))
            return err_set(e, ERR_BAD_PIXELS,
                           "channel '%s': values of the result are beyond 3.4e38, the most that "
                           "floats hold; the kernel's sum is %g",
                           run_name(g, c),
                           g->b->size.spread.sum[spread_kernel(&g->b->size.spread, c)]);
    return true;
}

/* All channels of a group stay of one type. */
static bool treat_overflow(run *g, err *e) {
    uint64_t over = count_over(g);
    const bloom_settings *s = &g->b->s;
    float largest = 0;
    if (!over) return true;
    for (uint32_t c = 0; c < g->n; c++)
        if (g->to[c] == PIXEL_HALF && g->stats[c].largest > largest) largest = g->stats[c].largest;
    if (s->half_overflow == OVERFLOW_ERROR)
        return err_set(e, ERR_BAD_PIXELS,
                       "%" PRIu64
                       " values of the result, up to %g, are beyond 65504, the most that "
                       "half floats hold; --half-overflow clamp or float goes on",
                       over, (double)largest);
    run_note(g->r,
             s->half_overflow == OVERFLOW_CLAMP
                 ? "%" PRIu64 " values beyond 65504, up to %g, were clamped to it"
                 : "%" PRIu64 " values beyond 65504, up to %g: the layer is written as float",
             over, (double)largest);
    for (uint32_t c = 0; c < g->n && s->half_overflow == OVERFLOW_FLOAT; c++)
        g->to[c] = PIXEL_FLOAT;
    return true;
}

/* --- storing --------------------------------------------------------------------------------- */

/* Result planes of another type than the image's need room of their own. */
static bool make_room(run *g, void *made[RUN_CHANNELS], err *e) {
    for (uint32_t c = 0; c < g->n; c++) {
        made[c] = NULL;
        if (g->to[c] == g->type[c] || g->to[c] == PIXEL_FLOAT) continue;
        if ((made[c] = mem_raw(g->pixels, pixel_bytes(g->to[c]), "pixels of another type", e)))
            continue;
        while (c-- > 0) mem_free(made[c]);
        return false;
    }
    return true;
}

/* A float plane changes places with the image's own: nothing is copied. */
static void swap_plane(run *g, uint32_t c) {
    bloom *b = g->b;
    void **own = run_plane(g, c), *old = *own;
    for (int set = 0; set < 2; set++) {
        if (b->plane[set][c] != g->out[c]) continue;
        *own = b->plane[set][c];
        b->plane[set][c] = g->type[c] == PIXEL_FLOAT ? old : NULL;
        if (!b->plane[set][c]) mem_free(old);
        return;
    }
}

static void store_halfs(run *g, uint32_t c, size_t first, size_t n) {
    if (g->to[c] == PIXEL_FLOAT) return;
    if (g->stats[c].over)
        finish_store(*run_plane(g, c), g->to[c], first, g->out[c] + first, n);
    else
        image_from_float(*run_plane(g, c), g->to[c], first, g->out[c] + first, n);
}

static bool store(run *g, err *e) {
    void *made[RUN_CHANNELS];
    if (!make_room(g, made, e)) return false;
    for (uint32_t c = 0; c < g->n; c++) {
        if (made[c]) {
            mem_free(*run_plane(g, c));
            *run_plane(g, c) = made[c];
        } else if (g->to[c] == PIXEL_FLOAT) {
            swap_plane(g, c);
        }
        run_part(g)->channel[g->channel[c]].type = g->to[c];
    }
    return run_blocks(g, store_halfs, e);
}

/* --- accounts -------------------------------------------------------------------------------- */

static void enter_ledger(run *g) {
    for (uint32_t c = 0; c < g->n && g->r->ledger_rows < BLOOM_LEDGER; c++) {
        const finish_stats *st = &g->stats[c];
        /* Of what is spread, to which bad pixels' neighbours have added by now. */
        const scan_channel *light = &g->scanned.channel[c];
        bool half = g->to[c] == PIXEL_HALF;
        ledger_row *row = &g->r->ledger[g->r->ledger_rows++];
        *row = (ledger_row){
            .in = g->sum[c],
            .gained = light->sum *
                      (g->b->size.spread.sum[spread_kernel(&g->b->size.spread, c)] - 1),
            .out = st->sum - (half ? st->over_sum : 0),
            .spilled = st->spilled,
            .bad = g->bad_light[c],
            .bad_pixels = g->bad[c],
            .overflow = half ? st->over_sum : 0,
            .overflow_pixels = half ? st->over : 0,
            .negative = st->negative_sum,
            .negative_pixels = st->negative};
        row->size = fmax(fabs(row->in), fabs(row->out));
        if (light->least < 0)
            row->size = fmax(row->size, sqrt((double)light->pixels * light->squares));
        snprintf(row->channel, sizeof row->channel, "%s", run_name(g, c));
    }
}

static void keep_original(run *g, uint32_t c, size_t first, size_t n) {
    image_to_float(g->original[c] + first, *run_plane(g, c), g->type[c], first, n);
}

static bool prepare_verify(run *g, err *e) {
    if (!g->b->s.verify) return true;
    for (uint32_t c = 0; c < g->n; c++)
        if (!(g->original[c] = mem_raw(g->pixels, sizeof(float), "pixels to verify", e)))
            return false;
    return run_blocks(g, keep_original, e);
}

static void note_verified(run *g, const verify_result *found) {
    bloom_verified *v = &g->r->verified;
    const image_part *p = run_part(g);
    uint64_t pixels = v->found.pixels + found->pixels, broken = v->found.broken + found->broken;
    bool worse = found->broken && !v->found.broken;
    if (worse ||
        (!found->broken == !v->found.broken && !(found->worst.error <= v->found.worst.error)) ||
        !v->found.pixels) {
        v->found = *found;
        v->x = p->data.x0 + (int32_t)found->worst.x;
        v->y = p->data.y0 + (int32_t)found->worst.y;
        snprintf(v->channel, sizeof v->channel, "%s", run_name(g, found->worst.channel));
    }
    v->found.pixels = pixels;
    v->found.broken = broken;
}

static bool verify(run *g, err *e) {
    const bloom *b = g->b;
    const plan *p = &b->ready.plan;
    const void *got[RUN_CHANNELS];
    pixel_type type[RUN_CHANNELS];
    double dark[RUN_CHANNELS];
    if (!b->s.verify) return true;
    for (uint32_t c = 0; c < g->n; c++) {
        got[c] = *run_plane(g, c);
        type[c] = g->to[c];
        dark[c] = g->dark[c];
    }
    verify_job j = {.kernel = &b->size.kernel,
                    .sharpen = b->s.sharpen,
                    .border = {b->s.border[PLAN_X], b->s.border[PLAN_Y]},
                    .w = b->size.need.w,
                    .h = b->size.need.h,
                    .channels = g->n,
                    .in = (const float *const *)g->original,
                    .excess = run_excess(g),
                    .got = got,
                    .type = type,
                    .tolerance = b->s.tolerance,
                    .dark = dark,
                    .length = {p->axis[p->first].length, p->axis[1 - p->first].length},
                    .count = b->s.verify};
    verify_result found;
    if (!verify_run(&found, &j, b->threads, e)) return false;
    note_verified(g, &found);
    return true;
}

/* --- the whole ------------------------------------------------------------------------------- */

static bool prepare_glare(run *g, const group_glare *glare, err *e) {
    for (uint32_t c = 0; glare && c < g->n; c++)
        if (!(g->glare[c] = mem_raw(g->pixels, sizeof(float), "glare", e))) return false;
    return true;
}

static bool hand_over_glare(run *g, group_glare *glare, err *e) {
    for (uint32_t c = 0; glare && c < g->n; c++) {
        if (!(glare->name[c] = mem_str(run_name(g, c), e))) return false;
        glare->type[c] = g->to[c];
        glare->plane[c] = g->glare[c];
        g->glare[c] = NULL;
        glare->channels++;
    }
    return true;
}

void group_glare_free(group_glare *g) {
    for (uint32_t c = 0; c < RUN_CHANNELS; c++) {
        mem_free(g->name[c]);
        mem_free(g->plane[c]);
    }
    *g = (group_glare){0};
}

static kernel_need need_of(const run *g, uint32_t height) {
    const image_part *p = run_part(g);
    return (kernel_need){g->n, image_width(p), image_height(p), height};
}

static bool do_all(run *g, group_glare *glare, err *e) {
    bool done = false;
    if (!glare && !convolve_straight(g, &done, e)) return false;
    double start = clock_now(), spent;
    if (!done && (!look_at(g, e) || !prepare_verify(g, e) || !prepare_glare(g, glare, e)))
        return false;
    spent = clock_now() - start;
    if (!done && !convolve_group(g, e)) return false;
    if (!fits_floats(g, e) || !treat_overflow(g, e)) return false;
    enter_ledger(g);
    if (!store(g, e)) return false;
    start = clock_now();
    if (!verify(g, e)) return false;
    g->r->contract_seconds += spent + clock_now() - start;
    return hand_over_glare(g, glare, e);
}

bool group_bloom(bloom *b, image *img, int part, const layer_group *layer, uint32_t height,
                 group_glare *glare, bloom_report *r, err *e) {
    run g;
    run_open(&g, b, img, part, layer, r);
    kernel_need need = need_of(&g, height);
    bool ok = prepare_size(b, &need, e) && do_all(&g, glare, e);
    run_close(&g);
    if (!ok) return layer->name[0] ? err_in(e, "layer '%s'", layer->name) : false;
    r->plan = b->ready.plan;
    r->device = b->on;
    r->groups++;
    return true;
}

bool group_predict(bloom *b, image *img, int part, const layer_group *layer, uint32_t height,
                   bloom_report *r, err *e) {
    run g;
    run_open(&g, b, img, part, layer, r);
    kernel_need need = need_of(&g, height);
    bool ok = prepare_size(b, &need, e) && look_ahead(&g, e) && convolve_choose(&g, e);
    if (ok) {
        convolve_note(&g, 0);
        plan_request ask = prepare_request(b, &b->size.kernel, &need, g.method.precision);
        ask.half_input = run_gives_halfs(&g);
        ok = prepare_choice(b, &ask, &r->plan, &r->device, NULL, e);
        r->groups++;
    }
    run_close(&g);
    return ok;
}
