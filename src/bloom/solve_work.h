/* solve_work.h - the work in hand of bloom/solve.h: what its series, its certificate and its report
 * share. */
#pragma once

#include "base/mem.h"
#include "bloom/solve.h"

/* What is found in a block of pixels, or in a channel. */
typedef struct {
    double worst, noise; /* the largest error and rounding, in parts of what is allowed */
    size_t at;           /* the pixel of `worst` */
    double bound, value; /* of that pixel: its error with the rounding of the stored type; itself */
    double largest;      /* of the numbers that a step in doubles adds up */
    uint64_t negative;   /* pixels below zero by more than their bound */
    double lowest;       /* the least of them */
    double enough;       /* the amount, as a part of ours, with which none is below zero */
    join_stats made;
} found;

/* A pixel whose bloom is summed directly. */
typedef struct {
    uint32_t channel;
    size_t at;
    double want, got; /* the plate, and what the bloom of x should equal it with */
    double part;      /* of the residual in what was reckoned with */
} summed;

typedef struct solving solving;
/* Does something with some pixels of a channel, and says what they are. */
typedef found solve_pass(solving *s, uint32_t c, size_t first, size_t n);

/* Of each channel: x is x(n). Floats: next is x(n + 1). Doubles: x is what `fine` rounds to, and
 * the residual is next + rest. */
struct solving {
    const view *v;
    attempt_sources plate; /* floats */
    float *x[VIEW_CHANNELS], *next[VIEW_CHANNELS], *rest[VIEW_CHANNELS];
    double *fine[VIEW_CHANNELS];                      /* NULL: the steps are floats */
    double *made[VIEW_CHANNELS];                      /* what a step in doubles has made */
    float *v_of[VIEW_CHANNELS], *u_of[VIEW_CHANNELS]; /* v and u, in next and rest, or in made */
    bool first; /* that step has bloomed x itself, and not the residual */
    session_lease lease;
    const kernel_at *wide; /* the size whose frames give doubles; NULL: not taken */
    plan_precision precision;
    bool finer;                       /* doubles may follow */
    bloom_account spent;              /* times */
    uint32_t steps, blooms, attempts; /* steps: of all attempts */
    bool again;                       /* the device has failed, and another one is to be tried */
    double spilled[VIEW_CHANNELS];    /* before anything is cut off */
    bool cut;                         /* pixels below zero become zero */
    bool exact[VIEW_CHANNELS];        /* a step rounds nothing */
    double floor[VIEW_CHANNELS];      /* rounding of a step in floats, or of all those in doubles */
    double more[VIEW_CHANNELS];       /* rounding of u, and the terms that u leaves out */
    solve_pass *pass;                 /* the last one, */
    found *block;                     /* of each block of each channel, */
    size_t blocks;
    found last[VIEW_CHANNELS]; /* of each channel, */
    double worst, noise;       /* and the largest of these */
    summed *summed;
};

static inline double plate_at(const solving *s, uint32_t c, size_t i) {
    const float *lost = s->v->lost[c];
    return (double)((const float *)s->plate.in[c])[i] + (lost ? (double)lost[i] : 0);
}
static inline double image_at(const solving *s, uint32_t c, size_t i) {
    return s->fine[c] ? s->fine[c][i] : (double)s->x[c][i];
}
static inline double mask_at(const solving *s, size_t i) {
    return s->v->spread.mask ? (double)s->v->spread.mask[i] : 1;
}
static inline double allowed_of(const solving *s, uint32_t c, double x) {
    return s->v->s->tolerance * fmax(fabs(x), s->v->dark[c]);
}
static inline double part_of(double error, double allowed) {
    return error > 0 ? error / allowed : 0;
}

/* --- the kernel: solve_kernel.c --------------------------------------------------------------- */

/* Return C, and r = t / C, of a channel; and these of the channel with the largest r. */
double solve_core_of(const kernel_at *k, uint32_t channel);
double solve_ratio_of(const kernel_at *k, uint32_t channel);
typedef struct {
    double core, tail, ratio;
    uint32_t channel;
} solve_split;
solve_split solve_split_of(const kernel_at *size);

/* Refuses a kernel whose series does not converge, with the core and the amount that would do. */
bool solve_converges(const view *v, err *e);

/* --- what is told: solve_told.c --------------------------------------------------------------- */

/* Compares pixels with direct sums: the worst one of each channel, and as many as --verify asks
 * for. A spectrum that is damaged shows here. */
bool solve_sum_pixels(group_made *to, solving *s, err *e);
/* Fills in what is told of the result, and the outcome. */
void solve_tell(group_made *to, outcome *o, const solving *s);
