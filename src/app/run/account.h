/* account.h - what a frame's result is vouched for with, in JSON and in words: bad pixels, the
 * promise and how it was kept, what --verify found, the energy ledger.
 *
 * The JSON is an interface: docs/report.md names every key; keys are added, never changed. Numbers
 * that JSON has no word for are null. */
#ifndef APP_ACCOUNT_H
#define APP_ACCOUNT_H

#include "base/text.h"
#include "bloom/bloom.h"

/* Members of an object, each with a comma and a line of its own before it, at a depth of `indent`
 * steps of two blanks. What there is nothing to say about is left out. */
void account_json(const bloom_report *r, int indent, text *to);

/* "promise  float32, 3 bright spots in space: errors up to 2e-9, ...", for `fftbloom plan`. */
void account_prediction(const bloom_report *r, text *to);

/* "verified 2000 pixels, the worst off by 1e-5 ...", for logs. */
void account_verified(const bloom_report *r, text *to);

#endif
