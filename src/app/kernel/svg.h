/* svg.h - what the pages of `kernel show` are drawn with: an SVG of any width, dark or light as the
 * reader's system, that needs no other file, script or font. It knows nothing of kernels. */
#pragma once

#include "base/text.h"
#include "image/flat/preview.h"

enum { SVG_WIDTH = 800 };

/* Begins a page up to its headline, whose soft words, "</tspan></text>" and all else follow;
 * `style` is added to that of all pages. */
void svg_begin(text *to, const char *name, int height, const char *style);
/* Add words, a power of ten, a line and a rectangle of a class of the style. */
__attribute__((format(printf, 5, 6))) void svg_text(text *to, double x, double y, const char *class,
                                                    const char *fmt, ...);
void svg_power(text *to, double x, double y, const char *class, int exponent);
void svg_line(text *to, double x0, double y0, double x1, double y1, const char *class);
void svg_frame(text *to, double x, double y, double w, double h, const char *class);
/* Adds a picture; few pixels are shown as squares. */
bool svg_picture(text *to, const preview_picture *from, double x, double y, double w, double h,
                 err *e);
/* Adds the scale of false colours from left to right: powers of ten, from `low` on. */
bool svg_scale(text *to, double low, double decades, double x, double y, double w, err *e);
