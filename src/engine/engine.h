/* engine.h - what convolves: the interface that the GPU and the CPU engine stand behind.
 *
 * Open a device; prepare a plan with a kernel's spectrum (everything is allocated here); submit
 * frames and wait for them, any number of times; close. A frame in flight occupies a slot; with
 * one slot submit and wait alternate, with more the next frame's upload overlaps. Submit and wait
 * allocate nothing. Slots of a GPU may be used by several threads at a time, each slot by one;
 * whoever prepares, repeats or closes is alone. A slot whose frame the device has failed is refused
 * from then on, until the engine is prepared anew; the others are as they were.
 *
 *   out = tap * in + gain * (in convolved with the tail)       per plane
 *
 * The spectrum may be large, so an engine that works on it where it is takes it: k->value,
 * which is of mem_raw, is NULL after prepare then. Whether or not, k is the caller's to free.
 *
 * Planes are packed rows of float or double, as the plan's precision says; in and out may be the
 * same memory. Floats of which the plan says that all are halfs may travel to a device as such; one
 * that is none is an error then. The engine neither scales nor checks pixels otherwise: that is
 * bloom's work. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/par.h"
#include "kernel/spectrum.h"
#include "math/plan.h"

enum {
    ENGINE_CHANNELS = PSF_CHANNELS,
    ENGINE_SLOTS = 8, /* frames in flight, at most */
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

typedef struct {
    uint32_t slots;  /* frames in flight, up to ENGINE_SLOTS; 0 stands for 1 */
    bool timestamps; /* measure each pass */
    double patience; /* s that set-up may spend on making frames faster: many will come */
    bool staged;     /* as if the host did not see the device's memory: for tests */
} engine_options;

/* Takes rows of the result in place of engine_frame.out, where they are: as they are made and still
 * in the cache, or in memory that the device has copied them to. Called by several threads until
 * the frame has been waited for; each row of each plane comes once, in any order, and is gone after
 * the call. Nothing of the image is in it: no tap is added. */
typedef struct {
    void (*row)(void *ctx, uint32_t channel, uint32_t y, int worker, const float *row);
    void *ctx;
} engine_sink;

/* Gives rows of the image when they are needed, in place of engine_frame.in: those from `first`, a
 * multiple of ENGINE_ROWS, to the next such or to the last, as floats that stay until the same
 * worker asks again. Called by several threads, in any order, once for all rows of a plane; then
 * `plane` is called, before the sink gets any row of it. Where either says no, with NULL or false,
 * the frame fails, without a message. */
enum { ENGINE_ROWS = 16 };
typedef struct {
    const float *(*rows)(void *ctx, uint32_t channel, uint32_t first, int worker);
    bool (*plane)(void *ctx, uint32_t channel);
    void *ctx;
} engine_source;

typedef struct {
    const void *const *in; /* plan.ask.channels planes */
    void *const *out;
    const double *tap;           /* per plane */
    const double *gain;          /* per plane */
    const engine_sink *sink;     /* only where the engine `sinks`; NULL: none */
    const engine_source *source; /* only where it `sources`, and with a sink; NULL: none */
} engine_frame;

/* Of one frame: on its way to the device and back the host's part and the device's, which may
 * overlap with other frames; what the device cannot tell the time of is left out. */
typedef struct {
    double upload, pass[PLAN_PASSES], download, total; /* seconds */
} engine_times;

typedef struct engine engine;

/* Frames of a benchmark: `count` of them back to back with the data where the device has it. */
typedef struct {
    uint32_t count;
    bool ceiling;             /* measure copies, too */
    double frame;             /* seconds per frame, out: of all together, without stamps between */
    double pass[PLAN_PASSES]; /* seconds per frame and pass, out: of as many more with stamps */
    /* The same of copies on the device that read and write as many bytes as the passes do (half
     * and half), one per pass, out: what the device's memory allows; 0 where it has no room. */
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
    bool sinks;   /* as it is prepared, it has rows of floats for a sink, */
    bool sources; /* and takes those of a source */
};

/* All devices, GPUs first, then the CPU, then software. */
uint32_t engine_devices(engine_device *to, uint32_t room);
/* The CPU alone, 0 or 1 of it, without a number: does not load every graphics driver of the
 * machine, as a full list does. */
uint32_t engine_devices_cpu(engine_device *to);
engine *engine_open(const engine_device *d, par *threads, const char *cache_dir, err *e);
bool engine_prepare(engine *g, const plan *p, spectrum_lines *k, const engine_options *o, err *e);
bool engine_submit(engine *g, uint32_t slot, const engine_frame *f, err *e);
bool engine_wait(engine *g, uint32_t slot, engine_times *t, err *e);
bool engine_run(engine *g, const engine_frame *f, engine_times *t, err *e); /* submit and wait */
/* For benchmarks: runs f, which leaves its data on the device, then times r->count frames on that.
 * An engine that works in the host's memory runs f so many times. */
bool engine_time(engine *g, const engine_frame *f, engine_repeat *r, err *e);
void engine_close(engine **g);

#endif
