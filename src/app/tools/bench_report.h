/* bench_report.h - what `fftbloom bench` has measured, in words, as JSON and as CSV.
 *
 * The JSON is an interface: docs/performance.md names its keys; keys are added, never changed. */
#ifndef APP_BENCH_REPORT_H
#define APP_BENCH_REPORT_H

#include "base/json_out.h"
#include "device/device_choice.h"
#include "device/device_measure.h"

/* One plan on one device. */
typedef struct {
    const engine_device *device;
    uint32_t kernel[2];
    uint32_t rounds, queue, in_flight;
    plan plan;
    double spectrum; /* s: the kernel's spectrum, at the plan's lengths */
    measure_result m;
} bench_row;

/* Writes row number `count` of a table, in words or as CSV. */
void bench_report_row(const bench_row *r, bool as_csv, uint32_t count, text *to);
/* Writes a row as the next object of a list. */
void bench_report_json(const bench_row *r, json_out *j);

#endif
