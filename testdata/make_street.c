/* make_street.c - traces the first hero picture: make_street OUT.exr WIDTH HEIGHT SAMPLES
 *
 * A street after rain, at night: lamps that are thousands of times as bright as the walls that they
 * light, in a row that shrinks with the distance, cars towards and away from the camera, a sign of
 * neon, bulbs near the lens out of focus, all of it once more in the wet road, and somebody with an
 * umbrella before the strongest light. Lengths are in metres; y is up, z away from the camera. */
#include "trace.h"

static const double WALL = 7.6, KERB = 4.3, STEP = 0.14, NIGHT = 240;

enum { NOTHING, ROAD, HOUSE, POST, CAR, PERSON, NEON, CABLE };

typedef struct {
    double t;
    int what, which;
    vec normal; /* of solids */
} hit;

/* --- cars and a person: solids by their distance ------------------------------------------------
 */

typedef struct {
    vec at;     /* the middle, on the road */
    double way; /* 1: away from us, -1: towards us */
    vec paint;
} car;

static const car CARS[] = {
    {{2.15, 0, 15.5}, 1, {0.050, 0.004, 0.004}},    {{2.2, 0, 31}, 1, {0.02, 0.022, 0.025}},
    {{-2.0, 0, 27}, -1, {0.012, 0.014, 0.022}},     {{-2.15, 0, 47}, -1, {0.03, 0.03, 0.03}},
    {{-5.4, 0.14, 14.4}, -1, {0.02, 0.028, 0.045}}, {{2.0, 0, 62}, 1, {0.02, 0.02, 0.02}},
};
enum { CAR_COUNT = sizeof CARS / sizeof CARS[0] };

static const vec WALKER = {-0.95, 0, 10.6};

static double to_car(const car *c, vec at) {
    vec p = sub(at, c->at);
    p.z *= c->way;
    double body = round_box(sub(p, v(0, 0.60, 0)), v(0.90, 0.36, 2.15), 0.22);
    double taper = 1 - 0.22 * clamp((p.y - 0.9) / 0.55, 0, 1);
    vec q = v(p.x / taper, p.y - 1.02, (p.z + 0.25) / taper);
    double d = joined(body, round_box(q, v(0.78, 0.42, 1.25), 0.22) * 0.75, 0.16);
    vec w = v(fabs(p.x) - 0.78, p.y - 0.32, fabs(p.z) - 1.32);
    double r = sqrt(w.y * w.y + w.z * w.z);
    d = most(d, 0.40 - r); /* the arch of a wheel */
    return least(d, most(r - 0.33, fabs(w.x) - 0.12));
}

static double to_walker(vec at) {
    vec p = sub(at, WALKER);
    double d = capsule(p, v(-0.10, 0.06, 0.22), v(-0.08, 0.85, 0), 0.065);
    d = least(d, capsule(p, v(0.12, 0.06, -0.20), v(0.09, 0.85, 0), 0.065));
    d = joined(d, capsule(p, v(0, 0.72, 0), v(0, 1.30, 0.02), 0.19), 0.12);
    d = joined(d, capsule(p, v(0.19, 1.34, 0), v(-0.19, 1.34, 0), 0.09), 0.08);
    d = least(d, capsule(p, v(0, 1.55, 0.02), v(0, 1.62, 0.02), 0.10));
    d = joined(d, capsule(p, v(0.23, 1.30, 0), v(0.28, 1.0, 0.12), 0.055), 0.05);
    d = joined(d, capsule(p, v(0.28, 1.0, 0.12), v(0.14, 1.16, 0.22), 0.05), 0.05);
    d = least(d, capsule(p, v(0.14, 1.05, 0.22), v(0.06, 2.08, 0.14), 0.012));
    vec q = sub(p, v(0.06, 1.42, 0.14));
    double rib = 0.012 * fabs(steady_sin(4 * steady_atan2(q.z, q.x)));
    double shell = fabs(length(v(q.x, q.y * 1.05, q.z)) - 0.68) - 0.008;
    return least(d, most(shell, 1.75 + rib * 4 - p.y) * 0.8);
}

static double to_solid(int which, vec p) {
    return which < CAR_COUNT ? to_car(&CARS[which], p) : to_walker(p);
}

static bool solid_box(int which, ray r, double *from, double *to) {
    vec at = which < CAR_COUNT ? CARS[which].at : WALKER;
    vec half = which < CAR_COUNT ? v(0.95, 0, 2.2) : v(0.75, 0, 0.85);
    double high = which < CAR_COUNT ? 1.5 : 2.15;
    return in_box(r, sub(at, half), add(at, v(half.x, high, half.z)), from, to);
}

static double march(int which, ray r, double limit) {
    double t, end;
    if (!solid_box(which, r, &t, &end)) return FAR;
    end = least(end, limit);
    for (int i = 0; i < 40 && t < end; i++) {
        double d = to_solid(which, along(r, t));
        if (d < 0.001 + 0.0002 * t) return t;
        t += most(d, 0.002);
    }
    return FAR;
}

static vec solid_normal(int which, vec p) {
    static const double H = 0.002;
    double d = to_solid(which, p);
    return unit(v(to_solid(which, add(p, v(H, 0, 0))) - d, to_solid(which, add(p, v(0, H, 0))) - d,
                  to_solid(which, add(p, v(0, 0, H))) - d));
}

/* --- the street's own shapes --------------------------------------------------------------------
 */

enum { POSTS = 9 };
static vec post_foot(int i, int side) {
    return v(side * 5.0, 0, (side < 0 ? 11.0 : 19.5) + 13.5 * i);
}
static const double POST_HIGH = 6.4, ARM = 1.5;

/* Strings of bulbs over the street: height, distance, sag. */
static const double STRING[][4] = {{4.3, 6.2, 0.75, 1}, {5.7, 23, 1.1, 0}, {6.2, 36, 1.1, 0}};
enum { STRINGS = sizeof STRING / sizeof STRING[0], BULBS = 15 };

/* The feet of two traffic lights. */
static const vec SIGNAL[] = {{4.45, 0.14, 20.6}, {-4.6, 0.14, 34}};

static vec on_string(int i, double t) {
    double s = 2 * t - 1;
    return v(WALL * s, STRING[i][0] + STRING[i][2] * (s * s - 1) + 0.25 * s,
             STRING[i][1] + 1.2 * s);
}

/* The letters of the sign, as strokes on a grid 2 wide and 4 high. */
static const signed char STROKE[][5] = {
    {0, 0, 0, 0, 4}, {0, 2, 0, 2, 4}, {0, 0, 2, 2, 2}, {1, 0, 0, 2, 0}, {1, 2, 0, 2, 4},
    {1, 2, 4, 0, 4}, {1, 0, 4, 0, 0}, {2, 0, 4, 2, 4}, {2, 1, 0, 1, 4}, {3, 0, 0, 0, 4},
    {3, 0, 0, 2, 0}, {3, 0, 2, 1, 2}, {3, 0, 4, 2, 4}, {4, 0, 0, 0, 4}, {4, 0, 0, 2, 0},
};
enum { STROKES = sizeof STROKE / sizeof STROKE[0] };
static const double SIGN_Z = 22.5, SIGN_LOW = 3.1, SIGN_HIGH = 8.0, SIGN_IN = 5.75, SIGN_OUT = 6.95;

/* Returns the distance to the nearest tube of the sign, of the letters or of the frame. */
static double to_tube(double x, double y, bool *frame) {
    double best = FAR, cell = 0.92, px = x - 6.05, py = SIGN_HIGH - 0.27 - y;
    for (int i = 0; i < STROKES; i++) {
        double top = STROKE[i][0] * cell, s = 0.165;
        double ax = STROKE[i][1] * 0.30, ay = top + (4 - STROKE[i][2]) * s,
               bx = STROKE[i][3] * 0.30, by = top + (4 - STROKE[i][4]) * s;
        double dx = bx - ax, dy = by - ay;
        double h = clamp(((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy), 0, 1);
        double ex = px - ax - h * dx, ey = py - ay - h * dy;
        best = least(best, ex * ex + ey * ey);
    }
    double mx = (SIGN_IN + SIGN_OUT) / 2, my = (SIGN_LOW + SIGN_HIGH) / 2;
    double bx = fabs(x - mx) - (SIGN_OUT - SIGN_IN) / 2 + 0.07,
           by = fabs(y - my) - (SIGN_HIGH - SIGN_LOW) / 2 + 0.07;
    double edge = fabs(most(bx, by));
    best = sqrt(best);
    *frame = edge < best;
    return least(edge, best);
}

typedef struct {
    int number, side;
    double high;
    bool gap;
} house;

static house house_at(double z, int side) {
    double at = (z + (side < 0 ? 3 : 8)) / 11.5;
    int n = (int)floor(at);
    bool gap = side < 0 ? n == 4 : n == 3;
    return (house){n, side, 10.6 + 3.3 * floor(4 * chance(n, side, 50)), gap};
}

/* --- where a ray ends ------------------------------------------------------------------------- */

static void find_flat(ray r, hit *h) {
    if (r.to.y < -1e-6) {
        double t = (STEP - r.from.y) / r.to.y;
        if (t < 1e-4 || fabs(r.from.x + t * r.to.x) < KERB) t = -r.from.y / r.to.y;
        if (t > 1e-4 && t < h->t) *h = (hit){t, ROAD, 0, v(0, 1, 0)};
    }
    int side = r.to.x > 0 ? 1 : -1;
    double t = (side * WALL - r.from.x) / (fabs(r.to.x) > 1e-9 ? r.to.x : 1e-9);
    if (t > 1e-4 && t < h->t) {
        vec p = along(r, t);
        house at = house_at(p.z, side);
        if (!at.gap && p.y < at.high && p.z < NIGHT) *h = (hit){t, HOUSE, side, v(-side, 0, 0)};
    }
    t = (SIGN_Z - r.from.z) / (fabs(r.to.z) > 1e-9 ? r.to.z : 1e-9);
    if (t > 1e-4 && t < h->t) {
        vec p = along(r, t);
        if (p.x > SIGN_IN && p.x < SIGN_OUT && p.y > SIGN_LOW && p.y < SIGN_HIGH)
            *h = (hit){t, NEON, 0, v(0, 0, -1)};
    }
}

static void find_posts(ray r, hit *h) {
    double flat = r.to.x * r.to.x + r.to.z * r.to.z;
    for (int i = 0; i < 2 * POSTS; i++) {
        int side = i % 2 ? 1 : -1;
        vec foot = post_foot(i / 2, side);
        double dx = foot.x - r.from.x, dz = foot.z - r.from.z;
        double t = (dx * r.to.x + dz * r.to.z) / flat, cross_by = dx * r.to.z - dz * r.to.x;
        if (t < 1e-3 || t > h->t) continue;
        double y = r.from.y + t * r.to.y, thick = y < 1 ? 0.09 : 0.055;
        if (cross_by * cross_by < thick * thick * flat && y > 0 && y < POST_HIGH)
            *h = (hit){t, POST, i, unit(v(-r.to.x, 0, -r.to.z))};
        if (y < POST_HIGH - 0.3 || y > POST_HIGH + 0.6) continue;
        vec top = v(foot.x, POST_HIGH, foot.z),
            end = v(foot.x - side * ARM, POST_HIGH + 0.18, foot.z);
        double arm = to_rod(r, top, end, 0.035);
        if (arm < h->t) *h = (hit){arm, POST, i, v(0, 0, -1)};
    }
}

static void find_cables(ray r, hit *h) {
    for (int i = 0; i < 2; i++) {
        double t = to_rod(r, SIGNAL[i], add(SIGNAL[i], v(0, 2.8, 0)), 0.05), end;
        if (t < h->t) *h = (hit){t, CABLE, i, v(0, 0, -1)};
        vec low = add(SIGNAL[i], v(-0.15, 2.75, -0.1)), high = add(SIGNAL[i], v(0.15, 3.65, 0.1));
        if (in_box(r, low, high, &t, &end) && t < h->t) *h = (hit){t, CABLE, i, v(0, 0, -1)};
    }
    for (int i = 0; i < STRINGS; i++) {
        double t = (STRING[i][1] - r.from.z) / (fabs(r.to.z) > 1e-9 ? r.to.z : 1e-9);
        double y = r.from.y + t * r.to.y;
        if (t < 0 || y < STRING[i][0] - 1.8 || y > STRING[i][0] + 1) continue;
        for (int k = 0; k < 12; k++) {
            double at = to_rod(r, on_string(i, k / 12.0), on_string(i, (k + 1) / 12.0), 0.008);
            if (at < h->t) *h = (hit){at, CABLE, i, v(0, 0, -1)};
        }
    }
}

static hit find(ray r) {
    hit h = {FAR, NOTHING, 0, {0, 1, 0}};
    find_flat(r, &h);
    find_posts(r, &h);
    find_cables(r, &h);
    for (int i = 0; i <= CAR_COUNT; i++) {
        double t = march(i, r, h.t);
        if (t < h.t) h = (hit){t, i < CAR_COUNT ? CAR : PERSON, i, {0, 1, 0}};
    }
    return h;
}

static double reach(const scene *s, ray r) {
    (void)s;
    return find(r).t;
}

/* --- light ------------------------------------------------------------------------------------ */

/* Returns whether a car or the person stands between two places. Shadows are soft with the lamps'
 * number, so boxes and rods are enough for them. */
static bool is_hidden(vec from, vec to, double far) {
    double t, end;
    ray r = {from, to};
    far -= 0.3;
    for (int i = 0; i < CAR_COUNT; i++) {
        vec off = sub(add(CARS[i].at, v(0, 0.8, 0)), from);
        t = dot(off, to);
        if (t < -2.5 || t > far + 2.5 || dot(off, off) - t * t > 6.2) continue;
        vec at = CARS[i].at, roof = add(at, v(0, 0, -0.25 * CARS[i].way));
        if (in_box(r, add(at, v(-0.86, 0.26, -2.1)), add(at, v(0.86, 0.92, 2.1)), &t, &end) &&
            t < far)
            return true;
        if (in_box(r, add(roof, v(-0.66, 0.9, -1.05)), add(roof, v(0.66, 1.38, 1.05)), &t, &end) &&
            t < far)
            return true;
    }
    if (to_rod(r, add(WALKER, v(0, 0.1, 0)), add(WALKER, v(0, 1.6, 0)), 0.19) < far) return true;
    if (fabs(to.y) < 1e-6) return false;
    t = (WALKER.y + 1.92 - from.y) / to.y;
    vec p = sub(along(r, t), add(WALKER, v(0.06, 1.92, 0.14)));
    return t > 0 && t < far && dot(p, p) < 0.36;
}

typedef struct {
    vec p, normal, back;
    vec albedo;
    double alpha; /* 0: not glossy */
} surface;

static vec lit(const scene *s, const surface *f) {
    vec sum = mul(f->albedo, v(0.010, 0.012, 0.018));
    for (int i = 0; i < s->lamps; i++) {
        const lamp *l = &s->lamp[i];
        if (l->wide < -1) break; /* bulbs, which come last, are seen, but light nothing */
        vec to = sub(l->at, f->p);
        if (dot(f->normal, to) <= 0) continue;
        double square = dot(to, to), power = l->radius * l->radius / square;
        double enough = f->alpha > 0 ? 1e-3 : 1.2e-2;
        if (l->light.x * power < enough && l->light.y * power < enough) continue;
        double far = sqrt(square);
        to = scale(to, 1 / far);
        double face = dot(f->normal, to);
        power *= beam(l, scale(to, -1));
        if (power <= 0) continue;
        vec part = scale(f->albedo, power * face);
        if (f->alpha > 0) {
            double g = STEADY_PI * power * gleam(f->normal, f->back, to, f->alpha, l->radius / far);
            part = add(part, v(g, g, g));
        }
        part = mul(part, l->light);
        if (part.x + part.y + part.z < 1e-3) continue;
        if (!is_hidden(f->p, to, far)) sum = add(sum, part);
    }
    return sum;
}

static vec sky(vec d) {
    double high = d.y > 0 ? d.y : 0, low = 1 / (1 + 9 * high);
    vec c = mix(v(0.0035, 0.0055, 0.013), v(0.030, 0.023, 0.024), low * low);
    double x = d.x / most(fabs(d.z), 1e-3);
    double roof = 0.05 + 0.09 * chance((int64_t)floor(x * 22 + 100), 3, 60) +
                  0.04 * chance((int64_t)floor(x * 57 + 100), 4, 61);
    return d.z > 0 && d.y < roof * d.z ? scale(c, 0.45) : c;
}

static vec look(const scene *s, ray r, const double u[PLACES], int depth);

/* What a window shows: a room with its far wall and a curtain, or the other side of the street. */
static vec room(vec p, vec to, double wide, double high, double deep, int64_t key, vec colour) {
    double t = FAR, x = p.z, y = p.y, inward = fabs(to.x) + 1e-9;
    t = least(t, deep / inward);
    t = least(t, (to.z > 0 ? wide - x : x) / (fabs(to.z) + 1e-9));
    t = least(t, (to.y > 0 ? high - y : y) / (fabs(to.y) + 1e-9));
    double depth = t * inward / deep, at_y = (y + t * to.y) / high, at_z = x + t * to.z;
    double shade = (0.25 + 0.75 * at_y) * (1 - 0.5 * depth);
    double thing = chance((int64_t)floor(at_z * 3.1), (int64_t)floor(at_y * 6), key);
    if (at_y < 0.7 && depth > 0.2) shade *= 0.10 + 0.9 * thing * thing;
    if (at_y > 0.92) shade *= 1.8;
    return scale(colour, shade);
}

static vec window(const scene *s, ray r, vec p, vec normal, const double u[PLACES], int depth) {
    vec to = unit(sub(r.to, scale(normal, 2 * dot(r.to, normal))));
    double m = 1 - fabs(dot(r.to, normal)), fresnel = 0.04 + 0.96 * m * m * m * m * m;
    vec dark = v(0.0015, 0.002, 0.003);
    if (depth > 0) return dark;
    return add(dark, scale(look(s, (ray){add(p, scale(normal, 1e-3)), to}, u, depth + 1), fresnel));
}

static vec shop(const scene *s, ray r, vec p, vec n, const house *at, const double u[PLACES],
                int depth) {
    static const vec GOODS[] = {
        {0.9, 0.55, 0.27}, {0.55, 0.68, 0.80}, {0.95, 0.46, 0.17}, {0.8, 0.40, 0.33}};
    double pane = p.z / 2.875 - floor(p.z / 2.875);
    int kind = (int)(4 * chance(at->number, at->side, 70));
    bool open = chance(at->number, at->side, 71) < 0.62;
    if (p.y > 3.0 && p.y < 3.5 && open) {
        vec c = scale(GOODS[(kind + 1) % 4], 0.55);
        double letter = noise(p.z * 5, floor(p.y * 4), 72 + kind);
        double band = fabs(p.y - 3.25) < 0.14 && letter > 0.52 ? 2.2 : 0.10;
        return scale(c, band);
    }
    bool glass = p.y > 0.55 && p.y < 2.9 && pane > 0.03 && pane < 0.97;
    if (glass && open) {
        vec in = room(v(0, p.y - 0.4, p.z - 2.875 * floor(p.z / 2.875)), r.to, 2.875, 2.8, 3.2,
                      at->number * 7 + kind, GOODS[kind]);
        return add(in, window(s, r, p, n, u, depth));
    }
    if (glass) return window(s, r, p, n, u, depth);
    surface f = {p, n, scale(r.to, -1), {0.035, 0.033, 0.03}, 0};
    return lit(s, &f);
}

static vec facade(const scene *s, ray r, hit h, const double u[PLACES], int depth) {
    static const vec STONE[] = {
        {0.20, 0.145, 0.10}, {0.15, 0.075, 0.052}, {0.19, 0.18, 0.165}, {0.12, 0.125, 0.13}};
    vec p = along(r, h.t), n = h.normal;
    house at = house_at(p.z, h.which);
    if (p.y < 3.6) return shop(s, r, p, n, &at, u, depth);
    double wide = 2.3, high = 3.3, fu = p.z / wide - floor(p.z / wide),
           fv = (p.y - 3.6) / high - floor((p.y - 3.6) / high);
    int64_t column = (int64_t)floor(p.z / wide), row = (int64_t)floor((p.y - 3.6) / high);
    bool pane = fabs(fu - 0.5) < 0.25 && fv > 0.20 && fv < 0.80;
    bool bar = fabs(fu - 0.5) < 0.012 || fabs(fv - 0.58) < 0.008;
    if (pane && !bar) {
        double on = chance(column, row, 80 + h.which);
        vec glass = window(s, r, p, n, u, depth);
        if (on > 0.24) return glass;
        vec c = on < 0.03 ? v(0.25, 0.5, 0.9) : mix(v(1.0, 0.56, 0.20), v(0.9, 0.72, 0.45), on * 4);
        double curtain = 0.45 + 0.55 * noise(p.z * 9, 1, 90 + row);
        vec in = room(v(0, (fv - 0.2) * high, (fu - 0.25) * wide), r.to, wide / 2, 2.0, 2.5,
                      column * 31 + row, scale(c, 0.35 + 2.2 * chance(column, row, 83)));
        return add(scale(in, chance(column, row, 84) < 0.4 ? curtain * 0.6 : 1), glass);
    }
    vec albedo = STONE[(int)(4 * chance(at.number, at.side, 85))];
    albedo = scale(albedo, 0.55 + 0.6 * rough_noise(p.z * 0.8, p.y * 0.5, 4, 86));
    double course = p.y * 3.2 - floor(p.y * 3.2);
    if (course < 0.09) albedo = scale(albedo, 0.75);
    if (fv > 0.93 || fv < 0.02) albedo = scale(albedo, fv > 0.93 ? 1.25 : 0.45);
    if (fabs(fu - 0.5) < 0.29 && fv > 0.16 && fv < 0.84) albedo = scale(albedo, 1.3);
    if (fabs(fu - 0.5) < 0.31 && fv > 0.12 && fv < 0.16) albedo = scale(albedo, 0.5);
    surface f = {p, n, scale(r.to, -1), albedo, 0};
    return lit(s, &f);
}

static vec road(const scene *s, ray r, hit h, const double u[PLACES], int depth) {
    vec p = along(r, h.t), back = scale(r.to, -1);
    bool path = fabs(p.x) > KERB;
    double pool = rough_noise(p.x * 0.55 + 3, p.z * 0.22, 3, 20);
    double wet = steady_ramp(0.47, 0.58,
                             pool + (path ? -0.07 : 0) + 0.10 * steady_ramp(3.2, 4.3, fabs(p.x)));
    double fine = 1 / (1 + 0.012 * h.t * h.t);
    double grain = rough_noise(p.x * 46, p.z * 46, 2, 24);
    vec albedo = scale(path ? v(0.060, 0.058, 0.056) : v(0.034, 0.034, 0.036), 0.6 + 0.8 * grain);
    if (path) {
        double a = p.x / 0.6 - floor(p.x / 0.6), b = p.z / 0.6 - floor(p.z / 0.6);
        if (a < 0.02 || b < 0.02) albedo = scale(albedo, 0.4);
    }
    double stripe = p.x / 0.95 + 0.25 - floor(p.x / 0.95 + 0.25);
    bool zebra = !path && p.z > 9.2 && p.z < 12.4 && stripe < 0.52;
    bool lane = fabs(p.x) < 0.07 && p.z > 14 && p.z / 4.5 - floor(p.z / 4.5) < 0.55;
    if ((zebra || lane) && rough_noise(p.x * 5, p.z * 5, 3, 27) > 0.30)
        albedo = v(0.34, 0.34, 0.32);
    double bump = (1 - wet) * 0.05 * fine + wet * 0.004;
    vec n = unit(v(bump * (noise(p.x * 70, p.z * 70, 30) - 0.5) * 2 +
                       0.006 * (noise(p.x * 6, p.z * 6, 32) - 0.5),
                   1,
                   bump * (noise(p.x * 70, p.z * 70, 31) - 0.5) * 2 +
                       0.006 * (noise(p.x * 6, p.z * 6, 33) - 0.5)));
    double alpha = wet * 0.035 + (1 - wet) * (0.20 + 0.05 * (1 - fine));
    albedo = scale(albedo, 1 - 0.5 * wet);
    surface f = {add(p, v(0, 1e-3, 0)), n, back, albedo, alpha};
    vec sum = lit(s, &f);
    if (depth > 0) return sum;
    double tilt[2];
    on_disc(tilt, u[4], u[5]);
    vec m = unit(add(n, v(0.8 * alpha * tilt[0], 0, 0.8 * alpha * tilt[1])));
    double facing = clamp(dot(m, back), 0.02, 1), k = 1 - facing,
           fresnel = 0.02 + 0.98 * k * k * k * k * k;
    vec to = add(r.to, scale(m, 2 * facing));
    if (to.y < 0.003) to.y = 0.003;
    vec seen = look(s, (ray){f.p, unit(to)}, u, depth + 1);
    return add(sum, scale(seen, fresnel * (0.55 + 0.45 * wet)));
}

static vec metal(const scene *s, ray r, hit h, const double u[PLACES], int depth) {
    vec p = along(r, h.t), n = solid_normal(h.which, p), back = scale(r.to, -1);
    const car *c = h.which < CAR_COUNT ? &CARS[h.which] : NULL;
    vec q = sub(p, c ? c->at : WALKER);
    if (c) q.z *= c->way;
    if (c && c->way > 0 && q.z < -1.9) { /* its back */
        double x = fabs(q.x);
        if (q.y > 0.70 && q.y < 0.86 && x > 0.46 && x < 0.84) {
            double strip = q.y > 0.76 && q.y < 0.80 ? 1 : 0.35;
            return scale(v(34, 1.1, 0.5), strip);
        }
        if (q.y > 0.44 && q.y < 0.56 && x < 0.26) return v(0.30, 0.29, 0.26);
    }
    bool glass = c && q.y > 0.95 && q.y < 1.33;
    double wy = q.y - 0.32, wz = fabs(q.z) - 1.32, from_axle = wy * wy + wz * wz;
    bool wheel = c && fabs(q.x) > 0.6 && from_axle < 0.345 * 0.345;
    bool tyre = c && (wheel ? from_axle > 0.2 * 0.2 : q.y < 0.25);
    bool shade = !c && q.y > 1.72;
    vec albedo = tyre    ? v(0.01, 0.01, 0.01)
                 : glass ? v(0.002, 0.002, 0.003)
                 : wheel ? v(0.09, 0.09, 0.09)
                 : c     ? c->paint
                 : shade ? v(0.16, 0.016, 0.014)
                         : v(0.018, 0.018, 0.022);
    surface f = {add(p, scale(n, 0.004)), n, back, albedo,
                 tyre    ? 0
                 : glass ? 0.02
                 : c     ? 0.05
                         : 0.45};
    vec sum = lit(s, &f);
    if (shade) { /* cloth lets some light through */
        surface behind = {add(p, scale(n, -0.05)), scale(n, -1), back, scale(albedo, 0.5), 0};
        sum = add(sum, lit(s, &behind));
    }
    if (!c || tyre || depth > 0) return sum;
    double k = 1 - most(dot(n, back), 0), fresnel = 0.045 + 0.955 * k * k * k * k * k;
    vec to = unit(sub(r.to, scale(n, 2 * dot(r.to, n))));
    return add(sum, scale(look(s, (ray){f.p, to}, u, depth + 1), fresnel));
}

/* The sign. In a mirror as rough as a wet road its tubes are wider and fainter, which is the same
 * light with less noise. */
static vec neon(ray r, hit h, int depth) {
    vec p = along(r, h.t);
    bool frame;
    double d = to_tube(p.x, p.y, &frame), wide = depth > 0 ? 0.11 : 0.022;
    vec c = frame ? v(0.6, 16, 22) : v(46, 3.2, 9);
    if (d < wide) return scale(add(c, scale(v(7, 5, 6), 1 - d / wide)), 0.022 / wide);
    return scale(c, 0.02 / (1 + 260 * d * d));
}

static vec look(const scene *s, ray r, const double u[PLACES], int depth) {
    hit h = find(r);
    vec seen = sky(r.to), p = along(r, h.t);
    if (h.what == NOTHING) return seen;
    if (h.what == ROAD) seen = road(s, r, h, u, depth);
    if (h.what == HOUSE) seen = facade(s, r, h, u, depth);
    if (h.what == CAR || h.what == PERSON) seen = metal(s, r, h, u, depth);
    if (h.what == NEON) seen = neon(r, h, depth);
    if (h.what == POST || h.what == CABLE) {
        surface f = {p, h.normal, scale(r.to, -1), {0.02, 0.02, 0.02}, 0.3};
        seen = h.what == CABLE ? v(0.002, 0.002, 0.002) : lit(s, &f);
    }
    double haze = h.t / (h.t + 420);
    return mix(seen, v(0.034, 0.026, 0.022), haze);
}

static vec seen(const scene *s, ray r, const double u[PLACES]) {
    return look(s, r, u, 0);
}

/* --- lamps ------------------------------------------------------------------------------------ */

static void furnish(scene *s) {
    static const vec SODIUM = {5600, 2450, 420}, LED = {3900, 4300, 4900},
                     BEAM = {2600, 2520, 2340}, BULB = {420, 215, 70};
    for (int i = 0; i < POSTS; i++)
        for (int side = -1; side <= 1; side += 2) {
            vec at = post_foot(i, side);
            put_lamp(s, v(at.x - side * ARM, POST_HIGH + 0.10, at.z), 0.075,
                     side > 0 && i % 3 == 1 ? LED : SODIUM, v(0, -1, 0), -0.35);
            s->lamp[s->lamps - 1].hidden = 0.8;
        }
    for (int i = 0; i < CAR_COUNT; i++) {
        const car *c = &CARS[i];
        if (c->way > 0 || c->at.y > 0) continue;
        for (int side = -1; side <= 1; side += 2) {
            put_lamp(s, add(c->at, v(side * 0.66, 0.68, -2.20)), 0.065, BEAM,
                     unit(v(0.03, -0.07, -1)), 0.90);
            s->lamp[s->lamps - 1].hidden = 0.6;
        }
    }
    for (int i = 0; i < CAR_COUNT; i++) /* what tail lamps give to the road */
        for (int side = -1; side <= 1 && CARS[i].way > 0; side += 2)
            put_lamp(s, add(CARS[i].at, v(side * 0.65, 0.78, -2.22)), 0.035, v(260, 7, 3),
                     v(0, 0, -1), -0.2);
    put_lamp(s, v(SIGNAL[0].x, 3.25, SIGNAL[0].z - 0.12), 0.085, v(30, 620, 330), v(0, 0, -1), 0.1);
    put_lamp(s, v(SIGNAL[1].x, 3.55, SIGNAL[1].z - 0.12), 0.095, v(900, 36, 14), v(0, 0, -1), 0.1);
    put_lamp(s, v(6.3, 5.8, SIGN_Z - 0.35), 0.5, v(6, 1.2, 2.5), v(0, 0, -1), -0.6);
    s->lamp[s->lamps - 1].hidden = 1; /* the sign itself is seen */
    for (int i = 0; i < STRINGS; i++)
        for (int k = 0; k < BULBS; k++)
            put_lamp(s, add(on_string(i, (k + 0.5) / BULBS), v(0, -0.06, 0)), 0.028, BULB,
                     v(0, -1, 0), -2);
}

int main(int argc, char **argv) {
    static scene s;
    s = (scene){.eye = look_at(v(0.35, 1.55, 0), v(-0.75, 2.25, 20), 0.47, 0.013, 13),
                .seen = seen,
                .reach = reach};
    furnish(&s);
    return trace_main(argc, argv, "make_street", &s);
}
