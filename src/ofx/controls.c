#include "ofx/controls.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* --- choices ---------------------------------------------------------------------------------- */

typedef struct {
    const char *label, *word;
} choice;

/* tests/cli/ofx.bats compares the words with the files in kernels/. Projects keep the number of a
 * choice, so new ones stand at the end. */
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
                                {"Space telescope", "space-telescope"},
                                {"Fast prime, wide open", "prime-open"},
                                {"Sun star, by the place", "sunstar-field"}},
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

/* What the controls stand at, in the order of the table. */
typedef struct {
    fb_settings set;
    double gain;
    int follow, kernel, padding, grow, alpha, show, space, quality, device;
    const char *file;
} stand;

typedef struct {
    const char *name, *label, *type, *hint;
    size_t at;                      /* in a stand */
    double preset, min, max, shown; /* shown: as far as a slider goes */
    const choice *choices;          /* the last one is at max */
} control;

#define AT(member) .at = offsetof(stand, member)
#define NUMBER(preset_of, least, most, far) \
    .preset = preset_of, .min = least, .max = most, .shown = far
#define CHOICES(list) .max = sizeof list / sizeof list[0] - 1, .choices = list
#define OFF           .max = 1

static const control CONTROL[] = {
    {"kernel", "Kernel", OFX_TYPE_CHOICE,
     "What a point of light looks like through the lens or filter.", AT(kernel), .preset = 1,
     CHOICES(KERNEL)},
    {"kernelFile", "Kernel file", OFX_TYPE_STRING,
     "An image of a point of light (EXR, PFM, HDR or PNG), a recipe (JSON), a "
     ".spectrum file, or a mix such as sunstar:0.7 + mist-4:0.3, where Kernel says so.",
     AT(file)},
    {"amount", "Amount", OFX_TYPE_DOUBLE,
     "The share of the light that the kernel spreads. 1 is the lens itself.", AT(set.amount),
     NUMBER(1, 0, 1, 1)},
    {"size", "Size", OFX_TYPE_DOUBLE,
     "The size of the kernel. 1 is one tap of it for each pixel of a full frame; "
     "proxies follow.",
     AT(set.kernel_scale), NUMBER(1, 0.02, 50, 4)},
    {"follow", "Size follows frame", OFX_TYPE_BOOLEAN,
     "Size 1 then follows the size of the frame: one tap for each pixel where that is 1920 pixels "
     "long.",
     AT(follow), OFF},
    {"turn", "Turn", OFX_TYPE_DOUBLE, "Turns the kernel clockwise, in degrees.",
     AT(set.kernel_turn), NUMBER(0, -360, 360, 180)},
    {"tint", "Tint", OFX_TYPE_RGB, "Colours the glare.", AT(set.tint), NUMBER(1, 0, 1000, 1)},
    {"gain", "Glow gain", OFX_TYPE_DOUBLE,
     "Multiplies the glare. Above 1 it adds light that no lens has.", AT(gain),
     NUMBER(1, 0, 100, 4)},
    {"threshold", "Threshold", OFX_TYPE_DOUBLE,
     "Only light above this value glares. 0: all light does, as in a lens.", AT(set.threshold),
     NUMBER(0, 0, 1e6, 4)},
    {"knee", "Knee", OFX_TYPE_DOUBLE, "How softly the threshold begins.", AT(set.knee),
     NUMBER(0, 0, 1e6, 1)},
    {"padding", "Padding", OFX_TYPE_CHOICE, "What is beyond the frame.", AT(padding),
     CHOICES(PADDING)},
    {"grow", "Grow", OFX_TYPE_BOOLEAN,
     "Keeps the glare that falls beyond the frame; padding is black then.", AT(grow), OFF},
    {"spreadAlpha", "Spread alpha", OFX_TYPE_BOOLEAN,
     "Spreads alpha as light is. Otherwise alpha stays as it is, and glare over "
     "nothing is added to what lies behind.",
     AT(alpha), OFF},
    {"show", "Show", OFX_TYPE_CHOICE,
     "The result, the light that the kernel moves, or the light that it is given.", AT(show),
     CHOICES(SHOW)},
    {"space", "Space", OFX_TYPE_CHOICE,
     "How the pixels code light. They are decoded before and coded again after.", AT(space),
     CHOICES(SPACE)},
    {"quality", "Quality", OFX_TYPE_CHOICE,
     "How far a pixel may be off: 1 %, 0.1 %, 0.01 % or 0.001 %.", AT(quality), .preset = 1,
     CHOICES(QUALITY)},
    {"device", "Device", OFX_TYPE_CHOICE, "Where the work is done.", AT(device), CHOICES(DEVICE)},
};

enum { COUNT = sizeof CONTROL / sizeof *CONTROL };

/* --- defining --------------------------------------------------------------------------------- */

static void put_numbers(ofx_properties p, const control *c, int values) {
    const struct {
        const char *name;
        double v;
    } ROW[] = {{OFX_PRESET, c->preset},
               {OFX_MIN, c->min},
               {OFX_MAX, c->max},
               {OFX_SHOWN_MIN, c->min < 0 ? -c->shown : 0},
               {OFX_SHOWN_MAX, c->shown}};
    for (int r = 0; r < 5; r++)
        for (int i = 0; i < values; i++) fx.property->set_double(p, ROW[r].name, i, ROW[r].v);
}

bool controls_define(ofx_params to) {
    for (const control *c = CONTROL; c < CONTROL + COUNT; c++) {
        ofx_properties p;
        if (fx.param->define(to, c->type, c->name, &p) != OFX_OK) return false;
        fx.property->set_string(p, OFX_LABEL, 0, c->label);
        fx.property->set_string(p, OFX_HINT, 0, c->hint);
        if (!strcmp(c->type, OFX_TYPE_STRING))
            fx.property->set_string(p, OFX_STRING_MODE, 0, OFX_FILE_PATH);
        else if (!strcmp(c->type, OFX_TYPE_DOUBLE) || !strcmp(c->type, OFX_TYPE_RGB))
            put_numbers(p, c, strcmp(c->type, OFX_TYPE_RGB) ? 1 : 3);
        else
            fx.property->set_int(p, OFX_PRESET, 0, (int)c->preset);
        for (int i = 0; c->choices && i <= (int)c->max; i++)
            fx.property->set_string(p, OFX_OPTION, i, c->choices[i].label);
    }
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads a control: a number within its limits, a choice that this version has, or the preset. */
static void read_one(stand *to, const control *c, ofx_params from, ofx_time t) {
    void *at = (char *)to + c->at;
    double *v = at;
    int *n = at;
    ofx_param_handle p = NULL;
    ofx_status status = fx.param->handle(from, c->name, &p, NULL);
    const bool tint = !strcmp(c->type, OFX_TYPE_RGB), path = !strcmp(c->type, OFX_TYPE_STRING);
    if (status == OFX_OK)
        status = tint ? fx.param->value_at(p, t, v, v + 1, v + 2) : fx.param->value_at(p, t, at);
    if (path) {
        if (status != OFX_OK || !to->file) to->file = "";
    } else if (tint || !strcmp(c->type, OFX_TYPE_DOUBLE)) {
        for (int i = 0; i < (tint ? 3 : 1); i++)
            v[i] = status != OFX_OK || isnan(v[i]) ? c->preset : fmin(fmax(v[i], c->min), c->max);
    } else if (status != OFX_OK || *n < 0 || *n > (int)c->max) {
        *n = (int)c->preset;
    }
}

void controls_read(controls *to, ofx_params from, ofx_time t) {
    static const double DARK = 1e-9; /* all zeros are no tint, and black is no glare */
    static const int32_t BORDER[] = {FB_PADDING_MIRROR, FB_PADDING_ZERO, FB_PADDING_CLAMP,
                                     FB_PADDING_WRAP},
                         EMIT[] = {FB_EMIT_NONE, FB_EMIT_GLARE, FB_EMIT_SOURCE};
    struct stat st;
    stand s;
    memset(&s, 0, sizeof s);
    fb_settings_init(&s.set, sizeof s.set);
    for (size_t i = 0; i < COUNT; i++) read_one(&s, &CONTROL[i], from, t);
    s.set.padding_x = s.set.padding_y = s.grow ? FB_PADDING_ZERO : BORDER[s.padding];
    s.set.tolerance = TOLERANCE[s.quality];
    s.set.nan = FB_NAN_INTERPOLATE;
    s.set.alpha = s.alpha ? FB_ALPHA_CONVOLVE : FB_ALPHA_KEEP;
    s.set.emit = EMIT[s.show];
    double *tint = s.set.tint;
    const bool white = tint[0] == 1 && tint[1] == 1 && tint[2] == 1 && s.gain == 1;
    for (int i = 0; i < 3; i++) tint[i] = white ? 0 : fmin(fmax(tint[i] * s.gain, DARK), 1000);
    memset(to, 0, sizeof *to);
    memcpy(&to->bloom.set, &s.set, sizeof s.set);
    to->bloom.device = (controls_device)s.device;
    to->grow = s.grow;
    to->follow = s.follow;
    to->space = SPACE[s.space].word;
    const char *name = s.kernel ? KERNEL[s.kernel].word : s.file;
    if (strlen(name) < CONTROLS_PATH) memcpy(to->bloom.kernel, name, strlen(name));
    if (!s.kernel && stat(name, &st) == 0)
        to->bloom.stamp = (int64_t)((uint64_t)st.st_mtim.tv_sec * 1000000000 +
                                    (uint64_t)st.st_mtim.tv_nsec + (uint64_t)st.st_size);
}

double controls_scale(const controls *c, double w, double h, double proxy) {
    return c->follow ? fmin(fmax(fmax(w, h) / 1920, 1.0 / 64), 4) : proxy;
}

bool controls_do_nothing(const controls *c) {
    return c->bloom.set.amount == 0 && c->bloom.set.emit == FB_EMIT_NONE;
}
