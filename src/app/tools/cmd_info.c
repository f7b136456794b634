/* cmd_info.c - `fftbloom info FILE`: shows what an image file holds, and which channels would be
 * bloomed. */
#include "app/cli/cli.h"
#include "base/json_out.h"
#include "image/exr/exr_attr.h"
#include "image/format.h"
#include "image/layers.h"

#include <inttypes.h>
#include <string.h>

enum { LONGEST_STRING = 100 }; /* in lines for people; Cryptomatte manifests go on for pages */

static const char *const ORDER[] = {"increasing", "decreasing", "random"};

static bool is_exr(const image_header *h) {
    return strcmp(h->format, "exr") == 0;
}

/* --- for people --------------------------------------------------------------------------- */

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

/* Shows the primaries and the curve of the colours, as far as the part says them. */
static void show_space(const image_part *p, text *to) {
    primaries is;
    const image_attr *by;
    const curve *c = image_curve(p, &by);
    bool known = image_primaries(p, &is);
    const primaries_row *row = primaries_like(&is);
    text_add(to, "  %-11s %s, %s%s\n", "space", c->title, row ? row->title : "other",
             known ? " primaries" : " primaries (the file does not say)");
}

static void show_part(const image_header *h, int number, const layer_map *m, text *to) {
    const image_part *p = &h->part[number];
    text_add(to, "part %d%s", number, p->name ? " " : "");
    if (p->name) text_add_clean(to, p->name);
    text_add(to, ": %" PRIu32 " x %" PRIu32 ", %d channel%s\n", image_width(p), image_height(p),
             p->channels, p->channels > 1 ? "s" : "");
    const image_box *d = &p->data, *s = &p->display;
    text_add(to, "  %-11s (%d, %d) to (%d, %d)\n", "data", d->x0, d->y0, d->x1, d->y1);
    text_add(to, "  %-11s (%d, %d) to (%d, %d)", "display", s->x0, s->y0, s->x1, s->y1);
    if (p->aspect != 1) text_add(to, ", pixel aspect %g", (double)p->aspect);
    text_add(to, "\n");
    if (is_exr(h)) {
        text_add(to, "  %-11s %s, ", "stored as", compression_name(p->packing));
        if (p->tile_w)
            text_add(to, "tiles of %" PRIu32 " x %" PRIu32 "%s", p->tile_w, p->tile_h,
                     p->mipmapped ? " with smaller levels (only the largest is used)" : "");
        else
            text_add(to, "scan lines");
        text_add(to, ", line order %s\n", ORDER[p->order]);
    }
    show_groups(p, m, to);
    if (m->groups) show_space(p, to);
    show_attributes(p, to);
}

/* --- as JSON ------------------------------------------------------------------------------ */

static void window_json(const char *key, const image_box *b, json_out *j) {
    json_ints(j, key, (int32_t[]){b->x0, b->y0, b->x1, b->y1}, 4);
}

static void part_json(const image_header *h, int number, const layer_map *m, json_out *j) {
    const image_part *p = &h->part[number];
    json_block(j, NULL);
    json_string(j, "name", p->name);
    json_uint(j, "width", image_width(p));
    json_uint(j, "height", image_height(p));
    window_json("data_window", &p->data, j);
    window_json("display_window", &p->display, j);
    if (is_exr(h)) {
        json_string(j, "compression", compression_name(p->packing));
        json_string(j, "line_order", ORDER[p->order]);
        if (p->tile_w) {
            json_object(j, "tiles");
            json_uint(j, "width", p->tile_w);
            json_uint(j, "height", p->tile_h);
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
        json_string(j, "layer", l->name);
        json_array(j, "channels");
        for (int k = 0; k < l->channels; k++) json_string(j, NULL, p->channel[l->channel[k]].name);
        json_close(j);
        json_string(j, "alpha", l->alpha >= 0 ? p->channel[l->alpha].name : NULL);
        json_close(j);
    }
    json_close(j);
    primaries is;
    const image_attr *by;
    bool known = image_primaries(p, &is);
    const primaries_row *row = primaries_like(&is);
    json_object(j, "space");
    json_string(j, "curve", image_curve(p, &by)->name);
    json_string(j, "primaries", !known ? NULL : row ? row->name : "other");
    json_close(j);
    json_list(j, "attributes");
    for (int i = 0; i < p->attrs; i++) {
        json_object(j, NULL);
        json_string(j, "name", p->attr[i].name);
        json_string(j, "type", p->attr[i].type);
        exr_attr_json(&p->attr[i], json_here(j, "value"));
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

/* --- both --------------------------------------------------------------------------------- */

static bool info_describe(const cli *c, const char *path, const image_header *h, text *to, err *e) {
    bool json = c->s.json;
    if (!layer_globs_check(h, c->s.bloom.layers, c->s.bloom.exclude, e))
        return err_in(e, "'%s'", path);
    json_out j = {.to = to};
    if (json) {
        j = json_begin(to);
        json_string(&j, "file", path);
        json_string(&j, "format", h->format);
        json_list(&j, "parts");
    } else {
        text_add_clean(to, path);
        text_add(to, ": %s, %d part%s\n", h->format, h->parts, h->parts > 1 ? "s" : "");
    }
    for (int p = 0; p < h->parts; p++) {
        layer_map m;
        if (!layer_map_make(&m, &h->part[p], c->s.bloom.layers, c->s.bloom.exclude, e))
            return false;
        if (json)
            part_json(h, p, &m, &j);
        else
            show_part(h, p, &m, to);
        layer_map_free(&m);
    }
    if (json) {
        json_close(&j);
        json_end(&j);
    }
    return true;
}

int cmd_info(cli *c, text *out, err *e) {
    par *threads = par_open(1, e);
    image_reader *r = threads ? image_open(c->word[0], NULL, threads, e) : NULL;
    if (r) info_describe(c, c->word[0], image_reader_header(r), out, e);
    image_close(&r);
    par_close(&threads);
    return 0;
}
