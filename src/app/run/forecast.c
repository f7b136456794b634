#include "app/run/forecast.h"

#include "app/run/fits.h"
#include "app/run/frame_work.h"
#include "app/run/hints.h"
#include "app/run/targets.h"

/* Says how the result will be stored. */
static bool forecast_stored(forecast *f, frame_work *w, err *e) {
    const targets_wanted want = {.glare = w->files->emitted};
    OPEN(stages) after = {.s = w->s};
    OPEN(targets) to = {.o = NULL};
    const bool ok = stages_out_open(&after, &w->in, f->owner, e) &&
                    targets_plan(&to, &w->out, &w->in, &after, &want, e);
    if (ok) targets_tell(&to, &f->predicted);
    return ok;
}

/* Forecasts an image that is held, by its pixels. */
static bool forecast_held(forecast *f, frame_work *w, err *e) {
    OWN(image) *img = work_load(w, e);
    if (!img) return false;
    hints_kernel(w->size, f->owner, w->kernel, &img->head.part[0]);
    if (!bloom_predict(f->owner, img, work_mask(w), &f->predicted, e)) return false;
    const plan_precision precision = f->predicted.sum.promise.method.precision;
    f->best = bloom_forecast(f->owner, w->in.head, precision, &f->by_device, e);
    return f->best >= 0 && forecast_stored(f, w, e);
}

/* Forecasts an image that does not fit, by its header: a tile of it. */
static bool forecast_tile(forecast *f, frame_work *w, err *e) {
    const image_header *h = image_reader_header(w->r);
    f->memory = (mem_plan){0};
    f->predicted = (bloom_report){0};
    if (!fits_tiling(&f->tiles, &f->memory, &w->out, w->r, f->owner, e)) return false;
    f->best = bloom_tile_forecast(f->owner, h, &f->tiles, &f->by_device, e);
    return f->best >= 0 && forecast_stored(f, w, e);
}

bool frame_forecast(frame_maker *m, const job_files *files, forecast *f, err *e) {
    const settings *s = m->run->s;
    bloom_settings b = stages_bloom(m->run);
    image *unwritten = NULL; /* channels are read */
    frame_result r = {.input = files->input, .output = s->output ? s->output : "", .alone = true};
    OPEN(frame_work) w = {.m = m, .s = s, .files = files, .f = &r, .keep = &unwritten};
    f->best = -1;
    b.images = f->images;
    bool ok = work_open(&w, e);
    if (w.r) b.slots = fits_at_a_time(&w.out, image_reader_header(w.r), f->images);
    b.kernel.size = w.size;
    f->kernel_scale = r.kernel_scale;
    f->owner = ok ? bloom_open(&b, w.kernel, m->threads, e) : NULL;
    f->by_device.lists_all = true;
    ok = f->owner &&
         (f->by_device.each = mem_new(ENGINE_DEVICES, sizeof *f->by_device.each, "forecasts", e));
    const work_way way = ok ? work_fits(&w, f->owner, e) : WAY_NONE;
    ok = way != WAY_NONE;
    if (ok) {
        f->memory = fits_need(&w.out, w.r, f->owner);
        ok = way == WAY_HELD && forecast_held(f, &w, e);
        if (!ok && (way == WAY_TILED || e->code == ERR_LINES)) { /* as a run does */
            *e = (err){0};
            ok = (w.r || (w.r = image_open(files->input, NULL, m->threads, e))) &&
                 forecast_tile(f, &w, e);
        }
    }
    return ok;
}

void forecast_free(forecast *f) {
    mem_free(f->by_device.each);
    bloom_close(&f->owner);
    *f = (forecast){.best = -1};
}
