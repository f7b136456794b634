/* plan.c - from the request to the numbers. Reads top down: axes, order, passes, bytes. */
#include "math/plan.h"

#include "math/lengths.h"

static const char *const BORDER_NAME[] = {"zero", "mirror", "clamp", "wrap"};
static const char *const PASS_NAME[] = {"forward", "convolve", "inverse"};
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

/* Returns the shared memory of a line: one component of each number, since components are exchanged
 * one after the other (twice that if pass->whole). The digits of a place have odd strides against
 * bank conflicts, as in shaders/fft.glsl. */
static uint32_t shared_of(const plan_fft *f, uint32_t real_bytes) {
    uint32_t stride = 1;
    for (uint32_t s = f->stages; s-- > 1;) stride = f->radix[s] * stride | 1;
    return f->radix[0] * stride * real_bytes;
}

/* Chooses radices for a line that one workgroup holds. Returns false when none can. */
static bool fits_one_pass(plan_fft *f, uint32_t length, const plan_request *ask, length_use use) {
    plan_fft found;
    if (!length_radices(&found, length, ask->limits.invocations, use)) return false;
    if (shared_of(&found, sample_bytes(ask)) > ask->limits.shared_bytes) return false;
    *f = found;
    return true;
}

/* Chooses radices for lines that a workgroup holds whole: pairs of lines if it has room for two
 * pairs, else rows by themselves, of which it then has room for two. */
static bool hold_lines(plan_axis *a, const plan_request *ask, uint32_t which, bool first) {
    if (!first) return fits_one_pass(&a->fft, a->length, ask, LENGTH_COMPLEX);
    plan_fft alone;
    length_use use = which == PLAN_X ? LENGTH_REAL_ROWS : LENGTH_REAL_COLUMNS;
    bool pairs = fits_one_pass(&a->fft, a->length, ask, use);
    bool two = pairs && 2 * shared_of(&a->fft, sample_bytes(ask)) <= ask->limits.shared_bytes &&
               2 * a->fft.threads <= ask->limits.invocations;
    a->alone = !two && which == PLAN_X && a->length % 4 == 0 &&
               fits_one_pass(&alone, a->length / 2, ask, LENGTH_ROW_ALONE);
    if (a->alone) a->fft = alone;
    return pairs || a->alone;
}

/* Returns whether wrapping needs no margins, because the extent has the form of a length. */
static bool is_exact_wrap(const plan_axis *a, bool first) {
    return a->border == BORDER_WRAP && a->extent >= 2 && length_is_smooth(a->extent) &&
           !(first && a->extent % 2);
}

/* Returns the shortest length that is right (docs/inside/math.md, "Borders and lengths"). With zero
 * borders one gap serves both sides. The other borders have margins, unless wrapping needs none. */
static uint64_t shortest_length(const plan_axis *a, bool first) {
    uint64_t n = a->extent;
    if (a->border == BORDER_ZERO) return n + max_u32(a->before, a->after);
    return is_exact_wrap(a, first) ? n : n + a->before + a->after;
}

enum { CANDIDATES = 48 };

/* Lists the lengths worth comparing: smooth, long enough, at most a third longer than needed. */
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
    if (c < -(int64_t)a->before) return -1;
    return plan_place(a->border, a->extent, c);
}

int64_t plan_place(plan_border border, uint32_t extent, int64_t c) {
    int64_t n = extent;
    if (c >= 0 && c < n) return c;
    switch (border) {
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

/* Returns the price of a line in one direction, in bytes moved. On a GPU the time of a pass depends
 * on the slots of its lines and on arithmetic more than on the bytes (docs/inside/notebook.md, "A
 * model of a pass"); the second axis goes there and back in the slots of one. On a CPU arithmetic
 * is half of the time. */
static double line_price(const plan_axis *a, const plan_request *ask, bool first) {
    double number = 2.0 * sample_bytes(ask), slot = 14, step = 6;
    double part = first ? 1 : 0.5; /* of a line, of its slots */
    if (!has_shapes(ask))
        return a->length * (first ? 2 : 1.5) * number + 1.3 * length_cost_cpu(a->length);
    double bytes = number * (a->extent + part * a->length), slots = a->fft.slots;
    if (a->alone) slots *= 2;
    return bytes + slot * part * slots + step * length_cost(a->length);
}

typedef struct {
    plan_axis axis[CANDIDATES];
    double line[CANDIDATES];
    uint32_t count;
} candidates;

/* Lists the lengths that the device can do, with their prices. */
static void find_candidates(candidates *c, const plan_request *ask, uint32_t which, bool first) {
    uint32_t list[CANDIDATES];
    plan_axis start = axis_of(ask, which);
    uint32_t n = candidate_lengths(&start, first, ask->tune.length[first ? 0 : 1], list);
    c->count = 0;
    for (uint32_t i = 0; i < n; i++) {
        plan_axis *a = &c->axis[c->count];
        *a = start;
        /* Wrapped exactly or surrounded by zeros: nothing stands before the image. */
        a->length = a->split = list[i];
        if (a->border != BORDER_ZERO && list[i] != a->extent) a->split = a->extent + a->after;
        if (has_shapes(ask) && !hold_lines(a, ask, which, first)) continue;
        c->line[c->count++] = line_price(a, ask, first);
    }
}

/* Finds the cheapest pair of lengths for one axis order. A price below zero: none. */
static double best_lengths(plan_axis axis[2], const plan_request *ask, uint32_t first) {
    candidates one, two;
    find_candidates(&one, ask, first, true);
    find_candidates(&two, ask, 1 - first, false);
    double best = -1;
    for (uint32_t i = 0; i < one.count; i++)
        for (uint32_t j = 0; j < two.count; j++) {
            /* A whole run, there and back. */
            double halves = one.axis[i].length / 2 + 1, pairs = (two.axis[j].extent + 1) / 2;
            double p = (first == PLAN_Y ? 1.1 : 1.0) * 2 * pairs * one.line[i] +
                       2 * halves * two.line[j];
            if (best >= 0 && p >= best) continue;
            best = p;
            axis[0] = one.axis[i];
            axis[1] = two.axis[j];
        }
    return best;
}

bool plan_holds(const plan_request *ask, uint32_t axis, uint32_t length) {
    plan_axis a = {.length = length};
    return !has_shapes(ask) ||
           hold_lines(&a, ask, axis, (axis == PLAN_Y) == (ask->order == AXIS_Y));
}

uint32_t plan_longest(const plan_request *ask, uint32_t axis) {
    if (!has_shapes(ask)) return LENGTH_MAX;
    uint32_t n = 2 * (ask->limits.shared_bytes / sample_bytes(ask)); /* half of a row alone */
    while (n > 1 && !(length_is_smooth(n) && plan_holds(ask, axis, n))) n--;
    return n;
}

/* Names the axis that is too long; where each would do by itself, the one that is longer. */
static bool refuse_lines(const plan_request *ask, err *e) {
    uint32_t longest[2], axis = ask->size[PLAN_X] < ask->size[PLAN_Y];
    uint64_t need[2];
    for (uint32_t i = 0; i < 2; i++) {
        plan_axis a = axis_of(ask, i);
        need[i] = shortest_length(&a, false);
        longest[i] = plan_longest(ask, i);
    }
    for (uint32_t i = 0; i < 2; i++)
        if (need[i] > longest[i]) axis = i;
    return err_set(e, has_shapes(ask) ? ERR_LINES : ERR_CONFIG,
                   "%c axis: image and kernel need a line of %" PRIu64
                   ", and the longest that the device holds is %u; use --device cpu, or a smaller "
                   "image or kernel",
                   AXIS_NAME[axis], need[axis], longest[axis]);
}

static bool choose_axes(plan *p, err *e) {
    plan_axis axis[2][2];
    const plan_request *ask = &p->ask;
    for (uint32_t first = 0; first < 2; first++)
        p->cost[first] = best_lengths(axis[first], ask, first);
    bool may[2] = {ask->order != AXIS_Y && p->cost[0] >= 0,
                   ask->order != AXIS_X && p->cost[1] >= 0};
    if (!may[0] && !may[1]) return refuse_lines(ask, e);
    p->first = may[0] && (!may[1] || p->cost[0] <= p->cost[1]) ? PLAN_X : PLAN_Y;
    memcpy(p->axis, axis[p->first], sizeof p->axis);
    return true;
}

/* --- passes --------------------------------------------------------------------------------- */

static uint64_t half_bytes(const plan *p) {
    return 2ull * p->sample_bytes * p->halves * p->pitch * p->ask.channels;
}

/* Returns the lines that share a workgroup so that it has `least` threads or more. */
static uint32_t fill_lines(const plan_fft *f, uint32_t least) {
    return ceil_div_u32(least, f->threads);
}

/* Adds a pass of `count` lines, of which a workgroup takes at most `wanted`. 0 stands for the lines
 * that fill a subgroup or two. */
static plan_pass *add_pass(plan *p, plan_pass_kind kind, uint32_t axis, uint32_t count,
                           uint32_t wanted) {
    const plan_limits *l = &p->ask.limits;
    const plan_fft *f = &p->axis[axis].fft;
    plan_pass *s = &p->pass[p->passes++];
    *s = (plan_pass){.kind = kind, .axis = axis, .fft = *f};
    uint32_t bytes = shared_of(f, p->sample_bytes);
    if (!wanted) wanted = fill_lines(f, 64);
    s->lines = min_u32(wanted, min_u32(l->invocations / f->threads, l->shared_bytes / bytes));
    s->lines = min_u32(s->lines, count);
    s->threads = s->lines * f->threads;
    s->shared_bytes = s->lines * bytes;
    for (uint32_t i = 0; i < f->stages; i++)
        s->butterflies[i] = length_butterflies(f, i, s->lines, s->threads);
    s->paired = kind != PASS_CONVOLVE && f->paired;
    if (s->paired) s->butterflies[f->stages - 1] = 2;
    s->groups[0] = ceil_div_u32(count, s->lines);
    s->groups[1] = 1;
    s->groups[2] = p->channels_per_bind;
    return s;
}

/* Adds pass 1 or 3. Adjacent lines make runs in memory:
 * of 16 bytes each in the half spectrum, of 8 in image rows if lines are columns.
 * docs/inside/notebook.md has the measurements. */
static void add_ends(plan *p, plan_pass_kind kind, uint32_t pairs, uint64_t image) {
    const plan_axis *a = &p->axis[0];
    bool back = kind == PASS_INVERSE;
    bool single = (back && p->tile) || (p->square && !a->alone);
    uint32_t lines = p->first == PLAN_Y ? 4 : single ? 1 : 2;
    plan_pass *s = add_pass(p, kind, 0, a->alone ? p->axis[1].extent : pairs,
                            max_u32(lines, fill_lines(&a->fft, 64)));
    s->bytes = image + half_bytes(p);
}

/* Whole numbers in shared memory mean half as many barriers for twice the memory. That pays for
 * lines up to these bytes, one line at a time. */
enum { WHOLE_UPTO = 9216 };

static void add_passes(plan *p) {
    p->passes = 0;
    uint32_t pairs = (p->axis[1].extent + 1) / 2;
    uint64_t in = plan_bytes_up(p);
    add_ends(p, PASS_FORWARD, pairs, in);
    plan_pass *s = add_pass(p, PASS_CONVOLVE, 1, p->halves, p->square > 1 ? p->square : 0);
    uint32_t bytes = 2 * s->shared_bytes;
    s->bytes = 2 * half_bytes(p) + p->spectrum_bytes;
    s->whole = !p->square && bytes <= p->ask.limits.shared_bytes && bytes / s->lines <= WHOLE_UPTO;
    if (s->whole) s->shared_bytes = bytes;
    add_ends(p, PASS_INVERSE, pairs, in + p->image_bytes + p->glare_bytes);
    p->total_bytes = (uint64_t)p->pass[2].groups[0] * PLAN_TOTALS * p->sample_bytes *
                     p->ask.channels;
}

/* Pixels of tiles, and their frequencies. */
enum { WIDE = 8, NARROW = 4, PAIR = 2, BAND = 16 };

/* --- bytes ---------------------------------------------------------------------------------- */

uint32_t plan_twiddle_entries(const plan_fft *f) {
    uint32_t n = 0, rest = f->length;
    for (uint32_t s = 0; s + 1 < f->stages; s++) n += rest /= f->radix[s];
    return n;
}

/* Returns the bytes of an axis's tables: two complex numbers per entry of a stage's, all of it
 * twice. */
static uint64_t twiddle_bytes(const plan_axis *a, uint32_t complex_bytes) {
    uint32_t row = a->alone ? (a->fft.length / 2 + 2) / 2 : 0;
    return 4ull * (plan_twiddle_entries(&a->fft) + row) * complex_bytes;
}

/* Sizes are at most 2^26 a side, so that none of these products leaves 64 bits. */
static bool count_bytes(plan *p, err *e) {
    const plan_request *ask = &p->ask;
    const plan_axis *a = p->axis;
    uint64_t c = 2ull * p->sample_bytes;
    p->halves = a[0].length / 2 + 1;
    p->pitch = (a[1].extent + 7) / 8 * 8;
    p->image_pitch = (ask->size[PLAN_X] + 3) / 4 * 4;
    const plan_planes *planes = &ask->planes;
    uint64_t pixels = (uint64_t)p->image_pitch * ask->size[PLAN_Y];
    uint64_t in = pixels * plan_sample_bytes(planes->in),
             image = pixels * plan_sample_bytes(planes->out);
    p->band = min_u32(BAND, p->halves);
    uint64_t scratch = (uint64_t)ceil_div_u32(p->halves, p->band) * p->band * p->pitch * c;
    uint64_t numbers = (uint64_t)p->halves * a[1].length * c;
    uint64_t spectrum = numbers / (ask->symmetric && has_shapes(ask) ? 2 : 1);
    uint64_t largest = max_u64(max_u64(max_u64(image, in), scratch), spectrum);
    p->channels_per_bind = ask->channels;
    if (has_shapes(ask)) {
        if (largest > ask->limits.buffer_range)
            return err_set(e, ERR_CONFIG,
                           "one channel needs a buffer of %" PRIu64
                           " bytes, the device binds %" PRIu64 "; use --device cpu",
                           largest, ask->limits.buffer_range);
        uint64_t fit = ask->limits.buffer_range / largest;
        if (fit < p->channels_per_bind) p->channels_per_bind = (uint32_t)fit;
    }
    p->image_bytes = image * ask->channels;
    if (has_shapes(ask) &&
        (planes->in != PLAN_FLOATS || planes->out != PLAN_FLOATS || planes->again))
        p->input_bytes = in * ask->channels;
    p->mask_bytes = planes->masked ? pixels * sizeof(float) : 0;
    p->glare_bytes = planes->glare ? pixels * sizeof(float) * ask->channels : 0;
    /* The CPU engine does one channel after the other. */
    p->scratch_bytes = has_shapes(ask) ? scratch * ask->channels : scratch;
    p->spectrum_bytes = spectrum * ask->spectra;
    p->twiddle_bytes = twiddle_bytes(&a[0], (uint32_t)c) + twiddle_bytes(&a[1], (uint32_t)c);
    return true;
}

/* Structs without holes are compared as bytes. */
bool plan_same(const plan *p, const plan *q) {
    const plan_request *a = &p->ask, *b = &q->ask;
    const plan_limits *k = &a->limits, *l = &b->limits;
    size_t sizes = offsetof(plan_request, symmetric);
    return memcmp(a, b, sizes) == 0 && a->symmetric == b->symmetric &&
           memcmp(&a->planes, &b->planes, sizeof a->planes) == 0 && a->frames == b->frames &&
           memcmp(k, l, offsetof(plan_limits, groups) + sizeof k->groups) == 0 &&
           k->float64 == l->float64 && k->buffer_range == l->buffer_range &&
           k->memory == l->memory && memcmp(&a->tune, &b->tune, sizeof a->tune) == 0;
}

uint64_t plan_bytes_up(const plan *p) {
    return (p->input_bytes ? p->input_bytes : p->image_bytes) + p->mask_bytes;
}
uint64_t plan_bytes_down(const plan *p) {
    return p->image_bytes + p->glare_bytes + p->total_bytes;
}

uint64_t plan_device_bytes(const plan *p) {
    uint64_t frame = p->input_bytes + p->mask_bytes + plan_bytes_down(p);
    return p->frames * frame + p->scratch_bytes + (p->tile_in != p->tile ? p->scratch_bytes : 0) +
           p->spectrum_bytes + p->twiddle_bytes;
}

/* --- tiles ----------------------------------------------------------------------------------
 *
 * The half spectrum has tiles if rows are lines: passes 1 and 3 touch a few pixels of all
 * frequencies, which is cheaper in tiles than in lines. docs/inside/notebook.md has the
 * measurements.
 *
 * Squares: in tiles of two pixels, the numbers of two neighbouring frequencies at two neighbouring
 * pixels are 32 bytes of floats, the least that memory moves. Passes 1 and 3 move whole pieces with
 * one pair of rows per workgroup then, and small workgroups suit them. Pass 2 has to take two lines
 * at a time, and its workgroups grow. (In doubles, one line has 32 bytes of a tile.)
 *
 * Wide and narrow tiles: pass 2 takes one line at a time, and reads wide tiles as well as lines.
 * From NARROW_FROM bytes on no cache holds the half spectrum. Pass 2 then leaves narrow tiles, with
 * a loss that pass 3 makes up for; they need a second buffer, so smaller spectra have none. Rows
 * alone make runs of half the width, and want narrow tiles on both sides. */
enum { NARROW_FROM = 96 << 20, SQUARES_FROM = 1000 };

/* Returns the lines of a square, or 0 where squares do not pay or do not fit. They pay for rows
 * alone, and where lines are long but the frame is small. */
static uint32_t choose_square(const plan *p) {
    const plan_fft *f = &p->axis[1].fft;
    const plan_limits *l = &p->ask.limits;
    const plan_tune *t = &p->ask.tune;
    uint32_t lines = p->sample_bytes == 4 ? 2 : 1;
    bool fits = lines * shared_of(f, p->sample_bytes) <= l->shared_bytes &&
                lines * f->threads <= l->invocations && p->halves > 1;
    bool pays = lines == 1 || p->axis[0].alone ||
                (p->scratch_bytes < NARROW_FROM && f->length >= SQUARES_FROM);
    return fits && pays && !t->tile_in && !t->tile ? lines : 0;
}

/* Chooses tiles and shapes, without those that bring only speed where memory is short. */
static bool choose_shapes(plan *p, err *e) {
    uint64_t has = p->ask.limits.memory;
    bool tiled = p->first == PLAN_X, alone = p->axis[0].alone;
    bool large = p->scratch_bytes >= NARROW_FROM;
    p->square = tiled ? choose_square(p) : 0;
    if (p->square > 1) length_share(&p->axis[1].fft, p->square, p->ask.limits.invocations);
    uint32_t in = alone ? NARROW : WIDE, out = alone || large ? NARROW : WIDE;
    const plan_tune *t = &p->ask.tune;
    p->tile_in = t->tile_in ? t->tile_in : !tiled ? 0 : p->square ? PAIR : in;
    p->tile = t->tile ? t->tile : !tiled ? 0 : p->square ? PAIR : out;
    add_passes(p);
    while (has && p->frames > 1 && plan_device_bytes(p) > has) p->frames--;
    if (has && plan_device_bytes(p) > has) p->tile = p->tile_in, add_passes(p);
    uint64_t total = plan_device_bytes(p);
    if (!has || total <= has) return true;
    return err_set(e, ERR_CONFIG,
                   "this run needs %" PRIu64 " bytes on the device, which may give %" PRIu64
                   "; use --device cpu or raise --vram-limit",
                   total, has);
}

static bool check_groups(const plan *p, err *e) {
    for (uint32_t i = 0; i < p->passes; i++)
        for (int d = 0; d < 3; d++)
            if (p->pass[i].groups[d] > p->ask.limits.groups[d])
                return err_set(
                    e, ERR_CONFIG,
                    "pass %s needs %u workgroups along %c, the device starts %u; use --device cpu",
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
                           "%c axis: the kernel reaches %u and %u pixels; up to %d are possible",
                           AXIS_NAME[i], ask->reach_lo[i], ask->reach_hi[i], LENGTH_MAX / 4);
    }
    if (ask->channels == 0 || (ask->spectra != 1 && ask->spectra != ask->channels))
        return err_set(e, ERR_INTERNAL, "%u channels with %u spectra", ask->channels, ask->spectra);
    if (ask->planes.in == PLAN_DOUBLES) return err_set(e, ERR_INTERNAL, "an image of doubles");
    if (ask->precision == PRECISION_FLOAT64 && has_shapes(ask) && !ask->limits.float64)
        return err_set(e, ERR_CONFIG,
                       "the device has no 64-bit floats; use --device cpu for --precision float64");
    return true;
}

/* Lists the three passes by name and size: without a device's limits there are no shapes. */
static void name_passes(plan *p) {
    const plan_axis *a = p->axis;
    uint64_t halves = p->scratch_bytes * p->ask.channels;
    p->passes = 3;
    p->pass[0] = (plan_pass){PASS_FORWARD, .axis = 0, .fft = {.length = a[0].length}};
    p->pass[1] = (plan_pass){PASS_CONVOLVE, .axis = 1, .fft = {.length = a[1].length}};
    p->pass[2] = (plan_pass){PASS_INVERSE, .axis = 0, .fft = {.length = a[0].length}};
    p->pass[0].bytes = plan_bytes_up(p) + halves;
    p->pass[1].bytes = 2 * halves + p->spectrum_bytes;
    p->pass[2].bytes = halves + plan_bytes_up(p) + plan_bytes_down(p);
}

bool plan_make(plan *out, const plan_request *ask, err *e) {
    if (!check_request(ask, e)) return false;
    plan p = {
        .ask = *ask, .sample_bytes = sample_bytes(ask), .frames = ask->frames ? ask->frames : 1};
    if (!choose_axes(&p, e) || !count_bytes(&p, e)) return false;
    if (has_shapes(ask)) {
        if (!choose_shapes(&p, e)) return false;
        if (!check_groups(&p, e)) return false;
    } else {
        name_passes(&p);
    }
    for (int i = 0; i < 2; i++) {
        uint64_t kernel = (uint64_t)ask->reach_lo[i] + ask->reach_hi[i] + 1;
        p.power_of_two[i] = 1;
        while (p.power_of_two[i] < ask->size[i] + kernel - 1 && p.power_of_two[i] < LENGTH_MAX)
            p.power_of_two[i] *= 2;
    }
    *out = p;
    return true;
}

/* --- where a border shows a sample ------------------------------------------------------------ */

border_axis border_of(const plan_request *ask, uint32_t axis) {
    return (border_axis){ask->border[axis], ask->size[axis], ask->reach_hi[axis],
                         ask->reach_lo[axis]};
}

uint32_t border_most(const border_axis *a) {
    uint64_t total = (uint64_t)a->before + a->after;
    switch (a->border) {
    case BORDER_WRAP:
    case BORDER_MIRROR: return (uint32_t)(2 + 2 * (total / a->extent));
    case BORDER_CLAMP: return (uint32_t)(1 + total);
    default: return 1;
    }
}

uint32_t border_places(const border_axis *a, uint32_t i, int64_t *to) {
    const int64_t n = a->extent, low = -(int64_t)a->before, high = n + a->after;
    const int64_t one = min_i64(i, n - 1 - i), other = n - 1 - one;
    uint32_t count = 0;
    if (a->border == BORDER_CLAMP || a->border == BORDER_ZERO) { /* seen beyond its own end */
        const int64_t first = i == 0 ? low : i, end = i + 1 == n ? high : i + 1;
        for (int64_t c = first; c < end; c++)
            if (plan_place(a->border, a->extent, c) == i) to[count++] = c;
        return count;
    }
    /* Of each n places one shows the sample, which lies there as in the image or mirrored. */
    for (int64_t at = (low - n + 1) / n * n; at < high; at += n)
        for (int64_t c = at + one;; c = at + other) {
            if (c >= low && c < high && plan_place(a->border, a->extent, c) == i) to[count++] = c;
            if (c == at + other) break;
        }
    return count;
}
