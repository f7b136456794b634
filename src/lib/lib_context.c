#include "base/log.h"
#include "kernel/cache.h"
#include "lib/lib.h"

#include <unistd.h>

const char *fb_version(void) {
    return VERSION;
}

/* --- calls ------------------------------------------------------------------------------------ */

static const struct {
    err_code from;
    int32_t to;
} CODE[] = {
    {ERR_BAD_PIXELS, FB_BAD_PIXELS}, {ERR_TOLERANCE, FB_BROKEN},   {ERR_USAGE, FB_BAD_ARGUMENT},
    {ERR_DATA, FB_BAD_DATA},         {ERR_NO_INPUT, FB_NOT_FOUND}, {ERR_NO_DEVICE, FB_NO_DEVICE},
    {ERR_LINES, FB_NO_DEVICE},       {ERR_CANT_CREATE, FB_IO},     {ERR_IO, FB_IO},
    {ERR_RETRY, FB_TRY_AGAIN},       {ERR_CONFIG, FB_BAD_SETTING}, {ERR_MEMORY, FB_NO_MEMORY},
    {ERR_CANCELLED, FB_CANCELLED},
};

static const char *const SETTING[] = {
    "verify",   "amount",        "tolerance",   "threshold", "knee",      "kernel_scale",
    "center_x", "center_y",      "normalize",   "correlate", "padding_x", "padding_y",
    "padding",  "kernel_center", "precision",   "nan",       "alpha",     "half_overflow",
    "emit",     "tint",          "kernel_turn", "core",
};

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the setting that a sentence names first, or "". */
static const char *named_setting(const char *sentence) {
    for (const char *at = sentence; *at; at++)
        for (size_t i = 0; (at == sentence || !is_word(at[-1])) && i < COUNT(SETTING); i++) {
            size_t n = strlen(SETTING[i]);
            if (strncmp(at, SETTING[i], n) == 0 && !is_word(at[n])) return SETTING[i];
        }
    return "";
}

static int32_t code_of(const err *e, bool data) {
    if (data && (e->code == ERR_USAGE || e->code == ERR_CONFIG)) return FB_BAD_DATA;
    for (size_t i = 0; i < COUNT(CODE); i++)
        if (CODE[i].from == e->code) return CODE[i].to;
    return e->code ? FB_INTERNAL : FB_OK;
}

/* Calls settings by their names: "--kernel-scale=2" of the program is kernel_scale=2. Lines for
 * oiiotool, which end a sentence, stay as they are. */
static void name_settings(char *to, size_t room, const char *from) {
    size_t n = 0;
    bool flag = false;
    const char *line = strstr(from, "oiiotool ");
    for (; *from && n + 1 < room; from++) {
        bool begins = (!line || from < line) && strncmp(from, "--", 2) == 0 && is_word(from[2]);
        flag = begins || (flag && (is_word(*from) || *from == '-'));
        if (begins)
            from++;
        else
            to[n++] = *from == '-' && flag ? '_' : *from;
    }
    to[n] = 0;
}

static int32_t tell(fb_error *to, const err *e, bool data) {
    const int32_t code = code_of(e, data);
    if (!to) return code;
    *to = (fb_error){.code = code};
    name_settings(to->text, sizeof to->text, e->msg);
    if (code == FB_BAD_SETTING || code == FB_BAD_PIXELS)
        snprintf(to->setting, sizeof to->setting, "%s", named_setting(to->text));
    return code;
}

void lib_begin_thread(lib_call *l, fb_context *c) {
    *l = (lib_call){.c = c};
    l->was = host_set(c->host);
    l->locale = uselocale(c->plain);
    par_enter(c->threads, atomic_fetch_add(&c->calls, 1));
}

void lib_end_thread(lib_call *l) {
    par_leave(l->c->threads);
    uselocale(l->locale);
    host_set(l->was);
}

bool lib_enter(lib_call *l, fb_context *c, const char *name, fb_error *error) {
    *l = (lib_call){.error = error};
    if (!c) return err_set(&l->e, ERR_USAGE, "%s: an argument is NULL, or 0", name);
    if (host_here()->memory)
        return err_set(&l->e, ERR_USAGE, "a callback must not call the library");
    atomic_fetch_add(&c->users, 1);
    lib_begin_thread(l, c);
    l->error = error;
    return true;
}

int32_t lib_leave(lib_call *l) {
    if (l->c) {
        lib_end_thread(l);
        lib_context_give(l->c);
    }
    return tell(l->error, &l->e, l->data);
}

bool lib_struct(void *to, size_t own, size_t least, const void *from, const char *what, err *e) {
    uint32_t size;
    memcpy(&size, from, sizeof size);
    if (size < least)
        return err_set(e, ERR_USAGE, "%s: its size is %u, and must be sizeof(%s), %zu", what, size,
                       what, own);
    for (size_t i = own; i < size; i++)
        if (((const char *)from)[i])
            return err_set(e, ERR_USAGE,
                           "%s: it has members that version " VERSION " of the library does not "
                           "know; they must be 0",
                           what);
    memset(to, 0, own);
    memcpy(to, from, size < own ? size : own);
    return true;
}

/* --- contexts --------------------------------------------------------------------------------- */

void lib_context_give(fb_context *c) {
    if (!c || atomic_fetch_sub(&c->users, 1) != 1) return;
    mem_budget *memory = c->host.memory;
    const host was = host_set(c->host);
    device_pool_close(&c->devices);
    par_close(&c->threads);
    /* The Vulkan instance stays: a driver that is loaded again and again fails in the end. */
    if (c->plain) freelocale(c->plain);
    mem_free(c->device);
    mem_free(c->cache_dir);
    mem_free(c->kernels);
    mem_free(c);
    host_set(was);
    mem_budget_close(&memory);
}

/* Refuses a device that is not there. To look for others than the CPU loads graphics drivers. */
static bool find_device(device_pool *p, const char *want, err *e) {
    const device_list *list;
    const device_request one = {.want = want,
                                .ask = {.size = {1, 1}, .channels = 1, .spectra = 1, .frames = 1}};
    if (!want || strcmp(want, "auto") == 0 || strcmp(want, "cpu") == 0) return true;
    OWN_MEM device_forecast *each = mem_new(ENGINE_DEVICES, sizeof *each, "forecasts", e);
    return each && device_pool_choose(p, each, &list, &one, e) >= 0;
}

static const char *variable(const char *name) {
    return getenv(name);
}

/* Copies the folder of a cache; *to stays NULL where it is that of the program, which cannot be
 * used. */
static bool find_cache(char **to, const char *asked, err *e) {
    char program[CACHE_PATH];
    if (!asked || *asked) return !asked || (*to = mem_str(asked, e));
    const bool usable = cache_path_by(program, NULL, variable) &&
                        cache_folder((char[CACHE_PATH]){0}, program, "", NULL) &&
                        access(program, W_OK) == 0;
    return !usable || (*to = mem_str(program, e));
}

static bool open_context(fb_context *c, const fb_context_options *o, err *e) {
    enum { MOST_THREADS = 4096, MANY = 1000, KEEP = 256 << 20 };
    if (o->threads > MOST_THREADS)
        return err_set(e, ERR_USAGE, "fb_context_options: threads is %u; it can be 0 to %d",
                       o->threads, MOST_THREADS);
    if ((o->device && !(c->device = mem_str(o->device, e))) ||
        !find_cache(&c->cache_dir, o->cache_dir, e) ||
        (o->kernels && !(c->kernels = mem_str(o->kernels, e))))
        return false;
    mem_keep(KEEP);
    bloom_defaults(&c->base);
    c->base.device = c->device;
    c->base.cache_dir = c->cache_dir;
    if (o->cache_size || !c->cache_dir) c->base.cache_size = c->cache_dir ? o->cache_size : 0;
    c->base.vram_limit = o->vram_limit;
    c->base.images = MANY;
    if (!(c->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)))
        return err_set(e, ERR_MEMORY, "out of memory: there is none for a locale");
    return (c->threads = par_open((int)o->threads, e)) &&
           (c->devices = device_pool_open(c->threads, c->cache_dir, 4, e)) &&
           find_device(c->devices, c->device, e);
}

static void ignore(void *user, int level, const char *said) {}

static fb_context *new_context(const fb_context_options *o, err *e) {
    static const log_level LEVEL[] = {LOG_NOTE, LOG_WARN, LOG_NOTE, LOG_INFO, LOG_DEBUG};
    if (o->log_level < 0 || o->log_level > FB_LOG_DEBUG)
        err_set(e, ERR_USAGE, "fb_context_options: log_level is %d; it can be 0 to %d",
                o->log_level, FB_LOG_DEBUG);
    else if (o->reserved || !o->alloc != !o->release)
        err_set(e, ERR_USAGE, "fb_context_options: %s",
                o->reserved ? "`reserved` is not 0"
                            : "one of alloc and release is NULL, and the other is not");
    if (e->code) return NULL;
    const mem_source from = {o->alloc, o->release, o->user};
    mem_budget *memory = mem_budget_open(o->mem_limit, "mem_limit", o->alloc ? &from : NULL, e);
    if (!memory) return NULL;
    const host was = host_set((host){.memory = memory,
                                     .log = o->log ? o->log : ignore,
                                     .log_ctx = o->user,
                                     .level = (int)LEVEL[o->log_level],
                                     .span = 1});
    fb_context *c = mem_new(1, sizeof *c, "context", e);
    if (c) c->host = *host_here(), c->users = 1;
    if (c && !open_context(c, o, e)) lib_context_give(c), c = NULL, memory = NULL;
    host_set(was);
    if (!c && memory) mem_budget_close(&memory);
    return c;
}

int32_t fb_context_open(fb_context **to, const fb_context_options *options, fb_error *error) {
    fb_context_options o = {.size = sizeof o};
    err e = {0};
    if (to) *to = NULL;
    if (!to)
        err_set(&e, ERR_USAGE, "fb_context_open: `to` is NULL");
    else if (host_here()->memory)
        err_set(&e, ERR_USAGE, "a callback must not call the library");
    else if (!options || lib_struct(&o, sizeof o, sizeof o, options, "fb_context_options", &e))
        *to = new_context(&o, &e);
    return tell(error, &e, false);
}

void fb_context_close(fb_context *context) {
    lib_context_give(context);
}

uint64_t fb_context_used(const fb_context *context) {
    return context ? mem_budget_used(context->host.memory) : 0;
}
