#include "app/run/output.h"

#include "base/mem.h"
#include "base/path.h"
#include "image/layers.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

uint64_t output_stream_bytes(const output *o, const char *input, const image_header *h) {
    struct stat st;
    bool here = strncmp(input, "/proc/self/fd/", 14) == 0 && stat(input, &st) == 0;
    uint64_t bytes = here ? (uint64_t)st.st_size : 0;
    for (int i = 0; image_is_stream(o->path) && i < h->parts; i++)
        bytes += image_bytes(&h->part[i]);
    return bytes;
}

bool output_is_picture(const char *path) {
    return path_ends_in(path, "png") || strcmp(path, "png:-") == 0;
}

/* Decides which channels of a part are read. Data stays in the file where it takes more than the
 * colour beside it: it is unpacked once more when the result is written, which takes less time than
 * carrying it through memory. A few channels of data (depth) are not worth that. */
bool *output_channels(const output *o, const image_part *p, err *e) {
    bool *wanted = mem_new((size_t)p->channels, sizeof *wanted, "channels", e);
    layer_map m;
    if (!wanted || !layer_map_make(&m, p, o->s->bloom.layers, o->s->bloom.exclude, e)) {
        mem_free(wanted);
        return NULL;
    }
    bool picture = output_is_picture(o->path), colour = m.groups > 0;
    for (int i = 0; i < m.groups; i++) {
        const layer_group *g = &m.group[i];
        for (int c = 0; c < g->channels; c++) wanted[g->channel[c]] = true;
        if (g->alpha >= 0) wanted[g->alpha] = true;
    }
    /* Spaces change all layers of colour, and a mask may be any channel of any part. */
    bool changes = o->s->input_space || o->s->output_space || o->s->bloom.mask ||
                   o->s->bloom.per_layer;
    bool all = picture || changes ||
               (colour && (o->s->bloom.window != WINDOW_KEEP ||
                           image_bytes(p) <= 2 * image_channel_bytes(p, wanted)));
    for (int c = 0; all && c < p->channels; c++) wanted[c] = true;
    layer_map_free(&m);
    return wanted;
}
