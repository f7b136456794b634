#include "app/cli/config.h"

#include "app/cli/option_rules.h"
#include "base/path.h"

#include <ctype.h>

/* --- variables --- */

bool variables_add(variables *v, const char *name, const char *value, err *e) {
    bool is_name = *name && !isdigit((unsigned char)*name);
    for (const char *p = name; *p; p++) is_name &= isalnum((unsigned char)*p) || *p == '_';
    if (!is_name)
        return err_set(e, ERR_CONFIG,
                       "the name of a variable must be letters, digits and _, not '%s'", name);
    variable *item = realloc(v->item, (v->count + 1) * sizeof *item);
    if (!item) return err_set(e, ERR_MEMORY, "no memory for %zu variables", v->count + 1);
    v->item = item;
    variable *one = &v->item[v->count++]; /* variables_clear frees it */
    *one = (variable){mem_str(name, e), mem_str(value, e)};
    return one->name && one->value;
}

bool variables_parse(variables *v, const char *list, err *e) {
    bool ok = true;
    for (text_piece item, name, value; ok && text_item(&list, &item);) {
        OWN(text) key = {0}, is = {0};
        bool both = text_part(item, '=', &name, &value);
        text_add_piece(&key, name);
        text_add_piece(&is, value);
        ok = both ? variables_add(v, key.s, is.s, e)
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
    free(v->item);
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

/* --- configs --- */

bool config_wrong_type(const json_value *v, const char *key, uint32_t types, err *e) {
    OWN(text) want = {0};
    char keyed[OPTION_NAME_ROOM];
    snprintf(keyed, sizeof keyed, "%s:", v->type == JSON_OBJECT && v->child ? v->child->key : "");
    const char *instead = old_value(key, keyed);
    if (instead)
        return json_err(v, e, "%s with a value for each of some frames is gone: %s", key, instead);
    for (int t = 0; t < JSON_TYPES; t++)
        if (types >> t & 1)
            text_add(&want, "%s%s", want.n ? " or " : "", json_type_name((json_type)t));
    return json_err(v, e, "%s must be %s, not %s", key, want.s, json_type_name(v->type));
}

char *config_string(const variables *words, const json_value *v, const char *what, bool path,
                    err *e) {
    OWN(text) t = {0};
    err why = {0};
    if (v->type != JSON_STRING)
        config_wrong_type(v, what, 1 << JSON_STRING, e);
    else if (!variables_string(words, v, path, &t, &why))
        json_err(v, e, "%s", why.msg);
    else if (t.n)
        return mem_str(t.s, e);
    else
        json_err(v, e, "%s must not be empty", what);
    return NULL;
}

bool config_member(const config_reader *r, const json_value *v, const option *o, err *e) {
    return kind_types(o) >> v->type & 1 ? settings_set_json(r->s, o, v, r->words, r->in_suite, e)
                                        : config_wrong_type(v, o->name, kind_types(o), e);
}

static bool unknown_key(const json_value *v, err *e) {
    const option *o = option_find(v->key, FOR_ALL);
    const char *instead = old_word(v->key, FOR_CONFIG);
    if (instead) return json_err_key(v, e, "\"%s\" is gone: %s", v->key, instead);
    if (o && !option_in_config(o))
        return json_err_key(v, e,
                            "\"%s\" cannot be set in a config file, only by %s on the command line",
                            v->key, FLAG_OF(o));
    const char *near = o ? o->name : option_nearest(v->key, FOR_CONFIG);
    return json_err_key(v, e, "there is no option \"%s\"%s%s%s", v->key,
                        near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

bool config_object(const config_reader *r, const json_value *object, err *e) {
    for (const json_value *v = object->child; v; v = v->next) {
        if (strcmp(v->key, "version") == 0 || strcmp(v->key, "$schema") == 0) continue;
        const option *o = option_find(v->key, FOR_CONFIG);
        if (!o || strchr(v->key, '-')) return unknown_key(v, e);
        for (const json_value *w = object->child; w != v; w = w->next) {
            const option *other = option_find(w->key, FOR_CONFIG);
            if (other && option_same_value(other, o))
                return json_err_key(v, e, "\"%s\" and \"%s\" set the same value; keep one of them",
                                    w->key, v->key);
        }
        if (!config_member(r, v, o, e)) return false;
    }
    return true;
}

bool config_check_version(const json_value *object, err *e) {
    const json_value *v = json_get(object, "version");
    if (!v) return json_err(object, e, "the file needs \"version\": %d", CONFIG_VERSION);
    if (v->type != JSON_NUMBER || v->number != CONFIG_VERSION)
        return json_err(v, e, "version must be the number %d, not %s%s", CONFIG_VERSION,
                        v->type == JSON_NUMBER ? "" : json_type_name(v->type),
                        v->type == JSON_NUMBER ? v->text : "");
    return true;
}

bool config_file(const config_reader *r, const char *path, uint64_t *bytes, err *e) {
    json_document *d = json_read(path, e);
    if (!d) return false;
    const json_value *root = json_root(d);
    bool ok = root->type == JSON_OBJECT ? config_check_version(root, e) && config_object(r, root, e)
                                        : json_err(root, e, "a config file is an object, not %s",
                                                   json_type_name(root->type));
    *bytes += json_bytes(d);
    json_free(&d);
    return ok;
}

bool config_load(settings *s, const char *path, err *e) {
    uint64_t bytes = 0;
    return config_file(&(config_reader){s, NULL, false}, path, &bytes, e);
}
