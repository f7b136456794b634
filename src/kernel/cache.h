/* cache.h - spectra kept between runs, in a folder that many processes share.
 *
 *   FOLDER/spectra/<hash of the psf>.v<version of the format>.spectrum
 *
 * Keyed by content: the name of a kernel's file plays no part, and two runs that make the same psf
 * share an entry. Entries appear by rename, so a reader sees a whole one or none; nobody waits for
 * anybody. One that is broken, or not of the kernel its name says, is made again with a warning.
 * A folder that cannot be used is said at LOG_INFO and is never a failure.
 *
 * $FFTBLOOM_CACHE_RO names a second folder that is read after the first and never written.
 *
 * Other things that live in the cache folder are beside `spectra`, and nothing here touches
 * them. */
#ifndef BLOOM_CACHE_H
#define BLOOM_CACHE_H

#include "kernel/spectrum.h"

enum { CACHE_PATH = 4096 };
#define CACHE_BUDGET 2000000000u /* bytes: some 150 kernels of 512 x 512 in three channels */

/* Where, and how much may be kept. */
typedef struct {
    const char *dir; /* NULL: the default place */
    uint64_t budget; /* bytes of all spectra together; 0: nothing is read or kept */
} cache_place;

/* The cache folder: `asked`, $FFTBLOOM_CACHE_DIR, $XDG_CACHE_HOME/fftbloom or ~/.cache/fftbloom,
 * the first that is there. False when there is none of them. Makes no folder. */
bool cache_path(char to[CACHE_PATH], const char *asked);

/* The spectrum of `k`, from the cache if it is there, else made and kept there. *hit tells which.
 * Fails only where spectrum_make does. */
bool cache_spectrum(spectrum *s, const psf *k, const cache_place *place, par *threads, bool *hit,
                    err *e);

/* --- for the cache command --- */

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

/* The spectra in the cache folder `dir` (as cache_path gives it); a folder that is not there holds
 * none. */
bool cache_list_make(cache_list *l, const char *dir, err *e);
void cache_list_free(cache_list *l);

/* Reads the entry whole: its checksum, and that it holds the kernel its name says. */
bool cache_verify(const char *dir, const cache_entry *entry, err *e);

/* Removes spectra, those first that were used longest ago, until at most `budget` bytes are left,
 * and the temporary files that killed processes left. */
typedef struct {
    size_t removed, kept;
    uint64_t removed_bytes, kept_bytes;
} cache_trimmed;
bool cache_trim(cache_trimmed *t, const char *dir, uint64_t budget, err *e);

#endif
