#include "app/check/suite.h"

#include "app/check/suite_keys.h"
#include "app/cli/library.h"
#include "app/run/job.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Variables and defaults of one file and of the files that it includes. The documents that hold the
 * defaults stay open until all cases are read. */
typedef struct {
    variables words;
    const json_value **first;
    size_t count;
} scope;

typedef struct {
    suite *s;
    variables set, of_case; /* set -> of_case -> the outermost file -> ... -> the file at hand */
    json_document **document;
    size_t documents;
    config_total total;
    size_t expanded; /* bytes of strings whose variables are replaced */
    err *e;
} suite_reader;

/* Makes room for one more item in a list. Returns NULL, with an error, if there is no memory. */
static void *more(void *list, size_t count, size_t size, err *e) {
    void *to = realloc(list, (count + 1) * size);
    if (!to) err_set(e, ERR_MEMORY, "no memory for a suite of %zu cases", count);
    return to;
}

/* --- one case ------------------------------------------------------------------------------ */

static bool read_variables(suite_reader *r, variables *to, const json_value *object) {
    for (const json_value *v = object->child; v; v = v->next) {
        text value = {0};
        err why = {0};
        uint32_t types = 1 << JSON_STRING | 1 << JSON_NUMBER | 1 << JSON_BOOL;
        if (!(types >> v->type & 1)) return config_wrong_type(v, v->key, types, r->e);
        bool ok = config_text(&r->set, v, false, &value, r->e);
        if (ok && !variables_add(to, v->key, value.s ? value.s : "", &why))
            ok = json_err_key(v, r->e, "%s", why.msg);
        text_free(&value);
        if (!ok) return false;
    }
    return true;
}

/* Reads the keys of a case or of defaults; name and variables were read before. */
static bool read_keys(suite_reader *r, suite_case_reader *to, const json_value *object,
                      suite_key_place place) {
    for (const json_value *v = object->child; v; v = v->next) {
        const option *o;
        const suite_key *k = suite_key_find(v, place, &o, r->e);
        if (!k && !o) return false;
        if (o && !config_member(&to->config, v, o, r->e)) return false;
        if (k && k->read && !k->read(to, v, r->e)) return false;
    }
    return true;
}

/* Checks rules that concern several keys. */
static bool check_case(suite_reader *r, const suite_case *c, const json_value *v) {
    bool referenced = false;
    for (int i = 0; i < SUITE_CLASSES; i++) referenced |= c->reference[i].count > 0;
    for (size_t i = 0; i + 1 < r->s->count; i++)
        if (strcmp(r->s->item[i].name, c->name) == 0)
            return json_err(v, r->e, "there is already a case \"%s\"; each needs a name of its own",
                            c->name);
    if (!c->s.input || !c->s.kernel)
        return json_err(v, r->e, "the config of \"%s\" names no %s", c->name,
                        c->s.input ? "kernel" : "input");
    if (frame_pattern_is(c->s.input))
        return json_err(v, r->e, "a case is one image; the input of \"%s\" is a sequence: %s",
                        c->name, c->s.input);
    if (!referenced && !c->energies && !c->s.bloom.verify)
        return json_err(v, r->e, "\"%s\" needs a reference, energy or verify: nothing is checked",
                        c->name);
    return true;
}

static bool fill_case(suite_reader *r, const scope *f, suite_case *c, const json_value *v) {
    suite_case_reader to = {{&c->s, &r->set, &r->total}, c};
    const json_value *name = json_get(v, "name"), *words = json_get(v, "variables");
    const option *o;
    if (!settings_init(&c->s, r->e)) return false;
    if (!name) return json_err(v, r->e, "a case needs a \"name\"");
    if (words && !suite_key_find(words, KEY_OF_CASE, &o, r->e)) return false;
    if (words && !read_variables(r, &r->of_case, words)) return false;
    const suite_key *key = suite_key_find(name, KEY_OF_CASE, &o, r->e);
    if (!key || !key->read(&to, name, r->e)) return false;
    if (!variables_add(&r->of_case, "case", c->name, r->e)) return false;
    for (size_t i = 0; i < f->count; i++)
        if (!read_keys(r, &to, f->first[i], KEY_OF_DEFAULTS)) return false;
    err why = {0};
    if (!read_keys(r, &to, v, KEY_OF_CASE) || !settings_settle(&c->s, r->e)) return false;
    if (!library_set_kernel(&c->s, FOR_APPLY, &why)) return json_err(v, r->e, "%s", why.msg);
    return check_case(r, c, v);
}

static bool suite_add_case(suite_reader *r, const scope *f, const json_value *v, const char *file) {
    suite *s = r->s;
    if (v->type != JSON_OBJECT)
        return json_err(v, r->e, "a case is an object, not %s", json_type_name(v->type));
    if (s->count == SUITE_CASES)
        return json_err(v, r->e, "a suite has at most %d cases", SUITE_CASES);
    suite_case *item = more(s->item, s->count, sizeof *item, r->e);
    if (!item) return false;
    s->item = item;
    suite_case *c = &item[s->count++];
    *c = (suite_case){.file = file, .line = v->line, .column = v->column};
    bool ok = fill_case(r, f, c, v);
    variables_clear(&r->of_case);
    return ok;
}

/* --- one file ------------------------------------------------------------------------------ */

static bool suite_read_file(suite_reader *r, scope *f, const char *path, const json_value *at);

static bool take_defaults(suite_reader *r, scope *f, const json_value *one) {
    const json_value **list = more(f->first, f->count, sizeof *list, r->e);
    if (!list) return false;
    f->first = list;
    list[f->count++] = one;
    return true;
}

static void free_scope(scope *f) {
    variables_clear(&f->words);
    free(f->first);
}

static bool include(suite_reader *r, scope *f, const json_value *v) {
    if (v->type == JSON_ARRAY) {
        bool ok = true;
        for (v = v->child; ok && v; v = v->next)
            ok = v->type == JSON_STRING ? include(r, f, v)
                                        : config_wrong_type(v, "include", 1 << JSON_STRING, r->e);
        return ok;
    }
    scope inner = {0};
    char *path = config_string(&r->set, v, "include", true, r->e);
    f->words.weaker = &inner.words;
    bool ok = path && suite_read_file(r, &inner, path, v);
    f->words.weaker = NULL;
    ok = ok && variables_append(&f->words, &inner.words, r->e);
    for (size_t i = 0; ok && i < inner.count; i++) ok = take_defaults(r, f, inner.first[i]);
    free_scope(&inner);
    mem_free(path);
    return ok;
}

/* Reads the keys in the order in which they depend on each other, whatever their order in the
 * file. */
static bool read_suite(suite_reader *r, scope *f, const json_document *d, const char *file) {
    const json_value *root = json_root(d), *v;
    const option *o;
    for (v = root->child; v; v = v->next)
        if (strcmp(v->key, "version") != 0 && strcmp(v->key, "$schema") != 0 &&
            !suite_key_find(v, KEY_OF_SUITE, &o, r->e))
            return false;
    if ((v = json_get(root, "variables")) && !read_variables(r, &f->words, v)) return false;
    if ((v = json_get(root, "include")) && !include(r, f, v)) return false;
    if ((v = json_get(root, "defaults")) && !take_defaults(r, f, v)) return false;
    if ((v = json_get(root, "cases")) && v->children > SUITE_CASES)
        return json_err(v, r->e, "a suite has at most %d cases, not %d", SUITE_CASES, v->children);
    if (v)
        for (v = v->child; v; v = v->next)
            if (!suite_add_case(r, f, v, file)) return false;
    return true;
}

/* Reads a file. Keeps its document, which holds defaults, and its path, to which cases refer. */
static bool suite_read_file(suite_reader *r, scope *f, const char *path, const json_value *at) {
    suite *s = r->s;
    json_document **documents = more(r->document, r->documents, sizeof *documents, r->e);
    if (!documents) return false;
    r->document = documents;
    char **files = more(s->file, s->files, sizeof *files, r->e);
    if (!files) return false;
    s->file = files;
    char *file = mem_str(path, r->e);
    if (!file) return false;
    files[s->files++] = file;
    json_document *d = config_open(&r->total, file, at, r->e);
    if (!d) return false;
    documents[r->documents++] = d;
    const json_value *root = json_root(d);
    if (root->type != JSON_OBJECT)
        return json_err(root, r->e, "a suite is an object, not %s", json_type_name(root->type));
    r->total.depth++;
    bool ok = config_check_version(root, r->e) && read_suite(r, f, d, file);
    r->total.depth--;
    return ok;
}

bool suite_load(suite *s, const char *path, const char *set, err *e) {
    scope f = {0};
    suite_reader r = {.s = s, .e = e};
    *s = (suite){0};
    r.set.weaker = &r.of_case;
    r.set.total = &r.expanded;
    r.of_case.weaker = &f.words;
    bool ok = (s->path = mem_str(path, e)) && (!set || variables_parse(&r.set, set, e)) &&
              suite_read_file(&r, &f, path, NULL);
    if (ok && s->count == 0) ok = err_set(e, ERR_CONFIG, "%s: the suite has no cases", path);
    for (size_t i = 0; i < r.documents; i++) json_free(&r.document[i]);
    free(r.document);
    free_scope(&f);
    variables_clear(&r.set);
    if (!ok) suite_free(s);
    return ok;
}

void suite_free(suite *s) {
    for (size_t i = 0; i < s->count; i++) {
        suite_case *c = &s->item[i];
        suite_clear_references(c);
        suite_clear_energy(c);
        mem_free(c->name);
        mem_free(c->skip);
        settings_free(&c->s);
    }
    for (size_t i = 0; i < s->files; i++) mem_free(s->file[i]);
    free(s->item);
    free(s->file);
    mem_free(s->path);
    *s = (suite){0};
}

const suite_paths *suite_references(const suite_case *c, engine_class device) {
    const suite_paths *own = &c->reference[device];
    return own->count ? own : &c->reference[SUITE_ANY];
}
