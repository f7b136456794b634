/* edit.c - the table of edits, and all of them but clean. */
#include "kernel/edit/edit.h"

#include "base/mem.h"
#include "kernel/stretch.h"

/* The taps that are not zero: how far they reach from the centre, along x and y. */
typedef struct {
    uint32_t before[2], after[2];
} edit_reach;

static edit_reach reach_of(const edit_kernel *k) {
    const size_t n = (size_t)k->w * k->h;
    edit_reach r = {0};
    for (size_t i = 0; i < n * k->channels; i++) {
        if (k->tap[i] == 0) continue;
        const uint32_t at[2] = {(uint32_t)(i % k->w), (uint32_t)(i % n / k->w)},
                       centre[2] = {k->w / 2, k->h / 2};
        for (int a = 0; a < 2; a++) {
            uint32_t *far = at[a] < centre[a] ? &r.before[a] : &r.after[a];
            *far = max_u32(*far, at[a] < centre[a] ? centre[a] - at[a] : at[a] - centre[a]);
        }
    }
    return r;
}

/* Returns the smallest side, `least` or more, that has `before` taps before its centre and `after`
 * behind its centre. */
static uint32_t edit_side(uint32_t before, uint32_t after, uint32_t least) {
    return max_u32(least, before > after ? 2 * before : 2 * after + 1);
}

/* Makes the result of a stretch larger until it holds every tap that is not zero. */
static void edit_hold(stretch *s, const edit_kernel *k) {
    const edit_reach r = reach_of(k);
    s->from[0] = k->w, s->from[1] = k->h;
    for (int a = 0; a < 2; a++) {
        double before = stretch_reach(r.before[a], s->scale[a], -s->move[a]);
        double after = stretch_reach(r.after[a], s->scale[a], s->move[a]);
        s->to[a] = edit_side((uint32_t)before, (uint32_t)after, s->to[a]);
        s->middle[a] = s->from[a] / 2, s->at[a] = s->to[a] / 2;
    }
}

/* The amounts are shares of the light, so each kernel counts as if its channels summed to 1. */
static bool edit_mix(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    stretch by = {.scale = {1, 1}};
    uint32_t channels = 1;
    double total = 0;
    for (int i = 0; i < r->inputs; i++) {
        const edit_kernel *k = &r->input[i].kernel;
        memcpy(by.move, r->input[i].offset, sizeof by.move);
        by.to[0] = max_u32(by.to[0], k->w), by.to[1] = max_u32(by.to[1], k->h);
        edit_hold(&by, k);
        channels = max_u32(channels, k->channels);
    }
    if (!edit_new(to, by.to[0], by.to[1], channels, e)) return false;
    for (int i = 0; i < r->inputs; i++) {
        const edit_input *in = &r->input[i];
        const edit_kernel *k = &in->kernel;
        double share = isnan(in->amount) ? 1.0 / r->inputs : in->amount;
        double mean = edit_light(k) / k->channels;
        if (!(mean > 0))
            return err_set(e, ERR_DATA,
                           "the taps of '%s' add up to %g, so it has no light to share", in->name,
                           mean);
        memcpy(by.move, in->offset, sizeof by.move);
        edit_hold(&by, k);
        for (size_t c = 0; c < k->channels; c++) {
            double weight[EDIT_CHANNELS] = {0};
            for (uint32_t t = 0; t < channels; t++)
                if (k->channels == 1 || t == c) weight[t] = share / mean;
            if (!stretch_add(to->tap, channels, &by, k->tap + c * k->w * k->h, weight, r->threads,
                             e))
                return false;
        }
        total += share;
        edit_say(told, "share", share, "%s gives %.4g of the light", in->name, share);
    }
    if (fabs(total - 1) > 1e-9)
        edit_say(told, "shares", total, "the shares add up to %.9g, and a run scales them to 1",
                 total);
    return true;
}

static bool edit_rotate(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    const edit_kernel *k = &r->input[0].kernel;
    const double degrees = fmod(r->value[0], 360);
    const bool across = fmod(degrees, 90) == 0 && fmod(degrees, 180) != 0;
    turn t = {.from = {k->w, k->h}, .middle = {k->w / 2, k->h / 2}, .channels = k->channels};
    uint32_t reach[4];
    turn_by(&t, degrees);
    turn_reach(reach, &t, k->tap);
    t.to[0] = edit_side(reach[0], reach[1], across ? k->h : k->w);
    t.to[1] = edit_side(reach[2], reach[3], across ? k->w : k->h);
    t.at[0] = t.to[0] / 2, t.at[1] = t.to[1] / 2;
    if (!edit_new(to, t.to[0], t.to[1], k->channels, e)) return false;
    edit_say(told, "angle", degrees, "turned by %g degrees, clockwise", degrees);
    return turn_add(to->tap, &t, k->tap, r->threads, e);
}

static bool edit_stretch(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    const edit_kernel *k = &r->input[0].kernel;
    const double x = r->value[0], y = r->value[1];
    stretch by = {.scale = {x, y}, .to = {x < 1 ? 1 : k->w, y < 1 ? 1 : k->h}};
    edit_hold(&by, k);
    if (!edit_new(to, by.to[0], by.to[1], k->channels, e)) return false;
    for (size_t c = 0; c < k->channels; c++)
        if (!stretch_add(to->tap + c * to->w * to->h, 1, &by, k->tap + c * k->w * k->h,
                         &(double){1}, r->threads, e))
            return false;
    edit_say(told, "stretch", x / y, "stretched to %g times the width and %g times the height", x,
             y);
    return true;
}

/* Without a size, crops to the smallest square that holds a share of the light. */
bool edit_crop(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    const edit_kernel *k = &r->input[0].kernel;
    if (!edit_copy(to, k, e)) return false;
    if (r->taps[0]) return true;
    uint32_t most = max_u32(k->w, k->h) / 2 + 1, at = 0;
    OWN_MEM double *light = mem_new(most + 1, sizeof *light, "light by distance", e);
    double sum = 0, whole = 0, lost;
    if (!light) return false;
    for (size_t i = 0, n = (size_t)k->w * k->h; i < n * k->channels; i++) {
        double dx = (double)(i % n % k->w) - k->w / 2, dy = (double)(i % n / k->w) - k->h / 2;
        light[(size_t)fmax(fabs(dx), fabs(dy))] += fabs(k->tap[i]);
        whole += fabs(k->tap[i]);
    }
    while (at < most && (sum += light[at]) < r->value[0] * whole) at++;
    uint32_t side = 2 * at + 1; /* odd: the first tap of an even side has no partner */
    if (!edit_fit(to, min_u32(side, k->w), min_u32(side, k->h), &lost, e)) return false;
    edit_say(told, "cropped", lost, "%u x %u taps hold all but %.3g %% of the light", to->w, to->h,
             100 * lost);
    return true;
}

#define PARAMETERS(...) .parameter = {__VA_ARGS__}
const edit EDITS[] = {
    {"mix", edit_mix, .amount = "a share of the light", .moves = true},
    {"rotate", edit_rotate, .last_word = true, .same_shape = true,
     PARAMETERS({"angle", 0, -3600, 3600, "degrees, clockwise"})},
    {"stretch", edit_stretch, .last_word = true,
     PARAMETERS({"x", 1, 0.01, 100, "factor of the width"},
                {"y", 1, 0.01, 100, "factor of the height"})},
    {"crop", edit_crop, .same_shape = true,
     PARAMETERS({"keep", 0.999, 0.01, 1,
                 "without --taps: the share of the light that the smallest square must hold"})},
    {"clean", edit_clean, .from_photo = true,
     PARAMETERS({"background", 1, 0, 1, "1 subtracts a background, 0 leaves it"},
                {"noise", 5, 0, 100,
                 "a fall-off replaces rings whose light is less than this many times the noise "
                 "of a tap; 0 leaves them"},
                {"core", 1, 0, 1, "1 restores a core that is cut off, 0 leaves it"})},
};
const int EDIT_COUNT = COUNT(EDITS);

const edit *edit_find(const char *name) {
    for (int i = 0; i < EDIT_COUNT; i++)
        if (strcmp(EDITS[i].name, name) == 0) return &EDITS[i];
    return NULL;
}

int edit_parameters(const edit *d) {
    int n = 0;
    while (n < EDIT_PARAMETERS && d->parameter[n].name) n++;
    return n;
}
