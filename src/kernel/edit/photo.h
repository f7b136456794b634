/* photo.h - what photographs of a lamp have in common: a centre that must be found, and exposures
 * that are multiples of each other. */
#ifndef KERNEL_PHOTO_H
#define KERNEL_PHOTO_H

#include "kernel/edit/edit.h"
#include "kernel/ring.h"

/* Takes the centre that was asked for, or finds that of the lamp: the middle of the light above
 * half of the brightest tap, in one piece around it, as a whole tap. */
bool photo_centre(uint32_t at[2], const edit_request *r, const edit_input *in, err *e);
/* Cuts the picture to the largest one that has tap `at` as its centre, and says what that cost
 * unless `told` is NULL. */
bool photo_recentre(edit_kernel *k, const uint32_t at[2], edit_account *told, err *e);

/* Returns how many times the light of `shorter` is in `longer`, two channels of the same lamp. Taps
 * count that are well exposed in `longer`: below nine tenths of `white`. 0: there are none. */
double photo_ratio(const double *longer, const double *shorter, size_t n, double white,
                   double noise);

/* How two exposures go together if both have the same black level, one for each channel: what
 * stands for no light. */
typedef struct {
    double ratio, ratio_error; /* of longer to shorter; its relative standard error */
    double black[EDIT_CHANNELS], black_error;
} photo_match;

/* Fits a line to the taps of `longer` from `least` to nine tenths of `white`, `n` of each channel,
 * and to the same taps of `shorter`. Returns false where they do not decide it. */
bool photo_fit_match(photo_match *to, const double *longer, const double *shorter, size_t n,
                     uint32_t channels, double white, double least);

#endif
