#include "app/run/forecast.h"

#include "app/run/describe.h"
#include "app/run/sequence.h"
#include "app/run/swap.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "image/format.h"

#include <sys/stat.h>

/* --- one image -------------------------------------------------------------------------------- */

bool forecast_make(forecast *f, const settings *s, const char *input, uint32_t images, par *threads,
                   err *e) {
    *f = (forecast){.best = -1};
    bloom_settings b = s->bloom;
    b.images = images;
    image *img = image_load(input, NULL, threads, e);
    if (img) b.slots = sequence_workers(s, &img->head, threads, images);
    if (img) swap_warn(s, img, threads);
    f->owner = img ? bloom_open(&b, s->kernel, threads, e) : NULL;
    f->each = f->owner ? mem_new(ENGINE_DEVICES, sizeof *f->each, "forecasts", e) : NULL;
    if (f->each && bloom_predict(f->owner, img, &f->predicted, e))
        f->best = bloom_forecast(f->owner, &img->head, f->predicted.promise.method.precision,
                                 &f->device, f->each, &f->devices, e);
    image_free(&img);
    return f->best >= 0;
}

void forecast_free(forecast *f) {
    mem_free(f->each);
    bloom_close(&f->owner);
    *f = (forecast){.best = -1};
}

/* --- all frames ------------------------------------------------------------------------------- */

typedef struct {
    const frame_maker *m;
    const job *j;
    size_t count[FRAME_STATES]; /* FRAME_DONE: would be made; FRAME_FAILED: the input is missing */
    char *first;                /* input of the first frame that would be made; to be freed */
    char *missing;              /* the first input that is not there; likewise */
    text lines;
    json_out json;
} listing;

static void list_frame(listing *l, const frame_result *f) {
    static const char *const STATE[FRAME_STATES] = {"to do", "current", "skipped", "missing"};
    if (l->m->s->json) {
        json_out *to = &l->json;
        json_object(to, NULL);
        if (f->number) json_int(to, "frame", *f->number);
        json_string(to, "state", STATE[f->state]);
        json_string(to, "input", f->input);
        json_string(to, "output", f->output);
        if (f->why) json_string(to, "why", f->why);
        json_close(to);
        return;
    }
    text_add_clean(&l->lines, f->input);
    text_add(&l->lines, " -> ");
    text_add_clean(&l->lines, f->output);
    if (f->why) text_add(&l->lines, ": %s%s", f->state == FRAME_SKIPPED ? "skipped, " : "", f->why);
    text_add(&l->lines, "\n");
}

static bool look_at(listing *l, size_t index, err *e) {
    frame_result f = {0};
    char *input, *output;
    struct stat st;
    if (!job_frame(l->j, index, &input, &output, &f.number, e)) return false;
    f.input = input;
    f.output = output;
    f.state = frame_look(l->m, &f, &f.why);
    if (f.state == FRAME_DONE && stat(input, &st) != 0) {
        f.state = FRAME_FAILED;
        f.why = "the input cannot be found";
    }
    list_frame(l, &f);
    l->count[f.state]++;
    char **keep = f.state == FRAME_DONE ? &l->first : f.state == FRAME_FAILED ? &l->missing : NULL;
    if (keep && !*keep) {
        *keep = input;
        input = NULL;
    }
    mem_free(input);
    mem_free(output);
    return true;
}

/* The plan of the first frame that would be made. */
static bool list_plan(listing *l, err *e) {
    forecast f;
    bool ok = true;
    if (!l->first) return true;
    if ((ok = forecast_make(&f, l->m->s, l->first, (uint32_t)l->count[FRAME_DONE], l->m->threads,
                            e))) {
        const device_forecast *best = &f.each[f.best];
        const engine_device *d = &f.device[f.best];
        if (l->m->s->json) {
            describe_device_json(d, d->number, json_here(&l->json, "device"));
            describe_plan_json(&best->plan, l->json.depth, json_here(&l->json, "plan"));
            json_fixed(&l->json, "predicted_seconds", 6, best->time.all);
        } else {
            text_add(&l->lines, "plan     ");
            describe_plan_line(&best->plan, &l->lines);
            text_add(&l->lines, ", on %s; about %.3g s in all\n", d->name, best->time.all);
        }
    }
    forecast_free(&f);
    return ok;
}

bool dry_run(const frame_maker *m, const job *j, text *to, err *e) {
    listing l = {.m = m, .j = j};
    bool json = m->s->json, ok = true;
    if (json) {
        l.json = json_begin(&l.lines);
        json_string(&l.json, "program", "fftbloom " VERSION);
        json_bool(&l.json, "dry_run", true);
        json_list(&l.json, "frames");
    }
    for (size_t i = 0; ok && i < job_count(j); i++) ok = look_at(&l, i, e);
    if (json) {
        json_close(&l.json);
        json_uint(&l.json, "to_do", l.count[FRAME_DONE]);
        json_beside(&l.json);
        json_uint(&l.json, "current", l.count[FRAME_CURRENT]);
        json_beside(&l.json);
        json_uint(&l.json, "skipped", l.count[FRAME_SKIPPED]);
        json_beside(&l.json);
        json_uint(&l.json, "missing", l.count[FRAME_FAILED]);
    }
    ok = ok && list_plan(&l, e);
    if (json) {
        json_end(&l.json);
    } else if (ok) {
        text_add(&l.lines, "%zu of %zu frames would be made, %zu are up to date, %zu skipped\n",
                 l.count[FRAME_DONE], job_count(j), l.count[FRAME_CURRENT], l.count[FRAME_SKIPPED]);
    }
    if (ok && l.missing)
        ok = err_set(e, ERR_NO_INPUT, "%zu input%s cannot be found, the first is '%s'",
                     l.count[FRAME_FAILED], l.count[FRAME_FAILED] == 1 ? "" : "s", l.missing);
    if (!json || ok || l.missing) text_add(to, "%s", l.lines.s ? l.lines.s : "");
    text_free(&l.lines);
    mem_free(l.first);
    mem_free(l.missing);
    return ok;
}
