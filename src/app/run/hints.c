#include "app/run/hints.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

void hints_kernel(const settings *s, const bloom *b, const char *kernel, const image_part *in) {
    const char *faults = bloom_kernel_faults(b);
    uint32_t size[2];
    int off[2];
    const bool larger = bloom_kernel_size(b, in, size) && size[0] > image_width(in) &&
                        size[1] > image_height(in);
    if (larger && s->bloom.kernel.size >= 5)
        log_say_once(LOG_WARN,
                     "--kernel-scale %g makes the kernel %u x %u, larger than the image; %g %% "
                     "would be %g",
                     s->bloom.kernel.size, size[0], size[1], s->bloom.kernel.size,
                     s->bloom.kernel.size / 100);
    if (larger && sscanf(faults, "off centre by %d, %d", &off[0], &off[1]) == 2 &&
        (abs(off[0]) > (int)size[0] / 8 || abs(off[1]) > (int)size[1] / 8))
        log_say_once(LOG_WARN,
                     "IN and KERNEL may be swapped: the kernel '%s' is larger than the image, and "
                     "%s",
                     kernel, faults);
    else
        hints_faults(kernel, faults);
}

void hints_faults(const char *kernel, const char *faults) {
    if (*faults)
        log_say_once(LOG_WARN, "kernel '%s': %s: fftbloom kernel check %s", kernel, faults, kernel);
}
