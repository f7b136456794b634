#include "app/run/sequence.h"

#include "app/run/fits.h"
#include "app/run/output.h"
#include "app/run/stages.h"
#include "base/log.h"

#include <unistd.h>

/* One of several failures, with its place in the job. */
typedef struct {
    bool there; /* the rest is valid */
    size_t at;  /* the frame */
    err why;
} failure;

/* A job under way. A worker is a thread that sees one frame after the other through; every worker
 * belongs to one device, whose queue it waits in. */
typedef struct {
    /* Set before the workers start, then only read; a queue has a lock of its own. */
    frame_maker *maker;
    const settings *s;
    uint32_t workers; /* frames under way on each device */
    const job_source *from;
    device_pool *devices;
    device_queue queue[ENGINE_DEVICES];
    char name[ENGINE_DEVICES][16]; /* of the queues' devices: indices */
    int queues;

    /* Guards all that follows. No frame is made while it is held. */
    pthread_mutex_t lock;
    pthread_cond_t done; /* signalled when a frame is done or waits to be made alone */
    size_t under_way;    /* frames */
    size_t crowded;      /* frames that wait to be made alone, or are being made: no other begins */
    progress *told;
    report *report;
    size_t next;                 /* the frame to be taken next */
    bool ended;                  /* there are no more frames than were taken */
    double pace[ENGINE_DEVICES]; /* seconds a frame takes on each device, 0: not known yet */
    failure stop;                /* no frame is begun after it */
    failure worst;    /* with --keep-going: the worst of the others, but for missing inputs */
    uint32_t size[2]; /* of the first frame that was read; zeros: none yet */
    int sized;        /* its number */
    bool resized;     /* another frame has another size, and that was said */
} sequence;

typedef struct {
    sequence *q;
    int queue;
    bool first; /* of its queue: begins with the frame of the same number */
    pthread_t thread;
    bloom_report made; /* of the frame at hand */
} worker;

/* Engines that are kept while no frame uses them: frames take turns between methods. */
enum { IDLE = 4 };
/* As many frames are expected of a stream. */
enum { VIDEO = 1000 };

/* --- which devices ------------------------------------------------------------------------- */

/* Returns the image that stands for all of them: the first that is there, and its files. */
static image_reader *any_image(const sequence *q, job_files *f) {
    const job_source *from = q->from;
    for (size_t i = 0; i < from->count && from->next(from->ctx, i, f, NULL); i++) {
        image_reader *found = image_open(f->input, NULL, q->maker->threads, NULL);
        if (found) return found;
        job_files_free(f);
    }
    return NULL;
}

/* Devices that are opened at the same time. */
typedef struct {
    device_pool *devices;
    const bloom_forecasts *f;
    bool ok[ENGINE_DEVICES];
    err why[ENGINE_DEVICES];
} starting;

static bool start_device(void *ctx, size_t i, int who, err *e) {
    starting *s = ctx;
    const device_forecast *forecast = &s->f->each[i];
    (void)who, (void)e;
    s->ok[i] = forecast->wanted && forecast->possible &&
               device_pool_start(s->devices, &s->f->device[i], &s->why[i]);
    return true;
}

/* Makes a queue for each device that can do the work, or none where that is unknown: the run itself
 * will then say what is wrong. */
static void queue_all(sequence *q, const bloom_settings *s, image_reader *r, const char *kernel) {
    err ignored = {0};
    OPEN(bloom) *b = r ? bloom_open_on(s, kernel, NULL, q->devices, &ignored) : NULL;
    OWN_MEM device_forecast *each = b ? mem_new(ENGINE_DEVICES, sizeof *each, "forecasts", NULL)
                                      : NULL;
    bloom_forecasts f = {.each = each};
    if (f.each && bloom_forecast(b, image_reader_header(r), s->precision, &f, &ignored) < 0)
        f.devices = 0;
    starting starts = {.devices = q->devices, .f = &f};
    par_for(q->maker->threads, f.devices, start_device, &starts, NULL);
    for (uint32_t i = 0; i < f.devices; i++) {
        bloom_settings own = *s;
        if (starts.why[i].code)
            log_note("device '%s' is not used: %s", f.device[i].name, starts.why[i].msg);
        if (!starts.ok[i]) continue;
        snprintf(q->name[q->queues], sizeof q->name[0], "%u", i);
        own.device = q->name[q->queues];
        device_queue_open(&q->queue[q->queues++], &own, q->devices);
    }
}

static bool make_queues(sequence *q, err *e) {
    bloom_settings s = stages_bloom(q->maker->run);
    size_t frames = q->from->count;
    bool beside = frames > 1 && !q->from->alone;
    OWN(job_files) f = {0};
    image_reader *r = beside ? any_image(q, &f) : NULL;
    const output to = {.path = q->s->output, .run = q->maker->run, .threads = q->maker->threads};
    q->workers = r ? fits_at_a_time(&to, image_reader_header(r), frames) : 1;
    q->devices = device_pool_open(q->maker->threads, s.cache_dir, q->workers > 1 ? IDLE : 0, e);
    /* Frames with kernels of their own have engines of their own. */
    s.slots = q->from->kernels ? 1 : q->workers;
    s.images = frames == SIZE_MAX ? VIDEO : frames > UINT32_MAX ? UINT32_MAX : (uint32_t)frames;
    bool several = beside && device_are_several(s.device);
    if (q->devices && several) queue_all(q, &s, r, f.kernel);
    image_reader_close(&r);
    if (!q->queues) device_queue_open(&q->queue[q->queues++], &s, q->devices);
    return q->devices != NULL;
}

/* --- who does what ------------------------------------------------------------------------- */

static bool is_over(const sequence *q) {
    return q->stop.there || q->ended || q->next >= q->from->count;
}

bool sequence_leaves(const sequence_paces *p, int device) {
    const double mine = p->seconds[device];
    double rate = 0; /* frames per second of faster devices */
    for (int i = 0; i < p->devices; i++)
        if (p->seconds[i] > 0 && p->seconds[i] < mine) rate += p->at_a_time / p->seconds[i];
    return mine * rate > (double)p->left;
}

/* Returns true while this worker must leave the next frame to others. */
static bool must_wait(const worker *w) {
    const sequence *q = w->q;
    const sequence_paces p = {q->pace, q->queues, q->workers, q->from->count - q->next};
    /* Each of several devices has to show its pace with one frame before it gets frames in advance.
     */
    return q->crowded || (q->queues > 1 && !w->first && q->pace[w->queue] == 0) ||
           sequence_leaves(&p, w->queue);
}

/* Begins the next frame, or the one at *index. Returns false when none is left. */
static bool take(worker *w, bool dealt, size_t *index) {
    sequence *q = w->q;
    pthread_mutex_lock(&q->lock);
    while (dealt ? q->crowded > 0 : !is_over(q) && must_wait(w))
        pthread_cond_wait(&q->done, &q->lock);
    bool mine = dealt || !is_over(q);
    if (mine && !dealt) *index = q->next++;
    q->under_way += mine;
    pthread_mutex_unlock(&q->lock);
    return mine;
}

/* Makes a frame; finds its files if that has failed before for want of memory. */
static bool make_frame(worker *w, size_t index, job_files *files, frame_result *f, err *e) {
    sequence *q = w->q;
    uint64_t age = f->alone ? 0 : index;
    if (!files->input && !q->from->next(q->from->ctx, index, files, e)) {
        f->why = e->msg;
        return false;
    }
    par_enter(q->maker->threads, age);
    bool ok = frame_make(q->maker, &q->queue[w->queue], files, f, &w->made, e);
    par_leave(q->maker->threads);
    return ok;
}

/* Makes a frame again that had no memory (crowded), or no device, beside the others: when these are
 * done, and before a new one begins. */
static void make_alone(worker *w, size_t index, bool crowded, job_files *files, frame_result *f,
                       err *e) {
    sequence *q = w->q;
    pthread_mutex_lock(&q->lock);
    q->crowded++;
    q->under_way--;
    pthread_cond_broadcast(&q->done);
    while (q->under_way) pthread_cond_wait(&q->done, &q->lock);
    q->under_way++;
    pthread_mutex_unlock(&q->lock);
    device_pool_trim(q->devices);
    log_info("%s: made again%s: %s", *f->input ? f->input : "a frame",
             crowded ? " without other frames beside it" : "", e->msg);
    *e = (err){0};
    f->alone = true;
    make_frame(w, index, files, f, e);
    pthread_mutex_lock(&q->lock);
    q->crowded--;
    pthread_mutex_unlock(&q->lock);
}

static void keep_first(failure *f, size_t index, const err *why) {
    if (!f->there || index < f->at) *f = (failure){true, index, *why};
}

/* Returns how bad a failure is: one after which the same command may succeed is the least. */
static int badness(err_code code) {
    return code == ERR_INTERNAL ? 2 : err_status(code) != ERR_RETRY;
}

/* Says once that the frames of a sequence have different sizes. */
static void compare_size(sequence *q, const frame_result *f) {
    if (!f->size[0] || !f->number || q->resized) return;
    if (!q->size[0]) {
        memcpy(q->size, f->size, sizeof q->size);
        q->sized = *f->number;
    }
    q->resized = memcmp(q->size, f->size, sizeof q->size) != 0;
    if (q->resized)
        log_note("the frame size changes: frame %d is %u x %u, frame %d is %u x %u%s", q->sized,
                 q->size[0], q->size[1], *f->number, f->size[0], f->size[1],
                 q->s->bloom.kernel_relative || q->maker->run->kernel->follows
                     ? ""
                     : "; the kernel keeps its size in pixels, unless --kernel-scale gives it in "
                       "image heights (0.5h)");
}

static void do_frame(worker *w, size_t index) {
    sequence *q = w->q;
    frame_result f = {.state = FRAME_FAILED, .input = "", .output = ""};
    err e = {0};
    OWN(job_files) files = {0};
    f.alone = q->workers * (uint32_t)q->queues == 1;
    if (!make_frame(w, index, &files, &f, &e) && err_status(e.code) == ERR_RETRY && !f.alone)
        make_alone(w, index, e.code == ERR_MEMORY, &files, &f, &e);
    bool failed = f.state == FRAME_FAILED,
         goes_on = q->s->keep_going && !q->from->alone && !f.hopeless;
    pthread_mutex_lock(&q->lock);
    if (failed && !e.code) { /* there was none */
        q->ended = true;
        q->under_way--;
        pthread_cond_broadcast(&q->done);
        pthread_mutex_unlock(&q->lock);
        return;
    }
    report_add(q->report, index, &f);
    if (failed && goes_on) log_error("%s", e.msg);
    if (failed && goes_on && !f.missing) {
        int more = q->worst.there ? badness(e.code) - badness(q->worst.why.code) : 1;
        if (more > 0) q->worst.there = false;
        if (more >= 0) keep_first(&q->worst, index, &e);
    }
    if (failed && !goes_on) keep_first(&q->stop, index, &e);
    compare_size(q, &f);
    if (q->told)
        progress_step(q->told, &(progress_event){.what = f.output,
                                                 .state = REPORT_STATE[f.state],
                                                 .frame = f.number,
                                                 .worked = f.state == FRAME_DONE,
                                                 .failed = failed});
    if (f.state == FRAME_DONE) q->pace[w->queue] = f.bloom;
    q->under_way--;
    pthread_cond_broadcast(&q->done);
    pthread_mutex_unlock(&q->lock);
}

static void *worker_main(void *arg) {
    worker *w = arg;
    size_t index = (size_t)w->queue;
    for (bool dealt = w->first; take(w, dealt, &index); dealt = false) do_frame(w, index);
    return NULL;
}

/* Runs the workers and waits. The caller's thread works, too, for those that get no thread. */
static bool run_workers(sequence *q, err *e) {
    size_t frames = q->from->count, count = 0, started = 0, queues = (size_t)q->queues;
    size_t each = q->workers;
    OWN_MEM worker *workers = mem_new(each * queues, sizeof *workers, "the frames under way", e);
    if (!workers) return false;
    for (; count < each * queues && count < frames; count++)
        workers[count] = (worker){.q = q, .queue = (int)(count % queues), .first = count < queues};
    q->next = count < queues ? count : queues;
    while (started + 1 < count &&
           pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]) == 0)
        started++;
    for (size_t i = started; i < count; i++) worker_main(&workers[i]);
    for (size_t i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
    return true;
}

bool sequence_run(frame_maker *m, const job_source *from, progress *told, report *r, err *e) {
    OWN_MEM sequence *q = mem_new(1, sizeof *q, "the devices of a sequence", e);
    if (!q) return false;
    *q = (sequence){.maker = m, .s = m->run->s, .from = from, .told = told, .report = r};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->done, NULL);
    bool ok = make_queues(q, e);
    const int64_t keep = ok && (q->workers > 1 || from->alone) ? (int64_t)(mem_left() / 4) : 0;
    mem_keep(keep);
    ok = ok && run_workers(q, e) && !q->stop.there;
    if (q->stop.there) *e = q->stop.why;
    if (q->worst.there) r->failure = q->worst.why;
    if (told) progress_close(told);
    if (told && (!ok || q->worst.there)) progress_fail(told, ok ? r->failure.msg : e->msg);
    mem_keep(-keep);
    for (int i = 0; i < q->queues; i++) device_queue_close(&q->queue[i]);
    device_pool_close(&q->devices);
    pthread_cond_destroy(&q->done);
    pthread_mutex_destroy(&q->lock);
    return ok;
}

/* --- what would be made ---------------------------------------------------------------------- */

typedef struct {
    const frame_maker *m;
    size_t count[FRAME_STATES]; /* FRAME_DONE: would be made; FRAME_FAILED: the input is missing */
    text missing;               /* the first input that is not there */
    text lines;
    json_out json; /* into `lines`, where --json is given */
} listing;

static void listing_free(listing *l) {
    text_free(&l->lines);
    text_free(&l->missing);
}

static void list_frame(listing *l, const frame_result *f) {
    static const char *const STATE[FRAME_STATES] = {"to do", "current", "skipped", "missing"};
    if (l->m->run->s->json) {
        json_object(&l->json, NULL);
        report_frame_json(&l->json, f, STATE[f->state]);
        json_close(&l->json);
        return;
    }
    text_add_clean(&l->lines, f->input);
    text_add(&l->lines, " -> ");
    text_add_clean(&l->lines, f->output);
    if (f->why) text_add(&l->lines, ": %s%s", f->state == FRAME_SKIPPED ? "skipped, " : "", f->why);
    text_add(&l->lines, "\n");
}

static bool look_at(listing *l, const job *j, size_t index, err *e) {
    OWN(job_files) files = {0};
    record rec;
    if (!job_frame(j, index, &files, e) || !record_make(&rec, l->m->records, &files, e))
        return false;
    frame_result f = {
        .number = files.number, .view = files.view, .input = files.input, .output = files.output};
    f.state = record_look(&rec, l->m->run->s->existing == EXISTING_UPDATE, &f.why);
    if (f.state == FRAME_DONE && access(f.input, F_OK) != 0) {
        f.state = FRAME_FAILED;
        f.why = "the input cannot be found";
        if (!l->missing.n) text_add(&l->missing, "%s", f.input);
    }
    list_frame(l, &f);
    l->count[f.state]++;
    return true;
}

bool sequence_list(const frame_maker *m, const job *j, text *to, err *e) {
    static const char *const KEY[FRAME_STATES] = {"to_do", "current", "skipped", "missing"};
    OWN(listing) l = {.m = m};
    json_out *out = &l.json;
    bool json = m->run->s->json, ok = true;
    if (json) {
        *out = json_begin(&l.lines);
        json_string(out, "program", "fftbloom " VERSION);
        json_bool(out, "dry_run", true);
        json_list(out, "frames");
    }
    for (size_t i = 0; ok && i < job_count(j); i++) ok = look_at(&l, j, i, e);
    l.count[FRAME_FAILED] += j->left_out;
    if (json) {
        json_close(out);
        for (int i = 0; i < FRAME_STATES; i++) json_uint(out, KEY[i], l.count[i]);
        json_end(out);
    } else if (ok) {
        text_add(&l.lines, "%zu of %zu frames would be made, %zu are up to date, %zu skipped\n",
                 l.count[FRAME_DONE], job_count(j) + j->left_out, l.count[FRAME_CURRENT],
                 l.count[FRAME_SKIPPED]);
    }
    if (ok && l.missing.n && !m->run->s->keep_going)
        ok = err_set(e, ERR_NO_INPUT, "%zu input%s cannot be found, the first is '%s'",
                     l.count[FRAME_FAILED], l.count[FRAME_FAILED] == 1 ? "" : "s", l.missing.s);
    if (!json || ok || l.missing.n) text_add(to, "%s", l.lines.s ? l.lines.s : "");
    return ok;
}
