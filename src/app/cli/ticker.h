/* ticker.h - says that work which takes long goes on: from the third second on the seconds in the
 * line of status of a terminal, or else a note every few seconds (terminal.h). Work that is done
 * before says nothing. */
#ifndef APP_TICKER_H
#define APP_TICKER_H

typedef struct ticker ticker;

/* Starts to count for work of this name, which must outlive the ticker. NULL: nothing will be
 * said. */
ticker *ticker_open(const char *what);
/* Ends it, and removes its line. */
void ticker_close(ticker **t);

#endif
