/* cmd_info.c - `fftbloom info FILE`: what an image holds, and which channels would be bloomed. */
#include "app/tools/tools.h"
#include "image/exr/exr_file.h"
#include "image/format.h"
#include "image/layers.h"

enum { LONGEST_STRING = 100 }; /* in words; Cryptomatte manifests go on for pages */

static const char *const ORDER[] = {"increasing", "decreasing", "random"};

static void window_json(const char *key, const image_box *b, json_out *j) {
    json_ints(j, key, (int32_t[]){b->x0, b->y0, b->x1, b->y1}, 4);
}

static void part_json(const image_header *h, int number, const layer_map *m, json_out *j) {
    const image_part *p = &h->part[number];
    json_block(j, NULL);
    if (j->words) json_int(j, "part", number);
    json_string(j, "name", p->name);
    JSON_UINTS(j, {"width", image_width(p)}, {"height", image_height(p)});
    window_json("data_window", &p->data, j);
    window_json("display_window", &p->display, j);
    if (strcmp(h->format, "exr") == 0) {
        json_string(j, "compression", compression_name(p->packing));
        json_string(j, "line_order", ORDER[p->order]);
        if (p->tile_w) {
            json_object(j, "tiles");
            JSON_UINTS(j, {"width", p->tile_w}, {"height", p->tile_h});
            json_bool(j, "mipmapped", p->mipmapped);
            json_close(j);
        } else {
            json_string(j, "tiles", NULL);
        }
    }
    json_list(j, "channels");
    for (int c = 0; c < p->channels; c++) {
        bool alpha = false;
        for (int g = 0; g < m->groups; g++) alpha |= m->group[g].alpha == c;
        json_object(j, NULL);
        json_string(j, "name", p->channel[c].name);
        json_string(j, "type", pixel_name(p->channel[c].type));
        json_string(j, "role", m->is_data[c] ? "data" : alpha ? "alpha" : "colour");
        json_close(j);
    }
    json_close(j);
    json_list(j, "groups");
    for (int g = 0; g < m->groups; g++) {
        const layer_group *l = &m->group[g];
        json_object(j, NULL);
        json_string(j, "layer", j->words && !*l->name ? "rgba" : l->name);
        json_array(j, "channels");
        for (int k = 0; k < l->channels; k++) json_string(j, NULL, p->channel[l->channel[k]].name);
        json_close(j);
        json_string(j, "alpha", l->alpha >= 0 ? p->channel[l->alpha].name : NULL);
        json_close(j);
    }
    json_close(j);
    primaries gamut;
    const image_attr *by;
    const bool known = image_primaries(p, &gamut);
    const curve *c = image_curve(p, &by);
    const primaries_row *row = primaries_like(&gamut);
    json_object(j, "space");
    json_string(j, "curve", j->words ? c->title : c->name);
    if (j->words)
        json_string(j, "primaries", !known ? "primaries not told" : row ? row->title : "other");
    else
        json_string(j, "primaries", !known ? NULL : row ? row->name : "other");
    json_close(j);
    json_list(j, "attributes");
    for (int i = 0; i < p->attrs; i++) {
        if (j->words && strcmp(p->attr[i].type, "chlist") == 0) continue; /* told as channels */
        json_object(j, NULL);
        json_string(j, "name", p->attr[i].name);
        json_string(j, "type", p->attr[i].type);
        text *to = json_here(j, j->words ? NULL : "value");
        if (j->words)
            exr_attr_text(&p->attr[i], LONGEST_STRING, to);
        else
            exr_attr_json(&p->attr[i], to);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static bool info_describe(const cli *c, const char *path, const image_header *h, text *to, err *e) {
    if (!layer_globs_check(h, c->s.bloom.layers, c->s.bloom.exclude, e))
        return err_in(e, "'%s'", path);
    json_out j = told_begin(to, c->s.json);
    json_string(&j, "file", path);
    json_string(&j, "format", h->format);
    json_list(&j, "parts");
    for (int p = 0; p < h->parts; p++) {
        OWN(layer_map) m = {0};
        if (!layer_map_make(&m, &h->part[p], c->s.bloom.layers, c->s.bloom.exclude, e))
            return false;
        part_json(h, p, &m, &j);
    }
    json_end(&j);
    return true;
}

int cmd_info(const cli *c, text *out, err *e) {
    OPEN(par) *threads = par_open(1, e);
    OPEN(image_reader) *r = threads ? image_open(c->word[0], NULL, threads, e) : NULL;
    if (r) info_describe(c, c->word[0], image_reader_header(r), out, e);
    return 0;
}
