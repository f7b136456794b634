#include "ofx/fx.h"

#include <stdatomic.h>
#include <string.h>

fx_suites fx;
static const ofx_host *program;

void fx_set(const ofx_host *h) {
    program = h;
}

static const void *fetch(const char *name, int version) {
    return program->fetch_suite(program->host, name, version);
}

bool fx_load(void) {
    if (!program || !program->fetch_suite) return false;
    fx = (fx_suites){.property = fetch(OFX_SUITE_PROPERTY, 1),
                     .effect = fetch(OFX_SUITE_EFFECT, 1),
                     .param = fetch(OFX_SUITE_PARAM, 1),
                     .message = fetch(OFX_SUITE_MESSAGE, 2),
                     .progress = fetch(OFX_SUITE_PROGRESS, 1)};
    fx.persists = fx.message != NULL;
    if (!fx.persists) fx.message = fetch(OFX_SUITE_MESSAGE, 1);
    return fx.property && fx.effect && fx.param;
}

int fx_int(ofx_properties p, const char *name, int instead) {
    int v;
    return p && fx.property->get_int(p, name, 0, &v) == OFX_OK ? v : instead;
}

double fx_double(ofx_properties p, const char *name, int index, double instead) {
    double v;
    return p && fx.property->get_double(p, name, index, &v) == OFX_OK ? v : instead;
}

void *fx_pointer(ofx_properties p, const char *name) {
    void *v;
    return p && fx.property->get_pointer(p, name, 0, &v) == OFX_OK ? v : NULL;
}

bool fx_rect(ofx_properties p, const char *name, ofx_rect_i *to) {
    int v[4];
    for (int i = 0; i < 4; i++)
        if (!p || fx.property->get_int(p, name, i, &v[i]) != OFX_OK) return false;
    *to = (ofx_rect_i){v[0], v[1], v[2], v[3]};
    return true;
}

bool fx_is(ofx_properties p, const char *name, const char *word) {
    char *v = NULL;
    return p && fx.property->get_string(p, name, 0, &v) == OFX_OK && v && strcmp(v, word) == 0;
}

void fx_put_int(ofx_properties p, const char *name, int v) {
    fx.property->set_int(p, name, 0, v);
}

void fx_put_string(ofx_properties p, const char *name, int index, const char *v) {
    fx.property->set_string(p, name, index, v);
}

void fx_put_doubles(ofx_properties p, const char *name, int count, const double *v) {
    for (int i = 0; i < count; i++) fx.property->set_double(p, name, i, v[i]);
}

void fx_say(ofx_effect_handle e, _Atomic unsigned *shown, const char *type, const char *text) {
    unsigned hash = 0;
    for (const char *c = text; c && *c; c++) hash = hash * 31 + (unsigned char)*c + 1;
    if (!fx.message || atomic_exchange(shown, hash) == hash) return;
    if (!text && fx.persists)
        fx.message->clear_persistent(e);
    else if (text && fx.persists)
        fx.message->set_persistent(e, type, "", "%s", text);
    else if (text)
        fx.message->message(e, type, "", "%s", text);
}
