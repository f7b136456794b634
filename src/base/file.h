/* file.h - reads files at offsets, and writes them atomically.
 *
 * An output is written under a temporary name in the same folder, synced and put in its place by
 * file_out_commit. Until then an old file of that name is untouched. Whatever ends the program, the
 * temporary file goes away; after SIGKILL the next run that writes into the folder removes it. */
#pragma once

#include "base/text.h"

#include <limits.h>
#include <sys/uio.h>

typedef struct file_in file_in;

/* Opens a regular file; pipes and devices are refused. file_in_close frees it. */
file_in *file_in_open(const char *path, err *e);
void file_in_close(file_in **f);
/* Returns the bytes that the file had when it was opened. */
uint64_t file_in_size(const file_in *f);

/* Reads exactly `bytes` at `offset`, or fails with the number that there were. Thread-safe. */
bool file_in_read(const file_in *f, uint64_t offset, void *to, size_t bytes, err *e);

/* Reads what follows each other in the file into at most FILE_PIECES pieces of memory. Returns
 * false where the system does not give it all at once; file_in_read then finds out why. */
enum { FILE_PIECES = 1024 };
bool file_in_read_pieces(const file_in *f, uint64_t offset, const struct iovec *piece, int pieces);

/* Returns a whole file of at most `limit` bytes, with a zero byte after its end (not counted). The
 * caller frees it with mem_free. */
uint8_t *file_read_all(const char *path, size_t limit, size_t *bytes, err *e);

typedef struct file_out file_out;

typedef enum {
    FILE_NEW,     /* a file that is there stays: open and commit fail with ERR_SKIPPED */
    FILE_REPLACE, /* it takes over the old one's permissions, and its owner, group and access list
                     as far as the system allows */
    FILE_OWN,     /* of a cache: an old file, or a link, is replaced as if it had not been there */
    FILE_MEMORY   /* in memory, until the process ends: file_in_memory finds it */
} file_way;

/* Opens a new file that will get the name `path`; "-" is standard output, to which all goes in
 * file_out_commit. But for FILE_OWN a symbolic link stays, and the file that it points to is
 * replaced or made. Folders, pipes and devices are refused. */
file_out *file_out_open(const char *path, file_way way, err *e);
/* Writes the path of a file in memory that was committed; false where there is none of that name.
 */
bool file_in_memory(char to[64], const char *name);
/* Returns the final name, symbolic links resolved. */
const char *file_out_path(const file_out *f);
/* Tells whether file_out_open would succeed, as far as can be seen now. Makes nothing. */
bool file_out_possible(const char *path, err *e);
/* Writes at any offset, in any order. Thread-safe. */
bool file_out_write(file_out *f, uint64_t offset, const void *data, size_t bytes, err *e);
/* Does so with at most FILE_PIECES pieces of memory in a row; may change `piece`. */
bool file_out_write_pieces(file_out *f, uint64_t offset, struct iovec *piece, int pieces, err *e);
/* Syncs the file, puts it in its place and frees `f`, whatever it returns. */
bool file_out_commit(file_out **f, err *e);
/* Removes the temporary file and frees `f`. NULL is fine, so it can follow commit. */
void file_out_free(file_out **f);

/* Writes these bytes as the whole content of a file, by FILE_REPLACE, write and commit. */
bool file_write_all(const char *path, const void *bytes, size_t n, err *e);
/* Returns whether what lies at a path of a cache may be believed: a file of this user or of root,
 * and no link, as others may be able to write there, too. */
bool file_is_own(const char *path);
/* Set the time of a file to now, and its mode, as far as the system allows; not of a link's. */
void file_touch(const char *path);
void file_set_mode(const char *path, unsigned mode);

/* Removes the temporary files of all open outputs, and lets no other be made: for what ends the
 * program without returning from main. Async-signal-safe; may take a second. */
void file_out_remove_all(void);
/* Removes temporary files that processes which are gone have left in a folder. */
void file_sweep(const char *folder);

/* Makes a folder and the folders above it (mkdir -p). */
bool file_make_dirs(const char *path, unsigned mode, err *e);
