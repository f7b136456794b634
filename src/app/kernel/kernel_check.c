/* kernel_check.c - `fftbloom kernel check`: what is wrong with a kernel, or with those of a field.
 */
#include "app/cli/terminal.h"
#include "app/kernel/kernel_actions.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "kernel/kernel_field.h"
#include "kernel/lint.h"

/* Returns a tap's share of its channel's light, by its distance from the middle. */
static double share_at(const kernel_source *k, const lint *l, uint32_t c, int64_t x, int64_t y) {
    x += k->w / 2, y += k->h / 2;
    const bool in = x >= 0 && y >= 0 && x < k->w && y < k->h;
    return in ? (double)k->plane[c][(size_t)y * k->w + (size_t)x] / l->sum[c] : 0;
}

/* Returns how much of a node's light lies elsewhere than that of a mix of two: 0 to 1. */
static double apart(const kernel_field *f, const lint *l, uint32_t node, const uint32_t of[2],
                    double first) {
    const kernel_source *k = f->node;
    const int64_t w = max_u32(k[node].w, max_u32(k[of[0]].w, k[of[1]].w)),
                  h = max_u32(k[node].h, max_u32(k[of[0]].h, k[of[1]].h));
    double sum = 0;
    for (uint32_t c = 0; c < k->channels; c++)
        for (int64_t y = -h / 2; y <= h / 2; y++)
            for (int64_t x = -w / 2; x <= w / 2; x++)
                sum += fabs(share_at(&k[node], &l[node], c, x, y) -
                            first * share_at(&k[of[0]], &l[of[0]], c, x, y) -
                            (1 - first) * share_at(&k[of[1]], &l[of[1]], c, x, y));
    return sum / 2 / k->channels;
}

/* What is found of the nodes of a field. */
typedef struct {
    const kernel_field *f;
    lint *l; /* of each, */
    double *step,
        *left_out; /* and along each axis: from the next one, from the mix of both sides */
} looked;

static bool look_at_node(void *ctx, size_t i, int worker, err *e) {
    const looked *k = ctx;
    const psf_planes taps = kernel_source_planes(&k->f->node[i]);
    return lint_kernel(&k->l[i], &taps, e);
}

static bool look_at_step(void *ctx, size_t index, int worker, err *e) {
    const looked *k = ctx;
    const field_grid *g = &k->f->grid;
    const uint32_t i = (uint32_t)index / PLAN_AXES, a = (uint32_t)index % PLAN_AXES,
                   by = a == PLAN_X ? 1 : g->nodes[PLAN_X], n = field_line(g->nodes, i, a);
    if (n + 1 == g->nodes[a]) return true;
    k->step[index] = apart(k->f, k->l, i, (uint32_t[]){i + by, i + by}, 1);
    if (n == 0) return true;
    const double *at = &g->at[a][n];
    k->left_out[index] =
        apart(k->f, k->l, i, (uint32_t[]){i - by, i + by}, (at[1] - at[0]) / (at[1] - at[-1]));
    return true;
}

/* Tells of each node its place, size, sums, how far its centroid is from its middle, and warnings.
 * Light that moves is what a field is for, and no fault. Returns how many warnings there are. */
static int tell_nodes(json_out *j, const kernel_field *f, const lint *l) {
    const field_grid *g = &f->grid;
    int warnings = 0;
    json_list(j, "nodes");
    for (uint32_t i = 0; i < field_nodes(g); i++) {
        kernel_finding found[KERNEL_FINDINGS];
        const int n = kernel_findings(found, &l[i]);
        const uint32_t x = field_line(g->nodes, i, PLAN_X), y = field_line(g->nodes, i, PLAN_Y);
        json_object(j, NULL);
        if (x < g->nodes[PLAN_X])
            json_reals(j, "at", 9, (double[]){g->at[PLAN_X][x], g->at[PLAN_Y][y]}, 2);
        json_real(j, "share", 9, field_share(g, i));
        json_uints(j, "size", (uint32_t[]){l[i].w, l[i].h}, 2);
        json_reals(j, "sum", 9, l[i].sum, l[i].channels);
        json_real(j, "radius_90", 9, l[i].radius_90);
        json_reals(j, "off", 4,
                   (double[]){l[i].centroid[0] - l[i].w / 2, l[i].centroid[1] - l[i].h / 2}, 2);
        json_array(j, "warnings");
        for (int k = 0; k < n; k++) {
            if (!found[k].warning || strcmp(found[k].key, "centre") == 0) continue;
            json_string(j, NULL, found[k].words);
            warnings++;
        }
        json_close(j);
        json_close(j);
    }
    json_close(j);
    return warnings;
}

static int check_field(const cli *c, const kernel_field *f, text *out, err *e) {
    const uint32_t n = field_nodes(&f->grid),
                   steps = PLAN_AXES * f->grid.nodes[PLAN_X] * f->grid.nodes[PLAN_Y];
    OWN_MEM lint *l = mem_new(n, sizeof *l, "a field", e);
    OWN_MEM double *found = mem_new(2 * (size_t)steps, sizeof *found, "a field", e);
    looked k = {f, l, found, found ? found + steps : NULL};
    if (!l || !found || !par_for(c->threads, n, look_at_node, &k, e) ||
        !par_for(c->threads, steps, look_at_step, &k, e))
        return 0;
    double step = 0, left_out = 0;
    for (uint32_t i = 0; i < steps; i++)
        step = fmax(step, k.step[i]), left_out = fmax(left_out, k.left_out[i]);
    OWN(text) words = {0};
    json_out j = told_begin(&words, c->s.json);
    json_string(&j, "kernel", c->word[1]);
    json_uints(&j, "grid", f->grid.nodes, 2);
    json_real(&j, "neighbours", 4, step);
    json_real(&j, "left_out", 4, left_out);
    const int warnings = tell_nodes(&j, f, l);
    json_end(&j);
    if (c->s.json || !c->s.quiet) text_add(out, "%s", words.s);
    return c->s.strict && warnings > 0;
}

int kernel_check(const cli *c, text *out, err *e) {
    char path[KERNEL_PATH];
    if (!kernel_finder_path(path, c->word[1], &c->kernels, e)) return 0;
    lint l;
    kernel_finding found[KERNEL_FINDINGS];
    OWN(kernel_source) in = {0};
    ticker *told = ticker_open("kernel check");
    bool ok = kernel_field_load(&in, path, c->threads, e);
    if (ok && in.field) {
        const int status = check_field(c, in.field, out, e);
        ticker_close(&told);
        return status;
    }
    const psf_planes taps = kernel_source_planes(&in);
    ok = ok && kernel_source_taps(&in, e) && lint_kernel(&l, &taps, e) && lint_core(&l, &taps, e);
    ticker_close(&told);
    if (!ok) return 0;
    if (c->s.json || !c->s.quiet) kernel_report(c->word[1], &l, c->s.json, out);
    return c->s.strict && kernel_findings(found, &l) && found[0].warning;
}
