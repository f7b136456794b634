#include "app/run/frame_work.h"

#include "app/run/provenance.h"
#include "app/run/targets.h"
#include "base/clock.h"
#include "base/half.h"
#include "base/log.h"

/* What a thread of its own gets ready while the pixels of a run's first frame are read: the kernel,
 * what follows from the image's size, and the engine. The frame meets its failures again. */
typedef struct {
    const frame_work *w;
    image_header head; /* as the image will be when it is bloomed */
    pthread_t thread;
    bool runs;
    queue_bloom *bloom; /* the thread's until it has ended; NULL after a failure */
} ahead;

static void *get_ready(void *arg) {
    ahead *a = arg;
    const frame_work *w = a->w;
    err ignored = {0};
    par_enter_beside(w->m->threads);
    a->bloom = device_queue_take(w->on, w->kernel, w->size, w->m->threads, &ignored);
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
    if (a->bloom) device_queue_give(a->w->on, a->bloom);
    a->bloom = NULL;
    image_header_free(&a->head);
}

/* Says what was done to the pixels, if that is more than bloom. */
static void log_way(const frame_work *w, const stages *after) {
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
static bool make_once(frame_work *w, bool hold, err *e) {
    frame_result *f = w->f;
    const double before = w->in.seconds;
    const rows_source file = stages_source(&w->in);
    const targets_wanted want = {w->files->emitted, w->files->before, (float)w->m->look.exposure};
    ahead beside = {.w = w};
    OWN(image) *img = NULL;
    OPEN(rows_image) held = {.img = NULL};
    OPEN(stages) after = {.s = w->s};
    targets to = {.o = NULL};
    *w->made = (bloom_report){0}; /* nothing of a run that failed */
    if (hold) start_ahead(&beside);
    bool ok = !hold || ((img = work_load(w, e)) && rows_image_open(&held, img, e));
    held.rest = &file;
    if (ok && provenance_is_in(w->in.head))
        log_say_once(LOG_NOTE, "an input was bloomed already (its attribute fftbloom:version says "
                               "so); it is bloomed again");
    queue_bloom *b = ok ? work_bloom(w, e) : NULL;
    const double start = clock_now(), loaded = w->in.seconds;
    ok = b && (stages_out_open(&after, &w->in, b->bloom, e) || work_blame(w, e)) &&
         (w->keep || targets_open(&to, &w->out, &w->in, &after, &want, f->input, e));
    if (ok) {
        const rows_sink files = w->keep ? held.out : targets_sink(&to);
        bloom_rows rows = {.in = hold ? held.in : file,
                           .out = stages_sink(&after, &files),
                           .marks = stages_marks(&w->in),
                           .mask = work_mask(w)};
        if (!hold) targets_memory(&rows.memory, &w->out, &w->in, after.head);
        ok = (bloom_run(b->bloom, &rows, w->made, e) || work_blame(w, e)) &&
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
    if (b) device_queue_give(w->on, b);
    if (ok && w->r) w->torn |= work_changed(w);
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
static bool make_some_way(frame_work *w, err *e) {
    const work_way way = work_fits(w, NULL, e);
    bool hold = way == WAY_HELD;
    while (way != WAY_NONE && !make_once(w, hold, e)) {
        err ignored = {0};
        bool memory = hold && !w->keep &&
                      ((w->f->alone && e->code == ERR_MEMORY) || e->code == ERR_LINES);
        if ((memory || w->beyond) && !w->r)
            w->r = image_open(w->files->input, &(image_limits){.called = w->f->input},
                              w->m->threads, &ignored);
        if ((!memory && !w->beyond) || !w->r) return false;
        if (memory) log_info("%s: it is made in tiles: %s", w->f->input, e->msg);
        *e = (err){0};
        w->in.from = w->r;
        w->torn = false;
        hold = hold && !memory;
    }
    return way != WAY_NONE;
}

/* Reads, blooms and writes. Frames that are under way at the same time share cores and device, and
 * the time that one waits for the others is counted in each. */
static bool make(frame_work *w, err *e) {
    frame_maker *m = w->m;
    frame_result *f = w->f;
    const settings *s = w->s;
    const bool ok = work_open(w, e) && make_some_way(w, e);
    if (ok && s->highlights > 0)
        report_note(w->made, "lights within 2 %% of white were raised by %g stops before the bloom",
                    s->highlights);
    if (ok) light_notes(w->in.head->format, s->input_space, w->made, m->told);
    frame_work_close(w);
    if (w->torn) {
        log_warn("%s changed while it was read; the result may be half old and half new", f->input);
        report_note(w->made, "the input changed while it was read");
    }
    err why = {0};
    if (ok && !w->torn && w->record && w->record->run->cache &&
        !record_write(w->record, &w->before, &w->before_mask, &why) &&
        !atomic_flag_test_and_set(&m->forgets))
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
    const bloom_settings *s = &m->run->s->bloom;
    job_files files = {.input = (char *)(uintptr_t)m->run->s->input,
                       .kernel = m->run->kernel->file,
                       .mask = s->mask_file ? (char *)(uintptr_t)s->mask : NULL};
    OPEN(device_pool) *devices = device_pool_open(m->threads, b.cache_dir, 0, e);
    frame_work w = {m, m->run->s, NULL, &on, &files, f, made, .keep = &img};
    *f = (frame_result){.input = files.input, .output = ""};
    *made = (bloom_report){0};
    device_queue_open(&on, &b, devices);
    if (devices) make(&w, e);
    device_queue_close(&on);
    return img;
}

image *frame_read(const settings *s, const char *input, par *threads, err *e) {
    OPEN(image_reader) *r = image_open(input, NULL, threads, e);
    OPEN(stages) in = {0};
    return r && stages_in_open(&in, r, s, threads, e) ? stages_load(&in, NULL, e) : NULL;
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
                        .input = files->called ? files->called : files->input,
                        .output = files->output,
                        .alone = f->alone};
    /* A kernel that cannot be read is refused where the frame is made, unless the input comes
     * first. */
    bool ok = true, kept = record_make(&rec, m->records, files, NULL);
    f->state = kept ? record_look(&rec, m->run->s->existing == EXISTING_UPDATE, &f->why)
                    : FRAME_DONE;
    if (f->state == FRAME_SKIPPED) {
        log_note("%s skipped: %s", f->input, f->why);
    } else if (f->state == FRAME_CURRENT) {
        record_use(&rec);
        log_info("%s: %s", f->output, f->why);
    } else {
        f->made = made;
        *made = (bloom_report){0};
        ok = make(&(frame_work){m, m->run->s, kept ? &rec : NULL, on, files, f, made, .keep = NULL},
                  e);
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
    }
    return ok;
}
