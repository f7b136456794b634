/* fx.h - the program that has loaded the plug-in: its suites, its properties, and what it shows to
 * people. Hosts leave out what they do not need, and every reader here says what stands for that.
 */
#pragma once

#include "ofx/abi.h"

#include <stdbool.h>

/* The suites of the host. The first three are there where fx_load has returned true; the others
 * may be NULL. */
typedef struct {
    const ofx_property_suite *property;
    const ofx_effect_suite *effect;
    const ofx_param_suite *param;
    const ofx_message_suite *message;
    bool persists; /* `message` has all its members */
    const ofx_progress_suite *progress;
} fx_suites;
extern fx_suites fx;

/* Returns false where the host lacks a suite that nothing works without. */
bool fx_load(const ofx_host *h);

/* Read properties; false: the host does not have them. p may be NULL. */
bool fx_ints(ofx_properties p, const char *name, int count, int *to);
bool fx_doubles(ofx_properties p, const char *name, int count, double *to);
/* Return a property; NULL and "" where there is none. */
void *fx_pointer(ofx_properties p, const char *name);
const char *fx_string(ofx_properties p, const char *name);

/* Shows a sentence beside the effect until there is nothing more to say, or prints it where the
 * host shows none. `text` NULL or "": nothing is wrong any more. `shown`, of the instance, keeps
 * sentences from coming twice. */
void fx_say(ofx_effect_handle e, _Atomic unsigned *shown, const char *type, const char *text);
