/* row_files.h - an image in memory that is read and written as a file of rows, for tests of parts
 * that are cut into tiles. */
#ifndef UNIT_ROW_FILES_H
#define UNIT_ROW_FILES_H

#include "image/rows.h"
#include "unit/check.h"
#include "unit/make_image.h"

typedef struct {
    const image *in;
    image *out;
    uint32_t step, next; /* the row to be written next; with lines from the last one up: the end */
    bool upwards;
    /* A row that reading gets wrong: once `right` rows have been read, and until rows are written.
     */
    uint32_t wrong, right, rows;
} row_files;

static inline bool row_files_read(void *ctx, int part, uint32_t row, uint32_t rows,
                                  void *const plane[], err *e) {
    row_files *f = ctx;
    const image_part *p = &f->in->head.part[part];
    size_t w = image_width(p);
    (void)e;
    assert_true(rows > 0 && row + rows <= image_height(p));
    for (int c = 0; c < p->channels; c++) {
        size_t bytes = w * pixel_bytes(p->channel[c].type);
        if (!plane[c]) continue;
        memcpy(plane[c], (const uint8_t *)f->in->plane[part][c] + row * bytes, rows * bytes);
        if (f->right && f->rows >= f->right && f->wrong >= row && f->wrong < row + rows)
            memset((uint8_t *)plane[c] + (f->wrong - row) * bytes, 0, bytes);
    }
    f->rows += rows;
    return true;
}

static inline uint32_t row_files_step(void *ctx, int part) {
    (void)part;
    return ((const row_files *)ctx)->step;
}

static inline bool row_files_write(void *ctx, int part, const rows_band *b, err *e) {
    row_files *f = ctx;
    const image_part *p = &f->out->head.part[part];
    size_t w = image_width(p);
    (void)e;
    f->right = 0;
    assert_true(b->row % f->step == 0);
    assert_true((b->row + b->rows) % f->step == 0 || b->row + b->rows == image_height(p));
    assert_int_equal(f->upwards ? b->row + b->rows : b->row, f->next);
    f->next = f->upwards ? b->row : b->row + b->rows;
    assert_int_equal(b->part->channels, p->channels);
    for (int c = 0; c < p->channels; c++) {
        size_t bytes = w * pixel_bytes(p->channel[c].type);
        assert_string_equal(b->part->channel[c].name, p->channel[c].name);
        assert_int_equal(b->part->channel[c].type, p->channel[c].type);
        memcpy((uint8_t *)f->out->plane[part][c] + b->row * bytes, b->plane[c], b->rows * bytes);
    }
    return true;
}

/* The part of a job that reads, and the one that writes; fill in f->in, f->out and f->step. */
static inline rows_source row_files_source(row_files *f) {
    return (rows_source){.ctx = f, .head = &f->in->head, .read = row_files_read};
}
static inline rows_sink row_files_sink(row_files *f) {
    return (rows_sink){.ctx = f, .step = row_files_step, .write = row_files_write};
}

#endif
