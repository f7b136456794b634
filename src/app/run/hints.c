#include "app/run/hints.h"

#include "base/log.h"

void hints_faults(const char *kernel, const char *faults) {
    if (*faults)
        log_say_once(LOG_WARN, "kernel '%s': %s: fftbloom kernel check %s", kernel, faults, kernel);
}

void hints_kernel(double scale, const bloom *b, const char *kernel, const image_part *in) {
    const lint_faults *faults = bloom_kernel_faults(b);
    uint32_t size[2];
    const bool larger = bloom_kernel_size(b, in, size) && size[0] > image_width(in) &&
                        size[1] > image_height(in);
    if (larger && scale >= 5)
        log_say_once(LOG_WARN,
                     "--kernel-scale %g makes the kernel %u x %u, larger than the image; %g %% "
                     "would be %g",
                     scale, size[0], size[1], scale, scale / 100);
    if (larger &&
        (abs(faults->off[0]) > (int)size[0] / 8 || abs(faults->off[1]) > (int)size[1] / 8))
        log_say_once(LOG_WARN,
                     "IN and KERNEL may be swapped: the kernel '%s' is larger than the image, and "
                     "%s",
                     kernel, faults->words);
    else
        hints_faults(kernel, faults->words);
}
