/* cmd_schema.c - `fftbloom schema`: the tables of options and of a suite's keys as JSON Schema,
 * draft 2020-12. */
#include "app/check/suite_keys.h"
#include "app/cli/cli.h"
#include "app/cli/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_words(const option *o, text *to) {
    text_add(to, "{\"enum\": [");
    for (int i = 0; o->words[i]; i++) text_add(to, "%s\"%s\"", i ? ", " : "", o->words[i]);
    text_add(to, "]}");
}

static void add_number(const option *o, const char *type, text *to) {
    text_add(to, "{\"type\": \"%s\", \"minimum\": %.15g", type, o->min);
    if (!isinf(o->max)) text_add(to, ", \"maximum\": %.15g", o->max);
    text_add(to, "}");
}

/* What a value of the row may be: one schema, or several of which one must hold. */
static void add_value(const option *o, text *to) {
    switch (o->type) {
    case OPTION_BOOL: text_add(to, "{\"type\": \"boolean\"}"); break;
    case OPTION_INT: add_number(o, "integer", to); break;
    case OPTION_FLOAT:
        if (isinf(o->max)) text_add(to, "{\"anyOf\": [{\"const\": \"inf\"}, ");
        add_number(o, "number", to);
        if (isinf(o->max)) text_add(to, "]}");
        break;
    case OPTION_ENUM: add_words(o, to); break;
    case OPTION_STRING:
    case OPTION_PATH: text_add(to, "{\"type\": \"string\", \"minLength\": 1}"); break;
    case OPTION_LIST:
        text_add(to, "{\"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, "
                     "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}]}");
        break;
    case OPTION_SIZE:
        text_add(to, "{\"anyOf\": [");
        if (o->min > 0) text_add(to, "{\"const\": 0}, ");
        text_add(to,
                 "{\"type\": \"integer\", \"minimum\": %.15g}, {\"type\": \"string\", "
                 "\"pattern\": \"^[0-9]+(\\\\.[0-9]+)?([kKMGT]i?)?B?$\"}]}",
                 o->min);
        break;
    case OPTION_BORDERS:
        text_add(to, "{\"anyOf\": [");
        add_words(o, to);
        text_add(to, ", {\"type\": \"string\", \"pattern\": \"^[a-z]+, *[a-z]+$\"}, {\"type\": "
                     "\"array\", \"minItems\": 2, \"maxItems\": 2, \"items\": ");
        add_words(o, to);
        text_add(to, "}, {\"type\": \"object\", \"required\": [\"x\", \"y\"], "
                     "\"additionalProperties\": false, \"properties\": {\"x\": ");
        add_words(o, to);
        text_add(to, ", \"y\": ");
        add_words(o, to);
        text_add(to, "}}]}");
        break;
    case OPTION_CENTER:
        text_add(to, "{\"anyOf\": [");
        add_words(o, to);
        text_add(to, ", {\"type\": \"string\", \"pattern\": \"^[-+.0-9eE]+, *[-+.0-9eE]+$\"}, "
                     "{\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2, "
                     "\"items\": {\"type\": \"number\"}}]}");
        break;
    case OPTION_SCALE:
        text_add(to, "{\"anyOf\": [");
        add_number(o, "number", to);
        text_add(to, ", {\"type\": \"string\", \"pattern\": \"^[-+.0-9eE]+h?$\"}]}");
        break;
    case OPTION_TYPES: break;
    }
}

/* How a key of a config is written down: in a file of its own, or in a suite, where a string with
 * ${NAME} may stand for any value. */
typedef struct {
    const settings *defaults;
    const char *indent;
    bool variables;
} writer;

static void add_property(const writer *w, int index, text *to) {
    const option *o = &OPTIONS[index];
    text_add(to, ",\n%s\"%s\": {\n%s  \"description\": ", w->indent, o->name, w->indent);
    text words = {0};
    text_add(&words, "%s%s%s", o->help, o->about ? " " : "", o->about ? o->about : "");
    text_add_json(to, words.s);
    text_free(&words);
    if (o->preset) {
        text_add(to, ",\n%s  \"default\": ", w->indent);
        settings_json(w->defaults, index, to);
    }
    text_add(to, ",\n%s  \"%s\": [", w->indent, w->variables ? "anyOf" : "allOf");
    add_value(o, to);
    text_add(to, "%s]\n%s}", w->variables ? ", {\"$ref\": \"#/$defs/variable\"}" : "", w->indent);
}

/* The options that config files hold; the caller has written the property before. */
static void add_config(const writer *w, text *to) {
    text_add(to, ",\n%s\"include\": {\n%s  \"description\": ", w->indent, w->indent);
    text_add_json(to, "Config files that are read first.");
    text_add(to, ",\n%s  \"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, ", w->indent);
    text_add(to, "{\"type\": \"array\", \"items\": {\"type\": \"string\", \"minLength\": 1}}]\n%s}",
             w->indent);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_in_config(&OPTIONS[i])) add_property(w, i, to);
}

static void add_head(const char *title, text *to) {
    text_add(to,
             "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
             "  \"title\": \"%s\",\n  \"type\": \"object\",\n"
             "  \"required\": [\"version\"],\n  \"additionalProperties\": false,\n"
             "  \"properties\": {\n    \"$schema\": {\"type\": \"string\"},\n"
             "    \"version\": {\"const\": %d}",
             title, CONFIG_VERSION);
}

static void config_schema(const settings *defaults, text *to) {
    add_head("fftbloom config file", to);
    add_config(&(writer){defaults, "    ", false}, to);
    text_add(to, "\n  }\n}\n");
}

/* --- suites ---------------------------------------------------------------------------------- */

static void add_keys(suite_key_place place, const char *indent, const char *sep, text *to) {
    for (int i = 0; i < SUITE_KEY_COUNT; i++) {
        const suite_key *k = &SUITE_KEYS[i];
        if (!(k->in & place)) continue;
        text_add(to, "%s\n%s\"%s\": {\n%s  \"description\": ", sep, indent, k->name, indent);
        text_add_json(to, k->help);
        text_add(to, ",\n%s  \"allOf\": [%s]\n%s}", indent, k->schema, indent);
        sep = ",";
    }
}

static void add_case(const char *name, suite_key_place place, const writer *w, text *to) {
    text_add(to, ",\n    \"%s\": {\n      \"type\": \"object\", ", name);
    text_add(to, "\"additionalProperties\": false, %s\n      \"properties\": {",
             place == KEY_OF_CASE ? "\"required\": [\"name\"]," : "");
    add_keys(place, w->indent, "", to);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (OPTIONS[i].on & FOR_CASE) add_property(w, i, to);
    text_add(to, "\n      }\n    }");
}

static void suite_schema(const settings *defaults, text *to) {
    const writer w = {defaults, "        ", true};
    add_head("fftbloom suite", to);
    add_keys(KEY_OF_SUITE, "    ", ",", to);
    text_add(to, "\n  },\n  \"$defs\": {\n"
                 "    \"variable\": {\"type\": \"string\", \"pattern\": \"\\\\$\\\\{\"},\n"
                 "    \"paths\": {\"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, {\"type\": "
                 "\"array\", \"minItems\": 1, \"items\": {\"type\": \"string\", \"minLength\": "
                 "1}}]},\n"
                 "    \"config\": {\n      \"type\": \"object\", \"additionalProperties\": false,\n"
                 "      \"properties\": {\n        \"$schema\": {\"type\": \"string\"},\n"
                 "        \"version\": {\"const\": 1}");
    add_config(&w, to);
    text_add(to, "\n      }\n    }");
    add_case("case", KEY_OF_CASE, &w, to);
    add_case("defaults", KEY_OF_DEFAULTS, &w, to);
    text_add(to, "\n  }\n}\n");
}

/* --------------------------------------------------------------------------------------------- */

int cmd_schema(int argc, char **argv, err *e) {
    static const struct {
        const char *name;
        void (*write)(const settings *defaults, text *to);
    } SCHEMA[] = {{"config", config_schema}, {"suite", suite_schema}};
    cli c;
    settings defaults = {0};
    text out = {0};
    if (cli_open(&c, argc, argv, e) && settings_init(&defaults, e)) {
        const char *which = c.words ? c.word[0] : "config";
        for (int i = 0; i < 2; i++)
            if (strcmp(which, SCHEMA[i].name) == 0) SCHEMA[i].write(&defaults, &out);
        fputs(out.s, stdout);
    }
    text_free(&out);
    settings_free(&defaults);
    cli_close(&c);
    return (int)e->code;
}
