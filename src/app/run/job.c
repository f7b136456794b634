#include "app/run/job.h"

#include "app/cli/option_rules.h"
#include "base/mem.h"

#include <string.h>
#include <sys/stat.h>

/* OUT, or OUT/name-of-IN where OUT is a folder. */
static char *output_path(const char *input, const char *output, err *e) {
    struct stat st;
    size_t n = strlen(output);
    bool slash = n && output[n - 1] == '/';
    if (!slash && !(stat(output, &st) == 0 && S_ISDIR(st.st_mode))) return mem_str(output, e);
    const char *name = strrchr(input, '/');
    text path = {0};
    text_add(&path, "%s%s%s", output, slash ? "" : "/", name ? name + 1 : input);
    char *copy = mem_str(path.s, e);
    text_free(&path);
    return copy;
}

static bool open_sequence(job *j, const settings *s, err *e) {
    if (!frame_pattern_parse(&j->in, s->input, e)) return err_in(e, "input");
    bool listed = s->frames ? frame_list_parse(&j->frames, s->frames, e)
                            : frame_list_scan(&j->frames, &j->in, e);
    if (!listed) return false;
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
    if (!(j->output = output_path(s->input, s->output, e))) return false;
    bool ok = true;
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

size_t job_count(const job *j) {
    return j->sequence ? j->frames.count : 1;
}

bool job_frame(const job *j, size_t index, char **input, char **output, const int **number,
               err *e) {
    const int *n = j->sequence ? &j->frames.number[index] : NULL;
    char *in = n ? frame_path(&j->in, *n, e) : mem_str(j->input, e);
    char *out = n && j->out.before ? frame_path(&j->out, *n, e) : mem_str(j->output, e);
    if (!in || !out) {
        mem_free(in);
        mem_free(out);
        return false;
    }
    *input = in;
    *output = out;
    *number = n;
    return true;
}
