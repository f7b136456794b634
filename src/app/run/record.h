/* record.h - is this output made already? And what an output was made from, so that --existing
 * update can tell.
 *
 * A record is a small file in the folder `records` of the cache folder, named by a hash of the
 * output's absolute path. It holds a hash of what decides pixels (the settings, the content of the
 * kernel and of OpenColorIO's config) and the size, times and content of the input and of all files
 * that the frame makes. An output is current when all of that is as it was. What rewrites a file in
 * place can restore its time, but not that of its last change (ctime), which a new mode, a hard
 * link or a restored backup moves, too: where that time alone differs, the content decides. A
 * record that is missing, old or broken only means that the frame is made again, so records are
 * neither synced nor locked. */
#pragma once

#include "app/run/job.h"
#include "app/run/report.h"

#include <sys/stat.h>

/* Identifies the version of a file: its inode, size and time. */
typedef struct {
    bool known; /* false: the file could not be opened, and the rest is unset */
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec time;
    struct timespec changed; /* of mode, name and links, too: records alone look at it */
} file_mark;

/* Opens the file to look at it, since a network disk may answer a plain stat from memory. */
file_mark file_mark_of(const char *path);
/* Returns true if both are known and are the same version of one file. */
bool file_mark_same(const file_mark *a, const file_mark *b);

/* What decides an output beside its input. */
typedef struct {
    file_mark kernel; /* when its content was hashed */
    hash128 hash;     /* of settings, kernel, OpenColorIO's config and program */
} record_basis;

/* What all records of a run have in common: const once it is open. */
typedef struct {
    const run_choice *run;
    const picture_look *look;
    const char *cache;  /* the cache folder; NULL: there is none, and nothing is remembered */
    bool kernels;       /* frames have kernels of their own */
    record_basis basis; /* valid where they share one, and there is a cache folder */
} record_run;

/* Reads the bytes of the kernel that all frames share, and removes old records (records_sweep) once
 * a day. Job and look belong to the caller and must outlive it. kept: false: nothing is remembered.
 */
bool record_run_open(record_run *r, const job *j, const picture_look *look, bool kept, err *e);

/* One frame and what it is made from. Run and files belong to the caller. */
typedef struct {
    const record_run *run;
    const job_files *files;
    record_basis basis;
} record;

/* Reads the bytes of the kernel where the frame has its own. */
bool record_make(record *rec, const record_run *r, const job_files *f, err *e);
/* Returns whether OUT exists and --existing skip leaves it as it is. */
bool record_is_kept(const settings *s, const char *output);
/* Returns FRAME_DONE if the frame has to be made; else the reason why not, with a sentence in *why.
 * `update`: asks as --existing update does, whatever the settings say. */
frame_state record_look(const record *rec, bool update, const char **why);
/* Notes that the record was of use now, for records_sweep. */
void record_use(const record *rec);
/* Remembers a frame whose files are in place. `read` and `mask` are the input, and a mask that is a
 * file, as they were before they were read: where one has changed since, the output is not current.
 * Fails where the kernel has changed since the record was made, because nobody knows which one the
 * frame was made with. */
bool record_write(const record *rec, const file_mark *read, const file_mark *mask, err *e);

enum { RECORD_DAYS = 90 };
typedef struct {
    size_t count, removed;
} records_kept;

/* Counts the records of a cache folder, and removes those that were not of use for `days`. */
bool records_sweep(records_kept *to, const char *cache, double days, err *e);
