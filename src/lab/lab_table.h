/* lab_table.h - the rows of a benchmark, as words in columns or as JSON. What a row has is
 * data: a list of columns. */
#ifndef LAB_LAB_TABLE_H
#define LAB_LAB_TABLE_H

#include "base/json_out.h"
#include "device/device_measure.h"

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
    const char *head; /* of words; NULL: not among them */
    int width,
        digits;  /* of words; a width below 0 is to the left, digits below 0 are those of %g */
    double unit; /* that words count in */
} lab_column;

/* A value of a row; NULL, and a number that is NaN, are left out. */
typedef union {
    const char *word;
    double number;
    const measure_spread *spread;
} lab_cell;
#define LAB_W(w) ((lab_cell){.word = (w)})
#define LAB_N(n) ((lab_cell){.number = (double)(n)})
#define LAB_S(s) ((lab_cell){.spread = (s)})

typedef struct {
    const lab_column *column;
    int columns;
    text *to;
    json_out *json; /* NULL: words; else an array that is open, or is opened by lab_table_begin */
    bool begun;     /* the names of the columns are there */
} lab_table;

/* Adds a row, and in words the names of the columns before the first one. */
void lab_table_row(lab_table *t, const lab_cell *cell);

/* Begin a document with such a table, in words with a line before it, and end it. */
void lab_table_begin(lab_table *t, const char *title);
void lab_table_end(lab_table *t);

#endif
