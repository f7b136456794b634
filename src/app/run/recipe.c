#include "app/run/recipe.h"

#include "app/cli/options.h"

bool recipes_open(recipes *all, const settings *s, const job *j, const char *cache, err *e) {
    *all = (recipes){.s = s, .vary = j->kernels || settings_keyed(s), .cache = cache};
    if (j->keyed && !kernel_keys_parse(&all->kernel, s->kernel, e)) return false;
    return !cache || all->vary || stamp_look_at(&all->look, s, e);
}

void recipes_close(recipes *all) {
    kernel_keys_free(&all->kernel);
}

/* Makes the settings of a frame. */
static bool vary(recipe *r, const recipes *all, const job_files *f, err *e) {
    char path[4200];
    const char *kernel = f->kernel;
    double scale = 0;
    const int frame = f->number ? *f->number : 0;
    if (all->kernel.fade.count) {
        /* Sizes that follow from the image, or from the frame, stretch the kernel. */
        const setting *sized = &all->s->value[option_find("kernel_scale", FOR_APPLY) - OPTIONS];
        if (!all->s->bloom.kernel_relative && !sized->keys.count) scale = all->s->bloom.kernel.size;
        if (!kernel_keys_at(path, sizeof path, &all->kernel, frame, &scale, all->s, e))
            return false;
        kernel = path;
    }
    if (!settings_at(&r->own, all->s, frame, kernel, e)) return false;
    if (scale > 0) r->own.bloom.kernel.size = scale;
    return true;
}

bool recipe_make(recipe *r, const recipes *all, const job_files *f, err *e) {
    *r = (recipe){.s = all->s, .look = all->look, .stamped = all->cache != NULL};
    if (all->vary) {
        if (!vary(r, all, f, e)) return false;
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
