#include "app/cli/option_rules.h"

#include "base/path.h"
#include "image/format.h"

/* Returns true where the output has this extension. In a folder the output has the input's name. An
 * unknown format is refused by its writer. */
static bool writes(const settings *s, const char *extension) {
    const char *path = s->output;
    size_t n = path ? strlen(path) : 0;
    if (!n) return true;
    if (path[n - 1] == '/' || path_is_folder(path)) path = s->input;
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
WHERE(never, s == NULL)

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

/* Refuses a flag of the rule; and `nan` wherever it was set, since bad pixels would pass. */
static bool refuse(const option_rule *r, const settings *s, uint32_t bit, err *e) {
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        const origin_kind by = settings_of(s, o)->origin;
        if (!(o->on & bit) || !is_among(r->options, o->name)) continue;
        if (by != ORIGIN_FLAG && (by == ORIGIN_DEFAULT || strcmp(o->name, "nan") != 0)) continue;
        OWN(text) where = {0};
        if (by != ORIGIN_FLAG) option_origin(s, o, &where);
        return err_set(e, ERR_USAGE, "%s%s%s has no effect %s", where.n ? where.s : "",
                       where.n ? ": " : "", where.n ? o->name : FLAG_OF(o), r->otherwise);
    }
    return true;
}

bool option_rules_check(const settings *s, uint32_t bit, err *e) {
    for (const option_rule *r = OPTION_RULES; r < OPTION_RULES + OPTION_RULE_COUNT; r++)
        if ((r->on & bit) && r->where && !r->where(s) && !refuse(r, s, bit, e)) return false;
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

void option_commands(const commands *list, const option *o, text *to) {
    size_t before = to->n;
    bool all = (o->on & FOR_ALL) == FOR_ALL;
    if (all) text_add(to, "all commands");
    for (int i = 0; !all && i < list->count; i++)
        if (option_is_for(o, &list->row[i], NULL))
            text_add(to, "%s%s", to->n > before ? ", " : "", list->row[i].name);
    if (o->on & FOR_CASE) text_add(to, "%scases of suites", to->n > before ? ", " : "");
}

bool option_rules_check_action(const settings *s, const command *c, const command_action *a,
                               err *e) {
    OWN(text) of = {0};
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        if (!(o->on & c->bit) || settings_of(s, o)->origin != ORIGIN_FLAG || is_for_action(o, a))
            continue;
        option_actions(o, c, &of);
        return err_set(e, ERR_USAGE, "%s has no effect in '%s'; it is for %s", FLAG_OF(o), a->name,
                       of.s);
    }
    return true;
}

bool option_has_effect(const settings *s, uint32_t bit, const option *o) {
    for (const option_rule *r = OPTION_RULES; r < OPTION_RULES + OPTION_RULE_COUNT; r++)
        if ((r->on & bit) && is_among(r->options, o->name) && r->where && !r->where(s))
            return false;
    return true;
}

bool option_rules_check_single(const settings *s, err *e) {
    for (const option_rule *r = OPTION_RULES; r < OPTION_RULES + OPTION_RULE_COUNT; r++)
        if (!r->where && !refuse(r, s, r->on, e)) return false;
    return true;
}

#define BY_FRAME                                                                          \
    "give each part of a shot a command of its own, with --frames, or fade the layer of " \
    "--emit additive in comp; docs/sequences.md has both"

/* To refuse a word, add a row: the commands that took it; the word, or several with commas between,
 * with _ for -; and a sentence without a full stop. A value is written behind its option, as
 * "existing=in-place"; `users` do not count for it. */
static const struct {
    uint32_t users;
    const char *words, *instead;
} GONE[] = {
    {FOR_KERNEL, "convert,from,to",
     "give --correlate or --kernel-center to the run, or turn the kernel by 'kernel rotate FILE "
     "180'; docs/kernels.md has a table of tools"},
    {FOR_KERNEL, "convolve", "bloom twice, or add the kernels with 'kernel mix'"},
    {FOR_KERNEL, "disperse", "'kernel make' with wavelengths makes a coloured kernel"},
    {FOR_KERNEL, "decades", "show draws nine decades; 'kernel show --json' has the points"},
    {FOR_KERNEL, "merge",
     "merge exposures where photographs are developed, and make a kernel of the result with "
     "'kernel clean'"},
    {FOR_KERNEL, "pad", "'kernel crop FILE --taps N' makes a kernel larger, too"},
    {FOR_CONFIG, "include",
     "give one file with all keys; a flag overrides a key, and jq -s 'add' a.json b.json merges "
     "two files"},
    {FOR_CASE, "include", "give one suite with all cases, or run 'fftbloom check' for each suite"},
    {FOR_APPLY | FOR_PLAN | FOR_FARM | FOR_CONFIG, "keys", BY_FRAME},
    {FOR_ALL, "kernel=*[0-9]:*",
     BY_FRAME "; frames have kernels of their own by a pattern, such as k.####.exr"},
    {FOR_ALL,
     "amount=*[0-9]:*,threshold=*[0-9]:*,knee=*[0-9]:*,kernel_scale=*[0-9]:*,exposure=*[0-9]:*",
     BY_FRAME},
    {FOR_APPLY, "existing=in-place",
     "an input is never written; name another file or folder as OUT"},
    {FOR_BENCH, "fft,ocean,engine,algorithm,plot",
     "it is a program of its own: make lab, then build/fftlab fft, ocean or article"},
    {FOR_APPLY, "print_config",
     "'fftbloom plan' with the same options and --print-config prints them"},
    {FOR_BENCH, "frames", "write 'fftbloom bench'"},
    {FOR_APPLY | FOR_PLAN | FOR_FARM | FOR_CONFIG, "raw",
     "pipes carry EXR and PFM images in a row: ffmpeg -vf format=gbrpf32le -c:v pfm "
     "-f image2pipe - before, and ffmpeg -f pfm_pipe -i - after (docs/pipes.md)"},
    {FOR_FARM, "to=template,template",
     "docs/farm.md shows how Deadline and others run fftbloom with --frames and --existing update"},
};

static const char *find_gone(const char *word, uint32_t users) {
    for (size_t i = 0; i < sizeof GONE / sizeof GONE[0]; i++)
        if (GONE[i].users & users && text_glob_any(GONE[i].words, word)) return GONE[i].instead;
    return NULL;
}

const char *old_word(const char *word, uint32_t users) {
    char plain[OPTION_NAME_ROOM];
    return find_gone(option_plain(word, plain), users);
}

const char *old_value(const char *name, const char *value) {
    char both[2 * OPTION_NAME_ROOM];
    snprintf(both, sizeof both, "%s=%s", name, value);
    return find_gone(both, ~0u);
}
