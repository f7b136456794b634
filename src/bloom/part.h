/* part.h - one part of an image, bloomed band by band, tile by tile.
 *
 * A part that fits is one band with one tile, whose planes are the image's own. A larger one is cut
 * (math/tiling.h), and read twice: first it is measured, as the median of all pixels decides how
 * dark a pixel must be before nothing is promised for it; then rows of tiles go through
 * group_bloom, each tile as an image of its own. In memory are the rows that one row of tiles reads
 * and makes, and one tile. If pixels are to be verified, it is read a third time. */
#pragma once

#include "base/mem.h"
#include "bloom/group.h"
#include "image/rows.h"

typedef struct {
    const bloom_settings *s;
    par *threads;
    session *session; /* of whole images; NULL: for an account without a kernel */
    int part;
    uint32_t height; /* of the part as it came: kernels may be sized by it */
    image_box came;  /* the window of its pixels; beyond, in the window of `in`, is black */
    const rows_source *in;
    const rows_sink *out;
    mem_plan beside;         /* what reading and writing take at the most */
    image_part *marks;       /* as bloom_rows has them, of this part; or NULL */
    const rows_source *mask; /* as bloom_rows has it */
    bool predict;            /* the first group is looked at, and nothing is made */
    /* Of each channel of the part, as bloom_rows has them; or NULL. */
    double *const *doubles;
    double *const *bounds;
    const float *const *lost;
    double digits;     /* as bloom_rows has it */
    const tiling *cut; /* the tiles, for tests; NULL: those that fit are chosen. A part that is lent
                          has one */
} part_job;

/* Chooses the tiles of a part with colour, and accounts for all that it takes. */
bool part_choose(tiling *t, mem_plan *memory, const part_job *j, err *e);
/* Finds what the first group of a part with colour needs of the kernel, and its planes. */
bool part_first_need(kernel_need *need, plan_planes *planes, const part_job *j, err *e);

/* What blooming a part has come to. */
typedef struct part_made {
    group_made *group; /* of each of its groups, if it is done */
    int groups;
    bool done;
    bloom_account sum; /* beside those of the groups */
} part_made;

/* Blooms the part. The caller frees what was made, also after a failure. */
bool part_bloom(part_made *to, const part_job *j, err *e);
void part_made_free(part_made *m);

/* Changes the header of a part to that of its result: types of pixels, and added channels. */
bool part_header(image_part *p, const bloom_settings *s, err *e);
