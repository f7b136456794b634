/* gpu_frame.h - a frame in flight on a Vulkan device: its buffers, its commands, its way there and
 * back.
 *
 *   planes -> staging =up=> image =passes=> image =down=> staging -> planes, or a sink's rows
 *
 * Where the host sees the device's memory, planes are written to the image themselves, and there is
 * no step up; where it reads that memory fast, too, they are read from there, and there is none
 * down. Each step is a submission to the queue that does such work, and waits for the one before:
 * so one frame is copied while another one is computed.
 *
 * What belongs to one frame is a gpu_frame; what all frames use, the scratch of which only one does
 * at a time, is a gpu_work. Channels that do not fit one bound buffer are done in chunks, one after
 * the other, through the same scratch. Command buffers are recorded when the frame is made: to run
 * it is a copy, submissions, a fence and a copy. */
#ifndef ENGINE_GPU_FRAME_H
#define ENGINE_GPU_FRAME_H

#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/gpu_pass.h"

/* A plan on a device, but for its frames: gpu_engine.c makes and frees it. */
typedef struct {
    gpu_device g;
    par *threads;
    plan p;
    uint32_t chunks;
    bool direct[GPU_WAYS]; /* between planes and image without staging */
    gpu_passes passes;
    gpu_buffer scratch, tiles, split, twiddles, places;
    gpu_buffer *spectrum; /* per chunk */
    VkDescriptorPool sets;
} gpu_work;

/* What the device does for a frame, each on a queue of its own where it has them. */
typedef enum { GPU_STEP_UP, GPU_STEP_PASSES, GPU_STEP_DOWN, GPU_STEPS } gpu_step;

/* Channels of a chunk: channels_per_bind, or what is left for the last. */
uint32_t gpu_chunk_channels(const gpu_work *w, uint32_t chunk);

typedef struct {
    gpu_buffer up, down, weights; /* up and down: where the image itself does not do */
    gpu_buffer *input, *image;    /* per chunk; input: of halfs, NULL where there is none */
    VkDescriptorSet *set;
    VkCommandBuffer commands[GPU_STEPS]; /* NULL: the host does that step alone */
    VkSemaphore done[GPU_STEPS - 1];     /* of each step, for the next */
    VkFence fence;
    VkQueryPool stamps;
    double host_up; /* s that the host has worked on the way up */
    void *out[ENGINE_CHANNELS];
    const engine_sink *sink;
    bool busy;
    bool lost; /* it failed on the way: the device may have a part of it, and semaphores are set */
} gpu_frame;

/* Descriptor sets that each frame takes from w->sets. */
uint32_t gpu_frame_sets(const gpu_work *w);
/* timestamps: gpu_frame_wait tells times, where the device has them. */
bool gpu_frame_make(gpu_frame *f, const gpu_work *w, bool timestamps, err *e);
void gpu_frame_free(gpu_frame *f, const gpu_work *w); /* accepts half-made ones */

/* One after the other. Load copies the planes to where the device finds them, and may run beside
 * other frames; submit must not run beside another submit on the same device. */
bool gpu_frame_load(gpu_frame *f, const gpu_work *w, const engine_frame *planes, err *e);
bool gpu_frame_submit(gpu_frame *f, const gpu_work *w, err *e);
bool gpu_frame_wait(gpu_frame *f, const gpu_work *w, engine_times *t, err *e);

/* The passes alone, with a stamp after each unless stamps is NULL: for benchmarks. */
void gpu_frame_record_passes(const gpu_frame *f, const gpu_work *w, VkCommandBuffer c,
                             VkQueryPool stamps, uint32_t *next);

#endif
