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

bool colours_check(const image_header *h, err *e) {
    for (int part = 0; part < h->parts; part++)
        if (has_colour(&h->part[part]) && !check_part(&h->part[part], e)) return false;
    return true;
}

static bool part_to_linear(image *img, int part, const settings *s, par *threads, err *e) {
    image_part *p = &img->head.part[part];
    primaries now;
    colour_space is;
    if (!s->input_space) return check_part(p, e);
    space_find(&is, s->input_space);
    bool png = strcmp(img->head.format, "png") == 0;
    bool takes = is.primaries_named || (!image_primaries(p, &now) && is.curve != CURVE_LINEAR);
    const recode r = {.undo = png ? curve_find("srgb") : NULL,
                      .decode = is.curve,
                      .encode = CURVE_LINEAR,
                      .convert = MATRIX_IDENTITY};
    return ((is.curve == CURVE_LINEAR && !png) || recode_part(img, part, &r, threads, e)) &&
           image_set_space(p, CURVE_LINEAR, takes ? &is.primaries->is : NULL, e);
}

bool colours_to_linear(image *img, const settings *s, par *threads, err *e) {
    for (int part = 0; part < img->head.parts; part++)
        if (img->plane[part] && has_colour(&img->head.part[part]) &&
            !part_to_linear(img, part, s, threads, e))
            return false;
    return true;
}

/* --- what the output is --------------------------------------------------------------------- */

static bool part_for_output(image *img, int part, const colour_space *to, par *threads, err *e) {
    image_part *p = &img->head.part[part];
    primaries now;
    recode r = {.decode = CURVE_LINEAR, .encode = to->curve, .convert = MATRIX_IDENTITY};
    /* Linear alone, and what the input was, keep the primaries. */
    bool converts = to->primaries && (to->primaries_named || to->curve != CURVE_LINEAR);
    image_primaries(p, &now);
    if (converts && !primaries_same(&now, &to->primaries->is) &&
        !primaries_convert(&r.convert, &now, &to->primaries->is))
        return err_set(
            e, ERR_DATA,
            "its primaries cannot be converted to %s; correct or remove its chromaticities",
            to->primaries->title);
    return recode_part(img, part, &r, threads, e) &&
           image_set_space(p, to->curve, converts ? &to->primaries->is : NULL, e);
}

bool colours_for_output(image *img, const settings *s, par *threads, err *e) {
    colour_space to;
    if (!s->output_space) return true;
    if (strcmp(s->output_space, "input") == 0) {
        if (!s->input_space || !space_find(&to, s->input_space)) return true;
        to.primaries = NULL;
    } else {
        space_find(&to, s->output_space);
    }
    for (int part = 0; part < img->head.parts; part++)
        if (img->plane[part] && has_colour(&img->head.part[part]) &&
            !part_for_output(img, part, &to, threads, e))
            return false;
    return true;
}
