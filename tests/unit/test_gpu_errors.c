/* test_gpu_errors.c - results of Vulkan become exit codes: 75 where a retry may help, and 69 where
 * a device refuses. Devices that are too old are refused, and clocks of few bits wrap. */
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

RUN_TESTS(NULL, NULL)
