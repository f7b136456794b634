/* cmd_kernel.c - `fftbloom kernel`: makes kernels by formula, checks them, and brings them from
 * and to the conventions of other tools. */
#include "app/cli/cli.h"
#include "app/cli/options.h"
#include "app/run/file_set.h"
#include "app/run/output.h"
#include "app/tools/kernel_words.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/mem.h"
#include "kernel/convention.h"
#include "kernel/kernel_source.h"
#include "kernel/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads "256" or "300x200". */
static bool read_taps(uint32_t to[2], const char *from, err *e) {
    unsigned w, h;
    char x, more;
    int n = sscanf(from, "%u%c%u%c", &w, &x, &h, &more);
    if (!(n == 1 || (n == 3 && x == 'x')) || from[0] == '-')
        return err_set(e, ERR_USAGE, "--taps must be N or WxH, such as 256 or 300x200, not '%s'",
                       from);
    to[0] = w;
    to[1] = n == 3 ? h : w;
    if (to[0] < 1 || to[1] < 1 || to[0] > PSF_SIDE || to[1] > PSF_SIDE)
        return err_set(e, ERR_USAGE, "--taps %s: a side must have 1 to %d taps", from, PSF_SIDE);
    return true;
}

static bool skip(const settings *s, int *status) {
    log_note("%s skipped: the output exists", s->output);
    *status = ERR_SKIPPED;
    return false;
}

/* Returns whether there is anything to do: false with no error where an output that exists is kept.
 */
static bool may_write(const settings *s, int *status, err *e) {
    if (!s->output)
        return err_set(e, ERR_USAGE, "this needs an output (-o OUT); see 'fftbloom help kernel'");
    if (s->clobber || access(s->output, F_OK) != 0) return image_can_create(s->output, e);
    return skip(s, status);
}

/* Writes the kernel, or with `picture` a picture to look at: as 8 bits of light it would be black
 * but for the middle. Returns false with no error where the output exists by now and is kept. */
static bool save(const cli *c, const image *img, bool picture, int *status, err *e) {
    const settings *s = &c->s;
    bool ok;
    if (picture) {
        preview_options as = {.width = UINT32_MAX, .whole = true, .decades = 6};
        ok = output_picture(&(output){s->output, s, c->threads}, img, &as, e);
        if (ok)
            log_note("'%s' is a picture of the kernel on a logarithmic scale of six decades, not a "
                     "kernel: write .exr for that",
                     s->output);
    } else {
        ok = image_save_parts(image_create(s->output, &img->head, s->clobber, c->threads, e), img,
                              NULL, e);
    }
    if (ok || e->code != ERR_SKIPPED) return ok;
    *e = (err){0};
    return skip(s, status);
}

/* --- models ----------------------------------------------------------------------------------- */

static void add_model_json(const model *m, json_out *j) {
    json_block(j, NULL);
    json_string(j, "name", m->name);
    json_int(j, "channels", m->spectrum == MODEL_GREY ? 1 : MODEL_CHANNELS);
    json_string(j, "help", m->help);
    json_list(j, "parameters");
    for (int i = 0; i < model_parameters(m); i++) {
        const model_parameter *p = &m->parameter[i];
        json_object(j, NULL);
        json_string(j, "name", p->name);
        json_real(j, "default", 6, p->preset);
        json_real(j, "min", 6, p->min);
        json_real(j, "max", 6, p->max);
        json_string(j, "help", p->help);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void models(const cli *c, int *status, text *out, err *e) {
    (void)status, (void)e;
    json_out j;
    if (c->s.json) {
        j = json_begin(out);
        json_list(&j, "models");
    }
    for (int i = 0; i < MODEL_COUNT; i++) {
        const model *m = &MODELS[i];
        if (c->s.json) {
            add_model_json(m, &j);
            continue;
        }
        text_add(out, "%-10s%s\n", m->name, m->help);
        for (int k = 0; k < model_parameters(m); k++) {
            const model_parameter *p = &m->parameter[k];
            text_add(out, "  %-12s%s, %g to %g [%g]\n", p->name, p->help, p->min, p->max,
                     p->preset);
        }
    }
    if (c->s.json) {
        json_close(&j);
        json_end(&j);
    }
}

/* --- make ------------------------------------------------------------------------------------- */

static bool read_request(model_request *r, const settings *s, const char *name, err *e) {
    const model *m = model_find(name);
    uint32_t taps[2];
    if (!m) {
        const char *names[64];
        char meant[TEXT_MEANT];
        text known = {0};
        for (int i = 0; i < MODEL_COUNT; i++) {
            names[i] = MODELS[i].name;
            text_add(&known, "%s%s", i ? ", " : "", names[i]);
        }
        err_set(e, ERR_USAGE, "there is no model '%s'%s; there are %s", name,
                text_meant(meant, name, names, MODEL_COUNT, '\''), known.s);
        text_free(&known);
        return false;
    }
    *r = model_defaults(m);
    r->fade = s->fade;
    if (!read_taps(taps, s->taps ? s->taps : "256", e)) return false;
    r->w = taps[0];
    r->h = taps[1];
    const char *at = s->param ? s->param : "";
    while (*at) {
        char one[64];
        size_t n = strcspn(at, ",");
        snprintf(one, sizeof one, "%.*s", (int)n, at);
        if (n >= sizeof one)
            return err_set(e, ERR_USAGE,
                           "--param: '%s' is too long; a parameter may have %zu characters", at,
                           sizeof one - 1);
        if (!model_set(r, one, e)) return false;
        at += n + (at[n] == ',');
        at += strspn(at, " ");
    }
    return true;
}

/* Adds the model and its parameters as attributes. */
static bool add_attributes(image_part *part, const model_request *r, err *e) {
    const model *m = r->of;
    bool ok =
        image_set_attr(part, "fftbloom.model", "string", m->name, (uint32_t)strlen(m->name), e);
    for (int i = 0; ok && i < model_parameters(m); i++) {
        char name[64];
        snprintf(name, sizeof name, "fftbloom.%s", m->parameter[i].name);
        ok = image_set_attr(part, name, "double", &r->value[i], sizeof r->value[i], e);
    }
    if (m->spectrum != MODEL_GREY)
        ok = ok && image_set_attr(part, "chromaticities", "chromaticities", IMAGE_REC709,
                                  sizeof IMAGE_REC709, e);
    return ok && image_set_attr(part, "fftbloom.fade", "double", &r->fade, sizeof r->fade, e);
}

static image *to_image(float *plane[], uint32_t channels, const model_request *r, err *e) {
    static const char *const NAME[2][MODEL_CHANNELS] = {{"Y"}, {"R", "G", "B"}};
    image_part part = {.data = {0, 0, (int32_t)r->w - 1, (int32_t)r->h - 1},
                       .aspect = 1,
                       .packing = COMPRESSION_ZIP};
    part.display = part.data;
    const image_header plain = {"exr", &part, 1};
    image_header head;
    if (!image_header_copy(&head, &plain, e)) return NULL;
    bool ok = add_attributes(&head.part[0], r, e);
    for (uint32_t c = 0; c < channels && ok; c++)
        ok = image_add_channel(&head.part[0], NAME[channels > 1][c], PIXEL_FLOAT, e);
    image *img = ok ? image_new(&head, e) : NULL;
    image_header_free(&head);
    for (uint32_t c = 0; c < channels && img; c++) {
        int at = image_find_channel(&img->head.part[0], NAME[channels > 1][c]);
        memcpy(img->plane[0][at], plane[c], (size_t)r->w * r->h * sizeof(float));
    }
    return img;
}

/* Warns if less of the model's light than this falls on its taps: it is not what was asked for. */
static void warn_of_loss(const model_request *r) {
    static const double ENOUGH = 0.8;
    uint32_t side;
    double kept = model_kept(r, ENOUGH, &side);
    if (kept >= ENOUGH) return;
    if (side)
        log_warn("%u x %u taps keep only %.2g %% of this %s's light; --taps %u would keep %.0f %%",
                 r->w, r->h, 100 * kept, r->of->name, side, 100 * ENOUGH);
    else
        log_warn("%u x %u taps keep only %.2g %% of this %s's light: the pattern is too large for "
                 "any kernel",
                 r->w, r->h, 100 * kept, r->of->name);
}

static void make(const cli *c, int *status, text *out, err *e) {
    model_request r;
    float *plane[MODEL_CHANNELS] = {0};
    uint32_t channels = 0;
    image *img = NULL;
    if (!read_request(&r, &c->s, c->word[1], e) || !may_write(&c->s, status, e)) return;
    if (model_make(plane, &channels, &r, c->threads, e) &&
        (img = to_image(plane, channels, &r, e)) &&
        save(c, img, output_is_picture(c->s.output), status, e)) {
        warn_of_loss(&r);
        if (c->s.json) {
            json_out j = json_begin(out);
            json_string(&j, "output", c->s.output);
            json_string(&j, "model", r.of->name);
            json_object(&j, "parameters");
            for (int i = 0; i < model_parameters(r.of); i++)
                json_real(&j, r.of->parameter[i].name, 15, r.value[i]);
            json_close(&j);
            json_uints(&j, "size", (uint32_t[]){r.w, r.h}, 2);
            json_uints(&j, "centre", (uint32_t[]){r.w / 2, r.h / 2}, 2);
            json_uint(&j, "channels", channels);
            json_real(&j, "fade", 15, r.fade);
            json_end(&j);
        }
    }
    image_free(&img);
    for (int i = 0; i < MODEL_CHANNELS; i++) mem_free(plane[i]);
}

/* --- check ------------------------------------------------------------------------------------ */

/* Reads a kernel and the linter's numbers. Free `in` with kernel_source_free, also after a failure.
 */
static bool load(kernel_source *in, lint *l, const cli *c, err *e) {
    if (!kernel_source_load(in, c->word[1], c->threads, e)) return false;
    if (in->is_spectrum)
        return err_set(e, ERR_DATA, "'%s' is a spectrum; give the kernel that it was made from",
                       c->word[1]);
    const psf_planes planes = kernel_source_planes(in);
    return lint_kernel(l, &planes, e);
}

static void check(const cli *c, int *status, text *out, err *e) {
    lint l;
    kernel_finding found[KERNEL_FINDINGS];
    kernel_source in = {0};
    bool ok = load(&in, &l, c, e);
    kernel_source_free(&in);
    if (!ok) return;
    if (c->s.json)
        kernel_json(c->word[1], &l, out);
    else if (!c->s.quiet)
        kernel_words(c->word[1], &l, c->s.verbose, out);
    *status = c->s.strict && kernel_findings(found, &l) && found[0].warning;
}

/* --- convert ---------------------------------------------------------------------------------- */

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
        log_warn("%s: %.3g %% of the light lay outside %u x %u taps and is gone", c->s.output,
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
    if (s->taps && !read_taps(v->r.wanted, s->taps, e)) return false;
    kernel_source in = {0};
    bool ok = load(&in, &l, c, e) && find_center(&v->r, s, &l, e) &&
              (!settings_given(s, "normalize", FOR_KERNEL) || find_scale(v, s, &in, e)) &&
              convention_plan(&v->m, &v->r, e);
    kernel_source_free(&in);
    return ok;
}

static void convert(const cli *c, int *status, text *out, err *e) {
    const file_set_file FILES[] = {{FILE_READ, "the kernel", c->word[1]},
                                   {FILE_WRITTEN, "the output", c->s.output}};
    conversion v;
    if (!file_set_apart(FILES, 2, NULL, e) || !may_write(&c->s, status, e)) return;
    image *img = image_load(c->word[1], NULL, c->threads, e), *to = NULL;
    if (img && open_conversion(&v, c, img, e) && (to = converted(&v, img, e)) &&
        save(c, to, false, status, e))
        tell(c, &v, out);
    image_free(&img);
    image_free(&to);
}

/* ---------------------------------------------------------------------------------------------- */

int cmd_kernel(cli *c, text *out, err *e) {
    static const struct {
        const char *name, *argument;
        void (*run)(const cli *c, int *status, text *out, err *e);
    } WORK[] = {{"make", "MODEL", make},
                {"check", "FILE", check},
                {"convert", "FILE", convert},
                {"models", NULL, models}};
    int i = 0, status = 0; /* the command line has checked the word */
    while (strcmp(WORK[i].name, c->word[0]) != 0) i++;
    if (c->words == (WORK[i].argument ? 2 : 1))
        WORK[i].run(c, &status, out, e);
    else
        err_set(e, ERR_USAGE, "usage: fftbloom kernel %s %s", WORK[i].name,
                WORK[i].argument ? WORK[i].argument : "");
    return status;
}
