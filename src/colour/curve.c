#include "colour/curve.h"

#include <math.h>
#include <stddef.h>
#include <strings.h>

static double same(const curve *c, double v) {
    (void)c;
    return v;
}

/* IEC 61966-2-1. */
static double from_srgb(const curve *c, double v) {
    (void)c;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double to_srgb(const curve *c, double v) {
    (void)c;
    return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static double from_gamma(const curve *c, double v) {
    return copysign(pow(fabs(v), c->gamma), v);
}

static double to_gamma(const curve *c, double v) {
    return copysign(pow(fabs(v), 1 / c->gamma), v);
}

/* ITU-R BT.709, the curve of cameras. */
static double from_bt709(const curve *c, double v) {
    (void)c;
    return v < 0.081 ? v / 4.5 : pow((v + 0.099) / 1.099, 1 / 0.45);
}

static double to_bt709(const curve *c, double v) {
    (void)c;
    return v < 0.018 ? v * 4.5 : 1.099 * pow(v, 0.45) - 0.099;
}

/* ARRI, "ALEXA Log C Curve: Usage in VFX" (2012): the linear scene at exposure index 800. */
enum { LOGC3_A, LOGC3_B, LOGC3_C, LOGC3_D, LOGC3_E, LOGC3_F, LOGC3_CUT };
static const double LOGC3[] = {5.555556, 0.052272, 0.247190, 0.385537,
                               5.367655, 0.092809, 0.010591};

static double from_logc3(const curve *c, double v) {
    const double *k = LOGC3;
    (void)c;
    return v > k[LOGC3_E] * k[LOGC3_CUT] + k[LOGC3_F]
               ? (pow(10, (v - k[LOGC3_D]) / k[LOGC3_C]) - k[LOGC3_B]) / k[LOGC3_A]
               : (v - k[LOGC3_F]) / k[LOGC3_E];
}

static double to_logc3(const curve *c, double v) {
    const double *k = LOGC3;
    (void)c;
    return v > k[LOGC3_CUT] ? k[LOGC3_C] * log10(k[LOGC3_A] * v + k[LOGC3_B]) + k[LOGC3_D]
                            : k[LOGC3_E] * v + k[LOGC3_F];
}

/* ARRI, "LogC4: Logarithmic Color Space" (2022). Below `t` it is a line of slope 1 / s. */
typedef struct {
    double a, b, c, s, t;
} logc4;

static logc4 logc4_numbers(void) {
    logc4 k = {.a = (pow(2, 18) - 16) / 117.45, .b = (1023.0 - 95) / 1023, .c = 95.0 / 1023};
    k.s = 7 * log(2) * pow(2, 7 - 14 * k.c / k.b) / (k.a * k.b);
    k.t = (pow(2, 14 * (-k.c / k.b) + 6) - 64) / k.a;
    return k;
}

static double from_logc4(const curve *c, double v) {
    const logc4 k = logc4_numbers();
    (void)c;
    return v >= 0 ? (pow(2, 14 * (v - k.c) / k.b + 6) - 64) / k.a : v * k.s + k.t;
}

static double to_logc4(const curve *c, double v) {
    const logc4 k = logc4_numbers();
    (void)c;
    return v >= k.t ? (log2(k.a * v + 64) - 6) / 14 * k.b + k.c : (v - k.t) / k.s;
}

/* Sony, "Technical Summary for S-Gamut3.Cine/S-Log3 and S-Gamut3/S-Log3": in codes of 10 bits. */
static const double SLOG3_LINE = (171.2102946929 - 95) / 0.01125;

static double from_slog3(const curve *c, double v) {
    (void)c;
    double code = v * 1023;
    return code >= 171.2102946929 ? pow(10, (code - 420) / 261.5) * 0.19 - 0.01
                                  : (code - 95) / SLOG3_LINE;
}

static double to_slog3(const curve *c, double v) {
    (void)c;
    double code = v >= 0.01125 ? 420 + log10((v + 0.01) / 0.19) * 261.5 : v * SLOG3_LINE + 95;
    return code / 1023;
}

/* The Academy's S-2016-001. */
static double from_acescct(const curve *c, double v) {
    (void)c;
    return v > 0.155251141552511 ? pow(2, v * 17.52 - 9.72)
                                 : (v - 0.0729055341958355) / 10.5402377416545;
}

static double to_acescct(const curve *c, double v) {
    (void)c;
    return v > 0.0078125 ? (log2(v) + 9.72) / 17.52 : 10.5402377416545 * v + 0.0729055341958355;
}

/* Panasonic, "V-Log/V-Gamut Reference Manual" (2014). */
static double from_vlog(const curve *c, double v) {
    (void)c;
    return v < 0.181 ? (v - 0.125) / 5.6 : pow(10, (v - 0.598206) / 0.241514) - 0.00873;
}

static double to_vlog(const curve *c, double v) {
    (void)c;
    return v < 0.01 ? 5.6 * v + 0.125 : 0.241514 * log10(v + 0.00873) + 0.598206;
}

/* RED, "White Paper on REDWideGamutRGB and Log3G10" (2017). */
static double from_log3g10(const curve *c, double v) {
    (void)c;
    return (v < 0 ? v / 15.1927 : (pow(10, v / 0.224282) - 1) / 155.975327) - 0.01;
}

static double to_log3g10(const curve *c, double v) {
    (void)c;
    return v < -0.01 ? (v + 0.01) * 15.1927 : 0.224282 * log10((v + 0.01) * 155.975327 + 1);
}

/* Kodak's Cineon: codes of 10 bits are densities of a negative in steps of 0.002; its gamma is 0.6.
 * Code 685 is white, 95 is black. */
static double cineon_light(double code) {
    return pow(10, (code - 685) * 0.002 / 0.6);
}

static double from_cineon(const curve *c, double v) {
    (void)c;
    double black = cineon_light(95);
    return (cineon_light(v * 1023) - black) / (1 - black);
}

/* Codes below 0 have light, too, so that they come back. No light at all has no code; the lowest
 * that is given is -1. */
static double to_cineon(const curve *c, double v) {
    (void)c;
    double black = cineon_light(95), light = v * (1 - black) + black;
    return (685 + log10(fmax(light, cineon_light(-1023))) * 0.6 / 0.002) / 1023;
}

const curve CURVES[] = {
    {"lin", "linear", "rec709", same, same, 0},
    {"srgb", "sRGB", "rec709", from_srgb, to_srgb, 0},
    {"g18", "gamma 1.8", "rec709", from_gamma, to_gamma, 1.8},
    {"g22", "gamma 2.2", "rec709", from_gamma, to_gamma, 2.2},
    {"g24", "gamma 2.4 (BT.1886)", "rec709", from_gamma, to_gamma, 2.4},
    {"g26", "gamma 2.6", "p3d65", from_gamma, to_gamma, 2.6},
    {"itu709", "Rec.709 camera", "rec709", from_bt709, to_bt709, 0},
    {"arrilogc3", "ARRI LogC3 (EI 800)", "awg3", from_logc3, to_logc3, 0},
    {"arrilogc4", "ARRI LogC4", "awg4", from_logc4, to_logc4, 0},
    {"slog3", "S-Log3", "sgamut3cine", from_slog3, to_slog3, 0},
    {"acescct", "ACEScct", "ap1", from_acescct, to_acescct, 0},
    {"vlog", "V-Log", "vgamut", from_vlog, to_vlog, 0},
    {"redlog3g10", "Log3G10", "rwg", from_log3g10, to_log3g10, 0},
    {"cineon", "Cineon", "rec709", from_cineon, to_cineon, 0},
    {"acescc", "ACEScc", "ap1", NULL, NULL, 0},
    {"pq", "PQ", "rec2020", NULL, NULL, 0},
    {"hlg", "HLG", "rec2020", NULL, NULL, 0},
    {"canonlog2", "Canon Log 2", NULL, NULL, NULL, 0},
    {"canonlog3", "Canon Log 3", NULL, NULL, NULL, 0},
    {"davinci", "DaVinci Intermediate", NULL, NULL, NULL, 0},
    {"bmdfilm5", "Blackmagic Film 5", NULL, NULL, NULL, 0},
    {"applelog", "Apple Log", NULL, NULL, NULL, 0},
    {"djilog", "D-Log", NULL, NULL, NULL, 0},
    {"adx10", "ADX10", NULL, NULL, NULL, 0},
    {"adx16", "ADX16", NULL, NULL, NULL, 0},
};
const int CURVE_COUNT = (int)(sizeof CURVES / sizeof CURVES[0]);
const curve *const CURVE_LINEAR = &CURVES[0];

const curve *curve_find(const char *name) {
    for (int i = 0; i < CURVE_COUNT; i++)
        if (strcasecmp(CURVES[i].name, name) == 0) return &CURVES[i];
    return NULL;
}
