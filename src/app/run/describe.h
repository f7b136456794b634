/* describe.h - devices, plans and times in words and in JSON, for commands and reports.
 *
 * The JSON is an interface: docs/report.md names every key; keys are added, never changed. */
#ifndef APP_DESCRIBE_H
#define APP_DESCRIBE_H

#include "base/text.h"
#include "device/device_choice.h"

/* Add one JSON value each. `index` is the device's in the list, or -1 where it is not known;
 * `indent` is the depth of the line that the value starts on, in steps of two blanks. */
void describe_device_json(const engine_device *d, int index, text *to);
void describe_plan_json(const plan *p, int indent, text *to);
void describe_times_json(const engine_times *t, const plan *p, text *to);

const char *describe_class(engine_class c);   /* "cpu", "gpu", "software" */
const char *describe_precision(bool doubles); /* "float32", "float64" */
/* 32 hexadecimal digits, as --device takes them, or "" when the device has none. */
enum { DESCRIBE_UUID = 33 };
const char *describe_uuid(const engine_device *d, char buf[DESCRIBE_UUID]);

void describe_device(const engine_device *d, int index, text *to);
void describe_plan(const plan *p, text *to);
/* Adds the time that each of `count` devices would take for `images` images; `best` marks the one
 * that would be taken. */
void describe_forecast(const device_forecast *f, const engine_device *d, uint32_t count, int best,
                       uint32_t images, text *to);
/* Adds a JSON array with an object per device. */
void describe_forecast_json(const device_forecast *f, const engine_device *d, uint32_t count,
                            int indent, text *to);
/* Adds "1920 x 1080 in 2048 x 1215, y first, float32": one line for logs. */
void describe_plan_line(const plan *p, text *to);

#endif
