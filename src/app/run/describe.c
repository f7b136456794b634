#include "app/run/describe.h"

#include "base/json_out.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const AXIS[] = {"x", "y"};

const char *describe_precision(bool doubles) {
    return doubles ? "float64" : "float32";
}

static const char *precision_name(const plan *p) {
    return describe_precision(p->sample_bytes == 8);
}

/* --- devices ------------------------------------------------------------------------------- */

const char *describe_class(engine_class c) {
    static const char *const NAME[] = {
        [ENGINE_CPU] = "cpu", [ENGINE_GPU] = "gpu", [ENGINE_SOFTWARE] = "software"};
    return NAME[c];
}

const char *describe_uuid(const engine_device *d, char buf[DESCRIBE_UUID]) {
    static const uint8_t NONE[ENGINE_UUID];
    char *p = buf;
    *p = 0;
    if (memcmp(d->uuid, NONE, ENGINE_UUID) == 0) return buf;
    for (int i = 0; i < ENGINE_UUID; i++) p += sprintf(p, "%02x", d->uuid[i]);
    return buf;
}

void describe_device_json(const engine_device *d, int index, text *to) {
    char uuid[DESCRIBE_UUID];
    const plan_limits *l = &d->limits;
    json_out j = {.to = to};
    json_object(&j, NULL);
    if (index >= 0) json_int(&j, "index", index);
    json_string(&j, "class", describe_class(d->class));
    json_string(&j, "name", d->name);
    json_string(&j, "driver", d->driver);
    json_string(&j, "uuid", describe_uuid(d, uuid));
    json_uint(&j, "memory", d->memory);
    json_object(&j, "limits");
    json_uint(&j, "invocations", l->invocations);
    json_uint(&j, "shared_bytes", l->shared_bytes);
    json_uints(&j, "groups", l->groups, 3);
    json_uint(&j, "buffer_range", l->buffer_range);
    json_uint(&j, "memory", l->memory);
    json_bool(&j, "float64", l->float64);
    json_close(&j);
    json_close(&j);
}

void describe_device(const engine_device *d, int index, text *to) {
    char uuid[DESCRIBE_UUID], memory[32];
    text_add(to, "%-3d %-8s %s", index, describe_class(d->class), d->name);
    if (d->driver[0]) text_add(to, ", %s", d->driver);
    if (d->memory) text_add(to, ", %s", text_bytes((double)d->memory, memory));
    if (d->limits.float64) text_add(to, ", float64");
    if (*describe_uuid(d, uuid)) text_add(to, "\n             %s", uuid);
    text_add(to, "\n");
}

/* --- plans --------------------------------------------------------------------------------- */

static void fft_json(const char *key, const plan_fft *f, json_out *j) {
    json_object(j, key);
    json_uint(j, "length", f->length);
    json_uints(j, "radices", f->radix, f->stages);
    json_close(j);
}

static void axis_json(const plan_axis *a, const char *name, json_out *j) {
    json_object(j, NULL);
    json_string(j, "axis", name);
    json_uint(j, "extent", a->extent);
    json_uint(j, "length", a->length);
    json_uint(j, "split", a->split);
    json_string(j, "border", plan_border_name(a->border));
    json_uint(j, "before", a->before);
    json_uint(j, "after", a->after);
    json_bool(j, "one_pass", a->one_pass);
    if (a->one_pass && a->fft.length) {
        json_bool(j, "alone", a->alone);
        fft_json("fft", &a->fft, j);
    } else if (!a->one_pass) {
        fft_json("outer", &a->outer, j);
        fft_json("inner", &a->inner, j);
    }
    json_close(j);
}

/* Numbers that a thread holds in registers: those of the stage with the most. */
static uint32_t elements(const plan_pass *p) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->fft.stages; i++)
        most = max_u32(most, p->butterflies[i] * p->fft.radix[i]);
    return most;
}

static void pass_json(const plan_pass *p, json_out *j) {
    json_object(j, NULL);
    json_string(j, "pass", plan_pass_name(p->kind));
    json_uint(j, "along", p->axis);
    fft_json("fft", &p->fft, j);
    json_uint(j, "lines", p->lines);
    json_uint(j, "threads", p->threads);
    json_uint(j, "elements", elements(p));
    json_uints(j, "butterflies", p->butterflies, p->fft.stages);
    json_bool(j, "paired", p->paired);
    json_bool(j, "whole", p->whole);
    json_uint(j, "shared_bytes", p->shared_bytes);
    json_uints(j, "groups", p->groups, 3);
    json_uint(j, "bytes", p->bytes);
    json_close(j);
}

/* Of the second half spectrum, where passes 1 and 2 leave theirs differently. */
static uint64_t tiled_bytes(const plan *p) {
    return p->tile != p->tile_in ? p->scratch_bytes : 0;
}

void describe_plan_json(const plan *p, int indent, text *to) {
    const plan_axis *x = &p->axis[p->first == PLAN_X ? 0 : 1], *y = &p->axis[p->first == PLAN_X];
    const plan_request *a = &p->ask;
    json_out j = {.to = to, .depth = indent};
    json_object(&j, NULL);
    json_line(&j);
    json_uints(&j, "image", a->size, PLAN_AXES);
    json_uints(&j, "reach_before", a->reach_lo, PLAN_AXES);
    json_uints(&j, "reach_after", a->reach_hi, PLAN_AXES);
    json_uint(&j, "channels", a->channels);
    json_uint(&j, "kernel_channels", a->spectra);
    json_line(&j);
    json_string(&j, "precision", precision_name(p));
    json_string(&j, "first", AXIS[p->first]);
    json_uints(&j, "lengths", (const uint32_t[]){x->length, y->length}, PLAN_AXES);
    json_uints(&j, "power_of_two_lengths", p->power_of_two, PLAN_AXES);
    json_reals(&j, "cost", 6, p->cost, PLAN_AXES);
    json_line(&j);
    json_uint(&j, "half_lines", p->halves);
    json_uint(&j, "pitch", p->pitch);
    json_uint(&j, "image_pitch", p->image_pitch);
    json_uint(&j, "tile_in", p->tile_in);
    json_uint(&j, "tile", p->tile);
    json_uint(&j, "band", p->band);
    json_uint(&j, "channels_per_bind", p->channels_per_bind);
    json_uint(&j, "frames", p->frames);
    json_line(&j);
    json_object(&j, "bytes");
    json_uint(&j, "image", p->image_bytes);
    json_uint(&j, "scratch", p->scratch_bytes);
    json_uint(&j, "input", p->input_bytes);
    json_uint(&j, "tiled", tiled_bytes(p));
    json_uint(&j, "line", p->line_bytes);
    json_uint(&j, "spectrum", p->spectrum_bytes);
    json_uint(&j, "twiddle", p->twiddle_bytes);
    json_uint(&j, "all", plan_device_bytes(p));
    json_close(&j);
    json_line(&j);
    json_list(&j, "axes");
    axis_json(&p->axis[0], AXIS[p->first], &j);
    axis_json(&p->axis[1], AXIS[1 - p->first], &j);
    json_close(&j);
    json_line(&j);
    json_list(&j, "passes");
    for (uint32_t i = 0; i < p->passes; i++) pass_json(&p->pass[i], &j);
    json_close(&j);
    json_line(&j);
    json_close(&j);
}

void describe_plan_line(const plan *p, text *to) {
    const plan_axis *x = &p->axis[p->first == PLAN_X ? 0 : 1], *y = &p->axis[p->first == PLAN_X];
    text_add(to, "%u x %u in %u x %u, %s first, %s%s", p->ask.size[0], p->ask.size[1], x->length,
             y->length, AXIS[p->first], precision_name(p), p->input_bytes ? " from halfs" : "");
}

static void radices(const plan_fft *f, text *to) {
    for (uint32_t i = 0; i < f->stages; i++) text_add(to, "%s%u", i ? " x " : "", f->radix[i]);
}

static void axis_words(const plan_axis *a, const char *name, const char *which, text *to) {
    text_add(to, "%s axis, %s: %u pixels, %s border, %u needed before and %u after: length %u",
             name, which, a->extent, plan_border_name(a->border), a->before, a->after, a->length);
    if (a->one_pass) {
        text_add(to, a->fft.stages ? " = " : "");
        radices(&a->fft, to);
        if (a->alone) text_add(to, " x 2, each row alone");
    } else {
        text_add(to, " = (");
        radices(&a->outer, to);
        text_add(to, ") x (");
        radices(&a->inner, to);
        text_add(to, "), through memory");
    }
    text_add(to, "\n");
}

static void pass_words(const plan_pass *p, text *to) {
    char bytes[32];
    text_add(to, "  %-10s ", plan_pass_name(p->kind));
    if (p->fft.length) text_add(to, "%5u points", p->fft.length);
    if (p->fft.stages) text_add(to, " = ");
    radices(&p->fft, to);
    if (p->threads) {
        text_add(to, "%s%u threads with %u line%s", p->fft.length ? ", " : "", p->threads, p->lines,
                 p->lines == 1 ? "" : "s");
        if (p->fft.stages) text_add(to, " and %u numbers each", elements(p));
        if (p->paired) text_add(to, " in mirrored pairs");
        text_add(to, ", %u B shared%s, %u x %u x %u groups", p->shared_bytes,
                 p->whole ? " for whole numbers" : "", p->groups[0], p->groups[1], p->groups[2]);
    }
    text_add(to, ", %s\n", text_bytes((double)p->bytes, bytes));
}

/* One buffer of the device's memory. */
static void buffer_words(const char *name, uint64_t bytes, const char *before, text *to) {
    char b[32];
    if (bytes) text_add(to, "%s%s %s", before, name, text_bytes((double)bytes, b));
}

static void memory_words(const plan *p, text *to) {
    char b[32];
    text_add(to, "memory   %s: ", text_bytes((double)plan_device_bytes(p), b));
    buffer_words("image", p->image_bytes, "", to);
    buffer_words("as halfs", p->input_bytes, ", ", to);
    if (p->frames > 1) text_add(to, ", of %u frames in flight each", p->frames);
    buffer_words("half spectrum", p->scratch_bytes, ", ", to);
    if (p->tile_in) text_add(to, " in tiles of %u", p->tile_in);
    buffer_words("a second one", tiled_bytes(p), ", ", to);
    if (tiled_bytes(p) && p->tile) text_add(to, " in tiles of %u", p->tile);
    buffer_words("split lines", p->line_bytes, ", ", to);
    buffer_words("kernel", p->spectrum_bytes, ", ", to);
    buffer_words("tables", p->twiddle_bytes, ", ", to);
    if (p->channels_per_bind < p->ask.channels)
        text_add(to, "; %u channel%s at a time", p->channels_per_bind,
                 p->channels_per_bind == 1 ? "" : "s");
    text_add(to, "\n");
}

void describe_plan(const plan *p, text *to) {
    const plan_axis *x = &p->axis[p->first == PLAN_X ? 0 : 1], *y = &p->axis[p->first == PLAN_X];
    text_add(to, "image    %u x %u, %u channel%s, kernel reaches %u+%u x %u+%u\n", p->ask.size[0],
             p->ask.size[1], p->ask.channels, p->ask.channels == 1 ? "" : "s", p->ask.reach_lo[0],
             p->ask.reach_hi[0], p->ask.reach_lo[1], p->ask.reach_hi[1]);
    text_add(to, "lengths  %u x %u\n", x->length, y->length);
    text_add(to, "order    %s first (cost %.4g with x first, %.4g with y first), %s\n",
             AXIS[p->first], p->cost[0], p->cost[1], precision_name(p));
    memory_words(p, to);
    axis_words(&p->axis[0], AXIS[p->first], "first", to);
    axis_words(&p->axis[1], AXIS[1 - p->first], "second", to);
    if (p->passes) text_add(to, "passes\n");
    for (uint32_t i = 0; i < p->passes; i++) pass_words(&p->pass[i], to);
}

/* --- times --------------------------------------------------------------------------------- */

void describe_times_json(const engine_times *t, const plan *p, text *to) {
    json_out j = {.to = to};
    json_object(&j, NULL);
    json_fixed(&j, "upload", 6, t->upload);
    json_array(&j, "passes");
    for (uint32_t i = 0; i < p->passes; i++) json_fixed(&j, NULL, 6, t->pass[i]);
    json_close(&j);
    json_fixed(&j, "download", 6, t->download);
    json_fixed(&j, "total", 6, t->total);
    json_close(&j);
}

/* --- forecasts ------------------------------------------------------------------------------ */

void describe_forecast(const device_forecast *f, const engine_device *d, uint32_t count, int best,
                       uint32_t images, text *to) {
    text_add(to, "forecast of %u image%s, file to file\n", images, images == 1 ? "" : "s");
    for (uint32_t i = 0; i < count; i++) {
        text_add(to, "%s ", (int)i == best ? "->" : "  ");
        if (d[i].number >= 0) text_add(to, "%d ", d[i].number);
        text_add(to, "%-8s ", describe_class(d[i].class));
        if (f[i].possible)
            text_add(to, "%8.3f s: %.3f to start, %.4f an image, %.3f its files", f[i].time.all,
                     f[i].time.start, f[i].time.image, f[i].time.files);
        else
            text_add(to, "cannot: %s", f[i].why);
        text_add(to, "; %s%s\n", d[i].name, f[i].wanted ? "" : " (not asked for)");
    }
    uint32_t defaults = 0;
    for (uint32_t i = 0; i < count; i++) defaults += !f[i].measured;
    if (defaults)
        text_add(to, "   %sfrom default speeds; `fftbloom bench --calibrate` measures them\n",
                 defaults < count ? "partly " : "");
}

void describe_forecast_json(const device_forecast *f, const engine_device *d, uint32_t count,
                            int indent, text *to) {
    json_out j = {.to = to, .depth = indent};
    json_list(&j, NULL);
    for (uint32_t i = 0; i < count; i++) {
        json_object(&j, NULL);
        describe_device_json(&d[i], d[i].number, json_here(&j, "device"));
        json_line_at(&j, 2 * j.depth - 1);
        json_bool(&j, "wanted", f[i].wanted);
        json_bool(&j, "possible", f[i].possible);
        json_bool(&j, "measured", f[i].measured);
        if (f[i].possible) {
            json_object(&j, "seconds");
            json_fixed(&j, "start", 6, f[i].time.start);
            json_fixed(&j, "image", 6, f[i].time.image);
            json_fixed(&j, "files", 6, f[i].time.files);
            json_fixed(&j, "all", 6, f[i].time.all);
            json_close(&j);
        } else {
            json_string(&j, "why", f[i].why);
        }
        json_close(&j);
    }
    json_close(&j);
}
