/* lab_table.c - a row as words in columns, or as JSON. Each benchmark has some columns of one
 * list. */
#include "lab/lab_bench.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum {
    NAME,    /* a word */
    COUNT,   /* a whole number */
    SECONDS, /* with nine decimals */
    SPREAD,  /* of seconds; words show the median */
    REAL     /* with three digits */
} column_type;

typedef struct {
    uint32_t of;     /* lab_kind: the benchmarks that have it */
    const char *key; /* of JSON, "a.b" for member b of an object a; NULL: words alone */
    column_type type;
    size_t at;        /* in the row */
    const char *head; /* of words; NULL: not among them */
    int width,
        digits;  /* of words; a width below 0 is to the left, digits below 0 are those of %g */
    double unit; /* that words count in */
} column;

/* clang-format off */
#define AT(member) offsetof(lab_row, member)
#define WAY(key, i) \
    {LAB_FFT, key ".seconds", SPREAD, AT(part[i].seconds), key " ms", 11, 4, 1e-3}, \
    {LAB_FFT, key ".worst", REAL, AT(part[i].worst), NULL, 0, 0, 1}, \
    {LAB_FFT, key ".rms", REAL, AT(part[i].rms), NULL, 0, 0, 1}
#define PASS(key, i) \
    {LAB_BLOOM, key ".bytes", COUNT, AT(part[i].bytes), NULL, 0, 0, 1}, \
    {LAB_BLOOM, key ".copy", SECONDS, AT(part[i].copy), NULL, 0, 0, 1}, \
    {LAB_BLOOM, key ".seconds", SPREAD, AT(part[i].seconds), key " us", 11, 1, 1e-6}
enum { ALL = LAB_FFT | LAB_SEA | LAB_BLOOM };

static const column COLUMN[] = {
    {LAB_FFT | LAB_SEA, "size", COUNT, AT(size), "n", 5, 0, 1},
    {LAB_FFT | LAB_SEA, "algorithm", NAME, AT(name), "algorithm", -21, 0, 1},
    {LAB_BLOOM, "bloom", NAME, AT(name), "bloom", -8, 0, 1},
    {LAB_FFT, "about", NAME, AT(about), NULL, 0, 0, 1},
    {ALL, "device", NAME, AT(device), NULL, 0, 0, 1},
    {LAB_BLOOM, "width", COUNT, AT(size[0]), "width", 5, 0, 1},
    {LAB_BLOOM, "height", COUNT, AT(size[1]), "height", 6, 0, 1},
    {LAB_BLOOM, "kernel", COUNT, AT(kernel), "kernel", 6, 0, 1},
    {ALL, "rounds", COUNT, AT(rounds), NULL, 0, 0, 1},
    {LAB_BLOOM, "queue", COUNT, AT(queue), NULL, 0, 0, 1},
    {LAB_BLOOM, "first", NAME, AT(first), "first", 5, 0, 1},
    {LAB_BLOOM, "length_1", COUNT, AT(length[0]), "lengths", 7, 0, 1},
    {LAB_BLOOM, "length_2", COUNT, AT(length[1]), "", 5, 0, 1},
    WAY("forward", LAB_FORWARD),
    WAY("inverse", LAB_BACKWARD),
    PASS("forward", 0),
    PASS("convolve", 1),
    PASS("inverse", 2),
    {LAB_SEA, "frames_per_second", REAL, AT(per_second), "frames/s", 10, 0, 1},
    {LAB_SEA, "frame", SPREAD, AT(all.seconds), "frame ms", 10, 4, 1e-3},
    {LAB_BLOOM, "frame", SPREAD, AT(all.seconds), "frame us", 9, 1, 1e-6},
    {ALL, "bytes", COUNT, AT(all.bytes), "MB moved", 9, 2, 1e6},
    {LAB_FFT | LAB_BLOOM, "copy", SECONDS, AT(all.copy), NULL, 0, 0, 1},
    {LAB_FFT | LAB_BLOOM, NULL, REAL, AT(copies), "copies", 6, 2, 1},
    {LAB_FFT, "dispatches", COUNT, AT(dispatches), "disp.", 6, 0, 1},
    {LAB_FFT, "barriers", COUNT, AT(barriers), "barriers", 8, 0, 1},
    {LAB_FFT, "shared", COUNT, AT(shared), "KB sh.", 7, 1, 1024},
    {LAB_BLOOM, "pixels", COUNT, AT(pixels), NULL, 0, 0, 1},
    {LAB_FFT, NULL, REAL, AT(all.worst), "worst", 8, -1, 1},
    {LAB_FFT, NULL, REAL, AT(all.rms), "rms", 8, -1, 1},
    {LAB_SEA | LAB_BLOOM, "worst", REAL, AT(all.worst), "worst", 9, -1, 1},
    {LAB_SEA | LAB_BLOOM, "rms", REAL, AT(all.rms), "rms", 9, -1, 1},
};
/* clang-format on */
enum { COLUMNS = sizeof COLUMN / sizeof COLUMN[0] };

/* Adds the row, or without one the names of the columns. */
static void add_words(lab_bench *b, const lab_row *row) {
    const char *between = "";
    for (const column *c = COLUMN; c < COLUMN + COLUMNS; c++) {
        if (!(c->of & b->r->kind) || !c->head) continue;
        const void *at = (const char *)row + c->at;
        const char *word = !row ? c->head : c->type == NAME ? *(const char *const *)at : NULL;
        double number = word ? 0 : *(const double *)at;
        if (!word && c->type == SPREAD) number = ((const measure_spread *)at)->median;
        text_add(b->to, "%s", between);
        if (word || isnan(number))
            text_add(b->to, "%*s", c->width, word ? word : "-");
        else if (c->digits < 0)
            text_add(b->to, "%*.2g", c->width, number / c->unit);
        else
            text_add(b->to, "%*.*f", c->width, c->digits, number / c->unit);
        between = " ";
    }
    text_add(b->to, "\n");
}

static void add_value(json_out *j, const char *key, column_type type, const void *at) {
    const measure_spread *s = at;
    double number = type == NAME ? 0 : *(const double *)at;
    if (isnan(number)) return;
    switch (type) {
    case NAME: json_string(j, key, *(const char *const *)at); break;
    case COUNT: json_uint(j, key, (uint64_t)number); break;
    case SECONDS: json_fixed(j, key, 9, number); break;
    case REAL: json_real(j, key, 3, number); break;
    case SPREAD:
        json_object(j, key);
        json_fixed(j, "median", 9, s->median);
        json_fixed(j, "least", 9, s->least);
        json_fixed(j, "low", 9, s->low);
        json_fixed(j, "high", 9, s->high);
        json_close(j);
    }
}

/* Opens and closes the objects that keys name before their point. */
static void add_json(lab_bench *b, const lab_row *row) {
    char open[32] = "";
    json_out *j = &b->json;
    json_block(j, NULL);
    for (const column *c = COLUMN; c < COLUMN + COLUMNS; c++) {
        if (!(c->of & b->r->kind) || !c->key) continue;
        const char *point = strchr(c->key, '.');
        size_t n = point ? (size_t)(point - c->key) : 0;
        if (n != strlen(open) || strncmp(open, c->key, n) != 0) {
            if (*open) json_close(j);
            memcpy(open, c->key, n);
            open[n] = 0;
            if (n) json_object(j, open);
        }
        add_value(j, point ? point + 1 : c->key, c->type, (const char *)row + c->at);
    }
    if (*open) json_close(j);
    json_close(j);
}

void lab_add_row(lab_bench *b, const lab_row *row) {
    if (!b->r->json && !b->rows) add_words(b, NULL);
    (b->r->json ? add_json : add_words)(b, row);
    if (b->rows < LAB_ROWS) b->row[b->rows++] = *row;
}
