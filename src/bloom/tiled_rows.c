#include "base/mem.h"
#include "base/number.h"
#include "bloom/tiled_work.h"

#include <math.h>
#include <string.h>

uint8_t *tiled_row(const tiled_work *w, const tiled_plane *is, int64_t row) {
    size_t at = (size_t)(((row % w->room) + w->room) % w->room);
    return is->in + at * w->w * pixel_bytes(is->type);
}

/* Rows that follow each other in the part, up or down, or are one row again and again; and in the
 * ring. */
typedef struct {
    int64_t at, source; /* source -1: zeros */
    uint32_t count;
    int step;
} run;

static run find_run(const tiled_work *w, int64_t at, int64_t end) {
    plan_border b = w->j->s->border[PLAN_Y];
    run r = {at, plan_place(b, w->h, at), 1, 0};
    uint32_t until_end = (uint32_t)(w->room - ((at % w->room) + w->room) % w->room);
    end = end - at < until_end ? end : at + until_end;
    if (at + 1 < end && r.source >= 0) {
        int64_t next = plan_place(b, w->h, at + 1) - r.source;
        r.step = next == 1 || next == -1 ? (int)next : 0;
    }
    while (at + r.count < end) {
        int64_t next = plan_place(b, w->h, at + r.count);
        if (next != (r.source < 0 ? -1 : r.source + (int64_t)r.count * r.step)) break;
        r.count++;
    }
    return r;
}

static void turn_rows(uint8_t *rows, size_t bytes, uint32_t count) {
    for (uint32_t i = 0; i < count / 2; i++) {
        uint8_t *a = rows + i * bytes, *b = rows + (count - 1 - i) * bytes;
        for (size_t k = 0; k < bytes; k++) {
            uint8_t keep = a[k];
            a[k] = b[k];
            b[k] = keep;
        }
    }
}

/* Channels of the list. */
typedef struct {
    uint32_t first, end;
} channels;

static bool read_run(tiled_work *w, channels which, const run *r, void **plane, err *e) {
    const bloom_rows *rows = w->j->rows;
    for (uint32_t c = which.first; c < which.end; c++) {
        tiled_plane *is = &w->list[c];
        plane[is->index] = tiled_row(w, is, r->at);
        size_t bytes = w->w * pixel_bytes(is->type);
        if (r->source < 0) memset(plane[is->index], 0, r->count * bytes);
    }
    if (r->source < 0) return true;
    uint32_t read = r->step ? r->count : 1;
    int64_t top = r->step < 0 ? r->source - (int64_t)(r->count - 1) : r->source;
    if (!rows->read(rows->ctx, w->j->part, (uint32_t)top, read, plane, e)) return false;
    for (uint32_t c = which.first; c < which.end; c++) {
        const tiled_plane *is = &w->list[c];
        uint8_t *to = plane[is->index];
        size_t bytes = w->w * pixel_bytes(is->type);
        if (w->bad) {
            float v;
            for (size_t i = 0; i < (size_t)read * w->w; i++) {
                image_to_float(&v, to, is->type, i, 1);
                if (!isfinite(v)) image_from_float(to, is->type, i, &(float){0}, 1);
            }
        }
        if (r->step < 0) turn_rows(to, bytes, r->count);
        for (uint32_t i = read; i < r->count; i++) memcpy(to + i * bytes, to, bytes);
    }
    return true;
}

bool tiled_hold(tiled_work *w, const tiled_portion *o, int64_t from, int64_t to, err *e) {
    void **plane = mem_new((size_t)w->p->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    channels which = {0, w->channels};
    if (w->t.again) {
        which = (channels){o->first, o->first + o->count};
        if (w->held != o) w->from = w->to = 0;
        w->held = o;
    }
    bool touch = from < w->to && to > w->from;
    int64_t had[2] = {touch ? w->from : to, touch ? w->to : to};
    const int64_t missing[2][2] = {{from, min_i64(had[0], to)}, {max_i64(had[1], from), to}};
    for (int i = 0; i < 2; i++)
        for (int64_t at = missing[i][0]; ok && at < missing[i][1];) {
            run r = find_run(w, at, missing[i][1]);
            ok = read_run(w, which, &r, plane, e);
            at += r.count;
        }
    w->from = from;
    w->to = to;
    mem_free(plane);
    return ok;
}
