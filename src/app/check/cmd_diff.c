/* cmd_diff.c - `fftbloom diff A B`: compares two images, in idiff's words and exit statuses. */
#include "app/check/compare_text.h"
#include "app/cli/cli.h"
#include "app/run/file_set.h"
#include "base/log.h"
#include "base/number.h"
#include "image/format.h"

#include <stdio.h>

typedef struct {
    const settings *s;
    compare_limits limits;
    const char *path[2];
    image *img[2];
    par *threads;
    json_out json;         /* the parts so far, where --json is given */
    compare_verdict worst; /* of the parts so far */
    bool written;          /* the difference image: it is of the first part that differs */
} differ;

static bool compare_one(differ *d, int part, err *e) {
    comparison c;
    const settings *s = d->s;
    const compare_pair of = {d->img[0], d->img[1], part};
    bool ok = compare_parts(&c, &of, &d->limits, d->threads, e);
    if (ok && c.verdict > d->worst) d->worst = c.verdict;
    if (ok && s->json) {
        compare_json(&c, &d->json);
    } else if (ok && !s->quiet && (c.verdict != COMPARE_MATCH || s->verbose)) {
        text words = {0};
        if (s->all_parts && d->img[0]->head.parts > 1)
            text_add(&words, "Subimage %d : %u x %u, %d channels\n", part, c.w, c.h, c.channels);
        compare_words(&c, &words);
        cli_print(&words);
    }
    if (ok && c.verdict != COMPARE_SIZE && s->output && !d->written &&
        (c.max > 0 || !s->diff_only)) {
        image *diff = compare_difference(&c, s->diff_absolute, s->diff_scale, d->threads, e);
        ok = diff && image_save(s->output, diff, d->threads, e);
        image_free(&diff);
        d->written = true;
    }
    compare_free(&c);
    return ok;
}

static bool compare_all(differ *d, err *e) {
    int a = d->img[0]->head.parts, b = d->img[1]->head.parts;
    int most = d->s->all_parts ? min_int(a, b) : 1;
    for (int i = 0; i < most; i++)
        if (!compare_one(d, i, e)) return false;
    if (d->s->all_parts && a != b) {
        if (d->worst < COMPARE_FAIL) d->worst = COMPARE_FAIL;
        if (!d->s->quiet) log_note("Images had differing numbers of subimages (%d vs %d)", a, b);
    } else if (!d->s->quiet && !d->s->json && (a > 1 || b > 1) && !d->s->all_parts) {
        printf("Only compared the first subimage (of %d and %d, respectively)\n", a, b);
    }
    return true;
}

int cmd_diff(cli *c, text *out, err *e) {
    const settings *s = &c->s;
    differ d = {.s = s,
                .limits = compare_limits_of(s),
                .path = {c->word[0], c->word[1]},
                .threads = c->threads};
    const file_set_file FILES[] = {{FILE_READ, "the first image", d.path[0]},
                                   {FILE_READ, "the second image", d.path[1]},
                                   {FILE_WRITTEN, "the difference image", s->output}};
    text parts = {0}, names = {0};
    if (!file_set_apart(FILES, 3, NULL, e)) return 0;
    if (!s->quiet && !s->json) {
        for (int i = 0; i < 2; i++) {
            text_add(&names, i ? "\" and \"" : "Comparing \"");
            text_add_clean(&names, d.path[i]);
        }
        text_add(&names, "\"\n");
        cli_print(&names);
    }
    bool loaded = true;
    for (int i = 0; loaded && i < 2; i++)
        loaded = (d.img[i] = image_load(d.path[i], NULL, d.threads, e)) != NULL;
    /* A file that cannot be read is idiff's status 4; only a lack of memory is worth a retry. */
    if (!loaded && err_status(e->code) != ERR_RETRY) e->code = (err_code)COMPARE_FILE;
    d.json = (json_out){.to = &parts, .depth = 1};
    json_list(&d.json, NULL);
    bool ok = loaded && compare_all(&d, e);
    json_close(&d.json);
    if (ok && s->json) {
        json_out j = json_begin(out);
        json_string(&j, "a", d.path[0]);
        json_string(&j, "b", d.path[1]);
        json_string(&j, "verdict", compare_word(d.worst));
        json_int(&j, "exit_status", (int)d.worst);
        json_raw(&j, "parts", parts.s);
        json_end(&j);
    } else if (ok && !s->quiet) {
        text_add(out, "%s\n", compare_word(d.worst));
    }
    for (int i = 0; i < 2; i++) image_free(&d.img[i]);
    text_free(&parts);
    return (int)d.worst;
}
