/* kernel_make.c - `fftbloom kernel make` and `models`: kernels by formula. */
#include "app/kernel/kernel_actions.h"
#include "app/kernel/kernel_files.h"
#include "app/run/output.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/mem.h"
#include "kernel/make/model.h"

#include <stdio.h>
#include <string.h>

/* --- models ----------------------------------------------------------------------------------- */

void kernel_model_names(text *to) {
    for (int i = 0; i < MODEL_COUNT; i++) text_add(to, "%s%s", i ? " " : "", MODELS[i].name);
}

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

int kernel_models(cli *c, text *out, err *e) {
    (void)e;
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
    return 0;
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
    if (!kernel_read_taps(taps, s->taps ? s->taps : "256", e)) return false;
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
    float xy[8];
    primaries_to_floats(xy, &r->colours->is);
    bool ok =
        image_set_attr(part, "fftbloom.model", "string", m->name, (uint32_t)strlen(m->name), e);
    for (int i = 0; ok && i < model_parameters(m); i++) {
        char name[64];
        snprintf(name, sizeof name, "fftbloom.%s", m->parameter[i].name);
        ok = image_set_attr(part, name, "double", &r->value[i], sizeof r->value[i], e);
    }
    if (m->spectrum != MODEL_GREY)
        ok = ok && image_set_attr(part, "chromaticities", "chromaticities", xy, sizeof xy, e);
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
static void warn_of_loss(const model_request *r, par *threads) {
    static const double ENOUGH = 0.8;
    uint32_t side;
    double kept;
    if (!model_kept(&kept, &side, r, ENOUGH, threads, NULL) || kept >= ENOUGH) return;
    if (side)
        log_warn("%u x %u taps keep only %.2g %% of this %s's light; --taps %u would keep %.0f %%",
                 r->w, r->h, 100 * kept, r->of->name, side, 100 * ENOUGH);
    else
        log_warn("%u x %u taps keep only %.2g %% of this %s's light: the pattern is too large for "
                 "any kernel",
                 r->w, r->h, 100 * kept, r->of->name);
}

int kernel_make(cli *c, text *out, err *e) {
    int status = 0;
    model_request r;
    float *plane[MODEL_CHANNELS] = {0};
    uint32_t channels = 0;
    image *img = NULL;
    if (!read_request(&r, &c->s, c->word[1], e) || !kernel_may_write(&c->s, &status, e))
        return status;
    if (model_make(plane, &channels, &r, c->threads, e) &&
        (img = to_image(plane, channels, &r, e)) &&
        kernel_save(c, img, output_is_picture(c->s.output), &status, e)) {
        warn_of_loss(&r, c->threads);
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
    return status;
}
