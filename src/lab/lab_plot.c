#include "lab/lab_plot.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the frame ------------------------------------------------------------------------------- */

/* All in pixels of the picture: the axes are a rectangle, and names stand to its right. */
enum { WIDTH = 1000, HEIGHT = 680, LEFT = 72, RIGHT = 760, TOP = 70, BOTTOM = 620 };
enum { NAME_GAP = 17, MOST_SERIES = 40 };

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

/* The ends: a little beyond the smallest and the largest. */
static frame frame_of(text *svg, const lab_point *p, uint32_t points) {
    frame f = {svg, INFINITY, 0, INFINITY, 0};
    for (uint32_t i = 0; i < points; i++) {
        f.low_n = fmin(f.low_n, p[i].n), f.high_n = fmax(f.high_n, p[i].n);
        f.low_s = fmin(f.low_s, p[i].seconds), f.high_s = fmax(f.high_s, p[i].seconds);
    }
    f.low_n /= 1.12, f.high_n *= 1.12;
    f.low_s /= 1.5, f.high_s *= 1.5;
    return f;
}

static void plot_add_line(text *svg, double x1, double y1, double x2, double y2,
                          const char *style) {
    text_add(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2,
             style);
}

static const char *const GRID = "stroke=\"#ddd\"", *const FAINT = "stroke=\"#f1f1f1\"";

/* Writes 1e-5 as "10 µs". */
static void add_seconds(text *to, double s) {
    static const char *const UNIT[] = {"s", "ms", "\xc2\xb5s", "ns"};
    int i = 0;
    while (i < 3 && s < 0.999) s *= 1e3, i++;
    text_add(to, "%.0f %s", s, UNIT[i]);
}

static void add_times(const frame *f) {
    for (int decade = -9; decade < 4; decade++)
        for (int k = 1; k < 10; k++) {
            double s = k * pow(10, decade);
            if (s < f->low_s || s > f->high_s) continue;
            plot_add_line(f->svg, LEFT, y_of(f, s), RIGHT, y_of(f, s), k == 1 ? GRID : FAINT);
            if (k > 1) continue;
            text_add(f->svg, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8,
                     y_of(f, s) + 4);
            add_seconds(f->svg, s);
            text_add(f->svg, "</text>\n");
        }
}

/* Each size that was measured has a line; powers of two have a number, and so do the others where
 * there are few. */
static void add_sizes(const frame *f, const lab_point *point, uint32_t points) {
    uint32_t last = 0, next;
    for (;; last = next) {
        next = UINT32_MAX;
        for (uint32_t i = 0; i < points; i++)
            if (point[i].n > last) next = min_u32(next, point[i].n);
        if (next == UINT32_MAX) return;
        double x = x_of(f, next);
        bool far = !last || x - x_of(f, last) > 32;
        plot_add_line(f->svg, x, TOP, x, BOTTOM, GRID);
        if (far || !(next & (next - 1)))
            text_add(f->svg, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text>\n", x,
                     BOTTOM + (far ? 20 : 34), next);
    }
}

/* --- lines ----------------------------------------------------------------------------------- */

typedef struct {
    const lab_transform *t;
    const lab_point *first; /* the points of one series are neighbours */
    uint32_t count;
    const char *colour, *dash;
    double end, name; /* the heights of its last point and of its name */
} series;

/* Colours that the colour-blind can tell apart, after Okabe and Ito, without the yellow, which
 * paper does not show. */
static const char *const COLOUR[] = {"#0072b2", "#d55e00", "#009e73", "#b0447f",
                                     "#c98500", "#2f93cc", "#5b3fa0"};
static const char *const DASH[] = {"none", "8 3", "2 3", "9 3 2 3", "12 4"};
enum { COLOURS = sizeof COLOUR / sizeof COLOUR[0], DASHES = sizeof DASH / sizeof DASH[0] };

/* The CPU is grey; a GPU has colours, and dashes where these begin again; the transforms of this
 * program are black, and copies are dotted. */
static void choose_styles(series *s, uint32_t count) {
    uint32_t cpu = 0, gpu = 0, own = 0;
    for (; count > 0; count--, s++)
        if (!s->t)
            s->colour = "#555", s->dash = "1 4";
        else if (s->t->cpu)
            s->colour = "#777", s->dash = DASH[++cpu % DASHES];
        else if (s->t->own)
            s->colour = "#000", s->dash = DASH[own++ % DASHES];
        else
            s->colour = COLOUR[gpu % COLOURS], s->dash = DASH[gpu++ / COLOURS % DASHES];
}

static const char *width_of(const series *s) {
    return s->t && s->t->own ? "2.6" : "1.7";
}

static void add_series(const frame *f, const series *s) {
    text_add(f->svg,
             "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-dasharray=\"%s\" "
             "stroke-linejoin=\"round\" points=\"",
             s->colour, width_of(s), s->dash);
    for (uint32_t i = 0; i < s->count; i++)
        text_add(f->svg, "%s%.1f,%.1f", i ? " " : "", x_of(f, s->first[i].n),
                 y_of(f, s->first[i].seconds));
    text_add(f->svg, "\"/>\n");
    for (uint32_t i = 0; i < s->count; i++)
        text_add(f->svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                 x_of(f, s->first[i].n), y_of(f, s->first[i].seconds), s->colour);
}

/* --- names ----------------------------------------------------------------------------------- */

/* Moves names apart to NAME_GAP: down from the top, and up again from the bottom. `s` is sorted by
 * the height of its ends. */
static void part_names(series *const *s, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        s[i]->name = fmax(s[i]->end, i ? s[i - 1]->name + NAME_GAP : TOP);
    for (uint32_t i = count; i-- > 0;)
        s[i]->name = fmin(s[i]->name, i + 1 < count ? s[i + 1]->name - NAME_GAP : BOTTOM);
}

static int by_end(const void *a, const void *b) {
    const series *p = *(series *const *)a, *q = *(series *const *)b;
    return p->end < q->end ? -1 : p->end > q->end;
}

static const char *name_of(const series *s) {
    return s->t ? s->t->name : "copy of the image";
}

/* Lines that go to the right border have their names beyond it. A line that ends before has its
 * name above its end. */
static void plot_add_names(const frame *f, series *s, uint32_t count) {
    series *right[MOST_SERIES];
    uint32_t n = 0, last = 0;
    for (uint32_t i = 0; i < count; i++) last = max_u32(last, s[i].first[s[i].count - 1].n);
    for (uint32_t i = 0; i < count; i++) {
        const lab_point *end = &s[i].first[s[i].count - 1];
        s[i].end = y_of(f, end->seconds);
        if (end->n == last) {
            right[n++] = &s[i];
            continue;
        }
        text_add(f->svg,
                 "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\" text-anchor=\"middle\" stroke=\"#fff\" "
                 "stroke-width=\"4\" paint-order=\"stroke\">%s</text>\n",
                 x_of(f, end->n), s[i].end - 10, s[i].colour, name_of(&s[i]));
    }
    qsort(right, n, sizeof *right, by_end);
    part_names(right, n);
    for (uint32_t i = 0; i < n; i++) {
        const series *r = right[i];
        double x = x_of(f, last);
        text_add(f->svg,
                 "<path d=\"M%.1f %.1fH%dL%d %.1f\" fill=\"none\" stroke=\"%s\" "
                 "stroke-width=\"0.8\"/>\n",
                 x + 6, r->end, RIGHT + 6, RIGHT + 26, r->name, r->colour);
        text_add(f->svg,
                 "<path d=\"M%d %.1fh26\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" "
                 "stroke-dasharray=\"%s\"/>\n",
                 RIGHT + 28, r->name, r->colour, width_of(r), r->dash);
        text_add(f->svg, "<text x=\"%d\" y=\"%.1f\" fill=\"%s\"%s>%s</text>\n", RIGHT + 61,
                 r->name + 4.5, r->colour, r->t && r->t->own ? " font-weight=\"bold\"" : "",
                 name_of(r));
    }
}

/* --- all of it ------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    const lab_point *p = a, *q = b;
    return p->n < q->n ? -1 : p->n > q->n;
}

/* Sorts the points into series, in the order of the table, each by size; copies come last. */
static uint32_t make_series(series *to, const lab_point *point, uint32_t points,
                            lab_point *sorted) {
    uint32_t count = 0;
    for (int t = 0; t <= LAB_TRANSFORM_COUNT; t++) {
        series s = {.t = t < LAB_TRANSFORM_COUNT ? &LAB_TRANSFORMS[t] : NULL, .first = sorted};
        for (uint32_t i = 0; i < points; i++)
            if (point[i].t == s.t) sorted[s.count++] = point[i];
        qsort(sorted, s.count, sizeof *sorted, by_size);
        sorted += s.count;
        if (s.count && count < MOST_SERIES) to[count++] = s;
    }
    return count;
}

bool lab_plot(text *svg, const lab_point *point, uint32_t points, const char *device, err *e) {
    series s[MOST_SERIES];
    lab_point *sorted = mem_raw(points, sizeof *sorted, "points", e);
    if (!sorted) return false;
    frame f = frame_of(svg, point, points);
    uint32_t count = make_series(s, point, points, sorted);
    choose_styles(s, count);
    text_add(svg,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
             "height=\"%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
             "fill=\"#222\">\n<title>Times of two-dimensional transforms</title>\n"
             "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
             WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    text_add(svg,
             "<text x=\"%d\" y=\"30\" font-size=\"18\">Fourier transforms of n \xc3\x97 n "
             "complex numbers</text>\n<text x=\"%d\" y=\"51\" fill=\"#555\">",
             LEFT, LEFT);
    text_add_clean(svg, device);
    text_add(svg, "; grey: one thread of the CPU");
    text_add(svg, ". Time of one transform, forward and inverse averaged.</text>\n");
    add_times(&f);
    add_sizes(&f, point, points);
    text_add(svg,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n"
             "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">n</text>\n",
             LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, (LEFT + RIGHT) / 2, BOTTOM + 42);
    for (uint32_t i = count; i-- > 0;) add_series(&f, &s[i]);
    plot_add_names(&f, s, count);
    text_add(svg, "</svg>\n");
    mem_free(sorted);
    return true;
}
