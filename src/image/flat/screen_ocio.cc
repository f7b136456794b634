extern "C" {
#include "image/flat/screen.h"
}

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <sys/stat.h>

#if WITH_OCIO
#include <OpenColorIO/OpenColorIO.h>

namespace OCIO = OCIO_NAMESPACE;

struct screen_ocio {
    OCIO::ConstCPUProcessorRcPtr processor;
    const primaries *from;
};

namespace {

/* Adds the names of a list for a message: " A, B, C". */
template <class count, class name> std::string names(count n, name get) {
    std::string names;
    for (int i = 0; i < n; i++) names += std::string(i ? ", '" : " '") + get(i) + "'";
    return names;
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

screen_ocio *open(const std::string &name, err *e) {
    OCIO::ConstConfigRcPtr c = OCIO::Config::CreateFromEnv();
    size_t slash = name.find('/');
    std::string display = slash == std::string::npos ? "" : name.substr(0, slash);
    std::string view = slash == std::string::npos ? name : name.substr(slash + 1);
    if (display.empty()) display = c->getDefaultDisplay();
    if (!has_display(c, display)) {
        std::string found = names(c->getNumDisplays(), [&](int i) { return c->getDisplay(i); });
        err_set(e, ERR_CONFIG, "the OpenColorIO config has no display '%s'; it has%s",
                display.c_str(), found.c_str());
        return nullptr;
    }
    if (view.empty()) view = c->getDefaultView(display.c_str());
    if (!has_view(c, display, view)) {
        std::string found = names(c->getNumViews(display.c_str()),
                                  [&](int i) { return c->getView(display.c_str(), i); });
        err_set(e, ERR_CONFIG,
                "the display '%s' of the OpenColorIO config has no view '%s'; it has%s",
                display.c_str(), view.c_str(), found.c_str());
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
    return new screen_ocio{c->getProcessor(t)->getDefaultCPUProcessor(),
                           interchange ? &ap0->gamut : nullptr};
}

} // namespace

screen_ocio *screen_ocio_open(const char *name, err *e) {
    const char *path = getenv("OCIO");
    if (!path || !*path) {
        err_set(e, ERR_CONFIG, "view ocio needs the variable OCIO; set it to the path of a config");
        return nullptr;
    }
    struct stat st;
    const bool there = stat(path, &st) == 0;
    if (there ? !S_ISREG(st.st_mode) : !strstr(path, "://")) {
        err_set(e, ERR_CONFIG,
                there ? "OCIO=%s is not a regular file" : "OCIO=%s: this file is not there", path);
        return nullptr;
    }
    try {
        return open(name, e);
    } catch (const std::exception &x) {
        std::string said = x.what();
        std::replace(said.begin(), said.end(), '\n', ' ');
        /* This library reads configs of its own version and of older ones. Those that come with
         * OpenColorIO ("ocio://") exist since 2.2. */
        err_set(e, ERR_CONFIG,
                "view 'ocio:%s' with OCIO=%s: %s (this program has OpenColorIO " OCIO_VERSION
                "; docs/colour.md says what to do about newer configs)",
                name, path, said.c_str());
    }
    return nullptr;
}

void screen_ocio_close(screen_ocio **s) {
    delete *s;
    *s = nullptr;
}

const primaries *screen_ocio_primaries(const screen_ocio *s) {
    return s->from;
}

bool screen_ocio_show(const screen_ocio *s, float *rgb, size_t pixels, err *e) {
    try {
        OCIO::PackedImageDesc image(rgb, long(pixels), 1, 3);
        s->processor->apply(image);
        return true;
    } catch (const std::exception &x) {
        return err_set(e, ERR_CONFIG, "OpenColorIO: %s", x.what());
    }
}

#else

screen_ocio *screen_ocio_open(const char *, err *e) {
    err_set(e, ERR_CONFIG,
            "view ocio: this program was built without OpenColorIO; use film or srgb");
    return nullptr;
}
void screen_ocio_close(screen_ocio **) {}
const primaries *screen_ocio_primaries(const screen_ocio *) {
    return nullptr;
}
bool screen_ocio_show(const screen_ocio *, float *, size_t, err *e) {
    return err_set(e, ERR_INTERNAL, "built without OpenColorIO");
}

#endif
