/* lab_bench.h - `fftbloom bench fft` and `fftbloom bench ocean`: the transforms of the lab at
 * several sizes, and the frames per second of a sea (ocean.h) by the transform that makes it. A
 * frame is the spectrum at one moment and four inverse transforms; nothing is drawn, and one frame
 * is checked against double. docs/fft.md names the columns. */
#ifndef LAB_LAB_BENCH_H
#define LAB_LAB_BENCH_H

#include "lab/lab_run.h"

typedef struct {
    const char *sizes;        /* "128..1024,1080" (".." doubles the first up to the second); NULL:
                               * the benchmark's own */
    const char *algorithms;   /* "all", or names with commas between */
    const engine_device *gpu; /* NULL: only those of the CPU */
    uint32_t rounds;
    double warm_up; /* see lab_pace */
    bool json;
    bool sea;
    const char *plot;    /* of fft: the SVG file to write; NULL: none */
    const char *picture; /* of the sea: the image file to write with a view of it; NULL: none */
    par *threads;        /* for the reference; what is timed has one thread, or the GPU */
} lab_bench_request;

/* Each size must be one that some transform asked for takes. Without a GPU, those of a GPU must not
 * be asked for by name. */
bool lab_bench(text *out, const lab_bench_request *r, err *e);

/* Appends a picture of times against sizes, log-log, as an SVG that a browser shows and a printer
 * prints; there must be at least one row. */
bool lab_plot(text *svg, const lab_row *row, uint32_t rows, const char *device, err *e);

#endif
