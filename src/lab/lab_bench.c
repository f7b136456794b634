#include "lab/lab_bench.h"

#include "base/file.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/mem.h"
#include "lab/lab_choice.h"
#include "lab/lab_plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = LAB_MOST_SIZES * (LAB_MOST_TRANSFORMS + 1) };

typedef struct {
    const lab_bench_request *r;
    lab_choice choice;
    lab_gpu gpu;
    text *out;
    json_out json;
    lab_point *point; /* for the plot: one per result, and one per size for copies */
    uint32_t points;
} bench;

/* A plot that cannot be written is refused before anything is timed. */
static bool check_plot(const char *plot, err *e) {
    const char *dot = plot ? strrchr(plot, '.') : NULL;
    if (plot && (!dot || strcmp(dot, ".svg") != 0))
        return err_set(e, ERR_USAGE, "--plot %s: name a file that ends in .svg", plot);
    return !plot || file_out_possible(plot, e);
}

/* --- how a result is shown ------------------------------------------------------------------- */

static const char *const WAY[LAB_WAYS] = {"forward", "inverse"};

static double larger(const double v[LAB_WAYS]) {
    return v[0] >= v[1] ? v[0] : v[1];
}

static void add_words(bench *b, const lab_transform *t, uint32_t n, const lab_result *r) {
    const lab_account *a = &r->account;
    double mean = (r->seconds[0].median + r->seconds[1].median) / 2;
    text_add(b->out, "%5u  %-21s %11.4f %11.4f %9.2f %6.2f x", n, t->name,
             r->seconds[0].median * 1e3, r->seconds[1].median * 1e3, (double)a->bytes * 1e-6,
             r->copy > 0 ? mean / r->copy : 0);
    if (t->program)
        text_add(b->out, " %6u %8u %7.1f", a->dispatches, a->barriers, a->shared / 1024.0);
    else
        text_add(b->out, " %6s %8s %7s", "-", "-", "-");
    text_add(b->out, "  %8.2g  %8.2g\n", larger(r->worst), larger(r->rms));
}

static void add_json(bench *b, const lab_transform *t, uint32_t n, const lab_result *r) {
    json_out *j = &b->json;
    json_block(j, NULL);
    json_string(j, "algorithm", t->name);
    json_string(j, "about", t->about);
    json_string(j, "device", t->program ? b->r->gpu->name : "cpu");
    json_uint(j, "size", n);
    json_uint(j, "length", t->length ? t->length(n) : n);
    json_uint(j, "rounds", r->rounds);
    for (int way = 0; way < LAB_WAYS; way++) {
        json_object(j, WAY[way]);
        json_fixed(j, "least", 9, r->seconds[way].least);
        json_fixed(j, "low", 9, r->seconds[way].low);
        json_fixed(j, "median", 9, r->seconds[way].median);
        json_fixed(j, "high", 9, r->seconds[way].high);
        json_real(j, "worst", 3, r->worst[way]);
        json_real(j, "rms", 3, r->rms[way]);
        json_close(j);
    }
    json_uint(j, "bytes", r->account.bytes);
    json_fixed(j, "copy", 9, r->copy);
    if (t->program) {
        json_uint(j, "dispatches", r->account.dispatches);
        json_uint(j, "barriers", r->account.barriers);
        json_uint(j, "shared", r->account.shared);
    }
    json_close(j);
}

static void add_csv(bench *b, const lab_transform *t, uint32_t n, const lab_result *r) {
    const lab_account *a = &r->account;
    text_add(b->out, "%s,\"%s\",%u,%u,%.9f,%.9f,%" PRIu64 ",%.9f,", t->name,
             t->program ? b->r->gpu->name : "cpu", n, r->rounds, r->seconds[0].median,
             r->seconds[1].median, a->bytes, r->copy);
    text_add(b->out, "%u,%u,%u,%.3g,%.3g,%.3g,%.3g\n", a->dispatches, a->barriers, a->shared,
             r->worst[0], r->rms[0], r->worst[1], r->rms[1]);
}

static void begin(bench *b) {
    if (b->r->output == LAB_JSON) {
        b->json = json_begin(b->out);
        json_list(&b->json, "results");
    } else if (b->r->output == LAB_CSV) {
        text_add(b->out, "algorithm,device,size,rounds,forward,inverse,bytes,copy,dispatches,"
                         "barriers,shared,forward_worst,forward_rms,inverse_worst,inverse_rms\n");
    } else {
        text_add(b->out,
                 "n x n complex numbers, float; %s, and one thread of the CPU; medians of up to %u "
                 "rounds\n%5s  %-21s %11s %11s %9s %8s %6s %8s %7s  %8s  %8s\n",
                 b->r->gpu ? b->r->gpu->name : "no GPU", b->r->rounds, "n", "algorithm",
                 "forward ms", "inverse ms", "MB moved", "copies", "disp.", "barriers", "KB sh.",
                 "worst", "rms");
    }
}

/* --- the plot -------------------------------------------------------------------------------- */

static void add_point(bench *b, const lab_transform *t, uint32_t n, double seconds) {
    if (b->points < MOST_POINTS && seconds > 0) b->point[b->points++] = (lab_point){t, n, seconds};
}

static void add_points(bench *b, const lab_transform *t, uint32_t n, const lab_result *r) {
    double image = 2 * sizeof(lab_complex) * (double)n * n;
    add_point(b, t, n, (r->seconds[0].median + r->seconds[1].median) / 2);
    bool copied = false;
    for (uint32_t i = 0; i < b->points; i++) copied |= !b->point[i].t && b->point[i].n == n;
    if (t->program && !t->length && !copied)
        add_point(b, NULL, n, r->copy * image / (double)r->account.bytes);
}

static bool write_plot(const bench *b, err *e) {
    text svg = {0};
    const char *device = b->r->gpu ? b->r->gpu->name : "no GPU";
    bool ok = lab_plot(&svg, b->point, b->points, device, e) &&
              file_write_all(b->r->plot, svg.s, svg.n, e);
    text_free(&svg);
    return ok;
}

/* --- all of it ------------------------------------------------------------------------------- */

static bool run_size(bench *b, uint32_t n, err *e) {
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
        (b->r->output == LAB_JSON  ? add_json
         : b->r->output == LAB_CSV ? add_csv
                                   : add_words)(b, t, n, &result);
        add_points(b, t, n, &result);
    }
    lab_truth_free(&truth);
    return ok;
}

bool lab_bench_fft(text *out, const lab_bench_request *r, err *e) {
    bench b = {.r = r, .gpu = {.threads = r->threads}, .out = out};
    if (!lab_choice_read(&b.choice, r->sizes ? r->sizes : "128..1024", r->algorithms, r->gpu, e) ||
        !check_plot(r->plot, e))
        return false;
    b.point = mem_raw(MOST_POINTS, sizeof *b.point, "points", e);
    bool ok = b.point && (!r->gpu || lab_gpu_open(&b.gpu, r->gpu, e));
    begin(&b);
    for (uint32_t i = 0; ok && i < b.choice.sizes; i++) ok = run_size(&b, b.choice.size[i], e);
    if (ok && r->plot) ok = write_plot(&b, e);
    if (r->output == LAB_JSON) {
        json_close(&b.json);
        json_end(&b.json);
    }
    if (r->gpu) lab_gpu_close(&b.gpu);
    mem_free(b.point);
    return ok;
}
