#include "base/log.h"
#include "image/recode.h"
#include "lib/lib.h"

#include <float.h>

static const char *name_of(uint32_t channels, uint32_t c) {
    return channels == 1 ? "Y" : (const char *const[]){"R", "G", "B", "A"}[c];
}

static bool make_header(lib_job *j, err *e) {
    const fb_image *pixels = j->pixels;
    const image_box box = {0, 0, (int32_t)pixels->width - 1, (int32_t)pixels->height - 1};
    const int32_t *frame = pixels->frame;
    const image_box whole = {frame[0], frame[1], frame[0] + frame[2] - 1, frame[1] + frame[3] - 1};
    image_part part = {.data = box,
                       .display = frame[2] ? whole : box,
                       .aspect = pixels->pixel_aspect > 0 ? (float)pixels->pixel_aspect : 1};
    const image_header plain = {.format = "exr", .part = &part, .parts = 1};
    if (!image_header_copy(&j->head, &plain, e)) return false;
    for (uint32_t c = 0; c < pixels->channels; c++) { /* halfs that become halfs again stay halfs */
        bool half = !j->floats && pixels->in[c].type == FB_HALF && pixels->out[c].type == FB_HALF;
        if (!image_add_channel(&j->head.part[0], name_of(pixels->channels, c),
                               half ? PIXEL_HALF : PIXEL_FLOAT, e))
            return false;
    }
    for (uint32_t c = 0; c < pixels->channels; c++)
        j->index[image_find_channel(&j->head.part[0], name_of(pixels->channels, c))] = c;
    const primaries_row *p = j->space.curve ? recode_primaries(&j->space) : NULL;
    return (!p || image_set_primaries(&j->head.part[0], &p->gamut, e)) &&
           (!(j->way & LIB_MASKED) ||
            image_add_channel(&j->head.part[0], LIB_MASK, PIXEL_FLOAT, e));
}

/* Doubles reach farther than floats: where the pixels of a channel are far from 1, a power of 2
 * brings them near, which changes no digit of them. */
static bool find_exponents(lib_job *j, err *e) {
    enum { NEAR = 60, LEAST = -100, FAR = 1000 };
    const fb_image *pixels = j->pixels;
    double most[LIB_CHANNELS];
    if (!lib_planes_most(most, pixels->in, pixels->width, pixels->height, pixels->channels,
                         j->threads, e))
        return false;
    for (uint32_t c = 0; c < pixels->channels; c++) {
        const double v = most[j->index[c]];
        const int by = v > 0 ? ilogb(v) : 0;
        if (j->scales && abs(by) > NEAR)
            j->exponent[c] = by < -FAR ? -FAR : by > FAR ? FAR : by, j->far = true;
        if (!j->scales && pixels->in[j->index[c]].type == FB_DOUBLE && (v > FLT_MAX || by < LEAST))
            return err_set(
                e, ERR_BAD_PIXELS,
                "the largest pixel of channel '%s' is %g; where precision, a mask or a threshold "
                "asks for floats it can be %g to %g, or 0: scale the image",
                name_of(pixels->channels, j->index[c]), v, ldexp(1, LEAST), FLT_MAX);
    }
    return true;
}

bool lib_job_begin(lib_job *j, err *e) {
    bool doubles = false;
    for (uint32_t c = 0; c < j->pixels->channels; c++)
        doubles |= j->pixels->in[c].type == FB_DOUBLE;
    return make_header(j, e) && (!doubles || find_exponents(j, e));
}

double lib_unit(const lib_job *j, const char *channel) {
    int c = image_find_channel(&j->head.part[0], channel);
    return c < 0 ? 1 : ldexp(1, j->exponent[c]);
}

/* --- rows in and out -------------------------------------------------------------------------- */

static bool copy_rows(lib_job *j, lib_rows r, err *e) {
    if (!r.plane) r.plane = r.out ? j->pixels->out : j->pixels->in;
    r.index = j->index;
    r.w = j->pixels->width;
    r.channels = j->pixels->channels;
    bool ok = lib_rows_copy(&r, j->threads, e);
    j->over += r.over;
    return ok;
}

static bool code_rows(const lib_job *j, const image_part *p, void **plane, uint32_t rows, bool out,
                      err *e) {
    if (!j->coded) return true;
    const curve *const curve_of_space = j->space.curve;
    const recode how = {.decode = out ? CURVE_LINEAR : curve_of_space,
                        .encode = out ? curve_of_space : CURVE_LINEAR};
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
                  .own = (void *[]){to},
                  .type = &type,
                  .w = j->pixels->width,
                  .row = row,
                  .rows = rows,
                  .channels = 1};
    return lib_rows_copy(&r, j->threads, e);
}

bool lib_read_mask(float **to, const lib_job *j, err *e) {
    const size_t n = (size_t)j->pixels->width * j->pixels->height;
    if (!j->pixels->mask) return true;
    if (!(*to = mem_raw(n, sizeof **to, "a mask", e)) ||
        !lib_read_plane(*to, FB_FLOAT, j, j->pixels->mask, 0, j->pixels->height, e))
        return false;
    for (size_t i = 0; i < n; i++) (*to)[i] = clamp_float((*to)[i], 0, 1);
    return true;
}

/* Writes rows of what is emitted, if anything is: layers of this part. Channels that are not spread
 * have none. */
static bool write_emitted(lib_job *j, lib_rows r, const image_part *p, void *const *plane, err *e) {
    void *own[LIB_CHANNELS];
    int32_t type[LIB_CHANNELS];
    if (!(j->way & LIB_EMITS)) return true;
    for (uint32_t c = 0; c < j->pixels->channels; c++) {
        char name[16];
        snprintf(name, sizeof name, LIB_EMIT ".%.1s", j->head.part[0].channel[c].name);
        int at = image_find_channel(p, name);
        own[c] = at < 0 ? NULL : plane[at];
        type[c] = at >= 0 && p->channel[at].type == PIXEL_HALF ? FB_HALF : FB_FLOAT;
    }
    r.own = own, r.type = type, r.plane = j->pixels->emit, r.out = true;
    return copy_rows(j, r, e);
}

static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    lib_job *j = ctx;
    int32_t type[LIB_CHANNELS];
    const uint32_t channels = j->pixels->channels;
    const image_part *p = &j->head.part[part];
    void *held[LIB_CHANNELS + 1] = {NULL};
    bool ok = true;
    types_of(type, p);
    memcpy(held, plane, (size_t)p->channels * sizeof *held);
    for (uint32_t c = 0; ok && j->coded && c < channels; c++) /* they need each other */
        ok = held[c] ||
             (held[c] = mem_raw((size_t)j->pixels->width * rows, sizeof(float), "rows", e));
    ok = ok && copy_rows(j, (lib_rows){.own = held, .type = type, .row = row, .rows = rows}, e) &&
         code_rows(j, p, held, rows, false, e) &&
         (!j->pixels->mask || !plane[channels] ||
          lib_read_plane(plane[channels], FB_FLOAT, j, j->pixels->mask, row, rows, e));
    for (uint32_t c = 0; c < channels; c++)
        if (!plane[c]) mem_free(held[c]);
    return ok;
}

static uint32_t step_of(void *ctx, int part) {
    return 1;
}

static bool write_rows(void *ctx, int part, const rows_band *b, err *e) {
    int32_t type[LIB_CHANNELS];
    types_of(type, b->part);
    const lib_rows r = {.own = b->plane, .type = type, .row = b->row, .rows = b->rows, .out = true};
    return code_rows(ctx, b->part, b->plane, b->rows, true, e) && copy_rows(ctx, r, e) &&
           write_emitted(ctx, r, b->part, b->plane, e);
}

bool lib_run_rows(lib_job *j, const bloom *b, bloom_report *r, err *e) {
    const bloom_rows rows = {.in = {.ctx = j, .head = &j->head, .read = read_rows},
                             .out = {.ctx = j, .step = step_of, .write = write_rows},
                             .digits = j->digits};
    return bloom_run(b, &rows, r, e);
}

/* --- images in one piece ---------------------------------------------------------------------- */

static size_t pixels_of(const image *img) {
    return (size_t)image_width(img->head.part) * image_height(img->head.part);
}

bool lib_pair_make(lib_pair *to, const lib_job *j, const image_header *head, bool zeros, err *e) {
    const ptrdiff_t size = sizeof(double);
    bool lost = j->way & LIB_SOLVES; /* steps are doubles */
    *to = (lib_pair){.far = j->far, .digits = j->digits};
    for (uint32_t c = 0; c < j->pixels->channels; c++) lost |= j->pixels->in[c].type == FB_DOUBLE;
    bool ok = (to->img = zeros ? image_new(head, e) : image_new_unset(head, NULL, e)) &&
              (!j->wide || !lost ||
               (to->rest = zeros ? image_new(head, e) : image_new_unset(head, NULL, e)));
    for (uint32_t c = 0; ok && j->wide && c < j->pixels->channels; c++) {
        const fb_plane *out = &j->pixels->out[j->index[c]];
        to->theirs[c] = !zeros && !j->far && out->type == FB_DOUBLE && out->pixel_stride == size &&
                        out->row_stride == size * j->pixels->width &&
                        (uintptr_t)out->data % sizeof(double) == 0;
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
        .own = p->img->plane[0], .type = type, .exponent = j->exponent, .rows = j->pixels->height};
    if (p->rest) r.rest = (float *const *)(void *)p->rest->plane[0];
    return copy_rows(j, r, e) &&
           code_rows(j, &p->img->head.part[0], p->img->plane[0], j->pixels->height, false, e) &&
           (!(j->way & LIB_MASKED) ||
            lib_read_plane(p->img->plane[0][j->pixels->channels], FB_FLOAT, j, j->pixels->mask, 0,
                           j->pixels->height, e));
}

bool lib_pair_write(const lib_pair *p, lib_job *j, err *e) {
    const image_part *part = &p->img->head.part[0];
    int32_t type[LIB_CHANNELS] = {FB_DOUBLE, FB_DOUBLE, FB_DOUBLE, FB_DOUBLE};
    lib_rows r = {.own = p->doubles[0] ? (void *const *)p->doubles : p->img->plane[0],
                  .type = type,
                  .exponent = j->exponent,
                  .rows = j->pixels->height,
                  .out = true};
    if (!p->doubles[0]) types_of(type, part);
    return code_rows(j, part, p->img->plane[0], j->pixels->height, true, e) && copy_rows(j, r, e) &&
           write_emitted(j, r, part, p->img->plane[0], e);
}

bool lib_run(const bloom *b, image *img, bloom_rows more, bool quiet, bloom_report *r, err *e) {
    const int level = host_here()->level;
    if (quiet) host_here()->level = LOG_ERROR;
    const bool ok = bloom_image_with(b, img, more, r, e);
    host_here()->level = level;
    return ok;
}

/* Blooms what the pixels of the image have lost, where a GPU did not look at that. Its errors come
 * on top of those of the image. */
static bool bloom_rest(lib_pair *p, const bloom *b, bloom_report *r, err *e) {
    const size_t n = pixels_of(p->img);
    OWN_MEM bloom_report *own = mem_new(1, sizeof *own, "a report", e);
    double *made[LIB_CHANNELS + 1] = {NULL}; /* zeros where a channel is not bloomed */
    bool ok = own;
    for (uint32_t c = 0; ok && p->doubles[c]; c++)
        ok = (made[c] = mem_new(n, sizeof(double), "doubles", e));
    ok = ok && lib_run(b, p->rest, (bloom_rows){.doubles = made}, true, own, e);
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
    return ok;
}

ledger_row *lib_row(bloom_report *r, const image_part *p, uint32_t channel) {
    for (uint32_t i = 0; i < r->ledger_rows; i++)
        if (!strcmp(r->ledger[i].channel, p->channel[channel].name)) return &r->ledger[i];
    return NULL;
}

bool lib_pair_bloom(lib_pair *p, const bloom *b, bloom_report *r, err *e) {
    const size_t n = pixels_of(p->img);
    const float *const *lost = p->rest ? (const float *const *)(void *)p->rest->plane[0] : NULL;
    const bloom_rows more = {
        .doubles = p->doubles[0] ? p->doubles : NULL, .lost = lost, .digits = p->digits};
    if (!lib_run(b, p->img, more, p->far, r, e)) return false;
    if (!p->doubles[0]) return true;
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
