/* diff.c - `fftbloom diff A B`: compares two images, in idiff's words and exit statuses. */
#include "app/check/diff.h"

#include "app/cli/cli.h"
#include "app/cli/options.h"
#include "app/run/file_set.h"
#include "base/log.h"
#include "image/format.h"

/* --- what is said --- */

compare_limits compare_limits_of(const settings *s) {
    compare_limits l = s->compare;
    l.warn_given |= settings_given(s, "warn", FOR_DIFF) ||
                    settings_given(s, "warnrelative", FOR_DIFF) ||
                    settings_given(s, "warnpercent", FOR_DIFF);
    return l;
}

/* Returns the value of the worst pixel in a channel of one of the images. */
static double text_value_at(const comparison *c, const image *img, int channel) {
    float f;
    size_t at = (size_t)(c->max_y - c->y0) * c->w + (size_t)(c->max_x - c->x0);
    image_to_float(&f, img->plane[c->of.part][channel],
                   img->head.part[c->of.part].channel[channel].type, at, 1);
    return (double)f;
}

static const char *channel_name(const comparison *c, int i) {
    return c->of.a->head.part[c->of.part].channel[c->channel[i].a].name;
}

static double ratio(const compare_channel *k) {
    return k->sum_a == k->sum_b ? 1 : k->sum_b / k->sum_a;
}

static void add_over(const comparison *c, uint64_t pixels, double limit, const char *name,
                     text *to) {
    text_add(to, "  %" PRIu64 " pixels (%.3g%%) over %g%s\n", pixels,
             100.0 / (double)c->pixels * (double)pixels, limit, name);
}

void compare_words(const comparison *c, text *to) {
    if (c->verdict == COMPARE_SIZE) {
        text_add(to, "  "), text_add_clean(to, c->differs), text_add(to, "\n");
        return;
    }
    text_add(to, "  Mean error = %g\n  RMS error = %g\n  Peak SNR = %g\n", c->mean, c->rms,
             c->psnr);
    text_add(to, "  Max error  = %g", c->max);
    if (c->max > 0) {
        text_add(to, " @ (%d, %d, ", c->max_x, c->max_y);
        text_add_clean(to, channel_name(c, c->max_channel));
        text_add(to, ")  values are ");
        for (int i = 0; i < c->channels; i++)
            text_add(to, "%s%g", i ? ", " : "", text_value_at(c, c->of.a, c->channel[i].a));
        for (int i = 0; i < c->channels; i++)
            text_add(to, "%s%g", i ? ", " : " vs ", text_value_at(c, c->of.b, c->channel[i].b));
    }
    text_add(to, "\n");
    add_over(c, c->warned, c->limits.warn, "", to);
    add_over(c, c->failed, c->limits.fail, "", to);
    if (c->hard_warned) add_over(c, c->hard_warned, c->limits.hard_warn, " (hardwarn)", to);
    if (c->hard_failed) add_over(c, c->hard_failed, c->limits.hard_fail, " (hardfail)", to);
    for (int i = 0; i < c->channels; i++) {
        text_add(to, i ? ", " : "  Energy     = ");
        text_add_clean(to, channel_name(c, i));
        text_add(to, " %.7g", ratio(&c->channel[i]));
    }
    text_add(to, "\n");
}

void compare_json(const comparison *c, json_out *j) {
    enum { DIGITS = 9 };
    json_block(j, NULL);
    json_int(j, "part", c->of.part);
    json_string(j, "verdict", compare_word(c->verdict));
    if (c->verdict == COMPARE_SIZE) {
        json_string(j, "differs", c->differs);
        json_close(j);
        return;
    }
    JSON_EACH(j, json_real_or_word, DIGITS, {"mean", c->mean}, {"rms", c->rms}, {"psnr", c->psnr},
              {"max", c->max});
    JSON_UINTS(j, {"pixels", c->pixels}, {"failed", c->failed}, {"hard_failed", c->hard_failed},
               {"warned", c->warned}, {"hard_warned", c->hard_warned});
    json_real_or_word(j, "fail", DIGITS, c->limits.fail);
    json_object(j, "worst");
    json_int(j, "x", c->max_x);
    json_int(j, "y", c->max_y);
    json_string(j, "channel", channel_name(c, c->max_channel));
    json_close(j);
    json_list(j, "channels");
    for (int i = 0; i < c->channels; i++) {
        const compare_channel *k = &c->channel[i];
        json_object(j, NULL);
        json_string(j, "name", channel_name(c, i));
        JSON_EACH(j, json_real_or_word, DIGITS, {"max", k->max}, {"energy_a", k->sum_a},
                  {"energy_b", k->sum_b}, {"energy_ratio", ratio(k)});
        if (c->max > 0) {
            JSON_EACH(j, json_real_or_word, DIGITS, {"worst_a", text_value_at(c, c->of.a, k->a)},
                      {"worst_b", text_value_at(c, c->of.b, k->b)});
        }
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

/* --- the command --- */

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
    OWN(comparison) c = {0};
    const settings *s = d->s;
    const compare_pair of = {d->img[0], d->img[1], part};
    if (!compare_parts(&c, &of, &d->limits, d->threads, e)) return false;
    if (c.verdict > d->worst) d->worst = c.verdict;
    if (s->json) {
        compare_json(&c, &d->json);
    } else if (!s->quiet && (c.verdict != COMPARE_MATCH || s->verbose)) {
        text words = {0};
        if (s->all_parts && d->img[0]->head.parts > 1)
            text_add(&words, "Subimage %d : %u x %u, %d channels\n", part, c.w, c.h, c.channels);
        compare_words(&c, &words);
        cli_print(&words);
    }
    if (c.verdict == COMPARE_SIZE || !s->output || d->written || !(c.max > 0 || !s->diff_only))
        return true;
    d->written = true;
    OWN(image) *diff = compare_difference(&c, s->diff_absolute, s->diff_scale, d->threads, e);
    return diff && image_save(s->output, diff, d->threads, e);
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

int cmd_diff(const cli *c, text *out, err *e) {
    const settings *s = &c->s;
    differ d = {.s = s,
                .limits = compare_limits_of(s),
                .path = {c->word[0], c->word[1]},
                .threads = c->threads};
    const file_set_file FILES[] = {{FILE_READ, "the first image", d.path[0]},
                                   {FILE_READ, "the second image", d.path[1]},
                                   {FILE_WRITTEN, "the difference image", s->output}};
    OWN(text) parts = {0};
    text names = {0};
    if (!file_set_apart(FILES, 3, NULL, e)) return 0;
    if (!s->quiet && !s->json) {
        for (int i = 0; i < 2; i++) {
            text_add(&names, i ? "\" and \"" : "Comparing \"");
            text_add_clean(&names, d.path[i]);
        }
        text_add(&names, "\"\n");
        cli_print(&names);
    }
    OWN(image) *a = image_load(d.path[0], NULL, d.threads, e);
    OWN(image) *b = a ? image_load(d.path[1], NULL, d.threads, e) : NULL;
    d.img[0] = a, d.img[1] = b;
    /* A file that cannot be read is idiff's status 4; only a lack of memory is worth a retry. */
    if (!b && err_status(e->code) != ERR_RETRY) e->code = (err_code)COMPARE_FILE;
    d.json = (json_out){.to = &parts, .depth = 1};
    json_list(&d.json, NULL);
    bool ok = b && compare_all(&d, e);
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
    return (int)d.worst;
}
