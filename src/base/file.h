/* file.h - reading at offsets, writing atomically.
 *
 * An output is written under a temporary name in the same directory, synced and renamed over its
 * place by file_out_commit. Until then the old file, if any, is untouched, and whatever happens -
 * an error, SIGINT, SIGTERM, a full disk - the temporary file goes away. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* --- input ------------------------------------------------------------------------------- */

typedef struct file_in file_in;

file_in *file_in_open(const char *path, err *e);
void file_in_close(file_in **f);
uint64_t file_in_size(const file_in *f);
const char *file_in_path(const file_in *f);

/* Exactly `bytes` at `offset`, or an error that says how many there were. Thread-safe. */
bool file_in_read(const file_in *f, uint64_t offset, void *to, size_t bytes, err *e);

/* A whole file of at most `limit` bytes, with a zero byte after its end (not counted). */
uint8_t *file_read_all(const char *path, size_t limit, size_t *bytes, err *e);

/* --- output ------------------------------------------------------------------------------ */

typedef struct file_out file_out;

/* Refuses a path that is a directory. Symbolic links are followed: the file they point to is
 * replaced, the link stays. */
file_out *file_out_open(const char *path, err *e);
/* Could it be opened, as far as can be seen now? For work that should fail before it starts. Makes
 * nothing. */
bool file_out_possible(const char *path, err *e);
/* At any offset, in any order. Thread-safe. */
bool file_out_write(file_out *f, uint64_t offset, const void *data, size_t bytes, err *e);
/* Syncs, renames, frees; the file is whole and in place when this returns true. */
bool file_out_commit(file_out **f, err *e);
/* Writes these bytes as the whole content of a file, by the three calls above. */
bool file_write_all(const char *path, const void *bytes, size_t n, err *e);
/* Frees and removes the temporary file; NULL is fine, so it can follow commit. */
void file_out_discard(file_out **f);

/* Removes the temporary files of all open outputs, and lets no other be made: for signal handlers
 * that end the program. Async-signal-safe. */
void file_out_remove_all(void);

/* mkdir -p */
bool file_make_dirs(const char *path, err *e);

#endif
