#include "lab/lab_bench.h"

#include "base/file.h"
#include "base/mem.h"
#include "image/format.h"
#include "lab/ocean.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SIZES = 32, MOST_TRANSFORMS = 32, SEA_FRAME = 1000 /* that is checked, and shown */ };

/* --- what was asked for ---------------------------------------------------------------------- */

typedef struct {
    uint32_t size[MOST_SIZES], sizes;
    bool wanted[MOST_TRANSFORMS]; /* by the index in LAB_TRANSFORMS */
} asked;

/* Marks the transforms of a list, and refuses those that cannot be timed here. */
static bool read_names(asked *a, const lab_bench_request *r, err *e) {
    const char *known[MOST_TRANSFORMS];
    bool all = strcmp(r->algorithms, "all") == 0;
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++) {
        const lab_transform *t = &LAB_TRANSFORMS[i];
        a->wanted[i] = all && (t->program ? r->gpu != NULL : r->kind == LAB_FFT);
        known[i] = t->name;
    }
    for (const char *at = all ? "" : r->algorithms; !all; at++) {
        char name[64], meant[TEXT_MEANT];
        size_t length = strcspn(at, ",");
        int i = 0;
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        while (i < LAB_TRANSFORM_COUNT && strcmp(known[i], name) != 0) i++;
        if (i == LAB_TRANSFORM_COUNT)
            return err_set(e, ERR_USAGE,
                           "--algorithm: '%s' is unknown%s; docs/inside/fft.md has the names", name,
                           text_meant(meant, name, known, i, '\''));
        const lab_transform *t = &LAB_TRANSFORMS[i];
        if (t->program && !r->gpu)
            return err_set(e, ERR_NO_DEVICE, "%s runs on a GPU, and --device chose none", name);
        if (!t->program && r->kind == LAB_SEA)
            return err_set(e, ERR_USAGE,
                           "--algorithm %s: the sea is made on a GPU, and this transform runs on "
                           "the CPU",
                           name);
        a->wanted[i] = true;
        at += length;
        if (!*at) break;
    }
    return true;
}

/* Adds a size, which some of the transforms must take. */
static bool add_size(asked *a, uint32_t n, lab_kind kind, err *e) {
    bool taken = false;
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++)
        taken |= a->wanted[i] && lab_takes(&LAB_TRANSFORMS[i], n);
    if (!taken)
        return err_set(e, ERR_USAGE,
                       "--size %u: none of the transforms asked for can do it; lengths are powers "
                       "of two, and for some transforms products of 2, 3, 5 and 7",
                       n);
    if (kind == LAB_SEA && (n % 2 || n < 64))
        return err_set(e, ERR_USAGE, "--size %u: a sea has an even side, from 64 on", n);
    if (a->sizes == MOST_SIZES)
        return err_set(e, ERR_USAGE, "--size: give %d sizes at most", MOST_SIZES);
    a->size[a->sizes++] = n;
    return true;
}

static bool read_sizes(asked *a, const char *list, lab_kind kind, err *e) {
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
        for (unsigned n = from; n <= to; n *= 2)
            if (!add_size(a, n, kind, e)) return false;
        at += length;
        if (!*at) return true;
    }
}

/* --- transforms, and a sea of them ----------------------------------------------------------- */

/* Times one size; `with` has what the results are held to. */
static bool bench_size(lab_bench *b, const asked *a, const lab_request *with, err *e) {
    bool ok = true;
    for (int i = 0; ok && i < LAB_TRANSFORM_COUNT; i++) {
        lab_row row;
        lab_request one = *with;
        one.t = &LAB_TRANSFORMS[i];
        if (!a->wanted[i] || !lab_takes(one.t, one.n)) continue;
        if (!(ok = lab_run(&row, &one, e))) break;
        row.device = one.t->program ? b->r->gpu->name : "cpu";
        lab_add_row(b, &row);
    }
    return ok;
}

bool lab_bench_transforms(lab_bench *b, err *e) {
    const lab_bench_request *r = b->r;
    bool sea = r->kind == LAB_SEA;
    const char *sizes = r->sizes ? r->sizes : sea ? "512,1024" : "128..1024";
    asked a = {.sizes = 0};
    bool ok = read_names(&a, r, e) && read_sizes(&a, sizes, r->kind, e);
    for (uint32_t i = 0; ok && i < a.sizes; i++) {
        lab_truth truth = {0};
        ocean scene = {.n = 0};
        const lab_request with = {.n = a.size[i],
                                  .truth = sea ? NULL : &truth,
                                  .sea = sea ? &scene : NULL,
                                  .gpu = &b->gpu,
                                  .rounds = r->rounds,
                                  .warm_up = r->warm_up};
        ok = (sea ? ocean_make(&scene, with.n, SEA_FRAME, e) : lab_truth_make(&truth, with.n, e)) &&
             bench_size(b, &a, &with, e) &&
             (i || !r->picture || ocean_view(r->picture, &scene, r->threads, e));
        ocean_free(&scene);
        lab_truth_free(&truth);
    }
    return ok;
}

/* --- all of it ------------------------------------------------------------------------------- */

bool lab_bench_open(lab_bench *b, text *to, const lab_bench_request *r, err *e) {
    const char *dot = r->plot ? strrchr(r->plot, '.') : NULL;
    *b = (lab_bench){.r = r, .gpu = {.threads = r->threads}, .to = to};
    if (r->json) {
        b->json = json_begin(to);
        json_list(&b->json, "results");
    }
    if (r->kind != LAB_FFT && !r->gpu)
        return err_set(e, ERR_NO_DEVICE, "%s needs a GPU, or --device software",
                       r->kind == LAB_SEA ? "ocean" : "article");
    if (r->plot && (!dot || strcmp(dot, ".svg") != 0))
        return err_set(e, ERR_USAGE, "--plot %s: name a file that ends in .svg", r->plot);
    return (!r->plot || file_out_possible(r->plot, e)) &&
           (!r->picture || image_can_create(r->picture, e)) &&
           (b->row = mem_raw(LAB_ROWS, sizeof *b->row, "rows", e)) &&
           (!r->gpu || lab_gpu_open(&b->gpu, r->gpu, e));
}

bool lab_bench_close(lab_bench *b, bool ok, err *e) {
    if (ok && b->r->plot) {
        text svg = {0};
        lab_plot(&svg, b);
        ok = text_check(&svg, e) && file_write_all(b->r->plot, svg.s, svg.n, e);
        text_free(&svg);
    }
    if (b->r->json) {
        json_close(&b->json);
        json_end(&b->json);
    }
    lab_gpu_close(&b->gpu);
    mem_free(b->row);
    return ok;
}
