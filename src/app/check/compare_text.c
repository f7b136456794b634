#include "app/check/compare_text.h"

#include <inttypes.h>
#include <math.h>

/* The values of the worst pixel, in the order of the comparison's channels. */
static float value_at(const comparison *c, const image *img, int part, int channel) {
    const image_part *p = &img->head.part[part];
    float f;
    size_t at = (size_t)(c->max_y - c->y0) * c->w + (size_t)(c->max_x - c->x0);
    image_to_float(&f, img->plane[part][channel], p->channel[channel].type, at, 1);
    return f;
}

static const char *channel_name(const comparison *c, const image *a, int part, int i) {
    return a->head.part[part].channel[c->channel[i].a].name;
}

static void add_worst(const comparison *c, const image *a, const image *b, int part, text *to) {
    text_add(to, "  Max error  = %g", c->max);
    if (c->max > 0) {
        text_add(to, " @ (%d, %d, %s)  values are ", c->max_x, c->max_y,
                 channel_name(c, a, part, c->max_channel));
        for (int i = 0; i < c->channels; i++)
            text_add(to, "%s%g", i ? ", " : "", (double)value_at(c, a, part, c->channel[i].a));
        text_add(to, " vs ");
        for (int i = 0; i < c->channels; i++)
            text_add(to, "%s%g", i ? ", " : "", (double)value_at(c, b, part, c->channel[i].b));
    }
    text_add(to, "\n");
}

static double ratio(const compare_channel *k) {
    return k->sum_a == k->sum_b ? 1 : k->sum_b / k->sum_a;
}

void compare_words(const comparison *c, const image *a, const image *b, int part,
                   const compare_limits *l, text *to) {
    if (c->verdict == COMPARE_SIZE) {
        text_add(to, "  %s\n", c->differs);
        return;
    }
    double percent = 100.0 / (double)c->pixels;
    text_add(to, "  Mean error = %g\n  RMS error = %g\n  Peak SNR = %g\n", c->mean, c->rms,
             c->psnr);
    add_worst(c, a, b, part, to);
    text_add(to, "  %" PRIu64 " pixels (%.3g%%) over %g\n", c->warned, percent * (double)c->warned,
             l->warn);
    text_add(to, "  %" PRIu64 " pixels (%.3g%%) over %g\n", c->failed, percent * (double)c->failed,
             l->fail);
    text_add(to, "  Energy     = ");
    for (int i = 0; i < c->channels; i++)
        text_add(to, "%s%s %.7g", i ? ", " : "", channel_name(c, a, part, i),
                 ratio(&c->channel[i]));
    text_add(to, "\n");
}

static void add_number(text *to, const char *key, double x) {
    text_add(to, isfinite(x) ? "\"%s\": %.9g, " : "\"%s\": \"%g\", ", key, x);
}

void compare_json(const comparison *c, const image *a, const image *b, int part,
                  const compare_limits *l, text *to) {
    text_add(to, "{\"part\": %d, \"verdict\": \"%s\", ", part, compare_word(c->verdict));
    if (c->verdict == COMPARE_SIZE) {
        text_add(to, "\"differs\": ");
        text_add_json(to, c->differs);
        text_add(to, "}");
        return;
    }
    add_number(to, "mean", c->mean);
    add_number(to, "rms", c->rms);
    add_number(to, "psnr", c->psnr);
    add_number(to, "max", c->max);
    text_add(to,
             "\n     \"pixels\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"warned\": %" PRIu64 ", ",
             c->pixels, c->failed, c->warned);
    add_number(to, "fail", l->fail);
    text_add(to, "\n     \"worst\": {\"x\": %d, \"y\": %d, \"channel\": ", c->max_x, c->max_y);
    text_add_json(to, channel_name(c, a, part, c->max_channel));
    text_add(to, "},\n     \"channels\": [");
    for (int i = 0; i < c->channels; i++) {
        const compare_channel *k = &c->channel[i];
        text_add(to, "%s\n      {\"name\": ", i ? "," : "");
        text_add_json(to, channel_name(c, a, part, i));
        text_add(to, ", ");
        add_number(to, "max", k->max);
        add_number(to, "energy_a", k->sum_a);
        add_number(to, "energy_b", k->sum_b);
        add_number(to, "energy_ratio", ratio(k));
        if (c->max > 0) {
            add_number(to, "worst_a", (double)value_at(c, a, part, k->a));
            add_number(to, "worst_b", (double)value_at(c, b, part, k->b));
        }
        to->s[to->n -= 2] = 0; /* the last ", " */
        text_add(to, "}");
    }
    text_add(to, "]}");
}
