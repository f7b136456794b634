#include "app/run/provenance.h"

#include "app/cli/options.h"
#include "base/file.h"

const char *const PROVENANCE_WORD[PROVENANCE_PARTS] = {
    [PROVENANCE_VERSION] = "version",   [PROVENANCE_DEVICE] = "device",
    [PROVENANCE_SETTINGS] = "settings", [PROVENANCE_INPUT] = "input",
    [PROVENANCE_SOURCE] = "source",     [PROVENANCE_KERNEL] = "kernel",
    [PROVENANCE_LOOK] = "look",
};

void provenance_add_settings(const run_choice *run, const picture_look *look, double kernel_scale,
                             text *to) {
    settings s = picture_look_settings(run->s, look);
    s.bloom.kernel.size = kernel_scale > 0 ? kernel_scale
                                           : run->kernel->size; /* the rest is in the bytes */
    s.kernel_auto = run->kernel->follows && !(kernel_scale > 0);
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        const bool path = o->type == OPTION_MASK && s.bloom.mask_file;
        if (!option_decides(o) || path || settings_same(&s, run->presets, o)) continue;
        text_add(to, "%s ", o->name);
        settings_json(&s, o, &(json_out){.to = to}, NULL);
        text_add(to, "\n");
    }
}

bool provenance_hash_file(const char *path, hash128 *to, err *e) {
    enum { PIECE = 1 << 20 };
    OPEN(file_in) *f = file_in_open(path, e);
    OWN_MEM uint8_t *piece = mem_raw(PIECE, 1, "hashing", e);
    hash_state h;
    hash_begin(&h);
    bool ok = f && piece;
    uint64_t size = f ? file_in_size(f) : 0;
    for (uint64_t at = 0; ok && at < size; at += PIECE) {
        size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        ok = file_in_read(f, at, piece, n, e);
        if (ok) hash_add(&h, piece, n);
    }
    hash128 sum = hash_end(&h);
    if (ok) *to = sum;
    return ok;
}

static void add_hash(text *to, hash128 sum) {
    char digits[HASH_TEXT];
    hash_text(sum, digits);
    text_add(to, "%s", digits);
}

bool provenance_add_file(const char *path, text *to, err *e) {
    hash128 sum;
    bool ok = provenance_hash_file(path, &sum, e);
    if (ok) add_hash(to, sum);
    return ok;
}

bool provenance_make(provenance *p, const run_choice *run, const picture_look *look,
                     const provenance_files *f, err *e) {
    *p = (provenance){0};
    text *decides = &p->of[PROVENANCE_LOOK];
    if (!provenance_add_file(f->kernel, &p->of[PROVENANCE_KERNEL], e)) return false;
    provenance_add_settings(run, look, f->kernel_scale, decides);
    if (f->mask) {
        text_add(decides, "mask ");
        if (!provenance_add_file(f->mask, decides, e)) return false;
        text_add(decides, "\n");
    }
    text_add(decides, "%s", f->more ? f->more : "");
    text_add(&p->of[PROVENANCE_VERSION], "fftbloom " VERSION);
    add_hash(&p->of[PROVENANCE_SETTINGS], hash_bytes(decides->s, decides->n));
    if (!decides->n) text_add(decides, "\n"); /* all are defaults */
    return true;
}

void provenance_free(provenance *p) {
    for (int i = 0; i < PROVENANCE_PARTS; i++) text_free(&p->of[i]);
}

static const char *attr_name(provenance_part part, char to[32]) {
    snprintf(to, 32, "fftbloom:%s", PROVENANCE_WORD[part]);
    return to;
}

bool provenance_write(const provenance *p, image_header *h, err *e) {
    char name[32];
    for (provenance_part i = 0; i < PROVENANCE_PARTS; i++) {
        const text *t = &p->of[i];
        if (t->n && !image_set_text(&h->part[0], attr_name(i, name), t->s, e)) return false;
    }
    return true;
}

const image_attr *provenance_find(const image_header *h, provenance_part part) {
    char name[32];
    const image_attr *a = image_find_attr(&h->part[0], attr_name(part, name));
    return a && strcmp(a->type, "string") == 0 ? a : NULL;
}

bool provenance_is_in(const image_header *h) {
    char name[32];
    attr_name(PROVENANCE_VERSION, name);
    for (int i = 0; i < h->parts; i++)
        if (image_find_attr(&h->part[i], name)) return true;
    return false;
}
