#include "app/run/recipe.h"

#include "app/cli/options.h"

bool recipes_open(recipes *all, const settings *s, const job *j, const char *cache, err *e) {
    *all = (recipes){.s = s, .vary = j->kernels || settings_keyed(s), .cache = cache};
    return !cache || all->vary || stamp_look_at(&all->look, s, e);
}

bool recipe_make(recipe *r, const recipes *all, const job_files *f, err *e) {
    *r = (recipe){.s = all->s, .look = all->look, .stamped = all->cache != NULL};
    if (all->vary) {
        if (!settings_at(&r->own, all->s, f->number ? *f->number : 0, f->kernel, e)) return false;
        r->s = &r->own;
        if (r->stamped && !stamp_look_at(&r->look, r->s, e)) return false;
    }
    r->stamp = (stamp){all->cache, &r->look, f->input, f->output};
    return true;
}

void recipe_free(recipe *r) {
    settings_free(&r->own);
}

void recipe_name(const recipe *r, const recipes *all, text *to) {
    if (!all->vary) return;
    text_add(to, "%s\n", r->s->kernel);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (OPTIONS[i].keyed && r->s->value[i].text) text_add(to, "%s\n", r->s->value[i].text);
}
