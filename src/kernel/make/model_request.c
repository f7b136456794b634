/* What a model is asked for: names, numbers and units, and what they are in pixels. */
#include "base/mem.h"
#include "base/steady.h"
#include "base/text.h"
#include "kernel/make/model.h"

const model_parameter MODEL_SETUP[MODEL_SETUPS] = {
    {"fnumber", 0, 0.5, 1000, "of the lens", MODEL_NUMBER},
    {"pitch", 0, 1e-3, 1000, "micrometres of the sensor that a pixel covers", MODEL_NUMBER},
    {"hfov", 0, 0.01, 179, "horizontal field of view, in degrees", MODEL_NUMBER},
    {"focal", 0, 0.1, 1e5, "length of the lens, in millimetres", MODEL_NUMBER},
    {"sensor", 0, 0.1, 1000, "its width, in millimetres", MODEL_NUMBER},
    {"width", 0, 1, 1e6, "of the image, in pixels", MODEL_WHOLE},
    {"wavelength", 0, LAMP_VIOLET, LAMP_RED, "of a laser, in nanometres", MODEL_NUMBER},
};

model_request model_defaults(const model *m) {
    model_request r = {
        .of = m, .w = 256, .h = 256, .fade = 1, .light = &LAMPS[0], .colours = &PRIMARIES_TABLE[0]};
    for (int i = 0; i < model_parameters(m); i++) {
        r.value[i] = m->parameter[i].preset;
        if (m->parameter[i].kind == MODEL_FILM) r.unit[i] = UNIT_UM;
    }
    return r;
}

static bool is_length(model_kind k) {
    return k == MODEL_LENGTH || k == MODEL_FILM || k == MODEL_RING;
}

/* Returns whether what is common to all models has an effect on this one. */
static bool has_effect(const model *m, const char *name) {
    bool rings = false, lengths = false,
         coloured = m->spectrum == MODEL_DIFFRACTS || m->spectrum == MODEL_COLORED;
    for (int i = 0; i < model_parameters(m); i++) {
        rings |= m->parameter[i].kind == MODEL_RING;
        lengths |= is_length(m->parameter[i].kind) || m->parameter[i].kind == MODEL_VIEW;
    }
    if (strcmp(name, "fnumber") == 0) return rings;
    if (text_glob_any("light,primaries,wavelength", name)) return coloured;
    return text_glob_any("pitch,hfov,focal,sensor,width", name) && lengths;
}

bool model_takes(const model *m, const char *name) {
    for (int i = 0; i < model_parameters(m); i++)
        if (strcmp(m->parameter[i].name, name) == 0) return true;
    return has_effect(m, name);
}

bool model_no_such(const char *no, const char *name, const char *are, const char *const *names,
                   int count, err *e) {
    char meant[TEXT_MEANT];
    OWN(text) known = {0};
    for (int i = 0; i < count; i++) text_add(&known, "%s%s", i ? ", " : "", names[i]);
    if (*text_meant(meant, name, names, count, '\''))
        return err_set(e, ERR_USAGE, "%s '%s'%s", no, name, meant);
    return err_set(e, ERR_USAGE, "%s '%s'; %s %s", no, name, are, known.s);
}

static bool no_such(const model *m, const char *name, const char *value, err *e) {
    const char *names[MODEL_NAMES];
    OWN(text) known = {0};
    int own = model_parameters(m), count = own;
    for (int i = 0; i < own; i++) {
        names[i] = m->parameter[i].name;
        text_add(&known, "%s%s", i ? ", " : "", names[i]);
    }
    for (int i = 0; i < MODEL_SETUPS; i++)
        if (has_effect(m, MODEL_SETUP[i].name)) names[count++] = MODEL_SETUP[i].name;
    if (has_effect(m, "light")) names[count++] = "light", names[count++] = "primaries";
    int near = text_nearest(name, names, count);
    if (!value)
        return err_set(e, ERR_USAGE,
                       "--param '%s' has no value; write NAME=VALUE, for example %s=%g", name,
                       names[0], m->parameter[0].preset);
    if (near >= 0)
        return err_set(e, ERR_USAGE, "model %s has no parameter '%s'; did you mean '%s'?", m->name,
                       name, names[near]);
    return err_set(e, ERR_USAGE, "model %s has no parameter '%s'; it has %s", m->name, name,
                   known.s);
}

static int read_unit(const model_parameter *p, const char *word) {
    static const char *const UNIT[] = {"", "um", "deg", "w"};
    for (int i = 0; is_length(p->kind) && i < 4; i++)
        if (strcmp(word, UNIT[i]) == 0)
            return i == UNIT_PLAIN && p->kind == MODEL_FILM ? UNIT_UM : i;
    if (is_length(p->kind)) return strcmp(word, "px") == 0 ? UNIT_PLAIN : -1;
    bool own = (strcmp(p->name, "pitch") == 0 && strcmp(word, "um") == 0) ||
               ((strcmp(p->name, "focal") == 0 || strcmp(p->name, "sensor") == 0) &&
                strcmp(word, "mm") == 0) ||
               (strcmp(p->name, "wavelength") == 0 && strcmp(word, "nm") == 0);
    return !*word || own ? UNIT_PLAIN : -1;
}

static bool set_number(const model_parameter *p, const model *m, const char *from, double *value,
                       model_unit *unit, err *e) {
    double v = NAN;
    const char *end = text_leading(from, &v);
    int u = end ? read_unit(p, end) : -1;
    /* A range in pixels says nothing about micrometres; model_resolve looks at the result. */
    bool other = u > UNIT_PLAIN && !(p->kind == MODEL_FILM && u == UNIT_UM);
    if (u < 0 || !isfinite(v) || (other ? !(v >= 0) : !(v >= p->min && v <= p->max)) ||
        (p->kind == MODEL_WHOLE && v != floor(v)))
        return err_set(
            e, ERR_USAGE, "%s of the model %s must be a %s from %g to %g%s, not '%s'", p->name,
            m->name, p->kind == MODEL_WHOLE ? "whole number" : "number", p->min, p->max,
            is_length(p->kind) ? ", or a length such as 20um, 0.05deg or 0.002w" : "", from);
    *value = v;
    *unit = (model_unit)u;
    return true;
}

static bool set_light(model_request *r, const char *name, err *e) {
    const char *names[MODEL_NAMES];
    for (int i = 0; i < LAMP_COUNT; i++) {
        names[i] = LAMPS[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        r->light = &LAMPS[i];
        return true;
    }
    return model_no_such("there is no light", name, "there are", names, LAMP_COUNT, e);
}

bool model_set(model_request *r, const char *name, const char *value, err *e) {
    for (int i = 0; value && i < model_parameters(r->of); i++)
        if (strcmp(r->of->parameter[i].name, name) == 0)
            return r->given[i] =
                       set_number(&r->of->parameter[i], r->of, value, &r->value[i], &r->unit[i], e);
    if (!value || !has_effect(r->of, name)) return no_such(r->of, name, value, e);
    if (strcmp(name, "light") == 0) return set_light(r, value, e);
    if (strcmp(name, "primaries") == 0) {
        const primaries_row *row = primaries_find(value);
        if (row) r->colours = row;
        return row || err_set(e, ERR_USAGE,
                              "unknown primaries '%s'; docs/colour.md lists the names", value);
    }
    model_unit unit;
    for (int i = 0; i < MODEL_SETUPS; i++)
        if (strcmp(MODEL_SETUP[i].name, name) == 0)
            return set_number(&MODEL_SETUP[i], r->of, value, &r->setup[i], &unit, e);
    return no_such(r->of, name, value, e);
}

static const double FILM_PITCH = 12; /* of a frame of Super 35 in 2K */

static double tangent(double degrees) {
    double a = degrees * STEADY_PI / 180;
    return steady_sin(a) / steady_cos(a);
}

/* Returns micrometres per pixel, or 0 where the camera is not known well enough. */
static double find_pitch(const double *s) {
    if (s[SETUP_PITCH] > 0) return s[SETUP_PITCH];
    double sensor = s[SETUP_SENSOR];
    if (!(sensor > 0)) sensor = 2 * s[SETUP_FOCAL] * tangent(s[SETUP_HFOV] / 2);
    return s[SETUP_WIDTH] > 0 ? 1000 * sensor / s[SETUP_WIDTH] : 0;
}

/* Returns the degrees that the pixel in the middle covers, or 0. */
static double find_view(const double *s) {
    double wide = 0;
    if (s[SETUP_HFOV] > 0 && s[SETUP_WIDTH] > 0)
        wide = 2 * tangent(s[SETUP_HFOV] / 2) / s[SETUP_WIDTH];
    else if (s[SETUP_FOCAL] > 0)
        wide = find_pitch(s) / 1000 / s[SETUP_FOCAL];
    return wide * 180 / STEADY_PI;
}

static bool resolve_length(double *to, const model_request *r, int i, err *e) {
    const model_parameter *p = &r->of->parameter[i];
    double pitch = find_pitch(r->setup), view = find_view(r->setup), v = r->value[i];
    if (p->kind == MODEL_FILM && r->unit[i] == UNIT_UM && !(pitch > 0)) pitch = FILM_PITCH;
    double per[] = {[UNIT_PLAIN] = 1,
                    [UNIT_UM] = pitch > 0 ? 1 / pitch : 0,
                    [UNIT_DEG] = view > 0 ? 1 / view : 0,
                    [UNIT_WIDTH] = r->setup[SETUP_WIDTH]};
    static const char *const NEEDS[] = {
        "", "pitch=, or sensor= and width=", "hfov= and width=, or focal= and pitch=", "width="};
    if (per[r->unit[i]] == 0)
        return err_set(e, ERR_USAGE, "%s of the model %s: converting it to pixels needs %s",
                       p->name, r->of->name, NEEDS[r->unit[i]]);
    *to = v * per[r->unit[i]];
    /* What is too small to matter may be so. */
    double high = p->kind == MODEL_FILM ? MODEL_SIDE : p->max;
    if (*to > high)
        return err_set(e, ERR_USAGE, "%s of the model %s is %.4g pixels; the maximum is %g",
                       p->name, r->of->name, *to, high);
    if (p->kind != MODEL_FILM) *to = fmax(*to, p->min);
    return true;
}

void model_scale(model_request *r, double scale) {
    double *s = r->setup;
    for (int i = 0; i < model_parameters(r->of); i++) {
        model_kind kind = r->of->parameter[i].kind;
        if (kind == MODEL_FILM && r->unit[i] == UNIT_UM && !(find_pitch(s) > 0))
            s[SETUP_PITCH] = FILM_PITCH;
        if (is_length(kind) && r->unit[i] == UNIT_PLAIN) r->value[i] *= scale;
        if (kind == MODEL_VIEW) r->value[i] /= scale;
    }
    s[SETUP_PITCH] /= scale, s[SETUP_WIDTH] *= scale;
}

bool model_resolve(double to[MODEL_PARAMETERS], const model_request *r, err *e) {
    memcpy(to, r->value, sizeof r->value);
    for (int i = 0; i < model_parameters(r->of); i++) {
        const model_parameter *p = &r->of->parameter[i];
        /* A picture of an opening is used as it is. */
        if (r->mask && !r->given[i] && strcmp(p->name, "turn") == 0) to[i] = 0;
        if (p->kind == MODEL_VIEW && !r->given[i] && find_view(r->setup) > 0)
            to[i] = clamp_double(find_view(r->setup), p->min, p->max);
        if (is_length(p->kind) && !resolve_length(&to[i], r, i, e)) return false;
        if (p->kind != MODEL_RING || !(r->setup[SETUP_FNUMBER] > 0)) continue;
        double pitch = find_pitch(r->setup);
        if (r->given[i] || !(pitch > 0))
            return err_set(e, ERR_USAGE, "fnumber=%g %s", r->setup[SETUP_FNUMBER],
                           r->given[i]
                               ? "decides the radius: give one of the two"
                               : "needs the size of a pixel: pitch=, or sensor= and width=");
        to[i] = 1.2196698912665045 * MODEL_GREEN / 1000 * r->setup[SETUP_FNUMBER] / pitch;
        if (to[i] > p->max)
            return err_set(e, ERR_USAGE,
                           "f/%g makes a first dark ring of %.4g pixels; the maximum is %g",
                           r->setup[SETUP_FNUMBER], to[i], p->max);
        to[i] = fmax(to[i], p->min);
    }
    if (r->of->prepare) r->of->prepare(to);
    if (r->light->power || r->light->line > 0 || r->setup[SETUP_WAVELENGTH] > 0) return true;
    return err_set(e, ERR_USAGE, "light=%s needs wavelength=, in nanometres", r->light->name);
}
