#include "kernel/convention.h"

#include "kernel/psf.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const convention CONVENTIONS[] = {
    {"fftbloom", CENTER_HALF, false},     {"blender", CENTER_HALF, true},
    {"oiio", CENTER_WINDOW, true},        {"gmic", CENTER_BEFORE_HALF, false},
    {"scipy", CENTER_BEFORE_HALF, false}, {"wrapped", CENTER_WRAPPED, false},
};
const int CONVENTION_COUNT = (int)(sizeof CONVENTIONS / sizeof CONVENTIONS[0]);

/* Returns the tap that is the centre of a side of n taps. */
static uint32_t center_tap(convention_center c, uint32_t n) {
    return c == CENTER_BEFORE_HALF ? (n - 1) / 2 : n / 2;
}

bool convention_plan(convention_move *m, const convention_request *r, err *e) {
    convention_move plan = {.turned = r->from->turned != r->to->turned};
    for (int a = 0; a < 2; a++) {
        uint32_t n = r->size[a], at = r->at[a];
        /* A window that begins behind 0 gives a number that is far too large. */
        if (!r->centered && r->from->center == CENTER_WINDOW)
            at = (uint32_t)(0 - (int64_t)r->window[a]);
        else if (!r->centered)
            at = center_tap(r->from->center, n);
        if (at >= n)
            return err_set(e, ERR_CONFIG,
                           "the centre %c = %" PRIu32 " lies outside the kernel, whose taps are 0 "
                           "to %" PRIu32,
                           "xy"[a], at, n - 1);
        if (plan.turned) at = n - 1 - at;
        /* The smallest side whose centre has as many taps before and after it. */
        uint64_t before = at, after = n - 1 - at, side = r->wanted[a];
        if (!side && r->to->center == CENTER_BEFORE_HALF)
            side = after > before ? 2 * after : 2 * before + 1;
        else if (!side)
            side = before > after ? 2 * before : 2 * after + 1;
        if (side > PSF_SIDE)
            return err_set(e, ERR_CONFIG, "a side of %" PRIu64 " taps; at most %d are possible",
                           side, PSF_SIDE);
        plan.size[a] = (uint32_t)side;
        uint32_t center = center_tap(r->to->center, plan.size[a]);
        plan.offset[a] = (int64_t)center - (int64_t)at;
        plan.center[a] = r->to->center == CENTER_WRAPPED ? 0 : center;
    }
    *m = plan;
    return true;
}

/* Returns where the layout of transforms keeps tap i of the upright picture: tap floor(n / 2) is at
 * 0. */
static uint32_t wrapped(uint32_t i, uint32_t n) {
    return (uint32_t)(((uint64_t)i + n - n / 2) % n);
}

void convention_apply(float *to, const float *from, const convention_request *r,
                      const convention_move *m, double *lost) {
    const uint32_t *n = r->size, *s = m->size;
    /* A centre that was given by its tap is meant in the picture as it stands. */
    bool unwrap = r->from->center == CENTER_WRAPPED && !r->centered;
    bool wrap = r->to->center == CENTER_WRAPPED;
    memset(to, 0, (size_t)s[0] * s[1] * sizeof *to);
    *lost = 0;
    for (uint32_t y = 0; y < n[1]; y++)
        for (uint32_t x = 0; x < n[0]; x++) {
            uint32_t fx = unwrap ? wrapped(x, n[0]) : x, fy = unwrap ? wrapped(y, n[1]) : y;
            float tap = from[(size_t)fy * n[0] + fx];
            int64_t tx = (m->turned ? n[0] - 1 - x : x) + m->offset[0];
            int64_t ty = (m->turned ? n[1] - 1 - y : y) + m->offset[1];
            if (tx < 0 || ty < 0 || tx >= s[0] || ty >= s[1]) {
                *lost += fabs((double)tap);
                continue;
            }
            uint32_t px = (uint32_t)tx, py = (uint32_t)ty;
            if (wrap) px = wrapped(px, s[0]), py = wrapped(py, s[1]);
            to[(size_t)py * s[0] + px] = tap;
        }
}
