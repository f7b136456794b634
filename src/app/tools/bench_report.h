/* bench_report.h - what `fftbloom bench` has measured, in words, as JSON and as CSV.
 *
 * The JSON is an interface: docs/performance.md names its keys; keys are added, never changed. */
#ifndef APP_BENCH_REPORT_H
#define APP_BENCH_REPORT_H

#include "base/text.h"
#include "device/device_choice.h"
#include "device/device_measure.h"

typedef enum { BENCH_WORDS, BENCH_JSON, BENCH_CSV } bench_form;

/* One plan on one device. */
typedef struct {
    const engine_device *device;
    uint32_t kernel[2];
    uint32_t rounds, queue, in_flight;
    plan plan;
    double spectrum; /* s: the kernel's spectrum, at the plan's lengths */
    measure_result m;
} bench_row;

/* Row number `count` of a list. */
void bench_report_row(const bench_row *r, bench_form form, uint32_t count, text *to);
/* A JSON object. */
void bench_report_spread(const measure_spread *s, text *to);

#endif
