/* pipeline.h - one case of the convolution pipeline: random image and kernel, a plan, an engine,
 * and the direct sum in double to compare with. It shares no code with the engines: the kernel's
 * spectrum is a plain DFT, and borders are the reference's. */
#ifndef TESTS_PIPELINE_H
#define TESTS_PIPELINE_H

#include "base/half.h"
#include "base/hash.h"
#include "engine/engine.h"
#include "unit/check.h"
#include "unit/reference.h"

/* The image's samples: any, or halfs, which travel as floats or as halfs. */
typedef enum { PIPE_ANY, PIPE_HALFS, PIPE_HALFS_TOLD } pipe_samples;

typedef struct {
    uint32_t w, h, kw, kh, cx, cy; /* cx, cy: the kernel's centre */
    plan_border border[2];
    plan_axis_order order;
    plan_precision precision;
    uint32_t channels, spectra;
    double gain;
    plan_limits shrink; /* nonzero fields replace the device's: smaller workgroups and so on */
    plan_tune tune;
    bool tapless;   /* the kernel's centre is 0 */
    bool symmetric; /* half a turn about its middle leaves the kernel as it is; the plan is told */
    bool zero_mean; /* noise of both signs; else light, from 0 to 1 */
    pipe_samples samples;
    double scale; /* of the image; 0 stands for 1 */
    bool staged;  /* engine_options */
    bool in_place;
    uint32_t slots; /* 0 stands for 1 */
} pipe_case;

/* A case: the sizes of image and kernel, the kernel's centre, and further members. */
#define PIPE(w_, h_, kw_, kh_, cx_, cy_, ...) \
    { .w = (w_), .h = (h_), .kw = (kw_), .kh = (kh_), .cx = (cx_), .cy = (cy_), __VA_ARGS__ }

typedef struct {
    double relative_l2, worst; /* against the direct sum; worst relative to its peak */
    double bound;
    plan p;
    hash128 bits; /* of the result */
} pipe_result;

static inline double pipe_random(uint64_t *s) { /* uniform in [0, 1) */
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 11) * 0x1p-53;
}

/* out(p) += sum of k(q) in(p - (q - centre)) */
static inline void pipe_direct(double *out, const double *in, const double *k, const pipe_case *c) {
    for (int64_t y = 0; y < c->h; y++)
        for (int64_t x = 0; x < c->w; x++) {
            double sum = 0;
            for (int64_t j = 0; j < c->kh; j++) {
                int64_t sy = reference_source(y - (j - (int64_t)c->cy), c->h, c->border[PLAN_Y]);
                if (sy < 0) continue;
                for (int64_t i = 0; i < c->kw; i++) {
                    int64_t sx =
                        reference_source(x - (i - (int64_t)c->cx), c->w, c->border[PLAN_X]);
                    if (sx >= 0) sum += k[j * c->kw + i] * in[sy * c->w + sx];
                }
            }
            out[y * c->w + x] += sum;
        }
}

static inline void pipe_root(double *re, double *im, int64_t m, uint32_t n) {
    double angle = -2 * M_PI * (double)(m % n) / n;
    *re = cos(angle), *im = sin(angle);
}

/* The half spectrum of a kernel at the plan's lengths, without its centre tap, first axis halved:
 * one axis after the other. */
static inline void pipe_spectrum(double *to, const double *k, const pipe_case *c, const plan *p) {
    uint32_t l1 = p->axis[0].length, l2 = p->axis[1].length, x1 = p->first == PLAN_X;
    uint32_t n1 = x1 ? c->kw : c->kh, n2 = x1 ? c->kh : c->kw;
    int64_t c1 = x1 ? c->cx : c->cy, c2 = x1 ? c->cy : c->cx;
    double *mid = calloc((size_t)p->halves * n2 * 2, sizeof *mid), u, v;
    for (uint32_t f = 0; f < p->halves; f++)
        for (uint32_t a = 0; a < n1; a++) {
            pipe_root(&u, &v, (int64_t)f * (a - c1), l1);
            for (uint32_t b = 0; b < n2; b++) {
                if (a == c1 && b == c2) continue;
                double tap = k[x1 ? b * c->kw + a : a * c->kw + b];
                mid[2 * (f * n2 + b)] += tap * u;
                mid[2 * (f * n2 + b) + 1] += tap * v;
            }
        }
    for (uint32_t g = 0; g < l2; g++)
        for (uint32_t b = 0; b < n2; b++) {
            pipe_root(&u, &v, (int64_t)g * (b - c2), l2);
            for (uint32_t f = 0; f < p->halves; f++) {
                double re = mid[2 * (f * n2 + b)], im = mid[2 * (f * n2 + b) + 1];
                to[2 * ((size_t)f * l2 + g)] += re * u - im * v;
                to[2 * ((size_t)f * l2 + g) + 1] += re * v + im * u;
            }
        }
    free(mid);
}

static inline plan_request pipe_request(const pipe_case *c, const engine_device *d) {
    plan_limits l = d->limits;
    if (l.invocations && c->shrink.invocations) l.invocations = c->shrink.invocations;
    if (l.invocations && c->shrink.shared_bytes) l.shared_bytes = c->shrink.shared_bytes;
    if (l.invocations && c->shrink.buffer_range) l.buffer_range = c->shrink.buffer_range;
    return (plan_request){
        .size = {c->w, c->h},
        .reach_lo = {c->cx, c->cy},
        .reach_hi = {c->kw - 1 - c->cx, c->kh - 1 - c->cy},
        .border = {c->border[0], c->border[1]},
        .order = c->order,
        .precision = c->precision,
        .channels = c->channels,
        .spectra = c->spectra,
        .symmetric = c->symmetric,
        .planes = {.in = c->samples == PIPE_HALFS_TOLD ? PLAN_HALFS : PLAN_FLOATS,
                   .out = c->precision == PRECISION_FLOAT64 ? PLAN_DOUBLES : PLAN_FLOATS},
        .limits = l,
        .tune = c->tune};
}

/* The spectrum of a plan, all of it 0. */
static inline spectrum_lines pipe_lines(const plan *p, uint32_t channels) {
    spectrum_lines l = {.channels = channels,
                        .halves = p->halves,
                        .length = p->axis[1].length,
                        .float64 = p->sample_bytes == 8};
    size_t n = (size_t)channels * l.halves * l.length;
    CHECK_OK(l.value = mem_new(n, 2 * p->sample_bytes, "spectrum", &e));
    return l;
}

/* Rounds to the precision of the numbers, so that both sides start from the same. */
static inline void pipe_store(void *to, double *v, size_t n, bool float64) {
    for (size_t i = 0; i < n; i++) {
        if (float64)
            ((double *)to)[i] = v[i];
        else
            v[i] = ((float *)to)[i] = (float)v[i];
    }
}

static inline double pipe_load(const void *from, size_t i, bool float64) {
    return float64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

/* Each of the log2(L1 L2) levels of butterflies, there and back, rounds numbers of all sizes by
 * 0.62 u of their root mean square, and the errors add like noise: docs/inside/math.md, "The error
 * of a transform". */
static inline double pipe_bound(const plan *p) {
    double levels = 2 * log2((double)p->axis[0].length * p->axis[1].length);
    return (p->sample_bytes == 8 ? 0x1p-53 : 0x1p-24) * (3 + 0.7 * sqrt(levels));
}

/* Fills a kernel of positive taps whose sum is 1. */
static inline void pipe_kernel(double *k, const pipe_case *c, uint64_t *seed) {
    size_t taps = (size_t)c->kw * c->kh;
    double sum = 0;
    for (size_t i = 0; i < taps; i++) {
        bool zero = c->tapless && i == (size_t)c->cy * c->kw + c->cx;
        sum += k[i] = zero ? 0 : pipe_random(seed);
    }
    for (size_t i = 0; c->symmetric && i < taps / 2; i++) {
        sum += k[i] - k[taps - 1 - i];
        k[taps - 1 - i] = k[i];
    }
    for (size_t i = 0; i < taps; i++) k[i] /= sum;
}

/* False with e set when the engine failed. Runs once through each slot, and again through the
 * first: a frame must not depend on the one before. */
static inline bool pipe_run(pipe_result *r, const pipe_case *c, engine *g, const engine_device *d,
                            err *e) {
    plan_request ask = pipe_request(c, d);
    if (!plan_make(&r->p, &ask, e)) return false;
    bool f64 = c->precision == PRECISION_FLOAT64;
    size_t n = (size_t)c->w * c->h, taps = (size_t)c->kw * c->kh, real = f64 ? 8 : 4;
    size_t line = (size_t)r->p.halves * r->p.axis[1].length * 2;
    uint64_t seed = 1 + c->w + 1000 * c->h;
    uint32_t planes = c->channels, kernels = c->spectra;
    double *k = calloc(taps * kernels, 8), *spec = calloc(line * kernels, 8);
    double *in = calloc(n * planes, 8), *want = calloc(n, 8), tap[ENGINE_CHANNELS],
           gain[ENGINE_CHANNELS];
    bool told = c->samples == PIPE_HALFS_TOLD, in_place = c->in_place && !told && !f64;
    size_t sample = told ? sizeof(uint16_t) : sizeof(float);
    char *given = calloc(n * planes, sizeof(float)), *result = calloc(n * c->channels, real);
    void *out[ENGINE_CHANNELS];
    const void *from[ENGINE_CHANNELS];
    for (uint32_t s = 0; s < kernels; s++) {
        pipe_kernel(k + s * taps, c, &seed);
        pipe_spectrum(spec + s * line, k + s * taps, c, &r->p);
    }
    for (size_t i = 0; i < n * planes; i++)
        in[i] = (pipe_random(&seed) - (c->zero_mean ? 0.5 : 0)) * (c->scale > 0 ? c->scale : 1);
    for (size_t i = 0; c->samples != PIPE_ANY && i < n * planes; i++)
        in[i] = (double)half_to_float(half_from_float((float)in[i]));
    if (told)
        for (size_t i = 0; i < n * planes; i++)
            ((uint16_t *)(void *)given)[i] = half_from_float((float)in[i]);
    else
        pipe_store(given, in, n * planes, false);
    spectrum_lines sl = pipe_lines(&r->p, c->spectra);
    pipe_store(sl.value, spec, line * kernels, f64);
    for (uint32_t ch = 0; ch < c->channels; ch++) {
        out[ch] = result + ch * n * real;
        from[ch] = in_place ? out[ch] : given + ch * n * sample;
        uint32_t s = c->spectra == 1 ? 0 : ch;
        tap[ch] = (1 - c->gain) + c->gain * k[s * taps + (size_t)c->cy * c->kw + c->cx];
        gain[ch] = c->gain;
    }
    const join how = join_plain(c->channels, tap, gain);
    engine_frame f = {.in = from, .out = out, .join = &how};
    uint32_t slots = c->slots ? c->slots : 1;
    engine_options o = {.slots = slots, .staged = c->staged};
    bool ok = engine_prepare(g, &r->p, &sl, &o, e);
    for (uint32_t i = 0; ok && i <= slots; i++) {
        if (in_place) memcpy(result, given, n * planes * sample);
        ok = engine_submit(g, i % slots, &f, e) && engine_wait(g, i % slots, NULL, NULL, e);
    }
    double diff = 0, norm = 0, peak = 0, worst = 0;
    for (uint32_t ch = 0; ok && ch < c->channels; ch++) {
        memset(want, 0, n * sizeof *want);
        pipe_direct(want, in + ch * n, k + (c->spectra == 1 ? 0 : ch) * taps, c);
        for (size_t i = 0; i < n; i++) {
            double w = (1 - c->gain) * in[ch * n + i] + c->gain * want[i];
            double d1 = fabs(pipe_load(out[ch], i, f64) - w);
            diff += d1 * d1;
            norm += w * w;
            if (!(d1 <= worst)) worst = d1; /* NaN counts as worst */
            if (fabs(w) > peak) peak = fabs(w);
        }
    }
    r->relative_l2 = norm > 0 ? sqrt(diff / norm) : diff;
    r->worst = peak > 0 ? worst / peak : worst;
    r->bound = pipe_bound(&r->p);
    r->bits = hash_bytes(result, n * c->channels * real);
    free(k), free(spec), free(in), free(want), free(given), free(result);
    spectrum_lines_free(&sl); /* the engine may have taken the values */
    return ok;
}

static inline const char *pipe_text(const pipe_case *c, const pipe_result *r, char buf[512]) {
    snprintf(buf, 512,
             "%ux%u kernel %ux%u at %u,%u border %s,%s channels %u/%u %s-first %u x %u: "
             "L2 %.2e worst %.2e bound %.2e",
             c->w, c->h, c->kw, c->kh, c->cx, c->cy, plan_border_name(c->border[0]),
             plan_border_name(c->border[1]), c->channels, c->spectra,
             r->p.first == PLAN_X ? "x" : "y", r->p.axis[0].length, r->p.axis[1].length,
             r->relative_l2, r->worst, r->bound);
    return buf;
}

/* Fills `to` with all devices, under the validation layer. Where that is not installed, it says so:
 * the Vulkan devices are tested without it then, and not left out. */
static inline uint32_t pipe_devices(engine_device to[ENGINE_DEVICES]) {
    setenv("FFTBLOOM_VALIDATION", "1", 0);
    uint32_t n = engine_devices(to, ENGINE_DEVICES);
    for (uint32_t i = 0; i < n; i++)
        if (to[i].class != ENGINE_CPU) return n;
    setenv("FFTBLOOM_VALIDATION", "0", 1);
    n = engine_devices(to, ENGINE_DEVICES);
    for (uint32_t i = 0; i < n; i++)
        if (to[i].class != ENGINE_CPU)
            fprintf(stderr,
                    "'%s' is tested without the Vulkan validation layer, which is missing\n",
                    to[i].name);
    return n;
}

/* For a whole file of tests: the devices of this machine, and threads. */
static engine_device device[ENGINE_DEVICES] __attribute__((unused));
static uint32_t devices __attribute__((unused));
static par *threads __attribute__((unused));

FIXTURE(pipe_begin) {
    devices = pipe_devices(device);
    return !(threads = par_open(0, NULL));
}

FIXTURE(pipe_end) {
    par_close(&threads);
    return 0;
}

/* Prepares an engine for a case, with a spectrum by chance: what it does to images is not looked
 * at. */
static inline void pipe_prepare(engine *g, const pipe_case *c, const engine_device *d,
                                uint32_t slots) {
    plan p;
    plan_request ask = pipe_request(c, d);
    CHECK_OK(plan_make(&p, &ask, &e));
    OWN(spectrum_lines) l = pipe_lines(&p, 1);
    uint64_t seed = 3;
    for (size_t i = 0; i < 2 * (size_t)l.halves * l.length; i++)
        ((float *)l.value)[i] = (float)pipe_random(&seed);
    engine_options o = {.slots = slots, .staged = c->staged};
    CHECK_OK(engine_prepare(g, &p, &l, &o, &e));
}

typedef void pipe_test(const pipe_case *c, const engine_device *d, engine *g);

/* A software driver compiles for 2 s for a case: of a list it has the first, two in `some` where
 * the file runs whole, and all by `make trials` (PIPE_ALL). Other devices have all. */
static inline bool pipe_takes(const engine_device *d, size_t k, uint32_t some) {
    if (d->class != ENGINE_SOFTWARE || getenv("PIPE_ALL")) return true;
    return check_long() ? k % some == 0 || k % some == 2 : k == 0;
}

/* Opens an engine on device d and runs the cases that the device can do, those that pipe_takes.
 * Returns false if it does not open. */
static inline bool pipe_on(const engine_device *d, par *threads, const pipe_case *c, size_t count,
                           uint32_t some, pipe_test *run, err *e) {
    engine *g = engine_open(d, threads, NULL, e);
    if (!g) return false;
    for (size_t k = 0; k < count; k++)
        if (pipe_takes(d, k, some) &&
            (c[k].precision != PRECISION_FLOAT64 || d->class == ENGINE_CPU || d->limits.float64))
            run(&c[k], d, g);
    engine_close(&g);
    return true;
}

#endif
