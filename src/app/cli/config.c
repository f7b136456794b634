#include "app/cli/config.h"

#include "app/cli/option_rules.h"
#include "base/path.h"

bool config_wrong_type(const json_value *v, const char *key, uint32_t types, err *e) {
    OWN(text) want = {0};
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
    OWN(text) hint = {0};
    if (option_foreign(v->key, FOR_CONFIG, &hint))
        return json_err_key(v, e, "there is no option \"%s\"%s", v->key, hint.s);
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
    OWN(json_document) *d = json_read(path, e);
    if (!d) return false;
    const json_value *root = json_root(d);
    bool ok = root->type == JSON_OBJECT ? config_check_version(root, e) && config_object(r, root, e)
                                        : json_err(root, e, "a config file is an object, not %s",
                                                   json_type_name(root->type));
    *bytes += json_bytes(d);
    return ok;
}

bool config_load(settings *s, const char *path, err *e) {
    uint64_t bytes = 0;
    return config_file(&(config_reader){s, NULL, false}, path, &bytes, e);
}
