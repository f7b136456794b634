/* cmd_schema.c - `fftbloom schema`: prints the tables of options and of a suite's keys as JSON
 * Schema, draft 2020-12. It knows how values are written, and no option by name. */
#include "app/check/suite_keys.h"
#include "app/cli/cli.h"
#include "app/cli/config.h"
#include "app/cli/kinds.h"
#include "app/cli/page.h"
#include "base/json_out.h"

#include <string.h>

#define TEXT "{\"type\": \"string\", \"minLength\": 1}"

/* --- properties ------------------------------------------------------------------------------ */

/* The options as properties: a format of pages. In a suite a string may have a ${NAME} in it. */
typedef struct {
    page page;
    json_out *to;
    const settings *defaults;
    bool in_suite;
} schema_page;

static void schema_item(page *p, const page_item *i) {
    const schema_page *s = (schema_page *)p;
    json_out *j = s->to;
    if (s->in_suite && i->option->type == OPTION_SANDBOX) return;
    json_block(j, i->option->name);
    json_string(j, "description", i->means);
    if (i->option->preset) settings_json(s->defaults, i->option, j, "default");
    json_array(j, "anyOf");
    kind_schema(i->option, j);
    if (s->in_suite && kind_types(i->option) >> JSON_STRING & 1)
        json_raw(j, NULL, "{\"$ref\": \"#/$defs/variable\"}");
    json_close(j);
    json_close(j);
}

static void add_options(json_out *j, const settings *defaults, uint32_t users, bool in_suite) {
    static const page_format FORMAT = {.full = true, .item = schema_item};
    schema_page s = {{.as = &FORMAT}, j, defaults, in_suite};
    page_sections(&s.page, users, -1);
}

/* Adds a property with a schema that is JSON already. */
static void add_given(json_out *j, const char *name, const char *help, const char *schema) {
    json_block(j, name);
    json_string(j, "description", help);
    json_array(j, "allOf");
    json_raw(j, NULL, schema);
    json_close(j);
    json_close(j);
}

static void add_version(json_out *j) {
    json_raw(j, "$schema", "{\"type\": \"string\"}");
    json_object(j, "version");
    json_uint(j, "const", CONFIG_VERSION);
    json_close(j);
}

/* Adds the keys of a config file. */
static void add_config(json_out *j, const settings *defaults, bool in_suite) {
    add_version(j);
    add_options(j, defaults, FOR_CONFIG, in_suite);
}

static void add_keys(json_out *j, suite_key_place place) {
    for (int i = 0; i < SUITE_KEY_COUNT; i++)
        if (SUITE_KEYS[i].in & place)
            add_given(j, SUITE_KEYS[i].name, SUITE_KEYS[i].help, SUITE_KEYS[i].schema);
}

/* --- schemas --------------------------------------------------------------------------------- */

/* Opens an object schema that is closed to other keys, and its properties. close_object closes
 * both. */
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

static void suite_schema(json_out *j, const settings *defaults) {
    open_object(j, NULL, "fftbloom suite", "[\"version\"]");
    add_version(j);
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
    close_object(j);
}

int cmd_schema(cli *c, text *out, err *e) {
    settings defaults;
    json_out j = {.to = out};
    bool of_suite = c->words && strcmp(c->word[0], "suite") == 0;
    bool ok = settings_init(&defaults, e);
    if (ok && of_suite) suite_schema(&j, &defaults);
    if (ok && !of_suite) {
        open_object(&j, NULL, "fftbloom config file", "[\"version\"]");
        add_config(&j, &defaults, false);
        close_object(&j);
    }
    text_add(out, "\n");
    settings_free(&defaults);
    return 0;
}
