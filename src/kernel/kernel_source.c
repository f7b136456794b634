#include "kernel/kernel_source.h"

#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "image/format.h"
#include "image/layers.h"
#include "kernel/psf_core.h"
#include "kernel/spectrum_file.h"

/* Finds the part and the channels: one that has colour, else one with a single channel. */
static bool choose_channels(kernel_source *k, const image_header *h, err *e) {
    for (int i = 0; i < 2 * h->parts && k->channels == 0; i++) {
        layer_map m;
        k->part = i % h->parts;
        if (!layer_map_make(&m, &h->part[k->part], NULL, NULL, e)) return false;
        if (m.groups > 0) {
            k->channels = (uint32_t)m.group[0].channels;
            memcpy(k->channel, m.group[0].channel, sizeof k->channel);
        } else if (i >= h->parts && h->part[k->part].channels == 1) {
            k->channels = 1, k->channel[0] = 0;
        }
        layer_map_free(&m);
    }
    if (k->channels) return true;
    const image_part *p = &h->part[0];
    OWN(text) names = {0};
    for (int i = 0; i < p->channels && i < 12; i++)
        text_add(&names, i ? ", %s" : "%s", p->channel[i].name);
    return err_set(
        e, ERR_DATA,
        "kernel '%s' has no colour channels (R G B, or Y, or a single one), but %d others: %s",
        k->path, p->channels, names.s ? names.s : "none");
}

static bool take_planes(kernel_source *k, const image *img, err *e) {
    if (!choose_channels(k, &img->head, e)) return false;
    const image_part *p = &img->head.part[k->part];
    k->w = image_width(p);
    k->h = image_height(p);
    image_luminance(p, k->luminance);
    k->known = image_primaries(p, &k->gamut);
    const image_attr *by;
    const curve *coded = image_curve(p, &by);
    if (!coded->decode)
        return err_set(e, ERR_DATA,
                       "kernel '%s' is coded as %s (attribute %s), which is not supported; convert "
                       "it to linear light first",
                       k->path, coded->title, by->name);
    if (by)
        log_note("kernel '%s' is coded as %s (attribute %s); it is decoded to linear light",
                 k->path, coded->title, by->name);
    size_t n = (size_t)k->w * k->h;
    for (uint32_t c = 0; c < k->channels; c++) {
        int from = k->channel[c];
        if (!(k->plane[c] = mem_raw(n, sizeof(float), "kernel", e))) return false;
        image_to_float(k->plane[c], img->plane[k->part][from], p->channel[from].type, 0, n);
        for (size_t i = 0; by && i < n; i++)
            k->plane[c][i] = (float)coded->decode(coded, (double)k->plane[c][i]);
    }
    return true;
}

bool kernel_source_refine(kernel_source *k, const image *lost, err *e) {
    const size_t n = (size_t)k->w * k->h;
    for (uint32_t c = 0; c < k->channels; c++) {
        if (!(k->rest[c] = mem_raw(n, sizeof(float), "kernel", e))) return false;
        memcpy(k->rest[c], lost->plane[k->part][k->channel[c]], n * sizeof(float));
    }
    return true;
}

bool kernel_source_load(kernel_source *k, const char *path, par *threads, err *e) {
    *k = (kernel_source){.path = NULL};
    if (spectrum_file_is(path)) {
        if (!(k->path = mem_str(path, e)) || !spectrum_file_read(&k->ready, path, e))
            return err_in(e, "kernel '%s'", path) || err_blame(e, FAULT_KERNEL);
        k->is_spectrum = true;
        k->gamut = *PRIMARIES_REC709;
        k->channels = k->ready.kernel.channels;
        k->aspect = 1;
        memcpy(k->luminance, k->ready.kernel.made.luminance, sizeof k->luminance);
        return true;
    }
    OWN(image) *img = image_load(path, &(image_limits){.side = PSF_SIDE}, threads, e);
    return img ? kernel_source_image(k, path, img, e)
               : err_in(e, "kernel") || err_blame(e, FAULT_KERNEL);
}

static bool refuse_field(const char *name, uint32_t nodes, err *e) {
    return err_set(e, ERR_CONFIG,
                   "kernel '%s' is a field of %u kernels, which this does not take: "
                   "'fftbloom apply' blooms images with it",
                   name, nodes) ||
           err_blame(e, FAULT_KERNEL);
}

bool kernel_source_image(kernel_source *k, const char *name, const image *img, err *e) {
    if (img->head.parts > 1 && image_find_attr(&img->head.part[0], KERNEL_NODE_ATTR))
        return refuse_field(name, (uint32_t)img->head.parts, e);
    *k = (kernel_source){.path = mem_str(name, e)};
    if (k->path && take_planes(k, img, e)) {
        const float aspect = img->head.part[k->part].aspect;
        k->aspect = aspect > 0 && isfinite(aspect) ? (double)aspect : 1;
        return true;
    }
    kernel_source_free(k);
    return false;
}

/* Copies a plane of n taps; of none, NULL. */
static bool copy_plane(float **to, const float *from, size_t n, err *e) {
    *to = from ? mem_raw(n, sizeof **to, "kernel", e) : NULL;
    if (*to) memcpy(*to, from, n * sizeof **to);
    return *to || !from;
}

bool kernel_source_copy(kernel_source *to, const kernel_source *from, err *e) {
    if (!kernel_source_taps(from, e)) return false;
    kernel_source copy = *from;
    bool ok = (copy.path = mem_str(from->path, e)) != NULL;
    for (int c = 0; c < PSF_CHANNELS; c++) copy.plane[c] = copy.rest[c] = NULL;
    for (int c = 0; ok && c < PSF_CHANNELS; c++)
        ok = copy_plane(&copy.plane[c], from->plane[c], (size_t)from->w * from->h, e) &&
             copy_plane(&copy.rest[c], from->rest[c], (size_t)from->w * from->h, e);
    if (ok)
        *to = copy;
    else
        kernel_source_free(&copy);
    return ok;
}

void kernel_source_free(kernel_source *k) {
    for (int c = 0; c < PSF_CHANNELS; c++) mem_free(k->plane[c]), mem_free(k->rest[c]);
    for (uint32_t i = 0; k->field && k->field->node && i < field_nodes(&k->field->grid); i++)
        kernel_source_free(&k->field->node[i]);
    if (k->field) mem_free(k->field->node);
    mem_free(k->field);
    mem_free(k->path);
    spectrum_free(&k->ready);
    *k = (kernel_source){0};
}

bool kernel_source_taps(const kernel_source *k, err *e) {
    if (k->is_spectrum)
        return err_set(e, ERR_DATA, "'%s' is a spectrum; name the kernel that it was made from",
                       k->path);
    return !k->field || refuse_field(k->path, field_nodes(&k->field->grid), e);
}

psf_planes kernel_source_planes(const kernel_source *k) {
    return (psf_planes){k->w, k->h, k->channels, (const float *const *)k->plane,
                        k->rest[0] ? (const float *const *)k->rest : NULL};
}

bool kernel_source_glance(lint_faults *to, const kernel_source *k, const psf_options *how, err *e) {
    const psf_planes taps = kernel_source_planes(k);
    const bool placed = how->center != PSF_MIDDLE;
    *to = (lint_faults){0};
    for (uint32_t i = 0; k->field && !to->words[0] && i < field_nodes(&k->field->grid); i++)
        if (!kernel_source_glance(to, &k->field->node[i], how, e)) return false;
    return k->field || k->is_spectrum || (placed && how->normalize == PSF_NONE) ||
           lint_glance(to, &taps, placed, e);
}

bool kernel_need_same(const kernel_need *a, const kernel_need *b) {
    bool same = a->channels == b->channels && a->w == b->w && a->h == b->h &&
                a->height == b->height && a->aspect == b->aspect && a->sharpen == b->sharpen;
    for (int i = 0; i < 8; i++) same = same && a->primaries[i] == b->primaries[i];
    for (int c = 0; c < PSF_CHANNELS; c++) same = same && a->tint[c] == b->tint[c];
    return same && memcmp(&a->frame, &b->frame, sizeof a->frame) == 0; /* whole numbers */
}

bool kernel_need_tints(const kernel_need *need) {
    for (uint32_t c = 0; c < need->channels; c++)
        if (kernel_need_tint(need, c) != 1) return true;
    return false;
}

double kernel_need_tint(const kernel_need *need, uint32_t channel) {
    bool any = false;
    for (int c = 0; c < PSF_CHANNELS; c++) any |= need->tint[c] != 0;
    return any ? need->tint[channel] : 1;
}

/* Returns whether the image's primaries are known. */
static bool image_is(primaries *to, const kernel_need *need) {
    static const float NONE[8];
    *to = primaries_from_floats(need->primaries);
    return memcmp(need->primaries, NONE, sizeof NONE) != 0;
}

kernel_colours kernel_source_colours(const kernel_source *k, const kernel_need *need) {
    primaries to;
    bool known = image_is(&to, need);
    if (k->channels != 3 || (!known && !k->known)) return KERNEL_AGREES;
    if (primaries_same(known ? &to : PRIMARIES_REC709, k->known ? &k->gamut : PRIMARIES_REC709))
        return KERNEL_AGREES;
    return !known ? IMAGE_UNKNOWN : !k->known ? KERNEL_UNKNOWN : KERNEL_CONVERTED;
}

/* Fills the weights of luminance in the primaries that the psf has, and converts the planes into
 * `made`, three planes to be freed, where these are not the kernel's own. */
static bool agree(float *made[3], double luminance[3], const kernel_source *k,
                  const kernel_need *need, err *e) {
    primaries to;
    matrix xyz, m;
    kernel_colours how = kernel_source_colours(k, need);
    size_t n = (size_t)k->w * k->h;
    memcpy(luminance, k->luminance, sizeof k->luminance);
    if (how != KERNEL_CONVERTED && how != KERNEL_UNKNOWN) return true;
    image_is(&to, need);
    if (!primaries_to_xyz(&xyz, &to) || !primaries_convert(&m, &k->gamut, &to))
        return err_set(e, ERR_DATA, "its primaries cannot be converted to those of the image");
    memcpy(luminance, xyz.m[1], sizeof xyz.m[1]);
    if (how == KERNEL_UNKNOWN) return true;
    for (int c = 0; c < 3; c++)
        if (!(made[c] = mem_raw(n, sizeof(float), "kernel", e))) return false;
    for (size_t i = 0; i < n; i++) {
        double rgb[3];
        for (int c = 0; c < 3; c++) rgb[c] = (double)k->plane[c][i];
        matrix_apply(rgb, &m, rgb);
        for (int c = 0; c < 3; c++) made[c][i] = (float)rgb[c];
    }
    return true;
}

/* Puts `k` together until it has 1 or `channels` channels: their luminance, or with it as a fourth,
 * for colour with an alpha that is spread too. */
static bool fit_channels(psf *k, const kernel_source *in, uint32_t channels, err *e) {
    psf y;
    if (k->channels == 1 || k->channels == channels) return true;
    if (channels != 1 && !(k->channels == 3 && channels == 4))
        return err_set(e, ERR_DATA, "kernel '%s' has %u channels; 1 or 3 can bloom an image",
                       in->path, k->channels);
    if (!psf_luminance(&y, k, k->made.luminance, channels == 4, e)) return false;
    psf_free(k);
    *k = y;
    return true;
}

/* Returns the pixel aspect that the kernel is made for; 0: none. */
static double plate_aspect(const kernel_use *use, const kernel_need *need) {
    const double own = need->aspect > 0 ? need->aspect : 1;
    return isnan(use->aspect) ? own : use->aspect;
}

static bool nearly(double a, double b) {
    return fabs(a / b - 1) <= 1e-3;
}

double kernel_source_squeeze(const kernel_source *k, const kernel_use *use,
                             const kernel_need *need) {
    const double plate = plate_aspect(use, need);
    return plate > 0 && !nearly(k->aspect, plate) ? k->aspect / plate : 1;
}

/* Refuses a spectrum that was made for other pixels, or for another kernel_scale x / y. */
static bool check_wide(psf_options *asked, const psf *kernel, double plate, err *e) {
    const double wide = asked->wide > 0 ? asked->wide : 1, of = wide / kernel->made.wide;
    const bool fits = plate > 0 ? nearly(of, plate) : wide == 1 || nearly(of, 1);
    if (!fits)
        return err_set(e, ERR_CONFIG,
                       "the spectrum was made for a pixel aspect of %.6g, and the image has %.6g: "
                       "fftbloom precompute KERNEL -o K.spectrum --pixel-aspect %.6g",
                       of, plate > 0 ? plate : 1, plate > 0 ? plate : 1);
    asked->wide = kernel->made.wide;
    return true;
}

/* Makes the psf from the planes, or takes that of a spectrum: it has the size it was made in, and
 * no other setting can be changed either. */
static bool make_or_take(psf *to, const kernel_source *k, const kernel_use *use,
                         const kernel_need *need, err *e) {
    const psf *kernel = &k->ready.kernel;
    psf_options o = use->options;
    if (k->is_spectrum && use->relative)
        return err_set(e, ERR_CONFIG,
                       "the spectrum was made with kernel_scale %.9g, and %.9gh is asked for: a "
                       "size in heights of the image needs the kernel's image, not its spectrum",
                       kernel->made.size, o.size);
    const double plate = plate_aspect(use, need), wide = o.wide > 0 ? o.wide : 1;
    o.aspect = plate > 0 ? plate : 1;
    if (k->is_spectrum)
        return check_wide(&o, kernel, plate, e) && psf_made_with(kernel, &o, e) &&
               psf_copy(to, kernel, e);
    psf_planes planes = kernel_source_planes(k);
    float *made[3] = {NULL};
    bool ok = agree(made, o.luminance, k, need, e);
    if (made[0]) planes.plane = (const float *const *)made, planes.rest = NULL;
    if (use->relative) o.size = o.size * need->height / k->h;
    o.wide = wide * kernel_source_squeeze(k, use, need);
    ok = ok && psf_make(to, &planes, &o, e);
    for (int c = 0; c < 3; c++) mem_free(made[c]);
    /* What a spectrum of it fits: images of this aspect, whatever the kernel's own. */
    if (ok) to->made.wide = plate > 0 ? wide / plate : wide;
    return ok;
}

/* Folds the core that is asked for, and drops signs where they are not wanted. */
static bool fold(psf *k, const kernel_use *use, err *e) {
    k->core = use->core;
    if (isnan(use->core) && !psf_core_radius(&k->core, k, e)) return false;
    if (k->core > 0) psf_core_fold(k, k->core);
    const size_t n = (size_t)k->w * k->h * k->channels;
    for (size_t i = 0; use->magnitudes && i < n; i++) {
        const bool below = psf_tap(k, i) < 0;
        if (below) k->tap[i] = -k->tap[i];
        if (below && k->rest) k->rest[i] = -k->rest[i];
    }
    return true;
}

static const kernel_source *largest_node(const kernel_field *f) {
    const kernel_source *most = f->node;
    for (uint32_t i = 1; i < field_nodes(&f->grid); i++)
        if ((uint64_t)f->node[i].w * f->node[i].h > (uint64_t)most->w * most->h) most = &f->node[i];
    return most;
}

bool kernel_source_psf(psf *to, const kernel_source *k, const kernel_use *use,
                       const kernel_need *need, double full[PSF_CHANNELS], err *e) {
    psf made = {0};
    if (k->field) k = largest_node(k->field);
    if (!make_or_take(&made, k, use, need, e) || !host_ask_again(e) || !fold(&made, use, e) ||
        !host_ask_again(e) || !fit_channels(&made, k, need->channels, e))
        return psf_free(&made), err_in(e, "kernel '%s'", k->path) || err_blame(e, FAULT_KERNEL);
    for (uint32_t c = 0; full && c < made.channels; c++) full[c] = made.scale[c] * made.sum[c];
    /* With zero borders, taps that reach no pixel would only make the transforms longer. */
    bool x = use->border[PLAN_X] == BORDER_ZERO && made.w > need->w,
         y = use->border[PLAN_Y] == BORDER_ZERO && made.h > need->h;
    if (x || y) psf_crop(&made, x ? need->w : made.w + 1, y ? need->h : made.h + 1);
    *to = made;
    return true;
}
