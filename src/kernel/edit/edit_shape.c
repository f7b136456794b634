/* edit_shape.c - rotate, stretch and crop. */
#include "base/mem.h"
#include "base/number.h"
#include "base/steady.h"
#include "kernel/edit/edit.h"

#include <math.h>

/* --- rotate ----------------------------------------------------------------------------------
 *
 * A tap is a square of even light. A tap of the result is what its own square, turned back, covers
 * of those squares. The areas are exact, so light is kept to rounding and no tap falls below zero;
 * and a turn by a right angle only moves taps. */

typedef struct {
    double x, y;
} point;

/* Cuts a polygon by the half plane where `side` * (x or y) <= `limit`, and returns the number of
 * its corners. */
static int shape_cut(point to[12], const point *from, int n, bool along_y, double side,
                     double limit) {
    int m = 0;
    for (int i = 0; i < n; i++) {
        point a = from[i], b = from[(i + 1) % n];
        double da = limit - side * (along_y ? a.y : a.x), db = limit - side * (along_y ? b.y : b.x);
        if (da >= 0) to[m++] = a;
        if ((da >= 0) != (db >= 0)) {
            double t = da / (da - db);
            to[m++] = (point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
        }
    }
    return m;
}

/* Returns the area that the square `corner` shares with the tap around (x, y). */
static double shared_area(const point corner[4], double x, double y) {
    point a[12], b[12];
    int n = shape_cut(a, corner, 4, false, 1, x + 0.5);
    n = shape_cut(b, a, n, false, -1, 0.5 - x);
    n = shape_cut(a, b, n, true, 1, y + 0.5);
    n = shape_cut(b, a, n, true, -1, 0.5 - y);
    double area = 0;
    for (int i = 0; i < n; i++) {
        point p = b[i], q = b[(i + 1) % n];
        area += p.x * q.y - q.x * p.y;
    }
    return fabs(area) / 2;
}

typedef struct {
    const edit_kernel *from;
    edit_kernel *to;
    double cosine, sine;
} rotation;

/* Turns back a place of the result. Rows count downwards, so the picture turns clockwise. */
static point turned_back(const rotation *t, double x, double y) {
    return (point){x * t->cosine + y * t->sine, y * t->cosine - x * t->sine};
}

static bool rotate_row(void *ctx, size_t row, int worker, err *e) {
    (void)worker, (void)e;
    const rotation *t = ctx;
    const edit_kernel *k = t->from;
    const size_t plane = (size_t)k->w * k->h, made = (size_t)t->to->w * t->to->h;
    double y = (double)row - t->to->h / 2, half = (fabs(t->cosine) + fabs(t->sine)) / 2;
    for (uint32_t i = 0; i < t->to->w; i++) {
        double x = (double)i - t->to->w / 2;
        point middle = turned_back(t, x, y), corner[4];
        for (int c = 0; c < 4; c++)
            corner[c] =
                turned_back(t, x + (c == 1 || c == 2 ? 0.5 : -0.5), y + (c > 1 ? 0.5 : -0.5));
        double x0 = ceil(middle.x - half - 0.5), y0 = ceil(middle.y - half - 0.5);
        for (double qy = y0; qy < middle.y + half + 0.5; qy++)
            for (double qx = x0; qx < middle.x + half + 0.5; qx++) {
                double tx = qx + k->w / 2, ty = qy + k->h / 2;
                if (tx < 0 || ty < 0 || tx >= k->w || ty >= k->h) continue;
                double area = shared_area(corner, qx, qy);
                for (uint32_t c = 0; area > 0 && c < k->channels; c++)
                    t->to->tap[c * made + row * t->to->w + i] +=
                        area * k->tap[c * plane + (size_t)ty * k->w + (size_t)tx];
            }
    }
    return true;
}

bool edit_rotate(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    const edit_kernel *k = &r->input[0].kernel;
    double turn = fmod(r->value[0], 360), angle = turn * STEADY_PI / 180;
    rotation t = {k, to, steady_cos(angle), steady_sin(angle)};
    bool right = fmod(turn, 90) == 0, across = right && fmod(turn, 180) != 0;
    if (right) t.cosine = round(t.cosine), t.sine = round(t.sine);
    /* How far the squares of the taps that are not zero reach once they are turned. */
    double far[4] = {0};
    const uint32_t cx = k->w / 2, cy = k->h / 2;
    for (size_t i = 0, n = (size_t)k->w * k->h; i < n * k->channels; i++) {
        if (k->tap[i] == 0) continue;
        double x = (double)(i % n % k->w) - cx, y = (double)(i % n / k->w) - cy;
        double tx = x * t.cosine - y * t.sine, ty = x * t.sine + y * t.cosine;
        far[0] = fmax(far[0], -tx), far[1] = fmax(far[1], tx);
        far[2] = fmax(far[2], -ty), far[3] = fmax(far[3], ty);
    }
    uint32_t reach[4];
    double more = (fabs(t.cosine) + fabs(t.sine)) / 2 - 0.5;
    for (int i = 0; i < 4; i++) reach[i] = (uint32_t)ceil(far[i] + more - 1e-9);
    uint32_t w = edit_side(reach[0], reach[1], across ? k->h : k->w);
    uint32_t h = edit_side(reach[2], reach[3], across ? k->w : k->h);
    if (!edit_new(to, w, h, k->channels, e)) return false;
    edit_say(told, "angle", turn, "turned by %g degrees, clockwise", turn);
    return par_for(r->threads, h, rotate_row, &t, e);
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

/* Without a size, crops to the smallest square around the centre that holds a share of the light.
 */
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
