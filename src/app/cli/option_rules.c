#include "app/cli/option_rules.h"

#include "base/log.h"
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

static bool is_met(option_need need, const settings *s) {
    const bool emits = s->bloom.emit_layer || s->emit_file;
    switch (need) {
    case NEED_LOUD: return !s->quiet;
    case NEED_ONE: return !s->all_kernels;
    case NEED_DEGLARE: return s->bloom.solve;
    case NEED_APPLY: return !s->bloom.solve;
    case NEED_THRESHOLD: return s->bloom.threshold > 0;
    case NEED_BLOOM:
        return s->bloom.sharpen != 1 || s->bloom.per_layer || emits ||
               s->bloom.window != WINDOW_KEEP;
    case NEED_AMOUNT: return !s->bloom.black;
    case NEED_HALF: return s->pixels != PIXELS_FLOAT;
    case NEED_EMIT: return emits;
    case NEED_EXR: return writes(s, "exr");
    case NEED_LIGHT: return !writes(s, "png") || writes(s, "exr");
    case NEED_PICTURE: return writes(s, "png");
    case NEED_FILES:
        return !(s->input && strcmp(s->input, "-") == 0) &&
               !(s->output && image_is_stream(s->output));
    case NEED_RUN: return false;
    case NEED_SLURM: return s->farm == FARM_SLURM;
    case NEED_WAIT: return s->wait;
    case NEED_OUTPUT: return s->output;
    case NEED_CASES: return !s->list;
    case NEED_SEQUENCE: /* the job says */
    case NEEDS: break;
    }
    return true;
}

enum { RUN = FOR_APPLY | FOR_PLAN };

/* In the order in which they are checked. */
const option_rule OPTION_RULES[NEEDS] = {
    [NEED_LOUD] = {FOR_ALL, "with --quiet", NULL},
    [NEED_ONE] = {FOR_KERNEL, "with --all", NULL},
    [NEED_DEGLARE] = {RUN, "where no glare is taken away; that is 'fftbloom deglare'", NULL},
    [NEED_APPLY] = {RUN, "where glare is taken away", NULL},
    [NEED_THRESHOLD] = {RUN, "without --threshold", "threshold"},
    [NEED_BLOOM] = {RUN, "with --amount 0", "amount"},
    [NEED_AMOUNT] = {RUN, "with --black, which finds the amount", NULL},
    [NEED_HALF] = {FOR_APPLY, "with --pixel-type float", "pixel_type"},
    [NEED_EMIT] = {FOR_APPLY, "without --emit-layer or --emit-file", "emit_layer"},
    [NEED_EXR] = {FOR_APPLY, "on an output that is not EXR", NULL},
    [NEED_LIGHT] = {FOR_APPLY, "on a PNG picture; use --view", NULL},
    [NEED_PICTURE] = {FOR_APPLY, "on an output that is not PNG", NULL},
    [NEED_FILES] = {FOR_APPLY, "on standard input and output", NULL},
    [NEED_SEQUENCE] = {FOR_APPLY, "on a single image", NULL},
    [NEED_RUN] = {FOR_PLAN, "in a plan", NULL},
    [NEED_SLURM] = {FOR_FARM, "without --to slurm", NULL},
    [NEED_WAIT] = {FOR_FARM, "without --wait", NULL},
    [NEED_OUTPUT] = {FOR_DIFF, "without --output", NULL},
    [NEED_CASES] = {FOR_CHECK, "with --list", NULL},
};

/* Returns true if `word` is one of `words`, which blanks separate. */
static bool is_among(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

/* Refuses a flag that needs it; and `nan` wherever it was set, since bad pixels would pass. */
static bool refuse(option_need need, const settings *s, uint32_t bit, err *e) {
    const option_rule *r = &OPTION_RULES[need];
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        const origin_kind by = settings_of(s, o)->origin;
        if (!(o->on & bit) || !(o->needs >> need & 1)) continue;
        if (by != ORIGIN_FLAG && (by == ORIGIN_DEFAULT || strcmp(o->name, "nan") != 0)) continue;
        OWN(text) where = {0};
        if (by != ORIGIN_FLAG) option_origin(s, o, &where);
        return err_set(e, ERR_USAGE, "%s%s%s has no effect %s", where.n ? where.s : "",
                       where.n ? ": " : "", where.n ? o->name : FLAG_OF(o), r->otherwise);
    }
    return true;
}

bool option_rules_check(const settings *s, uint32_t bit, err *e) {
    for (option_need i = 0; i < NEEDS; i++) {
        const option_rule *r = &OPTION_RULES[i];
        if ((r->on & bit) && !is_met(i, s) && !refuse(i, s, bit, e)) return false;
    }
    return true;
}

static bool is_for_action(const option *o, const command_action *a) {
    return o->section == SECTION_MESSAGES || is_among(a->options, o->name);
}

bool option_is_for(const option *o, const command *c, const command_action *a) {
    if (!(o->on & c->bit) || (a && !is_for_action(o, a))) return false;
    if (c->bit != FOR_APPLY) return true;
    if (o->needs >> (c->sets ? NEED_APPLY : NEED_DEGLARE) & 1) return false;
    return strcmp(o->name, "command") != 0;
}

void option_actions(const option *o, const command *c, text *to) {
    size_t before = to->n;
    for (const command_action *a = c->actions; a && a->name; a++)
        if (is_for_action(o, a)) text_add(to, "%s%s", to->n > before ? ", " : "", a->name);
}

void option_commands(const commands *list, const option *o, text *to) {
    size_t before = to->n;
    bool everywhere = (o->on & FOR_ALL) == FOR_ALL;
    if (everywhere) text_add(to, "all commands");
    for (int i = 0; !everywhere && i < list->count; i++)
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
    for (option_need i = 0; i < NEEDS; i++) {
        const option_rule *r = &OPTION_RULES[i];
        if ((r->on & bit) && (o->needs >> i & 1) && !is_met(i, s)) return false;
    }
    return true;
}

bool option_rules_check_single(const settings *s, err *e) {
    return refuse(NEED_SEQUENCE, s, FOR_APPLY, e);
}

const char *option_idle(const settings *s, const settings *presets, const option *o) {
    if (!option_in_config(o) || settings_of(s, o)->origin != ORIGIN_FILE) return NULL;
    for (option_need i = 0; i < NEEDS; i++) {
        const option_rule *r = &OPTION_RULES[i];
        const option *by = r->by && o->needs >> i & 1 ? option_find(r->by, FOR_APPLY) : NULL;
        if (!by || settings_of(s, by)->origin > ORIGIN_FILE || is_met(i, s)) continue;
        const bool refused = i == NEED_BLOOM && strcmp(o->name, "nan") == 0;
        return refused || settings_same(s, presets, o) ? NULL : r->otherwise;
    }
    return NULL;
}

void option_rules_warn(const settings *s, const settings *presets) {
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        const char *otherwise = option_idle(s, presets, o);
        if (otherwise)
            log_warn("%s: %s has no effect %s", settings_of(s, o)->where, o->name, otherwise);
    }
}

/* To answer a word, add a row: the commands to which people say it; the word, or several with
 * commas between, with _ for -; the option that is meant, or NULL; and a sentence without a full
 * stop where the option says too little. */
enum { IMAGES = RUN | FOR_CONFIG };
static const struct {
    uint32_t users;
    const char *words, *option, *instead;
} FOREIGN[] = {
    {FOR_CONFIG, "include", NULL,
     "give one file with all keys; a flag overrides a key, and jq -s 'add' a.json b.json merges "
     "two files"},
    {FOR_CACHE, "clear,clean,empty,purge,prune,delete,rm", NULL,
     "'fftbloom cache trim --cache-size 0' empties it"},
    {FOR_CASE, "include", NULL,
     "give one suite with all cases, or run 'fftbloom check' for each suite"},
    {FOR_HELP, "bloom,blur,convolve,glow,glare,render,run,process,batch", NULL,
     "blooming needs no command: fftbloom IN KERNEL -o OUT"},
    {IMAGES, "strength,intensity,mix,gain,opacity,blend,factor,weight", "amount", NULL},
    {IMAGES, "rotate,rotation,angle,turn", "kernel_turn", NULL},
    {IMAGES, "scale,size,radius,resize,kernel_size", "kernel_scale", NULL},
    {FOR_KERNEL, "size,resolution", "taps", NULL},
    {IMAGES, "border,edge,edges,boundary,extend,pad,edge_mode", "padding", NULL},
    {FOR_ALL | FOR_CONFIG, "threads,j,j[0-9]*,cores,workers", "jobs", NULL},
    {IMAGES, "overwrite,f,force,y", "existing", "a file that is there is replaced by default"},
    {IMAGES, "start,end,first,last,range,frame,frame_range", "frames",
     "--frames 1001-1100 takes these of a pattern such as shot.####.exr"},
    {FOR_ALL | FOR_CONFIG, "gpu,cuda,vulkan,opencl,cpu", "device",
     "--device gpu or cpu insists on one"},
    {IMAGES, "colour,color,tint_colour,saturation", "tint", NULL},
    {IMAGES, "colorspace,colour_space,color_space,colorconvert,iscolorspace,ics", "input_space",
     NULL},
    {FOR_APPLY, "dry_run,n,estimate,preview", NULL,
     "'fftbloom plan' shows what the same line would do"},
    {IMAGES, "psf,filter,convolve,lens", "kernel", NULL},
    {IMAGES, "i,in,source,src", "input", NULL},
    {IMAGES, "out,dst,dest,destination", "output", NULL},
    {IMAGES, "highpass,cutoff,luma,bright", "threshold", NULL},
    {IMAGES, "soft,softness,smooth,feather", "knee", NULL},
    {IMAGES, "matte,holdout", "mask", NULL},
    {IMAGES, "channels,ch,layer,aov,aovs", "layers", NULL},
    {IMAGES, "compress,codec", "compression", NULL},
    {IMAGES, "depth,d,bit_depth,bits,half,float", "pixel_type", NULL},
    {IMAGES, "quality,double", "precision", NULL},
    {IMAGES, "stops,ev", "exposure", NULL},
    {IMAGES, "gamma,tonemap,display,lut", "view", "it is for PNG pictures"},
    {IMAGES, "memory,ram,max_memory", "mem_limit", NULL},
    {IMAGES, "crop,overscan,uncrop,expand,bounds", "window", NULL},
    {IMAGES, "additive,add,glare_only,glow_only", "emit", NULL},
    {IMAGES, "axis_order,fft_axis,order", "axis", NULL},
    {FOR_CONFIG, "sharpening,sharp", "sharpen", NULL},
    {RUN, "sharpen,sharpening,sharp", "amount",
     "sharpen is 1 minus the amount, and a key of config files"},
    {RUN, "deconvolve,deblur,inverse,unbloom", NULL, "'fftbloom deglare' takes glare away"},
    {IMAGES, "falloff,dispersion,iterations,spikes,streaks,rays,blades", NULL,
     "the kernel decides the shape of the glare: 'fftbloom kernel sheet IN' shows the shipped "
     "ones, and 'fftbloom kernel make' makes others"},
    {RUN, "recursive,r", NULL, "name the frames of a folder by a pattern, 'folder/shot.####.exr'"},
    {FOR_ALL, "log,loglevel,debug", "verbose", NULL},
};

bool option_foreign(const char *word, uint32_t users, text *to) {
    char plain[OPTION_NAME_ROOM];
    const bool keys = users & (FOR_CONFIG | FOR_CASE);
    option_plain(word, plain);
    for (size_t i = 0; i < sizeof FOREIGN / sizeof FOREIGN[0]; i++) {
        const option *o = FOREIGN[i].option ? option_find(FOREIGN[i].option, users) : NULL;
        if (!(FOREIGN[i].users & users) || !text_glob_any(FOREIGN[i].words, plain) ||
            (FOREIGN[i].option && !o))
            continue;
        if (o && keys) text_add(to, "; did you mean \"%s\"?", o->name);
        if (o && !keys) text_add(to, "; did you mean %s?", FLAG_OF(o));
        if (FOREIGN[i].instead) text_add(to, o ? " (%s)" : ": %s", FOREIGN[i].instead);
        return true;
    }
    return false;
}
