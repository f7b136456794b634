/* cmd_schema.c - `fftbloom schema`: the table of options as JSON Schema, draft 2020-12. */
#include "app/cli.h"
#include "app/config.h"

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
        text_add(to, "{\"anyOf\": [{\"type\": \"integer\", \"minimum\": 0}, {\"type\": \"string\", "
                     "\"pattern\": \"^[0-9]+(\\\\.[0-9]+)?([kKMGT]i?)?B?$\"}]}");
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

static void add_property(const settings *defaults, int index, text *to) {
    const option *o = &OPTIONS[index];
    text_add(to, ",\n    \"%s\": {\n      \"description\": ", o->name);
    text_add_json(to, o->help);
    if (o->preset) {
        text_add(to, ",\n      \"default\": ");
        settings_json(defaults, index, to);
    }
    text_add(to, ",\n      \"allOf\": [");
    add_value(o, to);
    text_add(to, "]\n    }");
}

static bool schema_text(text *to, err *e) {
    settings defaults;
    bool ok = settings_init(&defaults, e);
    text_add(to,
             "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
             "  \"title\": \"fftbloom config file\",\n  \"type\": \"object\",\n"
             "  \"required\": [\"version\"],\n  \"additionalProperties\": false,\n"
             "  \"properties\": {\n    \"$schema\": {\"type\": \"string\"},\n"
             "    \"version\": {\"const\": %d}",
             CONFIG_VERSION);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_in_config(&OPTIONS[i])) add_property(&defaults, i, to);
    text_add(to, "\n  }\n}\n");
    settings_free(&defaults);
    return ok;
}

int cmd_schema(int argc, char **argv, err *e) {
    cli c;
    text out = {0};
    if (cli_open(&c, argc, argv, e) && schema_text(&out, e)) fputs(out.s, stdout);
    text_free(&out);
    cli_close(&c);
    return (int)e->code;
}
