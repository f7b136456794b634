#include "device/device_speed.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "math/lengths.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds per byte of an image's planes for reading and writing it: EXR with ZIP on two cores. It
 * is the same for every device, so a rough value does. */
static const double FILES = 8e-9;

double device_steps(const plan *p) {
    double pairs = (p->axis[1].extent + 1) / 2;
    double lines[2] = {2 * pairs, 2.0 * p->halves}; /* there and back */
    double steps = 0;
    for (int i = 0; i < 2; i++)
        steps += lines[i] * (p->ask.limits.invocations ? length_cost(p->axis[i].length)
                                                       : length_cost_cpu(p->axis[i].length));
    return steps * p->ask.channels;
}

double device_image_bytes(const plan *p) {
    return (double)p->ask.size[PLAN_X] * p->ask.size[PLAN_Y] * p->ask.channels * p->sample_bytes;
}

double device_travel_bytes(const plan *p) {
    double in = p->input_bytes ? 2 : p->sample_bytes;
    return device_image_bytes(p) * (in + p->sample_bytes) / (2.0 * p->sample_bytes);
}

/* CPU: one core of an EPYC with estimated FFTW plans (docs/notebook.md). Software: lavapipe on the
 * same core, which is never faster, and compiles for most of a second. GPU: an H200 was calibrated
 * at 0.15 to 0.9 s, 0.1 ms, 6.6e-11 s/byte and 4.0e-13 s/step; other cards start as fast, have a
 * fifth of its memory's speed, and sit behind a slower bus. Doubles: measured on the CPU, on
 * lavapipe, and 1.9 to 2.1 on an H200, where the passes wait for memory. Cards whose doubles run at
 * a 32nd or a 64th of the rate wait for arithmetic: 4 to 10 times, by their data sheets. */
device_speed device_speed_default(engine_class class, int threads) {
    static const device_speed DEFAULT[] = {
        [ENGINE_CPU] = {2e-3, 1e-4, 0, 0.25e-9, .doubles = 2.8},
        [ENGINE_GPU] = {0.3, 2e-4, 1e-10, 2e-12, .doubles = 4},
        [ENGINE_SOFTWARE] = {0.7, 1e-3, 3e-10, 2e-8, .doubles = 2},
    };
    device_speed s = DEFAULT[class];
    /* More cores share the memory, so that each brings a little less. */
    if (class != ENGINE_GPU) s.work /= pow(threads > 1 ? threads : 1, 0.9);
    return s;
}

device_seconds device_predict(const device_speed *s, engine_class class, const plan *p,
                              uint32_t images) {
    double n = images ? images : 1;
    device_seconds t = {.start = s->start, .files = FILES * device_image_bytes(p)};
    double step = s->work * (p->sample_bytes == 8 ? s->doubles : 1);
    t.image = s->frame + s->transfer * device_travel_bytes(p) + step * device_steps(p);
    double next = class == ENGINE_GPU ? fmax(t.files, t.image) : t.files + t.image;
    t.all = t.start + t.files + t.image + (n - 1) * next;
    return t;
}

/* --- files -------------------------------------------------------------------------------- */

typedef struct {
    const char *key;
    size_t at;
    bool later; /* files of earlier versions lack it: the default is kept */
} field;

static const field FIELDS[] = {
    {"start", offsetof(device_speed, start), false},
    {"frame", offsetof(device_speed, frame), false},
    {"transfer", offsetof(device_speed, transfer), false},
    {"work", offsetof(device_speed, work), false},
    {"doubles", offsetof(device_speed, doubles), true},
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

static double *value_of(device_speed *s, const field *f) {
    return (double *)(void *)((char *)s + f->at);
}

/* <cache_dir>/device-speed-<16 digits of what the measurement holds for> */
static void speed_path(text *path, const engine_device *d, int threads, const char *cache_dir) {
    text id = {0};
    char hash[HASH_TEXT];
    text_add(&id, "%d\n%s\n%s\n%d\n", (int)d->class, d->name, d->driver,
             d->class == ENGINE_GPU ? 0 : threads);
    hash_text(hash_bytes(id.s, id.n), hash);
    text_add(path, "%s/device-speed-%.16s", cache_dir, hash);
    text_free(&id);
}

/* Reads lines of "key number" after one that names the format. */
static bool parse(device_speed *s, const char *body, err *e) {
    static const char HEAD[] = "fftbloom device speed 1\n";
    if (strncmp(body, HEAD, sizeof HEAD - 1) != 0)
        return err_set(e, ERR_DATA, "it does not begin with '%.*s'", (int)sizeof HEAD - 2, HEAD);
    for (int i = 0; i < FIELD_COUNT; i++) {
        text key = {0};
        text_add(&key, "\n%s ", FIELDS[i].key);
        const char *line = strstr(body, key.s);
        char *end = NULL;
        double v = line ? strtod(line + key.n, &end) : -1;
        text_free(&key);
        if (!line && FIELDS[i].later) continue;
        if (!(v >= 0 && v < 1e6) || *end != '\n')
            return err_set(e, ERR_DATA, "it has no sane value of '%s'", FIELDS[i].key);
        *value_of(s, &FIELDS[i]) = v;
    }
    s->measured = true;
    return true;
}

device_speed device_speed_load(const engine_device *d, int threads, const char *cache_dir) {
    device_speed s = device_speed_default(d->class, threads), found = s;
    if (!cache_dir) return s;
    text path = {0};
    speed_path(&path, d, threads, cache_dir);
    err e = {0};
    size_t bytes;
    uint8_t *data = file_read_all(path.s, 4096, &bytes, &e);
    if (data && parse(&found, (const char *)data, &e)) s = found;
    if (e.code && e.code != ERR_NO_INPUT)
        log_warn("measured speeds in '%s' are not used: %s", path.s, e.msg);
    mem_free(data);
    text_free(&path);
    return s;
}

bool device_speed_save(const engine_device *d, int threads, const device_speed *s,
                       const char *cache_dir, err *e) {
    text path = {0}, body = {0};
    speed_path(&path, d, threads, cache_dir);
    text_add(&body, "fftbloom device speed 1\n");
    device_speed copy = *s;
    for (int i = 0; i < FIELD_COUNT; i++)
        text_add(&body, "%s %.6g\n", FIELDS[i].key, *value_of(&copy, &FIELDS[i]));
    text_add(&body, "# %s, %s\n", d->name, d->driver);
    bool ok = file_make_dirs(cache_dir, 0700, e) && file_write_all(path.s, body.s, body.n, e);
    text_free(&path);
    text_free(&body);
    return ok;
}
