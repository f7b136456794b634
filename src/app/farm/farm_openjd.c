#include "app/farm/farm.h"

#include <string.h>

/* A step may list so many values of a parameter of text. */
enum { MOST_TASKS = 1024 };

static void add_flag(void *ctx, const char *flag) {
    text_add(ctx, ", ");
    text_add_json(ctx, flag);
}

static void note_braces(void *ctx, const char *flag) {
    if (strstr(flag, "{{")) *(bool *)ctx = true;
}

bool farm_openjd_template(const farm *f, text *to, err *e) {
    bool braces = strstr(f->folder, "{{") != NULL || strstr(f->here, "{{") != NULL;
    farm_flags(f, note_braces, &braces);
    if (braces)
        return err_set(e, ERR_USAGE,
                       "a path or value with '{{' cannot stand in an OpenJD template");
    if (f->chunks > MOST_TASKS)
        return err_set(e, ERR_USAGE,
                       "%zu tasks; an OpenJD step may list %d: --chunk %zu or more makes so few",
                       f->chunks, MOST_TASKS, (f->frames + MOST_TASKS - 1) / MOST_TASKS);
    text name = {0};
    farm_job_name(f, &name);
    text_add(to, "{\n  \"specificationVersion\": \"jobtemplate-2023-09\",\n  \"name\": \"%s\"",
             name.s);
    text_free(&name);
    text_add(to, ",\n  \"parameterDefinitions\": [\n    {\"name\": \"Program\", \"type\": "
                 "\"STRING\", \"default\": ");
    text_add_json(to, f->program);
    text_add(to, ", \"description\": \"fftbloom on the workers\"},\n    {\"name\": \"Folder\", "
                 "\"type\": \"STRING\", \"default\": ");
    text_add_json(to, f->here);
    text_add(to, ", \"description\": \"where relative paths are meant from\"}\n  ],\n");
    text_add(to, "  \"steps\": [\n    {\n      \"name\": \"bloom\",\n      \"parameterSpace\": "
                 "{\n        \"taskParameterDefinitions\": [\n          {\"name\": \"Frames\", "
                 "\"type\": \"STRING\", \"range\": [");
    for (size_t i = 0; i < f->chunks; i++) {
        text_add(to, i ? ", " : "");
        text_add_json(to, f->chunk[i].s);
    }
    /* The worker's own folder is another: the shell goes to ours, and becomes the program. */
    text_add(to, "]}\n        ]\n      },\n      \"script\": {\n        \"actions\": {\n          "
                 "\"onRun\": {\n            \"command\": \"sh\",\n            \"args\": [\"-c\", "
                 "\"cd \\\"$0\\\" && exec \\\"$@\\\"\", \"{{Param.Folder}}\", "
                 "\"{{Param.Program}}\", \"apply\"");
    farm_flags(f, add_flag, to);
    text_add(to, ", \"--frames={{Task.Param.Frames}}\", \"--progress=openjd\"]\n          }\n"
                 "        }\n      }\n    }\n  ]\n}\n");
    return true;
}
