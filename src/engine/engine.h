/* engine.h - convolving image planes: the interface of the GPU engine and the CPU engine.
 *
 * Open a device; prepare a plan with a kernel's spectrum, which allocates everything; submit frames
 * and wait for them, any number of times; close. An engine is prepared for one plan at a time, and
 * several engines may share one open device. An engine does not check pixels.
 *
 *   up     planes as they are stored (plan.ask.planes), a mask, and a join: a few numbers
 *   there  spread(in) is transformed, times the kernel, and joined with the pixels: engine/join.h
 *   back   planes that are finished, in the type that they are stored in, and what was measured
 *
 * A plane is packed rows. `in` and `out` may be the same memory where both have floats.
 *
 * A frame in flight occupies a slot. With one slot, submit and wait alternate; with several, the
 * next frame's upload overlaps with the work on this one. Submit and wait allocate nothing.
 *
 * Threads: several threads may submit and wait at the same time, each with slots of its own.
 * Prepare, time and close may be called only while no frame is in flight, by one thread. Engines
 * that share a device do not count as one here: one is prepared while others have frames. An engine
 * takes its own locks; the caller needs one only to hand out slots.
 *
 * Errors: with ERR_NO_DEVICE (the device is gone, too old, or lacks something that the plan needs)
 * and ERR_RETRY (it is lost, or there is no memory left) another device may still do the work. All
 * other errors would occur on any device. After the device has failed a frame, its slot is refused
 * until the engine is prepared again; the other slots go on. */
#pragma once

#include "base/par.h"
#include "engine/join.h"
#include "kernel/spectrum.h"
#include "math/plan.h"

enum { ENGINE_CHANNELS = PSF_CHANNELS, ENGINE_NAME = 256, ENGINE_UUID = 16, ENGINE_DEVICES = 32 };
enum { ENGINE_SLOTS = 64 }; /* maximum of frames in flight */

/* SOFTWARE: Vulkan on the CPU. */
typedef enum { ENGINE_CPU, ENGINE_GPU, ENGINE_SOFTWARE, ENGINE_CLASSES } engine_class;

const char *engine_class_name(engine_class c);

/* One device that this machine has. */
typedef struct {
    engine_class class;
    uint32_t index; /* within its class's engine: what open takes */
    int number;     /* in the list of all devices; -1: unknown, since only the CPU was listed */
    char name[ENGINE_NAME];
    char driver[ENGINE_NAME]; /* name and version */
    uint8_t uuid[ENGINE_UUID];
    uint64_t memory; /* bytes of its own; 0: it shares the host's */
    bool discrete;   /* a GPU on a card, whose memory is not the host's */
    plan_limits limits;
} engine_device;

typedef struct {
    uint32_t slots; /* frames in flight, up to ENGINE_SLOTS; 0 stands for 1 */
    bool staged;    /* act as if the host did not see the device's memory, */
    bool lone;      /* and as if a device had no subgroup arithmetic: for tests */
} engine_options;

/* The planes, the mask and the spilled light's table must stay until engine_wait has returned; the
 * structs and arrays of pointers only until engine_submit has. */
typedef struct {
    const void *const *in; /* plan.ask.channels planes */
    /* What floats have lost of the pixels, for the CPU in doubles; other engines do not look. NULL:
     * nothing. Only where all light is spread. */
    const float *const *lost;
    void *const *out;
    float *const *glare; /* where the plan has such planes */
    const join *join;
    /* Where the plan has planes.again: how many steps, 0 stands for 1. From the second one on the
     * transform takes what the step before has made, and pixels are joined with `in` as before.
     * What was measured is that of the last step. goes_on: this holds for the first step, too: in,
     * out and join are those of the slot's last frame but for `steps`, and no plane was changed
     * since. */
    uint32_t steps;
    bool goes_on;
} engine_frame;

/* The seconds of one frame. Upload and download count the host's work and the device's, which may
 * overlap with other frames. Steps that the device cannot time are 0. */
typedef struct {
    double upload, pass[PLAN_PASSES], download, total;
} engine_times;

typedef struct engine engine;

/* A benchmark of frames back to back, with the data on the device. */
typedef struct {
    uint32_t count;
    /* Filled by engine_time, in seconds: */
    double frame;             /* per frame, measured without stamps between the passes */
    double pass[PLAN_PASSES]; /* per frame and pass, measured with stamps on as many more frames */
    /* The same for copies on the device that move as many bytes as the passes do (half of them
     * read, half written): the best that the memory allows. 0: the device has no room for them, or
     * is the CPU, whose passes read much from its caches. */
    double copy, copy_pass[PLAN_PASSES];
} engine_repeat;

typedef struct {
    uint64_t (*bytes)(engine_class class, const plan *p, uint32_t threads);
    /* Fills `to` with at most `room` devices. Returns how many; 0 is not an error. */
    uint32_t (*devices)(engine_device *to, uint32_t room);
    engine *(*open)(const engine_device *d, par *threads, const char *cache_dir, err *e);
    /* Opens the library that drives the devices; NULL: there is none. */
    bool (*loader)(err *e);
    /* engine_open_ahead; NULL: nothing is to be done. */
    bool (*ahead)(const engine_device *d, err *e);
    /* Frees what is kept for the next device that is opened; NULL: nothing is. */
    void (*rest)(void);
} engine_kind;

extern const engine_kind ENGINE_KIND_GPU, ENGINE_KIND_CPU;

typedef struct {
    bool (*prepare)(engine *g, const plan *p, spectrum_lines *k, const engine_options *o, err *e);
    void (*forget)(engine *g); /* NULL: nothing */
    bool (*submit)(engine *g, uint32_t slot, const engine_frame *f, err *e);
    bool (*wait)(engine *g, uint32_t slot, join_stats *st, engine_times *t, err *e);
    bool (*repeat)(engine *g, const engine_frame *f, engine_repeat *r, err *e);
    engine *(*beside)(const engine *g, err *e);
    void (*close)(engine *g);
} engine_calls;

/* The beginning of every engine's own struct. */
struct engine {
    const engine_calls *call;
};

/* Fills `to` with all devices, GPUs first, then the CPU, then software. Returns how many. */
uint32_t engine_devices(engine_device *to, uint32_t room);
/* Fills *to with the CPU, without a number. Loads no graphics drivers. */
void engine_devices_cpu(engine_device *to);

/* Frees what is kept between two uses of devices, such as a Vulkan instance. */
void engine_rest(void);

/* Returns the bytes of the host's memory that an engine of a class takes for a plan beside the
 * spectrum, with one slot. Of the plan count the axes' lengths and extents, the halves, first, the
 * bytes of a sample and those of a GPU's buffers. */
uint64_t engine_bytes(engine_class class, const plan *p, uint32_t threads);
/* Opens a device. `threads` and `cache_dir` (NULL: none) must outlive the engine. */
engine *engine_open(const engine_device *d, par *threads, const char *cache_dir, err *e);
/* Opens the libraries that drive devices, before a sandbox is entered. A missing one is no error:
 * its devices are not listed. */
void engine_libraries(void);
/* Opens a device before a sandbox is entered: engine_open shares it from then on, unless it is
 * lost. Call it while there is one thread; engine_rest closes it. */
bool engine_open_ahead(const engine_device *d, err *e);
/* Opens another engine on the device that g has open, which is closed with the last of them. g may
 * be at work, but must not be closed meanwhile. */
engine *engine_beside(const engine *g, err *e);
/* Makes everything that frames of this plan need, in place of what was prepared before; where that
 * was the same plan, only the spectrum is replaced. The caller frees `k`; an engine that uses it in
 * place takes it, and leaves zeros. */
bool engine_prepare(engine *g, const plan *p, spectrum_lines *k, const engine_options *o, err *e);
/* Frees the spectrum that an engine holds in the host's memory, before another is made for it: it
 * takes no frames until it is prepared again. */
void engine_forget(engine *g);
/* Starts a frame in a slot that is free. */
bool engine_submit(engine *g, uint32_t slot, const engine_frame *f, err *e);
/* Waits for the frame of a slot, whose planes then hold the result. st: receives what was measured
 * of each channel. `st` and `t` may be NULL. */
bool engine_wait(engine *g, uint32_t slot, join_stats *st, engine_times *t, err *e);
/* Submits to slot 0 and waits. */
bool engine_run(engine *g, const engine_frame *f, engine_times *t, err *e);
/* Runs f, which leaves its data on the device, then times r->count frames on that data. The CPU
 * engine runs f that many times. */
bool engine_time(engine *g, const engine_frame *f, engine_repeat *r, err *e);
void engine_close(engine **g);
