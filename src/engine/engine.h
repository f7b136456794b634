/* engine.h - what convolves: the interface of the GPU and the CPU engine.
 *
 * Open a device; prepare a plan with a kernel's spectrum (everything is allocated here); submit
 * frames and wait for them, any number of times; close. An engine neither scales nor checks pixels
 * and knows nothing of files, colours or accuracy: that is bloom's work.
 *
 *   out = sum over the terms of  tap * in + gain * (in convolved with the spectrum)     per plane
 *
 * A plane is packed rows of floats or doubles, as the plan's precision says; in and out may be the
 * same memory. Floats that the plan says are all halfs may travel to a device as such; one that is
 * not a half is an error then.
 *
 * A frame in flight occupies a slot. With one slot, submit and wait alternate; with several, the
 * next frame's upload overlaps with the work on this one. Submit and wait allocate nothing.
 *
 * Threads: each slot may be used by another thread, one thread at a time. Prepare, time and close
 * need the engine for themselves.
 *
 * Errors: ERR_NO_DEVICE is a device that refuses: it is gone, too old, or cannot make what the plan
 * needs. ERR_RETRY is a device that is lost or has no memory left (or a host that has none). With
 * both, another device may still do the work. Everything else is wrong on any device. A slot whose
 * frame the device has failed is refused until the engine is prepared again; the other slots go on.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/par.h"
#include "kernel/spectrum.h"
#include "math/plan.h"

enum {
    ENGINE_CHANNELS = PSF_CHANNELS,
    ENGINE_TERMS = 1,  /* images, each with a spectrum, that end in one result */
    ENGINE_SLOTS = 64, /* maximum of frames in flight */
    ENGINE_NAME = 256,
    ENGINE_UUID = 16,
    ENGINE_DEVICES = 32
};

typedef enum {
    ENGINE_CPU,
    ENGINE_GPU,
    ENGINE_SOFTWARE
} engine_class; /* SOFTWARE: Vulkan on the CPU */

/* One device that this machine has. */
typedef struct {
    engine_class class;
    uint32_t index; /* within its class's engine: what open takes */
    int number;     /* in the list of all devices; -1: not known, as the CPU was listed alone */
    char name[ENGINE_NAME];
    char driver[ENGINE_NAME]; /* name and version */
    uint8_t uuid[ENGINE_UUID];
    uint64_t memory; /* bytes of its own, 0 where it shares the host's */
    plan_limits limits;
} engine_device;

/* Seconds that a measurement of FFT plans may take where one is asked for. */
enum { ENGINE_PATIENCE = 10 };

typedef struct {
    uint32_t slots;  /* frames in flight, up to ENGINE_SLOTS; 0 stands for 1 */
    bool timestamps; /* measure each pass */
    /* 0: the transforms' plans are the same in every run, and so is each bit of the results. Else
     * the CPU engine may measure that many seconds which plans are fastest, and keeps what it found
     * in the cache folder. */
    double patience;
    bool staged; /* as if the host did not see the device's memory: for tests */
} engine_options;

/* Takes rows of the result in place of engine_frame.out: as they are made and still in the cache,
 * or where the device has copied them to. It is called by several threads until the frame has been
 * waited for; each row of each plane comes once, in any order, and is gone after the call. The
 * image is not part of it: no tap is added. */
typedef struct {
    void (*row)(void *ctx, uint32_t channel, uint32_t y, int worker, const float *row);
    void *ctx;
} engine_sink;

/* One image on its way through one spectrum. */
typedef struct {
    const void *const *in;    /* plan.ask.channels planes */
    const double *tap, *gain; /* per plane */
} engine_term;

typedef struct {
    engine_term term[ENGINE_TERMS];
    void *const *out;        /* planes; not used where there is a sink */
    const engine_sink *sink; /* only where the engine `sinks`; NULL: none */
} engine_frame;

/* Of one frame: on its way to the device and back the host's part and the device's, which may
 * overlap with other frames; steps whose time the device cannot tell are left out. */
typedef struct {
    double upload, pass[PLAN_PASSES], download, total; /* seconds */
} engine_times;

typedef struct engine engine;

/* Frames of a benchmark: `count` of them back to back with the data where the device has it. */
typedef struct {
    uint32_t count;
    bool ceiling; /* measure copies, too */
    /* Filled by engine_time: */
    double frame;             /* seconds per frame: of all together, without stamps between */
    double pass[PLAN_PASSES]; /* seconds per frame and pass, of as many more frames with stamps */
    /* The same of copies on the device that read and write as many bytes as the passes do (half
     * and half), one per pass: what the device's memory allows; 0 where it has no room. */
    double copy, copy_pass[PLAN_PASSES];
} engine_repeat;

/* A row of the table of engines. */
typedef struct {
    const char *name;
    /* Appends at most `room` devices; finding none is no error. */
    uint32_t (*devices)(engine_device *to, uint32_t room);
    engine *(*open)(const engine_device *d, par *threads, const char *cache_dir, err *e);
} engine_kind;

extern const engine_kind ENGINE_KIND_GPU, ENGINE_KIND_CPU;

/* What every engine starts with; the rest of the struct is its own. */
typedef struct {
    bool (*prepare)(engine *g, const plan *p, spectrum_lines *k, const engine_options *o, err *e);
    bool (*submit)(engine *g, uint32_t slot, const engine_frame *f, err *e);
    bool (*wait)(engine *g, uint32_t slot, engine_times *t, err *e); /* t may be NULL */
    bool (*repeat)(engine *g, const engine_frame *f, engine_repeat *r, err *e);
    void (*close)(engine *g);
} engine_calls;

struct engine {
    const engine_calls *call;
    bool sinks; /* as it is prepared, it has rows of floats for a sink */
};

/* Fills `to` with all devices, GPUs first, then the CPU, then software. Returns how many. */
uint32_t engine_devices(engine_device *to, uint32_t room);
/* Fills `to` with the CPU, without a number, and returns 1, or 0 where this build has no CPU
 * engine. Does not load every graphics driver of the machine, as a full list does. */
uint32_t engine_devices_cpu(engine_device *to);

/* Opens a device. `threads` and `cache_dir` (NULL: none) must outlive the engine. */
engine *engine_open(const engine_device *d, par *threads, const char *cache_dir, err *e);
/* Makes everything that frames of this plan need. `k` is an array of ENGINE_TERMS spectra, which
 * stay the caller's to free; an engine that works on a large spectrum where it lies takes its
 * memory, and leaves NULL in k->value. */
bool engine_prepare(engine *g, const plan *p, spectrum_lines *k, const engine_options *o, err *e);
bool engine_submit(engine *g, uint32_t slot, const engine_frame *f, err *e);
bool engine_wait(engine *g, uint32_t slot, engine_times *t, err *e);
/* Submits to slot 0 and waits. */
bool engine_run(engine *g, const engine_frame *f, engine_times *t, err *e);
/* Runs f for a benchmark, which leaves its data on the device, then times r->count frames on that.
 * An engine that works in the host's memory runs f that many times. */
bool engine_time(engine *g, const engine_frame *f, engine_repeat *r, err *e);
void engine_close(engine **g);

#endif
