#include "app/run/colours.h"

#include "base/log.h"
#include "colour/space.h"
#include "image/layers.h"
#include "image/recode.h"

#include <stdatomic.h>
#include <string.h>

/* --- what the input is ---------------------------------------------------------------------- */

static bool has_colour(const image_part *p) {
    layer_map m;
    if (!layer_map_make(&m, p, NULL, NULL, NULL)) return false;
    bool some = m.groups > 0;
    layer_map_free(&m);
    return some;
}

static bool refuse(const curve *c, const image_attr *by, err *e) {
    if (!c->decode)
        return err_set(
            e, ERR_DATA,
            "the colours are coded as %s (attribute %s), which is not supported; convert "
            "them to linear light, or use --input-space to say what they are",
            c->title, by->name);
    return err_set(e, ERR_DATA,
                   "the colours are coded as %s (attribute %s), and bloom needs linear light; use "
                   "--input-space %s to decode them, or --input-space linear if the attribute is "
                   "wrong",
                   c->title, by->name, c->name);
}

/* Says once in a run, with -v, what is assumed of an image that says nothing. */
static void tell_unknown(const image_part *p) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    primaries is;
    if (!image_primaries(p, &is) && !atomic_flag_test_and_set(&said))
        log_info("the image does not state its colour space; it is taken to be linear Rec.709");
}

/* Refuses a part that says that its colours are coded. */
static bool check_part(const image_part *p, err *e) {
    const image_attr *by;
    const curve *coded = image_curve(p, &by);
    if (by) return refuse(coded, by, e);
    tell_unknown(p);
    return true;
}

bool colours_in(colours_step *to, image_part *p, const char *format, const settings *s, err *e) {
    primaries now;
    colour_space is;
    *to = (colours_step){.any = false};
    if (!has_colour(p)) return true;
    if (!s->input_space) return check_part(p, e);
    space_find(&is, s->input_space);
    bool png = strcmp(format, "png") == 0;
    bool takes = is.primaries_named || (!image_primaries(p, &now) && is.curve != CURVE_LINEAR);
    to->any = is.curve != CURVE_LINEAR || png;
    to->how = (recode){.undo = png ? curve_find("srgb") : NULL,
                       .decode = is.curve,
                       .encode = CURVE_LINEAR,
                       .convert = MATRIX_IDENTITY};
    return image_set_space(p, CURVE_LINEAR, takes ? &is.primaries->is : NULL, e);
}

/* --- what the output is --------------------------------------------------------------------- */

colour_space colours_stored(const settings *s) {
    colour_space is = {0};
    if (!s->output_space) return is;
    if (strcmp(s->output_space, "input") != 0) {
        space_find(&is, s->output_space);
    } else if (s->input_space) {
        space_find(&is, s->input_space);
        is.primaries = NULL;
    }
    return is;
}

bool colours_out(colours_step *to, image_part *p, const settings *s, err *e) {
    const colour_space is = colours_stored(s);
    const primaries_row *becomes = is.curve ? recode_primaries(&is) : NULL;
    *to = (colours_step){.any = is.curve && has_colour(p)};
    return !to->any || (recode_to(&to->how, p, &is, e) &&
                        image_set_space(p, is.curve, becomes ? &becomes->is : NULL, e));
}
