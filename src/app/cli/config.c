#include "app/cli/config.h"

#include "app/cli/old_words.h"
#include "base/mem.h"
#include "bloom/layer_light.h"

#include <stdio.h>
#include <string.h>

enum {
    NUMBER = 1 << JSON_NUMBER,
    STRING = 1 << JSON_STRING,
    ARRAY = 1 << JSON_ARRAY,
    OBJECT = 1 << JSON_OBJECT,
};

bool config_wrong_type(const json_value *v, const char *key, uint32_t types, err *e) {
    text want = {0};
    for (int t = 0; t < JSON_TYPES; t++)
        if (types >> t & 1)
            text_add(&want, "%s%s", want.n ? " or " : "", json_type_name((json_type)t));
    json_err(v, e, "%s must be %s, not %s", key, want.s, json_type_name(v->type));
    text_free(&want);
    return false;
}

/* --- strings ------------------------------------------------------------------------------- */

bool config_text(const variables *words, const json_value *v, bool path, text *to, err *e) {
    text whole = {0};
    err why = {0};
    bool ok = true;
    if (words && v->type == JSON_STRING)
        ok = variables_expand(words, v->text, &whole, &why) || json_err(v, e, "%s", why.msg);
    else
        text_add(&whole, "%s", v->text);
    if (ok && whole.n) {
        /* A relative path starts in the folder of the file. */
        const char *name = json_name(v->of), *slash = strrchr(name, '/');
        if (path && slash && whole.s[0] != '/')
            text_add_bytes(to, name, (size_t)(slash - name) + 1);
        text_add_bytes(to, whole.s, whole.n);
    }
    text_free(&whole);
    return ok;
}

char *config_string(const variables *words, const json_value *v, const char *what, bool path,
                    err *e) {
    text t = {0};
    char *s = NULL;
    if (v->type != JSON_STRING) {
        config_wrong_type(v, what, STRING, e);
    } else if (config_text(words, v, path, &t, e)) {
        if (t.n)
            s = mem_str(t.s, e);
        else
            json_err(v, e, "%s must not be empty", what);
    }
    text_free(&t);
    return s;
}

/* Appends ["a", "b"] as "a,b". */
static bool join_array(const config_reader *r, const json_value *array, const option *o, text *to,
                       err *e) {
    uint32_t item = o->type == OPTION_CENTER ? NUMBER : STRING;
    for (const json_value *v = array->child; v; v = v->next) {
        if (!(item >> v->type & 1)) return config_wrong_type(v, o->name, item, e);
        text_add(to, to->n ? "," : "");
        if (!config_text(r->words, v, false, to, e)) return false;
    }
    return o->type == OPTION_LIST || array->children == 2 ||
           json_err(array, e, "%s must have two values, for x and for y, not %d", o->name,
                    array->children);
}

/* Sets an option whose value stands at v. */
static bool set_at(const config_reader *r, const json_value *v, const option *o, const char *value,
                   err *e) {
    char where[4300];
    snprintf(where, sizeof where, "%s:%d:%d", json_name(v->of), v->line, v->column);
    return settings_set(r->s, (int)(o - OPTIONS), value, (setting_origin){ORIGIN_FILE, where}, e);
}

/* Sets per_layer from {"rim": {"amount": 0.2}}. */
static bool layer_settings(const config_reader *r, const json_value *object, const option *o,
                           err *e) {
    text list = {0};
    bool ok = true;
    err why = {0};
    for (const json_value *layer = object->child; ok && layer; layer = layer->next) {
        ok = layer->type == JSON_OBJECT || config_wrong_type(layer, layer->key, OBJECT, e);
        for (const json_value *v = ok ? layer->child : NULL; ok && v; v = v->next) {
            /* Strings for "20%" and "inf". */
            bool either = text_glob_any("amount,threshold,knee", v->key);
            uint32_t type = strcmp(v->key, "mask") == 0 ? STRING
                            : either                    ? NUMBER | STRING
                                                        : NUMBER;
            ok = (type >> v->type & 1) || config_wrong_type(v, v->key, type, e);
            text_add(&list, "%s%s:%s=", list.n ? "," : "", layer->key, v->key);
            ok = ok && config_text(r->words, v, false, &list, e);
            if (ok && !layer_light_check(&(bloom_settings){.per_layer = list.s}, &why))
                ok = json_err(v, e, "%s", why.msg);
        }
    }
    if (ok && list.n) ok = set_at(r, object, o, list.s, e);
    text_free(&list);
    return ok;
}

/* --- members ------------------------------------------------------------------------------- */

bool config_member(const config_reader *r, const json_value *v, const option *o, err *e) {
    if (v->type == JSON_OBJECT && o->at == offsetof(settings, bloom.per_layer))
        return layer_settings(r, v, o, e);
    if (v->type == JSON_OBJECT && o->at == offsetof(settings, bloom.layers))
        return json_err(v, e,
                        "layers takes the names of layers; settings of single layers are "
                        "\"per_layer\": {\"rim\": {\"amount\": 0.2}}");
    const char *instead = v->type == JSON_OBJECT ? old_value(o->name, "1:") : NULL;
    if (instead) return json_err(v, e, "%s by frame is gone: %s", o->name, instead);
    uint32_t types = option_json_types(o);
    if (!(types >> v->type & 1)) return config_wrong_type(v, o->name, types, e);
    if (r->in_suite && o->not_in_suite)
        return json_err_key(v, e, "a suite cannot set %s; 'fftbloom check SUITE.json --%s %s' does",
                            o->name, o->name, v->text);
    text value = {0};
    bool ok = v->type == JSON_ARRAY ? join_array(r, v, o, &value, e)
                                    : config_text(r->words, v, o->type == OPTION_PATH, &value, e);
    if (ok && o->flag_word && value.n && strcmp(value.s, o->flag_word) == 0)
        ok = json_err(v, e, "a config file cannot say %s of %s; --%s %s does", value.s, o->name,
                      o->name, value.s);
    /* An empty list is the same as the default, none given. */
    if (ok && value.n)
        ok = set_at(r, v, o, value.s, e);
    else if (ok && v->type == JSON_STRING)
        ok = json_err(v, e, "%s must not be empty", o->name);
    text_free(&value);
    return ok;
}

static bool unknown_key(const json_value *v, err *e) {
    const option *o = option_find(v->key, FOR_ALL);
    char flag[OPTION_NAME_ROOM];
    const char *instead = old_word(v->key, FOR_CONFIG);
    if (instead) return json_err_key(v, e, "\"%s\" is gone: %s", v->key, instead);
    if (o && o->at == offsetof(settings, config))
        return json_err_key(v, e,
                            "\"config\" cannot be set in a config file; give all keys in one");
    if (o && !option_in_config(o))
        return json_err_key(v, e,
                            "\"%s\" cannot be set in a config file, only by %s on the command line",
                            v->key, option_flag(o, flag));
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
        return json_err(v, e, "version is %s; this program reads version %d only",
                        v->text ? v->text : json_type_name(v->type), CONFIG_VERSION);
    return true;
}

/* --- files --------------------------------------------------------------------------------- */

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
