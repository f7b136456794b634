#include "app/check/suite_keys.h"

#include "app/cli/old_words.h"
#include "base/mem.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum {
    NUMBER = 1 << JSON_NUMBER,
    STRING = 1 << JSON_STRING,
    ARRAY = 1 << JSON_ARRAY,
    OBJECT = 1 << JSON_OBJECT,
};

const char *suite_class_name(int c) {
    return c == SUITE_ANY ? "any" : engine_class_name((engine_class)c);
}

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
    char *path = config_string(r->config.words, v, "config", true, e);
    bool ok = path && config_file(&(config_reader){r->config.s, NULL, true}, path, r->read, e);
    if (ok && *r->read > SUITE_BYTES)
        ok = json_err(v, e, "the config files of this suite have more than %d MB",
                      SUITE_BYTES >> 20);
    mem_free(path);
    return ok;
}

/* --- references ---------------------------------------------------------------------------- */

static void free_paths(suite_paths *p) {
    for (size_t i = 0; i < p->count; i++) mem_free(p->path[i]);
    mem_free(p->path);
    *p = (suite_paths){0};
}

void suite_clear_references(suite_case *c) {
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
    suite_clear_references(r->c);
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

void suite_clear_energy(suite_case *c) {
    for (size_t i = 0; i < c->energies; i++) mem_free(c->energy[i].channels);
    mem_free(c->energy);
    c->energy = NULL;
    c->energies = 0;
}

static bool read_energy(suite_case_reader *r, const json_value *v, err *e) {
    suite_case *c = r->c;
    size_t n = v->type == JSON_OBJECT ? (size_t)v->children : 1;
    if (n == 0) return json_err(v, e, "energy needs at least one channel");
    suite_clear_energy(c);
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
    int i = 0;
    for (const json_value *m = v->child; m && i < 4; m = m->next, i++)
        n[i] = m->type == JSON_NUMBER ? m->number : NAN;
    bool ok = v->children == 4;
    for (i = 0; i < 4; i++) ok = ok && n[i] == floor(n[i]) && fabs(n[i]) <= INT_MAX / 4;
    if (!ok || n[2] < 1 || n[3] < 1)
        return json_err(v, e, "crop needs four whole numbers: x, y, width, height");
    int32_t x = (int32_t)n[0], y = (int32_t)n[1];
    r->c->cropped = true;
    r->c->crop = (image_box){x, y, x + (int32_t)n[2] - 1, y + (int32_t)n[3] - 1};
    return true;
}

/* --- the table ------------------------------------------------------------------------------- */

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
    char meant[TEXT_MEANT];
    const char *instead = old_word(v->key, FOR_CASE);
    if (instead) return json_err_key(v, e, "\"%s\" is gone: %s", v->key, instead);
    bool of_run = place != KEY_OF_SUITE && option_find(v->key, FOR_APPLY);
    return json_err_key(v, e, "a %s has no key \"%s\"%s", PLACE[place], v->key,
                        of_run ? "; it belongs in \"config\""
                               : text_meant(meant, v->key, names, n, '"'));
}

const suite_key *suite_key_find(const json_value *v, suite_key_place place, const option **o,
                                err *e) {
    *o = NULL;
    for (int i = 0; i < SUITE_KEY_COUNT; i++) {
        const suite_key *k = &SUITE_KEYS[i];
        if (!(k->in & place) || strcmp(k->name, v->key) != 0) continue;
        if (k->types >> v->type & 1) return k;
        config_wrong_type(v, v->key, k->types, e);
        return NULL;
    }
    if (place != KEY_OF_SUITE && !strchr(v->key, '-')) *o = option_find(v->key, FOR_CASE);
    if (!*o) keys_unknown(v, place, e);
    return NULL;
}
