/* describe.h - says devices, plans, times and the checks of a result in words and in JSON. The JSON
 * is an interface: docs/report.md names every key; keys are added, never changed. */
#ifndef APP_DESCRIBE_H
#define APP_DESCRIBE_H

#include "base/json_out.h"
#include "base/mem.h"
#include "bloom/report.h"
#include "bloom/settings.h"

/* Add one member each. `index` is the device's in the list, or -1. */
void describe_device(json_out *j, const char *key, const engine_device *d, int index);
void describe_plan_json(json_out *j, const char *key, const plan *p);
void describe_times_json(json_out *j, const char *key, const engine_times *t, const plan *p);

/* Say how an image is cut into tiles: the member "tiles"; a line without its end. */
void describe_tiles_json(json_out *j, const tiling *t);
void describe_tiles(const tiling *t, text *to);
/* Says what of the host's memory an image takes: the member "memory". */
void describe_memory_json(json_out *j, const mem_plan *m);
/* Add the members on an image's result: bad pixels, the promise and how it was kept, the findings
 * of --verify, the energy ledger. Leaves out those that there is nothing to say about. */
void describe_result_json(json_out *j, const bloom_report *r);
/* Adds the same, after the device, the times and the plan of an image that was bloomed. */
void describe_made_json(json_out *j, const bloom_report *r);
/* Adds the member "notes": `lines`, and those of the report; both may be NULL. */
void describe_notes_json(json_out *j, const char *lines, const bloom_report *r);

/* Adds "1920 x 1080 in 2048 x 1215, y first, float32": one line for logs. */
void describe_plan_line(const plan *p, text *to);
/* Adds "verified 2000 pixels, the worst off by 1e-5 ...", for logs. */
void describe_verified(const bloom_report *r, text *to);

#endif
