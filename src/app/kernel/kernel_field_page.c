/* kernel_field_page.c - `fftbloom kernel show` of a field: the kernels of its nodes where they are,
 * over the outline of a frame, all to one scale. */
#include "app/kernel/kernel_actions.h"
#include "app/kernel/svg.h"
#include "base/mem.h"
#include "base/path.h"
#include "image/format.h"
#include "kernel/lint.h"

typedef struct {
    const kernel_field *f;
    lint *figures; /* of each node, */
    kernel_page *page;
    uint32_t wide;       /* how many taps are drawn of each, but of the common one, */
    double low, decades; /* and the colours */
    double left, top;    /* of the frame on the page, */
    double w, h;         /* and its size */
    double side, below; /* of a picture, and of the words below it; 0: there is no room for words */
} field_page;

static void field_page_free(field_page *p) {
    for (uint32_t i = 0; p->page && i < field_nodes(&p->f->grid); i++)
        kernel_page_free(&p->page[i]);
    mem_free(p->page);
    mem_free(p->figures);
}

/* Takes the numbers of all nodes. As much is drawn of each as people see of the widest one. */
static bool measure(field_page *p, err *e) {
    const field_grid *g = &p->f->grid;
    const uint32_t n = field_nodes(g), grid = g->nodes[PLAN_X] * g->nodes[PLAN_Y];
    double low = INFINITY, high = -INFINITY;
    p->figures = mem_new(n, sizeof *p->figures, "a field", e);
    p->page = p->figures ? mem_new(n, sizeof *p->page, "a field", e) : NULL;
    for (uint32_t i = 0; p->page && i < n; i++) {
        const kernel_source *k = &p->f->node[i];
        const psf_planes taps = kernel_source_planes(k);
        if (!lint_kernel(&p->figures[i], &taps, e) ||
            !kernel_page_take(&p->page[i], k, &p->figures[i], e))
            return false;
        const kernel_part seen = kernel_part_seen(&p->page[i]);
        low = fmin(low, seen.low), high = fmax(high, seen.low + seen.decades);
        if (i < grid) p->wide = max_u32(p->wide, seen.w);
    }
    p->low = low, p->decades = high - low;
    return p->page != NULL;
}

/* Returns the least distance of neighbours along an axis; half of the frame where there are none.
 */
static double least_gap(const field_grid *g, uint32_t axis) {
    double gap = 0.5;
    for (uint32_t i = 1; i < g->nodes[axis]; i++)
        gap = fmin(gap, g->at[axis][i] - g->at[axis][i - 1]);
    return gap;
}

/* Lays out the frame, and pictures that do not touch. Returns where all that ends. */
static double lay_out(field_page *p) {
    enum { LEFT = 20, TOP = 112, WORDS = 36, LEAST = 64, MOST = 220 };
    static const double SHAPE = 9.0 / 16, FILL = 0.88;
    const field_grid *g = &p->f->grid;
    const double *x = g->at[PLAN_X], *y = g->at[PLAN_Y], gap = least_gap(g, PLAN_X);
    const double from[] = {fmin(0, x[0]), fmin(0, y[0])},
                 to[] = {fmax(1, x[g->nodes[PLAN_X] - 1]), fmax(1, y[g->nodes[PLAN_Y] - 1])};
    p->w = (SVG_WIDTH - 2 * LEFT) / (to[0] - from[0] + FILL * gap);
    p->h = SHAPE * p->w;
    const double wide = fmin(FILL * gap * p->w, MOST), high = FILL * least_gap(g, PLAN_Y) * p->h;
    p->below = fmin(wide, high - WORDS) >= LEAST ? WORDS : 0;
    p->side = fmin(wide, high - p->below);
    p->left = (SVG_WIDTH - p->w * (from[0] + to[0])) / 2;
    p->top = TOP + p->side / 2 - from[1] * p->h;
    return p->top + to[1] * p->h + p->side / 2 + p->below;
}

/* Adds a node's picture around a place, and its numbers below that. */
static bool add_node(text *to, const field_page *p, uint32_t node, uint32_t wide, double x,
                     double y, err *e) {
    const kernel_page *k = &p->page[node];
    const lint *l = &p->figures[node];
    const double left = x - p->side / 2, top = y - p->side / 2;
    const kernel_part part = {.x = (int64_t)(k->w / 2) - wide / 2,
                              .y = (int64_t)(k->h / 2) - wide / 2,
                              .w = wide,
                              .h = wide,
                              .low = p->low,
                              .decades = p->decades};
    double sum = 0;
    for (uint32_t c = 0; c < k->channels; c++) sum += l->sum[c] / k->channels;
    if (!kernel_part_svg(to, k, &part, (double[]){left, top, p->side, p->side}, e)) return false;
    svg_frame(to, left, top, p->side, p->side, "frame");
    if (p->below > 0) {
        svg_text(to, x, top + p->side + 14, "node mid", "sum %.4g", sum);
        svg_text(to, x, top + p->side + 28, "node mid", "90 %% in %.3g", l->radius_90);
    }
    return true;
}

static bool add_nodes(text *to, const field_page *p, double bottom, err *e) {
    const field_grid *g = &p->f->grid;
    const uint32_t grid = g->nodes[PLAN_X] * g->nodes[PLAN_Y];
    const double left = 330;
    bool ok = true;
    svg_text(to, 20, 96, "title", "The nodes where they are in a frame of 16:9, to one scale");
    svg_frame(to, p->left, p->top, p->w, p->h, "outline");
    for (uint32_t i = 0; ok && i < grid; i++)
        ok = add_node(to, p, i, p->wide,
                      p->left + p->w * g->at[PLAN_X][field_line(g->nodes, i, PLAN_X)],
                      p->top + p->h * g->at[PLAN_Y][field_line(g->nodes, i, PLAN_Y)], e);
    svg_text(to, 20, bottom + 34, "title", "A tap's share of its kernel's light");
    ok = ok && svg_scale(to, p->low, p->decades, 20, bottom + 48, 240, e);
    svg_text(to, left, bottom + 34, "label", "A picture is %u taps wide.", p->wide);
    svg_text(to, left, bottom + 54, "label",
             p->below > 0 ? "sum: the mean of the channels. 90 %%: within this radius, in taps."
                          : "There are too many for numbers.");
    svg_text(to, left, bottom + 74, "label", "All numbers: fftbloom kernel check");
    if (ok && g->common > 0) {
        const double x = 20 + p->side / 2, y = bottom + 110 + p->side / 2;
        const uint32_t wide = kernel_part_seen(&p->page[grid]).w;
        ok = add_node(to, p, grid, wide, x, y, e);
        svg_text(to, 36 + p->side, y, "label",
                 "everywhere, with %.4g %% of all light; %u taps wide", 100 * g->common, wide);
    }
    return ok;
}

static void add_json(const field_page *p, const cli *c, text *out) {
    const field_grid *g = &p->f->grid;
    json_out j = json_begin(out);
    json_string(&j, "kernel", c->word[1]);
    json_string(&j, "output", c->s.output);
    json_list(&j, "nodes");
    for (uint32_t i = 0; i < field_nodes(g); i++) {
        const uint32_t x = field_line(g->nodes, i, PLAN_X), y = field_line(g->nodes, i, PLAN_Y);
        json_object(&j, NULL);
        if (x < g->nodes[PLAN_X])
            json_reals(&j, "at", 9, (double[]){g->at[PLAN_X][x], g->at[PLAN_Y][y]}, 2);
        kernel_page_json(&p->page[i], &j);
        json_close(&j);
    }
    json_end(&j);
}

bool kernel_field_page(const kernel_source *k, const cli *c, const image_header *h, text *page,
                       text *told, err *e) {
    static const char STYLE[] =
        ".outline { fill: none; stroke: var(--soft); stroke-dasharray: 6 4 }\n"
        ".node { fill: var(--soft); font-size: 12px; paint-order: stroke; stroke: var(--paper);\n"
        " stroke-width: 5px }\n"
        "@media (max-width: 640px) { svg { min-width: 760px } }\n";
    char name[256], about[112];
    OWN(field_page) p = {.f = k->field};
    text_clean(name, sizeof name, path_name(c->word[1]));
    image_attr_text(&h->part[0], "comments", about, sizeof about);
    if (!measure(&p, e)) return false;
    const double bottom = lay_out(&p);
    svg_begin(page, name, (int)(bottom + 96 + (p.f->grid.common > 0 ? p.side + p.below + 24 : 0)),
              STYLE);
    text_add(page, "%u \xc3\x97 %u nodes, of up to %u \xc3\x97 %u taps, %s</tspan></text>\n",
             p.f->grid.nodes[PLAN_X], p.f->grid.nodes[PLAN_Y], k->w, k->h,
             k->channels > 1 ? "colour" : "grey");
    svg_text(page, 20, 66, "sub", "%s", about);
    const bool ok = add_nodes(page, &p, bottom, e);
    text_add(page, "</svg>\n");
    if (ok && c->s.json) add_json(&p, c, told);
    return ok;
}
