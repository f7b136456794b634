#include "bloom/mask.h"

#include "base/mem.h"
#include "base/text.h"

static int find_in(const image_part *p, const char *name) {
    int at = image_find_channel(p, name), found = -1, count = 0;
    const size_t n = strlen(name);
    for (int c = 0; c < p->channels; c++) {
        const char *channel = p->channel[c].name;
        if (strncmp(channel, name, n) == 0 && channel[n] == '.' && !strchr(channel + n + 1, '.'))
            found = c, count++;
    }
    return at >= 0 ? at : count == 1 ? found : -1;
}

/* Lists the channels of all parts, and names the nearest. Returns false. */
static bool no_such(const image_header *h, const char *name, err *e) {
    enum { MOST = 256, SHOWN = 12 };
    const char *names[MOST];
    char meant[TEXT_MEANT];
    OWN(text) list = {0};
    int n = 0;
    for (int i = 0; i < h->parts; i++)
        for (int c = 0; c < h->part[i].channels && n < MOST; c++)
            names[n++] = h->part[i].channel[c].name;
    for (int i = 0; i < n && i < SHOWN; i++) text_add(&list, "%s%.60s", i ? ", " : "", names[i]);
    if (n > SHOWN) text_add(&list, " and %d more", n - SHOWN);
    return err_set(
        e, ERR_USAGE,
        "the mask '%s' is neither a channel of the image nor a layer with one channel%s; "
        "it has %s",
        name, text_meant(meant, name, names, n, '\''), list.s);
}

bool mask_find(mask_place *to, const rows_source *in, int part, const char *name, err *e) {
    const image_header *h = in->head;
    *to = (mask_place){in, part, find_in(&h->part[part], name)};
    for (int i = 0; to->channel < 0 && i < h->parts; i++)
        *to = (mask_place){in, i, find_in(&h->part[i], name)};
    return to->channel >= 0 || no_such(h, name, e);
}

int mask_channel(const image_part *p) {
    int c = -1;
    for (const char *const *name = (const char *const[]){"Y", "A", "R", NULL}; c < 0 && *name;
         name++)
        c = image_find_channel(p, *name);
    return max_int(c, 0);
}

/* Reads rows of the mask's own window, and copies what lies beside the others. */
static bool copy_rows(float *to, const mask_place *at, const image_box *box, const image_box *both,
                      err *e) {
    enum { SOME = 64 };
    const rows_source *in = at->in;
    const image_part *p = &in->head->part[at->part];
    const image_box *own = &p->data;
    size_t wide = image_box_width(box), width = image_width(p);
    size_t n = image_box_width(both);
    pixel_type type = p->channel[at->channel].type;
    OWN_MEM void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = plane && (plane[at->channel] = mem_raw(width * SOME, pixel_bytes(type), "a mask", e));
    for (int64_t y = both->y0; ok && y <= both->y1; y += SOME) {
        uint32_t rows = (uint32_t)min_i64(SOME, (int64_t)both->y1 - y + 1);
        ok = in->read(in->ctx, at->part, (uint32_t)(y - own->y0), rows, plane, e);
        for (uint32_t i = 0; ok && i < rows; i++) {
            float *v = to + (size_t)(y + i - box->y0) * wide +
                       (size_t)((int64_t)both->x0 - box->x0);
            image_to_float(v, plane[at->channel], type,
                           i * width + (size_t)((int64_t)both->x0 - own->x0), n);
            for (size_t x = 0; x < n; x++) v[x] = clamp_float(v[x], 0, 1);
        }
    }
    if (plane) mem_free(plane[at->channel]);
    return ok;
}

bool mask_read(float *to, const mask_place *at, const image_part *beside, uint32_t row,
               uint32_t rows, err *e) {
    const image_box *own = &at->in->head->part[at->part].data;
    image_box box = beside->data;
    box.y0 += (int32_t)row;
    box.y1 = box.y0 + (int32_t)rows - 1;
    const image_box both = {max_int(box.x0, own->x0), max_int(box.y0, own->y0),
                            min_int(box.x1, own->x1), min_int(box.y1, own->y1)};
    memset(to, 0, (size_t)image_width(beside) * rows * sizeof *to);
    return both.x0 > both.x1 || both.y0 > both.y1 || copy_rows(to, at, &box, &both, e);
}
