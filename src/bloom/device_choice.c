#include "bloom/device_choice.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const CLASS_NAME[] = {
    [ENGINE_CPU] = "cpu", [ENGINE_GPU] = "gpu", [ENGINE_SOFTWARE] = "software"};

static bool is_auto(const char *want) {
    return !want || !*want || strcmp(want, "auto") == 0;
}

static bool is_index(const char *want, uint32_t i) {
    char number[16];
    snprintf(number, sizeof number, "%u", i);
    return strcmp(want, number) == 0;
}

static bool is_uuid(const char *want, const engine_device *d) {
    char hex[2 * ENGINE_UUID + 1];
    for (int i = 0; i < ENGINE_UUID; i++) snprintf(hex + 2 * i, 3, "%02x", d->uuid[i]);
    return d->class != ENGINE_CPU && strcasecmp(want, hex) == 0;
}

static bool matches(const char *want, const engine_device *d, uint32_t i) {
    if (is_auto(want)) return true;
    if (strcmp(want, CLASS_NAME[d->class]) == 0 || is_index(want, i) || is_uuid(want, d))
        return true;
    return strlen(want) > 2 && strcasestr(d->name, want) != NULL;
}

static bool none_found(const char *want, const engine_device *list, uint32_t count, err *e) {
    if (!count)
        return err_set(e, ERR_NO_DEVICE,
                       "no device: this build has no CPU engine and there is no Vulkan "
                       "driver; install one (Debian: mesa-vulkan-drivers)");
    text names = {0};
    for (uint32_t i = 0; i < count; i++)
        text_add(&names, "%s%u '%s'", i ? ", " : "", i, list[i].name);
    err_set(e, ERR_NO_DEVICE, "no device is '%s'; there are %s", is_auto(want) ? "auto" : want,
            names.s);
    text_free(&names);
    return false;
}

bool device_choose(engine_device *d, plan *p, const char *want, const engine_device *list,
                   uint32_t count, const plan_request *ask, uint64_t vram_limit, err *e) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!matches(want, &list[i], i)) continue;
        any = true;
        plan_request on = *ask;
        on.limits = list[i].limits;
        if (vram_limit && (!on.limits.memory || vram_limit < on.limits.memory))
            on.limits.memory = vram_limit;
        if (!plan_make(p, &on, e)) continue;
        *d = list[i];
        if (e) e->code = ERR_NONE;
        return true;
    }
    return any ? false : none_found(want, list, count, e);
}
