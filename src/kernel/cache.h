/* cache.h - keeps spectra between runs, in a folder that many processes share.
 *
 *   FOLDER/spectra/<hash of the psf>.v<version of the format>.spectrum
 *
 * The key is the content: two runs that make the same psf share an entry. Entries appear by rename,
 * and no process waits for another. If an entry is broken, or its kernel is not the one that its
 * name says, a warning is logged and the spectrum is made again. A folder that cannot be used is
 * logged at LOG_INFO and is never a failure. Folders are made for their owner alone, and entries of
 * others than this user and root are not used. $FFTBLOOM_CACHE_RO names a second folder, which is
 * read after the first and never written. */
#pragma once

#include "kernel/spectrum.h"

enum { CACHE_PATH = 4096 };
#define CACHE_BUDGET 2000000000u /* bytes: some 150 kernels of 512 x 512 in three channels */

/* Where spectra are kept, and how much of them. */
typedef struct {
    const char *dir; /* NULL: the default place */
    uint64_t budget; /* bytes of all spectra together; 0: nothing is read or kept */
} cache_place;

/* Finds the cache folder: the first that is set of `asked`, $FFTBLOOM_CACHE_DIR,
 * $XDG_CACHE_HOME/fftbloom and ~/.cache/fftbloom. Returns false when none is. Makes no folder. */
bool cache_path(char to[CACHE_PATH], const char *asked);
/* Does the same with the environment that `variable` reads. */
bool cache_path_by(char to[CACHE_PATH], const char *asked, const char *(*variable)(const char *));

/* Makes a folder of the cache folder `dir`, and all above it, for its owner alone; writes its path.
 * `name` "" is the cache folder itself. All folders of the cache are made here. */
bool cache_folder(char to[CACHE_PATH], const char *dir, const char *name, err *e);

/* Writes the path of a file in the folder `name` of the cache folder `dir`, or with `file` "" that
 * of the folder. Others may be able to write into a cache: where `name` is a link, this fails. That
 * `dir` is one is its owner's choice. */
bool cache_file(char to[CACHE_PATH], const char *dir, const char *name, const char *file, err *e);

/* Reads the spectrum of `k` from the cache, or makes it and keeps it there; s->cached tells which.
 * Fails only if spectrum_make does. */
bool cache_spectrum(spectrum *s, const psf *k, const cache_place *place, par *threads, err *e);

/* Removes the entry of the psf of this hash, with a warning, after a result that was made with it
 * has failed a proof: checksums have no key, so an entry may be forged. */
void cache_distrust(hash128 of, const char *asked);

enum { CACHE_NAME = 64 };
typedef struct {
    char name[CACHE_NAME];
    uint64_t bytes;
    int64_t used; /* seconds since 1970 */
} cache_entry;

typedef struct {
    cache_entry *entry; /* last used first */
    size_t count;
    uint64_t bytes;
} cache_list;

/* Lists the spectra in the cache folder `dir`. A folder that does not exist holds none. */
bool cache_list_make(cache_list *l, const char *dir, err *e);
void cache_list_free(cache_list *l);

/* Reads a whole entry; checks its checksum, and that it holds the kernel that its name says. */
bool cache_verify(const char *dir, const cache_entry *entry, err *e);

/* Removes the spectra that were used longest ago, until at most `budget` bytes are left, and the
 * temporary files of killed processes. */
typedef struct {
    size_t removed, kept;
    uint64_t removed_bytes, kept_bytes;
} cache_trimmed;
bool cache_trim(cache_trimmed *t, const char *dir, uint64_t budget, err *e);
