#include "app/farm/farm.h"

#include "app/cli/option_rules.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "kernel/cache.h"
#include "kernel/make/kernel_word.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* --- frames ---------------------------------------------------------------------------------- */

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

static bool farm_make_chunks(farm *f, const record_run *all, err *e) {
    enum { USUAL = 10 };
    size_t count = job_count(f->j), size = f->c->s.chunk ? f->c->s.chunk : USUAL;
    int *left = f->left = mem_new(count + 1, sizeof *left, "frames", e);
    bool ok = left != NULL;
    f->each = size;
    for (size_t i = 0; ok && i < count; i++) {
        job_files files;
        record rec;
        const char *why;
        if (!(ok = job_frame(f->j, i, &files, e))) break;
        if (record_make(&rec, all, &files, NULL) && record_look(&rec, true, &why) == FRAME_CURRENT)
            f->current++; /* --existing update would pass over it */
        else if (!f->frames || left[f->frames - 1] != *files.number) /* or another view did it */
            left[f->frames++] = *files.number;
        job_files_free(&files);
    }
    ok = ok && (f->chunk = mem_new(f->frames / size + 1, sizeof *f->chunk, "chunks", e));
    for (size_t i = 0; ok && i < f->frames; i += size)
        farm_ranges(left + i, min_size(f->frames - i, size), 'x', &f->chunk[f->chunks++]);
    return ok;
}

/* --- places ---------------------------------------------------------------------------------- */

/* Returns the path from the root, without slashes at its end. */
static char *absolute(const char *here, const char *path, err *e) {
    char *made = path[0] == '/' ? mem_str(path, e) : mem_strf(e, "%s/%s", here, path);
    for (size_t n = made ? strlen(made) : 0; n > 1 && made[n - 1] == '/';) made[--n] = 0;
    return made;
}

/* Adds a name, in which all but letters, digits and .-_ become underscores. */
static void farm_add_plain(text *to, const char *name) {
    enum { LONGEST = 100 };
    for (int i = 0; name[i] && i < LONGEST; i++)
        text_add(to, "%c",
                 isalnum((unsigned char)name[i]) || strchr(".-_", name[i]) ? name[i] : '_');
}

void farm_job_name(const farm *f, text *to) {
    text_add(to, "bloom-");
    if (f->shot && f->shot[0]) {
        farm_add_plain(to, f->shot);
        text_add(to, "-");
    }
    text_add(to, "%d-%d", f->left[0], f->left[f->frames - 1]);
}

/* Finds what the output's name has before the frame's number. */
static bool find_shot(farm *f, const char *name, err *e) {
    frame_pattern p = {0};
    err why = {0};
    bool parsed = frame_path_parse(&p, name, &why);
    if (!parsed && why.code == ERR_MEMORY) return *e = why, false;
    f->shot = mem_str(parsed ? p.before : "", e);
    frame_pattern_free(&p);
    for (size_t n = f->shot ? strlen(f->shot) : 0; n && strchr("._- ", f->shot[n - 1]); n--)
        f->shot[n - 1] = 0;
    return f->shot != NULL;
}

static bool find_places(farm *f, err *e) {
    char path[PATH_MAX], cache[CACHE_PATH];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) return err_errno(e, ERR_INTERNAL, "cannot find this program's own file");
    path[n] = 0;
    if (!(f->program = mem_str(path, e))) return false;
    if (!getcwd(path, sizeof path)) return err_errno(e, ERR_IO, "cannot find the working folder");
    if (!(f->here = mem_str(path, e))) return false;
    /* The mark is a hash of the output's absolute path, with the links of its folder followed. A
     * folder whose name holds the frame's number is taken as it is. */
    OWN(text) whole = {0};
    const char *output = f->j->output;
    if (!path_real(output, &whole))
        text_add(&whole, "%s/%s", output[0] == '/' ? "" : f->here, output);
    bool known = text_check(&whole, e);
    hash_text(hash_bytes(whole.s, whole.n), f->mark);
    if (!known || !find_shot(f, path_name(output), e)) return false;
    /* Each output has a folder of its own: fftbloom-farm/NAME-HASH. */
    OWN(text) folder = {0};
    text_add(&folder, "fftbloom-farm/");
    farm_add_plain(&folder, path_name(output));
    text_add(&folder, "-%.8s", f->mark);
    f->folder = absolute(f->here, f->c->s.farm_dir ? f->c->s.farm_dir : folder.s, e);
    text_free(&folder);
    if (!f->folder) return false;
    /* The workers of OpenJD have homes of their own. */
    if (!f->c->s.bloom.cache_dir && f->c->s.farm == FARM_OPENJD) return true;
    if (!cache_path(cache, f->c->s.bloom.cache_dir)) return true;
    return (f->cache = absolute(f->here, cache, e)) != NULL;
}

/* --- the command of a task ------------------------------------------------------------------- */

/* Refuses control characters in whatever goes into a job, since a line end would begin a line of
 * the scheduler's own, and bytes that are not UTF-8, which a scheduler would replace. */
static bool check_words(const farm *f, err *e) {
    const char *const places[] = {f->program, f->here, f->folder, f->cache, f->c->s.farm_args};
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

static bool make_flags(farm *f, err *e) {
    if (!(f->flag = mem_new((size_t)OPTION_COUNT + 3, sizeof *f->flag, "flags", e))) return false;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        const settings *s = &f->c->s;
        char name[OPTION_NAME_ROOM];
        if (!(o->on & FOR_APPLY) || settings_of(s, o)->origin == ORIGIN_DEFAULT) continue;
        /* A task has messages, farm options and these of its own. A config file may hold options
         * without an effect; as flags they would be refused. */
        if (o->flag_only || o->section == SECTION_MESSAGES || o->section == SECTION_FARM ||
            text_glob_any("frames,report,existing,cache_dir", o->name) ||
            !option_has_effect(&f->c->s, FOR_APPLY, o))
            continue;
        bool no = strncmp(option_flag(o, name), "--no-", 5) == 0;
        text *flag = &f->flag[f->flags++], value = {0};
        settings_text(s, o, &value);
        /* Other machines have shipped kernels of their own. Tasks of OpenJD do not start in our
         * working folder. */
        bool ships = o->type == OPTION_KERNEL && kernel_word_is_name(value.s) &&
                     access(value.s, F_OK) != 0;
        bool moves = !ships && s->farm == FARM_OPENJD && option_type_is_path(o->type) &&
                     value.s[0] != '/';
        text_add(flag, "--%s=%s%s", name + (no ? 5 : 2), moves ? FARM_OPENJD_FOLDER : "", value.s);
        text_free(&value);
    }
    if (f->cache && f->c->s.farm == FARM_SLURM)
        text_add(&f->flag[f->flags++], "--cache-dir=%s", f->cache);
    text_add(&f->flag[f->flags++], "--existing=update");
    return true;
}

/* --- opening and running --------------------------------------------------------------------- */

int farm_run(const cli *c, const job *j, const record_run *all, text *out, err *e) {
    farm f = {.c = c, .j = j};
    int status = 0;
    bool slurm = c->s.farm == FARM_SLURM;
    if (!j->sequence)
        err_set(e, ERR_USAGE,
                "a farm needs a sequence; the input must be a frame pattern such as in.####.exr, "
                "not '%s'",
                j->input);
    if (!e->code && find_places(&f, e) && make_flags(&f, e) && check_words(&f, e) &&
        farm_make_chunks(&f, all, e)) {
        if (slurm && f.current) log_note("%zu frames are up to date", f.current);
        if (!f.chunks) log_note("nothing is left to do");
        if (!f.chunks && slurm && c->s.report)
            status = farm_slurm_gather(&f, out, e);
        else if (f.chunks && slurm && farm_slurm_check(&f, e))
            status = c->s.dry_run ? (farm_slurm_script(&f, out), 0) : farm_slurm_submit(&f, out, e);
        else if (f.chunks && !slurm)
            farm_openjd_template(&f, out, e);
    }
    for (size_t i = 0; i < f.chunks; i++) text_free(&f.chunk[i]);
    for (size_t i = 0; i < f.flags; i++) text_free(&f.flag[i]);
    mem_free(f.left);
    mem_free(f.chunk);
    mem_free(f.flag);
    mem_free(f.program);
    mem_free(f.here);
    mem_free(f.folder);
    mem_free(f.shot);
    mem_free(f.cache);
    return status;
}
