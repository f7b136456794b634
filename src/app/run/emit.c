#include "app/run/emit.h"

#include "base/mem.h"
#include "image/format.h"

#include <string.h>

const char *emit_name(const image_channel *c, const settings *s) {
    const char *layer = s->bloom.emit_layer ? s->bloom.emit_layer : EMIT_LAYER;
    size_t n = strlen(layer);
    if (strncmp(c->name, layer, n) != 0 || c->name[n] != '.') return NULL;
    return s->bloom.emit_layer ? c->name : c->name + n + 1;
}

/* Moves the channels of a part; `to` has the part already, with all its channels. What can fail
 * comes first: after a failure both parts are whole. */
static bool move_channels(image_part *to, void **planes, image_part *from, void **own,
                          const settings *s, err *e) {
    for (int c = 0; c < from->channels; c++) {
        const char *name = emit_name(&from->channel[c], s);
        char *made = name ? mem_str(name, e) : NULL;
        if (name && !made) return false;
        if (!made) continue;
        mem_free(to->channel[c].name);
        to->channel[c].name = made;
    }
    int kept = 0, taken = 0;
    for (int c = 0; c < from->channels; c++) {
        if (emit_name(&from->channel[c], s)) {
            planes[taken] = own[c];
            to->channel[taken++] = to->channel[c];
            mem_free(from->channel[c].name);
        } else {
            mem_free(to->channel[c].name);
            own[kept] = own[c];
            from->channel[kept++] = from->channel[c];
        }
    }
    from->channels = kept;
    to->channels = taken;
    return true;
}

image *emit_take(image *img, const settings *s, err *e) {
    image *glare = mem_new(1, sizeof *glare, "glare", e);
    bool ok = glare && image_header_copy(&glare->head, &img->head, e) &&
              (glare->plane = mem_new((size_t)img->head.parts, sizeof *glare->plane, "glare", e));
    int parts = 0;
    for (int i = 0; ok && i < img->head.parts; i++) {
        image_part *from = &img->head.part[i], all = glare->head.part[i];
        bool some = false;
        for (int c = 0; img->plane[i] && c < from->channels; c++)
            some |= emit_name(&from->channel[c], s) != NULL;
        /* A part without glare goes to the end, where it is dropped. */
        if (!some) continue;
        glare->head.part[i] = glare->head.part[parts];
        glare->head.part[parts] = all;
        void **planes = mem_new((size_t)all.channels, sizeof *planes, "glare", e);
        glare->plane[parts] = planes;
        ok = planes && move_channels(&glare->head.part[parts], planes, from, img->plane[i], s, e);
        parts++;
    }
    if (ok) image_header_cut(&glare->head, parts);
    if (!ok) image_free(&glare);
    return glare;
}

bool emit_save(image *img, const settings *s, const char *path, par *threads, err *e) {
    image *glare = emit_take(img, s, e);
    bool ok = glare && image_save_parts(image_create(path, &glare->head, s->clobber, threads, e),
                                        glare, NULL, e);
    image_free(&glare);
    return ok;
}
