#include "app/run/frames.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- patterns ------------------------------------------------------------------------------ */

/* The bytes of the field that starts at s, 0 when none does; its digits. */
static size_t field_at(const char *s, int *digits) {
    size_t n = 0;
    if (*s == '#') {
        n = strspn(s, "#");
        *digits = n == 1 ? 4 : (int)n;
    } else if (*s == '%') {
        size_t w = strspn(s + 1, "0123456789");
        *digits = atoi(s + 1);
        if (w <= 3 && s[1 + w] == 'd') n = w + 2;
    } else if (s[0] == '$' && s[1] == 'F') {
        size_t w = strspn(s + 2, "0123456789");
        *digits = atoi(s + 2);
        if (w <= 2) n = w + 2;
    }
    return n;
}

/* The last field in [from, to); fields in it are counted. */
static size_t last_field(const char *from, const char *to, const char **at, int *digits,
                         int *fields) {
    size_t found = 0;
    *fields = 0;
    for (const char *p = from; p < to;) {
        int d;
        size_t n = field_at(p, &d);
        if (n) {
            *at = p;
            *digits = d;
            found = n;
            ++*fields;
        }
        p += n ? n : 1;
    }
    return found;
}

/* Where the field is: in the file's name, or else in its folder's. */
static size_t find_field(const char *path, const char **at, int *digits, int *fields) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = last_field(name, name + strlen(name), at, digits, fields);
    return n ? n : last_field(path, name, at, digits, fields);
}

bool frame_pattern_is(const char *path) {
    const char *at;
    int digits, fields;
    return find_field(path, &at, &digits, &fields) > 0 && access(path, F_OK) != 0;
}

bool frame_pattern_parse(frame_pattern *p, const char *path, err *e) {
    const char *at = path;
    int digits = 0, fields;
    size_t n = find_field(path, &at, &digits, &fields);
    if (n == 0)
        return err_set(e, ERR_USAGE, "'%s' has no frame field such as ####, %%04d or $F4", path);
    if (fields > 1)
        return err_set(e, ERR_USAGE, "'%s' has %d frame fields; it must have one", path, fields);
    if (digits > 9)
        return err_set(e, ERR_USAGE, "'%s' has a frame field of %d digits; the maximum is 9", path,
                       digits);
    frame_pattern made = {mem_str(path, e), mem_str(at + n, e), digits};
    if (!made.before || !made.after) {
        frame_pattern_free(&made);
        return false;
    }
    made.before[at - path] = 0;
    *p = made;
    return true;
}

void frame_pattern_free(frame_pattern *p) {
    mem_free(p->before);
    mem_free(p->after);
    *p = (frame_pattern){0};
}

char *frame_path(const frame_pattern *p, int number, err *e) {
    text path = {0};
    text_add(&path, "%s%0*d%s", p->before, p->digits, number, p->after);
    char *copy = mem_str(path.s, e);
    text_free(&path);
    return copy;
}

/* --- lists --------------------------------------------------------------------------------- */

static bool append(frame_list *l, int number, size_t *room, err *e) {
    if (l->count >= FRAMES_MOST) return err_set(e, ERR_USAGE, "more than %d frames", FRAMES_MOST);
    if (l->count == *room) {
        size_t more = *room ? *room * 2 : 64;
        int *grown = realloc(l->number, more * sizeof *grown);
        if (!grown) return err_set(e, ERR_RETRY, "no memory for %zu frames", more);
        l->number = grown;
        *room = more;
    }
    l->number[l->count++] = number;
    return true;
}

static int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort_and_unite(frame_list *l) {
    size_t kept = 0;
    if (l->count) qsort(l->number, l->count, sizeof *l->number, by_number);
    for (size_t i = 0; i < l->count; i++)
        if (i == 0 || l->number[i] != l->number[kept - 1]) l->number[kept++] = l->number[i];
    l->count = kept;
}

/* A whole number at *s; moves behind it. */
static bool take_int(const char **s, int *to) {
    const char *p = *s + (**s == '-');
    size_t digits = strspn(p, "0123456789");
    if (digits == 0 || digits > 9) return false;
    *to = atoi(*s);
    *s = p + digits;
    return true;
}

/* "a", "a-b" or "a-bxs" at *s, up to a comma or the end. */
static bool take_range(const char **s, int *first, int *last, int *step) {
    *s += strspn(*s, " ");
    if (!take_int(s, first)) return false;
    *last = *first;
    *step = 1;
    if (**s == '-') {
        ++*s;
        if (!take_int(s, last)) return false;
        if (**s == 'x') {
            ++*s;
            if (!take_int(s, step)) return false;
        }
    }
    *s += strspn(*s, " ");
    return **s == 0 || **s == ',';
}

bool frame_list_parse(frame_list *l, const char *ranges, err *e) {
    frame_list made = {0};
    size_t room = 0;
    for (const char *s = ranges;; s++) {
        int first, last, step;
        if (!take_range(&s, &first, &last, &step)) {
            err_set(e, ERR_USAGE, "frames '%s': expected ranges such as 1001-1100,1200-1300x2",
                    ranges);
            goto fail;
        }
        if (last < first) {
            err_set(e, ERR_USAGE, "frame range %d-%d runs backwards; write %d-%d", first, last,
                    last, first);
            goto fail;
        }
        if (step < 1) {
            err_set(e, ERR_USAGE, "frame range %d-%dx%d: the step must be at least 1", first, last,
                    step);
            goto fail;
        }
        for (long n = first; n <= last; n += step)
            if (!append(&made, (int)n, &room, e)) goto fail;
        if (!*s) break;
    }
    sort_and_unite(&made);
    *l = made;
    return true;
fail:
    frame_list_free(&made);
    return false;
}

/* The number in a file's name, when the pattern writes the very same name for it. */
static bool number_in(const char *name, const char *before, const frame_pattern *p, int *number) {
    size_t head = strlen(before);
    const char *s = name + head;
    if (strncmp(name, before, head) != 0 || !take_int(&s, number) || strcmp(s, p->after) != 0)
        return false;
    char again[16];
    snprintf(again, sizeof again, "%0*d", p->digits, *number);
    return strlen(again) == (size_t)(s - name) - head &&
           strncmp(name + head, again, strlen(again)) == 0;
}

bool frame_list_scan(frame_list *l, const frame_pattern *p, err *e) {
    if (strchr(p->after, '/'))
        return err_set(e, ERR_USAGE,
                       "the frame number of '%s#%s' is in the name of the folder; list the frames "
                       "with --frames",
                       p->before, p->after);
    const char *slash = strrchr(p->before, '/'), *before = slash ? slash + 1 : p->before;
    text folder = {0};
    text_add_bytes(&folder, p->before, (size_t)(before - p->before));
    if (!folder.n) text_add(&folder, ".");
    DIR *dir = opendir(folder.s);
    frame_list made = {0};
    size_t room = 0;
    bool ok = dir != NULL;
    if (!ok) err_errno(e, ERR_NO_INPUT, "cannot search the folder '%s' for frames", folder.s);
    for (struct dirent *d; ok && (d = readdir(dir));) {
        int number;
        if (number_in(d->d_name, before, p, &number)) ok = append(&made, number, &room, e);
    }
    if (dir) closedir(dir);
    if (ok && made.count == 0) {
        static const char FIELD[] = "#########";
        ok = err_set(e, ERR_NO_INPUT, "no files match '%s%.*s%s' in the folder '%s'", before,
                     p->digits ? p->digits : 2, p->digits ? FIELD : "%d", p->after, folder.s);
    }
    text_free(&folder);
    if (!ok) {
        frame_list_free(&made);
        return false;
    }
    sort_and_unite(&made);
    *l = made;
    return true;
}

void frame_list_free(frame_list *l) {
    free(l->number);
    *l = (frame_list){0};
}
