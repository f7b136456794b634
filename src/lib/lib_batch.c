/* Many images at the same time, each by its own session. */
#include "base/number.h"
#include "lib/lib.h"

#include <stdlib.h>

/* Threads that take images one by one. */
typedef struct {
    lib_way *way;
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
        if (lib_do_image(b->way, b->s, image_at(b, i), r, &e)) continue;
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
    if (a->image == b->image || (!a->out && !b->out)) return false;
    return a->w != b->w || a->h != b->h ||
           lib_planes_touch(a->plane, a->channels, b->plane, b->channels, a->w, a->h);
}

/* Adds the planes of an image. */
static size_t add_spans(batch_span *to, const fb_image *is, size_t number) {
    const fb_plane *const SET[] = {is->in, is->mask, is->out, is->emit};
    size_t n = 0;
    for (int i = 0; i < 4; i++) {
        if (!SET[i]) continue;
        batch_span *s = &to[n++];
        *s = (batch_span){0,      0,    SET[i], is->width, is->height, i == 1 ? 1 : is->channels,
                          number, i > 1};
        lib_planes_span(&s->low, &s->high, s->plane, s->w, s->h, s->channels);
    }
    return n;
}

/* Refuses a batch in which an image is written over another one, since all are under way at the
 * same time. */
static bool check_batch(const batch *b, err *e) {
    batch_span *all = mem_raw(4 * b->count, sizeof *all, "a batch", e);
    bool ok = all;
    size_t n = 0;
    for (size_t i = 0; ok && i < b->count; i++) {
        fb_image own;
        ok = lib_image(&own, image_at(b, i), true, e) || err_in(e, "image %zu", i);
        if (ok) n += add_spans(all + n, &own, i);
    }
    if (ok) qsort(all, n, sizeof *all, by_place);
    for (size_t i = 0; ok && i < n; i++)
        for (size_t k = i + 1; ok && k < n && all[k].low < all[i].high; k++)
            if (spans_touch(&all[i], &all[k]))
                ok = err_set(e, ERR_USAGE,
                             "image %zu: `out` lies over image %zu of the same batch; it may only "
                             "be that of its own image",
                             all[i].out ? all[i].image : all[k].image,
                             all[i].out ? all[k].image : all[i].image);
    mem_free(all);
    return ok;
}

/* Keeps the sessions of images for as long as the call, or gives them back. */
static void keep_sessions(const batch *b, bool keep) {
    for (size_t i = 0; i < b->count; i++) {
        const fb_image *is = image_at(b, i);
        fb_session *own = is->size > offsetof(fb_image, session) ? is->session : NULL;
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

static int32_t call(lib_way *way, fb_session *session, const fb_image *images, size_t count,
                    fb_report *reports, fb_error *error) {
    lib_call l;
    fb_context *c = session && (images || !count) ? session->kernel->context : NULL;
    if (!lib_enter(&l, c, "a session and a batch", error)) return lib_leave(&l);
    atomic_fetch_add(&session->users, 1);
    batch b = {.way = way,
               .s = session,
               .images = (const char *)images,
               .reports = (char *)reports,
               .step = count ? images[0].size : 0,
               .report_step = count && reports ? reports[0].size : 0,
               .count = count,
               .lock = PTHREAD_MUTEX_INITIALIZER};
    if (count && check_batch(&b, &l.e)) {
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

int32_t fb_bloom_all(fb_session *session, const fb_image *images, size_t count, fb_report *reports,
                     fb_error *error) {
    return call(lib_bloom_it, session, images, count, reports, error);
}

int32_t fb_solve_all(fb_session *session, const fb_image *images, size_t count, fb_report *reports,
                     fb_error *error) {
    return call(lib_solve, session, images, count, reports, error);
}
