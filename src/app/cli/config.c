#include "app/cli/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    BOOL = 1 << JSON_BOOL,
    NUMBER = 1 << JSON_NUMBER,
    STRING = 1 << JSON_STRING,
    ARRAY = 1 << JSON_ARRAY,
    OBJECT = 1 << JSON_OBJECT,
};

uint32_t config_json_types(option_type type, bool may_be_word) {
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
    return TYPES[type] | (type == OPTION_FLOAT && may_be_word ? STRING : 0);
}

bool config_wrong_type(const json_document *d, const json_value *v, const char *key, uint32_t types,
                       err *e) {
    text want = {0};
    for (int t = 0; t < JSON_TYPES; t++)
        if (types >> t & 1)
            text_add(&want, "%s%s", want.n ? " or " : "", json_type_name((json_type)t));
    json_err(d, v, e, "%s must be %s, not %s", key, want.s, json_type_name(v->type));
    text_free(&want);
    return false;
}

/* --- strings ------------------------------------------------------------------------------- */

/* Appends the folder of the file, where a relative path starts. */
static void add_folder(const json_document *d, const char *path, text *to) {
    const char *name = json_name(d), *slash = strrchr(name, '/');
    if (slash && path[0] && path[0] != '/') text_add_bytes(to, name, (size_t)(slash - name) + 1);
}

bool config_text(const variables *words, const json_document *d, const json_value *v, bool path,
                 text *to, err *e) {
    text whole = {0};
    err why = {0};
    bool ok = true;
    if (words && v->type == JSON_STRING) {
        ok = variables_expand(words, v->text, &whole, &why);
    } else {
        text_add(&whole, "%s", v->text);
    }
    if (!ok) {
        json_err(d, v, e, "%s", why.msg);
    } else if (whole.n) {
        if (path) add_folder(d, whole.s, to);
        text_add_bytes(to, whole.s, whole.n);
    }
    text_free(&whole);
    return ok;
}

/* Returns true for a string with variables, which may stand for a value of any type. */
static bool has_variables(const config_reader *r, const json_value *v) {
    return r->words && v->type == JSON_STRING && strstr(v->text, "${");
}

/* Appends ["a", "b"] as "a,b". */
static bool join_array(const config_reader *r, const json_document *d, const json_value *array,
                       const option *o, text *to, err *e) {
    uint32_t item = o->type == OPTION_CENTER ? NUMBER : STRING;
    for (const json_value *v = array->child; v; v = v->next) {
        if (!(item >> v->type & 1) && !has_variables(r, v))
            return config_wrong_type(d, v, o->name, item, e);
        text_add(to, to->n ? "," : "");
        if (!config_text(r->words, d, v, false, to, e)) return false;
    }
    if (o->type != OPTION_LIST && array->children != 2)
        return json_err(d, array, e, "%s must have two values, for x and for y, not %d", o->name,
                        array->children);
    return true;
}

/* Appends {"x": "a", "y": "b"} as "a,b". */
static bool join_axes(const config_reader *r, const json_document *d, const json_value *object,
                      const option *o, text *to, err *e) {
    for (const json_value *v = object->child; v; v = v->next) {
        if (strcmp(v->key, "x") != 0 && strcmp(v->key, "y") != 0)
            return json_err_key(d, v, e, "%s has the axes \"x\" and \"y\", not \"%s\"", o->name,
                                v->key);
        if (v->type != JSON_STRING) return config_wrong_type(d, v, o->name, STRING, e);
    }
    const json_value *x = json_get(object, "x"), *y = json_get(object, "y");
    if (!x || !y) return json_err(d, object, e, "%s needs both \"x\" and \"y\"", o->name);
    if (!config_text(r->words, d, x, false, to, e)) return false;
    text_add(to, ",");
    return config_text(r->words, d, y, false, to, e);
}

/* --- members ------------------------------------------------------------------------------- */

bool config_member(const config_reader *r, const json_document *d, const json_value *v,
                   const option *o, err *e) {
    uint32_t types = config_json_types(o->type, isinf(o->max) || o->words);
    if (!(types >> v->type & 1) && !has_variables(r, v))
        return config_wrong_type(d, v, o->name, types, e);
    text value = {0}, where = {0};
    text_add(&where, "%s:%d:%d", json_name(d), v->line, v->column);
    bool ok = true;
    if (v->type == JSON_ARRAY) {
        ok = join_array(r, d, v, o, &value, e);
    } else if (v->type == JSON_OBJECT) {
        ok = join_axes(r, d, v, o, &value, e);
    } else {
        ok = config_text(r->words, d, v, o->type == OPTION_PATH, &value, e);
    }
    /* An empty list is the same as the default, none given. */
    if (ok && value.n)
        ok = settings_set(r->s, (int)(o - OPTIONS), value.s, (setting_origin){ORIGIN_FILE, where.s},
                          e);
    else if (ok && v->type == JSON_STRING)
        ok = json_err(d, v, e, "%s must not be empty", o->name);
    text_free(&value);
    text_free(&where);
    return ok;
}

static bool include_one(const config_reader *r, const json_document *d, const json_value *v,
                        err *e) {
    if (v->type != JSON_STRING) return config_wrong_type(d, v, "include", STRING, e);
    text path = {0};
    bool ok = config_text(r->words, d, v, true, &path, e) &&
              (path.n > 0 || json_err(d, v, e, "include must not be empty")) &&
              config_file(r, path.s, d, v, e);
    text_free(&path);
    return ok;
}

static bool include(const config_reader *r, const json_document *d, const json_value *v, err *e) {
    if (!v) return true;
    if (v->type != JSON_ARRAY && v->type != JSON_STRING)
        return config_wrong_type(d, v, "include", STRING | ARRAY, e);
    if (v->type == JSON_STRING) return include_one(r, d, v, e);
    for (v = v->child; v; v = v->next)
        if (!include_one(r, d, v, e)) return false;
    return true;
}

static bool is_passed_over(const char *key) {
    return strcmp(key, "version") == 0 || strcmp(key, "$schema") == 0 ||
           strcmp(key, "include") == 0;
}

static bool unknown_key(const json_document *d, const json_value *v, err *e) {
    const option *o = option_find(v->key, FOR_ALL);
    char flag[OPTION_NAME_ROOM];
    if (o && o->at == offsetof(settings, config))
        return json_err_key(d, v, e, "\"config\" cannot be set in a config file; use \"include\"");
    if (o && !option_in_config(o))
        return json_err_key(d, v, e,
                            "\"%s\" cannot be set in a config file, only by %s on the command line",
                            v->key, option_flag(o, flag));
    const char *near = o ? o->name : option_nearest(v->key, FOR_CONFIG);
    return json_err_key(d, v, e, "there is no option \"%s\"%s%s%s", v->key,
                        near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

bool config_object(const config_reader *r, const json_document *d, const json_value *object,
                   err *e) {
    if (!include(r, d, json_get(object, "include"), e)) return false;
    for (const json_value *v = object->child; v; v = v->next) {
        if (is_passed_over(v->key)) continue;
        const option *o = option_find(v->key, FOR_CONFIG);
        if (!o || strchr(v->key, '-')) return unknown_key(d, v, e);
        if (!config_member(r, d, v, o, e)) return false;
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

/* --- files --------------------------------------------------------------------------------- */

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Appends "a.json -> b.json -> ", from `first` to `c`. */
static void add_chain(const config_chain *c, const config_chain *first, text *to) {
    if (c != first) add_chain(c->outer, first, to);
    text_add(to, "%s -> ", c->path);
}

static bool check_chain(const config_chain *own, err *e) {
    int depth = 1;
    for (const config_chain *c = own->outer; c; c = c->outer, depth++) {
        if (!same_file(c->path, own->path)) continue;
        if (c == own->outer)
            return json_err(own->from, own->at, e, "include loop: %s includes itself", own->path);
        text loop = {0};
        add_chain(own->outer, c, &loop);
        json_err(own->from, own->at, e, "include loop: %s%s", loop.s, own->path);
        text_free(&loop);
        return false;
    }
    return depth <= CONFIG_DEPTH ||
           json_err(own->from, own->at, e, "files include each other more than %d deep",
                    CONFIG_DEPTH);
}

json_document *config_open(const config_chain *own, err *e) {
    config_total *total = own->total;
    if (!check_chain(own, e)) return NULL;
    if (++total->files > CONFIG_FILES)
        return json_err(own->from, own->at, e, "includes read more than %d files", CONFIG_FILES),
               NULL;
    json_document *d = json_read(own->path, e);
    if (!d) return NULL;
    total->bytes += json_bytes(d);
    if (own->from && total->bytes > CONFIG_BYTES) {
        json_err(own->from, own->at, e, "includes read more than %d MB", CONFIG_BYTES >> 20);
        json_free(&d);
    }
    return d;
}

/* Reads the file of r->chain. */
static bool read_file(const config_reader *r, err *e) {
    json_document *d = config_open(r->chain, e);
    if (!d) return false;
    const json_value *root = json_root(d);
    bool ok = root->type == JSON_OBJECT
                  ? config_check_version(d, root, e) && config_object(r, d, root, e)
                  : json_err(d, root, e, "a config file is an object, not %s",
                             json_type_name(root->type));
    json_free(&d);
    return ok;
}

bool config_file(const config_reader *r, const char *path, const json_document *from,
                 const json_value *at, err *e) {
    const config_chain own = {path, r->chain->total, r->chain, from, at};
    return read_file(&(config_reader){r->s, r->words, &own}, e);
}

bool config_load(settings *s, const char *path, err *e) {
    config_total total = {0};
    const config_chain own = {.path = path, .total = &total};
    return read_file(&(config_reader){s, NULL, &own}, e);
}
