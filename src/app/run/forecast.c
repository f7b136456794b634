#include "app/run/forecast.h"

#include "app/run/describe.h"
#include "app/run/fits.h"
#include "app/run/hints.h"
#include "app/run/picture.h"
#include "app/run/sequence.h"
#include "app/run/stages.h"
#include "base/mem.h"
#include "image/format.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* --- one image -------------------------------------------------------------------------------- */

/* Forecasts an image that does not fit, by its header: a tile of it. */
static bool by_tiles(forecast *f, const output *o, image_reader *r, err *e) {
    f->memory = (mem_plan){0};
    if (!fits_tiling(&f->tiles, &f->memory, o, r, f->owner, e)) return false;
    f->best = bloom_tile_forecast(f->owner, image_reader_header(r), &f->tiles, &f->all, e);
    return f->best >= 0;
}

bool forecast_make(forecast *f, const settings *s, par *threads, err *e) {
    bloom_settings b = stages_bloom(s);
    f->best = -1;
    if (strcmp(f->input, "-") == 0)
        return err_set(e, ERR_USAGE, "a plan needs a file as the input, not standard input");
    const output to = {.path = s->output ? s->output : "", .s = s, .threads = threads};
    light_told told = {.warns = false};
    image_reader *r = image_open(f->input, NULL, threads, e);
    bool large = r && !fits_surely(&to, r);
    stages in = {0};
    bool ok = r && stages_in_open(&in, r, s, threads, e) && picture_fits(&to, in.head, e);
    image *img = ok && !large ? stages_load(&in, NULL, e) : NULL;
    b.images = f->images;
    if (r) b.slots = sequence_workers(image_reader_header(r), s, threads, f->images);
    f->owner = ok && (img || large) ? bloom_open(&b, f->kernel, threads, e) : NULL;
    f->all.every = true;
    if (f->owner) f->all.each = mem_new(ENGINE_DEVICES, sizeof *f->all.each, "forecasts", e);
    bool tiles = f->all.each && !fits(&f->memory, &to, r, f->owner) && large;
    if (ok && f->all.each && large && !tiles) img = stages_load(&in, NULL, e);
    ok = ok && f->all.each && (tiles ? by_tiles(f, &to, r, e) : img != NULL);
    if (ok && !tiles) { /* an image that is in memory, by its pixels */
        hints_image(s, img, &told);
        hints_kernel(s, f->owner, f->kernel, &img->head.part[0]);
        ok = bloom_predict(f->owner, img, &f->predicted, e);
        plan_precision precision = f->predicted.sum.promise.method.precision;
        if (ok) f->best = bloom_forecast(f->owner, in.head, precision, &f->all, e);
        ok = ok && f->best >= 0;
        if (!ok && e->code == ERR_LINES) { /* as a run does */
            *e = (err){0};
            f->predicted = (bloom_report){0};
            ok = by_tiles(f, &to, r, e);
        }
    }
    image_free(&img);
    stages_close(&in);
    image_close(&r);
    return ok;
}

void forecast_free(forecast *f) {
    mem_free(f->all.each);
    bloom_close(&f->owner);
    *f = (forecast){.best = -1};
}

void forecast_json(const forecast *f, json_out *j, const char *key) {
    const device_request all = {
        .images = f->images, .pixels = f->all.pixels, .ask = f->all.each[f->best].plan.ask};
    json_real(j, "work", 6, device_work(&all));
    if (j->words)
        text_add(json_here(j, "rule"),
                 "auto takes a GPU with memory of its own from %d frames of 1920 x 1080 on, else "
                 "the CPU",
                 DEVICE_WORK);
    json_list(j, key);
    for (uint32_t i = 0; i < f->all.devices; i++) {
        const device_forecast *one = &f->all.each[i];
        const plan *p = &one->plan;
        json_block(j, NULL);
        describe_device(j, "device", &f->all.device[i], f->all.device[i].number);
        json_bool(j, "wanted", one->wanted);
        json_bool(j, "possible", one->possible);
        if (one->possible) {
            json_uints(j, "lengths",
                       (uint32_t[]){p->axis[p->first != PLAN_X].length,
                                    p->axis[p->first == PLAN_X].length},
                       2);
            json_size(j, "bytes", plan_device_bytes(p));
        } else {
            json_string(j, "why", one->why);
        }
        json_close(j);
    }
    json_close(j);
}

/* --- all frames ------------------------------------------------------------------------------- */

typedef struct {
    const frame_maker *m;
    const job *j;
    size_t count[FRAME_STATES]; /* FRAME_DONE: would be made; FRAME_FAILED: the input is missing */
    job_files missing;          /* of the first frame whose input is not there; to be freed */
    text lines;
    json_out json; /* into `lines`, where --json is given */
} listing;

static void list_frame(listing *l, const frame_result *f) {
    static const char *const STATE[FRAME_STATES] = {"to do", "current", "skipped", "missing"};
    if (l->m->s->json) {
        json_out *to = &l->json;
        json_object(to, NULL);
        report_frame_json(to, f, STATE[f->state]);
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
    job_files files;
    struct stat is;
    record rec;
    if (!job_frame(l->j, index, &files, e)) return false;
    if (!record_make(&rec, l->m->records, &files, e)) {
        job_files_free(&files);
        return false;
    }
    frame_result f = {
        .number = files.number, .view = files.view, .input = files.input, .output = files.output};
    f.state = record_look(&rec, l->m->s->existing == EXISTING_UPDATE, &f.why);
    if (f.state == FRAME_DONE && stat(f.input, &is) != 0) {
        f.state = FRAME_FAILED;
        f.why = "the input cannot be found";
    }
    list_frame(l, &f);
    if (l->count[f.state]++ == 0 && f.state == FRAME_FAILED)
        l->missing = files;
    else
        job_files_free(&files);
    return true;
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
    l.count[FRAME_FAILED] += j->left_out;
    if (json) {
        json_close(&l.json);
        static const char *const KEY[FRAME_STATES] = {"to_do", "current", "skipped", "missing"};
        for (int i = 0; i < FRAME_STATES; i++) json_uint(&l.json, KEY[i], l.count[i]);
    }
    if (json)
        json_end(&l.json);
    else if (ok)
        text_add(&l.lines, "%zu of %zu frames would be made, %zu are up to date, %zu skipped\n",
                 l.count[FRAME_DONE], job_count(j) + j->left_out, l.count[FRAME_CURRENT],
                 l.count[FRAME_SKIPPED]);
    const char *missing = l.missing.input;
    if (ok && missing && !m->s->keep_going)
        ok = err_set(e, ERR_NO_INPUT, "%zu input%s cannot be found, the first is '%s'",
                     l.count[FRAME_FAILED], l.count[FRAME_FAILED] == 1 ? "" : "s", missing);
    if (!json || ok || missing) text_add(to, "%s", l.lines.s ? l.lines.s : "");
    text_free(&l.lines);
    job_files_free(&l.missing);
    return ok;
}
