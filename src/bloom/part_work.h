/* part_work.h - the values that a part is bloomed with, for the files of part.h. */
#pragma once

#include "bloom/mask.h"
#include "bloom/part.h"
#include "image/repair.h"

/* --- the plan: part_plan.c decides all that follows from header and settings ------------------ */

/* A channel that is bloomed. */
typedef struct {
    int index;          /* in the part */
    pixel_type type;    /* of the part, */
    pixel_type becomes; /* and of the result, unless its values are too large for it */
} part_channel;

/* Channels that are bloomed together. */
typedef struct {
    const layer_group *group;
    layer_light light;
    mask_place mask;       /* where light.mask says so */
    uint32_t first, count; /* of the list of channels */
    image_header head;     /* of a tile, but for its window: one part, with these channels alone */
    bool coded;            /* the file codes its colours, by part_plan.code, */
    int alpha;             /* and divides them by this channel of the part before; -1: by none */
} part_group;

/* Const once it is made. */
typedef struct {
    const part_job *j;
    const image_part *p;
    uint32_t w, h;
    layer_map m;
    part_channel *channel;
    uint32_t channels;
    part_group *group;   /* m.groups of them */
    image_header result; /* of what is made: one part */
    recode code;         /* what the file does to colours, where pixels are verified */
} part_plan;

/* Returns the name of a channel of the list. */
static inline const char *part_name(const part_plan *p, uint32_t c) {
    return p->p->channel[p->channel[c].index].name;
}
/* The caller frees the plan, also after a failure. */
bool part_plan_make(part_plan *to, const part_job *j, err *e);
void part_plan_free(part_plan *p);

/* Return what a group needs of the kernel for the whole part, and make that psf. */
kernel_need part_need(const part_job *j, uint32_t channels, double sharpen);
bool part_psf(psf *k, const part_job *j, const kernel_need *need, double *full, err *e);
/* Returns the view of a group of the part, in an image with the header of its tiles. */
view part_view(const part_plan *p, const part_group *g, image *img, const float *mask);
/* Says where the samples of a tile are, for the weights of a field: the first one's place in the
 * part, and how many of them count. */
void part_place(field_frame *f, const part_plan *p, const tiling *t, const int64_t first[PLAN_AXES],
                const uint32_t kept[PLAN_AXES]);
/* Returns whether there is one tile: the part as it is. */
static inline bool part_is_whole(const tiling *t) {
    return !t->cut[PLAN_X] && !t->cut[PLAN_Y];
}

/* --- tiles, and the account of what they take: part_memory.c ---------------------------------- */

static inline tiling part_one_tile(const part_plan *p) {
    const uint32_t w = p->w, h = p->h;
    return (tiling){
        .size = {w, h}, .tile = {w, h}, .kept = {w, h}, .count = {1, 1}, .channels = p->channels};
}
/* Chooses tiles, of at most that many pixels (0: any number), for the memory that is left beside
 * what else is needed, and accounts for all. */
bool part_tiles(tiling *t, mem_plan *memory, const part_plan *p, double most, err *e);

/* --- rows that tiles need: part_held.c -------------------------------------------------------- */

typedef struct part_measured part_measured;

/* Rows of all channels, and of the masks, in rings. */
typedef struct {
    const part_plan *p;
    const part_measured *seen; /* bad pixels become what this says; NULL: they stay */
    uint32_t room;             /* rows in a ring */
    void **plane;              /* of each channel of the list */
    float **mask;              /* of each group; NULL: it has none */
    int64_t from, to;          /* rows that are held, as part_held_row counts them */
} part_held;

/* Makes room for `rows` rows. whole: for all rows of the part, and takes planes that are lent. */
bool part_held_open(part_held *h, const part_plan *p, uint32_t rows, bool whole, err *e);
void part_held_free(part_held *h);
/* Sees to it that these rows are held, or what the border shows there. */
bool part_hold(part_held *h, int64_t from, int64_t to, err *e);
/* Returns the row that is seen at this place, which may be behind the border; PART_DARK: zeros.
 * Where the part wraps around, that is the place itself. */
#define PART_DARK INT64_MIN
int64_t part_held_row(const part_held *h, int64_t row);
/* Returns in which row of a ring a row is held. */
static inline size_t part_row(const part_held *h, int64_t row) {
    return (size_t)(((row % h->room) + h->room) % h->room);
}

/* --- what is measured: part_measure.c --------------------------------------------------------- */

struct part_measured {
    int groups;        /* those of the part; the first one to predict */
    scan *group;       /* of each, once bad pixels are mended; of rows that are held */
    ledger_row *row;   /* of each channel of the list: all but what is made of the light */
    double *dark;      /* accuracy_dark of each */
    repairs *repairs;  /* of each of a part that is read; bad pixels without one become 0 */
    uint32_t channels; /* of the list */
    bool mended;       /* there are some */
    bool hidden;       /* there are bad pixels that stay, since a mask is 0 there */
    uint64_t bad;      /* the others as they came, and the first of them */
    bloom_bad first[SCAN_BAD];
};

/* Measures a part, once more where it finds bad pixels for which neighbours are to stand in.
 * Refuses these where they are an error. held: all rows, which are mended; the ledger's `gained`
 * and `spilled` are left to who blooms them. NULL: the part is read. The caller frees the result,
 * also after a failure. */
bool part_measure(part_measured *to, const part_plan *p, const part_held *held, err *e);
void part_measured_free(part_measured *m);
/* Mends bad pixels in rows of a channel, but for those that stay since a mask is 0 there. */
void part_mend(const part_measured *m, const part_plan *p, uint32_t channel, void *plane,
               const float *mask, uint32_t row, uint32_t rows);

/* --- tiles: part_tile.c ----------------------------------------------------------------------- */

/* Rows of the result. */
typedef struct {
    uint32_t y, rows;
    void **plane, **glare; /* of each channel of the list; glare: NULL where it is not wanted */
    pixel_type *type;      /* of each */
} part_rows;

typedef struct {
    const part_plan *p;
    const tiling *t;
    const bloom_settings *s; /* of the tiles */
    session *session;        /* of the tiles */
    buffers *buf;
    part_held *held;
    const part_measured *seen;
    uint32_t group, x; /* the tile's kept pixels begin at x and out->y */
    sampler *sampler;
} part_tile;

/* Blooms a tile, and puts what counts of it into the rows. */
bool part_tile_bloom(group_made *made, const part_tile *t, part_rows *out, err *e);

/* --- verifying: part_verify.c ----------------------------------------------------------------- */

/* Adds all pixels of a group, once bad ones are mended. cpu: the CPU has bloomed them. */
bool part_verify_came(sampler *s, const part_plan *p, uint32_t group, void *const came[],
                      const float *mask, bool cpu, err *e);
/* Reads the alphas by which the colours are coded, before a part that is held is handed on. */
bool part_verify_alphas(sampler *s, const part_plan *p, err *e);
/* Judges the pixels. read: their light and alphas were not added yet; the part is read once more.
 * type: of each channel of the list. */
bool part_verify(bloom_verified *to, sampler *s, const part_plan *p, bool read,
                 const pixel_type *type, const part_measured *seen, err *e);
