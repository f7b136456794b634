/* plugin.c - what a host calls: the binary's exports and the actions of the effect.
 *
 * The id and the major version stand for what projects keep: names and choices of controls, and
 * what they do. Minor versions may add controls, whose presets do what was done before. */
#include "ofx/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MASK "Mask"

/* --- describing ------------------------------------------------------------------------------- */

static ofx_properties properties_of(ofx_effect_handle e) {
    ofx_properties p = NULL;
    return fx.effect->properties(e, &p) == OFX_OK ? p : NULL;
}

static ofx_status describe(ofx_effect_handle e) {
    static const char *const CONTEXTS[] = {OFX_FILTER, OFX_GENERAL}, *const DEPTHS[] = {
                                                                         OFX_FLOAT, OFX_HALF,
                                                                         OFX_SHORT, OFX_BYTE};
    ofx_properties p = properties_of(e);
    if (!p) return OFX_MISSING_FEATURE;
    fx.property->set_string(p, OFX_LABEL, 0, "fftbloom");
    fx.property->set_string(p, OFX_GROUPING, 0, "fftbloom");
    fx.property->set_string(p, OFX_DESCRIPTION, 0,
                            "Spreads light as a lens, a filter or film does: by a whole point "
                            "spread function, with all light kept and an error that is bounded.");
    fx.property->set_strings(p, OFX_CONTEXTS, 2, CONTEXTS);
    fx.property->set_strings(p, OFX_DEPTHS, 4, DEPTHS);
    fx.property->set_string(p, OFX_THREAD_SAFETY, 0, OFX_FULLY_SAFE);
    fx.property->set_int(p, OFX_FRAME_THREADING, 0, 0);
    fx.property->set_int(p, OFX_TILES, 0, 0); /* a transform takes the whole frame */
    return OFX_OK;
}

/* Defines the clips and controls of a context. */
static ofx_status describe_in(ofx_effect_handle e, ofx_properties in) {
    static const char *const CLIP[] = {OFX_SOURCE, OFX_OUTPUT, MASK},
                             *const COMPONENTS[] = {OFX_RGBA, OFX_RGB, OFX_ALPHA},
                             *const OF_MASK[] = {OFX_ALPHA, OFX_RGBA};
    const int clips = strcmp(fx_string(in, OFX_CONTEXT), OFX_GENERAL) == 0 ? 3 : 2;
    ofx_params params;
    for (int i = 0; i < clips; i++) {
        const bool mask = i == 2;
        ofx_properties p;
        if (fx.effect->define_clip(e, CLIP[i], &p) != OFX_OK) return OFX_MISSING_FEATURE;
        fx.property->set_strings(p, OFX_COMPONENTS_SUPPORTED, mask ? 2 : 3,
                                 mask ? OF_MASK : COMPONENTS);
        fx.property->set_int(p, OFX_TILES, 0, 0);
        fx.property->set_int(p, OFX_OPTIONAL, 0, mask);
        fx.property->set_int(p, OFX_IS_MASK, 0, mask);
    }
    const bool ok = fx.effect->params(e, &params) == OFX_OK && controls_define(params);
    return ok ? OFX_OK : OFX_MISSING_FEATURE;
}

/* --- instances -------------------------------------------------------------------------------- */

static ofx_clip_handle clip_of(ofx_effect_handle e, const char *name) {
    ofx_clip_handle c = NULL;
    return fx.effect->clip(e, name, &c, NULL) == OFX_OK ? c : NULL;
}

static ofx_status create(ofx_effect_handle e) {
    instance *own = calloc(1, sizeof *own);
    if (!own) return OFX_MEMORY;
    own->effect = e;
    own->source = clip_of(e, OFX_SOURCE);
    own->output = clip_of(e, OFX_OUTPUT);
    own->mask = clip_of(e, MASK);
    if (own->source && own->output && fx.effect->params(e, &own->params) == OFX_OK &&
        fx.property->set_pointer(properties_of(e), OFX_INSTANCE_DATA, 0, own) == OFX_OK)
        return OFX_OK;
    free(own);
    return OFX_FAILED;
}

static ofx_status destroy(instance *own) {
    fx.property->set_pointer(properties_of(own->effect), OFX_INSTANCE_DATA, 0, NULL);
    free(own);
    return OFX_OK;
}

/* The colours stay as they are coded and multiplied. */
static ofx_status prefer(instance *own, ofx_properties out) {
    ofx_properties p;
    if (fx.effect->clip_properties(own->source, &p) != OFX_OK) return OFX_DEFAULT;
    const char *word = fx_string(p, OFX_PREMULTIPLICATION);
    if (!*word) return OFX_DEFAULT;
    fx.property->set_string(out, OFX_PREMULTIPLICATION, 0, word);
    return OFX_OK;
}

/* --- regions ---------------------------------------------------------------------------------- */

static void read_at_time(controls *c, ofx_time *time, const instance *own, ofx_properties in) {
    *time = 0;
    fx_doubles(in, OFX_TIME, 1, time);
    controls_read(c, own->params, *time);
}

/* Finds how far light goes, in canonical units, in which pixels are square and whole, and the
 * region of the source in these; false: regions stay as they are. */
static bool find_reach(double reach[2], ofx_rect_d *frame, const controls *c, ofx_time time,
                       const instance *own) {
    user going = {.effect = own->effect};
    fb_error e;
    if (controls_do_nothing(c) || fx.effect->clip_region(own->source, time, frame) != OFX_OK)
        return false;
    const double size[] = {frame->x2 - frame->x1, frame->y2 - frame->y1};
    keep_session *s = keep_take(&c->bloom, controls_scale(c, size[0], size[1], 1), &going, &e);
    const bool fits = s && kernel_fits(reach, s, 1, size, &e);
    keep_give(s, &going);
    return fits;
}

static ofx_status region_defined(instance *own, ofx_properties in, ofx_properties out) {
    controls c;
    ofx_time time;
    ofx_rect_d r;
    double by[2];
    read_at_time(&c, &time, own, in);
    if (!c.grow || !find_reach(by, &r, &c, time, own)) return OFX_DEFAULT; /* the source's */
    const double v[] = {r.x1 - by[0], r.y1 - by[1], r.x2 + by[0], r.y2 + by[1]};
    fx.property->set_doubles(out, OFX_REGION_DEFINED, 4, v);
    return OFX_OK;
}

/* What is asked for grows by the kernel; where the frame wraps, light comes from everywhere. */
static ofx_status regions_asked(instance *own, ofx_properties in, ofx_properties out) {
    controls c;
    ofx_time time;
    ofx_rect_d r, frame;
    double by[2];
    read_at_time(&c, &time, own, in);
    if (!fx_doubles(in, OFX_REGION_ASKED, 4, &r.x1) || isnan(r.x1 + r.y1 + r.x2 + r.y2) ||
        !find_reach(by, &frame, &c, time, own))
        return OFX_DEFAULT;
    if (c.bloom.set.padding_x == FB_PADDING_WRAP) r = frame;
    const double v[] = {fmax(r.x1 - by[0], frame.x1), fmax(r.y1 - by[1], frame.y1),
                        fmin(r.x2 + by[0], frame.x2), fmin(r.y2 + by[1], frame.y2)};
    fx.property->set_doubles(out, OFX_REGION_OF_CLIP OFX_SOURCE, 4, v);
    if (own->mask) fx.property->set_doubles(out, OFX_REGION_OF_CLIP MASK, 4, v);
    return OFX_OK;
}

static ofx_status is_identity(instance *own, ofx_properties in, ofx_properties out) {
    controls c;
    ofx_time time;
    read_at_time(&c, &time, own, in);
    if (!controls_do_nothing(&c)) return OFX_DEFAULT;
    fx.property->set_string(out, OFX_NAME, 0, OFX_SOURCE);
    fx.property->set_double(out, OFX_TIME, 0, time);
    return OFX_OK;
}

/* --- the binary ------------------------------------------------------------------------------- */

static const ofx_host *program;
static bool loaded;

static ofx_status entry(const char *action, const void *handle, ofx_properties in,
                        ofx_properties out) {
    ofx_effect_handle e = (ofx_effect_handle)(uintptr_t)handle;
    if (!action) return OFX_FAILED;
    if (!strcmp(action, OFX_LOAD))
        return (loaded = fx_load(program)) ? OFX_OK : OFX_MISSING_FEATURE;
    if (!loaded) return OFX_FAILED;
    if (!strcmp(action, OFX_PURGE) || !strcmp(action, OFX_UNLOAD)) {
        keep_purge(!strcmp(action, OFX_UNLOAD));
        return OFX_OK;
    }
    if (!e) return OFX_BAD_HANDLE;
    if (!strcmp(action, OFX_DESCRIBE)) return describe(e);
    if (!strcmp(action, OFX_DESCRIBE_IN_CONTEXT)) return describe_in(e, in);
    if (!strcmp(action, OFX_CREATE)) return create(e);
    instance *own = fx_pointer(properties_of(e), OFX_INSTANCE_DATA);
    if (!own) return OFX_DEFAULT;
    if (!strcmp(action, OFX_RENDER)) return render_frame(own, in);
    if (!strcmp(action, OFX_IS_IDENTITY)) return is_identity(own, in, out);
    if (!strcmp(action, OFX_REGION_OF_DEFINITION)) return region_defined(own, in, out);
    if (!strcmp(action, OFX_REGIONS_OF_INTEREST)) return regions_asked(own, in, out);
    if (!strcmp(action, OFX_CLIP_PREFERENCES)) return prefer(own, out);
    if (!strcmp(action, OFX_DESTROY)) return destroy(own);
    return OFX_DEFAULT;
}

ofx_status OfxSetHost(const ofx_host *h) {
    program = h;
    return OFX_OK;
}

static void set_host(ofx_host *h) {
    program = h;
}

int OfxGetNumberOfPlugins(void) {
    return 1;
}

ofx_plugin *OfxGetPlugin(int nth) {
    static ofx_plugin plugin = {.api = OFX_API_IMAGE_EFFECT,
                                .api_version = 1,
                                .id = "org.fftbloom.bloom",
                                .major = 1,
                                .minor = 0,
                                .set_host = set_host,
                                .main = entry};
    return nth == 0 ? &plugin : NULL;
}
