/* ocean_bench.h - `fftbloom bench ocean`: the frames per second of an animated sea (ocean.h), by
 * the transform that makes it. A frame is the spectrum at one moment and four inverse transforms;
 * nothing is drawn. One frame is checked against double. */
#ifndef LAB_OCEAN_BENCH_H
#define LAB_OCEAN_BENCH_H

#include "lab/lab_bench.h"

/* Of the request, `plot` does not count, and sizes are 512,1024 where none are given. `picture` is
 * the file to write with a view of the sea, or NULL. */
bool lab_bench_ocean(text *out, const lab_bench_request *r, const char *picture, err *e);

#endif
