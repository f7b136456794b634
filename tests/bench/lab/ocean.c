#include "lab/ocean.h"
#include "base/steady.h"

#include "base/mem.h"
#include "base/number.h"
#include "lab/lab_bench.h"
#include "math/fft.h"

#include <math.h>
#include <string.h>

static const double G = 9.81, WIND = 13; /* m/s^2, m/s */
static const double WIND_X = 0.8, WIND_Y = 0.6;
static const double LOOP_SECONDS = 120;
static const double STEP = 2 * M_PI / OCEAN_PATCH; /* between wave numbers */

/* --- waves, and a moment of them ------------------------------------------------------------- */

/* Phillips' spectrum but for a factor: waves much longer than the wind can make, much shorter than
 * a hand, across the wind, and against it, are few. */
static double phillips(double kx, double ky) {
    const double longest = WIND * WIND / G, shortest = 0.06;
    double k2 = kx * kx + ky * ky;
    if (k2 == 0) return 0;
    double along = (kx * WIND_X + ky * WIND_Y) / sqrt(k2);
    double p = exp(-1 / (k2 * longest * longest)) / (k2 * k2) * along * along *
               exp(-k2 * shortest * shortest);
    return along < 0 ? 0.07 * p : p;
}

/* The mean square of the height is that of a sea that the wind has blown over for long: its highest
 * third of the waves is 0.21 WIND^2 / G high (Pierson and Moskowitz), four times the root of that
 * mean. The sum is over waves that every grid of 256 and more has. */
static double amplitude(void) {
    double sum = 0, root = 0.21 * WIND * WIND / G / 4;
    for (int y = -128; y < 128; y++)
        for (int x = -128; x < 128; x++) sum += phillips(x * STEP, y * STEP);
    return root / sqrt(sum);
}

static int signed_of(uint32_t f, uint32_t n) {
    return f < n / 2 ? (int)f : (int)f - (int)n;
}

/* A wave at the beginning: two normal numbers, the same on every grid (Box and Muller's, from a
 * hash), times its size. */
static void h0_of(double to[2], int x, int y, double scale) {
    uint64_t h = (uint64_t)(x + 65536) << 32 | (uint32_t)(y + 65536);
    double u[2], a = scale * sqrt(phillips(x * STEP, y * STEP) / 2);
    for (int i = 0; i < 2; i++) u[i] = ((double)(random_next(&h) >> 11) + 0.5) * 0x1p-53;
    a *= sqrt(-2 * log(u[0]));
    to[0] = a * cos(2 * M_PI * u[1]);
    to[1] = a * sin(2 * M_PI * u[1]);
}

/* Enters the waves, and their turns of a frame. */
static void ocean_fill(ocean *o) {
    uint32_t n = o->n;
    double scale = amplitude() * (double)n * n, here[2], there[2];
    for (uint32_t fy = 0; fy < n; fy++)
        for (uint32_t fx = 0; fx < n; fx++) {
            int x = signed_of(fx, n), y = signed_of(fy, n);
            size_t i = (size_t)fy * n + fx;
            o->turns[i] = (uint32_t)(sqrt(G * STEP * hypot(x, y)) * LOOP_SECONDS / (2 * M_PI));
            /* The wave of n / 2 has no mirror image on the grid, and so no real field. */
            if (2 * x == -(int)n || 2 * y == -(int)n) continue;
            h0_of(here, x, y, scale);
            h0_of(there, -x, -y, scale);
            o->wave[i][0] = (float)here[0], o->wave[i][1] = (float)here[1];
            o->wave[i][2] = (float)there[0], o->wave[i][3] = (float)-there[1];
        }
}

/* Sets the four spectra of one wave, conjugated: the transform that follows goes forward, and the
 * inverse is the conjugate of that. */
static void spectra_of(ocean *o, size_t i) {
    double kx = STEP * signed_of((uint32_t)(i % o->n), o->n), c, s;
    double ky = STEP * signed_of((uint32_t)(i / o->n), o->n), k = hypot(kx, ky);
    double ux = k > 0 ? kx / k : 0, uy = k > 0 ? ky / k : 0;
    const float *w = o->wave[i];
    steady_root((uint64_t)o->turns[i] * o->frame, OCEAN_LOOP, &c, &s);
    s = -s; /* exp(+i ...) */
    double a = (double)w[0], b = (double)w[1], p = (double)w[2], q = (double)w[3];
    double re = a * c - b * s + p * c + q * s, im = a * s + b * c + q * c - p * s;
    const double factor[OCEAN_IMAGES][2] = {{1, kx * uy}, {uy, -ux}, {-ky, kx}, {kx * ux, ky * uy}};
    for (int f = 0; f < OCEAN_IMAGES; f++) {
        o->image[f][2 * i] = re * factor[f][0] - im * factor[f][1];
        o->image[f][2 * i + 1] = -(re * factor[f][1] + im * factor[f][0]);
    }
}

bool ocean_make(ocean *o, uint32_t n, uint32_t frame, err *e) {
    size_t count = (size_t)n * n;
    o->n = n;
    o->frame = frame;
    o->wave = mem_new(count, sizeof *o->wave, "waves", e);
    o->turns = mem_new(count, sizeof *o->turns, "turns of waves", e);
    if (!o->wave || !o->turns) return false;
    for (int f = 0; f < OCEAN_IMAGES; f++)
        if (!(o->image[f] = mem_raw(count, 2 * sizeof(double), "fields", e))) return false;
    ocean_fill(o);
    for (size_t i = 0; i < count; i++) spectra_of(o, i);
    for (int f = 0; f < OCEAN_IMAGES; f++) {
        double *image = o->image[f];
        if (!lab_transform_double(image, n, e)) return false;
        for (size_t i = 0; i < count; i++)
            image[2 * i] /= (double)count, image[2 * i + 1] /= -(double)count;
    }
    return true;
}

void ocean_free(ocean *o) {
    for (int f = 0; f < OCEAN_IMAGES; f++) mem_free(o->image[f]);
    mem_free(o->wave);
    mem_free(o->turns);
    *o = (ocean){0};
}

/* --- the same on a GPU ------------------------------------------------------------------------ */

enum { GROUP = 64 }; /* threads of a workgroup */

bool ocean_program(lab_program *p, uint32_t where[OCEAN_IMAGES], err *e) {
    uint32_t n = p->n, evolve = 2 * OCEAN_IMAGES, *frequency;
    uint64_t count = (uint64_t)n * n;
    p->steps[LAB_FORWARD] = 0;
    for (uint32_t i = p->steps[LAB_BACKWARD]++; i > 0; i--) {
        p->step[LAB_BACKWARD][i] = p->step[LAB_BACKWARD][i - 1];
        p->step[LAB_BACKWARD][i].several = OCEAN_IMAGES;
    }
    p->step[LAB_BACKWARD][0] = (lab_step){.shader = lab_add_shader(p, LAB_OCEAN),
                                          .set = evolve,
                                          .by_frame = true,
                                          .groups = {ceil_div_u32(n, GROUP), n, 1}};
    lab_add_constant(p, ID_THREADS, GROUP);
    lab_add_constant(p, ID_LENGTH, n);
    where[0] = LAB_A;
    for (uint32_t i = 1; i < OCEAN_IMAGES; i++) {
        where[i] = lab_add_buffer(p, count * sizeof(lab_complex), NULL);
        uint32_t pair[] = {where[i], lab_add_buffer(p, count * sizeof(lab_complex), NULL)};
        for (uint32_t back = 0; back < 2; back++) {
            uint32_t *set = memcpy(p->set[2 * i + back], p->set[back], sizeof p->set[0]);
            set[LAB_FROM] = pair[back];
            set[LAB_TO] = pair[1 - back];
        }
    }
    if (!(frequency = mem_raw(n, sizeof *frequency, "frequencies", e))) return false;
    for (uint32_t i = 0; i < n; i++) frequency[i] = p->frequency ? p->frequency[i] : i;
    float *roots = lab_roots(OCEAN_LOOP, e); /* made positive: exp(+2 pi i m / OCEAN_LOOP) */
    for (uint32_t m = 1; roots && m < 2 * OCEAN_LOOP; m += 2) roots[m] = -roots[m];
    p->sets = evolve + 1;
    p->bindings = OCEAN_BINDINGS;
    uint32_t *set = p->set[evolve];
    set[OCEAN_WAVES] = lab_add_buffer(p, count * 4 * sizeof(float), NULL);
    set[OCEAN_TURNS] = lab_add_buffer(p, count * sizeof(uint32_t), NULL);
    set[OCEAN_ROOTS] = lab_add_buffer(p, OCEAN_LOOP * sizeof(lab_complex), roots);
    set[OCEAN_FREQUENCY] = lab_add_buffer(p, n * sizeof *frequency, frequency);
    for (uint32_t i = 0; i < OCEAN_IMAGES; i++) set[OCEAN_IMAGE + i] = where[i];
    return roots != NULL;
}
