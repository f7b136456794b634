/* plugin.c - what a host calls: the binary's exports and the actions of the effect.
 *
 * The id and the major version stand for what projects keep: names and choices of controls, and
 * what they do. Minor versions may add controls, whose presets do what was done before. */
#include "ofx/render.h"

#include <stdlib.h>
#include <string.h>

#define MASK "Mask"

/* --- describing ------------------------------------------------------------------------------- */

static ofx_properties properties_of(ofx_effect_handle e) {
    ofx_properties p = NULL;
    return fx.effect->properties(e, &p) == OFX_OK ? p : NULL;
}

static ofx_status describe(ofx_effect_handle e) {
    static const char *const DEPTH[] = {OFX_FLOAT, OFX_HALF, OFX_SHORT, OFX_BYTE};
    ofx_properties p = properties_of(e);
    if (!p) return OFX_MISSING_FEATURE;
    fx_put_string(p, OFX_LABEL, 0, "fftbloom");
    fx_put_string(p, OFX_GROUPING, 0, "fftbloom");
    fx_put_string(p, OFX_DESCRIPTION, 0,
                  "Spreads light as a lens, a filter or film does: by a whole point spread "
                  "function, with all light kept and an error that is bounded.");
    fx_put_string(p, OFX_CONTEXTS, 0, OFX_FILTER);
    fx_put_string(p, OFX_CONTEXTS, 1, OFX_GENERAL);
    for (int i = 0; i < 4; i++) fx_put_string(p, OFX_DEPTHS, i, DEPTH[i]);
    fx_put_int(p, OFX_SINGLE_INSTANCE, 0);
    fx_put_int(p, OFX_FRAME_THREADING, 0);
    fx_put_int(p, OFX_MULTI_RESOLUTION, 1);
    fx_put_int(p, OFX_TILES, 0); /* a transform takes the whole frame */
    fx_put_int(p, OFX_TEMPORAL, 0);
    fx_put_int(p, OFX_MULTI_DEPTHS, 0);
    fx_put_int(p, OFX_MULTI_ASPECTS, 0);
    fx_put_string(p, OFX_THREAD_SAFETY, 0, OFX_FULLY_SAFE);
    return OFX_OK;
}

static bool define_clip(ofx_effect_handle e, const char *name, const char *const *components) {
    ofx_properties p;
    if (fx.effect->define_clip(e, name, &p) != OFX_OK) return false;
    for (int i = 0; components[i]; i++)
        fx_put_string(p, OFX_COMPONENTS_SUPPORTED, i, components[i]);
    fx_put_int(p, OFX_TILES, 0);
    if (strcmp(name, MASK) == 0) fx_put_int(p, OFX_OPTIONAL, 1), fx_put_int(p, OFX_IS_MASK, 1);
    return true;
}

static ofx_status describe_in(ofx_effect_handle e, ofx_properties in) {
    static const char *const ALL[] = {OFX_RGBA, OFX_RGB, OFX_ALPHA, NULL}, *const OF_MASK[] = {
                                                                               OFX_ALPHA, OFX_RGBA,
                                                                               NULL};
    ofx_params params;
    if (!define_clip(e, OFX_SOURCE, ALL) || !define_clip(e, OFX_OUTPUT, ALL) ||
        (fx_is(in, OFX_CONTEXT, OFX_GENERAL) && !define_clip(e, MASK, OF_MASK)))
        return OFX_MISSING_FEATURE;
    return fx.effect->params(e, &params) == OFX_OK && controls_define(params) ? OFX_OK
                                                                              : OFX_MISSING_FEATURE;
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

static ofx_status destroy(ofx_effect_handle e, instance *own) {
    fx.property->set_pointer(properties_of(e), OFX_INSTANCE_DATA, 0, NULL);
    free(own);
    return OFX_OK;
}

static ofx_status is_identity(instance *own, ofx_properties in, ofx_properties out) {
    controls c;
    const ofx_time time = fx_double(in, OFX_TIME, 0, 0);
    controls_read(&c, own->params, time);
    if (!controls_do_nothing(&c)) return OFX_DEFAULT;
    fx_put_string(out, OFX_NAME, 0, OFX_SOURCE);
    fx_put_doubles(out, OFX_TIME, 1, &time);
    return OFX_OK;
}

/* The colours stay as they are coded and multiplied. */
static ofx_status prefer(instance *own, ofx_properties out) {
    ofx_properties p;
    char *word = NULL;
    if (fx.effect->clip_properties(own->source, &p) != OFX_OK ||
        fx.property->get_string(p, OFX_PREMULTIPLICATION, 0, &word) != OFX_OK || !word)
        return OFX_DEFAULT;
    fx_put_string(out, OFX_PREMULTIPLICATION, 0, word);
    return OFX_OK;
}

/* --- the binary ------------------------------------------------------------------------------- */

static bool loaded;

static ofx_status with_instance(const char *action, instance *own, ofx_properties in,
                                ofx_properties out) {
    if (!strcmp(action, OFX_RENDER)) return render_frame(own, in);
    if (!strcmp(action, OFX_IS_IDENTITY)) return is_identity(own, in, out);
    if (!strcmp(action, OFX_REGION_OF_DEFINITION)) return render_region_defined(own, in, out);
    if (!strcmp(action, OFX_REGIONS_OF_INTEREST)) return render_regions_asked(own, in, out, MASK);
    if (!strcmp(action, OFX_CLIP_PREFERENCES)) return prefer(own, out);
    if (!strcmp(action, OFX_DESTROY)) return destroy(own->effect, own);
    return OFX_DEFAULT;
}

static ofx_status entry(const char *action, const void *handle, ofx_properties in,
                        ofx_properties out) {
    ofx_effect_handle e = (ofx_effect_handle)(uintptr_t)handle;
    if (!action) return OFX_FAILED;
    if (!strcmp(action, OFX_LOAD)) return (loaded = fx_load()) ? OFX_OK : OFX_MISSING_FEATURE;
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
    return own ? with_instance(action, own, in, out) : OFX_DEFAULT;
}

static void set_host(ofx_host *h) {
    fx_set(h);
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

ofx_status OfxSetHost(const ofx_host *h) {
    fx_set(h);
    return OFX_OK;
}
