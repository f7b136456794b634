/* Config files: what lands, and what is refused. */
#include "app/cli/config.h"
#include "bloom/layer_light.h"
#include "unit/check.h"

/* ' stands for ". */
static bool load(settings *s, const char *content, err *e) {
    OWN_HEAP char *json = quoted(content);
    OWN(json_document) *d = json_parse("look.json", json, strlen(json), e);
    if (!d) return false;
    const json_value *root = json_root(d);
    bool ok = root->type == JSON_OBJECT && config_check_version(root, e) &&
              config_object(&(config_reader){s, NULL, false}, root, e);
    return ok;
}

/* Place, words, and members beside the version, or all of a config. */
TEST(bad_configs) {
    static const char *const CASE[][3] = {
        {"1:1", "needs \"version\": 1", "{}"},
        {"1:13", "version must be the number 1, not 2", "{'version': 2}"},
        {"1:13", "version must be the number 1, not a string", "{'version': '1'}"},
        {"2:2", "did you mean \"padding\"", "{'version': 1,\n 'paddin': 'zero'}"},
        {"1:16", "no option \"zzzzz\"", "'zzzzz': 1"},
        {"1:16", "no option \"mix\"", "'mix': 0.5"},
        {"1:16", "\"kernel_center\"", "'kernel-center': 'peak'"},
        {"1:16", "\"config\" cannot be set in a config file, only by --config", "'config': 'x'"},
        {"1:16", "no option \"confg\"", "'confg': 'x'"},
        {"1:16", "cannot be set in a config file, only by --print-config", "'print_config': true"},
        {"1:27", "from 0 to 1, not 1.5", "'sharpen': 1.5"},
        {"1:27", "from 0 to 1", "'sharpen': 1e400"},
        {"1:26", "whole number", "'verify': 1.5"},
        {"1:29", "true or false", "'correlate': 1"},
        {"1:29", "not null", "'correlate': null"},
        {"1:27", "did you mean 'mirror'", "'padding': 'mirrror'"},
        {"1:27", "two values", "'padding': ['zero']"},
        {"1:36", "not a number", "'padding': ['zero', 1]"},
        {"1:27", "not an object", "'padding': {'x': 'zero'}"},
        {"1:32", "not a number", "'layers': ['a', 2]"},
        {"1:37", "not a string", "'kernel_center': [1, '2']"},
        {"1:26", "layers must not be empty", "'layers': []"},
        {"1:27", "layers must not be empty", "'layers': ['']"},
        {"1:27", "exclude must not be empty", "'exclude': ''"},
        {"1:29", "a size in bytes", "'mem_limit': '0x40000000'"},
        {"1:44", "must be a number from 0, not '0x1'", "'per_layer': {'a': {'knee': '0x1'}}"},
        {"1:27", "a config file cannot say off of sandbox; --sandbox off does", "'sandbox': 'off'"},
        {"1:26", "empty", "'kernel': ''"},
        {"1:29", "size", "'mem_limit': '2 elephants'"},
        {"1:16", "there is no option \"include\": give", "'include': 'a.json'"},
        {"1:32", "\"sharpen\" and \"amount\" set the same value; keep one of them",
         "'sharpen': 0.5, 'amount': 0.5"},
        {"1:27", "a fraction from 0 to 1", "'sharpen': '${x}'"},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) {
        OWN(settings) s;
        char place[40], whole[200];
        const char *json = CASE[i][2];
        snprintf(place, sizeof place, "look.json:%s: ", CASE[i][0]);
        snprintf(whole, sizeof whole, *json == '{' ? "%s" : "{'version': 1, %s}", json);
        CHECK_OK(settings_init(&s, &e));
        CHECK_REFUSED(load(&s, whole, &e), ERR_CONFIG, CASE[i][1]);
        if (strncmp(e.msg, place, strlen(place)) != 0) fail_msg("%s: not at %s", e.msg, place);
    }
}

static const char GOOD[] =
    "{ '$schema': 'x', 'version': 1, 'input': 'in.####.exr', 'kernel': 'k.exr', "
    "'padding': ['mirror', 'wrap'], 'sharpen': 0.25, 'mem_limit': '2GB', 'vram_limit': "
    "1000000, 'layers': ['dif*', 'spec'], 'kernel_center': [3.5, 4], 'kernel_scale': "
    "'0.5h', 'correlate': true, 'verify': 12, 'threshold': 'inf' }";

TEST(a_whole_config) {
    OWN(settings) s;
    assert_true(settings_init(&s, &e));
    if (!load(&s, GOOD, &e)) fail_msg("%s", e.msg);
    assert_int_equal(s.bloom.border[PLAN_X], BORDER_MIRROR);
    assert_int_equal(s.bloom.border[PLAN_Y], BORDER_WRAP);
    assert_true(s.bloom.sharpen == 0.25);
    assert_true(s.bloom.mem_limit == 2000000000u && s.bloom.vram_limit == 1000000);
    assert_string_equal(s.bloom.layers, "dif*,spec");
    assert_true(s.bloom.kernel.at[0] == 3.5 && s.bloom.kernel.at[1] == 4);
    assert_true(s.bloom.kernel.size == 0.5 && s.bloom.kernel_relative);
    assert_true(s.bloom.kernel.correlate);
    assert_int_equal(s.bloom.verify, 12);
}

/* A comma in a list of JSON is one of the name. */
TEST(names_with_commas) {
    static const char CONFIG[] =
        "{\"version\": 1, \"layers\": [\"a,b\", \"c*\"], \"exclude\": \"d,e\", \"per_layer\": "
        "{\"x:knee=0,*\": {\"amount\": 0, \"mask\": \"m,n\"}, \"x\": {\"sharpen\": 0.25}}}";
    OWN(settings) s;
    OWN(text) json = {0};
    assert_true(settings_init(&s, &e));
    if (!load(&s, CONFIG, &e)) fail_msg("%s", e.msg);
    assert_true(text_glob_any(s.bloom.layers, "a,b") && text_glob_any(s.bloom.layers, "cd"));
    assert_false(text_glob_any(s.bloom.layers, "a") || text_glob_any(s.bloom.layers, "b"));
    assert_true(text_glob_any(s.bloom.exclude, "d") && text_glob_any(s.bloom.exclude, "e"));
    settings_json(&s, option_find("layers", FOR_CONFIG), &(json_out){.to = &json}, NULL);
    assert_string_equal(json.s, "[\"a,b\", \"c*\"]");
    static const struct {
        const char *layer, *mask;
        double sharpen;
    } WANT[] = {{"x", "", 0.25}, {"x:knee=0,", "m,n", 1}, {"x:knee=0,yz", "m,n", 1}, {"y", "", 0}};
    for (size_t i = 0; i < COUNT(WANT); i++) {
        layer_light light;
        image_part part = {0};
        layer_group group = {.name = (char *)WANT[i].layer};
        CHECK_OK(layer_light_of(&light, &s.bloom, &part, &group, &e));
        assert_true(light.sharpen == WANT[i].sharpen && light.knee == 0);
        assert_string_equal(light.mask, WANT[i].mask);
    }
}

/* A config that print-config's JSON values make gives the same settings again. */
TEST(values_survive_json) {
    OWN(settings) s, t;
    OWN(text) again = {0};
    assert_true(settings_init(&s, &e) && settings_init(&t, &e));
    assert_true(load(&s, GOOD, &e));
    text_add(&again, "{\"version\": 1");
    for (int i = 0; i < OPTION_COUNT; i++) {
        OWN(text) value = {0};
        settings_json(&s, &OPTIONS[i], &(json_out){.to = &value}, NULL);
        if (!option_in_config(&OPTIONS[i]) || OPTIONS[i].type == OPTION_SHARPEN) continue;
        if (strcmp(value.s, "null") != 0)
            text_add(&again, ", \"%s\": %s", OPTIONS[i].name, value.s);
    }
    text_add(&again, "}");
    if (!load(&t, again.s, &e)) fail_msg("%s: %s", e.msg, again.s);
    for (int i = 0; i < OPTION_COUNT; i++) {
        OWN(text) a = {0}, b = {0};
        settings_json(&s, &OPTIONS[i], &(json_out){.to = &a}, NULL);
        settings_json(&t, &OPTIONS[i], &(json_out){.to = &b}, NULL);
        assert_string_equal(a.s, b.s);
    }
}

RUN_TESTS(NULL, NULL)
