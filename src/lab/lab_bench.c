#include "lab/lab_bench.h"

#include "base/file.h"
#include "base/mem.h"
#include "lab/lab_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what was asked for ---------------------------------------------------------------------- */

/* Reads "128..1024,1080": sizes with commas between; ".." doubles the first up to the second. */
static bool fft_read_sizes(lab_choice *c, const char *list, err *e) {
    for (const char *at = list;; at++) {
        unsigned from = 0, to = 0;
        int used = 0;
        size_t length = strcspn(at, ",");
        if (sscanf(at, "%5u%n..%5u%n", &from, &used, &to, &used) < 2) to = from;
        if (!length || (size_t)used != length || at[0] == '+' || at[0] == '-' || to < from ||
            from < LAB_LEAST || to > LAB_MOST)
            return err_set(
                e, ERR_USAGE,
                "--size %s: give sizes from %d to %d, such as 512, 128..1024 (each twice "
                "the one before) or 640,1080",
                list, LAB_LEAST, LAB_MOST);
        for (unsigned n = from; n <= to; n *= 2) {
            uint32_t i = 0;
            while (i < c->sizes && c->size[i] != n) i++;
            if (i == LAB_MOST_SIZES)
                return err_set(e, ERR_USAGE, "--size: give %d sizes at most", LAB_MOST_SIZES);
            c->size[i] = n;
            if (i == c->sizes) c->sizes++;
        }
        at += length;
        if (!*at) return true;
    }
}

static bool fft_read_names(lab_choice *c, const char *list, err *e) {
    const char *names[LAB_MOST_TRANSFORMS];
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++) names[i] = LAB_TRANSFORMS[i].name;
    c->all = strcmp(list, "all") == 0;
    for (const char *at = list; !c->all;) {
        size_t length = strcspn(at, ",");
        int i = 0;
        while (i < LAB_TRANSFORM_COUNT && (strncmp(at, names[i], length) != 0 || names[i][length]))
            i++;
        if (i == LAB_TRANSFORM_COUNT) {
            text known = {0};
            for (int k = 0; k < LAB_TRANSFORM_COUNT; k++) text_add(&known, ", %s", names[k]);
            err_set(e, ERR_USAGE, "--algorithm: '%.*s' is unknown; there are all%s", (int)length,
                    at, known.s);
            text_free(&known);
            return false;
        }
        c->wanted[i] = true;
        at += length;
        if (!*at++) break;
    }
    for (int i = 0; c->all && i < LAB_TRANSFORM_COUNT; i++) c->wanted[i] = true;
    return true;
}

bool lab_choice_read(lab_choice *c, const lab_bench_request *r, const char *sizes, err *e) {
    *c = (lab_choice){0};
    if (!fft_read_sizes(c, r->sizes ? r->sizes : sizes, e) || !fft_read_names(c, r->algorithms, e))
        return false;
    for (uint32_t s = 0; s < c->sizes; s++) {
        bool taken = false;
        for (int i = 0; i < LAB_TRANSFORM_COUNT; i++)
            taken |= c->wanted[i] && LAB_TRANSFORMS[i].takes(c->size[s]);
        if (!taken)
            return err_set(
                e, ERR_USAGE, "--size %u: none of the transforms asked for can do it%s", c->size[s],
                lab_takes_smooth(c->size[s]) ? ""
                                             : "; lengths are powers of two, or products "
                                               "of 2, 3, 5 and 7");
    }
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++)
        if (c->wanted[i] && !c->all && LAB_TRANSFORMS[i].program && !r->gpu)
            return err_set(e, ERR_NO_DEVICE, "%s runs on a GPU, and --device chose none",
                           LAB_TRANSFORMS[i].name);
    return true;
}

/* --- the table of transforms ----------------------------------------------------------------- */

/* clang-format off */
static const lab_column COLUMN[] = {
    {"size", LAB_COUNT, "n", 5, 0, 1},
    {"algorithm", LAB_NAME, "algorithm", -21, 0, 1},
    {"about", LAB_NAME, NULL, 0, 0, 1},
    {"device", LAB_NAME, NULL, 0, 0, 1},
    {"length", LAB_COUNT, NULL, 0, 0, 1},
    {"rounds", LAB_COUNT, NULL, 0, 0, 1},
    {"forward.seconds", LAB_SPREAD, "forward ms", 11, 4, 1e-3},
    {"forward.worst", LAB_REAL, NULL, 0, 0, 1},
    {"forward.rms", LAB_REAL, NULL, 0, 0, 1},
    {"inverse.seconds", LAB_SPREAD, "inverse ms", 11, 4, 1e-3},
    {"inverse.worst", LAB_REAL, NULL, 0, 0, 1},
    {"inverse.rms", LAB_REAL, NULL, 0, 0, 1},
    {"bytes", LAB_COUNT, "MB moved", 9, 2, 1e6},
    {"copy", LAB_SECONDS, NULL, 0, 0, 1},
    {NULL, LAB_REAL, "copies", 6, 2, 1},
    {"dispatches", LAB_COUNT, "disp.", 6, 0, 1},
    {"barriers", LAB_COUNT, "barriers", 8, 0, 1},
    {"shared", LAB_COUNT, "KB sh.", 7, 1, 1024},
    {NULL, LAB_REAL, "worst", 8, -1, 1},
    {NULL, LAB_REAL, "rms", 8, -1, 1},
};
/* clang-format on */
enum { COLUMNS = sizeof COLUMN / sizeof COLUMN[0] };

enum { MOST_POINTS = LAB_MOST_SIZES * (LAB_MOST_TRANSFORMS + 1) };

typedef struct {
    const lab_bench_request *r;
    lab_choice choice;
    lab_gpu gpu;
    lab_table table;
    lab_point *point; /* for the plot: one per result, and one per size for copies */
    uint32_t points;
} fft_bench;

static void fft_add_row(fft_bench *b, const lab_transform *t, uint32_t n, const lab_result *r) {
    const lab_account *a = &r->account;
    const measure_spread *s = r->seconds;
    const lab_error *f = &r->error[LAB_FORWARD], *i = &r->error[LAB_BACKWARD];
    double mean = (s[0].median + s[1].median) / 2, none = t->program ? 0 : (double)NAN;
    const lab_cell cell[] = {LAB_N(n),
                             LAB_W(t->name),
                             LAB_W(t->about),
                             LAB_W(t->program ? b->r->gpu->name : "cpu"),
                             LAB_N(t->length ? t->length(n) : n),
                             LAB_N(r->rounds),
                             LAB_S(&s[0]),
                             LAB_N(f->worst),
                             LAB_N(f->rms),
                             LAB_S(&s[1]),
                             LAB_N(i->worst),
                             LAB_N(i->rms),
                             LAB_N(a->bytes),
                             LAB_N(r->copy),
                             LAB_N(mean / r->copy),
                             LAB_N(a->dispatches + none),
                             LAB_N(a->barriers + none),
                             LAB_N(a->shared + none),
                             LAB_N(fmax(f->worst, i->worst)),
                             LAB_N(fmax(f->rms, i->rms))};
    _Static_assert(sizeof cell / sizeof cell[0] == COLUMNS, "a value for each column");
    lab_table_row(&b->table, cell);
}

static void add_point(fft_bench *b, const lab_transform *t, uint32_t n, double seconds) {
    if (b->points < MOST_POINTS && seconds > 0) b->point[b->points++] = (lab_point){t, n, seconds};
}

static void add_points(fft_bench *b, const lab_transform *t, uint32_t n, const lab_result *r) {
    double image = 2 * sizeof(lab_complex) * (double)n * n;
    add_point(b, t, n, (r->seconds[0].median + r->seconds[1].median) / 2);
    bool copied = false;
    for (uint32_t i = 0; i < b->points; i++) copied |= !b->point[i].t && b->point[i].n == n;
    if (t->program && !t->length && !copied)
        add_point(b, NULL, n, r->copy * image / (double)r->account.bytes);
}

static bool fft_run_size(fft_bench *b, uint32_t n, err *e) {
    lab_truth truth = {0};
    bool ok = lab_truth_make(&truth, n, b->r->threads, e);
    for (int i = 0; ok && i < LAB_TRANSFORM_COUNT; i++) {
        const lab_transform *t = &LAB_TRANSFORMS[i];
        lab_result result;
        uint32_t length = t->length ? t->length(n) : n;
        if (!b->choice.wanted[i] || !t->takes(n) || (t->program && !b->r->gpu)) continue;
        if (length != truth.n) {
            lab_truth_free(&truth);
            if (!(ok = lab_truth_make(&truth, length, b->r->threads, e))) break;
        }
        ok = lab_run(&result, &(lab_request){t, &truth, &b->gpu, b->r->rounds, b->r->warm_up}, e);
        if (!ok) break;
        fft_add_row(b, t, n, &result);
        add_points(b, t, n, &result);
    }
    lab_truth_free(&truth);
    return ok;
}

/* A plot that cannot be written is refused before anything is timed. */
static bool check_plot(const char *plot, err *e) {
    const char *dot = plot ? strrchr(plot, '.') : NULL;
    if (plot && (!dot || strcmp(dot, ".svg") != 0))
        return err_set(e, ERR_USAGE, "--plot %s: name a file that ends in .svg", plot);
    return !plot || file_out_possible(plot, e);
}

bool lab_bench_fft(text *out, const lab_bench_request *r, err *e) {
    fft_bench b = {.r = r, .gpu = {.threads = r->threads}};
    const char *device = r->gpu ? r->gpu->name : "no GPU";
    if (!lab_choice_read(&b.choice, r, "128..1024", e) || !check_plot(r->plot, e)) return false;
    b.point = mem_raw(MOST_POINTS, sizeof *b.point, "points", e);
    bool ok = b.point && (!r->gpu || lab_gpu_open(&b.gpu, r->gpu, e));
    json_out json;
    b.table = (lab_table){COLUMN, COLUMNS, out, r->json ? &json : NULL, false};
    lab_table_begin(&b.table, "n x n complex numbers, float, on a GPU or one thread of the CPU");
    for (uint32_t i = 0; ok && i < b.choice.sizes; i++) ok = fft_run_size(&b, b.choice.size[i], e);
    if (ok && r->plot) {
        text svg = {0};
        ok = lab_plot(&svg, b.point, b.points, device, e) &&
             file_write_all(r->plot, svg.s, svg.n, e);
        text_free(&svg);
    }
    lab_table_end(&b.table);
    if (r->gpu) lab_gpu_close(&b.gpu);
    mem_free(b.point);
    return ok;
}
