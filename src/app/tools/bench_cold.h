/* bench_cold.h - `fftbloom bench --cold-start`: from the start of the process to the first result.
 *
 * Runs this program itself on an image and a kernel in a temporary folder: first with no caches at
 * all, neither ours nor those that graphics drivers keep of compiled programs, then with what such
 * a run has left. */
#ifndef APP_BENCH_COLD_H
#define APP_BENCH_COLD_H

#include "app/cli/settings.h"
#include "app/tools/bench_report.h"

typedef struct {
    const settings *s; /* --device, --precision and so on are handed on */
    uint32_t w, h;
    const char *kernel; /* a size, or a file */
    par *threads;
} bench_cold_job;

enum { COLD_RUNS = 5 }; /* at most, of each kind */

/* Number `count` of a list. */
bool bench_cold(const bench_cold_job *j, bench_form form, uint32_t count, text *to, err *e);

#endif
