/* lab.h - the transforms of textbooks and of this program, side by side on one device.
 *
 * The lab compares the speed of this program with algorithms that readers know. Each row of
 * LAB_TRANSFORMS is one of them: it transforms n x n complex numbers forward and back, on one
 * thread of the CPU or on a GPU, and gives an account of what it moves. `fftbloom bench fft` times
 * the rows and compares them with a transform in double (lab_run.h); docs/fft.md explains them.
 *
 * A row is a form of CPU code (lab_cpu.h), or a function that writes a program for a GPU: a list of
 * shaders and dispatches, which is data. To add one: the function and a row in lab.c, a shader in
 * shaders/lab and its two lines in lab_shaders.c.
 *
 * The lab is no part of the product. Nothing outside of this folder and shaders/lab knows it but
 * the command `bench`, and without these folders the program builds all the same. */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include "engine/gpu/gpu_shaders.h"
#include "math/plan.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    float re, im;
} lab_complex;

/* Forward is exp(-2 pi i j k / n) on both axes; the inverse divides by n^2. */
enum { LAB_FORWARD, LAB_BACKWARD, LAB_WAYS };

/* What one 2-D transform does, by the transform's own account. Tables that stay in the caches are
 * not counted. */
typedef struct {
    uint64_t bytes;      /* of the image's numbers, read from and written to global memory */
    uint32_t dispatches; /* with a barrier of the whole device after each */
    uint32_t barriers;   /* of a workgroup, in all its dispatches */
    uint32_t shared;     /* bytes of a workgroup's shared memory, at most */
} lab_account;

/* --- on the CPU ------------------------------------------------------------------------------ */

/* One thread, float. `make` prepares for n x n; `run` transforms the image in place. */
typedef struct {
    void *(*make)(uint32_t n, err *e);
    void (*run)(void *made, lab_complex *image, int way);
    void (*free)(void *made); /* accepts NULL */
} lab_cpu_form;

/* --- on a GPU -------------------------------------------------------------------------------- */

enum { LAB_CONSTANTS = 48, LAB_SHADERS = 8, LAB_STEPS = 32 };

/* A shader with its specialization constants: one pipeline. */
typedef struct {
    gpu_shader code;
    uint32_t id[LAB_CONSTANTS], value[LAB_CONSTANTS], constants;
} lab_shader;

/* A dispatch. There are two images, A and B; a step reads A and writes B, or back. */
typedef struct {
    uint32_t shader; /* of lab_program.shader */
    bool back;
    uint32_t push; /* the 32-bit push constant, if the shader has one */
    uint32_t groups[3];
} lab_step;

/* The transform of one size on one device. It begins with its input in A and leaves its result
 * there; B holds anything before and after. lab_program_free frees the tables. */
typedef struct {
    uint32_t n;
    lab_shader shader[LAB_SHADERS];
    lab_step step[LAB_WAYS][LAB_STEPS];
    uint32_t shaders, steps[LAB_WAYS];
    /* At LAB_TABLE and LAB_MORE; NULL: none. */
    float *table, *more;
    size_t table_bytes, more_bytes;
    /* frequency[i]: the frequency that the forward transform leaves at place i of each axis, and
     * that the inverse takes from there. NULL: natural order. */
    uint32_t *frequency;
    uint32_t barriers, shared; /* for the account */
    uint64_t bytes;
} lab_program;

/* What a program is made for. */
typedef struct {
    uint32_t n;
    plan_limits limits;
    uint32_t subgroup; /* threads of a subgroup that can shuffle floats; 0: they cannot */
} lab_ask;

/* Add a shader without constants, a constant of the shader that was added last, and a step. */
uint32_t lab_add_shader(lab_program *p, gpu_shader code);
void lab_add_constant(lab_program *p, uint32_t id, uint32_t value);
void lab_add_step(lab_program *p, int way, const lab_step *s);
/* Makes p->table the roots of unity that lab.glsl reads: exp(-2 pi i m / n). */
bool lab_add_roots(lab_program *p, err *e);
void lab_program_free(lab_program *p);

/* --- the table ------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    const char *about; /* one sentence without a full stop */
    bool own;          /* it is this program's: the plot shows it bold */
    bool (*takes)(uint32_t n);
    uint32_t (*length)(uint32_t n); /* what it transforms where n is asked for; NULL: n */
    const lab_cpu_form *cpu;        /* or NULL, and */
    bool (*program)(lab_program *to, const lab_ask *ask, err *e); /* from a zeroed one */
} lab_transform;

extern const lab_transform LAB_TRANSFORMS[];
extern const int LAB_TRANSFORM_COUNT;

enum { LAB_LEAST = 16, LAB_MOST = 4096 };

/* Return whether n is a power of two, or any length of the production transform, within LAB_LEAST
 * and LAB_MOST. */
bool lab_takes_power(uint32_t n);
bool lab_takes_smooth(uint32_t n);

#endif
