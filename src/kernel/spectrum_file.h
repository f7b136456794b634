/* spectrum_file.h - spectra as files: `.spectrum` files of users and entries of the cache.
 *
 * Portable (little-endian, fixed widths), checksummed, versioned; docs/formats.md has the layout.
 * A file of a newer version is refused by its number; a damaged one by what does not match. */
#ifndef KERNEL_SPECTRUM_FILE_H
#define KERNEL_SPECTRUM_FILE_H

#include "base/file.h"
#include "kernel/spectrum.h"

enum { SPECTRUM_FILE_VERSION = 1 };

bool spectrum_file_is(const char *path);                               /* by its magic */
bool spectrum_file_write(const char *path, const spectrum *s, err *e); /* atomic */
/* Writes into an output that was opened for it, commits and frees it, whatever it returns. */
bool spectrum_file_write_to(file_out *f, const spectrum *s, err *e);
bool spectrum_file_read(spectrum *s, const char *path, err *e);

#endif
