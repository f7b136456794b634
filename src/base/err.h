/* err.h - carries a failure from the place that finds it to main.
 *
 * A fallible function returns bool (or a pointer) and takes `err *e` last. The place that finds the
 * failure sets a code and a sentence with the numbers; callers put in front what they were doing.
 * Only main prints an error. The code becomes the exit status.
 *
 * All files see this header, so it also brings what all of them may take for granted: base/number.h
 * and the usual headers of the C library. */
#pragma once

#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
    ERR_NONE = 0,
    ERR_SKIPPED = 5,    /* some frames were skipped, as asked                */
    ERR_BAD_PIXELS = 6, /* NaN or Inf in the input and the policy is `error` */
    ERR_TOLERANCE = 7,  /* --verify found a pixel off, or no promise is kept */
    ERR_USAGE = 64,     /* what was asked for is wrong                       */
    ERR_DATA = 65,      /* a file's content is wrong                         */
    ERR_NO_INPUT = 66,  /* a file is not there or cannot be opened           */
    ERR_NO_DEVICE = 69, /* no device can do the work                         */
    ERR_INTERNAL = 70,  /* a bug in this program                             */
    ERR_IO = 74,        /* reading or writing failed: a full disk, say       */
    ERR_RETRY = 75,     /* device lost, no memory: try again                 */
    /* Kinds of the above, with the same status, that the program itself tells apart. */
    ERR_CONFIG = 256 + ERR_USAGE,    /* a value, a config file or a suite is wrong */
    ERR_CANT_CREATE = 256 + ERR_IO,  /* the output's folder or name cannot be made */
    ERR_MEMORY = 256 + ERR_RETRY,    /* memory was refused: less may be tried      */
    ERR_LINES = 256 + ERR_NO_DEVICE, /* lines too long for a device: tiles may be tried */
    ERR_CANCELLED = 130,             /* the host has stopped the work: base/host.h */
} err_code;

/* Whose file the sentence names. */
typedef enum { FAULT_NONE, FAULT_INPUT, FAULT_KERNEL, FAULT_OUTPUT, FAULT_REPORT } err_fault;

typedef struct {
    err_code code;
    err_fault fault;
    int number; /* errno of the system call that failed; 0: none did */
    char msg[1024];
} err;

/* Returns the exit status of a code: its lower eight bits. */
static inline int err_status(err_code code) {
    return (int)code & 255;
}

/* Sets the code and the sentence, which is cut where it does not fit; the fault becomes FAULT_NONE
 * and the number 0. Returns false, as those below do. `e` may be NULL. */
bool err_set(err *e, err_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Puts "words: " in front of the sentence. */
bool err_in(err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets the fault. */
bool err_blame(err *e, err_fault fault);

/* Sets all, also the number, from errno after a failed system call, with its words. No memory
 * becomes ERR_MEMORY, no space ERR_IO, no descriptors ERR_RETRY, a missing file ERR_NO_INPUT for
 * ERR_IO. */
bool err_errno(err *e, err_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Returns whether it is a file that is not there. */
bool err_is_missing(const err *e);
