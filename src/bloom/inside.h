/* inside.h - what a bloom consists of: for those who make one. */
#ifndef BLOOM_INSIDE_H
#define BLOOM_INSIDE_H

#include "bloom/bloom.h"
#include "bloom/kernel_input.h"
#include "bloom/promise/sketch.h"
#include "kernel/cache.h"

/* What follows from the size of an image and is kept while that stays the same. */
typedef struct {
    bool valid;
    kernel_need need;
    psf kernel;
    spread spread;
    noise_tail tail[PSF_CHANNELS][ACCURACY_CORES];
    bool light[PSF_CHANNELS]; /* the kernel has no taps below zero */
    sketch_kernel sketch;
    ledger_kernel ledger;
    uint32_t *seen[PLAN_AXES]; /* how often borders show each column and row */
    double points;             /* of a float32 plan */
    double seconds, seconds64; /* for accuracy_facts */
} bloom_size;

/* What the engine is prepared for. */
typedef struct {
    bool valid;
    kernel_need need;
    plan_precision precision;
    uint32_t core;
    bool halfs;
    plan plan;
} bloom_ready;

/* Of blooms beside each other: lease.h. */
typedef struct bloom_shared bloom_shared;

struct bloom {
    bloom_settings s;
    par *threads;
    bloom_shared *shared;
    const kernel_input *kernel; /* the shared one */
    char folder[CACHE_PATH];    /* the cache; "": there is none */
    engine_device device[ENGINE_DEVICES];
    device_speed speed[ENGINE_DEVICES];
    device_tune tune[ENGINE_DEVICES];
    uint32_t devices; /* 0: not listed yet, or there are none */
    bloom_size size;
    engine *engine; /* on lease; else NULL */
    uint32_t slot;  /* of the engine, ours as long as we have it */
    engine_device on;
    bloom_ready ready; /* what the engine is, or was, when we had it */
    bool straight;     /* the plain transform kept the promise of the last image of that size */
    /* Planes between the image's and the engine's, from frame to frame: of floats, and a second set
     * of floats or doubles. They may change places with the image's own. */
    void *plane[2][ENGINE_CHANNELS];
    size_t plane_bytes[2];
};

#endif
