#include "app/run/run_choice.h"

#include "app/cli/options.h"

run_choice run_choice_of(const cli *c) {
    return (run_choice){.s = &c->s,
                        .kernel = &c->kernel,
                        .kernels = &c->kernels,
                        .cache = c->kernels.in.cache,
                        .report = c->s.report,
                        .view = c->s.view,
                        .exposure = c->s.exposure,
                        .dry = c->s.dry_run || c->cmd->bit & FOR_PLAN,
                        .farms = c->cmd->bit & FOR_FARM};
}

static void decide(settings *s, const char *name, const char *kept) {
    setting *v = &s->value[option_place(option_find(name, FOR_APPLY))];
    v->kept = (char *)(uintptr_t)kept;
    v->origin = ORIGIN_FILE;
}

settings run_choice_settings(const run_choice *r) {
    settings s = *r->s;
    if (s.view != r->view) decide(&s, "view", r->view);
    if (isnan(s.exposure) && !isnan(r->exposure)) decide(&s, "exposure", NULL);
    s.view = r->view;
    s.kernel_auto |= r->kernel->follows;
    s.exposure = r->exposure;
    return s;
}
