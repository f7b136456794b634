#include "kernel/make/model.h"

#include "base/steady.h"

static double bell(double (*exponential)(double), double x, double middle, double below,
                   double above) {
    double t = (x - middle) / (x < middle ? below : above);
    return exponential(-0.5 * t * t);
}

void lamp_xyz(double w, double (*e)(double), double xyz[3]) {
    xyz[0] = 1.056 * bell(e, w, 599.8, 37.9, 31.0) + 0.362 * bell(e, w, 442.0, 16.0, 26.7) -
             0.065 * bell(e, w, 501.1, 20.4, 26.2);
    xyz[1] = 0.821 * bell(e, w, 568.8, 46.9, 40.5) + 0.286 * bell(e, w, 530.9, 16.3, 31.1);
    xyz[2] = 1.217 * bell(e, w, 437.0, 11.8, 36.0) + 0.681 * bell(e, w, 459.0, 26.0, 13.8);
}

/* The CIE's standard illuminant D65, every 10 nm from 380. */
static double daylight(double w) {
    static const double D65[] = {49.9755, 54.6482, 82.7549, 91.4860, 93.4318, 86.6823, 104.865,
                                 117.008, 117.812, 114.861, 115.923, 108.811, 109.354, 107.802,
                                 104.790, 107.689, 104.405, 104.046, 100.000, 96.3342, 95.7880,
                                 88.6856, 90.0062, 89.5991, 87.6987, 83.2886, 83.6992, 80.0268,
                                 80.2146, 82.2778, 78.2842, 69.7213, 71.6091, 74.3490, 61.6040};
    enum { LAST = COUNT(D65) - 1 };
    double at = (w - 380) / 10;
    if (at <= 0) return D65[0];
    if (at >= LAST) return D65[LAST];
    int i = (int)at;
    return D65[i] + (at - i) * (D65[i + 1] - D65[i]);
}

/* The CIE's standard illuminant A: Planck's law, by the constants of its definition. */
static double tungsten(double w) {
    double t = 560 / w;
    return 100 * t * t * t * t * t * (steady_exp(1.435e7 / (2848 * 560.0)) - 1) /
           (steady_exp(1.435e7 / (2848 * w)) - 1);
}

/* A white LED of about 4000 K: a drawing of the usual shape, not a measurement. */
static double led(double w) {
    return 0.9 * bell(steady_exp, w, 452, 9, 12) + bell(steady_exp, w, 585, 65, 60);
}

static double equal(double w) {
    return 1;
}

const lamp LAMPS[] = {
    {"d65", "daylight, CIE D65", daylight, 0},
    {"tungsten", "a filament, CIE illuminant A", tungsten, 0},
    {"led", "a white LED of 4000 K", led, 0},
    {"equal", "the same power at every wavelength", equal, 0},
    {"sodium", "a sodium street lamp: one line at 589.3 nm", 0, 589.3},
    {"laser", "one line, at wavelength=", 0, 0},
};
const int LAMP_COUNT = COUNT(LAMPS);

bool lamp_tints(float (*tint)[MODEL_CHANNELS], const lamp *l, const lamp_steps *s, err *e) {
    static const double FAINT = 0.02;
    matrix to_xyz, to_rgb;
    double sum[MODEL_CHANNELS] = {0}, most = 0;
    if (!primaries_to_xyz(&to_xyz, &s->colours->gamut) || !matrix_invert(&to_rgb, &to_xyz))
        return err_set(e, ERR_CONFIG, "the primaries %s cannot be converted", s->colours->name);
    for (int pass = 0; pass < 2; pass++)
        for (int t = -s->before; t <= s->after; t++) {
            float *to = tint[t + s->before];
            double w = s->reference * steady_exp(-t * s->step), xyz[3], rgb[3];
            lamp_xyz(w, steady_exp, xyz);
            matrix_apply(rgb, &to_rgb, xyz);
            /* Steps of the logarithm are wavelength * step nanometres long. */
            double power = (l->power ? l->power(w) : 1) * w / MODEL_GREEN, wide = w / MODEL_GREEN;
            double spread = s->spreads ? 1 / (wide * wide) : 1;
            for (int c = 0; c < MODEL_CHANNELS; c++) {
                if (pass == 0) sum[c] += power * rgb[c];
                to[c] = (float)(power * spread * (sum[c] >= FAINT * most ? rgb[c] : xyz[1]));
            }
            if (pass == 0) most = fmax(sum[0], fmax(sum[1], sum[2]));
        }
    return true;
}
