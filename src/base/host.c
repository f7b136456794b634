#include "base/host.h"

#include <stddef.h>

static _Thread_local host here = {.span = 1};

host *host_here(void) {
    return &here;
}

static const char *(*variable)(const char *name);

void host_set_variables(const char *(*get)(const char *name)) {
    variable = get;
}

const char *host_variable(const char *name) {
    return variable ? variable(name) : NULL;
}

host host_set(host h) {
    host was = here;
    here = h;
    return was;
}

bool host_ask(double done, err *e) {
    if (!here.progress || !here.progress(here.progress_ctx, here.from + here.span * done))
        return true;
    return err_set(e, ERR_CANCELLED, "cancelled");
}
