#include "app/check/suite_bless.h"

#include "app/run/describe.h"
#include "app/run/stamp.h"
#include "base/file.h"
#include "image/format.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *key;
    size_t at;
    const char *changed; /* NULL: a change is not worth a word */
} ORIGIN[] = {
    {"fftbloom:version", "version", offsetof(suite_origin, version), NULL},
    {"fftbloom:device", "device", offsetof(suite_origin, device), NULL},
    {"fftbloom:settings", "settings", offsetof(suite_origin, settings), "other settings"},
    {"fftbloom:input", "input", offsetof(suite_origin, input), "another input"},
    {"fftbloom:kernel", "kernel", offsetof(suite_origin, kernel), "another kernel"},
};
enum { ORIGINS = sizeof ORIGIN / sizeof ORIGIN[0] };

static text *member(const suite_origin *o, int i) {
    return (text *)((char *)o + ORIGIN[i].at);
}

static bool add_file(const char *path, text *to, err *e) {
    hash128 sum;
    char digits[HASH_TEXT];
    if (!fingerprint_file(path, &sum, e)) return false;
    hash_text(sum, digits);
    text_add(to, "%s", digits);
    return true;
}

bool suite_origin_make(suite_origin *o, const suite_case *c, const engine_device *d, err *e) {
    *o = (suite_origin){0};
    text_add(&o->version, "fftbloom " VERSION);
    text_add(&o->device, "%s %s", describe_class(d->class), d->name);
    text look = {0};
    char digits[HASH_TEXT];
    fingerprint_settings(&c->s, &look);
    if (c->cropped)
        text_add(&look, "crop %d %d %d %d\n", c->crop.x0, c->crop.y0, c->crop.x1, c->crop.y1);
    hash_text(hash_bytes(look.s, look.n), digits);
    text_add(&o->settings, "%s", digits);
    text_free(&look);
    return add_file(c->s.input, &o->input, e) && add_file(c->s.kernel, &o->kernel, e);
}

void suite_origin_free(suite_origin *o) {
    for (int i = 0; i < ORIGINS; i++) text_free(member(o, i));
}

bool suite_bless(const char *path, image *result, const suite_origin *o, par *threads, err *e) {
    const char *dot = strrchr(path, '.');
    if (!dot || strcasecmp(dot, ".exr") != 0)
        return err_set(e, ERR_CANT_CREATE,
                       "'%s': a reference to bless must be an .exr, which has room for its origin",
                       path);
    for (int i = 0; i < ORIGINS; i++) {
        const text *t = member(o, i);
        if (!image_set_attr(&result->head.part[0], ORIGIN[i].name, "string", t->s, (uint32_t)t->n,
                            e))
            return false;
    }
    /* A reference holds what was computed: compressions with loss are replaced. */
    for (int i = 0; i < result->head.parts; i++)
        if (result->head.part[i].packing > COMPRESSION_PIZ)
            result->head.part[i].packing = COMPRESSION_ZIP;
    result->head.format = "exr";
    const char *slash = strrchr(path, '/');
    text folder = {0};
    if (slash && slash != path) text_add_bytes(&folder, path, (size_t)(slash - path));
    bool ok = (!folder.s || file_make_dirs(folder.s, e)) && image_save(path, result, threads, e);
    text_free(&folder);
    return ok;
}

static const image_attr *origin_attr(const image *reference, int i) {
    const image_attr *a = image_find_attr(&reference->head.part[0], ORIGIN[i].name);
    return a && strcmp(a->type, "string") == 0 ? a : NULL;
}

void suite_origin_json(const image *reference, text *to) {
    json_out j = {.to = to};
    json_object(&j, NULL);
    for (int i = 0; i < ORIGINS; i++) {
        const image_attr *a = origin_attr(reference, i);
        if (!a) continue;
        text value = {0};
        text_add_bytes(&value, (const char *)a->data, a->bytes);
        json_string(&j, ORIGIN[i].key, value.s);
        text_free(&value);
    }
    json_close(&j);
}

void suite_origin_compare(const image *reference, const suite_origin *now, text *to) {
    for (int i = 0; i < ORIGINS; i++) {
        const image_attr *a = origin_attr(reference, i);
        const text *t = member(now, i);
        if (!ORIGIN[i].changed || !a || (a->bytes == t->n && memcmp(a->data, t->s, t->n) == 0))
            continue;
        text_add(to, "the reference was made with %s\n", ORIGIN[i].changed);
    }
}
