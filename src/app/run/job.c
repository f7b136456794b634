#include "app/run/job.h"

#include "app/cli/option_rules.h"
#include "base/log.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- patterns ------------------------------------------------------------------------------ */

/* The field that stands for the frame's number. */
typedef struct {
    size_t at, bytes; /* in the path */
    int digits;
    int count; /* how many fields there are beside it, itself counted; 0: there is none */
} field;

/* Finds the last field in [from, to) of the path. */
static field last_field(const char *path, size_t from, size_t to) {
    field f = {0};
    for (size_t at = from, n; at < to; at += n ? n : 1) {
        const char *s = path + at;
        size_t mark = *s == '%' ? 1 : s[0] == '$' && s[1] == 'F' ? 2 : 0;
        size_t w = strspn(s + mark, "0123456789");
        n = 0;
        if (*s == '#') n = strspn(s, "#");
        if (mark == 1 && w <= 3 && s[1 + w] == 'd') n = w + 2;
        if (mark == 2 && w <= 2) n = w + 2;
        if (n) f = (field){at, n, mark ? atoi(s + mark) : n == 1 ? 4 : (int)n, f.count + 1};
    }
    return f;
}

/* Finds the field: in the file's name, or else in its folder's. */
static field find_field(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t name = slash ? (size_t)(slash - path) + 1 : 0;
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

char *frame_path(const frame_pattern *p, int number, err *e) {
    text path = {0};
    text_add(&path, "%s%0*d%s", p->before, p->digits, number, p->after);
    char *copy = mem_str(path.s, e);
    text_free(&path);
    return copy;
}

/* --- lists --------------------------------------------------------------------------------- */

static bool append(frame_list *l, int number, size_t *room, err *e) {
    if (l->count >= FRAMES_MOST)
        return err_set(e, ERR_USAGE, "the sequence has more than %d frames; split it with --frames",
                       FRAMES_MOST);
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

/* Reads a whole number at *s, and moves behind it. */
static bool take_int(const char **s, int *to) {
    const char *p = *s + (**s == '-');
    size_t digits = strspn(p, "0123456789");
    if (digits == 0 || digits > 9) return false;
    *to = atoi(*s);
    *s = p + digits;
    return true;
}

/* Reads "a", "a-b" or "a-bxs" at *s, up to a comma or the end. */
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
    return keep(l, &made, ok);
}

/* Adds "1005-1007", or "1005" where there is only one. */
static void add_range(const frame_pattern *p, int first, int last, text *to) {
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
            add_range(p, n[i - 1] + 1, n[i] - 1, to);
        }
    }
    if (gaps > NAMED) text_add(to, ", ... (%zu gaps)", gaps);
    return missing;
}

void frame_list_free(frame_list *l) {
    free(l->number);
    *l = (frame_list){0};
}

/* --- jobs ---------------------------------------------------------------------------------- */

static void note_gaps(const job *j) {
    text gaps = {0};
    size_t missing = frame_list_gaps(&j->frames, &j->in, &gaps);
    if (missing)
        log_note("frame%s %s of %s %s not there", missing == 1 ? "" : "s", gaps.s, j->input,
                 missing == 1 ? "is" : "are");
    text_free(&gaps);
}

static bool open_sequence(job *j, const settings *s, err *e) {
    if (!frame_pattern_parse(&j->in, s->input, e)) return err_in(e, "input");
    bool listed = s->frames ? frame_list_parse(&j->frames, s->frames, e)
                            : frame_list_scan(&j->frames, &j->in, e);
    if (!listed) return false;
    if (!s->frames) note_gaps(j);
    if (frame_pattern_is(j->output))
        return frame_pattern_parse(&j->out, j->output, e) || err_in(e, "output");
    if (j->frames.count > 1)
        return err_set(e, ERR_USAGE,
                       "%zu frames would go into the one file '%s'; give the output a frame "
                       "pattern, such as out.####.exr",
                       j->frames.count, j->output);
    return true;
}

bool job_open(job *j, const settings *s, err *e) {
    *j = (job){.input = s->input, .sequence = frame_pattern_is(s->input)};
    /* OUT, or OUT/name-of-IN where OUT is a folder. */
    struct stat st;
    size_t n = strlen(s->output);
    bool slash = n && s->output[n - 1] == '/', ok = true;
    const char *name = strrchr(s->input, '/');
    text path = {0};
    text_add(&path, "%s", s->output);
    if (slash || (stat(s->output, &st) == 0 && S_ISDIR(st.st_mode)))
        text_add(&path, "%s%s", slash ? "" : "/", name ? name + 1 : s->input);
    j->output = mem_str(path.s, e);
    text_free(&path);
    if (!j->output) return false;
    if (j->sequence) {
        ok = open_sequence(j, s, e);
    } else if (s->frames) {
        ok = err_set(
            e, ERR_USAGE,
            "--frames needs a frame pattern as the input, not '%s'; write ####, %%04d or $F4",
            s->input);
    } else if (frame_pattern_is(j->output)) {
        ok = err_set(e, ERR_USAGE, "the output '%s' has a frame field, but the input '%s' has none",
                     j->output, s->input);
    } else {
        ok = option_rules_check_single(s, e);
    }
    if (!ok) job_close(j);
    return ok;
}

void job_close(job *j) {
    frame_pattern_free(&j->in);
    frame_pattern_free(&j->out);
    frame_list_free(&j->frames);
    mem_free(j->output);
    *j = (job){0};
}

void job_outputs(const job *j, text *to) {
    const frame_list *l = &j->frames;
    if (!j->out.before) text_add(to, "%s", j->output);
    if (!j->out.before) return;
    text_add(to, "%s", j->out.before);
    add_range(&j->out, l->number[0], l->number[l->count - 1], to);
    text_add(to, "%s", j->out.after);
}

size_t job_count(const job *j) {
    return j->sequence ? j->frames.count : 1;
}

bool job_frame(const job *j, size_t index, job_files *to, err *e) {
    const int *n = j->sequence ? &j->frames.number[index] : NULL;
    *to = (job_files){n ? frame_path(&j->in, *n, e) : mem_str(j->input, e),
                      n && j->out.before ? frame_path(&j->out, *n, e) : mem_str(j->output, e), n};
    bool ok = to->input && to->output;
    if (!ok) job_files_free(to);
    return ok;
}

void job_files_free(job_files *f) {
    mem_free(f->input);
    mem_free(f->output);
    *f = (job_files){0};
}
