/* lab_plot.c - the picture of `bench fft --plot`: each line has a colour, a dash and a marker, and
 * its name at its end. */
#include "base/mem.h"
#include "base/number.h"
#include "lab/lab_bench.h"

#include <math.h>
#include <stdlib.h>

/* All in pixels of the picture: the axes are a rectangle, and names stand to its right. */
enum { WIDTH = 1000, HEIGHT = 680, LEFT = 72, RIGHT = 760, TOP = 70, BOTTOM = 620 };
enum { NAME_GAP = 17, MOST_SERIES = 40 };

typedef struct {
    double n, seconds;
} point;

typedef struct {
    const lab_transform *t; /* NULL: copies of the image */
    point *at;
    uint32_t count;
    const char *colour, *dash, *width;
    double end, name; /* the heights of its last point and of its name */
} series;

typedef struct {
    text *svg;
    double low_n, high_n, low_s, high_s; /* the ends of the axes */
} frame;

static double x_of(const frame *f, double n) {
    return LEFT + (RIGHT - LEFT) * log(n / f->low_n) / log(f->high_n / f->low_n);
}

static double y_of(const frame *f, double seconds) {
    return BOTTOM - (BOTTOM - TOP) * log(seconds / f->low_s) / log(f->high_s / f->low_s);
}

/* --- the axes -------------------------------------------------------------------------------- */

static void plot_times(const frame *f) {
    static const char *const UNIT[] = {"s", "ms", "\xc2\xb5s", "ns"};
    for (int decade = -9; decade < 4; decade++)
        for (int k = 1; k < 10; k++) {
            double s = k * pow(10, decade), y = y_of(f, s);
            int i = 0;
            if (s < f->low_s || s > f->high_s) continue;
            text_add(f->svg, "<path d=\"M%d %.1fH%d\" stroke=\"%s\"/>\n", LEFT, y, RIGHT,
                     k == 1 ? "#ddd" : "#f1f1f1");
            while (i < 3 && s < 0.999) s *= 1e3, i++;
            if (k == 1)
                text_add(f->svg, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f %s</text>\n",
                         LEFT - 8, y + 4, s, UNIT[i]);
        }
}

/* Each size has a line; powers of two have a number, and so do the others where there is room. */
static void plot_sizes(const frame *f, const lab_row *row, uint32_t rows) {
    for (double last = 0, next;; last = next) {
        next = INFINITY;
        for (uint32_t i = 0; i < rows; i++)
            if (row[i].size[0] > last) next = fmin(next, row[i].size[0]);
        if (isinf(next)) return;
        double x = x_of(f, next);
        bool far = last <= 0 || x - x_of(f, last) > 32;
        text_add(f->svg, "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>\n", x, TOP, BOTTOM);
        if (far || !((uint32_t)next & ((uint32_t)next - 1)))
            text_add(f->svg, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n", x,
                     BOTTOM + (far ? 20 : 34), next);
    }
}

/* --- lines ----------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    const point *p = a, *q = b;
    return p->n < q->n ? -1 : p->n > q->n;
}

/* Sorts the rows into series, in the order of the table, each by size; copies come last, one for
 * each size. `at` has room for twice the rows. */
static uint32_t plot_series(series *to, const lab_row *row, uint32_t rows, point *at) {
    uint32_t count = 0;
    for (int t = 0; t <= LAB_TRANSFORM_COUNT && count < MOST_SERIES; t++) {
        series s = {.t = t < LAB_TRANSFORM_COUNT ? &LAB_TRANSFORMS[t] : NULL, .at = at};
        for (const lab_row *r = row; r < row + rows; r++) {
            bool there = false;
            point p = {r->size[0], (r->part[0].seconds.median + r->part[1].seconds.median) / 2};
            for (uint32_t i = 0; i < s.count; i++) there |= s.at[i].n == p.n;
            if (!s.t) p.seconds = r->all.copy * 2 * sizeof(lab_complex) * p.n * p.n / r->all.bytes;
            if (!(p.seconds > 0) || there || (s.t ? r->t != s.t : !r->t->program || r->t->length))
                continue;
            s.at[s.count++] = p;
        }
        qsort(s.at, s.count, sizeof *s.at, by_size);
        at += s.count;
        if (s.count) to[count++] = s;
    }
    return count;
}

/* The CPU is grey; a GPU has colours that the colour-blind can tell apart, after Okabe and Ito, and
 * dashes where these begin again; the transforms of this program are black, and copies dotted. */
static void plot_styles(series *s, uint32_t count) {
    static const char *const COLOUR[] = {"#0072b2", "#d55e00", "#009e73", "#b0447f",
                                         "#c98500", "#2f93cc", "#5b3fa0"};
    static const char *const DASH[] = {"none", "8 3", "2 3", "9 3 2 3", "12 4"};
    enum { COLOURS = sizeof COLOUR / sizeof COLOUR[0], DASHES = sizeof DASH / sizeof DASH[0] };
    uint32_t cpu = 0, gpu = 0, own = 0;
    for (; count > 0; count--, s++) {
        s->width = s->t && s->t->own ? "2.6" : "1.7";
        if (!s->t)
            s->colour = "#555", s->dash = "1 4";
        else if (s->t->cpu)
            s->colour = "#777", s->dash = DASH[++cpu % DASHES];
        else if (s->t->own)
            s->colour = "#000", s->dash = DASH[own++ % DASHES];
        else
            s->colour = COLOUR[gpu % COLOURS], s->dash = DASH[gpu++ / COLOURS % DASHES];
    }
}

static void plot_line(const frame *f, const series *s) {
    text_add(f->svg,
             "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-dasharray=\"%s\" "
             "stroke-linejoin=\"round\" points=\"",
             s->colour, s->width, s->dash);
    for (uint32_t i = 0; i < s->count; i++)
        text_add(f->svg, "%.1f,%.1f ", x_of(f, s->at[i].n), y_of(f, s->at[i].seconds));
    text_add(f->svg, "\"/>\n");
    for (uint32_t i = 0; i < s->count; i++)
        text_add(f->svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                 x_of(f, s->at[i].n), y_of(f, s->at[i].seconds), s->colour);
}

/* --- names ----------------------------------------------------------------------------------- */

static int by_end(const void *a, const void *b) {
    const series *p = a, *q = b;
    return p->end < q->end ? -1 : p->end > q->end;
}

/* Adds the names beyond the right border, NAME_GAP apart: moved down from the top, and up again
 * from the bottom. A thin line leads from the end of each line to its name. */
static void plot_names(const frame *f, series *s, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) s[i].end = y_of(f, s[i].at[s[i].count - 1].seconds);
    qsort(s, count, sizeof *s, by_end);
    for (uint32_t i = 0; i < count; i++)
        s[i].name = fmax(s[i].end, i ? s[i - 1].name + NAME_GAP : TOP);
    for (uint32_t i = count; i-- > 0;)
        s[i].name = fmin(s[i].name, i + 1 < count ? s[i + 1].name - NAME_GAP : BOTTOM);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = s[i].t ? s[i].t->name : "copy of the image";
        text_add(f->svg,
                 "<path d=\"M%.1f %.1fH%dL%d %.1f\" fill=\"none\" stroke=\"%s\" "
                 "stroke-width=\"0.8\"/>\n<path d=\"M%d %.1fh26\" stroke=\"%s\" "
                 "stroke-width=\"%s\" stroke-dasharray=\"%s\"/>\n",
                 x_of(f, s[i].at[s[i].count - 1].n) + 6, s[i].end, RIGHT + 6, RIGHT + 26, s[i].name,
                 s[i].colour, RIGHT + 28, s[i].name, s[i].colour, s[i].width, s[i].dash);
        text_add(f->svg, "<text x=\"%d\" y=\"%.1f\" fill=\"%s\"%s>%s</text>\n", RIGHT + 61,
                 s[i].name + 4.5, s[i].colour, s[i].t && s[i].t->own ? " font-weight=\"bold\"" : "",
                 name);
    }
}

bool lab_plot(text *svg, const lab_row *row, uint32_t rows, const char *device, err *e) {
    series s[MOST_SERIES];
    point *at = mem_raw(2 * (size_t)rows, sizeof *at, "points", e);
    if (!at) return false;
    uint32_t count = plot_series(s, row, rows, at);
    frame f = {svg, INFINITY, 0, INFINITY, 0}; /* a little beyond the smallest and the largest */
    for (uint32_t i = 0; i < count; i++)
        for (const point *p = s[i].at; p < s[i].at + s[i].count; p++) {
            f.low_n = fmin(f.low_n, p->n / 1.12), f.high_n = fmax(f.high_n, p->n * 1.12);
            f.low_s = fmin(f.low_s, p->seconds / 1.5), f.high_s = fmax(f.high_s, p->seconds * 1.5);
        }
    plot_styles(s, count);
    text_add(svg,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
             "height=\"%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
             "fill=\"#222\">\n<title>Times of two-dimensional transforms</title>\n"
             "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
             "<text x=\"%d\" y=\"30\" font-size=\"18\">Fourier transforms of n \xc3\x97 n "
             "complex numbers</text>\n<text x=\"%d\" y=\"51\" fill=\"#555\">",
             WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, LEFT);
    text_add_clean(svg, device);
    text_add(svg, "; grey: one thread of the CPU"
                  ". Time of one transform, forward and inverse averaged.</text>\n");
    plot_times(&f);
    plot_sizes(&f, row, rows);
    text_add(svg,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n"
             "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">n</text>\n",
             LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, (LEFT + RIGHT) / 2, BOTTOM + 42);
    for (uint32_t i = count; i-- > 0;) plot_line(&f, &s[i]);
    plot_names(&f, s, count);
    text_add(svg, "</svg>\n");
    mem_free(at);
    return true;
}
