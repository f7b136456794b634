#include "app/run/exposure.h"

#include "app/cli/options.h"
#include "app/run/picture.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Finds the exposure that suits an image as it is, with all of its pixels. */
static bool exposure_find(float *stops, image_reader *r, const settings *s, par *threads, err *e) {
    const output to = {.path = s->output, .s = s, .threads = threads};
    stages in = {0};
    image_header h = {0};
    bool ok = stages_in_open(&in, r, s, threads, e) && image_header_copy(&h, in.head, e);
    for (int i = 0; i < h.parts; i++) h.part[i].display = h.part[i].data;
    picture seen = {0};
    ok = ok && picture_open(&seen, &to, &h, NULL, e) && picture_take(&seen, &in, e);
    if (ok) *stops = preview_stops(&seen.light);
    picture_close(&seen);
    image_header_free(&h);
    stages_close(&in);
    return ok;
}

/* Sets an option as if the file said so. */
static bool exposure_set(settings *s, const char *name, const char *value, const char *file,
                         err *e) {
    const setting_origin from = {ORIGIN_FILE, file};
    return settings_set(s, option_find(name, FOR_APPLY), value, from, e);
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
