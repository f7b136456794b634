/* options.h - the table of options, and that of the kinds of their values.
 *
 * Every option is one row: its JSON key and flag (flags write - for _), its type, range, default,
 * the commands that take it, a sentence of help, and the place of its value in the settings. Flags,
 * environment, config files, help, schema, reference pages and completions all read both tables.
 * A row also says what the option needs to have an effect (option_rules.h), and whether it decides
 * the bytes of an output, which `--existing update` compares.
 *
 * To add an option: one member in `settings`, one row in options.c. To add a kind of value: one
 * word in option_type, one row in kinds.c. */
#pragma once

#include "app/cli/settings.h"
#include "base/json.h"

/* The kinds of values. */
typedef enum {
    OPTION_BOOL,     /* bool */
    OPTION_INT,      /* uint32_t */
    OPTION_FLOAT,    /* double; "inf" where the row's max is infinite; NaN and 0 for the row's two
                        words */
    OPTION_ENUM,     /* an enum in the order of the row's words */
    OPTION_SANDBOX,  /* the same; config files cannot say off, and suites nothing */
    OPTION_PROGRESS, /* the same, or json:N */
    OPTION_STRING,   /* const char * */
    OPTION_PATH,     /* const char *; completions offer files */
    OPTION_STREAM,   /* the same, or - */
    OPTION_KERNEL,   /* the same as a path, or the name of a kernel */
    OPTION_MASK,     /* a channel, or the path of an image: bloom.mask_file tells */
    OPTION_LIST,     /* const char *: commas between, \, for one in an item; an array in JSON */
    OPTION_LAYERS,   /* the same, or an object for each layer in JSON */
    OPTION_SIZE,     /* uint64_t bytes: 2GB, 512MiB, 1000000 */
    OPTION_BORDERS,  /* plan_border[2]: one word, or two as x,y */
    OPTION_CENTER,   /* psf_center and psf_options.at: a word, or x,y */
    OPTION_SCALE,    /* double and kernel_relative: 1.5 (of the kernel's size) or 0.5h (of the
                        image's height) */
    OPTION_TINT,     /* double[3]: r,g,b; zeros stand for 1,1,1 */
    OPTION_SPACE,    /* const char *: a colour space that space_find knows, or the row's word */
    OPTION_AMOUNT,   /* double, the complement to 1: 0.3, or 30% */
    OPTION_SHARPEN,  /* double, the value itself */
    OPTION_TYPES
} option_type;

/* Returns whether a value is the path of a file. */
static inline bool option_type_is_path(option_type t) {
    return t == OPTION_PATH || t == OPTION_STREAM || t == OPTION_KERNEL;
}

/* The commands that take an option; each command's row in command.c names its bit. Two rows may
 * have the same name if no command takes both. */
typedef enum {
    FOR_APPLY = 1 << 0,
    FOR_PRECOMPUTE = 1 << 1,
    FOR_KERNEL = 1 << 2,
    FOR_CHECK = 1 << 3,
    FOR_DIFF = 1 << 4,
    FOR_PLAN = 1 << 5,
    FOR_BENCH = 1 << 6,
    FOR_DEVICES = 1 << 7,
    FOR_INFO = 1 << 8,
    FOR_CACHE = 1 << 9,
    FOR_COMPLETION = 1 << 10,
    FOR_SCHEMA = 1 << 11,
    FOR_DOCS = 1 << 12,
    FOR_HELP = 1 << 13,
    FOR_VERSION = 1 << 14,
    FOR_FARM = 1 << 15, /* besides those for apply */
    FOR_ALL = (1 << 16) - 1,
    /* No commands, and the second is in no row: */
    FOR_CASE = 1 << 16,  /* keys of a case of a suite */
    FOR_CONFIG = 1 << 17 /* keys of config files: option_in_config */
} option_users;

typedef enum {
    SECTION_FILES,
    SECTION_LIGHT,
    SECTION_KERNEL,
    SECTION_LAYERS,
    SECTION_ACCURACY,
    SECTION_DEVICE,
    SECTION_SEQUENCE,
    SECTION_FARM,
    SECTION_COMPARE,
    SECTION_SUITE,
    SECTION_BENCH,
    SECTION_MESSAGES,
    SECTIONS
} option_section;

/* Where the help shows an option: first, in its section, or last. */
typedef enum { RANK_USUAL, RANK_MAIN, RANK_EXPERT, RANKS } option_rank;

/* What an option needs to have an effect: a row of option_rules.c for each. */
typedef enum {
    NEED_LOUD,      /* no --quiet */
    NEED_ONE,       /* one kernel to make, and not all */
    NEED_DEGLARE,   /* glare that is taken away */
    NEED_APPLY,     /* glare that is not taken away */
    NEED_THRESHOLD, /* a threshold */
    NEED_BLOOM,     /* pixels that are changed */
    NEED_AMOUNT,    /* an amount that is not found */
    NEED_HALF,      /* an output that may have halfs */
    NEED_EMIT,      /* glare that is written apart */
    NEED_EXR,       /* an output that may be EXR, */
    NEED_LIGHT,     /* and one that may be no picture, */
    NEED_PICTURE,   /* and one that may be a picture */
    NEED_FILES,     /* files, no standard streams */
    NEED_SEQUENCE,  /* several images */
    NEED_RUN,       /* a run, not the plan of one */
    NEED_SLURM,     /* a farm that is Slurm */
    NEED_WAIT,      /* a farm that is waited for */
    NEED_OUTPUT,    /* an image of the difference */
    NEED_CASES,     /* cases that are run, and not listed */
    NEEDS
} option_need;

typedef struct option {
    const char *name; /* the JSON key */
    option_type type;
    option_section section;
    option_rank rank;
    uint32_t on;              /* option_users */
    size_t at;                /* offset in settings */
    const char *preset;       /* default, as text; NULL: not set */
    const char *value;        /* the name of the value in the help: FILE, N */
    const char *help;         /* one sentence, for the help and the schema */
    const char *about;        /* more, for the reference pages; may be NULL */
    const char *const *words; /* allowed words, NULL at the end; NULL: any */
    double min, max;
    char letter;    /* -o; 0: none */
    bool flag_only; /* no key of config files */
    /* Of the options of apply, all decide the bytes of the output but these, and paths, whose
     * content counts. Records and stamps have what decides. */
    bool aside;
    uint32_t needs; /* bits 1 << option_need: with all of them it has an effect */
} option;

extern const option OPTIONS[];
extern const int OPTION_COUNT;
extern const char *const SECTION_TITLE[SECTIONS];

/* Find an option that one of `users` takes, by its name (- and _ are the same) or its letter. */
const option *option_find(const char *name, uint32_t users);
const option *option_find_letter(char letter, uint32_t users);
/* Writes the flag with its dashes into buf, and returns buf: "--mem-limit". The text of FLAG_OF
 * lasts until the block ends. */
enum { OPTION_NAME_ROOM = 64 };
const char *option_flag(const option *o, char buf[OPTION_NAME_ROOM]);
#define FLAG_OF(option) option_flag(option, (char[OPTION_NAME_ROOM]){0})
/* Returns true if the two are different names of one value, such as sharpen and amount. */
bool option_same_value(const option *a, const option *b);
/* Writes the name with _ for -. Returns buf. */
const char *option_plain(const char *name, char buf[OPTION_NAME_ROOM]);
/* Returns the name nearest to `name`, or NULL if none is near. */
const char *option_nearest(const char *name, uint32_t users);
/* Returns the first option of `users`, or the one after `last`, in the order of the sections. */
const option *option_next(const option *last, uint32_t users);
/* Returns true for a key of config files. */
bool option_in_config(const option *o);
/* Returns true for an option that decides the bytes of the output of apply. */
static inline bool option_decides(const option *o) {
    return o->on & FOR_APPLY && !o->aside;
}

/* The names of the options that can be set by variables, with commas. */
extern const char OPTION_VARIABLES[];
/* Writes the variable, "FFTBLOOM_MEM_LIMIT". Returns buf, or NULL if the option has none. */
const char *option_env(const option *o, char buf[OPTION_NAME_ROOM]);
/* Appends the placeholder of the value in help: "zero|mirror|clamp|wrap", "FILE"; "" for bool. */
void option_placeholder(const option *o, text *to);

/* --- kinds --- */

typedef struct variables variables; /* variables.h */

/* Where a value goes while it is read, and how errors call it. */
typedef struct {
    settings *s;
    const option *o;
    const char *name;       /* "--padding", or "padding" in files */
    char *kept;             /* the copy of a string to which the settings point, to be freed */
    const variables *words; /* of ${NAME} in strings of JSON; NULL: they are text */
    bool in_suite;
    const json_value *at; /* in JSON the place of an error: the value, or a part of it */
    err *e;
} kind_reader;

/* A kind reads a value from text (flags, variables, presets) and from JSON (config files, suites),
 * writes it again, and says what the schema allows. It knows no option by name. */
struct option_kind {
    const char *words;  /* "a whole number", for sentences; the row's words follow "one of " */
    bool told;          /* pages say these words, since the flag does not show them */
    uint32_t types;     /* the JSON types of a value, as bits 1 << json_type */
    size_t bytes;       /* of the value in its place; 0: it is a string */
    const char *schema; /* of which a value must meet one; @words and @range are the row's */
    /* Read a value, and change nothing where they refuse it with an error (which names no place).
     * `from` is given a value of one of `types`. */
    bool (*read)(kind_reader *r, const char *value);
    bool (*from)(kind_reader *r, const json_value *v);
    /* Writes the value as a flag has it; nothing of a string that is not set. */
    void (*write)(const settings *s, const option *o, text *to);
};
extern const struct option_kind KINDS[OPTION_TYPES];

/* Returns the JSON types that a value of the option may have, as bits 1 << json_type. */
uint32_t kind_types(const option *o);
/* Appends "a whole number from 0 to 100" or "one of a, b, c", for sentences. */
void kind_describe(const option *o, text *to);

/* Returns the place of an option's value among the settings. */
int option_place(const option *o);
/* Returns where a value comes from, and adds that in words: "look.json:7:3", "flag --padding". */
static inline const setting *settings_of(const settings *s, const option *o) {
    return &s->value[option_place(o)];
}
void option_origin(const settings *s, const option *o, text *to);
