#include "app/check/case_reference.h"

#include "base/file.h"
#include "base/path.h"
#include "image/format.h"

/* The parts of a reference's origin, in the order of reports. */
static const struct {
    provenance_part part;
    const char *changed; /* NULL: a change is not reported */
} ORIGIN[] = {
    {PROVENANCE_VERSION, NULL},
    {PROVENANCE_DEVICE, NULL},
    {PROVENANCE_SETTINGS, "other settings"},
    {PROVENANCE_INPUT, "another input"},
    {PROVENANCE_KERNEL, "another kernel"},
    {PROVENANCE_LOOK, NULL},
};
enum { ORIGINS = sizeof ORIGIN / sizeof ORIGIN[0] };

bool suite_origin_make(provenance *o, const suite_case *c, const run_choice *run,
                       const engine_device *d, err *e) {
    const picture_look look = picture_look_asked(run->s);
    OWN(text) crop = {0};
    if (c->cropped)
        text_add(&crop, "crop %d %d %d %d\n", c->crop.x0, c->crop.y0, c->crop.x1, c->crop.y1);
    const provenance_files from = {c->kernel.file, c->s.bloom.mask_file ? c->s.bloom.mask : NULL,
                                   crop.s, c->kernel.scale};
    bool ok = provenance_make(o, run, &look, &from, e) &&
              provenance_add_file(c->s.input, &o->of[PROVENANCE_INPUT], e);
    text_add(&o->of[PROVENANCE_DEVICE], "%s %s", engine_class_name(d->class), d->name);
    return ok;
}

bool suite_bless(const char *path, image *result, const provenance *o, par *threads, err *e) {
    if (!path_ends_in(path, "exr"))
        return err_set(e, ERR_CANT_CREATE,
                       "'%s': a reference to bless must be an .exr, which has room for its origin",
                       path);
    if (!provenance_write(o, &result->head, e)) return false;
    /* A reference holds what was computed: compressions with loss are replaced. */
    for (int i = 0; i < result->head.parts; i++)
        for (int c = 0; c < result->head.part[i].channels; c++)
            if (image_loses(path, &result->head.part[i], c))
                result->head.part[i].packing = COMPRESSION_ZIP;
    result->head.format = "exr";
    char folder[PATH_MAX];
    return (!path_folder(path, folder) || strcmp(folder, ".") == 0 ||
            file_make_dirs(folder, 0777, e)) &&
           image_save(path, result, threads, e);
}

void suite_origin_json(const image *reference, text *to) {
    json_out j = {.to = to};
    json_object(&j, NULL);
    for (int i = 0; i < ORIGINS; i++) {
        const image_attr *a = provenance_find(&reference->head, ORIGIN[i].part);
        if (!a) continue;
        OWN(text) value = {0};
        text_add_bytes(&value, (const char *)a->data, a->bytes);
        json_string(&j, PROVENANCE_WORD[ORIGIN[i].part], value.s);
    }
    json_close(&j);
}

/* Adds the lines of a look that the other one lacks: "; then amount 0.5, threshold 1". */
static void add_lines(const char *look, const char *other, const char *when, text *to) {
    for (const char *s = look; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        OWN(text) line = {0};
        text_add_bytes(&line, s, strcspn(s, "\n") + 1);
        const char *found = strstr(other, line.s);
        if (line.n <= 1 || (found && (found == other || found[-1] == '\n'))) continue;
        line.s[--line.n] = 0;
        text_add(to, "%s ", when);
        text_add_clean(to, line.s);
        when = ",";
    }
}

void suite_origin_compare(const image *reference, const provenance *now, text *to) {
    for (int i = 0; i < ORIGINS; i++) {
        const image_attr *a = provenance_find(&reference->head, ORIGIN[i].part);
        const text *t = &now->of[ORIGIN[i].part];
        if (!ORIGIN[i].changed || !a || (a->bytes == t->n && memcmp(a->data, t->s, t->n) == 0))
            continue;
        text_add(to, "the reference was made with %s", ORIGIN[i].changed);
        const image_attr *look = provenance_find(&reference->head, PROVENANCE_LOOK);
        if (look && ORIGIN[i].part == PROVENANCE_SETTINGS) {
            OWN(text) was = {0};
            text_add(&was, "%.*s", (int)look->bytes, (const char *)look->data);
            add_lines(was.s, now->of[PROVENANCE_LOOK].s, "; then", to);
            add_lines(now->of[PROVENANCE_LOOK].s, was.s, "; now", to);
        }
        text_add(to, "\n");
    }
}
