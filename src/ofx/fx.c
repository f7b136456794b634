#include "ofx/fx.h"

#include <stdatomic.h>
#include <stdio.h>

fx_suites fx;

bool fx_load(const ofx_host *h) {
    if (!h || !h->fetch_suite) return false;
    fx = (fx_suites){.property = h->fetch_suite(h->host, OFX_SUITE_PROPERTY, 1),
                     .effect = h->fetch_suite(h->host, OFX_SUITE_EFFECT, 1),
                     .param = h->fetch_suite(h->host, OFX_SUITE_PARAM, 1),
                     .message = h->fetch_suite(h->host, OFX_SUITE_MESSAGE, 2),
                     .progress = h->fetch_suite(h->host, OFX_SUITE_PROGRESS, 1)};
    fx.persists = fx.message != NULL;
    if (!fx.persists) fx.message = h->fetch_suite(h->host, OFX_SUITE_MESSAGE, 1);
    return fx.property && fx.effect && fx.param;
}

bool fx_ints(ofx_properties p, const char *name, int count, int *to) {
    return p && fx.property->get_ints(p, name, count, to) == OFX_OK;
}

bool fx_doubles(ofx_properties p, const char *name, int count, double *to) {
    return p && fx.property->get_doubles(p, name, count, to) == OFX_OK;
}

void *fx_pointer(ofx_properties p, const char *name) {
    void *v;
    return p && fx.property->get_pointer(p, name, 0, &v) == OFX_OK ? v : NULL;
}

const char *fx_string(ofx_properties p, const char *name) {
    char *v = NULL;
    return p && fx.property->get_string(p, name, 0, &v) == OFX_OK && v ? v : "";
}

void fx_say(ofx_effect_handle e, _Atomic unsigned *shown, const char *type, const char *text) {
    unsigned hash = 0;
    for (const char *c = text; c && *c; c++) hash = hash * 31 + (unsigned char)*c + 1;
    if (atomic_exchange(shown, hash) == hash) return;
    if (!hash && fx.persists)
        fx.message->clear_persistent(e);
    else if (hash && fx.persists)
        fx.message->set_persistent(e, type, "", "%s", text);
    else if (hash && fx.message)
        fx.message->message(e, type, "", "%s", text);
    else if (hash)
        fprintf(stderr, "fftbloom: %s\n", text);
}
