/* ours.c - the transform of this program as a row of the lab: the production shader code
 * (shaders/fft.glsl) and the planner's radices, on complex images in natural order. */
#include "base/mem.h"
#include "base/number.h"
#include "lab/lab.h"
#include "math/lengths.h"

enum { COMPLEX = sizeof(lab_complex) };

/* Columns: neighbouring lines of a workgroup make runs of 64 bytes in memory, or of a half or a
 * quarter of that where shared memory has no room for eight. (With five columns, which would fit at
 * 1024, runs share sectors with their neighbours; on an H200 that takes a quarter more time.) Rows:
 * enough lines to fill two subgroups. */
enum { COLUMNS = 8, LEAST_THREADS = 64 };

/* Whole numbers in shared memory mean a third of the barriers for twice the memory, which pays for
 * lines up to these bytes, as in math/plan.c. */
enum { WHOLE_UPTO = 9216 };

/* Returns the bytes of one component of a line in shared memory: see STRIDE_0 in fft.glsl. */
static uint32_t ours_shared_of(const plan_fft *f) {
    uint32_t stride = 1;
    for (uint32_t s = f->stages; s-- > 1;) stride = f->radix[s] * stride | 1;
    return f->radix[0] * stride * (uint32_t)sizeof(float);
}

/* Returns the tables of twiddle factors of fft.glsl, `entries` of them, and their copy. */
static float *twiddles_of(const plan_fft *f, uint32_t entries, err *e) {
    float *to = mem_raw(2 * (size_t)entries, 4 * sizeof *to, "twiddles", e), *at = to;
    for (int copy = 0; to && copy < 2; copy++)
        for (uint32_t s = 0, block = f->length; s + 1 < f->stages; block /= f->radix[s++])
            for (uint32_t n = 0; n < block / f->radix[s]; n++, at += 4)
                lab_put_root(at, n, block), lab_put_root(at + 2, 4ull * n, block);
    return to;
}

bool lab_ours(lab_program *to, const lab_ask *ask, const lab_transform *t, err *e) {
    (void)t;
    plan_fft f;
    const plan_limits *l = &ask->limits;
    if (!length_radices(&f, ask->n, l->invocations, LENGTH_COMPLEX))
        return err_set(e, ERR_NO_DEVICE, "no radices for %u with %u threads", ask->n,
                       l->invocations);
    uint32_t entries = plan_twiddle_entries(&f), line = ours_shared_of(&f);
    bool whole = 2 * line <= WHOLE_UPTO;
    if (whole) line *= 2;
    for (int way = 0; way < LAB_WAYS; way++)
        for (uint32_t columns = 0; columns < 2; columns++) {
            /* A power of two, so that runs of columns are whole sectors. */
            uint32_t lines = 1, wanted = columns ? COLUMNS : ceil_div_u32(LEAST_THREADS, f.threads);
            uint32_t most = min_u32(l->invocations / f.threads, l->shared_bytes / line);
            while (2 * lines <= min_u32(wanted, most)) lines *= 2;
            uint32_t threads = lines * f.threads;
            uint32_t shader = lab_add_shader(to, LAB_OURS);
            lab_add_constant(to, ID_THREADS, threads);
            lab_add_constant(to, ID_LENGTH, f.length);
            lab_add_constant(to, ID_STAGES, f.stages);
            for (uint32_t s = 0; s < PLAN_STAGES; s++) {
                bool used = s < f.stages;
                lab_add_constant(to, ID_RADIX + s, used ? f.radix[s] : 1);
                lab_add_constant(to, ID_EACH + s,
                                 used ? length_butterflies(&f, s, lines, threads) : 0);
            }
            lab_add_constant(to, ID_LINES, lines);
            lab_add_constant(to, ID_RUN, columns || lines == 1 ? 1 : f.length / f.radix[0]);
            lab_add_constant(to, ID_BY_FREQUENCY, true);
            lab_add_constant(to, ID_TWIDDLES, 0);
            lab_add_constant(to, ID_COPY, entries);
            lab_add_constant(to, ID_PAIRED, false);
            lab_add_constant(to, ID_WHOLE, whole);
            lab_add_constant(to, LAB_COLUMNS, columns);
            lab_add_constant(to, LAB_INVERSE, way == LAB_BACKWARD);
            lab_add_step(to, way,
                         &(lab_step){.shader = shader,
                                     .set = columns,
                                     .groups = {ceil_div_u32(ask->n, lines), 1, 1}});
            to->shared = max_u32(to->shared, lines * line);
        }
    to->bytes = 2ull * 2 * COMPLEX * ask->n * ask->n;
    to->barriers = 2 * (whole ? 1 : 3) * (f.stages - 1);
    return lab_add_images(to, twiddles_of(&f, entries, e), 2 * 4 * sizeof(float) * entries);
}
