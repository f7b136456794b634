#include "lab/lab_table.h"

#include <math.h>
#include <string.h>

static bool table_is_missing(const lab_column *c, const lab_cell *v) {
    return c->kind == LAB_NAME ? !v->word : c->kind == LAB_SPREAD ? false : isnan(v->number);
}

/* Adds the row, or with no cells the names of the columns. */
static void table_add_words(const lab_table *t, const lab_cell *cell) {
    for (int i = 0; i < t->columns; i++) {
        const lab_column *c = &t->column[i];
        if (!c->head) continue;
        double number = cell && c->kind == LAB_SPREAD ? cell[i].spread->median
                        : cell && c->kind != LAB_NAME ? cell[i].number
                                                      : 0;
        if (!cell || table_is_missing(c, &cell[i]))
            text_add(t->to, "%*s", c->width, cell ? "-" : c->head);
        else if (c->kind == LAB_NAME)
            text_add(t->to, "%*s", c->width, cell[i].word);
        else if (c->digits < 0)
            text_add(t->to, "%*.2g", c->width, number / c->unit);
        else
            text_add(t->to, "%*.*f", c->width, c->digits, number / c->unit);
        text_add(t->to, i + 1 < t->columns ? " " : "\n");
    }
}

/* Opens and closes the objects that keys name before their point. */
static void table_add_json(const lab_table *t, const lab_cell *cell) {
    json_out *j = t->json;
    char open[32] = "";
    json_block(j, NULL);
    for (int i = 0; i < t->columns; i++) {
        const lab_column *c = &t->column[i];
        if (!c->key || table_is_missing(c, &cell[i])) continue;
        const char *point = strchr(c->key, '.'), *key = point ? point + 1 : c->key;
        size_t n = point ? (size_t)(point - c->key) : 0;
        if (n != strlen(open) || strncmp(open, c->key, n) != 0) {
            if (*open) json_close(j);
            memcpy(open, c->key, n);
            open[n] = 0;
            if (n) json_object(j, open);
        }
        switch (c->kind) {
        case LAB_NAME: json_string(j, key, cell[i].word); break;
        case LAB_COUNT: json_uint(j, key, (uint64_t)cell[i].number); break;
        case LAB_SECONDS: json_fixed(j, key, 9, cell[i].number); break;
        case LAB_REAL: json_real(j, key, 3, cell[i].number); break;
        case LAB_SPREAD:
            json_object(j, key);
            json_fixed(j, "median", 9, cell[i].spread->median);
            json_fixed(j, "least", 9, cell[i].spread->least);
            json_fixed(j, "low", 9, cell[i].spread->low);
            json_fixed(j, "high", 9, cell[i].spread->high);
            json_close(j);
        }
    }
    if (*open) json_close(j);
    json_close(j);
}

void lab_table_row(lab_table *t, const lab_cell *cell) {
    if (t->json) {
        table_add_json(t, cell);
        return;
    }
    if (!t->begun) table_add_words(t, NULL);
    t->begun = true;
    table_add_words(t, cell);
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
