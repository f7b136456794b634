#include "app/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    BOOL = 1 << JSON_BOOL,
    NUMBER = 1 << JSON_NUMBER,
    STRING = 1 << JSON_STRING,
    ARRAY = 1 << JSON_ARRAY,
    OBJECT = 1 << JSON_OBJECT,
};

uint32_t config_json_types(option_type type, bool may_be_infinite) {
    static const uint32_t TYPES[OPTION_TYPES] = {
        [OPTION_BOOL] = BOOL,
        [OPTION_INT] = NUMBER,
        [OPTION_FLOAT] = NUMBER,
        [OPTION_ENUM] = STRING,
        [OPTION_STRING] = STRING,
        [OPTION_PATH] = STRING,
        [OPTION_LIST] = STRING | ARRAY,
        [OPTION_SIZE] = NUMBER | STRING,
        [OPTION_BORDERS] = STRING | ARRAY | OBJECT,
        [OPTION_CENTER] = STRING | ARRAY,
        [OPTION_SCALE] = NUMBER | STRING,
    };
    return TYPES[type] | (type == OPTION_FLOAT && may_be_infinite ? STRING : 0);
}

static bool wrong_type(const json_document *d, const json_value *v, const char *key, uint32_t types,
                       err *e) {
    text want = {0};
    for (int t = 0; t < JSON_TYPES; t++)
        if (types >> t & 1)
            text_add(&want, "%s%s", want.n ? " or " : "", json_type_name((json_type)t));
    json_err(d, v, e, "%s must be %s, not %s", key, want.s, json_type_name(v->type));
    text_free(&want);
    return false;
}

/* ["a", "b"] as "a,b". */
static bool join_array(const json_document *d, const json_value *array, const option *o, text *to,
                       err *e) {
    uint32_t item = o->type == OPTION_CENTER ? NUMBER : STRING;
    for (const json_value *v = array->child; v; v = v->next) {
        if (!(item >> v->type & 1)) return wrong_type(d, v, o->name, item, e);
        text_add(to, "%s%s", to->n ? "," : "", v->text);
    }
    if (o->type != OPTION_LIST && array->children != 2)
        return json_err(d, array, e, "%s must have two values, for x and for y, not %d", o->name,
                        array->children);
    return true;
}

/* {"x": "a", "y": "b"} as "a,b". */
static bool join_axes(const json_document *d, const json_value *object, const option *o, text *to,
                      err *e) {
    for (const json_value *v = object->child; v; v = v->next) {
        if (strcmp(v->key, "x") != 0 && strcmp(v->key, "y") != 0)
            return json_err_key(d, v, e, "%s has the axes \"x\" and \"y\", not \"%s\"", o->name,
                                v->key);
        if (v->type != JSON_STRING) return wrong_type(d, v, o->name, STRING, e);
    }
    const json_value *x = json_get(object, "x"), *y = json_get(object, "y");
    if (!x || !y) return json_err(d, object, e, "%s needs both \"x\" and \"y\"", o->name);
    text_add(to, "%s,%s", x->text, y->text);
    return true;
}

/* Paths are meant from where the config file is. */
static void add_folder(const json_document *d, const json_value *v, const option *o, text *to) {
    const char *name = json_name(d), *slash = strrchr(name, '/');
    if (o->type == OPTION_PATH && slash && v->text[0] != '/' && v->text[0])
        text_add_bytes(to, name, (size_t)(slash - name) + 1);
}

static bool set_member(settings *s, const json_document *d, const json_value *v, const option *o,
                       err *e) {
    uint32_t types = config_json_types(o->type, isinf(o->max));
    if (!(types >> v->type & 1)) return wrong_type(d, v, o->name, types, e);
    text value = {0}, where = {0};
    text_add(&where, "%s:%d:%d", json_name(d), v->line, v->column);
    bool ok = true;
    if (v->type == JSON_ARRAY) {
        ok = join_array(d, v, o, &value, e);
    } else if (v->type == JSON_OBJECT) {
        ok = join_axes(d, v, o, &value, e);
    } else {
        add_folder(d, v, o, &value);
        text_add(&value, "%s", v->text);
    }
    /* An empty list is the same as the default, none given. */
    if (ok && value.n)
        ok = settings_set(s, (int)(o - OPTIONS), value.s, ORIGIN_FILE, where.s, e);
    else if (ok && v->type == JSON_STRING)
        ok = json_err(d, v, e, "%s must not be empty", o->name);
    text_free(&value);
    text_free(&where);
    return ok;
}

bool config_apply(settings *s, const json_document *d, const json_value *object, err *e) {
    for (const json_value *v = object->child; v; v = v->next) {
        if (strcmp(v->key, "version") == 0 || strcmp(v->key, "$schema") == 0) continue;
        const option *o = option_find(v->key, FOR_APPLY);
        if (!o || strchr(v->key, '-') || !option_in_config(o)) {
            const char *near = option_nearest(v->key, FOR_APPLY);
            return json_err_key(d, v, e, "there is no option \"%s\"%s%s%s", v->key,
                                near ? "; did you mean \"" : "", near ? near : "",
                                near ? "\"?" : "");
        }
        if (!set_member(s, d, v, o, e)) return false;
    }
    return true;
}

bool config_check_version(const json_document *d, const json_value *object, err *e) {
    const json_value *v = json_get(object, "version");
    if (!v) return json_err(d, object, e, "needs \"version\": %d", CONFIG_VERSION);
    if (v->type != JSON_NUMBER || v->number != CONFIG_VERSION)
        return json_err(d, v, e, "version is %s; this program reads version %d only",
                        v->text ? v->text : json_type_name(v->type), CONFIG_VERSION);
    return true;
}

bool config_load(settings *s, const char *path, err *e) {
    json_document *d = json_read(path, e);
    if (!d) return false;
    const json_value *root = json_root(d);
    bool ok = root->type == JSON_OBJECT
                  ? config_check_version(d, root, e) && config_apply(s, d, root, e)
                  : json_err(d, root, e, "a config file is an object, not %s",
                             json_type_name(root->type));
    json_free(&d);
    return ok;
}
