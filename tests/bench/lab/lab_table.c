/* lab_table.c - a row as words in columns, or as JSON. Each benchmark has some columns of one
 * list. */
#include "lab/lab_bench.h"

#include <math.h>
#include <stddef.h>

typedef enum {
    NAME,   /* a word */
    COUNT,  /* a whole number */
    SPREAD, /* of seconds; words show the median */
    RATE,   /* of seconds: how often their median fits into one */
    REAL    /* with three digits */
} column_type;

typedef struct {
    uint32_t of;     /* lab_kind: the benchmarks that have it */
    const char *key; /* of JSON */
    column_type type;
    size_t at;        /* in the row */
    const char *head; /* of words; NULL: not among them */
    int width,
        digits;  /* of words; a width below 0 is to the left, digits below 0 are those of %g */
    double unit; /* that words count in */
} column;

/* clang-format off */
#define AT(member) offsetof(lab_row, member)

static const column COLUMN[] = {
    {LAB_FFT | LAB_SEA, "size", COUNT, AT(size), "n", 5, 0, 1},
    {LAB_FFT | LAB_SEA, "algorithm", NAME, AT(name), "algorithm", -21, 0, 1},
    {LAB_BLOOM, "bloom", NAME, AT(name), "bloom", -8, 0, 1},
    {LAB_FFT, "about", NAME, AT(about), NULL, 0, 0, 1},
    {LAB_ALL, "device", NAME, AT(device), NULL, 0, 0, 1},
    {LAB_BLOOM, "width", COUNT, AT(size[0]), "width", 5, 0, 1},
    {LAB_BLOOM, "height", COUNT, AT(size[1]), "height", 6, 0, 1},
    {LAB_BLOOM, "kernel", COUNT, AT(kernel), "kernel", 6, 0, 1},
    {LAB_ALL, "rounds", COUNT, AT(rounds), NULL, 0, 0, 1},
    {LAB_BLOOM, "queue", COUNT, AT(queue), NULL, 0, 0, 1},
    {LAB_BLOOM, "first", NAME, AT(first), "first", 5, 0, 1},
    {LAB_BLOOM, "length_1", COUNT, AT(length[0]), "lengths", 7, 0, 1},
    {LAB_BLOOM, "length_2", COUNT, AT(length[1]), "", 5, 0, 1},
    {LAB_FFT | LAB_BLOOM, "forward", SPREAD, AT(part[0]), "forward us", 11, 1, 1e-6},
    {LAB_BLOOM, "convolve", SPREAD, AT(part[1]), "convolve us", 11, 1, 1e-6},
    {LAB_FFT | LAB_BLOOM, "inverse", SPREAD, AT(part[2]), "inverse us", 11, 1, 1e-6},
    {LAB_SEA, "frames_per_second", RATE, AT(seconds), "frames/s", 10, 0, 1},
    {LAB_SEA | LAB_BLOOM, "frame", SPREAD, AT(seconds), "frame us", 9, 1, 1e-6},
    {LAB_ALL, "bytes", COUNT, AT(bytes), "MB moved", 9, 2, 1e6},
    {LAB_ALL, "copies", REAL, AT(copies), "copies", 6, 2, 1},
    {LAB_FFT, "dispatches", COUNT, AT(dispatches), "disp.", 6, 0, 1},
    {LAB_FFT, "barriers", COUNT, AT(barriers), "barriers", 8, 0, 1},
    {LAB_FFT, "shared", COUNT, AT(shared), "KB sh.", 7, 1, 1024},
    {LAB_BLOOM, "pixels", COUNT, AT(pixels), NULL, 0, 0, 1},
    {LAB_ALL, "worst", REAL, AT(worst), "worst", 9, -1, 1},
    {LAB_ALL, "rms", REAL, AT(rms), "rms", 9, -1, 1},
};
/* clang-format on */
enum { COLUMNS = sizeof COLUMN / sizeof COLUMN[0] };

static double number_of(const column *c, const lab_row *row) {
    const void *at = (const char *)row + c->at;
    if (c->type == SPREAD) return ((const measure_spread *)at)->median;
    if (c->type == RATE) return 1 / fmax(((const measure_spread *)at)->median, 1e-12);
    return c->type == NAME ? 0 : *(const double *)at;
}

static const char *word_of(const column *c, const lab_row *row) {
    return *(const char *const *)(const void *)((const char *)row + c->at);
}

/* Adds the row, or without one the names of the columns. */
static void add_words(lab_bench *b, const lab_row *row) {
    const char *between = "";
    for (const column *c = COLUMN; c < COLUMN + COLUMNS; c++) {
        if (!(c->of & b->r->kind) || !c->head) continue;
        const char *word = !row ? c->head : c->type == NAME ? word_of(c, row) : NULL;
        double number = word ? 0 : number_of(c, row);
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

static void add_json(lab_bench *b, const lab_row *row) {
    json_out *j = &b->json;
    json_block(j, NULL);
    for (const column *c = COLUMN; c < COLUMN + COLUMNS; c++) {
        const measure_spread *s = (const void *)((const char *)row + c->at);
        if (!(c->of & b->r->kind) || isnan(number_of(c, row))) continue;
        switch (c->type) {
        case NAME: json_string(j, c->key, word_of(c, row)); break;
        case COUNT: json_uint(j, c->key, (uint64_t)number_of(c, row)); break;
        case SPREAD:
            json_object(j, c->key);
            json_fixed(j, "median", 9, s->median);
            json_fixed(j, "least", 9, s->least);
            json_fixed(j, "low", 9, s->low);
            json_fixed(j, "high", 9, s->high);
            json_close(j);
            break;
        case RATE:
        case REAL: json_real(j, c->key, 3, number_of(c, row));
        }
    }
    json_close(j);
}

void lab_add_row(lab_bench *b, const lab_row *row) {
    if (!b->r->json && !b->rows) add_words(b, NULL);
    (b->r->json ? add_json : add_words)(b, row);
    if (b->rows < LAB_ROWS) b->row[b->rows++] = *row;
}
