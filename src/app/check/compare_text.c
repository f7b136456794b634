#include "app/check/compare_text.h"

#include "app/cli/options.h"

#include <inttypes.h>

compare_limits compare_limits_of(const settings *s) {
    compare_limits l = s->compare;
    l.warn_given |= settings_given(s, "warn", FOR_DIFF) ||
                    settings_given(s, "warnrelative", FOR_DIFF) ||
                    settings_given(s, "warnpercent", FOR_DIFF);
    return l;
}

/* Returns the value of the worst pixel in a channel of one of the images. */
static double text_value_at(const comparison *c, const image *img, int channel) {
    float f;
    size_t at = (size_t)(c->max_y - c->y0) * c->w + (size_t)(c->max_x - c->x0);
    image_to_float(&f, img->plane[c->of.part][channel],
                   img->head.part[c->of.part].channel[channel].type, at, 1);
    return (double)f;
}

static const char *channel_name(const comparison *c, int i) {
    return c->of.a->head.part[c->of.part].channel[c->channel[i].a].name;
}

static double ratio(const compare_channel *k) {
    return k->sum_a == k->sum_b ? 1 : k->sum_b / k->sum_a;
}

static void add_over(const comparison *c, uint64_t pixels, double limit, const char *name,
                     text *to) {
    text_add(to, "  %" PRIu64 " pixels (%.3g%%) over %g%s\n", pixels,
             100.0 / (double)c->pixels * (double)pixels, limit, name);
}

void compare_words(const comparison *c, text *to) {
    if (c->verdict == COMPARE_SIZE) {
        text_add(to, "  ");
        text_add_clean(to, c->differs);
        text_add(to, "\n");
        return;
    }
    text_add(to, "  Mean error = %g\n  RMS error = %g\n  Peak SNR = %g\n", c->mean, c->rms,
             c->psnr);
    text_add(to, "  Max error  = %g", c->max);
    if (c->max > 0) {
        text_add(to, " @ (%d, %d, ", c->max_x, c->max_y);
        text_add_clean(to, channel_name(c, c->max_channel));
        text_add(to, ")  values are ");
        for (int i = 0; i < c->channels; i++)
            text_add(to, "%s%g", i ? ", " : "", text_value_at(c, c->of.a, c->channel[i].a));
        text_add(to, " vs ");
        for (int i = 0; i < c->channels; i++)
            text_add(to, "%s%g", i ? ", " : "", text_value_at(c, c->of.b, c->channel[i].b));
    }
    text_add(to, "\n");
    add_over(c, c->warned, c->limits.warn, "", to);
    add_over(c, c->failed, c->limits.fail, "", to);
    if (c->hard_warned) add_over(c, c->hard_warned, c->limits.hard_warn, " (hardwarn)", to);
    if (c->hard_failed) add_over(c, c->hard_failed, c->limits.hard_fail, " (hardfail)", to);
    text_add(to, "  Energy     = ");
    for (int i = 0; i < c->channels; i++) {
        text_add(to, i ? ", " : "");
        text_add_clean(to, channel_name(c, i));
        text_add(to, " %.7g", ratio(&c->channel[i]));
    }
    text_add(to, "\n");
}

void compare_json(const comparison *c, json_out *j) {
    enum { DIGITS = 9 };
    json_block(j, NULL);
    json_int(j, "part", c->of.part);
    json_string(j, "verdict", compare_word(c->verdict));
    if (c->verdict == COMPARE_SIZE) {
        json_string(j, "differs", c->differs);
        json_close(j);
        return;
    }
    json_real_or_word(j, "mean", DIGITS, c->mean);
    json_real_or_word(j, "rms", DIGITS, c->rms);
    json_real_or_word(j, "psnr", DIGITS, c->psnr);
    json_real_or_word(j, "max", DIGITS, c->max);
    json_uint(j, "pixels", c->pixels);
    json_uint(j, "failed", c->failed);
    json_uint(j, "hard_failed", c->hard_failed);
    json_uint(j, "warned", c->warned);
    json_uint(j, "hard_warned", c->hard_warned);
    json_real_or_word(j, "fail", DIGITS, c->limits.fail);
    json_object(j, "worst");
    json_int(j, "x", c->max_x);
    json_int(j, "y", c->max_y);
    json_string(j, "channel", channel_name(c, c->max_channel));
    json_close(j);
    json_list(j, "channels");
    for (int i = 0; i < c->channels; i++) {
        const compare_channel *k = &c->channel[i];
        json_object(j, NULL);
        json_string(j, "name", channel_name(c, i));
        json_real_or_word(j, "max", DIGITS, k->max);
        json_real_or_word(j, "energy_a", DIGITS, k->sum_a);
        json_real_or_word(j, "energy_b", DIGITS, k->sum_b);
        json_real_or_word(j, "energy_ratio", DIGITS, ratio(k));
        if (c->max > 0) {
            json_real_or_word(j, "worst_a", DIGITS, text_value_at(c, c->of.a, k->a));
            json_real_or_word(j, "worst_b", DIGITS, text_value_at(c, c->of.b, k->b));
        }
        json_close(j);
    }
    json_close(j);
    json_close(j);
}
