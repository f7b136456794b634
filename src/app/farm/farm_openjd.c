#include "app/farm/farm.h"

#include <string.h>

/* Adds a parameter of the job, which the person who submits it may change. A folder is mapped for
 * each worker; its files are not copied. */
static void add_parameter(text *to, const char *name, bool folder, const char *value,
                          const char *about) {
    text_add(to, "    {\"name\": \"%s\", \"type\": \"%s\",%s\n     \"default\": ", name,
             folder ? "PATH" : "STRING",
             folder ? " \"objectType\": \"DIRECTORY\", \"dataFlow\": \"NONE\"," : "");
    text_add_json(to, value);
    text_add(to, ",\n     \"description\": \"%s\"}", about);
}

static bool has_braces(const char *word) {
    const size_t folder = strlen(FARM_OPENJD_FOLDER);
    const char *found = strstr(word, "{{");
    if (found && strncmp(found, FARM_OPENJD_FOLDER, folder) == 0)
        found = strstr(found + folder, "{{");
    return found != NULL;
}

bool farm_openjd_template(const farm *f, text *to, err *e) {
    enum { MOST = 1024 }; /* characters of a parameter's value */
    OWN(text) frames = {0};
    bool braces = has_braces(f->here) || has_braces(f->program) ||
                  (f->cache && has_braces(f->cache));
    for (size_t i = 0; i < f->flags; i++) braces |= has_braces(f->flag[i].s);
    if (braces)
        return err_set(e, ERR_USAGE,
                       "a path or value with '{{' cannot stand in an OpenJD template");
    farm_ranges(f->left, f->frames, ':', &frames);
    text_add(to, "{\n  \"specificationVersion\": \"jobtemplate-2023-09\",\n"
                 "  \"extensions\": [\"TASK_CHUNKING\"],\n  \"name\": \"");
    farm_job_name(f, to);
    text_add(to, "\",\n  \"parameterDefinitions\": [\n");
    add_parameter(to, "Program", false, f->program, "fftbloom on the workers");
    text_add(to, ",\n");
    add_parameter(to, "Folder", true, f->here, "the folder at which relative paths start");
    text_add(to, ",\n");
    if (f->cache) {
        add_parameter(to, "Cache", true, f->cache, "the cache folder, which all workers share");
        text_add(to, ",\n");
    }
    add_parameter(to, "Frames", false, frames.s, "the frames to make");
    text_add(to,
             "],\n  \"steps\": [{\n    \"name\": \"bloom\",\n"
             "    \"parameterSpace\": {\"taskParameterDefinitions\": [\n"
             "      {\"name\": \"Frame\", \"type\": \"CHUNK[INT]\", \"range\": "
             "\"{{Param.Frames}}\",\n       \"chunks\": {\"defaultTaskCount\": %zu, "
             "\"rangeConstraint\": \"NONCONTIGUOUS\"}}]},\n"
             "    \"script\": {\"actions\": {\"onRun\": {\n"
             "      \"command\": \"{{Param.Program}}\",\n      \"args\": [\"apply\", ",
             f->each);
    for (size_t i = 0; i < f->flags; i++) {
        text_add_json(to, f->flag[i].s);
        text_add(to, ", ");
    }
    text_add(to, "%s\"--frames={{Task.Param.Frame}}\", \"--progress=openjd\"]}}}}]\n}\n",
             f->cache ? "\"--cache-dir={{Param.Cache}}\", " : "");
    size_t n = frames.n;
    return n <= MOST ||
           err_set(e, ERR_USAGE,
                   "the list of frames has %zu characters, and a parameter of an OpenJD template "
                   "may have %d; give fewer ranges with --frames",
                   n, MOST);
}
