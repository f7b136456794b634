#include "app/run/run_choice.h"

#include "app/cli/options.h"

run_choice run_choice_of(const cli *c) {
    return (run_choice){.s = &c->s,
                        .presets = &c->presets,
                        .kernel = &c->kernel,
                        .kernels = &c->kernels,
                        .cache = c->kernels.in.cache,
                        .report = c->s.report,
                        .dry = c->s.dry_run || c->cmd->bit & FOR_PLAN,
                        .farms = c->cmd->bit & FOR_FARM};
}

settings picture_look_settings(const settings *s, const picture_look *look) {
    settings as = *s;
    as.view = look->view;
    as.exposure = look->exposure;
    return as;
}
