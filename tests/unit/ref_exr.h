/* ref_exr.h - OpenEXR's C++ library as the reference: files made by it, pixels and attributes as
 * it sees them. Only in programs that are built with OpenEXR. */
#ifndef UNIT_REF_EXR_H
#define UNIT_REF_EXR_H

#include "image/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Levels of tiled parts: the smaller levels are filled with 77, so a stale level shows. */
typedef enum { REF_ONE_LEVEL, REF_MIPMAP, REF_RIPMAP } ref_levels;

/* Writes what `img` describes; a random line order writes the tiles in a shuffled order. Both say
 * on stderr why they return false. */
bool ref_exr_write(const char *path, const image *img, ref_levels levels);
/* Level 0 of all channels of a part into planes of the same types as in the file. */
bool ref_exr_read(const char *path, int part, const image_part *p, void *const plane[]);

/* Threads for all of OpenEXR from now on; 0: the calling one alone, as it is at the start. */
void ref_exr_threads(int threads);

/* Every attribute of every part as OpenEXR reads it, one line each: part, name, type, length and a
 * hash of its bytes. Free with free(). */
char *ref_exr_dump(const char *path);

#ifdef __cplusplus
}
#endif

#endif
