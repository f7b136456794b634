/* kernel_page.c - `fftbloom kernel show`: the page of a kernel. */
#include "app/cli/terminal.h"
#include "app/kernel/kernel_actions.h"
#include "app/run/file_set.h"
#include "base/path.h"
#include "image/flat/heat.h"
#include "image/flat/png.h"
#include "image/format.h"
#include "kernel/lint.h"
#include "kernel/make/kernel_recipe.h"

/* From black to the brightest tap, in the picture of the whole. */
enum { DECADES = 9 };

bool kernel_page_measure(kernel_page *p, err *e) {
    const uint32_t cx = p->w / 2, cy = p->h / 2;
    p->rings = (uint32_t)(length_of(max_u32(cx, p->w - cx), max_u32(cy, p->h - cy)) + 0.5) + 1;
    OWN_MEM double *count = mem_new(p->rings, sizeof *count, "rings", e);
    bool ok = count != NULL;
    for (uint32_t c = 0; c < p->channels && ok; c++) {
        p->mean[c] = mem_new(p->rings, sizeof(double), "rings", e);
        p->within[c] = mem_new(p->rings, sizeof(double), "rings", e);
        ok = p->mean[c] && p->within[c];
        double sum = 0, within = 0;
        for (size_t i = 0, n = (size_t)p->w * p->h; ok && i < n; i++) {
            double x = (double)(i % p->w) - cx, y = (double)(i / p->w) - cy;
            uint32_t r = (uint32_t)(length_of(x, y) + 0.5);
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
    return ok;
}

void kernel_page_free(kernel_page *p) {
    for (int c = 0; c < PAGE_CHANNELS; c++) mem_free(p->mean[c]), mem_free(p->within[c]);
}

/* --- pictures --------------------------------------------------------------------------------- */

/* Returns the light of a tap, all channels: as a share of all light. */
static double light_of(const kernel_page *p, int64_t x, int64_t y) {
    double sum = 0, whole = 0;
    for (uint32_t c = 0; c < p->channels; c++) whole += p->figures->sum[c];
    if (x < 0 || y < 0 || x >= p->w || y >= p->h || !(whole > 0)) return 0;
    for (uint32_t c = 0; c < p->channels; c++) {
        float v = p->plane[c][(size_t)y * p->w + (size_t)x];
        sum += isfinite(v) ? (double)v : 0;
    }
    return sum / whole;
}

kernel_part kernel_part_seen(const kernel_page *p) {
    const double most = max_u32(p->w, p->h) / 2, half = fmin(fmax(p->figures->radius_99, 8), most);
    const uint32_t reach = (uint32_t)ceil(half);
    double rim = 0;
    /* A fade may end in nothing. */
    for (uint32_t r = min_u32(reach, p->rings - 1); r > 0 && !(rim > 0); r--)
        for (uint32_t c = 0; c < p->channels; c++) rim += p->mean[c][r] / p->channels;
    return (kernel_part){.x = (int64_t)(p->w / 2) - reach,
                         .y = (int64_t)(p->h / 2) - reach,
                         .w = 2 * reach + 1,
                         .h = 2 * reach + 1,
                         .low = rim > 0 ? floor(log10(rim)) : -3,
                         .decades = 3};
}

kernel_part kernel_part_whole(const kernel_page *p) {
    double high = 0;
    for (int64_t i = 0, n = (int64_t)p->w * p->h; i < n; i++)
        high = fmax(high, light_of(p, i % p->w, i / p->w));
    return (kernel_part){
        .w = p->w, .h = p->h, .low = (high > 0 ? log10(high) : 0) - DECADES, .decades = DECADES};
}

bool kernel_picture_colours(preview_picture *to, const kernel_page *p, const kernel_part *of,
                            uint32_t most, err *e) {
    const uint32_t by = ceil_div_u32(max_u32(of->w, of->h), most);
    *to = (preview_picture){.width = ceil_div_u32(of->w, by), .height = ceil_div_u32(of->h, by)};
    to->pixel = mem_raw((size_t)to->width * to->height, 3, "false colours", e);
    for (uint32_t i = 0; to->pixel && i < to->width * to->height; i++) {
        uint32_t x0 = i % to->width * by, y0 = i / to->width * by, count = 0;
        double light = 0;
        for (uint32_t y = y0; y < y0 + by && y < of->h; y++)
            for (uint32_t x = x0; x < x0 + by && x < of->w; x++, count++)
                light += light_of(p, of->x + x, of->y + y);
        double at = light > 0 ? (log10(light / count) - of->low) / of->decades : 0;
        heat_colour((float)clamp_double(at, 0, 1), to->pixel + 3 * (size_t)i);
    }
    return to->pixel != NULL;
}

/* --- the lights -------------------------------------------------------------------------------
 *
 * What the kernel makes of lights of known brightness: a disc, and single pixels on a dark wall,
 * each ten times as bright as the one before. The light is summed in space, in double. */

enum { SCENE_W = 720, SCENE_H = 200, SCENE_LIGHTS = 6 };
static const double SCENE_WALL = 0.02;

/* In rows of their own: streaks of one must not lie over another. */
static const struct {
    int64_t x, y;
    int radius;
    double light; /* in times white */
} LIGHT[SCENE_LIGHTS] = {{60, 85, 14, 4},    {130, 130, 0, 10}, {195, 70, 0, 100},
                         {280, 150, 0, 1e3}, {400, 60, 0, 1e4}, {570, 100, 0, 1e5}};

typedef struct {
    const kernel_page *p;
    image *img;
    double scale[PAGE_CHANNELS]; /* a channel sums to 1, so white stays white */
} scene;

static void add_light(const scene *s, uint32_t c, double *row, int64_t y, double light, int64_t px,
                      int64_t py) {
    const kernel_page *p = s->p;
    uint32_t from = p->channels > 1 ? c : 0;
    int64_t ky = y - py + p->h / 2;
    if (ky < 0 || ky >= p->h) return;
    const float *tap = p->plane[from] + (size_t)ky * p->w;
    int64_t first = px - p->w / 2, x0 = max_i64(0, first), x1 = min_i64(SCENE_W, first + p->w);
    for (int64_t x = x0; x < x1; x++)
        if (isfinite(tap[x - first])) row[x] += light * s->scale[from] * (double)tap[x - first];
}

static bool scene_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    const scene *s = ctx;
    double row[SCENE_W];
    for (uint32_t c = 0; c < 3; c++) {
        for (int x = 0; x < SCENE_W; x++) row[x] = SCENE_WALL;
        for (int i = 0; i < SCENE_LIGHTS; i++)
            for (int r = LIGHT[i].radius, dy = -r; dy <= r; dy++)
                for (int dx = -r; dx <= r; dx++)
                    if (dx * dx + dy * dy <= r * r)
                        add_light(s, c, row, (int64_t)y, LIGHT[i].light, LIGHT[i].x + dx,
                                  LIGHT[i].y + dy);
        float *to = (float *)s->img->plane[0][2 - c] + y * SCENE_W; /* B G R */
        for (int x = 0; x < SCENE_W; x++) to[x] = (float)row[x];
    }
    return true;
}

/* Makes the picture, as a PNG at exposure 0 shows it. */
static bool kernel_scene_make(preview_picture *to, const kernel_page *p, par *threads, err *e) {
    OWN(image) *img = image_plain(SCENE_W, SCENE_H, 3, PIXEL_FLOAT, e);
    scene s = {.p = p, .img = img};
    preview_options as = {.width = SCENE_W, .whole = true, .exposed = true, .stops = 0};
    if (!img || !image_set_primaries(&img->head.part[0], &p->colour, e)) return false;
    for (uint32_t c = 0; c < p->channels; c++)
        s.scale[c] = p->figures->sum[c] > 0 ? 1 / p->figures->sum[c] : 0;
    return par_for(threads, SCENE_H, scene_row, &s, e) && preview_make(to, img, &as, threads, e);
}

/* --- the page --------------------------------------------------------------------------------- */

enum { PAGE_W = 800, PAGE_H = 1196 };

static const char *const INK[2][PAGE_CHANNELS] = {{"y"}, {"r", "g", "b"}};
static const char *const CHANNEL[2][PAGE_CHANNELS] = {{"Y"}, {"R", "G", "B"}};

/* A plot over the distance: its frame on the page, and what its axes show, of logarithms their
 * exponents. */
typedef struct {
    const char *name;
    double x, y, w, h, right, bottom, top;
    bool log_y;
} plot;

static double plot_x(const plot *p, double v) {
    return p->x + p->w * (log10(v) - log10(0.5)) / (p->right - log10(0.5));
}

static double plot_y(const plot *p, double v) {
    double at = p->log_y ? log10(v) : v;
    return p->y + p->h * (p->top - at) / (p->top - p->bottom);
}

__attribute__((format(printf, 5, 6))) static void add_text(text *to, double x, double y,
                                                           const char *class, const char *fmt,
                                                           ...) {
    char words[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    text_add(to, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    text_add_xml(to, words);
    text_add(to, "</text>\n");
}

static void add_power(text *to, double x, double y, const char *class, int exponent) {
    if (exponent == 0)
        add_text(to, x, y, class, "1");
    else
        text_add(to,
                 "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">10<tspan dy=\"-4\" font-size=\"10\">%s%d"
                 "</tspan></text>\n",
                 x, y, class, exponent < 0 ? "\xe2\x88\x92" : "", abs(exponent));
}

static void add_line(text *to, double x0, double y0, double x1, double y1, const char *class) {
    text_add(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x0, y0,
             x1, y1, class);
}

static void add_frame(text *to, double x, double y, double w, double h, const char *class) {
    text_add(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x,
             y, w, h, class);
}

/* Adds a picture; few pixels are shown as squares. */
static bool add_picture(text *to, const preview_picture *from, double x, double y, double w,
                        double h, err *e) {
    size_t bytes;
    const png_picture png = {from->pixel, from->width, from->height, 3};
    OWN_MEM uint8_t *file = png_encode(&png, &bytes, e);
    if (!file) return false;
    text_add(to,
             "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
             "preserveAspectRatio=\"none\"%s href=\"data:image/png;base64,",
             x, y, w, h, from->width < w ? " style=\"image-rendering:pixelated\"" : "");
    text_add_base64(to, file, bytes);
    text_add(to, "\"/>\n");
    return true;
}

/* The distance axis: 1, 10, ... taps with their names, and lines through the plot. */
static void add_distances(text *to, const plot *p, const char *label) {
    for (int d = 0; d <= 4; d++)
        for (int k = 1; k < 10; k++) {
            double v = k * pow(10, d), at = plot_x(p, v);
            if (log10(v) > p->right + 1e-9) continue;
            add_line(to, at, p->y, at, p->y + p->h, k == 1 ? "grid" : "fine");
            if (k == 1) add_text(to, at, p->y + p->h + 17, "tick mid", "%g", v);
        }
    add_text(to, p->x + p->w / 2, p->y + p->h + 36, "label mid", "%s", label);
}

/* Adds the curves over the rings, in a frame. The middle tap is drawn at half a tap, and what is
 * within a ring ends at its edge. */
static void add_curves(text *to, const plot *p, const kernel_page *k, double *const v[]) {
    text_add(to, "<clipPath id=\"%s\">", p->name);
    add_frame(to, p->x, p->y, p->w, p->h, "");
    text_add(to, "</clipPath>\n");
    for (uint32_t c = k->channels; c-- > 0;) {
        bool pen = false;
        text_add(to, "<path class=\"curve %s\" clip-path=\"url(#%s)\" d=\"",
                 INK[k->channels > 1][c], p->name);
        for (uint32_t i = 0; i < k->rings; i++) {
            double r = !p->log_y ? i + 0.5 : i ? i : 0.5;
            const bool drawn = !p->log_y || v[c][i] > 0;
            if (drawn)
                text_add(to, "%s%.1f %.1f", pen ? "L" : "M", plot_x(p, r), plot_y(p, v[c][i]));
            pen = drawn;
        }
        text_add(to, "\"/>\n");
    }
    add_frame(to, p->x, p->y, p->w, p->h, "frame");
}

static void add_profile(text *to, const kernel_page *k) {
    plot p = {.name = "profile", .x = 70, .y = 636, .w = 300, .h = 220, .log_y = true};
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
    p.bottom = fmin(fmax(high > 0 ? floor(log10(low)) : -6, p.top - 14), p.top - 2);
    add_text(to, 20, p.y - 16, "title", "Light by distance: share of the light, per tap");
    add_distances(to, &p, "distance from the middle, in taps");
    for (int d = (int)p.bottom; d <= (int)p.top; d++) {
        double y = p.y + p.h * (p.top - d) / (p.top - p.bottom);
        add_line(to, p.x, y, p.x + p.w, y, "grid");
        if (p.top - p.bottom < 7 || (d - (int)p.top) % 2 == 0)
            add_power(to, p.x - 8, y + 4, "tick end", d);
    }
    add_curves(to, &p, k, k->mean);
    for (uint32_t c = 0; c < k->channels; c++) {
        double x = p.x + 14 + 46 * c, y = p.y + p.h - 14;
        text_add(to, "<path class=\"curve %s\" d=\"M%.1f %.1fh16\"/>\n", INK[k->channels > 1][c], x,
                 y - 4);
        add_text(to, x + 21, y, "label", "%s", CHANNEL[k->channels > 1][c]);
    }
}

static void add_energy(text *to, const kernel_page *k) {
    const plot p = {"energy", 470, 636, 300, 220, log10(k->rings), 0, 1, false};
    add_text(to, 420, p.y - 16, "title", "Share of the light within a radius");
    add_distances(to, &p, "radius, in taps; dots at 50, 90 and 99 %");
    for (int i = 0; i <= 4; i++) {
        double y = plot_y(&p, 0.25 * i);
        add_line(to, p.x, y, p.x + p.w, y, "grid");
        add_text(to, p.x - 8, y + 4, "tick end", "%d %%", 25 * i);
    }
    add_curves(to, &p, k, k->within);
    const double at[3] = {k->figures->inner_radius, k->figures->radius_90, k->figures->radius_99};
    for (int i = 0; i < 3; i++)
        if (at[i] > 0.5)
            text_add(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"mark\"/>\n",
                     plot_x(&p, at[i]), plot_y(&p, (double[]){0.5, 0.9, 0.99}[i]));
}

/* Adds a part of the kernel in a box x, y, w, h, of at most two pixels for one of the page. */
static bool add_part(text *to, const kernel_page *k, const kernel_part *of, const double box[4],
                     err *e) {
    preview_picture made;
    const uint32_t most = (uint32_t)(2 * fmax(box[2], box[3]) + 0.5);
    bool ok = kernel_picture_colours(&made, k, of, most, e) &&
              add_picture(to, &made, box[0], box[1], box[2], box[3], e);
    mem_free(made.pixel);
    return ok;
}

/* Adds the distances along the left and the lower edge of a square part, in taps. */
static void add_ticks(text *to, const kernel_part *of, double left, double top, double most) {
    const double by = most / of->w, half = of->w / 2;
    double step = 1; /* 1, 2 or 5 times a power of ten, at most nine of them */
    for (int i = 0; of->w / step > 9; i++) step = (double[]){1, 2, 5}[i % 3] * pow(10, i / 3);
    for (double v = -floor(half / step) * step; v <= half; v += step) {
        const double at = by * (half + v + 0.5);
        const char *sign = v < 0 ? "\xe2\x88\x92" : "";
        add_line(to, left - 4, top + at, left, top + at, "axis");
        add_text(to, left - 8, top + at + 4, "tick end", "%s%g", sign, fabs(v));
        add_line(to, left + at, top + most, left + at, top + most + 4, "axis");
        add_text(to, left + at, top + most + 18, "tick mid", "%s%g", sign, fabs(v));
    }
    add_text(to, left + most / 2, top + most + 37, "label mid", "taps from the middle");
}

/* Adds the scale of false colours of a part, from left to right. */
static bool add_scale(text *to, const kernel_part *of, double x, double y, double w, err *e) {
    uint8_t colours[3 * 256];
    const preview_picture bar = {colours, 256, 1, 0};
    for (int i = 0; i < 256; i++) heat_colour((float)i / 255, colours + 3 * i);
    bool ok = add_picture(to, &bar, x, y, w, 12, e);
    add_frame(to, x, y, w, 12, "frame");
    const int first = (int)ceil(of->low - 1e-9), each = of->decades > 5 ? 2 : 1;
    for (int d = first; d <= of->low + of->decades + 1e-9; d += each) {
        double at = x + w * (d - of->low) / of->decades;
        add_line(to, at, y + 12, at, y + 16, "axis");
        add_power(to, at, y + 30, "tick mid", d);
    }
    return ok;
}

/* Adds the part that people see, with circles around the shares of the kernel's light. */
static bool add_seen(text *to, const kernel_page *k, const kernel_part *of, err *e) {
    const double most = 420, left = 60, top = 118, by = most / of->w, mid = most / 2;
    const double at[3] = {k->figures->inner_radius, k->figures->radius_90, k->figures->radius_99};
    static const char *const SHARE[3] = {"50 %", "90 %", "99 % of the light"};
    add_text(to, 20, top - 16, "title", "What people see of it: three decades, white is brighter");
    bool ok = add_part(to, k, of, (double[]){left, top, most, most}, e);
    double last = 0;
    for (int i = 0; i < 3; i++) {
        double r = by * at[i];
        if (r < 9 || r > most * 0.5 || r < last + 12) continue;
        last = r;
        text_add(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"share\"/>\n", left + mid,
                 top + mid, r);
        add_text(to, left + mid, fmax(top + mid - r - 5, top + 14), "share-label mid", "%s",
                 SHARE[i]);
    }
    add_ticks(to, of, left, top, most);
    return ok;
}

/* Adds the whole kernel, small, with the part of it that is drawn large; and both scales. */
static bool add_whole(text *to, const kernel_page *k, const kernel_part *seen, err *e) {
    const kernel_part of = kernel_part_whole(k);
    const double most = 240, left = 530, top = 118, by = most / max_u32(k->w, k->h);
    const double w = by * k->w, h = by * k->h;
    add_text(to, left, top - 16, "title", "The whole, over %d decades", DECADES);
    bool ok = add_part(to, k, &of, (double[]){left, top, w, h}, e);
    double x0 = fmax(by * (double)seen->x, 0), y0 = fmax(by * (double)seen->y, 0);
    add_frame(to, left + x0, top + y0, fmin(by * seen->w, w - x0), fmin(by * seen->h, h - y0),
              "part");
    ok = ok && add_scale(to, &of, left, top + h + 14, most, e);
    add_text(to, left, top + h + 84, "title", "Scale of the large picture");
    ok = ok && add_scale(to, seen, left, top + h + 98, most, e);
    add_text(to, left, top + h + 150, "label", "A tap's share of all light.");
    add_text(to, left, top + h + 170, "label", "Numbers: fftbloom kernel check");
    return ok;
}

static bool add_scene(text *to, const kernel_page *k, par *threads, err *e) {
    const double x = (PAGE_W - SCENE_W) / 2, y = 942;
    preview_picture made;
    add_text(to, 20, y - 16, "title", "Lights: a disc, and pixels of more and more light");
    if (!kernel_scene_make(&made, k, threads, e)) return false;
    bool ok = add_picture(to, &made, x, y, SCENE_W, SCENE_H, e);
    mem_free(made.pixel);
    for (int i = 0; i < SCENE_LIGHTS; i++)
        add_text(to, x + (double)LIGHT[i].x, y + SCENE_H + 17, "tick mid", "%.0f", LIGHT[i].light);
    add_text(to, PAGE_W / 2, y + SCENE_H + 36, "label mid",
             "times white; one tap is one pixel; exposure 0, as in PNG output");
    return ok;
}

static const char STYLE[] =
    "svg { width: 100%; max-width: 1100px; height: auto; display: block; margin: 0 auto }\n"
    ":root { background: #fff; --ink: #222; --soft: #555; --grid: #d9d9d9; --fine: #f0f0f0;\n"
    " --r: #c8372d; --g: #2e8b45; --b: #2f5fc4 }\n"
    "@media (prefers-color-scheme: dark) { :root { background: #16161a; --ink: #e8e8ec;\n"
    " --soft: #a3a3ae; --grid: #3a3a42; --fine: #26262c; --r: #f0665a; --g: #6fce6f;\n"
    " --b: #6a9cf5 } }\n"
    "text { fill: var(--ink); font-size: 14px } .mid { text-anchor: middle }\n"
    ".end { text-anchor: end } .head { font-size: 26px; font-weight: 600 }\n"
    ".head tspan { font-size: 14px; font-weight: 400; fill: var(--soft) }\n"
    ".title { font-size: 15px; font-weight: 600 } .sub, .label, .tick { fill: var(--soft) }\n"
    ".label, .tick { font-size: 13px } line { stroke: var(--ink) } .grid { stroke: var(--grid) }\n"
    ".fine { stroke: var(--fine) } .axis { stroke: var(--soft) }\n"
    ".frame { fill: none; stroke: var(--soft) } .part { fill: none; stroke: #fff }\n"
    ".share { fill: none; stroke: #3cf; stroke-width: 1.5; stroke-dasharray: 4 3 }\n"
    ".share-label { font-size: 12px; fill: #fff; paint-order: stroke; stroke: #0009;\n"
    " stroke-width: 3px }\n"
    ".curve { fill: none; stroke-width: 1.8; stroke-linejoin: round } .y { stroke: var(--ink) }\n"
    ".r { stroke: var(--r) } .g { stroke: var(--g) } .b { stroke: var(--b) }\n"
    ".mark { fill: #fff; stroke: #222; stroke-width: 1.5 } .slim { display: none }\n"
    /* On a phone all stands in one column, with letters of 12 pixels where that is 400 wide. */
    "@media (max-width: 640px) { svg { aspect-ratio: 800 / 3460 } .wide { display: none }\n"
    " .slim { display: inline; font-size: 25px } .head { font-size: 34px }\n"
    " .head tspan { font-size: 25px } .seen text { font-size: 15.7px } .tick tspan { font-size: "
    "12.6px }\n"
    " .seen { transform: translate(-12px, 13px) scale(1.6) }\n"
    " .whole { transform: translate(-1000px, 795px) scale(2) }\n"
    " .profile { transform: translate(-22px, 613px) scale(2.1) } .profile .title { font-size: "
    "13.5px }\n"
    " .energy { transform: translate(-862px, 1243px) scale(2.1) }\n"
    " .lights { transform: translate(0, 2245px) } .lights text { font-size: 25px }\n"
    " .lights text { transform: translateY(4px) } .lights .label { transform: translateY(14px) } "
    "}\n";

/* Adds a line of words, and the same words in lines of at most 56 bytes, for a phone. */
static void add_origin_lines(text *to, const char *words) {
    enum { LINE = 56 };
    add_text(to, 20, 66, "sub wide", "%s", words);
    for (double y = 78; *words && y < 150; y += 28) {
        size_t n = strlen(words), cut = n <= LINE ? n : LINE;
        while (cut < n && cut > LINE / 2 && words[cut] != ' ') cut--;
        while (cut < n && cut > 0 && ((unsigned char)words[cut] & 0xC0) == 0x80) cut--;
        add_text(to, 20, y, "sub slim", "%.*s", (int)cut, words);
        words += cut + (words[cut] == ' ');
    }
}

bool kernel_page_svg(const kernel_page *k, par *threads, text *to, err *e) {
    const kernel_part seen = kernel_part_seen(k);
    text_add(to,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
             "preserveAspectRatio=\"xMidYMin\" font-family=\"system-ui, Helvetica, Arial, "
             "'Liberation Sans', 'DejaVu Sans', "
             "sans-serif\">\n<title>",
             PAGE_W, PAGE_H);
    text_add_xml(to, k->name);
    text_add(to, "</title>\n<style>\n%s</style>\n", STYLE);
    text_add(to, "<text x=\"20\" y=\"40\" class=\"head\">");
    text_add_xml(to, k->name);
    text_add(to, "<tspan dx=\"14\">%u \xc3\x97 %u taps, %s</tspan></text>\n", k->w, k->h,
             k->channels > 1 ? "colour" : "grey");
    add_origin_lines(to, k->origin);
    text_add(to, "<g class=\"seen\">\n");
    bool ok = add_seen(to, k, &seen, e);
    text_add(to, "</g>\n<g class=\"whole\">\n");
    ok = ok && add_whole(to, k, &seen, e);
    text_add(to, "</g>\n<g class=\"profile\">\n");
    add_profile(to, k);
    text_add(to, "</g>\n<g class=\"energy\">\n");
    add_energy(to, k);
    text_add(to, "</g>\n<g class=\"lights\">\n");
    ok = ok && add_scene(to, k, threads, e);
    text_add(to, "</g>\n</svg>\n");
    return ok;
}

/* Says how the kernel was made: by the parameters that the file has, if they are possible; the
 * others have their presets. */
static void add_origin(kernel_page *k, const image_part *p, text *words) {
    enum { LINE = 104 }; /* bytes that fit the page */
    char name[64], edit[256], about[512];
    image_attr_text(p, "comments", about, sizeof about);
    image_attr_text(p, KERNEL_ATTR "model", name, sizeof name);
    image_attr_text(p, KERNEL_ATTR "edit", edit, sizeof edit);
    const model *m = *name ? model_find(name) : NULL;
    if (*about) text_add(words, "%s%s", about, *name ? "; " : "");
    if (*name) text_add(words, "model %s", name);
    for (int i = 0; m && i < model_parameters(m); i++) {
        const model_parameter *parameter = &m->parameter[i];
        char attr[96];
        double v = NAN;
        snprintf(attr, sizeof attr, KERNEL_ATTR "%s", parameter->name);
        const image_attr *a = image_find_attr(p, attr);
        if (a && strcmp(a->type, "double") == 0 && a->bytes == sizeof v)
            memcpy(&v, a->data, sizeof v);
        text_add(words, "%s%s %.4g", i ? ", " : ": ", parameter->name,
                 v >= parameter->min && v <= parameter->max ? v : parameter->preset);
    }
    if (*edit) text_add(words, "%s%s", words->n ? "; " : "", edit);
    if (words->n > LINE) {
        char cut[LINE];
        text_clean(cut, sizeof cut, words->s);
        text_free(words);
        text_add(words, "%s \xe2\x80\xa6", cut);
    }
    k->origin = words->n ? words->s : "";
}

/* --- output --- */

static void add_json(const kernel_page *k, const cli *c, const char *path, text *out) {
    json_out j = json_begin(out);
    json_string(&j, "kernel", path);
    json_string(&j, "output", c->s.output);
    json_list(&j, "rings");
    for (uint32_t r = 0; r < k->rings; r++) {
        double mean[PAGE_CHANNELS], within[PAGE_CHANNELS];
        for (uint32_t i = 0; i < k->channels; i++)
            mean[i] = k->mean[i][r], within[i] = k->within[i][r];
        json_object(&j, NULL);
        json_uint(&j, "radius", r);
        json_reals(&j, "light", 9, mean, k->channels);
        json_reals(&j, "within", 9, within, k->channels);
        json_close(&j);
    }
    json_end(&j);
}

static int show(const cli *c, const kernel_source *in, const lint *l, text *out, err *e) {
    int status = 0;
    OWN(kernel_page) k = {.figures = l, .w = in->w, .h = in->h, .colour = in->gamut};
    char name[256];
    OWN(text) words = {0};
    text_clean(name, sizeof name, path_name(c->word[1]));
    k.name = name;
    k.channels = in->channels >= PAGE_CHANNELS ? PAGE_CHANNELS : 1;
    for (uint32_t i = 0; i < k.channels; i++) k.plane[i] = in->plane[i];
    OPEN(image_reader) *reader = image_open(in->path, NULL, c->threads, e);
    bool ok = reader && kernel_page_measure(&k, e);
    if (ok) add_origin(&k, &image_reader_header(reader)->part[in->part], &words);
    OWN(text) page = {0};
    if (path_ends_in(c->s.output, "html"))
        text_add(&page, "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                        "content=\"width=device-width\">\n");
    ok = ok && kernel_page_svg(&k, c->threads, &page, e) &&
         kernel_write(&c->s, page.s, page.n, &status, e);
    if (ok && c->s.json) add_json(&k, c, c->word[1], out);
    return status;
}

int kernel_show(const cli *c, text *out, err *e) {
    char path[KERNEL_PATH];
    if (!kernel_finder_path(path, c->word[1], &c->kernels, e)) return 0;
    const settings *s = &c->s;
    int status = 0;
    const file_set_file FILES[] = {{FILE_READ, "the kernel", path},
                                   {FILE_WRITTEN, "the output", s->output}};
    OWN(kernel_source) in = {0};
    lint l;
    OPEN(ticker) *told = ticker_open("kernel show");
    if (!s->output)
        err_set(e, ERR_USAGE, "show needs an output: -o PAGE.svg or -o PAGE.html");
    else if (!path_ends_in(s->output, "svg") && !path_ends_in(s->output, "html"))
        err_set(e, ERR_USAGE, "show writes an .svg or an .html page, not '%s'", s->output);
    else if (file_set_apart(FILES, 2, NULL, e) && kernel_load(&in, &l, c, path, e))
        status = show(c, &in, &l, out, e);
    return status;
}
