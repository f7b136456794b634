#include "app/run/frame.h"

#include "app/run/describe.h"
#include "app/run/emit.h"
#include "app/run/file_set.h"
#include "app/run/fits.h"
#include "app/run/output.h"
#include "app/run/targets.h"
#include "base/clock.h"
#include "base/half.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- blooms ---------------------------------------------------------------------------------- */

enum { UNUSED = 2 }; /* blooms that are kept though no frame uses them: two views take turns */

void device_queue_open(device_queue *q, const bloom_settings *s, device_pool *devices) {
    *q = (device_queue){.s = *s, .devices = devices};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->opened, NULL);
}

void device_queue_close(device_queue *q) {
    for (size_t i = 0; i < sizeof q->bloom / sizeof q->bloom[0]; i++) {
        bloom_close(&q->bloom[i].bloom);
        text_free(&q->bloom[i].recipe);
    }
    pthread_cond_destroy(&q->opened);
    pthread_mutex_destroy(&q->lock);
}

/* Finds the bloom of that recipe, or else an entry for it: an empty one, or that of a bloom which
 * no frame uses. There are more entries than frames under way. */
static queue_bloom *find_bloom(device_queue *q, const char *name) {
    queue_bloom *empty = NULL, *oldest = NULL;
    int unused = 0;
    for (size_t i = sizeof q->bloom / sizeof q->bloom[0]; i--;) {
        queue_bloom *b = &q->bloom[i];
        if ((b->bloom || b->opening) && strcmp(b->recipe.s, name) == 0) return b;
        if (b->users) continue;
        if (!b->bloom) empty = b;
        if (!b->bloom) continue;
        unused++;
        if (!oldest || b->last < oldest->last) oldest = b;
    }
    return empty && unused < UNUSED ? empty : oldest ? oldest : empty;
}

/* Opens the bloom of an entry that nobody else uses; gives the lock up meanwhile. */
static void open_entry(device_queue *q, queue_bloom *b, const recipe *r, err *e) {
    bloom_settings s = r->s->bloom;
    bloom *old = b->bloom;
    if (r->s->emit_file && !s.emit_layer) s.emit_layer = EMIT_LAYER;
    s.stored = colours_stored(r->s);
    s.device = q->s.device;
    s.slots = q->s.slots;
    s.images = q->s.images;
    s.half = q->s.half;
    b->bloom = NULL;
    b->opening = true;
    pthread_mutex_unlock(&q->lock);
    bloom_close(&old);
    bloom *made = bloom_open_on(&s, r->s->kernel, q->devices, e);
    pthread_mutex_lock(&q->lock);
    b->bloom = made;
    b->opening = false;
    pthread_cond_broadcast(&q->opened);
}

/* Takes the bloom of a recipe, which is opened unless it is there. */
static queue_bloom *take_bloom(device_queue *q, const recipe *r, const frame_maker *m, err *e) {
    text name = {0};
    recipe_name(r, m->recipes, &name);
    text_add(&name, "%s", "");
    pthread_mutex_lock(&q->lock);
    queue_bloom *b = find_bloom(q, name.s);
    bool opens = !b->opening && (!b->bloom || strcmp(b->recipe.s, name.s) != 0);
    b->users++;
    b->last = ++q->takes;
    if (opens) {
        text_free(&b->recipe);
        b->recipe = name;
        name = (text){0};
        open_entry(q, b, r, e);
    }
    par_rest(m->threads);
    while (b->opening) pthread_cond_wait(&q->opened, &q->lock);
    par_resume(m->threads);
    bool ok = b->bloom != NULL;
    b->users -= !ok;
    pthread_mutex_unlock(&q->lock);
    text_free(&name);
    /* It failed for another frame: this one finds out for itself why. */
    return ok ? b : opens ? NULL : take_bloom(q, r, m, e);
}

static void give_bloom(device_queue *q, queue_bloom *b) {
    pthread_mutex_lock(&q->lock);
    b->users--;
    pthread_mutex_unlock(&q->lock);
}

/* --- one frame ------------------------------------------------------------------------------- */

/* One frame at work. */
typedef struct {
    frame_maker *m;
    const recipe *how;
    device_queue *on;
    frame_result *f;
    bloom_report *made;
    const job_files *files;
} work;

/* Takes the bloom of the frame's recipe; NULL after a failure. */
static queue_bloom *open_bloom(const work *w, err *e) {
    queue_bloom *b = take_bloom(w->on, w->how, w->m, e);
    w->f->hopeless = !b && !w->m->recipes->vary;
    pthread_mutex_lock(&w->m->look);
    bool tells = b && !w->m->swapped; /* which explains all other faults */
    pthread_mutex_unlock(&w->m->look);
    if (tells) file_set_tell_faults(w->how->s->kernel, bloom_kernel_faults(b->bloom));
    return b;
}

/* An error of the kernel does not name the image. */
static void blame_input(const work *w, err *e) {
    if (strncmp(e->msg, "kernel", strlen("kernel")) != 0 && !strstr(e->msg, w->f->input))
        err_in(e, "%s", w->f->input);
}

/* What a thread of its own gets ready while the pixels of a run's first frame are read: the kernel,
 * what follows from the image's size, and the engine. Its failures do not count, since the frame
 * meets them again. */
typedef struct {
    const work *w;
    image_header head; /* as the image will be when it is bloomed */
    pthread_t thread;
    bool runs;
    queue_bloom *bloom;  /* the thread's until it has ended; NULL after a failure */
    bloom_expected made; /* likewise */
} ahead;

static void *get_ready(void *arg) {
    ahead *a = arg;
    const work *w = a->w;
    err ignored = {0};
    par_enter(w->m->threads, 0);
    a->bloom = take_bloom(w->on, w->how, w->m, &ignored);
    if (a->bloom) bloom_expect(a->bloom->bloom, &a->head, &a->made);
    par_leave(w->m->threads);
    return NULL;
}

/* The colours of a coded image are converted first, and its header says other things then. */
static void start_ahead(ahead *a, const image_header *h) {
    frame_maker *m = a->w->m;
    const settings *s = a->w->how->s;
    if (par_threads(m->threads) < 2 || s->input_space || atomic_flag_test_and_set(&m->begun))
        return;
    err ignored = {0};
    bool floats = s->pixels == PIXELS_FLOAT;
    a->runs = image_header_copy(&a->head, h, &ignored) &&
              (!floats || output_types(&a->head, s, PIXEL_HALF, PIXEL_FLOAT, &ignored)) &&
              pthread_create(&a->thread, NULL, get_ready, a) == 0;
}

/* Waits for the thread, if it runs. */
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

/* Blooms the image; *start is when the kernel was there. */
static bool bloom_it(const work *w, image *img, ahead *a, double *start, err *e) {
    queue_bloom *b = open_bloom(w, e);
    *start = clock_now();
    if (!b) return false;
    bool ok = bloom_image(b->bloom, img, w->made, e);
    end_ahead(a); /* bloom_image has waited for what it needs of it */
    w->made->spectrum_seconds += a->made.spectrum_seconds;
    w->made->spectrum_cached |= a->made.spectrum_cached;
    if (a->made.note[0]) report_note(w->made, "%s", a->made.note);
    give_bloom(w->on, b);
    if (!ok) blame_input(w, e);
    return ok;
}

/* What reading, blooming and writing have come to. */
typedef struct {
    double load, bloom, save; /* seconds */
    uint64_t clamped;         /* values */
    bool torn;                /* the input changed while it was read */
} step_account;

/* One frame, from its reader to its files. */
typedef struct {
    const work *w;
    const file_mark *before;
    output out;
    stages_in in;
    step_account *a;
} frame_way;

static bool has_changed(const work *w, const file_mark *before) {
    file_mark now = file_mark_of(w->f->input);
    return !file_mark_same(before, &now);
}

/* An input that the result replaces must still be the one that was read. */
static bool check_input(const work *w, const file_mark *before, err *e) {
    const frame_result *f = w->f;
    if (!w->how->s->in_place) return true;
    file_mark in = file_mark_of(f->input), out = file_mark_of(f->output);
    if (!file_mark_same(&in, &out) || file_mark_same(&in, before)) return true;
    return err_set(e, ERR_RETRY, "'%s' changed while it was bloomed; it is not replaced", f->input);
}

/* Says once in a run that an input has been bloomed before. */
static void note_stamp(const work *w, const image_header *h) {
    if (!output_is_stamped(h) || atomic_flag_test_and_set(&w->m->stamped)) return;
    log_note("%s was bloomed already (its attribute fftbloom:version says so); it is bloomed "
             "again",
             w->f->input);
}

/* Reads the channels that may change. Closes the reader where it is not needed any more. */
static image *load_image(frame_way *y, image_reader **r, err *e) {
    const image_header *h = &y->in.head;
    bool **wanted = mem_new((size_t)h->parts, sizeof *wanted, "parts", e);
    bool ok = wanted != NULL, all = !y->w->files->side[JOB_BEFORE];
    for (int i = 0; ok && i < h->parts; i++) {
        const image_part *p = &h->part[i];
        ok = (wanted[i] = output_channels(&y->out, p, e)) || err_in(e, "%s", y->w->f->input);
        if (!ok) break;
        bool some = memchr(wanted[i], true, (size_t)p->channels);
        all = all && !memchr(wanted[i], false, (size_t)p->channels);
        if (some) continue;
        mem_free(wanted[i]);
        wanted[i] = NULL;
    }
    image *img = ok ? stages_in_load(&y->in, wanted, e) : NULL;
    for (int i = 0; wanted && i < h->parts; i++) mem_free(wanted[i]);
    mem_free(wanted);
    if (img && all) {
        y->in.from = NULL;
        image_close(r);
    }
    return img;
}

/* Makes the files of a frame. `give` brings the rows, perhaps twice: first for the exposure that
 * suits a picture. */
typedef bool give_fn(void *ctx, targets *to, err *e);

static bool make_files(frame_way *y, const image_header *head, give_fn *give, void *ctx, err *e) {
    const work *w = y->w;
    targets to = {0};
    targets_wanted want = {w->files->side[JOB_EMITTED], w->files->side[JOB_BEFORE],
                           (float)w->how->s->exposure};
    bool ok = true;
    if (output_is_picture(y->out.path) && isnan(want.stops)) {
        ok = targets_look(&to, &y->out, &y->in, head, e) && give(ctx, &to, e) &&
             targets_end(&to, &want.stops, e);
        targets_close(&to);
    }
    ok = ok && targets_open(&to, &y->out, &y->in, head, &want, w->f->input, e) &&
         give(ctx, &to, e) && targets_end(&to, &want.stops, e) && check_input(w, y->before, e) &&
         targets_commit(&to, e);
    y->a->save += to.seconds;
    targets_close(&to);
    return ok;
}

static bool give_image(void *ctx, targets *to, err *e) {
    return targets_write_image(to, ctx, e);
}

/* Holds the run's first image against the kernel; frames beside it wait for what is found. */
static void look_once(frame_maker *m, const settings *s, const image *img) {
    pthread_mutex_lock(&m->look);
    if (!m->looked) m->swapped = file_set_warn_swapped(s, img, m->threads);
    m->looked = true;
    pthread_mutex_unlock(&m->look);
}

/* Makes a frame from an image in memory. */
static bool make_whole(frame_way *y, image_reader **r, err *e) {
    const work *w = y->w;
    frame_maker *m = w->m;
    const settings *s = w->how->s;
    double start = clock_now(), begun = start;
    ahead beside = {.w = w};
    start_ahead(&beside, image_reader_header(*r));
    image *img = load_image(y, r, e);
    y->a->torn = img && has_changed(w, y->before);
    if (img) look_once(m, s, img);
    if (img) note_stamp(w, &img->head);
    y->a->load = clock_now() - start;
    bool ok =
        img && bloom_it(w, img, &beside, &begun, e) &&
        (stages_out_image(img, s, &y->a->clamped, m->threads, e) || err_in(e, "%s", w->f->input));
    double bloomed = clock_now();
    y->a->bloom = bloomed - begun;
    end_ahead(&beside);
    ok = ok && make_files(y, &img->head, give_image, img, e);
    if (ok && *r && !s->in_place) /* what stayed in the file was read just now */
        y->a->torn = y->a->torn || has_changed(w, y->before);
    y->a->save = clock_now() - bloomed;
    image_free(&img);
    return ok;
}

/* A frame that bloom makes tile by tile. */
typedef struct {
    frame_way *y;
    const bloom *bloom;
    bool floats; /* the result is made in floats */
    stages_out out;
    targets *to;
} tiled_frame;

static uint32_t step_of(void *ctx, int part) {
    return targets_step(((const tiled_frame *)ctx)->to, part);
}
static bool write_band(void *ctx, int part, const rows_band *b, err *e) {
    tiled_frame *t = ctx;
    return stages_out_rows(&t->out, part, b, e) && targets_write(t->to, part, b, e);
}
static bool copy_part(void *ctx, int part, bool *done, err *e) {
    return targets_copy(((const tiled_frame *)ctx)->to, part, done, e);
}

static bool give_tiles(void *ctx, targets *to, err *e) {
    tiled_frame *t = ctx;
    frame_way *y = t->y;
    t->to = to;
    bloom_rows rows = {.in = stages_in_rows(&y->in),
                       .out = {.ctx = t, .step = step_of, .write = write_band, .copy = copy_part},
                       .floats = t->floats};
    targets_memory(&rows.memory, &y->out, &y->in, &t->out.head);
    return bloom_run(t->bloom, &rows, y->w->made, e);
}

/* Makes a frame tile by tile, in floats or in the types that are asked for. */
static bool make_in_tiles(frame_way *y, bool floats, err *e) {
    const work *w = y->w;
    image_header made = {0};
    queue_bloom *b = open_bloom(w, e);
    tiled_frame t = {.y = y, .bloom = b ? b->bloom : NULL, .floats = floats};
    double start = clock_now(), read = y->in.seconds;
    note_stamp(w, &y->in.head);
    bool ok = b && image_header_copy(&made, &y->in.head, e) &&
              bloom_header(t.bloom, &made, floats, e) &&
              stages_out_open(&t.out, &made, floats, w->how->s, w->m->threads, e) &&
              make_files(y, &t.out.head, give_tiles, &t, e);
    if (ok && floats)
        report_note(w->made, "there are values beyond 65504: all colour is written as float");
    if (b && !ok) blame_input(w, e);
    if (b) give_bloom(w->on, b);
    y->a->clamped = t.out.clamped;
    y->a->torn = ok && !w->how->s->in_place && has_changed(w, y->before);
    y->a->load = y->in.seconds - read;
    y->a->bloom = clock_now() - start - y->a->load - y->a->save;
    stages_out_close(&t.out);
    image_header_free(&made);
    return ok;
}

/* The ways to make a frame. The next one is taken where the one before cannot do it. */
typedef enum { WHOLE, IN_TILES, IN_TILES_OF_FLOATS } frame_manner;

/* Chooses the way to begin with. Most images fit, which is told without the kernel. */
static bool choose_manner(frame_manner *how, const frame_way *y, err *e) {
    *how = WHOLE;
    if (!y->w->f->alone || fits_surely(&y->out, y->in.from)) return true;
    queue_bloom *b = open_bloom(y->w, e);
    mem_plan need;
    if (!b) return false;
    if (!fits(&need, &y->out, y->in.from, b->bloom)) *how = IN_TILES;
    give_bloom(y->w->on, b);
    return true;
}

/* Begins a frame again that cannot be made as it was tried: there was no memory for the whole, or
 * values beyond halfs ask for floats. Returns false where there is no other way. */
static bool begin_again(frame_manner *how, frame_way *y, image_reader **r, err *e) {
    const work *w = y->w;
    bool memory = *how == WHOLE && w->f->alone && e->code == ERR_MEMORY;
    if (!memory && !(*how == IN_TILES && w->made->beyond)) return false;
    err ignored = {0};
    if (!*r) *r = image_open(w->f->input, NULL, w->m->threads, &ignored);
    if (!*r) return false;
    if (memory) log_info("%s: it is made in tiles: %s", w->f->input, e->msg);
    *e = (err){0};
    *w->made = (bloom_report){0};
    *y->a = (step_account){0};
    y->in.from = *r;
    ++*how;
    return true;
}

static bool make_way(frame_way *y, image_reader **r, err *e) {
    frame_manner how;
    bool ok = choose_manner(&how, y, e);
    if (!ok) return false;
    do ok = how == WHOLE ? make_whole(y, r, e) : make_in_tiles(y, how == IN_TILES_OF_FLOATS, e);
    while (!ok && begin_again(&how, y, r, e));
    return ok;
}

/* Reads, blooms and writes. Frames that are under way at the same time share cores and device, and
 * the time that one waits for the others is counted in each. */
static bool make(const work *w, err *e) {
    frame_maker *m = w->m;
    frame_result *f = w->f;
    const settings *s = w->how->s;
    step_account a = {0};
    file_mark before = file_mark_of(f->input);
    image_reader *r = image_open(f->input, NULL, m->threads, e);
    frame_way y = {w, &before, {f->output, s, m->threads, m->screen}, {0}, &a};
    bool ok = r != NULL;
    if (r) {
        const image_box *b = &image_reader_header(r)->part[0].display;
        f->size[0] = (uint32_t)(b->x1 - b->x0) + 1;
        f->size[1] = (uint32_t)(b->y1 - b->y0) + 1;
        ok = stages_in_open(&y.in, r, s, m->threads, e) && make_way(&y, &r, e);
    }
    stages_in_close(&y.in);
    image_close(&r);
    if (a.torn) {
        log_warn("%s changed while it was read; the result may be half old and half new", f->input);
        report_note(w->made, "the input changed while it was read");
    }
    if (!ok) return false;
    if (a.clamped)
        report_note(w->made, "%llu values beyond %g were clamped to it",
                    (unsigned long long)a.clamped, HALF_MAX);
    f->load = a.load;
    f->bloom = a.bloom;
    f->save = a.save;
    err why = {0};
    if (!a.torn && w->how->stamped && !stamp_write(&w->how->stamp, &before, &why) &&
        !atomic_flag_test_and_set(&m->forgets))
        log_say(
            s->update ? LOG_WARN : LOG_INFO,
            "'%s', and perhaps other frames, will be made again by the next --existing update: %s",
            f->output, why.msg);
    return true;
}

/* Says what became of a frame, also of one that failed. */
static void log_frame(const frame_result *f, bool ok) {
    const bloom_report *m = f->made;
    text line = {0};
    if (ok) {
        text_add(&line, "%s -> %s: ", f->input, f->output);
        if (m->tiles.channels) {
            describe_tiles(&m->tiles, &line);
            text_add(&line, "; each ");
        }
        if (m->groups) {
            describe_plan_line(&m->plan, &line);
            text_add(&line, ", on %s; ", m->device.name);
        }
        log_info("%sload %.3f s, bloom %.3f s, save %.3f s", line.s, f->load, f->bloom, f->save);
    }
    for (uint32_t i = 0; i < m->notes; i++) log_info("%s: %s", f->input, m->note[i]);
    text_free(&line);
    if (!m->verified.found.pixels) return;
    describe_verified(m, &line);
    log_info("%s: %s", f->input, line.s);
    text_free(&line);
}

/* Returns true if the file does not exist. If stat fails for another reason, the file is taken to
 * be there: reading it will say what is wrong. */
static bool is_missing(const char *input) {
    struct stat st;
    return stat(input, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

frame_state frame_look(const recipe *r, const job_files *f, const char **why) {
    bool all = true;
    for (int k = 0; k < JOB_SIDES; k++) all &= !f->side[k] || access(f->side[k], F_OK) == 0;
    if (r->s->update && r->stamped && all && stamp_is_current(&r->stamp)) {
        *why = "the output is up to date";
        return FRAME_CURRENT;
    }
    if (!r->s->clobber && access(f->output, F_OK) == 0) {
        *why = "the output exists";
        return FRAME_SKIPPED;
    }
    return FRAME_DONE;
}

bool frame_make(frame_maker *m, device_queue *on, const job_files *files, frame_result *f,
                bloom_report *made, err *e) {
    recipe how;
    *f = (frame_result){.number = files->number,
                        .view = files->view,
                        .input = files->input,
                        .output = files->output,
                        .alone = f->alone};
    bool ok = recipe_make(&how, m->recipes, files, e);
    if (ok) f->state = frame_look(&how, files, &f->why);
    if (!ok) {
        f->state = FRAME_FAILED;
    } else if (f->state == FRAME_SKIPPED) {
        log_note("%s skipped: %s", f->input, f->why);
    } else if (f->state == FRAME_CURRENT) {
        stamp_use(&how.stamp);
        log_info("%s: %s", f->output, f->why);
    } else {
        f->made = made;
        ok = make(&(work){m, &how, on, f, made, files}, e);
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
        f->missing = e->code == ERR_NO_INPUT && !f->hopeless && is_missing(f->input);
    }
    recipe_free(&how);
    return ok;
}
