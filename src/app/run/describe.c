#include "app/run/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char AXIS[] = "xy";

static const char *precision_name(const plan *p) {
    return p->sample_bytes == 8 ? "float64" : "float32";
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
    text_add(to, "{");
    if (index >= 0) text_add(to, "\"index\": %d, ", index);
    text_add(to, "\"class\": \"%s\", \"name\": ", describe_class(d->class));
    text_add_json(to, d->name);
    text_add(to, ", \"driver\": ");
    text_add_json(to, d->driver);
    text_add(to, ", \"uuid\": \"%s\", \"memory\": %" PRIu64, describe_uuid(d, uuid), d->memory);
    text_add(to, ", \"limits\": {\"invocations\": %u, \"shared_bytes\": %u, ", l->invocations,
             l->shared_bytes);
    text_add(to, "\"groups\": [%u, %u, %u], \"buffer_range\": %" PRIu64, l->groups[0], l->groups[1],
             l->groups[2], l->buffer_range);
    text_add(to, ", \"memory\": %" PRIu64 ", \"float64\": %s}}", l->memory,
             l->float64 ? "true" : "false");
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

static void fft_json(const char *key, const plan_fft *f, text *to) {
    text_add(to, "\"%s\": {\"length\": %u, \"radices\": [", key, f->length);
    for (uint32_t i = 0; i < f->stages; i++) text_add(to, "%s%u", i ? ", " : "", f->radix[i]);
    text_add(to, "]}");
}

static void axis_json(const plan_axis *a, char name, text *to) {
    text_add(to, "{\"axis\": \"%c\", \"extent\": %u, \"length\": %u, \"split\": %u, ", name,
             a->extent, a->length, a->split);
    text_add(to, "\"border\": \"%s\", \"before\": %u, \"after\": %u, \"one_pass\": %s",
             plan_border_name(a->border), a->before, a->after, a->one_pass ? "true" : "false");
    if (a->one_pass && a->fft.length) {
        text_add(to, ", \"alone\": %s, ", a->alone ? "true" : "false");
        fft_json("fft", &a->fft, to);
    } else if (!a->one_pass) {
        text_add(to, ", ");
        fft_json("outer", &a->outer, to);
        text_add(to, ", ");
        fft_json("inner", &a->inner, to);
    }
    text_add(to, "}");
}

/* Numbers that a thread holds in registers: those of the stage with the most. */
static uint32_t elements(const plan_pass *p) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->fft.stages; i++) {
        uint32_t n = p->butterflies[i] * p->fft.radix[i];
        if (n > most) most = n;
    }
    return most;
}

static const char *yes_no(bool b) {
    return b ? "true" : "false";
}

static void pass_json(const plan_pass *p, text *to) {
    text_add(to, "{\"pass\": \"%s\", \"along\": %u, ", plan_pass_name(p->kind), p->axis);
    fft_json("fft", &p->fft, to);
    text_add(to, ", \"lines\": %u, \"threads\": %u, \"elements\": %u, \"butterflies\": [", p->lines,
             p->threads, elements(p));
    for (uint32_t i = 0; i < p->fft.stages; i++)
        text_add(to, "%s%u", i ? ", " : "", p->butterflies[i]);
    text_add(to, "], \"paired\": %s, \"whole\": %s, ", yes_no(p->paired), yes_no(p->whole));
    text_add(to, "\"shared_bytes\": %u, \"groups\": [%u, %u, %u], \"bytes\": %" PRIu64 "}",
             p->shared_bytes, p->groups[0], p->groups[1], p->groups[2], p->bytes);
}

/* Of the second half spectrum, where passes 1 and 2 leave theirs differently. */
static uint64_t tiled_bytes(const plan *p) {
    return p->tile != p->tile_in ? p->scratch_bytes : 0;
}

static void request_json(const plan_request *a, text *to) {
    text_add(to, "\"image\": [%u, %u], \"reach_before\": [%u, %u], \"reach_after\": [%u, %u], ",
             a->size[0], a->size[1], a->reach_lo[0], a->reach_lo[1], a->reach_hi[0],
             a->reach_hi[1]);
    text_add(to, "\"channels\": %u, \"kernel_channels\": %u", a->channels, a->spectra);
}

void describe_plan_json(const plan *p, int indent, text *to) {
    int n = 2 * (indent + 1);
    const plan_axis *x = &p->axis[p->first == PLAN_X ? 0 : 1], *y = &p->axis[p->first == PLAN_X];
    text_add(to, "{\n%*s", n, "");
    request_json(&p->ask, to);
    text_add(to, ",\n%*s\"precision\": \"%s\", \"first\": \"%c\", \"lengths\": [%u, %u], ", n, "",
             precision_name(p), AXIS[p->first], x->length, y->length);
    text_add(to, "\"article_lengths\": [%u, %u], \"cost\": [%.6g, %.6g]", p->article[0],
             p->article[1], p->cost[0], p->cost[1]);
    text_add(to, ",\n%*s\"half_lines\": %u, \"pitch\": %u, \"image_pitch\": %u, ", n, "", p->halves,
             p->pitch, p->image_pitch);
    text_add(to, "\"tile_in\": %u, \"tile\": %u, \"band\": %u, \"channels_per_bind\": %u, ",
             p->tile_in, p->tile, p->band, p->channels_per_bind);
    text_add(to, "\"frames\": %u", p->frames);
    text_add(to, ",\n%*s\"bytes\": {\"image\": %" PRIu64 ", \"scratch\": %" PRIu64, n, "",
             p->image_bytes, p->scratch_bytes);
    text_add(to, ", \"input\": %" PRIu64 ", \"tiled\": %" PRIu64, p->input_bytes, tiled_bytes(p));
    text_add(to, ", \"line\": %" PRIu64 ", \"spectrum\": %" PRIu64 ", \"twiddle\": %" PRIu64,
             p->line_bytes, p->spectrum_bytes, p->twiddle_bytes);
    text_add(to, ", \"all\": %" PRIu64 "}", plan_device_bytes(p));
    text_add(to, ",\n%*s\"axes\": [", n, "");
    for (int i = 0; i < 2; i++) {
        text_add(to, "%s\n%*s", i ? "," : "", n + 2, "");
        axis_json(&p->axis[i], AXIS[i == 0 ? p->first : 1 - p->first], to);
    }
    text_add(to, "\n%*s],\n%*s\"passes\": [", n, "", n, "");
    for (uint32_t i = 0; i < p->passes; i++) {
        text_add(to, "%s\n%*s", i ? "," : "", n + 2, "");
        pass_json(&p->pass[i], to);
    }
    text_add(to, "%s%*s]\n%*s}", p->passes ? "\n" : "", p->passes ? n : 0, "", n - 2, "");
}

void describe_plan_line(const plan *p, text *to) {
    const plan_axis *x = &p->axis[p->first == PLAN_X ? 0 : 1], *y = &p->axis[p->first == PLAN_X];
    text_add(to, "%u x %u in %u x %u, %c first, %s%s", p->ask.size[0], p->ask.size[1], x->length,
             y->length, AXIS[p->first], precision_name(p), p->input_bytes ? " from halfs" : "");
}

static void radices(const plan_fft *f, text *to) {
    for (uint32_t i = 0; i < f->stages; i++) text_add(to, "%s%u", i ? " x " : "", f->radix[i]);
}

static void axis_words(const plan_axis *a, char name, const char *which, text *to) {
    text_add(to, "%c axis, %s: %u pixels, %s border, %u needed before and %u after: length %u",
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
    text_add(to, "order    %c first (cost %.4g with x first, %.4g with y first), %s\n",
             AXIS[p->first], p->cost[0], p->cost[1], precision_name(p));
    memory_words(p, to);
    axis_words(&p->axis[0], AXIS[p->first], "first", to);
    axis_words(&p->axis[1], AXIS[1 - p->first], "second", to);
    if (p->passes) text_add(to, "passes\n");
    for (uint32_t i = 0; i < p->passes; i++) pass_words(&p->pass[i], to);
}

/* --- times --------------------------------------------------------------------------------- */

void describe_times_json(const engine_times *t, const plan *p, text *to) {
    text_add(to, "{\"upload\": %.6f, \"passes\": [", t->upload);
    for (uint32_t i = 0; i < p->passes; i++) text_add(to, "%s%.6f", i ? ", " : "", t->pass[i]);
    text_add(to, "], \"download\": %.6f, \"total\": %.6f}", t->download, t->total);
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
    int n = 2 * (indent + 1);
    text_add(to, "[");
    for (uint32_t i = 0; i < count; i++) {
        text_add(to, "%s\n%*s{\"device\": ", i ? "," : "", n, "");
        describe_device_json(&d[i], d[i].number, to);
        text_add(to, ",\n%*s \"wanted\": %s, \"possible\": %s, \"measured\": %s, ", n, "",
                 f[i].wanted ? "true" : "false", f[i].possible ? "true" : "false",
                 f[i].measured ? "true" : "false");
        if (f[i].possible)
            text_add(to,
                     "\"seconds\": {\"start\": %.6f, \"image\": %.6f, \"files\": %.6f, "
                     "\"all\": %.6f}}",
                     f[i].time.start, f[i].time.image, f[i].time.files, f[i].time.all);
        else {
            text_add(to, "\"why\": ");
            text_add_json(to, f[i].why);
            text_add(to, "}");
        }
    }
    text_add(to, "%s%*s]", count ? "\n" : "", count ? n - 2 : 0, "");
}
