#include "app/run/job.h"

#include "app/cli/option_rules.h"
#include "app/cli/options.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "image/format.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const JOB_ROLE[JOB_PATHS] = {[JOB_INPUT] = "the input",
                                         [JOB_KERNEL] = "the kernel",
                                         [JOB_OUTPUT] = "the output",
                                         [JOB_BEFORE] = "the picture before",
                                         [JOB_EMITTED] = "the glare's file"};

static const char *given_path(const job *j, const settings *s, int k) {
    return k == JOB_INPUT    ? s->input
           : k == JOB_KERNEL ? s->kernel
           : k == JOB_OUTPUT ? j->output
           : k == JOB_BEFORE ? s->before
                             : s->emit_file;
}

/* --- views ---------------------------------------------------------------------------------- */

/* Fills in the names of the views that the paths ask for: those of --views, or one without. */
static bool name_views(job *j, const settings *s, err *e) {
    bool in = frame_views_in(s->input), out = frame_views_in(j->output), many = in || out;
    const char *list = s->views;
    if (in != out && j->output)
        return err_set(e, ERR_USAGE,
                       "the %s '%s' has a field for views (%%V or %%v), but the %s '%s' has none",
                       in ? "input" : "output", in ? s->input : j->output, in ? "output" : "input",
                       in ? j->output : s->input);
    if (!many && frame_views_in(s->kernel))
        return err_set(e, ERR_USAGE,
                       "the kernel '%s' has a field for views (%%V or %%v), but the input '%s' has "
                       "none",
                       s->kernel, s->input);
    if (!many && settings_of(s, option_find("views", FOR_APPLY))->origin == ORIGIN_FLAG)
        return err_set(e, ERR_USAGE,
                       "--views has no effect: no path has a field for views (%%V or %%v)");
    j->views = 1;
    for (const char *p = list; many && *p; p++) j->views += *p == ',';
    if (!(j->view = mem_new(j->views, sizeof *j->view, "views", e))) return false;
    for (size_t i = 0; many && i < j->views; i++) {
        list += strspn(list, " ");
        char *name = j->view[i].name = mem_strf(e, "%.*s", (int)strcspn(list, ", "), list);
        if (!name) return false;
        if (!*name || strpbrk(name, "/%"))
            return err_set(e, ERR_USAGE, "--views '%s': expected names such as left,right",
                           s->views);
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return true;
}

static bool open_views(job *j, const settings *s, err *e) {
    if (!name_views(j, s, e)) return false;
    for (size_t i = 0; i < j->views; i++)
        for (int k = 0; k < JOB_PATHS; k++) {
            const char *path = given_path(j, s, k);
            char *seen = path ? frame_view_path(path, j->view[i].name, e) : NULL;
            bool ok = !path || (seen && frame_path_parse(&j->view[i].path[k], seen, e));
            mem_free(seen);
            if (!ok) return err_in(e, "%s", JOB_ROLE[k] + strlen("the "));
        }
    j->kernels = j->view[0].path[JOB_KERNEL].after || frame_views_in(s->kernel);
    return true;
}

/* --- sequences ------------------------------------------------------------------------------ */

/* Returns whether a frame is there in some view. */
static bool has_input(const job *j, int number) {
    bool is = false;
    for (size_t i = 0; !is && i < j->views; i++) {
        char *path = frame_path(&j->view[i].path[JOB_INPUT], number, NULL);
        is = path && access(path, F_OK) == 0;
        mem_free(path);
    }
    return is;
}

/* Says what was asked for, and what is there instead. */
static bool refuse_frames(const job *j, const settings *s, err *e) {
    const frame_pattern *p = &j->view[0].path[JOB_INPUT];
    frame_list l = {0};
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
    frame_list_free(&l);
    return false;
}

/* Looks for the inputs of frames that were asked for, where there are many of them, or the first is
 * missing. Refuses a list of which none is there, and leaves out most of many that are missing. */
static bool look_for_inputs(job *j, const settings *s, err *e) {
    frame_list *l = &j->frames;
    size_t kept = 0, missing = 0;
    if (l->count <= JOB_MISSING && has_input(j, l->number[0])) return true;
    for (size_t i = 0; i < l->count; i++) {
        const bool is = has_input(j, l->number[i]);
        missing += !is;
        if (is || missing <= JOB_MISSING) l->number[kept++] = l->number[i];
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
    if (!listed || (s->frames && !s->farms && !look_for_inputs(j, s, e))) return false;
    OWN(text) gaps = {0};
    size_t missing = s->frames ? 0 : frame_list_gaps(&j->frames, input, &gaps);
    if (missing)
        log_note("frame%s %s of %s %s missing", missing == 1 ? "" : "s", gaps.s, j->input,
                 missing == 1 ? "is" : "are");
    const char *one = NULL;
    for (int k = JOB_OUTPUT; k < JOB_PATHS; k++) {
        const frame_pattern *p = &j->view[0].path[k];
        if (p->before && !p->after && !image_is_stream(p->before)) one = given_path(j, s, k);
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
                           JOB_ROLE[k], given_path(j, s, k), s->input);
    return j->views > 1 || option_rules_check_single(s, e);
}

/* --- jobs ----------------------------------------------------------------------------------- */

/* Returns OUT, or OUT/name-of-IN where OUT is a folder. */
static char *find_output(const settings *s, err *e) {
    struct stat st;
    size_t n = strlen(s->output);
    bool slash = n && s->output[n - 1] == '/';
    if (!slash && (stat(s->output, &st) != 0 || !S_ISDIR(st.st_mode))) return mem_str(s->output, e);
    return mem_strf(e, "%s%s%s", s->output, slash ? "" : "/", path_name(s->input));
}

bool job_open(job *j, const settings *s, err *e) {
    *j = (job){.input = s->input};
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
    frame_pattern all = {0};
    if (!j->sequence || !frame_path_parse(&all, j->output, NULL) || !all.after) {
        text_add(to, "%s", j->output);
    } else {
        text_add(to, "%s", all.before);
        frame_range_words(&all, l->number[0], l->number[l->count - 1], to);
        text_add(to, "%s", all.after);
    }
    frame_pattern_free(&all);
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
    *f = (job_files){0};
}
