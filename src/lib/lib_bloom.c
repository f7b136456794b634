#include "base/clock.h"
#include "base/log.h"
#include "lib/lib.h"

/* --- an image as it comes --------------------------------------------------------------------- */

static bool is_in_place(const fb_image *pixels) {
    return !memcmp(pixels->in, pixels->out, pixels->channels * sizeof *pixels->in);
}

bool lib_image(fb_image *to, const fb_image *from, bool writes, err *e) {
    enum { FAR = 1 << 20 }; /* pixels */
    const fb_image *pixels = to;
    if (!lib_struct(to, sizeof *to, offsetof(fb_image, mask), from, "fb_image", e)) return false;
    if (pixels->width < 1 || pixels->height < 1 || pixels->width > IMAGE_SIDE ||
        pixels->height > IMAGE_SIDE)
        return err_set(e, ERR_USAGE, "an image has 1 to %d pixels a side, not %u x %u", IMAGE_SIDE,
                       pixels->width, pixels->height);
    if (pixels->channels != 1 && pixels->channels != 3 && pixels->channels != 4)
        return err_set(e, ERR_USAGE,
                       "an image has 1, 3 or 4 channels, not %u; bloom others one by one",
                       pixels->channels);
    if (!(pixels->pixel_aspect >= 0 && pixels->pixel_aspect <= 100))
        return err_set(e, ERR_USAGE, "pixel_aspect is %g; it can be 0 to 100",
                       pixels->pixel_aspect);
    const int32_t *frame = pixels->frame;
    bool placed = false, possible = true;
    for (int i = 0; i < 4; i++) placed |= frame[i] != 0;
    for (int i = 0; i < 2; i++)
        possible &= frame[i] > -FAR && frame[i] < FAR && frame[2 + i] >= 1 && frame[2 + i] <= FAR;
    if (placed && !possible)
        return err_set(e, ERR_USAGE,
                       "frame is %d, %d, %d, %d: its left and top can be less than %d from the "
                       "image's, its width and height 1 to %d; or all are 0",
                       frame[0], frame[1], frame[2], frame[3], FAR, FAR);
    if (!writes && (pixels->pixel_aspect > 0 || pixels->space))
        return err_set(e, ERR_USAGE, "pixel_aspect and space must be 0 where a gradient is made");
    const struct {
        const char *name;
        const fb_plane *plane;
        uint32_t n;
        bool needed, out;
    } SET[] = {{"in", pixels->in, pixels->channels, true, false},
               {"mask", pixels->mask, 1, false, false},
               {"out", pixels->out, pixels->channels, true, writes},
               {"emit", pixels->emit, pixels->channels, false, true}};
    for (int i = 0; i < 4; i++)
        if ((SET[i].needed || SET[i].plane) &&
            !lib_planes_check(SET[i].plane, pixels->width, pixels->height, SET[i].n, SET[i].out,
                              SET[i].name, e))
            return false;
    /* What is written lies over nothing of the image, but for `out` that is `in`. */
    for (int i = 2; writes && i < 4; i++)
        for (int k = 0; SET[i].plane && k < i; k++)
            if (SET[k].plane && !(k == 0 && i == 2 && is_in_place(pixels)) &&
                lib_planes_touch(SET[i].plane, SET[i].n, SET[k].plane, SET[k].n, pixels->width,
                                 pixels->height))
                return err_set(e, ERR_USAGE, "`%s` lies over `%s`%s", SET[i].name, SET[k].name,
                               k == 0 && i == 2 ? "; it may be the same planes, or others" : "");
    return true;
}

static void fill_report(fb_report *to, const lib_job *j, const bloom_report *r, double seconds) {
    const accuracy *m = &r->sum.promise.method;
    const double unit = lib_unit(j, r->sum.promise.channel);
    fb_report own = {.size = to->size,
                     .kept = (!r->groups && !(j->digits > 0)) || m->kept,
                     .error = unit * (m->floor + (j->digits > 0 ? m->rounded : 0)),
                     .allowed = unit * m->allowed,
                     .bad_pixels = r->sum.bad,
                     .clamped = j->over,
                     .seconds = seconds,
                     .attempts = r->sum.promise.attempts,
                     .precision = m->precision == PRECISION_FLOAT64 ? FB_PRECISION_FLOAT64
                                                                    : FB_PRECISION_FLOAT32};
    for (int i = 0; i < PLAN_AXES; i++)
        own.lengths[i] = r->sum.plan.axis[r->sum.plan.first == PLAN_X ? i : 1 - i].length;
    if (own.lengths[0])
        own.tiles = r->sum.tiles.channels ? r->sum.tiles.count[0] * r->sum.tiles.count[1] : 1;
    for (uint32_t i = 0; i < r->ledger_rows; i++) {
        const double of = lib_unit(j, r->ledger[i].channel);
        own.energy_in += of * r->ledger[i].in;
        own.energy_out += of * r->ledger[i].out;
        own.clamped += r->ledger[i].overflow_pixels;
    }
    const bool beyond = !isfinite(own.energy_out); /* doubles of the caller end at 1.8e308 */
    if (beyond) own.kept = 0;
    if (r->sum.solved.steps) {
        const int c = image_find_channel(&j->head.part[0], r->sum.solved.channel);
        own.steps = r->sum.solved.steps;
        own.worst_x = (uint32_t)r->sum.solved.x, own.worst_y = (uint32_t)r->sum.solved.y;
        own.worst_channel = c < 0 ? 0 : j->index[c];
    }
    snprintf(own.device, sizeof own.device, "%.127s", r->sum.device.name);
    snprintf(own.note, sizeof own.note, "%.255s",
             beyond     ? "the result, or its sum, is beyond the range of doubles"
             : r->notes ? r->note[0]
                        : "");
    *to = own;
}

/* Says what there is to say of the caller's pixels; what the bloom could not, where its pixels were
 * not these. told: NULL: nothing of light. */
static void say(const lib_job *j, bloom_report *r, light_told *told) {
    const bloom_promise *promise = &r->sum.promise;
    const double unit = lib_unit(j, promise->channel);
    if (j->far && r->groups && !promise->method.kept)
        log_warn(
            "channel '%s': the tolerance of %g is not kept: errors up to %.2g, and %.2g allowed",
            promise->channel, promise->tolerance, unit * promise->method.floor,
            unit * promise->method.allowed);
    for (ledger_row *row = r->ledger; told && row < r->ledger + r->ledger_rows; row++) {
        row->lowest *= lib_unit(j, row->channel);
        row->highest *= lib_unit(j, row->channel);
    }
    if (told) light_notes("", NULL, r, told);
}

/* Returns whether the budget has room for the image in one piece. */
static bool fits(const lib_job *j, const bloom *b) {
    enum { SMALL = 32, WIDE = 3 }; /* doubles, and what floats lose */
    mem_plan need = {0};
    mem_plan_add(&need, "image", image_bytes(&j->head.part[0]));
    if (j->wide) mem_plan_add(&need, "doubles", WIDE * image_bytes(&j->head.part[0]));
    if (need.bytes <= mem_limit() / SMALL) return true;
    bloom_memory(b, &j->head, &need);
    return need.bytes <= mem_limit();
}

static bool bloom_it(lib_job *j, fb_session *s, bloom_report *r, err *e) {
    const bloom *b = lib_bloom(s, j->way, e);
    if (!b) return false;
    if (fits(j, b)) { /* a copy of the pixels */
        lib_pair p;
        bool ok = lib_pair_make(&p, j, &j->head, false, e) && lib_pair_read(&p, j, e);
        if (ok && !j->far)
            light_notes_codes(p.img, NULL, NULL, "decode it; lights above 1 are missing in it",
                              &s->told);
        ok = ok && lib_pair_bloom(&p, b, r, e) && lib_pair_write(&p, j, e);
        lib_pair_free(&p);
        if (ok || e->code != ERR_LINES || j->wide || is_in_place(j->pixels)) return ok;
        *e = (err){0};
    }
    if (j->wide)
        return err_set(e, ERR_MEMORY,
                       "the image of %u x %u pixels in doubles needs more than the budget; planes "
                       "of floats are bloomed in tiles",
                       j->pixels->width, j->pixels->height);
    if (is_in_place(j->pixels))
        return err_set(e, ERR_MEMORY,
                       "the image of %u x %u pixels needs more than the budget and is bloomed in "
                       "tiles, for which `out` must not be `in`",
                       j->pixels->width, j->pixels->height);
    return lib_run_rows(j, b, r, e);
}

/* What is done to an image, and in which of the ways. */
typedef struct {
    bool (*make)(lib_job *j, fb_session *s, bloom_report *r, err *e);
    int way;
    bool many; /* to a batch of them */
} operation;
static const operation BLOOM = {bloom_it, 0, false}, BLOOM_ALL = {bloom_it, 0, true},
                       SOLVE = {bloom_it, LIB_SOLVES, false},
                       SOLVE_ALL = {bloom_it, LIB_SOLVES, true},
                       ADJOINT = {lib_adjoint, LIB_TRANSPOSE, false},
                       SOLVE_ADJOINT = {lib_solve_adjoint, LIB_SOLVES | LIB_TRANSPOSE | LIB_WIDE,
                                        false};

/* Chooses the way of an image whose planes were checked. */
static bool choose_way(lib_job *j, const operation *o, const fb_session *s, err *e) {
    const fb_image *pixels = j->pixels;
    const bool turned = o->way & LIB_TRANSPOSE;
    bool wide = false;
    if (pixels->session && pixels->session->kernel->context != s->kernel->context)
        return err_set(e, ERR_USAGE, "the image's session is of another context than the call's");
    if (pixels->session) s = pixels->session;
    if (pixels->emit && s->set.emit == FB_EMIT_NONE)
        return err_set(e, ERR_CONFIG, "emit is 0, and the image has planes for what is emitted");
    if (pixels->space &&
        !(space_check(pixels->space, false, e) && space_find(&j->space, pixels->space)))
        return false;
    j->coded = j->space.curve && j->space.curve != CURVE_LINEAR;
    for (uint32_t c = 0; c < pixels->channels; c++)
        wide |= pixels->in[c].type == FB_DOUBLE || pixels->out[c].type == FB_DOUBLE;
    j->digits = wide ? LIB_DIGITS_FLOAT : 0;
    /* Under a mask or a threshold doubles take half as long again, so there they are for those who
     * need them. */
    const bool partly = (pixels->mask || s->set.threshold > 0) && !(o->way & LIB_SOLVES);
    wide &= !j->coded && s->set.precision != FB_PRECISION_FLOAT32 &&
            (!partly || s->set.precision == FB_PRECISION_FLOAT64 || s->set.tolerance < 1e-5);
    if (wide) j->digits = LIB_DIGITS_DOUBLE;
    j->scales = wide && !(s->set.threshold > 0);
    j->way = o->way | (wide ? LIB_WIDE : 0) | (pixels->mask && !turned ? LIB_MASKED : 0) |
             (pixels->emit && !o->way ? LIB_EMITS : 0);
    j->wide = j->way & LIB_WIDE;
    j->floats = j->wide || turned || j->coded;
    return true;
}

static bool do_image(const operation *o, fb_session *s, const fb_image *from, fb_report *report,
                     err *e) {
    fb_image pixels;
    lib_job j = {.pixels = &pixels, .threads = s->kernel->context->threads};
    const double start = clock_now();
    if (report && report->size < sizeof *report)
        return err_set(e, ERR_USAGE,
                       "fb_report: its size is %u, and must be sizeof(fb_report), %zu",
                       report->size, sizeof *report);
    if (!lib_image(&pixels, from, true, e) || !choose_way(&j, o, s, e)) return false;
    if (pixels.session) s = pixels.session;
    host_here()->progress = pixels.progress;
    host_here()->progress_ctx = pixels.user;
    host_here()->stopped = false;
    OWN_MEM bloom_report *r = mem_new(1, sizeof *r, "a report", e);
    bool ok = r && lib_job_begin(&j, e) && o->make(&j, s, r, e);
    if (ok && j.over && s->set.half_overflow == FB_OVERFLOW_ERROR)
        ok = err_set(e, ERR_BAD_PIXELS,
                     "%" PRIu64 " values of the result are beyond the largest that `out` holds, "
                     "65504 in half floats; half_overflow has to clamp them, or `out` to be wider",
                     j.over);
    if (ok && !r->groups && j.digits > 0) { /* nothing spreads, and the digits are all */
        accuracy *m = &r->sum.promise.method;
        double most[LIB_CHANNELS];
        ok = lib_planes_most(most, pixels.in, pixels.width, pixels.height, pixels.channels,
                             j.threads, e);
        for (uint32_t c = 0; c < pixels.channels; c++)
            m->rounded = fmax(m->rounded, j.digits * most[c]);
        m->kept = j.digits <= s->set.tolerance;
    }
    if (ok) say(&j, r, o->way & LIB_TRANSPOSE ? NULL : &s->told);
    if (r && report) fill_report(report, &j, r, clock_now() - start);
    image_header_free(&j.head);
    return ok;
}

/* --- many images, several at a time ----------------------------------------------------------- */

typedef struct {
    const operation *what;
    fb_session *s;
    const char *images;
    char *reports;
    size_t step, report_step, count;
    atomic_size_t next;
    atomic_bool stop;

    pthread_mutex_t lock; /* guards the rest */
    size_t failed;        /* the first of those that have failed */
    err why;
} batch;

static const fb_image *image_at(const batch *b, size_t i) {
    return (const fb_image *)(b->images + i * b->step);
}

static void work_off(batch *b) {
    for (size_t i; !b->stop && (i = atomic_fetch_add(&b->next, 1)) < b->count;) {
        err e = {0};
        fb_report *r = b->reports ? (fb_report *)(b->reports + i * b->report_step) : NULL;
        if (do_image(b->what, b->s, image_at(b, i), r, &e)) continue;
        pthread_mutex_lock(&b->lock);
        if (!b->stop || i < b->failed) b->failed = i, b->why = e;
        b->stop = true;
        pthread_mutex_unlock(&b->lock);
    }
}

/* Planes that an image of the batch reads or writes. */
typedef struct {
    uintptr_t low, high;
    const fb_plane *plane;
    uint32_t w, h, channels;
    size_t image;
    bool out;
} batch_span;

static int by_place(const void *a, const void *b) {
    const batch_span *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

static bool spans_touch(const batch_span *a, const batch_span *b) {
    return a->image != b->image && (a->out || b->out) &&
           (a->w != b->w || a->h != b->h ||
            lib_planes_touch(a->plane, a->channels, b->plane, b->channels, a->w, a->h));
}

/* Refuses a batch in which an image is written over another one, since all are under way at the
 * same time. */
static bool check_batch(const batch *b, err *e) {
    OWN_MEM batch_span *span = mem_raw(4 * b->count, sizeof *span, "a batch", e);
    bool ok = span;
    size_t n = 0;
    for (size_t i = 0; ok && i < b->count; i++) {
        fb_image pixels = {.size = 0};
        ok = lib_image(&pixels, image_at(b, i), true, e) || err_in(e, "image %zu", i);
        const fb_plane *const SET[] = {pixels.in, pixels.mask, pixels.out, pixels.emit};
        for (int k = 0; ok && k < 4; k++) {
            const uint32_t channels = k == 1 ? 1 : pixels.channels;
            batch_span *s = &span[n];
            if (!SET[k]) continue;
            *s = (batch_span){0, 0, SET[k], pixels.width, pixels.height, channels, i, k > 1};
            lib_planes_span(&s->low, &s->high, s->plane, s->w, s->h, channels);
            n++;
        }
    }
    if (ok) qsort(span, n, sizeof *span, by_place);
    for (size_t i = 0; ok && i < n; i++)
        for (size_t k = i + 1; ok && k < n && span[k].low < span[i].high; k++)
            if (spans_touch(&span[i], &span[k]))
                ok = err_set(e, ERR_USAGE,
                             "image %zu: `out` lies over image %zu of the same batch; it may only "
                             "be that of its own image",
                             span[i].out ? span[i].image : span[k].image,
                             span[i].out ? span[k].image : span[i].image);
    return ok;
}

/* Keeps the sessions of images for as long as the call, or gives them back. */
static void keep_sessions(const batch *b, bool keep) {
    for (size_t i = 0; i < b->count; i++) {
        const fb_image *pixels = image_at(b, i);
        fb_session *own = pixels->size > offsetof(fb_image, session) ? pixels->session : NULL;
        if (own && keep)
            atomic_fetch_add(&own->users, 1);
        else if (own)
            lib_session_give(own);
    }
}

static void *batch_main(void *arg) {
    batch *b = arg;
    lib_call l;
    lib_begin_thread(&l, b->s->kernel->context);
    work_off(b);
    lib_end_thread(&l);
    return NULL;
}

static void do_batch(batch *b, par *threads) {
    enum { MOST = 64 };
    pthread_t thread[MOST];
    const size_t wanted = min_size(min_size(b->count, (size_t)par_threads(threads)), MOST);
    size_t more = 0;
    while (more + 1 < wanted && pthread_create(&thread[more], NULL, batch_main, b) == 0) more++;
    work_off(b);
    /* Who waits must keep no place in the pool: these threads may wait for one. */
    par_leave(threads);
    for (size_t i = 0; i < more; i++) pthread_join(thread[i], NULL);
    par_enter(threads, 0);
}

/* --- the calls -------------------------------------------------------------------------------- */

static int32_t call(const operation *o, fb_session *session, const fb_image *images, size_t count,
                    fb_report *reports, fb_error *error) {
    lib_call l;
    fb_context *c = session && (images || !count) ? session->kernel->context : NULL;
    if (!lib_enter(&l, c, o->many ? "a session and a batch" : "a session and an image", error))
        return lib_leave(&l);
    atomic_fetch_add(&session->users, 1);
    batch b = {.what = o,
               .s = session,
               .images = (const char *)images,
               .reports = (char *)reports,
               .step = count ? images[0].size : 0,
               .report_step = count && reports ? reports[0].size : 0,
               .count = count,
               .lock = PTHREAD_MUTEX_INITIALIZER};
    if (!o->many) {
        do_image(o, session, images, reports, &l.e);
    } else if (count && check_batch(&b, &l.e)) {
        keep_sessions(&b, true);
        do_batch(&b, l.c->threads);
        keep_sessions(&b, false);
    }
    if (b.stop) {
        l.e = b.why;
        err_in(&l.e, "image %zu", b.failed);
    }
    pthread_mutex_destroy(&b.lock);
    lib_session_give(session);
    return lib_leave(&l);
}

#define ONE(name, operation)                                                     \
    int32_t name(fb_session *session, const fb_image *pixels, fb_report *report, \
                 fb_error *error) {                                              \
        return call(&operation, session, pixels, 1, report, error);              \
    }
#define ALL(name, operation)                                                                    \
    int32_t name(fb_session *session, const fb_image *images, size_t count, fb_report *reports, \
                 fb_error *error) {                                                             \
        return call(&operation, session, images, count, reports, error);                        \
    }
ONE(fb_bloom, BLOOM)
ONE(fb_apply_adjoint, ADJOINT)
ONE(fb_solve, SOLVE)
ONE(fb_solve_adjoint, SOLVE_ADJOINT)
ALL(fb_bloom_all, BLOOM_ALL)
ALL(fb_solve_all, SOLVE_ALL)
