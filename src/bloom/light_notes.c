#include "bloom/light_notes.h"

#include "base/half.h"
#include "base/log.h"
#include "colour/space.h"
#include "image/layers.h"

/* Adds a note to the report, and puts it into the log where it is the run's first of its kind. */
__attribute__((format(printf, 4, 5))) static void tell(bloom_report *r, log_level level,
                                                       atomic_bool *told, const char *fmt, ...) {
    char said[sizeof r->note[0]];
    bool follows = level > LOG_WARN && log_get_level() >= LOG_INFO; /* as all notes, with -v */
    va_list args;
    va_start(args, fmt);
    vsnprintf(said, sizeof said, fmt, args);
    va_end(args);
    report_note(r, "%s", said);
    if (!follows && !atomic_exchange(told, true)) log_say(level, "%s", said);
}

/* Says of what was solved what nobody can know, and what the kernel has too much of. */
static void tell_solved(bloom_report *r, log_level level, light_told *told) {
    const bloom_solved *s = &r->sum.solved;
    if (s->clipped)
        tell(r, level, &told->lost,
             "%" PRIu64 " value%s from %g on may have lost light: if that is as much again, its "
             "glare matters as far as %.0f pixels away",
             s->clipped, s->clipped == 1 ? "" : "s", s->clip, s->reach);
    if (s->negative && s->enough > 0)
        tell(r, level, &told->strong,
             "%" PRIu64 " value%s below zero, down to %.3g: the kernel has more glare than the "
             "lens, or the plate has errors; by a first estimate an amount of %.3g would leave "
             "none",
             s->negative, s->negative == 1 ? "" : "s", s->lowest, s->enough);
    else if (s->negative)
        tell(r, level, &told->strong,
             "%" PRIu64 " value%s below zero, down to %.3g: the plate itself has values "
             "below zero, which another amount would not mend",
             s->negative, s->negative == 1 ? "" : "s", s->lowest);
    if (s->amount_error > 0)
        tell(r, level, &told->amount, "the black region asks for an amount of %.4g +- %.2g",
             s->amount, s->amount_error);
}

void light_notes(const char *format, const char *space, bloom_report *r, light_told *told) {
    static const double ONES = 1e-4, CODED_MOST = 10;
    const log_level level = told->warns ? LOG_WARN : LOG_NOTE;
    const ledger_row *deepest = &r->ledger[0];
    uint64_t below = 0;
    double highest = 0, ones = 1; /* ones: in each channel at the least */
    tell_solved(r, level, told);
    if (!r->ledger_rows) return;
    for (const ledger_row *row = r->ledger; row < r->ledger + r->ledger_rows; row++) {
        if (row->lowest < deepest->lowest) deepest = row;
        below += row->below;
        ones = fmin(ones, row->ones);
        highest = fmax(highest, row->highest);
    }
    if (below)
        tell(r, level, &told->below,
             "%" PRIu64
             " values are below zero, down to %.3g in channel '%.40s': they become black "
             "rings around lights; resize the image with a filter without lobes (box, triangle)",
             below, deepest->lowest, deepest->channel);
    colour_space found = {0};
    if (space) space_find(&found, space);
    const bool codes = found.curve && found.curve != CURVE_LINEAR;
    const double coded = codes ? found.curve->encode(found.curve, highest) : 0;
    if (coded > CODED_MOST)
        tell(r, LOG_WARN, &told->coded,
             "--input-space %.30s made values up to %.5g of values up to %.5g%s, and codes go from "
             "0 to 1: the image seems to be linear; leave --input-space out, or give linear",
             space, highest, coded, highest == HALF_MAX ? " or more" : "");
    if (strcmp(format, "png") == 0 && ones > ONES)
        tell(r, level, &told->clipped,
             "lights above 1 are missing in this PNG picture, which is cut off there, so lamps "
             "hardly glow: render or develop to EXR, or raise them (--highlights 4); --threshold "
             "does not "
             "bring the light back");
}

/* Returns whether a plane has the values of an 8-bit picture and many of them: steps of 1 / 255,
 * which its type may have rounded. */
static bool has_steps(const void *plane, pixel_type type, size_t n) {
    enum { LOOKED_AT = 4096, CODES = 24 };
    bool seen[256] = {false};
    int codes = 0;
    for (size_t i = 0, step = n / LOOKED_AT + 1; i < n; i += step) {
        float v, got;
        image_to_float(&v, plane, type, i, 1);
        if (!(v >= 0 && v <= 1)) return false;
        int code = (int)lrintf(v * 255);
        got = (float)code / 255;
        float room = type == PIXEL_HALF ? 0x1p-11f * got : 0x1p-22f;
        if (fabsf(v - got) > room) return false;
        codes += !seen[code];
        seen[code] = true;
    }
    return codes >= CODES;
}

void light_notes_codes(const image *img, const char *layers, const char *exclude, const char *cure,
                       light_told *told) {
    layer_map m;
    const image_part *p = &img->head.part[0];
    if (!layer_map_make(&m, p, layers, exclude, NULL)) return;
    size_t n = (size_t)image_width(p) * image_height(p);
    bool coded = m.groups > 0;
    for (int c = 0; coded && c < m.group[0].channels; c++) {
        int at = m.group[0].channel[c];
        coded = img->plane[0] && img->plane[0][at] &&
                has_steps(img->plane[0][at], p->channel[at].type, n);
    }
    layer_map_free(&m);
    if (coded && !atomic_exchange(&told->codes, true))
        log_warn("the image has the values of an 8-bit picture, from 0 to 1: if it is one in sRGB "
                 "that was not decoded, %s",
                 cure);
}
