/* wrong.h - faults that a test says and counts, so that it looks at all that it has to look at. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

/* Says what is wrong with a kernel; the test then looks at the others, too. */
static int faults_found;
__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...) {
    va_list v;
    va_start(v, format);
    vfprintf(stdout, format, v);
    va_end(v);
    puts("");
    faults_found++;
}
