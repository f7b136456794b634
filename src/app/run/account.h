/* account.h - writes down what vouches for a frame's result, in JSON and in words: bad pixels, the
 * promise and how it was kept, the findings of --verify, the energy ledger.
 *
 * The JSON is an interface: docs/report.md names every key; keys are added, never changed. Numbers
 * that JSON has no word for are null. */
#ifndef APP_ACCOUNT_H
#define APP_ACCOUNT_H

#include "base/json_out.h"
#include "bloom/bloom.h"

/* Adds members to the object that is open, each on a line of its own, and leaves out those that
 * there is nothing to say about. */
void account_json(const bloom_report *r, json_out *j);

/* Adds "promise  tolerance 0.001, ...", for `fftbloom plan`. */
void account_prediction(const bloom_report *r, text *to);

/* Adds "verified 2000 pixels, the worst off by 1e-5 ...", for logs. */
void account_verified(const bloom_report *r, text *to);

#endif
