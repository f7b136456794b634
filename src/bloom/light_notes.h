/* light_notes.h - what is wrong with the light of an image, by the numbers that the bloom's scan
 * has found (ledger_row): values deep below zero, linear light that was decoded, codes that were
 * not, lights that a picture has cut off; and what tells that a kernel is not the lens's. Each kind
 * is told once in the log of a run, and in the report of each image. */
#pragma once

#include "bloom/report.h"
#include "image/image.h"

#include <stdatomic.h>

/* What a run's log has said. */
typedef struct {
    bool warns; /* notes are warnings, for those who do not read notes */
    atomic_bool below, coded, codes, clipped, lost, strong, amount;
} light_told;

/* Notes what was found of an image's light. format: of the image's file, "" where there is none;
 * space: what the pixels were decoded from, or NULL. */
void light_notes(const char *format, const char *space, bloom_report *r, light_told *told);

/* Warns where the first colour of an image, as it came, has the steps of an 8-bit picture. */
void light_notes_codes(const image *img, const char *layers, const char *exclude, const char *cure,
                       light_told *told);
