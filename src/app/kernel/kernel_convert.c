/* kernel_convert.c - `fftbloom kernel convert`: brings kernels from and to the conventions of other
 * tools. */
#include "app/cli/library.h"
#include "app/cli/options.h"
#include "app/cli/ticker.h"
#include "app/kernel/kernel_actions.h"
#include "app/kernel/kernel_files.h"
#include "app/run/file_set.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/format.h"
#include "kernel/convention.h"
#include "kernel/make/kernel_recipe.h"

#include <math.h>
#include <string.h>

/* Finds the centre that --kernel-center asks for; without it the convention's counts. */
static bool find_center(convention_request *r, const settings *s, const lint *l, err *e) {
    const psf_options *k = &s->bloom.kernel;
    r->centered = settings_given(s, "kernel_center", FOR_KERNEL) && k->center != PSF_MIDDLE;
    for (int a = 0; a < 2 && r->centered; a++) {
        double at = k->center == PSF_AT         ? k->at[a]
                    : k->center == PSF_CENTROID ? floor(l->centroid[a] + 0.5)
                    : k->center == PSF_PEAK     ? l->peak[a]
                                                : 0;
        if (at != floor(at) || at < 0)
            return err_set(e, ERR_USAGE,
                           "convert moves whole taps: --kernel-center must have whole numbers, "
                           "from 0, not %g",
                           at);
        r->at[a] = (uint32_t)at;
    }
    if (r->centered && k->center == PSF_CORNER) {
        r->centered = false;
        r->from = &CONVENTIONS[CONVENTION_COUNT - 1];
    }
    return true;
}

typedef struct {
    convention_request r;
    convention_move m;
    /* The kernel's channels in the file's only part, and what --normalize multiplies them by. All
     * other channels keep their values. */
    int channel[3];
    double scale[3];
    uint32_t scaled;    /* how many there are; 0 without --normalize */
    double lost, light; /* sums of |tap| */
} conversion;

static bool find_scale(conversion *v, const settings *s, const kernel_source *in, err *e) {
    psf k = {0};
    psf_options o = {.normalize = s->bloom.kernel.normalize};
    memcpy(o.luminance, in->luminance, sizeof o.luminance);
    const psf_planes planes = kernel_source_planes(in);
    if (!psf_make(&k, &planes, &o, e)) return false;
    v->scaled = k.channels;
    for (uint32_t c = 0; c < k.channels; c++) {
        v->channel[c] = in->channel[c];
        v->scale[c] = k.scale[c];
    }
    psf_free(&k);
    return true;
}

static bool convert_channel(conversion *v, image *to, const image *from, int c, err *e) {
    const image_part *p = &from->head.part[0], *q = &to->head.part[0];
    size_t n = (size_t)v->r.size[0] * v->r.size[1], made = (size_t)v->m.size[0] * v->m.size[1];
    float *a = mem_raw(n, sizeof *a, "taps", e), *b = mem_raw(made, sizeof *b, "taps", e);
    if (a && b) {
        double lost, scale = 1;
        for (uint32_t i = 0; i < v->scaled; i++)
            if (v->channel[i] == c) scale = v->scale[i];
        image_to_float(a, from->plane[0][c], p->channel[c].type, 0, n);
        convention_apply(b, a, &v->r, &v->m, &lost);
        for (size_t i = 0; i < n; i++) v->light += fabs((double)a[i]);
        for (size_t i = 0; scale != 1 && i < made; i++) b[i] = (float)(scale * (double)b[i]);
        image_from_float(to->plane[0][c], q->channel[c].type, 0, b, made);
        v->lost += lost;
    }
    bool ok = a && b;
    mem_free(a);
    mem_free(b);
    return ok;
}

/* Returns the same channels and attributes in a window of the new size. */
static image *converted(conversion *v, const image *from, err *e) {
    image_header head;
    const image_part *p = &from->head.part[0];
    if (!image_header_copy(&head, &from->head, e)) return NULL;
    int32_t x = 0, y = 0;
    if (v->r.to->center == CENTER_WINDOW)
        x = -(int32_t)v->m.center[0], y = -(int32_t)v->m.center[1];
    image_box box = {x, y, x + (int32_t)v->m.size[0] - 1, y + (int32_t)v->m.size[1] - 1};
    head.part[0].data = head.part[0].display = box;
    image *to = image_new(&head, e);
    image_header_free(&head);
    for (int c = 0; to && c < p->channels; c++)
        if (!convert_channel(v, to, from, c, e)) image_free(&to);
    return to;
}

/* Says what convert did, in the log and with --json in `out`. */
static void tell(const cli *c, const conversion *v, text *out) {
    double lost = v->light > 0 ? v->lost / v->light : 0;
    if (lost > 0)
        log_warn("%s: %.3g %% of the light lay outside %u x %u taps and is lost", c->s.output,
                 100 * lost, v->m.size[0], v->m.size[1]);
    if (!c->s.json) return;
    json_out j = json_begin(out);
    json_string(&j, "output", c->s.output);
    json_string(&j, "from", v->r.from->name);
    json_string(&j, "to", v->r.to->name);
    json_bool(&j, "turned", v->m.turned);
    json_uints(&j, "size", v->m.size, 2);
    json_ints(&j, "centre", (int32_t[]){(int32_t)v->m.center[0], (int32_t)v->m.center[1]}, 2);
    json_real(&j, "lost", 9, lost);
    json_end(&j);
}

static bool open_conversion(conversion *v, const cli *c, const image *img, err *e) {
    const settings *s = &c->s;
    const image_part *p = &img->head.part[0];
    lint l;
    if (img->head.parts != 1)
        return err_set(e, ERR_DATA, "'%s' has %d parts; a kernel to convert must have one",
                       c->word[1], img->head.parts);
    *v = (conversion){.r = {.from = &CONVENTIONS[s->from],
                            .to = &CONVENTIONS[s->to],
                            .size = {image_width(p), image_height(p)},
                            .window = {p->data.x0, p->data.y0}}};
    if (s->taps && !kernel_read_taps(v->r.wanted, s->taps, e)) return false;
    kernel_source in = {0};
    bool ok = kernel_load(&in, &l, c, c->word[1], e) && find_center(&v->r, s, &l, e) &&
              (!settings_given(s, "normalize", FOR_KERNEL) || find_scale(v, s, &in, e)) &&
              convention_plan(&v->m, &v->r, e);
    kernel_source_free(&in);
    return ok;
}

int kernel_convert(cli *c, text *out, err *e) {
    char shipped[LIBRARY_PATH];
    c->word[1] = library_path(shipped, c->word[1], &c->s, e);
    if (!c->word[1]) return 0;
    int status = 0;
    const file_set_file FILES[] = {{FILE_READ, "the kernel", c->word[1]},
                                   {FILE_WRITTEN, "the output", c->s.output}};
    conversion v;
    if (!file_set_apart(FILES, 2, NULL, e) || !kernel_may_write(&c->s, &status, e)) return status;
    ticker *told = ticker_open("kernel convert");
    image *img = image_load(c->word[1], &(image_limits){.side = PSF_SIDE}, c->threads, e),
          *to = NULL;
    if (img && open_conversion(&v, c, img, e) && (to = converted(&v, img, e)) &&
        kernel_save(c, to, &status, e))
        tell(c, &v, out);
    ticker_close(&told);
    image_free(&img);
    image_free(&to);
    return status;
}
