#include "app/run/hints.h"

#include "app/cli/options.h"
#include "base/half.h"
#include "base/log.h"
#include "colour/space.h"
#include "image/format.h"
#include "image/layers.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hints_kernel(const settings *s, const bloom *b, const char *kernel, const image_part *in) {
    const char *faults = bloom_kernel_faults(b);
    uint32_t size[2];
    int off[2];
    const bool larger = bloom_kernel_size(b, in, size) && size[0] > image_width(in) &&
                        size[1] > image_height(in);
    if (larger && s->bloom.kernel.size >= 5)
        log_say_once(LOG_WARN,
                     "--kernel-scale %g makes the kernel %u x %u, larger than the image; %g %% "
                     "would be %g",
                     s->bloom.kernel.size, size[0], size[1], s->bloom.kernel.size,
                     s->bloom.kernel.size / 100);
    if (larger && sscanf(faults, "off centre by %d, %d", &off[0], &off[1]) == 2 &&
        (abs(off[0]) > (int)size[0] / 8 || abs(off[1]) > (int)size[1] / 8))
        log_say_once(LOG_WARN,
                     "IN and KERNEL may be swapped: the kernel '%s' is larger than the image, and "
                     "%s",
                     kernel, faults);
    else
        hints_faults(kernel, faults);
}

void hints_faults(const char *kernel, const char *faults) {
    if (*faults)
        log_say_once(LOG_WARN, "kernel '%s': %s: fftbloom kernel check %s", kernel, faults, kernel);
}

/* Warns of data that --layers takes as light, and of a colour of which it takes a part: its
 * glare has another colour. */
static void warn_of_layers(const settings *s, const image_header *h) {
    text names = {0};
    for (int part = 0; s->bloom.layers && part < h->parts; part++) {
        const image_part *p = &h->part[part];
        layer_map taken = {0}, own = {0};
        bool ok = layer_map_make(&own, p, NULL, NULL, NULL) &&
                  layer_map_make(&taken, p, s->bloom.layers, s->bloom.exclude, NULL);
        for (int c = 0; ok && c < p->channels; c++)
            if (own.is_data[c] && !taken.is_data[c])
                text_add(&names, "%s%s", names.n ? ", " : "", p->channel[c].name);
        for (int i = 0; ok && i < own.groups; i++) {
            int some = 0;
            const layer_group *g = &own.group[i];
            for (int c = 0; c < g->channels; c++) some += !taken.is_data[g->channel[c]];
            if (some && some < g->channels)
                log_say_once(
                    LOG_WARN,
                    "--layers '%s' takes %d of the %d channels of the colour '%s': its glare "
                    "has another colour than its light",
                    s->bloom.layers, some, g->channels, *g->name ? g->name : "rgba");
        }
        layer_map_free(&taken);
        layer_map_free(&own);
    }
    if (names.n)
        log_say_once(
            LOG_WARN,
            "--layers '%s' takes data as light: %s; depth, ids and masks are wrong afterwards",
            s->bloom.layers, names.s);
    text_free(&names);
}

/* Returns whether a plane has the values of an 8-bit picture and many of them: steps of 1 / 255,
 * which its type may have rounded. */
static bool has_steps(const void *plane, pixel_type type, size_t n) {
    enum { LOOKED_AT = 4096, CODES = 24 };
    bool seen[256] = {false};
    int codes = 0;
    for (size_t i = 0, step = n / LOOKED_AT + 1; i < n; i += step) {
        float v, is;
        image_to_float(&v, plane, type, i, 1);
        if (!(v >= 0 && v <= 1)) return false;
        int code = (int)lrintf(v * 255);
        is = (float)code / 255;
        float room = type == PIXEL_HALF ? 0x1p-11f * is : 0x1p-22f;
        if (fabsf(v - is) > room) return false;
        codes += !seen[code];
        seen[code] = true;
    }
    return codes >= CODES;
}

/* Warns of a picture whose colours seem to be coded. */
static void warn_of_codes(const settings *s, const image *img) {
    layer_map m;
    const image_part *p = &img->head.part[0];
    if (s->input_space || strcmp(img->head.format, "png") == 0 ||
        !layer_map_make(&m, p, s->bloom.layers, s->bloom.exclude, NULL))
        return;
    size_t n = (size_t)image_width(p) * image_height(p);
    bool coded = m.groups > 0;
    for (int c = 0; coded && c < m.group[0].channels; c++) {
        int at = m.group[0].channel[c];
        coded = img->plane[0] && img->plane[0][at] &&
                has_steps(img->plane[0][at], p->channel[at].type, n);
    }
    layer_map_free(&m);
    if (coded)
        log_say_once(
            LOG_WARN,
            "the image has the values of an 8-bit picture, from 0 to 1: if it is one in sRGB "
            "that was not decoded, give --input-space srgb");
}

/* Warns of a depth where a mask is wanted. */
static void warn_of_mask(const char *mask) {
    if (mask && text_glob_any("Z,*.Z,ZBack,*.ZBack,depth*,*.depth*", mask))
        log_say_once(
            LOG_WARN,
            "--mask '%s' is a depth by its name, and a mask is 0 where light stays and 1 where "
            "it spreads: make a mask of it first",
            mask);
}

/* What was found of a frame's light, over all of its channels. */
typedef struct {
    const ledger_row *deepest;
    uint64_t below;
    double highest, ones; /* ones: in each channel at the least */
} found_light;

static found_light find_light(const bloom_report *r) {
    found_light l = {.deepest = &r->ledger[0], .ones = 1};
    for (const ledger_row *row = r->ledger; row < r->ledger + r->ledger_rows; row++) {
        if (row->lowest < l.deepest->lowest) l.deepest = row;
        l.below += row->below;
        l.ones = fmin(l.ones, row->ones);
        l.highest = fmax(l.highest, row->highest);
    }
    return l;
}

/* Adds a note to the report, and puts it into the log where it is the run's first of its kind. */
__attribute__((format(printf, 4, 5))) static void tell(bloom_report *r, log_level level,
                                                       atomic_bool *told, const char *fmt, ...) {
    char said[sizeof r->note[0]];
    bool follows = level == LOG_NOTE && log_get_level() >= LOG_INFO; /* as all notes, with -v */
    va_list args;
    va_start(args, fmt);
    vsnprintf(said, sizeof said, fmt, args);
    va_end(args);
    report_note(r, "%s", said);
    if (!follows && !atomic_exchange(told, true)) log_say(level, "%s", said);
}

void hints_light(const settings *s, const char *format, bloom_report *r, hints_told *told) {
    static const double ONES = 1e-4, CODED_MOST = 10;
    const found_light l = find_light(r);
    if (!r->ledger_rows) return;
    if (l.below)
        tell(r, LOG_NOTE, &told->below,
             "%" PRIu64
             " values are below zero, down to %.3g in channel '%.40s': they become black "
             "rings around lights; resize the image with a filter without lobes (box, triangle)",
             l.below, l.deepest->lowest, l.deepest->channel);
    colour_space is = {0};
    if (s->input_space) space_find(&is, s->input_space);
    bool codes = is.curve && is.curve != CURVE_LINEAR;
    double coded = codes ? is.curve->encode(is.curve, l.highest) : 0;
    if (coded > CODED_MOST)
        tell(r, LOG_WARN, &told->coded,
             "--input-space %.30s made values up to %.5g of values up to %.5g%s, and codes go from "
             "0 "
             "to 1: the image seems to be linear; leave --input-space out, or give linear",
             s->input_space, l.highest, coded, l.highest == HALF_MAX ? " or more" : "");
    if (strcmp(format, "png") == 0 && l.ones > ONES)
        tell(r, LOG_NOTE, &told->clipped,
             "lights above 1 are missing in this PNG picture, which is cut off there, so lamps "
             "hardly glow: render or develop to EXR; --threshold does not bring the light back");
}

void hints_image(const settings *s, const image *img) {
    warn_of_mask(s->bloom.mask);
    warn_of_layers(s, &img->head);
    warn_of_codes(s, img);
}
