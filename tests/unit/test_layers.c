/* What is colour and what is data, by names as renderers and compositors give them. */
#include "image/layers.h"
#include "unit/check.h"
#include "unit/make_image.h"

/* The groups as text: "diffuse:R,G,B+A" and so on with the full names' leaves, blanks between. */
static void describe(char *to, size_t room, const layer_map *m, const image_part *p) {
    size_t n = 0;
    to[0] = 0;
    for (int g = 0; g < m->groups; g++) {
        const layer_group *l = &m->group[g];
        n += (size_t)snprintf(to + n, room - n, "%s%s:", g ? " " : "", l->name);
        for (int k = 0; k < l->channels; k++) {
            const char *name = p->channel[l->channel[k]].name, *dot = strrchr(name, '.');
            n += (size_t)snprintf(to + n, room - n, "%s%s", k ? "," : "", dot ? dot + 1 : name);
            assert_false(m->is_data[l->channel[k]]);
        }
        if (l->alpha >= 0) {
            n += (size_t)snprintf(to + n, room - n, "+A");
            assert_false(m->is_data[l->alpha]);
        }
    }
}

static void expect(const char *channels, const char *layers, const char *exclude,
                   const char *groups) {
    char got[1000];
    OWN(image) *img = MAKE(channels, 0, 0, 1, 1);
    const image_part *p = &img->head.part[0];
    OWN(layer_map) m;
    CHECK_OK(layer_map_make(&m, p, layers, exclude, &e));
    describe(got, sizeof got, &m, p);
    if (strcmp(got, groups) != 0) fail_msg("%s: got '%s', not '%s'", channels, got, groups);
    int coloured = 0, data = 0;
    for (int g = 0; g < m.groups; g++) coloured += m.group[g].channels + (m.group[g].alpha >= 0);
    for (int c = 0; c < p->channels; c++) data += m.is_data[c];
    assert_int_equal(coloured + data, p->channels);
}

TEST(colours_of_renderers) {
    static const char *const CASE[][2] = {
        {"R:half G:half B:half A:half", ":R,G,B+A"},
        {"r:half g:half b:half a:half", ":r,g,b+A"},
        {"Y:half", ":Y"},
        {"Y:half A:half", ":Y+A"},
        {"Y:half right.Y:half", ":Y right:Y"},
        {"Y:half Z:float", ":Y"},
        {"G:float", "G:G"},
        {"Z:float", ""},
        {"depth.V:float", ""},
        {"A:half", ""},
        {"id:uint", ""},
        {"diffuse.R:half diffuse.G:half diffuse.B:half R:half G:half B:half",
         ":R,G,B diffuse:R,G,B"},
        {"ViewLayer.Combined.R:half ViewLayer.Combined.G:half ViewLayer.Combined.B:half "
         "ViewLayer.Combined.A:half ViewLayer.Depth.Z:float",
         "ViewLayer.Combined:R,G,B+A"},
        {"special.red:half special.green:half special.blue:half", "special:red,green,blue"},
        {"RGBA_key.R:half RGBA_key.G:half RGBA_key.B:half", "RGBA_key:R,G,B"},
        {"right.R:half right.G:half right.B:half right.A:half", "right:R,G,B+A"},
        {"R:half G:half B:float", ":R,G,B"},
        {"acid.R:half acid.G:half acid.B:half", "acid:R,G,B"},
        {"grid.R:half grid.G:half grid.B:half", "grid:R,G,B"},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) expect(CASE[i][0], NULL, NULL, CASE[i][1]);
}

TEST(data_of_renderers) {
    static const char *const CHANNELS[] = {
        "Z:float",
        "depth:half",
        "A:half",
        "R:half G:half",
        "R:uint G:uint B:uint",
        "Y:uint",
        "N.X:float N.Y:float N.Z:float",
        "motion.X:half motion.Y:half",
        "stmap.R:float stmap.G:float stmap.B:float",
        "UV.R:float UV.G:float UV.B:float",
        "P.R:float P.G:float P.B:float",
        "normals.R:half normals.G:half normals.B:half",
        "ViewLayer.Normal.X:float ViewLayer.Normal.Y:float ViewLayer.Normal.Z:float",
        "ViewLayer.Vector.X:float ViewLayer.Vector.Y:float ViewLayer.Vector.Z:float",
        "ViewLayer.Crypto00.r:float ViewLayer.Crypto00.g:float ViewLayer.Crypto00.b:float",
        "CryptoObject01.r:float CryptoObject01.g:float CryptoObject01.b:float",
        "crypto_material01.R:float crypto_material01.G:float crypto_material01.B:float",
        "object_id.R:half object_id.G:half object_id.B:half",
        "worldPosition.R:half worldPosition.G:half worldPosition.B:half",
        "bumpNormals.R:half bumpNormals.G:half bumpNormals.B:half",
        "mask_03.R:half mask_03.G:half mask_03.B:half",
        "depth.left.R:half depth.left.G:half depth.left.B:half",
        "X:half Y:half Z:half",
    };
    for (size_t i = 0; i < COUNT(CHANNELS); i++) expect(CHANNELS[i], NULL, NULL, "");
}

static const char BEAUTY[] = "R:half G:half B:half A:half Z:float id:uint diffuse.R:half "
                             "diffuse.G:half diffuse.B:half N.X:float N.Y:float N.Z:float";

TEST(globs_override) {
    static const char *const CASE[][3] = {
        {NULL, NULL, ":R,G,B+A diffuse:R,G,B"},
        {NULL, "diffuse", ":R,G,B+A"},
        {NULL, "diff*", ":R,G,B+A"},
        {NULL, "rgba", "diffuse:R,G,B"},
        {NULL, "*", ""},
        {NULL, "A", ":R,G,B diffuse:R,G,B"},
        {"diffuse", NULL, "diffuse:R,G,B"},
        {"rgba, diffuse", NULL, ":R,G,B+A diffuse:R,G,B"},
        {"Z", NULL, "Z:Z"},
        {"*", "N", ":R,G,B+A Z:Z diffuse:R,G,B"},
        {"N", NULL, "N.X:X N.Y:Y N.Z:Z"},
        {"N.X,diffuse.G", NULL, "N.X:X diffuse.G:G"},
        {"*", "*.?,Z", ":R,G,B+A"},
        {"nothing", NULL, ""},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) expect(BEAUTY, CASE[i][0], CASE[i][1], CASE[i][2]);
}

static int groups_of(const image_part *p, const char *layers) {
    OWN(layer_map) m;
    CHECK_OK(layer_map_make(&m, p, layers, NULL, &e));
    return m.groups;
}

TEST(integers_cannot_be_named) {
    OWN(image) *img = MAKE(BEAUTY, 0, 0, 1, 1);
    layer_map m;
    CHECK_REFUSED(layer_map_make(&m, &img->head.part[0], "diffuse, id", NULL, &e), ERR_USAGE,
                  "'id'");
    assert_int_equal(groups_of(&img->head.part[0], "i?"), 0);
}

TEST(globs_must_match) {
    static const struct {
        const char *layers, *exclude, *says; /* NULL: no error */
    } CASE[] = {
        {NULL, NULL, NULL},
        {"diffuse, rgba", "Z,i?,N.X", NULL},
        {"beauty", "other", NULL},
        {"spec,diffuse", NULL,
         "no layer matches --layers 'spec'; this file has: beauty, N, Z, diffuse, id, other"},
        {"diffuse,spec*", NULL, "no layer matches --layers 'spec*'; this file has: "},
        {"*", "diffuse, Depth", "no layer matches --exclude 'Depth'; this file has: "},
    };
    make_part part[] = {PART(BEAUTY, 0, 0, 1, 1, .name = "beauty"),
                        PART("R:half G:half B:half", 0, 0, 1, 1, .name = "other")};
    OWN(image) *img = make_image(part, 2), *one = make_image(part, 1);
    for (size_t i = 0; i < COUNT(CASE); i++) {
        e = (err){0};
        bool ok = layer_globs_check(&img->head, CASE[i].layers, CASE[i].exclude, &e);
        assert_int_equal(ok, !CASE[i].says);
        assert_int_equal(e.code, ok ? ERR_NONE : ERR_USAGE);
        if (!ok && !strstr(e.msg, CASE[i].says)) fail_msg("'%s'", e.msg);
    }
    CHECK_REFUSED(layer_globs_check(&one->head, "other", NULL, &e), ERR_USAGE,
                  "this file has: rgba, N, Z, diffuse, id");
}

TEST(cryptomatte_is_found_by_its_attributes) {
    OWN(image) *img =
        MAKE("Asset00.R:float Asset00.G:float Asset00.B:float R:half G:half B:half", 0, 0, 1, 1);
    image_part *p = &img->head.part[0];
    assert_int_equal(groups_of(p, NULL), 2);
    CHECK_OK(image_set_attr(p, "cryptomatte/1234567/name", "string", "Asset", 5, &e));
    OWN(layer_map) m;
    CHECK_OK(layer_map_make(&m, p, NULL, NULL, &e));
    assert_int_equal(m.groups, 1);
    assert_string_equal(m.group[0].name, "");
}

TEST(the_name_of_a_part_counts) {
    const make_part part[] = {PART("R:half G:half B:half", 0, 0, 1, 1, .name = "normal"),
                              PART("R:half G:half B:half", 0, 0, 1, 1, .name = "specular")};
    OWN(image) *img = make_image(part, 2);
    assert_int_equal(groups_of(&img->head.part[0], NULL), 0);
    assert_int_equal(groups_of(&img->head.part[1], NULL), 1);
    assert_int_equal(groups_of(&img->head.part[1], "spec*"), 1);
}

RUN_TESTS(NULL, NULL)
