/* image.h - holds in memory what an image file holds.
 *
 * An image has one or more parts (only EXR has more than one). A part has channels with names and
 * pixel types, a data window that is stored, a display window that is shown, and the attributes of
 * its file as raw bytes. Samples keep the type that they have in the file. */
#pragma once

#include "base/err.h"
#include "colour/curve.h"
#include "colour/primaries.h"

/* The numbers of the EXR format. */
typedef enum { PIXEL_UINT = 0, PIXEL_HALF = 1, PIXEL_FLOAT = 2 } pixel_type;

typedef enum {
    COMPRESSION_NONE,
    COMPRESSION_RLE,
    COMPRESSION_ZIPS,
    COMPRESSION_ZIP,
    COMPRESSION_PIZ,
    COMPRESSION_PXR24,
    COMPRESSION_B44,
    COMPRESSION_B44A,
    COMPRESSION_DWAA,
    COMPRESSION_DWAB,
    COMPRESSIONS
} compression;

typedef enum { LINES_INCREASING, LINES_DECREASING, LINES_RANDOM } line_order;

/* A window, corners included, as EXR has it: one pixel has x0 == x1. */
typedef struct {
    int32_t x0, y0, x1, y1;
} image_box;

typedef struct {
    uint32_t left, top, right, bottom; /* pixels */
} image_margins;

/* The most pixels that a side of a window may have. Readers and image_set_window refuse more, so
 * the sizes of a window fit 32 bits, and the bytes of all its planes 64. */
enum { IMAGE_SIDE = 65536 };

typedef struct {
    char *name;
    pixel_type type;
    uint8_t linear; /* EXR's pLinear, kept */
    bool wide;      /* halfs do not hold its values, and --half-overflow float keeps them */
} image_channel;

/* One attribute as it stands in the file. */
typedef struct {
    char *name, *type;
    uint8_t *data;
    uint32_t bytes;
} image_attr;

typedef struct {
    char *name; /* NULL in a file of one part without a name */
    image_box data, display;
    float aspect;           /* width / height of a pixel */
    image_channel *channel; /* in the order of the file: EXR sorts by name */
    int channels;
    compression packing;
    line_order order;
    uint32_t tile_w, tile_h; /* 0: scan lines */
    bool mipmapped;          /* the file had more levels; only level 0 is read */
    image_attr *attr;        /* all attributes, those that the fields above repeat included */
    int attrs;
} image_part;

typedef struct {
    const char *format; /* "exr", "hdr", "pfm", "png": a name in the table of formats */
    image_part *part;
    int parts;
    uint64_t behind; /* bytes of the file behind the image; a reader sets it */
} image_header;

typedef struct {
    image_header head;
    /* plane[part][channel]: width * height samples, rows from the top, packed. plane[part] is NULL
     * for a part that was left in its file, plane[part][channel] for such a channel. */
    void ***plane;
} image;

static inline uint64_t image_box_width(const image_box *b) {
    return (uint64_t)((int64_t)b->x1 - b->x0 + 1);
}
static inline uint64_t image_box_height(const image_box *b) {
    return (uint64_t)((int64_t)b->y1 - b->y0 + 1);
}
size_t pixel_bytes(pixel_type t);
const char *pixel_name(pixel_type t);        /* "uint", "half", "float" */
const char *compression_name(compression c); /* "none", "rle", "zips", ... */
uint32_t image_width(const image_part *p);   /* of the data window: 1 to IMAGE_SIDE */
uint32_t image_height(const image_part *p);
uint64_t image_bytes(const image_part *p); /* of the planes of all channels */
/* Returns the bytes of the planes of those channels with wanted[channel]; NULL: all. */
uint64_t image_channel_bytes(const image_part *p, const bool *wanted);

/* Marks a channel as wide. Returns false where it was marked before. */
static inline bool image_widen(image_channel *c) {
    const bool was = c->wide;
    c->wide = true;
    return !was;
}

/* Return the index of a channel by its full name, or -1; an attribute, or NULL. */
int image_find_channel(const image_part *p, const char *name);
const image_attr *image_find_attr(const image_part *p, const char *name);
/* Writes an attribute that is a string into `to`, cut where there is no room and cleaned for people
 * (text_clean); "" where there is none. */
void image_attr_text(const image_part *p, const char *name, char *to, size_t room);
/* Replace or append an attribute, and one that is a string; copy the bytes. */
bool image_set_attr(image_part *p, const char *name, const char *type, const void *data,
                    uint32_t bytes, err *e);
bool image_set_text(image_part *p, const char *name, const char *value, err *e);
/* Appends without looking for the name: for readers, whose files may hold thousands. */
bool image_push_attr(image_part *p, const char *name, const char *type, const void *data,
                     uint32_t bytes, err *e);
/* Inserts a channel at its place in EXR's order. Fails when the name is there already. */
bool image_add_channel(image_part *p, const char *name, pixel_type t, err *e);
/* Rec.709, as in the attribute chromaticities: x and y of R G B and white. */
extern const float IMAGE_REC709[8];
bool image_set_primaries(image_part *p, const primaries *gamut, err *e);
/* Fills in the primaries that the part names: those of its colorInteropID, else of its attribute
 * chromaticities. Returns false, with Rec.709, where neither says any that can be used. */
bool image_primaries(const image_part *p, primaries *to);
/* Returns the curve by which the part's attributes say that its colours are coded, and the
 * attribute in *by; linear, and NULL there, where none says so or its words are not known. */
const curve *image_curve(const image_part *p, const image_attr **by);
/* Writes into the part's attributes that its colours are linear or coded by a curve, and in these
 * primaries; NULL: in those that it has. */
bool image_set_space(image_part *p, const curve *c, const primaries *gamut, err *e);
/* Fills in the weights of luminance Y: those of the part's primaries. */
void image_luminance(const image_part *p, double weight[3]);

/* Frees the parts from `count` on, which have no planes. */
void image_header_cut(image_header *h, int count);
bool image_header_copy(image_header *to, const image_header *from, err *e);
void image_header_free(image_header *h);
/* Makes an image with a copy of the header and planes of zeros. */
image *image_new(const image_header *h, err *e);
/* Makes one of zeros with its window at 0, 0: with one channel (Y), or with three (R, G, B), which
 * planes 2, 1 and 0 hold. */
image *image_plain(uint32_t w, uint32_t h, int channels, pixel_type type, err *e);
/* Does the same for a caller that fills the planes: they are not zeroed, and only channels with
 * wanted[part][channel] have one. NULL for a part: none of its channels; NULL for `wanted`: all. */
image *image_new_unset(const image_header *h, bool *const *wanted, err *e);
/* Moves the parts of an image behind those of another, and leaves it without any. */
bool image_take_part(image *to, image *from, err *e);
void image_free(image **img);

/* Convert n samples of a plane, from sample `first` on; uint is converted by value. */
void image_to_float(float *to, const void *plane, pixel_type t, size_t first, size_t n);
void image_from_float(void *plane, pixel_type t, size_t first, const float *from, size_t n);
/* Does so in half planes with 65504 in place of values beyond it, in `from` as well. */
void image_from_floats(void *plane, pixel_type t, size_t first, float *from, size_t n);
/* Converts n samples to another type, perhaps in place. Values beyond halfs become
 * the largest half. Returns their number. */
uint64_t image_convert(void *to, pixel_type becomes, const void *from, pixel_type type, size_t n);

/* Cuts all planes of a part to `box` and fills what lies outside its old window with zeros; a
 * channel may be without one. ERR_DATA if a side of `box` has more than IMAGE_SIDE pixels. */
bool image_set_window(image_part *p, void **planes, const image_box *box, err *e);
/* Copies the pixels that lie in both windows, with samples of `bytes` bytes. Both planes begin at
 * the corner of their window. */
void image_copy_box(void *to, const image_box *tb, const void *from, const image_box *fb,
                    size_t bytes);
/* Returns false, with ERR_DATA, if a side has no pixel or more than `most`. Windows of files may be
 * as far apart as 32 bits allow, so this comes before any width is computed. */
bool image_box_check(const image_box *box, const char *what, uint32_t most, err *e);
/* Return the smallest box that holds both, and whether `in` lies in `box`. */
image_box image_box_union(const image_box *a, const image_box *b);
bool image_box_holds(const image_box *box, const image_box *in);
/* Adds pixels on each side of `box`. ERR_CONFIG if a corner leaves the numbers of the format. */
bool image_box_grow(image_box *box, const image_margins *by, err *e);
