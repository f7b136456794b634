#include "app/kernel/kernel_page.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/flat/heat.h"
#include "image/flat/png.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- figures ---------------------------------------------------------------------------------- */

bool kernel_page_measure(kernel_page *p, err *e) {
    const uint32_t cx = p->w / 2, cy = p->h / 2;
    p->rings = (uint32_t)(hypot(max_u32(cx, p->w - cx), max_u32(cy, p->h - cy)) + 0.5) + 1;
    double *count = mem_new(p->rings, sizeof *count, "rings", e);
    p->edge = mem_new(p->rings, sizeof *p->edge, "rings", e);
    bool ok = count && p->edge;
    for (uint32_t r = 0; ok && r < p->rings; r++) p->edge[r] = r + 0.5;
    for (uint32_t c = 0; c < p->channels && ok; c++) {
        p->mean[c] = mem_new(p->rings, sizeof(double), "rings", e);
        p->within[c] = mem_new(p->rings, sizeof(double), "rings", e);
        ok = p->mean[c] && p->within[c];
        double sum = 0, within = 0;
        for (size_t i = 0, n = (size_t)p->w * p->h; ok && i < n; i++) {
            double x = (double)(i % p->w) - cx, y = (double)(i / p->w) - cy;
            uint32_t r = (uint32_t)(hypot(x, y) + 0.5);
            double v = isfinite(p->plane[c][i]) ? (double)p->plane[c][i] : 0;
            p->mean[c][r] += v, sum += v;
            count[r] += c == 0;
        }
        for (uint32_t r = 0; ok && r < p->rings && sum > 0; r++) {
            within += p->mean[c][r];
            p->within[c][r] = within / sum;
            p->mean[c][r] /= fmax(count[r], 1) * sum;
        }
    }
    mem_free(count);
    return ok;
}

void kernel_page_free(kernel_page *p) {
    for (int c = 0; c < PAGE_CHANNELS; c++) mem_free(p->mean[c]), mem_free(p->within[c]);
    mem_free(p->edge);
}

bool kernel_picture_colours(kernel_picture *to, const kernel_page *p, uint32_t most, err *e) {
    uint32_t by = ceil_div_u32(max_u32(p->w, p->h), most);
    *to = (kernel_picture){.w = ceil_div_u32(p->w, by), .h = ceil_div_u32(p->h, by)};
    size_t n = (size_t)to->w * to->h;
    double *light = mem_new(n, sizeof *light, "false colours", e), high = 0;
    float *count = mem_new(n, sizeof *count, "false colours", e);
    to->pixel = mem_raw(n, 3, "false colours", e);
    bool ok = light && count && to->pixel;
    for (uint32_t y = 0; ok && y < p->h; y++)
        for (uint32_t x = 0; x < p->w; x++) {
            size_t at = (size_t)(y / by) * to->w + x / by;
            for (uint32_t c = 0; c < p->channels; c++) {
                float v = p->plane[c][(size_t)y * p->w + x];
                light[at] += isfinite(v) ? (double)v : 0;
            }
            count[at]++;
        }
    for (size_t i = 0; ok && i < n; i++) high = fmax(high, light[i] /= (double)count[i]);
    for (size_t i = 0; ok && i < n; i++) {
        double at = light[i] > 0 ? 1 + log10(light[i] / high) / p->decades : 0;
        heat_colour((float)fmax(at, 0), to->pixel + 3 * i);
    }
    mem_free(light);
    mem_free(count);
    if (!ok) mem_free(to->pixel), to->pixel = NULL;
    return ok;
}

/* --- the page --------------------------------------------------------------------------------- */

enum { PAGE_W = 1200, PAGE_H = 1010 };

static const char *const INK[2][PAGE_CHANNELS] = {{"#444444", "", ""},
                                                  {"#c8372d", "#2e8b45", "#2f5fc4"}};
static const char *const CHANNEL[2][PAGE_CHANNELS] = {{"Y", "", ""}, {"R", "G", "B"}};

/* A plot: its frame on the page, and what its axes show. Both may be logarithms. */
typedef struct {
    double x, y, w, h;
    double left, right, bottom, top; /* of logarithms: their exponents */
    bool log_y;
} plot;

static double plot_x(const plot *p, double v) {
    return p->x + p->w * (log10(v) - p->left) / (p->right - p->left);
}

static double plot_y(const plot *p, double v) {
    double at = p->log_y ? log10(v) : v;
    return p->y + p->h * (p->top - at) / (p->top - p->bottom);
}

static void add_text(text *to, double x, double y, const char *class, const char *words) {
    text_add(to, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    text_add_xml(to, words);
    text_add(to, "</text>\n");
}

static void add_power(text *to, double x, double y, const char *class, int exponent) {
    if (exponent == 0)
        text_add(to, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">1</text>\n", x, y, class);
    else
        text_add(
            to,
            "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">10<tspan dy=\"-4\" font-size=\"8.5\">%s%d"
            "</tspan></text>\n",
            x, y, class, exponent < 0 ? "\xe2\x88\x92" : "", exponent < 0 ? -exponent : exponent);
}

static void add_line(text *to, double x0, double y0, double x1, double y1, const char *class) {
    text_add(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x0, y0,
             x1, y1, class);
}

static bool add_picture(text *to, const kernel_picture *from, double x, double y, double w,
                        double h, bool sharp, err *e) {
    size_t bytes;
    const png_picture png = {from->pixel, from->w, from->h, 3};
    uint8_t *file = png_encode(&png, &bytes, e);
    if (!file) return false;
    text_add(to,
             "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
             "preserveAspectRatio=\"none\"%s href=\"data:image/png;base64,",
             x, y, w, h, sharp ? " style=\"image-rendering:pixelated\"" : "");
    text_add_base64(to, file, bytes);
    text_add(to, "\"/>\n");
    mem_free(file);
    return true;
}

/* The distance axis: 1, 2, 5, 10, ... taps, and lines through the plot. */
static void add_distances(text *to, const plot *p, const char *label) {
    char word[32];
    for (int d = 0; d <= 4; d++)
        for (int k = 1; k < 10; k++) {
            double v = k * pow(10, d), at = plot_x(p, v);
            if (log10(v) > p->right + 1e-9) continue;
            bool named = k == 1 || k == 2 || k == 5;
            add_line(to, at, p->y, at, p->y + p->h, k == 1 ? "grid" : "fine");
            snprintf(word, sizeof word, "%g", v);
            if (named) add_text(to, at, p->y + p->h + 16, "tick mid", word);
        }
    add_text(to, p->x + p->w / 2, p->y + p->h + 34, "label mid", label);
}

static void add_frame(text *to, const plot *p) {
    text_add(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"frame\"/>\n",
             p->x, p->y, p->w, p->h);
}

/* Adds a curve over the rings; the middle tap is drawn at half a tap. */
static void add_curve(text *to, const plot *p, const double *at, const double *v, uint32_t points,
                      const char *ink) {
    bool pen = false;
    text_add(to,
             "<path clip-path=\"url(#%s)\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" "
             "stroke-linejoin=\"round\" d=\"",
             p->log_y ? "profile" : "energy", ink);
    for (uint32_t i = 0; i < points; i++) {
        double r = at ? at[i] : i ? i : 0.5;
        if (p->log_y && !(v[i] > 0)) {
            pen = false;
            continue;
        }
        text_add(to, "%s%.1f %.1f", pen ? "L" : "M", plot_x(p, r), plot_y(p, v[i]));
        pen = true;
    }
    text_add(to, "\"/>\n");
}

static void add_clip(text *to, const plot *p, const char *name) {
    text_add(to,
             "<clipPath id=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
             "</clipPath>\n",
             name, p->x, p->y, p->w, p->h);
}

static void add_profile(text *to, const kernel_page *k) {
    plot p = {.x = 690, .y = 196, .w = 470, .h = 264, .left = log10(0.5), .log_y = true};
    const bool colour = k->channels > 1;
    double high = 0, low = INFINITY;
    for (uint32_t c = 0; c < k->channels; c++)
        for (uint32_t r = 0; r < k->rings; r++) {
            double v = k->mean[c][r];
            /* A fade to the border goes down to nothing. */
            if (v > 0) high = fmax(high, v);
            if (v > 0 && r <= 0.45 * min_u32(k->w, k->h)) low = fmin(low, v);
        }
    p.right = log10(k->rings);
    p.top = high > 0 ? ceil(log10(high) + 0.02) : 0;
    p.bottom = fmax(high > 0 ? floor(log10(low)) : -6, p.top - 14);
    if (p.top - p.bottom < 2) p.bottom = p.top - 2;
    add_clip(to, &p, "profile");
    add_text(to, p.x, p.y - 14, "title", "Light by distance");
    add_distances(to, &p, "distance from the middle, in taps (the middle tap at 0.5)");
    for (int d = (int)p.bottom; d <= (int)p.top; d++) {
        double y = p.y + p.h * (p.top - d) / (p.top - p.bottom);
        add_line(to, p.x, y, p.x + p.w, y, "grid");
        if (p.top - p.bottom < 9 || (d - (int)p.top) % 2 == 0)
            add_power(to, p.x - 8, y + 4, "tick end", d);
    }
    text_add(to,
             "<text transform=\"translate(%.1f %.1f) rotate(-90)\" class=\"label mid\">"
             "share of the light, per tap</text>\n",
             p.x - 46, p.y + p.h / 2);
    for (uint32_t c = k->channels; c-- > 0;)
        add_curve(to, &p, NULL, k->mean[c], k->rings, INK[colour][c]);
    add_frame(to, &p);
    double x = p.x + 14, y = p.y + p.h - 14;
    for (uint32_t c = 0; c < k->channels; c++, x += 44) {
        text_add(to,
                 "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                 "style=\"stroke:%s;stroke-width:2.4\"/>\n",
                 x, y - 4, x + 16, y - 4, INK[colour][c]);
        add_text(to, x + 21, y, "label", CHANNEL[colour][c]);
    }
}

static void add_energy(text *to, const kernel_page *k) {
    static const double MARK[3] = {0.5, 0.9, 0.99};
    plot p = {.x = 690, .y = 546, .w = 470, .h = 144, .left = log10(0.5), .top = 1};
    char word[64];
    p.right = log10(k->rings);
    add_clip(to, &p, "energy");
    add_text(to, p.x, p.y - 14, "title", "Encircled energy");
    add_distances(to, &p, "radius, in taps");
    for (int i = 0; i <= 4; i++) {
        double y = plot_y(&p, 0.25 * i);
        add_line(to, p.x, y, p.x + p.w, y, "grid");
        snprintf(word, sizeof word, "%d %%", 25 * i);
        add_text(to, p.x - 8, y + 4, "tick end", word);
    }
    for (uint32_t c = k->channels; c-- > 0;)
        add_curve(to, &p, k->edge, k->within[c], k->rings, INK[k->channels > 1][c]);
    for (int i = 0; i < 3; i++) {
        uint32_t r = 0;
        double last = 0, is = 0; /* of the mean of the channels, before and behind the mark */
        for (; r < k->rings && is < MARK[i]; r++) {
            last = is, is = 0;
            for (uint32_t c = 0; c < k->channels; c++) is += k->within[c][r] / k->channels;
        }
        if (r < 2 || is < MARK[i]) continue;
        double x0 = plot_x(&p, k->edge[r - 2]), x1 = plot_x(&p, k->edge[r - 1]);
        text_add(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.4\" class=\"mark\"/>\n",
                 x0 + (x1 - x0) * (MARK[i] - last) / (is - last), plot_y(&p, MARK[i]));
    }
    add_frame(to, &p);
}

/* Adds the distances along the left and the lower edge of the kernel's square, in taps. */
static void add_ticks(text *to, const kernel_page *k, double left, double top, double most) {
    const double by = most / max_u32(k->w, k->h);
    const double mx = left + (most - by * k->w) / 2 + by * (k->w / 2 + 0.5);
    const double my = top + (most - by * k->h) / 2 + by * (k->h / 2 + 0.5);
    char word[32];
    /* ticks, the middle is 0: 1, 2 or 5 times a power of ten apart, at most nine of them */
    static const double ROUND[3] = {1, 2, 5};
    double step = 1;
    for (int i = 0; max_u32(k->w, k->h) / step > 9; i++) step = ROUND[i % 3] * pow(10, i / 3);
    for (int axis = 0; axis < 2; axis++) {
        double side = axis ? k->h : k->w, middle = axis ? my : mx;
        for (double v = -floor(side / 2 / step) * step; v < side / 2; v += step) {
            double q = middle + by * v;
            snprintf(word, sizeof word, "%s%g", v < 0 ? "\xe2\x88\x92" : "", fabs(v));
            if (axis) {
                add_line(to, left - 4, q, left, q, "axis");
                add_text(to, left - 8, q + 4, "tick end", word);
            } else {
                add_line(to, q, top + most, q, top + most + 4, "axis");
                add_text(to, q, top + most + 17, "tick mid", word);
            }
        }
    }
    add_text(to, left + most / 2, top + most + 34, "label mid", "taps");
}

/* Adds the scale of the false colours. */
static bool add_scale(text *to, const kernel_page *k, double x, double top, double most, err *e) {
    uint8_t colours[3 * 256];
    const kernel_picture bar = {colours, 1, 256};
    for (int i = 0; i < 256; i++) heat_colour((float)(255 - i) / 255, colours + 3 * i);
    bool ok = add_picture(to, &bar, x, top, 14, most, false, e);
    text_add(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"%.1f\" class=\"frame\"/>\n", x,
             top, most);
    int each = k->decades > 8 ? 2 : 1;
    for (int d = 0; d <= (int)k->decades; d += each) {
        double q = top + most * d / k->decades;
        add_line(to, x + 14, q, x + 18, q, "axis");
        add_power(to, x + 22, q + 4, "tick", -d);
    }
    return ok;
}

/* The kernel in false colours, circles around the shares of its light, and the scale. */
static bool add_kernel(text *to, const kernel_page *k, err *e) {
    const double most = 494, by = most / max_u32(k->w, k->h);
    const double left = 60, top = 196, w = by * k->w, h = by * k->h;
    const double x = left + (most - w) / 2, y = top + (most - h) / 2;
    const double at[3] = {k->figures->inner_radius, k->figures->radius_90, k->figures->radius_99};
    static const char *const SHARE[3] = {"50 %", "90 %", "99 %"};
    char word[96];
    kernel_picture made;
    snprintf(word, sizeof word, "The kernel, false colours over %g decades", k->decades);
    add_text(to, left, top - 14, "title", word);
    if (!kernel_picture_colours(&made, k, 988, e)) return false;
    text_add(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", left, top, most,
             most);
    bool ok = add_picture(to, &made, x, y, w, h, max_u32(k->w, k->h) <= 300, e);
    mem_free(made.pixel);
    const double mx = x + by * (k->w / 2 + 0.5), my = y + by * (k->h / 2 + 0.5);
    double last = 0;
    for (int i = 0; i < 3; i++) {
        double r = by * at[i];
        if (r < 9 || r > most * 0.49 || r < last + 14) continue;
        last = r;
        text_add(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"share\"/>\n", mx, my, r);
        add_text(to, mx, my - r - 5, "share-label mid", SHARE[i]);
    }
    add_ticks(to, k, left, top, most);
    return ok && add_scale(to, k, left + most + 16, top, most, e);
}

static bool add_scene(text *to, const kernel_page *k, par *threads, err *e) {
    const double x = 40, y = 764;
    kernel_picture made;
    char word[64];
    add_text(to, x, y - 14, "title",
             "What lights become: a disc, and pixels of more and more light");
    if (!kernel_scene_make(&made, k, threads, e)) return false;
    bool ok = add_picture(to, &made, x, y, SCENE_W, SCENE_H, false, e);
    mem_free(made.pixel);
    for (int i = 0; i < SCENE_LIGHTS; i++) {
        snprintf(word, sizeof word, "%.0f", kernel_scene_light(i));
        add_text(to, x + SCENE_PLACE[i], y + SCENE_H + 17, "tick mid", word);
    }
    snprintf(word, sizeof word, "disc of %g", SCENE_MOON_LIGHT);
    add_text(to, x + SCENE_MOON, y + SCENE_H + 17, "tick mid", word);
    snprintf(word, sizeof word, "times white, on a wall of %g", SCENE_WALL);
    add_text(to, x, y + SCENE_H + 35, "label", word);
    add_text(to, x + SCENE_W, y + SCENE_H + 35, "label end",
             "one tap is one pixel; exposure 0, as in PNG output");
    return ok;
}

static void add_figure(text *to, int i, const char *what, const char *value) {
    double x = 40 + 224.0 * i;
    add_text(to, x, 112, "small", what);
    add_text(to, x, 138, "big", value);
}

static void add_head(text *to, const kernel_page *k) {
    const lint *l = k->figures;
    char word[160];
    add_text(to, 40, 52, "head", k->name);
    snprintf(word, sizeof word, "%" PRIu32 " \xc3\x97 %" PRIu32 " taps, %s%s", k->w, k->h,
             k->channels > 1 ? "colour" : "grey", *k->origin ? "  \xc2\xb7  " : "");
    text_add(to, "<text x=\"40\" y=\"78\" class=\"sub\">%s", word);
    text_add_xml(to, k->origin);
    text_add(to, "</text>\n");
    snprintf(word, sizeof word, "%.3g %%", 100 * l->centre_tap);
    add_figure(to, 0, "in the middle tap", word);
    snprintf(word, sizeof word, "%.2f taps", l->inner_radius);
    add_figure(to, 1, "half of the light within", word);
    snprintf(word, sizeof word, "%.1f taps", l->radius_90);
    add_figure(to, 2, "90 % within", word);
    snprintf(word, sizeof word, "%.1f taps", l->radius_99);
    add_figure(to, 3, "99 % within", word);
    snprintf(word, sizeof word, "%.3g %%", 100 * l->glare);
    char what[80];
    snprintf(what, sizeof what, "veiling glare (disc of %.0f taps)", l->glare_disc);
    add_figure(to, 4, what, word);
    add_line(to, 40, 156, PAGE_W - 40, 156, "rule");
}

bool kernel_page_svg(const kernel_page *k, par *threads, text *to, err *e) {
    text_add(to,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
             "height=\"%d\" font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation "
             "Sans', 'DejaVu Sans', sans-serif\">\n<title>",
             PAGE_W, PAGE_H, PAGE_W, PAGE_H);
    text_add_xml(to, k->name);
    text_add(
        to, "</title>\n<style>\n"
            "text { fill: #222; font-size: 13px } .mid { text-anchor: middle } .end { text-anchor: "
            "end }\n"
            ".head { font-size: 27px; font-weight: 600 } .sub { font-size: 14px; fill: #666 }\n"
            ".title { font-size: 15px; font-weight: 600 } .label { font-size: 12px; fill: #555 }\n"
            ".tick { font-size: 11.5px; fill: #555 } .small { font-size: 12px; fill: #777 }\n"
            ".big { font-size: 22px; font-weight: 500 }\n"
            "line { stroke: #222; stroke-width: 1 } .grid { stroke: #d9d9d9 } .fine { stroke: "
            "#f0f0f0 }\n"
            ".axis { stroke: #888 } .rule { stroke: #ddd } .frame { fill: none; stroke: #999 }\n"
            ".share { fill: none; stroke: #fff; stroke-opacity: .75; stroke-dasharray: 3 3 }\n"
            ".share-label { font-size: 11px; fill: #fff }\n"
            ".mark { fill: #fff; stroke: #222; stroke-width: 1.5 }\n"
            "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    add_head(to, k);
    bool ok = add_kernel(to, k, e);
    add_profile(to, k);
    add_energy(to, k);
    ok = ok && add_scene(to, k, threads, e);
    text_add(to, "</svg>\n");
    return ok;
}
