/* clock.h - how long something takes. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since a fixed moment, whatever the time of day is set to meanwhile. */
double clock_now(void);

#endif
