#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "lib/lib.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the header ------------------------------------------------------------------------------- */

static const char *name_of(uint32_t channels, uint32_t c) {
    static const char *const NAME[] = {"R", "G", "B", "A"};
    return channels == 1 ? "Y" : NAME[c];
}

static bool make_header(lib_job *j, err *e) {
    const fb_image *is = j->is;
    image_part part = {.data = {0, 0, (int32_t)is->width - 1, (int32_t)is->height - 1},
                       .aspect = 1};
    part.display = part.data;
    const image_header plain = {.format = "exr", .part = &part, .parts = 1};
    if (!image_header_copy(&j->head, &plain, e)) return false;
    for (uint32_t c = 0; c < is->channels; c++) { /* halfs that become halfs again stay halfs */
        bool half = !j->floats && is->in[c].type == FB_HALF && is->out[c].type == FB_HALF;
        if (!image_add_channel(&j->head.part[0], name_of(is->channels, c),
                               half ? PIXEL_HALF : PIXEL_FLOAT, e))
            return false;
    }
    for (uint32_t c = 0; c < is->channels; c++)
        j->index[image_find_channel(&j->head.part[0], name_of(is->channels, c))] = c;
    return true;
}

/* Doubles reach farther than floats: where the pixels of a channel are far from 1, a power of 2
 * brings them near, which changes no digit of them. */
static bool find_exponents(lib_job *j, err *e) {
    enum { NEAR = 60, LEAST = -100, FAR = 1000 };
    const fb_image *is = j->is;
    double most[LIB_CHANNELS];
    if (!lib_planes_most(most, is->in, is->width, is->height, is->channels, j->threads, e))
        return false;
    for (uint32_t c = 0; c < is->channels; c++) {
        const double v = most[j->index[c]];
        const int by = v > 0 ? ilogb(v) : 0;
        if (j->wide && abs(by) > NEAR)
            j->exponent[c] = by < -FAR ? -FAR : by > FAR ? FAR : by, j->far = true;
        if (!j->wide && is->in[j->index[c]].type == FB_DOUBLE && (v > FLT_MAX || by < LEAST))
            return err_set(
                e, ERR_BAD_PIXELS,
                "the largest pixel of channel '%s' is %g; where precision or a threshold "
                "asks for floats it can be %g to %g, or 0: scale the image",
                name_of(is->channels, j->index[c]), v, ldexp(1, LEAST), FLT_MAX);
    }
    return true;
}

/* Returns what the numbers of a channel count as. */
static double unit_of(const lib_job *j, const char *channel) {
    int c = image_find_channel(&j->head.part[0], channel);
    return c < 0 ? 1 : ldexp(1, j->exponent[c]);
}

/* --- rows in and out -------------------------------------------------------------------------- */

static bool copy_rows(lib_job *j, lib_rows r, err *e) {
    r.plane = r.out ? j->is->out : j->is->in;
    r.index = j->index;
    r.w = j->is->width;
    r.channels = j->is->channels;
    bool ok = lib_rows_copy(&r, j->threads, e);
    j->over += r.over;
    return ok;
}

static void types_of(int32_t to[LIB_CHANNELS], const image_part *p) {
    for (int c = 0; c < p->channels; c++)
        to[c] = p->channel[c].type == PIXEL_HALF ? FB_HALF : FB_FLOAT;
}

static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    lib_job *j = ctx;
    int32_t type[LIB_CHANNELS];
    types_of(type, &j->head.part[part]);
    return copy_rows(j, (lib_rows){.own = plane, .type = type, .row = row, .rows = rows}, e);
}

static uint32_t step_of(void *ctx, int part) {
    (void)ctx, (void)part;
    return 1;
}

static bool write_rows(void *ctx, int part, const rows_band *b, err *e) {
    int32_t type[LIB_CHANNELS];
    (void)part;
    types_of(type, b->is);
    return copy_rows(
        ctx, (lib_rows){.own = b->plane, .type = type, .row = b->row, .rows = b->rows, .out = true},
        e);
}

/* --- images in one piece -----------------------------------------------------------------------
 */

static size_t pixels_of(const image *img) {
    const image_part *p = &img->head.part[0];
    return (size_t)image_width(p) * image_height(p);
}

bool lib_pair_make(lib_pair *to, const lib_job *j, const image_header *head, bool zeros, err *e) {
    bool lost = false;
    *to = (lib_pair){.far = j->far};
    for (uint32_t c = 0; c < j->is->channels; c++) lost |= j->is->in[c].type == FB_DOUBLE;
    bool ok = (to->img = zeros ? image_new(head, e) : image_new_unset(head, NULL, e)) &&
              (!j->wide || !lost ||
               (to->rest = zeros ? image_new(head, e) : image_new_unset(head, NULL, e)));
    for (uint32_t c = 0; ok && j->wide && c < j->is->channels; c++)
        ok = (to->doubles[c] = mem_raw(pixels_of(to->img), sizeof(double), "doubles", e));
    return ok;
}

bool lib_pair_read(lib_pair *p, lib_job *j, err *e) {
    int32_t type[LIB_CHANNELS];
    types_of(type, &p->img->head.part[0]);
    lib_rows r = {
        .own = p->img->plane[0], .type = type, .exponent = j->exponent, .rows = j->is->height};
    if (!copy_rows(j, r, e)) return false;
    if (!p->rest) return true;
    r.own = p->rest->plane[0];
    r.rest = true;
    return copy_rows(j, r, e);
}

bool lib_pair_write(const lib_pair *p, lib_job *j, err *e) {
    int32_t type[LIB_CHANNELS] = {FB_DOUBLE, FB_DOUBLE, FB_DOUBLE, FB_DOUBLE};
    lib_rows r = {.own = (void *const *)p->doubles,
                  .type = type,
                  .exponent = j->exponent,
                  .rows = j->is->height,
                  .out = true};
    if (!p->doubles[0]) {
        types_of(type, &p->img->head.part[0]);
        r.own = p->img->plane[0];
    }
    return copy_rows(j, r, e);
}

/* Blooms what the pixels of the image have lost. It says nothing: what it would say of itself is
 * not true of the image. Its errors come on top of those of the image. */
static bool bloom_rest(lib_pair *p, const bloom *b, bloom_report *r, err *e) {
    const size_t n = pixels_of(p->img);
    const uint32_t channels = (uint32_t)p->img->head.part[0].channels;
    bloom_report *own = mem_new(1, sizeof *own, "a report", e);
    const int level = host_here()->level;
    host_here()->level = LOG_ERROR;
    bool ok = own && bloom_image(b, p->rest, own, e);
    host_here()->level = level;
    accuracy *m = &r->promise.method;
    double more = 0;
    for (uint32_t c = 0; ok && c < channels; c++) {
        more = fmax(more, own->promise.method.error[c]);
        for (size_t i = 0; i < n; i++)
            p->doubles[c][i] += (double)((const float *)p->rest->plane[0][c])[i];
    }
    m->floor += more;
    m->kept &= m->floor <= m->allowed;
    mem_free(own);
    return ok;
}

bool lib_pair_bloom(lib_pair *p, const bloom *b, bloom_report *r, err *e) {
    const size_t n = pixels_of(p->img);
    const uint32_t channels = (uint32_t)p->img->head.part[0].channels;
    rows_image rows;
    if (!p->doubles[0]) return bloom_image(b, p->img, r, e);
    /* Channels that are not bloomed stay as they are. */
    for (uint32_t c = 0; c < channels; c++)
        for (size_t i = 0; i < n; i++)
            p->doubles[c][i] = (double)((const float *)p->img->plane[0][c])[i];
    const int level = host_here()->level;
    if (p->far) host_here()->level = LOG_ERROR; /* numbers would not be those of the image */
    bool ok = rows_image_open(&rows, p->img, e) &&
              bloom_run(b, &(bloom_rows){rows.in, rows.out, .doubles = p->doubles}, r, e);
    rows_image_close(&rows);
    host_here()->level = level;
    return ok && (!p->rest || bloom_rest(p, b, r, e));
}

void lib_pair_free(lib_pair *p) {
    image_free(&p->img);
    image_free(&p->rest);
    for (int c = 0; c < LIB_CHANNELS; c++) mem_free(p->doubles[c]);
    *p = (lib_pair){0};
}

/* --- blooming --------------------------------------------------------------------------------- */

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

static void fill_report(fb_report *to, const lib_job *j, const bloom_report *r, double seconds) {
    const accuracy *m = &r->promise.method;
    const double unit = unit_of(j, r->promise.channel);
    uint32_t size = to->size;
    fb_report own = {.size = size,
                     .kept = !r->groups || m->kept,
                     .error = unit * m->floor,
                     .allowed = unit * m->allowed,
                     .bad_pixels = r->bad,
                     .clamped = j->over,
                     .seconds = seconds,
                     .attempts = r->promise.attempts,
                     .precision = m->precision == PRECISION_FLOAT64 ? FB_PRECISION_FLOAT64
                                                                    : FB_PRECISION_FLOAT32};
    for (uint32_t i = 0; i < r->ledger_rows; i++) {
        const double of = unit_of(j, r->ledger[i].channel);
        own.energy_in += of * r->ledger[i].in;
        own.energy_out += of * r->ledger[i].out;
        own.clamped += r->ledger[i].overflow_pixels;
    }
    snprintf(own.device, sizeof own.device, "%.127s", r->device.name);
    snprintf(own.note, sizeof own.note, "%.255s", r->notes ? r->note[0] : "");
    memcpy(to, &own, size < sizeof own ? size : sizeof own);
}

/* Says what the bloom could not say of pixels that were not its own. */
static void warn_far(const lib_job *j, const bloom_report *r) {
    const accuracy *m = &r->promise.method;
    const double unit = unit_of(j, r->promise.channel);
    if (r->groups && !m->kept)
        log_warn(
            "channel '%s': the tolerance of %g is not kept: errors up to %.2g, and %.2g allowed",
            r->promise.channel, r->promise.tolerance, unit * m->floor, unit * m->allowed);
}

static void note_light(const lib_job *j, bloom_report *r, light_told *told) {
    for (ledger_row *row = r->ledger; row < r->ledger + r->ledger_rows; row++) {
        row->lowest *= unit_of(j, row->channel);
        row->highest *= unit_of(j, row->channel);
    }
    light_notes("", NULL, r, told);
}

static bool check_image(const fb_image *is, err *e) {
    if (is->width < 1 || is->height < 1 || is->width > IMAGE_SIDE || is->height > IMAGE_SIDE)
        return err_set(e, ERR_USAGE, "an image has 1 to %d pixels a side, not %u x %u", IMAGE_SIDE,
                       is->width, is->height);
    if (is->channels != 1 && is->channels != 3 && is->channels != 4)
        return err_set(e, ERR_USAGE,
                       "an image has 1, 3 or 4 channels, not %u; bloom others one by one",
                       is->channels);
    return lib_planes_check(is->in, is->width, is->height, is->channels, false, "in", e) &&
           lib_planes_check(is->out, is->width, is->height, is->channels, true, "out", e);
}

typedef bool way_fn(lib_job *j, fb_session *s, bloom_report *r, err *e);

static bool bloom_it(lib_job *j, fb_session *s, bloom_report *r, err *e) {
    const bloom *b = lib_bloom(s, false, j->wide, e);
    if (!b) return false;
    if (fits(j, b)) { /* a copy of the pixels */
        lib_pair p;
        bool ok = lib_pair_make(&p, j, &j->head, false, e) && lib_pair_read(&p, j, e);
        if (ok && !j->far)
            light_notes_codes(p.img, NULL, NULL, "decode it; lights above 1 are missing in it",
                              &s->told);
        ok = ok && lib_pair_bloom(&p, b, r, e) && lib_pair_write(&p, j, e);
        lib_pair_free(&p);
        bool tiles =
            !ok && e->code == ERR_LINES && !j->wide &&
            !lib_planes_touch(j->is->in, j->is->out, j->is->width, j->is->height, j->is->channels);
        if (!tiles) return ok;
        *e = (err){0};
    }
    if (j->wide)
        return err_set(e, ERR_MEMORY,
                       "the image of %u x %u pixels in doubles needs more than the budget; planes "
                       "of floats are bloomed in tiles",
                       j->is->width, j->is->height);
    if (lib_planes_touch(j->is->in, j->is->out, j->is->width, j->is->height, j->is->channels))
        return err_set(e, ERR_MEMORY,
                       "the image of %u x %u pixels needs more than the budget and is bloomed in "
                       "tiles, for which `out` must not lie over `in`",
                       j->is->width, j->is->height);
    const bloom_rows rows = {.in = {.ctx = j, .head = &j->head, .read = read_rows},
                             .out = {.ctx = j, .step = step_of, .write = write_rows}};
    return bloom_run(b, &rows, r, e);
}

/* Brings one image on its way. */
static bool do_image(way_fn *way, fb_session *s, const fb_image *from, fb_report *report, err *e) {
    fb_image is;
    double start = clock_now();
    if (!lib_struct(&is, sizeof is, from, "fb_image", e)) return false;
    if (report && report->size < sizeof *report)
        return err_set(e, ERR_USAGE,
                       "fb_report: its size is %u, and must be sizeof(fb_report), %zu",
                       report->size, sizeof *report);
    if (!check_image(&is, e)) return false;
    lib_job j = {.is = &is, .threads = s->kernel->context->threads};
    bool doubles = false;
    for (uint32_t c = 0; c < is.channels; c++) {
        doubles |= is.in[c].type == FB_DOUBLE;
        j.wide |= is.in[c].type == FB_DOUBLE || is.out[c].type == FB_DOUBLE;
    }
    j.wide &= !(s->set.threshold > 0) && s->set.precision != FB_PRECISION_FLOAT32;
    j.floats = j.wide || way == lib_adjoint;
    host_here()->progress = is.progress;
    host_here()->progress_ctx = is.user;
    bloom_report *r = mem_new(1, sizeof *r, "a report", e);
    bool ok = r && make_header(&j, e) && (!doubles || find_exponents(&j, e)) && way(&j, s, r, e);
    if (ok && j.over && s->set.half_overflow == FB_OVERFLOW_ERROR)
        ok = err_set(e, ERR_BAD_PIXELS,
                     "%" PRIu64 " values of the result are beyond the largest that `out` holds, "
                     "65504 in half floats; half_overflow has to clamp them, or `out` to be wider",
                     j.over);
    if (ok && j.far) warn_far(&j, r);
    if (ok && way == bloom_it) note_light(&j, r, &s->told);
    if (r && report) fill_report(report, &j, r, clock_now() - start);
    image_header_free(&j.head);
    mem_free(r);
    return ok;
}

static int32_t call(way_fn *way, fb_session *s, const fb_image *is, fb_report *r, fb_error *error) {
    lib_call l;
    if (!s || !is) return lib_refuse(error, FB_BAD_ARGUMENT, "session or image is NULL");
    if (!lib_enter(&l, s->kernel->context, error)) return lib_leave(&l);
    atomic_fetch_add(&s->users, 1);
    do_image(way, s, is, r, &l.e);
    lib_session_give(s);
    return lib_leave(&l);
}

int32_t fb_bloom(fb_session *session, const fb_image *is, fb_report *report, fb_error *error) {
    return call(bloom_it, session, is, report, error);
}

int32_t fb_apply_adjoint(fb_session *session, const fb_image *is, fb_report *report,
                         fb_error *error) {
    return call(lib_adjoint, session, is, report, error);
}

/* --- many images ------------------------------------------------------------------------------ */

/* Threads that take images one by one. */
typedef struct {
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

static void work_off(batch *b) {
    for (size_t i; !b->stop && (i = atomic_fetch_add(&b->next, 1)) < b->count;) {
        err e = {0};
        fb_report *r = b->reports ? (fb_report *)(b->reports + i * b->report_step) : NULL;
        if (do_image(bloom_it, b->s, (const fb_image *)(b->images + i * b->step), r, &e)) continue;
        pthread_mutex_lock(&b->lock);
        if (!b->stop || i < b->failed) b->failed = i, b->why = e;
        b->stop = true;
        pthread_mutex_unlock(&b->lock);
    }
}

/* The planes that images of a batch read or write. */
typedef struct {
    uintptr_t low, high;
    const fb_image *is;
    size_t image;
    bool out;
} batch_span;

static int by_place(const void *a, const void *b) {
    const batch_span *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

static bool spans_touch(const batch_span *a, const batch_span *b) {
    const fb_plane *p = a->out ? a->is->out : a->is->in, *q = b->out ? b->is->out : b->is->in;
    const fb_image *s = a->is, *t = b->is;
    if (a->image == b->image || (!a->out && !b->out)) return false;
    bool alike = s->width == t->width && s->height == t->height && s->channels == t->channels;
    return !alike || lib_planes_touch(p, q, s->width, s->height, s->channels);
}

/* Refuses a batch in which an image is written over another one, since all are under way at the
 * same time. */
static bool check_batch(const batch *b, err *e) {
    batch_span *all = mem_raw(2 * b->count, sizeof *all, "a batch", e);
    bool ok = all;
    for (size_t i = 0; ok && i < b->count; i++) {
        const fb_image *is = (const fb_image *)(b->images + i * b->step);
        fb_image own;
        ok = (lib_struct(&own, sizeof own, is, "fb_image", e) && check_image(&own, e)) ||
             err_in(e, "image %zu", i);
        for (int out = 0; ok && out < 2; out++) {
            batch_span *s = &all[2 * i + (size_t)out];
            *s = (batch_span){.is = is, .image = i, .out = out};
            lib_planes_span(&s->low, &s->high, out ? is->out : is->in, is->width, is->height,
                            is->channels);
        }
    }
    if (ok) qsort(all, 2 * b->count, sizeof *all, by_place);
    for (size_t i = 0; ok && i < 2 * b->count; i++)
        for (size_t k = i + 1; ok && k < 2 * b->count && all[k].low < all[i].high; k++)
            if (spans_touch(&all[i], &all[k]))
                ok = err_set(e, ERR_USAGE,
                             "image %zu: `out` lies over image %zu of the same batch; it may only "
                             "be that of its own image",
                             all[i].out ? all[i].image : all[k].image,
                             all[i].out ? all[k].image : all[i].image);
    mem_free(all);
    return ok;
}

static void *batch_main(void *arg) {
    batch *b = arg;
    lib_call l;
    lib_begin_thread(&l, b->s->kernel->context);
    work_off(b);
    lib_end_thread(&l);
    return NULL;
}

static void bloom_batch(batch *b, par *threads) {
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

int32_t fb_bloom_all(fb_session *session, const fb_image *images, size_t count, fb_report *reports,
                     fb_error *error) {
    lib_call l;
    if (!session || (count && !images))
        return lib_refuse(error, FB_BAD_ARGUMENT, "session or images is NULL");
    if (!lib_enter(&l, session->kernel->context, error)) return lib_leave(&l);
    atomic_fetch_add(&session->users, 1);
    batch b = {.s = session,
               .images = (const char *)images,
               .reports = (char *)reports,
               .step = count ? images[0].size : 0,
               .report_step = count && reports ? reports[0].size : 0,
               .count = count,
               .lock = PTHREAD_MUTEX_INITIALIZER};
    if (count && check_batch(&b, &l.e)) bloom_batch(&b, l.c->threads);
    if (b.stop) {
        l.e = b.why;
        err_in(&l.e, "image %zu", b.failed);
    }
    pthread_mutex_destroy(&b.lock);
    lib_session_give(session);
    return lib_leave(&l);
}
