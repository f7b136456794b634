/* group.h - one colour group of an image: measured, convolved, judged, stored. Its way through this
 * folder is group_bloom, in one piece. It knows no files and no windows. */
#pragma once

#include "bloom/report.h"
#include "bloom/view.h"

/* What blooming a group, or tiles of it, has come to. */
typedef struct group_made {
    bloom_account sum;
    char note[256]; /* of the device; "": none */
    char fit[256];  /* how kernel and image go together; "": as they are */
    uint32_t channels;
    ledger_row row[VIEW_CHANNELS]; /* of a tile: what is made of its light */
    uint64_t over;               /* values of the result beyond halfs that were to be halfs, and */
    float largest;               /* the largest of these */
    bool wide;                   /* they are stored as floats, all channels */
    float *glare[VIEW_CHANNELS]; /* the caller frees these, also after a failure; NULL: none */
} group_made;

/* Blooms the group in place. What is known of a failure is in *to as well. predict: finds what
 * would be done about accuracy, on which device and with which plan. */
bool group_bloom(group_made *to, view *v, bool predict, err *e);

/* Adds what a tile of the group has come to, but for `wide`. */
void group_add(group_made *to, const group_made *one);

/* Puts the result into the image's planes, in the types that settings and `half_overflow` ask for
 * (all channels of a group have one type), and enters each channel into the ledger.
 * Refuses values beyond floats, and beyond halfs where that is an error; the image is as it was
 * then. Float planes change places with the view's buffers: nothing is copied. */
bool store_result(group_made *to, const view *v, const light *l, outcome *o, err *e);
