/* json.h - JSON files, read strictly, every value with its line and column. A scan of our own holds
 * the bytes to RFC 8259, refuses what does not follow it with a sentence at its place, and notes
 * positions; cJSON then decodes. The document owns all its values. */
#pragma once

#include "base/err.h"

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_type;
enum { JSON_TYPES = JSON_OBJECT + 1 };

typedef struct json_document json_document;
typedef struct json_value json_value;
struct json_value {
    const json_document *of;
    json_type type;
    const char *key;  /* of a member of an object; else NULL */
    const char *text; /* a string's content; "true", "false", "null"; a number as it is written */
    double number;
    int line, column;         /* of the value, from 1; columns count characters */
    int key_line, key_column; /* of the key */
    int children;
    json_value *child, *next; /* the first value inside this one; the next one beside it */
};

enum { JSON_DEPTH = 64, JSON_BYTES = 16 << 20, JSON_VALUES = 1 << 19 };

/* Read a file, or its content; `name` is its name in errors. They fail with ERR_CONFIG on bad JSON,
 * and with ERR_MEMORY without memory. */
json_document *json_parse(const char *name, const char *bytes, size_t n, err *e);
json_document *json_read(const char *path, err *e);
void json_document_free(json_document **d);

const json_value *json_root(const json_document *d);
const char *json_name(const json_document *d);
size_t json_bytes(const json_document *d);
/* Returns the member of an object, or NULL. */
const json_value *json_get(const json_value *object, const char *key);
/* Returns "an object", "a number" and so on, for sentences. */
const char *json_type_name(json_type t);

/* Set ERR_CONFIG with "NAME:LINE:COLUMN: " in front, at the value or at its key. */
bool json_err(const json_value *at, err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool json_err_key(const json_value *at, err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
