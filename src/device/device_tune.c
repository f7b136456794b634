#include "device/device_tune.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "math/lengths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- plans ----------------------------------------------------------------------------------- */

static plan_precision precision_of(const plan_request *ask) {
    return ask->precision == PRECISION_AUTO ? PRECISION_FLOAT32 : ask->precision;
}

static bool same_plan(const device_shape *a, const device_shape *b) {
    return a->first == b->first && a->length[0] == b->length[0] && a->length[1] == b->length[1] &&
           a->precision == b->precision;
}

void device_tune_name(device_shape *s, const plan *p) {
    s->first = p->first;
    for (int i = 0; i < 2; i++) s->length[i] = p->axis[i].length;
    s->precision = precision_of(&p->ask);
}

static int find(const device_tune *t, const device_shape *like) {
    for (uint32_t i = 0; t && i < t->count; i++)
        if (same_plan(&t->shape[i], like)) return (int)i;
    return -1;
}

bool device_tune_plan(plan *p, const device_tune *t, const plan_request *ask, err *e) {
    device_shape own = {0};
    plan tuned;
    if (!plan_make(p, ask, e)) return false;
    device_tune_name(&own, p);
    int i = ask->limits.invocations ? find(t, &own) : -1;
    if (i < 0 || (ask->order != AXIS_AUTO && ask->order != t->shape[i].order)) return true;
    plan_request better = *ask;
    better.order = t->shape[i].order;
    better.tune = t->shape[i].tune;
    if (plan_make(&tuned, &better, NULL)) *p = tuned;
    return true;
}

bool device_tune_is_in(const plan *p) {
    return p->ask.tune.length[0] > 0;
}

/* --- the list -------------------------------------------------------------------------------- */

static void drop_at(device_tune *t, uint32_t i) {
    t->count--;
    memmove(&t->shape[i], &t->shape[i + 1], (t->count - i) * sizeof t->shape[i]);
}

void device_tune_drop(device_tune *t, const device_shape *s) {
    int i = find(t, s);
    if (i >= 0) drop_at(t, (uint32_t)i);
}

void device_tune_put(device_tune *t, const device_shape *s) {
    device_tune_drop(t, s);
    if (t->count == DEVICE_SHAPES) drop_at(t, 0);
    t->shape[t->count++] = *s;
}

/* --- one line -------------------------------------------------------------------------------- */

static const char *const PRECISION[] = {
    [PRECISION_FLOAT32] = "float32", [PRECISION_FLOAT64] = "float64", [PRECISION_HALF] = "half"};
static const char *const WHOLE[] = {"auto", "on", "off"};
static const char FORMAT[] = "%c %u %u %15s : %c %u %u radices %31s %31s threads %u %u lines "
                             "%u %u %u whole %7s tiles %u %u seconds %lf %lf%n";
enum { FIELDS = 19 };

static void add_radices(const uint32_t *radix, text *to) {
    if (!radix[0]) text_add(to, "-");
    for (int i = 0; i < PLAN_STAGES && radix[i]; i++) text_add(to, "%s%u", i ? "." : "", radix[i]);
}

void device_tune_text(const device_shape *s, text *to) {
    const plan_tune *t = &s->tune;
    text_add(to, "%c %u %u %s : %c %u %u radices ", "xy"[s->first], s -> length[0], s -> length[1],
             PRECISION[s->precision], s -> order == AXIS_Y ? 'y' : 'x', t->length[0], t->length[1]);
    add_radices(t->radix[0], to);
    text_add(to, " ");
    add_radices(t->radix[1], to);
    text_add(to, " threads %u %u lines %u %u %u whole %s tiles %u %u seconds %.9f %.9f",
             t->threads[0], t->threads[1], t->lines[0], t->lines[1], t->lines[2], WHOLE[t->whole],
             t->tile_in, t->tile, s->before, s->after);
}

/* "16.8.16", or "-" for none; only radices that the shaders have. */
static bool read_radices(uint32_t radix[PLAN_STAGES], const char *s) {
    if (strcmp(s, "-") == 0) return true;
    for (int i = 0; i < PLAN_STAGES; i++) {
        char *end;
        unsigned long r = strtoul(s, &end, 10);
        if (end == s || r > PLAN_MAX_RADIX || !length_is_radix((uint32_t)r)) return false;
        radix[i] = (uint32_t)r;
        if (!*end) return true;
        if (*end != '.') return false;
        s = end + 1;
    }
    return false;
}

static int word(const char *s, const char *const *list, int count) {
    for (int i = 0; i < count; i++)
        if (list[i] && strcmp(s, list[i]) == 0) return i;
    return -1;
}

static bool is_tile(uint32_t n) {
    return n <= 8 && (n & (n - 1)) == 0;
}

/* What a search can have written. The planner checks the rest: lengths, radices, and whether all
 * of it fits the device. */
static bool is_sane(const device_shape *s) {
    const plan_tune *t = &s->tune;
    for (int i = 0; i < 2; i++)
        if (s->length[i] < 2 || t->length[i] < 2 || t->length[i] > LENGTH_MAX ||
            t->threads[i] > 1024)
            return false;
    for (int i = 0; i < 3; i++)
        if (t->lines[i] > 16) return false;
    return is_tile(t->tile_in) && is_tile(t->tile) && s->before >= 0 && s->after >= 0;
}

static bool read_line(device_shape *to, const char *line) {
    device_shape s = {0};
    plan_tune *t = &s.tune;
    char own, order, precision[16], radix[2][32], whole[8];
    int used = 0;
    int n = sscanf(line, FORMAT, &own, &s.length[0], &s.length[1], precision, &order, &t->length[0],
                   &t->length[1], radix[0], radix[1], &t->threads[0], &t->threads[1], &t->lines[0],
                   &t->lines[1], &t->lines[2], whole, &t->tile_in, &t->tile, &s.before, &s.after,
                   &used);
    if (n != FIELDS || line[used] || !strchr("xy", own) || !strchr("xy", order)) return false;
    int p = word(precision, PRECISION, 1 + PRECISION_HALF), w = word(whole, WHOLE, 3);
    s.first = own == 'y' ? PLAN_Y : PLAN_X;
    s.order = order == 'y' ? AXIS_Y : AXIS_X;
    if (p < 0 || w < 0 || !read_radices(t->radix[0], radix[0]) ||
        !read_radices(t->radix[1], radix[1]))
        return false;
    s.precision = (plan_precision)p;
    t->whole = (plan_switch)w;
    *to = s;
    return is_sane(&s);
}

/* --- files ----------------------------------------------------------------------------------- */

static const char HEAD[] = "fftbloom device tune 1";

/* The file's second line: shapes are for this and nothing else. */
static void add_identity(const engine_device *d, text *to) {
    text_add(to, "# ");
    for (int i = 0; i < ENGINE_UUID; i++) text_add(to, "%02x", d->uuid[i]);
    text_add(to, ", %s, %s", d->name, d->driver);
}

/* <cache_dir>/device-tune-<16 digits of the device and its driver> */
static void tune_path(text *path, const engine_device *d, const char *cache_dir) {
    text id = {0};
    char hash[HASH_TEXT];
    add_identity(d, &id);
    hash_text(hash_bytes(id.s, id.n), hash);
    text_add(path, "%s/device-tune-%.16s", cache_dir, hash);
    text_free(&id);
}

/* The next line of *at, without its end; NULL after the last. Cuts the text to pieces. */
static char *next_line(char **at) {
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (!end) return NULL;
    *end = 0;
    *at = end + 1;
    return line;
}

static bool parse(device_tune *t, const engine_device *d, char *body, err *e) {
    text id = {0};
    add_identity(d, &id);
    char *line = next_line(&body);
    if (!line || strcmp(line, HEAD) != 0)
        err_set(e, ERR_DATA, "it does not begin with '%s'", HEAD);
    else if (!(line = next_line(&body)) || strcmp(line, id.s) != 0)
        err_set(e, ERR_DATA, "it is not of this device and driver");
    text_free(&id);
    if (e->code) return false;
    while ((line = next_line(&body))) {
        device_shape s;
        if (!read_line(&s, line)) return err_set(e, ERR_DATA, "'%.80s' is no shape", line);
        device_tune_put(t, &s);
    }
    return !*body || err_set(e, ERR_DATA, "its last line has no end");
}

void device_tune_load(device_tune *t, const engine_device *d, const char *cache_dir) {
    t->count = 0;
    if (!cache_dir || !d->limits.invocations) return;
    text path = {0};
    tune_path(&path, d, cache_dir);
    err e = {0};
    size_t bytes;
    char *data = (char *)file_read_all(path.s, 1 << 16, &bytes, &e);
    if (data && !parse(t, d, data, &e)) t->count = 0;
    if (e.code && e.code != ERR_NO_INPUT)
        log_warn("tuned shapes in '%s' are not used: %s; `fftbloom bench --tune` makes new ones",
                 path.s, e.msg);
    mem_free(data);
    text_free(&path);
}

bool device_tune_save(const device_tune *t, const engine_device *d, const char *cache_dir, err *e) {
    text path = {0}, body = {0};
    tune_path(&path, d, cache_dir);
    text_add(&body, "%s\n", HEAD);
    add_identity(d, &body);
    text_add(&body, "\n");
    for (uint32_t i = 0; i < t->count; i++) {
        device_tune_text(&t->shape[i], &body);
        text_add(&body, "\n");
    }
    bool ok = file_make_dirs(cache_dir, e) && file_write_all(path.s, body.s, body.n, e);
    text_free(&path);
    text_free(&body);
    return ok;
}
