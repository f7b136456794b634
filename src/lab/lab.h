/* lab.h - the transforms of textbooks and of this program, side by side on one device.
 *
 * The lab compares the speed of this program with algorithms that readers know. Each row of
 * LAB_TRANSFORMS is one of them: it transforms n x n complex numbers forward and back, on one
 * thread of the CPU or on a GPU, and gives an account of what it moves. lab_bench.h times the rows
 * and compares them with a transform in double; docs/fft.md explains them.
 *
 * A row is a form of CPU code, or a function that writes a program for a GPU: buffers, shaders and
 * dispatches, which are data. To add one: the function and a row in lab.c, a shader in shaders/lab
 * and its line in lab_shaders.c. The article's bloom and the sea are such programs, too.
 *
 * The lab is no part of the product. Nothing outside of this folder and shaders/lab knows it but
 * the command `bench`, and without these folders the program builds all the same. */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include "engine/gpu/gpu_shaders.h"
#include "math/plan.h"
#include "shaders/lab/ids.h"

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
    uint64_t bytes;    /* of the image's numbers, read from and written to global memory */
    uint32_t barriers; /* of a workgroup, in all its dispatches */
    uint32_t shared;   /* bytes of a workgroup's shared memory, at most */
} lab_account;

/* On the CPU: one thread, float. `make` prepares for n x n; `run` transforms the image in place. */
typedef struct {
    void *(*make)(uint32_t n, err *e);
    void (*run)(void *made, lab_complex *image, int way);
    void (*free)(void *made); /* accepts NULL */
} lab_cpu_form;

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
    lab_account account;
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

/* The SPIR-V that the build makes of shaders/lab: by whether subgroups shuffle, by pass. */
extern const gpu_shader LAB_CT2_STAGES, LAB_CT2_AXIS, LAB_STOCKHAM2, LAB_STOCKHAM2_SHARED,
    LAB_STOCKHAM4, LAB_STOCKHAM4_SHARED, LAB_OURS, LAB_OCEAN, LAB_NABLA[2], LAB_ARTICLE[2][3];

/* Returns floor(log2(x)), x > 0. */
static inline uint32_t lab_log2(uint32_t x) {
    uint32_t n = 0;
    while (x >>= 1) n++;
    return n;
}

/* --- the table ------------------------------------------------------------------------------- */

/* Writes the program of a transform into a zeroed one with its n. */
typedef bool lab_program_form(lab_program *to, const lab_ask *ask, err *e);

extern const lab_cpu_form LAB_DFT, LAB_CT2_RECURSIVE, LAB_CT2_DIT, LAB_CT2_DIF, LAB_LANES;
/* Of nabla with shuffles where the device has them, and without. */
lab_program_form lab_ct2_stages, lab_ct2_axis, lab_stockham2, lab_stockham2_wide, lab_stockham4,
    lab_stockham2_shared, lab_stockham4_shared, lab_stockham4_shared_wide, lab_nabla,
    lab_nabla_shared, lab_ours;

typedef struct {
    const char *name;
    const char *about; /* one sentence without a full stop */
    bool (*takes)(uint32_t n);
    const lab_cpu_form *cpu; /* or NULL, and */
    lab_program_form *program;
    bool own; /* it is this program's: the plot shows it bold */
} lab_transform;

extern const lab_transform LAB_TRANSFORMS[];
extern const int LAB_TRANSFORM_COUNT;

enum { LAB_LEAST = 16, LAB_MOST = 4096 };

/* Returns whether n is a length of the production transform within LAB_LEAST and LAB_MOST. */
bool lab_takes_smooth(uint32_t n);

#endif
