#include "app/run/exposure.h"

#include "app/cli/options.h"
#include "app/run/colours.h"
#include "app/run/output.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Adds some rows of a part to what its exposure follows from. */
static bool exposure_look(preview_exposure *to, image_reader *r, int part, const image_rows *is,
                          const settings *s, par *threads, err *e) {
    const image_header *h = image_reader_header(r);
    const preview_options as = {.part = part, .width = UINT32_MAX, .whole = true};
    image_header band = {0};
    image *img = NULL;
    preview_light light = {0};
    bool **wanted = mem_new((size_t)h->parts, sizeof *wanted, "parts", e);
    bool ok = wanted && image_header_copy(&band, h, e) &&
              (wanted[part] = mem_raw((size_t)h->part[part].channels, 1, "channels", e));
    if (ok) {
        image_box *b = &band.part[part].data;
        memset(wanted[part], true, (size_t)h->part[part].channels);
        b->y0 += (int32_t)is->row;
        b->y1 = b->y0 + (int32_t)is->rows - 1;
        ok = (img = image_new_unset(&band, wanted, e)) &&
             image_read(r, part, is->row, is->rows, img->plane[part], e) &&
             colours_to_linear(img, s, threads, e) && preview_take(&light, img, &as, threads, e);
    }
    if (ok) preview_look(to, &light);
    mem_free(light.pixel);
    image_free(&img);
    image_header_free(&band);
    if (wanted) mem_free(wanted[part]);
    mem_free(wanted);
    return ok;
}

/* Finds the exposure that suits an image as it is, a few rows at a time. */
static bool exposure_find(float *stops, image_reader *r, const settings *s, par *threads, err *e) {
    enum { SOME = 64 };
    const image_header *h = image_reader_header(r);
    int part = preview_part(h, NULL);
    uint32_t rows = image_height(&h->part[part]), chunk = image_reader_rows(r, part);
    uint32_t step = chunk * max_u32(SOME / chunk, 1);
    preview_exposure *seen = mem_new(1, sizeof *seen, "an exposure", e);
    bool ok = seen != NULL;
    for (uint32_t y = 0; ok && y < rows; y += step)
        ok = exposure_look(seen, r, part, &(image_rows){y, min_u32(step, rows - y), NULL}, s,
                           threads, e);
    if (ok) *stops = preview_suits(seen);
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
