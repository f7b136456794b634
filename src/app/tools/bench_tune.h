/* bench_tune.h - `fftbloom bench --tune`: finds faster shapes for a plan and keeps them. */
#ifndef APP_BENCH_TUNE_H
#define APP_BENCH_TUNE_H

#include "app/tools/bench_report.h"
#include "device/device_search.h"

typedef struct {
    const engine_device *device;
    int index;
    device_tune *known; /* of the device; gains the shape */
    const plan_request *ask;
    double patience;    /* s */
    const char *folder; /* where shapes are kept */
    par *threads;
} bench_tune_job;

/* Number `count` of a list. What was found before for the same plan is forgotten where nothing
 * better than the planner's own is found now. */
bool bench_tune(const bench_tune_job *j, bench_form form, uint32_t count, text *to, err *e);

#endif
