#include "app/cli/option_rules.h"

#include "image/format.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* --- conditions ---------------------------------------------------------------------------- */

static bool has_threshold(const settings *s) {
    return s->bloom.threshold > 0;
}
static bool may_be_half(const settings *s) {
    return s->pixels != PIXELS_FLOAT;
}
static bool may_use_cpu(const settings *s) {
    const char *d = s->bloom.device;
    return strcmp(d, "gpu") != 0 && strcmp(d, "software") != 0;
}
static bool is_loud(const settings *s) {
    return !s->quiet;
}
static bool is_on_farm(const settings *s) {
    return s->farm != FARM_NONE;
}
static bool is_on_slurm(const settings *s) {
    return s->farm == FARM_SLURM;
}
static bool sees_the_end(const settings *s) {
    return s->farm == FARM_NONE || s->wait;
}
static bool writes_difference(const settings *s) {
    return s->output != NULL;
}
static bool runs_cases(const settings *s) {
    return !s->list;
}
static bool times_frames(const settings *s) {
    return !s->calibrate;
}
static bool prints_words(const settings *s) {
    return !s->json;
}
/* The kernel of bench may also be the size of a generated one. */
static bool reads_kernel(const settings *s) {
    return s->kernel && s->kernel[strspn(s->kernel, "0123456789,")];
}
/* True where the output has this extension. In a folder the output has the input's name. An unknown
 * format is refused by its writer. */
static bool writes(const settings *s, const char *extension) {
    struct stat st;
    const char *path = s->output;
    size_t n = path ? strlen(path) : 0;
    if (!n) return true;
    if (path[n - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode))) path = s->input;
    const char *dot = strrchr(path, '.');
    return !dot || strcasecmp(dot, extension) == 0 || !image_can_create(path, NULL);
}
static bool writes_exr(const settings *s) {
    return writes(s, ".exr");
}
static bool writes_png(const settings *s) {
    return writes(s, ".png");
}

/* --- the table ----------------------------------------------------------------------------- */

enum { RUN = FOR_APPLY | FOR_PLAN };

const option_rule OPTION_RULES[] = {
    {FOR_ALL, "verbose", is_loud, "with --quiet", NULL},

    {RUN, "knee", has_threshold, "without --threshold", NULL},
    {FOR_APPLY, "half_overflow", may_be_half, "with --pixel-type float", NULL},
    {FOR_APPLY, "compression emit_layer", writes_exr, "on an output that is not EXR", NULL},
    {FOR_APPLY, "exposure", writes_png, "on an output that is not PNG", NULL},
    {RUN | FOR_BENCH, "plans", may_use_cpu, "on a device that is no CPU", NULL},
    {FOR_APPLY, "missing", NULL, "on a single image", NULL},
    {FOR_APPLY, "chunk farm_dir", is_on_farm, "without --farm", NULL},
    {FOR_APPLY, "wait farm_args", is_on_slurm, "without --farm slurm", NULL},
    {FOR_APPLY, "report json progress", sees_the_end, "with --farm but without --wait", NULL},

    {FOR_KERNEL, "param fade", NULL, NULL, "make"},
    {FOR_KERNEL, "output clobber taps", NULL, NULL, "make convert"},
    {FOR_KERNEL, "from to normalize kernel_center", NULL, NULL, "convert"},
    {FOR_KERNEL, "strict", NULL, NULL, "check"},
    {FOR_KERNEL, "jobs", NULL, NULL, "make check convert"},
    {FOR_CACHE, "cache_size", NULL, NULL, "list trim"},

    {FOR_DIFF, "od abs scale", writes_difference, "without --output", NULL},

    {FOR_CHECK,
     "device progress keep_going bless require_device require_cases junit tap json html github",
     runs_cases, "with --list", NULL},

    {FOR_BENCH,
     "kernel normalize kernel_center kernel_scale correlate spectrum padding axis precision plans "
     "pixel_type vram_limit size rounds queue in_flight warm_up csv",
     times_frames, "with --calibrate", NULL},
    {FOR_BENCH, "normalize kernel_center kernel_scale correlate", reads_kernel,
     "without a file as --kernel", NULL},
    {FOR_BENCH, "csv", prints_words, "with --json", NULL},
};
const int OPTION_RULE_COUNT = (int)(sizeof OPTION_RULES / sizeof OPTION_RULES[0]);

/* --- the check ----------------------------------------------------------------------------- */

/* Returns true if `word` is one of `words`, which blanks separate. */
static bool is_among(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

/* Refuses the first option of the command line that the rule is about. */
static bool refuse(const option_rule *r, const settings *s, uint32_t command, const char *action,
                   err *e) {
    char flag[OPTION_NAME_ROOM];
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        if (!(o->on & command) || s->value[i].origin != ORIGIN_FLAG) continue;
        if (!is_among(r->options, o->name)) continue;
        option_flag(o, flag);
        if (!r->actions) return err_set(e, ERR_USAGE, "%s has no effect %s", flag, r->otherwise);
        text of = {0};
        for (const char *p = r->actions; *p; p++) text_add(&of, *p == ' ' ? ", " : "%c", *p);
        err_set(e, ERR_USAGE, "%s has no effect in '%s'; it is for %s", flag, action, of.s);
        text_free(&of);
        return false;
    }
    return true;
}

bool option_rules_check(const settings *s, uint32_t command, const char *action, err *e) {
    for (int i = 0; i < OPTION_RULE_COUNT; i++) {
        const option_rule *r = &OPTION_RULES[i];
        if (!(r->on & command) || (!r->holds && !r->actions)) continue;
        bool holds = r->holds ? r->holds(s) : !action || is_among(r->actions, action);
        if (!holds && !refuse(r, s, command, action, e)) return false;
    }
    return true;
}

bool option_has_effect(const settings *s, uint32_t command, const option *o) {
    for (int i = 0; i < OPTION_RULE_COUNT; i++) {
        const option_rule *r = &OPTION_RULES[i];
        if ((r->on & command) && r->holds && is_among(r->options, o->name) && !r->holds(s))
            return false;
    }
    return true;
}

bool option_rules_check_single(const settings *s, err *e) {
    for (int i = 0; i < OPTION_RULE_COUNT; i++) {
        const option_rule *r = &OPTION_RULES[i];
        if (!r->holds && !r->actions && !refuse(r, s, r->on, NULL, e)) return false;
    }
    return true;
}
