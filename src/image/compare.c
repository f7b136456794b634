#include "image/compare.h"

#include "base/mem.h"
#include "base/steady.h"

enum { FAIL, HARD_FAIL, WARN, HARD_WARN, LIMITS };

/* A row's sums. They are added in the order of the rows afterwards, so that the result does not
 * depend on the number of threads. */
typedef struct {
    double abs_sum, square_sum, largest, max;
    uint32_t max_x;
    int max_channel;
    uint64_t over[LIMITS]; /* pixels */
    bool unbounded;
} row_sum;

typedef struct {
    double a, b, max;
} channel_sum;

typedef struct {
    comparison *c;
    row_sum *row;
    channel_sum *channel; /* [row][channel] */
    double *scratch;      /* [worker][2][channel][width] */
} work;

/* Lists the channels in their order: R G B A first, the others as in the file. Sets the verdict and
 * the sentence if the two parts cannot be compared. */
static void match(comparison *c, const image_part *p, const image_part *q) {
    static const char *const FIRST[] = {"R", "G", "B", "A"};
    const char *only = NULL, *which = "first";
    int n = 0;
    for (int r = 0; r <= 4; r++)
        for (int i = 0; i < p->channels; i++) {
            int rank = 0;
            while (rank < 4 && strcmp(p->channel[i].name, FIRST[rank]) != 0) rank++;
            if (rank != r) continue;
            c->channel[n].a = i;
            c->channel[n].b = image_find_channel(q, p->channel[i].name);
            if (c->channel[n++].b < 0 && !only) only = p->channel[i].name;
        }
    for (int i = 0; i < q->channels && !only; i++)
        if (image_find_channel(p, q->channel[i].name) < 0)
            only = q->channel[i].name, which = "second";
    bool moved = memcmp(&p->data, &q->data, sizeof p->data) != 0;
    if (moved || only) c->verdict = COMPARE_SIZE;
    if (moved)
        snprintf(c->differs, sizeof c->differs,
                 "data windows differ: %u x %u at (%d, %d) and %u x %u at (%d, %d)", image_width(p),
                 image_height(p), p->data.x0, p->data.y0, image_width(q), image_height(q),
                 q->data.x0, q->data.y0);
    else if (only)
        snprintf(c->differs, sizeof c->differs, "only the %s image has the channel '%.64s'", which,
                 only);
}

static void read_row(double *to, const comparison *c, const image *img, int channel, size_t y) {
    enum { PIECE = 256 };
    pixel_type type = img->head.part[c->of.part].channel[channel].type;
    const void *plane = img->plane[c->of.part][channel];
    size_t from = y * c->w;
    float piece[PIECE];
    for (size_t i = 0; i < c->w; i += PIECE) {
        size_t count = min_size(PIECE, c->w - i);
        if (type != PIXEL_UINT) image_to_float(piece, plane, type, from + i, count);
        for (size_t k = 0; k < count; k++)
            to[i + k] = type == PIXEL_UINT ? ((const uint32_t *)plane)[from + i + k]
                                           : (double)piece[k];
    }
}

void compare_read_row(const comparison *c, const compare_channel *k, size_t y, double *a,
                      double *b) {
    read_row(a, c, c->of.a, k->a, y);
    read_row(b, c, c->of.b, k->b, y);
}

double compare_distance(double a, double b) {
    if (isfinite(a) && isfinite(b)) return fabs(a - b);
    return (isnan(a) && isnan(b)) || a == b ? 0 : INFINITY;
}

static bool over(double d, double mean, double absolute, double relative) {
    return d > (float)absolute && (isinf(d) || d > relative * mean);
}

/* Adds one value to the sums of its row and channel. Returns bits: the limits that it is over. */
static unsigned add_value(row_sum *r, channel_sum *k, const compare_limits *l, double a, double b) {
    double d = compare_distance(a, b), mean = 0.5 * (fabs(a) + fabs(b));
    if (isfinite(a)) k->a += a;
    if (isfinite(b)) k->b += b;
    if (d > k->max) k->max = d;
    if (isinf(d)) {
        r->unbounded = true;
    } else if (isfinite(a)) {
        r->abs_sum += d;
        r->square_sum += d * d;
        r->largest = fmax(r->largest, fmax(fabs(a), fabs(b)));
    }
    return (unsigned)over(d, mean, l->fail, l->fail_relative) << FAIL |
           (unsigned)over(d, mean, l->warn, l->warn_relative) << WARN |
           (unsigned)(d > (float)l->hard_fail) << HARD_FAIL |
           (unsigned)(d > (float)l->hard_warn) << HARD_WARN;
}

static bool compare_row(void *ctx, size_t y, int worker, err *e) {
    const work *w = ctx;
    const comparison *c = w->c;
    size_t width = c->w, n = width * (size_t)c->channels;
    double *a = w->scratch + (size_t)worker * 2 * n, *b = a + n;
    for (int i = 0; i < c->channels; i++)
        compare_read_row(c, &c->channel[i], y, a + (size_t)i * width, b + (size_t)i * width);
    row_sum *r = &w->row[y];
    channel_sum *sums = w->channel + y * (size_t)c->channels;
    for (uint32_t x = 0; x < c->w; x++) {
        unsigned limits = 0;
        for (int i = 0; i < c->channels; i++) {
            size_t at = (size_t)i * width + x;
            limits |= add_value(r, &sums[i], &c->limits, a[at], b[at]);
            if (sums[i].max <= r->max) continue;
            r->max = sums[i].max;
            r->max_x = x;
            r->max_channel = i;
        }
        for (int i = 0; i < LIMITS; i++) r->over[i] += limits >> i & 1;
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
        c->failed += r->over[FAIL];
        c->hard_failed += r->over[HARD_FAIL];
        c->warned += r->over[WARN];
        c->hard_warned += r->over[HARD_WARN];
        if (r->max > c->max) {
            c->max = r->max;
            c->max_x = c->x0 + (int32_t)r->max_x;
            c->max_y = c->y0 + (int32_t)y;
            c->max_channel = r->max_channel;
        }
        for (int i = 0; i < c->channels; i++) {
            const channel_sum *k = &w->channel[(size_t)y * (size_t)c->channels + (size_t)i];
            c->channel[i].sum_a += k->a;
            c->channel[i].sum_b += k->b;
            c->channel[i].max = fmax(c->channel[i].max, k->max);
        }
    }
    double values = (double)c->pixels * c->channels;
    c->mean = unbounded ? NAN : abs_sum / values;
    c->rms = unbounded ? NAN : sqrt(square_sum / values);
    c->psnr = 20 * steady_log10(largest / c->rms);
}

/* Sets the verdict and what decided it, by the rule of compare_limits. */
static void judge(comparison *c) {
    const compare_limits *l = &c->limits;
    uint64_t allowed = l->allow_failures;
    bool fails = c->failed > allowed;
    const struct {
        bool counts;
        compare_verdict verdict;
        uint64_t over;
        double percent, limit;
    } rule[] = {
        {fails, COMPARE_FAIL, c->failed, l->fail_percent, l->fail},
        {fails || c->hard_failed > allowed, COMPARE_FAIL, c->hard_failed, 0, l->hard_fail},
        {fails || (l->warn_given && c->warned > allowed), COMPARE_WARN, c->warned, l->warn_percent,
         l->warn},
        {fails || c->hard_warned > allowed, COMPARE_WARN, c->hard_warned, 0, l->hard_warn},
    };
    for (size_t i = 0; i < COUNT(rule); i++) {
        if (!rule[i].counts || rule[i].over <= rule[i].percent / 100 * (double)c->pixels) continue;
        c->verdict = rule[i].verdict;
        c->over = rule[i].over;
        c->limit = rule[i].limit;
        return;
    }
}

bool compare_parts(comparison *c, const compare_pair *of, const compare_limits *l, par *threads,
                   err *e) {
    const image_part *p = &of->a->head.part[of->part], *q = &of->b->head.part[of->part];
    size_t rows = image_height(p), width = image_width(p), n = (size_t)p->channels;
    *c = (comparison){.of = *of,
                      .limits = *l,
                      .w = (uint32_t)width,
                      .h = (uint32_t)rows,
                      .channels = p->channels,
                      .x0 = p->data.x0,
                      .y0 = p->data.y0,
                      .pixels = (uint64_t)width * rows};
    if (!(c->channel = mem_new(n, sizeof *c->channel, "channels", e))) return false;
    match(c, p, q);
    if (c->verdict == COMPARE_SIZE) return true;
    work w = {.c = c};
    const size_t each = 2 * sizeof(double) * (size_t)par_workers(threads);
    OWN_MEM row_sum *row = w.row = mem_new(rows, sizeof *row, "rows", e);
    OWN_MEM channel_sum *channel = w.channel = mem_new(rows * n, sizeof *channel, "rows", e);
    OWN_MEM double *scratch = w.scratch = mem_raw(width * n, each, "rows", e);
    if (!row || !channel || !scratch || !par_for(threads, rows, compare_row, &w, e)) return false;
    add_rows(&w);
    judge(c);
    return true;
}

void comparison_free(comparison *c) {
    mem_free(c->channel);
    *c = (comparison){0};
}

const char *compare_word(compare_verdict v) {
    return v == COMPARE_MATCH ? "PASS" : v == COMPARE_WARN ? "WARNING" : "FAILURE";
}

typedef struct {
    const comparison *c;
    image *to;
    bool absolute;
    double scale;
    double *scratch; /* [worker][2][width] */
} difference_work;

static bool difference_row(void *ctx, size_t y, int worker, err *e) {
    const difference_work *w = ctx;
    size_t n = w->c->w;
    double *a = w->scratch + (size_t)worker * 2 * n, *b = a + n;
    for (int i = 0; i < w->c->channels; i++) {
        const compare_channel *k = &w->c->channel[i];
        float *to = (float *)w->to->plane[0][k->a] + y * n;
        compare_read_row(w->c, k, y, a, b);
        for (size_t x = 0; x < n; x++) {
            float d = (float)((a[x] - b[x]) * w->scale);
            to[x] = w->absolute ? fabsf(d) : d;
        }
    }
    return true;
}

image *compare_difference(const comparison *c, bool absolute, double scale, par *threads, err *e) {
    const image_header *a = &c->of.a->head;
    OWN(image_header) head = {0};
    const image_header one = {.format = a->format, .part = &a->part[c->of.part], .parts = 1};
    if (!image_header_copy(&head, &one, e)) return NULL;
    for (int i = 0; i < head.part[0].channels; i++) head.part[0].channel[i].type = PIXEL_FLOAT;
    difference_work w = {.c = c, .absolute = absolute, .scale = scale};
    w.to = image_new_unset(&head, NULL, e);
    const size_t each = 2 * sizeof(double) * (size_t)par_workers(threads);
    OWN_MEM double *scratch = w.scratch = mem_raw(c->w, each, "rows", e);
    if (!w.to || !scratch || !par_for(threads, c->h, difference_row, &w, e)) image_free(&w.to);
    return w.to;
}
