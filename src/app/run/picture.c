#include "app/run/picture.h"

#include "app/run/targets.h"
#include "base/log.h"
#include "image/flat/png.h"

/* Returns how the image is shown. The log says once in a run what the picture leaves out. */
static preview_options view_of(const output *o, const image_header *h) {
    OWN(text) left_out = {0};
    preview_options as = {.part = preview_part(h, &left_out),
                          .width = UINT32_MAX,
                          .exposed = !isnan(o->look.exposure),
                          .stops = (float)o->look.exposure,
                          .on = o->screen};
    if (left_out.n) log_say_once(LOG_NOTE, "%s", left_out.s);
    return as;
}

bool picture_open(picture *p, const output *o, const image_header *h, const char *path, err *e) {
    *p = (picture){.o = o, .as = view_of(o, h)};
    p->shown = h->part[p->as.part];
    const image_box *box = &p->shown.display;
    const uint64_t w = image_box_width(box), rows = image_box_height(box);
    p->light = (preview_light){
        mem_new(w * rows, 3 * sizeof(float), "a picture", e), (uint32_t)w, (uint32_t)rows, {0}};
    return p->light.pixel &&
           (!path || (p->file = file_out_open(image_is_stream(path) ? "-" : path,
                                              o->run->s->existing != EXISTING_SKIP, e)));
}

void picture_close(picture *p) {
    file_out_free(&p->file);
    mem_free(p->light.pixel);
    *p = (picture){.o = NULL};
}

/* Shows the rows as an image of these rows alone. */
bool picture_add(picture *p, const rows_band *b, err *e) {
    image_part some = p->shown;
    image_box *shown = &some.display;
    const int64_t top = shown->y0;
    some.data.y0 = p->shown.data.y0 + (int32_t)b->row;
    some.data.y1 = some.data.y0 + (int32_t)b->rows - 1;
    shown->y0 = (int32_t)max_i64(shown->y0, some.data.y0);
    shown->y1 = (int32_t)min_i64(shown->y1, some.data.y1);
    if (shown->y0 > shown->y1) return true;
    const image img = {.head = {.part = &some, .parts = 1}, .plane = (void **[]){b->plane}};
    preview_options as = p->as;
    as.part = 0;
    const size_t before = 3 * (size_t)(shown->y0 - top) * p->light.width;
    preview_light rows = {.pixel = p->light.pixel + before};
    if (!preview_take(&rows, &img, &as, p->o->threads, e)) return false;
    memcpy(p->light.luminance, rows.luminance, sizeof rows.luminance);
    return true;
}

static uint32_t one_row(void *ctx, int part) {
    (void)ctx, (void)part;
    return 1;
}

static bool take_rows(void *ctx, int part, const rows_band *b, err *e) {
    (void)part;
    return picture_add(ctx, b, e);
}

bool picture_take(picture *p, stages *from, err *e) {
    const rows_source in = stages_source(from);
    const rows_sink to = {.ctx = p, .step = one_row, .write = take_rows};
    return rows_copy(&in, &to, p->as.part, &p->shown, e);
}

bool picture_develop(picture *p, float *stops, err *e) {
    preview_picture made = {0};
    size_t bytes = 0;
    p->as.exposed = !isnan(*stops);
    p->as.stops = *stops;
    bool ok = preview_develop(&made, &p->light, &p->as, p->o->threads, e);
    mem_free(p->light.pixel);
    p->light.pixel = NULL;
    *stops = made.stops;
    OWN_MEM uint8_t *png =
        ok ? png_encode(&(png_picture){made.pixel, made.width, made.height, 3}, &bytes, e) : NULL;
    mem_free(made.pixel);
    return png && file_out_write(p->file, 0, png, bytes, e);
}

bool picture_commit(picture *p, err *e) {
    bool ok = file_out_commit(&p->file, e);
    picture_close(p);
    return ok;
}

uint64_t picture_bytes(const output *o, const image_header *h) {
    const image_box *box = &h->part[preview_part(h, NULL)].display;
    const bool lit = o->run->s->emit_file && output_is_picture(o->run->s->emit_file);
    return (lit ? 2 : 1) * preview_bytes(image_box_width(box), image_box_height(box));
}

bool picture_fits(const output *o, const image_header *h, err *e) {
    const image_box *box = &h->part[preview_part(h, NULL)].display;
    char needs[32], has[32];
    if (!output_is_picture(o->path)) return true;
    if (!preview_may_have(image_box_width(box), image_box_height(box), e)) return false;
    if (picture_bytes(o, h) <= mem_limit()) return true;
    return err_set(e, ERR_MEMORY,
                   "a picture of %" PRIu64 " x %" PRIu64
                   " pixels takes %s of the limit of %s; write an .exr, which is made in tiles, or "
                   "raise --mem-limit",
                   image_box_width(box), image_box_height(box),
                   text_bytes((double)picture_bytes(o, h), needs),
                   text_bytes((double)mem_limit(), has));
}

/* --- exposure and view of a run --- */

/* Finds the exposure that suits an image as it is, with all of its pixels. */
static bool exposure_find(float *stops, image_reader *r, const run_choice *run, par *threads,
                          err *e) {
    const output to = {
        .path = run->s->output, .run = run, .look = picture_look_asked(run->s), .threads = threads};
    OPEN(stages) in = {0};
    OWN(image_header) h = {0};
    OPEN(picture) seen = {0};
    if (!stages_in_open(&in, r, run->s, threads, e) || !image_header_copy(&h, in.head, e))
        return false;
    for (int i = 0; i < h.parts; i++) h.part[i].display = h.part[i].data;
    if (!picture_open(&seen, &to, &h, NULL, e) || !picture_take(&seen, &in, e)) return false;
    *stops = preview_stops(&seen.light);
    return true;
}

picture_look picture_look_by(const run_choice *run, const char *input, const char *first,
                             par *threads) {
    picture_look look = picture_look_asked(run->s);
    char number[32] = "0";
    float stops = 0;
    const bool viewed = strcmp(look.view, "auto") != 0, exposed = !isnan(look.exposure);
    if (!output_is_picture(run->s->output) || (exposed && viewed)) return look;
    OPEN(image_reader) *r = image_open(input, NULL, threads, NULL);
    if (!r) return look;
    const bool graded = strcmp(image_reader_header(r)->format, "png") == 0;
    if (first && !graded && !exposed && !exposure_find(&stops, r, run, threads, NULL)) return look;
    if (!viewed) look.view = graded ? "srgb" : "film";
    if (exposed || !(first || graded)) return look;
    if (!graded) {
        snprintf(number, sizeof number, "%.2f", (double)stops);
        log_note("all pictures have --exposure %s, which suits %s", number, first);
    }
    text_number(number, &look.exposure);
    return look;
}

bool picture_look_of(picture_look *to, const job *j, par *threads, err *e) {
    const run_choice *run = j->run;
    const bool several = job_count(j) > 1;
    *to = picture_look_asked(run->s);
    for (size_t i = 0; i < job_count(j); i++) {
        OWN(job_files) f = {0};
        if (!job_frame(j, i, &f, e)) return false;
        *to = picture_look_by(run, f.input, several ? f.input : NULL, threads);
        if (!isnan(to->exposure) || !several || !output_is_picture(run->s->output)) return true;
    }
    return !run->farms || err_set(e, ERR_USAGE,
                                  "no frame of %s can be read yet, so no exposure that suits them "
                                  "all is known; give --exposure STOPS, such as 0",
                                  run->s->input);
}
