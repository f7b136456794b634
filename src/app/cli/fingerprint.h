/* fingerprint.h - what decides the pixels of an output, as hashes: of the settings that do, and of
 * the contents of files. For --update and for the provenance of references. */
#ifndef APP_FINGERPRINT_H
#define APP_FINGERPRINT_H

#include "app/cli/settings.h"
#include "base/hash.h"

/* The options whose change changes pixels or the file, and their values where these are not the
 * defaults, so that an option that is new changes no hash. Not where it is computed, not how it is
 * told. Paths are left out, what the files hold counts. */
void fingerprint_settings(const settings *s, text *to);
bool fingerprint_file(const char *path, hash128 *to, err *e);

#endif
