/* test_gpu_queue.c - the queues that are chosen for copies, on the kinds of devices that exist. */
#include "engine/gpu/gpu_device.h"
#include "unit/check.h"

enum {
    G = VK_QUEUE_GRAPHICS_BIT,
    C = VK_QUEUE_COMPUTE_BIT,
    T = VK_QUEUE_TRANSFER_BIT,
    S = VK_QUEUE_SPARSE_BINDING_BIT,
    VIDEO = 0x20
};

typedef struct {
    const char *name;
    struct {
        VkQueueFlags flags;
        uint32_t count;
    } family[6];
    uint32_t compute;
    gpu_queue_place up, down;
} machine;

static const machine MACHINE[] = {
    {"a server's: two queues that copy",
     {{G | C | T | S, 16}, {T | S, 2}, {C | T | S, 8}, {T | VIDEO, 1}},
     0,
     {1, 1},
     {1, 0}},
    {"one that copies, and others that compute",
     {{G | C | T | S, 1}, {C | T | S, 4}, {T | S, 1}},
     0,
     {1, 0},
     {2, 0}},
    {"one that copies, two that compute: the second of them",
     {{C | T, 2}, {T, 1}},
     0,
     {0, 1},
     {1, 0}},
    {"one that copies, one that computes", {{C | T, 1}, {T, 1}}, 0, {0, 0}, {1, 0}},
    {"video is no queue to copy with", {{G | C | T, 1}, {T | VIDEO, 4}}, 0, {0, 0}, {0, 0}},
    {"several of one family", {{G | C | T, 4}}, 0, {0, 2}, {0, 1}},
    {"two of one family", {{G | C | T, 2}}, 0, {0, 0}, {0, 1}},
    {"software: a single one", {{G | C | T, 1}}, 0, {0, 0}, {0, 0}},
    {"computes in its second family", {{T, 1}, {C, 1}}, 1, {1, 0}, {0, 0}},
    {"computing copies, though it does not say so", {{G, 1}, {C, 3}}, 1, {1, 1}, {0, 0}},
};

TEST(machines) {
    for (size_t i = 0; i < COUNT(MACHINE); i++) {
        const machine *m = &MACHINE[i];
        VkQueueFamilyProperties q[6] = {0};
        gpu_queue_place to[GPU_WAYS];
        uint32_t n = 0;
        for (; n < 6 && m->family[n].count; n++)
            q[n] = (VkQueueFamilyProperties){.queueFlags = m->family[n].flags,
                                             .queueCount = m->family[n].count};
        gpu_queue_choose(to, q, n, m->compute);
        if (to[GPU_UP].family != m->up.family || to[GPU_UP].index != m->up.index ||
            to[GPU_DOWN].family != m->down.family || to[GPU_DOWN].index != m->down.index)
            fail_msg("%s: up %u.%u, down %u.%u", m->name, to[GPU_UP].family, to[GPU_UP].index,
                     to[GPU_DOWN].family, to[GPU_DOWN].index);
    }
}

RUN_TESTS(NULL, NULL)
