#include "colour/curve.h"

#include "base/err.h"
#include "base/steady.h"

#include <strings.h>

static double same(const curve *c, double v) {
    return v;
}

/* IEC 61966-2-1. */
static double from_srgb(const curve *c, double v) {
    return v <= 0.04045 ? v / 12.92 : steady_pow((v + 0.055) / 1.055, 2.4);
}

static double to_srgb(const curve *c, double v) {
    return v <= 0.0031308 ? v * 12.92 : 1.055 * steady_pow(v, 1 / 2.4) - 0.055;
}

static double from_gamma(const curve *c, double v) {
    return copysign(steady_pow(fabs(v), c->gamma), v);
}

static double to_gamma(const curve *c, double v) {
    return copysign(steady_pow(fabs(v), 1 / c->gamma), v);
}

/* ITU-R BT.709, the curve of cameras. */
static double from_bt709(const curve *c, double v) {
    return v < 0.081 ? v / 4.5 : steady_pow((v + 0.099) / 1.099, 1 / 0.45);
}

static double to_bt709(const curve *c, double v) {
    return v < 0.018 ? v * 4.5 : 1.099 * steady_pow(v, 0.45) - 0.099;
}

/* The logarithms of cameras, with a line near black. */
static double from_log(const curve *c, double v) {
    const curve_log *k = c->log;
    return v >= k->slope * k->cut + k->foot
               ? (steady_exp((v - k->base) / k->scale * k->ln) - k->offset) / k->gain
               : (v - k->foot) / k->slope;
}

static double to_log(const curve *c, double v) {
    const curve_log *k = c->log;
    double light = k->gain * v + k->offset;
    return v >= k->cut ? k->scale * steady_log(light) / k->ln + k->base : k->slope * v + k->foot;
}

/* ARRI, "ALEXA Log C Curve: Usage in VFX" (2012): the linear scene at exposure index 800. */
static const curve_log LOGC3 = {M_LN10,   5.555556, 0.052272, 0.247190,
                                0.385537, 5.367655, 0.092809, 0.010591};
/* ARRI, "LogC4: Logarithmic Color Space" (2022). */
static const curve_log LOGC4 = {M_LN2,
                                2231.8263090676883,
                                64,
                                0.06479541963412931,
                                -0.2959083926825862,
                                8.803033210331753,
                                0.15895633652241087,
                                -0.01805699611991131};
/* Sony, "Technical Summary for S-Gamut3.Cine/S-Log3 and S-Gamut3/S-Log3": codes of 10 bits. */
static const curve_log SLOG3 = {M_LN10,       1 / 0.19,     0.01 / 0.19,
                                261.5 / 1023, 420.0 / 1023, (171.2102946929 - 95) / 0.01125 / 1023,
                                95.0 / 1023,  0.01125};
/* The Academy's S-2016-001. */
static const curve_log ACESCCT = {
    M_LN2, 1, 0, 1 / 17.52, 9.72 / 17.52, 10.5402377416545, 0.0729055341958355, 0.0078125};
/* Panasonic, "V-Log/V-Gamut Reference Manual" (2014). */
static const curve_log VLOG = {M_LN10, 1, 0.00873, 0.241514, 0.598206, 5.6, 0.125, 0.01};
/* RED, "White Paper on REDWideGamutRGB and Log3G10" (2017). */
static const curve_log LOG3G10 = {M_LN10, 155.975327, 1 + 1.55975327, 0.224282,
                                  0,      15.1927,    0.151927,       -0.01};

/* Kodak's Cineon: codes of 10 bits are densities of a negative in steps of 0.002; its gamma is 0.6.
 * Code 685 is white, 95 is black. */
static double cineon_light(double code) {
    return steady_exp((code - 685) * 0.002 / 0.6 * M_LN10);
}

static double from_cineon(const curve *c, double v) {
    double black = cineon_light(95);
    return (cineon_light(v * 1023) - black) / (1 - black);
}

/* Codes below 0 have light, too. No light has no code; the lowest that is given is -1. */
static double to_cineon(const curve *c, double v) {
    double black = cineon_light(95), light = v * (1 - black) + black;
    return (685 + steady_log10(fmax(light, cineon_light(-1023))) * 0.6 / 0.002) / 1023;
}

const curve CURVES[] = {
    {"lin", "linear", "rec709", same, same, 0, NULL},
    {"srgb", "sRGB", "rec709", from_srgb, to_srgb, 0, NULL},
    {"g18", "gamma 1.8", "rec709", from_gamma, to_gamma, 1.8, NULL},
    {"g22", "gamma 2.2", "rec709", from_gamma, to_gamma, 2.2, NULL},
    {"g24", "gamma 2.4 (BT.1886)", "rec709", from_gamma, to_gamma, 2.4, NULL},
    {"g26", "gamma 2.6", "p3d65", from_gamma, to_gamma, 2.6, NULL},
    {"itu709", "Rec.709 camera", "rec709", from_bt709, to_bt709, 0, NULL},
    {"arrilogc3", "ARRI LogC3 (EI 800)", "awg3", from_log, to_log, 0, &LOGC3},
    {"arrilogc4", "ARRI LogC4", "awg4", from_log, to_log, 0, &LOGC4},
    {"slog3", "S-Log3", "sgamut3cine", from_log, to_log, 0, &SLOG3},
    {"acescct", "ACEScct", "ap1", from_log, to_log, 0, &ACESCCT},
    {"vlog", "V-Log", "vgamut", from_log, to_log, 0, &VLOG},
    {"redlog3g10", "Log3G10", "rwg", from_log, to_log, 0, &LOG3G10},
    {"cineon", "Cineon", "rec709", from_cineon, to_cineon, 0, NULL},
    {"acescc", "ACEScc", "ap1", NULL, NULL, 0, NULL},
    {"pq", "PQ", "rec2020", NULL, NULL, 0, NULL},
    {"hlg", "HLG", "rec2020", NULL, NULL, 0, NULL},
    {"canonlog2", "Canon Log 2", NULL, NULL, NULL, 0, NULL},
    {"canonlog3", "Canon Log 3", NULL, NULL, NULL, 0, NULL},
    {"davinci", "DaVinci Intermediate", NULL, NULL, NULL, 0, NULL},
    {"bmdfilm5", "Blackmagic Film 5", NULL, NULL, NULL, 0, NULL},
    {"applelog", "Apple Log", NULL, NULL, NULL, 0, NULL},
    {"djilog", "D-Log", NULL, NULL, NULL, 0, NULL},
    {"adx10", "ADX10", NULL, NULL, NULL, 0, NULL},
    {"adx16", "ADX16", NULL, NULL, NULL, 0, NULL},
};
const int CURVE_COUNT = COUNT(CURVES);
const curve *const CURVE_LINEAR = &CURVES[0];

const curve *curve_find(const char *name) {
    for (int i = 0; i < CURVE_COUNT; i++)
        if (strcasecmp(CURVES[i].name, name) == 0) return &CURVES[i];
    return NULL;
}
