#include "app/run/progress.h"

#include "app/cli/terminal.h"
#include "base/clock.h"
#include "base/log.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double BAR_EVERY = 0.1, LINE_EVERY = 5;

bool progress_open(progress *p, const settings *s, size_t total, err *e) {
    *p = (progress){.mode = s->progress, .quiet = s->quiet, .total = total, .start = clock_now()};
    p->fd = (int)s->progress_fd;
    p->last = p->start;
    p->terminal = isatty(STDERR_FILENO) == 1;
    return fcntl(p->fd, F_GETFD) >= 0 || p->mode != PROGRESS_JSON ||
           err_set(
               e, ERR_USAGE,
               "--progress json:%d: this descriptor is not open; write %d>FILE behind the command",
               p->fd, p->fd);
}

/* Finds the steps per second, and the seconds left at this rate; 0 while nothing is known. */
static void rate(const progress *p, double now, double *per_second, double *left) {
    double worked = (double)(p->done - p->passed - p->failed), time = now - p->start;
    *per_second = worked > 0 && time > 0 ? worked / time : 0;
    *left = *per_second > 0 ? (double)(p->total - p->done) / *per_second : 0;
}

static void draw_bar(const progress *p, double per_second, const char *left) {
    struct winsize w;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
    char tail[128];
    int n = snprintf(tail, sizeof tail, " %zu/%zu  %.3g/s  %s left", p->done, p->total, per_second,
                     left);
    int width = columns - n - 3 < 4 ? 0 : min_int(columns - n - 3, 50);
    int full = (int)((double)width * (double)p->done / (double)p->total);
    char bar[64], line[256];
    memset(bar, '.', sizeof bar);
    memset(bar, '#', (size_t)full);
    snprintf(line, sizeof line, "[%.*s]%s", width, bar, tail);
    terminal_status(line);
}

static void step_auto(progress *p, double now) {
    double per_second, left;
    char time[32];
    if (p->quiet || p->total < 2) return;
    if (p->done == p->total) {
        terminal_status(NULL);
    } else if (now - p->last >= (p->terminal ? BAR_EVERY : LINE_EVERY)) {
        p->last = now;
        p->seen = true;
        rate(p, now, &per_second, &left);
        long t = left > 0 && left < 1e9 ? (long)(left + 0.5) : 0;
        if (t >= 3600)
            snprintf(time, sizeof time, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
        else
            snprintf(time, sizeof time, "%ld:%02ld", t / 60, t % 60);
        if (p->terminal)
            draw_bar(p, per_second, time);
        else
            log_note("%zu of %zu done, %.3g per second, %s left", p->done, p->total, per_second,
                     time);
    }
}

static void step_json(const progress *p, double now, const progress_event *event) {
    double per_second, left;
    OWN(text) line = {0};
    rate(p, now, &per_second, &left);
    json_out j = {.to = &line};
    json_object(&j, NULL);
    if (event->frame) json_int(&j, "frame", *event->frame);
    json_string(&j, "state", event->state);
    JSON_UINTS(&j, {"done", p->done}, {"total", p->total});
    json_string(&j, "step", event->what);
    JSON_EACH(&j, json_fixed, 3, {"seconds", now - p->start}, {"left", left});
    json_end(&j);
    dprintf(p->fd, "%s", line.s);
}

/* The scheduler obeys what stands at the start of a line: `what` must not end one. */
static void say_openjd(const char *key, const char *what) {
    OWN(text) line = {0};
    text_add_clean(&line, what);
    printf("openjd_%s: %s\n", key, line.s ? line.s : "");
}

/* Says in the last words how many frames are there; one just put in its place may be missing. */
static void prepare_last_words(const progress *p) {
    OWN(text) line = {0};
    if (!p->interrupted) return;
    text_add(&line, "interrupted: %zu of %zu written", p->done - p->passed - p->failed, p->total);
    if (p->passed) text_add(&line, ", %zu up to date or skipped", p->passed);
    if (p->failed) text_add(&line, ", %zu failed", p->failed);
    text_add(&line, "%s", p->interrupted);
    terminal_keep_last_words(line.s);
}

void progress_promise(progress *p, const char *how_it_goes_on) {
    p->interrupted = how_it_goes_on;
    prepare_last_words(p);
}

void progress_step(progress *p, const progress_event *event) {
    double now = clock_now();
    p->done++;
    p->failed += event->failed;
    p->passed += !event->worked && !event->failed;
    prepare_last_words(p);
    double percent = 100 * (double)p->done / (double)p->total;
    switch (p->mode) {
    case PROGRESS_AUTO: step_auto(p, now); break;
    case PROGRESS_DEADLINE: printf("Progress: %d%%\n", (int)percent); break;
    case PROGRESS_OPENJD:
        say_openjd("status", event->what);
        printf("openjd_progress: %.1f\n", percent);
        break;
    case PROGRESS_JSON: step_json(p, now, event); break;
    case PROGRESS_NONE: break;
    }
    fflush(stdout);
}

void progress_close(progress *p) {
    terminal_status(NULL);
    if (p->interrupted) terminal_keep_last_words(NULL);
    p->interrupted = NULL;
}

void progress_fail(const progress *p, const char *sentence) {
    if (p->mode == PROGRESS_OPENJD) say_openjd("fail", sentence);
}
