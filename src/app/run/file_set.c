#include "app/run/file_set.h"

#include "app/cli/kernel_option.h"
#include "base/path.h"
#include "image/format.h"
#include "kernel/make/field_recipe.h"

#include <limits.h>
#include <sys/stat.h>

enum { NO_FRAME = -1 };

struct file_set_item {
    file_use use;
    const char *role;
    char *path;      /* as it was given */
    ptrdiff_t frame; /* of a sequence or a lone image; NO_FRAME: of none */
    /* A hash of the file's device and inode, or else of those of its folder and its name in it. */
    hash128 identity;
};
typedef struct file_set_item item;

static hash128 identity_of(const char *given) {
    if (strcmp(given, "-") == 0)
        given = "/dev/stdin"; /* which a shell may have opened a file for */
    char path[PATH_MAX], folder[PATH_MAX];
    struct stat st;
    OWN(text) key = {0};
    snprintf(path, sizeof path, "%s", given);
    for (int i = 0; i < PATH_LINKS && path_follow(path);) i++;
    if (stat(given, &st) == 0)
        text_add(&key, "%ju %ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    else if (path_folder(path, folder) && stat(folder, &st) == 0)
        text_add(&key, "%ju %ju/%s", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, path_name(path));
    else
        text_add(&key, "%s", path);
    hash128 identity = hash_bytes(key.s, key.n);
    return identity;
}

/* --- filling ---------------------------------------------------------------------------------- */

static void add(file_set *s, const item *as, const char *path) {
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        item *more = mem_more(s->item, s->count * sizeof *more, room * sizeof *more,
                              "the names of the files", &s->failed);
        if (!more) return;
        s->item = more;
        s->room = room;
    }
    item *to = &s->item[s->count];
    *to = *as;
    to->path = mem_str(path, &s->failed);
    to->identity = identity_of(path);
    s->count += to->path != NULL;
}

void file_set_add(file_set *s, file_use use, const char *role, const char *path) {
    if (path && (use == FILE_READ || !image_is_stream(path)))
        add(s, &(item){.use = use, .role = role, .frame = NO_FRAME}, path);
}

/* Adds the kernels of a mix, and those at the nodes of a field. */
static void add_kernels(file_set *s, const char *word, const char *role) {
    char part[KERNEL_PATH];
    double share;
    if (word && kernel_word_is_mix(word))
        while (kernel_word_part(&word, part, &share)) file_set_add(s, FILE_READ, role, part);
    else if (word && path_ends_in(word, "json")) {
        OWN(field_recipe) r = {.about = NULL};
        err why = {0};
        const bool ok = field_recipe_is(&r, word, &why) && !why.code;
        if (why.code) s->failed = why;
        for (uint32_t i = 0; ok && i < field_nodes(&r.grid); i++) {
            if (!r.word[i]) continue;
            if (!kernel_word_is_mix(r.word[i]))
                file_set_add(s, FILE_READ, "a kernel of the field", r.word[i]);
            else
                add_kernels(s, r.word[i], "a kernel of the field");
        }
    }
}

void file_set_add_configs(file_set *s, const settings *from) {
    static const char ROLE[] = "a config file";
    OWN(text) path = {0};
    file_set_add(s, FILE_READ, ROLE, from->config);
    add_kernels(s, from->kernel, "a kernel of the mix");
    for (int i = 0; i < SETTINGS_ROOM; i++) {
        const setting *v = &from->value[i];
        if (v->origin != ORIGIN_FILE || !v->where) continue;
        /* "look.json:7:3"; many values in a row come from one file */
        size_t n = strlen(v->where);
        for (int colons = 0; n > 0 && colons < 2; n--) colons += v->where[n - 1] == ':';
        if (!n || (path.n == n && memcmp(path.s, v->where, n) == 0)) continue;
        text_free(&path);
        text_add_bytes(&path, v->where, n);
        file_set_add(s, FILE_READ, ROLE, path.s);
    }
}

void file_set_free(file_set *s) {
    for (size_t i = 0; i < s->count; i++) mem_free(s->item[i].path);
    mem_free(s->item);
    *s = (file_set){0};
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool refuse(const item *a, const item *b, err *e) {
    bool swap = a->use == FILE_READ || (b->use != FILE_READ && b->frame != NO_FRAME);
    const item *out = swap ? b : a, *other = swap ? a : b;
    bool same = strcmp(out->path, other->path) == 0;
    if (a->frame != NO_FRAME && a->frame == b->frame)
        return err_set(e, ERR_USAGE,
                       "the output '%s' is the input, which is never written; name another file or "
                       "folder",
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

static int by_identity(const void *a, const void *b) {
    const hash128 *x = &((const item *)a)->identity, *y = &((const item *)b)->identity;
    return x->hi != y->hi ? (x->hi > y->hi) - (x->hi < y->hi) : (x->lo > y->lo) - (x->lo < y->lo);
}

bool file_set_check(file_set *s, err *e) {
    if (s->failed.code) return *e = s->failed, false;
    if (s->count) qsort(s->item, s->count, sizeof *s->item, by_identity);
    for (size_t from = 0, to; from < s->count; from = to) {
        for (to = from + 1; to < s->count && !by_identity(&s->item[from], &s->item[to]);) to++;
        for (size_t i = from; i < to; i++)
            for (size_t k = from; k < to; k++) {
                const item *a = &s->item[i], *b = &s->item[k];
                /* Inputs may be one file, and so may files that are written again. */
                if (k == i || a->use == FILE_READ || (a->use == b->use && a->use != FILE_WRITTEN))
                    continue;
                return refuse(a, b, e);
            }
    }
    return true;
}

bool file_set_apart(const file_set_file *file, size_t count, const settings *configs, err *e) {
    OWN(file_set) set = {0};
    if (configs) file_set_add_configs(&set, configs);
    for (size_t i = 0; i < count; i++) file_set_add(&set, file[i].use, file[i].role, file[i].path);
    return file_set_check(&set, e);
}

bool file_set_check_job(const job *j, err *e) {
    const run_choice *run = j->run;
    OWN(file_set) files = {0};
    for (size_t i = 0; i < job_count(j); i++) {
        OWN(job_files) f = {0};
        if (!job_frame(j, i, &f, e)) return false;
        const item in = {.role = JOB_ROLE[JOB_INPUT], .frame = (ptrdiff_t)i};
        const item out = {FILE_WRITTEN, .role = JOB_ROLE[JOB_OUTPUT], .frame = (ptrdiff_t)i};
        add(&files, &in, f.input);
        if (!image_is_stream(f.output)) add(&files, &out, f.output);
        if (i == 0 || j->kernels) file_set_add(&files, FILE_READ, "the kernel", f.kernel);
        file_set_add(&files, FILE_READ, JOB_ROLE[JOB_MASK], f.mask);
        for (int k = JOB_BEFORE; k < JOB_PATHS; k++)
            file_set_add(&files, FILE_WRITTEN, JOB_ROLE[k], f.path[k]);
    }
    file_set_add(&files, FILE_WRITTEN, "the report", run->report);
    file_set_add(&files, FILE_READ, "the kernel's recipe", run->kernel->recipe);
    file_set_add_configs(&files, run->s);
    return file_set_check(&files, e);
}
