/* settings.h - the values of all options, and where each one came from.
 *
 * Defaults, config files, the environment and flags replace each other in this order. The kind of
 * the value (kinds.c) checks it and stores it in the place that the option's row names. The
 * settings own all strings in them, until settings_free. */
#pragma once

#include "base/json_out.h"
#include "base/mem.h"
#include "bloom/settings.h"
#include "device/device_measure.h"
#include "image/compare.h"

struct option;
struct json_value;
struct variables;

typedef enum { EXISTING_REPLACE, EXISTING_SKIP, EXISTING_UPDATE } settings_existing;
typedef enum {
    PROGRESS_AUTO,
    PROGRESS_DEADLINE,
    PROGRESS_OPENJD,
    PROGRESS_JSON,
    PROGRESS_NONE
} settings_progress;
typedef enum { FARM_SLURM, FARM_OPENJD } settings_farm;
typedef enum { SANDBOX_AUTO, SANDBOX_ON, SANDBOX_OFF } settings_sandbox;
typedef enum { PIXELS_KEEP, PIXELS_HALF, PIXELS_FLOAT } settings_pixels;

typedef enum { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_FLAG } origin_kind;

/* Where a value comes from. */
typedef struct {
    origin_kind kind;
    const char *where; /* "look.json:7:3", "FFTBLOOM_PADDING", "--padding"; NULL for defaults */
} setting_origin;

/* What belongs to a value; `where` is as in setting_origin. */
typedef struct {
    char *kept; /* the string that the value is; NULL: it is none, or not set */
    origin_kind origin;
    char *where;
} setting;

enum { SETTINGS_ROOM = 128 };

typedef struct {
    bloom_settings bloom;
    const char *input, *kernel, *kernels, *output;
    bool kernel_auto;      /* the kernel's size follows from each frame's */
    double highlights;     /* stops by which lights at the white of a PNG are raised */
    const char *before;    /* a picture of the input; NULL: none */
    const char *emit_file; /* the glare; NULL: none */
    bool stamp;            /* write provenance into the image */
    const char *config, *report;
    const char *frames, *views;
    bool keep_going;
    uint32_t jobs;    /* host threads; 0: all there are */
    uint32_t packing; /* 0: as the input; else compression + 1 */
    settings_pixels pixels;
    const char *input_space,
        *output_space; /* names that space_find knows, or "input"; NULL: none */
    settings_existing existing;
    settings_progress progress;
    uint32_t progress_fd; /* follows from it */
    bool quiet, verbose, json, print_config;
    settings_sandbox sandbox;
    settings_farm farm;
    bool dry_run, wait;
    uint32_t chunk; /* frames per task; 0: as many as is usual */
    const char *farm_args, *farm_dir;
    /* diff */
    compare_limits compare;
    bool diff_absolute, diff_only, all_parts;
    double diff_scale;
    /* check */
    const char *filter, *set, *require_device;
    const char *junit, *json_file, *html;
    uint32_t require_cases;
    bool list, bless, stop;
    /* kernel */
    const char *taps, *param, *image, *plate;
    double fade;
    const char *view; /* of screen_open */
    double exposure;  /* stops; NaN: auto */
    bool strict, all_kernels, force;
    /* bench */
    const char *size;
    measure_kind scene;
    uint32_t rounds, queue, in_flight;
    double warm_up;
    setting value[SETTINGS_ROOM]; /* by the option's index in the table */
} settings;

/* Fills in the defaults of the table. */
bool settings_init(settings *s, err *e);
void settings_free(settings *s);
/* Check a value, from text or from JSON, and store it. `words` and `in_suite` are as in
 * kind_reader. A value that is refused changes nothing; the code is ERR_CONFIG. */
bool settings_set(settings *s, const struct option *o, const char *value, setting_origin from,
                  err *e);
bool settings_set_json(settings *s, const struct option *o, const struct json_value *v,
                       const struct variables *words, bool in_suite, err *e);
/* Gives --core its default where glare is taken away, and --padding its where that follows from
 * --window: what leaves the image is kept by a larger window. Called when all values are set. */
void settings_settle(settings *s);
/* Sets the options of the environment that `users` take. */
bool settings_environment(settings *s, uint32_t users, err *e);
/* Warns of each FFTBLOOM_* variable that no command reads. */
void settings_warn_environment(void);
/* Returns true if the option that one of `users` takes has a value that is not its default's. */
bool settings_given(const settings *s, const char *name, uint32_t users);
/* Returns whether two settings have the same value. */
bool settings_same(const settings *a, const settings *b, const struct option *o);
/* Add the value as a flag has it, or nothing if it is not set; as a member of JSON, which is true,
 * 3, "mirror", ["a", "b"] or null. */
void settings_text(const settings *s, const struct option *o, text *to);
void settings_json(const settings *s, const struct option *o, json_out *to, const char *key);
/* Appends every option that `users` take, as a table or as JSON, for --print-config. */
void settings_print(const settings *s, uint32_t users, bool json, text *to);
