#include "app/run/frame_work.h"

#include "app/run/fits.h"
#include "app/run/hints.h"
#include "app/run/picture.h"
#include "base/log.h"
#include "bloom/mask.h"

bool work_changed(const frame_work *w) {
    file_mark now = file_mark_of(w->files->input);
    return !file_mark_same(&w->before, &now);
}

bool work_blame(const frame_work *w, err *e) {
    const bool named = e->fault == FAULT_KERNEL || e->fault == FAULT_INPUT;
    return !named && (err_in(e, "%s", w->f->input) || err_blame(e, FAULT_INPUT));
}

/* The channels that are read. */
typedef struct {
    bool **part; /* of each part; NULL: none of it */
    int parts;
} wanted_channels;

static void wanted_channels_free(wanted_channels *w) {
    for (int i = 0; w->part && i < w->parts; i++) mem_free(w->part[i]);
    mem_free(w->part);
}

image *work_load(frame_work *w, err *e) {
    const image_header *h = w->in.head;
    const bloom_settings b = stages_bloom(w->m->run);
    OWN(wanted_channels) wanted = {mem_new((size_t)h->parts, sizeof(bool *), "parts", e), h->parts};
    bool whole = !w->files->before && !w->s->bloom.mask && !w->s->bloom.per_layer;
    if (!wanted.part) return NULL;
    for (int i = 0; i < h->parts; i++) {
        const image_part *p = &h->part[i];
        OWN_MEM bool *some = fits_channels(&w->out, p, e);
        if (!some) return work_blame(w, e), NULL;
        whole = whole && !memchr(some, false, (size_t)p->channels) && bloom_changes(&b) &&
                bloom_has_light(&b, p); /* others are copied */
        if (memchr(some, true, (size_t)p->channels)) wanted.part[i] = GIVE(some);
    }
    image *img = stages_load(&w->in, w->keep ? NULL : wanted.part, e);
    if (!img) return NULL;
    if (whole) {
        w->in.from = NULL;
        image_reader_close(&w->r);
    }
    w->torn = work_changed(w);
    if (!w->s->input_space && strcmp(h->format, "png") != 0)
        light_notes_codes(img, w->s->bloom.layers, w->s->bloom.exclude, "give --input-space srgb",
                          w->m->told);
    return img;
}

/* Finds the kernel of the frame, which is made where its size is not that of the first one. */
static bool find_kernel(frame_work *w, err *e) {
    const run_choice *run = w->m->run;
    const kernel_choice *k = run->kernel;
    snprintf(w->kernel, sizeof w->kernel, "%s", w->files->kernel);
    w->out.kernel = w->kernel;
    w->size = k->size;
    if (!k->follows) return true;
    const double scale = kernel_frame(w->s, image_reader_header(w->r)->part);
    w->out.kernel_scale = w->f->kernel_scale = scale;
    log_info("%s: the kernel is %.4g times as large as for 1920 pixels", w->f->input, scale);
    if (scale == k->scale || !run->kernels) return true;
    if (strcmp(w->kernel, k->file) != 0) return w->size = scale, true; /* a file of its own */
    par *threads = w->m->threads;
    par_rest(threads);
    if (w->on) pthread_mutex_lock(&w->on->making);
    par_resume(threads);
    const bool ok = kernel_choice_at(w->kernel, &w->size, w->s, run->kernels, scale, e);
    if (w->on) pthread_mutex_unlock(&w->on->making);
    return ok;
}

static bool read_mask(void *r, int part, uint32_t row, uint32_t rows, void *const plane[], err *e) {
    return image_read(r, part, row, rows, plane, e);
}

/* Opens the mask where it is a file, which has the window of the image's first part. */
static bool open_mask(frame_work *w, err *e) {
    const rows_source own = stages_source(&w->in);
    const char *path = w->files->mask;
    mask_place at;
    err none = {0};
    if (!path || mask_find(&at, &own, 0, path, &none)) return true;
    w->before_mask = file_mark_of(path);
    if (!(w->mask = image_open(path, NULL, w->m->threads, e))) return err_in(e, "mask");
    const image_header *h = image_reader_header(w->mask);
    const image_box *box = &h->part[0].data, *want = &own.head->part[0].data;
    if (memcmp(box, want, sizeof *box) != 0)
        return err_set(e, ERR_DATA,
                       "the mask '%s' has the data window %d,%d to %d,%d, and that of '%s' is "
                       "%d,%d to %d,%d; crop or resize the mask",
                       path, box->x0, box->y0, box->x1, box->y1, w->f->input, want->x0, want->y0,
                       want->x1, want->y1);
    w->mask_rows = (rows_source){.ctx = w->mask, .head = h, .read = read_mask};
    log_info("the mask is channel '%s' of '%s'", h->part[0].channel[mask_channel(h->part)].name,
             path);
    return true;
}

bool work_open(frame_work *w, err *e) {
    frame_maker *m = w->m;
    frame_result *f = w->f;
    const image_limits limits = {.called = f->input};
    w->before = file_mark_of(w->files->input);
    w->out = (output){f->output, m->run, m->look, m->threads, m->screen, NULL, w->files->mask, 0};
    if (!(w->r = image_open(w->files->input, &limits, m->threads, e))) {
        f->missing = err_is_missing(e);
        return false;
    }
    const image_part *p = &image_reader_header(w->r)->part[0];
    const image_box *b = &p->display;
    f->size[0] = (uint32_t)image_box_width(b), f->size[1] = (uint32_t)image_box_height(b);
    f->pixels = (double)image_width(p) * image_height(p);
    return stages_in_open(&w->in, w->r, w->s, m->threads, e) && open_mask(w, e) &&
           find_kernel(w, e);
}

queue_bloom *work_bloom(const frame_work *w, err *e) {
    queue_bloom *b = device_queue_take(w->on, w->kernel, w->size, w->m->threads, e);
    w->f->hopeless = !b && w->record && !w->m->records->kernels;
    if (b) hints_kernel(w->size, b->bloom, w->kernel, &w->in.head->part[0]);
    return b;
}

work_way work_fits(const frame_work *w, const bloom *b, err *e) {
    if (!picture_fits(&w->out, w->in.head, e)) return WAY_NONE;
    if (!w->f->alone || fits_held(&w->out, w->r, NULL)) return WAY_HELD;
    queue_bloom *own = b ? NULL : work_bloom(w, e);
    if (!b && !own) return WAY_NONE;
    const bool held = fits_held(&w->out, w->r, own ? own->bloom : b);
    if (own) device_queue_give(w->on, own);
    return held ? WAY_HELD : WAY_TILED;
}

void frame_work_close(frame_work *w) {
    stages_close(&w->in);
    image_reader_close(&w->r);
    image_reader_close(&w->mask);
}
