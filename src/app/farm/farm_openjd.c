#include "app/farm/farm.h"
#include "base/json_out.h"

#include <string.h>

/* The maximum length of a parameter's value and of a job's name. */
enum { MOST_VALUE = 1024, MOST_NAME = 128 };

/* Adds a parameter, which the person who submits the template may change. */
static void add_parameter(json_out *j, const char *name, const char *type, const char *preset,
                          const char *about) {
    json_object(j, NULL);
    json_string(j, "name", name);
    json_string(j, "type", type);
    if (strcmp(type, "PATH") == 0) { /* the scheduler maps it for the worker, and copies nothing */
        json_string(j, "objectType", "DIRECTORY");
        json_string(j, "dataFlow", "NONE");
    }
    json_string(j, "default", preset);
    json_string(j, "description", about);
    json_close(j);
}

/* Adds the frames to do, which the scheduler cuts into chunks. */
static void add_space(json_out *j, const farm *f) {
    json_object(j, "parameterSpace");
    json_array(j, "taskParameterDefinitions");
    json_object(j, NULL);
    json_string(j, "name", "Frame");
    json_string(j, "type", "CHUNK[INT]");
    json_string(j, "range", "{{Param.Frames}}");
    json_object(j, "chunks");
    json_uint(j, "defaultTaskCount", f->each);
    json_string(j, "rangeConstraint", "NONCONTIGUOUS");
    for (int i = 0; i < 4; i++) json_close(j); /* of parameterSpace */
}

static void add_script(json_out *j, const farm *f) {
    json_object(j, "script");
    json_object(j, "actions");
    json_object(j, "onRun");
    json_string(j, "command", "{{Param.Program}}");
    json_array(j, "args");
    json_string(j, NULL, "apply");
    for (size_t i = 0; i < f->flags; i++) json_string(j, NULL, f->flag[i].s);
    json_string(j, NULL, "--frames={{Task.Param.Frame}}");
    json_string(j, NULL, "--progress=openjd");
    for (int i = 0; i < 4; i++) json_close(j);
}

/* Returns false where a path or value would be read as a field of the template. */
static bool has_braces(const farm *f) {
    if (strstr(f->here, "{{") || strstr(f->program, "{{")) return true;
    for (size_t i = 0; i < f->flags; i++) {
        const char *found = strstr(f->flag[i].s, "{{");
        if (found && strncmp(found, FARM_OPENJD_FOLDER, strlen(FARM_OPENJD_FOLDER)) == 0)
            found = strstr(found + strlen(FARM_OPENJD_FOLDER), "{{");
        if (found) return true;
    }
    return false;
}

bool farm_openjd_template(const farm *f, text *to, err *e) {
    text name = {0}, frames = {0};
    json_out j = {.to = to};
    bool ok = true;
    farm_job_name(f, &name);
    farm_ranges(f->left, f->frames, ':', &frames);
    if (has_braces(f))
        ok = err_set(e, ERR_USAGE, "a path or value with '{{' cannot stand in an OpenJD template");
    else if (frames.n > MOST_VALUE)
        ok = err_set(e, ERR_USAGE,
                     "the list of frames has %zu characters, and a parameter of an OpenJD template "
                     "may have %d; give fewer ranges with --frames",
                     frames.n, MOST_VALUE);
    if (ok) {
        if (name.n > MOST_NAME) name.s[MOST_NAME] = 0;
        json_block(&j, NULL);
        json_string(&j, "specificationVersion", "jobtemplate-2023-09");
        json_array(&j, "extensions");
        json_string(&j, NULL, "TASK_CHUNKING");
        json_close(&j);
        json_string(&j, "name", name.s);
        json_list(&j, "parameterDefinitions");
        add_parameter(&j, "Program", "STRING", f->program, "fftbloom on the workers");
        add_parameter(&j, "Folder", "PATH", f->here, "the folder at which relative paths start");
        add_parameter(&j, "Frames", "STRING", frames.s, "the frames to make");
        json_close(&j);
        json_array(&j, "steps");
        json_block(&j, NULL);
        json_string(&j, "name", "bloom");
        add_space(&j, f);
        add_script(&j, f);
        while (j.depth > 1) json_close(&j);
        json_end(&j);
    }
    text_free(&name);
    text_free(&frames);
    return ok;
}
