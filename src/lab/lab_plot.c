/* lab_plot.c - the picture that --plot draws of any of the benchmarks: times against sizes. Each
 * line has a colour, a dash and markers; the names stand at the right, in the order of the lines'
 * ends. */
#include "base/mem.h"
#include "lab/lab_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All in pixels of the picture: the axes are a rectangle, and names stand to its right. */
enum { WIDTH = 1000, HEIGHT = 680, LEFT = 72, RIGHT = 760, TOP = 70, BOTTOM = 620 };
enum { NAME_GAP = 17, MOST_LINES = 40 };

typedef struct {
    double n, seconds;
} point;

typedef struct {
    const char *name, *first; /* of its rows */
    bool cpu, own;
    point *at; /* rising */
    uint32_t count;
    const char *colour, *dash;
} line;

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

/* --- lines ----------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    const point *p = a, *q = b;
    return p->n < q->n ? -1 : p->n > q->n;
}

static int by_end(const void *a, const void *b) {
    const line *p = a, *q = b;
    double x = p->at[p->count - 1].seconds, y = q->at[q->count - 1].seconds;
    return x > y ? -1 : x < y;
}

/* Returns the seconds that are shown: of a transform, the mean of both ways. */
static double seconds_of(const lab_row *r) {
    double both = r->part[LAB_FORWARD].seconds.median + r->part[LAB_BACKWARD].seconds.median;
    return fmax(r->all.seconds.median > 0 ? r->all.seconds.median : both / 2, 1e-9);
}

/* Sorts the rows of one name into a line. */
static line line_of(const lab_bench *b, const lab_row *like, point *at) {
    line l = {.name = like->name,
              .first = like->first,
              .cpu = like->t && like->t->cpu,
              .own = like->t ? like->t->own : strcmp(like->name, "fftbloom") == 0,
              .at = at};
    for (const lab_row *r = b->row; r < b->row + b->rows; r++)
        if (r->name == l.name && r->first == l.first)
            at[l.count++] = (point){r->size[0], seconds_of(r)};
    qsort(at, l.count, sizeof *at, by_size);
    return l;
}

/* The CPU is grey; a GPU has colours that the colour-blind can tell apart, after Okabe and Ito, and
 * dashes where these begin again; what is this program's is black. */
static void choose_styles(line *l, uint32_t count) {
    static const char *const COLOUR[] = {"#0072b2", "#d55e00", "#009e73", "#b0447f",
                                         "#c98500", "#2f93cc", "#5b3fa0"};
    static const char *const DASH[] = {"none", "8 3", "2 3", "9 3 2 3", "12 4"};
    enum { COLOURS = sizeof COLOUR / sizeof COLOUR[0], DASHES = sizeof DASH / sizeof DASH[0] };
    uint32_t cpu = 0, gpu = 0;
    for (; count > 0; count--, l++) {
        l->colour = l->own ? "#000" : l->cpu ? "#777" : COLOUR[gpu % COLOURS];
        l->dash = l->own ? "none" : l->cpu ? DASH[++cpu % DASHES] : DASH[gpu++ / COLOURS % DASHES];
    }
}

/* Draws a line, and its name as the one of this number. */
static void plot_line(const frame *f, const line *l, uint32_t number) {
    uint32_t y = TOP + NAME_GAP * number;
    text_add(f->svg,
             "<g fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-dasharray=\"%s\">"
             "<path d=\"M%d %uh26\"/><polyline points=\"",
             l->colour, l->own ? "2.6" : "1.7", l->dash, RIGHT + 16, y);
    for (uint32_t i = 0; i < l->count; i++)
        text_add(f->svg, "%.1f,%.1f ", x_of(f, l->at[i].n), y_of(f, l->at[i].seconds));
    text_add(f->svg, "\"/></g>\n<text x=\"%d\" y=\"%u\" fill=\"%s\"%s>%s%s%s</text>\n", RIGHT + 50,
             y + 4, l->colour, l->own ? " font-weight=\"bold\"" : "", l->name,
             l->first ? ", first " : "", l->first ? l->first : "");
    for (uint32_t i = 0; i < l->count; i++)
        text_add(f->svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                 x_of(f, l->at[i].n), y_of(f, l->at[i].seconds), l->colour);
}

/* --- the axes -------------------------------------------------------------------------------- */

/* Each decade has a line and its time. */
static void plot_times(const frame *f) {
    static const char *const UNIT[] = {"ns", "\xc2\xb5s", "ms", "s"};
    for (int decade = -9; decade < 3; decade++) {
        double s = pow(10, decade), y = y_of(f, s);
        if (s < f->low_s || s > f->high_s) continue;
        text_add(f->svg,
                 "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n"
                 "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f %s</text>\n",
                 LEFT, y, RIGHT, LEFT - 8, y + 4, pow(10, (decade + 9) % 3),
                 UNIT[(decade + 9) / 3]);
    }
}

/* Each size has a line, and a number where there is room. */
static void plot_sizes(const frame *f, const point *all, uint32_t count) {
    double at = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double x = x_of(f, all[i].n);
        if (x - at < 32) continue;
        text_add(f->svg,
                 "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>\n"
                 "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
                 x, TOP, BOTTOM, x, BOTTOM + 20, all[i].n);
        at = x;
    }
}

bool lab_plot(text *svg, const lab_bench *b, err *e) {
    static const char *const TITLE[] = {
        [LAB_FFT] = "Transforms of n \xc3\x97 n complex numbers, forward and inverse averaged",
        [LAB_SEA] = "Frames of a sea of n \xc3\x97 n points",
        [LAB_BLOOM] = "Blooms of images that are n pixels wide"};
    line l[MOST_LINES];
    uint32_t lines = 0, points = 0;
    frame f = {svg, INFINITY, 0, INFINITY, 0}; /* a little beyond the smallest and the largest */
    point *all = mem_raw(b->rows, sizeof *all, "points", e);
    if (!all) return false;
    for (const lab_row *r = b->row; r < b->row + b->rows; r++) {
        uint32_t i = 0;
        double n = r->size[0], s = seconds_of(r);
        f.low_n = fmin(f.low_n, n / 1.12), f.high_n = fmax(f.high_n, n * 1.12);
        f.low_s = fmin(f.low_s, s / 1.5), f.high_s = fmax(f.high_s, s * 1.5);
        while (i < lines && (l[i].name != r->name || l[i].first != r->first)) i++;
        if (i < lines || lines == MOST_LINES) continue;
        l[lines] = line_of(b, r, all + points);
        points += l[lines++].count;
    }
    choose_styles(l, lines);
    qsort(l, lines, sizeof *l, by_end);
    text_add(svg,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
             "height=\"%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
             "fill=\"#222\">\n<title>%s</title>\n<rect width=\"%d\" height=\"%d\" "
             "fill=\"#fff\"/>\n<text x=\"%d\" y=\"30\" font-size=\"18\">%s</text>\n"
             "<text x=\"%d\" y=\"51\" fill=\"#555\">",
             WIDTH, HEIGHT, WIDTH, HEIGHT, TITLE[b->r->kind], WIDTH, HEIGHT, LEFT,
             TITLE[b->r->kind], LEFT);
    text_add_clean(svg, b->r->gpu ? b->r->gpu->name : "no GPU");
    text_add(svg, "; grey: one thread of the CPU; black: this program</text>\n");
    plot_times(&f);
    for (uint32_t i = 0; i < lines; i++) plot_line(&f, &l[i], i);
    qsort(all, points, sizeof *all, by_size);
    plot_sizes(&f, all, points);
    text_add(svg,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
             "stroke=\"#999\"/>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">n</text>\n</svg>\n",
             LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, (LEFT + RIGHT) / 2, BOTTOM + 42);
    mem_free(all);
    return true;
}
