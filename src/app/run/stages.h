/* stages.h - what is done to pixels between the files and the bloom, as two lists of stages: types
 * of pixels and colour spaces. A stage has a header of what comes in, one of what goes out, and a
 * function that changes some rows of a part in place. Only colour and its alpha change. To add a
 * stage: a row in one of the two tables of stages.c. */
#pragma once

#include "app/run/run_choice.h"
#include "bloom/bloom.h"
#include "image/format.h"
#include "image/recode.h"
#include "image/rows.h"

typedef struct stages stages;
typedef struct stage stage;

/* What a stage does to a part. */
typedef struct {
    bool works; /* its rows change */
    recode how; /* of colours */
} stage_part;

/* A row of the tables. */
typedef struct {
    const char *name; /* for people: "decode colours" */
    /* Changes the header of a part, and says what happens to its rows. */
    bool (*head)(const stages *l, image_part *p, stage_part *to, err *e);
    /* Changes rows in place: their planes have room for the larger of both types. */
    bool (*rows)(stages *l, const stage *to, int part, const rows_band *b, err *e);
} stage_kind;

struct stage {
    const stage_kind *kind;
    image_header head; /* of what goes out */
    stage_part *part;
};

enum { STAGES = 2 };

/* A list. Stays where it is once it is open. */
struct stages {
    stage stage[STAGES];
    const image_header *head; /* of the last stage */
    const settings *s;
    par *threads;
    image_reader *from;  /* where rows of the way in come from; NULL: nothing more is read */
    double seconds;      /* that reading has taken */
    const rows_sink *to; /* on the way out: what the rows go to, */
    image_header *marks; /* and as bloom_rows has them */
    bool beyond;         /* rows had values beyond halfs, and their channels are marked */
    uint64_t clamped;    /* values beyond halfs that became the largest half, */
    text cut;            /* and the channels in which they were */
};

/* Open the list from a file to the bloom: --pixel-type float, --input-space; and that from the
 * bloom of such rows to the files: --output-space, --pixel-type half. The reader, and the way in,
 * must outlive them. Close also after a failure. */
bool stages_in_open(stages *l, image_reader *from, const settings *s, par *threads, err *e);
bool stages_out_open(stages *l, stages *in, const bloom *b, err *e);
void stages_close(stages *l);

/* Returns the header where channels are marked for another run of the way. */
static inline image_header *stages_marks(stages *in) {
    return &in->stage[STAGES - 1].head;
}

/* Returns whether rows of a part change, and adds the names of the stages that change anything. */
bool stages_change(const stages *l, int part);
void stages_words(const stages *l, text *to);
/* Returns the rows behind the way in, which are read from the file each time. */
rows_source stages_source(stages *l);
/* Reads the channels with wanted[part][channel]; NULL for a part: none; NULL: all. */
image *stages_load(stages *l, bool *const *wanted, err *e);
/* Returns the way out, through which rows go to a sink that knows the list's header. */
rows_sink stages_sink(stages *l, const rows_sink *to);
/* Gives an image that came through the list its header. */
void stages_give_head(stages *l, image *img);
/* Returns the space of the output; its curve is NULL where the colours stay as they are. */
colour_space colours_stored(const settings *s);

/* The layer that the glare is in where --emit-layer names none: it is in a file of its own only,
 * and there its channels have no layer before their names. */
#define EMIT_LAYER "fftbloom_emitted"
/* Returns the settings of the bloom between both stages. */
bloom_settings stages_bloom(const run_choice *r);
