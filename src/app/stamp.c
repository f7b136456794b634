#include "app/stamp.h"

#include "app/options.h"
#include "base/file.h"
#include "base/mem.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Options whose change changes pixels or the file: not where it is computed, not how it is told. */
static bool decides_output(const option *o) {
    return o->on & FOR_APPLY && (o->section == SECTION_LIGHT || o->section == SECTION_KERNEL ||
                                 o->section == SECTION_LAYERS || o->section == SECTION_ACCURACY);
}

static bool hash_file(hash_state *h, const char *path, err *e) {
    enum { PIECE = 1 << 20 };
    file_in *f = file_in_open(path, e);
    uint8_t *piece = mem_raw(PIECE, 1, "hashing", e);
    bool ok = f && piece;
    uint64_t size = f ? file_in_size(f) : 0;
    for (uint64_t at = 0; ok && at < size; at += PIECE) {
        size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        ok = file_in_read(f, at, piece, n, e);
        if (ok) hash_add(h, piece, n);
    }
    mem_free(piece);
    file_in_close(&f);
    return ok;
}

bool stamps_open(stamps *st, const settings *s, const char *folder, err *e) {
    text look = {0};
    text_add(&look, "fftbloom " VERSION "\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!decides_output(&OPTIONS[i])) continue;
        text_add(&look, "%s ", OPTIONS[i].name);
        settings_json(s, i, &look);
        text_add(&look, "\n");
    }
    hash_state *h = hash_begin();
    hash_add(h, look.s, look.n);
    text_free(&look);
    bool ok = hash_file(h, s->kernel, e);
    *st = (stamps){.look = hash_end(&h)};
    if (!ok) return false;
    text path = {0};
    text_add(&path, "%s/stamps", folder);
    st->folder = mem_str(path.s, e);
    text_free(&path);
    return st->folder != NULL;
}

void stamps_close(stamps *st) {
    mem_free(st->folder);
    *st = (stamps){0};
}

/* Where the stamp of an output is. The output may not exist yet, so its folder is resolved. */
static bool stamp_path(const stamps *st, const char *output, text *to) {
    char folder[PATH_MAX], real[PATH_MAX], name[HASH_TEXT];
    const char *slash = strrchr(output, '/');
    int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output) + 1 : 1,
                     slash ? output : ".");
    if (n < 0 || (size_t)n >= sizeof folder || !realpath(folder, real)) return false;
    text whole = {0};
    text_add(&whole, "%s/%s", real, slash ? slash + 1 : output);
    hash_text(hash_bytes(whole.s, whole.n), name);
    text_free(&whole);
    text_add(to, "%s/%s.stamp", st->folder, name);
    return true;
}

/* The content that the stamp must have for the output to be current. */
static bool stamp_content(const stamps *st, const char *input, const char *output, text *to) {
    struct stat in, out;
    char look[HASH_TEXT];
    if (stat(input, &in) != 0 || stat(output, &out) != 0) return false;
    hash_text(st->look, look);
    text_add(to, "fftbloom stamp 1\nlook %s\n", look);
    text_add(to, "input %jd bytes at %jd.%09ld %s\n", (intmax_t)in.st_size,
             (intmax_t)in.st_mtim.tv_sec, in.st_mtim.tv_nsec, input);
    text_add(to, "output %jd bytes at %jd.%09ld\n", (intmax_t)out.st_size,
             (intmax_t)out.st_mtim.tv_sec, out.st_mtim.tv_nsec);
    return true;
}

bool stamp_is_current(const stamps *st, const char *input, const char *output) {
    text path = {0}, want = {0};
    size_t n = 0;
    uint8_t *have = NULL;
    if (stamp_path(st, output, &path) && stamp_content(st, input, output, &want))
        have = file_read_all(path.s, 65536, &n, NULL);
    bool same = have && n == want.n && memcmp(have, want.s, n) == 0;
    mem_free(have);
    text_free(&path);
    text_free(&want);
    return same;
}

bool stamp_write(const stamps *st, const char *input, const char *output, err *e) {
    text path = {0}, content = {0};
    file_out *f = NULL;
    bool ok = stamp_path(st, output, &path) && stamp_content(st, input, output, &content);
    if (!ok) err_set(e, ERR_IO, "cannot look at '%s' again", output);
    ok = ok && file_make_dirs(st->folder, e) && (f = file_out_open(path.s, e)) &&
         file_out_write(f, 0, content.s, content.n, e) && file_out_commit(&f, e);
    file_out_discard(&f);
    text_free(&path);
    text_free(&content);
    return ok;
}
