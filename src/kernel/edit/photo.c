#include "kernel/edit/photo.h"

#include "base/mem.h"
#include "kernel/core.h"

#include <math.h>
#include <string.h>

/* --- the centre ------------------------------------------------------------------------------- */

bool photo_centre(uint32_t at[2], const edit_request *r, const edit_input *in, err *e) {
    const edit_kernel *k = &in->kernel;
    const size_t n = (size_t)k->w * k->h;
    at[0] = r->centred ? r->at[0] : k->w / 2, at[1] = r->centred ? r->at[1] : k->h / 2;
    if (r->centred) return true;
    double *all = mem_new(n, sizeof *all, "all channels", e), x = 0, y = 0, sum = 0;
    uint8_t *mark = mem_new(n, 1, "a piece", e);
    size_t peak = 0;
    bool ok = all && mark;
    for (size_t i = 0; ok && i < n; i++) {
        for (uint32_t c = 0; c < k->channels; c++) all[i] += k->tap[c * n + i];
        if (all[i] > all[peak]) peak = i;
    }
    if (ok && all[peak] > 0) {
        double half = all[peak] / 2;
        ok = core_mark(mark, all, k->w, k->h, peak, half, e);
        for (size_t i = 0; i < n; i++) {
            double v = mark[i] ? all[i] - half : 0;
            x += v * (double)(i % k->w), y += v * (double)(i / k->w), sum += v;
        }
        at[0] = (uint32_t)floor(x / sum + 0.5), at[1] = (uint32_t)floor(y / sum + 0.5);
    }
    mem_free(all);
    mem_free(mark);
    return ok;
}

bool photo_recentre(edit_kernel *k, const uint32_t at[2], edit_account *told, err *e) {
    const uint32_t size[2] = {k->w, k->h};
    uint32_t side[2], first[2];
    if (at[0] >= k->w || at[1] >= k->h)
        return err_set(e, ERR_CONFIG, "the centre %u, %u lies outside the %u x %u taps", at[0],
                       at[1], k->w, k->h);
    for (int a = 0; a < 2; a++) {
        uint32_t before = at[a], after = size[a] - 1 - at[a];
        side[a] = before > after ? 2 * after + 2 : 2 * before + 1;
        first[a] = at[a] - side[a] / 2;
    }
    if (side[0] == k->w && side[1] == k->h) return true;
    edit_kernel to;
    double before = edit_light(k);
    if (!edit_new(&to, side[0], side[1], k->channels, e)) return false;
    for (uint32_t c = 0; c < k->channels; c++)
        for (uint32_t y = 0; y < to.h; y++)
            memcpy(to.tap + ((size_t)c * to.h + y) * to.w,
                   k->tap + ((size_t)c * k->h + y + first[1]) * k->w + first[0],
                   to.w * sizeof *to.tap);
    if (told)
        edit_say(told, "centre", at[0],
                 "tap %u, %u is the centre: the picture was cut to the %u x %u taps around it",
                 at[0], at[1], to.w, to.h);
    if (told && before > 0)
        edit_say(told, "cut", 1 - edit_light(&to) / before,
                 "that cut %.3g %% of its light, the background's included",
                 100 * (1 - edit_light(&to) / before));
    edit_free(k);
    *k = to;
    return true;
}

/* --- exposures -------------------------------------------------------------------------------- */

/* Taps are chosen by the longer exposure alone, in which noise is small: to choose by the shorter
 * one would prefer those whose noise is above zero. */
double photo_ratio(const double *longer, const double *shorter, size_t n, double white,
                   double noise) {
    double a = 0, b = 0;
    for (size_t i = 0; i < n; i++) {
        if (longer[i] > 0.9 * white || longer[i] < fmax(0.2 * white, 4 * noise)) continue;
        a += longer[i], b += shorter[i];
    }
    return b > 0 ? a / b : 0;
}

/* shorter = share * longer + offset: the longer exposure, in which noise is small beside the light,
 * is the one that is taken to be exact. With light E L + black in an exposure E, the offset is
 * black * (1 - share). The errors are those of taps whose noise differs (White's). */
bool photo_fit_match(photo_match *to, const double *longer, const double *shorter, size_t n,
                     uint32_t channels, double white, double least) {
    double count[EDIT_CHANNELS] = {0}, light[EDIT_CHANNELS] = {0}, offset[EDIT_CHANNELS] = {0};
    double spread = 0, share = 0, of_share = 0, of_offset[EDIT_CHANNELS] = {0};
    /* First the means, then the line, then how far taps are from it. */
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t c = 0; c < channels; c++)
            for (size_t i = c * n; i < (c + 1) * n; i++) {
                double y = longer[i], x = shorter[i], d = y - light[c];
                if (!(y >= least && y <= 0.9 * white)) continue;
                double off = x - offset[c] - share * y;
                if (pass == 0) count[c]++, light[c] += y, offset[c] += x;
                if (pass == 1) spread += d * d, share += d * (x - offset[c]);
                if (pass == 2) of_share += d * d * off * off, of_offset[c] += off * off;
            }
        for (uint32_t c = 0; pass == 0 && c < channels; c++)
            light[c] /= fmax(count[c], 1), offset[c] /= fmax(count[c], 1);
        if (pass == 0) continue;
        if (!(spread > 0)) return false;
        if (pass == 2) of_share = sqrt(of_share) / spread;
        if (pass == 1) share /= spread;
        for (uint32_t c = 0; pass == 1 && c < channels; c++) offset[c] -= share * light[c];
    }
    if (!(share > 0 && share < 1)) return false;
    *to = (photo_match){.ratio = 1 / share, .ratio_error = of_share / share};
    for (uint32_t c = 0; c < channels; c++) {
        double error = hypot(sqrt(of_offset[c]) / fmax(count[c], 1), light[c] * of_share);
        to->black[c] = offset[c] / (1 - share);
        to->black_error = fmax(to->black_error, error / (1 - share));
        if (count[c] < 8) return false;
    }
    return true;
}
