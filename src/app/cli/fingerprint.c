#include "app/cli/fingerprint.h"

#include "app/cli/options.h"
#include "base/file.h"
#include "base/mem.h"

#include <string.h>

static bool decides_output(const option *o) {
    return o->on & FOR_APPLY && (o->section == SECTION_LIGHT || o->section == SECTION_KERNEL ||
                                 o->section == SECTION_LAYERS || o->section == SECTION_ACCURACY);
}

void fingerprint_settings(const settings *s, text *to) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *v = s->value[i].text, *preset = OPTIONS[i].preset;
        if (!decides_output(&OPTIONS[i]) || !v || (preset && strcmp(v, preset) == 0)) continue;
        text_add(to, "%s ", OPTIONS[i].name);
        settings_json(s, i, to);
        text_add(to, "\n");
    }
}

bool fingerprint_file(const char *path, hash128 *to, err *e) {
    enum { PIECE = 1 << 20 };
    file_in *f = file_in_open(path, e);
    uint8_t *piece = mem_raw(PIECE, 1, "hashing", e);
    hash_state *h = hash_begin();
    bool ok = f && piece;
    uint64_t size = f ? file_in_size(f) : 0;
    for (uint64_t at = 0; ok && at < size; at += PIECE) {
        size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        ok = file_in_read(f, at, piece, n, e);
        if (ok) hash_add(h, piece, n);
    }
    hash128 sum = hash_end(&h);
    if (ok) *to = sum;
    mem_free(piece);
    file_in_close(&f);
    return ok;
}
