/* kernel_page.c - the page of a kernel. */
#include "app/kernel/kernel_actions.h"
#include "app/kernel/svg.h"
#include "image/flat/heat.h"
#include "kernel/lint.h"

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

enum { PAGE_W = SVG_WIDTH, PAGE_H = 1196 };

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

/* The distance axis: 1, 10, ... taps with their names, and lines through the plot. */
static void add_distances(text *to, const plot *p, const char *label) {
    for (int d = 0; d <= 4; d++)
        for (int k = 1; k < 10; k++) {
            double v = k * pow(10, d), at = plot_x(p, v);
            if (log10(v) > p->right + 1e-9) continue;
            svg_line(to, at, p->y, at, p->y + p->h, k == 1 ? "grid" : "fine");
            if (k == 1) svg_text(to, at, p->y + p->h + 17, "tick mid", "%g", v);
        }
    svg_text(to, p->x + p->w / 2, p->y + p->h + 36, "label mid", "%s", label);
}

/* Adds the curves over the rings, in a frame. The middle tap is drawn at half a tap, and what is
 * within a ring ends at its edge. */
static void add_curves(text *to, const plot *p, const kernel_page *k, double *const v[]) {
    text_add(to, "<clipPath id=\"%s\">", p->name);
    svg_frame(to, p->x, p->y, p->w, p->h, "");
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
    svg_frame(to, p->x, p->y, p->w, p->h, "frame");
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
    svg_text(to, 20, p.y - 16, "title", "Light by distance: share of the light, per tap");
    add_distances(to, &p, "distance from the middle, in taps");
    for (int d = (int)p.bottom; d <= (int)p.top; d++) {
        double y = p.y + p.h * (p.top - d) / (p.top - p.bottom);
        svg_line(to, p.x, y, p.x + p.w, y, "grid");
        if (p.top - p.bottom < 7 || (d - (int)p.top) % 2 == 0)
            svg_power(to, p.x - 8, y + 4, "tick end", d);
    }
    add_curves(to, &p, k, k->mean);
    for (uint32_t c = 0; c < k->channels; c++) {
        double x = p.x + 14 + 46 * c, y = p.y + p.h - 14;
        text_add(to, "<path class=\"curve %s\" d=\"M%.1f %.1fh16\"/>\n", INK[k->channels > 1][c], x,
                 y - 4);
        svg_text(to, x + 21, y, "label", "%s", CHANNEL[k->channels > 1][c]);
    }
}

static void add_energy(text *to, const kernel_page *k) {
    const plot p = {"energy", 470, 636, 300, 220, log10(k->rings), 0, 1, false};
    svg_text(to, 420, p.y - 16, "title", "Share of the light within a radius");
    add_distances(to, &p, "radius, in taps; dots at 50, 90 and 99 %");
    for (int i = 0; i <= 4; i++) {
        double y = plot_y(&p, 0.25 * i);
        svg_line(to, p.x, y, p.x + p.w, y, "grid");
        svg_text(to, p.x - 8, y + 4, "tick end", "%d %%", 25 * i);
    }
    add_curves(to, &p, k, k->within);
    const double at[3] = {k->figures->inner_radius, k->figures->radius_90, k->figures->radius_99};
    for (int i = 0; i < 3; i++)
        if (at[i] > 0.5)
            text_add(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"mark\"/>\n",
                     plot_x(&p, at[i]), plot_y(&p, (double[]){0.5, 0.9, 0.99}[i]));
}

bool kernel_part_svg(text *to, const kernel_page *k, const kernel_part *of, const double box[4],
                     err *e) {
    preview_picture made;
    const uint32_t most = (uint32_t)(2 * fmax(box[2], box[3]) + 0.5);
    bool ok = kernel_picture_colours(&made, k, of, most, e) &&
              svg_picture(to, &made, box[0], box[1], box[2], box[3], e);
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
        svg_line(to, left - 4, top + at, left, top + at, "axis");
        svg_text(to, left - 8, top + at + 4, "tick end", "%s%g", sign, fabs(v));
        svg_line(to, left + at, top + most, left + at, top + most + 4, "axis");
        svg_text(to, left + at, top + most + 18, "tick mid", "%s%g", sign, fabs(v));
    }
    svg_text(to, left + most / 2, top + most + 37, "label mid", "taps from the middle");
}

/* Adds the part that people see, with circles around the shares of the kernel's light. */
static bool add_seen(text *to, const kernel_page *k, const kernel_part *of, err *e) {
    const double most = 420, left = 60, top = 118, by = most / of->w, mid = most / 2;
    const double at[3] = {k->figures->inner_radius, k->figures->radius_90, k->figures->radius_99};
    static const char *const SHARE[3] = {"50 %", "90 %", "99 % of the light"};
    svg_text(to, 20, top - 16, "title", "What people see of it: three decades, white is brighter");
    bool ok = kernel_part_svg(to, k, of, (double[]){left, top, most, most}, e);
    double last = 0;
    for (int i = 0; i < 3; i++) {
        double r = by * at[i];
        if (r < 9 || r > most * 0.5 || r < last + 12) continue;
        last = r;
        text_add(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"share\"/>\n", left + mid,
                 top + mid, r);
        svg_text(to, left + mid, fmax(top + mid - r - 5, top + 14), "share-label mid", "%s",
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
    svg_text(to, left, top - 16, "title", "The whole, over %d decades", DECADES);
    bool ok = kernel_part_svg(to, k, &of, (double[]){left, top, w, h}, e);
    double x0 = fmax(by * (double)seen->x, 0), y0 = fmax(by * (double)seen->y, 0);
    svg_frame(to, left + x0, top + y0, fmin(by * seen->w, w - x0), fmin(by * seen->h, h - y0),
              "part");
    ok = ok && svg_scale(to, of.low, of.decades, left, top + h + 14, most, e);
    svg_text(to, left, top + h + 84, "title", "Scale of the large picture");
    ok = ok && svg_scale(to, seen->low, seen->decades, left, top + h + 98, most, e);
    svg_text(to, left, top + h + 150, "label", "A tap's share of all light.");
    svg_text(to, left, top + h + 170, "label", "Numbers: fftbloom kernel check");
    return ok;
}

static bool add_scene(text *to, const kernel_page *k, par *threads, err *e) {
    const double x = (PAGE_W - SCENE_W) / 2, y = 942;
    preview_picture made;
    svg_text(to, 20, y - 16, "title", "Lights: a disc, and pixels of more and more light");
    if (!kernel_scene_make(&made, k, threads, e)) return false;
    bool ok = svg_picture(to, &made, x, y, SCENE_W, SCENE_H, e);
    mem_free(made.pixel);
    for (int i = 0; i < SCENE_LIGHTS; i++)
        svg_text(to, x + (double)LIGHT[i].x, y + SCENE_H + 17, "tick mid", "%.0f", LIGHT[i].light);
    svg_text(to, PAGE_W / 2, y + SCENE_H + 36, "label mid",
             "times white; one tap is one pixel; exposure 0, as in PNG output");
    return ok;
}

static const char PHONE[] =
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
    svg_text(to, 20, 66, "sub wide", "%s", words);
    for (double y = 78; *words && y < 150; y += 28) {
        size_t n = strlen(words), cut = n <= LINE ? n : LINE;
        while (cut < n && cut > LINE / 2 && words[cut] != ' ') cut--;
        while (cut < n && cut > 0 && ((unsigned char)words[cut] & 0xC0) == 0x80) cut--;
        svg_text(to, 20, y, "sub slim", "%.*s", (int)cut, words);
        words += cut + (words[cut] == ' ');
    }
}

bool kernel_page_svg(const kernel_page *k, par *threads, text *to, err *e) {
    const kernel_part seen = kernel_part_seen(k);
    svg_begin(to, k->name, PAGE_H, PHONE);
    text_add(to, "%u \xc3\x97 %u taps, %s</tspan></text>\n", k->w, k->h,
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

bool kernel_page_take(kernel_page *k, const kernel_source *in, const lint *l, err *e) {
    *k = (kernel_page){.figures = l, .w = in->w, .h = in->h, .colour = in->gamut};
    k->channels = in->channels >= PAGE_CHANNELS ? PAGE_CHANNELS : 1;
    for (uint32_t i = 0; i < k->channels; i++) k->plane[i] = in->plane[i];
    return kernel_page_measure(k, e);
}

void kernel_page_json(const kernel_page *k, json_out *j) {
    json_list(j, "rings");
    for (uint32_t r = 0; r < k->rings; r++) {
        double mean[PAGE_CHANNELS], within[PAGE_CHANNELS];
        for (uint32_t i = 0; i < k->channels; i++)
            mean[i] = k->mean[i][r], within[i] = k->within[i][r];
        json_object(j, NULL);
        json_uint(j, "radius", r);
        json_reals(j, "light", 9, mean, k->channels);
        json_reals(j, "within", 9, within, k->channels);
        json_close(j);
    }
    json_close(j);
}
