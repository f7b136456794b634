/* The amount that a region asks for which was black: each guess is a solution of its own. */
#include "bloom/solve_work.h"

static bool read_region(join_box *to, const view *v, err *e) {
    const image_box *data = &view_part(v)->data;
    long x, y, w, h;
    char end;
    if (sscanf(v->s->black, "%ld,%ld,%ld,%ld%c", &x, &y, &w, &h, &end) != 4 || w < 1 || h < 1)
        return err_set(e, ERR_CONFIG, "black is '%s'; it has four whole numbers, X,Y,W,H",
                       v->s->black);
    x -= data->x0, y -= data->y0;
    if (x < 0 || y < 0 || w > (long)v->need.w - x || h > (long)v->need.h - y)
        return err_set(e, ERR_CONFIG,
                       "black %s lies outside the image, whose pixels are %d,%d to %d,%d",
                       v->s->black, data->x0, data->y0, data->x1, data->y1);
    *to = (join_box){(uint32_t)x, (uint32_t)y, (uint32_t)w, (uint32_t)h};
    return true;
}

/* Returns the mean of a region over all channels; *deviation: of that mean, by the noise of its
 * pixels. */
static double mean_of(double *deviation, const join_box *r, const view *v, float *const *plane) {
    double total = 0, variance = 0;
    const double n = (double)r->w * r->h;
    for (uint32_t c = 0; c < v->channels; c++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < (size_t)r->w * r->h; i++) {
            const double p = (double)plane[c][(r->y + i / r->w) * v->need.w + r->x + i % r->w];
            sum += p, squares += p * p;
        }
        total += sum / n / v->channels;
        if (n > 1) variance += fmax(squares / n - sum * sum / n / n, 0) / (n - 1);
    }
    *deviation = sqrt(variance) / v->channels;
    return total;
}

static bool set_amount(view *v, double amount, err *e) {
    kernel_sizes *sizes = session_sizes(v->session);
    kernel_need need = v->need;
    need.sharpen = bloom_complement(amount);
    const kernel_at *size = kernel_sizes_take(sizes, &need, v->size->planes, e);
    if (!size) return false;
    kernel_sizes_give(sizes, v->size);
    v->size = size, v->need = need, v->sharpen = need.sharpen;
    return true;
}

bool solve_black(group_made *to, view *v, const light *l, err *e) {
    join_box r = {0};
    OWN(attempt_sources) plate = {.in = {NULL}};
    double deviation, last[2] = {0}, mean[2];
    if (!read_region(&r, v, e) || !attempt_sources_find(&plate, v, e)) return false;
    mean[0] = mean_of(&deviation, &r, v, (float *const *)(void *)plate.in);
    attempt_sources_free(&plate);
    if (!(mean[0] > 0))
        return err_set(e, ERR_DATA,
                       "the region of black, %s, is %.4g in the mean: there is no glare "
                       "to be taken away",
                       v->s->black, mean[0]);
    bloom_settings s = *v->s;
    const bloom_settings *given = v->s;
    s.clamp = false;
    v->s = &s;
    last[1] = 1 - v->sharpen;
    bool ok = true;
    for (int i = 0; ok && i < 8; i++) {
        OWN_MEM group_made *trial = mem_new(1, sizeof *trial, "a report", e);
        outcome o = {0};
        ok = trial && set_amount(v, last[1], e) && solve_run(trial, &o, v, l, e);
        if (!ok) break;
        double ignored;
        mean[1] = mean_of(&ignored, &r, v, (float *const *)(void *)o.out);
        const double slope = (mean[1] - mean[0]) / (last[1] - last[0]);
        const double next = last[1] - mean[1] / slope;
        to->sum.solved.amount_error = deviation / fabs(slope);
        if (!(next > 0 && next <= 1.5))
            ok = err_set(e, ERR_DATA,
                         "the region of black, %s, goes from %.4g to %.4g with an amount of %.4g: "
                         "no amount makes it zero",
                         v->s->black, mean[0], mean[1], last[1]);
        else if (next > 1)
            ok = err_set(e, ERR_DATA,
                         "the region of black, %s, would need an amount of %.4g: the lens has more "
                         "glare than this kernel",
                         v->s->black, next);
        const bool done = fabs(next - last[1]) < 1e-5 * next;
        mean[0] = mean[1], last[0] = last[1], last[1] = next;
        if (done) break;
    }
    ok = ok && set_amount(v, last[1], e);
    v->s = given;
    return ok;
}
