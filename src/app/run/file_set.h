/* file_set.h - all files that a command reads and writes: refuses, before any work, a command whose
 * outputs would replace each other or one of its inputs. Two paths are one file when they have the
 * same device and inode, or the same folder and name (links followed). The set looks at names only:
 * it opens and makes nothing. */
#pragma once

#include "app/run/job.h"

typedef enum {
    FILE_READ,
    FILE_WRITTEN,
    FILE_WRITTEN_AGAIN, /* may be written several times, as references that cases share */
} file_use;

/* Zero-initialised; free with file_set_free. */
typedef struct {
    struct file_set_item *item;
    size_t count, room;
    err failed; /* memory: file_set_check tells of it */
} file_set;

/* Adds a file. `role` names it in messages ("the kernel") and must outlive the set; the path is
 * copied. A path that is NULL, or an output that is a stream, is passed over; "-" that is read is
 * the file that standard input comes from. */
void file_set_add(file_set *s, file_use use, const char *role, const char *path);
/* Adds the config files that the settings came from. */
void file_set_add_configs(file_set *s, const settings *from);
/* Returns true when no output is another file of the set, else ERR_USAGE with both names. */
bool file_set_check(file_set *s, err *e);
void file_set_free(file_set *s);

/* Checks a few files, and the config files of `configs` (which may be NULL), at once. */
typedef struct {
    file_use use;
    const char *role, *path;
} file_set_file;
bool file_set_apart(const file_set_file *file, size_t count, const settings *configs, err *e);
/* Checks all files of a run. */
bool file_set_check_job(const job *j, err *e);
