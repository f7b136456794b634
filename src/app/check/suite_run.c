#include "app/check/suite_run.h"

#include "app/check/case_reference.h"
#include "app/check/diff.h"
#include "app/run/frame.h"
#include "base/clock.h"

const char *const CASE_WORD[CASE_STATES] = {"PASS", "WARNING", "FAILURE", "ERROR", "SKIPPED"};
const char *const CASE_KEY[CASE_STATES] = {"pass", "warn", "fail", "error", "skip"};

const engine_device *case_device(const case_result *c) {
    return c->made && c->made->groups ? &c->made->sum.device : NULL;
}

/* --- how a case ends ----------------------------------------------------------------------- */

static void worsen(case_result *c, case_state state, int status) {
    if (state > c->state) c->state = state;
    if (status > c->status) c->status = status;
}

/* Ends a case with an error. A file that cannot be read is idiff's 4; a device that is not there
 * skips the case; a broken tolerance or bad pixels are a failure; anything else keeps its code, so
 * that a farm knows what to try again. */
static void end_with(case_result *c, const err *e) {
    case_say(&c->why, "%s", e->msg);
    switch (e->code) {
    case ERR_NO_DEVICE: c->state = CASE_SKIP; break;
    case ERR_NO_INPUT:
    case ERR_IO:
    case ERR_DATA: worsen(c, CASE_ERROR, COMPARE_FILE); break;
    case ERR_BAD_PIXELS:
    case ERR_TOLERANCE: worsen(c, CASE_FAIL, COMPARE_FAIL); break;
    default: worsen(c, CASE_ERROR, err_status(e->code));
    }
}

/* Returns whether all channels' light keeps the energies that the case asks for. */
static bool assert_energies(case_result *c) {
    enum { DIGITS = 9 };
    bool kept = true;
    json_out j = {.to = &c->energy, .depth = 3};
    if (!c->c->energies) return true;
    json_array(&j, NULL);
    for (const suite_energy *want = c->c->energy; want < c->c->energy + c->c->energies; want++) {
        bool found = false;
        const ledger_row *end = c->made->ledger + c->made->ledger_rows;
        for (const ledger_row *row = c->made->ledger; row < end; row++) {
            if (!text_glob(want->channels, row->channel)) continue;
            double ratio = row->in == row->out ? 1 : row->out / row->in;
            bool ok = ratio >= want->least && ratio <= want->most;
            json_object(&j, NULL);
            json_string(&j, "channel", row->channel);
            JSON_EACH(&j, json_real, DIGITS,
                      {"ratio", ratio < 1e300 && ratio > -1e300 ? ratio : 1e300},
                      {"least", want->least}, {"most", want->most});
            json_bool(&j, "ok", ok);
            json_close(&j);
            if (!ok)
                case_say(&c->why,
                         "energy: channel '%s' keeps %.7g of its light; allowed are %.7g to %.7g",
                         row->channel, ratio, want->least, want->most);
            kept &= ok;
            found = true;
        }
        if (!found)
            case_say(&c->why, "energy: no channel that was bloomed matches '%s'", want->channels);
        kept &= found;
    }
    json_close(&j);
    if (!kept) worsen(c, CASE_FAIL, COMPARE_FAIL);
    return kept;
}

/* --- judging --------------------------------------------------------------------------------- */

static bool find_nearest(case_result *c, const matching *with, const suite_paths *p, err *e) {
    bool ok = true;
    for (size_t i = 0; ok && i < p->count; i++) {
        suite_match m;
        ok = suite_match_make(&m, with, p->path[i], e);
        bool nearer = ok && (i == 0 || m.verdict < c->match.verdict ||
                             (m.verdict == c->match.verdict && m.worst.max < c->match.worst.max));
        suite_match_free(nearer ? &c->match : &m);
        if (nearer) c->match = m;
    }
    return ok;
}

static void suite_judge(case_result *c) {
    static const case_state OF[] = {[COMPARE_MATCH] = CASE_PASS,
                                    [COMPARE_WARN] = CASE_WARN,
                                    [COMPARE_FAIL] = CASE_FAIL,
                                    [COMPARE_SIZE] = CASE_FAIL,
                                    [COMPARE_FILE] = CASE_ERROR};
    const comparison *worst = &c->match.worst;
    compare_verdict v = c->match.verdict;
    worsen(c, OF[v], (int)v);
    if (v == COMPARE_FILE || v == COMPARE_SIZE) { /* the words are the whole reason */
        text_add(&c->why, "%s", c->match.words.s + strspn(c->match.words.s, " "));
        text_free(&c->match.words);
    }
    if (v == COMPARE_FAIL || v == COMPARE_WARN)
        case_say(&c->why,
                 "%" PRIu64 " of %" PRIu64 " pixels differ from %s by more than %g, the most by %g",
                 worst->over, worst->pixels, c->match.path, worst->limit, worst->max);
}

/* Compares the result with the references. With --bless, a result that differs from them becomes
 * the first of them, which is then read back and compared like any other. `sound`: the result
 * breaks no assertion of its case. */
static bool hold_against(case_result *c, image *img, const suite_run *r, bool sound, err *e) {
    const engine_device *d = case_device(c);
    const suite_paths *p = d ? suite_references(c->c, d->class) : &c->c->reference[SUITE_ANY];
    const matching with = {img, compare_limits_of(&c->c->s), r->threads};
    OWN(provenance) o = {0};
    /* Where nothing had to be computed, any references will do. */
    for (int i = 0; !d && i < SUITE_CLASSES && !p->count; i++) p = &c->c->reference[i];
    if (p->count == 0) {
        bool referenced = false; /* for another class of device */
        for (int i = 0; i < SUITE_CLASSES; i++) referenced |= c->c->reference[i].count > 0;
        if (referenced && c->state == CASE_PASS) c->state = CASE_SKIP;
        if (referenced)
            case_say(&c->why, "there is no reference for a device of class %s",
                     suite_class_name((int)d->class));
        return true;
    }
    const engine_device none = {.name = "none"};
    bool ok = suite_origin_make(&o, c->c, &c->run, d ? d : &none, e) &&
              find_nearest(c, &with, p, e);
    bool differs = ok && r->asked->bless && c->match.verdict != COMPARE_MATCH;
    if (differs && !sound)
        case_say(&c->why, "not blessed: the result breaks the case's own assertions");
    if (differs && sound) {
        ok = suite_bless(p->path[0], img, &o, r->threads, e);
        c->blessed = ok;
        suite_match_free(&c->match);
        ok = ok && find_nearest(c, &with, &(suite_paths){p->path, 1}, e);
    }
    if (ok) suite_judge(c);
    if (ok && c->match.reference) {
        suite_origin_json(c->match.reference, &c->origin);
        suite_origin_compare(c->match.reference, &o, &c->notes);
    }
    return ok;
}

/* Cuts the result to the window that the case asks for. */
static bool crop(image *img, const suite_case *c, err *e) {
    const image_box *want = &c->crop;
    for (int i = 0; c->cropped && i < img->head.parts; i++) {
        const image_box *have = &img->head.part[i].data;
        if (!image_box_holds(have, want))
            return err_set(e, ERR_CONFIG,
                           "crop: x %d to %d, y %d to %d is not inside the result, which has x %d "
                           "to %d, y %d to %d",
                           want->x0, want->x1, want->y0, want->y1, have->x0, have->x1, have->y0,
                           have->y1);
        if (!image_set_window(&img->head.part[i], img->plane[i], want, e)) return false;
    }
    return true;
}

static void run_case(case_result *c, light_told *told, const suite_run *r) {
    err e = {0};
    double start = clock_now();
    frame_result f = {0};
    OWN(image) *img = NULL;
    frame_maker m = {
        .run = &c->run, .look = picture_look_asked(c->run.s), .threads = r->threads, .told = told};
    if ((c->made = mem_new(1, sizeof *c->made, "a report", &e)))
        img = frame_image(&m, &f, c->made, &e);
    if (!img) mem_free(c->made), c->made = NULL;
    if (img && e.code) end_with(c, &e); /* --verify: the image is whole all the same */
    bool ok = img && crop(img, c->c, &e);
    double bloomed = clock_now();
    ok = ok && hold_against(c, img, r, assert_energies(c) && c->state == CASE_PASS, &e);
    const matching shown = {.result = img, .threads = r->threads};
    if (ok && r->asked->html)
        ok = suite_pictures_make(&c->pictures, &shown,
                                 c->match.path && c->state != CASE_PASS ? &c->match : NULL, &e);
    if (!ok) end_with(c, &e);
    c->load = f.load;
    c->bloom = bloomed - start - f.load;
    c->check = clock_now() - bloomed;
    image_free(&c->match.reference);
}

/* --- all cases ------------------------------------------------------------------------------- */

/* Picks the cases of --filter. */
static bool pick(suite_run *r, const cli *by, err *e) {
    const settings *asked = r->asked;
    if (!(r->item = mem_new(r->s->count, sizeof *r->item, "results", e))) return false;
    for (size_t i = 0; i < r->s->count; i++) {
        suite_case *c = &r->s->item[i];
        if (asked->filter && !text_glob_any(asked->filter, c->name)) continue;
        r->item[r->count++] = (case_result){.c = c,
                                            .run = {.s = &c->s,
                                                    .presets = &by->presets,
                                                    .kernel = &c->kernel,
                                                    .cache = by->kernels.in.cache}};
    }
    return r->count > 0 || err_set(e, ERR_USAGE, "none of the %zu cases of %s matches '%s'",
                                   r->s->count, r->s->path, asked->filter);
}

bool suite_run_open(suite_run *r, const suite *s, const cli *c, err *e) {
    const char *want = c->s.require_device;
    *r = (suite_run){.s = s, .asked = &c->s, .threads = c->threads};
    if (!pick(r, c, e)) return false;
    if (!want) return true;
    r->required = mem_new(ENGINE_DEVICES, sizeof *r->required, "devices", e);
    if (!r->required) return false;
    uint32_t n = engine_devices(r->required, ENGINE_DEVICES);
    for (uint32_t i = 0; i < n; i++)
        if (device_is_wanted(want, &r->required[i], i))
            r->required[r->required_count++] = r->required[i];
    return r->required_count > 0 ||
           err_set(e, ERR_NO_DEVICE,
                   "the suite requires a device that this machine lacks: '%s'; "
                   "`fftbloom devices` lists what there is",
                   want);
}

/* Holds the run to --require-device and --require-cases: skipped is not passed. */
static void require(suite_run *r) {
    size_t passed = r->states[CASE_PASS] + r->states[CASE_WARN];
    bool ran = false; /* on a required device */
    if (r->status > COMPARE_WARN) return;
    for (size_t i = 0; i < r->count; i++) {
        const engine_device *d = r->item[i].state == CASE_SKIP ? NULL : case_device(&r->item[i]);
        for (uint32_t k = 0; d && k < r->required_count; k++)
            ran |= r->required[k].class == d->class && r->required[k].index == d->index;
    }
    if (r->required_count && !ran) {
        r->status = ERR_NO_DEVICE;
        text_add(&r->complaint, "no case ran on the required device '");
        text_add_clean(&r->complaint, r->asked->require_device);
        text_add(&r->complaint, "'");
    } else if (passed < r->asked->require_cases) {
        r->status = COMPARE_FAIL;
        text_add(&r->complaint, "%zu of %zu cases passed, %u are required", passed, r->count,
                 r->asked->require_cases);
    } else if (r->states[CASE_SKIP] == r->count) {
        r->status = ERR_SKIPPED;
        text_add(&r->complaint, "all cases were skipped");
    }
}

void suite_run_all(suite_run *r, void (*each)(void *ctx, const case_result *c), void *ctx) {
    double start = clock_now();
    bool stopped = false;
    light_told told = {0};
    for (size_t i = 0; i < r->count; i++) {
        case_result *c = &r->item[i];
        const char *skip = stopped ? "an earlier case failed, and --stop was given" : c->c->skip;
        if (skip) {
            c->state = CASE_SKIP;
            case_say(&c->why, "%s", skip);
        } else {
            run_case(c, &told, r);
        }
        if (c->status > r->status) r->status = c->status;
        if (c->state == CASE_FAIL || c->state == CASE_ERROR) stopped = r->asked->stop;
        r->states[c->state]++;
        each(ctx, c);
    }
    require(r);
    r->seconds = clock_now() - start;
}

void suite_run_close(suite_run *r) {
    for (size_t i = 0; i < r->count; i++) {
        case_result *c = &r->item[i];
        text_free(&c->why);
        text_free(&c->notes);
        text_free(&c->origin);
        text_free(&c->energy);
        mem_free(c->made);
        suite_match_free(&c->match);
        suite_pictures_free(&c->pictures);
    }
    mem_free(r->item);
    mem_free(r->required);
    text_free(&r->complaint);
    *r = (suite_run){0};
}
