#include "app/run/progress.h"

#include "base/clock.h"
#include "base/json_out.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double BAR_EVERY = 0.1, LINE_EVERY = 5;

void progress_open(progress *p, settings_progress mode, bool quiet, size_t total) {
    *p = (progress){.mode = mode, .quiet = quiet, .total = total, .start = clock_now()};
    p->last = p->start;
    p->terminal = isatty(STDERR_FILENO) == 1;
}

const char *progress_time(double seconds, char buf[32]) {
    long s = seconds > 0 && seconds < 1e9 ? (long)(seconds + 0.5) : 0;
    if (s >= 3600) {
        snprintf(buf, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    } else {
        snprintf(buf, 32, "%ld:%02ld", s / 60, s % 60);
    }
    return buf;
}

/* Steps per second, and the seconds left at this rate; 0 while nothing is known. */
static void rate(const progress *p, double now, double *per_second, double *left) {
    double worked = (double)(p->done - p->passed), time = now - p->start;
    *per_second = worked > 0 && time > 0 ? worked / time : 0;
    *left = *per_second > 0 ? (double)(p->total - p->done) / *per_second : 0;
}

static void draw_bar(progress *p, double now) {
    struct winsize w;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
    double per_second, left;
    char tail[128], time[32];
    rate(p, now, &per_second, &left);
    int n = snprintf(tail, sizeof tail, " %zu/%zu  %.3g/s  %s left", p->done, p->total, per_second,
                     progress_time(left, time));
    int width = columns - n - 3;
    if (width > 50) width = 50;
    if (width < 4) width = 0;
    int full = (int)((double)width * (double)p->done / (double)p->total);
    char bar[64];
    memset(bar, '#', sizeof bar);
    memset(bar + full, '.', sizeof bar - (size_t)full);
    fprintf(stderr, "\r\033[K[%.*s]%s", width, bar, tail);
    fflush(stderr);
    p->drawn = true;
}

static void say_line(const progress *p, double now) {
    double per_second, left;
    char time[32];
    rate(p, now, &per_second, &left);
    log_note("%zu of %zu done, %.3g per second, %s left", p->done, p->total, per_second,
             progress_time(left, time));
}

static void step_auto(progress *p, double now) {
    double wait = p->terminal ? BAR_EVERY : LINE_EVERY;
    if (p->quiet || p->total < 2) return;
    if (p->terminal && p->done == p->total) {
        progress_clear(p);
    } else if (now - p->last >= wait && p->done < p->total) {
        p->last = now;
        if (p->terminal) {
            draw_bar(p, now);
        } else {
            say_line(p, now);
        }
    }
}

static void step_json(const progress *p, double now, const char *what) {
    double per_second, left;
    text line = {0};
    rate(p, now, &per_second, &left);
    json_out j = {.to = &line};
    json_object(&j, NULL);
    json_uint(&j, "done", p->done);
    json_uint(&j, "total", p->total);
    json_string(&j, "step", what);
    json_fixed(&j, "seconds", 3, now - p->start);
    json_fixed(&j, "left", 3, left);
    json_end(&j);
    fputs(line.s, stderr);
    text_free(&line);
}

void progress_step(progress *p, const char *what, bool worked) {
    double now = clock_now();
    p->done++;
    p->passed += !worked;
    double percent = 100 * (double)p->done / (double)p->total;
    switch (p->mode) {
    case PROGRESS_AUTO: step_auto(p, now); break;
    case PROGRESS_DEADLINE: printf("Progress: %d%%\n", (int)percent); break;
    case PROGRESS_OPENJD: {
        /* The scheduler obeys what stands at the start of a line: a name must not end one. */
        text name = {0};
        text_add_clean(&name, what);
        printf("openjd_status: %s\nopenjd_progress: %.1f\n", name.s ? name.s : "", percent);
        text_free(&name);
        break;
    }
    case PROGRESS_JSON: step_json(p, now, what); break;
    case PROGRESS_NONE: break;
    }
    fflush(stdout);
}

void progress_clear(progress *p) {
    if (!p->drawn) return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    p->drawn = false;
}

void progress_fail(progress *p, const char *sentence) {
    progress_clear(p);
    if (p->mode != PROGRESS_OPENJD) return;
    text line = {0};
    text_add_clean(&line, sentence);
    printf("openjd_fail: %s\n", line.s ? line.s : "");
    text_free(&line);
}
