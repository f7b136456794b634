#include "app/farm/farm.h"
#include "base/json_out.h"
#include "base/number.h"

#include <string.h>

/* A step may list this many values of a parameter of text. */
enum { MOST_TASKS = 1024 };

/* Adds a parameter of text, for workers that have the program or the files elsewhere. */
static void add_parameter(json_out *j, const char *name, const char *preset, const char *about) {
    json_object(j, NULL);
    json_string(j, "name", name);
    json_string(j, "type", "STRING");
    json_string(j, "default", preset);
    json_string(j, "description", about);
    json_close(j);
}

bool farm_openjd_template(const farm *f, text *to, err *e) {
    /* The worker's own folder is another: the shell goes to ours, and becomes the program. */
    static const char COMMAND[] = "-c\ncd \"$0\" && exec \"$@\"\n{{Param.Folder}}\n"
                                  "{{Param.Program}}\napply";
    bool braces = strstr(f->folder, "{{") != NULL || strstr(f->here, "{{") != NULL;
    for (size_t i = 0; i < f->flags; i++) braces |= strstr(f->flag[i].s, "{{") != NULL;
    if (braces)
        return err_set(e, ERR_USAGE,
                       "a path or value with '{{' cannot stand in an OpenJD template");
    if (f->chunks > MOST_TASKS)
        return err_set(e, ERR_USAGE,
                       "the job has %zu tasks, and an OpenJD step may list %d; use --chunk %zu or "
                       "more",
                       f->chunks, MOST_TASKS, ceil_div_size(f->frames, MOST_TASKS));
    json_out j = {.to = to};
    text name = {0};
    farm_job_name(f, &name);
    json_block(&j, NULL);
    json_string(&j, "specificationVersion", "jobtemplate-2023-09");
    json_string(&j, "name", name.s);
    text_free(&name);
    json_list(&j, "parameterDefinitions");
    add_parameter(&j, "Program", f->program, "fftbloom on the workers");
    add_parameter(&j, "Folder", f->here, "the folder at which relative paths start");
    json_close(&j);
    json_array(&j, "steps");
    json_block(&j, NULL);
    json_string(&j, "name", "bloom");
    json_object(&j, "parameterSpace");
    json_array(&j, "taskParameterDefinitions");
    json_object(&j, NULL);
    json_string(&j, "name", "Frames");
    json_string(&j, "type", "STRING");
    json_array(&j, "range");
    for (size_t i = 0; i < f->chunks; i++) json_string(&j, NULL, f->chunk[i].s);
    for (int i = 0; i < 4; i++) json_close(&j); /* of parameterSpace */
    json_object(&j, "script");
    json_object(&j, "actions");
    json_object(&j, "onRun");
    json_string(&j, "command", "sh");
    json_array(&j, "args");
    json_lines(&j, COMMAND);
    for (size_t i = 0; i < f->flags; i++) json_string(&j, NULL, f->flag[i].s);
    json_string(&j, NULL, "--frames={{Task.Param.Frames}}");
    json_string(&j, NULL, "--progress=openjd");
    while (j.depth > 1) json_close(&j);
    json_end(&j);
    return true;
}
