#include "app/run/describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const AXIS[] = {"x", "y"};
enum { ALL_DIGITS = 17 }; /* bring a double back as it was */

static const char *precision(bool doubles) {
    return doubles ? "float64" : "float32";
}

/* --- devices ------------------------------------------------------------------------------- */

/* Writes 32 hexadecimal digits, as --device takes them, or "" where the device has no uuid. */
static const char *uuid_of(const engine_device *d, char buf[2 * ENGINE_UUID + 1]) {
    static const uint8_t NONE[ENGINE_UUID];
    buf[0] = 0;
    if (memcmp(d->uuid, NONE, ENGINE_UUID) != 0)
        for (int i = 0; i < ENGINE_UUID; i++) sprintf(buf + 2 * i, "%02x", d->uuid[i]);
    return buf;
}

void describe_device(json_out *j, const char *key, const engine_device *d, int index) {
    char uuid[2 * ENGINE_UUID + 1], number[32];
    const plan_limits *l = &d->limits;
    json_object(j, key);
    if (index >= 0 && j->words) {
        snprintf(number, sizeof number, "%-3d %s", index, engine_class_name(d->class));
        json_string(j, "index", number);
    } else {
        if (index >= 0) json_int(j, "index", index);
        json_string(j, "class", engine_class_name(d->class));
    }
    json_string(j, "name", d->name);
    json_string(j, "driver", d->driver);
    json_string(j, "uuid", uuid_of(d, uuid));
    if (j->words) { /* limits are for machines */
        if (d->memory) json_size(j, "bytes", d->memory);
        if (d->limits.float64) json_string(j, "float64", "float64");
        json_close(j);
        return;
    }
    json_uint(j, "memory", d->memory);
    json_object(j, "limits");
    json_uint(j, "invocations", l->invocations);
    json_uint(j, "shared_bytes", l->shared_bytes);
    json_uints(j, "groups", l->groups, 3);
    json_uint(j, "buffer_range", l->buffer_range);
    json_uint(j, "memory", l->memory);
    json_bool(j, "float64", l->float64);
    json_close(j);
    json_close(j);
}

/* --- plans --------------------------------------------------------------------------------- */

static uint32_t length_along(const plan *p, uint32_t axis) {
    return p->axis[p->first == axis ? 0 : 1].length;
}

/* Adds the memory of a plan on its device. In words what is not there is left out. */
static void plan_bytes_json(json_out *j, const plan *p) {
    const bool travels = p->ask.limits.invocations > 0;
    const struct {
        const char *key;
        uint64_t bytes;
    } all[] = {
        {"image", p->image_bytes},
        {"input", p->input_bytes},
        {"mask", p->mask_bytes},
        {"glare", p->glare_bytes},
        {"totals", p->total_bytes},
        {"scratch", p->scratch_bytes},
        /* Passes 1 and 2 may leave their half spectra differently. */
        {"tiled", p->tile != p->tile_in ? p->scratch_bytes : 0},
        {"spectrum", p->spectrum_bytes},
        {"twiddle", p->twiddle_bytes},
        {"up", travels ? plan_bytes_up(p) : 0},
        {"down", travels ? plan_bytes_down(p) : 0},
        {"all", plan_device_bytes(p)},
    };
    json_object(j, "bytes");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!j->words || all[i].bytes) json_size(j, all[i].key, all[i].bytes);
    json_close(j);
}

void describe_plan_json(json_out *j, const char *key, const plan *p) {
    const plan_request *a = &p->ask;
    const uint32_t lengths[] = {length_along(p, PLAN_X), length_along(p, PLAN_Y)};
    json_sheet(j, key);
    json_uints(j, "image", a->size, PLAN_AXES);
    json_uints(j, "reach_before", a->reach_lo, PLAN_AXES);
    json_uints(j, "reach_after", a->reach_hi, PLAN_AXES);
    json_uint(j, "channels", a->channels);
    json_uint(j, "kernel_channels", a->spectra);
    json_bool(j, "kernel_symmetric", a->symmetric);
    json_line(j);
    json_string(j, "precision", precision(p->sample_bytes == 8));
    json_string(j, "first", AXIS[p->first]);
    json_uints(j, "lengths", lengths, PLAN_AXES);
    json_uints(j, "power_of_two_lengths", p->power_of_two, PLAN_AXES);
    json_reals(j, "cost", 6, p->cost, PLAN_AXES);
    json_line(j);
    json_uint(j, "channels_per_bind", p->channels_per_bind);
    json_uint(j, "frames", p->frames);
    plan_bytes_json(j, p);
    json_line(j);
    json_array(j, "passes");
    for (uint32_t i = 0; i < p->passes; i++) json_string(j, NULL, plan_pass_name(p->pass[i].kind));
    json_close(j);
    json_close(j);
}

void describe_plan_line(const plan *p, text *to) {
    text_add(to, "%u x %u in %u x %u, %s first, %s%s", p->ask.size[0], p->ask.size[1],
             length_along(p, PLAN_X), length_along(p, PLAN_Y), AXIS[p->first],
             precision(p->sample_bytes == 8), p->ask.planes.in == PLAN_HALFS ? " from halfs" : "");
}

void describe_times_json(json_out *j, const char *key, const engine_times *t, const plan *p) {
    json_object(j, key);
    json_fixed(j, "upload", 6, t->upload);
    json_array(j, "passes");
    for (uint32_t i = 0; i < p->passes; i++) json_fixed(j, NULL, 6, t->pass[i]);
    json_close(j);
    json_fixed(j, "download", 6, t->download);
    json_fixed(j, "total", 6, t->total);
    json_close(j);
}

/* --- results ------------------------------------------------------------------------------- */

static void add_real(json_out *j, const char *key, double v) {
    json_real(j, key, ALL_DIGITS, v);
}

static void bad_json(const bloom_report *r, json_out *j) {
    json_object(j, "bad_pixels");
    json_uint(j, "count", r->sum.bad);
    json_array(j, "first");
    for (uint64_t i = 0; i < r->sum.bad && i < SCAN_BAD; i++) {
        const bloom_bad *b = &r->sum.first_bad[i];
        json_object(j, NULL);
        json_string(j, "channel", b->channel);
        json_int(j, "x", b->x);
        json_int(j, "y", b->y);
        json_string(j, "value", isnan(b->value) ? "nan" : b->value > 0 ? "inf" : "-inf");
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void promise_json(const bloom_report *r, json_out *j) {
    const accuracy *a = &r->sum.promise.method;
    json_sheet(j, "promise");
    add_real(j, "tolerance", r->sum.promise.tolerance);
    json_bool(j, "kept", a->kept);
    json_string(j, "precision", precision(a->precision == PRECISION_FLOAT64));
    json_string(j, "channel", r->sum.promise.channel);
    add_real(j, "error", a->error[a->channel]);
    add_real(j, "allowed", a->allowed);
    add_real(j, "darkest", a->darkest);
    json_uint(j, "attempts", r->sum.promise.attempts);
    json_uint(j, "proved", r->sum.promise.proved);
    add_real(j, "proof", r->sum.promise.proof);
    json_close(j);
}

static void solved_json(const bloom_solved *s, json_out *j) {
    json_sheet(j, "deglare");
    if (s->blooms) {
        json_uint(j, "steps", s->steps);
        json_uint(j, "blooms", s->blooms);
        add_real(j, "error_bound", s->bound);
        json_string(j, "channel", s->channel);
        json_ints(j, "at", (int32_t[]){s->x, s->y}, 2);
        add_real(j, "is", s->value);
        json_line(j);
    } else {
        json_uint(j, "steps_at_most", s->steps);
        add_real(j, "range_of_light", s->range);
        add_real(j, "noise_gain", s->noise);
        add_real(j, "noise_gain_at_most", s->noise_most);
        json_line(j);
    }
    add_real(j, "core_radius", s->radius);
    add_real(j, "core", s->core);
    add_real(j, "tail", s->tail);
    add_real(j, "ratio", s->ratio);
    if (s->blooms) {
        json_line(j);
        add_real(j, "amount", s->amount);
        add_real(j, "amount_error", s->amount_error);
        json_uint(j, "clipped", s->clipped);
        add_real(j, "clip", s->clip);
        add_real(j, "clip_reach", s->reach);
        json_uint(j, "negative", s->negative);
        add_real(j, "lowest", s->lowest);
        add_real(j, "amount_for_none", s->enough);
    }
    json_close(j);
}

static void verified_json(const bloom_report *r, json_out *j) {
    const bloom_verified *v = &r->sum.verified;
    const verify_pixel *p = &v->found.worst;
    json_object(j, "verify");
    json_uint(j, "pixels", v->found.pixels);
    json_uint(j, "broken", v->found.broken);
    json_object(j, "worst");
    json_string(j, "channel", v->channel);
    json_int(j, "x", v->x);
    json_int(j, "y", v->y);
    add_real(j, "is", p->got);
    add_real(j, "should_be", p->want);
    add_real(j, "error", p->error);
    json_close(j);
    json_close(j);
}

static void ledger_json(const ledger_row *row, json_out *j) {
    json_object(j, NULL);
    json_string(j, "channel", row->channel);
    add_real(j, "in", row->in);
    add_real(j, "gained", row->gained);
    add_real(j, "out", row->out);
    add_real(j, "spilled", row->spilled);
    add_real(j, "bad", row->bad);
    add_real(j, "overflow", row->overflow);
    add_real(j, "negative", row->negative);
    add_real(j, "gap", ledger_gap(row));
    add_real(j, "centre", row->centre);
    json_uint(j, "bad_pixels", row->bad_pixels);
    json_uint(j, "overflow_pixels", row->overflow_pixels);
    json_uint(j, "negative_pixels", row->negative_pixels);
    json_close(j);
}

void describe_result_json(json_out *j, const bloom_report *r) {
    if (r->sum.bad || (r->groups && !j->words)) bad_json(r, j);
    if (r->sum.promise.method.precision) promise_json(r, j);
    if (r->sum.solved.steps) solved_json(&r->sum.solved, j);
    if (r->sum.verified.found.pixels) verified_json(r, j);
    if (!r->ledger_rows) return;
    json_list(j, "ledger");
    for (uint32_t i = 0; i < r->ledger_rows; i++) ledger_json(&r->ledger[i], j);
    json_close(j);
}

void describe_tiles_json(json_out *j, const tiling *t) {
    json_object(j, "tiles");
    json_uints(j, "image", t->size, PLAN_AXES);
    json_uints(j, "count", t->count, PLAN_AXES);
    json_uints(j, "size", t->tile, PLAN_AXES);
    json_uints(j, "kept", t->kept, PLAN_AXES);
    json_uint(j, "channels", t->channels);
    json_size(j, "bytes", t->bytes);
    json_close(j);
}

void describe_tiles(const tiling *t, text *to) {
    char b[32];
    text_add(to, "%u x %u pixels in %u x %u tiles of %u x %u, of which %u x %u count", t->size[0],
             t->size[1], t->count[0], t->count[1], t->tile[0], t->tile[1], t->kept[0], t->kept[1]);
    text_add(to, ", in rows from file to file: %s", text_bytes((double)t->bytes, b));
}

void describe_memory_json(json_out *j, const mem_plan *m) {
    json_object(j, "memory");
    json_size(j, "all", m->bytes);
    for (uint32_t i = 0; i < m->parts; i++)
        if (m->part[i].bytes) json_size(j, m->part[i].what, m->part[i].bytes);
    json_close(j);
}

void describe_made_json(json_out *j, const bloom_report *r) {
    if (r->groups) {
        describe_device(j, "device", &r->sum.device, -1);
        describe_times_json(j, "times", &r->sum.times, &r->sum.plan);
        if (r->sum.tiles.channels) describe_tiles_json(j, &r->sum.tiles);
        describe_plan_json(j, "plan", &r->sum.plan);
    }
    describe_result_json(j, r);
}

void describe_notes_json(json_out *j, const char *lines, const bloom_report *r) {
    if (j->words && !lines && !(r && r->notes)) return;
    if (j->words)
        json_list(j, "notes");
    else
        json_array(j, "notes");
    json_lines(j, lines);
    for (uint32_t i = 0; r && i < r->notes; i++) json_string(j, NULL, r->note[i]);
    json_close(j);
}

void describe_verified(const bloom_report *r, text *to) {
    const bloom_verified *v = &r->sum.verified;
    const verify_pixel *p = &v->found.worst;
    text_add(to,
             "verified %" PRIu64 " pixels: the worst is off by %.2g, the tolerance is %g; channel "
             "'%s' is %.9g at %d, %d, by the definition %.9g",
             v->found.pixels, p->error, r->sum.promise.tolerance, v->channel, p->got, v->x, v->y,
             p->want);
}
