#include "app/cli/frame_pattern.h"

#include "base/mem.h"
#include "base/path.h"

#include <unistd.h>

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
    const bool ok = made.before && made.after;
    if (ok) made.before[f.at] = 0, *p = made;
    if (!ok) frame_pattern_free(&made);
    return ok;
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

bool frame_number_take(const char **s, int *to) {
    const char *p = *s + (**s == '-');
    size_t digits = strspn(p, "0123456789");
    if (digits == 0 || digits > 9) return false;
    *to = atoi(*s);
    *s = p + digits;
    return true;
}

bool frame_pattern_number(const frame_pattern *p, const char *name, int *number) {
    const char *before = path_name(p->before), *s = name + strlen(before);
    char again[16];
    if (strncmp(name, before, strlen(before)) != 0 || !frame_number_take(&s, number) ||
        strcmp(s, p->after) != 0)
        return false;
    const size_t n = (size_t)(s - name) - strlen(before);
    snprintf(again, sizeof again, "%0*d", p->digits, *number);
    return strlen(again) == n && strncmp(name + strlen(before), again, n) == 0;
}

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
    return mem_str(made.n ? made.s : "", e);
}
