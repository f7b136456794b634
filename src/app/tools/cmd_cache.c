/* cmd_cache.c - `fftbloom cache path|list|verify|trim`: the spectra that are kept between
 * runs, and the stamps of --update. */
#include "app/cli/cli.h"
#include "app/run/stamp.h"
#include "base/json_out.h"
#include "base/log.h"
#include "kernel/cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct {
    const char *dir;
    uint64_t budget;
    bool json;
} request;

/* "2026-01-31 12:00:00" in UTC, so that listings of a farm's machines compare. */
static const char *moment(int64_t seconds, char buf[32]) {
    time_t t = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&t, &parts) || !strftime(buf, 32, "%Y-%m-%d %H:%M:%S", &parts))
        snprintf(buf, 32, "%" PRId64, seconds);
    return buf;
}

static json_out open_json(const request *r, text *to) {
    json_out j = json_begin(to);
    json_string(&j, "path", r->dir);
    return j;
}

/* --- path, list -------------------------------------------------------------------------- */

static bool show_path(const request *r, text *to, err *e) {
    (void)e;
    if (r->json) {
        json_out j = open_json(r, to);
        json_end(&j);
    } else {
        text_add(to, "%s\n", r->dir);
    }
    return true;
}

static void list_json(const request *r, const cache_list *l, size_t frames, text *to) {
    json_out j = open_json(r, to);
    json_uint(&j, "budget", r->budget);
    json_uint(&j, "bytes", l->bytes);
    json_list(&j, "entries");
    for (size_t i = 0; i < l->count; i++) {
        json_object(&j, NULL);
        json_string(&j, "name", l->entry[i].name);
        json_uint(&j, "bytes", l->entry[i].bytes);
        json_int(&j, "used", l->entry[i].used);
        json_close(&j);
    }
    json_close(&j);
    json_uint(&j, "stamps", frames);
    json_end(&j);
}

static bool list(const request *r, text *to, err *e) {
    cache_list l;
    stamps_kept frames;
    char size[32], when[32];
    if (!stamps_trim(&frames, r->dir, SIZE_MAX, e) || !cache_list_make(&l, r->dir, e)) return false;
    if (r->json) {
        list_json(r, &l, frames.count, to);
    } else {
        for (size_t i = 0; i < l.count; i++)
            text_add(to, "%s  %9s  %s\n", moment(l.entry[i].used, when),
                     text_bytes((double)l.entry[i].bytes, size), l.entry[i].name);
        log_note("spectra: %zu, %s, in %s/spectra; stamps of finished frames: %zu, in %s/stamps",
                 l.count, text_bytes((double)l.bytes, size), r->dir, frames.count, r->dir);
    }
    cache_list_free(&l);
    return true;
}

/* --- verify ------------------------------------------------------------------------------ */

static bool verify(const request *r, text *to, err *e) {
    cache_list l;
    json_out j = {.to = to};
    size_t broken = 0;
    if (!cache_list_make(&l, r->dir, e)) return false;
    if (r->json) {
        j = open_json(r, to);
        json_list(&j, "entries");
    }
    for (size_t i = 0; i < l.count; i++) {
        err why = {0};
        bool ok = cache_verify(r->dir, &l.entry[i], &why);
        broken += !ok;
        if (r->json) {
            json_object(&j, NULL);
            json_string(&j, "name", l.entry[i].name);
            json_bool(&j, "ok", ok);
            if (!ok) json_string(&j, "error", why.msg);
            json_close(&j);
        } else {
            text_add(to, "%s %s%s%s\n", ok ? "ok " : "bad", l.entry[i].name, ok ? "" : ": ",
                     why.msg);
        }
    }
    if (r->json) {
        json_close(&j);
        json_end(&j);
    }
    size_t count = l.count;
    cache_list_free(&l);
    return broken == 0 || err_set(e, ERR_DATA,
                                  "%zu of %zu spectra are broken; each is made again when it is "
                                  "next needed",
                                  broken, count);
}

/* --- trim -------------------------------------------------------------------------------- */

static bool trim(const request *r, text *to, err *e) {
    cache_trimmed t;
    stamps_kept frames;
    char removed[32], kept[32];
    if (!cache_trim(&t, r->dir, r->budget, e) ||
        !stamps_trim(&frames, r->dir, r->budget ? STAMPS_MOST : 0, e))
        return false;
    if (r->json) {
        json_out j = open_json(r, to);
        json_uint(&j, "removed", t.removed);
        json_uint(&j, "removed_bytes", t.removed_bytes);
        json_uint(&j, "kept", t.kept);
        json_uint(&j, "kept_bytes", t.kept_bytes);
        json_uint(&j, "stamps_removed", frames.removed);
        json_uint(&j, "stamps_kept", frames.count);
        json_end(&j);
    } else {
        text_add(to, "spectra: %zu removed (%s), %zu kept (%s)\n", t.removed,
                 text_bytes((double)t.removed_bytes, removed), t.kept,
                 text_bytes((double)t.kept_bytes, kept));
        if (frames.removed)
            text_add(to, "stamps of finished frames: %zu removed, %zu kept\n", frames.removed,
                     frames.count);
    }
    return true;
}

/* ----------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    bool (*run)(const request *r, text *to, err *e);
} ACTION[] = {{"path", show_path}, {"list", list}, {"verify", verify}, {"trim", trim}};

static bool act(const cli *c, text *to, err *e) {
    char dir[CACHE_PATH];
    if (!cache_path(dir, c->s.bloom.cache_dir))
        return err_set(e, ERR_CONFIG,
                       "there is no cache folder: give --cache-dir, or set FFTBLOOM_CACHE_DIR, "
                       "XDG_CACHE_HOME or HOME");
    request r = {dir, c->s.bloom.cache_size, c->s.json};
    int i = 0; /* the command line has checked the word */
    while (strcmp(c->word[0], ACTION[i].word) != 0) i++;
    return ACTION[i].run(&r, to, e);
}

int cmd_cache(int argc, char **argv, err *e) {
    cli c;
    text out = {0};
    if (cli_open(&c, argc, argv, e)) act(&c, &out, e);
    if (out.s) fputs(out.s, stdout);
    text_free(&out);
    cli_close(&c);
    return (int)e->code;
}
