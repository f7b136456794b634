#include "app/farm/farm.h"

#include "app/cli/option_rules.h"
#include "base/log.h"
#include "base/path.h"
#include "kernel/make/kernel_word.h"

#include <ctype.h>
#include <limits.h>
#include <unistd.h>

/* Relative paths of a job template of OpenJD start at this parameter. */
#define FARM_OPENJD_FOLDER "{{Param.Folder}}/"

void farm_ranges(const int *number, size_t n, char mark, text *to) {
    for (size_t i = 0, k; i < n; i += k) {
        /* k: how many numbers from here on are equally far apart. Two that are no neighbours are
         * written one by one. */
        int step = i + 1 < n ? number[i + 1] - number[i] : 0;
        for (k = 1; i + k < n && number[i + k] - number[i + k - 1] == step;) k++;
        if (k == 2 && step > 1) k = 1;
        text_add(to, "%s%d", i ? "," : "", number[i]);
        if (k > 1) text_add(to, "-%d", number[i + k - 1]);
        if (k > 1 && step > 1) text_add(to, "%c%d", mark, step);
    }
}

static bool farm_make_chunks(farm *f, const record_run *run, err *e) {
    enum { USUAL = 10 };
    size_t count = job_count(f->j), size = f->c->s.chunk ? f->c->s.chunk : USUAL;
    int *left = f->left = mem_new(count + 1, sizeof *left, "frames", e);
    bool ok = left != NULL;
    f->each = size;
    for (size_t i = 0; ok && i < count; i++) {
        OWN(job_files) files = {0};
        record rec;
        const char *why;
        if (!(ok = job_frame(f->j, i, &files, e))) break;
        if (record_make(&rec, run, &files, NULL) && record_look(&rec, true, &why) == FRAME_CURRENT)
            f->current++; /* --existing update would pass over it */
        else if (!f->frames || left[f->frames - 1] != *files.number) /* or another view did it */
            left[f->frames++] = *files.number;
    }
    ok = ok && (f->chunk = mem_new(f->frames / size + 1, sizeof *f->chunk, "chunks", e));
    for (size_t i = 0; ok && i < f->frames; i += size)
        farm_ranges(left + i, min_size(f->frames - i, size), 'x', &f->chunk[f->chunks++]);
    return ok;
}

/* --- places ---------------------------------------------------------------------------------- */

/* Adds the path from the root, without slashes at its end. */
static void add_absolute(text *to, const char *here, const char *path) {
    text_add(to, "%s%s%s", path[0] == '/' ? "" : here, path[0] == '/' ? "" : "/", path);
    while (to->n > 1 && to->s[to->n - 1] == '/') to->s[--to->n] = 0;
}

/* Adds a name, in which all but letters, digits and .-_ become underscores. */
static void farm_add_plain(text *to, const char *name) {
    enum { LONGEST = 100 };
    for (int i = 0; name[i] && i < LONGEST; i++)
        text_add(to, "%c",
                 isalnum((unsigned char)name[i]) || strchr(".-_", name[i]) ? name[i] : '_');
}

static bool name_job(farm *f, err *e) {
    if (!f->frames) return true;
    text_add(&f->name, "bloom-");
    if (f->shot.n) farm_add_plain(&f->name, f->shot.s), text_add(&f->name, "-");
    text_add(&f->name, "%d-%d", f->left[0], f->left[f->frames - 1]);
    return text_check(&f->name, e);
}

/* Finds what the output's name has before the frame's number. */
static bool find_shot(farm *f, const char *name, err *e) {
    OWN(frame_pattern) p = {0};
    err why = {0};
    const bool parsed = frame_path_parse(&p, name, &why);
    if (!parsed && why.code == ERR_MEMORY) return *e = why, false;
    text *shot = &f->shot;
    if (parsed) text_add(shot, "%s", p.before);
    while (shot->n && strchr("._- ", shot->s[shot->n - 1])) shot->s[--shot->n] = 0;
    return text_check(shot, e);
}

static bool find_places(farm *f, err *e) {
    const settings *s = &f->c->s;
    const char *cache = f->j->run->cache;
    if (readlink("/proc/self/exe", f->program, sizeof f->program - 1) < 0)
        return err_errno(e, ERR_INTERNAL, "cannot find this program's own file");
    if (!getcwd(f->here, sizeof f->here))
        return err_errno(e, ERR_IO, "cannot find the working folder");
    /* The mark is a hash of the output's absolute path, with the links of its folder followed. A
     * folder whose name holds the frame's number is taken as it is. */
    OWN(text) whole = {0};
    const char *output = f->j->output;
    if (!path_real(output, &whole))
        text_add(&whole, "%s/%s", output[0] == '/' ? "" : f->here, output);
    hash_text(hash_bytes(whole.s, whole.n), f->mark);
    if (!text_check(&whole, e) || !find_shot(f, path_name(output), e)) return false;
    /* Each output has a folder of its own: fftbloom-farm/NAME-HASH. */
    OWN(text) folder = {0};
    text_add(&folder, "fftbloom-farm/");
    farm_add_plain(&folder, path_name(output));
    text_add(&folder, "-%.8s", f->mark);
    add_absolute(&f->folder, f->here, s->farm_dir ? s->farm_dir : folder.s);
    /* The workers of OpenJD have homes of their own. */
    if (cache && (s->bloom.cache_dir || s->farm != FARM_OPENJD))
        add_absolute(&f->cache, f->here, cache);
    return text_check(&f->folder, e) && text_check(&f->cache, e);
}

/* Refuses control characters in whatever goes into a job, since a line end would begin a line of
 * the scheduler's own, and bytes that are not UTF-8, which a scheduler would replace. */
static bool check_words(const farm *f, err *e) {
    const char *const places[] = {f->program, f->here, f->folder.s, f->cache.s, f->c->s.farm_args};
    const size_t count = sizeof places / sizeof places[0];
    for (size_t i = 0; i < count + f->flags; i++) {
        const char *word = i < count ? places[i] : f->flag[i - count].s;
        uint32_t code;
        for (const char *p = word; p && *p; p += text_utf8(p, &code))
            if (iscntrl((unsigned char)*p) || !text_utf8(p, &code))
                return err_set(e, ERR_USAGE, "'%s' has a %s, which cannot stand in a job", word,
                               iscntrl((unsigned char)*p) ? "control character"
                                                          : "byte that is not UTF-8");
    }
    return true;
}

static bool make_flags(farm *f, const record_run *run, err *e) {
    if (!(f->flag = mem_new((size_t)OPTION_COUNT + 3, sizeof *f->flag, "flags", e))) return false;
    const settings made = picture_look_settings(run->run->s, run->look), *s = &made;
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        char name[OPTION_NAME_ROOM];
        if (!(o->on & FOR_APPLY) ||
            (settings_of(s, o)->origin == ORIGIN_DEFAULT && settings_same(s, run->run->s, o)))
            continue;
        /* A task has messages, farm options and these of its own. A config file may hold options
         * without an effect; as flags they would be refused. */
        if (o->flag_only || o->section == SECTION_MESSAGES || o->section == SECTION_FARM ||
            text_glob_any("frames,report,existing,cache_dir", o->name) ||
            !option_has_effect(s, FOR_APPLY, o))
            continue;
        bool no = strncmp(option_flag(o, name), "--no-", 5) == 0;
        text *flag = &f->flag[f->flags++];
        OWN(text) value = {0};
        settings_text(s, o, &value);
        /* Other machines have kernels of their own. Tasks of OpenJD start in another folder. */
        bool ships = o->type == OPTION_KERNEL && kernel_word_is_name(value.s) &&
                     access(value.s, F_OK) != 0;
        if (o->type == OPTION_KERNEL && kernel_word_is_mix(value.s)) {
            text_add(flag, "--%s=", name + 2);
            kernel_word_add_mix(flag, value.s, s->farm == FARM_OPENJD ? FARM_OPENJD_FOLDER : "");
            continue;
        }
        bool path = option_type_is_path(o->type) || (o->type == OPTION_MASK && s->bloom.mask_file),
             moves = !ships && s->farm == FARM_OPENJD && path && value.s[0] != '/';
        text_add(flag, "--%s=%s%s", name + (no ? 5 : 2), moves ? FARM_OPENJD_FOLDER : "", value.s);
    }
    if (f->cache.s && s->farm == FARM_SLURM)
        text_add(&f->flag[f->flags++], "--cache-dir=%s", f->cache.s);
    text_add(&f->flag[f->flags++], "--existing=update");
    return true;
}

/* --- OpenJD --- */

/* Adds a parameter of the job, which the person who submits it may change. A folder is mapped for
 * each worker; its files are not copied. */
static void add_parameter(text *to, const char *name, bool folder, const char *value,
                          const char *about) {
    text_add(to, "%s    {\"name\": \"%s\", \"type\": \"%s\",%s\n     \"default\": ",
             to->s[to->n - 1] == '}' ? ",\n" : "", name, folder ? "PATH" : "STRING",
             folder ? " \"objectType\": \"DIRECTORY\", \"dataFlow\": \"NONE\"," : "");
    text_add_json(to, value);
    text_add(to, ",\n     \"description\": \"%s\"}", about);
}

static bool has_braces(const char *word) {
    const size_t folder = strlen(FARM_OPENJD_FOLDER);
    const char *found = strstr(word, "{{");
    if (found && strncmp(found, FARM_OPENJD_FOLDER, folder) == 0)
        found = strstr(found + folder, "{{");
    return found != NULL;
}

/* Adds a job template. Returns false where a path or a value cannot be written into one. */
static bool farm_openjd_template(const farm *f, text *to, err *e) {
    enum { MOST = 1024 }; /* characters of a parameter's value */
    OWN(text) frames = {0};
    bool braces = has_braces(f->here) || has_braces(f->program) ||
                  (f->cache.s && has_braces(f->cache.s));
    for (size_t i = 0; i < f->flags; i++) braces |= has_braces(f->flag[i].s);
    if (braces)
        return err_set(e, ERR_USAGE,
                       "a path or value with '{{' cannot stand in an OpenJD template");
    farm_ranges(f->left, f->frames, ':', &frames);
    text_add(to, "{\n  \"specificationVersion\": \"jobtemplate-2023-09\",\n"
                 "  \"extensions\": [\"TASK_CHUNKING\"],\n  \"name\": \"");
    text_add(to, "%s", f->name.s);
    text_add(to, "\",\n  \"parameterDefinitions\": [\n");
    add_parameter(to, "Program", false, f->program, "fftbloom on the workers");
    add_parameter(to, "Folder", true, f->here, "the folder at which relative paths start");
    if (f->cache.s)
        add_parameter(to, "Cache", true, f->cache.s, "the cache folder, which all workers share");
    add_parameter(to, "Frames", false, frames.s, "the frames to make");
    text_add(to,
             "],\n  \"steps\": [{\n    \"name\": \"bloom\",\n"
             "    \"parameterSpace\": {\"taskParameterDefinitions\": [\n"
             "      {\"name\": \"Frame\", \"type\": \"CHUNK[INT]\", \"range\": "
             "\"{{Param.Frames}}\",\n       \"chunks\": {\"defaultTaskCount\": %zu, "
             "\"rangeConstraint\": \"NONCONTIGUOUS\"}}]},\n"
             "    \"script\": {\"actions\": {\"onRun\": {\n"
             "      \"command\": \"{{Param.Program}}\",\n      \"args\": [\"apply\", ",
             f->each);
    for (size_t i = 0; i < f->flags; i++) {
        text_add_json(to, f->flag[i].s);
        text_add(to, ", ");
    }
    text_add(to, "%s\"--frames={{Task.Param.Frame}}\", \"--progress=openjd\"]}}}}]\n}\n",
             f->cache.s ? "\"--cache-dir={{Param.Cache}}\", " : "");
    size_t n = frames.n;
    return n <= MOST ||
           err_set(e, ERR_USAGE,
                   "the list of frames has %zu characters, and a parameter of an OpenJD template "
                   "may have %d; give fewer ranges with --frames",
                   n, MOST);
}

static void farm_free(farm *f) {
    for (size_t i = 0; i < f->chunks; i++) text_free(&f->chunk[i]);
    for (size_t i = 0; i < f->flags; i++) text_free(&f->flag[i]);
    mem_free(f->left);
    mem_free(f->chunk);
    mem_free(f->flag);
    text_free(&f->folder);
    text_free(&f->name);
    text_free(&f->shot);
    text_free(&f->cache);
}

int farm_run(const cli *c, const job *j, const record_run *run, text *out, err *e) {
    OWN(farm) f = {.c = c, .j = j};
    int status = 0;
    bool slurm = c->s.farm == FARM_SLURM;
    if (!j->sequence)
        err_set(e, ERR_USAGE,
                "a farm needs a sequence; the input must be a frame pattern such as in.####.exr, "
                "not '%s'",
                j->input);
    if (!e->code && find_places(&f, e) && make_flags(&f, run, e) && check_words(&f, e) &&
        farm_make_chunks(&f, run, e) && name_job(&f, e)) {
        if (slurm && f.current) log_note("%zu frames are up to date", f.current);
        if (!f.chunks) log_note("nothing is left to do");
        if (!f.chunks && slurm && c->s.report)
            status = farm_slurm_gather(&f, out, e);
        else if (f.chunks && slurm && farm_slurm_check(&f, e))
            status = j->run->dry ? (farm_slurm_script(&f, out), 0) : farm_slurm_submit(&f, out, e);
        else if (f.chunks && !slurm)
            farm_openjd_template(&f, out, e);
    }
    return status;
}
