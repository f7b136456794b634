#include "lab/lab_bench.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "image/format.h"
#include "lab/forms.h"
#include "lab/ocean.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SIZES = 32, MOST_TRANSFORMS = 32, MOST_ROWS = MOST_SIZES * MOST_TRANSFORMS };
/* The frame of the sea that is compared with double, and shown; threads of a workgroup. */
enum { CHECKED = 1000, GROUP = 64 };

typedef struct {
    const lab_bench_request *r;
    uint32_t size[MOST_SIZES], sizes;
    bool wanted[MOST_TRANSFORMS]; /* by the index in LAB_TRANSFORMS */
    bool all;                     /* by "all", and not by their names */
    lab_gpu gpu;
    lab_table table;
    lab_row *row; /* all that were added */
    uint32_t rows;
} lab_work;

/* --- what was asked for ---------------------------------------------------------------------- */

/* Reads "128..1024,1080": sizes with commas between; ".." doubles the first up to the second. */
static bool lab_read_sizes(lab_work *b, const char *list, err *e) {
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
            while (i < b->sizes && b->size[i] != n) i++;
            if (i == MOST_SIZES)
                return err_set(e, ERR_USAGE, "--size: give %d sizes at most", MOST_SIZES);
            b->size[i] = n;
            if (i == b->sizes) b->sizes++;
        }
        at += length;
        if (!*at) return true;
    }
}

static bool lab_read_names(lab_work *b, const char *list, err *e) {
    b->all = strcmp(list, "all") == 0;
    for (int i = 0; b->all && i < LAB_TRANSFORM_COUNT; i++) b->wanted[i] = true;
    for (const char *at = list; !b->all;) {
        size_t length = strcspn(at, ",");
        int i = 0;
        while (i < LAB_TRANSFORM_COUNT &&
               (strncmp(at, LAB_TRANSFORMS[i].name, length) != 0 || LAB_TRANSFORMS[i].name[length]))
            i++;
        if (i == LAB_TRANSFORM_COUNT) {
            text known = {0};
            for (int k = 0; k < LAB_TRANSFORM_COUNT; k++)
                text_add(&known, ", %s", LAB_TRANSFORMS[k].name);
            err_set(e, ERR_USAGE, "--algorithm: '%.*s' is unknown; there are all%s", (int)length,
                    at, known.s);
            text_free(&known);
            return false;
        }
        b->wanted[i] = true;
        at += length;
        if (!*at++) return true;
    }
    return true;
}

static bool lab_check_transforms(const lab_work *b, err *e) {
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++) {
        const lab_transform *t = &LAB_TRANSFORMS[i];
        if (!b->wanted[i] || b->all) continue;
        if (t->program && !b->r->gpu)
            return err_set(e, ERR_NO_DEVICE, "%s runs on a GPU, and --device chose none", t->name);
        if (!t->program && b->r->sea)
            return err_set(e, ERR_USAGE,
                           "--algorithm %s: the sea is made on a GPU, and this "
                           "transform runs on the CPU",
                           t->name);
    }
    return true;
}

static bool lab_check_sizes(const lab_work *b, err *e) {
    for (uint32_t s = 0; s < b->sizes; s++) {
        uint32_t n = b->size[s];
        bool taken = false;
        for (int i = 0; i < LAB_TRANSFORM_COUNT; i++)
            taken |= b->wanted[i] && LAB_TRANSFORMS[i].takes(n);
        if (!taken)
            return err_set(e, ERR_USAGE, "--size %u: none of the transforms asked for can do it%s",
                           n,
                           lab_takes_smooth(n) ? ""
                                               : "; lengths are powers of two, or products "
                                                 "of 2, 3, 5 and 7");
        if (b->r->sea && (n % 2 || n < 64))
            return err_set(e, ERR_USAGE, "--size %u: a sea has an even side, from 64 on", n);
    }
    return true;
}

/* What cannot be written is refused before anything is timed. */
static bool lab_check_files(const lab_bench_request *r, err *e) {
    const char *dot = r->plot ? strrchr(r->plot, '.') : NULL;
    if (r->sea && !r->gpu)
        return err_set(e, ERR_NO_DEVICE, "bench ocean needs a GPU, or --device software");
    if (r->plot && (!dot || strcmp(dot, ".svg") != 0))
        return err_set(e, ERR_USAGE, "--plot %s: name a file that ends in .svg", r->plot);
    return (!r->plot || file_out_possible(r->plot, e)) &&
           (!r->picture || image_can_create(r->picture, e));
}

static void lab_add_row(lab_work *b, lab_row *row, uint32_t n) {
    row->size[0] = n;
    row->device = row->t->program ? b->r->gpu->name : "cpu";
    if (b->rows < MOST_ROWS) b->row[b->rows++] = *row;
    lab_table_row(&b->table, row);
}

/* --- transforms ------------------------------------------------------------------------------ */

static bool fft_run_size(lab_work *b, uint32_t n, err *e) {
    lab_truth truth = {0};
    bool ok = lab_truth_make(&truth, n, b->r->threads, e);
    for (int i = 0; ok && i < LAB_TRANSFORM_COUNT; i++) {
        const lab_transform *t = &LAB_TRANSFORMS[i];
        lab_row row;
        uint32_t length = t->length ? t->length(n) : n;
        if (!b->wanted[i] || !t->takes(n) || (t->program && !b->r->gpu)) continue;
        if (length != truth.n) {
            lab_truth_free(&truth);
            if (!(ok = lab_truth_make(&truth, length, b->r->threads, e))) break;
        }
        ok = lab_run(&row, &(lab_request){t, &truth, &b->gpu, b->r->rounds, b->r->warm_up}, e);
        if (ok) lab_add_row(b, &row, n);
    }
    lab_truth_free(&truth);
    return ok;
}

/* --- the sea --------------------------------------------------------------------------------- */

/* Makes of a transform's program one frame of the sea: the spectra of four images, and their four
 * inverse transforms side by side. where[i]: the buffer that has image i. The program does not own
 * the tables of the ocean. */
static bool ocean_program(lab_program *p, uint32_t where[OCEAN_IMAGES], const lab_transform *t,
                          const lab_ask *ask, const ocean *o, err *e) {
    uint32_t n = ask->n;
    uint64_t count = (uint64_t)n * n;
    *p = (lab_program){.n = n};
    if (!t->program(p, ask, e)) return false;
    p->steps[LAB_FORWARD] = 0;
    memmove(p->step[LAB_BACKWARD] + 1, p->step[LAB_BACKWARD],
            p->steps[LAB_BACKWARD]++ * sizeof(lab_step));
    uint32_t evolve = 2 * OCEAN_IMAGES, shader = lab_add_shader(p, LAB_OCEAN);
    for (uint32_t i = 1; i < p->steps[LAB_BACKWARD]; i++)
        p->step[LAB_BACKWARD][i].several = OCEAN_IMAGES;
    p->step[LAB_BACKWARD][0] = (lab_step){.shader = shader,
                                          .set = evolve,
                                          .by_frame = true,
                                          .groups = {ceil_div_u32(n, GROUP), n, 1}};
    lab_add_constant(p, ID_THREADS, GROUP);
    lab_add_constant(p, ID_LENGTH, n);
    where[0] = LAB_A;
    for (uint32_t i = 1; i < OCEAN_IMAGES; i++) {
        where[i] = lab_add_buffer(p, count * sizeof(lab_complex), NULL);
        uint32_t pair[] = {where[i], lab_add_buffer(p, count * sizeof(lab_complex), NULL)};
        for (uint32_t back = 0; back < 2; back++) {
            uint32_t *set = memcpy(p->set[2 * i + back], p->set[back], sizeof p->set[0]);
            set[LAB_FROM] = pair[back];
            set[LAB_TO] = pair[1 - back];
        }
    }
    uint32_t *frequency = mem_raw(n, sizeof *frequency, "frequencies", e);
    for (uint32_t i = 0; frequency && i < n; i++) frequency[i] = p->frequency ? p->frequency[i] : i;
    float *roots = lab_roots(OCEAN_LOOP, e); /* made positive: exp(+2 pi i m / OCEAN_LOOP) */
    for (uint32_t m = 1; roots && m < 2 * OCEAN_LOOP; m += 2) roots[m] = -roots[m];
    p->sets = evolve + 1;
    p->bindings = OCEAN_BINDINGS;
    p->set[evolve][OCEAN_WAVES] = lab_add_buffer(p, count * sizeof *o->wave, NULL);
    p->set[evolve][OCEAN_TURNS] = lab_add_buffer(p, count * sizeof *o->turns, NULL);
    p->set[evolve][OCEAN_ROOTS] = lab_add_buffer(p, OCEAN_LOOP * sizeof(lab_complex), roots);
    p->set[evolve][OCEAN_FREQUENCY] = lab_add_buffer(p, n * sizeof *frequency, frequency);
    for (uint32_t i = 0; i < OCEAN_IMAGES; i++) p->set[evolve][OCEAN_IMAGE + i] = where[i];
    return roots && frequency;
}

static bool ocean_round(void *of, uint32_t count, double *value, err *e) {
    double part;
    return lab_time(of, count, value, &part, e);
}

/* Times the sea by one transform; `want` are the images of frame CHECKED. */
static bool ocean_run(lab_work *b, const lab_transform *t, const ocean *o,
                      double *const want[OCEAN_IMAGES], err *e) {
    uint32_t n = o->n, where[OCEAN_IMAGES];
    lab_program p = {0};
    lab_ready ready = {0};
    lab_row row = {.t = t, .name = t->name};
    lab_complex *got = mem_raw((size_t)n * n, sizeof *got, "image", e);
    const lab_ask ask = {n, b->gpu.limits, b->gpu.subgroup};
    const lab_pace pace = {.rounds = b->r->rounds, .warm_up = b->r->warm_up, .series = 1};
    measure_spread *const frame = &row.all.seconds;
    bool ok = got && ocean_program(&p, where, t, &ask, o, e) &&
              lab_ready_make(&ready, &b->gpu, &p, e) &&
              lab_put(&ready, p.set[2 * OCEAN_IMAGES][OCEAN_WAVES], o->wave, e) &&
              lab_put(&ready, p.set[2 * OCEAN_IMAGES][OCEAN_TURNS], o->turns, e);
    ready.frame = CHECKED;
    ok = ok && lab_do(&ready, LAB_BACKWARD, e);
    for (int i = 0; ok && i < OCEAN_IMAGES; i++) {
        lab_part one;
        if (!(ok = lab_get(&ready, where[i], got, e))) break;
        lab_compare(&one, got, want[i], n, NULL);
        row.all.worst = fmax(row.all.worst, one.worst);
        row.all.rms = fmax(row.all.rms, one.rms);
    }
    ok = ok && lab_rounds(&frame, &row.rounds, &pace, ocean_round, &ready, e);
    if (ok) {
        /* The waves and their turns, the spectra, and the transforms. */
        row.all.bytes = (16 + 4 + 8 * OCEAN_IMAGES) * (double)n * n +
                        OCEAN_IMAGES * (double)p.account.bytes;
        row.per_second = 1 / fmax(frame->median, 1e-12);
        lab_add_row(b, &row, n);
    }
    lab_ready_free(&ready);
    lab_program_free(&p);
    mem_free(got);
    return ok || err_in(e, "%s of %u x %u", t->name, n, n);
}

static bool ocean_run_size(lab_work *b, uint32_t n, const char *picture, err *e) {
    ocean o = {0};
    double *want[OCEAN_IMAGES] = {NULL};
    bool ok = ocean_make(&o, n, e);
    for (int i = 0; ok && i < OCEAN_IMAGES; i++)
        ok = (want[i] = mem_raw((size_t)n * n, 2 * sizeof **want, "fields in double", e)) != NULL;
    ok = ok && ocean_fields(want, &o, CHECKED, b->r->threads, e);
    for (int i = 0; ok && i < LAB_TRANSFORM_COUNT; i++) {
        const lab_transform *t = &LAB_TRANSFORMS[i];
        if (b->wanted[i] && t->program && !t->length && t->takes(n))
            ok = ocean_run(b, t, &o, want, e);
    }
    if (ok && picture) ok = ocean_view(picture, want, n, b->r->threads, e);
    for (int i = 0; i < OCEAN_IMAGES; i++) mem_free(want[i]);
    ocean_free(&o);
    return ok;
}

/* --- all of it ------------------------------------------------------------------------------- */

bool lab_bench(text *out, const lab_bench_request *r, err *e) {
    const char *sizes = r->sizes ? r->sizes : r->sea ? "512,1024" : "128..1024";
    json_out json;
    lab_work b = {.r = r,
                  .gpu = {.threads = r->threads},
                  .table = {.column = r->sea ? LAB_OCEAN_COLUMN : LAB_FFT_COLUMN,
                            .to = out,
                            .json = r->json ? &json : NULL}};
    bool ok = lab_read_sizes(&b, sizes, e) && lab_read_names(&b, r->algorithms, e) &&
              lab_check_transforms(&b, e) && lab_check_sizes(&b, e) && lab_check_files(r, e) &&
              (b.row = mem_raw(MOST_ROWS, sizeof *b.row, "rows", e)) &&
              (!r->gpu || lab_gpu_open(&b.gpu, r->gpu, e));
    lab_table_begin(&b.table,
                    r->sea ? "a sea of n x n points, 8 fields in 4 complex transforms a frame"
                           : "n x n complex numbers, float, on a GPU or one thread of the CPU");
    for (uint32_t i = 0; ok && i < b.sizes; i++)
        ok = r->sea ? ocean_run_size(&b, b.size[i], i ? NULL : r->picture, e)
                    : fft_run_size(&b, b.size[i], e);
    if (ok && r->plot) {
        text svg = {0};
        ok = lab_plot(&svg, b.row, b.rows, r->gpu ? r->gpu->name : "no GPU", e) &&
             file_write_all(r->plot, svg.s, svg.n, e);
        text_free(&svg);
    }
    lab_table_end(&b.table);
    if (r->gpu) lab_gpu_close(&b.gpu);
    mem_free(b.row);
    return ok;
}
