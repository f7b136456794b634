#include "app/cli/config.h"
#include "app/cli/option_rules.h"
#include "bloom/layer_light.h"
#include "colour/space.h"
#include "image/format.h"
#include "kernel/make/kernel_word.h"

#include <unistd.h>

enum {
    BOOL = 1 << JSON_BOOL,
    NUMBER = 1 << JSON_NUMBER,
    STRING = 1 << JSON_STRING,
    ARRAY = 1 << JSON_ARRAY,
    OBJECT = 1 << JSON_OBJECT,
    LONGEST = 64 /* of words and numbers */
};

static void *place(const kind_reader *r) {
    return (char *)r->s + r->o->at;
}

static const void *value_of(const settings *s, const option *o) {
    return (const char *)s + o->at;
}

/* Writes the number that a percentage, or a number with a comma, stands for: "; write 0.5". */
static void add_meant(char to[32], const option *o, const char *value) {
    char digits[LONGEST];
    double x;
    snprintf(digits, sizeof digits, "%s", value);
    char *mark = strpbrk(digits, ",%");
    *to = 0;
    if (!mark || strlen(value) >= sizeof digits || o->type == OPTION_TINT) return;
    const bool percent = *mark == '%';
    *mark = percent ? 0 : '.';
    if (!text_number(digits, &x)) return;
    if (percent) x /= 100;
    if (o->type != OPTION_AMOUNT || (x >= 0 && x <= 1)) snprintf(to, 32, "; write %g", x);
}

/* Refuses a value. `near`: the row's word that is nearest to it is named. */
static bool refuse(const kind_reader *r, const char *value, bool near) {
    OWN(text) want = {0};
    char meant[32], word[TEXT_MEANT] = "";
    int words = 0;
    while (r->o->words && r->o->words[words]) words++;
    kind_describe(r->o, &want);
    add_meant(meant, r->o, value);
    if (near) text_meant(word, value, r->o->words, words, '\'');
    const char *about = r->o->about ? r->o->about : "";
    bool page = near && !*word && strncmp(about, "docs/", 5) == 0; /* a sentence */
    err_set(r->e, ERR_CONFIG, "%s must be %s, not '%s'%s%s%s%.*s", r->name, want.s, value, meant,
            word, page ? "; " : "", page ? (int)strlen(about) - 1 : 0, about);
    return false;
}

/* --- words ----------------------------------------------------------------------------------- */

/* Returns the index of a word of the row, or -1. */
static int find_word(const option *o, const char *word) {
    for (int n = 0; o->words && o->words[n]; n++)
        if (strcmp(o->words[n], word) == 0) return n;
    return -1;
}

static bool read_bool(kind_reader *r, const char *value) {
    static const char *const WORD[] = {"false", "true", "0", "1", "no", "yes", "off", "on"};
    for (int i = 0; i < 8; i++)
        if (strcmp(value, WORD[i]) == 0) return *(bool *)place(r) = i & 1, true;
    return refuse(r, value, false);
}

static void write_bool(const settings *s, const option *o, text *to) {
    text_add(to, *(const bool *)value_of(s, o) ? "true" : "false");
}

static bool read_enum(kind_reader *r, const char *value) {
    int i = find_word(r->o, value);
    if (i < 0) return refuse(r, value, true);
    *(uint32_t *)place(r) = (uint32_t)i;
    return true;
}
_Static_assert(sizeof(plan_precision) == sizeof(uint32_t), "enums are stored as 32 bits");

static void write_enum(const settings *s, const option *o, text *to) {
    text_add(to, "%s", o->words[*(const uint32_t *)value_of(s, o)]);
}

/* Reads a word, or json:N for another file descriptor than that of messages. */
static bool read_progress(kind_reader *r, const char *value) {
    static const char JSON[] = "json:";
    double fd = STDERR_FILENO;
    bool to = strncmp(value, JSON, strlen(JSON)) == 0;
    if (to && (!text_number(value + strlen(JSON), &fd) || fd != floor(fd) || fd < 1 || fd > 1023))
        return refuse(r, value, false);
    if (!read_enum(r, to ? "json" : value)) return false;
    r->s->progress_fd = (uint32_t)fd;
    return true;
}

static void write_progress(const settings *s, const option *o, text *to) {
    write_enum(s, o, to);
    if (s->progress == PROGRESS_JSON && s->progress_fd != STDERR_FILENO)
        text_add(to, ":%" PRIu32, s->progress_fd);
}

/* --- numbers --------------------------------------------------------------------------------- */

static bool in_range(const option *o, double x) {
    return x >= o->min && x <= o->max;
}

static bool read_whole(kind_reader *r, const char *value) {
    double x;
    if (!text_number(value, &x) || !in_range(r->o, x) || x != floor(x))
        return refuse(r, value, false);
    *(uint32_t *)place(r) = (uint32_t)x;
    return true;
}

static void write_whole(const settings *s, const option *o, text *to) {
    text_add(to, "%" PRIu32, *(const uint32_t *)value_of(s, o));
}

/* Reads a number; "inf" where the row has no end; or a word of the row: NaN, and 0 the second. */
static bool read_float(kind_reader *r, const char *value) {
    double x;
    const int word = find_word(r->o, value);
    if (word >= 0)
        x = word ? 0 : NAN;
    else if (isinf(r->o->max) && strcmp(value, "inf") == 0)
        x = INFINITY;
    else if (!text_number(value, &x) || !in_range(r->o, x))
        return refuse(r, value, false);
    *(double *)place(r) = x;
    return true;
}

static void write_float(const settings *s, const option *o, text *to) {
    double x = *(const double *)value_of(s, o);
    if (isnan(x) || (o->words && o->words[1] && x == 0))
        text_add(to, "%s", o->words[isnan(x) ? 0 : 1]);
    else
        text_add_number(to, x);
}

static bool read_size(kind_reader *r, const char *value) {
    static const char UNIT[] = "kMGT";
    double x;
    const char *end = *value == '-' || *value == '.' ? NULL : text_leading(value, &x);
    if (!end) return refuse(r, value, false);
    if (!*end && x > 0 && x < r->o->min)
        return err_set(r->e, ERR_CONFIG, "%s %s is %s bytes; did you mean %sGB?", r->name, value,
                       value, value);
    const char *unit = *end ? strchr(UNIT, *end == 'K' ? 'k' : *end) : NULL;
    if (unit) {
        end++;
        bool binary = *end == 'i';
        end += binary;
        for (int i = 0; i <= unit - UNIT; i++) x *= binary ? 1024 : 1000;
    }
    if (*end == 'B') end++;
    if (*end || !(x < 1e18) || (x > 0 && x < r->o->min)) return refuse(r, value, false);
    *(uint64_t *)place(r) = (uint64_t)x;
    return true;
}

static void write_size(const settings *s, const option *o, text *to) {
    text_add(to, "%" PRIu64, *(const uint64_t *)value_of(s, o));
}

/* The settings hold what an amount leaves of 1: sharpen. */
static bool read_amount(kind_reader *r, const char *value) {
    double x;
    bool percent = strchr(value, '%') != NULL, amount = r->o->type == OPTION_AMOUNT;
    if (!text_fraction(value, &x)) return refuse(r, value, false);
    if (x > 1 && x <= 100 && !percent)
        return err_set(r->e, ERR_CONFIG, "%s must be from 0 to 1, not %s; did you mean %s%%?",
                       r->name, value, value);
    if (x > 1 && amount)
        return err_set(r->e, ERR_CONFIG,
                       "%s must be from 0 to 1, not %s: a kernel spreads the light that there is; "
                       "to add glare, write it apart with --emit additive and add it in comp, "
                       "with any gain (docs/comp.md)",
                       r->name, value);
    if (!(x >= 0 && x <= 1)) return refuse(r, value, false);
    *(double *)place(r) = amount ? bloom_complement(x) : x;
    return true;
}

static void write_amount(const settings *s, const option *o, text *to) {
    double x = *(const double *)value_of(s, o);
    text_add_number(to, o->type == OPTION_AMOUNT ? bloom_complement(x) : x);
}

/* Reads 1.5, or 0.5h: a height in those of the image. Two numbers are those of x and y. */
static bool read_scale(kind_reader *r, const char *value) {
    double x, y;
    const char *end = text_leading(value, &x);
    y = x;
    if (end && *end == ',') end = text_leading(end + 1, &y);
    bool relative = end && *end == 'h', follows = strcmp(value, "auto") == 0;
    if (follows) x = y = 1, end = "";
    if (!end || end[relative] || !in_range(r->o, x) || !in_range(r->o, y))
        return refuse(r, value, false);
    r->s->bloom.kernel.size = y;
    r->s->bloom.kernel.wide = x / y;
    r->s->bloom.kernel_relative = relative;
    r->s->kernel_auto = follows;
    return true;
}

static void write_scale(const settings *s, const option *o, text *to) {
    const psf_options *k = &s->bloom.kernel;
    (void)o;
    if (s->kernel_auto) {
        text_add(to, "auto");
        return;
    }
    if (k->wide > 0 && k->wide != 1) {
        text_add_number(to, k->size * k->wide);
        text_add(to, ",");
    }
    text_add_number(to, k->size);
    if (s->bloom.kernel_relative) text_add(to, "h");
}

/* --- strings --------------------------------------------------------------------------------- */

/* Lets the option be a copy of a text. */
static bool keep(kind_reader *r, const char *value) {
    if (!*value) return err_set(r->e, ERR_CONFIG, "%s must not be empty", r->name);
    char *copy = mem_str(value, r->e);
    if (!copy) return false;
    mem_free(r->kept);
    *(const char **)place(r) = r->kept = copy;
    return true;
}

/* Reads the string at v with its variables replaced; a path starts in the folder of the file. */
static bool read_string(kind_reader *r, const json_value *v, bool path,
                        bool (*read)(kind_reader *, const char *)) {
    OWN(text) t = {0};
    return variables_string(r->words, v, path, &t, r->e) && read(r, t.s ? t.s : "");
}

static void write_string(const settings *s, const option *o, text *to) {
    const char *kept = *(const char *const *)value_of(s, o);
    if (kept) text_add(to, "%s", kept);
}

static bool read_path(kind_reader *r, const char *value) {
    if (strcmp(value, "-") == 0)
        return err_set(r->e, ERR_CONFIG,
                       "%s is '-': standard input and output are not supported here; give the name "
                       "of a file",
                       r->name);
    return keep(r, value);
}

static bool from_path(kind_reader *r, const json_value *v) {
    return read_string(r, v, true, read_path);
}

/* The standard streams have no folder. */
static bool from_stream(kind_reader *r, const json_value *v) {
    return read_string(r, v, strcmp(v->text, "-") != 0, keep);
}

/* The name of a kernel has no folder, unless there is a file of that name. */
static bool from_kernel(kind_reader *r, const json_value *v) {
    OWN(text) path = {0}, word = {0};
    bool ok = variables_string(r->words, v, true, &path, r->e) &&
              variables_string(r->words, v, false, &word, r->e);
    bool named = ok && access(path.s, F_OK) != 0 &&
                 (kernel_word_is_name(word.s) || strpbrk(word.s, "(:@"));
    if (ok && kernel_word_is_mix(word.s)) {
        OWN(text) folder = {0}, mix = {0};
        text_add(&folder, "%.*s", (int)(*word.s == '/' ? 0 : path.n - word.n), path.s);
        kernel_word_add_mix(&mix, word.s, folder.s);
        return read_path(r, mix.s);
    }
    ok = ok && read_path(r, named ? word.s : path.s);
    return ok;
}

/* A word that ends as an image does is a path, and any other one a channel. */
static bool read_mask(kind_reader *r, const char *value) {
    if (!keep(r, value)) return false;
    r->s->bloom.mask_file = image_is_name(value);
    return true;
}

static bool from_mask(kind_reader *r, const json_value *v) {
    return read_string(r, v, image_is_name(v->text), read_mask);
}

static bool read_space(kind_reader *r, const char *value) {
    bool word = find_word(r->o, value) == 0, output = r->o->words != NULL;
    if (!word && !space_check(value, output, r->e)) return err_in(r->e, "%s", r->name);
    return keep(r, value);
}

/* --- lists ----------------------------------------------------------------------------------- */

static bool wrong_item(kind_reader *r, const json_value *v, const char *want) {
    r->at = v;
    return err_set(r->e, ERR_CONFIG, "%s must be %s, not %s", v->key ? v->key : r->o->name, want,
                   json_type_name(v->type));
}

/* Keeps the strings of an array as a list. None of them may be empty: a list that somebody computes
 * would else stand for the preset. */
static bool from_array(kind_reader *r, const json_value *array) {
    OWN(text) list = {0}, item = {0};
    bool ok = true;
    for (const json_value *v = array->child; ok && v; v = v->next) {
        r->at = v;
        text_free(&item);
        ok = (v->type == JSON_STRING || wrong_item(r, v, "a string")) &&
             variables_string(r->words, v, false, &item, r->e) &&
             (item.n || err_set(r->e, ERR_CONFIG, "%s must not be empty", r->name));
        text_add(&list, list.n ? "," : "");
        if (ok) text_add_item(&list, item.s, ",");
    }
    ok = ok && keep(r, list.s ? list.s : "");
    return ok;
}

static bool from_list(kind_reader *r, const json_value *v) {
    return v->type == JSON_ARRAY ? from_array(r, v) : read_string(r, v, false, keep);
}

/* Appends one setting of a layer and checks it. Strings are for "20%", "inf" and masks. */
static bool add_layer(kind_reader *r, const json_value *layer, const json_value *v, text *list) {
    OWN(text) one = {0};
    bool number = v->type == JSON_NUMBER;
    r->at = v;
    if (!number && v->type != JSON_STRING) return wrong_item(r, v, "a number or a string");
    text_add_item(&one, layer->key, ",:");
    text_add(&one, ":%s=", v->key);
    OWN(text) value = {0};
    bool ok = number || variables_string(r->words, v, false, &value, r->e);
    if (ok) text_add_item(&one, number ? v->text : value.s ? value.s : "", ",");
    ok = ok && layer_light_check(&(bloom_settings){.per_layer = one.s}, r->e);
    if (ok) text_add(list, "%s%s", list->n ? "," : "", one.s);
    return ok;
}

/* Reads a list, or {"rim": {"amount": 0.2}}. */
static bool from_layers(kind_reader *r, const json_value *v) {
    OWN(text) list = {0};
    bool ok = true;
    if (v->type != JSON_OBJECT) return from_list(r, v);
    for (const json_value *layer = v->child; ok && layer; layer = layer->next) {
        ok = layer->type == JSON_OBJECT || wrong_item(r, layer, "an object");
        for (const json_value *one = layer->child; ok && one; one = one->next)
            ok = add_layer(r, layer, one, &list);
    }
    ok = ok && (!list.n || keep(r, list.s));
    return ok;
}

/* --- a few values ---------------------------------------------------------------------------- */

/* Parts "x,y" or "r,g,b" into `count` words. Returns false where there are more or fewer. */
static bool part_values(const char *value, int count, char to[][LONGEST]) {
    for (int i = 0; i < count; i++) {
        size_t n = strcspn(value, ",");
        if (n >= LONGEST || (value[n] == ',') != (i + 1 < count)) return false;
        snprintf(to[i], LONGEST, "%.*s", (int)n, value);
        value += n + (value[n] == ',');
        value += strspn(value, " ");
    }
    return true;
}

/* Reads "x,y", or an array of as many values, which are words of the row or numbers. */
static bool from_values(kind_reader *r, const json_value *v) {
    const bool words = r->o->type == OPTION_BORDERS, three = r->o->type == OPTION_TINT;
    bool (*read)(kind_reader *, const char *) = KINDS[r->o->type].read;
    if (v->type == JSON_STRING) return read_string(r, v, false, read);
    OWN(text) list = {0};
    for (const json_value *one = v->child; one; one = one->next) {
        if (one->type != (words ? JSON_STRING : JSON_NUMBER)) {
            return wrong_item(r, one, words ? "a string" : "a number");
        }
        text_add(&list, "%s%s", list.n ? "," : "", one->text);
    }
    return v->children == (three ? 3 : 2)
               ? read(r, list.s)
               : err_set(r->e, ERR_CONFIG, "%s must have %s, not %d", r->o->name,
                         three ? "three values, for R, G and B" : "two values, for x and for y",
                         v->children);
}

static bool read_borders(kind_reader *r, const char *value) {
    char word[2][LONGEST];
    plan_border *border = place(r);
    const bool two = part_values(value, 2, word);
    const char *x = two ? word[0] : value, *y = two ? word[1] : value;
    int a = find_word(r->o, x), b = find_word(r->o, y);
    if (a < 0 || b < 0) return refuse(r, a < 0 ? x : y, true);
    border[PLAN_X] = (plan_border)a;
    border[PLAN_Y] = (plan_border)b;
    return true;
}

static void write_borders(const settings *s, const option *o, text *to) {
    const plan_border *border = value_of(s, o);
    text_add(to, "%s", o->words[border[PLAN_X]]);
    if (border[PLAN_X] != border[PLAN_Y]) text_add(to, ",%s", o->words[border[PLAN_Y]]);
}

static bool read_center(kind_reader *r, const char *value) {
    char word[2][LONGEST];
    double x, y;
    psf_options *k = &r->s->bloom.kernel;
    if (!part_values(value, 2, word)) return read_enum(r, value);
    if (!text_number(word[0], &x) || !text_number(word[1], &y)) return refuse(r, value, false);
    k->center = PSF_AT;
    k->at[0] = x, k->at[1] = y;
    return true;
}
_Static_assert(PSF_MIDDLE == 0 && PSF_CORNER == 3 && PSF_AT == 4, "the row's words are in order");

static void write_numbers(const double *v, int count, text *to) {
    for (int i = 0; i < count; i++) {
        if (i) text_add(to, ",");
        text_add_number(to, v[i]);
    }
}

static void write_center(const settings *s, const option *o, text *to) {
    const psf_options *k = &s->bloom.kernel;
    if (k->center == PSF_AT)
        write_numbers(k->at, 2, to);
    else
        write_enum(s, o, to);
}

static bool read_tint(kind_reader *r, const char *value) {
    char word[3][LONGEST];
    double v[3] = {0};
    bool ok = part_values(value, 3, word);
    for (int i = 0; ok && i < 3; i++) ok = text_number(word[i], &v[i]) && in_range(r->o, v[i]);
    if (!ok) return refuse(r, value, false);
    if (v[0] == 0 && v[1] == 0 && v[2] == 0)
        return err_set(r->e, ERR_CONFIG, "%s 0,0,0 leaves no glare; amount 0 does that", r->name);
    memcpy(place(r), v, sizeof v);
    return true;
}

/* Zeros count as 1. */
static void write_tint(const settings *s, const option *o, text *to) {
    static const double ONES[3] = {1, 1, 1};
    const double *v = value_of(s, o);
    write_numbers(v[0] == 0 && v[1] == 0 && v[2] == 0 ? ONES : v, 3, to);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* Writes a list, or several values, as an array; a number, true or false as it is; and a word or
 * what has a unit as a string. */
void settings_json(const settings *s, const option *o, json_out *j, const char *key) {
    const uint32_t types = KINDS[o->type].types;
    const bool is_list = o->type == OPTION_LIST || o->type == OPTION_LAYERS,
               words = is_list || o->type == OPTION_BORDERS;
    OWN(text) t = {0};
    double x;
    KINDS[o->type].write(s, o, &t);
    if (!(types & ARRAY) || !t.s || !(is_list || strchr(t.s, ','))) {
        const bool bare = types & BOOL || (types & NUMBER && t.s && text_number(t.s, &x));
        (bare ? json_raw : json_string)(j, key, t.s);
        return;
    }
    json_array(j, key);
    const char *list = t.s;
    for (text_piece p; text_item(&list, &p);) {
        OWN(text) item = {0};
        text_add_piece(&item, p);
        (words ? json_string : json_raw)(j, NULL, item.s);
    }
    json_close(j);
}

/* Reads a number, a word of JSON or a string: what JSON writes of it, the kind reads. */
static bool from_either(kind_reader *r, const json_value *v) {
    bool (*read)(kind_reader *, const char *) = KINDS[r->o->type].read;
    return v->type == JSON_STRING ? read_string(r, v, false, read) : read(r, v->text);
}

static bool from_sandbox(kind_reader *r, const json_value *v) {
    if (r->in_suite)
        return err_set(r->e, ERR_CONFIG,
                       "a suite cannot set %s; 'fftbloom check SUITE.json --%s %s' does",
                       r->o->name, r->o->name, v->text);
    if (strcmp(v->text, "off") == 0)
        return err_set(r->e, ERR_CONFIG, "a config file cannot say off of %s; --%s off does",
                       r->o->name, r->o->name);
    return read_enum(r, v->text);
}

#define ANY_TEXT                "{\"type\": \"string\", \"minLength\": 1}"
#define PATTERN(form)           "{\"type\": \"string\", \"pattern\": \"^" form "$\"}"
#define ARRAY_OF(items, limits) "{\"type\": \"array\", " limits ", \"items\": " items "}"
#define TWO                     "\"minItems\": 2, \"maxItems\": 2"
#define THREE                   "\"minItems\": 3, \"maxItems\": 3"
#define SOME                    "\"minItems\": 1"

#define FRACTION "a fraction from 0 to 1, or a percentage (30%)"
#define AMOUNT   PATTERN("[0-9.]+%?") ", {\"type\": \"number\", \"minimum\": 0, \"maximum\": 1}"

#define OBJECTS "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"object\"}}"
#define ENUM    "{\"enum\": [@words]}"
#define REAL    "{\"type\": \"number\", @range}"
#define WHOLE   "{\"type\": \"integer\", @range}"

const struct option_kind KINDS[OPTION_TYPES] = {
    [OPTION_BOOL] = {"true or false", false, BOOL, sizeof(bool), "{\"type\": \"boolean\"}",
                     read_bool, from_either, write_bool},
    [OPTION_INT] = {"a whole number", true, NUMBER, sizeof(uint32_t), WHOLE, read_whole,
                    from_either, write_whole},
    [OPTION_FLOAT] = {"a number", true, NUMBER, sizeof(double), REAL, read_float, from_either,
                      write_float},
    [OPTION_ENUM] = {"one of ", false, STRING, sizeof(uint32_t), ENUM, read_enum, from_either,
                     write_enum},
    [OPTION_SANDBOX] = {"one of ", false, STRING, sizeof(uint32_t),
                        "{\"enum\": [\"auto\", \"on\"]}", read_enum, from_sandbox, write_enum},
    [OPTION_PROGRESS] = {"one of ", false, STRING, sizeof(uint32_t),
                         ENUM ", " PATTERN("json:[0-9]+"), read_progress, from_either,
                         write_progress},
    [OPTION_STRING] = {"text", false, STRING, 0, ANY_TEXT, keep, from_either, write_string},
    [OPTION_PATH] = {"a path", false, STRING, 0, ANY_TEXT, read_path, from_path, write_string},
    [OPTION_STREAM] = {"a path", false, STRING, 0, ANY_TEXT, keep, from_stream, write_string},
    [OPTION_KERNEL] = {"a path", false, STRING, 0, ANY_TEXT, read_path, from_kernel, write_string},
    [OPTION_MASK] = {"text", false, STRING, 0, ANY_TEXT, read_mask, from_mask, write_string},
    [OPTION_LIST] = {"a list separated by commas", true, STRING | ARRAY, 0,
                     ANY_TEXT ", " ARRAY_OF(ANY_TEXT, SOME), keep, from_list, write_string},
    [OPTION_LAYERS] = {"a list separated by commas", true, STRING | ARRAY | OBJECT, 0,
                       ANY_TEXT ", " ARRAY_OF(ANY_TEXT, SOME) ", " OBJECTS, keep, from_layers,
                       write_string},
    [OPTION_SIZE] = {"a size in bytes, such as 2GB", true, NUMBER | STRING, sizeof(uint64_t),
                     PATTERN("[0-9]+(\\\\.[0-9]+)?([kKMGT]i?)?B?") ", {\"const\": 0}, " WHOLE,
                     read_size, from_either, write_size},
    [OPTION_BORDERS] = {"one or two (x,y) of ", true, STRING | ARRAY, 2 * sizeof(plan_border),
                        ENUM ", " PATTERN("[a-z]+, *[a-z]+") ", " ARRAY_OF(ENUM, TWO), read_borders,
                        from_values, write_borders},
    [OPTION_CENTER] = {"X,Y or one of ", false, STRING | ARRAY, sizeof(psf_center),
                       ENUM ", " PATTERN("[-+.0-9eE]+, *[-+.0-9eE]+") ", " ARRAY_OF(
                           "{\"type\": \"number\"}", TWO),
                       read_center, from_values, write_center},
    [OPTION_SCALE] = {"auto, a factor (0.5) or a height in image heights (0.5h),", true,
                      NUMBER | STRING, sizeof(double),
                      PATTERN("auto|[-+.0-9eE]+(,[-+.0-9eE]+)?h?") ", " REAL, read_scale,
                      from_either, write_scale},
    [OPTION_TINT] = {"three factors, R,G,B,", true, STRING | ARRAY, 3 * sizeof(double),
                     PATTERN("[.0-9eE+-]+(, *[.0-9eE+-]+){2}") ", " ARRAY_OF(REAL, THREE),
                     read_tint, from_values, write_tint},
    [OPTION_SPACE] = {"a colour space", true, STRING, 0, ANY_TEXT, read_space, from_either,
                      write_string},
    [OPTION_AMOUNT] = {FRACTION, true, NUMBER | STRING, sizeof(double), AMOUNT, read_amount,
                       from_either, write_amount},
    [OPTION_SHARPEN] = {FRACTION, true, NUMBER | STRING, sizeof(double), AMOUNT, read_amount,
                        from_either, write_amount},
};

uint32_t kind_types(const option *o) {
    bool may_be_word = o->type == OPTION_FLOAT && (isinf(o->max) || o->words);
    return KINDS[o->type].types | (may_be_word ? STRING : 0);
}

void kind_describe(const option *o, text *to) {
    text_add(to, "%s", KINDS[o->type].words);
    bool list = o->type != OPTION_FLOAT && o->type != OPTION_SPACE;
    for (int i = 0; list && o->words && o->words[i]; i++)
        text_add(to, "%s%s", i ? ", " : "", o->words[i]);
    if (o->max > 0)
        text_add(to, isinf(o->max) ? " of %.15g or more" : " from %.15g to %.15g", o->min, o->max);
    if (o->words && !list)
        text_add(to, o->words[1] ? ", %s or %s" : " or %s", o->words[0], o->words[1]);
}
