#include "base/mem.h"
#include "lib/lib.h"

#include <stdio.h>
#include <string.h>

const char *fb_version(void) {
    return VERSION;
}

/* --- calls ------------------------------------------------------------------------------------ */

static const struct {
    err_code from;
    int32_t to;
} CODE[] = {
    {ERR_BAD_PIXELS, FB_BAD_PIXELS}, {ERR_TOLERANCE, FB_BROKEN},
    {ERR_USAGE, FB_BAD_ARGUMENT},    {ERR_DATA, FB_BAD_DATA},
    {ERR_NO_INPUT, FB_NOT_FOUND},    {ERR_NO_DEVICE, FB_NO_DEVICE},
    {ERR_CANT_CREATE, FB_IO},        {ERR_IO, FB_IO},
    {ERR_RETRY, FB_TRY_AGAIN},       {ERR_CONFIG, FB_BAD_SETTING},
    {ERR_MEMORY, FB_NO_MEMORY},
};

/* The members of fb_settings. */
static const char *const SETTING[] = {
    "verify",   "amount",        "tolerance", "threshold", "knee",      "kernel_scale",
    "center_x", "center_y",      "normalize", "correlate", "padding_x", "padding_y",
    "padding",  "kernel_center", "precision", "nan",       "alpha",     "half_overflow",
};

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the setting that a sentence names first, or "". */
static const char *named_setting(const char *sentence) {
    for (const char *at = sentence; *at; at++)
        for (size_t i = 0;
             (at == sentence || !is_word(at[-1])) && i < sizeof SETTING / sizeof SETTING[0]; i++) {
            size_t n = strlen(SETTING[i]);
            if (strncmp(at, SETTING[i], n) == 0 && !is_word(at[n])) return SETTING[i];
        }
    return "";
}

static int32_t code_of(const err *e, bool data) {
    if (data && (e->code == ERR_USAGE || e->code == ERR_CONFIG)) return FB_BAD_DATA;
    for (size_t i = 0; i < sizeof CODE / sizeof CODE[0]; i++)
        if (CODE[i].from == e->code) return CODE[i].to;
    return e->code ? FB_INTERNAL : FB_OK;
}

static int32_t tell(fb_error *to, int32_t code, const char *sentence) {
    const char *setting = code == FB_BAD_SETTING || code == FB_BAD_PIXELS ? named_setting(sentence)
                                                                          : "";
    if (!to) return code;
    *to = (fb_error){.code = code};
    snprintf(to->setting, sizeof to->setting, "%s", setting);
    snprintf(to->text, sizeof to->text, "%.*s", (int)sizeof to->text - 1, sentence);
    return code;
}

int32_t lib_refuse(fb_error *error, int32_t code, const char *sentence) {
    return tell(error, code, sentence);
}

bool lib_enter(lib_call *l, fb_context *c, fb_error *error) {
    *l = (lib_call){.c = c, .error = error};
    atomic_fetch_add(&c->users, 1);
    par_enter(c->threads, atomic_fetch_add(&c->calls, 1));
    return true;
}

int32_t lib_leave(lib_call *l) {
    par_leave(l->c->threads);
    lib_context_give(l->c);
    return tell(l->error, code_of(&l->e, l->data), l->e.msg);
}

bool lib_struct(void *to, size_t own, const void *from, const char *what, err *e) {
    uint32_t size;
    memcpy(&size, from, sizeof size);
    if (size < own) /* of this first version; later ones know shorter structs */
        return err_set(e, ERR_USAGE, "%s: its size is %u, and must be sizeof(%s), %zu", what, size,
                       what, own);
    for (size_t i = own; i < size; i++)
        if (((const char *)from)[i])
            return err_set(e, ERR_USAGE,
                           "%s: it has members that version " VERSION " of the library does not "
                           "know; they must be 0",
                           what);
    memcpy(to, from, own);
    return true;
}

/* --- contexts --------------------------------------------------------------------------------- */

void lib_context_give(fb_context *c) {
    if (!c || atomic_fetch_sub(&c->users, 1) != 1) return;
    device_pool_close(&c->devices);
    par_close(&c->threads);
    mem_free(c->device);
    mem_free(c->cache_dir);
    mem_free(c->kernels);
    mem_free(c);
}

static bool copy_string(char **to, const char *from, err *e) {
    return !from || (*to = mem_str(from, e));
}

static bool open_context(fb_context *c, const fb_context_options *o, err *e) {
    enum { MOST_THREADS = 4096, MANY = 1000 };
    if (o->threads > MOST_THREADS)
        return err_set(e, ERR_USAGE, "fb_context_options: threads is %u; it can be 0 to %d",
                       o->threads, MOST_THREADS);
    if (!copy_string(&c->device, o->device, e) || !copy_string(&c->cache_dir, o->cache_dir, e) ||
        !copy_string(&c->kernels, o->kernels, e))
        return false;
    mem_set_limit(o->memory);
    bloom_defaults(&c->base);
    c->base.device = c->device;
    c->base.cache_dir = c->cache_dir;
    if (!c->cache_dir)
        c->base.cache_size = 0;
    else if (o->cache_size)
        c->base.cache_size = o->cache_size;
    c->base.vram_limit = o->device_memory;
    c->base.images = MANY;
    return (c->threads = par_open((int)o->threads, e)) &&
           (c->devices = device_pool_open(c->threads, c->cache_dir, 4, e));
}

int32_t fb_context_open(fb_context **to, const fb_context_options *options, fb_error *error) {
    fb_context_options o = {.size = sizeof o};
    err e = {0};
    if (!to) return lib_refuse(error, FB_BAD_ARGUMENT, "fb_context_open: `to` is NULL");
    *to = NULL;
    fb_context *c = NULL;
    bool ok = (!options || lib_struct(&o, sizeof o, options, "fb_context_options", &e)) &&
              (c = mem_new(1, sizeof *c, "context", &e));
    if (ok) {
        atomic_init(&c->users, 1);
        ok = open_context(c, &o, &e);
    }
    if (ok)
        *to = c;
    else
        lib_context_give(c);
    return tell(error, code_of(&e, false), e.msg);
}

void fb_context_close(fb_context *context) {
    lib_context_give(context);
}

uint64_t fb_context_used(const fb_context *context) {
    return context ? mem_used() : 0;
}
