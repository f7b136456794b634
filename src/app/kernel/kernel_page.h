/* kernel_page.h - draws a kernel: an SVG page with everything that can be seen of it. The page
 * needs no other file, script or font. */
#ifndef APP_KERNEL_PAGE_H
#define APP_KERNEL_PAGE_H

#include "base/par.h"
#include "base/text.h"
#include "kernel/lint.h"

enum { PAGE_CHANNELS = 3 };

/* What is drawn. The kernel is centred: its middle is tap floor(size / 2). */
typedef struct {
    const char *name;
    const char *origin; /* how it was made, in words; may be "" */
    const lint *figures;
    uint32_t w, h, channels;
    const float *plane[PAGE_CHANNELS];
    float chromaticities[8];
    double decades; /* of the false colours */
    /* By distance in taps, per channel: the mean of a ring, as a share of the channel's light; and
     * the share of the light within the ring. */
    uint32_t rings;
    double *mean[PAGE_CHANNELS], *within[PAGE_CHANNELS];
    double *edge; /* of each ring: its outer radius */
} kernel_page;

/* Fills in the rings. `page` has name to decades already. Free with kernel_page_free. */
bool kernel_page_measure(kernel_page *page, err *e);
void kernel_page_free(kernel_page *page);

/* Appends the page. */
bool kernel_page_svg(const kernel_page *page, par *threads, text *to, err *e);

#endif
