/* gpu_planes.h - image planes between the caller's packed rows and memory that host and device see,
 * whose rows are farther apart, and whose samples may be halfs where the caller's are floats. */
#ifndef ENGINE_GPU_PLANES_H
#define ENGINE_GPU_PLANES_H

#include "engine/engine.h"

typedef struct {
    uint32_t channels, width, height;
    size_t pitch;        /* samples from one row to the next, of `there` */
    size_t sample_bytes; /* of the caller's: 4 or 8 */
    bool halfs;          /* `there` has halfs */
    void *there[ENGINE_CHANNELS];
} gpu_planes;

/* Halfs: every sample must be one exactly. */
bool gpu_planes_write(const gpu_planes *to, const void *const *from, par *threads, err *e);
/* Not of halfs; nor of doubles, to a sink. */
bool gpu_planes_read(const gpu_planes *from, void *const *to, par *threads, err *e);
bool gpu_planes_sink(const gpu_planes *from, const engine_sink *to, par *threads, err *e);

#endif
