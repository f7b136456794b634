#include "app/cli/old_words.h"
#include "app/cli/options.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/mem.h"
#include "colour/space.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static const char PREFIX[] = "FFTBLOOM_";
/* Variables that are no options: two that other parts of the program read, and those by which
 * package managers name the place and the version of a program. */
static const char NO_OPTION[] = "CACHE_RO,VALIDATION,ROOT,HOME,DIR,PATH,PREFIX,VERSION";

/* --- one parser per type ----------------------------------------------------------------- */

/* The argument of a parser. */
typedef struct {
    settings *s;
    const option *o;
    const char *value;
    const char *name; /* for messages: "--padding", or "padding" in files */
    err *e;
} source;

static void *place(const source *from) {
    return (char *)from->s + from->o->at;
}

/* Reads a decimal number and nothing else: no blanks, no hexadecimal, no "nan". */
static bool number(const char *v, double *to) {
    const char *p = v + (*v == '-' || *v == '+');
    if (!isdigit((unsigned char)*p) && *p != '.') return false;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) return false;
    char *end;
    *to = strtod(v, &end);
    return *end == 0 && end != v && isfinite(*to);
}

/* Writes the number that a percentage, or a number with a comma, stands for: "; write 0.5". */
static void add_meant(char to[32], const source *from) {
    char digits[64];
    double x;
    snprintf(digits, sizeof digits, "%s", from->value);
    char *mark = strpbrk(digits, ",%");
    *to = 0;
    if (!mark || strlen(from->value) >= sizeof digits) return;
    bool percent = *mark == '%';
    *mark = percent ? 0 : '.';
    if (!number(digits, &x)) return;
    if (percent) x /= 100;
    if (from->o->type != OPTION_AMOUNT || (x >= 0 && x <= 1)) snprintf(to, 32, "; write %g", x);
}

static bool bad_value(const source *from) {
    text want = {0};
    char meant[32];
    const char *instead = old_value(from->o->name, from->value);
    if (instead)
        return err_set(from->e, ERR_CONFIG, "%s %s is gone: %s", from->name, from->value, instead);
    option_describe_type(from->o, &want);
    add_meant(meant, from);
    err_set(from->e, ERR_CONFIG, "%s must be %s, not '%s'%s", from->name, want.s, from->value,
            meant);
    text_free(&want);
    return false;
}

static bool parse_bool(const source *from) {
    static const char *const WORD[] = {"false", "true", "0", "1", "no", "yes", "off", "on"};
    for (int i = 0; i < 8; i++)
        if (strcmp(from->value, WORD[i]) == 0) return *(bool *)place(from) = i & 1, true;
    return bad_value(from);
}

static bool in_range(const option *o, double x) {
    return x >= o->min && x <= o->max;
}

static bool parse_number(const source *from) {
    double x;
    bool whole = from->o->type == OPTION_INT;
    if (isinf(from->o->max) && strcmp(from->value, "inf") == 0)
        x = INFINITY;
    else if (from->o->words && strcmp(from->value, from->o->words[0]) == 0)
        x = NAN;
    else if (!number(from->value, &x) || !in_range(from->o, x) || (whole && x != floor(x)))
        return bad_value(from);
    if (whole)
        *(uint32_t *)place(from) = (uint32_t)x;
    else
        *(double *)place(from) = x;
    return true;
}

/* Returns the index of a word of the row. Returns -1 and sets the error if it has no such word. */
static int word_index(const source *from, const char *v) {
    const char *const *words = from->o->words;
    int n = 0;
    for (; words[n]; n++)
        if (strcmp(words[n], v) == 0) return n;
    bad_value(from);
    if (from->e && !old_value(from->o->name, from->value)) {
        char meant[TEXT_MEANT];
        size_t used = strlen(from->e->msg);
        snprintf(from->e->msg + used, sizeof from->e->msg - used, "%s",
                 text_meant(meant, v, words, n, '\''));
    }
    return -1;
}

static bool parse_enum(const source *from) {
    char word[OPTION_NAME_ROOM];
    bool progress = from->o->at == offsetof(settings, progress);
    uint32_t fd = STDERR_FILENO; /* of --progress, where json:N says another */
    int used = 0;
    if (progress && sscanf(from->value, "json:%4" SCNu32 "%n", &fd, &used) == 1 &&
        !from->value[used] && fd >= 1 && fd <= 1023)
        snprintf(word, sizeof word, "json");
    else
        snprintf(word, sizeof word, "%s", from->value);
    int i = word_index(from, word);
    if (i < 0) return false;
    *(uint32_t *)place(from) = (uint32_t)i;
    if (progress) from->s->progress_fd = fd;
    return true;
}
_Static_assert(sizeof(plan_precision) == sizeof(uint32_t), "enums are stored as 32 bits");

/* Stores a pointer to the text, which settings_set keeps. */
static bool parse_text(const source *from) {
    if (!*from->value) return err_set(from->e, ERR_CONFIG, "%s must not be empty", from->name);
    *(const char **)place(from) = from->value;
    return true;
}

static bool parse_path(const source *from) {
    bool stream = from->o->at == offsetof(settings, input) || from->o->stdout_too;
    if (strcmp(from->value, "-") == 0 && !stream)
        return err_set(from->e, ERR_CONFIG,
                       "%s is '-': standard input and output are not supported here; give the name "
                       "of a file",
                       from->name);
    return parse_text(from);
}

static bool parse_size(const source *from) {
    static const char UNIT[] = "kMGT";
    const char *v = from->value;
    char *end;
    if (!isdigit((unsigned char)*v)) return bad_value(from);
    double x = strtod(v, &end);
    if (!*end && x > 0 && x < from->o->min)
        return err_set(from->e, ERR_CONFIG, "%s %s is %s bytes; did you mean %sGB?", from->name, v,
                       v, v);
    const char *unit = *end ? strchr(UNIT, *end == 'K' ? 'k' : *end) : NULL;
    if (unit) {
        end++;
        bool binary = *end == 'i';
        end += binary;
        for (int i = 0; i <= unit - UNIT; i++) x *= binary ? 1024 : 1000;
    }
    if (*end == 'B') end++;
    if (*end || !(x < 1e18) || (x > 0 && x < from->o->min)) return bad_value(from);
    *(uint64_t *)place(from) = (uint64_t)x;
    return true;
}

/* Copies the part before v's only comma and points to the part behind it. Returns false if there is
 * not exactly one comma. */
static bool split(const char *v, char first[64], const char **second) {
    const char *comma = strchr(v, ',');
    if (!comma || comma - v >= 64 || strchr(comma + 1, ',')) return false;
    snprintf(first, 64, "%.*s", (int)(comma - v), v);
    *second = comma + 1 + strspn(comma + 1, " ");
    return true;
}

static bool parse_borders(const source *from) {
    char x[64];
    const char *y = from->value;
    int a, b;
    bool two = split(from->value, x, &y);
    if ((a = word_index(from, two ? x : from->value)) < 0 || (b = word_index(from, y)) < 0)
        return false;
    plan_border *border = place(from);
    border[PLAN_X] = (plan_border)a;
    border[PLAN_Y] = (plan_border)b;
    return true;
}

static bool parse_center(const source *from) {
    psf_options *k = place(from);
    char first[64];
    const char *second;
    double x, y;
    if (split(from->value, first, &second)) {
        if (!number(first, &x) || !number(second, &y)) return bad_value(from);
        k->center = PSF_AT;
        k->at[0] = x;
        k->at[1] = y;
        return true;
    }
    int i = word_index(from, from->value);
    if (i < 0) return false;
    k->center = (psf_center)i;
    return true;
}
_Static_assert(PSF_MIDDLE == 0 && PSF_CORNER == 3 && PSF_AT == 4, "the row's words are in order");

static bool parse_scale(const source *from) {
    char digits[64];
    size_t n = strlen(from->value);
    bool relative = n > 0 && from->value[n - 1] == 'h';
    snprintf(digits, sizeof digits, "%.*s", (int)(n - relative), from->value);
    double x;
    if (n >= sizeof digits || !number(digits, &x) || !in_range(from->o, x)) return bad_value(from);
    from->s->bloom.kernel.size = x;
    from->s->bloom.kernel_relative = relative;
    return true;
}

static bool parse_space(const source *from) {
    colour_space is;
    bool word = from->o->words && strcmp(from->value, from->o->words[0]) == 0;
    bool found = word || space_find(&is, from->value);
    if (found && !word && !is.curve->decode)
        return err_set(from->e, ERR_CONFIG,
                       "%s: %s is not supported; convert the image %s, for example with oiiotool "
                       "--colorconvert",
                       from->name, is.curve->title,
                       from->o->at == offsetof(settings, output_space)
                           ? "that this program writes in linear light"
                           : "to linear light first");
    /* What programs write into files means a curve; of a person who types it, nobody knows. */
    const primaries_row *alone = word ? NULL : primaries_find(from->value);
    if (alone)
        return err_set(from->e, ERR_CONFIG,
                       "%s: '%s' names primaries and no curve; write lin_%s for linear light, "
                       "srgb_%s for a picture, or itu709_%s for the curve of video cameras",
                       from->name, from->value, alone->name, alone->name, alone->name);
    if (strcasecmp(from->value, "aces") == 0)
        return err_set(
            from->e, ERR_CONFIG,
            "%s: '%s' may mean two spaces; write acescg for the one that programs work in "
            "(AP1), or aces2065-1 for that of archives (AP0)",
            from->name, from->value);
    if (found) return parse_text(from);
    text names = {0};
    space_names(&names);
    err_set(from->e, ERR_CONFIG,
            "%s: unknown colour space '%s'; known are %s, or a colorInteropID such as "
            "srgb_p3d65_scene",
            from->name, from->value, names.s);
    text_free(&names);
    return false;
}

/* Returns 1 - x in 15 digits, so that the complement of 0.7 is 0.3. */
static double complement(double x) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.15g", 1 - x);
    return strtod(digits, NULL);
}

/* Reads a fraction or a percentage of the whole. */
static bool parse_amount(const source *from) {
    char digits[64];
    double x;
    size_t n = strlen(from->value);
    bool percent = n > 0 && from->value[n - 1] == '%';
    snprintf(digits, sizeof digits, "%.*s", (int)(n - percent), from->value);
    if (n >= sizeof digits || !number(digits, &x)) return bad_value(from);
    if (percent) x /= 100;
    if (x > 1 && x <= 100 && !percent)
        return err_set(from->e, ERR_CONFIG, "%s must be from 0 to 1, not %s; did you mean %s%%?",
                       from->name, from->value, from->value);
    if (!(x >= 0 && x <= 1)) return bad_value(from);
    *(double *)place(from) = complement(x);
    return true;
}

static bool (*const PARSE[OPTION_TYPES])(const source *) = {
    [OPTION_BOOL] = parse_bool,     [OPTION_INT] = parse_number,  [OPTION_FLOAT] = parse_number,
    [OPTION_ENUM] = parse_enum,     [OPTION_STRING] = parse_text, [OPTION_PATH] = parse_path,
    [OPTION_LIST] = parse_text,     [OPTION_SIZE] = parse_size,   [OPTION_BORDERS] = parse_borders,
    [OPTION_CENTER] = parse_center, [OPTION_SCALE] = parse_scale, [OPTION_SPACE] = parse_space,
    [OPTION_AMOUNT] = parse_amount,
};

/* --- values ------------------------------------------------------------------------------ */

static void free_setting(setting *v) {
    mem_free(v->text);
    mem_free(v->where);
}

bool settings_set(settings *s, int index, const char *value, setting_origin from, err *e) {
    const option *o = &OPTIONS[index];
    char flag[OPTION_NAME_ROOM];
    setting fresh = {.text = mem_str(value, e),
                     .origin = from.kind,
                     .where = from.where ? mem_str(from.where, e) : NULL};
    bool ok = fresh.text && (!from.where || fresh.where), flagged = from.kind == ORIGIN_FLAG;
    const char *name = flagged && *from.where == '-' ? option_flag(o, flag) : o->name;
    const source read = {s, o, fresh.text, name, e};
    if (ok && !PARSE[o->type](&read)) {
        ok = false;
        if (!flagged && from.where) err_in(e, "%s", from.where);
    }
    /* The value of a complement is the other option's, and so are its text and origin. */
    if (ok && o->means) index = (int)(option_find(o->means, FOR_APPLY) - OPTIONS);
    if (ok && OPTIONS[index].type == OPTION_AMOUNT) {
        text shortest = {0};
        text_add(&shortest, "%.15g", complement(*(const double *)((const char *)s + o->at)));
        mem_free(fresh.text);
        ok = (fresh.text = mem_str(shortest.s, e)) != NULL;
        text_free(&shortest);
    }
    if (ok && o->at == offsetof(settings, existing)) {
        s->clobber = s->existing != EXISTING_SKIP;
        s->update = s->existing == EXISTING_UPDATE;
    }
    setting *old = ok ? &s->value[index] : &fresh;
    free_setting(old);
    if (ok) *old = fresh;
    return ok;
}

bool settings_init(settings *s, err *e) {
    *s = (settings){0};
    for (int i = 0; i < OPTION_COUNT; i++)
        if (OPTIONS[i].preset && !settings_set(s, i, OPTIONS[i].preset, (setting_origin){0}, e))
            return false;
    return true;
}

bool settings_settle(settings *s, err *e) {
    int padding = (int)(option_find("padding", FOR_APPLY) - OPTIONS);
    return s->bloom.window == WINDOW_KEEP || s->value[padding].origin != ORIGIN_DEFAULT ||
           settings_set(s, padding, "zero", (setting_origin){0}, e);
}

void settings_free(settings *s) {
    for (int i = 0; i < OPTION_COUNT; i++) free_setting(&s->value[i]);
    mem_free(s->recipe);
    mem_free(s->kernel_file);
    *s = (settings){0};
}

bool settings_environment(settings *s, uint32_t users, err *e) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        char name[OPTION_NAME_ROOM];
        const char *key = OPTIONS[i].on & users ? option_env(&OPTIONS[i], name) : NULL;
        const char *value = key ? getenv(key) : NULL;
        if (value && *value &&
            !settings_set(s, i, value, (setting_origin){ORIGIN_ENVIRONMENT, name}, e))
            return false;
    }
    return true;
}

void settings_warn_environment(void) {
    for (char **v = environ; *v; v++) {
        char key[OPTION_NAME_ROOM];
        size_t n = strcspn(*v, "="), prefix = strlen(PREFIX);
        if (strncmp(*v, PREFIX, prefix) != 0 || n - prefix >= sizeof key || !(*v)[n] ||
            !(*v)[n + 1])
            continue;
        snprintf(key, sizeof key, "%.*s", (int)(n - prefix), *v + prefix);
        bool known = text_glob_any(NO_OPTION, key);
        for (char *p = key; *p; p++) *p = (char)tolower((unsigned char)*p);
        if (!known && !text_glob_any(OPTION_VARIABLES, key))
            log_warn(
                "%.*s is not a variable of this program; for options there are FFTBLOOM_DEVICE, "
                "JOBS, MEM_LIMIT, CACHE_DIR, KERNELS and CONFIG",
                (int)n, *v);
    }
}

bool settings_given(const settings *s, const char *name, uint32_t users) {
    return s->value[option_find(name, users) - OPTIONS].origin != ORIGIN_DEFAULT;
}

/* --- words ------------------------------------------------------------------------------- */

static void add_number(const char *v, text *to) {
    double x = strtod(v, NULL);
    if (isinf(x))
        text_add_json(to, v);
    else
        text_add_number(to, x);
}

/* Appends the items of a list with commas as an array. */
static void add_list(const char *v, bool numbers, text *to) {
    json_out j = {.to = to};
    json_array(&j, NULL);
    for (const char *p = v;; p++) {
        p += strspn(p, " ");
        size_t n = strcspn(p, ",");
        text item = {0};
        text_add_bytes(&item, p, n);
        if (numbers)
            add_number(item.s, json_here(&j, NULL));
        else
            json_string(&j, NULL, item.s);
        text_free(&item);
        p += n;
        if (!*p) break;
    }
    json_close(&j);
}

void settings_json(const settings *s, int index, text *to) {
    const char *v = s->value[index].text;
    const option *o = &OPTIONS[index];
    bool pair = v && strchr(v, ',') != NULL;
    bool numeric = v && isdigit((unsigned char)v[*v == '-' || *v == '+' || *v == '.']);
    if (!v) {
        text_add(to, "null");
    } else if (o->type == OPTION_BOOL) {
        text_add(to, *(const bool *)((const char *)s + o->at) ? "true" : "false");
    } else if (o->type == OPTION_SIZE) {
        text_add(to, "%" PRIu64, *(const uint64_t *)((const char *)s + o->at));
    } else if (o->type == OPTION_LIST || (o->type == OPTION_BORDERS && pair) ||
               (o->type == OPTION_CENTER && pair)) {
        add_list(v, o->type == OPTION_CENTER, to);
    } else if (o->type == OPTION_INT || o->type == OPTION_AMOUNT ||
               (o->type == OPTION_FLOAT && (!o->words || numeric)) ||
               (o->type == OPTION_SCALE && numeric && v[strlen(v) - 1] != 'h')) {
        add_number(v, to);
    } else {
        text_add_json(to, v);
    }
}

void settings_origin(const settings *s, int index, text *to) {
    static const char *const WORD[] = {
        [ORIGIN_DEFAULT] = "default",
        [ORIGIN_FILE] = "",
        [ORIGIN_ENVIRONMENT] = "environment ",
        [ORIGIN_FLAG] = "flag ",
    };
    const setting *v = &s->value[index];
    const char *where = v->where ? v->where : "";
    text_add(to, "%s%s", v->origin == ORIGIN_FLAG && *where != '-' ? "" : WORD[v->origin], where);
}

void settings_print(const settings *s, uint32_t users, bool json, text *to) {
    json_out j;
    if (json) j = json_begin(to);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!(OPTIONS[i].on & users) || OPTIONS[i].flag_only || OPTIONS[i].means) continue;
        text value = {0}, origin = {0};
        settings_json(s, i, &value);
        settings_origin(s, i, &origin);
        if (json) {
            json_object(&j, OPTIONS[i].name);
            json_raw(&j, "value", value.s);
            json_string(&j, "origin", origin.s);
            json_close(&j);
        } else {
            text_add(to, "%-14s %-24s %s\n", OPTIONS[i].name, value.s, origin.s);
        }
        text_free(&value);
        text_free(&origin);
    }
    if (json) json_end(&j);
}
