/* kernel_keys.h - kernels that change from frame to frame, and recipes with other parameters.
 *
 *     1001:portrait,1020:sunstar               a cross-fade: between two keys a mix of both
 *     sunstar(fnumber=1001:2.8,1050:16)        a recipe whose parameter is keyed (keyed.h)
 *     sunstar(fnumber=11;blades=7)             a recipe with other parameters
 *
 * In a config file the first is {"1001": "portrait", "1020": "sunstar"}; --keys has columns for
 * both. Kernels that are made for a frame are kept on the shelf (library.h). */
#ifndef APP_KERNEL_KEYS_H
#define APP_KERNEL_KEYS_H

#include "app/cli/keyed.h"
#include "app/cli/settings.h"

enum { KERNEL_KEYED_PARAMETERS = 8 };

typedef struct {
    char *name;
    keyed value;
} kernel_keyed_parameter;

typedef struct {
    keyed fade; /* the kernels; one, of frame 0, where there is no cross-fade */
    kernel_keyed_parameter parameter[KERNEL_KEYED_PARAMETERS];
    int parameters;
} kernel_keys;

/* Returns whether a kernel is written in one of these ways. A file of that name is a file. */
bool kernel_keys_is(const char *kernel);
/* Reads it. Fails with ERR_CONFIG and what is wrong. */
bool kernel_keys_parse(kernel_keys *k, const char *kernel, err *e);
void kernel_keys_free(kernel_keys *k);
/* Returns whether it has values for several frames. */
bool kernel_keys_vary(const kernel_keys *k);
/* Refuses a kernel that names nothing, and parameters that a recipe has not. Makes nothing. */
bool kernel_keys_check(const kernel_keys *k, const settings *s, err *e);

/* Writes the path of the kernel of a frame, and makes the kernel unless it is there. `*scale` is
 * how large it is to be; what is still to be done by stretching stays in it: 1 where all kernels
 * are recipes, which are made at that size. */
bool kernel_keys_at(char *to, size_t room, const kernel_keys *k, int frame, double *scale,
                    const settings *s, err *e);

#endif
