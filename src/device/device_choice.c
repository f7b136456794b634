#include "device/device_choice.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>

static bool choice_is_auto(const char *want) {
    return !want || !*want || strcmp(want, "auto") == 0;
}

static bool is_any(const char *want) {
    return choice_is_auto(want) || strcmp(want, "all") == 0;
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

bool device_are_several(const char *want) {
    return want && (strcmp(want, "all") == 0 || strcmp(want, "gpus") == 0 || strchr(want, ','));
}

/* Fills `word` with what stands in front of the first comma; returns what stands behind it. */
static const char *next_word(char word[ENGINE_NAME], const char *list) {
    size_t n = strcspn(list, ",");
    snprintf(word, ENGINE_NAME, "%.*s", (int)min_size(n, ENGINE_NAME - 1), list);
    return list + n + (list[n] == ',');
}

static bool is_in_list(const char *want, const engine_device *d, uint32_t index) {
    char word[ENGINE_NAME];
    while (*want) {
        want = next_word(word, want);
        if (*word && device_is_wanted(word, d, index)) return true;
    }
    return false;
}

/* Finds a word of a list that names no device, although others do. */
static bool has_stray(char word[ENGINE_NAME], const char *want, const device_list *l) {
    for (uint32_t i = 0; i < l->count; i++) /* a name with a comma in it is no list */
        if (!is_any(want) && strcasestr(l->device[i].name, want)) return false;
    bool list = !is_any(want) && strchr(want, ',');
    while (list && *want) {
        bool any = false;
        want = next_word(word, want);
        for (uint32_t i = 0; *word && i < l->count; i++)
            any |= device_is_wanted(word, &l->device[i], i);
        if (!any) return true;
    }
    return false;
}

bool device_is_wanted(const char *want, const engine_device *d, uint32_t index) {
    if (is_any(want)) return true;
    if (strcmp(want, "gpus") == 0) return d->class == ENGINE_GPU;
    for (int i = 0; i < ENGINE_CLASSES; i++)
        if (strcmp(want, engine_class_name((engine_class)i)) == 0) return (int)d->class == i;
    if (want[strspn(want, "0123456789")] == 0) {
        char number[16];
        snprintf(number, sizeof number, "%u", index);
        return strcmp(want, number) == 0;
    }
    if (is_uuid(want, d) || (strlen(want) > 2 && strcasestr(d->name, want) != NULL)) return true;
    return strchr(want, ',') && is_in_list(want, d, index); /* names may have commas, too */
}

/* What can be installed where a device of a class is wanted and missing. */
static const char *const INSTALL[ENGINE_CLASSES] = {
    [ENGINE_CPU] = "",
    [ENGINE_GPU] =
        ("; for a GPU install its Vulkan driver (Debian: mesa-vulkan-drivers, or the maker's own)"),
    [ENGINE_SOFTWARE] = "; install a software Vulkan driver (Debian: mesa-vulkan-drivers)"};

/* Sets the error for a wish that no device meets: the devices that there are, and what to do. */
static void none_wanted(const char *want, const device_list *l, err *e) {
    const engine_device *list = l->device;
    OWN(text) there = {0};
    const char *install = "; there is no Vulkan driver (Debian: mesa-vulkan-drivers)";
    for (uint32_t i = 0; i < l->count; i++)
        if (list[i].class != ENGINE_CPU) install = "";
    for (int i = 0; i < ENGINE_CLASSES; i++)
        if (!is_any(want) && strcmp(want, engine_class_name((engine_class)i)) == 0)
            install = INSTALL[i];
    if (!want) want = "auto";
    if (text_glob_any("cuda*,hip,rocm,metal,opencl,vulkan", want))
        install =
            "; GPUs are driven by Vulkan: give --device gpu, and if 'fftbloom devices' lists no "
            "gpu, install its Vulkan driver (Debian: mesa-vulkan-drivers, or the maker's own)";
    for (uint32_t i = 0; i < l->count; i++)
        text_add(&there, "%s%u '%s' (%s)", i ? ", " : "", i, list[i].name,
                 engine_class_name(list[i].class));
    err_set(e, ERR_NO_DEVICE, "no device is '%s'; the devices are %s%s", want, there.s, install);
}

void device_list_fill(device_list *l, const char *want) {
    bool cpu = want && strcmp(want, engine_class_name(ENGINE_CPU)) == 0;
    device_listed listed = cpu ? DEVICES_CPU : DEVICES_ALL;
    if (l->listed >= listed) return;
    if (cpu) engine_devices_cpu(l->device);
    l->count = cpu ? 1 : engine_devices(l->device, ENGINE_DEVICES);
    l->listed = listed;
}

double device_work(const device_request *r) {
    const uint32_t *size = r->ask.size;
    double pixels = r->pixels > 0 ? r->pixels : (double)size[PLAN_X] * size[PLAN_Y];
    return (r->images ? r->images : 1) * pixels / (1920.0 * 1080);
}

void device_list_for(device_list *l, const device_request *r) {
    bool cpu = choice_is_auto(r->want) && device_work(r) < DEVICE_WORK;
    device_list_fill(l, cpu ? engine_class_name(ENGINE_CPU) : r->want);
}

/* Returns where a device stands among those that can do the work: the lowest is taken. */
static int choice_rank(const engine_device *d, const device_request *r) {
    if (d->discrete && device_work(r) >= DEVICE_WORK) return 0;
    return d->class == ENGINE_CPU ? 1 : d->class == ENGINE_GPU ? 2 : 3;
}

static err_code choice_forecast(device_forecast *to, const device_list *l, uint32_t i,
                                const device_request *r) {
    const engine_device *d = &l->device[i];
    plan_request here = r->ask;
    err e = {0};
    here.limits = d->limits;
    /* The CPU sees with each frame what of it spreads, and keeps its engine. */
    if (d->class == ENGINE_CPU) here.planes.above = 0;
    if (d->class != ENGINE_CPU && r->gpu_frames) here.frames = min_u32(here.frames, r->gpu_frames);
    if (r->vram_limit && d->class != ENGINE_CPU &&
        (!here.limits.memory || r->vram_limit < here.limits.memory))
        here.limits.memory = r->vram_limit;
    *to = (device_forecast){.wanted = device_is_wanted(r->want, d, i)};
    to->possible = plan_make(&to->plan, &here, &e);
    to->code = e.code;
    if (!to->possible) snprintf(to->why, sizeof to->why, "%.255s", e.msg);
    return e.code;
}

int device_prefer(const device_list *l, const device_request *r) {
    int best = -1;
    for (uint32_t i = 0; i < l->count; i++)
        if (device_is_wanted(r->want, &l->device[i], i) &&
            (best < 0 || choice_rank(&l->device[i], r) < choice_rank(&l->device[best], r)))
            best = (int)i;
    return best;
}

int device_choose(device_forecast *to, const device_list *l, const device_request *r, err *e) {
    int found = -1;
    bool any = false;
    char stray[ENGINE_NAME];
    err_code code = ERR_NONE;
    OWN(text) why = {0};
    for (uint32_t i = 0; i < l->count; i++) {
        err_code failed = choice_forecast(&to[i], l, i, r);
        if (!to[i].wanted) continue;
        any = true;
        if (failed) {
            code = failed;
            text_add(&why, "%s%s: %s", why.n ? "; " : "", l->device[i].name, to[i].why);
            continue;
        }
        if (found < 0 || choice_rank(&l->device[i], r) < choice_rank(&l->device[found], r))
            found = (int)i;
    }
    const bool strays = any && has_stray(stray, r->want, l);
    if (!any || strays)
        none_wanted(strays ? stray : r->want, l, e);
    else if (found < 0)
        err_set(e, code, "%s", why.s);
    return strays ? -1 : found;
}

void device_decide(device_decision *to, device_list *l, const device_request *asked) {
    for (int way = 0; way < DEVICE_WAYS; way++) {
        device_choice *c = &to->way[way];
        device_request r = *asked;
        device_forecast forecast[ENGINE_DEVICES];
        *c = (device_choice){0};
        r.ask.precision = way == WAY_FLOAT64 ? PRECISION_FLOAT64 : PRECISION_FLOAT32;
        device_list_for(l, &r);
        int i = device_choose(forecast, l, &r, &c->why);
        if (i < 0) continue;
        c->possible = true;
        c->device = l->device[i];
        c->plan = forecast[i].plan;
    }
}
