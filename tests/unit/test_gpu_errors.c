/* test_gpu_errors.c - what Vulkan says becomes an exit code: 75 where it is worth retrying, 69
 * where there is no device to work with, and 70 for what should not be. */
#include "engine/gpu/gpu_device.h"
#include "unit/check.h"

#include <string.h>

static void check_code(VkResult r, err_code code, const char *words) {
    err e = {0};
    assert_false(gpu_failed(NULL, r, "vkQueueSubmit", &e));
    assert_int_equal(e.code, code);
    if (!strstr(e.msg, words)) fail_msg("'%s' does not say '%s'", e.msg, words);
}

static void codes(void **state) {
    (void)state;
    check_code(VK_ERROR_DEVICE_LOST, ERR_RETRY, "the device was lost");
    check_code(VK_ERROR_OUT_OF_DEVICE_MEMORY, ERR_RETRY, "out of memory");
    check_code(VK_ERROR_OUT_OF_HOST_MEMORY, ERR_RETRY, "out of host memory");
    check_code(VK_ERROR_INCOMPATIBLE_DRIVER, ERR_NO_DEVICE, "no Vulkan driver");
    check_code(VK_ERROR_UNKNOWN, ERR_INTERNAL, "vkQueueSubmit");
    assert_int_equal(ERR_RETRY, 75);
    assert_int_equal(ERR_NO_DEVICE, 69);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
