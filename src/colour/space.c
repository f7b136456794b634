#include "colour/space.h"

#include "base/mem.h"

#include <strings.h>

/* What people and programs call a space. The first ones, which are OFFERED, are shown in messages;
 * then come those of oiio:ColorSpace. */
static const struct {
    const char *name, *means;
} ALIAS[] = {{"linear", "lin"},
             {"lin_rec709", "lin_rec709"},
             {"lin_p3d65", "lin_p3d65"},
             {"lin_rec2020", "lin_rec2020"},
             {"acescg", "lin_ap1"},
             {"aces2065-1", "lin_ap0"},
             {"srgb", "srgb"},
             {"gamma18", "g18"},
             {"gamma22", "g22"},
             {"gamma24", "g24"},
             {"gamma26", "g26"},
             {"bt709", "itu709_rec709"},
             {"logc3", "arrilogc3"},
             {"logc4", "arrilogc4"},
             {"slog3", "slog3"},
             {"slog3-sgamut3", "slog3_sgamut3"},
             {"acescct", "acescct"},
             {"vlog", "vlog"},
             {"log3g10", "redlog3g10"},
             {"cineon", "cineon"},
             {"scene_linear", "lin"},
             {"lin_srgb", "lin_rec709"},
             {"rec709", "itu709_rec709"},
             {"gamma1.8", "g18"},
             {"gamma2.2", "g22"},
             {"gamma2.4", "g24"},
             {"gammacorrected1.8", "g18"},
             {"gammacorrected2.2", "g22"},
             {"gammacorrected2.4", "g24"},
             {"kodaklog", "cineon"},
             {"alexav3logc", "arrilogc3"},
             {"aces", "lin_ap0"},
             {"s-log3", "slog3"},
             {"v-log", "vlog"}};

enum { OFFERED = 20, LONGEST = 64 };

/* Cuts the name into its halves, in `word`, and returns the second, or NULL. */
static char *halve(char *word) {
    static const char *const STATE[] = {"_scene", "_display"};
    size_t n = strlen(word);
    for (int i = 0; i < 2; i++) {
        size_t m = strlen(STATE[i]);
        if (n > m && strcasecmp(word + n - m, STATE[i]) == 0) word[n - m] = 0;
    }
    char *cut = strchr(word, '_');
    if (!cut) return NULL;
    *cut = 0;
    return cut + 1;
}

/* Returns the curve of a word: its own name, or one that people use for it alone. */
static const curve *find_curve(const char *word) {
    const curve *c = curve_find(word);
    for (size_t i = 0; !c && i < COUNT(ALIAS); i++)
        if (strcasecmp(ALIAS[i].name, word) == 0) c = curve_find(ALIAS[i].means);
    return c || strcasecmp(word, "bt709") != 0 ? c : curve_find("itu709");
}

bool space_find(colour_space *to, const char *name) {
    char word[LONGEST];
    const char *colon = strchr(name, ':'), *plain = colon ? colon + 1 : name;
    /* OpenColorIO writes families in front: "ACES - ACEScg". */
    for (const char *dash; (dash = strstr(plain, " - "));) plain = dash + 3;
    for (size_t i = 0; i < COUNT(ALIAS); i++)
        if (strcasecmp(ALIAS[i].name, plain) == 0) {
            plain = ALIAS[i].means;
            break;
        }
    if (strlen(plain) >= sizeof word) return false;
    strcpy(word, plain);
    const char *second = halve(word);
    /* The light of a projector in XYZ is XYZ. */
    if (second && strcasecmp(second, "xyzd65") == 0) second = "ciexyzd65";
    const curve *c = find_curve(word);
    const primaries_row *p = second ? primaries_find(second) : NULL;
    if (!c || (second && !p && c->decode)) return false;
    *to = (colour_space){c, p, p != NULL};
    if (!p && c->primaries) to->primaries = primaries_find(c->primaries);
    return true;
}

void space_id(const curve *c, const primaries_row *p, text *to) {
    static const char CURVE[] = "lin,srgb,g18,g22,g24,g26",
                      PRIMARIES[] = "rec709,p3d65,rec2020,ap0,ap1,adobergb,ciexyzd65";
    bool known = text_glob_any(CURVE, c->name) && text_glob_any(PRIMARIES, p->name);
    text_add(to, "%s%s_%s_scene", known ? "" : "ocio:", c->name, p->name);
}

bool space_check(const char *said, bool output, err *e) {
    colour_space space;
    bool found = space_find(&space, said);
    if (found && !space.curve->decode)
        return err_set(
            e, ERR_CONFIG,
            "%s is not supported; convert the image %s, for example with oiiotool --colorconvert",
            space.curve->title,
            output ? "that this program writes in linear light" : "to linear light first");
    /* What programs write into files means a curve; of a person who types it, nobody knows. */
    const primaries_row *alone = primaries_find(said);
    if (alone)
        return err_set(e, ERR_CONFIG,
                       "'%s' names primaries and no curve; write lin_%s for linear light, srgb_%s "
                       "for a picture, or itu709_%s for the curve of video cameras",
                       said, alone->name, alone->name, alone->name);
    if (strcasecmp(said, "aces") == 0)
        return err_set(e, ERR_CONFIG,
                       "'%s' may mean two spaces; write acescg for the one that programs work in "
                       "(AP1), or aces2065-1 for that of archives (AP0)",
                       said);
    if (found) return true;
    OWN(text) names = {0};
    for (int i = 0; i < OFFERED; i++) text_add(&names, i ? ", %s" : "%s", ALIAS[i].name);
    err_set(e, ERR_CONFIG,
            "unknown colour space '%s'; known are %s, or a colorInteropID such as srgb_p3d65_scene",
            said, names.s);
    return false;
}
