#include "app/check/suite_match.h"

#include "app/check/compare_text.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "image/flat/png.h"
#include "image/flat/preview.h"
#include "image/format.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool match_part(suite_match *m, const suite_matching *with, int part, json_out *j, err *e) {
    comparison c;
    const compare_pair of = {with->result, m->reference, part};
    if (!compare_parts(&c, &of, &with->limits, with->threads, e)) return false;
    if (c.verdict > m->verdict) m->verdict = c.verdict;
    compare_json(&c, j);
    if (c.verdict != COMPARE_MATCH) {
        if (with->result->head.parts > 1) text_add(&m->words, "  part %d\n", part);
        compare_words(&c, &m->words);
    }
    bool farther = part == 0 || c.verdict > m->worst.verdict ||
                   (c.verdict == m->worst.verdict && c.max > m->worst.max);
    compare_free(farther ? &m->worst : &c);
    if (farther) m->worst = c;
    return true;
}

bool suite_match_make(suite_match *m, const suite_matching *with, const char *path, err *e) {
    err why = {0};
    OWN(text) said = {0};
    *m = (suite_match){.path = path};
    m->reference = image_load(path, NULL, with->threads, &why);
    int parts = with->result->head.parts, others = m->reference ? m->reference->head.parts : 0;
    if (!m->reference) {
        m->verdict = COMPARE_FILE;
        if (access(path, F_OK) != 0 && errno == ENOENT)
            text_add(&said, "no reference yet: there is no '%s'; run with --bless to create it",
                     path);
        else
            text_add(&said, "%s", why.msg);
        if (err_status(why.code) == ERR_RETRY) *e = why;
    } else if (parts != others) {
        m->verdict = m->worst.verdict = COMPARE_SIZE;
        text_add(&said, "the result has %d parts, '%s' has %d", parts, path, others);
    }
    if (said.s) {
        text_add(&m->words, "  ");
        text_add_clean(&m->words, said.s);
        text_add(&m->words, "\n");
        return err_status(why.code) != ERR_RETRY;
    }
    json_out j = {.to = &m->parts, .depth = 3};
    json_list(&j, NULL);
    bool ok = true;
    for (int i = 0; ok && i < parts; i++) ok = match_part(m, with, i, &j, e);
    json_close(&j);
    return ok;
}

void suite_match_free(suite_match *m) {
    compare_free(&m->worst);
    image_free(&m->reference);
    text_free(&m->words);
    text_free(&m->parts);
    *m = (suite_match){0};
}

const char *const SUITE_PICTURE_NAME[PICTURES] = {
    [PICTURE_REFERENCE] = "reference",
    [PICTURE_RESULT] = "result",
    [PICTURE_DIFFERENCE] = "difference",
    [PICTURE_COLOURS] = "colours",
};

/* Makes pictures of one exposure, which the first of them finds. */
typedef struct {
    suite_pictures *to;
    par *threads;
    preview_options as;
} developer;

static bool develop(developer *d, suite_picture which, const image *img, int part, err *e) {
    preview_picture v;
    err why = {0};
    d->as.part = part;
    if (!preview_make(&v, img, &d->as, d->threads, &why))
        return why.code == ERR_DATA || err_set(e, why.code, "%s", why.msg);
    d->as.exposed = true;
    d->as.stops = v.stops;
    d->to->png[which] =
        png_encode(&(png_picture){v.pixel, v.width, v.height, 3}, &d->to->bytes[which], e);
    mem_free(v.pixel);
    return d->to->png[which] != NULL;
}

static bool show_differences(suite_pictures *p, const suite_match *m, err *e) {
    heat h;
    if (!heat_make(&h, &m->worst, SUITE_PICTURES_WIDEST, e)) return false;
    const uint8_t *pixels[] = {h.amplified, h.colours};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        int which = PICTURE_DIFFERENCE + i;
        p->png[which] =
            png_encode(&(png_picture){pixels[i], h.width, h.height, 3}, &p->bytes[which], e);
        ok = p->png[which] != NULL;
    }
    p->h = h;
    p->compared = ok;
    p->h.amplified = p->h.colours = NULL;
    heat_free(&h);
    return ok;
}

bool suite_pictures_make(suite_pictures *p, const suite_matching *with, const suite_match *m,
                         err *e) {
    const image *result = with->result, *reference = m ? m->reference : NULL;
    int part = m ? m->worst.of.part : 0;
    uint32_t widest = m ? SUITE_PICTURES_WIDEST : SUITE_THUMBNAIL_WIDEST;
    developer d = {.to = p, .threads = with->threads, .as = {.width = widest, .whole = true}};
    *p = (suite_pictures){.box = result->head.part[part].data};
    if (reference &&
        !develop(&d, PICTURE_REFERENCE, reference, part < reference->head.parts ? part : 0, e))
        return false;
    if (!develop(&d, PICTURE_RESULT, result, part, e)) return false;
    return !reference || m->verdict == COMPARE_SIZE || show_differences(p, m, e);
}

void suite_pictures_free(suite_pictures *p) {
    for (int i = 0; i < PICTURES; i++) mem_free(p->png[i]);
    heat_free(&p->h);
    *p = (suite_pictures){0};
}

/* --- references ------------------------------------------------------------------------------ */

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

bool suite_origin_make(provenance *o, const suite_case *c, const engine_device *d, err *e) {
    OWN(text) crop = {0};
    if (c->cropped)
        text_add(&crop, "crop %d %d %d %d\n", c->crop.x0, c->crop.y0, c->crop.x1, c->crop.y1);
    bool ok = provenance_make(o, &c->s, c->s.kernel, crop.s, e) &&
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
        if (result->head.part[i].packing > COMPRESSION_PIZ)
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
        if (line.n > 1 && !(found && (found == other || found[-1] == '\n'))) {
            line.s[--line.n] = 0;
            text_add(to, "%s ", when);
            text_add_clean(to, line.s);
            when = ",";
        }
    }
}

void suite_origin_compare(const image *reference, const provenance *now, text *to) {
    for (int i = 0; i < ORIGINS; i++) {
        const image_attr *a = provenance_find(&reference->head, ORIGIN[i].part);
        const text *t = &now->of[ORIGIN[i].part];
        if (!ORIGIN[i].changed || !a || (a->bytes == t->n && memcmp(a->data, t->s, t->n) == 0))
            continue;
        text_add(to, "the reference was made with %s", ORIGIN[i].changed);
        a = ORIGIN[i].part == PROVENANCE_SETTINGS
                ? provenance_find(&reference->head, PROVENANCE_LOOK)
                : NULL;
        if (a) {
            OWN(text) was = {0};
            text_add_bytes(&was, (const char *)a->data, a->bytes);
            text_add(&was, "%s", ""); /* none is an empty string */
            add_lines(was.s, now->of[PROVENANCE_LOOK].s, "; then", to);
            add_lines(now->of[PROVENANCE_LOOK].s, was.s, "; now", to);
        }
        text_add(to, "\n");
    }
}
