#include "image/flat/heat.h"

#include "base/mem.h"
#include "base/steady.h"
#include "image/flat/flat.h"

#include <strings.h>

/* Decades that the scale of false colours covers, down from the largest difference. */
static const double DECADES = 4;

typedef struct {
    const comparison *c;
    heat *h;
    float *worst; /* [height][width][3]: the largest difference per pixel of the picture */
    double *row;  /* two of the image */
} work;

/* Returns the colours that a channel shows in: bits of R, G, B. */
static unsigned shows_in(const char *name) {
    static const char *const WORD[3][2] = {{"r", "red"}, {"g", "green"}, {"b", "blue"}};
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    for (unsigned k = 0; k < 3; k++)
        if (strcasecmp(last, WORD[k][0]) == 0 || strcasecmp(last, WORD[k][1]) == 0) return 1u << k;
    return 7;
}

static void add_row(work *w, const compare_channel *k, uint32_t y) {
    const comparison *c = w->c;
    heat *h = w->h;
    double *a = w->row, *b = w->row + c->w;
    compare_read_row(c, k, y, a, b);
    unsigned in = shows_in(c->of.a->head.part[c->of.part].channel[k->a].name);
    float *to = w->worst + (size_t)((uint64_t)y * h->height / c->h) * h->width * 3;
    for (uint32_t x = 0; x < c->w; x++) {
        float d = (float)compare_distance(a[x], b[x]);
        float *pixel = to + (size_t)((uint64_t)x * h->width / c->w) * 3;
        if (d == 0) {
            h->equal++;
        } else {
            double at = (steady_log10((double)d) - HEAT_LOWEST) * HEAT_PER_DECADE;
            h->bin[(int)fmin(fmax(floor(at), 0), HEAT_BINS - 1)]++;
        }
        for (unsigned i = 0; i < 3; i++)
            if (in >> i & 1) pixel[i] = fmaxf(pixel[i], d);
    }
}

/* Returns the largest of 1, 2, 5, 10, ... that keeps all but a twentieth of the values that differ
 * at or below 1, as far as the bins tell. */
static double choose_gain(const heat *h, double most) {
    uint64_t total = 0, below = 0;
    int i = 0;
    for (int k = 0; k < HEAT_BINS; k++) total += h->bin[k];
    while (i < HEAT_BINS && (below += h->bin[i]) < total - total / 20) i++;
    double usual = fmin(most, steady_pow(10, HEAT_LOWEST + (i + 1.0) / HEAT_PER_DECADE));
    if (!(usual > 0) || isinf(usual)) return 1;
    double decade = 1;
    while (10 * decade * usual <= 1) decade *= 10;
    while (decade * usual > 1) decade /= 10;
    return decade * (5 * decade * usual <= 1 ? 5 : 2 * decade * usual <= 1 ? 2 : 1);
}

/* Goes from black over violet, magenta and orange to nearly white. Brightness rises all the way, so
 * that the scale also reads in grey. */
void heat_colour(float at, uint8_t rgb[3]) {
    static const float STOP[5][3] = {
        {0, 0, 0}, {60, 20, 130}, {190, 30, 110}, {250, 140, 30}, {255, 250, 210}};
    float place = fminf(fmaxf(at, 0), 1) * 4;
    int i = place >= 4 ? 3 : (int)place;
    for (int k = 0; k < 3; k++)
        rgb[k] = (uint8_t)(STOP[i][k] + (place - (float)i) * (STOP[i + 1][k] - STOP[i][k]) + 0.5f);
}

static void paint(work *w) {
    heat *h = w->h;
    for (size_t i = 0; i < (size_t)h->width * h->height; i++) {
        const float *d = w->worst + 3 * i;
        float most = fmaxf(d[0], fmaxf(d[1], d[2]));
        for (int k = 0; k < 3; k++) {
            float v = fminf((float)(d[k] * h->gain), 1);
            h->amplified[3 * i + (size_t)k] = (uint8_t)(flat_to_srgb(v) * 255 + 0.5f);
        }
        double at = most > h->low ? steady_log10(most / h->low) / DECADES : 0;
        heat_colour((float)fmin(at, 1), h->colours + 3 * i);
    }
}

bool heat_make(heat *h, const comparison *c, uint32_t widest, err *e) {
    *h = (heat){.width = c->w < widest ? c->w : widest};
    h->height = (uint32_t)fmax(1, floor((double)c->h * h->width / c->w + 0.5));
    size_t n = (size_t)h->width * h->height;
    work w = {.c = c, .h = h};
    OWN_MEM float *worst = w.worst = mem_new(n, 3 * sizeof *worst, "differences", e);
    OWN_MEM double *row = w.row = mem_raw(c->w, 2 * sizeof *row, "a row", e);
    h->amplified = mem_raw(n, 3, "a picture", e);
    h->colours = mem_raw(n, 3, "a picture", e);
    if (!worst || !row || !h->amplified || !h->colours) return heat_free(h), false;
    for (uint32_t y = 0; y < c->h; y++)
        for (int i = 0; i < c->channels; i++) add_row(&w, &c->channel[i], y);
    h->gain = choose_gain(h, c->max);
    h->high = isinf(c->max) || c->max == 0 ? 1 : c->max;
    h->low = h->high * steady_pow(10, -DECADES);
    paint(&w);
    return true;
}

void heat_free(heat *h) {
    mem_free(h->amplified);
    mem_free(h->colours);
    *h = (heat){0};
}
