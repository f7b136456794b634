/* plan.c - from the request to the numbers. Reads top down: axes, order, passes, bytes. */
#include "math/plan.h"

#include "math/lengths.h"

#include <inttypes.h>
#include <string.h>

static const char *const BORDER_NAME[] = {"zero", "mirror", "clamp", "wrap"};
static const char *const PASS_NAME[] = {"forward", "convolve",   "inverse", "outer", "outer-back",
                                        "inner",   "inner-back", "unpack",  "pack"};
static const char AXIS_NAME[] = {'x', 'y'};

const char *plan_border_name(plan_border b) {
    return BORDER_NAME[b];
}
const char *plan_pass_name(plan_pass_kind k) {
    return PASS_NAME[k];
}

static bool has_shapes(const plan_request *ask) {
    return ask->limits.invocations > 0;
}

static uint32_t sample_bytes(const plan_request *ask) {
    return ask->precision == PRECISION_FLOAT64 ? 8 : 4;
}

/* --- one axis ---------------------------------------------------------------------------- */

/* Shared memory of a line: one component of each number (they are exchanged one after the other;
 * twice that where pass->whole), digits of a place with odd strides against bank conflicts. As in
 * shaders/fft.glsl. */
static uint32_t shared_of(const plan_fft *f, uint32_t real_bytes) {
    uint32_t stride = 1;
    for (uint32_t s = f->stages; s-- > 1;) stride = f->radix[s] * stride | 1;
    return f->radix[0] * stride * real_bytes;
}

/* The tuned radices of an axis, where they are those of the length. */
static bool tuned_radices(plan_fft *f, uint32_t length, const plan_request *ask, length_use use) {
    const plan_tune *t = &ask->tune;
    bool first = use != LENGTH_COMPLEX;
    int role = first ? 0 : 1;
    uint64_t product = 1;
    *f = (plan_fft){.length = length};
    for (uint32_t s = 0; s < PLAN_STAGES && t->radix[role][s]; s++) {
        f->radix[f->stages++] = t->radix[role][s];
        product *= t->radix[role][s];
    }
    if (product != length || !f->stages || (first && f->radix[f->stages - 1] % 2)) return false;
    f->paired = first && use != LENGTH_ROW_ALONE && length_can_pair(f);
    return length_threads(f, use, t->threads[role], ask->limits.invocations) &&
           shared_of(f, sample_bytes(ask)) <= ask->limits.shared_bytes;
}

/* Radices for a line that one workgroup holds; false when none does. */
static bool fits_one_pass(plan_fft *f, uint32_t length, const plan_request *ask, length_use use) {
    plan_fft found;
    if (!length_radices(&found, length, ask->limits.invocations, use)) return false;
    if (shared_of(&found, sample_bytes(ask)) > ask->limits.shared_bytes) return false;
    *f = found;
    return true;
}

/* length = outer * inner, both held by a workgroup, the inner one as large as possible: then the
 * outer pass, which strides through memory, is the short one. */
static bool split_line(plan_axis *a, const plan_request *ask) {
    for (uint32_t outer = 2; outer <= a->length / outer; outer++) {
        if (a->length % outer) continue;
        if (fits_one_pass(&a->inner, a->length / outer, ask, LENGTH_COMPLEX) &&
            fits_one_pass(&a->outer, outer, ask, LENGTH_COMPLEX))
            return true;
    }
    return false;
}

static bool find_radices(plan_fft *f, uint32_t length, const plan_request *ask, length_use use) {
    return tuned_radices(f, length, ask, use) || fits_one_pass(f, length, ask, use);
}

/* Radices for lines that a workgroup holds whole: pairs of them where it has room for two pairs,
 * else rows by themselves, of which it then has room for two. */
static bool hold_lines(plan_axis *a, const plan_request *ask, uint32_t which, bool first) {
    if (!first) return find_radices(&a->fft, a->length, ask, LENGTH_COMPLEX);
    plan_fft alone;
    length_use use = which == PLAN_X ? LENGTH_REAL_ROWS : LENGTH_REAL_COLUMNS;
    bool pairs = find_radices(&a->fft, a->length, ask, use);
    bool two = pairs && 2 * shared_of(&a->fft, sample_bytes(ask)) <= ask->limits.shared_bytes &&
               2 * a->fft.threads <= ask->limits.invocations;
    a->alone = !two && which == PLAN_X && a->length % 4 == 0 &&
               find_radices(&alone, a->length / 2, ask, LENGTH_ROW_ALONE);
    if (a->alone) a->fft = alone;
    return pairs || a->alone;
}

/* Fills everything but before, after, extent and border; false when the device cannot hold it. */
static bool axis_set_length(plan_axis *a, uint32_t length, const plan_request *ask, uint32_t which,
                            bool first) {
    a->length = length;
    a->split = length; /* wrapped exactly or surrounded by zeros: nothing stands before the image */
    if (a->border != BORDER_ZERO && length != a->extent) a->split = a->extent + a->after;
    a->one_pass = true;
    if (!has_shapes(ask)) return true;
    a->one_pass = hold_lines(a, ask, which, first);
    return a->one_pass || split_line(a, ask);
}

/* The shortest length that is right (docs/math.md, "Borders and lengths"). Zero borders: one gap
 * serves both sides. Wrap: the extent itself if it has the right form, else margins that repeat
 * the image, as mirror and clamp have margins. */
static bool is_exact_wrap(const plan_axis *a, bool first) {
    return a->border == BORDER_WRAP && a->extent >= 2 && length_is_smooth(a->extent) &&
           !(first && a->extent % 2);
}

static uint64_t shortest_length(const plan_axis *a, bool first) {
    uint64_t n = a->extent;
    if (a->border == BORDER_ZERO) return n + (a->before > a->after ? a->before : a->after);
    return is_exact_wrap(a, first) ? n : n + a->before + a->after;
}

enum { CANDIDATES = 48 };

/* Lengths worth comparing: smooth, long enough, at most a third longer than needed. */
static uint32_t candidate_lengths(const plan_axis *a, bool first, uint32_t tuned,
                                  uint32_t out[CANDIDATES]) {
    uint64_t least = shortest_length(a, first);
    if (least < 2) least = 2;
    if (least > LENGTH_MAX) return 0;
    if (is_exact_wrap(a, first)) {
        out[0] = a->extent;
        return 1;
    }
    if (tuned >= least && length_is_smooth(tuned) && !(first && tuned % 2)) {
        out[0] = tuned;
        return 1;
    }
    uint32_t n = 0;
    for (uint32_t l = length_next((uint32_t)least, first ? 2 : 1); l && n < CANDIDATES;
         l = length_next(l + 1, first ? 2 : 1)) {
        if (n && l > least + least / 3) break;
        out[n++] = l;
    }
    return n;
}

static plan_axis axis_of(const plan_request *ask, uint32_t which) {
    return (plan_axis){.extent = ask->size[which],
                       .border = ask->border[which],
                       .before = ask->reach_hi[which],
                       .after = ask->reach_lo[which]};
}

int64_t plan_source(const plan_axis *a, uint32_t i) {
    int64_t n = a->extent, c = i < a->split ? (int64_t)i : (int64_t)i - a->length;
    if (c >= 0 && c < n) return c;
    switch (a->border) {
    case BORDER_CLAMP: return c < 0 ? 0 : n - 1;
    case BORDER_WRAP: return (c % n + n) % n;
    case BORDER_MIRROR: c = (c % (2 * n) + 2 * n) % (2 * n); return c < n ? c : 2 * n - 1 - c;
    default: return -1;
    }
}

uint32_t plan_frequency(const plan_fft *f, uint32_t place) {
    uint32_t k = 0;
    for (uint32_t s = f->stages; s-- > 0;) { /* last digit of the place = highest of k */
        k = k * f->radix[s] + place % f->radix[s];
        place /= f->radix[s];
    }
    return k;
}

/* --- which axis first, and which lengths ---------------------------------------------------- */

/* Prices of a line and direction, in bytes moved. On a GPU what a pass takes goes by the slots of
 * its lines and by arithmetic more than by the bytes (docs/notebook.md, "What a pass takes");
 * the second axis goes there and back in the slots of one. On a CPU arithmetic is nearly all. */
static double line_price(const plan_axis *a, const plan_request *ask, bool first) {
    double number = 2.0 * sample_bytes(ask), slot = 14, step = 6;
    double part = first ? 1 : 0.5; /* of a line, of its slots */
    if (!has_shapes(ask))
        return a->length * (first ? 2 : 1.5) * number + 3.0 * length_cost_cpu(a->length);
    double bytes = number * (a->extent + part * a->length), slots = a->fft.slots;
    if (a->alone) slots *= 2;
    if (!a->one_pass) {
        bytes += 4 * number * a->length;
        slots = (double)a->outer.slots * a->inner.length / part +
                (double)a->inner.slots * a->outer.length;
    }
    return bytes + slot * part * slots + step * length_cost(a->length);
}

/* Of a whole run, there and back, from the prices of a line of each axis. */
static double price(const plan_axis *one, double line_one, const plan_axis *two, double line_two,
                    uint32_t first) {
    double halves = one->length / 2 + 1, pairs = (two->extent + 1) / 2;
    return (first == PLAN_Y ? 1.1 : 1.0) * 2 * pairs * line_one + 2 * halves * line_two;
}

typedef struct {
    plan_axis axis[CANDIDATES];
    double line[CANDIDATES];
    uint32_t count;
} candidates;

/* The lengths that the device can do, with their prices. */
static void find_candidates(candidates *c, const plan_request *ask, uint32_t which, bool first) {
    uint32_t list[CANDIDATES];
    plan_axis start = axis_of(ask, which);
    uint32_t n = candidate_lengths(&start, first, ask->tune.length[first ? 0 : 1], list);
    c->count = 0;
    for (uint32_t i = 0; i < n; i++) {
        c->axis[c->count] = start;
        if (!axis_set_length(&c->axis[c->count], list[i], ask, which, first)) continue;
        c->line[c->count] = line_price(&c->axis[c->count], ask, first);
        c->count++;
    }
}

/* The cheapest pair of lengths for one axis order; a price below zero means none is possible. */
static double best_lengths(plan_axis axis[2], const plan_request *ask, uint32_t first) {
    candidates one, two;
    find_candidates(&one, ask, first, true);
    find_candidates(&two, ask, 1 - first, false);
    double best = -1;
    for (uint32_t i = 0; i < one.count; i++)
        for (uint32_t j = 0; j < two.count; j++) {
            double p = price(&one.axis[i], one.line[i], &two.axis[j], two.line[j], first);
            if (best >= 0 && p >= best) continue;
            best = p;
            axis[0] = one.axis[i];
            axis[1] = two.axis[j];
        }
    return best;
}

static bool choose_axes(plan *p, err *e) {
    plan_axis axis[2][2];
    const plan_request *ask = &p->ask;
    for (uint32_t first = 0; first < 2; first++)
        p->cost[first] = best_lengths(axis[first], ask, first);
    bool may[2] = {ask->order != AXIS_Y && p->cost[0] >= 0,
                   ask->order != AXIS_X && p->cost[1] >= 0};
    if (!may[0] && !may[1]) {
        uint64_t need[2];
        for (uint32_t i = 0; i < 2; i++) {
            plan_axis a = axis_of(ask, i);
            need[i] = shortest_length(&a, false);
        }
        return err_set(e, ERR_CONFIG,
                       "transforms of %" PRIu64 " x %" PRIu64 " are more than this device can do "
                       "(lines up to %d, workgroups of %u with %u bytes of shared memory); use "
                       "--device cpu, or a smaller image or kernel",
                       need[0], need[1], LENGTH_MAX, ask->limits.invocations,
                       ask->limits.shared_bytes);
    }
    p->first = may[0] && (!may[1] || p->cost[0] <= p->cost[1]) ? PLAN_X : PLAN_Y;
    memcpy(p->axis, axis[p->first], sizeof p->axis);
    return true;
}

/* --- passes --------------------------------------------------------------------------------- */

static uint32_t minimum(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}
static uint32_t blocks(uint64_t n, uint32_t per) {
    return (uint32_t)((n + per - 1) / per);
}

/* The half spectrum of all channels, as passes read and write it. */
static uint64_t half_bytes(const plan *p) {
    return 2ull * p->sample_bytes * p->halves * p->pitch * p->ask.channels;
}

/* Adds a pass of `count` lines in which a workgroup takes at most `wanted` of them. */
static plan_pass *add_pass(plan *p, plan_pass_kind kind, uint32_t axis, const plan_fft *f,
                           uint32_t count, uint32_t wanted) {
    const plan_limits *l = &p->ask.limits;
    plan_pass *s = &p->pass[p->passes++];
    *s = (plan_pass){.kind = kind, .axis = axis, .fft = *f};
    uint32_t bytes = shared_of(f, p->sample_bytes);
    s->lines = minimum(wanted, minimum(l->invocations / f->threads, l->shared_bytes / bytes));
    s->lines = minimum(s->lines, count);
    s->threads = s->lines * f->threads;
    s->shared_bytes = s->lines * bytes;
    for (uint32_t i = 0; i < f->stages; i++)
        s->butterflies[i] = length_butterflies(f, i, s->lines, s->threads);
    s->paired = (kind == PASS_FORWARD || kind == PASS_INVERSE) && f->paired;
    if (s->paired) s->butterflies[f->stages - 1] = 2;
    s->groups[0] = blocks(count, s->lines);
    s->groups[1] = 1;
    s->groups[2] = p->channels_per_bind;
    return s;
}

/* Lines that share a workgroup so that no group is smaller than a subgroup or two. */
static uint32_t fill_lines(const plan_fft *f) {
    return f->threads >= 64 ? 1 : blocks(64, f->threads);
}

/* Adjacent lines of the first axis make runs in memory: of 16 bytes each in the half spectrum,
 * of 8 in image rows where lines are columns. docs/notebook.md has the measurements. */
static uint32_t first_lines(const plan_fft *f, uint32_t tuned, uint32_t wanted) {
    uint32_t fill = fill_lines(f);
    return tuned ? tuned : wanted > fill ? wanted : fill;
}

static uint32_t second_lines(const plan *p, const plan_fft *f) {
    return p->ask.tune.lines[1] ? p->ask.tune.lines[1] : fill_lines(f);
}

/* The outer factor's numbers stand far apart, so that lines make the runs; most are short, and a
 * workgroup should not be small. */
static uint32_t outer_lines(const plan_fft *f) {
    uint32_t fill = blocks(128, f->threads);
    return fill > 8 ? fill : 8;
}

/* What pass 1 and 3 have for lines. */
static uint32_t first_count(const plan *p, uint32_t pairs) {
    return p->axis[0].alone ? p->axis[1].extent : pairs;
}

static void add_forward(plan *p, uint32_t pairs) {
    const plan_axis *a = &p->axis[0];
    uint64_t image = p->input_bytes ? p->input_bytes : p->image_bytes;
    uint64_t scratch = half_bytes(p), lines = p->line_bytes;
    plan_pass *s;
    if (a->one_pass) {
        uint32_t wanted = p->first == PLAN_Y ? 4 : 2, tuned = p->ask.tune.lines[0];
        s = add_pass(p, PASS_FORWARD, 0, &a->fft, first_count(p, pairs),
                     first_lines(&a->fft, tuned, wanted));
        s->bytes = image + scratch;
        return;
    }
    s = add_pass(p, PASS_OUTER, 0, &a->outer, a->inner.length, outer_lines(&a->outer));
    s->groups[1] = pairs;
    s->bytes = image + lines;
    s = add_pass(p, PASS_INNER, 0, &a->inner, a->outer.length, fill_lines(&a->inner));
    s->groups[1] = pairs;
    s->bytes = 2 * lines;
}

/* Half as many barriers for twice the shared memory: pays for short lines. */
enum { WHOLE_UPTO = 9216 };

static bool wants_whole(const plan_pass *s, const plan *p) {
    uint32_t bytes = 2 * s->shared_bytes;
    plan_switch tuned = p->ask.tune.whole;
    if (tuned == SWITCH_OFF || bytes > p->ask.limits.shared_bytes) return false;
    return tuned == SWITCH_ON || bytes / s->lines <= WHOLE_UPTO;
}

static void add_convolve(plan *p) {
    const plan_axis *a = &p->axis[1];
    if (a->one_pass) {
        plan_pass *s = add_pass(p, PASS_CONVOLVE, 1, &a->fft, p->halves, second_lines(p, &a->fft));
        s->bytes = 2 * half_bytes(p) + p->spectrum_bytes;
        s->whole = wants_whole(s, p);
        if (s->whole) s->shared_bytes *= 2;
        return;
    }
    plan_pass *s = add_pass(p, PASS_OUTER, 1, &a->outer, a->inner.length, outer_lines(&a->outer));
    s->groups[1] = p->halves;
    s->bytes = half_bytes(p) + p->line_bytes;
    s = add_pass(p, PASS_CONVOLVE, 1, &a->inner, a->outer.length, fill_lines(&a->inner));
    s->groups[1] = p->halves;
    s->bytes = 2 * p->line_bytes + p->spectrum_bytes;
    s = add_pass(p, PASS_OUTER_BACK, 1, &a->outer, a->inner.length, outer_lines(&a->outer));
    s->groups[1] = p->halves;
    s->bytes = half_bytes(p) + p->line_bytes;
}

static void add_inverse(plan *p, uint32_t pairs) {
    const plan_axis *a = &p->axis[0];
    uint64_t image = p->image_bytes, scratch = half_bytes(p), lines = p->line_bytes;
    if (a->one_pass) {
        uint32_t wanted = p->first == PLAN_Y ? 4 : p->tile ? 1 : 2, tuned = p->ask.tune.lines[2];
        plan_pass *s = add_pass(p, PASS_INVERSE, 0, &a->fft, first_count(p, pairs),
                                first_lines(&a->fft, tuned, wanted));
        s->bytes = (p->ask.tapless ? 1 : 2) * image + scratch;
        return;
    }
    plan_pass *s =
        add_pass(p, PASS_INNER_BACK, 0, &a->inner, a->outer.length, fill_lines(&a->inner));
    s->groups[1] = pairs;
    s->bytes = 2 * lines;
    s = add_pass(p, PASS_OUTER_BACK, 0, &a->outer, a->inner.length, outer_lines(&a->outer));
    s->groups[1] = pairs;
    s->bytes = (p->ask.tapless ? 1 : 2) * image + lines;
}

/* Between a split first axis and the half spectrum: one thread per frequency and pair. */
static void add_unpack(plan *p, plan_pass_kind kind, uint32_t pairs) {
    if (p->axis[0].one_pass) return;
    plan_pass *s = &p->pass[p->passes++];
    *s = (plan_pass){.kind = kind, .threads = minimum(64, p->ask.limits.invocations), .lines = 1};
    s->groups[0] = blocks(pairs, s->threads);
    s->groups[1] = p->halves;
    s->groups[2] = p->channels_per_bind;
    s->bytes = p->line_bytes + half_bytes(p);
}

static void add_passes(plan *p) {
    uint32_t pairs = (p->axis[1].extent + 1) / 2;
    add_forward(p, pairs);
    add_unpack(p, PASS_UNPACK, pairs);
    add_convolve(p);
    add_unpack(p, PASS_PACK, pairs);
    add_inverse(p, pairs);
}

/* Pixels of tiles, and their frequencies. */
enum { WIDE = 8, NARROW = 4, BAND = 16 };

/* --- bytes ---------------------------------------------------------------------------------- */

uint32_t plan_twiddle_entries(const plan_fft *f) {
    uint32_t n = 0, rest = f->length;
    for (uint32_t s = 0; s + 1 < f->stages; s++) n += rest /= f->radix[s];
    return n;
}

/* Two complex numbers per entry of a stage's table, one per number of a split line's; all twice. */
static uint64_t twiddle_bytes(const plan_axis *a, uint32_t complex_bytes) {
    uint32_t row = a->alone ? (a->fft.length / 2 + 2) / 2 : 0;
    if (a->one_pass) return 4ull * (plan_twiddle_entries(&a->fft) + row) * complex_bytes;
    uint64_t n = 2ull * (plan_twiddle_entries(&a->outer) + plan_twiddle_entries(&a->inner)) +
                 a->length;
    return 2 * n * complex_bytes;
}

/* Sizes are at most 2^26 a side, so that none of these products leaves 64 bits. */
static bool count_bytes(plan *p, err *e) {
    const plan_request *ask = &p->ask;
    const plan_axis *a = p->axis;
    uint64_t c = 2ull * p->sample_bytes, pairs = (a[1].extent + 1) / 2, lines = 0;
    p->halves = a[0].length / 2 + 1;
    p->pitch = (a[1].extent + 7) / 8 * 8;
    p->image_pitch = (ask->size[PLAN_X] + 3) / 4 * 4;
    uint64_t image = (uint64_t)p->image_pitch * ask->size[PLAN_Y] * p->sample_bytes;
    p->band = minimum(BAND, p->halves);
    uint64_t scratch = (uint64_t)blocks(p->halves, p->band) * p->band * p->pitch * c;
    uint64_t spectrum = (uint64_t)p->halves * a[1].length * c;
    if (!a[0].one_pass) lines = pairs * a[0].length * c;
    if (!a[1].one_pass && spectrum > lines) lines = spectrum;
    uint64_t largest = image;
    if (scratch > largest) largest = scratch;
    if (spectrum > largest) largest = spectrum;
    if (lines > largest) largest = lines;
    p->channels_per_bind = ask->channels;
    if (has_shapes(ask)) {
        if (largest > ask->limits.buffer_range)
            return err_set(e, ERR_CONFIG,
                           "one channel needs a buffer of %" PRIu64
                           " bytes, the device binds %" PRIu64 "; use --device cpu",
                           largest, ask->limits.buffer_range);
        uint64_t planes = ask->limits.buffer_range / largest;
        if (planes < p->channels_per_bind) p->channels_per_bind = (uint32_t)planes;
    }
    p->image_bytes = image * ask->channels;
    if (ask->half_input && has_shapes(ask) && p->sample_bytes == 4)
        p->input_bytes = p->image_bytes / 2;
    /* The CPU engine does one channel after the other. */
    p->scratch_bytes = has_shapes(ask) ? scratch * ask->channels : scratch;
    p->line_bytes = lines * ask->channels;
    p->spectrum_bytes = spectrum * ask->spectra;
    p->twiddle_bytes = twiddle_bytes(&a[0], (uint32_t)c) + twiddle_bytes(&a[1], (uint32_t)c);
    return true;
}

uint64_t plan_device_bytes(const plan *p) {
    return p->frames * (p->image_bytes + p->input_bytes) +
           p->scratch_bytes * (p->tile_in != p->tile ? 2 : 1) + p->line_bytes + p->spectrum_bytes +
           p->twiddle_bytes;
}

/* Tiles, where rows are lines: passes 1 and 3 touch a few pixels of all frequencies, which is
 * cheaper in tiles than in lines; pass 2 reads wide tiles as well as lines. Where no cache holds
 * the half spectrum, pass 2 leaves narrow ones, with a loss that pass 3 makes up for; as other
 * tiles need a second buffer, it is only done there. Rows alone make runs of half the width, and
 * want narrow tiles on both sides (docs/notebook.md). */
enum { NARROW_FROM = 96 << 20 };

static uint32_t tile_of(uint32_t tuned, uint32_t own) {
    bool possible = tuned == 2 || tuned == 4 || tuned == 8; /* they divide the pitch */
    return possible ? tuned : tuned == 0 ? own : 0;
}

static void choose_tiles(plan *p) {
    if (!p->axis[0].one_pass || !p->axis[1].one_pass) return;
    bool tiled = p->first == PLAN_X, alone = p->axis[0].alone;
    bool large = p->scratch_bytes >= NARROW_FROM;
    p->tile_in = tile_of(p->ask.tune.tile_in, !tiled ? 0 : alone ? NARROW : WIDE);
    p->tile = tile_of(p->ask.tune.tile, !tiled ? 0 : alone || large ? NARROW : WIDE);
}

/* What costs memory and brings speed alone is left out where it does not fit. */
static bool check_memory(plan *p, err *e) {
    uint64_t has = p->ask.limits.memory;
    choose_tiles(p);
    while (has && p->frames > 1 && plan_device_bytes(p) > has) p->frames--;
    if (has && plan_device_bytes(p) > has) p->tile_in = p->tile = 0;
    if (has && plan_device_bytes(p) > has) p->input_bytes = 0;
    uint64_t all = plan_device_bytes(p);
    if (!has || all <= has) return true;
    return err_set(e, ERR_CONFIG,
                   "this run needs %" PRIu64 " bytes on the device, which may give %" PRIu64
                   "; use --device cpu or raise --vram-limit",
                   all, has);
}

static bool check_groups(const plan *p, err *e) {
    for (uint32_t i = 0; i < p->passes; i++)
        for (int d = 0; d < 3; d++)
            if (p->pass[i].groups[d] > p->ask.limits.groups[d])
                return err_set(e, ERR_CONFIG,
                               "pass %s needs %u workgroups along %c, the device starts %u; use "
                               "--device cpu",
                               plan_pass_name(p->pass[i].kind), p->pass[i].groups[d], 'x' + d,
                               p->ask.limits.groups[d]);
    return true;
}

static bool check_request(const plan_request *ask, err *e) {
    for (int i = 0; i < 2; i++) {
        if (ask->size[i] == 0 || ask->size[i] > LENGTH_MAX / 4)
            return err_set(e, ERR_CONFIG, "%c axis: %u pixels; 1 to %d are possible", AXIS_NAME[i],
                           ask->size[i], LENGTH_MAX / 4);
        if (ask->reach_lo[i] > LENGTH_MAX / 4 || ask->reach_hi[i] > LENGTH_MAX / 4)
            return err_set(e, ERR_CONFIG,
                           "%c axis: the kernel reaches %u and %u pixels; up to %d are "
                           "possible",
                           AXIS_NAME[i], ask->reach_lo[i], ask->reach_hi[i], LENGTH_MAX / 4);
    }
    if (ask->channels == 0 || (ask->spectra != 1 && ask->spectra != ask->channels))
        return err_set(e, ERR_INTERNAL, "%u channels with %u spectra", ask->channels, ask->spectra);
    if (ask->half_input && !ask->tapless)
        return err_set(e, ERR_INTERNAL,
                       "an image of halfs is not there for the last pass, which adds centre taps; "
                       "a plan for it must be tapless");
    if (ask->precision == PRECISION_FLOAT64 && has_shapes(ask) && !ask->limits.float64)
        return err_set(e, ERR_CONFIG,
                       "the device has no 64-bit floats; use --device cpu for "
                       "--precision float64");
    return true;
}

static uint32_t power_of_two(uint64_t n) {
    uint32_t p = 1;
    while (p < n && p < LENGTH_MAX) p *= 2;
    return p;
}

/* The three passes by name and size, for reports: without a device's limits there are no shapes. */
static void name_passes(plan *p) {
    const plan_axis *a = p->axis;
    uint64_t halves = p->scratch_bytes * p->ask.channels;
    p->passes = 3;
    p->pass[0] = (plan_pass){PASS_FORWARD, .axis = 0, .fft = {.length = a[0].length}};
    p->pass[1] = (plan_pass){PASS_CONVOLVE, .axis = 1, .fft = {.length = a[1].length}};
    p->pass[2] = (plan_pass){PASS_INVERSE, .axis = 0, .fft = {.length = a[0].length}};
    p->pass[0].bytes = p->image_bytes + halves;
    p->pass[1].bytes = 2 * halves + p->spectrum_bytes;
    p->pass[2].bytes = halves + (p->ask.tapless ? 1 : 2) * p->image_bytes;
}

bool plan_make(plan *out, const plan_request *ask, err *e) {
    if (!check_request(ask, e)) return false;
    plan p = {
        .ask = *ask, .sample_bytes = sample_bytes(ask), .frames = ask->frames ? ask->frames : 1};
    if (!choose_axes(&p, e) || !count_bytes(&p, e)) return false;
    if (has_shapes(ask)) {
        if (!check_memory(&p, e)) return false;
        add_passes(&p);
        if (!check_groups(&p, e)) return false;
    } else {
        name_passes(&p);
    }
    for (int i = 0; i < 2; i++) {
        uint64_t kernel = (uint64_t)ask->reach_lo[i] + ask->reach_hi[i] + 1;
        p.power_of_two[i] = power_of_two(ask->size[i] + kernel - 1);
    }
    *out = p;
    return true;
}
