/* lab.h - the transforms of textbooks and of this program, side by side on one device.
 *
 * The lab compares the speed of this program with algorithms that readers know. Each row of
 * LAB_TRANSFORMS is one of them: it transforms n x n complex numbers forward and back, on one
 * thread of the CPU or on a GPU, and gives an account of what it moves. lab_bench.h times the rows
 * and compares them with a transform in double; docs/inside/fft.md explains them.
 *
 * A row is a function of one line for the CPU, or one that writes a program for a GPU: buffers,
 * shaders and dispatches, which are data. To add one: the function and a row in lab.c, and a shader
 * in shaders. The article's bloom and the sea are such programs, too.
 *
 * The lab is no part of the product: fftlab.c makes a program of it that links the library, and
 * nothing outside of this folder knows it. */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include "engine/gpu/gpu_pass.h"
#include "lab/shaders/ids.h"
#include "math/plan.h"

#include <stdint.h>

typedef struct {
    float re, im;
} lab_complex;

/* Forward is exp(-2 pi i j k / n) on both axes; the inverse divides by n^2. */
enum { LAB_FORWARD, LAB_BACKWARD, LAB_WAYS };

typedef struct lab_transform lab_transform;

/* --- on a GPU -------------------------------------------------------------------------------- */

enum { LAB_CONSTANTS = 48, LAB_SHADERS = 8, LAB_STEPS = 32, LAB_BUFFERS = 14, LAB_SETS = 10 };

/* A shader with its specialization constants: one pipeline. */
typedef struct {
    gpu_shader code;
    uint32_t id[LAB_CONSTANTS], value[LAB_CONSTANTS], constants;
} lab_shader;

typedef struct {
    uint64_t bytes;
    void *value; /* what it begins with, which the program frees; NULL: anything */
} lab_buffer;

/* Some dispatches side by side, and a barrier: one with `set`, or several with every second set
 * from there on. */
typedef struct {
    uint32_t shader, set, several; /* several: 0 is 1 */
    uint32_t push;                 /* the 32-bit push constant, if the shader has one */
    bool by_frame;                 /* the push constant is instead the number of the frame */
    bool stamp;                    /* its end is timed: so is that of each list of steps */
    uint32_t groups[3];
} lab_step;

/* Work of one size on one device; lab_program_free frees what the buffers begin with. A transform
 * begins with its input in LAB_A and leaves its result there; LAB_B holds anything before and
 * after. Its set 0 reads A and writes B, set 1 goes back. */
enum { LAB_A, LAB_B, LAB_ROOTS };

typedef struct {
    uint32_t n;
    lab_shader shader[LAB_SHADERS];
    lab_buffer buffer[LAB_BUFFERS];
    uint32_t set[LAB_SETS][BINDINGS]; /* the buffer at each binding */
    lab_step step[LAB_WAYS][LAB_STEPS];
    uint32_t shaders, buffers, sets, bindings, steps[LAB_WAYS];
    const struct lab_texture *texture; /* which all shaders see as set 1; NULL: none */
    /* frequency[i]: the frequency that the forward transform leaves at place i of each axis, and
     * that the inverse takes from there. NULL: natural order. */
    uint32_t *frequency;
    /* What one 2-D transform does, by its own account: bytes of the image's numbers, read from and
     * written to global memory; barriers of a workgroup in all its dispatches; bytes of its shared
     * memory, at most. */
    uint64_t bytes;
    uint32_t barriers, shared;
} lab_program;

/* What a program is made for. */
typedef struct {
    uint32_t n;
    plan_limits limits;
    uint32_t subgroup; /* threads of a subgroup that can shuffle floats; 0: they cannot */
} lab_ask;

/* Add a shader without constants, a constant of the shader that was added last, a buffer, and a
 * step. They return the number of what they added. */
uint32_t lab_add_shader(lab_program *p, gpu_shader code);
void lab_add_constant(lab_program *p, uint32_t id, uint32_t value);
uint32_t lab_add_buffer(lab_program *p, uint64_t bytes, void *value);
uint32_t lab_add_step(lab_program *p, int way, const lab_step *s);
/* Adds buffers A, B and the table, which it takes over, and the two sets of a transform. Returns
 * false if there is no table. */
bool lab_add_images(lab_program *p, void *table, size_t bytes);
/* Returns the roots of unity that lab.glsl reads, exp(-2 pi i m / n); lab_put_root writes one. */
float *lab_roots(uint32_t n, err *e);
void lab_put_root(float *to, uint64_t m, uint64_t n);
void lab_program_free(lab_program *p);

/* The SPIR-V that the build makes of shaders: without shuffles in a subgroup and with them, and
 * of the article's bloom by pass. */
extern const gpu_shader LAB_OURS, LAB_OCEAN, LAB_NABLA[2], LAB_ARTICLE[2][3];

/* Returns floor(log2(x)), x > 0. */
static inline uint32_t lab_log2(uint32_t x) {
    uint32_t n = 0;
    while (x >>= 1) n++;
    return n;
}

/* --- the table ------------------------------------------------------------------------------- */

/* Writes the program of a transform into a zeroed one with its n. */
typedef bool lab_program_form(lab_program *to, const lab_ask *ask, const lab_transform *t, err *e);

/* Room for transforms of a textbook on one thread of the CPU: n numbers each. */
typedef struct {
    uint32_t n;
    int way;
    lab_complex *root, *line, *spare;
} textbook;

/* Transforms t->line, which it may destroy, into t->spare. */
typedef void textbook_form(const textbook *t);
textbook_form textbook_dft, textbook_recursive, textbook_dit, textbook_dif;
/* Transforms n x n numbers in place. */
void textbook_run(textbook *t, textbook_form *form, lab_complex *image, int way);

struct lab_transform {
    const char *name;
    const char *about;  /* one sentence without a full stop */
    textbook_form *cpu; /* or NULL, and */
    lab_program_form *program;
    bool smooth;    /* takes products of 2, 3, 5 and 7; else powers of two alone */
    uint32_t most;  /* the longest length; 0: LAB_MOST */
    bool own;       /* it is this program's: the plot shows it bold */
    bool in_shared; /* between the first stage and the last one, a line is in shared memory */
    /* Of a textbook: */
    gpu_shader code;
    uint32_t radix;
    uint32_t wide; /* butterflies of a thread, where there are enough */
    bool in_place; /* after its first stage it works in its output */
};

extern const lab_transform LAB_TRANSFORMS[];
extern const int LAB_TRANSFORM_COUNT;

enum { LAB_LEAST = 16, LAB_MOST = 4096 };

bool lab_takes(const lab_transform *t, uint32_t n);

/* One dispatch for each stage; one for each axis; the article's; this program's. */
lab_program_form lab_by_stage, lab_by_axis, lab_nabla, lab_ours;

#endif
