#include "app/run/forecast.h"

#include "app/run/sequence.h"
#include "app/run/swap.h"
#include "base/mem.h"
#include "image/format.h"

bool forecast_make(forecast *f, const settings *s, const char *input, uint32_t images, par *threads,
                   err *e) {
    *f = (forecast){.best = -1};
    bloom_settings b = s->bloom;
    b.images = images;
    b.slots = sequence_workers(s, images);
    image *img = image_load(input, NULL, threads, e);
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
