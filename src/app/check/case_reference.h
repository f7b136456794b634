/* case_reference.h - the references of cases: what one was made from, and how a new one is kept. */
#pragma once

#include "app/check/suite.h"
#include "app/run/provenance.h"

/* Fills in what the result of a case is made from, on this device. */
bool suite_origin_make(provenance *o, const suite_case *c, const run_choice *run,
                       const engine_device *d, err *e);
/* Writes the image as a reference, atomically and without loss; its attributes and its compression
 * change. */
bool suite_bless(const char *path, image *result, const provenance *o, par *threads, err *e);
/* Adds the origin that the reference states, as a JSON object; {} where it states none. */
void suite_origin_json(const image *reference, text *to);
/* Adds a line for each of settings, input and kernel that has changed since; of the settings those
 * that are others, where the reference has them: "; then amount 0.5; now amount 0.4". */
void suite_origin_compare(const image *reference, const provenance *now, text *to);
