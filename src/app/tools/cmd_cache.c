/* cmd_cache.c - `fftbloom cache path|list|verify|trim`: shows, checks and trims the spectra that
 * are kept between runs, and the records of --existing update. */
#include "app/run/record.h"
#include "app/tools/tools.h"
#include "base/log.h"
#include "kernel/cache.h"

typedef struct {
    const char *dir;
    uint64_t budget;
    json_out *to; /* an open document */
} request;

static bool list(const request *r, err *e) {
    OWN(cache_list) l = {0};
    records_kept frames;
    char size[32];
    json_out *j = r->to;
    if (!records_sweep(&frames, r->dir, INFINITY, e) || !cache_list_make(&l, r->dir, e))
        return false;
    if (!j->words) {
        json_uint(j, "budget", r->budget);
        json_size(j, "bytes", l.bytes);
    }
    json_list(j, "entries");
    for (size_t i = 0; i < l.count; i++) {
        json_object(j, NULL);
        json_string(j, "name", l.entry[i].name);
        json_size(j, "bytes", l.entry[i].bytes);
        json_moment(j, "used", l.entry[i].used);
        json_close(j);
    }
    json_close(j);
    if (!j->words)
        json_uint(j, "records", frames.count);
    else
        log_note("spectra: %zu, %s, in %s/spectra; records of finished frames: %zu, in %s/records",
                 l.count, text_bytes((double)l.bytes, size), r->dir, frames.count, r->dir);
    return true;
}

static bool verify_entries(const request *r, err *e) {
    OWN(cache_list) l = {0};
    json_out *j = r->to;
    size_t broken = 0;
    if (!cache_list_make(&l, r->dir, e)) return false;
    json_list(j, "entries");
    for (size_t i = 0; i < l.count; i++) {
        err why = {0};
        bool ok = cache_verify(r->dir, &l.entry[i], &why);
        broken += !ok;
        json_object(j, NULL);
        json_string(j, "name", l.entry[i].name);
        json_bool(j, "ok", ok);
        if (!ok) json_string(j, "error", why.msg);
        json_close(j);
    }
    json_close(j);
    if (broken)
        err_set(e, ERR_DATA,
                "%zu of %zu spectra are broken; each is made again when it is next needed", broken,
                l.count);
    return true;
}

static bool trim_entries(const request *r, err *e) {
    cache_trimmed t;
    records_kept frames;
    json_out *j = r->to;
    if (!cache_trim(&t, r->dir, r->budget, e) ||
        !records_sweep(&frames, r->dir, r->budget ? RECORD_DAYS : 0, e))
        return false;
    json_uint(j, "removed", t.removed);
    json_size(j, "removed_bytes", t.removed_bytes);
    json_uint(j, "kept", t.kept);
    json_size(j, "kept_bytes", t.kept_bytes);
    JSON_UINTS(j, {"records_removed", frames.removed}, {"records_kept", frames.count});
    return true;
}

static int run_cache(const cli *c, text *out, err *e) {
    static bool (*const WORK[])(const request *r, err *e) = {NULL, list, verify_entries,
                                                             trim_entries}; /* of CACHE_ACTIONS */
    bool (*work)(const request *r, err *e) = WORK[c->action - CACHE_ACTIONS];
    const char *dir = c->kernels.in.cache;
    if (!dir)
        return err_set(e, ERR_CONFIG,
                       "there is no cache folder: give --cache-dir, or set FFTBLOOM_CACHE_DIR, "
                       "XDG_CACHE_HOME or HOME");
    json_out j = told_begin(out, c->s.json);
    const request r = {dir, c->s.bloom.cache_size, &j};
    if (c->s.json) json_string(&j, "path", dir);
    if (!work && !c->s.json) text_add(out, "%s", dir); /* a path alone, for shells */
    if (work && !work(&r, e)) return 0;
    json_end(&j);
    cli_print(out);
    *c->answered = true;
    return 0;
}

const command_action CACHE_ACTIONS[] = {
    {"path", run_cache, 0, 0, "", "cache_dir", .help = "Print the folder."},
    {"list", run_cache, 0, 0, "", "cache_dir cache_size",
     .help = "List the last use, the size and the name of each spectrum."},
    {"verify", run_cache, 0, 0, "", "cache_dir",
     .help = "Read all spectra, and exit with 65 if one is broken."},
    {"trim", run_cache, 0, 0, "", "cache_dir cache_size",
     "Remove the least recently used spectra until --cache-size bytes are left. Every run that "
     "adds a spectrum does the same. It also removes the records by which --existing update "
     "recognises finished frames if they were not of use for 90 days, or all of them with "
     "--cache-size 0. Other files in the cache folder are not touched.",
     .example = {{"Empty the cache.", "fftbloom cache trim --cache-size 0"}}},
    {0},
};
