/* lab_table.h - what the benchmarks of the lab measure, and how it is shown: as words in columns
 * or as JSON. Each benchmark is a list of columns over the same row. */
#ifndef LAB_LAB_TABLE_H
#define LAB_LAB_TABLE_H

#include "base/json_out.h"
#include "device/device_measure.h"
#include "lab/lab.h"

/* A transform, a pass, or all of them. Errors are relative to the root mean square of what the
 * numbers should be. */
typedef struct {
    measure_spread seconds;
    double worst, rms;
    double bytes; /* read and written */
    double copy;  /* seconds in which plain copies move as many bytes */
} lab_part;

enum { LAB_PARTS = 3 };

/* Numbers that do not exist are NaN. */
typedef struct {
    const lab_transform *t; /* NULL: of a bloom */
    const char *name, *about, *device, *first;
    double size[2], length[2], kernel, rounds, queue, pixels;
    lab_part part[LAB_PARTS]; /* forward and inverse; of a bloom its three passes */
    lab_part all;             /* both transforms, the bloom, or a frame of the sea */
    double copies;            /* all.seconds in units of all.copy */
    double per_second, dispatches, barriers, shared;
} lab_row;

typedef enum {
    LAB_NAME,    /* a word */
    LAB_COUNT,   /* a whole number */
    LAB_SECONDS, /* with nine decimals */
    LAB_SPREAD,  /* of seconds; words show the median */
    LAB_REAL     /* with three digits */
} lab_kind;

typedef struct {
    const char *key; /* of JSON, "a.b" for member b of an object a; NULL: words alone */
    lab_kind kind;
    size_t at;        /* in the row */
    const char *head; /* of words; NULL: not among them */
    int width,
        digits;  /* of words; a width below 0 is to the left, digits below 0 are those of %g */
    double unit; /* that words count in */
} lab_column;

/* The columns of each benchmark; one without key and head ends them. */
extern const lab_column LAB_FFT_COLUMN[], LAB_OCEAN_COLUMN[], LAB_ARTICLE_COLUMN[];

typedef struct {
    const lab_column *column;
    text *to;
    json_out *json; /* NULL: words; else an array that is open, or is opened by lab_table_begin */
    bool begun;     /* the names of the columns are there */
} lab_table;

/* Adds a row, and in words the names of the columns before the first one. */
void lab_table_row(lab_table *t, const lab_row *row);

/* Begin a document with such a table, in words with a line before it, and end it. */
void lab_table_begin(lab_table *t, const char *title);
void lab_table_end(lab_table *t);

#endif
