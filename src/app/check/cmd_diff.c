/* cmd_diff.c - `fftbloom diff A B`: image comparison in idiff's words and exit statuses. */
#include "app/check/compare_text.h"
#include "app/cli/cli.h"
#include "app/run/file_set.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/format.h"

#include <stdio.h>

typedef struct {
    const settings *s;
    const char *path[2];
    image *img[2];
    par *threads;
    text json;             /* of the parts so far */
    compare_verdict worst; /* of the parts so far */
    bool written;          /* the difference image: of the first part that differs */
} differ;

static bool write_difference(differ *d, const comparison *c, int part, err *e) {
    if (d->written || !d->s->output || (d->s->diff_only && c->max == 0)) return true;
    image *diff = compare_difference(c, d->img[0], part, d->img[1], part, d->s->diff_absolute,
                                     d->s->diff_scale, d->threads, e);
    bool ok = diff && image_save(d->s->output, diff, d->threads, e);
    image_free(&diff);
    d->written = true;
    return ok;
}

static void say_part(differ *d, const comparison *c, int part) {
    text out = {0};
    int parts = d->img[0]->head.parts;
    if (d->s->json) {
        text_add(&d->json, "%s\n    ", d->json.n ? "," : "");
        compare_json(c, d->img[0], d->img[1], part, &d->s->compare, &d->json);
        return;
    }
    if (d->s->quiet || (c->verdict == COMPARE_MATCH && !d->s->verbose)) return;
    if (d->s->all_parts && parts > 1)
        text_add(&out, "Subimage %d : %u x %u, %d channels\n", part, c->w, c->h, c->channels);
    compare_words(c, d->img[0], d->img[1], part, &d->s->compare, &out);
    fputs(out.s, stdout);
    text_free(&out);
}

static bool compare_one(differ *d, int part, err *e) {
    comparison c;
    bool ok = compare_parts(&c, d->img[0], part, d->img[1], part, &d->s->compare, d->threads, e);
    if (ok) {
        if (c.verdict > d->worst) d->worst = c.verdict;
        say_part(d, &c, part);
        if (c.verdict != COMPARE_SIZE) ok = write_difference(d, &c, part, e);
    }
    compare_free(&c);
    return ok;
}

static bool compare_all(differ *d, err *e) {
    int parts[2] = {d->img[0]->head.parts, d->img[1]->head.parts};
    int most = !d->s->all_parts ? 1 : parts[0] < parts[1] ? parts[0] : parts[1];
    for (int i = 0; i < most; i++)
        if (!compare_one(d, i, e)) return false;
    if (d->s->all_parts && parts[0] != parts[1]) {
        if (!d->s->quiet)
            log_note("Images had differing numbers of subimages (%d vs %d)", parts[0], parts[1]);
        if (d->worst < COMPARE_FAIL) d->worst = COMPARE_FAIL;
    } else if (!d->s->all_parts && (parts[0] > 1 || parts[1] > 1) && !d->s->quiet && !d->s->json) {
        printf("Only compared the first subimage (of %d and %d, respectively)\n", parts[0],
               parts[1]);
    }
    return true;
}

static void say_verdict(const differ *d) {
    text out = {0};
    if (d->s->json) {
        text_add(&out, "{\n  \"version\": 1,\n  \"a\": ");
        text_add_json(&out, d->path[0]);
        text_add(&out, ",\n  \"b\": ");
        text_add_json(&out, d->path[1]);
        text_add(&out,
                 ",\n  \"verdict\": \"%s\",\n  \"exit_status\": %d,\n  \"parts\": [%s\n  ]\n}\n",
                 compare_word(d->worst), (int)d->worst, d->json.s ? d->json.s : "");
    } else if (!d->s->quiet) {
        text_add(&out, "%s\n", compare_word(d->worst));
    }
    if (out.s) fputs(out.s, stdout);
    text_free(&out);
    if (d->s->quiet && d->worst >= COMPARE_FAIL) fputs("FAILURE\n", stderr);
}

/* A file that cannot be read is idiff's status 4, whatever kept it from being read. */
static bool load(differ *d, err *e) {
    for (int i = 0; i < 2; i++)
        if (!(d->img[i] = image_load(d->path[i], NULL, d->threads, e))) return false;
    return true;
}

static bool check_files(const differ *d, err *e) {
    file_set files = {0};
    bool ok = file_set_add(&files, FILE_READ, "the first image", d->path[0], e) &&
              file_set_add(&files, FILE_READ, "the second image", d->path[1], e) &&
              file_set_add(&files, FILE_WRITTEN, "the difference image", d->s->output, e) &&
              file_set_check(&files, false, e);
    file_set_free(&files);
    return ok;
}

static int diff(differ *d, err *e) {
    if (!check_files(d, e)) return (int)e->code;
    if (!(d->threads = par_open((int)d->s->jobs, e))) return (int)e->code;
    if (!d->s->quiet && !d->s->json)
        printf("Comparing \"%s\" and \"%s\"\n", d->path[0], d->path[1]);
    int status = COMPARE_FILE;
    if (load(d, e)) {
        if (compare_all(d, e)) {
            say_verdict(d);
            status = (int)d->worst;
        } else {
            status = (int)e->code;
        }
    }
    for (int i = 0; i < 2; i++) image_free(&d->img[i]);
    text_free(&d->json);
    par_close(&d->threads);
    return status;
}

int cmd_diff(int argc, char **argv, err *e) {
    cli c;
    int status = 0;
    if (cli_open(&c, argc, argv, e)) {
        differ d = {.s = &c.s, .path = {c.word[0], c.word[1]}};
        status = diff(&d, e);
    } else {
        status = (int)e->code;
    }
    cli_close(&c);
    return status;
}
