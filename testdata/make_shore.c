/* make_shore.c - traces the second hero picture: make_shore OUT.exr WIDTH HEIGHT SAMPLES
 *
 * A low sun over water: its glitter on waves down to the size of a pixel, each spark hundreds of
 * times as bright as the sky, a far shore with the first lamps of the evening, a lighthouse, a
 * sailing boat and a jetty with lanterns, dark before the light. The sun in the water is not
 * sampled but computed, from the share of facets that mirror it, so it has no noise. Lengths are in
 * metres; y is up, z away from the camera. */
#include "trace.h"

static const vec SUN_LIGHT = {5200, 2500, 860}; /* radiance */
static const double SUN_ANGLE = 0.0052;         /* radius, in radians */
static const vec EYE = {0.4, 2.35, 0};

static vec sun_at(void) {
    return unit(v(-0.135, 0.068, 1));
}

enum { NOTHING, WATER, WOOD, SAIL };

typedef struct {
    double t;
    int what;
    vec normal;
} hit;

/* --- the jetty, the boat ------------------------------------------------------------------------
 */

static const double DECK = 0.75, DECK_LEFT = 1.15, DECK_RIGHT = 2.75, DECK_END = 19;
enum { PILES = 7 };

static vec pile(int i, int side) {
    return v(side ? DECK_RIGHT + 0.06 : DECK_LEFT - 0.06, 0, 1.6 + 2.9 * i);
}

static const vec BOAT = {-4.9, 0, 74};

/* Returns whether a point of the boat's plane is in it: x along the hull, y up. */
static bool in_hull(double x, double y) {
    double end = x > 0 ? 3.9 - 0.5 * (0.8 - y) : 3.5;
    return y > -0.1 && y < 0.75 + 0.03 * x * x * 0.6 && x > -end && x < end - (0.8 - y) * 0.9;
}

static bool in_sails(double x, double y) {
    if (x > -3.1 && x < -0.05 && y > 1.6 && y < 10.4) { /* main: a curved leech */
        double s = (y - 1.6) / 8.8;
        return x > -3.0 * (1 - s) - 0.9 * s * (1 - s) - 0.05;
    }
    double s = (y - 1.1) / 7.6; /* jib */
    return s > 0 && s < 1 && x > 0.12 && x < 3.6 * (1 - s);
}

static void find_boat(ray r, hit *h) {
    double t = (BOAT.z - r.from.z) / (fabs(r.to.z) > 1e-9 ? r.to.z : 1e-9);
    if (t < 1 || t > h->t) return;
    vec p = sub(along(r, t), BOAT);
    if (fabs(p.x) > 5 || p.y > 12 || p.y < 0) return;
    bool mast = fabs(p.x) < 0.06 && p.y < 10.9,
         boom = fabs(p.y - 1.5) < 0.06 && p.x > -3.2 && p.x < 0;
    if (in_hull(p.x, p.y) || mast || boom)
        *h = (hit){t, WOOD, {0, 0, -1}};
    else if (in_sails(p.x, p.y))
        *h = (hit){t, SAIL, {0, 0, -1}};
}

static const vec PERSON = {1.95, 0.75, 17.6};

static void rod(ray r, vec a, vec b, double thick, hit *h) {
    double t = to_rod(r, a, b, thick);
    if (t >= h->t) return;
    vec p = along(r, t), ab = sub(b, a), foot = add(a, scale(ab, dot(sub(p, a), ab) / dot(ab, ab)));
    vec n = sub(p, foot);
    *h = (hit){t, WOOD, dot(n, n) > 1e-12 ? unit(n) : v(0, 0, -1)};
}

static void find_jetty(ray r, hit *h) {
    double t, end;
    if (!in_box(r, v(DECK_LEFT - 0.3, 0, 0.5), v(DECK_RIGHT + 0.3, 3.4, DECK_END + 0.6), &t, &end))
        return;
    if (in_box(r, v(DECK_LEFT, DECK - 0.09, 0.6), v(DECK_RIGHT, DECK, DECK_END), &t, &end) &&
        t < h->t) {
        vec p = along(r, t);
        double plank = p.z / 0.145 - floor(p.z / 0.145);
        bool top = p.y > DECK - 1e-3;
        if (!top || plank > 0.05 || h->t > FAR / 2)
            *h = (hit){t, WOOD, top ? v(0, 1, 0) : v(-1, 0, 0)};
    }
    for (int i = 0; i < PILES; i++)
        for (int side = 0; side < 2; side++) {
            vec foot = pile(i, side);
            rod(r, foot, add(foot, v(0, side && i >= 2 && i % 2 == 0 ? 2.45 : 1.15, 0)), 0.062, h);
        }
    for (int side = 0; side < 2; side++) /* a rope that hangs */
        for (int i = 0; i + 1 < PILES; i++)
            for (int k = 0; k < 4; k++) {
                vec a = add(pile(i, side), v(0, 1.0, 0)), b = add(pile(i + 1, side), v(0, 1.0, 0));
                double s0 = k / 4.0, s1 = (k + 1) / 4.0;
                rod(r, add(mix(a, b, s0), v(0, -s0 * (1 - s0), 0)),
                    add(mix(a, b, s1), v(0, -s1 * (1 - s1), 0)), 0.018, h);
            }
    vec p = PERSON; /* somebody looks at the sun */
    rod(r, add(p, v(-0.09, 0, 0)), add(p, v(-0.07, 0.85, 0)), 0.075, h);
    rod(r, add(p, v(0.12, 0, 0)), add(p, v(0.07, 0.85, 0)), 0.075, h);
    rod(r, add(p, v(0, 0.85, 0)), add(p, v(0, 1.30, 0)), 0.17, h);
    rod(r, add(p, v(-0.16, 1.33, 0)), add(p, v(0.16, 1.33, 0)), 0.075, h);
    rod(r, add(p, v(-0.19, 1.31, 0)), add(p, v(-0.22, 0.84, 0.03)), 0.055, h);
    rod(r, add(p, v(0.19, 1.31, 0)), add(p, v(0.20, 0.84, 0.03)), 0.055, h);
    rod(r, add(p, v(0, 1.3, 0)), add(p, v(0, 1.5, 0)), 0.06, h);
    rod(r, add(p, v(0, 1.55, 0)), add(p, v(0, 1.62, 0)), 0.105, h);
}

static hit find(ray r) {
    hit h = {FAR, NOTHING, {0, 1, 0}};
    if (r.to.y < -1e-6) h = (hit){-r.from.y / r.to.y, WATER, {0, 1, 0}};
    find_jetty(r, &h);
    find_boat(r, &h);
    return h;
}

static double reach(const scene *s, ray r) {
    (void)s;
    hit h = find(r);
    return h.what == WATER ? FAR : h.t;
}

/* --- the sky ------------------------------------------------------------------------------------
 */

/* How high the far shore stands in a direction x / z. */
static double hills(double x) {
    double near = 0.006 + 0.011 * noise(x * 6 + 3, 1, 5) + 0.003 * noise(x * 60, 2, 6);
    double far = x > 0.05 ? 0.03 * steady_ramp(0.05, 0.45, x) * (0.6 + 0.6 * noise(x * 9, 3, 7))
                          : 0;
    return near + far;
}

static vec clear_sky(vec d, double away) {
    double high = d.y > 0 ? d.y : 0;
    vec c = mix(v(0.30, 0.115, 0.060), v(0.060, 0.060, 0.105), steady_ramp(0, 0.20, high));
    c = mix(c, v(0.010, 0.019, 0.052), steady_ramp(0.10, 0.62, high));
    c = add(c,
            scale(v(1.00, 0.40, 0.10), 0.75 / (1 + 60 * away * away + 900 * high * high * away)));
    return add(c, scale(v(1.6, 0.85, 0.32), 1.1 * steady_exp(-22 * away)));
}

static vec sky(vec d) {
    vec off = sub(d, sun_at());
    double away = length(off), up = most(d.y, 0.004);
    if (d.z > 0 && d.y / d.z < hills(d.x / d.z) && d.y > -0.01) {
        double ridge = d.x / d.z > 0.05 ? 1 : 0.8;
        return scale(v(0.030, 0.015, 0.014), (0.35 + 1.6 * steady_exp(-5 * away)) * ridge);
    }
    vec c = clear_sky(d, away);
    double u = d.x / (up + 0.06), w = d.z / (up + 0.06); /* clouds in a layer */
    double thick = rough_noise(u * 0.9 + 4, w * 0.34, 5, 40) * 0.72 +
                   rough_noise(u * 0.22, w * 0.12 + 7, 3, 47) * 0.4;
    double cloud = steady_ramp(0.53, 0.74, thick) * steady_ramp(0.006, 0.05, d.y);
    vec below =
        add(scale(v(1.25, 0.36, 0.13), 0.50 / (1 + 5.5 * away * away * 4)), v(0.022, 0.017, 0.030));
    vec rim = scale(v(1.5, 0.62, 0.22), 0.9 * steady_exp(-5.5 * away));
    double edge = cloud * (1 - cloud) * 4;
    c = mix(c, mix(below, v(0.030, 0.022, 0.034), steady_ramp(0.60, 0.9, thick)), 0.85 * cloud);
    return scale(add(c, scale(rim, 0.5 * edge)), 0.45);
}

/* The sky with the sun, which is darker towards its limb. */
static vec sunny(vec d) {
    double away = length(sub(d, sun_at())) / SUN_ANGLE;
    return away < 1 ? scale(SUN_LIGHT, 0.5 + 0.5 * sqrt(1 - away * away)) : sky(d);
}

/* --- the water ----------------------------------------------------------------------------------
 */

/* Waves of many directions, from swell to ripples: number along x and z, slope, phase. */
enum { WAVES = 36 };
static double WAVE[WAVES][4];

static void make_waves(void) {
    double wide = 11;
    for (int i = 0; i < WAVES; i++, wide *= 0.845) {
        double turn = 1.57 + 2.7 * (chance(i, 1, 80) - 0.5), k = 2 * STEADY_PI / wide;
        WAVE[i][0] = k * steady_cos(turn), WAVE[i][1] = k * steady_sin(turn);
        WAVE[i][2] = 0.020 * (0.7 + 0.6 * chance(i, 2, 80));
        WAVE[i][3] = 2 * STEADY_PI * chance(i, 3, 80);
    }
}

/* Returns the slopes of the water. Of waves finer than what a pixel covers, which hold next to
 * nothing, it leaves out the detail and adds it to the variance of the facets. */
static double waves(vec p, double far, double slope[2]) {
    double cover = far * far * 3e-5, rest = 0.00032;
    double gust = 0.55 + 0.75 * rough_noise(p.x * 0.05, p.z * 0.02, 3, 90);
    slope[0] = slope[1] = 0;
    for (int i = 0; i < WAVES; i++) {
        double k = sqrt(WAVE[i][0] * WAVE[i][0] + WAVE[i][1] * WAVE[i][1]),
               size = WAVE[i][2] * gust;
        if (2 * STEADY_PI / k < cover) {
            rest += size * size / 4;
            continue;
        }
        double c = size * steady_cos(WAVE[i][0] * p.x + WAVE[i][1] * p.z + WAVE[i][3]);
        slope[0] += c * WAVE[i][0] / k, slope[1] += c * WAVE[i][1] / k;
    }
    return rest;
}

/* Returns what facets around a slope throw from a light of this solid angle towards `back`, for a
 * radiance of 1. */
static double glint(vec to, vec back, const double slope[2], double rest, double angle) {
    vec h = unit(add(to, back));
    if (h.y < 0.05) return 0;
    double dx = -h.x / h.y - slope[0], dz = -h.z / h.y - slope[1],
           q = (dx * dx + dz * dz) / (2 * rest);
    if (q > 30) return 0;
    double m = 1 - most(dot(h, back), 0), fresnel = 0.02 + 0.98 * m * m * m * m * m;
    double y2 = h.y * h.y;
    return fresnel * angle * steady_exp(-q) / (2 * STEADY_PI * rest) /
           (4 * y2 * y2 * most(back.y, 0.02));
}

static vec wood(const scene *s, ray r, hit h);

static vec water(const scene *s, ray r, hit h, const double u[PLACES]) {
    vec p = along(r, h.t), back = scale(r.to, -1);
    double slope[2], tilt[2], rest = waves(p, h.t, slope);
    on_disc(tilt, u[4], u[5]);
    double sigma = 1.6 * sqrt(rest);
    vec n = unit(v(-slope[0] + sigma * tilt[0], 1, -slope[1] + sigma * tilt[1]));
    double facing = dot(n, back), m = 1 - clamp(facing, 0.02, 1);
    double fresnel = 0.02 + 0.98 * m * m * m * m * m;
    vec to = add(r.to, scale(n, 2 * facing));
    if (to.y < 0.01) to.y = 0.01 + 0.3 * fabs(to.y);
    to = unit(to);
    ray up = {add(p, v(0, 1e-3, 0)), to};
    hit over = {FAR, NOTHING, {0, 1, 0}};
    find_jetty(up, &over);
    find_boat(up, &over);
    vec seen = over.what == NOTHING ? sky(to) : wood(s, up, over);
    vec sum = add(scale(seen, fresnel), scale(v(0.003, 0.007, 0.010), 1 - fresnel));
    hit shade = {FAR, NOTHING, {0, 1, 0}};
    ray sunward = {up.from, sun_at()};
    find_jetty(sunward, &shade);
    find_boat(sunward, &shade);
    if (shade.what == NOTHING)
        sum = add(sum, scale(SUN_LIGHT, 0.30 * glint(sun_at(), back, slope, rest,
                                                     STEADY_PI * SUN_ANGLE * SUN_ANGLE)));
    for (int i = 0; i < s->lamps; i++) {
        const lamp *l = &s->lamp[i];
        if (l->wide < -1) continue;
        vec lamp_to = sub(l->at, p);
        double d = length(lamp_to);
        double angle = STEADY_PI * l->radius * l->radius / (d * d);
        sum = add(sum, scale(l->light,
                             glint(scale(lamp_to, 1 / d), back, slope, rest + angle / 8, angle)));
    }
    return sum;
}

/* --- wood, and all together ---------------------------------------------------------------------
 */

static vec wood(const scene *s, ray r, hit h) {
    vec p = along(r, h.t), n = h.normal;
    if (h.what == SAIL) {
        double seam = p.y * 0.9 - floor(p.y * 0.9);
        return scale(v(0.10, 0.042, 0.021), (seam < 0.03 ? 0.6 : 1) * (0.6 + 0.04 * p.y));
    }
    bool person = fabs(p.z - PERSON.z) < 0.3 && p.y > DECK + 0.02 && fabs(p.x - PERSON.x) < 0.4;
    if (p.z > 40 || person) return v(0.004, 0.0035, 0.004);
    double grain = rough_noise(p.x * 9, p.z * 70, 2, 95);
    vec albedo = scale(v(0.085, 0.062, 0.046), 0.5 + grain);
    vec light = scale(v(0.020, 0.017, 0.025), 0.5 + 0.5 * n.y);
    double face = dot(n, sun_at());
    if (face > 0) light = add(light, scale(SUN_LIGHT, 0.3 * face * SUN_ANGLE * SUN_ANGLE));
    for (int i = 0; i < s->lamps; i++) {
        const lamp *l = &s->lamp[i];
        if (l->wide < -1) continue;
        vec to = sub(l->at, p);
        double d2 = dot(to, to) + 0.02,
               power = l->radius * l->radius * most(dot(n, to), 0) / (d2 * sqrt(d2));
        light = add(light, scale(l->light, power));
    }
    vec sum = mul(albedo, light);
    if (n.y < 0.9) return sum;
    vec back = scale(r.to, -1); /* wet planks */
    double wet = steady_ramp(0.42, 0.62, rough_noise(p.x * 1.5, p.z * 0.8, 3, 97)),
           m = 1 - most(back.y, 0);
    vec to = unit(v(r.to.x + 0.05 * (grain - 0.5), fabs(r.to.y) + 0.03 * grain, r.to.z));
    return add(sum, scale(sky(to), wet * 0.55 * (0.02 + 0.98 * m * m * m * m * m)));
}

static vec seen(const scene *s, ray r, const double u[PLACES]) {
    hit h = find(r);
    if (h.what == WATER) {
        vec c = water(s, r, h, u), low = v(r.to.x, 0.012, r.to.z);
        double haze = h.t / (h.t + 2600);
        return mix(c, sky(unit(v(low.x, 0.03, low.z))), haze * 0.55);
    }
    if (h.what == WOOD || h.what == SAIL) return wood(s, r, h);
    return sunny(r.to);
}

static void furnish(scene *s) {
    static const vec LANTERN = {3300, 1550, 430}, TOWN = {520, 290, 110}, COLD = {330, 380, 430};
    for (int i = 2; i < PILES; i += 2)
        put_lamp(s, add(pile(i, 1), v(0, 2.53, 0)), 0.034, LANTERN, v(0, -1, 0), -1);
    put_lamp(s, v(128, 24, 640), 0.45, v(2600, 2350, 1850), v(0, 0, -1), -1);
    put_lamp(s, add(BOAT, v(0, 10.9, 0)), 0.05, v(900, 840, 700), v(0, -1, 0), -2);
    for (int i = 0; i < 46; i++) {
        double x = -0.36 + 0.74 * chance(i, 1, 70), high = 0.6 * hills(x) * chance(i, 2, 70);
        double z = 900, size = 0.16 + 0.16 * chance(i, 3, 70);
        if (fabs(x + 0.135) < 0.05) continue;
        put_lamp(s, v(x * z, 2.35 + (0.0008 + high) * z, z), size,
                 scale(chance(i, 4, 70) < 0.25 ? COLD : TOWN, 0.4 + chance(i, 5, 70)), v(0, 0, -1),
                 -2);
    }
}

int main(int argc, char **argv) {
    static scene s;
    s = (scene){
        .eye = look_at(EYE, v(0.1, 3.15, 20), 0.40, 0.018, 17.6), .seen = seen, .reach = reach};
    make_waves();
    furnish(&s);
    return trace_main(argc, argv, "make_shore", &s);
}
