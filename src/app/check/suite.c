#include "app/check/suite.h"

#include "app/cli/kernel_option.h"
#include "app/cli/option_rules.h"
#include "app/run/job.h"
#include "base/log.h"

#include <limits.h>

enum {
    NUMBER = 1 << JSON_NUMBER,
    STRING = 1 << JSON_STRING,
    ARRAY = 1 << JSON_ARRAY,
    OBJECT = 1 << JSON_OBJECT,
};

const char *suite_class_name(int c) {
    return c == SUITE_ANY ? "any" : engine_class_name((engine_class)c);
}

/* A case while it is read. */
typedef struct suite_case_reader {
    config_reader config; /* into the case's settings, with its variables */
    suite_case *c;
    uint64_t *read; /* bytes of the config files of all cases */
} suite_case_reader;

/* Replaces a string by the one at v. */
static bool read_string(suite_case_reader *r, const json_value *v, char **to, err *e) {
    char *fresh = config_string(r->config.words, v, v->key, false, e);
    if (!fresh) return false;
    mem_free(*to);
    *to = fresh;
    return true;
}

/* --- name, skip, config -------------------------------------------------------------------- */

static bool keys_read_name(suite_case_reader *r, const json_value *v, err *e) {
    if (!read_string(r, v, &r->c->name, e)) return false;
    for (const char *p = r->c->name; *p; p++)
        if ((unsigned char)*p < ' ') return json_err(v, e, "a name must be one line of text");
    return true;
}

static bool read_skip(suite_case_reader *r, const json_value *v, err *e) {
    return read_string(r, v, &r->c->skip, e);
}

static bool read_config(suite_case_reader *r, const json_value *v, err *e) {
    if (v->type == JSON_OBJECT) return config_object(&r->config, v, e);
    OWN_MEM char *path = config_string(r->config.words, v, "config", true, e);
    return path && config_file(&(config_reader){r->config.s, NULL, true}, path, r->read, e) &&
           (*r->read <= SUITE_BYTES ||
            json_err(v, e, "the config files of this suite have more than %d MB",
                     SUITE_BYTES >> 20));
}

/* --- references ---------------------------------------------------------------------------- */

static void free_paths(suite_paths *p) {
    for (size_t i = 0; i < p->count; i++) mem_free(p->path[i]);
    mem_free(p->path);
    *p = (suite_paths){0};
}

static void clear_references(suite_case *c) {
    for (int i = 0; i < SUITE_CLASSES; i++) free_paths(&c->reference[i]);
}

/* Reads one path, or several in an array. */
static bool read_paths(suite_case_reader *r, const json_value *v, suite_paths *to, err *e) {
    if (v->type != JSON_STRING && v->type != JSON_ARRAY)
        return config_wrong_type(v, v->key, STRING | ARRAY, e);
    size_t n = v->type == JSON_ARRAY ? (size_t)v->children : 1;
    if (n == 0) return json_err(v, e, "a reference needs at least one path");
    suite_paths fresh = {.path = mem_new(n, sizeof *fresh.path, "references", e)};
    const json_value *one = v->type == JSON_ARRAY ? v->child : v;
    for (; fresh.path && fresh.count < n; one = one->next) {
        char *path = config_string(r->config.words, one, "a reference", true, e);
        if (!path) {
            free_paths(&fresh);
            return false;
        }
        fresh.path[fresh.count++] = path;
    }
    free_paths(to);
    *to = fresh;
    return fresh.path != NULL;
}

static bool read_reference(suite_case_reader *r, const json_value *v, err *e) {
    clear_references(r->c);
    if (v->type != JSON_OBJECT) return read_paths(r, v, &r->c->reference[SUITE_ANY], e);
    for (const json_value *m = v->child; m; m = m->next) {
        int class = 0;
        while (class < SUITE_CLASSES && strcmp(m->key, suite_class_name(class)) != 0) class ++;
        if (class == SUITE_CLASSES)
            return json_err_key(m, e,
                                "a reference is for the device \"cpu\", \"gpu\", \"software\" or "
                                "\"any\", not \"%s\"",
                                m->key);
        if (!read_paths(r, m, &r->c->reference[class], e)) return false;
    }
    return v->children > 0 || json_err(v, e, "a reference needs at least one device");
}

/* --- energy, crop ---------------------------------------------------------------------------- */

static void clear_energy(suite_case *c) {
    for (size_t i = 0; i < c->energies; i++) mem_free(c->energy[i].channels);
    mem_free(c->energy);
    c->energy = NULL;
    c->energies = 0;
}

static bool read_energy(suite_case_reader *r, const json_value *v, err *e) {
    suite_case *c = r->c;
    size_t n = v->type == JSON_OBJECT ? (size_t)v->children : 1;
    if (n == 0) return json_err(v, e, "energy needs at least one channel");
    clear_energy(c);
    if (!(c->energy = mem_new(n, sizeof *c->energy, "energy", e))) return false;
    const json_value *m = v->type == JSON_OBJECT ? v->child : v;
    for (; c->energies < n; m = m->next) {
        if (m->type != JSON_ARRAY) return config_wrong_type(m, "energy", ARRAY, e);
        const json_value *lo = m->child, *hi = lo ? lo->next : NULL;
        if (m->children != 2 || lo->type != JSON_NUMBER || hi->type != JSON_NUMBER ||
            !(lo->number <= hi->number))
            return json_err(m, e,
                            "energy needs two numbers, the minimum and the maximum of the result's "
                            "light over the input's: [0.98, 1]");
        char *channels = mem_str(v->type == JSON_OBJECT ? m->key : "*", e);
        if (!channels) return false;
        c->energy[c->energies++] = (suite_energy){channels, lo->number, hi->number};
    }
    return true;
}

/* Reads [x, y, width, height]. */
static bool read_crop(suite_case_reader *r, const json_value *v, err *e) {
    double n[4] = {0};
    bool ok = v->children == 4;
    const json_value *m = v->child;
    for (int i = 0; ok && i < 4; i++, m = m->next) {
        n[i] = m->number;
        ok = m->type == JSON_NUMBER && n[i] == floor(n[i]) && fabs(n[i]) <= INT_MAX / 4;
    }
    if (!ok || n[2] < 1 || n[3] < 1)
        return json_err(v, e, "crop needs four whole numbers: x, y, width, height");
    int32_t x = (int32_t)n[0], y = (int32_t)n[1];
    r->c->cropped = true;
    r->c->crop = (image_box){x, y, x + (int32_t)n[2] - 1, y + (int32_t)n[3] - 1};
    return true;
}

#define PATHS "{\"$ref\": \"#/$defs/paths\"}"
#define BOUNDS \
    "{\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2, \"items\": {\"type\": \"number\"}}"

const suite_key SUITE_KEYS[] = {
    {"variables", KEY_OF_SUITE | KEY_OF_CASE, OBJECT, NULL,
     "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}}",
     "The values of ${NAME} in strings."},
    {"defaults", KEY_OF_SUITE, OBJECT, NULL, "{\"$ref\": \"#/$defs/defaults\"}",
     "Keys that every case starts with."},
    {"cases", KEY_OF_SUITE, ARRAY, NULL,
     "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/case\"}}",
     "The cases, in the order in which they run."},
    {"name", KEY_OF_CASE, STRING, keys_read_name, "{\"type\": \"string\", \"minLength\": 1}",
     "The case's name, unique in the suite; ${case} in its strings."},
    {"config", KEY_OF_CASE | KEY_OF_DEFAULTS, STRING | OBJECT, read_config,
     "{\"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, {\"$ref\": \"#/$defs/config\"}]}",
     "The options of the run, as the path of a config file or as its content."},
    {"reference", KEY_OF_CASE | KEY_OF_DEFAULTS, STRING | ARRAY | OBJECT, read_reference,
     "{\"anyOf\": [" PATHS ", {\"type\": \"object\", \"minProperties\": 1, "
     "\"additionalProperties\": false, \"properties\": {\"cpu\": " PATHS ", \"gpu\": " PATHS
     ", \"software\": " PATHS ", \"any\": " PATHS "}}]}",
     "The image that the result must match, or several images, one of which must match, or either "
     "for each class of device."},
    {"crop", KEY_OF_CASE | KEY_OF_DEFAULTS, ARRAY, read_crop,
     "{\"type\": \"array\", \"minItems\": 4, \"maxItems\": 4, \"items\": {\"type\": \"integer\"}}",
     "The part of the result that is compared: x, y, width, height."},
    {"energy", KEY_OF_CASE | KEY_OF_DEFAULTS, ARRAY | OBJECT, read_energy,
     "{\"anyOf\": [" BOUNDS ", {\"type\": \"object\", \"minProperties\": 1, "
     "\"additionalProperties\": " BOUNDS "}]}",
     "The minimum and the maximum of the result's light over the input's, for all channels or for "
     "globs over their names."},
    {"skip", KEY_OF_CASE | KEY_OF_DEFAULTS, STRING, read_skip,
     "{\"type\": \"string\", \"minLength\": 1}", "The reason why the case must not run."},
};
const int SUITE_KEY_COUNT = (int)(sizeof SUITE_KEYS / sizeof SUITE_KEYS[0]);

static bool keys_unknown(const json_value *v, suite_key_place place, err *e) {
    static const char *const PLACE[] = {
        [KEY_OF_SUITE] = "suite", [KEY_OF_CASE] = "case", [KEY_OF_DEFAULTS] = "default"};
    const char *names[SETTINGS_ROOM + sizeof SUITE_KEYS / sizeof SUITE_KEYS[0]];
    int n = 0;
    for (int i = 0; i < SUITE_KEY_COUNT; i++)
        if (SUITE_KEYS[i].in & place) names[n++] = SUITE_KEYS[i].name;
    for (int i = 0; i < OPTION_COUNT && place != KEY_OF_SUITE; i++)
        if (OPTIONS[i].on & FOR_CASE) names[n++] = OPTIONS[i].name;
    OWN(text) hint = {0};
    if (option_foreign(v->key, FOR_CASE, &hint))
        return json_err_key(v, e, "a %s has no key \"%s\"%s", PLACE[place], v->key, hint.s);
    bool of_run = place != KEY_OF_SUITE && option_find(v->key, FOR_APPLY);
    return json_err_key(v, e, "a %s has no key \"%s\"%s", PLACE[place], v->key,
                        of_run ? "; it belongs in \"config\""
                               : text_meant((char[TEXT_MEANT]){0}, v->key, names, n, '"'));
}

/* Finds the row of a member's key and checks its type. Returns NULL and sets *o for an option of
 * FOR_CASE, or returns NULL and sets an error with the nearest name. */
static const suite_key *find_key(const json_value *v, suite_key_place place, const option **o,
                                 err *e) {
    *o = NULL;
    for (const suite_key *k = SUITE_KEYS; k < SUITE_KEYS + SUITE_KEY_COUNT; k++) {
        if (!(k->in & place) || strcmp(k->name, v->key) != 0) continue;
        if (k->types >> v->type & 1) return k;
        config_wrong_type(v, v->key, k->types, e);
        return NULL;
    }
    if (place != KEY_OF_SUITE && !strchr(v->key, '-')) *o = option_find(v->key, FOR_CASE);
    if (!*o) keys_unknown(v, place, e);
    return NULL;
}

typedef struct {
    suite *s;
    const settings *asked;
    variables set, of_case, of_suite; /* each is searched before the next */
    const json_value *defaults;       /* NULL: none */
    uint64_t read;                    /* bytes of config files so far */
    size_t expanded;                  /* bytes of strings whose variables are replaced */
    err *e;
} suite_reader;

static void suite_reader_free(suite_reader *r) {
    variables_clear(&r->of_suite);
    variables_clear(&r->set);
}

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
        const suite_key *k = find_key(v, place, &o, r->e);
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

/* Lets the command's options win over those of the case. */
static bool overrule(settings *s, const settings *asked, err *e) {
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        const setting *v = settings_of(asked, o);
        if (!(o->on & FOR_CHECK) || !(o->on & FOR_APPLY) || v->origin == ORIGIN_DEFAULT) continue;
        OWN(text) value = {0};
        settings_text(asked, o, &value);
        if (!settings_set(s, o, value.s, (setting_origin){v->origin, v->where}, e)) return false;
    }
    s->bloom.cache_dir = asked->bloom.cache_dir;
    s->bloom.cache_size = asked->bloom.cache_size;
    return true;
}

static bool choose_kernel(suite_case *c, err *e) {
    kernel_finder f;
    kernel_finder_open(&f, c->s.kernels, c->s.bloom.cache_dir, c->s.jobs);
    return kernel_choose(&c->kernel, &c->s, &f, FOR_APPLY, e);
}

static bool fill_case(suite_reader *r, suite_case *c, const json_value *v) {
    suite_case_reader to = {{&c->s, &r->set, true}, c, &r->read};
    const json_value *name = json_get(v, "name"), *words = json_get(v, "variables");
    const option *o;
    if (!settings_init(&c->s, r->e)) return false;
    if (!name) return json_err(v, r->e, "a case needs a \"name\"");
    if (words && !find_key(words, KEY_OF_CASE, &o, r->e)) return false;
    if (words && !read_variables(r, &r->of_case, words)) return false;
    const suite_key *key = find_key(name, KEY_OF_CASE, &o, r->e);
    if (!key || !key->read(&to, name, r->e)) return false;
    if (!variables_add(&r->of_case, "case", c->name, r->e)) return false;
    if (r->defaults && !read_keys(r, &to, r->defaults, KEY_OF_DEFAULTS)) return false;
    err why = {0};
    if (!read_keys(r, &to, v, KEY_OF_CASE)) return false;
    if (!overrule(&c->s, r->asked, r->e)) return false;
    settings_settle(&c->s);
    if (!choose_kernel(c, &why)) return json_err(v, r->e, "%s", why.msg);
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
            !find_key(v, KEY_OF_SUITE, &o, r->e))
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

/* A key of defaults, or of a file that cases share, may have an effect in one of them alone. */
static void warn(const suite *s, const settings *presets) {
    for (const suite_case *c = s->item; c < s->item + s->count; c++)
        for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
            const char *otherwise = option_idle(&c->s, presets, o);
            const char *where = settings_of(&c->s, o)->where;
            bool works = !otherwise;
            for (const suite_case *k = s->item; !works && k < s->item + s->count; k++) {
                const char *other = settings_of(&k->s, o)->where;
                works = other && strcmp(other, where) == 0 && !option_idle(&k->s, presets, o);
            }
            if (!works)
                log_say_once(LOG_WARN, "%s: %s has no effect %s", where, o->name, otherwise);
        }
}

bool suite_load(suite *s, const char *path, const settings *asked, const settings *presets,
                err *e) {
    OWN(suite) made = {0};
    OWN(json_document) *d = NULL;
    OWN(suite_reader) r = {.s = &made, .asked = asked, .e = e};
    r.set.weaker = &r.of_case;
    r.set.total = &r.expanded;
    r.of_case.weaker = &r.of_suite;
    if (!(made.path = mem_str(path, e)) ||
        (asked->set && !variables_parse(&r.set, asked->set, e)) || !(d = json_read(path, e)) ||
        !read_suite(&r, json_root(d)))
        return false;
    warn(&made, presets);
    *s = made;
    made = (suite){0};
    return true;
}

void suite_free(suite *s) {
    for (size_t i = 0; i < s->count; i++) {
        suite_case *c = &s->item[i];
        clear_references(c);
        clear_energy(c);
        mem_free(c->name);
        mem_free(c->skip);
        kernel_choice_free(&c->kernel);
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
