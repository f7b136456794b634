#include "kernel/edit/edit.h"

#include <string.h>

const edit EDITS[] = {
    {
        .name = "disperse",
        .least = 1,
        .most = 1,
        .parameter = {{"wavelength", 550, 200, 1100,
                       "of the light that the kernel was made in, nm"},
                      {"from", 390, 360, 830, "the shortest wavelength to add, nm"},
                      {"to", 710, 360, 830, "the longest"}},
        .apply = edit_disperse,
    },
    {
        .name = "mix",
        .least = 1,
        .most = EDIT_INPUTS,
        .amount = "a share of the light",
        .moves = true,
        .apply = edit_mix,
    },
    {
        .name = "convolve",
        .least = 2,
        .most = EDIT_INPUTS,
        .apply = edit_convolve,
    },
    {
        .name = "rotate",
        .least = 1,
        .most = 1,
        .last_word = true,
        .same_shape = true,
        .parameter = {{"angle", 0, -3600, 3600, "degrees, clockwise"}},
        .apply = edit_rotate,
    },
    {
        .name = "stretch",
        .least = 1,
        .most = 1,
        .last_word = true,
        .parameter = {{"x", 1, 0.01, 100, "factor of the width"},
                      {"y", 1, 0.01, 100, "factor of the height"}},
        .apply = edit_stretch,
    },
    {
        .name = "crop",
        .least = 1,
        .most = 1,
        .same_shape = true,
        .parameter =
            {{"keep", 0.999, 0.01, 1,
              "without --taps: the share of the light that the smallest square must hold"}},
        .apply = edit_crop,
    },
    {
        .name = "pad",
        .least = 1,
        .most = 1,
        .same_shape = true,
        .apply = edit_pad,
    },
    {
        .name = "clean",
        .least = 1,
        .most = 1,
        .from_photo = true,
        .parameter = {{"background", 1, 0, 1, "1 subtracts a background, 0 leaves it"},
                      {"noise", 5, 0, 100,
                       "a fall-off replaces rings whose light is less than this many times the "
                       "noise of a tap; 0 leaves them"},
                      {"core", 1, 0, 1, "1 restores a core that is cut off, 0 leaves it"}},
        .apply = edit_clean,
    },
    {
        .name = "merge",
        .least = 2,
        .most = EDIT_INPUTS,
        .amount = "an exposure",
        .from_photo = true,
        .apply = edit_merge,
    },
};
const int EDIT_COUNT = (int)(sizeof EDITS / sizeof EDITS[0]);

const edit *edit_find(const char *name) {
    for (int i = 0; i < EDIT_COUNT; i++)
        if (strcmp(EDITS[i].name, name) == 0) return &EDITS[i];
    return NULL;
}

int edit_parameters(const edit *d) {
    int n = 0;
    while (n < EDIT_PARAMETERS && d->parameter[n].name) n++;
    return n;
}
