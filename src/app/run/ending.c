#include "app/run/ending.h"

#include "base/clock.h"
#include "base/log.h"

bool ending_is_told(const settings *s) {
    return !s->quiet && !s->json && s->progress != PROGRESS_OPENJD && s->progress != PROGRESS_JSON;
}

/* Adds "; 3 up to date, 1 failed", or nothing. */
static void add_others(const report *r, text *to) {
    static const struct {
        frame_state state;
        const char *word;
    } OTHER[] = {
        {FRAME_CURRENT, "up to date"}, {FRAME_SKIPPED, "skipped"}, {FRAME_FAILED, "failed"}};
    const char *between = ";";
    for (size_t i = 0; i < sizeof OTHER / sizeof OTHER[0]; i++) {
        size_t n = r->count[OTHER[i].state];
        if (n) text_add(to, "%s %zu %s", between, n, OTHER[i].word);
        if (n) between = ",";
    }
    if (r->missing) text_add(to, " (%zu input%s missing)", r->missing, r->missing == 1 ? "" : "s");
}

void ending_say(const job *j, const report *r, const progress *p) {
    bool seen = p->mode == PROGRESS_AUTO && (p->terminal || p->seen);
    size_t done = r->count[FRAME_DONE];
    double time = clock_now() - r->start, rate = time > 0 ? (double)done / time : 0;
    text line = {0};
    if (job_count(j) == 1 ? !p->terminal || !done : !seen && !r->count[FRAME_FAILED]) return;
    if (job_count(j) == 1) {
        job_outputs(j, &line);
        text_add(&line, ": %.2f s", time);
        if (r->devices.n) text_add(&line, ", %s", r->devices.s);
    } else if (done) {
        text_add(&line, "%zu frame%s in %.1f s (%.*f/s) -> ", done, done == 1 ? "" : "s", time,
                 rate < 1 ? 2 : 1, rate);
        job_outputs(j, &line);
        if (r->devices.n) text_add(&line, ", %s", r->devices.s);
    } else {
        text_add(&line, "no frame was made");
    }
    add_others(r, &line);
    log_note("%s", line.s);
    text_free(&line);
}
