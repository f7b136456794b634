/* device_choice.h - the devices of this machine, and which of them a run takes, with its plan.
 *
 * Of the devices that were asked for and can hold the plan, a GPU with memory of its own takes a
 * run of at least 64 frames of 1920 x 1080, counted in pixels, and the CPU any other run: starting
 * a GPU pays for a long sequence alone. `apply`, `plan` and `bench` all decide here. */
#pragma once

#include "engine/engine.h"

typedef enum { DEVICES_NONE, DEVICES_CPU, DEVICES_ALL } device_listed;

/* The devices, listed when they are first needed, since a full list loads every graphics driver of
 * the machine. The caller zeroes the list. One thread at a time may use it. */
typedef struct {
    /* Filled by device_list_fill, const after DEVICES_ALL. */
    engine_device device[ENGINE_DEVICES];
    uint32_t count;
    device_listed listed; /* DEVICES_CPU: only the CPU, and its index is not that of a full list */
} device_list;

/* Lists all devices, or with "cpu" only the CPU. Does nothing where they are listed already. */
void device_list_fill(device_list *l, const char *want);
/* Lists the CPU alone where the rule takes it anyway: a full list takes 0.04 s and more. */
struct device_request;
void device_list_for(device_list *l, const struct device_request *r);

/* A task, and the devices that may do it. */
typedef struct device_request {
    const char *want;    /* "auto" or NULL; "all"; "gpus"; "cpu", "gpu", "software"; an index in the
                          * list; a uuid, with or without dashes; part of a name (3 letters or
                          * more); or several of these, with commas between them */
    uint32_t images;     /* how many there are; 0 stands for 1 */
    double pixels;       /* of an image; 0: those of `ask`, which may be a tile of the image */
    uint64_t vram_limit; /* 0, or the maximum of bytes that a plan may take on a device */
    bool lists_all;      /* for a list of all devices, also where the rule needs none */
    uint32_t gpu_frames; /* maximum of frames in flight on a GPU; 0: as many as `ask` says */
    plan_request ask;    /* its limits do not count: each device has its own */
} device_request;

/* The forecast for one device. */
typedef struct {
    bool wanted, possible;
    err_code code; /* the reason where it is not possible, */
    char why[256]; /* and its sentence */
    plan plan;
} device_forecast;

/* Returns the pixels of the run, in frames of 1920 x 1080. From DEVICE_WORK of them on, a GPU with
 * memory of its own is taken. */
enum { DEVICE_WORK = 64 };
double device_work(const device_request *r);

/* Returns whether `want` may name several devices: "all", "gpus", or a list. */
bool device_are_several(const char *want);
/* Returns whether `want` (see device_request) names device `d`, at `index` of the list. */
bool device_is_wanted(const char *want, const engine_device *d, uint32_t index);

/* Fills to[i] for each device i of a filled list, and returns the one to take, or -1. */
int device_choose(device_forecast *to, const device_list *l, const device_request *r, err *e);
/* Returns the index of the device that device_choose would take if all of them could hold the plan,
 * as they can hold tiles of an image; -1: none is wanted. */
int device_prefer(const device_list *l, const device_request *r);

/* The ways in which an image may be transformed. */
typedef enum { WAY_FLOAT32, WAY_FLOAT64, DEVICE_WAYS } device_way;

/* The device and the plan of a transform. */
typedef struct {
    bool possible;
    err why; /* the reason where it is not possible */
    engine_device device;
    plan plan;
} device_choice;

typedef struct {
    device_choice way[DEVICE_WAYS];
} device_decision;

/* Decides for every way, without opening a device. The precision of the request does not count.
 * Loads no graphics drivers where the CPU was asked for, or is taken by the rule. */
void device_decide(device_decision *to, device_list *l, const device_request *r);
