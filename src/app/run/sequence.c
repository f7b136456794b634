#include "app/run/sequence.h"

#include "base/mem.h"
#include "image/format.h"

#include <stdio.h>
#include <string.h>

/* Threads that each see one frame through are lanes; `lock` guards what follows it. */
typedef struct {
    frame_maker *maker;
    const job *job;
    seat seat[ENGINE_DEVICES];
    char name[ENGINE_DEVICES][16]; /* of the seats' devices: indices */
    int seats;

    pthread_mutex_t lock;
    pthread_cond_t done; /* a frame is */
    progress *told;
    report *report;
    size_t next, failed_at;
    double pace[ENGINE_DEVICES]; /* seconds a frame takes on each seat, 0: not known yet */
    bool failed;
    err failure;
} sequence;

typedef struct {
    sequence *q;
    int seat;
    bool first; /* of its seat: begins with the frame of the same number */
    pthread_t thread;
    bloom_report made;
} lane;

/* --- which devices ------------------------------------------------------------------------- */

/* The image that stands for all of them: the first that is there. */
static image_reader *any_image(const sequence *q) {
    image_reader *found = NULL;
    for (size_t i = 0; !found && i < job_count(q->job); i++) {
        char *input, *output;
        const int *number;
        if (!job_frame(q->job, i, &input, &output, &number, NULL)) break;
        found = image_open(input, NULL, q->maker->threads, NULL);
        mem_free(input);
        mem_free(output);
    }
    return found;
}

/* A seat for each device that can do the work. None where that cannot be told: the run itself will
 * then say what is wrong. */
static void seat_all(sequence *q, const bloom_settings *s) {
    image_reader *r = any_image(q);
    bloom *b = r ? bloom_open(s, q->maker->s->kernel, q->maker->threads, NULL) : NULL;
    device_forecast *f = b ? mem_new(ENGINE_DEVICES, sizeof *f, "forecasts", NULL) : NULL;
    const engine_device *device;
    uint32_t count = 0;
    if (f && bloom_forecast(b, image_reader_header(r), s->precision, &device, f, &count, NULL) < 0)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!f[i].possible) continue;
        snprintf(q->name[q->seats], sizeof q->name[0], "%u", i);
        q->seat[q->seats].s = *s;
        q->seat[q->seats].s.device = q->name[q->seats];
        q->seats++;
    }
    mem_free(f);
    bloom_close(&b);
    image_close(&r);
}

static void make_seats(sequence *q) {
    bloom_settings s = q->maker->s->bloom;
    size_t frames = job_count(q->job);
    s.slots = sequence_lanes(q->maker->s, frames);
    s.half = q->maker->s->pixels == PIXELS_HALF;
    s.images = frames > UINT32_MAX ? UINT32_MAX : (uint32_t)frames;
    if (frames > 1 && s.device && strcmp(s.device, "all") == 0) seat_all(q, &s);
    if (!q->seats) q->seat[q->seats++].s = s;
    for (int i = 0; i < q->seats; i++) pthread_mutex_init(&q->seat[i].lock, NULL);
}

/* --- who does what ------------------------------------------------------------------------- */

/* Whether faster devices would have done all that is left before this one were done with a single
 * frame. */
static bool others_are_sooner(const sequence *q, int mine) {
    double rate = 0; /* frames per second */
    for (int i = 0; i < q->seats; i++)
        if (q->pace[i] > 0 && q->pace[i] < q->pace[mine]) rate += 1 / q->pace[i];
    return q->pace[mine] * rate > (double)(job_count(q->job) - q->next);
}

/* Of several devices each shows its pace before it is given frames in advance. The fastest never
 * waits, so that there is no frame that nobody takes. */
static bool must_wait(const lane *l) {
    const sequence *q = l->q;
    bool unknown = q->seats > 1 && !l->first && q->pace[l->seat] == 0;
    return unknown || others_are_sooner(q, l->seat);
}

static bool over(const sequence *q) {
    return q->failed || q->next >= job_count(q->job);
}

static bool take(lane *l, size_t *index) {
    sequence *q = l->q;
    pthread_mutex_lock(&q->lock);
    while (!over(q) && must_wait(l)) pthread_cond_wait(&q->done, &q->lock);
    bool mine = !over(q);
    if (mine) *index = q->next++;
    pthread_mutex_unlock(&q->lock);
    return mine;
}

static void note_frame(lane *l, size_t index, const frame_result *f, const err *e) {
    sequence *q = l->q;
    pthread_mutex_lock(&q->lock);
    report_add(q->report, index, f);
    if (f->state == FRAME_FAILED && (!q->failed || index < q->failed_at)) {
        q->failed = true;
        q->failed_at = index;
        q->failure = *e;
    }
    if (f->state != FRAME_FAILED) progress_step(q->told, f->output, f->state == FRAME_DONE);
    if (f->state == FRAME_DONE) q->pace[l->seat] = f->bloom;
    pthread_cond_broadcast(&q->done);
    pthread_mutex_unlock(&q->lock);
}

static void do_frame(lane *l, size_t index) {
    sequence *q = l->q;
    frame_result f = {0};
    err e = {0};
    char *input = NULL, *output = NULL;
    l->made = (bloom_report){0};
    if (job_frame(q->job, index, &input, &output, &f.number, &e)) {
        f.input = input;
        f.output = output;
        frame_make(q->maker, &q->seat[l->seat], &f, &l->made, &e);
    } else {
        f = (frame_result){.state = FRAME_FAILED, .input = "", .output = "", .why = e.msg};
    }
    note_frame(l, index, &f, &e);
    mem_free(input);
    mem_free(output);
}

static void *lane_main(void *arg) {
    lane *l = arg;
    size_t index = (size_t)l->seat;
    if (l->first) do_frame(l, index);
    while (take(l, &index)) do_frame(l, index);
    return NULL;
}

/* --- all of it ------------------------------------------------------------------------------ */

uint32_t sequence_lanes(const settings *s, size_t frames) {
    return frames < 2 || s->bloom.mem_limit ? 1 : SEAT_FRAMES;
}

/* The caller's thread is a lane, too, and all those that get no thread of their own. */
static bool run_lanes(sequence *q, err *e) {
    size_t frames = job_count(q->job), count = 0, started = 0, seats = (size_t)q->seats;
    size_t each = sequence_lanes(q->maker->s, frames);
    lane *all = mem_new(each * seats, sizeof *all, "the frames under way", e);
    if (!all) return false;
    for (; count < each * seats && count < frames; count++)
        all[count] = (lane){.q = q, .seat = (int)(count % seats), .first = count < seats};
    q->next = count < seats ? count : seats;
    while (started + 1 < count &&
           pthread_create(&all[started].thread, NULL, lane_main, &all[started]) == 0)
        started++;
    for (size_t i = started; i < count; i++) lane_main(&all[i]);
    for (size_t i = 0; i < started; i++) pthread_join(all[i].thread, NULL);
    mem_free(all);
    return true;
}

bool sequence_run(frame_maker *m, const job *j, progress *told, report *r, err *e) {
    sequence *q = mem_new(1, sizeof *q, "the devices of a sequence", e);
    if (!q) return false;
    q->maker = m;
    q->job = j;
    q->told = told;
    q->report = r;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->done, NULL);
    make_seats(q);
    bool ok = run_lanes(q, e);
    if (q->failed) {
        ok = false;
        *e = q->failure;
    }
    if (!ok) progress_fail(told, e->msg);
    progress_clear(told);
    for (int i = 0; i < q->seats; i++) seat_close(&q->seat[i]);
    pthread_cond_destroy(&q->done);
    pthread_mutex_destroy(&q->lock);
    mem_free(q);
    return ok;
}
