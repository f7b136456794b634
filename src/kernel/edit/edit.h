/* edit.h - changes kernels: `fftbloom kernel rotate`, `mix`, `clean` and their like.
 *
 * An edit is a function from kernels to a kernel and a row in one table (edit.c); its action is in
 * app/kernel. It works in double; all edits but clean give the same taps on every machine
 * (base/steady.h). Light is never lost in silence: a result is as large as it must be to hold every
 * tap that is not zero, and each edit says in numbers what it changed. */
#pragma once

#include "kernel/kernel_source.h"
#include "kernel/stretch.h"

/* The largest share or exposure: sums of far larger ones are not finite. */
#define EDIT_MOST 1e9

enum { EDIT_PARAMETERS = 6, EDIT_INPUTS = 16, EDIT_SAYINGS = 24, EDIT_CHANNELS = 3 };

/* A kernel of 1 or 3 channels whose centre is tap floor(size / 2) of each side. */
typedef struct {
    uint32_t w, h, channels;
    double *tap; /* [channel][y][x]; free with edit_kernel_free */
} edit_kernel;

typedef struct {
    edit_kernel kernel;
    double amount; /* FILE:AMOUNT; NaN where none was given */
    double offset[2];
    double quantum; /* the step of 8 bits relative to their white; 0: not such a picture */
    char name[64];  /* for what the edit says */
} edit_input;

typedef struct {
    const char *name;
    double preset, min, max;
    const char *help;
} edit_parameter;

typedef struct {
    edit_input input[EDIT_INPUTS];
    int inputs;
    double value[EDIT_PARAMETERS];
    uint32_t taps[2]; /* of the result, which edit_fit then makes so; 0: as large as it must be */
    /* Edits of photographs look for the centre, or take the tap `at` of each input for it. */
    bool centred;
    uint32_t at[2];
    par *threads;
} edit_request;

/* One thing that an edit has changed: a number for scripts, a sentence for people. */
typedef struct {
    const char *key;
    double value;
    char words[200];
} edit_saying;

typedef struct {
    edit_saying saying[EDIT_SAYINGS];
    int sayings;
} edit_account;

typedef struct edit {
    const char *name;
    bool (*apply)(edit_kernel *to, const edit_request *r, edit_account *told, err *e);
    const char *amount; /* what FILE:AMOUNT means; NULL: inputs have none */
    bool moves;         /* inputs may be moved: FILE@X,Y */
    bool last_word;     /* the last word sets the first parameters: 15, or 2x1 */
    bool same_shape;    /* the result is the same picture: attributes of its model stay true */
    bool from_photo;    /* centres are looked for */
    edit_parameter parameter[EDIT_PARAMETERS];
} edit;

extern const edit EDITS[];
extern const int EDIT_COUNT;

/* Returns the edit of a name, or NULL; and the number of an edit's parameters. */
const edit *edit_find(const char *name);
int edit_parameters(const edit *d);

/* --- what edits are made of: edit_kernel.c --- */

/* Makes a kernel of zeros. */
bool edit_new(edit_kernel *k, uint32_t w, uint32_t h, uint32_t channels, err *e);
void edit_kernel_free(edit_kernel *k);
bool edit_copy(edit_kernel *to, const edit_kernel *from, err *e);

/* Returns the light of all channels. */
double edit_light(const edit_kernel *k);
/* Multiplies all taps so that the mean of the channels' sums is 1, unless it is not above 0. */
void edit_normalize(edit_kernel *k);
void edit_say(edit_account *a, const char *key, double value, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The primaries of a result: those of the first coloured kernel that names any. */
typedef struct {
    primaries gamut;
    bool known;
} edit_colour;

/* Takes the taps of a kernel as it was read, in the primaries of those before: a tap is the colour
 * that a white light has there. Taps that are no numbers are zero in a photograph, else refused.
 * Free in->kernel, also after a failure. */
bool edit_take(edit_input *in, const kernel_source *k, edit_colour *colour, bool photo,
               edit_account *told, err *e);
/* Returns an image with the taps. */
image *edit_image(const edit_kernel *k, const edit_colour *colour, err *e);

/* Changes the size, with the centre in its place; the light of taps that find no place goes into
 * *lost, as a share of all. */
bool edit_fit(edit_kernel *k, uint32_t w, uint32_t h, double *lost, err *e);
/* Lets the taps fall smoothly to zero from the part `fade` of the way to the nearest border on.
 * Returns the share of the light that this takes. */
double edit_fade(edit_kernel *k, double fade);

/* Are rows of EDITS. */
bool edit_crop(edit_kernel *to, const edit_request *r, edit_account *told, err *e);
bool edit_clean(edit_kernel *to, const edit_request *r, edit_account *told, err *e);
