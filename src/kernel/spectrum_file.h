/* spectrum_file.h - reads and writes spectra: `.spectrum` files of users and entries of the cache.
 * docs/inside/formats.md has the layout. Files of a newer version and damaged ones are refused. */
#pragma once

#include "base/file.h"
#include "kernel/spectrum.h"

/* 1 knew square pixels alone. A kernel that is turned has version 3, all others have 2. */
enum { SPECTRUM_FILE_VERSION = 2, SPECTRUM_FILE_TURNED = 3 };

/* Returns whether a file begins as these files do. */
bool spectrum_file_is(const char *path);
/* Writes a file and puts it in its place when it is whole. */
bool spectrum_file_write(const char *path, const spectrum *s, err *e);
/* Writes into an output that was opened for it, commits and frees it, whatever it returns. */
bool spectrum_file_write_to(file_out *f, const spectrum *s, err *e);
/* Reads and checks a whole file; spectrum_free frees what it gives. */
bool spectrum_file_read(spectrum *s, const char *path, err *e);
