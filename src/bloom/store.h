/* store.h - a result on its way into the image: overflow of half floats, pixel types, and the
 * ledger's rows. It takes a result as it is, and does not judge it. */
#ifndef BLOOM_STORE_H
#define BLOOM_STORE_H

#include "bloom/attempt.h"
#include "bloom/group.h"

/* Puts the result into the image's planes, in the types that settings and `half_overflow` ask for
 * (all channels of a group have one type), and enters each channel into the ledger.
 * Refuses values beyond floats, and beyond halfs where that is an error; the image is as it was
 * then. Float planes change places with the view's buffers: nothing is copied. */
bool store_result(group_made *to, const view *v, const light *l, outcome *o, err *e);

/* Stores n floats into a plane of `t`, from sample `first` on. In half planes, values beyond 65504
 * become 65504, in `from` as well. */
void store_floats(void *plane, pixel_type t, size_t first, float *from, size_t n);

#endif
