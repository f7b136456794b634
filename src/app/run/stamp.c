#include "app/run/stamp.h"

#include "app/cli/fingerprint.h"
#include "base/file.h"
#include "base/mem.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool stamps_open(stamps *st, const settings *s, const char *folder, err *e) {
    text look = {0};
    hash128 kernel;
    char sum[HASH_TEXT];
    if (!fingerprint_file(s->kernel, &kernel, e)) return false;
    hash_text(kernel, sum);
    text_add(&look, "fftbloom " VERSION "\nkernel %s\n", sum);
    fingerprint_settings(s, &look);
    *st = (stamps){.look = hash_bytes(look.s, look.n)};
    text_free(&look);
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
    bool ok = stamp_path(st, output, &path) && stamp_content(st, input, output, &content);
    if (!ok) err_set(e, ERR_IO, "cannot look at '%s' again", output);
    ok = ok && file_make_dirs(st->folder, e) && file_write_all(path.s, content.s, content.n, e);
    text_free(&path);
    text_free(&content);
    return ok;
}
