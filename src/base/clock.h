/* clock.h - measures how long something takes. */
#pragma once

#include <time.h>

/* Returns the seconds since a fixed moment. Setting the time of day does not change it. */
static inline double clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
