#include "engine/gpu/gpu_frame.h"

#include "shaders/shared.h"

/* A number of shaders/wide.glsl: a double, or two floats that are its sum. */
typedef union {
    double one;
    float two[2];
} wide;

typedef struct {
    wide centre, gain, dark, unit, nonnegative;
} numbers;
typedef struct {
    uint32_t kept[4];
    wide threshold, knee, begin, bend, additive;
    numbers of[];
} block;

static wide wide_of(double v, bool float64) {
    if (float64) return (wide){.one = v};
    float first = (float)v;
    return (wide){.two = {first, (float)(v - (double)first)}};
}

uint64_t gpu_join_bytes(uint32_t channels) {
    return sizeof(block) + channels * sizeof(numbers);
}

/* Returns the power of two in whose parts the glare's squares are added up, so that no sum is
 * beyond floats, nor what matters of it below them. */
static double unit_of(const join_channel *channel) {
    int exponent = 0;
    if (channel->most > 0) frexp(channel->most, &exponent);
    return ldexp(1, -(int)clamp_i64(exponent, -120, 120));
}

void gpu_join_fill(void *to, const join *j, const plan *p) {
    block *b = to;
    const bool float64 = p->sample_bytes == sizeof(double);
    const double knee = j->spread.knee;
    const join_box whole = {0, 0, p->ask.size[PLAN_X], p->ask.size[PLAN_Y]},
                   kept = j->kept.w ? j->kept : whole;
    memcpy(b->kept, &kept, sizeof b->kept);
    b->threshold = wide_of(j->spread.threshold, float64);
    b->knee = wide_of(knee, float64);
    b->begin = wide_of(j->spread.threshold - knee, float64);
    b->bend = wide_of(knee > 0 ? 1 / (4 * knee) : 0, float64);
    b->additive = wide_of(j->additive, float64);
    for (uint32_t c = 0; c < p->ask.channels; c++) {
        const join_channel *channel = &j->channel[c];
        b->of[c] = (numbers){.centre = wide_of(channel->centre, float64),
                             .gain = wide_of(channel->gain, float64),
                             .dark = wide_of(channel->dark, float64),
                             .unit = wide_of(unit_of(channel), float64),
                             .nonnegative = wide_of(channel->nonnegative, float64)};
    }
}

/* Returns the pixels of a workgroup of the last pass: a few whole lines of the first axis. */
static join_box box_of(const plan *p, uint32_t group) {
    const plan_pass *last = &p->pass[p->passes - 1];
    const plan_axis *a = p->axis;
    uint32_t each = a[0].alone ? 1 : 2;
    uint32_t count = last->lines * each, first = group * count;
    count = first < a[1].extent ? min_u32(count, a[1].extent - first) : 0;
    if (p->first == PLAN_X) return (join_box){0, first, a[0].extent, count};
    return (join_box){first, 0, count, a[0].extent};
}

join_stats gpu_join_stats(const void *totals, const join *j, uint32_t channel, const plan *p) {
    const plan_pass *last = &p->pass[p->passes - 1];
    const bool f64 = p->sample_bytes == sizeof(double);
    const double most = 1 / unit_of(&j->channel[channel]);
    join_stats sum = join_begin();
    for (uint32_t group = 0; group < last->groups[0]; group++) {
        double t[TOTALS];
        for (size_t i = 0, at = group * (size_t)TOTALS; i < TOTALS; i++)
            t[i] = f64 ? ((const double *)totals)[at + i] : (double)((const float *)totals)[at + i];
        join_stats one = {.norm = t[TOTAL_NORM] * most * most,
                          .peak = t[TOTAL_PEAK],
                          .sum = t[TOTAL_SUM],
                          .negative = (uint64_t)t[TOTAL_CUTS],
                          .negative_sum = t[TOTAL_CUT],
                          .negative_worst = -t[TOTAL_DEEPEST],
                          .over = (uint64_t)t[TOTAL_OVERS],
                          .over_sum = t[TOTAL_OVER],
                          .largest = (float)t[TOTAL_LARGEST]};
        join_set_darkest(&one, -t[TOTAL_LEAST], j->channel[channel].dark);
        join_add(&sum, &one, box_of(p, group));
    }
    join_end(&sum);
    return sum;
}
