#include "app/check/suite_run.h"

#include "app/cli/options.h"
#include "app/run/progress.h"
#include "base/clock.h"
#include "base/mem.h"

#include <string.h>

/* Options of the command on devices and memory win over those of the case. The cache is the
 * command's alone: a suite must not choose where files are written, or trimmed. */
static bool override(suite_case *c, const settings *asked, err *e) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const setting *v = &asked->value[i];
        if (!(OPTIONS[i].on & FOR_CHECK) || !(OPTIONS[i].on & FOR_APPLY)) continue;
        if (v->text && v->origin != ORIGIN_DEFAULT &&
            !settings_set(&c->s, i, v->text, (setting_origin){v->origin, v->where}, e))
            return false;
    }
    c->s.bloom.cache_dir = asked->bloom.cache_dir;
    c->s.bloom.cache_size = asked->bloom.cache_size;
    return true;
}

static bool pick(suite_run *r, err *e) {
    const char *globs = r->asked->filter;
    if (!(r->item = mem_new(r->s->count, sizeof *r->item, "results", e))) return false;
    for (size_t i = 0; i < r->s->count; i++) {
        suite_case *c = &r->s->item[i];
        if (globs && !text_glob_any(globs, c->name)) continue;
        if (!override(c, r->asked, e)) return false;
        r->item[r->count++].c = c;
    }
    return r->count > 0 || err_set(e, ERR_USAGE, "none of the %zu cases of %s matches '%s'",
                                   r->s->count, r->s->path, globs);
}

/* Finds the devices of this machine that --require-device names. */
static bool find_required(suite_run *r, err *e) {
    const char *want = r->asked->require_device;
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

bool suite_run_open(suite_run *r, const suite *s, const cli *c, err *e) {
    *r = (suite_run){.s = s, .asked = &c->s, .threads = c->threads};
    return pick(r, e) && find_required(r, e);
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
    for (size_t i = 0; i < r->count; i++) {
        case_result *c = &r->item[i];
        if (stopped)
            suite_case_skip(c, "an earlier case failed; --keep-going runs all");
        else if (c->c->skip)
            suite_case_skip(c, c->c->skip);
        else
            suite_case_run(c, r->asked, r->threads);
        if (c->status > r->status) r->status = c->status;
        if (c->state == CASE_FAIL || c->state == CASE_ERROR) stopped = !r->asked->keep_going;
        r->states[c->state]++;
        each(ctx, c);
    }
    require(r);
    r->seconds = clock_now() - start;
}

void suite_run_close(suite_run *r) {
    for (size_t i = 0; i < r->count; i++) suite_case_free(&r->item[i]);
    mem_free(r->item);
    mem_free(r->required);
    text_free(&r->complaint);
    *r = (suite_run){0};
}
