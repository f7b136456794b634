/* prepare.h - from the size of an image to a plan and the planes for it. */
#ifndef BLOOM_PREPARE_H
#define BLOOM_PREPARE_H

#include "bloom/inside.h"

/* The cache's, or NULL where there is none. */
const char *prepare_folder(const bloom *b);

/* b->size: the kernel for such images, and all that its taps tell. */
bool prepare_size(bloom *b, const kernel_need *need, err *e);
void prepare_drop(bloom *b);

/* Set s of b->plane: `channels` planes of b->size with samples of so many bytes. */
bool prepare_planes(bloom *b, int set, size_t sample_bytes, err *e);

/* The device and the plan on it, without device work. */
bool prepare_choice(bloom *b, const plan_request *ask, plan *p, engine_device *d, double *patience,
                    err *e);
int prepare_forecast(bloom *b, const plan_request *ask, device_forecast *to, err *e);
plan_request prepare_request(const bloom *b, const psf *k, const kernel_need *need,
                             plan_precision precision);

#endif
