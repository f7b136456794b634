/* lab_plot.h - draws times against sizes, log-log, as an SVG that a browser shows and a printer
 * prints: each line has a colour, a dash and a marker, and its name at its end. */
#ifndef LAB_LAB_PLOT_H
#define LAB_LAB_PLOT_H

#include "base/err.h"
#include "base/text.h"
#include "lab/lab.h"

/* A measurement. */
typedef struct {
    const lab_transform *t; /* NULL: of a plain copy, on the device */
    uint32_t n;
    double seconds;
} lab_point;

/* Appends the picture; there must be at least one point, and all seconds above 0. */
bool lab_plot(text *svg, const lab_point *point, uint32_t points, const char *device, err *e);

#endif
