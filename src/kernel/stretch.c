#include "kernel/stretch.h"

#include "base/mem.h"
#include "base/steady.h"

/* Returns how far the shape of a tap reaches to both sides. */
static double half_of(double scale) {
    return scale <= 1 ? 0.5 : scale > 2 ? 2 : 1;
}

double stretch_reach(double taps, double scale, double move) {
    /* The 1e-9 keeps a rounding error from adding a tap. */
    return fmax(0, ceil((taps + half_of(scale)) * scale + move - 0.5 - 1e-9));
}

/* Returns the integral up to x of the shape that reaches `half` to both sides. */
static double area_up_to(double x, double half) {
    if (x <= -half) return 0;
    if (x >= half) return 1;
    if (half < 1) return x + 0.5;
    if (x > 0) return 1 - area_up_to(-x, half);
    double t = x + half;
    if (half < 2) return t * t / 2;
    return x < -1 ? t * t * t * t / 24 : 0.5 + x * (2 / 3.0 - x * x * (1 / 3.0 + x / 8));
}

/* New tap i of an axis is the sum of weight[i * most + k] * tap first[i] + k, for k < count[i]. */
typedef struct {
    uint32_t *first, *count;
    double *weight;
    size_t most;
} axis_weights;

static bool weigh(axis_weights *a, const stretch *s, int axis, err *e) {
    const uint32_t n = s->to[axis];
    const double scale = s->scale[axis], half = half_of(scale);
    a->most = (size_t)(1 / scale + 2 * half) + 3;
    a->first = mem_new(n, 2 * sizeof *a->first, "weights", e);
    a->weight = mem_new(n, a->most * sizeof *a->weight, "weights", e);
    if (!a->first || !a->weight) return false;
    a->count = a->first + n;
    for (uint32_t i = 0; i < n; i++) {
        double left = s->middle[axis] + ((double)i - s->at[axis] - s->move[axis] - 0.5) / scale;
        double right = left + 1 / scale, last = fmin(s->from[axis] - 1.0, ceil(right + half));
        for (double q = fmax(0, floor(left - half)); q <= last; q++) {
            double w = area_up_to(right - q, half) - area_up_to(left - q, half);
            if (!(w > 0)) continue;
            if (a->count[i] == 0) a->first[i] = (uint32_t)q;
            a->weight[i * a->most + a->count[i]++] = w;
        }
    }
    return true;
}

typedef struct {
    const stretch *s;
    const double *from, *weight;
    axis_weights axis[2];
    double *wide; /* rows stretched along x */
    double *to;
    uint32_t channels;
} stretching;

static bool stretch_row(void *ctx, size_t row, int worker, err *e) {
    const stretching *j = ctx;
    const axis_weights *a = &j->axis[0];
    for (uint32_t i = 0; i < j->s->to[0]; i++) {
        const double *tap = j->from + row * j->s->from[0] + a->first[i];
        double sum = 0;
        for (uint32_t k = 0; k < a->count[i]; k++) sum += a->weight[i * a->most + k] * tap[k];
        j->wide[row * j->s->to[0] + i] = sum;
    }
    return true;
}

static bool add_row(void *ctx, size_t row, int worker, err *e) {
    const stretching *j = ctx;
    const axis_weights *a = &j->axis[1];
    const size_t w = j->s->to[0], plane = w * j->s->to[1];
    for (uint32_t k = 0; k < a->count[row]; k++) {
        const double *from = j->wide + (a->first[row] + k) * w;
        for (uint32_t c = 0; c < j->channels; c++) {
            double *to = j->to + c * plane + row * w;
            double by = a->weight[row * a->most + k] * j->weight[c];
            for (size_t x = 0; x < w; x++) to[x] += by * from[x];
        }
    }
    return true;
}

static bool each_row(par *threads, size_t rows, par_fn *fn, void *job, err *e) {
    if (threads) return par_for(threads, rows, fn, job, e);
    for (size_t i = 0; i < rows; i++) fn(job, i, 0, e);
    return true;
}

bool stretch_add(double *to, uint32_t channels, const stretch *s, const double *from,
                 const double *weight, par *threads, err *e) {
    stretching j = {.s = s, .from = from, .weight = weight, .to = to, .channels = channels};
    j.wide = mem_raw((size_t)s->to[0] * s->from[1], sizeof *j.wide, "stretched rows", e);
    bool ok = j.wide && weigh(&j.axis[0], s, 0, e) && weigh(&j.axis[1], s, 1, e) &&
              each_row(threads, s->from[1], stretch_row, &j, e) &&
              each_row(threads, s->to[1], add_row, &j, e);
    mem_free(j.wide);
    for (int a = 0; a < 2; a++) mem_free(j.axis[a].first), mem_free(j.axis[a].weight);
    return ok;
}

typedef struct {
    double x, y;
} point;

void turn_by(turn *t, double degrees) {
    const double rest = fmod(degrees, 360), angle = rest * STEADY_PI / 180;
    t->cosine = steady_cos(angle), t->sine = steady_sin(angle);
    if (fmod(rest, 90) == 0) t->cosine = round(t->cosine), t->sine = round(t->sine);
}

/* Returns how far a turned square of side 1 reaches from its middle. */
static double half_square(const turn *t) {
    return (fabs(t->cosine) + fabs(t->sine)) / 2;
}

void turn_reach(uint32_t reach[4], const turn *t, const double *tap) {
    const size_t w = t->from[0], n = w * t->from[1];
    double far[4] = {0};
    for (size_t i = 0; i < n * t->channels; i++) {
        if (tap[i] == 0) continue;
        double x = (double)(i % n % w) - t->middle[0], y = (double)(i % n / w) - t->middle[1];
        double tx = x * t->cosine - y * t->sine, ty = x * t->sine + y * t->cosine;
        far[0] = fmax(far[0], -tx), far[1] = fmax(far[1], tx);
        far[2] = fmax(far[2], -ty), far[3] = fmax(far[3], ty);
    }
    for (int i = 0; i < 4; i++) reach[i] = (uint32_t)ceil(far[i] + half_square(t) - 0.5 - 1e-9);
}

/* Cuts a polygon by the half plane where `side` * (x or y) <= `limit`; returns its corners. */
static int shape_cut(point to[12], const point *from, int n, bool along_y, double side,
                     double limit) {
    int m = 0;
    for (int i = 0; i < n; i++) {
        point a = from[i], b = from[(i + 1) % n];
        double da = limit - side * (along_y ? a.y : a.x), db = limit - side * (along_y ? b.y : b.x);
        if (da >= 0) to[m++] = a;
        if ((da >= 0) != (db >= 0)) {
            double by = da / (da - db);
            to[m++] = (point){a.x + by * (b.x - a.x), a.y + by * (b.y - a.y)};
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
    const turn *t;
    const double *from;
    double *to;
} turning;

/* Turns back a place of the result. Rows count downwards, so the picture turns clockwise. */
static point turned_back(const turn *t, double x, double y) {
    return (point){x * t->cosine + y * t->sine, y * t->cosine - x * t->sine};
}

/* Adds up what the tap at x, y from the centre gets. Of two taps that face each other, one is
 * worked out as the other one turned by half a turn (`side` -1), so that both have equal bits. */
static void add_tap(const turning *j, size_t to, double x, double y) {
    const turn *t = j->t;
    const size_t made = (size_t)t->to[0] * t->to[1], plane = (size_t)t->from[0] * t->from[1];
    const double side = y < 0 || (y == 0 && x < 0) ? -1 : 1, reach = half_square(t) + 0.5;
    const point middle = turned_back(t, side * x, side * y);
    /* Taps lie at whole numbers and these parts of one from the centre. */
    const double part_x = -side * t->middle[0] - floor(-side * t->middle[0]),
                 part_y = -side * t->middle[1] - floor(-side * t->middle[1]);
    const double first_x = ceil(middle.x - reach - part_x) + part_x,
                 first_y = ceil(middle.y - reach - part_y) + part_y;
    point corner[4];
    for (int c = 0; c < 4; c++)
        corner[c] = turned_back(t, side * x + (c == 1 || c == 2 ? 0.5 : -0.5),
                                side * y + (c > 1 ? 0.5 : -0.5));
    for (double qy = first_y; qy < middle.y + reach; qy++)
        for (double qx = first_x; qx < middle.x + reach; qx++) {
            const double tx = floor(t->middle[0] + side * qx + 0.5),
                         ty = floor(t->middle[1] + side * qy + 0.5);
            if (tx < 0 || ty < 0 || tx >= t->from[0] || ty >= t->from[1]) continue;
            const double area = shared_area(corner, qx, qy);
            for (uint32_t c = 0; area > 0 && c < t->channels; c++)
                j->to[c * made + to] += area *
                                        j->from[c * plane + (size_t)ty * t->from[0] + (size_t)tx];
        }
}

static bool turn_row(void *ctx, size_t row, int worker, err *e) {
    const turning *j = ctx;
    for (uint32_t i = 0; i < j->t->to[0]; i++)
        add_tap(j, row * j->t->to[0] + i, (double)i - j->t->at[0], (double)row - j->t->at[1]);
    return true;
}

bool turn_add(double *to, const turn *t, const double *from, par *threads, err *e) {
    turning j = {t, from, to};
    return each_row(threads, t->to[1], turn_row, &j, e);
}
