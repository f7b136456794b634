#include "kernel/spectrum.h"

#include "base/mem.h"
#include "math/fft.h"
#include "math/lengths.h"

/* A transform of one channel of a kernel; everything is in the order x, y. */
typedef struct {
    const psf *kernel;
    uint32_t channel;
    uint32_t first;          /* the axis that is halved */
    const uint32_t *length;  /* of the transform */
    uint32_t origin[2];      /* the tap that is at 0 */
    const double *weight[2]; /* of the taps along each axis, or NULL */
    bool float64;            /* the result is double */
} tap_transform;

/* Writes line i along the first axis, with the tap `origin` at 0 and without the centre tap. The
 * kernel is folded where a length is shorter than it. */
static void fill_line(const void *ctx, uint32_t i, double *to) {
    const tap_transform *f = ctx;
    const psf *k = f->kernel;
    uint32_t a = f->first, b = 1 - a, length = f->length[a];
    const uint32_t size[2] = {k->w, k->h}, center[2] = {k->cx, k->cy};
    const size_t step[2] = {1, k->w};
    const size_t first = (size_t)f->channel * k->w * k->h;
    const double *weight = f->weight[a];
    uint32_t start = (length - f->origin[a] % length) % length;
    for (uint64_t qb = i; qb < size[b]; qb += f->length[b]) {
        double scale = k->scale[f->channel] * (f->weight[b] ? f->weight[b][qb] : 1);
        uint32_t at = start; /* advanced by one per tap: `to` is a circle */
        for (uint32_t qa = 0; qa < size[a]; qa++) {
            if (qa != center[a] || qb != center[b])
                to[at] += scale * (weight ? weight[qa] : 1) *
                          psf_tap(k, first + qb * step[b] + qa * step[a]);
            if (++at == length) at = 0;
        }
    }
}

static fft_plane plane_of(const tap_transform *f) {
    uint32_t a = f->first, b = 1 - a, size = b ? f->kernel->h : f->kernel->w;
    return (fft_plane){.first = f->length[a],
                       .second = f->length[b],
                       .lines = min_u32(size, f->length[b]),
                       .origin = (f->length[b] - f->origin[b] % f->length[b]) % f->length[b],
                       .fill = fill_line,
                       .ctx = f,
                       .float64 = f->float64};
}

static bool transform_taps(void *to, const tap_transform *f, par *threads, err *e) {
    const fft_plane p = plane_of(f);
    return fft_half_spectrum(to, &p, threads, e);
}

static size_t channel_floats(const spectrum *s) {
    return ((size_t)s->m[0] / 2 + 1) * s->m[1] * 2;
}

size_t spectrum_floats(const spectrum *s) {
    return channel_floats(s) * s->kernel.channels;
}

/* Returns the weights that undo the filter's falloff at each tap of an axis. */
static double *compensation(uint32_t size, uint32_t m, err *e) {
    double *w = mem_raw(size, sizeof *w, "filter", e);
    for (uint32_t q = 0; w && q < size; q++) w[q] = 1 / resample_falloff((double)q - size / 2, m);
    return w;
}

double spectrum_alias(uint32_t tap, uint32_t size) {
    return resample_alias((double)tap - size / 2, length_next(2 * size, 2));
}

bool spectrum_make(spectrum *to, const psf *k, par *threads, err *e) {
    spectrum s = {.m = {length_next(2 * k->w, 2), length_next(2 * k->h, 2)}};
    OWN_MEM double *along_x = compensation(k->w, s.m[0], e);
    OWN_MEM double *along_y = compensation(k->h, s.m[1], e);
    bool ok = along_x && along_y && psf_copy(&s.kernel, k, e) &&
              (s.value = mem_raw(spectrum_floats(&s), sizeof *s.value, "kernel spectrum", e));
    for (uint32_t c = 0; ok && c < k->channels; c++)
        ok = transform_taps(s.value + c * channel_floats(&s),
                            &(tap_transform){.kernel = k,
                                             .channel = c,
                                             .length = s.m,
                                             .origin = {k->w / 2, k->h / 2},
                                             .weight = {along_x, along_y}},
                            threads, e);
    if (!ok) return spectrum_free(&s), false;
    *to = s;
    return true;
}

void spectrum_free(spectrum *s) {
    psf_free(&s->kernel);
    mem_free(s->value);
    *s = (spectrum){0};
}

const char *spectrum_mode_name(spectrum_mode m) {
    static const char *const NAME[] = {"resampled", "exact"};
    return NAME[m];
}

/* Makes lines without values. Returns false where these would be too large for any memory. */
static bool new_lines(spectrum_lines *l, const psf *k, const spectrum_request *r, err *e) {
    size_t count, floats;
    *l = (spectrum_lines){.channels = k->channels,
                          .halves = r->length[0] / 2 + 1,
                          .length = r->length[1],
                          .float64 = r->float64};
    if (!mem_mul(l->halves, (size_t)l->length * 2, &floats) ||
        !mem_mul(floats, l->channels, &count))
        return err_set(e, ERR_CONFIG, "a spectrum of %u x %u is too large", r->length[0],
                       r->length[1]);
    for (uint32_t c = 0; c < k->channels; c++)
        l->tap[c] = k->scale[c] * psf_tap(k, ((size_t)c * k->h + k->cy) * k->w + k->cx);
    return true;
}

enum { PIECE = 16 };

static bool fill_piece(void *ctx, size_t index, int worker, err *e) {
    const spectrum_lines *l = ctx;
    const size_t pieces = ceil_div_size(l->halves, PIECE);
    const uint32_t channel = (uint32_t)(index / pieces), k1 = (uint32_t)(index % pieces) * PIECE;
    const spectrum_piece p = {channel, k1, min_u32(PIECE, l->halves - k1), 0, l->length};
    resample_lines(l->made, &p,
                   (float *)l->value + ((size_t)channel * l->halves + k1) * l->length * 2);
    return true;
}

static bool fill(spectrum_lines *l, par *threads, err *e) {
    l->value = mem_raw(l->channels, l->halves * spectrum_line_bytes(l), "spectrum", e);
    bool ok = l->value &&
              par_for(threads, l->channels * ceil_div_size(l->halves, PIECE), fill_piece, l, e);
    resample_close(&l->made);
    return ok;
}

bool spectrum_at(spectrum_lines *to, const spectrum *s, const spectrum_request *r, par *threads,
                 err *e) {
    const psf *k = &s->kernel;
    spectrum_mode mode = r->float64 ? SPECTRUM_EXACT : r->mode;
    const uint32_t length[2] = {r->length[r->first], r->length[1 - r->first]}; /* x, y */
    spectrum_lines l;
    if (length[0] == 0 || length[1] == 0)
        return err_set(e, ERR_INTERNAL, "a spectrum of %u x %u frequencies", r->length[0],
                       r->length[1]);
    if (mode != SPECTRUM_EXACT && !s->value)
        return err_set(e, ERR_INTERNAL, "a %s spectrum without a source", spectrum_mode_name(mode));
    if (!new_lines(&l, k, r, e)) return false;
    tap_transform taps = {.kernel = k,
                          .first = r->first,
                          .length = length,
                          .origin = {k->cx, k->cy},
                          .float64 = l.float64};
    size_t step = l.halves * spectrum_line_bytes(&l);
    /* The origin of the source, the kernel's middle, moves to the kernel's centre. */
    const resample_request resampled = {
        .from = s->value,
        .channels = k->channels,
        .m = {s->m[0], s->m[1]},
        .first = r->first,
        .length = {length[0], length[1]},
        .shift = {(int64_t)k->w / 2 - k->cx, (int64_t)k->h / 2 - k->cy}};
    bool ok = true;
    if (r->float64 && r->by_lines) {
        for (; ok && taps.channel < k->channels; taps.channel++) {
            const fft_plane p = plane_of(&taps);
            ok = (l.half[taps.channel] = fft_halves_open(&p, threads, e));
        }
    } else if (mode == SPECTRUM_RESAMPLED) {
        ok = (l.made = resample_open(&resampled, threads, e)) &&
             (!r->at_once || fill(&l, threads, e));
    } else {
        ok = (l.value = mem_raw(k->channels, step, "spectrum", e));
        for (; ok && taps.channel < k->channels; taps.channel++)
            ok = transform_taps((char *)l.value + taps.channel * step, &taps, threads, e);
    }
    if (!ok) return spectrum_lines_free(&l), false;
    *to = l;
    return true;
}

/* A resampled spectrum is held as the result of its first step, which is smaller; it is made of a
 * source. An exact one is made of lines of double along the first axis. */
uint64_t spectrum_bytes(uint32_t w, uint32_t h, uint32_t channels, const spectrum_request *r,
                        uint64_t *making) {
    const uint32_t size[2] = {w, h}, *l = r->length;
    const uint64_t taps = (uint64_t)w * h * channels, line = 2 * sizeof(float) * (uint64_t)l[1],
                   halves = l[0] / 2 + 1,
                   lines = mem_rounded(2 * sizeof(double) * halves *
                                       (uint64_t)min_u32(size[1 - r->first], l[1]));
    *making = mem_rounded(sizeof(float) * taps);
    if (r->float64 && r->by_lines) return lines * channels;
    if (r->float64 || r->mode == SPECTRUM_EXACT) {
        *making += lines;
        return mem_rounded((r->float64 ? 2 : 1) * line * halves * channels);
    }
    const uint64_t rows = (uint64_t)length_next(2 * size[r->first], 2) / 2 + 1 + RESAMPLE_TAPS,
                   first_pass = mem_rounded(line * rows * channels);
    *making += mem_rounded(4 * sizeof(float) * taps);
    if (!r->at_once) return first_pass;
    *making += first_pass;
    return mem_rounded(line * halves * channels);
}

void spectrum_lines_free(spectrum_lines *l) {
    mem_free(l->value);
    resample_close(&l->made);
    for (int c = 0; c < PSF_CHANNELS; c++) fft_halves_close(&l->half[c]);
    *l = (spectrum_lines){0};
}

size_t spectrum_line_bytes(const spectrum_lines *l) {
    return (size_t)l->length * 2 * (l->float64 ? sizeof(double) : sizeof(float));
}

const void *spectrum_some(const spectrum_lines *l, uint32_t channel, uint32_t k1, uint32_t lines,
                          void *room) {
    if (l->value)
        return (const char *)l->value + ((size_t)channel * l->halves + k1) * spectrum_line_bytes(l);
    resample_lines(l->made, &(spectrum_piece){channel, k1, lines, 0, l->length}, room);
    return room;
}

double *spectrum_transform(const spectrum_lines *l, uint32_t channel, uint32_t k1, double *a,
                           double *b) {
    return fft_halves_lines(l->half[channel], k1, a, b);
}

void spectrum_part(const spectrum_lines *l, const spectrum_piece *p, void *to) {
    if (!l->value) {
        resample_lines(l->made, p, to);
        return;
    }
    size_t number = spectrum_line_bytes(l) / l->length;
    for (uint32_t i = 0; i < p->lines; i++) {
        size_t line = (size_t)p->channel * l->halves + p->k1 + i;
        memcpy((char *)to + i * p->count * number,
               (const char *)l->value + (line * l->length + p->first) * number, p->count * number);
    }
}

const void *spectrum_mixed(const spectrum_lines *l, uint32_t channel, uint32_t k1, uint32_t i) {
    if (!l->lanes || k1 + l->lanes > l->halves) return NULL;
    size_t bytes = spectrum_line_bytes(l), line = (size_t)channel * l->halves + k1;
    return (const char *)l->value + line * bytes + i * (bytes / l->length) * l->lanes;
}

/* `pieces` of a channel are groups of `lanes` lines, then the lines that are left, one by one. */
typedef struct {
    char *lines, *room; /* room for `lanes` lines for each worker */
    uint32_t length, halves, lanes, pitch;
    size_t pieces, number; /* bytes of a number */
    const uint32_t *order;
} arranging;

#define MIX(real)                                                                           \
    static void mix_##real(const arranging *j, uint32_t lanes, const real *was, real *to) { \
        for (uint32_t i = 0; i < j->length; i++, to += 2 * (size_t)lanes) {                 \
            const real *from = was + 2 * (size_t)j->order[i];                               \
            for (uint32_t v = 0; v < lanes; v++, from += 2 * (size_t)j->pitch)              \
                to[v] = from[0], to[lanes + v] = from[1];                                   \
        }                                                                                   \
    }
MIX(float)
MIX(double)
#undef MIX

/* Mixes the lines of a piece. They are moved to room first, a cache line more than their length
 * apart, so that the same place of all of them does not fall into one set of the cache. */
static bool mix_lines(void *ctx, size_t index, int worker, err *e) {
    const arranging *j = ctx;
    size_t groups = j->halves / j->lanes, piece = index % j->pieces;
    size_t first = piece < groups ? piece * j->lanes : groups * j->lanes + piece - groups;
    size_t bytes = j->length * j->number, apart = j->pitch * j->number;
    uint32_t lanes = piece < groups ? j->lanes : 1;
    char *to = j->lines + (index / j->pieces * j->halves + first) * bytes;
    char *was = j->room + (size_t)worker * j->lanes * apart;
    for (uint32_t v = 0; v < lanes; v++) memcpy(was + v * apart, to + v * bytes, bytes);
    if (j->number == 2 * sizeof(double))
        mix_double(j, lanes, (const double *)was, (double *)to);
    else
        mix_float(j, lanes, (const float *)was, (float *)to);
    return true;
}

bool spectrum_arrange(spectrum_lines *l, const uint32_t *order, uint32_t lanes, par *threads,
                      err *e) {
    enum { APART = 8 };
    size_t rows = l->halves;
    arranging j = {.lines = l->value ? l->value : (char *)resample_rows(l->made, &rows),
                   .length = l->length,
                   .lanes = l->value ? lanes : 1,
                   .pitch = l->length + APART,
                   .number = spectrum_line_bytes(l) / l->length,
                   .order = order};
    j.halves = (uint32_t)rows;
    j.pieces = rows / j.lanes + rows % j.lanes;
    OWN_MEM char *room =
        mem_raw((size_t)par_workers(threads), j.lanes * j.pitch * j.number, "spectrum lines", e);
    j.room = room;
    if (l->value) l->lanes = lanes;
    return room && par_for(threads, j.pieces * l->channels, mix_lines, &j, e);
}
