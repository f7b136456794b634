#include "app/cli/option_rules.h"

#include "base/path.h"

#include "image/format.h"

#include <string.h>
#include <sys/stat.h>

/* Returns true where the output has this extension. In a folder the output has the input's name. An
 * unknown format is refused by its writer. */
static bool writes(const settings *s, const char *extension) {
    struct stat st;
    const char *path = s->output;
    size_t n = path ? strlen(path) : 0;
    if (!n) return true;
    if (path[n - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode))) path = s->input;
    return !*path_ending(path) || path_ends_in(path, extension) || !image_can_create(path, NULL);
}

#define WHERE(name, holds)                \
    static bool name(const settings *s) { \
        return holds;                     \
    }

WHERE(is_loud, !s->quiet)
WHERE(has_threshold, s->bloom.threshold > 0)
WHERE(has_halfs, s->pixels != PIXELS_FLOAT) /* the output may be half floats */
WHERE(is_exr, writes(s, "exr"))             /* the output may be in this format */
WHERE(is_png, writes(s, "png"))
WHERE(is_data, !writes(s, "png") || writes(s, "exr"))
WHERE(is_of_files,
      !(s->input && strcmp(s->input, "-") == 0) && !(s->output && image_is_stream(s->output)))
WHERE(deglares, s->bloom.solve)
WHERE(spreads, !s->bloom.solve)
WHERE(has_no_black, !s->bloom.black)
WHERE(emits, s->bloom.emit_layer || s->emit_file)
WHERE(blooms,
      s->bloom.sharpen != 1 || s->bloom.per_layer || emits(s) || s->bloom.window != WINDOW_KEEP)
WHERE(to_slurm, s->farm == FARM_SLURM)
WHERE(waits, s->wait)                /* farm waits until the frames are made */
WHERE(has_output, s->output != NULL) /* diff writes an image */
WHERE(runs_cases, !s->list)          /* check */
WHERE(makes_one, !s->all_kernels)    /* kernel make */

static bool never(const settings *s) {
    (void)s;
    return false;
}

enum { RUN = FOR_APPLY | FOR_PLAN };

const option_rule OPTION_RULES[] = {
    {FOR_ALL, "verbose", is_loud, "with --quiet"},

    {FOR_KERNEL, "taps param image plate fade", makes_one, "with --all"},
    {RUN, "clip clamp black", deglares, "where no glare is taken away; that is 'fftbloom deglare'"},
    {RUN, "threshold knee emit emit_layer emit_file window", spreads, "where glare is taken away"},
    {RUN, "knee", has_threshold, "without --threshold"},
    {RUN,
     "tint mask threshold knee padding axis normalize kernel_center kernel_scale correlate "
     "spectrum tolerance precision verify nan alpha core clip clamp black",
     blooms, "with --amount 0"},
    {RUN, "amount", has_no_black, "with --black, which finds the amount"},
    {FOR_APPLY, "half_overflow", has_halfs, "with --pixel-type float"},
    {FOR_APPLY, "emit", emits, "without --emit-layer or --emit-file"},
    {FOR_APPLY, "compression emit_layer stamp", is_exr, "on an output that is not EXR"},
    {FOR_APPLY, "output_space", is_data, "on a PNG picture; use --view"},
    {FOR_APPLY, "exposure view before", is_png, "on an output that is not PNG"},
    {FOR_APPLY, "report json existing before keep_going", is_of_files,
     "on standard input and output"},
    {FOR_APPLY, "keep_going", NULL, "on a single image"},
    {FOR_PLAN, "report progress verify before", never, "in a plan"},
    {FOR_FARM, "wait args dir dry_run", to_slurm, "without --to slurm"},
    {FOR_FARM, "report json progress", waits, "without --wait"},

    {FOR_DIFF, "od abs scale", has_output, "without --output"},

    {FOR_CHECK, "device progress keep_going bless require_device require_cases junit json html",
     runs_cases, "with --list"},
};
const int OPTION_RULE_COUNT = (int)(sizeof OPTION_RULES / sizeof OPTION_RULES[0]);

/* Returns true if `word` is one of `words`, which blanks separate. */
static bool is_among(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

/* Refuses the first option of the command line that the rule is about. */
static bool refuse(const option_rule *r, const settings *s, uint32_t bit, err *e) {
    char flag[OPTION_NAME_ROOM];
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        if (!(o->on & bit) || settings_of(s, o)->origin != ORIGIN_FLAG) continue;
        if (!is_among(r->options, o->name)) continue;
        return err_set(e, ERR_USAGE, "%s has no effect %s", option_flag(o, flag), r->otherwise);
    }
    return true;
}

bool option_rules_check(const settings *s, uint32_t bit, err *e) {
    for (int i = 0; i < OPTION_RULE_COUNT; i++) {
        const option_rule *r = &OPTION_RULES[i];
        if ((r->on & bit) && r->where && !r->where(s) && !refuse(r, s, bit, e)) return false;
    }
    return true;
}

static bool is_for_action(const option *o, const command_action *a) {
    return o->section == SECTION_MESSAGES || is_among(a->options, o->name);
}

bool option_is_for(const option *o, const command *c, const command_action *a) {
    if (!(o->on & c->bit) || (a && !is_for_action(o, a))) return false;
    if (c->bit != FOR_APPLY) return true;
    for (int i = 0; i < OPTION_RULE_COUNT; i++) /* apply blooms, and deglare does not */
        if (OPTION_RULES[i].where == (c->sets ? spreads : deglares) &&
            is_among(OPTION_RULES[i].options, o->name))
            return false;
    return strcmp(o->name, "command") != 0;
}

void option_actions(const option *o, const command *c, text *to) {
    size_t before = to->n;
    for (const command_action *a = c->actions; a && a->name; a++)
        if (is_for_action(o, a)) text_add(to, "%s%s", to->n > before ? ", " : "", a->name);
}

void option_commands(const option *o, text *to) {
    size_t before = to->n;
    bool all = (o->on & FOR_ALL) == FOR_ALL;
    if (all) text_add(to, "all commands");
    for (int i = 0; !all && i < COMMAND_COUNT; i++)
        if (option_is_for(o, &COMMANDS[i], NULL))
            text_add(to, "%s%s", to->n > before ? ", " : "", COMMANDS[i].name);
    if (o->on & FOR_CASE) text_add(to, "%scases of suites", to->n > before ? ", " : "");
}

bool option_rules_check_action(const settings *s, const command *c, const command_action *a,
                               err *e) {
    char flag[OPTION_NAME_ROOM];
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        if (!(o->on & c->bit) || settings_of(s, o)->origin != ORIGIN_FLAG || is_for_action(o, a))
            continue;
        text of = {0};
        option_actions(o, c, &of);
        err_set(e, ERR_USAGE, "%s has no effect in '%s'; it is for %s", option_flag(o, flag),
                a->name, of.s);
        text_free(&of);
        return false;
    }
    return true;
}

bool option_has_effect(const settings *s, uint32_t bit, const option *o) {
    for (int i = 0; i < OPTION_RULE_COUNT; i++) {
        const option_rule *r = &OPTION_RULES[i];
        if ((r->on & bit) && is_among(r->options, o->name) && r->where && !r->where(s))
            return false;
    }
    return true;
}

bool option_rules_check_single(const settings *s, err *e) {
    for (int i = 0; i < OPTION_RULE_COUNT; i++) {
        const option_rule *r = &OPTION_RULES[i];
        if (!r->where && !refuse(r, s, r->on, e)) return false;
    }
    return true;
}
