/* edit_shape.c - rotate, stretch and crop. */
#include "base/mem.h"
#include "kernel/edit/edit.h"
#include "kernel/turn.h"

/* --- rotate ---------------------------------------------------------------------------------- */

bool edit_rotate(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
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

/* --- stretch --------------------------------------------------------------------------------- */

bool edit_stretch(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
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

/* --- crop ------------------------------------------------------------------------------------- */

/* Without a size, crops to the smallest square that holds a share of the light. */
bool edit_crop(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    const edit_kernel *k = &r->input[0].kernel;
    if (!edit_copy(to, k, e)) return false;
    if (r->taps[0]) return true;
    uint32_t most = max_u32(k->w, k->h) / 2 + 1, at = 0;
    double *light = mem_new(most + 1, sizeof *light, "light by distance", e);
    double sum = 0, all = 0, lost;
    if (!light) return false;
    for (size_t i = 0, n = (size_t)k->w * k->h; i < n * k->channels; i++) {
        double dx = (double)(i % n % k->w) - k->w / 2, dy = (double)(i % n / k->w) - k->h / 2;
        light[(size_t)fmax(fabs(dx), fabs(dy))] += fabs(k->tap[i]);
        all += fabs(k->tap[i]);
    }
    while (at < most && (sum += light[at]) < r->value[0] * all) at++;
    mem_free(light);
    uint32_t side = 2 * at + 1; /* odd: the first tap of an even side has no partner */
    if (!edit_fit(to, min_u32(side, k->w), min_u32(side, k->h), &lost, e)) return false;
    edit_say(told, "cropped", lost, "%u x %u taps hold all but %.3g %% of the light", to->w, to->h,
             100 * lost);
    return true;
}
