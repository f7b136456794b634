#include "app/check/case_match.h"

#include "app/check/diff.h"
#include "image/flat/png.h"
#include "image/flat/preview.h"
#include "image/format.h"

void case_say(text *to, const char *fmt, ...) {
    char said[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(said, sizeof said, fmt, ap);
    va_end(ap);
    text_add_clean(to, said);
    text_add(to, "\n");
}

static bool match_part(suite_match *m, const matching *with, int part, json_out *j, err *e) {
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
    comparison_free(farther ? &m->worst : &c);
    if (farther) m->worst = c;
    return true;
}

bool suite_match_make(suite_match *m, const matching *with, const char *path, err *e) {
    err why = {0};
    *m = (suite_match){.path = path};
    m->reference = image_load(path, NULL, with->threads, &why);
    int parts = with->result->head.parts, others = m->reference ? m->reference->head.parts : 0;
    if (!m->reference) {
        m->verdict = COMPARE_FILE;
        if (err_is_missing(&why))
            case_say(&m->words, "no reference yet: there is no '%s'; run with --bless to create it",
                     path);
        else
            case_say(&m->words, "%s", why.msg);
        if (err_status(why.code) == ERR_RETRY) return *e = why, false;
    } else if (parts != others) {
        m->verdict = m->worst.verdict = COMPARE_SIZE;
        case_say(&m->words, "the result has %d parts, '%s' has %d", parts, path, others);
    }
    if (m->words.n) return true;
    json_out j = {.to = &m->parts, .depth = 3};
    json_list(&j, NULL);
    bool ok = true;
    for (int i = 0; ok && i < parts; i++) ok = match_part(m, with, i, &j, e);
    json_close(&j);
    return ok;
}

void suite_match_free(suite_match *m) {
    comparison_free(&m->worst);
    image_free(&m->reference);
    text_free(&m->words);
    text_free(&m->parts);
    *m = (suite_match){0};
}

/* --- pictures --- */

enum { WIDEST = 1024, THUMBNAIL = 192 };

const char *const SUITE_PICTURE_NAME[PICTURES] = {
    [PICTURE_REFERENCE] = "reference",
    [PICTURE_RESULT] = "result",
    [PICTURE_DIFFERENCE] = "difference",
    [PICTURE_COLOURS] = "colours",
};

static bool encode(suite_pictures *p, int which, const uint8_t *pixel, uint32_t w, uint32_t h,
                   err *e) {
    p->png[which] = png_encode(&(png_picture){pixel, w, h, 3}, &p->bytes[which], e);
    return p->png[which] != NULL;
}

/* Makes pictures of one exposure, which the first of them finds. */
static bool develop(suite_pictures *p, suite_picture which, const image *img, preview_options *as,
                    par *threads, err *e) {
    preview_picture v;
    err why = {0};
    if (!preview_make(&v, img, as, threads, &why))
        return why.code == ERR_DATA || err_set(e, why.code, "%s", why.msg);
    as->exposed = true;
    as->stops = v.stops;
    bool ok = encode(p, (int)which, v.pixel, v.width, v.height, e);
    mem_free(v.pixel);
    return ok;
}

static bool show_differences(suite_pictures *p, const suite_match *m, err *e) {
    heat h;
    if (!heat_make(&h, &m->worst, WIDEST, e)) return false;
    bool ok = encode(p, PICTURE_DIFFERENCE, h.amplified, h.width, h.height, e) &&
              encode(p, PICTURE_COLOURS, h.colours, h.width, h.height, e);
    p->h = h;
    p->compared = ok;
    p->h.amplified = p->h.colours = NULL;
    heat_free(&h);
    return ok;
}

bool suite_pictures_make(suite_pictures *p, const matching *with, const suite_match *m, err *e) {
    const image *result = with->result, *reference = m ? m->reference : NULL;
    int part = m ? m->worst.of.part : 0;
    preview_options as = {.width = m ? WIDEST : THUMBNAIL, .whole = true};
    *p = (suite_pictures){.box = result->head.part[part].data};
    as.part = reference && part < reference->head.parts ? part : 0;
    if (reference && !develop(p, PICTURE_REFERENCE, reference, &as, with->threads, e)) return false;
    as.part = part;
    return develop(p, PICTURE_RESULT, result, &as, with->threads, e) &&
           (!reference || m->verdict == COMPARE_SIZE || show_differences(p, m, e));
}

void suite_pictures_free(suite_pictures *p) {
    for (int i = 0; i < PICTURES; i++) mem_free(p->png[i]);
    heat_free(&p->h);
    *p = (suite_pictures){0};
}
