#include "bloom/verify.h"

#include "base/mem.h"

/* --- which pixels ---------------------------------------------------------------------------- */

typedef struct {
    const verify_tile *t;
    sampler_pixel *pixel;
    size_t count, room;
    uint64_t seed;
} choice;

static uint32_t by_chance(choice *c, uint64_t below) {
    return (uint32_t)(random_next(&c->seed) % below);
}

static void add(choice *c, uint32_t channel, int64_t x, int64_t y) {
    const verify_tile *t = c->t;
    if (c->count == c->room || x < 0 || y < 0 || x >= t->across || y >= t->down) return;
    uint32_t first = t->together ? 0 : channel, end = t->together ? t->channels : channel + 1;
    for (uint32_t k = first; k < end; k++) {
        float v;
        image_to_float(&v, t->plane[k], t->type[k], (size_t)y * t->w + t->x + (size_t)x, 1);
        c->pixel[c->count++] = (sampler_pixel){
            t->first + k, {.x = t->x + (uint32_t)x, .y = t->y + (uint32_t)y}, (double)v, 1};
    }
}

/* Holds, for each cell of the tile, the darkest result that something is promised for and the
 * brightest pixel. They are sorted, so that the first ones come from all over the tile. */
typedef struct {
    float v;
    uint32_t channel, x, y; /* of the tile */
} extreme;

static int darker_first(const void *a, const void *b) {
    float x = ((const extreme *)a)->v, y = ((const extreme *)b)->v;
    return (x > y) - (x < y);
}

enum { CELL = 16 };

/* Two lists, [0] dark and [1] bright (negated), of *count cells each. */
static extreme *find_extremes(const verify_tile *t, size_t *count, err *e) {
    size_t across = ceil_div_u32(t->across, CELL), down = ceil_div_u32(t->down, CELL);
    size_t n = across * down * t->channels;
    OWN_MEM extreme *list = mem_raw(2 * n, sizeof *list, "pixels to verify", e);
    OWN_MEM float *got = mem_raw(t->across, sizeof *got, "pixels to verify", e);
    if (!list || !got) return NULL;
    for (size_t i = 0; i < 2 * n; i++) list[i] = (extreme){i < n ? INFINITY : 0, UINT32_MAX, 0, 0};
    for (uint32_t c = 0; c < t->channels; c++)
        for (uint32_t y = 0; y < t->down; y++) {
            size_t cells = (c * down + y / CELL) * across;
            image_to_float(got, t->plane[c], t->type[c], (size_t)y * t->w + t->x, t->across);
            for (uint32_t x = 0; x < t->across; x++) {
                extreme *dark = &list[cells + x / CELL], *bright = dark + n;
                float size = fabsf(got[x]);
                if ((double)size >= t->dark[c] && size < dark->v) *dark = (extreme){size, c, x, y};
                if (-size < bright->v) *bright = (extreme){-size, c, x, y};
            }
        }
    for (int i = 0; i < 2; i++) qsort(list + i * n, n, sizeof *list, darker_first);
    *count = n;
    return GIVE(list);
}

/* Rounding errors that repeat make copies of what is bright, half a transform away and half of
 * that; and its neighbours have the largest numbers cancel. */
static void add_around(choice *c, const extreme *p) {
    static const int STEP[][2] = {{1, 0}, {0, 1}, {-1, -1}, {2, -2}};
    int64_t half_x = c->t->length[0] / 2, half_y = c->t->length[1] / 2;
    for (int i = 0; i < 4; i++)
        add(c, p->channel, (int64_t)p->x + STEP[i][0], (int64_t)p->y + STEP[i][1]);
    for (int sign = -1; sign <= 1; sign += 2) {
        add(c, p->channel, (int64_t)p->x + sign * half_x, p->y);
        add(c, p->channel, p->x, (int64_t)p->y + sign * half_y);
        add(c, p->channel, (int64_t)p->x + sign * half_x / 2, p->y);
    }
}

static void add_borders(choice *c, size_t n) {
    const verify_tile *t = c->t;
    const int64_t right = (int64_t)t->across - 1, bottom = (int64_t)t->down - 1;
    for (uint32_t k = 0; k < t->channels; k++)
        for (int i = 0; i < 4; i++) add(c, k, i & 1 ? right : 0, i & 2 ? bottom : 0);
    for (size_t i = 0; i < n; i++) {
        const uint32_t k = by_chance(c, t->channels), x = by_chance(c, t->across),
                       y = by_chance(c, t->down);
        add(c, k, !(i & 1) ? x : i & 2 ? right : 0, i & 1 ? y : i & 2 ? bottom : 0);
    }
}

static bool add_hardest(choice *c, size_t n, err *e) {
    size_t cells, end = c->count + n / 2;
    OWN_MEM extreme *list = find_extremes(c->t, &cells, e);
    if (!list) return false;
    for (extreme *p = list; p < list + cells && c->count < end && p->channel != UINT32_MAX; p++)
        add(c, p->channel, p->x, p->y);
    end = c->count + n / 4;
    for (extreme *p = list + cells;
         p < list + 2 * cells && c->count < end && p->channel != UINT32_MAX; p++)
        add_around(c, p);
    add_borders(c, c->room - c->count);
    return true;
}

bool verify_look(sampler *s, const verify_tile *t, err *e) {
    choice c = {.t = t, .count = s->count, .seed = ((uint64_t)t->y << 32 | t->x) + 1};
    if (!t->count) return true;
    uint32_t each = t->together ? t->channels : 1, places = ceil_div_u32(t->count, each);
    const uint64_t total = (uint64_t)t->across * t->down * t->channels;
    c.room = s->count + (size_t)min_u64(2 * (uint64_t)places * each, total);
    c.pixel = mem_raw(c.room, sizeof *c.pixel, "pixels to verify", e);
    if (!c.pixel) return false;
    for (size_t i = 0; i < s->count; i++) c.pixel[i] = s->pixel[i];
    const bool each_once = c.room == s->count + total;
    for (uint32_t k = 0; each_once && k < (t->together ? 1 : t->channels); k++)
        for (uint32_t y = 0; y < t->down; y++)
            for (uint32_t x = 0; x < t->across; x++) add(&c, k, x, y);
    for (uint32_t i = 0; !each_once && i < places; i++) {
        const uint32_t k = by_chance(&c, t->channels), x = by_chance(&c, t->across);
        add(&c, k, x, by_chance(&c, t->down));
    }
    bool ok = each_once || add_hardest(&c, t->count, e);
    mem_free(s->pixel);
    *s = (sampler){c.pixel, c.count};
    return ok;
}

/* --- judging --------------------------------------------------------------------------------- */

/* What is known of a value: within the tolerance it is between near[0] and near[1], and with all
 * that it may be rounded between far[0] and far[1]. */
typedef struct {
    double got, want, near[2], far[2];
} value;

static value light_of(const sampler_pixel *p, const verify_promise *by) {
    double more, want = sampler_want(&more, p, by->type, by->kernel, &by->gain);
    const double reach = by->tolerance * fmax(fabs(want), by->dark), low = want - reach,
                 high = want + reach;
    return (value){p->got, want, {low, high}, {low - more, high + more}};
}

/* Codes the values of a pixel as the file does. What is stored is rounded once more. */
static void code(value *v, const verify_promise *by, int count, const recode *how, double alpha) {
    double got[3] = {0}, want[3] = {0}, near[2][3] = {{0}}, far[2][3] = {{0}};
    for (int c = 0; c < count; c++) {
        got[c] = v[c].got, want[c] = v[c].want;
        for (int k = 0; k < 2; k++) near[k][c] = v[c].near[k], far[k][c] = v[c].far[k];
    }
    recode_colour(how, got, count, alpha);
    recode_colour(how, want, count, alpha);
    recode_between(how, near[0], near[1], count, alpha);
    recode_between(how, far[0], far[1], count, alpha);
    for (int c = 0; c < count; c++) {
        pixel_type type = by[c].type;
        uint32_t stored;
        float rounded = (float)got[c];
        image_from_floats(&stored, type, 0, &rounded, 1);
        image_to_float(&rounded, &stored, type, 0, 1);
        v[c].got = (double)rounded, v[c].want = definition_within(type, want[c]);
        for (int k = 0; k < 2; k++) {
            double is_far = definition_within(type, far[k][c]);
            v[c].near[k] = definition_within(type, near[k][c]);
            v[c].far[k] = is_far + (k ? 1 : -1) * definition_rounds(type, is_far);
        }
    }
}

bool verify_is_worse(const verify_result *than, double error, bool broken) {
    bool worse = !(error <= than->worst.error);
    return !than->pixels || (broken ? !than->broken || worse : !than->broken && worse);
}

void verify_judge(verify_result *to, const sampler_pixel *p, const verify_promise *by, int count,
                  const recode *how, double alpha) {
    value v[3];
    for (int c = 0; c < count; c++) {
        if (!isfinite(p[c].got) && p[c].defined.bad) return; /* it stayed as it was */
        v[c] = light_of(&p[c], &by[c]);
    }
    if (how) code(v, by, count, how, alpha);
    for (int c = 0; c < count; c++) {
        const double off = v[c].got - v[c].want, reach = v[c].near[off > 0] - v[c].want;
        const double error = off == 0 ? 0 : by[c].tolerance * fabs(off / reach);
        const bool broken = !(v[c].got >= v[c].far[0] && v[c].got <= v[c].far[1]);
        if (verify_is_worse(to, error, broken))
            to->worst = (verify_pixel){p[c].channel, p[c].defined.x, p[c].defined.y,
                                       v[c].got,     v[c].want,      error};
        to->pixels++;
        to->broken += broken;
    }
}
