#include "app/cli/settings.h"

#include "app/cli/options.h"
#include "base/log.h"

#include <ctype.h>

extern char **environ;

static const char PREFIX[] = "FFTBLOOM_";
/* Variables that are no options: two that other parts of the program read, and those by which
 * package managers name the place and the version of a program. */
static const char NO_OPTION[] = "CACHE_RO,VALIDATION,ROOT,HOME,DIR,PATH,PREFIX,VERSION";

static void free_setting(setting *v) {
    mem_free(v->kept);
    mem_free(v->where);
}

/* Remembers where the value comes from that was read. */
static bool settings_keep(settings *s, const kind_reader *r, setting_origin from) {
    char *where = from.where ? mem_str(from.where, r->e) : NULL;
    setting *to = &s->value[option_place(r->o)];
    free_setting(to);
    *to = (setting){r->kept, from.kind, where};
    return where || !from.where;
}

bool settings_set(settings *s, const option *o, const char *value, setting_origin from, err *e) {
    const bool flagged = from.kind == ORIGIN_FLAG;
    kind_reader r = {.s = s, .o = o, .e = e};
    r.name = flagged && *from.where == '-' ? FLAG_OF(o) : o->name;
    if (KINDS[o->type].read(&r, value)) return settings_keep(s, &r, from);
    return flagged || !from.where ? false : err_in(e, "%s", from.where);
}

bool settings_set_json(settings *s, const option *o, const json_value *v, const variables *words,
                       bool in_suite, err *e) {
    char where[4300];
    err why = {0};
    kind_reader r = {
        .s = s, .o = o, .name = o->name, .words = words, .in_suite = in_suite, .at = v, .e = &why};
    if (!KINDS[o->type].from(&r, v)) {
        json_err(r.at, e, "%s", why.msg);
        if (e && why.code != ERR_CONFIG) e->code = why.code;
        return false;
    }
    snprintf(where, sizeof where, "%s:%d:%d", json_name(v->of), v->line, v->column);
    r.e = e;
    return settings_keep(s, &r, (setting_origin){ORIGIN_FILE, where});
}

bool settings_init(settings *s, err *e) {
    *s = (settings){0};
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++)
        if (o->preset && !settings_set(s, o, o->preset, (setting_origin){0}, e)) return false;
    return true;
}

void settings_settle(settings *s) {
    if (s->bloom.solve && !settings_given(s, "core", FOR_APPLY)) s->bloom.core = NAN;
    if (s->bloom.window == WINDOW_KEEP || settings_given(s, "padding", FOR_APPLY)) return;
    for (int a = 0; a < PLAN_AXES; a++) s->bloom.border[a] = BORDER_ZERO;
}

void settings_free(settings *s) {
    for (int i = 0; i < OPTION_COUNT; i++) free_setting(&s->value[i]);
    *s = (settings){0};
}

bool settings_environment(settings *s, uint32_t users, err *e) {
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        char name[OPTION_NAME_ROOM];
        const char *key = o->on & users ? option_env(o, name) : NULL;
        const char *value = key ? getenv(key) : NULL;
        if (value && *value &&
            !settings_set(s, o, value, (setting_origin){ORIGIN_ENVIRONMENT, name}, e))
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
    return settings_of(s, option_find(name, users))->origin != ORIGIN_DEFAULT;
}

/* Compares the values themselves. Zeros of a tint count as 1, and its preset has ones. */
bool settings_same(const settings *a, const settings *b, const option *o) {
    const size_t bytes = KINDS[o->type].bytes;
    const psf_options *k = &a->bloom.kernel, *l = &b->bloom.kernel;
    const void *x = (const char *)a + o->at, *y = (const char *)b + o->at;
    if (!bytes) {
        const char *one = *(const char *const *)x, *other = *(const char *const *)y;
        return one && other ? strcmp(one, other) == 0 : one == other;
    }
    if (memcmp(x, y, bytes) != 0) return false;
    if (o->type == OPTION_PROGRESS) return a->progress_fd == b->progress_fd;
    if (o->type == OPTION_CENTER)
        return k->center != PSF_AT || memcmp(k->at, l->at, sizeof k->at) == 0;
    return o->type != OPTION_SCALE ||
           (k->wide == l->wide && a->bloom.kernel_relative == b->bloom.kernel_relative &&
            a->kernel_auto == b->kernel_auto);
}

void settings_text(const settings *s, const option *o, text *to) {
    KINDS[o->type].write(s, o, to);
}

void settings_print(const settings *s, uint32_t users, bool json, text *to) {
    json_out j;
    if (json) j = json_begin(to);
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++) {
        if (!(o->on & users) || o->flag_only) continue;
        OWN(text) value = {0}, origin = {0};
        option_origin(s, o, &origin);
        if (json) {
            json_object(&j, o->name);
            settings_json(s, o, &j, "value");
            json_string(&j, "origin", origin.s);
            json_close(&j);
        } else {
            settings_json(s, o, &(json_out){.to = &value}, NULL);
            text_add(to, "%-14s %-24s %s\n", o->name, value.s, origin.s);
        }
    }
    if (json) json_end(&j);
}
