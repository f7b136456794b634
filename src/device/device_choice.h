/* device_choice.h - the devices of this machine, and which of them a run takes, with its plan.
 *
 * Of the devices that are asked for and can hold the plan, the one with the smallest predicted time
 * from file to file is taken: a GPU costs a start-up that one small image never earns back, and a
 * long sequence does. `apply`, `plan` and `bench` all decide here, so that they name the same
 * device and plan. This module knows nothing of images, kernels or accuracy. */
#ifndef DEVICE_DEVICE_CHOICE_H
#define DEVICE_DEVICE_CHOICE_H

#include "device/device_speed.h"

typedef enum { DEVICES_NONE, DEVICES_CPU, DEVICES_ALL } device_listed;

/* The devices with their speeds. They are listed when they are first needed, since a full list
 * loads every graphics driver of the machine. The caller sets the first two members and zeroes the
 * rest; there is nothing to free. One thread at a time may use a list. */
typedef struct {
    int threads;           /* of the host, for the engines that run on it */
    const char *cache_dir; /* where measured speeds are; NULL: nowhere. It must outlive the list */
    engine_device device[ENGINE_DEVICES];
    device_speed speed[ENGINE_DEVICES];
    uint32_t count;
    device_listed listed; /* DEVICES_CPU: the CPU alone, and an index in the list says nothing */
} device_list;

/* Lists all devices, or with "cpu" the CPU alone; does nothing where they are listed already. */
void device_list_fill(device_list *l, const char *want);

/* What is to be done, and where. */
typedef struct {
    const char *want;    /* "auto" or NULL; "all"; "cpu", "gpu", "software"; an index in the list;
                          * a uuid, with or without dashes; part of a name (3 letters or more) */
    uint32_t images;     /* how many will be done; 0 stands for 1 */
    uint64_t vram_limit; /* 0, or the maximum of bytes that a plan may take on a device */
    uint32_t gpu_frames; /* in flight on a GPU, at most; 0: as many as `ask` says */
    plan_request ask;    /* its limits are left out: each device has its own */
} device_request;

/* What one device would do. */
typedef struct {
    bool wanted, possible;
    char why[256]; /* the reason where it is not possible */
    plan plan;
    device_seconds time;
    bool measured; /* its speed was measured; else it is the default of its class */
} device_forecast;

/* Returns whether `d`, at `index` of the list, is what was asked for. */
bool device_is_wanted(const char *want, const engine_device *d, uint32_t index);

/* Fills to[i] for each device i of a filled list, and returns the index of the one to take. Returns
 * -1 where none can do it; the error says what there is, or why each one that was asked for cannot.
 */
int device_choose(device_forecast *to, const device_list *l, const device_request *r, err *e);

/* The ways in which an image may be transformed: floats, floats that are all halfs (and travel to a
 * device as such), and doubles. */
typedef enum { WAY_FLOAT32, WAY_HALFS, WAY_FLOAT64, DEVICE_WAYS } device_way;

/* Where a transform runs and how. */
typedef struct {
    bool possible;
    err why; /* the reason where it is not possible */
    engine_device device;
    plan plan;
    device_seconds time;
    /* The seconds of one core of the host that the transforms cost: for comparing methods. It
     * follows from round numbers per class of device, so that every machine of a kind decides
     * alike.
     */
    double seconds;
} device_choice;

typedef struct {
    device_choice way[DEVICE_WAYS];
} device_decision;

/* Decides for every way, without device work; the precision and half_input of the request do not
 * count. Graphics drivers are not loaded where the CPU is asked for, or is done before any GPU
 * could have started. */
void device_decide(device_decision *to, device_list *l, const device_request *r);

/* The way that a request for a plan describes. */
device_way device_way_of(const plan_request *ask);

#endif
