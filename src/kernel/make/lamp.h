/* lamp.h - the lights that a kernel can be made for, each by its spectrum, and the colour that a
 * wavelength has for the eye. A channel of a kernel always sums to 1; the spectrum decides how a
 * pattern that depends on the wavelength is blended within each channel. */
#pragma once

#define LAMP_VIOLET 390.0 /* nanometres: the ends of what is summed */
#define LAMP_RED    710.0

typedef struct lamp {
    const char *name;
    const char *help;
    double (*power)(double wavelength); /* per nanometre, in any unit; NULL: a line */
    double line;                        /* its wavelength; 0: the caller gives one */
} lamp;

extern const lamp LAMPS[];
extern const int LAMP_COUNT;

/* Fills in the CIE 1931 observer's response to a wavelength in nanometres, as sums of Gaussians
 * (Wyman, Sloan and Shirley, 2013). `exponential` is exp, or steady_exp. */
void lamp_xyz(double wavelength, double (*exponential)(double), double xyz[3]);
