/* lab_bench.h - `fftbloom bench fft` and `fftbloom bench ocean`: the transforms of the lab at
 * several sizes, and the frames per second of a sea (ocean.h) by the transform that makes it.
 * docs/fft.md names the columns. */
#ifndef LAB_LAB_BENCH_H
#define LAB_LAB_BENCH_H

#include "lab/lab_run.h"
#include "lab/lab_table.h"

typedef struct {
    const char *sizes;        /* "128..1024,1080" (".." doubles the first up to the second); NULL:
                               * the benchmark's own */
    const char *algorithms;   /* "all", or names with commas between */
    const engine_device *gpu; /* NULL: only those of the CPU */
    uint32_t rounds;
    double warm_up; /* see lab_pace */
    bool json;
    const char *plot;    /* of fft: the SVG file to write; NULL: none */
    const char *picture; /* of the sea: the image file to write with a view of it; NULL: none */
    par *threads;        /* for the reference; what is timed has one thread, or the GPU */
} lab_bench_request;

bool lab_bench_fft(text *out, const lab_bench_request *r, err *e);

/* A frame is the spectrum at one moment and four inverse transforms; nothing is drawn. One frame is
 * checked against double. */
bool lab_bench_ocean(text *out, const lab_bench_request *r, err *e);

enum { LAB_MOST_SIZES = 32, LAB_MOST_TRANSFORMS = 32 };

/* The sizes and the transforms that were asked for. */
typedef struct {
    uint32_t size[LAB_MOST_SIZES], sizes;
    bool wanted[LAB_MOST_TRANSFORMS]; /* by the index in LAB_TRANSFORMS */
    bool all;                         /* by "all", and not by their names */
} lab_choice;

/* Each size must be one that some wanted transform takes. Without a GPU, those of a GPU must not be
 * asked for by name. */
bool lab_choice_read(lab_choice *c, const lab_bench_request *r, const char *sizes, err *e);

#endif
