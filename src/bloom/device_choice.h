/* device_choice.h - which of the machine's devices does a run, and the plan it does there. */
#ifndef BLOOM_DEVICE_CHOICE_H
#define BLOOM_DEVICE_CHOICE_H

#include "engine/engine.h"

/* `want`: "auto" or NULL; "cpu", "gpu", "software"; an index in the list; a uuid; part of a name.
 * vram_limit: 0, or the most bytes a plan may take on a device with memory of its own. The plan is
 * made for the device; with auto, devices on which it cannot be made are passed over. */
bool device_choose(engine_device *d, plan *p, const char *want, const engine_device *list,
                   uint32_t count, const plan_request *ask, uint64_t vram_limit, err *e);

#endif
