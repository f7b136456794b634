/* test_gpu_device.c - results of Vulkan become exit codes: 75 where a retry may help, and 69 where
 * a device refuses. Devices that are too old are refused, clocks of few bits wrap, and queues are
 * chosen. */
#include "engine/gpu/gpu_device.h"
#include "unit/check.h"

static void check_code(VkResult r, err_code code, const char *words) {
    CHECK_REFUSED(gpu_failed(NULL, r, "vkQueueSubmit", &e), code, words);
}

TEST(codes) {
    check_code(VK_ERROR_DEVICE_LOST, ERR_RETRY, "the device was lost");
    check_code(VK_ERROR_OUT_OF_DEVICE_MEMORY, ERR_RETRY, "out of memory");
    check_code(VK_ERROR_OUT_OF_HOST_MEMORY, ERR_MEMORY, "out of host memory");
    check_code(VK_ERROR_INCOMPATIBLE_DRIVER, ERR_NO_DEVICE, "no Vulkan driver");
    check_code(VK_ERROR_UNKNOWN, ERR_NO_DEVICE, "vkQueueSubmit failed with VkResult -13");
    assert_int_equal(ERR_RETRY, 75);
    assert_int_equal(err_status(ERR_MEMORY), 75);
    assert_int_equal(ERR_NO_DEVICE, 69);
}

TEST(old_devices_are_refused) {
    assert_true(gpu_version_is_enough(VK_API_VERSION_1_1, "new", &e));
    assert_true(gpu_version_is_enough(VK_MAKE_API_VERSION(0, 1, 3, 200), "new", &e));
    assert_int_equal(e.code, ERR_NONE);
    CHECK_REFUSED(gpu_version_is_enough(VK_MAKE_API_VERSION(0, 1, 0, 999), "Old One", &e),
                  ERR_NO_DEVICE, "device 'Old One' has Vulkan 1.0, and fftbloom needs 1.1");
}

/* A clock that has begun again between two stamps. */
TEST(clocks_of_few_bits) {
    assert_true(gpu_seconds(2, 64, 5, 9) == 8);
    assert_true(gpu_seconds(1, 36, (UINT64_C(1) << 36) - 3, 4) == 7);
    assert_true(gpu_seconds(1, 64, UINT64_MAX - 2, 4) == 7);
    /* The bits above those that count may hold anything. */
    assert_true(gpu_seconds(1, 36, UINT64_C(7) << 40 | 10, UINT64_C(9) << 50 | 30) == 20);
}

/* The queues that are chosen for copies, on the kinds of devices that exist. */
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
