/* device_pool.h - the devices of a run: listed once, opened once, and engines that stand prepared
 * on them.
 *
 * A thread that has planes to convolve takes a slot of an engine that is prepared for its task,
 * works with it without a lock, and gives it back. One engine is prepared while others work. An
 * engine that nobody uses stays for the next task of its kind, until memory is short. */
#pragma once

#include "base/hash.h"
#include "device/device_choice.h"

typedef struct device_pool device_pool;

/* Opens no device. `cache_dir` is as cache_path has it. `threads` belongs to the caller and must
 * outlive the pool. `idle` is how many engines that nobody uses are kept while another is prepared:
 * 0 for a run whose images follow each other. */
device_pool *device_pool_open(par *threads, const char *cache_dir, uint32_t idle, err *e);
/* Closes every device, and sets *p to NULL. No thread may use it any more. */
void device_pool_close(device_pool **p);
/* Keeps as many engines that nobody uses: those of a field's nodes take turns. Returns how many
 * were kept before. */
uint32_t device_pool_keep(device_pool *p, uint32_t idle);
par *device_pool_threads(const device_pool *p);

/* Do what device_decide and device_choose do, with the devices of the machine. *list, valid as long
 * as the pool, receives them. */
void device_pool_decide(device_pool *p, device_decision *to, const device_request *r);
int device_pool_choose(device_pool *p, device_forecast *to, const device_list **list,
                       const device_request *r, err *e);

bool device_pool_start(device_pool *p, const engine_device *d, err *e);

/* What an engine is to be prepared for. `on`, a possible choice, is copied. */
typedef struct {
    hash128 kernel; /* of what makes the spectra; with the same plan, tasks share engines */
    const device_choice *on;
    /* Makes the spectrum of each term; called where no engine is prepared for the task. */
    bool (*spectra)(void *ctx, spectrum_lines *to, const plan *p, err *e);
    void *ctx;
} device_task;

/* A slot of an engine, from device_take to device_give. */
typedef struct {
    engine *engine;
    uint32_t slot;
    struct device_place *place; /* the pool's own */
} device_lease;

/* Takes a slot for this task; waits while all of them are taken, and while memory is short. Among
 * those that wait for the same engine, the first comes first. A thread must not take a second slot
 * while it has one. *refused tells after a failure whether the device was its reason. */
bool device_take(device_lease *l, device_pool *p, const device_task *t, bool *refused, err *e);
/* Gives the slot back. failed: the engine could not do what was asked: it is not used any more, and
 * its device is opened again for the next task. */
void device_give(device_pool *p, device_lease *l, bool failed);

/* Closes the engines that nobody uses, to make room. */
void device_pool_trim(device_pool *p);

/* Notes that a device has failed for which the CPU stands in; returns whether it was the first. */
bool device_pool_give_up(device_pool *p);
/* Returns whether that was noted: devices that were chosen by `auto` are not to be tried again. */
bool device_pool_gave_up(device_pool *p);
