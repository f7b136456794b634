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
    text parts;            /* JSON of the parts so far */
    json_out json;         /* writes it */
    compare_verdict worst; /* of the parts so far */
    bool written;          /* the difference image: it is of the first part that differs */
} differ;

static void say_part(differ *d, const comparison *c) {
    text out = {0};
    if (d->s->json) {
        json_line(&d->json);
        compare_json(c, &d->json);
        return;
    }
    if (d->s->quiet || (c->verdict == COMPARE_MATCH && !d->s->verbose)) return;
    if (d->s->all_parts && d->img[0]->head.parts > 1)
        text_add(&out, "Subimage %d : %u x %u, %d channels\n", c->of.part, c->w, c->h, c->channels);
    compare_words(c, &out);
    fputs(out.s, stdout);
    text_free(&out);
}

static bool compare_one(differ *d, int part, err *e) {
    comparison c;
    const compare_pair of = {d->img[0], d->img[1], part};
    bool ok = compare_parts(&c, &of, &d->limits, d->threads, e);
    if (ok) {
        if (c.verdict > d->worst) d->worst = c.verdict;
        say_part(d, &c);
    }
    if (ok && c.verdict != COMPARE_SIZE && d->s->output && !d->written &&
        (c.max > 0 || !d->s->diff_only)) {
        image *diff = compare_difference(&c, d->s->diff_absolute, d->s->diff_scale, d->threads, e);
        ok = diff && image_save(d->s->output, diff, d->threads, e);
        image_free(&diff);
        d->written = true;
    }
    compare_free(&c);
    return ok;
}

static bool compare_all(differ *d, err *e) {
    int a = d->img[0]->head.parts, b = d->img[1]->head.parts;
    int most = d->s->all_parts ? min_int(a, b) : 1;
    bool talks = !d->s->quiet && !d->s->json;
    json_array(&d->json, NULL);
    for (int i = 0; i < most; i++)
        if (!compare_one(d, i, e)) return false;
    json_line(&d->json);
    json_close(&d->json);
    if (d->s->all_parts && a != b) {
        if (d->worst < COMPARE_FAIL) d->worst = COMPARE_FAIL;
        if (!d->s->quiet) log_note("Images had differing numbers of subimages (%d vs %d)", a, b);
    } else if (talks && (a > 1 || b > 1) && !d->s->all_parts) {
        printf("Only compared the first subimage (of %d and %d, respectively)\n", a, b);
    }
    return true;
}

static void say_verdict(const differ *d) {
    text out = {0};
    json_out j = {.to = &out};
    if (d->s->quiet && !d->s->json) return;
    if (d->s->json) {
        json_object(&j, NULL);
        json_line(&j);
        json_int(&j, "version", 1);
        json_line(&j);
        json_string(&j, "a", d->path[0]);
        json_line(&j);
        json_string(&j, "b", d->path[1]);
        json_line(&j);
        json_string(&j, "verdict", compare_word(d->worst));
        json_line(&j);
        json_int(&j, "exit_status", (int)d->worst);
        json_line(&j);
        json_raw(&j, "parts", d->parts.s);
        json_line(&j);
        json_close(&j);
    } else {
        text_add(&out, "%s", compare_word(d->worst));
    }
    puts(out.s);
    text_free(&out);
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
    if (!check_files(d, e) || !(d->threads = par_open((int)d->s->jobs, e))) return (int)e->code;
    if (!d->s->quiet && !d->s->json) {
        text names = {0};
        for (int i = 0; i < 2; i++) {
            text_add(&names, i ? "\" and \"" : "Comparing \"");
            text_add_clean(&names, d->path[i]);
        }
        printf("%s\"\n", names.s);
        text_free(&names);
    }
    /* A file that cannot be read is idiff's status 4; only a lack of memory is worth a retry. */
    int status;
    bool loaded = true;
    for (int i = 0; loaded && i < 2; i++)
        loaded = (d->img[i] = image_load(d->path[i], NULL, d->threads, e)) != NULL;
    if (loaded) {
        bool ok = compare_all(d, e);
        if (ok) say_verdict(d);
        status = ok ? (int)d->worst : (int)e->code;
    } else {
        status = e->code == ERR_RETRY ? ERR_RETRY : COMPARE_FILE;
    }
    for (int i = 0; i < 2; i++) image_free(&d->img[i]);
    text_free(&d->parts);
    par_close(&d->threads);
    return status;
}

int cmd_diff(int argc, char **argv, err *e) {
    cli c;
    int status = 0;
    if (cli_open(&c, argc, argv, e)) {
        differ d = {.s = &c.s, .limits = compare_limits_of(&c.s), .path = {c.word[0], c.word[1]}};
        d.json = (json_out){.to = &d.parts, .depth = 1};
        status = diff(&d, e);
    } else {
        status = (int)e->code;
    }
    cli_close(&c);
    return status;
}
