/* kernel_page.h - draws a kernel: an SVG page of any width, dark or light as the reader's system,
 * that needs no other file, script or font. */
#ifndef APP_KERNEL_PAGE_H
#define APP_KERNEL_PAGE_H

#include "colour/primaries.h"
#include "image/flat/preview.h"
#include "kernel/lint.h"

enum { PAGE_CHANNELS = 3 };

/* What is drawn. The kernel is centred: its middle is tap floor(size / 2). */
typedef struct {
    const char *name;
    const char *origin; /* how it was made, in words; may be "" */
    const lint *figures;
    uint32_t w, h, channels;
    const float *plane[PAGE_CHANNELS];
    primaries colour;
    /* By distance in taps, per channel: the mean of a ring, as a share of the channel's light; and
     * the share of the light within the ring. */
    uint32_t rings;
    double *mean[PAGE_CHANNELS], *within[PAGE_CHANNELS];
} kernel_page;

/* Fills in the rings. `page` has name to colour already. Free with kernel_page_free. */
bool kernel_page_measure(kernel_page *page, err *e);
void kernel_page_free(kernel_page *page);

/* A part of a kernel in false colours. */
typedef struct {
    int64_t x, y;   /* its first tap; may lie outside the kernel, where it is dark */
    uint32_t w, h;  /* taps */
    double low;     /* log10 of the light that is black: of a tap, as a share of all light */
    double decades; /* from black to white */
} kernel_part;

/* Returns the part that people see: the square that 99 % of the light falls into. Its black is the
 * light at its border, its white a thousand times that, so its core is white as in a photograph. */
kernel_part kernel_part_seen(const kernel_page *page);
/* Returns the whole kernel, nine decades down from its brightest tap. */
kernel_part kernel_part_whole(const kernel_page *page);

/* Shows the logarithm of the mean of the channels, with no side longer than `most`. */
bool kernel_picture_colours(preview_picture *to, const kernel_page *page, const kernel_part *part,
                            uint32_t most, err *e);

/* Appends the page. */
bool kernel_page_svg(const kernel_page *page, par *threads, text *to, err *e);

#endif
