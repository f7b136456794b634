#include "app/run/exposure.h"

#include "app/cli/options.h"
#include "app/run/output.h"
#include "app/run/stages.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Adds some rows of a part to what its exposure follows from. */
static bool exposure_look(preview_exposure *to, stages *in, int part, uint32_t row, uint32_t rows,
                          err *e) {
    const rows_source from = stages_source(in);
    const preview_options as = {.width = UINT32_MAX, .whole = true};
    image_part band = in->head->part[part];
    preview_light light = {0};
    band.data.y0 += (int32_t)row;
    band.data.y1 = band.data.y0 + (int32_t)rows - 1;
    const image_header head = {.format = in->head->format, .part = &band, .parts = 1};
    image *img = image_new_unset(&head, NULL, e);
    bool ok = img && from.read(from.ctx, part, row, rows, img->plane[0], e) &&
              preview_take(&light, img, &as, in->threads, e);
    if (ok) preview_look(to, &light);
    mem_free(light.pixel);
    image_free(&img);
    return ok;
}

/* Finds the exposure that suits an image as it is, a few rows at a time. */
static bool exposure_find(float *stops, image_reader *r, const settings *s, par *threads, err *e) {
    stages in = {0};
    preview_exposure *seen = mem_new(1, sizeof *seen, "an exposure", e);
    bool ok = seen && stages_in_open(&in, r, s, threads, e);
    int part = ok ? preview_part(in.head, NULL) : 0;
    const image_part *p = ok ? &in.head->part[part] : NULL;
    uint32_t h = ok ? image_height(p) : 0, some = ok ? rows_some(p, image_reader_rows(r, part)) : 1;
    for (uint32_t y = 0; ok && y < h; y += some)
        ok = exposure_look(seen, &in, part, y, min_u32(some, h - y), e);
    if (ok) *stops = preview_suits(seen);
    stages_close(&in);
    mem_free(seen);
    return ok;
}

/* Sets an option as if the file said so. */
static bool exposure_set(settings *s, const char *name, const char *value, const char *file,
                         err *e) {
    const setting_origin from = {ORIGIN_FILE, file};
    return settings_set(s, (int)(option_find(name, FOR_APPLY) - OPTIONS), value, from, e);
}

bool exposure_settle(settings *s, const char *input, bool several, par *threads, err *e) {
    char number[32] = "0";
    float stops = 0;
    bool viewed = strcmp(s->view, "auto") != 0;
    if (!output_is_picture(s->output) || (!isnan(s->exposure) && viewed)) return true;
    image_reader *r = image_open(input, NULL, threads, NULL);
    bool ok = r != NULL, graded = r && strcmp(image_reader_header(r)->format, "png") == 0;
    if (ok && several && !graded && isnan(s->exposure)) {
        ok = exposure_find(&stops, r, s, threads, NULL);
        snprintf(number, sizeof number, "%.2f", (double)stops);
    }
    image_close(&r);
    if (!ok) return true;
    if (!viewed && !exposure_set(s, "view", graded ? "srgb" : "film", input, e)) return false;
    if (!isnan(s->exposure) || !(several || graded)) return true;
    if (!graded) log_note("all pictures have --exposure %s, which suits %s", number, input);
    return exposure_set(s, "exposure", number, input, e);
}

bool exposure_settle_job(settings *s, const job *j, par *threads, err *e) {
    bool ok = true, several = job_count(j) > 1;
    for (size_t i = 0; ok && i < job_count(j); i++) {
        job_files f;
        ok = job_frame(j, i, &f, e) && exposure_settle(s, f.input, several, threads, e);
        job_files_free(&f);
        if (!isnan(s->exposure) || !several || !output_is_picture(s->output)) return ok;
    }
    return ok && (!s->farms ||
                  err_set(e, ERR_USAGE,
                          "no frame of %s can be read yet, so no exposure that suits them all is "
                          "known; give --exposure STOPS, such as 0",
                          s->input));
}
