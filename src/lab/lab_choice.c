#include "lab/lab_choice.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static bool add_size(lab_choice *c, uint32_t n, err *e) {
    for (uint32_t i = 0; i < c->sizes; i++)
        if (c->size[i] == n) return true;
    if (c->sizes == LAB_MOST_SIZES)
        return err_set(e, ERR_USAGE, "--size: give %d sizes at most", LAB_MOST_SIZES);
    c->size[c->sizes++] = n;
    return true;
}

/* Reads "128..1024,1080": sizes with commas between; ".." doubles the first up to the second. */
static bool read_sizes(lab_choice *c, const char *list, err *e) {
    for (const char *at = list;; at++) {
        unsigned from = 0, to = 0;
        int used = 0;
        size_t length = strcspn(at, ",");
        if (sscanf(at, "%5u%n..%5u%n", &from, &used, &to, &used) < 2) to = from;
        if (!length || (size_t)used != length || at[0] == '+' || at[0] == '-' || to < from ||
            from < LAB_LEAST || to > LAB_MOST)
            return err_set(
                e, ERR_USAGE,
                "--size %s: give sizes from %d to %d, such as 512, 128..1024 (each twice "
                "the one before) or 640,1080",
                list, LAB_LEAST, LAB_MOST);
        for (unsigned n = from; n <= to; n *= 2)
            if (!add_size(c, n, e)) return false;
        at += length;
        if (!*at) return true;
    }
}

static bool read_names(lab_choice *c, const char *list, err *e) {
    const char *names[LAB_MOST_TRANSFORMS];
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++) names[i] = LAB_TRANSFORMS[i].name;
    c->all = strcmp(list, "all") == 0;
    for (const char *at = list; !c->all;) {
        size_t length = strcspn(at, ",");
        int i = 0;
        while (i < LAB_TRANSFORM_COUNT && (strncmp(at, names[i], length) != 0 || names[i][length]))
            i++;
        if (i == LAB_TRANSFORM_COUNT) {
            text known = {0};
            for (int k = 0; k < LAB_TRANSFORM_COUNT; k++) text_add(&known, ", %s", names[k]);
            err_set(e, ERR_USAGE, "--algorithm: '%.*s' is unknown; there are all%s", (int)length,
                    at, known.s);
            text_free(&known);
            return false;
        }
        c->wanted[i] = true;
        at += length;
        if (!*at++) break;
    }
    for (int i = 0; c->all && i < LAB_TRANSFORM_COUNT; i++) c->wanted[i] = true;
    return true;
}

bool lab_choice_read(lab_choice *c, const char *sizes, const char *names, bool gpu, err *e) {
    *c = (lab_choice){0};
    if (!read_sizes(c, sizes, e) || !read_names(c, names, e)) return false;
    for (uint32_t s = 0; s < c->sizes; s++) {
        bool taken = false;
        for (int i = 0; i < LAB_TRANSFORM_COUNT; i++)
            taken |= c->wanted[i] && LAB_TRANSFORMS[i].takes(c->size[s]);
        if (!taken)
            return err_set(
                e, ERR_USAGE, "--size %u: none of the transforms asked for can do it%s", c->size[s],
                lab_takes_smooth(c->size[s]) ? ""
                                             : "; lengths are powers of two, or products "
                                               "of 2, 3, 5 and 7");
    }
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++)
        if (c->wanted[i] && !c->all && LAB_TRANSFORMS[i].program && !gpu)
            return err_set(e, ERR_NO_DEVICE, "%s runs on a GPU, and --device chose none",
                           LAB_TRANSFORMS[i].name);
    return true;
}
