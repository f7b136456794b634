#include "app/run/emit.h"

#include "base/mem.h"

#include <string.h>

const char *emit_name(const image_channel *c, const settings *s) {
    const char *layer = s->bloom.emit_layer ? s->bloom.emit_layer : EMIT_LAYER;
    size_t n = strlen(layer);
    if (strncmp(c->name, layer, n) != 0 || c->name[n] != '.') return NULL;
    return s->bloom.emit_layer ? c->name : c->name + n + 1;
}

/* Keeps the channels of a part that are emitted, by their names in the glare's file, or the others.
 */
static bool keep_channels(image_part *p, bool emitted, const settings *s, err *e) {
    int kept = 0;
    for (int c = 0; c < p->channels; c++) {
        const char *name = emit_name(&p->channel[c], s);
        char *made = name && emitted ? mem_str(name, e) : NULL;
        if (name && emitted && !made) return false;
        image_channel is = p->channel[c];
        if (made) {
            mem_free(is.name);
            is.name = made;
        }
        p->channel[c] = p->channel[kept];
        p->channel[kept] = is;
        kept += (name != NULL) == emitted;
    }
    for (int c = kept; c < p->channels; c++) mem_free(p->channel[c].name);
    p->channels = kept;
    return true;
}

static bool has_glare(const image_part *p, const settings *s) {
    for (int c = 0; c < p->channels; c++)
        if (emit_name(&p->channel[c], s)) return true;
    return false;
}

bool emit_split(image_header *own, image_header *apart, const settings *s, err *e) {
    if (!image_header_copy(apart, own, e)) return false;
    int parts = 0;
    bool ok = true;
    for (int i = 0; i < own->parts; i++) {
        if (!has_glare(&own->part[i], s)) continue;
        image_part is = apart->part[i]; /* one without glare goes to the end, where it is dropped */
        apart->part[i] = apart->part[parts];
        apart->part[parts++] = is;
    }
    for (int i = 0; ok && i < parts; i++) ok = keep_channels(&apart->part[i], true, s, e);
    for (int i = 0; ok && i < own->parts; i++) ok = keep_channels(&own->part[i], false, s, e);
    image_header_cut(apart, parts);
    return ok;
}
