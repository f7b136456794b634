/* session.h - the engines that bloom images with one kernel, shared by the threads of a run: the
 * kernel as it was read and at the sizes of images (kernel_at.h), and leases of engines prepared
 * for such a size, from a pool of devices (device/device_pool.h). A thread takes what it needs,
 * works with it without a lock, and gives it back. */
#pragma once

#include "bloom/kernel_at.h"
#include "bloom/report.h"
#include "kernel/cache.h"

/* A slot of a prepared engine, from session_take to session_give. Starts as zeros. */
typedef struct {
    device_lease at;
    engine_device device;
    plan plan;
    hash128 spectrum_of;     /* the psf of the cache's entry, where spectrum_cached */
    double spectrum_seconds; /* spent on the kernel's spectrum, added to with each session_take */
    bool spectrum_cached;
    char note[256]; /* why the session has gone over to the CPU, if it did so here */
} session_lease;

typedef struct session session;

/* Opens a session with a kernel that was read, or reads it from its path where that is NULL. `s` is
 * copied; its strings, the kernel and `devices` belong to the caller and must outlive the session.
 * Opens no device. */
session *session_open(const bloom_settings *s, const char *path, const kernel_source *read,
                      device_pool *devices, err *e);
/* Opens a session with the kernel of another, which must outlive it. */
session *session_open_beside(const session *of, const bloom_settings *s, err *e);
/* Sets how many engines that nobody uses are kept, and returns how many were. */
uint32_t session_keep(session *s, uint32_t engines);
/* Frees what is kept for images to come and that nobody uses, engines too. */
void session_rest(session *s);
/* Frees everything and sets *s to NULL. No thread may use it any more. */
void session_close(session **s);

const kernel_source *session_kernel(const session *s);
kernel_sizes *session_sizes(session *s);
/* Returns what lint_glance says of the kernel. */
const lint_faults *session_faults(const session *s);

/* Makes ready, side by side, what follows from a size that nobody has asked for yet, and an engine
 * for a plain transform. DEVICE_WAYS: pixels decide between floats and doubles, and a device that
 * compiles its passes is only opened. kernel_sizes_take and session_take wait for it, the next
 * lease tells what it came to, and what fails here fails there as well. Returns the seconds that
 * the spectrum took. */
double session_expect(session *s, const kernel_need *need, plan_planes planes, device_way way);

/* Returns the request for the kernel's spectrum on a device of this class. All lines of a resampled
 * one are kept for image after image on the CPU, where that takes a small part of the memory; one
 * in double is made line by line for a lone image on the CPU. */
spectrum_request session_spectrum(const bloom_settings *s, engine_class class, const plan *p);
/* Forecasts for every device. Returns the index of the one that would be taken, or -1. */
int session_forecast(session *s, const plan_request *ask, bloom_forecasts *to, err *e);

/* What the engine must be prepared for: a size or a node of a field, and a transform. */
typedef struct {
    const kernel_at *size;
    device_way way;
    const kernel_node *node; /* whose `at` the size is; NULL: it is a size */
} session_want;

/* Takes a slot of an engine that is prepared as `want` says: device_take has the rules. Where the
 * device was chosen by `auto` and a GPU fails, all sessions of the pool go over to the CPU. */
bool session_take(session_lease *l, session *s, const session_want *want, err *e);
/* Gives the slot back. failed: the engine could not do what was asked, with `why`. Returns true if
 * the caller should take a slot once more, since the CPU has taken over. */
bool session_give(session *s, session_lease *l, bool failed, const err *why);
/* Adds what a lease and its frames have come to. */
void session_account(bloom_account *to, const session_lease *l, const engine_times *times);
