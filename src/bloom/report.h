/* report.h - an account of one image, for the log and the JSON report. A tile, a group and a part
 * are each bloomed into a value; only the functions below write these into the report. */
#pragma once

#include "bloom/promise/accuracy.h"
#include "bloom/promise/ledger.h"
#include "bloom/verify.h"
#include "device/device_choice.h"
#include "engine/engine.h"
#include "math/tiling.h"

enum { BLOOM_NOTES = 8, BLOOM_LEDGER = 64 };

typedef struct {
    char channel[LEDGER_NAME];
    int32_t x, y; /* in the image's coordinates */
    float value;
} bloom_bad;

/* How the promise was kept, for the channel that came nearest to breaking it. */
typedef struct {
    double tolerance; /* the one that was asked for */
    accuracy method;
    char channel[LEDGER_NAME];
    uint32_t attempts; /* transforms until the result was kept: the maximum of all groups */
    uint32_t proved;   /* pixels that were compared with the definition (bloom/group.c), */
    double proof;      /* and their largest error, in parts of the predicted one */
} bloom_promise;

/* The findings of --verify. */
typedef struct {
    verify_result found;       /* of all groups together */
    char channel[LEDGER_NAME]; /* of the worst pixel, whose x and y are the image's */
    int32_t x, y;
} bloom_verified;

/* What taking glare away has come to: bloom/solve.h. Of several groups the worst. */
typedef struct {
    uint32_t steps, blooms; /* of the series; with those of the residual and of the certificate */
    double radius, core, tail, ratio;
    /* In a plan, whose steps are the most for such a range of light; by how much noise grows in the
     * mean, and at the most. */
    double range, noise, noise_most;
    double bound, value; /* of the worst pixel, the stored type's rounding included */
    char channel[LEDGER_NAME];
    int32_t x, y;
    uint64_t clipped;   /* pixels of the plate that have lost light, from `clip` on, */
    double clip, reach; /* and how far what they miss may matter, if it is as much as they have */
    uint64_t negative;  /* pixels surely below zero, */
    double lowest, enough;       /* and the lowest; the amount that would leave none */
    double amount, amount_error; /* found by `black`; error 0: given */
} bloom_solved;

/* What blooming an attempt, a tile, a group, a part or an image has come to. */
typedef struct {
    bloom_promise promise;
    plan plan; /* of the last one, */
    engine_device device;
    tiling tiles;       /* of the last part that was cut into tiles; zeros: none was */
    double points;      /* of a field: all windows', in those of one kernel's transform; else 0 */
    engine_times times; /* summed over groups and attempts */
    double spectrum_seconds;
    double contract_seconds; /* scan, prediction and verify, if not done during the convolution */
    bool spectrum_cached;
    bloom_verified verified;
    bloom_solved solved; /* steps 0: nothing was */
    /* There are values beyond halfs, for which --half-overflow float asks for floats, and rows of
     * halfs may have been written: the image has to be made again, as its channels are marked. */
    bool beyond;
    uint64_t bad; /* NaN and infinite pixels, and the first of them */
    bloom_bad first_bad[SCAN_BAD];
} bloom_account;

/* Returns how many times the points of one kernel's transforms a field takes; 0: there is none. */
static inline double account_points(const bloom_account *a) {
    return fmax(a->points, a->tiles.windows);
}

/* How an image that was made is stored: in memory, as it is; rounded once, to the types of its
 * file; packed by a codec that changes samples, of which nothing is promised; as a picture. */
typedef enum { STORED_PLANES, STORED_ROUNDED, STORED_LOSSY, STORED_PICTURE } stored_as;

typedef struct {
    uint32_t groups; /* colour groups convolved */
    stored_as stored;
    bloom_account sum;
    ledger_row ledger[BLOOM_LEDGER];
    uint32_t ledger_rows; /* channels after the first BLOOM_LEDGER have no row */
    char note[BLOOM_NOTES][256];
    uint32_t notes;
} bloom_report;

/* What each device of the machine would do. */
typedef struct {
    const engine_device *device; /* those of the machine, `devices` of them; valid as long as the
                                    bloom */
    uint32_t devices;
    int preferred; /* the device that would be taken if each could do it (device_prefer) */
    /* The caller's: room for ENGINE_DEVICES; whether all devices are to be listed, also where the
     * rule needs none of them; of the image, where the plan is that of a tile, or 0. */
    device_forecast *each;
    bool lists_all;
    double pixels;
} bloom_forecasts;

/* Adds a sentence; what does not fit is left out. */
void report_note(bloom_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds what a part (part.h) has come to. */
struct part_made;
void report_add_part(bloom_report *r, const struct part_made *p);

/* Adds up what two of them have come to. */
void account_add(bloom_account *sum, const bloom_account *one);
/* Enters how a promise is kept. `channel` is the name of the method's channel; `attempts` counts
 * the transforms until the result was kept. */
void account_promise(bloom_account *to, double tolerance, const accuracy *method,
                     const char *channel, uint32_t attempts);
