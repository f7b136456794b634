#include "app/cli/variables.h"

#include "base/mem.h"
#include "base/path.h"

#include <ctype.h>

bool variables_add(variables *v, const char *name, const char *value, err *e) {
    bool is_name = *name && !isdigit((unsigned char)*name);
    for (const char *p = name; *p; p++) is_name &= isalnum((unsigned char)*p) || *p == '_';
    if (!is_name)
        return err_set(e, ERR_CONFIG,
                       "the name of a variable must be letters, digits and _, not '%s'", name);
    const size_t bytes = v->count * sizeof *v->item;
    variable *item = mem_more(v->item, bytes, bytes + sizeof *item, "variables", e);
    if (!item) return false;
    v->item = item;
    variable *one = &v->item[v->count++]; /* variables_clear frees it */
    *one = (variable){mem_str(name, e), mem_str(value, e)};
    return one->name && one->value;
}

bool variables_parse(variables *v, const char *list, err *e) {
    bool ok = true;
    for (text_piece item, name, value; ok && text_item(&list, &item);) {
        OWN(text) key = {0}, meant = {0};
        bool both = text_part(item, '=', &name, &value);
        text_add_piece(&key, name);
        text_add_piece(&meant, value);
        ok = both ? variables_add(v, key.s, meant.s, e)
                  : err_set(e, ERR_USAGE, "--set takes NAME=VALUE, not '%s'", key.s);
        if (!ok && e) e->code = ERR_USAGE;
    }
    return ok;
}

void variables_clear(variables *v) {
    for (size_t i = 0; i < v->count; i++) {
        mem_free(v->item[i].name);
        mem_free(v->item[i].value);
    }
    mem_free(v->item);
    *v = (variables){.weaker = v->weaker, .total = v->total};
}

/* Returns the value of a variable; NULL with an error that names the nearest one. */
static const char *find(const variables *v, const char *name, err *e) {
    enum { MOST = 256 };
    const char *names[MOST];
    int n = 0;
    for (; v; v = v->weaker)
        for (size_t i = 0; i < v->count; i++) {
            if (strcmp(v->item[i].name, name) == 0) return v->item[i].value;
            if (n < MOST) names[n++] = v->item[i].name;
        }
    err_set(e, ERR_CONFIG, "there is no variable \"%s\"%s", name,
            text_meant((char[TEXT_MEANT]){0}, name, names, n, '"'));
    return NULL;
}

bool variables_expand(const variables *v, const char *s, text *to, err *e) {
    const size_t start = to->n;
    bool ok = true;
    while (ok && *s) {
        const char *at = strstr(s, "${");
        if (!at) {
            text_add_bytes(to, s, strlen(s));
            break;
        }
        bool literal = at > s && at[-1] == '$';
        const char *end = literal ? at + 1 : strchr(at, '}');
        text_add_bytes(to, s, (size_t)(at - s));
        if (!end)
            return err_set(e, ERR_CONFIG,
                           "\"${\" has no closing \"}\"; write \"$${\" for the text \"${\"");
        if (literal) {
            text_add(to, "{"); /* behind the first $, which is there already */
        } else {
            OWN(text) name = {0};
            text_add_bytes(&name, at + 2, (size_t)(end - at) - 2);
            const char *value = find(v, name.s, e);
            ok = value != NULL;
            if (ok) text_add_bytes(to, value, strlen(value));
            if (ok && to->n - start > VARIABLES_STRING)
                ok = err_set(e, ERR_CONFIG,
                             "this string is longer than %d bytes once its variables are replaced",
                             VARIABLES_STRING);
        }
        s = end + 1;
    }
    if (ok && v->total && (*v->total += to->n - start) > VARIABLES_TOTAL)
        return err_set(e, ERR_CONFIG,
                       "the strings of this suite are longer than %d MB once their variables are "
                       "replaced",
                       VARIABLES_TOTAL >> 20);
    return ok;
}

bool variables_string(const variables *words, const json_value *v, bool path, text *to, err *e) {
    const char *file = json_name(v->of);
    OWN(text) whole = {0};
    if (words && !variables_expand(words, v->text, &whole, e)) {
        return false;
    }
    const char *s = !words ? v->text : whole.s ? whole.s : "";
    if (path && *s && *s != '/') text_add_bytes(to, file, (size_t)(path_name(file) - file));
    text_add(to, "%s", s);
    return true;
}
