#include "app/check/suite_case.h"

#include "app/check/suite_bless.h"
#include "app/run/output.h"
#include "app/run/progress.h"
#include "base/clock.h"
#include "base/mem.h"
#include "image/format.h"
#include "image/window.h"

#include <string.h>

/* What a case is run with. */
typedef struct {
    const settings *asked;
    par *threads;
} case_run;

static const struct {
    const char *word, *key;
} STATE[CASE_STATES] = {
    [CASE_PASS] = {"PASS", "pass"},    [CASE_WARN] = {"WARNING", "warn"},
    [CASE_FAIL] = {"FAILURE", "fail"}, [CASE_ERROR] = {"ERROR", "error"},
    [CASE_SKIP] = {"SKIPPED", "skip"},
};

const char *case_state_word(case_state s) {
    return STATE[s].word;
}
const char *case_state_key(case_state s) {
    return STATE[s].key;
}
const engine_device *case_device(const case_result *c) {
    return c->made && c->made->groups ? &c->made->device : NULL;
}

/* --- how a case ends ----------------------------------------------------------------------- */

static void worsen(case_result *c, case_state state, int status) {
    if (state > c->state) c->state = state;
    if (status > c->status) c->status = status;
}

/* What cannot be read is idiff's 4; a device that is not there skips the case; what the run itself
 * refuses is a failure; anything else keeps its code, so that a farm knows what to try again. */
static void end_with(case_result *c, const err *e) {
    text_add(&c->why, "%s\n", e->msg);
    switch (e->code) {
    case ERR_NO_DEVICE: c->state = CASE_SKIP; break;
    case ERR_NO_INPUT:
    case ERR_IO:
    case ERR_DATA: worsen(c, CASE_ERROR, COMPARE_FILE); break;
    case ERR_BAD_PIXELS:
    case ERR_TOLERANCE: worsen(c, CASE_FAIL, COMPARE_FAIL); break;
    default: worsen(c, CASE_ERROR, (int)e->code);
    }
}

/* --- assertions ------------------------------------------------------------------------------ */

static bool assert_energy(case_result *c, const suite_energy *want) {
    bool found = false, kept = true;
    for (uint32_t i = 0; i < c->made->ledger_rows; i++) {
        const ledger_row *row = &c->made->ledger[i];
        if (!text_glob(want->channels, row->channel)) continue;
        double ratio = row->in == row->out ? 1 : row->out / row->in;
        bool ok = ratio >= want->least && ratio <= want->most;
        found = true;
        text_add(&c->energy, "%s{\"channel\": ", c->energy.n ? ", " : "");
        text_add_json(&c->energy, row->channel);
        text_add(&c->energy, ", \"ratio\": %.9g, \"least\": %.9g, \"most\": %.9g, \"ok\": %s}",
                 ratio < 1e300 && ratio > -1e300 ? ratio : 1e300, want->least, want->most,
                 ok ? "true" : "false");
        if (!ok)
            text_add(&c->why, "energy: channel '%s' keeps %.7g of its light; %.7g to %.7g may be\n",
                     row->channel, ratio, want->least, want->most);
        kept = kept && ok;
    }
    if (!found)
        text_add(&c->why, "energy: no channel that was bloomed matches '%s'\n", want->channels);
    return found && kept;
}

static bool assert_all(case_result *c) {
    bool ok = true;
    for (size_t i = 0; i < c->c->energies; i++) ok &= assert_energy(c, &c->c->energy[i]);
    if (!ok) worsen(c, CASE_FAIL, COMPARE_FAIL);
    return ok;
}

/* --- references ------------------------------------------------------------------------------ */

static bool find_nearest(case_result *c, const image *result, const suite_paths *p, par *threads,
                         err *e) {
    for (size_t i = 0; i < p->count; i++) {
        suite_match m;
        if (!suite_match_make(&m, result, p->path[i], &c->c->s.compare, threads, e)) {
            suite_match_free(&m);
            return false;
        }
        bool nearer = i == 0 || suite_match_nearer(&m, &c->match);
        suite_match_free(nearer ? &c->match : &m);
        if (nearer) c->match = m;
    }
    return true;
}

static void judge(case_result *c) {
    static const case_state OF[] = {[COMPARE_MATCH] = CASE_PASS,
                                    [COMPARE_WARN] = CASE_WARN,
                                    [COMPARE_FAIL] = CASE_FAIL,
                                    [COMPARE_SIZE] = CASE_FAIL,
                                    [COMPARE_FILE] = CASE_ERROR};
    compare_verdict v = c->match.verdict;
    worsen(c, OF[v], (int)v);
    if (v == COMPARE_FILE || v == COMPARE_SIZE) { /* the words are the whole reason */
        text_add(&c->why, "%s", c->match.words.s + strspn(c->match.words.s, " "));
        text_free(&c->match.words);
    }
    if (v == COMPARE_FAIL || v == COMPARE_WARN)
        text_add(
            &c->why, "%llu of %llu pixels differ from %s by more than %g, the most by %g\n",
            (unsigned long long)(v == COMPARE_WARN ? c->match.worst.warned : c->match.worst.failed),
            (unsigned long long)c->match.worst.pixels, c->match.path,
            v == COMPARE_WARN ? c->c->s.compare.warn : c->c->s.compare.fail, c->match.worst.max);
}

/* The first alternative becomes the result, and is read back and compared like any other. */
static bool bless(case_result *c, image *result, const suite_paths *p, const suite_origin *o,
                  par *threads, err *e) {
    const suite_paths first = {p->path, 1};
    if (!suite_bless(p->path[0], result, o, threads, e)) return false;
    c->blessed = true;
    suite_match_free(&c->match);
    return find_nearest(c, result, &first, threads, e);
}

/* Those for the device; where nothing had to be computed, any will do. Without items: there are
 * none. */
static const suite_paths *references(const case_result *c, const engine_device *d) {
    const suite_paths *p = &c->c->reference[SUITE_ANY];
    if (d) return suite_references(c->c, d->class);
    for (int i = 0; i < SUITE_CLASSES && !p->count; i++) p = &c->c->reference[i];
    return p;
}

static void miss_reference(case_result *c, const engine_device *d) {
    bool referenced = false;
    for (int i = 0; i < SUITE_CLASSES; i++) referenced |= c->c->reference[i].count > 0;
    if (!referenced) return;
    if (c->state == CASE_PASS) c->state = CASE_SKIP;
    text_add(&c->why, "there is no reference for a device of class %s\n",
             suite_class_name((int)d->class));
}

static bool hold_against(const case_run *r, case_result *c, image *result, bool sound, err *e) {
    const engine_device *d = case_device(c);
    const suite_paths *p = references(c, d);
    suite_origin o;
    if (p->count == 0) {
        miss_reference(c, d);
        return true;
    }
    bool ok = suite_origin_make(&o, c->c, d ? d : &(engine_device){.name = "none"}, e) &&
              find_nearest(c, result, p, r->threads, e);
    if (ok && r->asked->bless && c->match.verdict != COMPARE_MATCH) {
        if (sound)
            ok = bless(c, result, p, &o, r->threads, e);
        else
            text_add(&c->why, "not blessed: the result breaks the case's own assertions\n");
    }
    if (ok) judge(c);
    if (ok && c->match.reference) {
        suite_origin_json(c->match.reference, &c->origin);
        suite_origin_compare(c->match.reference, &o, &c->notes);
    }
    suite_origin_free(&o);
    return ok;
}

/* --- one case -------------------------------------------------------------------------------- */

static bool crop(const suite_case *c, image *img, err *e) {
    const image_box *want = &c->crop;
    for (int i = 0; c->cropped && i < img->head.parts; i++) {
        const image_box *have = &img->head.part[i].data;
        if (!image_box_holds(have, want))
            return err_set(e, ERR_CONFIG,
                           "crop: x %d to %d, y %d to %d is not inside the result, which has x %d "
                           "to %d, y %d to %d",
                           want->x0, want->x1, want->y0, want->y1, have->x0, have->x1, have->y0,
                           have->y1);
        if (!image_set_window(img, i, want, e)) return false;
    }
    return true;
}

/* Blooms the image as `apply` does. Where --verify finds the tolerance broken the image is whole:
 * that goes on as a failure. */
static bool make_result(const case_run *r, case_result *c, image *img, err *e) {
    uint64_t clamped = 0;
    err why = {0};
    bloom *b = NULL;
    bloom_settings wanted = c->c->s.bloom;
    wanted.half = c->c->s.pixels == PIXELS_HALF;
    bool ok = output_prepare(img, &c->c->s, e) &&
              (b = bloom_open(&wanted, c->c->s.kernel, r->threads, e)) &&
              (c->made = mem_new(1, sizeof *c->made, "a report", e));
    if (ok && !bloom_image(b, img, c->made, &why)) {
        ok = why.code == ERR_TOLERANCE || err_set(e, why.code, "%s: %s", c->c->s.input, why.msg);
        if (ok) end_with(c, &why);
    }
    bloom_close(&b);
    return ok && output_finish(img, &c->c->s, &clamped, e) && crop(c->c, img, e);
}

void suite_case_run(case_result *c, const settings *asked, par *threads) {
    const case_run r = {asked, threads};
    err e = {0};
    double t[4] = {clock_now()};
    image *img = image_load(c->c->s.input, NULL, threads, &e);
    t[1] = clock_now();
    bool ok = img && make_result(&r, c, img, &e);
    t[2] = clock_now();
    ok = ok && hold_against(&r, c, img, assert_all(c) && c->state == CASE_PASS, &e);
    if (ok && asked->html)
        ok = suite_pictures_make(&c->pictures, img, c->match.path ? &c->match : NULL, threads, &e);
    t[3] = clock_now();
    if (!ok) end_with(c, &e);
    c->load = t[1] - t[0];
    c->bloom = t[2] - t[1];
    c->check = t[3] - t[2];
    image_free(&img);
    image_free(&c->match.reference);
}

void suite_case_skip(case_result *c, const char *why) {
    c->state = CASE_SKIP;
    text_add(&c->why, "%s\n", why);
}

void suite_case_free(case_result *c) {
    text *texts[] = {&c->why, &c->notes, &c->origin, &c->energy};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) text_free(texts[i]);
    mem_free(c->made);
    suite_match_free(&c->match);
    suite_pictures_free(&c->pictures);
}
