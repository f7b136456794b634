#include "app/run/job.h"

#include "app/cli/option_rules.h"
#include "base/log.h"
#include "base/path.h"
#include "image/format.h"

#include <dirent.h>
#include <unistd.h>

/* --- lists --------------------------------------------------------------------------------- */

static bool append(frame_list *l, int number, size_t *room, err *e) {
    if (l->count >= FRAMES_MOST)
        return err_set(e, ERR_USAGE, "the sequence has more than %d frames; split it with --frames",
                       FRAMES_MOST);
    if (l->count == *room) {
        const size_t most = *room ? *room * 2 : 64, bytes = sizeof *l->number;
        int *more = mem_more(l->number, l->count * bytes, most * bytes, "frames", e);
        if (!more) return false;
        l->number = more;
        *room = most;
    }
    l->number[l->count++] = number;
    return true;
}

static int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Reads "a", "a-b", "a-bxs" or "a-b:s" at *s, up to a comma or the end. */
static bool take_range(const char **s, int *first, int *last, int *step) {
    *s += strspn(*s, " ");
    if (!frame_number_take(s, first)) return false;
    *last = *first;
    *step = 1;
    if (**s == '-') {
        if (++*s, !frame_number_take(s, last)) return false;
        if ((**s == 'x' || **s == ':') && (++*s, !frame_number_take(s, step))) return false;
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

/* Adds the file's name with its field: "b.####.exr". */
static void frame_field_words(const frame_pattern *p, text *to) {
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
        if (frame_pattern_number(p, d->d_name, &number)) ok = append(&made, number, &room, e);
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

/* Adds "1005-1007", or "1005" where both are the same. */
static void frame_range_words(const frame_pattern *p, int first, int last, text *to) {
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
    mem_free(l->number);
    *l = (frame_list){0};
}

const char *const JOB_ROLE[JOB_PATHS] = {[JOB_INPUT] = "the input",
                                         [JOB_KERNEL] = "the kernel",
                                         [JOB_MASK] = "the mask",
                                         [JOB_OUTPUT] = "the output",
                                         [JOB_BEFORE] = "the picture before",
                                         [JOB_EMITTED] = "the glare's file"};

static const char *given_path(const job *j, int k) {
    const settings *s = j->run->s;
    const char *mask = s->bloom.mask_file ? s->bloom.mask : NULL;
    return (const char *[JOB_PATHS]){s->input,  j->run->kernel->file, mask, j->output,
                                     s->before, s->emit_file}[k];
}

/* Fills in the names of the views that the paths ask for: those of --views, or one without. */
static bool name_views(job *j, const settings *s, err *e) {
    bool in = frame_views_in(s->input), out = frame_views_in(j->output), many = in || out;
    const char *list = s->views;
    if (in != out && j->output)
        return err_set(e, ERR_USAGE,
                       "the %s '%s' has a field for views (%%V or %%v), but the %s '%s' has none",
                       in ? "input" : "output", in ? s->input : j->output, in ? "output" : "input",
                       in ? j->output : s->input);
    for (int k = JOB_KERNEL; !many && k <= JOB_MASK; k++)
        if (given_path(j, k) && frame_views_in(given_path(j, k)))
            return err_set(
                e, ERR_USAGE,
                "%s '%s' has a field for views (%%V or %%v), but the input '%s' has none",
                JOB_ROLE[k], given_path(j, k), s->input);
    if (!many && settings_of(s, option_find("views", FOR_APPLY))->origin == ORIGIN_FLAG)
        return err_set(e, ERR_USAGE,
                       "--views has no effect: no path has a field for views (%%V or %%v)");
    j->views = 1;
    for (const char *p = list; many && *p; p++) j->views += *p == ',';
    if (!(j->view = mem_new(j->views, sizeof *j->view, "views", e))) return false;
    for (size_t i = 0; many && i < j->views; i++) {
        text_piece item = {"", 0};
        text_item(&list, &item);
        char *name = j->view[i].name = mem_strf(e, "%.*s", (int)item.n, item.s);
        if (!name) return false;
        if (!*name || strpbrk(name, "/%"))
            return err_set(e, ERR_USAGE, "--views '%s': expected names such as left,right",
                           s->views);
    }
    return true;
}

static bool open_views(job *j, const settings *s, err *e) {
    if (!name_views(j, s, e)) return false;
    for (size_t i = 0; i < j->views; i++)
        for (int k = 0; k < JOB_PATHS; k++) {
            const char *path = given_path(j, k);
            OWN_MEM char *seen = path ? frame_view_path(path, j->view[i].name, e) : NULL;
            if (path && !(seen && frame_path_parse(&j->view[i].path[k], seen, e)))
                return err_in(e, "%s", JOB_ROLE[k] + strlen("the "));
        }
    j->kernels = j->view[0].path[JOB_KERNEL].after || frame_views_in(j->run->kernel->file);
    return true;
}

/* --- sequences ------------------------------------------------------------------------------ */

static bool has_input(const job *j, int number) {
    for (size_t i = 0; i < j->views; i++) {
        OWN_MEM char *path = frame_path(&j->view[i].path[JOB_INPUT], number, NULL);
        if (path && access(path, F_OK) == 0) return true;
    }
    return false;
}

/* Says what was asked for, and what is there instead. */
static bool refuse_frames(const job *j, const settings *s, err *e) {
    const frame_pattern *p = &j->view[0].path[JOB_INPUT];
    OWN(frame_list) l = {0};
    OWN(text) pattern = {0}, has = {0};
    bool scanned = frame_list_scan(&l, p, e); /* else it has said what there is */
    if (scanned) {
        char folder[PATH_MAX] = "";
        path_folder(p->before, folder);
        frame_field_words(p, &pattern);
        frame_range_words(p, l.number[0], l.number[l.count - 1], &has);
        err_set(e, ERR_NO_INPUT, "the folder '%s' has no frame %s of '%s'; it has %s", folder,
                s->frames, pattern.s, has.s);
    } else if (e->code == ERR_USAGE) { /* the folder's name has the number */
        err_set(e, ERR_NO_INPUT, "there is no frame %s of '%s'", s->frames, s->input);
    }
    return false;
}

/* Looks for the inputs of frames that were asked for, where there are many of them, or the first is
 * missing. Refuses a list of which none is there, and leaves out most of many that are missing. */
static bool look_for_inputs(job *j, const settings *s, err *e) {
    frame_list *l = &j->frames;
    size_t kept = 0, missing = 0;
    if (l->count <= JOB_MISSING && has_input(j, l->number[0])) return true;
    for (size_t i = 0; i < l->count; i++) {
        const bool there = has_input(j, l->number[i]);
        missing += !there;
        if (there || missing <= JOB_MISSING) l->number[kept++] = l->number[i];
    }
    const bool any = missing < l->count;
    j->left_out = (l->count - kept) * j->views;
    l->count = kept;
    return any || s->keep_going || refuse_frames(j, s, e);
}

/* Lists the frames: those asked for, or those of the first view. A farm's may be made later. */
static bool list_frames(job *j, const settings *s, err *e) {
    const frame_pattern *input = &j->view[0].path[JOB_INPUT];
    bool listed = s->frames ? frame_list_parse(&j->frames, s->frames, e)
                            : frame_list_scan(&j->frames, input, e);
    if (!listed || (s->frames && !j->run->farms && !look_for_inputs(j, s, e))) return false;
    OWN(text) gaps = {0};
    size_t missing = s->frames ? 0 : frame_list_gaps(&j->frames, input, &gaps);
    if (missing)
        log_note("frame%s %s of %s %s missing", missing == 1 ? "" : "s", gaps.s, j->input,
                 missing == 1 ? "is" : "are");
    const char *one = NULL;
    for (int k = JOB_OUTPUT; k < JOB_PATHS; k++) {
        const frame_pattern *p = &j->view[0].path[k];
        if (p->before && !p->after && !image_is_stream(p->before)) one = given_path(j, k);
    }
    return !one || j->frames.count == 1 ||
           err_set(e, ERR_USAGE,
                   "%zu frames would go into the one file '%s'; give the output a frame "
                   "pattern, such as out.####.exr",
                   j->frames.count, one);
}

/* Refuses what only a sequence can have. */
static bool check_lone(const job *j, const settings *s, err *e) {
    if (s->frames)
        return err_set(
            e, ERR_USAGE,
            "--frames needs a frame pattern as the input, not '%s'; write ####, %%04d or $F4",
            s->input);
    for (int k = JOB_KERNEL; k < JOB_PATHS; k++)
        if (j->view[0].path[k].after)
            return err_set(e, ERR_USAGE, "%s '%s' has a frame field, but the input '%s' has none",
                           JOB_ROLE[k], given_path(j, k), s->input);
    return j->views > 1 || option_rules_check_single(s, e);
}

/* --- jobs ----------------------------------------------------------------------------------- */

/* Returns OUT, or OUT/name-of-IN where OUT is a folder. */
static char *find_output(const settings *s, err *e) {
    size_t n = strlen(s->output);
    bool slash = n && s->output[n - 1] == '/';
    if (!slash && !path_is_folder(s->output)) return mem_str(s->output, e);
    return mem_strf(e, "%s%s%s", s->output, slash ? "" : "/", path_name(s->input));
}

bool job_open(job *j, const run_choice *run, err *e) {
    const settings *s = run->s;
    *j = (job){.input = s->input, .run = run};
    bool ok = (!s->output || (j->output = find_output(s, e))) && open_views(j, s, e);
    j->sequence = ok && j->view[0].path[JOB_INPUT].after;
    ok = ok && (j->sequence ? list_frames(j, s, e) : check_lone(j, s, e));
    if (!ok) job_close(j);
    return ok;
}

void job_close(job *j) {
    for (size_t i = 0; j->view && i < j->views; i++) {
        for (int k = 0; k < JOB_PATHS; k++) frame_pattern_free(&j->view[i].path[k]);
        mem_free(j->view[i].name);
    }
    mem_free(j->view);
    frame_list_free(&j->frames);
    mem_free(j->output);
    *j = (job){0};
}

void job_outputs(const job *j, text *to) {
    const frame_list *l = &j->frames;
    OWN(frame_pattern) pattern = {0};
    if (!j->sequence || !frame_path_parse(&pattern, j->output, NULL) || !pattern.after) {
        text_add(to, "%s", j->output);
    } else {
        enum { RUNS = 4 };
        OWN(text) gaps = {0};
        const bool whole = frame_list_gaps(l, &pattern, &gaps) == 0;
        text_add(to, "%s", pattern.before);
        for (size_t from = 0, end, runs = 0; from < l->count; from = end, runs++) {
            for (end = from + 1; end < l->count; end++)
                if (!whole && runs < RUNS && l->number[end] != l->number[end - 1] + 1) break;
            text_add(to, "%s%s", runs ? "," : "", runs == RUNS ? "..." : "");
            frame_range_words(&pattern, l->number[runs == RUNS ? end - 1 : from],
                              l->number[end - 1], to);
        }
        text_add(to, "%s", pattern.after);
    }
}

size_t job_count(const job *j) {
    return (j->sequence ? j->frames.count : 1) * j->views;
}

bool job_frame(const job *j, size_t index, job_files *to, err *e) {
    const int *number = j->sequence ? &j->frames.number[index / j->views] : NULL;
    const job_view *v = &j->view[index % j->views];
    int n = number ? *number : 0;
    bool ok = true;
    *to = (job_files){.number = number, .view = v->name};
    for (int k = 0; ok && k < JOB_PATHS; k++) {
        const frame_pattern *p = &v->path[k];
        if (p->before) ok = (to->path[k] = frame_path(p, n, e)) != NULL;
    }
    if (!ok) job_files_free(to);
    return ok;
}

void job_files_free(job_files *f) {
    for (int k = 0; k < JOB_PATHS; k++) mem_free(f->path[k]);
    mem_free(f->called);
    *f = (job_files){0};
}

static bool next_frame(void *ctx, size_t index, job_files *to, err *e) {
    return job_frame(ctx, index, to, e);
}

job_source job_frames(const job *j) {
    return (job_source){.count = job_count(j),
                        .kernels = j->kernels,
                        .next = next_frame,
                        .ctx = (void *)(uintptr_t)j};
}
