/* test_fold.c - gpu_fold and gpu_drop on SPIR-V: branches written by hand, and every embedded
 * shader with several sets of constants. And the tables of gpu_pass. */
#include "engine/gpu/gpu_fold.h"

#include "engine/gpu/gpu_pass.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <unistd.h>

enum { MAGIC = 0x07230203, HEADER = 5, SPEC_CONSTANT = 50, LABEL = 248, PHI = 245 };

#define OP(op, words) ((uint32_t)(words) << 16 | (op))

/* %3 = a constant with SpecId 7 and default 4; %4 = (%3 == 4); if (%4) goto 10 else goto 11. */
static const uint32_t BY_HAND[] = {
    MAGIC,      0x10300, 0,          20,  0,          OP(71, 4), 3,          1,  7, /* OpDecorate %3
                                                                                       SpecId 7 */
    OP(43, 4),  1,       5,          4,                  /* %5 = OpConstant 4 */
    OP(50, 4),  1,       3,          4,                  /* %3 = OpSpecConstant 4 */
    OP(52, 6),  2,       4,          170, 3,          5, /* %4 = OpSpecConstantOp IEqual %3 %5 */
    OP(248, 2), 9,                                       /* %9 = OpLabel */
    OP(247, 3), 12,      0,                              /* OpSelectionMerge %12 */
    OP(250, 4), 4,       10,         11,                 /* OpBranchConditional %4 %10 %11 */
    OP(248, 2), 10,      OP(249, 2), 12,  OP(248, 2), 11,        OP(249, 2), 12, OP(248, 2), 12,
    OP(253, 1),
};
enum { WORDS = COUNT(BY_HAND), BRANCH = HEADER + 18 + 5 };

TEST(a_branch_by_hand) {
    for (uint32_t value = 3; value < 5; value++) {
        uint32_t w[WORDS], id = 7;
        memcpy(w, BY_HAND, sizeof w);
        assert_int_equal(gpu_fold(w, WORDS, &id, &value, 1), 1);
        /* The merge and the branch are now nops and one branch, at the end of the block. */
        for (int i = BRANCH - 3; i < BRANCH + 2; i++) assert_int_equal(w[i], OP(0, 1));
        assert_int_equal(w[BRANCH + 2], OP(249, 2));
        assert_int_equal(w[BRANCH + 3], value == 4 ? 10 : 11);
        w[BRANCH + 2] = BY_HAND[BRANCH + 2], w[BRANCH + 3] = BY_HAND[BRANCH + 3];
        memcpy(w + BRANCH - 3, BY_HAND + BRANCH - 3, 5 * sizeof *w);
        assert_memory_equal(w, BY_HAND, sizeof w);
    }
}

/* Without a value the default counts, as it does for a driver. */
TEST(defaults_count) {
    uint32_t w[WORDS];
    memcpy(w, BY_HAND, sizeof w);
    assert_int_equal(gpu_fold(w, WORDS, NULL, NULL, 0), 1);
    assert_int_equal(w[BRANCH + 3], 10);
}

/* A merge whose block says where it was entered from (OpPhi) must keep its ways in, and a loop's
 * branch, which has no selection merge before it, is no selection. */
TEST(what_is_left_alone) {
    uint32_t w[WORDS + 7], value = 4, id = 7;
    memcpy(w, BY_HAND, sizeof BY_HAND);
    memmove(w + WORDS - 1 + 7, w + WORDS - 1, sizeof *w);
    const uint32_t phi[] = {OP(PHI, 7), 1, 13, 3, 10, 5, 11};
    memcpy(w + WORDS - 1, phi, sizeof phi);
    assert_int_equal(gpu_fold(w, WORDS + 7, &id, &value, 1), 0);
    memcpy(w, BY_HAND, sizeof BY_HAND);
    w[BRANCH - 3] = OP(0, 1), w[BRANCH - 2] = OP(0, 1), w[BRANCH - 1] = OP(0, 1);
    assert_int_equal(gpu_fold(w, WORDS, &id, &value, 1), 0);
}

/* main %4 calls %6, which calls %8 in block %10, which is not reached; %6, %8 and %10 have names,
 * and something is said of a block of %8, too. Line 6 in %10 is no %6. */
TEST(functions_that_nobody_calls) {
    const uint32_t w[] = {
        MAGIC,      0x10300,  0,          20,         0,          OP(15, 4),  5,          4,
        0, /* OpEntryPoint %4 */
        OP(5, 3),   6,        'a',        OP(5, 3),   8,          'b',        OP(71, 3),  9,
        42,         OP(5, 3), 10,         'c', /* names */
        OP(54, 5),  1,        4,          0,          2,          OP(248, 2), 5,          OP(57, 4),
        1,          11,       6,          OP(253, 1), OP(56, 1),  OP(54, 5),  1,          6,
        0,          2,        OP(248, 2), 7,          OP(249, 2), 12,         OP(248, 2), 10,
        OP(8, 4),   3,        6,          1,          OP(57, 4),  1,          13,         8,
        OP(249, 2), 12,       OP(248, 2), 12,         OP(0, 1),   OP(253, 1), OP(56, 1),  OP(54, 5),
        1,          8,        0,          2,          OP(248, 2), 9,          OP(253, 1), OP(56, 1),
    };
    enum { ALL = COUNT(w), LAST = 5 + 2 + 1 + 1, BLOCK = 12, NAMES = 9, NOP = 1 };
    enum { LEFT = ALL - LAST - BLOCK - NAMES - NOP };
    uint32_t a[ALL];
    memcpy(a, w, sizeof w);
    assert_int_equal(gpu_drop(a, ALL), LEFT);
    assert_memory_equal(a, w, 12 * sizeof *w);           /* up to the name of %6 */
    assert_memory_equal(a + 12, w + 21, 22 * sizeof *w); /* from `main` to block %10 */
    assert_int_equal(a[LEFT - 4], OP(248, 2));           /* block %12 without its nop */
    assert_int_equal(a[LEFT - 2], OP(253, 1));
    assert_int_equal(a[LEFT - 1], OP(56, 1));
    /* Reached: all of it stays but the nop. */
    memcpy(a, w, sizeof w);
    a[42] = 10; /* the branch to %12 goes to %10 instead */
    assert_int_equal(gpu_drop(a, ALL), ALL - NOP);
    /* Words that are not a module stay as they are. */
    memcpy(a, w, sizeof w);
    a[9] = OP(5, 300);
    assert_int_equal(gpu_drop(a, ALL), ALL);
}

typedef struct {
    uint32_t id[40], value[40], count;
} values;

/* Constants of the shaders as plans have them: radices, borders, axes. */
static values values_of(uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3, uint32_t border,
                        uint32_t flags) {
    uint32_t stages = r3 > 1 ? 4 : r2 > 1 ? 3 : r1 > 1 ? 2 : 1, length = r0 * r1 * r2 * r3;
    const uint32_t all[][2] = {{0, 32},
                               {1, length},
                               {2, stages},
                               {3, r0},
                               {4, r1},
                               {5, r2},
                               {6, r3},
                               {7, 1},
                               {8, stages > 1},
                               {9, stages > 2},
                               {10, stages > 3},
                               {11, 1},
                               {12, flags & 1},
                               {14, flags >> 1 & 1},
                               {20, length / 2},
                               {21, length},
                               {22, length - 1},
                               {23, border},
                               {30, flags & 1},
                               {31, 7},
                               {40, length / 2},
                               {50, length / 2},
                               {51, 1 + (flags >> 2 & 1)},
                               {52, flags & 1},
                               {60, flags & 1},
                               {61, flags >> 1 & 1}};
    values v = {.count = COUNT(all)};
    for (uint32_t i = 0; i < v.count; i++) v.id[i] = all[i][0], v.value[i] = all[i][1];
    return v;
}

/* Instructions that a driver still finds in the module, in their order but for nops and what a
 * fold may change. */
static void check_structure(const uint32_t *before, const uint32_t *after, size_t count) {
    size_t i = HEADER;
    assert_memory_equal(before, after, HEADER * sizeof *after);
    while (i < count) {
        uint32_t op = after[i] & 0xffff, length = after[i] >> 16;
        assert_true(length > 0 && i + length <= count);
        bool changed = op == 0 || op == 249;
        if (!changed) assert_memory_equal(before + i, after + i, length * sizeof *after);
        i += length;
    }
    assert_true(i == count);
}

/* 0 when spirv-val finds nothing, 1 when it does, -1 when it is not installed. */
static int spirv_val(const uint32_t *w, size_t bytes, const char *name) {
    char command[700];
    const char *path = make_path(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(w, 1, bytes, f), bytes);
    fclose(f);
    snprintf(command, sizeof command,
             "command -v spirv-val >/dev/null || exit 77; spirv-val --target-env vulkan1.1 '%s'",
             path);
    int status = system(command);
    unlink(path);
    return status == 0 ? 0 : status >> 8 == 77 ? -1 : 1;
}

TEST(shaders_stay_valid) {
    const values set[] = {
        values_of(8, 6, 6, 1, 0, 0), values_of(16, 16, 8, 8, 1, 3), values_of(7, 1, 1, 1, 2, 5),
        values_of(9, 5, 1, 1, 3, 2), values_of(12, 10, 4, 3, 0, 7),
    };
    uint32_t folded = 0;
    bool checked = true;
    for (int kind = 0; kind < PASS_KINDS; kind++)
        for (int i = 0; i < 10; i++) {
            gpu_shader code = gpu_shader_of((plan_pass_kind)kind, i % 2, i % 4 > 1);
            const values *v = &set[i / 2];
            OWN_MEM uint32_t *w = mem_raw(code.bytes, 1, "shader", NULL);
            memcpy(w, code.words, code.bytes);
            uint32_t n = gpu_fold(w, code.bytes / 4, v->id, v->value, v->count);
            folded += n;
            check_structure(code.words, w, code.bytes / 4);
            /* Nothing is left to fold. */
            assert_int_equal(gpu_fold(w, code.bytes / 4, v->id, v->value, v->count), 0);
            size_t left = gpu_drop(w, code.bytes / 4);
            CHECK_LE(left, code.bytes / 4);
            if (n > 10) CHECK_LE(left, code.bytes / 4 * 3 / 4); /* butterflies are gone */
            if (checked && (i + kind) % 5 == 0) {
                int bad = spirv_val(w, 4 * left, "folded.spv");
                checked = bad >= 0;
                if (bad > 0) fail_msg("pass %d, constants %d: not valid any more", kind, i / 2);
            }
        }
    CHECK_LE(100, folded);
    if (!checked) print_message("spirv-val is not installed: structure alone was checked\n");
}

static plan plan_for(uint32_t w, uint32_t h, plan_precision precision, uint32_t invocations) {
    plan p;
    plan_request ask = {.size = {w, h},
                        .border = {BORDER_WRAP, BORDER_WRAP},
                        .order = AXIS_X,
                        .precision = precision,
                        .channels = 1,
                        .spectra = 1,
                        .limits = {.invocations = invocations,
                                   .shared_bytes = 32 * invocations,
                                   .groups = {65535, 65535, 65535},
                                   .buffer_range = 1 << 27,
                                   .float64 = true}};
    CHECK_OK(plan_make(&p, &ask, &e));
    return p;
}

static const uint32_t SIZE[][3] = {{96, 60, 256}, {490, 16, 256}, {360, 256, 96}, {2, 2, 256}};

/* The spectrum in pass 2's order: every frequency of every line once, scaled. */
TEST(spectrum_order_is_a_permutation) {
    par *threads = make_threads();
    for (int i = 0; i < 4; i++) {
        plan p = plan_for(SIZE[i][0], SIZE[i][1], PRECISION_FLOAT64, SIZE[i][2]);
        size_t length = p.axis[1].length, n = p.halves * length;
        OWN_MEM double *from = mem_new(2 * n, sizeof *from, "from", &e),
                       *to = mem_new(2 * n, sizeof *to, "to", &e);
        OWN_MEM uint8_t *seen = mem_new(n, 1, "seen", &e);
        for (size_t k = 0; k < n; k++) from[2 * k] = (double)k + 1, from[2 * k + 1] = -1.0;
        spectrum_lines l = {
            .channels = 1, .halves = p.halves, .length = p.axis[1].length, .float64 = true};
        l.value = from;
        gpu_spectrum_part part = {&l, &p, 0, 1};
        CHECK_OK(gpu_spectrum_fill(to, &part, threads, &e));
        double scale = 2.0 * p.axis[0].length * p.axis[1].length;
        for (size_t k = 0; k < n; k++) {
            double v = to[2 * k] * scale - 1;
            CHECK_LE(fabs(v - nearbyint(v)), 1e-6);
            CHECK_LE(fabs(to[2 * k + 1] * scale + 1), 1e-12);
            size_t at = (size_t)nearbyint(v);
            assert_true(at < n && !seen[at]++);
            assert_int_equal(at / length, k / length); /* lines stay where they are */
        }
    }
}

/* Every table against long double, twice: the inverse has a copy. */
TEST(twiddles_are_exact) {
    for (int i = 0; i < 8; i++) {
        bool wide = i % 2;
        plan p = plan_for(SIZE[i / 2][0], SIZE[i / 2][1],
                          wide ? PRECISION_FLOAT64 : PRECISION_FLOAT32, SIZE[i / 2][2]);
        gpu_twiddles t = gpu_twiddles_layout(&p);
        OWN_MEM void *table = mem_new(1, t.bytes + 1, "twiddles", NULL);
        gpu_twiddles_fill(table, &p, &t);
        assert_memory_equal(table, (char *)table + t.bytes / 2, t.bytes / 2);
        for (int a = 0; a < 2; a++) {
            const plan_fft *f = &p.axis[a].fft;
            uint32_t entry = t.fft[a], block = f->length;
            for (uint32_t s = 0; s + 1 < f->stages; block /= f->radix[s++])
                for (uint32_t n = 0; n < block / f->radix[s]; n++, entry++)
                    for (uint32_t power = 0; power < 2; power++)
                        for (uint32_t part = 0; part < 2; part++) {
                            long double angle = -2 * 3.14159265358979323846264338L *
                                                (n * (power ? 4 : 1) % block) / block;
                            double want = (double)(part ? sinl(angle) : cosl(angle));
                            size_t at = 4 * (size_t)entry + 2 * power + part;
                            double is = wide ? ((double *)table)[at] : (double)((float *)table)[at];
                            CHECK_LE(fabs(is - want), wide ? 0x1p-53 : 0x1p-25);
                        }
        }
    }
}

RUN_TESTS(NULL, NULL)
