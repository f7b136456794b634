#include "ofx/controls.h"

#include <math.h>
#include <string.h>

/* --- choices ---------------------------------------------------------------------------------- */

typedef struct {
    const char *label, *word;
} choice;

/* tests/cli/ofx.bats compares the words with the files in kernels/. */
static const choice KERNEL[] = {{"From the file below", ""},
                                {"Lens at night", "lens-night"},
                                {"Portrait lens", "portrait"},
                                {"Vintage lens", "vintage"},
                                {"Sun star", "sunstar"},
                                {"Anamorphic", "anamorphic"},
                                {"Halation of film", "halation"},
                                {"Mist 1/8", "mist-8"},
                                {"Mist 1/4", "mist-4"},
                                {"Mist 1/2", "mist-2"},
                                {"Mist 1", "mist-1"},
                                {"Star, four points", "cross"},
                                {"Star, six points", "star-six"},
                                {"Dirty glass", "dirty-glass"},
                                {"Eye at night", "eye-night"},
                                {"Telescope", "telescope"},
                                {"Space telescope", "space-telescope"}},
                    PADDING[] = {{"Mirror", ""}, {"Black", ""}, {"Edge", ""}, {"Wrap", ""}},
                    SHOW[] = {{"Result", ""}, {"Glare alone", ""}, {"What glares", ""}},
                    SPACE[] = {{"Linear; 8 and 16 bits sRGB", NULL},
                               {"Linear", "linear"},
                               {"sRGB", "srgb"},
                               {"Gamma 1.8", "g18"},
                               {"Gamma 2.2", "g22"},
                               {"Gamma 2.4", "g24"},
                               {"Gamma 2.6", "g26"},
                               {"BT.709 camera", "itu709"},
                               {"ARRI LogC3", "arrilogc3"},
                               {"ARRI LogC4", "arrilogc4"},
                               {"Sony S-Log3", "slog3"},
                               {"ACEScct", "acescct"},
                               {"Panasonic V-Log", "vlog"},
                               {"RED Log3G10", "redlog3g10"},
                               {"Cineon", "cineon"}},
                    QUALITY[] = {{"Draft", ""}, {"Normal", ""}, {"Fine", ""}, {"Reference", ""}},
                    DEVICE[] = {{"Automatic", ""}, {"Processor", ""}, {"Graphics card", ""}};
static const double TOLERANCE[] = {1e-2, 1e-3, 1e-4, 1e-5};

/* --- the table -------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *label, *type, *hint;
    double preset, min, max, shown; /* of numbers; shown: as far as a slider goes */
    const choice *choices;
    int count;
} control;

#define NUMBER(is, least, most, far) .preset = is, .min = least, .max = most, .shown = far
#define CHOICES(list)                .choices = list, .count = sizeof list / sizeof list[0]

enum {
    K_KERNEL,
    K_FILE,
    K_AMOUNT,
    K_SIZE,
    K_TURN,
    K_TINT,
    K_THRESHOLD,
    K_KNEE,
    K_PADDING,
    K_GROW,
    K_ALPHA,
    K_SHOW,
    K_SPACE,
    K_QUALITY,
    K_DEVICE,
    K_COUNT
};
static const control CONTROL[K_COUNT] = {
    [K_KERNEL] = {"kernel", "Kernel", OFX_TYPE_CHOICE,
                  "What a point of light looks like through the lens or filter.", 1,
                  CHOICES(KERNEL)},
    [K_FILE] = {"kernelFile", "Kernel file", OFX_TYPE_STRING,
                "An image of a point of light (EXR, PFM, HDR or PNG), a recipe (JSON) or a "
                ".spectrum file, where Kernel says so.",
                .preset = 0},
    [K_AMOUNT] = {"amount", "Amount", OFX_TYPE_DOUBLE,
                  "The share of the light that the kernel spreads. 1 is the lens itself.",
                  NUMBER(1, 0, 1, 1)},
    [K_SIZE] = {"size", "Size", OFX_TYPE_DOUBLE,
                "The size of the kernel. 1 is one tap of it for each pixel of a full frame; "
                "proxies follow.",
                NUMBER(1, 0.02, 50, 4)},
    [K_TURN] = {"turn", "Turn", OFX_TYPE_DOUBLE, "Turns the kernel clockwise, in degrees.",
                NUMBER(0, -360, 360, 180)},
    [K_TINT] = {"tint", "Tint", OFX_TYPE_RGB, "Colours the glare.", NUMBER(1, 0, 1000, 1)},
    [K_THRESHOLD] = {"threshold", "Threshold", OFX_TYPE_DOUBLE,
                     "Only light above this value glares. 0: all light does, as in a lens.",
                     NUMBER(0, 0, 1e6, 4)},
    [K_KNEE] = {"knee", "Knee", OFX_TYPE_DOUBLE, "How softly the threshold begins.",
                NUMBER(0, 0, 1e6, 1)},
    [K_PADDING] = {"padding", "Padding", OFX_TYPE_CHOICE, "What is beyond the frame.", 0,
                   CHOICES(PADDING)},
    [K_GROW] = {"grow", "Grow", OFX_TYPE_BOOLEAN,
                "Keeps the glare that falls beyond the frame; padding is black then.", .preset = 0},
    [K_ALPHA] = {"spreadAlpha", "Spread alpha", OFX_TYPE_BOOLEAN,
                 "Spreads alpha as light is. Otherwise alpha stays as it is, and glare over "
                 "nothing is added to what lies behind.",
                 .preset = 0},
    [K_SHOW] = {"show", "Show", OFX_TYPE_CHOICE,
                "The result, the light that the kernel moves, or the light that it is given.", 0,
                CHOICES(SHOW)},
    [K_SPACE] = {"space", "Space", OFX_TYPE_CHOICE,
                 "How the pixels code light. They are decoded before and coded again after.", 0,
                 CHOICES(SPACE)},
    [K_QUALITY] = {"quality", "Quality", OFX_TYPE_CHOICE,
                   "How far a pixel may be off: 1 %, 0.1 %, 0.01 % or 0.001 %.", 1,
                   CHOICES(QUALITY)},
    [K_DEVICE] = {"device", "Device", OFX_TYPE_CHOICE, "Where the work is done.", 0,
                  CHOICES(DEVICE)},
};

/* --- defining --------------------------------------------------------------------------------- */

static void put_limits(ofx_properties p, const control *c, int values) {
    const double preset[] = {c->preset, c->preset, c->preset}, min[] = {c->min, c->min, c->min},
                 max[] = {c->max, c->max, c->max}, shown[] = {c->shown, c->shown, c->shown},
                 least[] = {c->min < 0 ? -c->shown : 0, 0, 0};
    fx_put_doubles(p, OFX_PRESET, values, preset);
    fx_put_doubles(p, OFX_MIN, values, min);
    fx_put_doubles(p, OFX_MAX, values, max);
    fx_put_doubles(p, OFX_SHOWN_MIN, values, least);
    fx_put_doubles(p, OFX_SHOWN_MAX, values, shown);
}

bool controls_define(ofx_params to) {
    for (const control *c = CONTROL; c < CONTROL + K_COUNT; c++) {
        ofx_properties p;
        if (fx.param->define(to, c->type, c->name, &p) != OFX_OK) return false;
        fx_put_string(p, OFX_LABEL, 0, c->label);
        fx_put_string(p, OFX_HINT, 0, c->hint);
        if (strcmp(c->type, OFX_TYPE_STRING) == 0) {
            fx_put_string(p, OFX_STRING_MODE, 0, OFX_FILE_PATH);
        } else if (strcmp(c->type, OFX_TYPE_DOUBLE) == 0) {
            put_limits(p, c, 1);
        } else if (strcmp(c->type, OFX_TYPE_RGB) == 0) {
            put_limits(p, c, 3);
        } else {
            fx_put_int(p, OFX_PRESET, (int)c->preset);
            for (int i = 0; i < c->count; i++) fx_put_string(p, OFX_OPTION, i, c->choices[i].label);
        }
    }
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

static ofx_param_handle find(ofx_params from, int which) {
    ofx_param_handle p = NULL;
    return fx.param->handle(from, CONTROL[which].name, &p, NULL) == OFX_OK ? p : NULL;
}

/* Brings a number within the limits of its control; NaN becomes its preset. */
static double limited(const control *c, double v) {
    return isnan(v) ? c->preset : fmin(fmax(v, c->min), c->max);
}

static double number(ofx_params from, int which, ofx_time t) {
    double v;
    ofx_param_handle p = find(from, which);
    const bool got = p && fx.param->value_at(p, t, &v) == OFX_OK;
    return limited(&CONTROL[which], got ? v : CONTROL[which].preset);
}

/* Returns the number of a choice, or its preset where a later version has more of them. */
static int chosen(ofx_params from, int which, ofx_time t) {
    const control *c = &CONTROL[which];
    int v;
    ofx_param_handle p = find(from, which);
    const bool got = p && fx.param->value_at(p, t, &v) == OFX_OK;
    const int count = c->count ? c->count : 2;
    return got && v >= 0 && v < count ? v : (int)c->preset;
}

/* Black means no glare, and all zeros no tint (fftbloom.h). */
static void read_tint(double to[3], ofx_params from, ofx_time t) {
    static const double NONE = 1e-9;
    double v[3] = {1, 1, 1};
    ofx_param_handle p = find(from, K_TINT);
    const bool got = p && fx.param->value_at(p, t, &v[0], &v[1], &v[2]) == OFX_OK;
    for (int i = 0; i < 3; i++) to[i] = got ? fmax(limited(&CONTROL[K_TINT], v[i]), NONE) : 1;
    if (to[0] == 1 && to[1] == 1 && to[2] == 1) to[0] = to[1] = to[2] = 0;
}

static void read_kernel(controls *to, ofx_params from, ofx_time t) {
    const int which = chosen(from, K_KERNEL, t);
    const char *name = KERNEL[which].word;
    char *path = NULL;
    ofx_param_handle p = find(from, K_FILE);
    to->file = which == 0;
    if (to->file && p && fx.param->value_at(p, t, &path) == OFX_OK && path) name = path;
    const size_t n = strlen(name) < CONTROLS_PATH ? strlen(name) : 0;
    memcpy(to->kernel, name, n);
}

void controls_read(controls *to, ofx_params from, ofx_time t) {
    memset(to, 0, sizeof *to); /* keys are compared by their bytes */
    fb_settings_init(&to->set, sizeof to->set);
    to->grow = chosen(from, K_GROW, t);
    to->show = (controls_show)chosen(from, K_SHOW, t);
    to->device = (controls_device)chosen(from, K_DEVICE, t);
    to->space = SPACE[chosen(from, K_SPACE, t)].word;
    to->set.amount = number(from, K_AMOUNT, t);
    to->set.kernel_scale = number(from, K_SIZE, t);
    to->set.kernel_turn = number(from, K_TURN, t);
    to->set.threshold = number(from, K_THRESHOLD, t);
    to->set.knee = number(from, K_KNEE, t);
    to->set.tolerance = TOLERANCE[chosen(from, K_QUALITY, t)];
    to->set.padding_x = to->set.padding_y =
        to->grow ? FB_PADDING_ZERO
                 : (int32_t[]){FB_PADDING_MIRROR, FB_PADDING_ZERO, FB_PADDING_CLAMP,
                               FB_PADDING_WRAP}[chosen(from, K_PADDING, t)];
    to->set.nan = FB_NAN_INTERPOLATE;
    to->set.alpha = chosen(from, K_ALPHA, t) ? FB_ALPHA_CONVOLVE : FB_ALPHA_KEEP;
    to->set.emit = to->show == SHOW_GLARE    ? FB_EMIT_GLARE
                   : to->show == SHOW_SOURCE ? FB_EMIT_SOURCE
                                             : FB_EMIT_NONE;
    read_tint(to->set.tint, from, t);
    read_kernel(to, from, t);
}

bool controls_do_nothing(const controls *c) {
    return c->set.amount == 0 && c->show == SHOW_RESULT;
}
