#include "app/run/hints.h"

#include "base/log.h"
#include "image/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hints_kernel(const settings *s, const bloom *b, const char *kernel, const image_part *in) {
    const char *faults = bloom_kernel_faults(b);
    uint32_t size[2];
    int off[2];
    const bool larger = bloom_kernel_size(b, in, size) && size[0] > image_width(in) &&
                        size[1] > image_height(in);
    if (larger && s->bloom.kernel.size >= 5)
        log_say_once(LOG_WARN,
                     "--kernel-scale %g makes the kernel %u x %u, larger than the image; %g %% "
                     "would be %g",
                     s->bloom.kernel.size, size[0], size[1], s->bloom.kernel.size,
                     s->bloom.kernel.size / 100);
    if (larger && sscanf(faults, "off centre by %d, %d", &off[0], &off[1]) == 2 &&
        (abs(off[0]) > (int)size[0] / 8 || abs(off[1]) > (int)size[1] / 8))
        log_say_once(LOG_WARN,
                     "IN and KERNEL may be swapped: the kernel '%s' is larger than the image, and "
                     "%s",
                     kernel, faults);
    else
        hints_faults(kernel, faults);
}

void hints_faults(const char *kernel, const char *faults) {
    if (*faults)
        log_say_once(LOG_WARN, "kernel '%s': %s: fftbloom kernel check %s", kernel, faults, kernel);
}

/* Warns of data that --layers takes as light, and of a colour of which it takes a part: its
 * glare has another colour. */
static void warn_of_layers(const settings *s, const image_header *h) {
    text names = {0};
    for (int part = 0; s->bloom.layers && part < h->parts; part++) {
        const image_part *p = &h->part[part];
        layer_map taken = {0}, own = {0};
        bool ok = layer_map_make(&own, p, NULL, NULL, NULL) &&
                  layer_map_make(&taken, p, s->bloom.layers, s->bloom.exclude, NULL);
        for (int c = 0; ok && c < p->channels; c++)
            if (own.is_data[c] && !taken.is_data[c])
                text_add(&names, "%s%s", names.n ? ", " : "", p->channel[c].name);
        for (int i = 0; ok && i < own.groups; i++) {
            int some = 0;
            const layer_group *g = &own.group[i];
            for (int c = 0; c < g->channels; c++) some += !taken.is_data[g->channel[c]];
            if (some && some < g->channels)
                log_say_once(
                    LOG_WARN,
                    "--layers '%s' takes %d of the %d channels of the colour '%s': its glare "
                    "has another colour than its light",
                    s->bloom.layers, some, g->channels, *g->name ? g->name : "rgba");
        }
        layer_map_free(&taken);
        layer_map_free(&own);
    }
    if (names.n)
        log_say_once(
            LOG_WARN,
            "--layers '%s' takes data as light: %s; depth, ids and masks are wrong afterwards",
            s->bloom.layers, names.s);
    text_free(&names);
}

void hints_image(const settings *s, const image *img, light_told *told) {
    const char *mask = s->bloom.mask;
    if (mask && text_glob_any("Z,*.Z,ZBack,*.ZBack,depth*,*.depth*", mask))
        log_say_once(
            LOG_WARN,
            "--mask '%s' is a depth by its name, and a mask is 0 where light stays and 1 where "
            "it spreads: make a mask of it first",
            mask);
    warn_of_layers(s, &img->head);
    if (!s->input_space && strcmp(img->head.format, "png") != 0)
        light_notes_codes(img, s->bloom.layers, s->bloom.exclude, "give --input-space srgb", told);
}
