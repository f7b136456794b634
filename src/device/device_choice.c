#include "device/device_choice.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const CLASS_NAME[] = {
    [ENGINE_CPU] = "cpu", [ENGINE_GPU] = "gpu", [ENGINE_SOFTWARE] = "software"};
enum { CLASSES = sizeof CLASS_NAME / sizeof CLASS_NAME[0] };

/* --- what is wanted ------------------------------------------------------------------------- */

static bool is_any(const char *want) {
    return !want || !*want || strcmp(want, "auto") == 0 || strcmp(want, "all") == 0;
}

static bool is_class(const char *want) {
    for (int i = 0; i < CLASSES; i++)
        if (strcmp(want, CLASS_NAME[i]) == 0) return true;
    return false;
}

static bool is_number(const char *want) {
    return *want && want[strspn(want, "0123456789")] == 0;
}

static bool is_uuid(const char *want, const engine_device *d) {
    static const uint8_t NONE[ENGINE_UUID];
    char hex[2 * ENGINE_UUID + 1], plain[2 * ENGINE_UUID + 1];
    size_t n = 0;
    for (; *want; want++) {
        if (*want == '-') continue;
        if (n == sizeof plain - 1) return false;
        plain[n++] = (char)tolower((unsigned char)*want);
    }
    plain[n] = 0;
    for (int i = 0; i < ENGINE_UUID; i++) snprintf(hex + 2 * i, 3, "%02x", d->uuid[i]);
    return memcmp(d->uuid, NONE, ENGINE_UUID) != 0 && strcmp(plain, hex) == 0;
}

bool device_is_wanted(const char *want, const engine_device *d, uint32_t index) {
    if (is_any(want)) return true;
    if (is_class(want)) return strcmp(want, CLASS_NAME[d->class]) == 0;
    if (is_number(want)) {
        char number[16];
        snprintf(number, sizeof number, "%u", index);
        return strcmp(want, number) == 0;
    }
    return is_uuid(want, d) || (strlen(want) > 2 && strcasestr(d->name, want) != NULL);
}

/* --- what cannot be done --------------------------------------------------------------------- */

/* What to install where no device of a class is there; "" where nothing can be. */
static const char *const INSTALL[CLASSES] = {
    [ENGINE_CPU] = "",
    [ENGINE_GPU] = ("; for a GPU install its Vulkan driver (Debian: mesa-vulkan-drivers, or the "
                    "maker's own)"),
    [ENGINE_SOFTWARE] = "; install a software Vulkan driver (Debian: mesa-vulkan-drivers)"};

static const char *what_to_install(const char *want, const engine_device *list, uint32_t count) {
    for (int i = 0; i < CLASSES; i++)
        if (strcmp(want, CLASS_NAME[i]) == 0) return INSTALL[i];
    for (uint32_t i = 0; i < count; i++)
        if (list[i].class != ENGINE_CPU) return "";
    return "; there is no Vulkan driver (Debian: mesa-vulkan-drivers)";
}

static void none_wanted(const char *want, const engine_device *list, uint32_t count, err *e) {
    text there = {0};
    for (uint32_t i = 0; i < count; i++)
        text_add(&there, "%s%u '%s' (%s)", i ? ", " : "", i, list[i].name,
                 CLASS_NAME[list[i].class]);
    if (!WITH_FFTW && !is_any(want) && strcmp(want, CLASS_NAME[ENGINE_CPU]) == 0)
        err_set(e, ERR_NO_DEVICE,
                "this build has no CPU engine: it was made without FFTW; install libfftw3-dev and "
                "run make, or choose another device: %s",
                count ? there.s : "there is none");
    else if (!count)
        err_set(e, ERR_NO_DEVICE,
                "no device: this build has no CPU engine and there is no Vulkan driver; install "
                "one (Debian: mesa-vulkan-drivers)");
    else
        err_set(e, ERR_NO_DEVICE, "no device is '%s'; there are %s%s", want, there.s,
                what_to_install(want, list, count));
    text_free(&there);
}

/* Why none of those that are wanted can do it: each device's own reason. */
static void none_possible(const device_forecast *f, const engine_device *list, uint32_t count,
                          err_code code, err *e) {
    text why = {0};
    for (uint32_t i = 0; i < count; i++)
        if (f[i].wanted) text_add(&why, "%s%s: %s", why.n ? "; " : "", list[i].name, f[i].why);
    err_set(e, code, "%s", why.s);
    text_free(&why);
}

/* --- the choice ------------------------------------------------------------------------------ */

static err_code forecast(device_forecast *f, const device_wish *wish, const engine_device *d,
                         const device_speed *speed, const plan_request *ask) {
    plan_request here = *ask;
    here.limits = d->limits;
    if (wish->vram_limit && d->class != ENGINE_CPU &&
        (!here.limits.memory || wish->vram_limit < here.limits.memory))
        here.limits.memory = wish->vram_limit;
    err e = {0};
    f->possible = plan_make(&f->plan, &here, &e);
    f->measured = speed->measured;
    if (f->possible)
        f->time = device_predict(speed, d->class, &f->plan, wish->images);
    else
        snprintf(f->why, sizeof f->why, "%.255s", e.msg);
    return e.code;
}

int device_choose(device_forecast *to, const device_wish *wish, const engine_device *list,
                  const device_speed *speed, uint32_t count, const plan_request *ask, err *e) {
    int best = -1;
    bool any = false;
    err_code code = ERR_NONE;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = (device_forecast){.wanted = device_is_wanted(wish->want, &list[i], i)};
        err_code failed = forecast(&to[i], wish, &list[i], &speed[i], ask);
        if (!to[i].wanted) continue;
        any = true;
        if (failed) code = failed;
        if (!to[i].possible) continue;
        if (best < 0 || to[i].time.all < to[best].time.all) best = (int)i;
    }
    if (!any)
        none_wanted(wish->want, list, count, e);
    else if (best < 0)
        none_possible(to, list, count, code, e);
    return best;
}
