/* check.h - what every unit test starts with: cmocka, and comparisons that NaN fails. */
#ifndef UNIT_CHECK_H
#define UNIT_CHECK_H

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* a <= b, said with both numbers when it is not so. */
#define CHECK_LE(a, b)                                                           \
    do {                                                                         \
        double check_a = (double)(a), check_b = (double)(b);                     \
        if (!(check_a <= check_b))                                               \
            fail_msg("%s = %.9g is not <= %s = %.9g", #a, check_a, #b, check_b); \
    } while (0)

/* A fallible call that must work; its sentence is shown when it does not. */
#define CHECK_OK(call, e)                                \
    do {                                                 \
        if (!(call)) fail_msg("%s: %s", #call, (e).msg); \
    } while (0)

#endif
