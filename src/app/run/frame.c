#include "app/run/frame.h"

#include "app/run/fits.h"
#include "app/run/picture.h"
#include "app/run/provenance.h"
#include "app/run/targets.h"
#include "base/clock.h"
#include "base/half.h"
#include "base/log.h"

#include <errno.h>
#include <unistd.h>

/* --- blooms ---------------------------------------------------------------------------------- */

enum { UNUSED = 2 }; /* blooms that are kept though no frame uses them: two views take turns */
enum { BLOOMS = sizeof((device_queue *)NULL)->bloom / sizeof(queue_bloom) };

void device_queue_open(device_queue *q, const bloom_settings *s, device_pool *devices) {
    *q = (device_queue){.s = *s, .devices = devices};
    pthread_mutex_init(&q->lock, NULL);
    for (int i = 0; i < BLOOMS; i++) pthread_mutex_init(&q->bloom[i].lock, NULL);
}

void device_queue_close(device_queue *q) {
    for (int i = 0; i < BLOOMS; i++) {
        bloom_close(&q->bloom[i].bloom);
        mem_free(q->bloom[i].kernel);
        pthread_mutex_destroy(&q->bloom[i].lock);
    }
    pthread_mutex_destroy(&q->lock);
}

/* Finds the entry of a kernel, or else an entry for it: an empty one, or that of the kernel which
 * nobody has used for longest. There are more entries than frames under way. */
static queue_bloom *find_entry(device_queue *q, const char *kernel) {
    queue_bloom *empty = NULL, *oldest = NULL;
    int unused = 0;
    for (queue_bloom *b = q->bloom; b < q->bloom + BLOOMS; b++) {
        if (b->kernel && strcmp(b->kernel, kernel) == 0) return b;
        if (!b->kernel) empty = b;
        if (!b->kernel || b->users) continue;
        unused++;
        if (!oldest || b->last < oldest->last) oldest = b;
    }
    return (empty && unused < UNUSED) || !oldest ? empty : oldest;
}

static void give_bloom(device_queue *q, queue_bloom *b) {
    pthread_mutex_lock(&q->lock);
    b->users--;
    pthread_mutex_unlock(&q->lock);
}

/* Takes the bloom of a kernel, which is opened unless it is there. Frames that want it meanwhile
 * wait; if it cannot be opened, each finds out for itself why. */
static queue_bloom *take_bloom(device_queue *q, const char *kernel, par *threads, err *e) {
    bloom *old = NULL;
    char *name = mem_str(kernel, e);
    if (!name) return NULL;
    pthread_mutex_lock(&q->lock);
    queue_bloom *b = find_entry(q, kernel);
    if (!b->kernel || strcmp(b->kernel, kernel) != 0) {
        char *unused = b->kernel;
        old = b->bloom;
        b->bloom = NULL;
        b->kernel = name;
        name = unused;
    }
    b->users++;
    b->last = ++q->takes;
    pthread_mutex_unlock(&q->lock);
    mem_free(name);
    bloom_close(&old);
    par_rest(threads);
    pthread_mutex_lock(&b->lock);
    par_resume(threads);
    if (!b->bloom) b->bloom = bloom_open_on(&q->s, kernel, NULL, q->devices, e);
    bool ok = b->bloom != NULL;
    pthread_mutex_unlock(&b->lock);
    if (!ok) give_bloom(q, b);
    return ok ? b : NULL;
}

void hints_faults(const char *kernel, const char *faults) {
    if (*faults)
        log_say_once(LOG_WARN, "kernel '%s': %s: fftbloom kernel check %s", kernel, faults, kernel);
}

/* Logs the same; and a --kernel-scale that may be a percentage. A kernel larger than the image and
 * far off centre may be the image. */
static void hints_kernel(const run_choice *run, const bloom *b, const char *kernel,
                         const image_part *in) {
    const double scale = run->kernel->size;
    const lint_faults *faults = bloom_kernel_faults(b);
    uint32_t size[2];
    const bool larger = bloom_kernel_size(b, in, size) && size[0] > image_width(in) &&
                        size[1] > image_height(in);
    if (larger && scale >= 5)
        log_say_once(LOG_WARN,
                     "--kernel-scale %g makes the kernel %u x %u, larger than the image; %g %% "
                     "would be %g",
                     scale, size[0], size[1], scale, scale / 100);
    if (larger &&
        (abs(faults->off[0]) > (int)size[0] / 8 || abs(faults->off[1]) > (int)size[1] / 8))
        log_say_once(LOG_WARN,
                     "IN and KERNEL may be swapped: the kernel '%s' is larger than the image, and "
                     "%s",
                     kernel, faults->words);
    else
        hints_faults(kernel, faults->words);
}

/* --- one frame ------------------------------------------------------------------------------- */

/* One frame at work, from its reader to its files. */
typedef struct {
    frame_maker *m;
    const settings *s;
    const record *record;
    device_queue *on;
    const job_files *files;
    frame_result *f;
    bloom_report *made;
    output out;
    file_mark before; /* of the input, when it was opened */
    image_reader *r;  /* NULL when nothing more is read from it */
    stages in;
    image **keep; /* where the result goes instead of files; NULL: it is written */
    bool beyond;  /* there were values beyond halfs; their channels are marked for another try */
    bool torn;    /* the input changed while it was read */
} work;

static queue_bloom *open_bloom(const work *w, err *e) {
    queue_bloom *b = take_bloom(w->on, w->files->kernel, w->m->threads, e);
    w->f->hopeless = !b && w->record && !w->m->records->kernels;
    if (b) hints_kernel(w->m->run, b->bloom, w->files->kernel, &w->in.head->part[0]);
    return b;
}

/* Names the image in an error, unless that names the kernel or the image. Returns false. */
static bool blame_input(const work *w, err *e) {
    const bool named = e->fault == FAULT_KERNEL || e->fault == FAULT_INPUT;
    return !named && (err_in(e, "%s", w->f->input) || err_blame(e, FAULT_INPUT));
}

/* What a thread of its own gets ready while the pixels of a run's first frame are read: the kernel,
 * what follows from the image's size, and the engine. The frame meets its failures again. */
typedef struct {
    const work *w;
    image_header head; /* as the image will be when it is bloomed */
    pthread_t thread;
    bool runs;
    queue_bloom *bloom; /* the thread's until it has ended; NULL after a failure */
} ahead;

static void *get_ready(void *arg) {
    ahead *a = arg;
    const work *w = a->w;
    err ignored = {0};
    par_enter_beside(w->m->threads);
    a->bloom = take_bloom(w->on, w->files->kernel, w->m->threads, &ignored);
    if (a->bloom) bloom_expect(a->bloom->bloom, &a->head);
    par_leave(w->m->threads);
    return NULL;
}

static void start_ahead(ahead *a) {
    frame_maker *m = a->w->m;
    if (par_threads(m->threads) < 2 || atomic_flag_test_and_set(&m->begun)) return;
    err ignored = {0};
    a->runs = image_header_copy(&a->head, a->w->in.head, &ignored) &&
              pthread_create(&a->thread, NULL, get_ready, a) == 0;
}

static void end_ahead(ahead *a) {
    par *threads = a->w->m->threads;
    par_rest(threads);
    if (a->runs) pthread_join(a->thread, NULL);
    par_resume(threads);
    a->runs = false;
    if (a->bloom) give_bloom(a->w->on, a->bloom);
    a->bloom = NULL;
    image_header_free(&a->head);
}

static bool has_changed(const work *w) {
    file_mark now = file_mark_of(w->f->input);
    return !file_mark_same(&w->before, &now);
}

/* Reads the channels that may change. Closes the reader where it is not needed any more. */
static image *load_image(work *w, err *e) {
    const image_header *h = w->in.head;
    const bloom_settings b = stages_bloom(w->m->run);
    bool **wanted = mem_new((size_t)h->parts, sizeof *wanted, "parts", e);
    bool ok = wanted != NULL,
         all = !w->files->before && !w->s->bloom.mask && !w->s->bloom.per_layer;
    for (int i = 0; ok && i < h->parts; i++) {
        const image_part *p = &h->part[i];
        ok = (wanted[i] = fits_channels(&w->out, p, e)) || blame_input(w, e);
        if (!ok) break;
        bool some = memchr(wanted[i], true, (size_t)p->channels);
        all = all && !memchr(wanted[i], false, (size_t)p->channels) && bloom_changes(&b) &&
              bloom_has_light(&b, p); /* others are copied */
        if (some) continue;
        mem_free(wanted[i]);
        wanted[i] = NULL;
    }
    image *img = ok ? stages_load(&w->in, w->keep ? NULL : wanted, e) : NULL;
    for (int i = 0; wanted && i < h->parts; i++) mem_free(wanted[i]);
    mem_free(wanted);
    if (!img) return NULL;
    if (all) {
        w->in.from = NULL;
        image_reader_close(&w->r);
    }
    w->torn = has_changed(w);
    if (!w->s->input_space && strcmp(h->format, "png") != 0)
        light_notes_codes(img, w->s->bloom.layers, w->s->bloom.exclude, "give --input-space srgb",
                          &w->m->told);
    return img;
}

/* Says what was done to the pixels, if that is more than bloom. */
static void log_way(const work *w, const stages *after) {
    OWN(text) way = {0};
    stages_words(&w->in, &way);
    text_add(&way, "%sbloom", way.n ? ", " : "");
    stages_words(after, &way);
    if (output_is_picture(w->out.path)) text_add(&way, ", develop a picture");
    if (strcmp(way.s, "bloom") != 0) log_info("%s: %s", w->f->input, way.s);
}

/* Makes the frame: from source to files, through stages, bloom and stages. An image that is held
 * lends its planes on the way, and is one band; the rows of another one come when tiles need them,
 * and go when they are made. */
static bool make_once(work *w, bool hold, err *e) {
    frame_result *f = w->f;
    const double before = w->in.seconds;
    const rows_source file = stages_source(&w->in);
    const targets_wanted want = {w->files->emitted, w->files->before, (float)w->m->run->exposure};
    ahead beside = {.w = w};
    OWN(image) *img = NULL;
    OPEN(rows_image) held = {.img = NULL};
    OPEN(stages) after = {.s = w->s};
    targets to = {.o = NULL};
    *w->made = (bloom_report){0}; /* nothing of a run that failed */
    if (hold) start_ahead(&beside);
    bool ok = !hold || ((img = load_image(w, e)) && rows_image_open(&held, img, e));
    held.rest = &file;
    if (ok && provenance_is_in(w->in.head))
        log_say_once(LOG_NOTE, "an input was bloomed already (its attribute fftbloom:version says "
                               "so); it is bloomed again");
    queue_bloom *b = ok ? open_bloom(w, e) : NULL;
    const double start = clock_now(), loaded = w->in.seconds;
    ok = b && (stages_out_open(&after, &w->in, b->bloom, e) || blame_input(w, e)) &&
         (w->keep || targets_open(&to, &w->out, &w->in, &after, &want, f->input, e));
    if (ok) {
        const rows_sink files = w->keep ? held.out : targets_sink(&to);
        bloom_rows rows = {.in = hold ? held.in : file,
                           .out = stages_sink(&after, &files),
                           .marks = stages_marks(&w->in)};
        if (!hold) targets_memory(&rows.memory, &w->out, &w->in, after.head);
        ok = (bloom_run(b->bloom, &rows, w->made, e) || blame_input(w, e)) &&
             (w->keep || targets_commit(&to, e));
        if (ok && !w->keep) targets_tell(&to, w->made);
        if (w->keep && (ok || e->code == ERR_TOLERANCE)) {
            stages_give_head(&after, img);
            *w->keep = img;
            img = NULL;
        }
    }
    f->save = to.seconds;
    targets_close(&to);
    end_ahead(&beside);
    if (b) give_bloom(w->on, b);
    if (ok && w->r) w->torn |= has_changed(w);
    f->load = w->in.seconds - before;
    f->bloom = clock_now() - start - (w->in.seconds - loaded) - f->save;
    if (ok) log_way(w, &after);
    if (after.clamped)
        report_note(w->made, "%llu values beyond %g were clamped to it:%s",
                    (unsigned long long)after.clamped, HALF_MAX, after.cut.s);
    w->beyond = w->made->sum.beyond || after.beyond;
    return ok;
}

/* Makes the frame, once more where there was no memory to hold the image, the device does not hold
 * its lines, or values beyond halfs ask for floats in a layer. */
static bool make_some_way(work *w, err *e) {
    bool hold = !w->f->alone || fits_surely(&w->out, w->r), ok = true;
    if (!hold) { /* most images fit, which is told without the kernel */
        mem_plan need;
        queue_bloom *b = open_bloom(w, e);
        ok = b != NULL;
        hold = ok && fits_whole(&need, &w->out, w->r, b->bloom);
        if (b) give_bloom(w->on, b);
    }
    while (ok && !make_once(w, hold, e)) {
        err ignored = {0};
        bool memory = hold && !w->keep &&
                      ((w->f->alone && e->code == ERR_MEMORY) || e->code == ERR_LINES);
        if ((memory || w->beyond) && !w->r)
            w->r = image_open(w->f->input, NULL, w->m->threads, &ignored);
        if ((!memory && !w->beyond) || !w->r) return false;
        if (memory) log_info("%s: it is made in tiles: %s", w->f->input, e->msg);
        *e = (err){0};
        w->in.from = w->r;
        w->torn = false;
        hold = hold && !memory;
    }
    return ok;
}

/* Opens the input. work_close frees it, also after a failure. */
static bool work_open(work *w, err *e) {
    frame_maker *m = w->m;
    frame_result *f = w->f;
    w->before = file_mark_of(f->input);
    w->out = (output){f->output, m->run, m->threads, m->screen, w->files->kernel};
    if (!(w->r = image_open(f->input, NULL, m->threads, e))) return false;
    const image_box *b = &image_reader_header(w->r)->part[0].display;
    f->size[0] = (uint32_t)image_box_width(b), f->size[1] = (uint32_t)image_box_height(b);
    return stages_in_open(&w->in, w->r, w->s, m->threads, e) &&
           picture_fits(&w->out, w->in.head, e);
}

static void work_close(work *w) {
    stages_close(&w->in);
    image_reader_close(&w->r);
}

/* Reads, blooms and writes. Frames that are under way at the same time share cores and device, and
 * the time that one waits for the others is counted in each. */
static bool make(work *w, err *e) {
    frame_maker *m = w->m;
    frame_result *f = w->f;
    const settings *s = w->s;
    const bool ok = work_open(w, e) && make_some_way(w, e);
    if (ok) light_notes(w->in.head->format, s->input_space, w->made, &m->told);
    work_close(w);
    if (w->torn) {
        log_warn("%s changed while it was read; the result may be half old and half new", f->input);
        report_note(w->made, "the input changed while it was read");
    }
    err why = {0};
    if (ok && !w->torn && w->record && w->record->run->cache &&
        !record_write(w->record, &w->before, &why) && !atomic_flag_test_and_set(&m->forgets))
        log_say(
            s->existing == EXISTING_UPDATE ? LOG_WARN : LOG_INFO,
            "'%s', and perhaps other frames, will be made again by the next --existing update: %s",
            f->output, why.msg);
    return ok;
}

image *frame_image(frame_maker *m, frame_result *f, bloom_report *made, err *e) {
    const bloom_settings b = stages_bloom(m->run);
    device_queue on;
    image *img = NULL;
    job_files files = {.input = (char *)(uintptr_t)m->run->s->input,
                       .kernel = m->run->kernel->file};
    OPEN(device_pool) *devices = device_pool_open(m->threads, b.cache_dir, 0, e);
    work w = {m, m->run->s, NULL, &on, &files, f, made, .keep = &img};
    *f = (frame_result){.input = files.input, .output = ""};
    *made = (bloom_report){0};
    device_queue_open(&on, &b, devices);
    if (devices) make(&w, e);
    device_queue_close(&on);
    return img;
}

/* --- before a frame is made ------------------------------------------------------------------ */

image *frame_read(const settings *s, const char *input, par *threads, err *e) {
    OPEN(image_reader) *r = image_open(input, NULL, threads, e);
    OPEN(stages) in = {0};
    return r && stages_in_open(&in, r, s, threads, e) ? stages_load(&in, NULL, e) : NULL;
}

/* Says how the result will be stored. */
static bool forecast_stored(forecast *f, work *w, err *e) {
    const targets_wanted want = {.glare = w->files->emitted};
    OPEN(stages) after = {.s = w->s};
    targets to = {.o = NULL};
    const bool ok = stages_out_open(&after, &w->in, f->owner, e) &&
                    targets_plan(&to, &w->out, &w->in, &after, &want, e);
    if (ok) targets_tell(&to, &f->predicted);
    targets_close(&to);
    return ok;
}

/* Forecasts an image that is held, by its pixels. */
static bool forecast_held(forecast *f, work *w, err *e) {
    OWN(image) *img = load_image(w, e);
    if (!img) return false;
    hints_kernel(w->m->run, f->owner, w->files->kernel, &img->head.part[0]);
    if (!bloom_predict(f->owner, img, &f->predicted, e)) return false;
    const plan_precision precision = f->predicted.sum.promise.method.precision;
    f->best = bloom_forecast(f->owner, w->in.head, precision, &f->all, e);
    return f->best >= 0 && forecast_stored(f, w, e);
}

/* Forecasts an image that does not fit, by its header: a tile of it. */
static bool forecast_tile(forecast *f, work *w, err *e) {
    const image_header *h = image_reader_header(w->r);
    f->memory = (mem_plan){0};
    f->predicted = (bloom_report){0};
    if (!fits_tiling(&f->tiles, &f->memory, &w->out, w->r, f->owner, e)) return false;
    f->best = bloom_tile_forecast(f->owner, h, &f->tiles, &f->all, e);
    return f->best >= 0 && forecast_stored(f, w, e);
}

bool frame_forecast(frame_maker *m, const job_files *files, forecast *f, err *e) {
    const settings *s = m->run->s;
    bloom_settings b = stages_bloom(m->run);
    image *all = NULL; /* channels are read */
    frame_result r = {.input = files->input, .output = s->output ? s->output : ""};
    work w = {.m = m, .s = s, .files = files, .f = &r, .keep = &all};
    f->best = -1;
    b.images = f->images;
    bool ok = work_open(&w, e);
    if (w.r) b.slots = fits_at_a_time(&w.out, image_reader_header(w.r), f->images);
    f->owner = ok ? bloom_open(&b, files->kernel, m->threads, e) : NULL;
    f->all.every = true;
    ok = f->owner && (f->all.each = mem_new(ENGINE_DEVICES, sizeof *f->all.each, "forecasts", e));
    if (ok) {
        const bool hold = fits_whole(&f->memory, &w.out, w.r, f->owner) || fits_surely(&w.out, w.r);
        ok = hold && forecast_held(f, &w, e);
        if (!ok && (!hold || e->code == ERR_LINES)) { /* as a run does */
            *e = (err){0};
            ok = (w.r || (w.r = image_open(files->input, NULL, m->threads, e))) &&
                 forecast_tile(f, &w, e);
        }
    }
    work_close(&w);
    return ok;
}

void forecast_free(forecast *f) {
    mem_free(f->all.each);
    bloom_close(&f->owner);
    *f = (forecast){.best = -1};
}

/* Says what became of a frame, also of one that failed. */
static void log_frame(const frame_result *f, bool ok) {
    const bloom_report *m = f->made;
    OWN(text) line = {0};
    if (ok) {
        text_add(&line, "%s -> %s: ", f->input, f->output);
        if (m->sum.tiles.channels) {
            describe_tiles(&m->sum.tiles, &line);
            text_add(&line, "; each ");
        }
        if (m->groups) {
            describe_plan_line(&m->sum.plan, &line);
            text_add(&line, ", on %s; ", m->sum.device.name);
        }
        log_info("%sload %.3f s, bloom %.3f s, save %.3f s", line.s, f->load, f->bloom, f->save);
    }
    for (uint32_t i = 0; i < m->notes; i++) log_info("%s: %s", f->input, m->note[i]);
    text_free(&line);
    if (!m->sum.verified.found.pixels) return;
    describe_verified(m, &line);
    log_info("%s: %s", f->input, line.s);
}

bool frame_make(frame_maker *m, device_queue *on, const job_files *files, frame_result *f,
                bloom_report *made, err *e) {
    record rec;
    *f = (frame_result){.number = files->number,
                        .view = files->view,
                        .input = files->input,
                        .output = files->output,
                        .alone = f->alone};
    bool ok = record_make(&rec, m->records, files, e);
    if (ok) f->state = record_look(&rec, m->run->s->existing == EXISTING_UPDATE, &f->why);
    if (!ok) {
        f->state = FRAME_FAILED;
    } else if (f->state == FRAME_SKIPPED) {
        log_note("%s skipped: %s", f->input, f->why);
    } else if (f->state == FRAME_CURRENT) {
        record_use(&rec);
        log_info("%s: %s", f->output, f->why);
    } else {
        f->made = made;
        *made = (bloom_report){0};
        ok = make(&(work){m, m->run->s, &rec, on, files, f, made, .keep = NULL}, e);
        log_frame(f, ok);
        if (!ok && e->code == ERR_SKIPPED) { /* --existing skip */
            f->state = FRAME_SKIPPED;
            f->why = "the output appeared while the frame was made";
            log_note("%s skipped: %s", f->input, f->why);
            *e = (err){0};
            ok = true;
        }
    }
    if (!ok) {
        f->state = FRAME_FAILED;
        f->why = e->msg;
        /* If access fails for another reason, reading has said what is wrong. */
        bool gone = access(f->input, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
        f->missing = e->code == ERR_NO_INPUT && !f->hopeless && gone;
    }
    return ok;
}
