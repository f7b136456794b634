#include "lab/lab_plot.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the frame ------------------------------------------------------------------------------- */

/* All in pixels of the picture: the axes are a rectangle, and names stand to its right. */
enum { WIDTH = 1000, HEIGHT = 680, LEFT = 72, RIGHT = 760, TOP = 70, BOTTOM = 620 };
enum { NAME_GAP = 17, MOST_SERIES = 40, MOST_TICKS = 64 };

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

static void add_line(text *svg, double x1, double y1, double x2, double y2, const char *style) {
    text_add(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2,
             style);
}

static const char *const GRID = "stroke=\"#ddd\"", *const FAINT = "stroke=\"#f1f1f1\"";

/* Writes 1e-5 as "10 µs". */
static void add_seconds(text *to, double s) {
    static const struct {
        double unit;
        const char *name;
    } UNIT[] = {{1e-9, "ns"}, {1e-6, "\xc2\xb5s"}, {1e-3, "ms"}, {1, "s"}};
    int i = 3;
    while (i > 0 && s < UNIT[i].unit * 0.999) i--;
    text_add(to, "%.0f %s", s / UNIT[i].unit, UNIT[i].name);
}

static void add_times(const frame *f) {
    for (int decade = -9; decade < 4; decade++)
        for (int k = 1; k < 10; k++) {
            double s = k * pow(10, decade);
            if (s < f->low_s || s > f->high_s) continue;
            add_line(f->svg, LEFT, y_of(f, s), RIGHT, y_of(f, s), k == 1 ? GRID : FAINT);
            if (k > 1) continue;
            text_add(f->svg, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8,
                     y_of(f, s) + 4);
            add_seconds(f->svg, s);
            text_add(f->svg, "</text>\n");
        }
}

static int by_size(const void *a, const void *b) {
    const lab_point *p = a, *q = b;
    return p->n < q->n ? -1 : p->n > q->n;
}

/* Each size that was measured has a line; powers of two have a number, and so has each other size
 * that finds room beside them. */
static void add_sizes(const frame *f, const lab_point *point, uint32_t points) {
    uint32_t size[MOST_TICKS], count = 0;
    for (uint32_t i = 0; i < points; i++) {
        uint32_t k = 0;
        while (k < count && size[k] != point[i].n) k++;
        if (k == count && count < MOST_TICKS) size[count++] = point[i].n;
    }
    for (uint32_t i = 0; i < count; i++) {
        double x = x_of(f, size[i]);
        bool power = !(size[i] & (size[i] - 1)), room = true;
        for (uint32_t k = 0; k < count; k++)
            if (k != i && fabs(x_of(f, size[k]) - x) < 32 && (!power || k < i))
                room = power && size[k] & (size[k] - 1);
        add_line(f->svg, x, TOP, x, BOTTOM, power ? GRID : FAINT);
        if (room)
            text_add(f->svg, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text>\n", x,
                     BOTTOM + 20, size[i]);
    }
}

/* --- lines ----------------------------------------------------------------------------------- */

typedef struct {
    const lab_transform *t;
    const lab_point *first; /* the points of one series are neighbours */
    uint32_t count;
    const char *colour, *dash;
    int marker;
    double end, name; /* the heights of its last point and of its name */
} series;

/* Colours that the colour-blind can tell apart, after Okabe and Ito, without the yellow, which
 * paper does not show. */
static const char *const COLOUR[] = {"#0072b2", "#d55e00", "#009e73", "#b0447f",
                                     "#c98500", "#2f93cc", "#5b3fa0"};
static const char *const GREY[] = {"#777", "#666", "#888", "#555", "#333"};
static const char *const DASH[] = {"7 3", "2 3", "9 3 2 3", "4 2", "12 4"};
#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

/* The CPU is grey and dashed; a GPU has colours; the transforms of this program are black. */
static void choose_styles(series *s, uint32_t count) {
    int cpu = 0, gpu = 0, own = 0;
    for (uint32_t i = 0; i < count; i++) {
        s[i].dash = "none";
        if (!s[i].t) {
            s[i].colour = "#555", s[i].dash = "1 4", s[i].marker = -1;
        } else if (s[i].t->cpu) {
            s[i].colour = GREY[cpu % COUNT(GREY)], s[i].dash = DASH[cpu % COUNT(DASH)];
            s[i].marker = cpu++;
        } else if (s[i].t->own) {
            s[i].colour = "#000", s[i].dash = own ? "6 3" : "none", s[i].marker = own++;
        } else {
            s[i].colour = COLOUR[gpu % COUNT(COLOUR)], s[i].marker = gpu++;
            if (gpu > COUNT(COLOUR)) s[i].dash = "8 3";
        }
    }
}

/* Draws one of six markers. */
static void add_marker(text *svg, int marker, double x, double y, const char *colour) {
    static const char *const SHAPE[] = {
        "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
        "M-3.3 -3.3h6.6v6.6h-6.6z",
        "M0 -4.4L4.2 3H-4.2z",
        "M0 -4.7L4.7 0L0 4.7L-4.7 0z",
        "M0 4.4L4.2 -3H-4.2z",
        "M-4 -1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z"};
    if (marker < 0) return;
    /* The second round of markers is hollow. */
    bool hollow = marker / COUNT(SHAPE) % 2;
    text_add(svg,
             "<path d=\"%s\" transform=\"translate(%.1f %.1f)\" fill=\"%s\" stroke=\"%s\" "
             "stroke-width=\"1.2\"/>\n",
             SHAPE[marker % COUNT(SHAPE)], x, y, hollow ? "#fff" : colour, colour);
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
        add_marker(f->svg, s->marker, x_of(f, s->first[i].n), y_of(f, s->first[i].seconds),
                   s->colour);
}

/* --- names ----------------------------------------------------------------------------------- */

/* Moves names apart to NAME_GAP at least, as little as can be: where two are too close, their group
 * moves together, to the mean of what its members want. `s` goes from the top down. */
static void part_names(series *const *s, uint32_t count) {
    struct {
        double sum; /* of what each wants, less its distance from the first of the group */
        uint32_t first, n;
    } group[MOST_SERIES];
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++) {
        group[groups].sum = s[i]->end, group[groups].first = i, group[groups].n = 1;
        groups++;
        while (groups > 1) {
            uint32_t a = groups - 2, b = groups - 1;
            double end = group[a].sum / group[a].n + NAME_GAP * (double)group[a].n;
            if (group[b].sum / group[b].n >= end) break;
            group[a].sum += group[b].sum - (double)NAME_GAP * group[a].n * group[b].n;
            group[a].n += group[b].n;
            groups--;
        }
    }
    for (uint32_t g = 0; g < groups; g++) {
        double height = NAME_GAP * (double)(group[g].n - 1);
        double top = clamp_double(group[g].sum / group[g].n, TOP, BOTTOM - height);
        for (uint32_t i = 0; i < group[g].n; i++)
            s[group[g].first + i]->name = top + NAME_GAP * (double)i;
    }
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
static void add_names(const frame *f, series *s, uint32_t count) {
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
        add_marker(f->svg, r->marker, RIGHT + 41, r->name, r->colour);
        text_add(f->svg, "<text x=\"%d\" y=\"%.1f\" fill=\"%s\"%s>%s</text>\n", RIGHT + 61,
                 r->name + 4.5, r->colour, r->t && r->t->own ? " font-weight=\"bold\"" : "",
                 name_of(r));
    }
}

/* --- all of it ------------------------------------------------------------------------------- */

/* Sorts the points into series, in the order of the table, each by size; copies come last. */
static uint32_t make_series(series *to, const lab_point *point, uint32_t points,
                            lab_point *sorted) {
    uint32_t count = 0, used = 0;
    for (int t = 0; t <= LAB_TRANSFORM_COUNT; t++) {
        const lab_transform *of = t < LAB_TRANSFORM_COUNT ? &LAB_TRANSFORMS[t] : NULL;
        series s = {.t = of, .first = sorted + used};
        for (uint32_t i = 0; i < points; i++)
            if (point[i].t == of) sorted[used++] = point[i], s.count++;
        qsort(sorted + used - s.count, s.count, sizeof *sorted, by_size);
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
    for (uint32_t i = 0; i < count; i++)
        if (s[i].t && s[i].t->cpu) {
            text_add(svg, "; grey: one thread of the CPU");
            break;
        }
    text_add(svg, ". Time of one transform, forward and inverse averaged.</text>\n");
    add_times(&f);
    add_sizes(&f, point, points);
    text_add(svg,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n"
             "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">n</text>\n",
             LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, (LEFT + RIGHT) / 2, BOTTOM + 42);
    for (uint32_t i = count; i-- > 0;) add_series(&f, &s[i]);
    add_names(&f, s, count);
    text_add(svg, "</svg>\n");
    mem_free(sorted);
    return true;
}
