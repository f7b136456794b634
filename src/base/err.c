#include "base/err.h"

#include <errno.h>

bool err_set(err *e, err_code code, const char *fmt, ...) {
    if (!e) return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    e->code = code;
    e->fault = FAULT_NONE;
    e->number = 0;
    return false;
}

bool err_in(err *e, const char *fmt, ...) {
    if (!e) return false;
    char inner[sizeof e->msg];
    memcpy(inner, e->msg, sizeof inner);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    int room = (int)sizeof e->msg - n;
    if (n >= 0 && room > 0) snprintf(e->msg + n, (size_t)room, ": %.*s", room, inner);
    return false;
}

bool err_blame(err *e, err_fault fault) {
    if (e) e->fault = fault;
    return false;
}

static err_code code_of_errno(int number, err_code otherwise) {
    switch (number) {
    case ENOENT:
    case ENOTDIR: return otherwise == ERR_IO ? ERR_NO_INPUT : otherwise;
    case ENOMEM: return ERR_MEMORY;
    case ENOSPC:
    case EDQUOT: return ERR_IO; /* somebody must make room */
    case EMFILE:
    case ENFILE: return ERR_RETRY;
    default: return otherwise;
    }
}

bool err_errno(err *e, err_code code, const char *fmt, ...) {
    int number = errno;
    if (!e) return false;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof e->msg)
        snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %s", strerror(number));
    e->code = code_of_errno(number, code);
    e->fault = FAULT_NONE;
    e->number = number;
    return false;
}

bool err_is_missing(const err *e) {
    return e->number == ENOENT || e->number == ENOTDIR;
}
