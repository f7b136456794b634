#include "app/cli/kernel_keys.h"

#include "app/cli/library.h"
#include "base/mem.h"
#include "kernel/make/kernel_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kernel_keys_is(const char *kernel) {
    size_t n = strlen(kernel);
    const char *open = strchr(kernel, '(');
    bool looks = keyed_begins(kernel) || (open && open > kernel && kernel[n - 1] == ')');
    return looks && access(kernel, F_OK) != 0;
}

/* Reads "name=value" or "name=1001:2,1050:4". */
static bool keys_read_parameter(kernel_keys *k, const char *word, err *e) {
    const char *is = strchr(word, '=');
    text value = {0};
    if (!is || is == word)
        return err_set(e, ERR_CONFIG, "expected a parameter such as fnumber=11, not '%s'", word);
    if (k->parameters == KERNEL_KEYED_PARAMETERS)
        return err_set(e, ERR_CONFIG, "a kernel may have %d parameters, not more",
                       KERNEL_KEYED_PARAMETERS);
    kernel_keyed_parameter *p = &k->parameter[k->parameters++];
    text_add(&value, "%s%s", keyed_is(is + 1) ? "" : "0:", is + 1);
    bool ok = (p->name = mem_strf(e, "%.*s", (int)(is - word), word)) &&
              keyed_parse(&p->value, value.s, false, e);
    text_free(&value);
    return ok;
}

static bool keys_read_parameters(kernel_keys *k, const char *kernel, err *e) {
    char word[512];
    const char *at = strchr(kernel, '('), *end = kernel + strlen(kernel) - 1;
    text name = {0};
    text_add(&name, "0:%.*s", (int)(at - kernel), kernel);
    bool ok = keyed_parse(&k->fade, name.s, true, e);
    for (at++; ok && at < end;) {
        size_t n = strcspn(at, ";)");
        at += strspn(at, " ");
        ok = n < sizeof word || err_set(e, ERR_CONFIG, "a parameter of '%s' is too long", kernel);
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        ok = ok && keys_read_parameter(k, word, e);
        at += n + 1;
    }
    text_free(&name);
    return ok;
}

bool kernel_keys_parse(kernel_keys *k, const char *kernel, err *e) {
    *k = (kernel_keys){0};
    bool ok = keyed_begins(kernel) ? keyed_parse(&k->fade, kernel, true, e)
                                   : keys_read_parameters(k, kernel, e);
    if (!ok) kernel_keys_free(k);
    return ok;
}

void kernel_keys_free(kernel_keys *k) {
    for (int i = 0; i < k->parameters; i++) {
        mem_free(k->parameter[i].name);
        keyed_free(&k->parameter[i].value);
    }
    keyed_free(&k->fade);
    *k = (kernel_keys){0};
}

bool kernel_keys_vary(const kernel_keys *k) {
    bool any = k->fade.count > 1;
    for (int i = 0; i < k->parameters; i++) any |= k->parameter[i].value.count > 1;
    return any;
}

/* Finds the file of a kernel: a recipe is made at `scale` with these parameters. */
static bool keys_find(char to[SHELF_PATH], const char *kernel, double scale, const char *parameters,
                      const settings *s, err *e) {
    char recipe[LIBRARY_PATH], word[LIBRARY_PATH];
    if (library_recipe(recipe, kernel, s))
        return library_make(to, &(shelf_want){recipe, parameters, {NULL}, scale, false}, s, e);
    if (*parameters)
        return err_set(e, ERR_CONFIG, "'%s' is no recipe, so it has no parameters such as %s",
                       kernel, parameters);
    snprintf(word, sizeof word, "%s", kernel);
    const char *found = library_path(to, word, s, e);
    if (found && found != to) snprintf(to, SHELF_PATH, "%s", found);
    return found != NULL;
}

bool kernel_keys_check(const kernel_keys *k, const settings *s, err *e) {
    char recipe[LIBRARY_PATH];
    for (size_t i = 0; i < k->fade.count; i++) {
        const char *kernel = k->fade.key[i].word;
        bool is = library_recipe(recipe, kernel, s);
        if (!is && !library_has(kernel, s, e)) return false;
        for (int p = 0; p < k->parameters; p++) {
            kernel_recipe r = {0};
            text at = {0};
            if (!is)
                return err_set(e, ERR_CONFIG, "'%s' is no recipe, so it has no parameter '%s'",
                               kernel, k->parameter[p].name);
            text_add(&at, "%s=", k->parameter[p].name);
            keyed_add_key(&k->parameter[p].value, 0, &at);
            bool ok = kernel_recipe_file(&r, recipe, NULL, e) && kernel_recipe_set(&r, at.s, e);
            kernel_recipe_free(&r);
            text_free(&at);
            if (!ok) return err_in(e, "kernel '%s'", kernel);
        }
    }
    return true;
}

bool kernel_keys_at(char *to, size_t room, const kernel_keys *k, int frame, double *scale,
                    const settings *s, err *e) {
    size_t next = 0; /* the first key that is not before the frame, or the last one */
    char a[SHELF_PATH], b[SHELF_PATH], both[SHELF_PATH];
    text parameters = {0};
    const char *found = b;
    bool recipes = *scale > 0; /* and all kernels are, which can be made at any size */
    while (next + 1 < k->fade.count && k->fade.key[next].frame < frame) next++;
    for (int i = 0; i < k->parameters; i++) { /* as `kernel make --param` takes them */
        text_add(&parameters, "%s%s=", i ? "," : "", k->parameter[i].name);
        keyed_add_at(&k->parameter[i].value, frame, &parameters);
    }
    for (size_t i = 0; i < k->fade.count; i++)
        recipes = recipes && library_recipe(both, k->fade.key[i].word, s);
    double made = recipes ? *scale : 1;
    *scale = made == 1 ? *scale : 1;
    const char *more = parameters.s ? parameters.s : "";
    bool ok = keys_find(b, k->fade.key[next].word, made, more, s, e);
    if (ok && next > 0 && frame < k->fade.key[next].frame) {
        const int from = k->fade.key[next - 1].frame;
        const double part = (frame - (double)from) / (k->fade.key[next].frame - (double)from);
        ok = keys_find(a, k->fade.key[next - 1].word, made, more, s, e) &&
             library_make(both, &(shelf_want){.mixed = {a, b}, .share = part}, s, e);
        found = part > 0 ? both : a;
    }
    text_free(&parameters);
    if (ok && snprintf(to, room, "%s", found) >= (int)room)
        ok = err_set(e, ERR_CONFIG, "the path of the kernel '%s' is too long", found);
    return ok;
}
