#include "app/check/suite_match.h"

#include "app/check/compare_text.h"
#include "image/format.h"

static bool match_part(suite_match *m, const image *result, int part, const compare_limits *l,
                       par *threads, err *e) {
    comparison c;
    if (!compare_parts(&c, result, part, m->reference, part, l, threads, e)) return false;
    if (c.verdict > m->verdict) m->verdict = c.verdict;
    text_add(&m->parts, m->parts.n ? ", " : "");
    compare_json(&c, result, m->reference, part, l, &m->parts);
    if (c.verdict != COMPARE_MATCH) {
        if (result->head.parts > 1) text_add(&m->words, "  part %d\n", part);
        compare_words(&c, result, m->reference, part, l, &m->words);
    }
    if (part == 0 || c.verdict > m->worst.verdict ||
        (c.verdict == m->worst.verdict && c.max > m->worst.max)) {
        compare_free(&m->worst);
        m->worst = c;
        m->part = part;
    } else {
        compare_free(&c);
    }
    return true;
}

bool suite_match_make(suite_match *m, const image *result, const char *path,
                      const compare_limits *l, par *threads, err *e) {
    err why = {0};
    *m = (suite_match){.path = path};
    m->reference = image_load(path, NULL, threads, &why);
    if (!m->reference) {
        m->verdict = COMPARE_FILE;
        text_add(&m->words, "  %s\n", why.msg);
        return why.code != ERR_RETRY || err_set(e, ERR_RETRY, "%s", why.msg);
    }
    int parts[2] = {result->head.parts, m->reference->head.parts};
    if (parts[0] != parts[1]) {
        m->verdict = m->worst.verdict = COMPARE_SIZE;
        text_add(&m->words, "  the result has %d parts, '%s' has %d\n", parts[0], path, parts[1]);
        return true;
    }
    for (int i = 0; i < parts[0]; i++)
        if (!match_part(m, result, i, l, threads, e)) return false;
    return true;
}

bool suite_match_nearer(const suite_match *a, const suite_match *b) {
    return a->verdict != b->verdict ? a->verdict < b->verdict : a->worst.max < b->worst.max;
}

void suite_match_free(suite_match *m) {
    compare_free(&m->worst);
    image_free(&m->reference);
    text_free(&m->words);
    text_free(&m->parts);
    *m = (suite_match){0};
}
