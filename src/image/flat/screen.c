#include "image/flat/screen.h"

#include "base/mem.h"
#include "image/flat/flat.h"

struct screen {
    float (*curve)(float light); /* NULL: the config decides */
    screen_ocio *config;
};

/* Applies a rational curve with a toe and a shoulder, fitted to the reference rendering of ACES by
 * K. Narkowicz (2016). The factor keeps middle grey where it is; 0 stays 0, 10 becomes 1. */
static float film(float x) {
    x *= 0.723171f;
    if (!(x > 0)) return 0;
    if (x > 1e6f) return 1;
    return min_float(1, x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f));
}

static float as_it_is(float x) {
    return clamp_float(x, 0, 1);
}

static const screen FILM = {.curve = film}, SRGB = {.curve = as_it_is};
const screen *const SCREEN_FILM = &FILM;

screen *screen_open(const char *name, err *e) {
    bool film = strcmp(name, "film") == 0 || strcmp(name, "auto") == 0;
    const screen *known = film ? &FILM : strcmp(name, "srgb") == 0 ? &SRGB : NULL;
    screen *s = NULL;
    if (!known && strcmp(name, "ocio") != 0 && strncmp(name, "ocio:", 5) != 0) {
        err_set(e, ERR_CONFIG,
                "unknown view '%s'%s; there are film, srgb, ocio, ocio:VIEW and ocio:DISPLAY/VIEW",
                name,
                strcmp(name, "filmic") == 0 || strcmp(name, "aces") == 0 ? " (film is near)" : "");
        return NULL;
    }
    if (!(s = mem_new(1, sizeof *s, "a screen", e))) return NULL;
    if (known) *s = *known;
    if (!known && !(s->config = screen_ocio_open(name[4] ? name + 5 : "", e))) screen_close(&s);
    return s;
}

void screen_close(screen **ps) {
    if (*ps) screen_ocio_close(&(*ps)->config);
    mem_free(*ps);
    *ps = NULL;
}

const primaries *screen_primaries(const screen *s) {
    return s->curve ? PRIMARIES_REC709 : screen_ocio_primaries(s->config);
}

bool screen_show(const screen *s, float *rgb, size_t pixels, err *e) {
    if (!s->curve) return screen_ocio_show(s->config, rgb, pixels, e);
    for (size_t i = 0; i < 3 * pixels; i++) rgb[i] = flat_to_srgb(s->curve(rgb[i]));
    return true;
}
