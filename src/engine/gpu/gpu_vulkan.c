#include "engine/gpu/gpu_vulkan.h"

#include <dlfcn.h>
#include <pthread.h>

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
