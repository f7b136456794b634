/* faults_vulkan.c - lets a Vulkan driver fail, for tests that preload it with faults.c.
 *
 *   FAULT_VK=alloc:n    the n-th allocation of device memory fails
 *   FAULT_VK=submit:n   the n-th submission fails
 *   FAULT_VK=wait:n     the n-th wait finds the device lost
 *   FAULT_VK=lost:n     from the n-th submission on the device is lost: all calls say so
 *   FAULT_VK=hang:n     the n-th fence waited for, and all that follow, never come
 *   FAULT_VK_COUNT=file the numbers of allocations, submissions and waits are written there
 *   FAULT_VK_HIDE=words of "float64 subgroups timestamps": the device has none; "limits": it has
 *                       those that Vulkan guarantees; "loader": there is no libvulkan.so.1
 *   FAULT_VK_SHARED=n   workgroups have n bytes of shared memory, so that lines are short
 *   FAULT_VK_TYPE=gpu   a software device claims to be a GPU, and /dev/kfd to be there
 *
 * The waits of a fence that never comes return when its work is done, so that half an hour passes
 * quickly. From then on the program may free nothing that the device could use: it is aborted. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { ALLOC, SUBMIT, WAIT, KINDS };
static atomic_long count[KINDS];
static atomic_bool lost;
static _Atomic(VkDevice) hangs;

__attribute__((destructor)) static void say_counts(void) {
    const char *path = getenv("FAULT_VK_COUNT");
    if (path) remove(path); /* a sandbox lets nobody empty it */
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f) return;
    fprintf(f, "%ld %ld %ld\n", count[ALLOC], count[SUBMIT], count[WAIT]);
    fclose(f);
}

/* Returns true where this call, the n-th of its kind, is the one of FAULT_VK=`name`:n. */
static int is_at(const char *name, long n, int all) {
    const char *at = getenv("FAULT_VK");
    size_t k = strlen(name);
    if (!at || strncmp(at, name, k) != 0 || at[k] != ':') return 0;
    long want = atol(at + k + 1);
    return n == want || (all && n > want);
}

static long next(int kind) {
    return atomic_fetch_add(&count[kind], 1) + 1;
}

static int hidden(const char *what) {
    const char *list = getenv("FAULT_VK_HIDE");
    return list && strstr(list, what);
}

#define REAL(name) ((PFN_##name)dlsym(RTLD_NEXT, #name))

VKAPI_ATTR VkResult VKAPI_CALL vkAllocateMemory(VkDevice d, const VkMemoryAllocateInfo *a,
                                                const VkAllocationCallbacks *c, VkDeviceMemory *m) {
    if (is_at("alloc", next(ALLOC), 0)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return lost ? VK_ERROR_DEVICE_LOST : REAL(vkAllocateMemory)(d, a, c, m);
}

VKAPI_ATTR VkResult VKAPI_CALL vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *s,
                                             VkFence f) {
    long i = next(SUBMIT);
    if (is_at("submit", i, 0)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (is_at("lost", i, 0)) atomic_store(&lost, 1);
    return lost ? VK_ERROR_DEVICE_LOST : REAL(vkQueueSubmit)(q, n, s, f);
}

VKAPI_ATTR VkResult VKAPI_CALL vkWaitForFences(VkDevice d, uint32_t n, const VkFence *f,
                                               VkBool32 all, uint64_t ns) {
    long i = next(WAIT);
    if (is_at("hang", i, 1)) {
        REAL(vkWaitForFences)(d, n, f, all, UINT64_MAX); /* the driver still uses the memory */
        hangs = d;
        return VK_TIMEOUT;
    }
    if (lost || is_at("wait", i, 0)) return VK_ERROR_DEVICE_LOST;
    return REAL(vkWaitForFences)(d, n, f, all, ns);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceFeatures(VkPhysicalDevice d,
                                                       VkPhysicalDeviceFeatures *to) {
    REAL(vkGetPhysicalDeviceFeatures)(d, to);
    if (hidden("float64")) to->shaderFloat64 = VK_FALSE;
}

/* The program asks the loader for its functions. It gets this library for it, which has the
 * loader's, too. */
void *dlopen(const char *path, int flags) {
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    Dl_info own;
    if (!path || strcmp(path, "libvulkan.so.1") != 0 || !dladdr((void *)&count, &own))
        return real(path, flags);
    return hidden("loader") ? NULL : real(own.dli_fname, flags);
}

/* What every implementation of Vulkan has at least. */
static void narrow(VkPhysicalDeviceLimits *l) {
    l->maxComputeSharedMemorySize = 16384;
    l->maxComputeWorkGroupInvocations = 128;
    for (int i = 0; i < 3; i++) {
        l->maxComputeWorkGroupSize[i] = i < 2 ? 128 : 64;
        l->maxComputeWorkGroupCount[i] = 65535;
    }
    l->maxStorageBufferRange = 1 << 27;
    l->maxPerStageDescriptorStorageBuffers = 4;
    l->maxDescriptorSetStorageBuffers = 24;
    l->maxPushConstantsSize = 128;
    l->minStorageBufferOffsetAlignment = l->nonCoherentAtomSize = 256;
}

static void disguise(VkPhysicalDeviceProperties *p) {
    const char *shared = getenv("FAULT_VK_SHARED");
    if (hidden("limits")) narrow(&p->limits);
    if (shared) p->limits.maxComputeSharedMemorySize = (uint32_t)strtoul(shared, NULL, 10);
    if (getenv("FAULT_VK_TYPE")) p->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

int access(const char *path, int mode) {
    if (getenv("FAULT_VK_TYPE") && strcmp(path, "/dev/kfd") == 0) return 0;
    return ((int (*)(const char *, int))dlsym(RTLD_NEXT, "access"))(path, mode);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceProperties(VkPhysicalDevice d,
                                                         VkPhysicalDeviceProperties *to) {
    REAL(vkGetPhysicalDeviceProperties)(d, to);
    disguise(to);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceProperties2(VkPhysicalDevice d,
                                                          VkPhysicalDeviceProperties2 *to) {
    REAL(vkGetPhysicalDeviceProperties2)(d, to);
    disguise(&to->properties);
    for (VkBaseOutStructure *s = (void *)to; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES &&
            hidden("limits"))
            ((VkPhysicalDeviceMaintenance3Properties *)(void *)s)->maxMemoryAllocationSize = 1
                                                                                             << 30;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES &&
            hidden("subgroups"))
            ((VkPhysicalDeviceSubgroupProperties *)(void *)s)->supportedOperations = 0;
    }
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice d, uint32_t *n,
                                                                    VkQueueFamilyProperties *to) {
    REAL(vkGetPhysicalDeviceQueueFamilyProperties)(d, n, to);
    for (uint32_t i = 0; to && i < *n && hidden("timestamps"); i++) to[i].timestampValidBits = 0;
}

/* What must not be done to a device that hangs. */
#define REFUSE(name, type)                                                                   \
    VKAPI_ATTR void VKAPI_CALL name(VkDevice d, type what, const VkAllocationCallbacks *c) { \
        if (d == hangs) abort();                                                             \
        REAL(name)(d, what, c);                                                              \
    }
REFUSE(vkFreeMemory, VkDeviceMemory)
REFUSE(vkDestroyBuffer, VkBuffer)
REFUSE(vkDestroyFence, VkFence)
REFUSE(vkDestroySemaphore, VkSemaphore)
REFUSE(vkDestroyPipeline, VkPipeline)
REFUSE(vkDestroyCommandPool, VkCommandPool)
REFUSE(vkDestroyDescriptorPool, VkDescriptorPool)

VKAPI_ATTR void VKAPI_CALL vkDestroyDevice(VkDevice d, const VkAllocationCallbacks *c) {
    if (d == hangs) abort();
    REAL(vkDestroyDevice)(d, c);
}

/* It would wait for ever. */
VKAPI_ATTR VkResult VKAPI_CALL vkDeviceWaitIdle(VkDevice d) {
    if (d == hangs) abort();
    return REAL(vkDeviceWaitIdle)(d);
}
