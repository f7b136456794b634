/* clock.h - how long something takes. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Returns the seconds since a fixed moment. Setting the time of day does not change it. */
double clock_now(void);

#endif
