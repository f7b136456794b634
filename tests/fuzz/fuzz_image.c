/* fuzz_image.c - any bytes as an image file: read all of it, classify its layers, show its
 * attributes. The format follows from the bytes, so one target does for all of them.
 *
 * `make fuzz` builds it with libFuzzer; tests/unit/test_corpus.c runs the corpus through it. */
#include "fuzz/fuzz.h"
#include "image/exr/exr_file.h"
#include "image/format.h"
#include "image/layers.h"

static void show(const image_header *h) {
    for (int i = 0; i < h->parts; i++) {
        err e = {0};
        layer_map m;
        if (layer_map_make(&m, &h->part[i], NULL, NULL, &e)) layer_map_free(&m);
        for (int a = 0; a < h->part[i].attrs; a++) {
            text t = {0};
            exr_attr_text(&h->part[i].attr[a], 40, &t);
            exr_attr_json(&h->part[i].attr[a], &t);
            text_free(&t);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static par *one;
    err e = {0};
    if (!one) one = par_open(1, &e);
    if (!one) abort();
    image_limits limits = {.samples = 1 << 18, .side = 4096, .channels = 64, .parts = 16};
    image *img = image_load(fuzz_file(data, n), &limits, one, &e);
    if (img) show(&img->head);
    if (!img && e.code == ERR_INTERNAL) abort();
    image_free(&img);
    return 0;
}
