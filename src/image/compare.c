#include "image/compare.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one row adds to the comparison. Rows are summed in order afterwards, so that the result
 * does not depend on the number of threads. */
typedef struct {
    double abs_sum, square_sum, largest, max;
    uint32_t max_x;
    int max_channel;
    uint64_t failed, warned;
    bool unbounded;
} row_sum;

typedef struct {
    const image *a, *b;
    int part_a, part_b;
    const compare_limits *l;
    comparison *c;
    row_sum *row;
    double *sums;   /* [row][channel][3]: of a, of b, largest difference */
    float *scratch; /* [worker][2][width][channels] */
} work;

/* --- what can be compared ------------------------------------------------------------------ */

static int rank(const char *name) {
    static const char *const FIRST[] = {"R", "G", "B", "A"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, FIRST[i]) == 0) return i;
    return 4;
}

/* R G B A first; the others keep the order of the file. */
static void list_channels(comparison *c, const image_part *p) {
    int n = 0;
    for (int r = 0; r <= 4; r++)
        for (int i = 0; i < p->channels; i++)
            if (rank(p->channel[i].name) == r) c->channel[n++].a = i;
}

static void size_differs(comparison *c, const image_part *p, const image_part *q) {
    c->verdict = COMPARE_SIZE;
    snprintf(c->differs, sizeof c->differs,
             "data windows differ: %u x %u at (%d, %d) and %u x %u at (%d, %d)", image_width(p),
             image_height(p), p->data.x0, p->data.y0, image_width(q), image_height(q), q->data.x0,
             q->data.y0);
}

static void match_channels(comparison *c, const image_part *p, const image_part *q) {
    for (int i = 0; i < c->channels; i++) {
        const char *name = p->channel[c->channel[i].a].name;
        c->channel[i].b = image_find_channel(q, name);
        if (c->channel[i].b >= 0) continue;
        c->verdict = COMPARE_SIZE;
        snprintf(c->differs, sizeof c->differs, "only the first image has the channel '%.64s'",
                 name);
        return;
    }
    for (int i = 0; i < q->channels; i++) {
        if (image_find_channel(p, q->channel[i].name) >= 0) continue;
        c->verdict = COMPARE_SIZE;
        snprintf(c->differs, sizeof c->differs, "only the second image has the channel '%.64s'",
                 q->channel[i].name);
        return;
    }
}

/* --- values -------------------------------------------------------------------------------- */

/* How far apart two values are; 0 where both are the same, infinite where one is not a number that
 * the other could be near to. */
static double distance(float a, float b) {
    if (isfinite(a) && isfinite(b)) return fabs((double)a - b);
    if (isnan(a) && isnan(b)) return 0;
    return a == b ? 0 : INFINITY;
}

static bool over(double d, float a, float b, double absolute, double relative) {
    if (!(d > (float)absolute)) return false;
    return isinf(d) || d > relative * 0.5 * (fabs((double)a) + fabs((double)b));
}

static void add_value(const work *w, row_sum *r, uint32_t x, int channel, float a, float b,
                      double *sums, bool *fails, bool *warns) {
    const compare_limits *l = w->l;
    double d = distance(a, b);
    if (isfinite(a)) sums[0] += a;
    if (isfinite(b)) sums[1] += b;
    if (d > sums[2]) sums[2] = d;
    if (isinf(d)) {
        r->unbounded = true;
    } else if (isfinite(a)) {
        r->abs_sum += d;
        r->square_sum += d * d;
        r->largest = fmax(r->largest, fmax(fabsf(a), fabsf(b)));
    }
    if (d > r->max) {
        r->max = d;
        r->max_x = x;
        r->max_channel = channel;
    }
    *fails |= over(d, a, b, l->fail, l->fail_relative);
    *warns |= over(d, a, b, l->warn, l->warn_relative);
}

static bool compare_row(void *ctx, size_t y, int worker, err *e) {
    (void)e;
    const work *w = ctx;
    const comparison *c = w->c;
    const image_part *p = &w->a->head.part[w->part_a], *q = &w->b->head.part[w->part_b];
    size_t n = (size_t)c->w * (size_t)c->channels;
    float *a = w->scratch + (size_t)worker * 2 * n, *b = a + n;
    for (int i = 0; i < c->channels; i++) {
        const compare_channel *k = &c->channel[i];
        image_to_float(a + (size_t)i * c->w, w->a->plane[w->part_a][k->a], p->channel[k->a].type,
                       y * c->w, c->w);
        image_to_float(b + (size_t)i * c->w, w->b->plane[w->part_b][k->b], q->channel[k->b].type,
                       y * c->w, c->w);
    }
    row_sum *r = &w->row[y];
    double *sums = w->sums + y * 3 * (size_t)c->channels;
    for (uint32_t x = 0; x < c->w; x++) {
        bool fails = false, warns = false;
        for (int i = 0; i < c->channels; i++)
            add_value(w, r, x, i, a[(size_t)i * c->w + x], b[(size_t)i * c->w + x], sums + 3 * i,
                      &fails, &warns);
        r->failed += fails;
        r->warned += warns;
    }
    return true;
}

static void add_rows(const work *w) {
    comparison *c = w->c;
    double abs_sum = 0, square_sum = 0, largest = 1;
    bool unbounded = false;
    for (uint32_t y = 0; y < c->h; y++) {
        const row_sum *r = &w->row[y];
        abs_sum += r->abs_sum;
        square_sum += r->square_sum;
        largest = fmax(largest, r->largest);
        unbounded |= r->unbounded;
        c->failed += r->failed;
        c->warned += r->warned;
        if (r->max > c->max) {
            c->max = r->max;
            c->max_x = c->x0 + (int32_t)r->max_x;
            c->max_y = c->y0 + (int32_t)y;
            c->max_channel = r->max_channel;
        }
        for (int i = 0; i < c->channels; i++) {
            const double *sums = w->sums + ((size_t)y * (size_t)c->channels + (size_t)i) * 3;
            c->channel[i].sum_a += sums[0];
            c->channel[i].sum_b += sums[1];
            c->channel[i].max = fmax(c->channel[i].max, sums[2]);
        }
    }
    double values = (double)c->pixels * c->channels;
    c->mean = unbounded ? NAN : abs_sum / values;
    c->rms = unbounded ? NAN : sqrt(square_sum / values);
    c->psnr = 20 * log10(largest / c->rms);
}

/* As idiff 2.4 decides: where no more pixels fail than are allowed to, nothing else counts. */
static compare_verdict judge(const comparison *c, const compare_limits *l) {
    double pixels = (double)c->pixels;
    if (c->failed <= l->allow_failures) return COMPARE_MATCH;
    if ((double)c->failed > l->fail_percent / 100 * pixels || c->max > (float)l->hard_fail)
        return COMPARE_FAIL;
    if ((double)c->warned > l->warn_percent / 100 * pixels || c->max > (float)l->hard_warn)
        return COMPARE_WARN;
    return COMPARE_MATCH;
}

bool compare_parts(comparison *c, const image *a, int part_a, const image *b, int part_b,
                   const compare_limits *l, par *threads, err *e) {
    const image_part *p = &a->head.part[part_a], *q = &b->head.part[part_b];
    size_t rows = image_height(p), width = image_width(p), n = (size_t)p->channels;
    *c = (comparison){.w = (uint32_t)width,
                      .h = (uint32_t)rows,
                      .channels = p->channels,
                      .x0 = p->data.x0,
                      .y0 = p->data.y0,
                      .pixels = (uint64_t)width * rows};
    if (!(c->channel = mem_new(n, sizeof *c->channel, "channels", e))) return false;
    list_channels(c, p);
    if (memcmp(&p->data, &q->data, sizeof p->data) != 0) {
        size_differs(c, p, q);
    } else {
        match_channels(c, p, q);
    }
    if (c->verdict == COMPARE_SIZE) return true;
    work w = {.a = a, .b = b, .part_a = part_a, .part_b = part_b, .l = l, .c = c};
    w.row = mem_new(rows, sizeof *w.row, "rows", e);
    w.sums = mem_new(rows * n, 3 * sizeof *w.sums, "rows", e);
    w.scratch = mem_raw(width * n, 2 * sizeof(float) * (size_t)par_threads(threads), "rows", e);
    bool ok = w.row && w.sums && w.scratch && par_for(threads, rows, compare_row, &w, e);
    if (ok) {
        add_rows(&w);
        c->verdict = judge(c, l);
    }
    mem_free(w.row);
    mem_free(w.sums);
    mem_free(w.scratch);
    return ok;
}

void compare_free(comparison *c) {
    mem_free(c->channel);
    *c = (comparison){0};
}

const char *compare_word(compare_verdict v) {
    return v == COMPARE_MATCH ? "PASS" : v == COMPARE_WARN ? "WARNING" : "FAILURE";
}

/* --- the difference as an image -------------------------------------------------------------- */

typedef struct {
    const comparison *c;
    const image *a, *b;
    image *to;
    int part_a, part_b;
    bool absolute;
    double scale;
    float *scratch; /* [worker][width] */
} difference_work;

static bool difference_row(void *ctx, size_t y, int worker, err *e) {
    (void)e;
    const difference_work *w = ctx;
    const image_part *p = &w->a->head.part[w->part_a], *q = &w->b->head.part[w->part_b];
    size_t n = w->c->w;
    float *b = w->scratch + (size_t)worker * n;
    for (int i = 0; i < w->c->channels; i++) {
        const compare_channel *k = &w->c->channel[i];
        float *to = (float *)w->to->plane[0][k->a] + y * n;
        image_to_float(to, w->a->plane[w->part_a][k->a], p->channel[k->a].type, y * n, n);
        image_to_float(b, w->b->plane[w->part_b][k->b], q->channel[k->b].type, y * n, n);
        for (size_t x = 0; x < n; x++) {
            float d = (float)(((double)to[x] - b[x]) * w->scale);
            to[x] = w->absolute ? fabsf(d) : d;
        }
    }
    return true;
}

image *compare_difference(const comparison *c, const image *a, int part_a, const image *b,
                          int part_b, bool absolute, double scale, par *threads, err *e) {
    image_header head = {0},
                 one = {.format = a->head.format, .part = &a->head.part[part_a], .parts = 1};
    image *to = NULL;
    if (!image_header_copy(&head, &one, e)) return NULL;
    for (int i = 0; i < head.part[0].channels; i++) head.part[0].channel[i].type = PIXEL_FLOAT;
    to = image_new_unset(&head, NULL, e);
    image_header_free(&head);
    difference_work w = {c, a, b, to, part_a, part_b, absolute, scale, NULL};
    w.scratch = mem_raw(c->w, sizeof(float) * (size_t)par_threads(threads), "rows", e);
    if (!to || !w.scratch || !par_for(threads, c->h, difference_row, &w, e)) image_free(&to);
    mem_free(w.scratch);
    return to;
}
