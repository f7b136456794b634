#include "app/run/frame_pattern.h"

#include "base/mem.h"
#include "base/path.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- patterns ------------------------------------------------------------------------------ */

/* The field that stands for the frame's number. */
typedef struct {
    size_t at, bytes; /* in the path */
    int digits;
    int count; /* how many fields there are beside it, itself counted; 0: there is none */
} field;

/* Returns whether n characters of a path from `at` on stand alone in the file's name, as the field
 * of plate.@@.exr does: @ is common in names (img@2x.exr) and in folders (comp@v1). */
static bool stands_alone(const char *path, size_t at, size_t n) {
    char after = path[at + n];
    return !strchr(path + at, '/') && (at == 0 || strchr("./_-", path[at - 1])) &&
           (!after || strchr("._-", after));
}

/* Finds the last field in [from, to) of the path. */
static field last_field(const char *path, size_t from, size_t to) {
    field f = {0};
    for (size_t at = from, n; at < to; at += n ? n : 1) {
        const char *s = path + at;
        size_t mark = *s == '%' ? 1 : s[0] == '$' && s[1] == 'F' ? 2 : 0;
        size_t w = strspn(s + mark, "0123456789");
        n = 0;
        size_t run = *s == '#' || *s == '@' ? strspn(s, (char[]){*s, 0}) : 0;
        if (*s == '#' || (run && stands_alone(path, at, run))) n = run;
        if (mark == 1 && w <= 3 && s[1 + w] == 'd') n = w + 2;
        if (mark == 2 && w <= 2) n = w + 2;
        bool four = *s == '#' && n == 1;
        if (n) f = (field){at, n, mark ? atoi(s + mark) : four ? 4 : (int)n, f.count + 1};
    }
    return f;
}

/* Finds the field: in the file's name, or else in its folder's. */
static field find_field(const char *path) {
    size_t name = (size_t)(path_name(path) - path);
    field f = last_field(path, name, strlen(path));
    return f.count ? f : last_field(path, 0, name);
}

bool frame_pattern_is(const char *path) {
    return find_field(path).count > 0 && access(path, F_OK) != 0;
}

bool frame_pattern_parse(frame_pattern *p, const char *path, err *e) {
    field f = find_field(path);
    if (!f.count)
        return err_set(e, ERR_USAGE, "'%s' has no frame field such as ####, %%04d or $F4", path);
    if (f.count > 1)
        return err_set(e, ERR_USAGE, "'%s' has %d frame fields; it must have one", path, f.count);
    if (f.digits > 9)
        return err_set(e, ERR_USAGE, "'%s' has a frame field of %d digits; the maximum is 9", path,
                       f.digits);
    frame_pattern made = {mem_str(path, e), mem_str(path + f.at + f.bytes, e), f.digits};
    if (!made.before || !made.after) {
        frame_pattern_free(&made);
        return false;
    }
    made.before[f.at] = 0;
    *p = made;
    return true;
}

void frame_pattern_free(frame_pattern *p) {
    mem_free(p->before);
    mem_free(p->after);
    *p = (frame_pattern){0};
}

bool frame_path_parse(frame_pattern *p, const char *path, err *e) {
    if (frame_pattern_is(path)) return frame_pattern_parse(p, path, e);
    return (p->before = mem_str(path, e)) != NULL;
}

char *frame_path(const frame_pattern *p, int number, err *e) {
    return p->after ? mem_strf(e, "%s%0*d%s", p->before, p->digits, number, p->after)
                    : mem_str(p->before, e);
}

/* --- lists --------------------------------------------------------------------------------- */

static bool append(frame_list *l, int number, size_t *room, err *e) {
    if (l->count >= FRAMES_MOST)
        return err_set(e, ERR_USAGE, "the sequence has more than %d frames; split it with --frames",
                       FRAMES_MOST);
    if (l->count == *room) {
        size_t more = *room ? *room * 2 : 64;
        int *grown = realloc(l->number, more * sizeof *grown);
        if (!grown) return err_set(e, ERR_MEMORY, "no memory for %zu frames", more);
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

/* Reads a whole number at *s, and moves behind it. */
static bool take_int(const char **s, int *to) {
    const char *p = *s + (**s == '-');
    size_t digits = strspn(p, "0123456789");
    if (digits == 0 || digits > 9) return false;
    *to = atoi(*s);
    *s = p + digits;
    return true;
}

/* Reads "a", "a-b", "a-bxs" or "a-b:s" at *s, up to a comma or the end. */
static bool take_range(const char **s, int *first, int *last, int *step) {
    *s += strspn(*s, " ");
    if (!take_int(s, first)) return false;
    *last = *first;
    *step = 1;
    if (**s == '-') {
        ++*s;
        if (!take_int(s, last)) return false;
        if (**s == 'x' || **s == ':') {
            ++*s;
            if (!take_int(s, step)) return false;
        }
    }
    *s += strspn(*s, " ");
    return **s == 0 || **s == ',';
}

/* Sorts the frames, drops those that come twice, and puts them into l if `ok`. */
static bool keep(frame_list *l, frame_list *made, bool ok) {
    size_t kept = 0;
    if (made->count) qsort(made->number, made->count, sizeof *made->number, by_number);
    for (size_t i = 0; i < made->count; i++)
        if (i == 0 || made->number[i] != made->number[kept - 1])
            made->number[kept++] = made->number[i];
    made->count = kept;
    if (ok) *l = *made;
    if (!ok) frame_list_free(made);
    return ok;
}

bool frame_list_parse(frame_list *l, const char *ranges, err *e) {
    frame_list made = {0};
    size_t room = 0;
    bool ok = true;
    for (const char *s = ranges; ok; s++) {
        int first = 0, last = 0, step = 1;
        if (!take_range(&s, &first, &last, &step))
            ok = err_set(e, ERR_USAGE, "frames '%s': expected ranges such as 1001-1100,1200-1300x2",
                         ranges);
        else if (last < first)
            ok = err_set(e, ERR_USAGE, "frame range %d-%d runs backwards; write %d-%d", first, last,
                         last, first);
        else if (step < 1)
            ok = err_set(e, ERR_USAGE, "frame range %d-%dx%d: the step must be at least 1", first,
                         last, step);
        for (long n = first; ok && n <= last; n += step) ok = append(&made, (int)n, &room, e);
        if (!*s) break;
    }
    return keep(l, &made, ok);
}

/* Reads the number in a file's name, if the pattern writes the very same name for it. */
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

static int is_visible(const struct dirent *d) {
    return d->d_name[0] != '.';
}

/* Adds "; it has 'a.exr', 'b.exr' and 7 more": names that begin as the pattern does come first. */
static void list_names(const char *folder, const char *begin, text *to) {
    enum { MOST = 3 };
    struct dirent **d = NULL;
    int n = scandir(folder, &d, is_visible, alphasort), shown = 0;
    for (int like = 1; like >= 0; like--)
        for (int i = 0; i < n && shown < MOST; i++) {
            if (like != (strncmp(d[i]->d_name, begin, strlen(begin)) == 0)) continue;
            const char *between = shown + 1 == n ? " and " : ", ";
            text_add(to, "%s'%s'", shown++ ? between : "; it has ", d[i]->d_name);
        }
    if (n > shown) text_add(to, " and %d more", n - shown);
    if (n == 0) text_add(to, "; it is empty");
    for (int i = 0; i < n; i++) free(d[i]);
    free(d);
}

void frame_field_words(const frame_pattern *p, text *to) {
    static const char FIELD[] = "#########";
    text_add(to, "%s%.*s%s", path_name(p->before), p->digits ? p->digits : 2,
             p->digits ? FIELD : "%d", p->after);
}

bool frame_list_scan(frame_list *l, const frame_pattern *p, err *e) {
    if (strchr(p->after, '/'))
        return err_set(e, ERR_USAGE,
                       "the frame number of '%s#%s' is in the name of the folder; list the frames "
                       "with --frames",
                       p->before, p->after);
    const char *before = path_name(p->before);
    OWN(text) folder = {0};
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
        OWN(text) pattern = {0}, has = {0};
        frame_field_words(p, &pattern);
        list_names(folder.s, before, &has);
        ok = err_set(e, ERR_NO_INPUT, "no files match '%s' in the folder '%s'%s", pattern.s,
                     folder.s, has.s);
    }
    return keep(l, &made, ok);
}

void frame_range_words(const frame_pattern *p, int first, int last, text *to) {
    text_add(to, "%0*d", p->digits, first);
    if (last > first) text_add(to, "-%0*d", p->digits, last);
}

size_t frame_list_gaps(const frame_list *l, const frame_pattern *p, text *to) {
    enum { NAMED = 8 };
    const int *n = l->number;
    size_t missing = 0, gaps = 0, even = 1;
    while (even < l->count && n[even] - n[even - 1] == n[1] - n[0]) even++;
    if (even == l->count && l->count > 2) return 0;
    for (size_t i = 1; i < l->count; i++) {
        if (n[i] == n[i - 1] + 1) continue;
        missing += (size_t)(n[i] - n[i - 1] - 1);
        if (gaps++ < NAMED) {
            if (gaps > 1) text_add(to, ", ");
            frame_range_words(p, n[i - 1] + 1, n[i] - 1, to);
        }
    }
    if (gaps > NAMED) text_add(to, ", ... (%zu gaps)", gaps);
    return missing;
}

void frame_list_free(frame_list *l) {
    free(l->number);
    *l = (frame_list){0};
}

/* --- views --------------------------------------------------------------------------------- */

bool frame_views_in(const char *path) {
    return path && (strstr(path, "%V") || strstr(path, "%v")) && access(path, F_OK) != 0;
}

char *frame_view_path(const char *path, const char *view, err *e) {
    OWN(text) made = {0};
    for (const char *s = path; *s; s++) {
        bool here = view && s[0] == '%' && (s[1] == 'V' || s[1] == 'v');
        const char *from = here ? view : s;
        text_add_bytes(&made, from, here && s[1] == 'V' ? strlen(view) : 1);
        s += here;
    }
    char *copy = mem_str(made.n ? made.s : "", e);
    return copy;
}
