#include "kernel/lint.h"

#include "base/mem.h"
#include "base/steady.h"
#include "base/text.h"
#include "kernel/ring.h"

typedef struct {
    const float *const *plane;
    uint32_t w, h, channels;
    double *added;      /* the channels added, bad taps taken for zero, the centre in the middle */
    double total;       /* their sum */
    uint32_t centre[2]; /* in `added`: distances are from here */
    uint32_t rings;     /* whole rings of taps around the centre */
    double asymmetry;   /* half of |k - k turned about the middle| / |k|: 0 to 1 */
} work;

static double clean(float v) {
    return isfinite(v) ? (double)v : 0;
}

/* A set of the first values of a channel, as bits; `count` stops at one more than 256. */
typedef struct {
    uint32_t slot[1024];
    bool used[1024];
    int count;
} value_set;

static void add_value(value_set *s, float v) {
    uint32_t bits;
    if (s->count > 256) return;
    memcpy(&bits, &v, sizeof bits);
    uint32_t at = bits * 2654435761u >> 22;
    while (s->used[at] && s->slot[at] != bits) at = (at + 1) % 1024;
    if (s->used[at]) return;
    s->used[at] = true;
    s->slot[at] = bits;
    s->count++;
}

/* Returns whether every value is one of a picture of 8 bits whose white is `white`: a step of
 * 1/255, linear or with the curve of sRGB. Half floats may have rounded it. */
static bool fits_8_bits(const value_set *s, double white, bool linear) {
    for (int i = 0; i < 1024; i++) {
        float v;
        memcpy(&v, &s->slot[i], sizeof v);
        double at = (double)v / white;
        if (!s->used[i] || at == 0) continue;
        double srgb = at <= 0.0031308 ? at * 12.92 : 1.055 * steady_pow(at, 1 / 2.4) - 0.055;
        double code = 255 * (linear ? at : srgb);
        if (!(fabs(code - round(code)) < 1e-3 * code)) return false;
    }
    return true;
}

/* Adds up a channel, and the sum of |tap| to *size. */
static void sum_channel(lint *l, work *k, uint32_t c, double *size) {
    size_t n = (size_t)k->w * k->h;
    value_set set = {0};
    l->low[c] = INFINITY, l->high[c] = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        float tap = k->plane[c][i];
        double v = clean(tap);
        if (!isfinite(tap) && l->bad++ == 0) {
            l->first_bad[0] = c;
            l->first_bad[1] = (uint32_t)(i % k->w), l->first_bad[2] = (uint32_t)(i / k->w);
        }
        l->sum[c] += v;
        l->low[c] = fmin(l->low[c], v), l->high[c] = fmax(l->high[c], v);
        *size += fabs(v);
        if (v < 0) l->negative++, l->negative_share -= v;
        add_value(&set, tap);
        k->added[i] += v;
    }
    l->flat = l->flat && l->low[c] == l->high[c];
    bool few = set.count >= 16 && set.count <= 256;
    bool linear = few && (fits_8_bits(&set, 1, true) || fits_8_bits(&set, l->high[c], true));
    bool srgb = few && (fits_8_bits(&set, 1, false) || fits_8_bits(&set, l->high[c], false));
    l->eight_bit = l->eight_bit && (linear || srgb);
    l->not_decoded = l->not_decoded && linear && !srgb;
    k->total += l->sum[c];
}

/* Returns half of |k - k turned about the middle| / |k|. The first taps of an even side have no
 * partner; zeros take its place. */
static double asymmetry(const double *tap, uint32_t w, uint32_t h) {
    double odd = 0, size = 0;
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            uint64_t ox = 2ull * (w / 2) - x, oy = 2ull * (h / 2) - y;
            bool there = ox < w && oy < h;
            double v = tap[(size_t)y * w + x], other = there ? tap[oy * w + ox] : 0;
            odd += fabs(v - other) * (there ? 1 : 2);
            size += fabs(v);
        }
    return size > 0 ? odd / (2 * size) : 0;
}

/* Looks whether tap 0 is the centre, in the layout of transforms: the kernel is more symmetric with
 * this tap in the middle, where it then stays. */
static bool unwrap(lint *l, work *k, err *e) {
    const uint32_t w = k->w, h = k->h;
    double *moved = mem_raw((size_t)w * h, sizeof *moved, "kernel", e);
    if (!moved) return false;
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            moved[(size_t)y * w + x] =
                k->added[(size_t)((y + h - h / 2) % h) * w + (x + w - w / 2) % w];
    l->corner = asymmetry(moved, w, h) < k->asymmetry / 2;
    mem_free(l->corner ? k->added : moved);
    if (l->corner) k->added = moved;
    return true;
}

static bool find_centre(lint *l, work *k, err *e) {
    size_t peak = 0, n = (size_t)k->w * k->h;
    double x = 0, y = 0;
    for (size_t i = 0; i < n; i++) {
        x += (double)(i % k->w) * k->added[i], y += (double)(i / k->w) * k->added[i];
        if (k->added[i] > k->added[peak]) peak = i;
    }
    l->peak[0] = (uint32_t)(peak % k->w), l->peak[1] = (uint32_t)(peak / k->w);
    k->asymmetry = asymmetry(k->added, k->w, k->h);
    k->centre[0] = k->w / 2, k->centre[1] = k->h / 2;
    l->centred = memcmp(l->peak, k->centre, sizeof l->peak) == 0 || l->flat || k->asymmetry < 0.01;
    if (peak == 0 && !l->centred && k->w > 2 && k->h > 2 && !unwrap(l, k, e)) return false;
    if (!l->centred && !l->corner) memcpy(k->centre, l->peak, sizeof k->centre);
    for (int a = 0; a < 2; a++) {
        uint32_t side = a ? k->h : k->w, at = k->centre[a];
        uint32_t rings = min_u32(at, side - 1 - at) + 1;
        k->rings = a ? min_u32(k->rings, rings) : rings;
    }
    if (!(k->total > 0)) return true;
    l->centroid[0] = x / k->total, l->centroid[1] = y / k->total;
    l->centre_tap = k->added[(size_t)(k->h / 2) * k->w + k->w / 2] / k->total;
    return true;
}

/* Sums over rings one tap wide around the centre, as far as whole rings go; and over squares. */
typedef struct {
    uint32_t rings, squares;
    double *sum, *mean;
    double *around; /* of |tap|, by the larger of both distances */
    double disc;    /* within the disc of the veiling glare */
} profile;

static bool make_profile(profile *p, const lint *l, const work *k, err *e) {
    p->rings = k->rings, p->squares = max_u32(k->w, k->h) + 1;
    p->sum = mem_new((size_t)p->rings * 2 + p->squares, sizeof *p->sum, "profile", e);
    if (!p->sum) return false;
    p->mean = p->sum + p->rings;
    p->around = p->mean + p->rings;
    for (uint32_t y = 0; y < k->h; y++)
        for (uint32_t x = 0; x < k->w; x++) {
            double dx = (double)x - k->centre[0], dy = (double)y - k->centre[1];
            size_t ring = (size_t)(sqrt(dx * dx + dy * dy) + 0.5);
            const double v = k->added[(size_t)y * k->w + x];
            if (length_of(dx, dy) <= l->glare_disc / 2) p->disc += v;
            p->around[(size_t)fmax(fabs(dx), fabs(dy))] += fabs(v);
            if (ring >= p->rings) continue;
            p->sum[ring] += v;
            p->mean[ring]++; /* the count, so far */
        }
    for (uint32_t r = 0; r < p->rings; r++) p->mean[r] = p->sum[r] / p->mean[r];
    return true;
}

/* Returns the distance within which a share of the light lies, found between rings. */
static double radius_of(const profile *p, double light) {
    double sum = 0;
    for (uint32_t r = 0; r < p->rings; r++) {
        sum += p->sum[r];
        if (sum >= light) return r + 0.5 - (sum - light) / fmax(p->sum[r], 1e-300);
    }
    return p->rings;
}

/* Returns the share of the light that a fall with slope n > 2 has outside the kernel: with the mean
 * m at the rim R, 2 pi R^2 m / (n - 2) lies outside the rim, and the kernel has `held` of that. */
static double share_outside(ring_line f, double rim, double held, double total) {
    double outside = 2 * M_PI * rim * rim * steady_exp(f.level - f.slope * steady_log(rim)) /
                     (f.slope - 2);
    outside = fmax(outside - held, 0);
    return outside / (total + outside);
}

/* Finds what holds shares of the light, and measures the rings of the outer third. */
static void measure_rings(lint *l, const profile *p, double total) {
    uint32_t first = max_u32(2, p->rings - p->rings / 3);
    double light = 0, rim = p->rings - 0.5;
    double whole = 0, sum = 0, held = total; /* in the corners, or along the longer side */
    for (uint32_t i = 0; i < p->squares; i++) whole += p->around[i];
    for (uint32_t r = 0; r < p->rings; r++) held -= p->sum[r];
    while (l->useful + 1 < p->squares && (sum += p->around[l->useful]) < (1 - 1e-6) * whole)
        l->useful++;
    l->useful = min_u32(2 * l->useful + 1, p->squares - 1);
    l->glare = 1 - p->disc / total;
    l->inner_radius = radius_of(p, 0.5 * total);
    l->radius_90 = radius_of(p, 0.9 * total);
    l->radius_99 = radius_of(p, 0.99 * total);
    for (uint32_t r = first; r < p->rings; r++) light += p->sum[r];
    const ring_line f = ring_fit_line(p->mean, first, p->rings);
    if (f.points < 4 || !(light > 1e-9 * total)) return;
    l->slope = f.slope;
    if (f.slope <= 2.02) {
        l->beyond = 1, l->enough = INFINITY;
        return;
    }
    l->beyond = share_outside(f, rim, held, total);
    double all_round = share_outside(f, rim, 0, total);
    if (l->beyond > 1e-3)
        l->enough = 2 * ceil(rim * steady_pow(all_round / 1e-3, 1 / (f.slope - 2)));
}

/* Finds a tail that ends all at once: its last rings have what the fall-off before them leads to,
 * and the next ones have nothing. A fade falls below it first, and a disc does not fall off. */
static void find_cut(lint *l, const profile *p, double total) {
    uint32_t last = p->rings;
    while (last > 0 && !(p->sum[last - 1] > 0)) last--;
    if (last < 12 || last > 0.9 * p->rings) return;
    const ring_line f = ring_fit_line(p->mean, last / 3, last - 2);
    if (f.points < 4 || f.slope < 1) return;
    for (uint32_t r = last - 4; r < last - 1; r++)
        if (p->mean[r] < 0.6 * steady_exp(f.level - f.slope * steady_log(r))) return;
    double slope = fmax(f.slope, 2.05), rim = last - 0.5;
    double off = share_outside((ring_line){slope, f.level + (slope - f.slope) * steady_log(rim), 0},
                               rim, 0, total);
    if (off >= 1e-3) l->cut_at = last, l->cut_off = off;
}

/* Measures the corners. A photograph's background is the light that even the darkest has, in the
 * mean over a square, so that noise does not decide. */
static void find_background(lint *l, const work *k) {
    if (k->w < 16 || k->h < 16) return;
    uint32_t n = min_u32(k->w, k->h) / 8;
    l->background = INFINITY;
    for (int i = 0; i < 4; i++) {
        uint32_t x0 = i & 1 ? k->w - n : 0, y0 = i / 2 ? k->h - n : 0;
        double sum = 0;
        for (uint32_t y = y0; y < y0 + n; y++)
            for (uint32_t x = x0; x < x0 + n; x++) sum += k->added[(size_t)y * k->w + x];
        l->background = fmin(l->background, sum / ((double)n * n));
    }
    l->background_share = l->background * k->w * k->h / k->total;
}

bool lint_kernel(lint *to, const psf_planes *in, err *e) {
    lint l = {.w = in->w, .h = in->h, .channels = min_u32(in->channels, LINT_CHANNELS)};
    work k = {.plane = in->plane, .w = in->w, .h = in->h, .channels = l.channels};
    profile p = {0};
    double size = 0;
    k.added = mem_new((size_t)k.w * k.h, sizeof *k.added, "kernel", e);
    if (!k.added) return false;
    l.flat = l.eight_bit = l.not_decoded = true;
    for (uint32_t c = 0; c < k.channels; c++) sum_channel(&l, &k, c, &size);
    if (size > 0) l.negative_share /= size;
    bool ok = find_centre(&l, &k, e);
    if (ok && k.total > 0) {
        l.glare_disc = max_u32(3, min_u32(k.w, k.h) / 10);
        ok = make_profile(&p, &l, &k, e);
        if (ok) measure_rings(&l, &p, k.total), find_cut(&l, &p, k.total), find_background(&l, &k);
    }
    mem_free(p.sum);
    mem_free(k.added);
    if (ok) *to = l;
    return ok;
}

bool lint_has_background(const lint *l) {
    return !l->flat && l->background > 0 && l->background_share > 0.01 && fabs(l->slope) < 0.5;
}

bool lint_core(lint *l, const psf_planes *in, err *e) {
    OWN(psf) k = {0};
    err why = {0};
    const psf_options how = {.center = l->corner ? PSF_CORNER : PSF_MIDDLE};
    if (!psf_make(&k, in, &how, &why)) return why.code != ERR_MEMORY || (*e = why, false);
    if (!psf_core_radius(&l->core, &k, e)) return false;
    for (uint32_t c = 0; c < l->channels && c < k.channels; c++)
        l->split[c] = psf_core_split(&k, c, l->core);
    return true;
}

/* Returns whether a channel needs a closer look: its middle is not the brightest tap, corners are
 * not dark, or it has few values. */
static bool looks_odd(const psf_planes *in, uint32_t c) {
    const float *tap = in->plane[c], *end = tap + (size_t)in->w * in->h, *v = tap;
    const float middle = tap[(size_t)(in->h / 2) * in->w + in->w / 2];
    const float *last = end - in->w;
    enum { LANES = 8 };
    float highest[LANES] = {tap[0], tap[0], tap[0], tap[0], tap[0], tap[0], tap[0], tap[0]};
    double sum = 0, sums[LANES] = {0};
    for (; end - v >= LANES; v += LANES)
        for (int i = 0; i < LANES; i++) {
            highest[i] = v[i] > highest[i] ? v[i] : highest[i];
            sums[i] += (double)v[i];
        }
    for (int i = 0; v + i < end; i++) highest[i] = fmaxf(highest[i], v[i]), sums[i] += (double)v[i];
    float high = highest[0];
    for (int i = 0; i < LANES; i++) high = fmaxf(high, highest[i]), sum += sums[i];
    double corner = (double)fminf(fminf(tap[0], tap[in->w - 1]), fminf(*last, *(end - 1)));
    value_set set = {0};
    for (v = tap; v < end && set.count <= 256; v++) add_value(&set, *v);
    return !(middle >= high) || !(corner * (double)(end - tap) < 0.01 * sum) || set.count <= 256;
}

bool lint_glance(lint_faults *to, const psf_planes *in, bool placed, err *e) {
    double light = 0;
    bool odd = false;
    OWN(text) t = {0};
    lint l;
    *to = (lint_faults){0};
    for (uint32_t c = 0; c < in->channels && !odd; c++) odd = looks_odd(in, c);
    if (!odd) return true;
    if (!lint_kernel(&l, in, e)) return false;
    for (uint32_t c = 0; c < l.channels; c++) light += l.sum[c];
    if (l.bad || !(light > 0)) return true; /* it is refused, and the error says why */
    if (l.corner && !placed) text_add(&t, "; its centre is in the corner");
    if (!l.corner && !l.centred && !placed) {
        to->off[0] = (int)l.peak[0] - (int)(l.w / 2), to->off[1] = (int)l.peak[1] - (int)(l.h / 2);
        text_add(&t, "; off centre by %d, %d", to->off[0], to->off[1]);
    }
    if (lint_has_background(&l)) text_add(&t, "; %.0f %% background", 100 * l.background_share);
    if (l.not_decoded) text_add(&t, "; 8-bit values that were not decoded");
    snprintf(to->words, sizeof to->words, "%s", t.n ? t.s + 2 : "");
    return true;
}
