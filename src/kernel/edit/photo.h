/* photo.h - what photographs of a lamp have in common: a centre that must be found, a core that
 * may be cut off, and exposures that are multiples of each other. */
#ifndef KERNEL_PHOTO_H
#define KERNEL_PHOTO_H

#include "kernel/edit/ring.h"

/* Finds the centre of the lamp: the middle of the light above half of the brightest tap, in one
 * piece around it, as a whole tap. */
bool photo_find_centre(uint32_t at[2], const edit_kernel *k, err *e);
/* Cuts the picture to the largest one that has tap `at` as its centre, and says what that cost
 * unless `told` is NULL. */
bool photo_recentre(edit_kernel *k, const uint32_t at[2], edit_account *told, err *e);

/* The flank of a core: light ~ exp(level) * (1 + (r / width)^2)^-slope. */
typedef struct {
    double level, width, slope;
} photo_flank;

double photo_flank_at(const photo_flank *f, double distance);

/* The taps around the middle that are as bright as the brightest of them. */
typedef struct {
    uint8_t *in; /* for each tap */
    uint32_t count;
    double radius, high;
    photo_flank flank;
    uint32_t *stack; /* for photo_find_core alone */
} photo_core;

/* Fills *c, to be freed with photo_core_free. */
bool photo_core_make(photo_core *c, const ring_map *m, err *e);
void photo_core_free(photo_core *c);

/* Finds the core of a channel. Returns true where it is cut off: its flank leads to a middle that
 * is brighter by more than a seventh. `coarse`: the values are those of 8 bits, which wobble. */
bool photo_find_core(photo_core *c, const double *tap, const ring_map *m, bool coarse);

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
