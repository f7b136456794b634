#include "app/run/report.h"

#include "app/cli/options.h"
#include "base/clock.h"
#include "base/file.h"

static const char *const AXIS[] = {"x", "y"};
enum { ALL_DIGITS = 17 }; /* bring a double back as it was */

static const char *precision(bool doubles) {
    return doubles ? "float64" : "float32";
}

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
    snprintf(number, sizeof number, "%-3d %s", index, engine_class_name(d->class));
    if (index >= 0 && !j->words) json_int(j, "index", index);
    json_string(j, "class", index >= 0 && j->words ? number : engine_class_name(d->class));
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
    JSON_UINTS(j, {"invocations", l->invocations}, {"shared_bytes", l->shared_bytes});
    json_uints(j, "groups", l->groups, 3);
    JSON_UINTS(j, {"buffer_range", l->buffer_range}, {"memory", l->memory});
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
    } sizes[] = {{"image", p->image_bytes},
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
                 {"all", plan_device_bytes(p)}};
    json_object(j, "bytes");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (!j->words || sizes[i].bytes) json_size(j, sizes[i].key, sizes[i].bytes);
    json_close(j);
}

void describe_plan_json(json_out *j, const char *key, const plan *p) {
    const plan_request *a = &p->ask;
    const uint32_t lengths[] = {length_along(p, PLAN_X), length_along(p, PLAN_Y)};
    json_sheet(j, key);
    json_uints(j, "image", a->size, PLAN_AXES);
    json_uints(j, "reach_before", a->reach_lo, PLAN_AXES);
    json_uints(j, "reach_after", a->reach_hi, PLAN_AXES);
    JSON_UINTS(j, {"channels", a->channels}, {"kernel_channels", a->spectra});
    json_bool(j, "kernel_symmetric", a->symmetric);
    json_line(j);
    json_string(j, "precision", precision(p->sample_bytes == 8));
    json_string(j, "first", AXIS[p->first]);
    json_uints(j, "lengths", lengths, PLAN_AXES);
    json_uints(j, "power_of_two_lengths", p->power_of_two, PLAN_AXES);
    if (!j->words) json_reals(j, "cost", 6, p->cost, PLAN_AXES); /* it has no unit */
    json_line(j);
    JSON_UINTS(j, {"channels_per_bind", p->channels_per_bind}, {"frames", p->frames});
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
    JSON_EACH(j, json_fixed, 6, {"download", t->download}, {"total", t->total});
    json_close(j);
}

/* --- results ------------------------------------------------------------------------------- */

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

static const char *const STORED[] = {
    [STORED_ROUNDED] = "rounded", [STORED_LOSSY] = "lossy", [STORED_PICTURE] = "picture"};

static void promise_json(const bloom_report *r, json_out *j) {
    const accuracy *a = &r->sum.promise.method;
    json_sheet(j, "promise");
    json_real(j, "tolerance", ALL_DIGITS, r->sum.promise.tolerance);
    if (r->stored == STORED_LOSSY)
        json_raw(j, "kept", j->words ? "unknown" : "null");
    else
        json_bool(j, "kept", a->kept);
    json_string(j, "precision", precision(a->precision == PRECISION_FLOAT64));
    json_string(j, "channel", r->sum.promise.channel);
    JSON_EACH(j, json_real, ALL_DIGITS, {"error", a->error[a->channel]}, {"allowed", a->allowed},
              {"darkest", a->darkest});
    JSON_UINTS(j, {"attempts", r->sum.promise.attempts}, {"proved", r->sum.promise.proved});
    json_real(j, "proof", ALL_DIGITS, r->sum.promise.proof);
    if (r->stored) json_string(j, "stored", STORED[r->stored]);
    json_close(j);
}

static void solved_json(const bloom_solved *s, json_out *j) {
    json_sheet(j, "deglare");
    if (s->blooms) {
        JSON_UINTS(j, {"steps", s->steps}, {"blooms", s->blooms});
        json_real(j, "error_bound", ALL_DIGITS, s->bound);
        json_string(j, "channel", s->channel);
        json_ints(j, "at", (int32_t[]){s->x, s->y}, 2);
        json_real(j, "is", ALL_DIGITS, s->value);
        json_line(j);
    } else {
        json_uint(j, "steps_at_most", s->steps);
        JSON_EACH(j, json_real, ALL_DIGITS, {"range_of_light", s->range}, {"noise_gain", s->noise},
                  {"noise_gain_at_most", s->noise_most});
        json_line(j);
    }
    JSON_EACH(j, json_real, ALL_DIGITS, {"core_radius", s->radius}, {"core", s->core},
              {"tail", s->tail}, {"ratio", s->ratio});
    if (s->blooms) {
        json_line(j);
        JSON_EACH(j, json_real, ALL_DIGITS, {"amount", s->amount},
                  {"amount_error", s->amount_error});
        json_uint(j, "clipped", s->clipped);
        JSON_EACH(j, json_real, ALL_DIGITS, {"clip", s->clip}, {"clip_reach", s->reach});
        json_uint(j, "negative", s->negative);
        JSON_EACH(j, json_real, ALL_DIGITS, {"lowest", s->lowest}, {"amount_for_none", s->enough});
    }
    json_close(j);
}

static void verified_json(const bloom_report *r, json_out *j) {
    const bloom_verified *v = &r->sum.verified;
    const verify_pixel *p = &v->found.worst;
    json_object(j, "verify");
    JSON_UINTS(j, {"pixels", v->found.pixels}, {"broken", v->found.broken});
    json_object(j, "worst");
    json_string(j, "channel", v->channel);
    json_int(j, "x", v->x);
    json_int(j, "y", v->y);
    JSON_EACH(j, json_real, ALL_DIGITS, {"is", p->got}, {"should_be", p->want},
              {"error", p->error});
    json_close(j);
    json_close(j);
}

static void ledger_json(const ledger_row *row, json_out *j) {
    json_object(j, NULL);
    json_string(j, "channel", row->channel);
    JSON_EACH(j, json_real, ALL_DIGITS, {"in", row->in}, {"gained", row->gained}, {"out", row->out},
              {"spilled", row->spilled}, {"bad", row->bad}, {"overflow", row->overflow},
              {"negative", row->negative}, {"gap", ledger_gap(row)}, {"centre", row->centre});
    JSON_UINTS(j, {"bad_pixels", row->bad_pixels}, {"overflow_pixels", row->overflow_pixels},
               {"negative_pixels", row->negative_pixels});
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
    if (t->windows > 0) json_real(j, "windows", 3, t->windows);
    json_close(j);
}

void describe_tiles(const tiling *t, text *to) {
    char b[32];
    text_add(to, "%u x %u pixels in %u x %u tiles of %u x %u, of which %u x %u count", t->size[0],
             t->size[1], t->count[0], t->count[1], t->tile[0], t->tile[1], t->kept[0], t->kept[1]);
    if (t->windows > 0)
        text_add(to, ", with windows of %.2g times the points of a tile", t->windows);
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
    (j->words ? json_list : json_array)(j, "notes");
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

/* --- the report of a run --- */

enum { FRAME_DEPTH = 2 }; /* objects and arrays around a frame */

const char *const REPORT_STATE[FRAME_STATES] = {"done", "current", "skipped", "failed"};

bool report_open(report *r, const run_choice *run, const picture_look *look, size_t frames,
                 err *e) {
    *r = (report){.run = run, .look = *look, .start = clock_now(), .frames = frames};
    return (r->frame = mem_new(frames, sizeof *r->frame, "report", e)) != NULL;
}

void report_close(report *r) {
    for (size_t i = 0; r->frame && i < r->frames; i++) text_free(&r->frame[i]);
    text_free(&r->devices);
    mem_free(r->frame);
    *r = (report){0};
}

void report_frame_json(json_out *j, const frame_result *f, const char *state) {
    if (f->number) json_int(j, "frame", *f->number);
    if (f->view) json_string(j, "view", f->view);
    json_string(j, "state", state);
    json_string(j, "input", f->input);
    json_string(j, "output", f->output);
    if (f->why) json_string(j, "why", f->why);
    if (f->kernel_scale > 0) json_real(j, "kernel_scale", 6, f->kernel_scale);
}

static void keep_text(report *r, size_t index, const frame_result *f) {
    const bloom_report *m = f->made;
    json_out j = {.to = &r->frame[index], .depth = FRAME_DEPTH};
    json_block(&j, NULL);
    report_frame_json(&j, f, REPORT_STATE[f->state]);
    if (m) {
        json_object(&j, "seconds");
        JSON_EACH(&j, json_fixed, 6, {"load", f->load}, {"bloom", f->bloom}, {"save", f->save},
                  {"spectrum", m->sum.spectrum_seconds}, {"contract", m->sum.contract_seconds});
        json_close(&j);
        json_bool(&j, "spectrum_cached", m->sum.spectrum_cached);
        json_uint(&j, "groups", m->groups);
        describe_made_json(&j, m);
        describe_notes_json(&j, NULL, m);
    }
    json_close(&j);
}

void report_add(report *r, size_t index, const frame_result *f) {
    const bloom_report *m = f->made;
    if (!r->brief) keep_text(r, index, f);
    r->count[f->state]++;
    r->missing += f->missing;
    if (f->state != FRAME_DONE || !m || !m->groups) return;
    r->work += f->pixels / (1920.0 * 1080) * fmax(account_points(&m->sum), 1);
    r->fields |= account_points(&m->sum) > 0;
    for (int i = 0; i < r->makers; i++)
        if (strcmp(r->by[i].name, m->sum.device.name) == 0) return;
    if (r->makers == ENGINE_DEVICES) return;
    r->by[r->makers++] = m->sum.device;
    const char *name = m->sum.device.class == ENGINE_CPU ? "CPU" : m->sum.device.name;
    text_add(&r->devices, "%s%s", r->devices.n ? " + " : "", name);
}

void report_counts_json(json_out *j, const size_t count[FRAME_STATES]) {
    for (int i = 0; i < FRAME_STATES; i++) json_uint(j, REPORT_STATE[i], count[i]);
}

void report_text(const report *r, const cli *c, int status, text *to) {
    settings s = picture_look_settings(r->run->s, &r->look);
    json_out j = json_begin(to);
    json_string(&j, "program", "fftbloom " VERSION);
    json_int(&j, "exit_status", status);
    cli_error_json(&j, c->e);
    json_fixed(&j, "seconds", 6, clock_now() - r->start);
    report_counts_json(&j, r->count);
    s.kernel_auto |= r->run->kernel->follows;
    json_block(&j, "settings");
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++)
        if (o->on & c->cmd->bit && !o->flag_only) settings_json(&s, o, &j, o->name);
    json_close(&j);
    json_list(&j, "frames");
    for (size_t i = 0; i < r->frames; i++)
        if (r->frame[i].n) json_raw(&j, NULL, r->frame[i].s);
    json_end(&j);
}

bool report_write(const report *r, const cli *c, int status, err *e) {
    OWN(text) out = {0};
    report_text(r, c, status, &out);
    bool ok = file_write_all(r->run->report, out.s, out.n, e);
    return ok || err_in(e, "report");
}
