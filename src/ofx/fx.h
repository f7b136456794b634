/* fx.h - the program that has loaded the plug-in: its suites, its properties with a value for
 * each that it does not have, and what it shows to people. Hosts leave out what they do not need,
 * and every getter here says what stands for that. */
#ifndef OFX_FX_H
#define OFX_FX_H

#include "ofx/abi.h"

#include <stdbool.h>

/* The suites of the host. The first three are there where fx_load has returned true; the others
 * may be NULL. */
typedef struct {
    const ofx_property_suite *property;
    const ofx_effect_suite *effect;
    const ofx_param_suite *param;
    const ofx_message_suite *message;
    bool persists; /* of which all members are there */
    const ofx_progress_suite *progress;
} fx_suites;
extern fx_suites fx;

void fx_set(const ofx_host *h);
/* Returns false where the host lacks a suite that nothing works without. */
bool fx_load(void);

/* Return a property, or `instead` where there is none. */
int fx_int(ofx_properties p, const char *name, int instead);
double fx_double(ofx_properties p, const char *name, int index, double instead);
void *fx_pointer(ofx_properties p, const char *name);
bool fx_rect(ofx_properties p, const char *name, ofx_rect_i *to);
/* Returns whether a property is this word. */
bool fx_is(ofx_properties p, const char *name, const char *word);

/* Do what the suite does; what a host does not know, it refuses, and nobody minds. */
void fx_put_int(ofx_properties p, const char *name, int v);
void fx_put_string(ofx_properties p, const char *name, int index, const char *v);
void fx_put_doubles(ofx_properties p, const char *name, int count, const double *v);

/* Shows a sentence beside the effect until there is nothing more to say. `text` NULL: nothing is
 * wrong any more. `shown`, of the instance, keeps sentences from coming twice. */
void fx_say(ofx_effect_handle e, _Atomic unsigned *shown, const char *type, const char *text);

#endif
