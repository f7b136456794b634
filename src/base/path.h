/* path.h - the parts of a path: "shots/a.v1.exr" lies in the folder "shots", has the name
 * "a.v1.exr", and ends in "exr". */
#pragma once

#include "base/text.h"

#include <limits.h>

/* Returns the name: what follows the last slash. What is before it, path_name(p) - p bytes, is the
 * folder with its slash, or nothing. */
const char *path_name(const char *path);
/* Returns what follows the last dot of the name; "" if there is none. */
const char *path_ending(const char *path);
/* Returns whether it is this one, in small or large letters. */
bool path_ends_in(const char *path, const char *ending);
/* Returns the bytes of the path, or of a name, before the dot of its ending. */
int path_stem(const char *path);

/* Fills `to` with the folder of a path, or ".". Returns false, with errno, where it is too long. */
bool path_folder(const char *path, char to[PATH_MAX]);
/* Appends the absolute path of a file that may not be there yet, with the links of its folder
 * followed. Returns false if that folder does not exist. */
bool path_real(const char *path, text *to);
/* Replaces the path of a symbolic link by that of what it points to, which need not be there and
 * may be a link, too. Returns false, with errno, where it is no link; ELOOP: its links are too long
 * or do not end. A caller follows at most PATH_LINKS. */
enum { PATH_LINKS = 40 };
bool path_follow(char path[PATH_MAX]);
/* Returns whether it is a folder that is there. */
bool path_is_folder(const char *path);
/* Returns the bytes of a file; 0 where none is there. */
uint64_t path_bytes(const char *path);
