/* screen_ocio.cc - the curves of film and srgb, and displays and views through OpenColorIO's
 * library.
 *
 * Light is given to a config as ACES2065-1 where it has the role aces_interchange, else as its role
 * scene_linear, in whose primaries the image must be then. */
extern "C" {
#include "image/flat/flat.h"
#include "image/flat/screen.h"
}

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <sys/stat.h>

#if WITH_OCIO
#include <OpenColorIO/OpenColorIO.h>

namespace OCIO = OCIO_NAMESPACE;
typedef OCIO::ConstCPUProcessorRcPtr view_of_config;
#else
typedef const void *view_of_config;
#endif

struct screen {
    float (*curve)(float light); /* NULL: the config decides */
    view_of_config config;
    const primaries *from; /* of the config */
};

namespace {

/* Applies a rational curve with a toe and a shoulder, fitted to the reference rendering of ACES by
 * K. Narkowicz (2016). The factor keeps middle grey where it is; 0 stays 0, 10 becomes 1. */
float film(float x) {
    x *= 0.723171f;
    if (!(x > 0)) return 0;
    if (x > 1e6f) return 1;
    return min_float(1, x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f));
}

float as_it_is(float x) {
    return clamp_float(x, 0, 1);
}

const screen FILM = {film, {}, nullptr}, SRGB = {as_it_is, {}, nullptr};

screen *new_screen(const screen &is, err *e) {
    screen *s = new (std::nothrow) screen(is);
    if (!s) err_set(e, ERR_MEMORY, "out of memory: a screen");
    return s;
}

#if WITH_OCIO

/* Adds the names of a list for a message: " A, B, C". */
template <class count, class name> std::string names(count n, name get) {
    std::string all;
    for (int i = 0; i < n; i++) all += std::string(i ? ", '" : " '") + get(i) + "'";
    return all;
}

bool has_view(const OCIO::ConstConfigRcPtr &c, const std::string &display,
              const std::string &view) {
    for (int i = 0; i < c->getNumViews(display.c_str()); i++)
        if (view == c->getView(display.c_str(), i)) return true;
    return false;
}

bool has_display(const OCIO::ConstConfigRcPtr &c, const std::string &display) {
    for (int i = 0; i < c->getNumDisplays(); i++)
        if (display == c->getDisplay(i)) return true;
    return false;
}

screen *open_config(const std::string &name, err *e) {
    OCIO::ConstConfigRcPtr c = OCIO::Config::CreateFromEnv();
    size_t slash = name.find('/');
    std::string display = slash == std::string::npos ? "" : name.substr(0, slash);
    std::string view = slash == std::string::npos ? name : name.substr(slash + 1);
    if (display.empty()) display = c->getDefaultDisplay();
    if (!has_display(c, display)) {
        std::string all = names(c->getNumDisplays(), [&](int i) { return c->getDisplay(i); });
        err_set(e, ERR_CONFIG, "the OpenColorIO config has no display '%s'; it has%s",
                display.c_str(), all.c_str());
        return nullptr;
    }
    if (view.empty()) view = c->getDefaultView(display.c_str());
    if (!has_view(c, display, view)) {
        std::string all = names(c->getNumViews(display.c_str()),
                                [&](int i) { return c->getView(display.c_str(), i); });
        err_set(e, ERR_CONFIG,
                "the display '%s' of the OpenColorIO config has no view '%s'; it has%s",
                display.c_str(), view.c_str(), all.c_str());
        return nullptr;
    }
    bool interchange = c->hasRole("aces_interchange");
    if (!interchange && !c->hasRole(OCIO::ROLE_SCENE_LINEAR)) {
        err_set(e, ERR_CONFIG,
                "the OpenColorIO config has neither the role aces_interchange nor scene_linear; "
                "it needs one of them");
        return nullptr;
    }
    OCIO::DisplayViewTransformRcPtr t = OCIO::DisplayViewTransform::Create();
    t->setSrc(interchange ? "aces_interchange" : OCIO::ROLE_SCENE_LINEAR);
    t->setDisplay(display.c_str());
    t->setView(view.c_str());
    const primaries_row *ap0 = primaries_find("ap0");
    return new_screen(
        {nullptr, c->getProcessor(t)->getDefaultCPUProcessor(), interchange ? &ap0->is : nullptr},
        e);
}

#endif

/* Opens the display and view of $OCIO's config: `name` is "DISPLAY/VIEW", "VIEW" or "". What is
 * missing is the config's default. */
screen *open_ocio(const char *name, err *e) {
#if WITH_OCIO
    const char *path = getenv("OCIO");
    if (!path || !*path) {
        err_set(e, ERR_CONFIG, "view ocio needs the variable OCIO; set it to the path of a config");
        return nullptr;
    }
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        err_set(e, ERR_CONFIG, "OCIO=%s is not a regular file", path);
        return nullptr;
    }
    try {
        return open_config(name, e);
    } catch (const std::exception &x) {
        err_set(e, ERR_CONFIG, "view 'ocio:%s' with OCIO=%s: %s", name, path, x.what());
    }
    return nullptr;
#else
    err_set(e, ERR_CONFIG,
            "view ocio: this program was built without OpenColorIO; use film or srgb");
    return nullptr;
#endif
}

} // namespace

const screen *const SCREEN_FILM = &FILM;

screen *screen_open(const char *name, err *e) {
    if (strcmp(name, "film") == 0 || strcmp(name, "auto") == 0) return new_screen(FILM, e);
    if (strcmp(name, "srgb") == 0) return new_screen(SRGB, e);
    if (strcmp(name, "ocio") == 0) return open_ocio("", e);
    if (strncmp(name, "ocio:", 5) == 0) return open_ocio(name + 5, e);
    bool near_film = strcmp(name, "filmic") == 0 || strcmp(name, "aces") == 0;
    err_set(e, ERR_CONFIG,
            "unknown view '%s'%s; there are film, srgb, ocio, ocio:VIEW and ocio:DISPLAY/VIEW",
            name, near_film ? " (film is near)" : "");
    return nullptr;
}

void screen_close(screen **s) {
    delete *s;
    *s = nullptr;
}

const primaries *screen_primaries(const screen *s) {
    return s->curve ? PRIMARIES_REC709 : s->from;
}

bool screen_show(const screen *s, float *rgb, size_t pixels, err *e) {
#if WITH_OCIO
    if (!s->curve) {
        try {
            OCIO::PackedImageDesc colours(rgb, long(pixels), 1, 3);
            s->config->apply(colours);
            return true;
        } catch (const std::exception &x) {
            return err_set(e, ERR_CONFIG, "OpenColorIO: %s", x.what());
        }
    }
#endif
    for (size_t i = 0; i < 3 * pixels; i++) rgb[i] = flat_to_srgb(s->curve(rgb[i]));
    return true;
}
