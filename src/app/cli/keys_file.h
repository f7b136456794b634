/* keys_file.h - reads values that change from frame to frame from a CSV file: --keys.
 *
 * The first line names the columns: "frame", and options that can be keyed (keyed.h). Every other
 * line is a frame. An empty cell sets no key; empty lines and lines that begin with # are
 * ignored. */
#ifndef APP_KEYS_FILE_H
#define APP_KEYS_FILE_H

#include "app/cli/settings.h"

/* Sets the options of the file's columns. Fails with ERR_CONFIG and the line of what is wrong, also
 * where a flag has set one of them already. */
bool keys_file_load(settings *s, const char *path, uint32_t users, err *e);

#endif
