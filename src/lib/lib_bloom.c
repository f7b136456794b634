#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "image/recode.h"
#include "lib/lib.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the header ------------------------------------------------------------------------------- */

static bool codes_pixels(const lib_job *j) {
    return j->space.curve && j->space.curve != CURVE_LINEAR;
}

static const char *name_of(uint32_t channels, uint32_t c) {
    static const char *const NAME[] = {"R", "G", "B", "A"};
    return channels == 1 ? "Y" : NAME[c];
}

static bool make_header(lib_job *j, bool masked, err *e) {
    const fb_image *is = j->is;
    image_part part = {.data = {0, 0, (int32_t)is->width - 1, (int32_t)is->height - 1},
                       .aspect = is->pixel_aspect > 0 ? (float)is->pixel_aspect : 1};
    part.display = part.data;
    const image_header plain = {.format = "exr", .part = &part, .parts = 1};
    if (!image_header_copy(&j->head, &plain, e)) return false;
    for (uint32_t c = 0; c < is->channels; c++) { /* halfs that become halfs again stay halfs */
        bool half = !j->floats && is->in[c].type == FB_HALF && is->out[c].type == FB_HALF;
        if (!image_add_channel(&j->head.part[0], name_of(is->channels, c),
                               half ? PIXEL_HALF : PIXEL_FLOAT, e))
            return false;
    }
    for (uint32_t c = 0; c < is->channels; c++)
        j->index[image_find_channel(&j->head.part[0], name_of(is->channels, c))] = c;
    const primaries_row *p = j->space.curve ? recode_primaries(&j->space) : NULL;
    if (p && !image_set_primaries(&j->head.part[0], &p->is, e)) return false;
    return !masked || image_add_channel(&j->head.part[0], LIB_MASK, PIXEL_FLOAT, e);
}

/* Doubles reach farther than floats: where the pixels of a channel are far from 1, a power of 2
 * brings them near, which changes no digit of them. */
static bool find_exponents(lib_job *j, err *e) {
    enum { NEAR = 60, LEAST = -100, FAR = 1000 };
    const fb_image *is = j->is;
    double most[LIB_CHANNELS];
    if (!lib_planes_most(most, is->in, is->width, is->height, is->channels, j->threads, e))
        return false;
    for (uint32_t c = 0; c < is->channels; c++) {
        const double v = most[j->index[c]];
        const int by = v > 0 ? ilogb(v) : 0;
        if (j->wide && abs(by) > NEAR)
            j->exponent[c] = by < -FAR ? -FAR : by > FAR ? FAR : by, j->far = true;
        if (!j->wide && is->in[j->index[c]].type == FB_DOUBLE && (v > FLT_MAX || by < LEAST))
            return err_set(
                e, ERR_BAD_PIXELS,
                "the largest pixel of channel '%s' is %g; where precision or a threshold "
                "asks for floats it can be %g to %g, or 0: scale the image",
                name_of(is->channels, j->index[c]), v, ldexp(1, LEAST), FLT_MAX);
    }
    return true;
}

/* Returns what the numbers of a channel count as. */
static double unit_of(const lib_job *j, const char *channel) {
    int c = image_find_channel(&j->head.part[0], channel);
    return c < 0 ? 1 : ldexp(1, j->exponent[c]);
}

/* --- rows in and out -------------------------------------------------------------------------- */

static bool copy_rows(lib_job *j, lib_rows r, err *e) {
    if (!r.plane) r.plane = r.out ? j->is->out : j->is->in;
    r.index = j->index;
    r.w = j->is->width;
    r.channels = j->is->channels;
    bool ok = lib_rows_copy(&r, j->threads, e);
    j->over += r.over;
    return ok;
}

/* Decodes rows of the own planes of a part, or codes them again. */
static bool code_rows(const lib_job *j, const image_part *p, void **plane, uint32_t rows, bool out,
                      err *e) {
    if (!codes_pixels(j)) return true;
    const curve *const is = j->space.curve;
    const recode how = {.decode = out ? CURVE_LINEAR : is, .encode = out ? is : CURVE_LINEAR};
    image_part some = *p;
    image img = {.head = {.part = &some, .parts = 1}, .plane = &plane};
    some.data.y1 = some.data.y0 + (int32_t)rows - 1;
    return recode_part(&img, 0, &how, j->threads, e);
}

static void types_of(int32_t to[LIB_CHANNELS], const image_part *p) {
    for (int c = 0; c < p->channels && c < LIB_CHANNELS; c++)
        to[c] = p->channel[c].type == PIXEL_HALF ? FB_HALF : FB_FLOAT;
}

bool lib_read_plane(void *to, int32_t type, const lib_job *j, const fb_plane *from, uint32_t row,
                    uint32_t rows, err *e) {
    lib_rows r = {.plane = from,
                  .index = (uint32_t[]){0},
                  .own = (void *[]){to},
                  .type = &type,
                  .w = j->is->width,
                  .row = row,
                  .rows = rows,
                  .channels = 1};
    return lib_rows_copy(&r, j->threads, e);
}

bool lib_read_mask(float **to, const lib_job *j, err *e) {
    const size_t n = (size_t)j->is->width * j->is->height;
    if (!j->is->mask) return true;
    if (!(*to = mem_raw(n, sizeof **to, "a mask", e)) ||
        !lib_read_plane(*to, FB_FLOAT, j, j->is->mask, 0, j->is->height, e))
        return false;
    for (size_t i = 0; i < n; i++) (*to)[i] = clamp_float((*to)[i], 0, 1);
    return true;
}

/* Writes rows of what is emitted: layers of this part. Channels that are not spread have none. */
static bool write_emitted(lib_job *j, lib_rows r, const image_part *p, void *const *plane, err *e) {
    void *own[LIB_CHANNELS];
    int32_t type[LIB_CHANNELS];
    for (uint32_t c = 0; c < j->is->channels; c++) {
        char name[16];
        snprintf(name, sizeof name, LIB_EMIT ".%.1s", j->head.part[0].channel[c].name);
        int at = image_find_channel(p, name);
        own[c] = at < 0 ? NULL : plane[at];
        type[c] = at >= 0 && p->channel[at].type == PIXEL_HALF ? FB_HALF : FB_FLOAT;
    }
    r.own = own, r.type = type, r.plane = j->is->emit, r.out = true;
    return copy_rows(j, r, e);
}

static bool emits_layer(const lib_job *j) {
    return j->way & LIB_EMITS;
}

static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    lib_job *j = ctx;
    int32_t type[LIB_CHANNELS];
    const uint32_t channels = j->is->channels;
    const image_part *p = &j->head.part[part];
    void *all[LIB_CHANNELS + 1] = {NULL};
    bool ok = true;
    types_of(type, p);
    memcpy(all, plane, (size_t)p->channels * sizeof *all);
    for (uint32_t c = 0; ok && codes_pixels(j) && c < channels; c++) /* they need each other */
        ok = all[c] || (all[c] = mem_raw((size_t)j->is->width * rows, sizeof(float), "rows", e));
    ok = ok && copy_rows(j, (lib_rows){.own = all, .type = type, .row = row, .rows = rows}, e) &&
         code_rows(j, p, all, rows, false, e) &&
         (!j->is->mask || !plane[channels] ||
          lib_read_plane(plane[channels], FB_FLOAT, j, j->is->mask, row, rows, e));
    for (uint32_t c = 0; c < channels; c++)
        if (!plane[c]) mem_free(all[c]);
    return ok;
}

static uint32_t step_of(void *ctx, int part) {
    (void)ctx, (void)part;
    return 1;
}

static bool write_rows(void *ctx, int part, const rows_band *b, err *e) {
    int32_t type[LIB_CHANNELS];
    (void)part;
    types_of(type, b->is);
    const lib_rows r = {.own = b->plane, .type = type, .row = b->row, .rows = b->rows, .out = true};
    return code_rows(ctx, b->is, b->plane, b->rows, true, e) && copy_rows(ctx, r, e) &&
           (!emits_layer(ctx) || write_emitted(ctx, r, b->is, b->plane, e));
}

/* --- images in one piece -----------------------------------------------------------------------
 */

static size_t pixels_of(const image *img) {
    const image_part *p = &img->head.part[0];
    return (size_t)image_width(p) * image_height(p);
}

static bool is_packed_doubles(const fb_plane *p, uint32_t w) {
    const ptrdiff_t size = sizeof(double);
    return p->type == FB_DOUBLE && p->pixel_stride == size && p->row_stride == size * w &&
           (uintptr_t)p->data % sizeof(double) == 0;
}

bool lib_pair_make(lib_pair *to, const lib_job *j, const image_header *head, bool zeros, err *e) {
    bool lost = j->way & LIB_SOLVES; /* steps are doubles */
    *to = (lib_pair){.far = j->far};
    for (uint32_t c = 0; c < j->is->channels; c++) lost |= j->is->in[c].type == FB_DOUBLE;
    bool ok = (to->img = zeros ? image_new(head, e) : image_new_unset(head, NULL, e)) &&
              (!j->wide || !lost ||
               (to->rest = zeros ? image_new(head, e) : image_new_unset(head, NULL, e)));
    for (uint32_t c = 0; ok && j->wide && c < j->is->channels; c++) {
        const fb_plane *out = &j->is->out[j->index[c]];
        to->theirs[c] = !zeros && !j->far && is_packed_doubles(out, j->is->width);
        ok = (to->doubles[c] = to->theirs[c]
                                   ? out->data
                                   : mem_raw(pixels_of(to->img), sizeof(double), "doubles", e));
    }
    return ok;
}

bool lib_pair_read(lib_pair *p, lib_job *j, err *e) {
    int32_t type[LIB_CHANNELS];
    types_of(type, &p->img->head.part[0]);
    lib_rows r = {
        .own = p->img->plane[0], .type = type, .exponent = j->exponent, .rows = j->is->height};
    if (p->rest) r.rest = (float *const *)(void *)p->rest->plane[0];
    return copy_rows(j, r, e) &&
           code_rows(j, &p->img->head.part[0], p->img->plane[0], j->is->height, false, e) &&
           (!(j->way & LIB_MASKED) || lib_read_plane(p->img->plane[0][j->is->channels], FB_FLOAT, j,
                                                     j->is->mask, 0, j->is->height, e));
}

bool lib_pair_write(const lib_pair *p, lib_job *j, err *e) {
    int32_t type[LIB_CHANNELS] = {FB_DOUBLE, FB_DOUBLE, FB_DOUBLE, FB_DOUBLE};
    lib_rows r = {.own = (void *const *)p->doubles,
                  .type = type,
                  .exponent = j->exponent,
                  .rows = j->is->height,
                  .out = true};
    if (!p->doubles[0]) {
        types_of(type, &p->img->head.part[0]);
        r.own = p->img->plane[0];
    }
    return code_rows(j, &p->img->head.part[0], p->img->plane[0], j->is->height, true, e) &&
           copy_rows(j, r, e) &&
           (!emits_layer(j) || write_emitted(j, r, &p->img->head.part[0], p->img->plane[0], e));
}

/* Runs a bloom of one of the images, which says nothing where `quiet`: what it would say is not
 * true of the caller's pixels. */
static bool run(const bloom *b, image *img, bloom_rows more, bool quiet, bloom_report *r, err *e) {
    rows_image rows;
    const int level = host_here()->level;
    if (quiet) host_here()->level = LOG_ERROR;
    bool ok = rows_image_open(&rows, img, e);
    more.in = rows.in, more.out = rows.out;
    ok = ok && bloom_run(b, &more, r, e);
    rows_image_close(&rows);
    host_here()->level = level;
    return ok;
}

/* Blooms what the pixels of the image have lost, where a GPU did not look at that. Its errors come
 * on top of those of the image. */
static bool bloom_rest(lib_pair *p, const bloom *b, bloom_report *r, err *e) {
    const size_t n = pixels_of(p->img);
    bloom_report *own = mem_new(1, sizeof *own, "a report", e);
    double *made[LIB_CHANNELS + 1] = {NULL}; /* zeros where a channel is not bloomed */
    bool ok = own;
    for (uint32_t c = 0; ok && p->doubles[c]; c++)
        ok = (made[c] = mem_new(n, sizeof(double), "doubles", e));
    ok = ok && run(b, p->rest, (bloom_rows){.doubles = made}, true, own, e);
    accuracy *m = &r->sum.promise.method;
    double more = 0;
    for (uint32_t c = 0; ok && made[c]; c++) {
        more = fmax(more, own->sum.promise.method.error[c]);
        for (size_t i = 0; i < n; i++) p->doubles[c][i] += made[c][i];
    }
    m->floor += more;
    for (int c = 0; c < PSF_CHANNELS; c++) m->error[c] += more;
    m->kept &= m->floor <= m->allowed;
    for (int c = 0; c < LIB_CHANNELS; c++) mem_free(made[c]);
    mem_free(own);
    return ok;
}

ledger_row *lib_row(bloom_report *r, const image_part *p, uint32_t channel) {
    for (uint32_t i = 0; i < r->ledger_rows; i++)
        if (!strcmp(r->ledger[i].channel, p->channel[channel].name)) return &r->ledger[i];
    return NULL;
}

bool lib_pair_bloom(lib_pair *p, const bloom *b, bloom_report *r, err *e) {
    const size_t n = pixels_of(p->img);
    if (!p->doubles[0]) return bloom_image(b, p->img, r, e);
    const float *const *lost = p->rest ? (const float *const *)(void *)p->rest->plane[0] : NULL;
    if (!run(b, p->img, (bloom_rows){.doubles = p->doubles, .lost = lost}, p->far, r, e))
        return false;
    for (uint32_t c = 0; p->doubles[c]; c++) { /* what is not bloomed stays as it is */
        const float *from = p->img->plane[0][c], *and = lost ? lost[c] : NULL;
        if (lib_row(r, &p->img->head.part[0], c)) continue;
        for (size_t i = 0; i < n; i++)
            p->doubles[c][i] = (double)from[i] + (and? (double)and[i] : 0);
    }
    return !lost || r->sum.solved.steps || r->sum.device.class == ENGINE_CPU ||
           bloom_rest(p, b, r, e);
}

void lib_pair_free(lib_pair *p) {
    image_free(&p->img);
    image_free(&p->rest);
    for (int c = 0; c < LIB_CHANNELS; c++)
        if (!p->theirs[c]) mem_free(p->doubles[c]);
    *p = (lib_pair){0};
}

/* --- blooming --------------------------------------------------------------------------------- */

/* Returns whether the budget has room for the image in one piece. */
static bool fits(const lib_job *j, const bloom *b) {
    enum { SMALL = 32, WIDE = 3 }; /* doubles, and what floats lose */
    mem_plan need = {0};
    mem_plan_add(&need, "image", image_bytes(&j->head.part[0]));
    if (j->wide) mem_plan_add(&need, "doubles", WIDE * image_bytes(&j->head.part[0]));
    if (need.bytes <= mem_limit() / SMALL) return true;
    bloom_memory(b, &j->head, &need);
    return need.bytes <= mem_limit();
}

static void fill_report(fb_report *to, const lib_job *j, const bloom_report *r, double seconds) {
    const accuracy *m = &r->sum.promise.method;
    const double unit = unit_of(j, r->sum.promise.channel);
    uint32_t size = to->size;
    fb_report own = {.size = size,
                     .kept = !r->groups || m->kept,
                     .error = unit * m->floor,
                     .allowed = unit * m->allowed,
                     .bad_pixels = r->sum.bad,
                     .clamped = j->over,
                     .seconds = seconds,
                     .attempts = r->sum.promise.attempts,
                     .precision = m->precision == PRECISION_FLOAT64 ? FB_PRECISION_FLOAT64
                                                                    : FB_PRECISION_FLOAT32};
    for (int i = 0; i < PLAN_AXES; i++)
        own.lengths[i] = r->sum.plan.axis[r->sum.plan.first == PLAN_X ? i : 1 - i].length;
    if (own.lengths[0])
        own.tiles = r->sum.tiles.channels ? r->sum.tiles.count[0] * r->sum.tiles.count[1] : 1;
    for (uint32_t i = 0; i < r->ledger_rows; i++) {
        const double of = unit_of(j, r->ledger[i].channel);
        own.energy_in += of * r->ledger[i].in;
        own.energy_out += of * r->ledger[i].out;
        own.clamped += r->ledger[i].overflow_pixels;
    }
    if (r->sum.solved.steps) {
        const int c = image_find_channel(&j->head.part[0], r->sum.solved.channel);
        own.steps = r->sum.solved.steps;
        own.worst_x = (uint32_t)r->sum.solved.x, own.worst_y = (uint32_t)r->sum.solved.y;
        own.worst_channel = c < 0 ? 0 : j->index[c];
    }
    snprintf(own.device, sizeof own.device, "%.127s", r->sum.device.name);
    snprintf(own.note, sizeof own.note, "%.255s", r->notes ? r->note[0] : "");
    memcpy(to, &own, size < sizeof own ? size : sizeof own);
}

/* Says what the bloom could not say of pixels that were not its own. */
static void warn_far(const lib_job *j, const bloom_report *r) {
    const accuracy *m = &r->sum.promise.method;
    const double unit = unit_of(j, r->sum.promise.channel);
    if (r->groups && !m->kept)
        log_warn(
            "channel '%s': the tolerance of %g is not kept: errors up to %.2g, and %.2g allowed",
            r->sum.promise.channel, r->sum.promise.tolerance, unit * m->floor, unit * m->allowed);
}

static void note_light(const lib_job *j, bloom_report *r, light_told *told) {
    for (ledger_row *row = r->ledger; row < r->ledger + r->ledger_rows; row++) {
        row->lowest *= unit_of(j, row->channel);
        row->highest *= unit_of(j, row->channel);
    }
    light_notes("", NULL, r, told);
}

static bool is_in_place(const fb_image *is) {
    return !memcmp(is->in, is->out, is->channels * sizeof *is->in);
}

/* Refuses planes that are written over others of the image, but for `out` that is `in`. */
static bool check_apart(const fb_image *is, err *e) {
    const struct {
        const char *name;
        const fb_plane *plane;
        uint32_t n;
    } SET[] = {{"in", is->in, is->channels},
               {"mask", is->mask, 1},
               {"out", is->out, is->channels},
               {"emit", is->emit, is->channels}};
    for (int i = 2; i < 4; i++)
        for (int k = 0; SET[i].plane && k < i; k++)
            if (SET[k].plane && !(k == 0 && i == 2 && is_in_place(is)) &&
                lib_planes_touch(SET[i].plane, SET[i].n, SET[k].plane, SET[k].n, is->width,
                                 is->height))
                return err_set(e, ERR_USAGE, "`%s` lies over `%s`%s", SET[i].name, SET[k].name,
                               k == 0 && i == 2 ? "; it may be the same planes, or others" : "");
    return true;
}

bool lib_image(fb_image *to, const fb_image *from, bool writes, err *e) {
    const fb_image *is = to;
    if (!lib_struct(to, sizeof *to, offsetof(fb_image, mask), from, "fb_image", e)) return false;
    if (is->width < 1 || is->height < 1 || is->width > IMAGE_SIDE || is->height > IMAGE_SIDE)
        return err_set(e, ERR_USAGE, "an image has 1 to %d pixels a side, not %u x %u", IMAGE_SIDE,
                       is->width, is->height);
    if (is->channels != 1 && is->channels != 3 && is->channels != 4)
        return err_set(e, ERR_USAGE,
                       "an image has 1, 3 or 4 channels, not %u; bloom others one by one",
                       is->channels);
    if (!(is->pixel_aspect >= 0 && is->pixel_aspect <= 100))
        return err_set(e, ERR_USAGE, "pixel_aspect is %g; it can be 0 to 100", is->pixel_aspect);
    if (!writes && (is->pixel_aspect > 0 || is->space))
        return err_set(e, ERR_USAGE, "pixel_aspect and space must be 0 where a gradient is made");
    return lib_planes_check(is->in, is->width, is->height, is->channels, false, "in", e) &&
           lib_planes_check(is->out, is->width, is->height, is->channels, writes, "out", e) &&
           (!is->mask || lib_planes_check(is->mask, is->width, is->height, 1, false, "mask", e)) &&
           (!is->emit ||
            lib_planes_check(is->emit, is->width, is->height, is->channels, true, "emit", e)) &&
           (!writes || check_apart(is, e));
}

bool lib_bloom_it(lib_job *j, fb_session *s, bloom_report *r, err *e) {
    const bloom *b = lib_bloom(s, j->way, e);
    if (!b) return false;
    if (fits(j, b)) { /* a copy of the pixels */
        lib_pair p;
        bool ok = lib_pair_make(&p, j, &j->head, false, e) && lib_pair_read(&p, j, e);
        if (ok && !j->far)
            light_notes_codes(p.img, NULL, NULL, "decode it; lights above 1 are missing in it",
                              &s->told);
        ok = ok && lib_pair_bloom(&p, b, r, e) && lib_pair_write(&p, j, e);
        lib_pair_free(&p);
        if (ok || e->code != ERR_LINES || j->wide || is_in_place(j->is)) return ok;
        *e = (err){0};
    }
    if (j->wide)
        return err_set(e, ERR_MEMORY,
                       "the image of %u x %u pixels in doubles needs more than the budget; planes "
                       "of floats are bloomed in tiles",
                       j->is->width, j->is->height);
    if (is_in_place(j->is))
        return err_set(e, ERR_MEMORY,
                       "the image of %u x %u pixels needs more than the budget and is bloomed in "
                       "tiles, for which `out` must not be `in`",
                       j->is->width, j->is->height);
    const bloom_rows rows = {.in = {.ctx = j, .head = &j->head, .read = read_rows},
                             .out = {.ctx = j, .step = step_of, .write = write_rows}};
    return bloom_run(b, &rows, r, e);
}

bool lib_do_image(lib_way *way, fb_session *s, const fb_image *from, fb_report *report, err *e) {
    fb_image is;
    double start = clock_now();
    if (report && report->size < sizeof *report)
        return err_set(e, ERR_USAGE,
                       "fb_report: its size is %u, and must be sizeof(fb_report), %zu",
                       report->size, sizeof *report);
    if (!lib_image(&is, from, true, e)) return false;
    if (is.session && is.session->kernel->context != s->kernel->context)
        return err_set(e, ERR_USAGE, "the image's session is of another context than the call's");
    if (is.session) s = is.session;
    if (is.emit && s->set.emit == FB_EMIT_NONE)
        return err_set(e, ERR_CONFIG, "emit is 0, and the image has planes for what is emitted");
    lib_job j = {.is = &is, .threads = s->kernel->context->threads};
    bool doubles = false;
    for (uint32_t c = 0; c < is.channels; c++) {
        doubles |= is.in[c].type == FB_DOUBLE;
        j.wide |= is.in[c].type == FB_DOUBLE || is.out[c].type == FB_DOUBLE;
    }
    if (is.space && !(space_check(is.space, false, e) && space_find(&j.space, is.space)))
        return false;
    const bool turned = way == lib_adjoint || way == lib_solve_adjoint;
    const bool solves = way == lib_solve || way == lib_solve_adjoint;
    j.wide &= !(s->set.threshold > 0) && (!is.mask || solves) && !codes_pixels(&j) &&
              s->set.precision != FB_PRECISION_FLOAT32;
    j.wide |= way == lib_solve_adjoint;
    j.way = (j.wide ? LIB_WIDE : 0) | (solves ? LIB_SOLVES : 0) |
            (turned    ? LIB_TRANSPOSE
             : is.mask ? LIB_MASKED
                       : 0);
    if (way == lib_bloom_it && is.emit) j.way |= LIB_EMITS;
    j.floats = j.wide || turned || codes_pixels(&j);
    host_here()->progress = is.progress;
    host_here()->progress_ctx = is.user;
    host_here()->stopped = false;
    bloom_report *r = mem_new(1, sizeof *r, "a report", e);
    bool ok = r && make_header(&j, j.way & LIB_MASKED, e) && (!doubles || find_exponents(&j, e)) &&
              way(&j, s, r, e);
    if (ok && j.over && s->set.half_overflow == FB_OVERFLOW_ERROR)
        ok = err_set(e, ERR_BAD_PIXELS,
                     "%" PRIu64 " values of the result are beyond the largest that `out` holds, "
                     "65504 in half floats; half_overflow has to clamp them, or `out` to be wider",
                     j.over);
    if (ok && j.far) warn_far(&j, r);
    if (ok && !turned) note_light(&j, r, &s->told);
    if (r && report) fill_report(report, &j, r, clock_now() - start);
    image_header_free(&j.head);
    mem_free(r);
    return ok;
}

static int32_t call(lib_way *way, fb_session *s, const fb_image *is, fb_report *r,
                    fb_error *error) {
    lib_call l;
    if (!lib_enter(&l, s && is ? s->kernel->context : NULL, "a session and an image", error))
        return lib_leave(&l);
    atomic_fetch_add(&s->users, 1);
    lib_do_image(way, s, is, r, &l.e);
    lib_session_give(s);
    return lib_leave(&l);
}

int32_t fb_bloom(fb_session *session, const fb_image *is, fb_report *report, fb_error *error) {
    return call(lib_bloom_it, session, is, report, error);
}

int32_t fb_apply_adjoint(fb_session *session, const fb_image *is, fb_report *report,
                         fb_error *error) {
    return call(lib_adjoint, session, is, report, error);
}

int32_t fb_solve(fb_session *session, const fb_image *is, fb_report *report, fb_error *error) {
    return call(lib_solve, session, is, report, error);
}

int32_t fb_solve_adjoint(fb_session *session, const fb_image *is, fb_report *report,
                         fb_error *error) {
    return call(lib_solve_adjoint, session, is, report, error);
}
