/* rowwise.h - makes a frame whose image does not fit into the memory: in rows, from file to file.
 *
 * It brings the rows of the input to bloom's tiles and theirs to the output, in the pixel types
 * that the options ask for. Channels of data go from file to file beside them, bit for bit. A
 * picture is developed as its rows come; where its exposure follows from the image, all is made
 * twice. */
#ifndef APP_ROWWISE_H
#define APP_ROWWISE_H

#include "app/run/picture_rows.h"
#include "bloom/bloom.h"

/* Return whether an image has to be made in this way: because its planes and what blooming takes do
 * not fit into the memory that is left, or no device can do the whole of it. The first function
 * answers for small images without the kernel: false is final. */
bool rowwise_may_be_needed(const output *o, const image_header *h);
bool rowwise_is_needed(const output *o, const image_header *h, const bloom *b);
/* Returns the bytes that the whole image would take, about. */
uint64_t rowwise_whole_bytes(const output *o, const image_header *h, const bloom *b);

typedef struct {
    const output *o;
    image_reader *from;
    const bloom *bloom;
    const char *glare;  /* a file for the glare alone (emit.h); NULL: none */
    const char *before; /* a picture of the image as it came; NULL: none */
} rowwise_job;

typedef struct {
    double load, save; /* seconds */
    uint64_t clamped;  /* values of channels that were not bloomed, but became halfs */
    /* Complete, but not committed; NULL where they are not wanted. */
    image_writer *file, *glare;
    picture_rows *picture, *before;
} rowwise_made;

/* Makes the result. The caller commits the files, or discards them, also after a failure. */
bool rowwise_commit(rowwise_made *r, err *e);
void rowwise_discard(rowwise_made *r);
bool rowwise_frame(rowwise_made *to, const rowwise_job *j, bloom_report *made, err *e);

/* Chooses the tiles of the first part with colour, as rowwise_frame would. */
bool rowwise_tiling(tiling *t, const output *o, image_reader *from, const bloom *b, err *e);

#endif
