#include "engine/gpu/gpu_device.h"

#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

/* --- errors --------------------------------------------------------------------------------- */

static const struct {
    VkResult result;
    err_code code;
    const char *words;
} RESULT[] = {
    {VK_ERROR_DEVICE_LOST, ERR_RETRY, "the device was lost"},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, ERR_RETRY, "the device is out of memory"},
    {VK_ERROR_OUT_OF_HOST_MEMORY, ERR_MEMORY, "out of host memory"},
    {VK_ERROR_TOO_MANY_OBJECTS, ERR_RETRY, "the device has too many objects"},
    {VK_ERROR_INITIALIZATION_FAILED, ERR_NO_DEVICE, "the driver could not start"},
    {VK_ERROR_INCOMPATIBLE_DRIVER, ERR_NO_DEVICE, "no Vulkan driver fits"},
    {VK_ERROR_LAYER_NOT_PRESENT, ERR_NO_DEVICE, "the validation layer is not installed"},
    {VK_ERROR_FEATURE_NOT_PRESENT, ERR_NO_DEVICE, "the device lacks a feature"},
    {VK_ERROR_EXTENSION_NOT_PRESENT, ERR_NO_DEVICE, "the driver lacks an extension"},
};

bool gpu_failed(const gpu_device *g, VkResult r, const char *what, err *e) {
    const char *name = g && g->name[0] ? g->name : "Vulkan";
    if (r == VK_ERROR_DEVICE_LOST && g && g->shared) atomic_store(&g->shared->lost, true);
    what += what[2] == '.' ? 3 : 2;
    int call = (int)strcspn(what, "(");
    for (size_t i = 0; i < COUNT(RESULT); i++)
        if (RESULT[i].result == r)
            return err_set(e, RESULT[i].code, "%s: %s (vk%.*s)", name, RESULT[i].words, call, what);
    return err_set(e, ERR_NO_DEVICE, "%s: vk%.*s failed with VkResult %d", name, call, what,
                   (int)r);
}

double gpu_seconds(double tick, uint32_t stamp_bits, uint64_t from, uint64_t to) {
    uint64_t mask = stamp_bits < 64 ? (UINT64_C(1) << stamp_bits) - 1 : UINT64_MAX;
    return (double)((to - from) & mask) * tick;
}

bool gpu_version_is_enough(uint32_t version, const char *name, err *e) {
    if (version >= VK_API_VERSION_1_1) return true;
    return err_set(e, ERR_NO_DEVICE, "device '%s' has Vulkan %u.%u, and fftbloom needs 1.1", name,
                   VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
}

/* --- instance ------------------------------------------------------------------------------- */

struct gpu_instance {
    VkInstance vk;
    VkDebugUtilsMessengerEXT messenger;
    pid_t process;        /* that has made it: drivers do not live on in one that is forked */
    uint32_t checks;      /* of the validation layer, as FFTBLOOM_VALIDATION asked for them */
    atomic_uint messages; /* any thread of the driver may add to them */
};

/* Making an instance loads every driver of the machine, which takes 0.05 to 0.1 s, and a run wants
 * it twice: to list the devices and to open one. A driver (NVIDIA's, 580) may even stop loading
 * after some thirty times in one process. So the last instance that was given back waits here for
 * the next user. It is exchanged atomically, and no lock guards it. This is the only state outside
 * of structs, and it only saves time. gpu_device_rest frees it. */
static _Atomic(gpu_instance *) idle;

static void destroy_instance(gpu_instance *i) {
    if (!i) return;
    if (i->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)(void (*)(void))vk.GetInstanceProcAddr(
                i->vk, "vkDestroyDebugUtilsMessengerEXT");
        if (destroy) destroy(i->vk, i->messenger, NULL);
    }
    if (i->vk) vk.DestroyInstance(i->vk, NULL);
    free(i);
}

static void give_instance(gpu_instance *i) {
    if (i) destroy_instance(atomic_exchange(&idle, i));
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user) {
    atomic_fetch_add((atomic_uint *)user, 1);
    log_error("validation: %s", data->pMessage);
    return VK_FALSE;
}

/* Makes an instance, with the first `checks` of the validation layer's; 0: without the layer. */
static bool make_instance(gpu_instance *i, uint32_t checks, err *e) {
    static const char *const LAYER = "VK_LAYER_KHRONOS_validation";
    static const char *const EXTENSION = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    static const VkValidationFeatureEnableEXT CHECK[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,
        VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT};
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .pApplicationName = "fftbloom",
                             .apiVersion = VK_API_VERSION_1_1};
    VkDebugUtilsMessengerCreateInfoEXT debug = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = &i->messages};
    VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                        .pNext = &debug,
                                        .enabledValidationFeatureCount = checks,
                                        .pEnabledValidationFeatures = CHECK};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = checks ? &features : NULL,
                                 .pApplicationInfo = &app,
                                 .enabledLayerCount = checks ? 1 : 0,
                                 .ppEnabledLayerNames = &LAYER,
                                 .enabledExtensionCount = checks ? 1 : 0,
                                 .ppEnabledExtensionNames = &EXTENSION};
    VkResult r = vk.CreateInstance(&info, NULL, &i->vk);
    if (r != VK_SUCCESS) i->vk = VK_NULL_HANDLE;
    if (checks && r == VK_ERROR_LAYER_NOT_PRESENT)
        return err_set(
            e, ERR_NO_DEVICE,
            "FFTBLOOM_VALIDATION is set, but %s is not installed (Debian: vulkan-validationlayers)",
            LAYER);
    if (r != VK_SUCCESS) return gpu_failed(NULL, r, "vkCreateInstance", e);
    i->checks = checks;
    i->process = getpid();
    PFN_vkCreateDebugUtilsMessengerEXT create = (PFN_vkCreateDebugUtilsMessengerEXT)(void (*)(
        void))vk.GetInstanceProcAddr(i->vk, "vkCreateDebugUtilsMessengerEXT");
    if (checks && create) create(i->vk, &debug, NULL, &i->messenger);
    return true;
}

/* Takes the idle instance if it has the checks that are wanted now, or makes one. */
static gpu_instance *take_instance(err *e) {
    if (!gpu_vulkan_open(e)) return NULL;
    const char *v = host_variable("FFTBLOOM_VALIDATION");
    uint32_t checks = !v || !*v || strcmp(v, "0") == 0 ? 0 : strcmp(v, "gpu") == 0 ? 2 : 1;
    gpu_instance *i = atomic_exchange(&idle, NULL);
    if (i && i->process != getpid()) i = NULL; /* left as it is */
    if (i && i->checks == checks) {
        atomic_store(&i->messages, 0);
        return i;
    }
    destroy_instance(i);
    /* Not of a host's budget: the next to take it may be another host. */
    i = calloc(1, sizeof *i);
    if (!i) err_set(e, ERR_MEMORY, "out of memory: there is none for a Vulkan instance");
    if (i && make_instance(i, checks, e)) return i;
    destroy_instance(i);
    return NULL;
}

unsigned gpu_device_messages(const gpu_device *g) {
    return atomic_load(&g->shared->instance->messages);
}

/* Devices that were opened ahead, for gpu_device_open to share until gpu_device_rest. */
static struct {
    uint32_t count;
    uint32_t index[ENGINE_DEVICES];
    gpu_device device[ENGINE_DEVICES];
} ahead;

void gpu_device_rest(void) {
    while (ahead.count) gpu_device_close(&ahead.device[--ahead.count]);
    destroy_instance(atomic_exchange(&idle, NULL));
}

enum { MOST = ENGINE_DEVICES, MOST_FAMILIES = 16 };

static const char *const QUERY_RESET = VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME,
                         *const FLOAT_CONTROLS = VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME;

/* Finds the first queue family that computes, preferring one that also draws: drivers give it the
 * whole machine. Returns false where none computes. */
static bool compute_family(VkPhysicalDevice p, gpu_queue *to) {
    VkQueueFamilyProperties q[MOST_FAMILIES];
    uint32_t n = MOST_FAMILIES, best = UINT32_MAX;
    vk.GetPhysicalDeviceQueueFamilyProperties(p, &n, q);
    for (uint32_t i = n; i-- > 0;) {
        if (!(q[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
        if (best == UINT32_MAX || q[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) best = i;
    }
    if (best == UINT32_MAX) return false;
    to->family = best;
    to->stamp_bits = q[best].timestampValidBits;
    return true;
}

static bool has_extension(VkPhysicalDevice p, const char *name) {
    VkExtensionProperties x[512];
    uint32_t n = 512;
    VkResult r = vk.EnumerateDeviceExtensionProperties(p, NULL, &n, x);
    if (r != VK_SUCCESS && r != VK_INCOMPLETE) return false;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(x[i].extensionName, name) == 0) return true;
    return false;
}

/* Returns the size of the device's own memory; and in `free` the part of it that this process can
 * have now, where the driver tells: other processes may hold the rest. */
static uint64_t own_memory(VkPhysicalDevice p, uint64_t *free) {
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    if (has_extension(p, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) properties.pNext = &budget;
    vk.GetPhysicalDeviceMemoryProperties2(p, &properties);
    const VkPhysicalDeviceMemoryProperties *m = &properties.memoryProperties;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < m->memoryHeapCount; i++) {
        uint64_t size = m->memoryHeaps[i].size, given = budget.heapBudget[i];
        if (!(m->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) || size <= bytes) continue;
        bytes = *free = size;
        if (given && given < size) *free = given - min_u64(given, budget.heapUsage[i]);
    }
    return bytes;
}

static void gpu_describe(engine_device *d, VkPhysicalDevice p, uint32_t index) {
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                       .pNext = &sizes};
    VkPhysicalDeviceProperties2 props = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &id};
    VkPhysicalDeviceFeatures features;
    vk.GetPhysicalDeviceProperties(p, &props.properties);
    if (props.properties.apiVersion >= VK_API_VERSION_1_2) sizes.pNext = &driver;
    vk.GetPhysicalDeviceProperties2(p, &props);
    vk.GetPhysicalDeviceFeatures(p, &features);
    const VkPhysicalDeviceProperties *v = &props.properties;
    const VkPhysicalDeviceLimits *l = &v->limits;
    bool software = v->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint64_t left = 0;
    *d = (engine_device){.class = software ? ENGINE_SOFTWARE : ENGINE_GPU,
                         .index = index,
                         .memory = own_memory(p, &left),
                         .discrete = v->deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
                                     v->deviceType == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU};
    snprintf(d->name, sizeof d->name, "%.255s", v->deviceName);
    if (driver.driverName[0])
        snprintf(d->driver, sizeof d->driver, "%.120s %.120s", driver.driverName,
                 driver.driverInfo);
    else
        snprintf(d->driver, sizeof d->driver, "version %#x", v->driverVersion);
    memcpy(d->uuid, id.deviceUUID, sizeof d->uuid);
    d->limits = (plan_limits){
        .invocations = min_u32(l->maxComputeWorkGroupSize[0], l->maxComputeWorkGroupInvocations),
        .shared_bytes = l->maxComputeSharedMemorySize,
        .buffer_range = min_u64(l->maxStorageBufferRange, sizes.maxMemoryAllocationSize),
        .memory = left,
        .float64 = features.shaderFloat64};
    memcpy(d->limits.groups, l->maxComputeWorkGroupCount, sizeof d->limits.groups);
}

uint32_t gpu_device_list(engine_device *to, uint32_t room) {
    VkPhysicalDevice p[MOST];
    uint32_t n = MOST, found = 0;
    err e = {0};
    if (!gpu_vulkan_open(&e)) log_note("%s", e.msg);
    gpu_instance *instance = ahead.count ? ahead.device[0].shared->instance : take_instance(&e);
    if (!instance) return 0;
    VkResult r = vk.EnumeratePhysicalDevices(instance->vk, &n, p);
    if (r != VK_SUCCESS && r != VK_INCOMPLETE) n = 0;
    for (uint32_t i = 0; i < n && found < room; i++) {
        VkPhysicalDeviceProperties v;
        gpu_queue ignored;
        vk.GetPhysicalDeviceProperties(p[i], &v);
        /* A plan for a device that is too old would be in vain. */
        if (!gpu_version_is_enough(v.apiVersion, v.deviceName, &e))
            log_note("%s", e.msg);
        else if (compute_family(p[i], &ignored))
            gpu_describe(&to[found++], p[i], i);
    }
    if (!ahead.count) give_instance(instance);
    return found;
}

/* --- queues ---------------------------------------------------------------------------------- */

void gpu_queue_choose(gpu_queue_place to[GPU_WAYS], const VkQueueFamilyProperties *family,
                      uint32_t n, uint32_t compute) {
    static const VkQueueFlags VIDEO = 0x20 | 0x40;  /* decode, encode: of a newer Vulkan */
    enum { ONLY_COPIES, ANOTHER, THE_SAME, KINDS }; /* of families, the best first */
    int found = 0;
    to[GPU_UP] = to[GPU_DOWN] = (gpu_queue_place){compute, 0};
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < n; i++) {
            VkQueueFlags flags = family[i].queueFlags;
            bool works = flags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT);
            /* Families for video copy, too, but slowly. */
            bool fits = kind == ONLY_COPIES
                            ? flags & VK_QUEUE_TRANSFER_BIT && !works && !(flags & VIDEO)
                        : kind == ANOTHER ? works && i != compute
                                          : i == compute;
            for (uint32_t q = i == compute; fits && q < family[i].queueCount; q++)
                if (found < GPU_WAYS)
                    to[found++ == 0 ? GPU_DOWN : GPU_UP] = (gpu_queue_place){i, q};
        }
}

enum { MOST_QUEUES = 1 + GPU_WAYS };

/* Chooses the queues that copy, and asks for as many queues of each family as are used. */
static void choose_queues(gpu_device *g, gpu_queue_place place[GPU_WAYS],
                          VkDeviceQueueCreateInfo info[MOST_QUEUES]) {
    static const float PRIORITY[MOST_QUEUES] = {1, 1, 1};
    VkQueueFamilyProperties q[MOST_FAMILIES];
    uint32_t n = MOST_FAMILIES;
    vk.GetPhysicalDeviceQueueFamilyProperties(g->physical, &n, q);
    gpu_queue_choose(place, q, n, g->compute.family);
    gpu_queue_place places[MOST_QUEUES] = {{g->compute.family, 0}};
    for (int way = 0; way < GPU_WAYS; way++) {
        places[1 + way] = place[way];
        g->copies[way].family = place[way].family;
        g->copies[way].stamp_bits = q[place[way].family].timestampValidBits;
    }
    for (int k = 0; k < MOST_QUEUES; k++) {
        uint32_t i = 0;
        while (i < g->family_count && g->families[i] != places[k].family) i++;
        if (i == g->family_count) {
            g->families[g->family_count++] = places[k].family;
            info[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                .queueFamilyIndex = places[k].family,
                                                .queueCount = 1,
                                                .pQueuePriorities = PRIORITY};
        }
        info[i].queueCount = max_u32(info[i].queueCount, places[k].index + 1);
    }
}

static bool make_pools(gpu_device *g, err *e) {
    gpu_queue *queues[MOST_QUEUES] = {&g->compute, &g->copies[GPU_UP], &g->copies[GPU_DOWN]};
    for (int i = 0; i < MOST_QUEUES; i++) queues[i]->pool = VK_NULL_HANDLE;
    for (int i = 0; i < MOST_QUEUES; i++) {
        VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = queues[i]->family,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
        if (i > 0 && queues[i]->queue == g->compute.queue)
            queues[i]->pool = g->compute.pool;
        else
            VK_TRY(g, vk.CreateCommandPool(g->dev, &info, NULL, &queues[i]->pool), e);
    }
    return true;
fail:
    return false;
}

/* --- opening --------------------------------------------------------------------------------- */

static bool gpu_open_device(gpu_device *g, bool float64, err *e) {
    gpu_queue_place place[GPU_WAYS];
    VkDeviceQueueCreateInfo queue[MOST_QUEUES];
    if (!compute_family(g->physical, &g->compute))
        return err_set(e, ERR_NO_DEVICE, "%s has no compute queue", g->name);
    bool resets = has_extension(g->physical, QUERY_RESET),
         controls = has_extension(g->physical, FLOAT_CONTROLS);
    VkPhysicalDeviceFloatControlsProperties floats = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroups = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
        .pNext = controls ? &floats : NULL};
    VkPhysicalDeviceMaintenance3Properties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &subgroups};
    VkPhysicalDeviceProperties2 props = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &sizes};
    const VkSubgroupFeatureFlags wanted = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                          VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                          VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    vk.GetPhysicalDeviceProperties2(g->physical, &props);
    g->subgroups = subgroups.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT &&
                   (subgroups.supportedOperations & wanted) == wanted;
    /* The hardware has no other way to compute with doubles, whatever its drivers promise. */
    enum { NVIDIA = 0x10de };
    g->tiny_doubles = props.properties.vendorID == NVIDIA;
    g->half_modes = floats.shaderDenormPreserveFloat16 && floats.shaderRoundingModeRTEFloat16;
    if (!gpu_version_is_enough(props.properties.apiVersion, g->name, e)) return false;
    g->tick = props.properties.limits.timestampPeriod * 1e-9;
    g->allocation = sizes.maxMemoryAllocationSize;
    vk.GetPhysicalDeviceMemoryProperties(g->physical, &g->memory);
    choose_queues(g, place, queue);
    VkPhysicalDeviceFeatures features = {.shaderFloat64 = float64};
    VkPhysicalDevice16BitStorageFeatures halfs = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
    VkPhysicalDeviceFeatures2 has = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &halfs};
    vk.GetPhysicalDeviceFeatures2(g->physical, &has);
    if (!halfs.storageBuffer16BitAccess)
        return err_set(e, ERR_NO_DEVICE,
                       "%s stores no 16-bit numbers (storageBuffer16BitAccess), which results in "
                       "halfs need; use --device cpu",
                       g->name);
    halfs = (VkPhysicalDevice16BitStorageFeatures){.sType = halfs.sType,
                                                   .storageBuffer16BitAccess = VK_TRUE};
    VkPhysicalDeviceHostQueryResetFeatures reset = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
        .hostQueryReset = VK_TRUE};
    const char *extension[2];
    uint32_t extensions = 0;
    if (resets) extension[extensions++] = QUERY_RESET;
    if (g->half_modes) extension[extensions++] = FLOAT_CONTROLS;
    if (resets) halfs.pNext = &reset;
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &halfs,
                               .enabledExtensionCount = extensions,
                               .ppEnabledExtensionNames = extension,
                               .queueCreateInfoCount = g->family_count,
                               .pQueueCreateInfos = queue,
                               .pEnabledFeatures = &features};
    VK_TRY(g, vk.CreateDevice(g->physical, &info, NULL, &g->dev), e);
    if (resets)
        g->reset_queries = (PFN_vkResetQueryPoolEXT)(void (*)(void))vk.GetDeviceProcAddr(
            g->dev, "vkResetQueryPoolEXT");
    vk.GetDeviceQueue(g->dev, g->compute.family, 0, &g->compute.queue);
    for (int way = 0; way < GPU_WAYS; way++)
        vk.GetDeviceQueue(g->dev, place[way].family, place[way].index, &g->copies[way].queue);
    return make_pools(g, e);
fail:
    return false;
}

static bool open_new(gpu_device *g, const engine_device *which, err *e) {
    VkPhysicalDevice p[MOST];
    uint32_t n = MOST;
    snprintf(g->name, sizeof g->name, "%s", which->name);
    memcpy(g->uuid, which->uuid, sizeof g->uuid);
    gpu_shared *s = g->shared = mem_new(1, sizeof *s, "a device", e);
    if (!s) return false;
    pthread_mutex_init(&s->queues, NULL);
    pthread_mutex_init(&s->pipelines.keeping, NULL);
    atomic_init(&s->users, 1);
    if (!(s->instance = take_instance(e))) return false;
    VkResult r = vk.EnumeratePhysicalDevices(s->instance->vk, &n, p);
    if (r != VK_SUCCESS && r != VK_INCOMPLETE)
        return gpu_failed(g, r, "vkEnumeratePhysicalDevices", e);
    if (which->index >= n)
        return err_set(e, ERR_NO_DEVICE, "device %u is gone; %u are left", which->index, n);
    g->physical = p[which->index];
    return gpu_open_device(g, which->limits.float64, e);
}

bool gpu_device_open(gpu_device *g, const engine_device *which, err *e) {
    for (uint32_t i = 0; i < ahead.count; i++) {
        const gpu_shared *s = ahead.device[i].shared;
        if (ahead.index[i] == which->index && !s->lost && !s->hangs)
            return gpu_device_share(g, &ahead.device[i], e);
    }
    return open_new(g, which, e);
}

bool gpu_device_ahead(const engine_device *which, err *e) {
    gpu_device g = {0};
    if (ahead.count < ENGINE_DEVICES && open_new(&g, which, e)) {
        ahead.index[ahead.count] = which->index;
        ahead.device[ahead.count++] = g;
        return true;
    }
    gpu_device_close(&g);
    return false;
}

bool gpu_device_share(gpu_device *g, const gpu_device *open, err *e) {
    *g = *open;
    atomic_fetch_add(&g->shared->users, 1);
    return make_pools(g, e);
}

void gpu_device_close(gpu_device *g) {
    gpu_shared *s = g->shared;
    if (!s) return;
    if (g->dev && !s->hangs) {
        for (int way = 0; way < GPU_WAYS; way++)
            if (g->copies[way].pool != g->compute.pool)
                vk.DestroyCommandPool(g->dev, g->copies[way].pool, NULL);
        vk.DestroyCommandPool(g->dev, g->compute.pool, NULL);
    }
    if (atomic_fetch_sub(&s->users, 1) == 1 && !s->hangs) {
        if (g->dev) {
            vk.DeviceWaitIdle(g->dev);
            vk.DestroyPipelineCache(g->dev, s->pipelines.cache, NULL);
            vk.DestroyDevice(g->dev, NULL);
        }
        give_instance(s->instance);
        pthread_mutex_destroy(&s->queues);
        pthread_mutex_destroy(&s->pipelines.keeping);
        mem_free(s->pipelines.path);
        mem_free(s);
    }
    *g = (gpu_device){0};
}

void gpu_device_lock(const gpu_device *g) {
    pthread_mutex_lock(&g->shared->queues);
}

void gpu_device_unlock(const gpu_device *g) {
    pthread_mutex_unlock(&g->shared->queues);
}

void gpu_device_wait(const gpu_device *g) {
    gpu_device_lock(g);
    vk.DeviceWaitIdle(g->dev);
    gpu_device_unlock(g);
}

/* --- the loader ------------------------------------------------------------------------------ */

gpu_vulkan vk;

static const char *missing; /* set by open_once, const afterwards; NULL: nothing */

static void open_once(void) {
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) missing = "libvulkan.so.1 cannot be opened (Debian: libvulkan1)";
#define TAKE(name)                                                 \
    if (loader) vk.name = (PFN_vk##name)dlsym(loader, "vk" #name); \
    if (!vk.name && !missing) missing = "libvulkan.so.1 is too old, it has no vk" #name;
    GPU_VULKAN(TAKE)
#undef TAKE
}

bool gpu_vulkan_open(err *e) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return !missing ||
           err_set(e, ERR_NO_DEVICE, "there is no Vulkan, so the CPU does the work: %s", missing);
}
