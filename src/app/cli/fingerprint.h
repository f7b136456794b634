/* fingerprint.h - fingerprints of settings and files that decide the pixels of an output, for
 * --update and for the provenance of references. It does not know where an output is computed or
 * how progress is reported, because these change no pixel. */
#ifndef APP_FINGERPRINT_H
#define APP_FINGERPRINT_H

#include "app/cli/settings.h"
#include "base/hash.h"

/* Appends the options that change pixels or the file, with their values. Defaults are left out, so
 * that a new option changes no fingerprint. Paths are left out, because the content counts. */
void fingerprint_settings(const settings *s, text *to);
/* Hashes the content of a file. */
bool fingerprint_file(const char *path, hash128 *to, err *e);

#endif
