/* kernel_picture.h - a kernel in false colours: the logarithm of its light. */
#ifndef APP_KERNEL_PICTURE_H
#define APP_KERNEL_PICTURE_H

#include "app/kernel/kernel_page.h"

typedef struct {
    uint8_t *pixel; /* R G B, rows from the top; free with mem_free */
    uint32_t w, h;
} kernel_picture;

/* Shows the logarithm of the mean of the channels over page->decades. The kernel is averaged in
 * squares so that no side is longer than `most`. */
bool kernel_picture_colours(kernel_picture *to, const kernel_page *page, uint32_t most, err *e);

#endif
