#include "bloom/layer_light.h"

#include "base/mem.h"
#include "base/text.h"

typedef struct {
    char glob[LAYER_MASK], name[32], value[LAYER_MASK];
} item;

/* Copies a piece; false where there is no room for it. */
static bool copy(char *to, size_t room, text_piece from) {
    OWN(text) t = {0};
    text_add_piece(&t, from);
    bool fits = t.n < room;
    if (fits) memcpy(to, t.s, t.n + 1);
    return fits;
}

/* Takes the next item that is not empty. Returns false at the end, and with an error. */
static bool next(item *to, const char **list, err *e) {
    text_piece whole, glob, rest, name, value;
    do {
        if (!text_item(list, &whole)) return false;
    } while (!whole.n);
    if (!text_part(whole, ':', &glob, &rest) || !text_part(rest, '=', &name, &value) ||
        glob.n >= LAYER_MASK || !copy(to->name, sizeof to->name, name) ||
        !copy(to->value, sizeof to->value, value))
        return err_set(e, ERR_CONFIG, "per_layer '%.*s': expected LAYER:NAME=VALUE", (int)whole.n,
                       whole.s);
    snprintf(to->glob, sizeof to->glob, "%.*s", (int)glob.n, glob.s);
    return true;
}

static bool set(layer_light *to, const item *i, err *e) {
    const struct {
        const char *name;
        double *at, max;
    } NUMBER[] = {{"sharpen", &to->sharpen, 1},
                  {"amount", &to->sharpen, 1},
                  {"threshold", &to->threshold, HUGE_VAL},
                  {"knee", &to->knee, HUGE_VAL}};
    if (strcmp(i->name, "mask") == 0) {
        snprintf(to->mask, sizeof to->mask, "%s", i->value);
        return true;
    }
    for (size_t k = 0; k < COUNT(NUMBER); k++) {
        if (strcmp(i->name, NUMBER[k].name) != 0) continue;
        const bool part = NUMBER[k].max == 1, end = strcmp(i->value, "inf") == 0;
        double v = HUGE_VAL;
        if ((!end && !(part ? text_fraction : text_number)(i->value, &v)) ||
            !(v >= 0 && v <= NUMBER[k].max))
            return err_set(e, ERR_CONFIG,
                           "per_layer: %s of '%s' must be a number from 0%s%s, not '%s'", i->name,
                           i->glob, part ? " to 1" : "", part ? " or a percentage" : "", i->value);
        *NUMBER[k].at = strcmp(i->name, "amount") == 0 ? bloom_complement(v) : v;
        return true;
    }
    return err_set(e, ERR_CONFIG,
                   "per_layer: '%s' is not a setting of a layer; there are sharpen, amount, "
                   "threshold, knee and mask",
                   i->name);
}

static bool is_for(const item *i, const image_part *p, const layer_group *layer) {
    bool unnamed = !*layer->name;
    return text_glob(i->glob, unnamed ? "rgba" : layer->name) ||
           (unnamed && p->name && text_glob(i->glob, p->name));
}

bool layer_light_of(layer_light *to, const bloom_settings *s, const image_part *p,
                    const layer_group *layer, err *e) {
    layer_light made = {.sharpen = s->sharpen, .threshold = s->threshold, .knee = s->knee};
    const char *list = s->per_layer ? s->per_layer : "";
    if (s->mask) snprintf(made.mask, sizeof made.mask, "%s", s->mask);
    err why = {0};
    for (item i; next(&i, &list, &why);) {
        layer_light ignored = made;
        if (!set(layer && is_for(&i, p, layer) ? &made : &ignored, &i, e)) return false;
    }
    if (why.code) return err_set(e, why.code, "%s", why.msg);
    *to = made;
    return true;
}

bool layer_light_check(const bloom_settings *s, err *e) {
    layer_light any;
    return layer_light_of(&any, s, NULL, NULL, e);
}

/* Refuses an item that is for no layer, and lists those that there are. */
static bool find_layer(const item *i, const bloom_settings *s, const image_header *h, err *e) {
    OWN(text) names = {0};
    bool found = false, ok = true;
    for (int part = 0; ok && !found && part < h->parts; part++) {
        layer_map m;
        const image_part *p = &h->part[part];
        /* A layer that is excluded here may have settings for other images. */
        if (!(ok = layer_map_make(&m, p, s->layers, NULL, e))) break;
        for (int k = 0; k < m.groups; k++) {
            const char *name = m.group[k].name;
            found |= is_for(i, p, &m.group[k]);
            if (!*name) name = h->parts > 1 && p->name ? p->name : "rgba";
            text_add(&names, "%s%s", names.n ? ", " : "", name);
        }
        layer_map_free(&m);
    }
    if (ok && !found && names.n)
        ok = err_set(e, ERR_USAGE, "no layer matches --per-layer '%s'; the colour layers are: %s",
                     i->glob, names.s);
    return ok;
}

bool layer_light_find(const bloom_settings *s, const image_header *h, err *e) {
    const char *list = s->per_layer ? s->per_layer : "";
    err why = {0};
    for (item i; next(&i, &list, &why);)
        if (!find_layer(&i, s, h, e)) return false;
    return !why.code || err_set(e, why.code, "%s", why.msg);
}
