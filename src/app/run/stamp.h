/* stamp.h - remembers what an output was made from, for --existing update; and the fingerprints of
 * settings and files that decide pixels, also for the provenance of references.
 *
 * A stamp is a small file in the folder `stamps` of the cache folder, named by a hash of the
 * output's absolute path. It holds a hash of the settings that decide pixels and of the kernel's
 * content, and size and time of input and output. So nothing is put into the image or beside it.
 * An output is current when all of that is as it was. A stamp that is missing, old or broken only
 * means that the frame is made again, so stamps are neither synced nor locked. The module does not
 * know where an output is computed or how progress is reported: these change no pixel. */
#ifndef APP_STAMP_H
#define APP_STAMP_H

#include "app/run/job.h"
#include "base/hash.h"

#include <sys/stat.h>

/* Identifies the version of a file: its inode, size and time. */
typedef struct {
    bool known; /* false: the file could not be opened, and the rest is unset */
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec time;
} file_mark;

/* Opens the file to look at it, since a network disk may answer a plain stat from memory. */
file_mark file_mark_of(const char *path);
/* Returns true if both are known and are the same version of one file. */
bool file_mark_same(const file_mark *a, const file_mark *b);

/* Appends the options that change pixels or the file, with their values. Defaults are left out, so
 * that a new option changes no fingerprint. Paths are left out, because the content counts. */
void fingerprint_settings(const settings *s, text *to);
/* Hashes the content of a file. */
bool fingerprint_file(const char *path, hash128 *to, err *e);

/* Appends the absolute path of an output that may not exist yet, with the links of its folder
 * followed. Returns false if that folder does not exist. */
bool stamp_real_path(const char *output, text *to);

/* What decides an output beside its input. */
typedef struct {
    file_mark read; /* the kernel, when its content was hashed */
    hash128 hash;   /* of settings, kernel and program */
} stamp_look;

/* What all stamps of a run have in common: const once it is open. */
typedef struct {
    const settings *s;
    const char *cache; /* the cache folder; NULL: there is none, and nothing is remembered */
    bool kernels;      /* frames have kernels of their own */
    stamp_look look;   /* valid where they share one, and there is a cache folder */
} stamp_run;

/* Reads the bytes of the kernel that all frames share. Settings and folder belong to the caller and
 * must outlive the run. */
bool stamp_run_open(stamp_run *r, const settings *s, const job *j, const char *cache, err *e);

/* One output and what it is made from. The strings are those of the run and of the frame's files.
 */
typedef struct {
    const char *cache; /* NULL: nothing is remembered, and the look is not valid */
    stamp_look look;
    const char *kernel, *input, *output;
} stamp;

/* Reads the bytes of the kernel where the frame has its own. */
bool stamp_make(stamp *st, const stamp_run *r, const job_files *f, err *e);
bool stamp_is_current(const stamp *st);
/* Notes that the output's stamp was of use now, for trimming. */
void stamp_use(const stamp *st);
/* Remembers an output that is in place. `read` is the input as it was before it was read: where it
 * has changed since, the output is not current. Fails where the kernel has changed since the look
 * was made, because nobody knows which one the frame was made with. */
bool stamp_write(const stamp *st, const file_mark *read, err *e);

enum { STAMPS_MOST = 100000 };
typedef struct {
    size_t count, removed;
} stamps_kept;

/* Counts the stamps of a cache folder. Where there are more than `most` it removes those that were
 * used longest ago, and a tenth more than it must, so that this is not needed each time. Writing
 * stamps does this now and then. */
bool stamps_trim(stamps_kept *to, const char *cache, size_t most, err *e);

#endif
