/* session.h - everything that stands ready to bloom images, shared by the threads of a run.
 *
 * A session holds the kernel as it was read, the devices of the machine, what follows from the size
 * of an image (session_size), and one engine, which is prepared for one size and one way at a time.
 * A thread takes what it needs, works with it without a lock, and gives it back. A session knows
 * nothing of pixels. */
#ifndef BLOOM_SESSION_H
#define BLOOM_SESSION_H

#include "bloom/bloom.h"
#include "bloom/promise/sketch.h"
#include "device/device_choice.h"
#include "kernel/cache.h"
#include "kernel/kernel_source.h"

/* What follows from the size of an image. Const once it is made. */
typedef struct {
    kernel_need need;
    psf kernel;
    kernel_tail tail;
    noise_tail sums[PSF_CHANNELS][CORES]; /* tail_sums of each channel and core */
    bool nonnegative[PSF_CHANNELS];       /* the kernel has no taps below zero */
    sketch_kernel sketch;
    ledger_kernel ledger;
    uint32_t *seen[PLAN_AXES]; /* how often borders show each column and row */
    char colours[128];         /* how the colours of kernel and image go together; "": they agree */
    device_decision decided;   /* where each transform runs, and with which plan */
} session_size;

/* One slot of the prepared engine, from session_take to session_give. Starts as zeros. */
typedef struct {
    engine *engine;
    uint32_t slot;
    engine_device device;
    plan plan;
    double spectrum_seconds; /* spent on the kernel's spectrum, added to with each session_take */
    bool spectrum_cached;
    char note[256]; /* why the session has gone over to the CPU, if it did so here */
} session_lease;

typedef struct session session;

/* Reads the kernel. `s` is copied; its strings, `kernel` and `threads` belong to the caller and
 * must outlive the session. Opens no device. */
session *session_open(const bloom_settings *s, const char *kernel, par *threads, err *e);
/* Frees everything and sets *s to NULL. No thread may use it any more. */
void session_close(session **s);

const kernel_source *session_kernel(const session *s);

/* Returns what follows from this size: made for the first thread that asks, and kept for those that
 * follow. Valid until it is given back. */
const session_size *session_size_take(session *s, const kernel_need *need, err *e);
void session_size_give(session *s, const session_size *size);

/* Returns the request for a plan that this kernel and size make, but for the device's limits. */
plan_request session_request(const bloom_settings *s, const psf *k, const kernel_need *need);

/* Forecasts for every device that there is. Returns the index of the one that would be taken, or
 * -1. */
int session_forecast(session *s, const plan_request *ask, bloom_forecasts *to, err *e);

/* What the engine must be prepared for: a size, a transform, and the kernel without its core of
 * that radius. */
typedef struct {
    const session_size *size;
    device_way way;
    uint32_t core;
} session_want;

/* Takes a slot of the engine, prepared as `want` says. Threads are served in the order in which
 * they ask: one that needs the engine as it is takes a free slot, one that needs it otherwise waits
 * until nobody uses it and prepares it. A thread must not take a second slot while it has one.
 * Where the device was chosen by `auto` and a GPU fails, the session goes over to the CPU. */
bool session_take(session_lease *l, session *s, const session_want *want, err *e);
/* Gives the slot back. failed: the engine could not do what was asked, with `why`; it is opened
 * again for the next thread that takes a slot. Returns true if the caller should take a slot once
 * more, since the session has gone over to the CPU. */
bool session_give(session *s, session_lease *l, bool failed, const err *why);

#endif
