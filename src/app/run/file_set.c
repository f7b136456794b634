#include "app/run/file_set.h"

#include "base/hash.h"
#include "base/mem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_FRAME = -1, LINKS = 40 };

struct file_set_item {
    file_use use;
    const char *role;
    char *path;      /* as it was given */
    ptrdiff_t frame; /* of a sequence or a lone image; NO_FRAME: of none */
    bool exists;
    dev_t device;
    ino_t inode;
    hash128 place; /* of its folder's device and inode, and of its name there */
};
typedef struct file_set_item item;

/* --- where a path leads ----------------------------------------------------------------------- */

/* Follows links to the name that would be written, whether or not there is a file. */
static void follow(char path[PATH_MAX]) {
    char to[PATH_MAX], joined[PATH_MAX];
    for (int i = 0; i < LINKS; i++) {
        ssize_t n = readlink(path, to, sizeof to - 1);
        if (n < 0) return; /* no link */
        to[n] = 0;
        const char *slash = strrchr(path, '/');
        int folder = slash && to[0] != '/' ? (int)(slash - path) + 1 : 0;
        int m = snprintf(joined, sizeof joined, "%.*s%s", folder, path, to);
        if (m < 0 || (size_t)m >= sizeof joined) return;
        memcpy(path, joined, (size_t)m + 1);
    }
}

static void find_place(item *to) {
    char path[PATH_MAX], folder[PATH_MAX];
    struct stat st;
    if (stat(to->path, &st) == 0) {
        to->exists = true;
        to->device = st.st_dev;
        to->inode = st.st_ino;
    }
    snprintf(path, sizeof path, "%s", to->path);
    follow(path);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    text key = {0};
    if (stat(folder, &st) == 0)
        text_add(&key, "%ju %ju/%s", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, name);
    else
        text_add(&key, "%s", path);
    to->place = hash_bytes(key.s, key.n);
    text_free(&key);
}

/* --- filling ---------------------------------------------------------------------------------- */

static bool add(file_set *s, const item *as, const char *path, err *e) {
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        item *larger = mem_new(room, sizeof *larger, "the names of the files", e);
        if (!larger) return false;
        if (s->count) memcpy(larger, s->item, s->count * sizeof *larger);
        mem_free(s->item);
        s->item = larger;
        s->room = room;
    }
    item *to = &s->item[s->count];
    *to = *as;
    if (!(to->path = mem_str(path, e))) return false;
    find_place(to);
    s->count++;
    return true;
}

bool file_set_add(file_set *s, file_use use, const char *role, const char *path, err *e) {
    if (!path || strcmp(path, "-") == 0) return true;
    return add(s, &(item){.use = use, .role = role, .frame = NO_FRAME}, path, e);
}

bool file_set_add_frame(file_set *s, size_t index, const char *input, const char *output, err *e) {
    const item in = {.use = FILE_READ, .role = "the input", .frame = (ptrdiff_t)index};
    const item out = {.use = FILE_WRITTEN, .role = "the output", .frame = (ptrdiff_t)index};
    return add(s, &in, input, e) && add(s, &out, output, e);
}

bool file_set_add_configs(file_set *s, const settings *from, err *e) {
    static const char ROLE[] = "a config file";
    text path = {0};
    bool ok = file_set_add(s, FILE_READ, ROLE, from->config, e);
    for (int i = 0; ok && i < SETTINGS_ROOM; i++) {
        const setting *v = &from->value[i];
        if (v->origin != ORIGIN_FILE || !v->where) continue;
        /* "look.json:7:3"; many values in a row come from one file */
        size_t n = strlen(v->where);
        for (int colons = 0; n > 0 && colons < 2; n--) colons += v->where[n - 1] == ':';
        if (!n || (path.n == n && memcmp(path.s, v->where, n) == 0)) continue;
        text_free(&path);
        text_add_bytes(&path, v->where, n);
        ok = file_set_add(s, FILE_READ, ROLE, path.s, e);
    }
    text_free(&path);
    return ok;
}

void file_set_free(file_set *s) {
    for (size_t i = 0; i < s->count; i++) mem_free(s->item[i].path);
    mem_free(s->item);
    *s = (file_set){0};
}

/* --- judging ---------------------------------------------------------------------------------- */

/* Inputs may be one file, and so may files that are written again. */
static bool may_share(const item *a, const item *b) {
    return a->use == b->use && a->use != FILE_WRITTEN;
}

static bool is_own_frame(const item *a, const item *b) {
    return a->frame != NO_FRAME && a->frame == b->frame;
}

static bool refuse(const item *a, const item *b, err *e) {
    bool swap = a->use == FILE_READ || (b->use != FILE_READ && b->frame != NO_FRAME);
    const item *out = swap ? b : a, *other = swap ? a : b;
    bool same = strcmp(out->path, other->path) == 0;
    if (is_own_frame(a, b))
        return err_set(e, ERR_USAGE,
                       "the output '%s' is the input; give --in-place to replace the input by the "
                       "result",
                       out->path);
    if (out->frame != NO_FRAME && other->frame != NO_FRAME && other->use == FILE_WRITTEN)
        return err_set(e, ERR_USAGE, "the outputs of two frames are one file: '%s' and '%s'",
                       out->path, other->path);
    return err_set(e, ERR_USAGE,
                   other->use == FILE_READ
                       ? "%s '%s' is %s%s%s%s, which it would replace"
                       : "%s '%s' is also %s%s%s%s; each needs a name of its own",
                   out->role, out->path, other->role, same ? "" : " '", same ? "" : other->path,
                   same ? "" : "'");
}

static int by_inode(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->exists != y->exists) return x->exists ? -1 : 1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static int by_place(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->place.hi != y->place.hi) return x->place.hi < y->place.hi ? -1 : 1;
    return (x->place.lo > y->place.lo) - (x->place.lo < y->place.lo);
}

/* Judges the files [from, to), which are one. */
static bool judge(const file_set *s, size_t from, size_t to, bool in_place, err *e) {
    for (size_t i = from; i < to; i++) {
        const item *a = &s->item[i];
        if (a->use == FILE_READ) continue;
        for (size_t k = from; k < to; k++) {
            const item *b = &s->item[k];
            if (k == i || may_share(a, b) || (in_place && is_own_frame(a, b))) continue;
            return refuse(a, b, e);
        }
    }
    return true;
}

static bool judge_all(file_set *s, int (*order)(const void *, const void *), bool in_place,
                      err *e) {
    qsort(s->item, s->count, sizeof *s->item, order);
    for (size_t i = 0, end; i < s->count; i = end) {
        end = i + 1;
        if (order == by_inode && !s->item[i].exists) break;
        while (end < s->count && order(&s->item[i], &s->item[end]) == 0) end++;
        if (!judge(s, i, end, in_place, e)) return false;
    }
    return true;
}

bool file_set_check(file_set *s, bool in_place, err *e) {
    return s->count == 0 ||
           (judge_all(s, by_place, in_place, e) && judge_all(s, by_inode, in_place, e));
}
