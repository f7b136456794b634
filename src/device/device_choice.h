/* device_choice.h - which of the machine's devices does a run, and the plan it does there.
 *
 * Of the devices that are wanted and can hold the plan, the one with the least predicted time from
 * file to file: a GPU costs a start-up that one small image never earns back; a sequence does. A
 * pure function of the list of devices, their speeds and the request. */
#ifndef BLOOM_DEVICE_CHOICE_H
#define BLOOM_DEVICE_CHOICE_H

#include "device/device_speed.h"

typedef struct {
    const char *want;    /* "auto" or NULL; "all"; "cpu", "gpu", "software"; an index in the list;
                            a uuid, with or without dashes; part of a name (3 letters or more) */
    uint32_t images;     /* how many will be done; 0 stands for 1 */
    uint64_t vram_limit; /* 0, or the most bytes a plan may take on a device */
} device_wish;

/* What one device would do. */
typedef struct {
    bool wanted, possible;
    char why[256]; /* not possible: why not */
    plan plan;
    device_seconds time;
    bool measured; /* its speed; else a default */
} device_forecast;

/* Whether `d`, at `index` of the list, is what was asked for. */
bool device_is_wanted(const char *want, const engine_device *d, uint32_t index);

/* For every device of the list; returns the index of the one to take. Or -1, and the error says
 * what there is, or why those that are wanted cannot do it. */
int device_choose(device_forecast *to, const device_wish *wish, const engine_device *list,
                  const device_speed *speed, uint32_t count, const plan_request *ask, err *e);

#endif
