/* pace.h - how long a run may take, by the runs that were made before on the same device. The cache
 * folder keeps what runs took. Nothing decides by these seconds. */
#pragma once

#include "base/text.h"
#include "engine/engine.h"

typedef struct {
    const engine_device *device;
    int threads; /* of the host */
    bool many;   /* several frames, which are under way at the same time */
    bool field;  /* the kernel varies over the frame */
} pace_kind;

typedef struct {
    double about, least, most; /* seconds */
    int runs;                  /* that were seen; 0: these are guesses of this build */
} pace_time;

/* Returns the seconds of a run. work: its frames, counted in pixels of 1920 x 1080 (device_work),
 * of a field times its points (bloom_account). cache: the cache folder, or NULL. */
pace_time pace_of(const char *cache, const pace_kind *kind, double work);
/* Keeps what a run took. Runs of less than a twentieth of such a frame say nothing. */
void pace_keep(const char *cache, const pace_kind *kind, double work, double seconds);
/* Adds the seconds as words: "about 0.4 s (0.3 to 0.6 s by 5 runs)". */
void pace_words(const pace_time *p, text *to);
