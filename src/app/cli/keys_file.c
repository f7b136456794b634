#include "app/cli/keys_file.h"

#include "app/cli/kernel_keys.h"
#include "app/cli/options.h"
#include "base/file.h"
#include "base/mem.h"
#include "kernel/make/model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 32, FILE_BYTES = 64 << 20 };

/* One column: an option, a parameter of the kernel's recipe, or the frames (neither). */
typedef struct {
    const option *of;
    char parameter[64];
    text keys;
} column;

typedef struct {
    const char *path;
    int line;
    column column[COLUMNS];
    int columns, frame; /* frame: the column of that name */
    char separator;     /* between cells: ',', or ';' as spreadsheets write where 1,5 is a number */
} reader;

static bool wrong(const reader *r, err *e, const char *what, const char *value) {
    return err_set(e, ERR_CONFIG, "%s:%d: %s '%s'", r->path, r->line, what, value);
}

/* Cuts the next cell from a line, without blanks around it. Returns NULL at the end. */
static char *next_cell(char **line, char separator) {
    char *cell = *line;
    if (!cell) return NULL;
    char *end = strchr(cell, separator);
    *line = end ? end + 1 : NULL;
    if (end) *end = 0;
    cell += strspn(cell, " \t");
    size_t n = strlen(cell);
    while (n && isspace((unsigned char)cell[n - 1])) cell[--n] = 0;
    return cell;
}

static bool read_header(reader *r, char *line, const settings *s, uint32_t users, err *e) {
    char flag[OPTION_NAME_ROOM];
    r->frame = -1;
    r->separator = strchr(line, ';') && !strchr(line, ',') ? ';' : ',';
    for (char *name; (name = next_cell(&line, r->separator)); r->columns++) {
        if (r->columns == COLUMNS)
            return err_set(e, ERR_CONFIG, "%s:%d: more than %d columns", r->path, r->line, COLUMNS);
        if (strcmp(name, "frame") == 0) {
            if (r->frame >= 0) return wrong(r, e, "two columns are named", name);
            r->frame = r->columns;
            continue;
        }
        const option *o = option_find(name, users | FOR_CONFIG), *near = NULL;
        if (!o && model_names_parameter(name)) {
            snprintf(r->column[r->columns].parameter, sizeof r->column->parameter, "%s", name);
            continue;
        }
        if (!o && option_nearest(name, users))
            near = option_find(option_nearest(name, users), users);
        if (!o)
            return err_set(e, ERR_CONFIG, "%s:%d: there is no option '%s'%s%s%s", r->path, r->line,
                           name, near ? "; did you mean '" : "", near ? near->name : "",
                           near ? "'?" : "");
        if (!o->keyed)
            return err_set(e, ERR_CONFIG, "%s:%d: %s cannot change from frame to frame", r->path,
                           r->line, name);
        const option *has = o->means ? option_find(o->means, users) : o;
        if (s->value[has - OPTIONS].origin == ORIGIN_FLAG)
            return err_set(e, ERR_CONFIG, "%s:%d: %s is also given by %s; remove one of the two",
                           r->path, r->line, name, option_flag(has, flag));
        for (int i = 0; i < r->columns; i++)
            if (r->column[i].of == o) return wrong(r, e, "two columns are named", name);
        r->column[r->columns].of = o;
    }
    return r->frame >= 0 ||
           err_set(e, ERR_CONFIG,
                   "%s:%d: the first line must name the columns, one of them 'frame'", r->path,
                   r->line);
}

static bool read_frame(reader *r, char *line, err *e) {
    char *cell[COLUMNS];
    int cells = 0;
    for (char *c; (c = next_cell(&line, r->separator)); cells++) {
        if (cells == r->columns)
            return err_set(e, ERR_CONFIG, "%s:%d: more than the %d cells that the first line names",
                           r->path, r->line, r->columns);
        cell[cells] = c;
    }
    if (cells <= r->frame || !*cell[r->frame])
        return err_set(e, ERR_CONFIG, "%s:%d: the line has no frame", r->path, r->line);
    for (int i = 0; i < cells; i++) {
        text *keys = &r->column[i].keys;
        if (i == r->frame || !*cell[i]) continue;
        bool kernel = r->column[i].of && r->column[i].of->type == OPTION_PATH;
        if (kernel && strpbrk(cell[i], ",:")) return wrong(r, e, "expected a kernel, not", cell[i]);
        for (char *p = cell[i]; (p = strchr(p, ','));) *p = '.'; /* of cells between semicolons */
        if (strchr(cell[i], ':')) return wrong(r, e, "expected a number, not", cell[i]);
        text_add(keys, "%s%s:%s", keys->n ? "," : "", cell[r->frame], cell[i]);
    }
    return true;
}

/* Gives the kernel the parameters that have columns. */
static bool set_parameters(const reader *r, settings *s, uint32_t users, err *e) {
    text kernel = {0};
    for (int i = 0; i < r->columns; i++)
        if (*r->column[i].parameter)
            text_add(&kernel, "%s%s=%s", kernel.n ? ";" : "(", r->column[i].parameter,
                     r->column[i].keys.s);
    if (!kernel.n) return true;
    const option *o = option_find("kernel", users);
    text all = {0};
    text_add(&all, "%s%s)", s->kernel ? s->kernel : "", kernel.s);
    bool ok = s->kernel && !kernel_keys_is(s->kernel);
    if (!ok)
        err_set(e, ERR_CONFIG, "%s: parameters need one kernel, a recipe, that they belong to",
                r->path);
    ok = ok &&
         settings_set(s, (int)(o - OPTIONS), all.s, (setting_origin){ORIGIN_FILE, r->path}, e);
    text_free(&kernel);
    text_free(&all);
    return ok;
}

/* Sets the option of each column that has keys. */
static bool set_columns(const reader *r, settings *s, uint32_t users, err *e) {
    for (int i = 0; i < r->columns; i++) {
        const column *c = &r->column[i];
        if (i == r->frame) continue;
        if (!c->keys.n)
            return err_set(e, ERR_CONFIG, "%s: the column '%s' is empty", r->path,
                           c->of ? c->of->name : c->parameter);
        if (c->of && !settings_set(s, (int)(c->of - OPTIONS), c->keys.s,
                                   (setting_origin){ORIGIN_FILE, r->path}, e))
            return false;
    }
    return set_parameters(r, s, users, e);
}

bool keys_file_load(settings *s, const char *path, uint32_t users, err *e) {
    reader *r = mem_new(1, sizeof *r, "the columns of --keys", e);
    if (!r) return false;
    size_t n = 0;
    uint8_t *file = file_read_all(path, FILE_BYTES, &n, e);
    char *bytes = file ? mem_strf(e, "%.*s", (int)n, (const char *)file) : NULL, *line = bytes;
    bool ok = bytes != NULL;
    r->path = path;
    if (ok && strncmp(line, "\xef\xbb\xbf", 3) == 0) line += 3; /* the mark of UTF-8 */
    for (char *end; ok && line; line = end) {
        if ((end = strchr(line, '\n'))) *end++ = 0;
        r->line++;
        if (!line[strspn(line, " \t\r")] || *line == '#') continue;
        ok = r->columns ? read_frame(r, line, e) : read_header(r, line, s, users, e);
    }
    if (ok && !r->columns) ok = err_set(e, ERR_CONFIG, "%s: the file is empty", path);
    ok = ok && set_columns(r, s, users, e);
    for (int i = 0; i < r->columns; i++) text_free(&r->column[i].keys);
    mem_free(bytes);
    mem_free(file);
    mem_free(r);
    return ok;
}
