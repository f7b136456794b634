/* cmd_info.c - `fftbloom info FILE`: what an image file holds, and what of it would be bloomed. */
#include "app/cli/cli.h"
#include "image/exr/exr_attr.h"
#include "image/format.h"
#include "image/layers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_STRING = 100 }; /* in lines for people; Cryptomatte manifests go on for pages */

static const char *const ORDER[] = {"increasing", "decreasing", "random"};

static bool is_exr(const image_header *h) {
    return strcmp(h->format, "exr") == 0;
}

/* --- for people --------------------------------------------------------------------------- */

static void show_window(const char *what, const image_box *b, text *to) {
    text_add(to, "  %-11s (%d, %d) to (%d, %d)", what, b->x0, b->y0, b->x1, b->y1);
}

static void show_storage(const image_part *p, text *to) {
    text_add(to, "  %-11s %s, ", "stored as", compression_name(p->packing));
    if (p->tile_w)
        text_add(to, "tiles of %" PRIu32 " x %" PRIu32 "%s", p->tile_w, p->tile_h,
                 p->mipmapped ? " with smaller levels (only the largest is used)" : "");
    else
        text_add(to, "scan lines");
    text_add(to, ", line order %s\n", ORDER[p->order]);
}

static void show_groups(const image_part *p, const layer_map *m, text *to) {
    for (int g = 0; g < m->groups; g++) {
        const layer_group *l = &m->group[g];
        text_add(to, "  %-11s", g ? "" : "colour");
        for (int k = 0; k < l->channels; k++) {
            text_add(to, " ");
            text_add_clean(to, p->channel[l->channel[k]].name);
        }
        if (l->alpha >= 0) {
            text_add(to, " with ");
            text_add_clean(to, p->channel[l->alpha].name);
        }
        text_add(to, ", %s\n", pixel_name(p->channel[l->channel[0]].type));
    }
    bool first = true;
    for (int c = 0; c < p->channels; c++) {
        if (!m->is_data[c]) continue;
        text_add(to, "  %-11s ", first ? "data" : "");
        text_add_clean(to, p->channel[c].name);
        text_add(to, ", %s\n", pixel_name(p->channel[c].type));
        first = false;
    }
}

static void show_attributes(const image_part *p, text *to) {
    bool first = true;
    for (int i = 0; i < p->attrs; i++) {
        const image_attr *a = &p->attr[i];
        if (strcmp(a->type, "chlist") == 0) continue; /* shown as channels */
        text_add(to, "  %-11s ", first ? "attributes" : "");
        text_add_clean(to, a->name);
        text_add(to, " (");
        text_add_clean(to, a->type);
        text_add(to, "): ");
        exr_attr_text(a, LONGEST_STRING, to);
        text_add(to, "\n");
        first = false;
    }
}

static void show_part(const image_header *h, int number, const layer_map *m, text *to) {
    const image_part *p = &h->part[number];
    text_add(to, "part %d%s", number, p->name ? " " : "");
    if (p->name) text_add_clean(to, p->name);
    text_add(to, ": %" PRIu32 " x %" PRIu32 ", %d channel%s\n", image_width(p), image_height(p),
             p->channels, p->channels > 1 ? "s" : "");
    show_window("data", &p->data, to);
    text_add(to, "\n");
    show_window("display", &p->display, to);
    if (p->aspect != 1) text_add(to, ", pixel aspect %g", (double)p->aspect);
    text_add(to, "\n");
    if (is_exr(h)) show_storage(p, to);
    show_groups(p, m, to);
    show_attributes(p, to);
}

/* --- as JSON ------------------------------------------------------------------------------ */

static void string_json(const char *key, const char *s, text *to) {
    text_add(to, "\"%s\": ", key);
    if (s)
        text_add_json(to, s);
    else
        text_add(to, "null");
}

static void box_json(const char *key, const image_box *b, text *to) {
    text_add(to, ", \"%s\": [%d, %d, %d, %d]", key, b->x0, b->y0, b->x1, b->y1);
}

static void channels_json(const image_part *p, const layer_map *m, text *to) {
    text_add(to, ",\n     \"channels\": [");
    for (int c = 0; c < p->channels; c++) {
        bool alpha = false;
        for (int g = 0; g < m->groups; g++) alpha |= m->group[g].alpha == c;
        text_add(to, "%s\n       {", c ? "," : "");
        string_json("name", p->channel[c].name, to);
        text_add(to, ", \"type\": \"%s\", \"role\": \"%s\"}", pixel_name(p->channel[c].type),
                 m->is_data[c] ? "data"
                 : alpha       ? "alpha"
                               : "colour");
    }
    text_add(to, "]");
}

static void groups_json(const image_part *p, const layer_map *m, text *to) {
    text_add(to, ",\n     \"groups\": [");
    for (int g = 0; g < m->groups; g++) {
        const layer_group *l = &m->group[g];
        text_add(to, "%s\n       {", g ? "," : "");
        string_json("layer", l->name, to);
        text_add(to, ", \"channels\": [");
        for (int k = 0; k < l->channels; k++) {
            if (k) text_add(to, ", ");
            text_add_json(to, p->channel[l->channel[k]].name);
        }
        text_add(to, "], ");
        string_json("alpha", l->alpha >= 0 ? p->channel[l->alpha].name : NULL, to);
        text_add(to, "}");
    }
    text_add(to, "]");
}

static void attributes_json(const image_part *p, text *to) {
    text_add(to, ",\n     \"attributes\": [");
    for (int i = 0; i < p->attrs; i++) {
        text_add(to, "%s\n       {", i ? "," : "");
        string_json("name", p->attr[i].name, to);
        text_add(to, ", ");
        string_json("type", p->attr[i].type, to);
        text_add(to, ", \"value\": ");
        exr_attr_json(&p->attr[i], to);
        text_add(to, "}");
    }
    text_add(to, "]");
}

static void part_json(const image_header *h, int number, const layer_map *m, text *to) {
    const image_part *p = &h->part[number];
    text_add(to, "%s\n    {", number ? "," : "");
    string_json("name", p->name, to);
    text_add(to, ", \"width\": %" PRIu32 ", \"height\": %" PRIu32, image_width(p), image_height(p));
    box_json("data_window", &p->data, to);
    box_json("display_window", &p->display, to);
    if (is_exr(h)) {
        text_add(to, ",\n     \"compression\": \"%s\", \"line_order\": \"%s\", \"tiles\": ",
                 compression_name(p->packing), ORDER[p->order]);
        if (p->tile_w)
            text_add(to, "{\"width\": %" PRIu32 ", \"height\": %" PRIu32 ", \"mipmapped\": %s}",
                     p->tile_w, p->tile_h, p->mipmapped ? "true" : "false");
        else
            text_add(to, "null");
    }
    channels_json(p, m, to);
    groups_json(p, m, to);
    attributes_json(p, to);
    text_add(to, "}");
}

/* --- both --------------------------------------------------------------------------------- */

static bool describe(const cli *c, const char *path, const image_header *h, text *to, err *e) {
    bool json = c->s.json;
    if (!layer_globs_check(h, c->s.bloom.layers, c->s.bloom.exclude, e))
        return err_in(e, "'%s'", path);
    if (json) {
        text_add(to, "{\n  \"version\": 1,\n  ");
        string_json("file", path, to);
        text_add(to, ",\n  \"format\": \"%s\",\n  \"parts\": [", h->format);
    } else {
        text_add_clean(to, path);
        text_add(to, ": %s, %d part%s\n", h->format, h->parts, h->parts > 1 ? "s" : "");
    }
    for (int p = 0; p < h->parts; p++) {
        layer_map m;
        if (!layer_map_make(&m, &h->part[p], c->s.bloom.layers, c->s.bloom.exclude, e))
            return false;
        if (json)
            part_json(h, p, &m, to);
        else
            show_part(h, p, &m, to);
        layer_map_free(&m);
    }
    if (json) text_add(to, "]\n}\n");
    return true;
}

static bool info(const cli *c, text *to, err *e) {
    par *threads = par_open(1, e);
    image_reader *r = threads ? image_open(c->word[0], NULL, threads, e) : NULL;
    bool ok = r && describe(c, c->word[0], image_reader_header(r), to, e);
    image_close(&r);
    par_close(&threads);
    return ok;
}

int cmd_info(int argc, char **argv, err *e) {
    cli c;
    text out = {0};
    if (cli_open(&c, argc, argv, e) && info(&c, &out, e)) fputs(out.s, stdout);
    text_free(&out);
    cli_close(&c);
    return (int)e->code;
}
