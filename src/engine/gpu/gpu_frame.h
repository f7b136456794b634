/* gpu_frame.h - a frame in flight on a Vulkan device: its buffers, its commands, its way there and
 * back.
 *
 *   planes  --> staging =up=>  image --.             .--> result  =down=> staging --> planes
 *   mask    --> staging =up=>  mask  --+--> passes --+--> glare   =down=> staging --> planes
 *   join    -----------------> join  --'             '--> totals  =down=> staging --> join_stats
 *
 * Pixels go up as they are stored, and come back finished. While the host waits, it weighs the
 * light that leaves the image.
 *
 * Where the host sees the device's memory, it writes planes to the image itself, and there is no
 * step up; where it reads that memory fast, too, there is no step down. Each step is a submission
 * to the queue that does such work, and waits for the step before: so one frame is copied while
 * another one is computed.
 *
 * A gpu_frame is what belongs to one frame; a gpu_work is what all frames use. Channels that do not
 * fit one bound buffer are done in chunks, one after the other, through the same scratch. Command
 * buffers are recorded when the frame is made. gpu_engine.c hands frames out. */
#pragma once

#include "engine/engine.h"
#include "engine/gpu/gpu_pass.h"

/* A plan on a device, without its frames: const from when gpu_engine.c prepares an engine until it
 * is prepared again or closed. The device writes to scratch and tiles; one frame's passes use them
 * at a time, which a barrier before the passes of each frame sees to. */
typedef struct {
    gpu_device g;
    par *threads; /* the caller's; they copy planes */
    plan p;
    uint32_t chunks;
    bool direct[GPU_WAYS]; /* between planes and device without staging */
    gpu_passes passes;
    gpu_buffer scratch, tiles, twiddles;
    gpu_buffer *spectrum; /* per chunk */
} gpu_work;

/* The steps of a frame on the device, each on a queue of its own where there are enough. */
typedef enum { GPU_STEP_UP, GPU_STEP_PASSES, GPU_STEP_DOWN, GPU_STEPS } gpu_step;

/* What travels. Those that a plan has not have no bytes. */
typedef enum { GPU_IMAGE, GPU_MASK, GPU_RESULT, GPU_GLARE, GPU_TOTALS, GPU_LOADS } gpu_load;

/* One thread at a time may use a frame; no lock guards it. */
typedef struct {
    /* Set by gpu_frame_make, const until gpu_frame_free, which frees them. */
    gpu_buffer staging[GPU_WAYS], join; /* staging: where the loads themselves do not do */
    gpu_buffer *load[GPU_LOADS]; /* of each chunk; the mask is that of the first. NULL: there is
                                    none, or the image is where the result goes */
    gpu_sets sets; /* per chunk; behind them, where the plan has planes.again, those of a first pass
                      that reads what the last one has made */
    VkCommandBuffer commands[GPU_STEPS]; /* NULL: the host does that step alone */
    uint32_t steps;                      /* of the frame that the passes are recorded for */
    bool goes_on;                        /* of that frame, too: see engine_frame */
    VkSemaphore done[GPU_STEPS - 1];     /* of each step, for the next */
    VkFence fence;                       /* of the last step */
    VkQueryPool stamps;                  /* NULL: times are not measured */
    float *row;                          /* room for one */

    /* From gpu_frame_load until gpu_frame_wait returns. The planes are the caller's. */
    double host_up; /* seconds that the host has worked on the way up */
    const void *in[ENGINE_CHANNELS];
    void *out[ENGINE_CHANNELS];
    float *glare[ENGINE_CHANNELS];
    join how;

    bool busy; /* submitted and not waited for */
    bool lost; /* it failed on the way: the device may have a part of it, and semaphores are set */
} gpu_frame;

/* Returns the channels of a chunk: channels_per_bind, or fewer in the last chunk. */
uint32_t gpu_chunk_channels(const gpu_work *w, uint32_t chunk);

/* Make a frame from a zeroed one, in two steps; the caller frees it after a failure of either, too.
 * The first step takes its memory, and may run beside that of other frames: the system takes some
 * 7 ms to make 25 MB ready for copies. */
bool gpu_frame_reserve(gpu_frame *f, const gpu_work *w, err *e);
bool gpu_frame_make(gpu_frame *f, const gpu_work *w, err *e);
void gpu_frame_free(gpu_frame *f, const gpu_work *w); /* accepts half-made ones */

/* Copies the planes to where the device finds them. May run beside other frames. */
bool gpu_frame_load(gpu_frame *f, const gpu_work *w, const engine_frame *planes, err *e);
/* Submits a loaded frame. May run beside other frames. */
bool gpu_frame_submit(gpu_frame *f, const gpu_work *w, err *e);
/* Waits for a submitted frame, brings its planes back and, unless st is NULL, fills it for each
 * channel. May run beside other frames. */
bool gpu_frame_wait(gpu_frame *f, const gpu_work *w, join_stats *st, engine_times *t, err *e);

/* Records the passes alone, with a gpu_stamp after each of the last step: for benchmarks, too. */
void gpu_frame_record_passes(const gpu_frame *f, const gpu_work *w, VkCommandBuffer c,
                             VkQueryPool stamps, uint32_t *next);

/* Returns the bytes of the numbers of a join, and fills them. */
uint64_t gpu_join_bytes(uint32_t channels);
void gpu_join_fill(void *to, const join *j, const plan *p);

/* Adds up what the workgroups of a channel's last pass have measured. */
join_stats gpu_join_stats(const void *totals, const join *j, uint32_t channel, const plan *p);
