#include "lab/lab_table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* --- the columns ------------------------------------------------------------------------------ */

/* clang-format off */
#define AT(member) offsetof(lab_row, member)
#define PART(key, i) \
    {key ".seconds", LAB_SPREAD, AT(part[i].seconds), key " ms", 11, 4, 1e-3}, \
    {key ".worst", LAB_REAL, AT(part[i].worst), NULL, 0, 0, 1}, \
    {key ".rms", LAB_REAL, AT(part[i].rms), NULL, 0, 0, 1}
#define PASS(key, i) \
    {key ".bytes", LAB_COUNT, AT(part[i].bytes), NULL, 0, 0, 1}, \
    {key ".copy", LAB_SECONDS, AT(part[i].copy), NULL, 0, 0, 1}, \
    {key ".seconds", LAB_SPREAD, AT(part[i].seconds), key " us", 11, 1, 1e-6}

const lab_column LAB_FFT_COLUMN[] = {
    {"size", LAB_COUNT, AT(size), "n", 5, 0, 1},
    {"algorithm", LAB_NAME, AT(name), "algorithm", -21, 0, 1},
    {"about", LAB_NAME, AT(about), NULL, 0, 0, 1},
    {"device", LAB_NAME, AT(device), NULL, 0, 0, 1},
    {"length", LAB_COUNT, AT(length), NULL, 0, 0, 1},
    {"rounds", LAB_COUNT, AT(rounds), NULL, 0, 0, 1},
    PART("forward", LAB_FORWARD),
    PART("inverse", LAB_BACKWARD),
    {"bytes", LAB_COUNT, AT(all.bytes), "MB moved", 9, 2, 1e6},
    {"copy", LAB_SECONDS, AT(all.copy), NULL, 0, 0, 1},
    {NULL, LAB_REAL, AT(copies), "copies", 6, 2, 1},
    {"dispatches", LAB_COUNT, AT(dispatches), "disp.", 6, 0, 1},
    {"barriers", LAB_COUNT, AT(barriers), "barriers", 8, 0, 1},
    {"shared", LAB_COUNT, AT(shared), "KB sh.", 7, 1, 1024},
    {NULL, LAB_REAL, AT(all.worst), "worst", 8, -1, 1},
    {NULL, LAB_REAL, AT(all.rms), "rms", 8, -1, 1},
    {0},
};

const lab_column LAB_OCEAN_COLUMN[] = {
    {"size", LAB_COUNT, AT(size), "n", 5, 0, 1},
    {"algorithm", LAB_NAME, AT(name), "algorithm", -21, 0, 1},
    {"device", LAB_NAME, AT(device), NULL, 0, 0, 1},
    {"rounds", LAB_COUNT, AT(rounds), NULL, 0, 0, 1},
    {"frames_per_second", LAB_REAL, AT(per_second), "frames/s", 10, 0, 1},
    {"frame", LAB_SPREAD, AT(all.seconds), "frame ms", 10, 4, 1e-3},
    {"bytes", LAB_COUNT, AT(all.bytes), "MB moved", 9, 2, 1e6},
    {"worst", LAB_REAL, AT(all.worst), "worst", 9, -1, 1},
    {"rms", LAB_REAL, AT(all.rms), "rms", 9, -1, 1},
    {0},
};

const lab_column LAB_ARTICLE_COLUMN[] = {
    {"bloom", LAB_NAME, AT(name), "bloom", -8, 0, 1},
    {"device", LAB_NAME, AT(device), NULL, 0, 0, 1},
    {"width", LAB_COUNT, AT(size[0]), "width", 5, 0, 1},
    {"height", LAB_COUNT, AT(size[1]), "height", 6, 0, 1},
    {"kernel", LAB_COUNT, AT(kernel), "kernel", 6, 0, 1},
    {"rounds", LAB_COUNT, AT(rounds), NULL, 0, 0, 1},
    {"queue", LAB_COUNT, AT(queue), NULL, 0, 0, 1},
    {"first", LAB_NAME, AT(first), "first", 5, 0, 1},
    {"length_1", LAB_COUNT, AT(length[0]), "lengths", 7, 0, 1},
    {"length_2", LAB_COUNT, AT(length[1]), "", 5, 0, 1},
    PASS("forward", 0),
    PASS("convolve", 1),
    PASS("inverse", 2),
    {"frame", LAB_SPREAD, AT(all.seconds), "frame us", 9, 1, 1e-6},
    {"bytes", LAB_COUNT, AT(all.bytes), "MB moved", 8, 1, 1e6},
    {"copy", LAB_SECONDS, AT(all.copy), NULL, 0, 0, 1},
    {NULL, LAB_REAL, AT(copies), "copies", 6, 2, 1},
    {"pixels", LAB_COUNT, AT(pixels), NULL, 0, 0, 1},
    {"worst", LAB_REAL, AT(all.worst), "worst", 8, -1, 1},
    {"rms", LAB_REAL, AT(all.rms), "rms", 8, -1, 1},
    {0},
};
/* clang-format on */

/* --- a row ------------------------------------------------------------------------------------ */

/* What a row has in a column: a word, or a number and its spread. */
typedef struct {
    const char *word;
    double number;
    const measure_spread *spread;
} table_cell;

static table_cell table_value(const lab_column *c, const lab_row *row) {
    const void *at = (const char *)row + c->at;
    const measure_spread *s = at;
    if (c->kind == LAB_NAME) return (table_cell){*(const char *const *)at, 0, NULL};
    return (table_cell){NULL, c->kind == LAB_SPREAD ? s->median : *(const double *)at, s};
}

/* Adds the row, or without one the names of the columns. */
static void table_add_words(const lab_table *t, const lab_row *row) {
    for (const lab_column *c = t->column; c->key || c->head; c++) {
        if (!c->head) continue;
        table_cell v = row ? table_value(c, row) : (table_cell){c->head, 0, NULL};
        text_add(t->to, c == t->column ? "" : " ");
        if (v.word || isnan(v.number))
            text_add(t->to, "%*s", c->width, v.word ? v.word : "-");
        else if (c->digits < 0)
            text_add(t->to, "%*.2g", c->width, v.number / c->unit);
        else
            text_add(t->to, "%*.*f", c->width, c->digits, v.number / c->unit);
    }
    text_add(t->to, "\n");
}

/* Opens and closes the objects that keys name before their point. */
static void table_add_json(json_out *j, const lab_column *c, const lab_row *row) {
    char open[32] = "";
    json_block(j, NULL);
    for (; c->key || c->head; c++) {
        table_cell v = table_value(c, row);
        if (!c->key || isnan(v.number)) continue;
        const char *point = strchr(c->key, '.'), *key = point ? point + 1 : c->key;
        size_t n = point ? (size_t)(point - c->key) : 0;
        if (n != strlen(open) || strncmp(open, c->key, n) != 0) {
            if (*open) json_close(j);
            memcpy(open, c->key, n);
            open[n] = 0;
            if (n) json_object(j, open);
        }
        switch (c->kind) {
        case LAB_NAME: json_string(j, key, v.word); break;
        case LAB_COUNT: json_uint(j, key, (uint64_t)v.number); break;
        case LAB_SECONDS: json_fixed(j, key, 9, v.number); break;
        case LAB_REAL: json_real(j, key, 3, v.number); break;
        case LAB_SPREAD:
            json_object(j, key);
            json_fixed(j, "median", 9, v.spread->median);
            json_fixed(j, "least", 9, v.spread->least);
            json_fixed(j, "low", 9, v.spread->low);
            json_fixed(j, "high", 9, v.spread->high);
            json_close(j);
        }
    }
    if (*open) json_close(j);
    json_close(j);
}

void lab_table_row(lab_table *t, const lab_row *row) {
    if (t->json) {
        table_add_json(t->json, t->column, row);
        return;
    }
    if (!t->begun) table_add_words(t, NULL);
    t->begun = true;
    table_add_words(t, row);
}

void lab_table_begin(lab_table *t, const char *title) {
    if (!t->json) {
        text_add(t->to, "%s\n", title);
        return;
    }
    *t->json = json_begin(t->to);
    json_list(t->json, "results");
}

void lab_table_end(lab_table *t) {
    if (!t->json) return;
    json_close(t->json);
    json_end(t->json);
}
