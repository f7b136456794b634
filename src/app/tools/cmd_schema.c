/* cmd_schema.c - `fftbloom schema`: prints the tables of options and of a suite's keys as JSON
 * Schema, draft 2020-12. It knows how values are written, and no option by name. */
#include "app/check/suite_keys.h"
#include "app/cli/cli.h"
#include "app/cli/kinds.h"
#include "base/json_out.h"

#include <math.h>
#include <string.h>

#define VERSION_ONLY "{\"const\": 1}"
#define TEXT         "{\"type\": \"string\", \"minLength\": 1}"

/* Adds a fragment in which @words stands for those of the row, and @range for its limits. */
static void add_fragment(const char *from, const option *o, text *to) {
    while (*from) {
        size_t n = strcspn(from, "@");
        text_add_bytes(to, from, n);
        from += n;
        if (strncmp(from, "@words", 6) == 0) {
            for (int i = 0; o->words && o->words[i]; i++)
                text_add(to, "%s\"%s\"", i ? ", " : "", o->words[i]);
            from += 6;
        } else if (*from) {
            text_add(to, "\"minimum\": %.15g", o->min);
            if (o->max > 0 && !isinf(o->max)) text_add(to, ", \"maximum\": %.15g", o->max);
            from += strlen("@range");
        }
    }
}

/* Adds the options as properties. In a suite a string may have a ${NAME} in it. */
static void add_options(json_out *j, const settings *defaults, uint32_t users, bool in_suite) {
    for (const option *o = NULL; (o = option_next(o, users));) {
        if (in_suite && o->type == OPTION_SANDBOX) continue;
        OWN(text) words = {0};
        text_add(&words, "%s%s%s", o->help, o->about ? " " : "", o->about ? o->about : "");
        json_block(j, o->name);
        json_string(j, "description", words.s);
        if (o->preset) settings_json(defaults, o, j, "default");
        json_array(j, "anyOf");
        const bool number = o->type == OPTION_FLOAT;
        if (number && o->words) add_fragment("{\"enum\": [@words]}", o, json_here(j, NULL));
        if (number && isinf(o->max)) json_raw(j, NULL, "{\"const\": \"inf\"}");
        add_fragment(KINDS[o->type].schema, o, json_here(j, NULL));
        if (in_suite && kind_types(o) >> JSON_STRING & 1)
            json_raw(j, NULL, "{\"$ref\": \"#/$defs/variable\"}");
        json_close(j);
        json_close(j);
    }
}

static void add_keys(json_out *j, suite_key_place place) {
    for (int i = 0; i < SUITE_KEY_COUNT; i++) {
        const suite_key *k = &SUITE_KEYS[i];
        if (!(k->in & place)) continue;
        json_block(j, k->name);
        json_string(j, "description", k->help);
        json_array(j, "allOf");
        json_raw(j, NULL, k->schema);
        json_close(j);
        json_close(j);
    }
}

/* Opens an object that is closed to other keys, and its properties. close_object closes both. */
static void open_object(json_out *j, const char *key, const char *title, const char *required) {
    json_block(j, key);
    if (title) json_string(j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    if (title) json_string(j, "title", title);
    json_string(j, "type", "object");
    json_bool(j, "additionalProperties", false);
    if (required) json_raw(j, "required", required);
    json_block(j, "properties");
}

static void close_object(json_out *j) {
    json_close(j);
    json_close(j);
}

/* Adds the keys of a config file. */
static void add_config(json_out *j, const settings *defaults, bool in_suite) {
    json_raw(j, "$schema", "{\"type\": \"string\"}");
    json_raw(j, "version", VERSION_ONLY);
    add_options(j, defaults, FOR_CONFIG, in_suite);
}

static void add_suite(json_out *j, const settings *defaults) {
    json_raw(j, "$schema", "{\"type\": \"string\"}");
    json_raw(j, "version", VERSION_ONLY);
    add_keys(j, KEY_OF_SUITE);
    json_close(j);
    json_block(j, "$defs");
    json_raw(j, "variable", "{\"type\": \"string\", \"pattern\": \"\\\\$\\\\{\"}");
    json_raw(j, "paths",
             "{\"anyOf\": [" TEXT ", {\"type\": \"array\", \"minItems\": 1, \"items\": " TEXT
             "}]}");
    open_object(j, "config", NULL, NULL);
    add_config(j, defaults, true);
    close_object(j);
    for (int is_case = 1; is_case >= 0; is_case--) {
        open_object(j, is_case ? "case" : "defaults", NULL, is_case ? "[\"name\"]" : NULL);
        add_keys(j, is_case ? KEY_OF_CASE : KEY_OF_DEFAULTS);
        add_options(j, defaults, FOR_CASE, true);
        close_object(j);
    }
}

int cmd_schema(cli *c, text *out, err *e) {
    settings defaults;
    json_out j = {.to = out};
    bool of_suite = c->words && strcmp(c->word[0], "suite") == 0;
    if (settings_init(&defaults, e)) {
        open_object(&j, NULL, of_suite ? "fftbloom suite" : "fftbloom config file",
                    "[\"version\"]");
        if (of_suite)
            add_suite(&j, &defaults);
        else
            add_config(&j, &defaults, false);
        close_object(&j);
    }
    text_add(out, "\n");
    settings_free(&defaults);
    return 0;
}
