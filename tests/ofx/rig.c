#include "ofx/rig.h"

#include "base/clock.h"
#include "base/half.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- properties ------------------------------------------------------------------------------- */

/* Finds a value of a property, and adds it where that is wanted; NULL: it is not there. */
static rig_property *value(rig_set *s, const char *name, int i, bool add) {
    rig_property *p = s->is;
    while (p < s->is + s->count && strcmp(p->name, name) != 0) p++;
    if (!add) return p < s->is + s->count && i >= 0 && i < p->count ? p : NULL;
    if (p == s->is + RIG_PROPERTIES || i < 0 || i >= RIG_VALUES) abort();
    if (p == s->is + s->count) s->count++, p->name = name;
    if (i >= p->count) p->count = i + 1;
    return p;
}

void rig_put(rig_set *s, const char *name, int i, double v) {
    value(s, name, i, true)->number[i] = v;
}
void rig_put_text(rig_set *s, const char *name, int i, const char *v) {
    snprintf(value(s, name, i, true)->text[i], RIG_WORD, "%s", v);
}
double rig_get(const rig_set *s, const char *name, int i) {
    const rig_property *p = value((rig_set *)s, name, i, false);
    return p ? p->number[i] : 0;
}
const char *rig_text(const rig_set *s, const char *name, int i) {
    const rig_property *p = value((rig_set *)s, name, i, false);
    return p ? p->text[i] : "";
}

static ofx_status set_pointer(ofx_properties s, const char *name, int i, void *v) {
    value(s, name, i, true)->pointer = v;
    return OFX_OK;
}
static ofx_status set_string(ofx_properties s, const char *name, int i, const char *v) {
    rig_put_text(s, name, i, v);
    return OFX_OK;
}
static ofx_status set_double(ofx_properties s, const char *name, int i, double v) {
    rig_put(s, name, i, v);
    return OFX_OK;
}
static ofx_status set_int(ofx_properties s, const char *name, int i, int v) {
    rig_put(s, name, i, v);
    return OFX_OK;
}
static ofx_status set_strings(ofx_properties s, const char *name, int count, const char *const *v) {
    for (int i = 0; i < count; i++) rig_put_text(s, name, i, v[i]);
    return OFX_OK;
}
static ofx_status set_doubles(ofx_properties s, const char *name, int count, const double *v) {
    for (int i = 0; i < count; i++) rig_put(s, name, i, v[i]);
    return OFX_OK;
}
static ofx_status get_pointer(ofx_properties s, const char *name, int i, void **v) {
    const rig_property *p = value(s, name, i, false);
    if (p) *v = p->pointer;
    return p ? OFX_OK : OFX_UNKNOWN;
}
static ofx_status get_string(ofx_properties s, const char *name, int i, char **v) {
    rig_property *p = value(s, name, i, false);
    if (p) *v = p->text[i];
    return p ? OFX_OK : OFX_UNKNOWN;
}
static ofx_status get_doubles(ofx_properties s, const char *name, int count, double *v) {
    const rig_property *p = value(s, name, count - 1, false);
    for (int i = 0; p && i < count; i++) v[i] = p->number[i];
    return p ? OFX_OK : OFX_UNKNOWN;
}
static ofx_status get_ints(ofx_properties s, const char *name, int count, int *v) {
    const rig_property *p = value(s, name, count - 1, false);
    for (int i = 0; p && i < count; i++) v[i] = (int)p->number[i];
    return p ? OFX_OK : OFX_UNKNOWN;
}

/* --- pictures --------------------------------------------------------------------------------- */

static int sample_bytes(pic_type t) {
    return t == PIC_BYTE ? 1 : t == PIC_FLOAT ? 4 : 2;
}

pic *pic_new(ofx_rect_i at, int channels, pic_type type, int pad, bool down) {
    pic *p = calloc(1, sizeof *p);
    const int h = at.y2 - at.y1;
    const ptrdiff_t row = (at.x2 - at.x1) * channels * sample_bytes(type) + pad;
    if (!p) abort();
    *p = (pic){.at = at, .channels = channels, .type = type, .row = down ? -row : row};
    p->bytes = (size_t)(h * row - pad); /* nothing lies behind the last pixel */
    if (!(p->block = malloc(p->bytes))) abort();
    memset(p->block, 0x5a, p->bytes);
    p->data = down ? p->block + (h - 1) * row : p->block;
    return p;
}

void pic_close(pic **p) {
    if (*p) free((*p)->block);
    free(*p);
    *p = NULL;
}

static char *sample(const pic *p, int x, int y, int c) {
    return p->data + (y - p->at.y1) * p->row +
           ((x - p->at.x1) * p->channels + c) * sample_bytes(p->type);
}

double pic_get(const pic *p, int x, int y, int c) {
    const char *at = sample(p, x, y, c);
    uint16_t u;
    float f;
    if (p->type == PIC_BYTE) return (double)*(const uint8_t *)at;
    if (p->type == PIC_FLOAT) return memcpy(&f, at, 4), (double)f;
    memcpy(&u, at, 2);
    return p->type == PIC_SHORT ? u : (double)half_to_float(u);
}

void pic_put(pic *p, int x, int y, int c, double v) {
    char *at = sample(p, x, y, c);
    const uint16_t u = p->type == PIC_HALF    ? half_from_float((float)v)
                       : p->type == PIC_SHORT ? (uint16_t)v
                                              : 0;
    if (p->type == PIC_BYTE)
        *(uint8_t *)at = (uint8_t)v;
    else if (p->type == PIC_FLOAT)
        memcpy(at, &(float){(float)v}, 4);
    else
        memcpy(at, &u, 2);
}

/* --- effects, clips, images ------------------------------------------------------------------- */

static const char *const CLIP[RIG_CLIPS] = {OFX_SOURCE, OFX_OUTPUT, "Mask"};

static ofx_status effect_properties(ofx_effect_handle x, ofx_properties *p) {
    *p = &x->is;
    return OFX_OK;
}
static ofx_status effect_params(ofx_effect_handle x, ofx_params *p) {
    *p = &x->params;
    return OFX_OK;
}

static ofx_status find_clip(ofx_effect_handle x, const char *name, struct ofx_clip **to) {
    for (int i = 0; i < RIG_CLIPS; i++)
        if (strcmp(CLIP[i], name) == 0) return *to = &x->clip[i], OFX_OK;
    return OFX_UNKNOWN;
}
static ofx_status define_clip(ofx_effect_handle x, const char *name, ofx_properties *p) {
    struct ofx_clip *c;
    if (find_clip(x, name, &c) != OFX_OK) return OFX_UNSUPPORTED;
    c->defined = true;
    if (p) *p = &c->is;
    return OFX_OK;
}
static ofx_status clip_handle(ofx_effect_handle x, const char *name, ofx_clip_handle *to,
                              ofx_properties *p) {
    struct ofx_clip *c;
    if (find_clip(x, name, &c) != OFX_OK || !c->defined) return OFX_UNKNOWN;
    *to = c;
    if (p) *p = &c->is;
    return OFX_OK;
}
static ofx_status clip_properties(ofx_clip_handle c, ofx_properties *p) {
    *p = &c->is;
    return OFX_OK;
}

static atomic_int images_open;

static ofx_status get_image(ofx_clip_handle c, ofx_time t, const ofx_rect_d *r,
                            ofx_properties *to) {
    static const char *const DEPTH[] = {"", OFX_BYTE, OFX_SHORT, OFX_HALF, OFX_FLOAT},
                             *const COMPONENTS[] = {"", OFX_ALPHA, "", OFX_RGB, OFX_RGBA};
    const pic *p = c->picture;
    rig_set *s = p ? calloc(1, sizeof *s) : NULL;
    (void)t, (void)r;
    if (!s) return OFX_FAILED;
    set_pointer(s, OFX_DATA, 0, p->data);
    rig_put(s, OFX_ROW_BYTES, 0, (double)p->row);
    for (int i = 0; i < 4; i++) rig_put(s, OFX_BOUNDS, i, (&p->at.x1)[i]);
    for (int i = 0; i < 4 && p->whole.x2 > p->whole.x1; i++)
        rig_put(s, OFX_IMAGE_WHOLE, i, (&p->whole.x1)[i]);
    rig_put_text(s, OFX_DEPTH, 0, DEPTH[p->type]);
    rig_put_text(s, OFX_COMPONENTS, 0, COMPONENTS[p->channels]);
    if (!p->bare) {
        rig_put(s, OFX_PIXEL_ASPECT, 0, c->aspect);
        for (int i = 0; i < 2; i++) rig_put(s, OFX_SCALE, i, c->scale);
    }
    images_open++;
    *to = s;
    return OFX_OK;
}
static ofx_status release_image(ofx_properties s) {
    free(s);
    images_open--;
    return OFX_OK;
}
static ofx_status clip_region(ofx_clip_handle c, ofx_time t, ofx_rect_d *to) {
    (void)t;
    if (!c->picture) return OFX_FAILED;
    const bool part = c->picture->whole.x2 > c->picture->whole.x1;
    const ofx_rect_i r = part ? c->picture->whole : c->picture->at;
    const double x = c->aspect / c->scale, y = 1 / c->scale;
    *to = (ofx_rect_d){r.x1 * x, r.y1 * y, r.x2 * x, r.y2 * y};
    return OFX_OK;
}

static int aborted(ofx_effect_handle x) {
    const int n = atomic_fetch_add(&x->asked, 1) + 1;
    while (x->held) usleep(1000);
    const bool stop = (x->stop_at && n >= x->stop_at) ||
                      (x->stop_time && clock_now() >= x->stop_time);
    x->stopped |= stop;
    return stop;
}

/* --- controls --------------------------------------------------------------------------------- */

static ofx_status define_param(ofx_params s, const char *type, const char *name,
                               ofx_properties *p) {
    if (s->count == RIG_PARAMS) return OFX_UNSUPPORTED;
    struct ofx_param *c = &s->param[s->count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->type, sizeof c->type, "%s", type);
    if (p) *p = &c->is;
    return OFX_OK;
}
static ofx_status param_handle(ofx_params s, const char *name, ofx_param_handle *to,
                               ofx_properties *p) {
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->param[i].name, name) == 0) {
            *to = &s->param[i];
            if (p) *p = &s->param[i].is;
            return OFX_OK;
        }
    return OFX_UNKNOWN;
}
static ofx_status value_at(ofx_param_handle c, ofx_time t, ...) {
    va_list list;
    va_start(list, t);
    if (strcmp(c->type, OFX_TYPE_STRING) == 0)
        *va_arg(list, const char **) = c->text;
    else if (strcmp(c->type, OFX_TYPE_RGB) == 0)
        for (int i = 0; i < 3; i++) *va_arg(list, double *) = c->v[i];
    else if (strcmp(c->type, OFX_TYPE_DOUBLE) == 0)
        *va_arg(list, double *) = c->slope == 0 ? c->v[0] : c->v[0] + t * c->slope;
    else
        *va_arg(list, int *) = (int)c->v[0];
    va_end(list);
    return OFX_OK;
}

/* --- messages --------------------------------------------------------------------------------- */

static ofx_status message(void *handle, const char *type, const char *id, const char *f, ...) {
    ofx_effect_handle x = handle;
    va_list list;
    (void)type, (void)id;
    va_start(list, f);
    vsnprintf(x->said, sizeof x->said, f, list);
    va_end(list);
    x->messages++;
    return OFX_OK;
}
static ofx_status clear_message(void *handle) {
    ((ofx_effect_handle)handle)->cleared++;
    return OFX_OK;
}

static ofx_status start(void *x, const char *label) {
    (void)label;
    ((ofx_effect_handle)x)->progress[0]++;
    return OFX_OK;
}
static ofx_status update(void *x, double done) {
    ((ofx_effect_handle)x)->progress[1]++;
    return done >= 0 && done <= 1 ? OFX_OK : OFX_NO;
}
static ofx_status end(void *x) {
    ((ofx_effect_handle)x)->progress[2]++;
    return OFX_OK;
}

/* --- the host --------------------------------------------------------------------------------- */

static int lacks;

static const void *fetch(ofx_properties h, const char *name, int version) {
    static const ofx_property_suite PROPERTY = {
        set_pointer, set_string, set_double, set_int, NULL,   set_strings, set_doubles, NULL,
        get_pointer, get_string, NULL,       NULL,    {NULL}, get_doubles, get_ints};
    static const ofx_effect_suite EFFECT = {effect_properties, effect_params,   define_clip,
                                            clip_handle,       clip_properties, get_image,
                                            release_image,     clip_region,     aborted};
    static const ofx_param_suite PARAM = {define_param, param_handle, {NULL}, value_at};
    static const ofx_message_suite MESSAGE = {message, message, clear_message};
    static const ofx_progress_suite PROGRESS = {start, update, end};
    (void)h;
    if (!strcmp(name, OFX_SUITE_PROPERTY)) return &PROPERTY;
    if (!strcmp(name, OFX_SUITE_EFFECT)) return &EFFECT;
    if (!strcmp(name, OFX_SUITE_PARAM)) return lacks & WITHOUT_PARAM ? NULL : &PARAM;
    if (!strcmp(name, OFX_SUITE_PROGRESS)) return lacks & WITHOUT_PROGRESS ? NULL : &PROGRESS;
    const int no = version == 2 ? WITHOUT_MESSAGE2 | WITHOUT_MESSAGE : WITHOUT_MESSAGE;
    if (!strcmp(name, OFX_SUITE_MESSAGE)) return lacks & no ? NULL : &MESSAGE;
    return NULL;
}

rig *rig_open(const char *path, int without) {
    static ofx_host h = {NULL, fetch};
    rig *r = calloc(1, sizeof *r);
    lacks = without;
    if (!r || !(r->binary = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
        fprintf(stderr, "%s\n", dlerror());
        free(r);
        return NULL;
    }
    int (*count)(void) = (int (*)(void))dlsym(r->binary, "OfxGetNumberOfPlugins");
    ofx_plugin *(*get)(int) = (ofx_plugin * (*)(int)) dlsym(r->binary, "OfxGetPlugin");
    if (count && get && count() == 1 && (r->plugin = get(0)) && !get(1)) {
        r->plugin->set_host(&h);
        if (rig_call(r, OFX_LOAD, NULL, NULL, NULL) == OFX_OK &&
            rig_call(r, OFX_DESCRIBE, &r->about, NULL, NULL) == OFX_OK)
            return r;
    }
    dlclose(r->binary);
    free(r);
    return NULL;
}

void rig_close(rig **r) {
    rig_call(*r, OFX_UNLOAD, NULL, NULL, NULL);
    dlclose((*r)->binary);
    free(*r);
    *r = NULL;
}

struct ofx_effect *rig_effect(rig *r, const char *context) {
    struct ofx_effect *x = calloc(1, sizeof *x);
    rig_set in = {.count = 0};
    if (!x) abort();
    rig_put_text(&in, OFX_CONTEXT, 0, context);
    const bool ok = rig_call(r, OFX_DESCRIBE_IN_CONTEXT, x, &in, NULL) == OFX_OK;
    for (int i = 0; i < x->params.count; i++) {
        struct ofx_param *p = &x->params.param[i];
        for (int k = 0; k < 3; k++) p->v[k] = rig_get(&p->is, OFX_PRESET, k);
        p->text = "";
    }
    rig_scale(x, 1, 1);
    if (ok && rig_call(r, OFX_CREATE, x, NULL, NULL) == OFX_OK) return x;
    free(x);
    return NULL;
}

void rig_effect_close(rig *r, struct ofx_effect **x) {
    rig_call(r, OFX_DESTROY, *x, NULL, NULL);
    free(*x);
    *x = NULL;
}

void rig_connect(struct ofx_effect *x, int clip, pic *p) {
    x->clip[clip].picture = p;
    rig_put(&x->clip[clip].is, OFX_CONNECTED, 0, p != NULL);
}

void rig_scale(struct ofx_effect *x, double scale, double aspect) {
    for (int i = 0; i < RIG_CLIPS; i++) x->clip[i].scale = scale, x->clip[i].aspect = aspect;
}

struct ofx_param *rig_param(struct ofx_effect *x, const char *name) {
    ofx_param_handle p;
    if (param_handle(&x->params, name, &p, NULL) != OFX_OK) abort();
    return p;
}
void rig_set_number(struct ofx_effect *x, const char *name, double v) {
    rig_param(x, name)->v[0] = v;
}
void rig_set_kernel(struct ofx_effect *x, const char *file) {
    rig_set_number(x, "kernel", 0);
    rig_set_number(x, "device", 1);
    rig_param(x, "kernelFile")->text = file;
}

ofx_status rig_call(rig *r, const char *action, struct ofx_effect *x, rig_set *in, rig_set *out) {
    const int open = images_open;
    const ofx_status is = r->plugin->main(action, x, in, out);
    if (x) x->open_images = images_open - open; /* where nobody else renders */
    return is;
}

ofx_status rig_render(rig *r, struct ofx_effect *x, double time, const ofx_rect_i *window) {
    rig_set in = {.count = 0};
    const pic *o = x->clip[RIG_OUTPUT].picture;
    rig_put(&in, OFX_TIME, 0, time);
    for (int i = 0; i < 4; i++) rig_put(&in, OFX_WINDOW, i, (window ? &window->x1 : &o->at.x1)[i]);
    for (int i = 0; i < 2; i++) rig_put(&in, OFX_SCALE, i, x->clip[RIG_OUTPUT].scale);
    return rig_call(r, OFX_RENDER, x, &in, NULL);
}
