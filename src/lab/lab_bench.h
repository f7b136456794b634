/* lab_bench.h - `fftbloom bench fft`: the transforms of the lab at several sizes, as words, JSON or
 * comma-separated values, and as a picture. docs/fft.md names the keys of the JSON. */
#ifndef LAB_LAB_BENCH_H
#define LAB_LAB_BENCH_H

#include "base/text.h"
#include "lab/lab_run.h"

typedef enum { LAB_WORDS, LAB_JSON, LAB_CSV } lab_output;

typedef struct {
    const char *sizes;        /* "128,1080" or "128..4096", which doubles; NULL: 128..1024 */
    const char *algorithms;   /* "all", or names with commas between */
    const engine_device *gpu; /* NULL: only those of the CPU */
    uint32_t rounds;
    double warm_up; /* see lab_request */
    lab_output output;
    const char *plot; /* the SVG file to write; NULL: none */
    par *threads;     /* for the reference; what is timed has one thread, or the GPU */
} lab_bench_request;

bool lab_bench_fft(text *out, const lab_bench_request *r, err *e);

#endif
