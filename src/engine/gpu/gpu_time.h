/* gpu_time.h - how long repeated commands take on the device, by its own time stamps: of a whole
 * repetition without stamps between, and of each step, with about a microsecond of stamping.
 * Nothing else may use the device's queue meanwhile. */
#pragma once

#include "engine/gpu/gpu_device.h"

typedef struct {
    uint32_t count; /* repetitions */
    uint32_t steps; /* of a repetition */
    /* Records one repetition, with a gpu_stamp after each step. */
    void (*record)(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next);
    void *ctx;
} gpu_timing;

/* Fills `total` with the seconds of a repetition, and step[i] with those of each of its steps. */
bool gpu_time(const gpu_device *g, const gpu_timing *t, double *total, double *step, err *e);

/* Fills r->copy and r->copy_pass: the best that the device's memory does for passes that move these
 * bytes, by r->count rounds of copies; copy i reads half of bytes[i] and writes half. */
bool gpu_time_copies(const gpu_device *g, engine_repeat *r, const uint64_t *bytes, uint32_t steps,
                     err *e);
