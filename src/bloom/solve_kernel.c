/* What is known of a kernel before its glare is taken away. */
#include "base/steady.h"
#include "bloom/solve_work.h"
#include "kernel/psf_core.h"

double solve_core_of(const kernel_at *k, uint32_t c) {
    return k->tail.centre[tail_kernel(&k->tail, c)];
}
double solve_ratio_of(const kernel_at *k, uint32_t c) {
    return k->sums[c].sum == 0 ? 0 : k->sums[c].sum / solve_core_of(k, c);
}

solve_split solve_split_of(const kernel_at *k) {
    solve_split shares = {.ratio = -1};
    for (uint32_t c = 0; c < k->need.channels; c++) {
        const double core = solve_core_of(k, c), ratio = core > 0 ? solve_ratio_of(k, c) : INFINITY;
        if (ratio > shares.ratio) shares = (solve_split){core, k->sums[c].sum, ratio, c};
    }
    return shares;
}

bool solve_converges(const view *v, err *e) {
    const solve_split shares = solve_split_of(v->size);
    const double a = 1 - v->sharpen, tint = kernel_need_tint(&v->need, shares.channel);
    const kernel_use use = {
        .options = v->s->kernel, .relative = v->s->kernel_relative, .aspect = v->s->pixel_aspect};
    const uint32_t c = v->size->kernel.channels == 1 ? 0 : shares.channel;
    OWN(psf) k = {0};
    if (shares.ratio < 1) return true;
    if (!kernel_source_psf(&k, session_kernel(v->session), &use, &v->need, NULL, e)) return false;
    double low = 0, high = (double)k.w + k.h;
    while (high - low > 0.5) {
        const double middle = (low + high) / 2;
        const psf_split at = psf_core_split(&k, c, middle);
        *(a * tint * at.tail < 1 - a + a * at.core ? &high : &low) = middle;
    }
    const psf_split now = psf_core_split(&k, c, v->size->kernel.core);
    return err_set(
        e, ERR_CONFIG,
        "channel '%s': the glare cannot be taken away: the kernel keeps %.4g of the light "
        "within %.4g pixels and spreads %.4g, so r is %.4g and needs to be below 1; "
        "--core=%.0f or --amount=%.3g would do",
        view_name(v, shares.channel), shares.core, v->size->kernel.core, shares.tail, shares.ratio,
        ceil(high), 0.99 / (1 - now.core + tint * now.tail));
}

/* Finds by how much noise grows, of the channel where that is most: what is even over all
 * frequencies by the root mean square of 1 / F, and any by 1 / (C - t). */
static bool find_noise(bloom_solved *to, const kernel_at *size, const bloom_settings *s,
                       par *threads, err *e) {
    const device_choice *way = size->decided.way;
    const plan *p = &way[way[WAY_FLOAT32].possible ? WAY_FLOAT32 : WAY_FLOAT64].plan;
    const spectrum bare = {.kernel = size->kernel};
    const spectrum_request ask = {.mode = SPECTRUM_EXACT,
                                  .first = p->first,
                                  .length = {p->axis[0].length, p->axis[1].length},
                                  .at_once = true};
    OWN(spectrum_lines) l = {0};
    if (!spectrum_at(&l, &bare, &ask, threads, e)) return false;
    OWN_MEM float *room = mem_raw(1, spectrum_line_bytes(&l), "a line", e);
    for (uint32_t c = 0; room && c < size->need.channels; c++) {
        const double core = solve_core_of(size, c);
        const double scale = (1 - s->sharpen) * kernel_need_tint(&size->need, c);
        double sum = 0;
        for (uint32_t k = 0; k < l.halves; k++) {
            const float *at = spectrum_some(&l, l.channels > 1 ? c : 0, k, 1, room);
            const bool twice = k > 0 && 2 * k < ask.length[0];
            for (uint32_t i = 0; i < l.length; i++) {
                const double re = core + scale * (double)at[2 * i],
                             im = scale * (double)at[2 * i + 1];
                sum += (twice ? 2 : 1) / (re * re + im * im);
            }
        }
        to->noise = fmax(to->noise, sqrt(sum / ask.length[0] / ask.length[1]));
        to->noise_most = fmax(to->noise_most, 1 / (core - core * solve_ratio_of(size, c)));
    }
    return room != NULL;
}

bool solve_foresee(bloom_solved *to, const view *v, err *e) {
    const solve_split shares = solve_split_of(v->size);
    const scan_channel *y = &v->scanned->channel[shares.channel];
    const double top = fmax(fabs((double)y->least), fabs((double)y->greatest)),
                 dark = v->dark[shares.channel], range = dark > 0 && top > dark ? top / dark : 1;
    *to = (bloom_solved){.radius = v->size->kernel.core,
                         .core = shares.core,
                         .tail = shares.tail,
                         .ratio = shares.ratio,
                         .range = range,
                         .steps = 1};
    if (!solve_converges(v, e)) return false;
    /* The plate is the first guess, and off by at most 2 r / (1 - r) of the brightest pixel, which
     * is `range` times the darkest. */
    const double part = v->s->tolerance * (1 - shares.ratio) / (2 * shares.ratio * range);
    if (shares.ratio > 0)
        to->steps = (uint32_t)clamp_double(ceil(steady_log(part) / steady_log(shares.ratio)), 1,
                                           UINT32_MAX);
    return find_noise(to, v->size, v->s, v->threads, e);
}
