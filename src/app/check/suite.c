#include "app/check/suite.h"

#include "app/check/suite_keys.h"
#include "app/cli/kernel_option.h"
#include "app/run/frame_pattern.h"
#include "base/mem.h"

#include <string.h>

typedef struct {
    suite *s;
    variables set, of_case, of_suite; /* each is searched before the next */
    const json_value *defaults;       /* NULL: none */
    uint64_t read;                    /* bytes of config files so far */
    size_t expanded;                  /* bytes of strings whose variables are replaced */
    err *e;
} suite_reader;

/* --- one case ------------------------------------------------------------------------------ */

static bool read_variables(suite_reader *r, variables *to, const json_value *object) {
    for (const json_value *v = object->child; v; v = v->next) {
        OWN(text) value = {0};
        err why = {0};
        if (v->type != JSON_STRING) return config_wrong_type(v, v->key, 1 << JSON_STRING, r->e);
        bool ok = variables_string(&r->set, v, false, &value, &why) ||
                  json_err(v, r->e, "%s", why.msg);
        if (ok && !variables_add(to, v->key, value.s, &why))
            ok = json_err_key(v, r->e, "%s", why.msg);
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

static bool fill_case(suite_reader *r, suite_case *c, const json_value *v) {
    suite_case_reader to = {{&c->s, &r->set, true}, c, &r->read};
    const json_value *name = json_get(v, "name"), *words = json_get(v, "variables");
    const option *o;
    if (!settings_init(&c->s, r->e)) return false;
    if (!name) return json_err(v, r->e, "a case needs a \"name\"");
    if (words && !suite_key_find(words, KEY_OF_CASE, &o, r->e)) return false;
    if (words && !read_variables(r, &r->of_case, words)) return false;
    const suite_key *key = suite_key_find(name, KEY_OF_CASE, &o, r->e);
    if (!key || !key->read(&to, name, r->e)) return false;
    if (!variables_add(&r->of_case, "case", c->name, r->e)) return false;
    if (r->defaults && !read_keys(r, &to, r->defaults, KEY_OF_DEFAULTS)) return false;
    err why = {0};
    if (!read_keys(r, &to, v, KEY_OF_CASE)) return false;
    settings_settle(&c->s);
    if (!kernel_option_settle(&c->s, FOR_APPLY, &why)) return json_err(v, r->e, "%s", why.msg);
    return check_case(r, c, v);
}

static bool suite_add_case(suite_reader *r, const json_value *v) {
    suite *s = r->s;
    if (v->type != JSON_OBJECT)
        return json_err(v, r->e, "a case is an object, not %s", json_type_name(v->type));
    suite_case *c = &s->item[s->count++];
    *c = (suite_case){.file = s->path, .line = v->line, .column = v->column};
    bool ok = fill_case(r, c, v);
    variables_clear(&r->of_case);
    return ok;
}

/* --- the file ------------------------------------------------------------------------------ */

/* Reads the keys in the order in which they depend on each other, whatever their order in the
 * file. */
static bool read_suite(suite_reader *r, const json_value *root) {
    const json_value *v;
    const option *o;
    if (root->type != JSON_OBJECT)
        return json_err(root, r->e, "a suite is an object, not %s", json_type_name(root->type));
    if (!config_check_version(root, r->e)) return false;
    for (v = root->child; v; v = v->next)
        if (strcmp(v->key, "version") != 0 && strcmp(v->key, "$schema") != 0 &&
            !suite_key_find(v, KEY_OF_SUITE, &o, r->e))
            return false;
    if ((v = json_get(root, "variables")) && !read_variables(r, &r->of_suite, v)) return false;
    r->defaults = json_get(root, "defaults");
    v = json_get(root, "cases");
    if (!v || !v->children)
        return err_set(r->e, ERR_CONFIG, "%s: the suite has no cases", r->s->path);
    if (v->children > SUITE_CASES)
        return json_err(v, r->e, "a suite has at most %d cases, not %d", SUITE_CASES, v->children);
    r->s->item = mem_new((size_t)v->children, sizeof *r->s->item, "cases", r->e);
    if (!r->s->item) return false;
    for (v = v->child; v; v = v->next)
        if (!suite_add_case(r, v)) return false;
    return true;
}

bool suite_load(suite *s, const char *path, const char *set, err *e) {
    suite_reader r = {.s = s, .e = e};
    json_document *d = NULL;
    *s = (suite){0};
    r.set.weaker = &r.of_case;
    r.set.total = &r.expanded;
    r.of_case.weaker = &r.of_suite;
    bool ok = (s->path = mem_str(path, e)) && (!set || variables_parse(&r.set, set, e)) &&
              (d = json_read(path, e)) && read_suite(&r, json_root(d));
    json_free(&d);
    variables_clear(&r.of_suite);
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
    mem_free(s->item);
    mem_free(s->path);
    *s = (suite){0};
}

const suite_paths *suite_references(const suite_case *c, engine_class device) {
    const suite_paths *own = &c->reference[device];
    return own->count ? own : &c->reference[SUITE_ANY];
}
