#include "kernel/edit/edit.h"

const edit EDITS[] = {
    {.name = "mix", .apply = edit_mix, .amount = "a share of the light", .moves = true},
    {.name = "rotate",
     .apply = edit_rotate,
     .last_word = true,
     .same_shape = true,
     .parameter = {{"angle", 0, -3600, 3600, "degrees, clockwise"}}},
    {.name = "stretch",
     .apply = edit_stretch,
     .last_word = true,
     .parameter = {{"x", 1, 0.01, 100, "factor of the width"},
                   {"y", 1, 0.01, 100, "factor of the height"}}},
    {.name = "crop",
     .apply = edit_crop,
     .same_shape = true,
     .parameter = {{"keep", 0.999, 0.01, 1,
                    "without --taps: the share of the light that the smallest square must hold"}}},
    {.name = "clean",
     .apply = edit_clean,
     .from_photo = true,
     .parameter = {{"background", 1, 0, 1, "1 subtracts a background, 0 leaves it"},
                   {"noise", 5, 0, 100,
                    "a fall-off replaces rings whose light is less than this many times the "
                    "noise of a tap; 0 leaves them"},
                   {"core", 1, 0, 1, "1 restores a core that is cut off, 0 leaves it"}}},
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
