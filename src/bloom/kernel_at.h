/* kernel_at.h - the kernel at the sizes of a run's images: its taps, what they do to light, and
 * where its transforms run. A kernel_at is const once it is made, and shared by all threads. The
 * first thread that asks for a size makes it, without the lock; those that follow wait for it. */
#pragma once

#include "bloom/promise/tail.h"
#include "bloom/settings.h"
#include "device/device_pool.h"
#include "engine/join.h"

/* A node of a field: its kernel, and the window in which it spreads light, with where its
 * transforms run. */
typedef struct {
    const struct kernel_at *at;
    field_window window;
    plan_request ask;
    device_decision decided;
} kernel_node;

typedef struct kernel_at {
    kernel_need need;
    plan_planes planes; /* of its frames */
    psf kernel;
    plan_request ask; /* for its plan, but for the limits of a device */
    hash128 hash;     /* of the kernel */
    kernel_tail tail;
    noise_tail sums[PSF_CHANNELS]; /* tail_sums of each channel */
    spill ledger;
    char fit[256];           /* how kernel and image go together; "": as they are */
    device_decision decided; /* where each transform runs, and with which plan */
    /* Of a field: the kernels of its nodes, [row][column] and perhaps a common one. The kernel is
     * then that of the largest one, tail and sums are the most of all, `decided` is of the largest
     * window, and there is no ledger. A node alone has no place, and nothing is decided: all tiles
     * of an image share it. NULL and zeros: there is no field. */
    kernel_node *node;
    const psf **psf; /* of each */
    uint32_t nodes;
    join_field field;
} kernel_at;

/* Returns whether its transforms can run. Doubles may be impossible; floats must not be, unless
 * doubles are asked for. Where only the lines of doubles are too long, tiles have them. */
bool kernel_at_possible(const kernel_at *k, plan_precision precision, err *e);
/* Returns whether a node of a field has the light of all pixels. */
static inline bool kernel_at_common(const kernel_at *k, uint32_t node) {
    return node == k->field.nodes[PLAN_X] * k->field.nodes[PLAN_Y];
}

/* Fills in what a plan is asked for, for the `need` and the `planes` of k, without taps: the kernel
 * is made and dropped. source NULL: as if it were one tap. */
bool kernel_at_sketch(kernel_at *k, const bloom_settings *s, const kernel_source *source, err *e);
/* Fills in the same for a kernel that is made already. */
void kernel_at_plan(kernel_at *k, const bloom_settings *s);
/* Return the request for a device for such a plan; and the bytes that stand ready for a size, but
 * for the engine: the kernel as it was read and as taps, its tail, and the ledger's table. */
device_request kernel_at_device(const bloom_settings *s, const plan_request *ask);
uint64_t kernel_at_bytes(const plan_request *ask);

/* All sizes of a kernel that are in use, and a few more. Settings, kernel and devices belong to the
 * caller, and must outlive them. kernel_sizes_close: no thread may have a size any more.
 * kernel_sizes_rest: frees what is kept for images to come and that nobody uses. */
typedef struct kernel_sizes kernel_sizes;
kernel_sizes *kernel_sizes_open(const bloom_settings *s, const kernel_source *k,
                                device_pool *devices, err *e);
void kernel_sizes_close(kernel_sizes **sizes);
void kernel_sizes_rest(kernel_sizes *sizes);

/* Takes the kernel at a size; valid until it is given back. */
const kernel_at *kernel_sizes_take(kernel_sizes *sizes, const kernel_need *need, plan_planes planes,
                                   err *e);
void kernel_sizes_give(kernel_sizes *sizes, const kernel_at *k);

/* Makes a size that nobody has asked for yet in two steps, between which the caller may open an
 * engine: the kernel and where its transforms run; and all else. Returns NULL where there is
 * nothing to end: others make the size, or it cannot be made, as kernel_sizes_take will say. */
const kernel_at *kernel_sizes_begin(kernel_sizes *sizes, const kernel_need *need,
                                    plan_planes planes);
void kernel_sizes_end(kernel_sizes *sizes, const kernel_at *begun);
