/* make_image.h - images made up for tests, and comparisons of them. */
#ifndef UNIT_MAKE_IMAGE_H
#define UNIT_MAKE_IMAGE_H

#include "base/par.h"
#include "image/format.h"

/* A reproducible stream of numbers (splitmix64). */
uint64_t make_random(uint64_t *state);
/* The next of it in [0, 1). */
double make_chance(uint64_t *state);
/* And a whole number below n. */
uint32_t make_below(uint64_t *state, uint32_t n);

/* One part. `channels` is a list such as "R:half G:half Z:float id:uint". */
typedef struct {
    const char *channels, *name;
    int32_t x0, y0;
    uint32_t width, height;
    compression packing;
    line_order order;
    uint32_t tile_w, tile_h;
} make_part;

/* A part by its list, left, top, width and height, and then fields by their names. */
#define PART(list, left, top, w, h, ...) \
    { .channels = (list), .x0 = (left), .y0 = (top), .width = (w), .height = (h), __VA_ARGS__ }

/* An image of these parts, its planes filled with smooth shapes with highlights and some noise. */
image *make_image(const make_part part[], int parts);
/* The same of one, whose arguments are those of PART. */
#define MAKE(...) make_image(&(const make_part)PART(__VA_ARGS__), 1)
/* One part with these channels, all of them 0. */
image *make_blank(const char *channels, int32_t left, int32_t top, uint32_t w, uint32_t h);
/* Every bit of every sample by chance: NaNs with payloads, infinities, denormals. */
void make_noise(image *img, uint64_t seed);

/* A file of this name in the test's own folder; the text lives until the tenth call after. */
const char *make_path(const char *name);
/* The same, made with this content (of n bytes, or a text), and the folders that it is in. */
const char *make_file(const char *name, const void *bytes, size_t n);
const char *make_text(const char *name, const char *content);
/* A folder of this name there, made; the same. */
const char *make_folder(const char *name);
/* Of the shared samples, or NULL where they are not. */
const char *make_shared(const char *name);

/* A pool of three threads for the whole program, so that work is shared out even where the
 * machine has one processor. */
par *make_threads(void);

/* All samples of all parts, bit by bit; says where the first difference is. */
void check_same_pixels(const image *a, const image *b);
/* A whole file against bytes that another has. */
void check_same_file(const char *a, const char *b);

#endif
