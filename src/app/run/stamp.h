/* stamp.h - what an output was made from, for --update.
 *
 * A stamp is a small file in the cache folder, named by the output's absolute path: the settings
 * that decide pixels and the kernel's content as a hash, and size and time of input and output.
 * Metadata of the image stays untouched, nothing lies beside it. An output is current when all of
 * it is as it was; a stamp that is missing or cannot be read only means that the frame is made
 * anew. */
#ifndef APP_STAMP_H
#define APP_STAMP_H

#include "app/cli/settings.h"
#include "base/hash.h"

typedef struct {
    char *folder;
    hash128 look; /* settings, kernel and program */
} stamps;

/* Reads the kernel's bytes. `folder` is the cache's. */
bool stamps_open(stamps *st, const settings *s, const char *folder, err *e);
void stamps_close(stamps *st);

bool stamp_is_current(const stamps *st, const char *input, const char *output);
/* After the output is in place. */
bool stamp_write(const stamps *st, const char *input, const char *output, err *e);

#endif
