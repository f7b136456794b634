/* lab_plot.c - the picture that --plot draws of any of the benchmarks: times against sizes. Each
 * line has a colour, a dash and markers; the names stand at the right, in the order of the lines'
 * ends. */
#include "lab/lab_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All in pixels of the picture: the axes are a rectangle, and names stand to its right. */
enum { WIDTH = 1000, HEIGHT = 680, LEFT = 72, RIGHT = 760, TOP = 70, BOTTOM = 620 };
enum { NAME_GAP = 17, MOST_LINES = 40 };

typedef struct {
    const lab_row *row; /* its first one */
    double end;         /* the seconds of its last one */
    const char *colour, *dash;
} plot_line;

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

static double seconds_of(const lab_row *r) {
    return fmax(r->seconds.median, 1e-9);
}

/* --- lines ----------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    const lab_row *p = a, *q = b;
    return p->size[0] < q->size[0] ? -1 : p->size[0] > q->size[0] ? 1 : strcmp(p->name, q->name);
}

static int by_end(const void *a, const void *b) {
    double x = ((const plot_line *)a)->end, y = ((const plot_line *)b)->end;
    return x > y ? -1 : x < y;
}

/* Finds the lines in rows that are sorted by size. The CPU is grey; a GPU has colours that the
 * colour-blind can tell apart, after Okabe and Ito, and dashes where these begin again; what is
 * this program's is black. */
static int find_lines(plot_line l[MOST_LINES], const lab_bench *b) {
    static const char *const COLOUR[] = {"#0072b2", "#d55e00", "#009e73", "#b0447f",
                                         "#c98500", "#2f93cc", "#5b3fa0"};
    static const char *const DASH[] = {"none", "8 3", "2 3", "9 3 2 3", "12 4"};
    enum { COLOURS = sizeof COLOUR / sizeof COLOUR[0], DASHES = sizeof DASH / sizeof DASH[0] };
    int lines = 0, cpu = 0, gpu = 0;
    for (const lab_row *r = b->row; r < b->row + b->rows; r++) {
        int i = 0;
        while (i < lines && (l[i].row->name != r->name || l[i].row->first != r->first)) i++;
        if (i == MOST_LINES) continue;
        if (i < lines) {
            l[i].end = seconds_of(r);
            continue;
        }
        l[lines++] = (plot_line){r, seconds_of(r), "#000", "none"};
        if (r->own) continue;
        if (r->cpu) {
            l[i].colour = "#777";
            l[i].dash = DASH[++cpu % DASHES];
        } else {
            l[i].colour = COLOUR[gpu % COLOURS];
            l[i].dash = DASH[gpu++ / COLOURS % DASHES];
        }
    }
    qsort(l, (size_t)lines, sizeof *l, by_end);
    return lines;
}

/* Draws a line, and its name as the one of this number. */
static void draw_line(const frame *f, const lab_bench *b, const plot_line *l, int number) {
    const lab_row *like = l->row;
    int y = TOP + NAME_GAP * number;
    text dots = {0};
    text_add(f->svg,
             "<g fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-dasharray=\"%s\">"
             "<path d=\"M%d %dh26\"/><polyline points=\"",
             l->colour, like->own ? "2.6" : "1.7", l->dash, RIGHT + 16, y);
    for (const lab_row *r = like; r < b->row + b->rows; r++) {
        if (r->name != like->name || r->first != like->first) continue;
        double px = x_of(f, r->size[0]), py = y_of(f, seconds_of(r));
        text_add(f->svg, "%.1f,%.1f ", px, py);
        text_add(&dots, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", px, py,
                 l->colour);
    }
    text_add(f->svg, "\"/></g>\n<text x=\"%d\" y=\"%d\" fill=\"%s\"%s>%s%s%s</text>\n%s",
             RIGHT + 50, y + 4, l->colour, like->own ? " font-weight=\"bold\"" : "", like->name,
             like->first ? ", first " : "", like->first ? like->first : "", dots.s);
    text_free(&dots);
}

/* --- the axes -------------------------------------------------------------------------------- */

/* Each decade of seconds has a line and its time; each size has a line, and a number where there is
 * room. */
static void draw_grid(const frame *f, const lab_bench *b) {
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
    double at = -INFINITY;
    for (const lab_row *r = b->row; r < b->row + b->rows; r++) {
        double x = x_of(f, r->size[0]);
        if (x - at < 32) continue;
        text_add(f->svg,
                 "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>\n"
                 "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
                 x, TOP, BOTTOM, x, BOTTOM + 20, r->size[0]);
        at = x;
    }
}

void lab_plot(text *svg, lab_bench *b) {
    const char *title = b->r->kind == LAB_FFT   ? "Transforms of n \xc3\x97 n complex numbers, "
                                                  "forward and inverse averaged"
                        : b->r->kind == LAB_SEA ? "Frames of a sea of n \xc3\x97 n points"
                                                : "Blooms of images that are n pixels wide";
    plot_line line[MOST_LINES];
    frame f = {svg, INFINITY, 0, INFINITY, 0}; /* a little beyond the smallest and the largest */
    qsort(b->row, b->rows, sizeof *b->row, by_size);
    for (const lab_row *r = b->row; r < b->row + b->rows; r++) {
        double n = r->size[0], s = seconds_of(r);
        f.low_n = fmin(f.low_n, n / 1.12), f.high_n = fmax(f.high_n, n * 1.12);
        f.low_s = fmin(f.low_s, s / 1.5), f.high_s = fmax(f.high_s, s * 1.5);
    }
    text_add(svg,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
             "height=\"%d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
             "fill=\"#222\">\n<title>%s</title>\n<rect width=\"%d\" height=\"%d\" "
             "fill=\"#fff\"/>\n<text x=\"%d\" y=\"30\" font-size=\"18\">%s</text>\n"
             "<text x=\"%d\" y=\"51\" fill=\"#555\">",
             WIDTH, HEIGHT, WIDTH, HEIGHT, title, WIDTH, HEIGHT, LEFT, title, LEFT);
    text_add_clean(svg, b->r->gpu ? b->r->gpu->name : "no GPU");
    text_add(svg, "; grey: one thread of the CPU; black: this program</text>\n");
    draw_grid(&f, b);
    int lines = find_lines(line, b);
    for (int i = 0; i < lines; i++) draw_line(&f, b, &line[i], i);
    text_add(svg,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
             "stroke=\"#999\"/>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">n</text>\n</svg>\n",
             LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, (LEFT + RIGHT) / 2, BOTTOM + 42);
}
