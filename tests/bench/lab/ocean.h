/* ocean.h - a sea after Tessendorf ("Simulating Ocean Water", 2001): its waves, and its fields at
 * one moment in double.
 *
 * The sea is a square of OCEAN_PATCH metres that repeats itself on all sides. Its waves have
 * Phillips' spectrum and are the same in every run; a finer grid has the waves of a coarser one,
 * and shorter ones. Their speeds are multiples of one, so that the sea also repeats itself after
 * OCEAN_LOOP frames. shaders/ocean.comp says which fields there are. */
#ifndef LAB_OCEAN_H
#define LAB_OCEAN_H

#include "base/par.h"
#include "lab/lab.h"

enum { OCEAN_IMAGES = 4 };

/* Made by ocean_make from a zeroed one; ocean_free frees it, after a failure, too. */
typedef struct ocean {
    uint32_t n;
    /* At [y][x] for the wave of frequencies x and y: h0(k) and conj(h0(-k)), times n^2, which the
     * inverse transforms divide by; and how many 1 / OCEAN_LOOP of a turn it makes in a frame. */
    float (*wave)[4];
    uint32_t *turns;
    /* The images of one frame, n * n pairs of real and imaginary parts. */
    uint32_t frame;
    double *image[OCEAN_IMAGES];
} ocean;

bool ocean_make(ocean *o, uint32_t n, uint32_t frame, err *e);
void ocean_free(ocean *o);

/* Turns the program of a transform into one that makes a frame of the sea: the spectra of four
 * images, and their four inverse transforms side by side. where[i]: the buffer that has image i.
 * The last set names the tables of the sea, which are still to be filled. */
bool ocean_program(lab_program *p, uint32_t where[OCEAN_IMAGES], err *e);

/* Renders its frame as an image in linear light, and writes it in the format of the file's
 * extension: a camera above the water looks towards a low sun. */
bool ocean_view(const char *path, const ocean *o, par *threads, err *e);

#endif
