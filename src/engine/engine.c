#include "engine/engine.h"

const char *engine_class_name(engine_class c) {
    static const char *const NAME[ENGINE_CLASSES] = {"cpu", "gpu", "software"};
    return NAME[c];
}

/* By class: the engine, and the order in which devices are listed. */
static const engine_kind *const KIND[] = {&ENGINE_KIND_CPU, &ENGINE_KIND_GPU, &ENGINE_KIND_GPU};
static const int RANK[] = {1, 0, 2};

uint32_t engine_devices(engine_device *to, uint32_t room) {
    uint32_t n = ENGINE_KIND_GPU.devices(to, room);
    n += ENGINE_KIND_CPU.devices(to + n, room - n);
    /* An insertion sort: it is stable, and there are few devices. */
    for (uint32_t i = 1; i < n; i++) {
        engine_device d = to[i];
        uint32_t at = i;
        for (; at > 0 && RANK[to[at - 1].class] > RANK[d.class]; at--) to[at] = to[at - 1];
        to[at] = d;
    }
    for (uint32_t i = 0; i < n; i++) to[i].number = (int)i;
    return n;
}

void engine_devices_cpu(engine_device *to) {
    ENGINE_KIND_CPU.devices(to, 1);
    to->number = -1;
}

void engine_rest(void) {
    ENGINE_KIND_GPU.rest();
}

uint64_t engine_bytes(engine_class class, const plan *p, uint32_t threads) {
    return KIND[class]->bytes(class, p, threads);
}

engine *engine_open(const engine_device *d, par *threads, const char *cache_dir, err *e) {
    return KIND[d->class]->open(d, threads, cache_dir, e);
}

void engine_libraries(void) {
    err ignored = {0};
    ENGINE_KIND_GPU.loader(&ignored);
}

bool engine_open_ahead(const engine_device *d, err *e) {
    return !KIND[d->class]->ahead || KIND[d->class]->ahead(d, e);
}

engine *engine_beside(const engine *g, err *e) {
    return g->call->beside(g, e);
}

/* A mismatch is a bug of the caller that must not become a read beyond the spectrum's end. */
static bool fits(const plan *p, const spectrum_lines *k, err *e) {
    uint32_t halves = p->axis[0].length / 2 + 1, length = p->axis[1].length;
    bool float64 = p->sample_bytes == sizeof(double);
    if (k->halves == halves && p->halves == halves && k->length == length &&
        k->channels == p->ask.spectra && k->float64 == float64)
        return true;
    return err_set(
        e, ERR_INTERNAL,
        "the kernel's spectrum is %u x %u x %u float%d, the plan needs %u x %u x %u float%d",
        k->channels, k->halves, k->length, k->float64 ? 64 : 32, p->ask.spectra, halves, length,
        float64 ? 64 : 32);
}

bool engine_prepare(engine *g, const plan *p, spectrum_lines *k, const engine_options *o, err *e) {
    return fits(p, k, e) && g->call->prepare(g, p, k, o, e);
}

void engine_forget(engine *g) {
    if (g->call->forget) g->call->forget(g);
}

bool engine_submit(engine *g, uint32_t slot, const engine_frame *f, err *e) {
    return g->call->submit(g, slot, f, e);
}

bool engine_wait(engine *g, uint32_t slot, join_stats *st, engine_times *t, err *e) {
    return g->call->wait(g, slot, st, t, e);
}

bool engine_run(engine *g, const engine_frame *f, engine_times *t, err *e) {
    return engine_submit(g, 0, f, e) && engine_wait(g, 0, NULL, t, e);
}

bool engine_time(engine *g, const engine_frame *f, engine_repeat *r, err *e) {
    return g->call->repeat(g, f, r, e);
}

void engine_close(engine **g) {
    if (!*g) return;
    (*g)->call->close(*g);
    *g = NULL;
}
