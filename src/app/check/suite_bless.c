#include "app/check/suite_bless.h"

#include "app/cli/options.h"
#include "app/run/describe.h"
#include "app/run/stamp.h"
#include "base/file.h"
#include "image/format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *key;
    const char *changed; /* NULL: a change is not reported */
} ORIGIN[SUITE_ORIGINS] = {
    [ORIGIN_VERSION] = {"fftbloom:version", "version", NULL},
    [ORIGIN_DEVICE] = {"fftbloom:device", "device", NULL},
    [ORIGIN_SETTINGS] = {"fftbloom:settings", "settings", "other settings"},
    [ORIGIN_INPUT] = {"fftbloom:input", "input", "another input"},
    [ORIGIN_KERNEL] = {"fftbloom:kernel", "kernel", "another kernel"},
    [ORIGIN_LOOK] = {"fftbloom:look", "look", NULL},
};

static void add_hash(text *to, hash128 sum) {
    char digits[HASH_TEXT];
    hash_text(sum, digits);
    text_add(to, "%s", digits);
}

bool suite_origin_make(suite_origin *o, const suite_case *c, const engine_device *d, err *e) {
    text look = {0};
    hash128 input, kernel;
    *o = (suite_origin){0};
    if (!fingerprint_file(c->s.input, &input, e) || !fingerprint_file(c->s.kernel, &kernel, e))
        return false;
    fingerprint_settings(&c->s, &look);
    if (c->cropped)
        text_add(&look, "crop %d %d %d %d\n", c->crop.x0, c->crop.y0, c->crop.x1, c->crop.y1);
    text_add(&o->of[ORIGIN_VERSION], "fftbloom " VERSION);
    text_add(&o->of[ORIGIN_DEVICE], "%s %s", describe_class(d->class), d->name);
    add_hash(&o->of[ORIGIN_SETTINGS], hash_bytes(look.s, look.n));
    add_hash(&o->of[ORIGIN_INPUT], input);
    add_hash(&o->of[ORIGIN_KERNEL], kernel);
    if (!look.n) text_add(&look, "\n"); /* all are defaults */
    o->of[ORIGIN_LOOK] = look;
    return true;
}

void suite_origin_free(suite_origin *o) {
    for (int i = 0; i < SUITE_ORIGINS; i++) text_free(&o->of[i]);
}

bool suite_bless(const char *path, image *result, const suite_origin *o, par *threads, err *e) {
    const char *dot = strrchr(path, '.');
    if (!dot || strcasecmp(dot, ".exr") != 0)
        return err_set(e, ERR_CANT_CREATE,
                       "'%s': a reference to bless must be an .exr, which has room for its origin",
                       path);
    for (int i = 0; i < SUITE_ORIGINS; i++) {
        const text *t = &o->of[i];
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
    bool ok = (!folder.s || file_make_dirs(folder.s, 0777, e)) &&
              image_save(path, result, threads, e);
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
    for (int i = 0; i < SUITE_ORIGINS; i++) {
        const image_attr *a = origin_attr(reference, i);
        if (!a) continue;
        text value = {0};
        text_add_bytes(&value, (const char *)a->data, a->bytes);
        json_string(&j, ORIGIN[i].key, value.s);
        text_free(&value);
    }
    json_close(&j);
}

/* Adds the lines of a look that the other one lacks: "; then amount 0.5, threshold 1". */
static void add_lines(const char *look, const char *other, const char *when, text *to) {
    for (const char *s = look; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        text line = {0};
        text_add_bytes(&line, s, strcspn(s, "\n") + 1);
        const char *found = strstr(other, line.s);
        if (line.n > 1 && !(found && (found == other || found[-1] == '\n'))) {
            line.s[--line.n] = 0;
            text_add(to, "%s ", when);
            text_add_clean(to, line.s);
            when = ",";
        }
        text_free(&line);
    }
}

void suite_origin_compare(const image *reference, const suite_origin *now, text *to) {
    for (int i = 0; i < SUITE_ORIGINS; i++) {
        const image_attr *a = origin_attr(reference, i);
        const text *t = &now->of[i];
        if (!ORIGIN[i].changed || !a || (a->bytes == t->n && memcmp(a->data, t->s, t->n) == 0))
            continue;
        text_add(to, "the reference was made with %s", ORIGIN[i].changed);
        a = i == ORIGIN_SETTINGS ? origin_attr(reference, ORIGIN_LOOK) : NULL;
        if (a) {
            text was = {0};
            text_add_bytes(&was, (const char *)a->data, a->bytes);
            text_add(&was, "%s", ""); /* none is an empty string */
            add_lines(was.s, now->of[ORIGIN_LOOK].s, "; then", to);
            add_lines(now->of[ORIGIN_LOOK].s, was.s, "; now", to);
            text_free(&was);
        }
        text_add(to, "\n");
    }
}
