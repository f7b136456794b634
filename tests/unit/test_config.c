/* Config files: what lands, and what is refused. */
#include "app/cli/config.h"
#include "bloom/layer_light.h"
#include "unit/check.h"

static bool load(settings *s, const char *content, size_t n, err *e) {
    OWN(json_document) *d = json_parse("look.json", content, n, e);
    if (!d) return false;
    const json_value *root = json_root(d);
    bool ok = root->type == JSON_OBJECT && config_check_version(root, e) &&
              config_object(&(config_reader){s, NULL, false}, root, e);
    return ok;
}

static void refuses(const char *content, const char *place, const char *words) {
    OWN(settings) s;
    assert_true(settings_init(&s, &e));
    if (load(&s, content, strlen(content), &e)) fail_msg("taken: %s", content);
    assert_int_equal(e.code, ERR_CONFIG);
    if (strncmp(e.msg, place, strlen(place)) != 0 || !strstr(e.msg, words))
        fail_msg("%s: expected %s ... %s, got %s", content, place, words, e.msg);
}

TEST(bad_configs) {
    refuses("{}", "look.json:1:1: ", "needs \"version\": 1");
    refuses("{\"version\": 2}", "look.json:1:13: ", "version must be the number 1, not 2");
    refuses("{\"version\": \"1\"}",
            "look.json:1:13: ", "version must be the number 1, not a string");
    refuses("{\"version\": 1,\n \"paddin\": \"zero\"}",
            "look.json:2:2: ", "did you mean \"padding\"");
    refuses("{\"version\": 1, \"zzzzz\": 1}", "look.json:1:16: ", "no option \"zzzzz\"");
    refuses("{\"version\": 1, \"mix\": 0.5}", "look.json:1:16: ", "no option \"mix\"");
    refuses("{\"version\": 1, \"kernel-center\": \"peak\"}",
            "look.json:1:16: ", "\"kernel_center\"");
    refuses("{\"version\": 1, \"config\": \"x\"}",
            "look.json:1:16: ", "\"config\" cannot be set in a config file, only by --config");
    refuses("{\"version\": 1, \"confg\": \"x\"}", "look.json:1:16: ", "no option \"confg\"");
    refuses("{\"version\": 1, \"print_config\": true}",
            "look.json:1:16: ", "cannot be set in a config file, only by --print-config");
    refuses("{\"version\": 1, \"sharpen\": 1.5}", "look.json:1:27: ", "from 0 to 1, not 1.5");
    refuses("{\"version\": 1, \"sharpen\": 1e400}", "look.json:1:27: ", "from 0 to 1");
    refuses("{\"version\": 1, \"verify\": 1.5}", "look.json:1:26: ", "whole number");
    refuses("{\"version\": 1, \"correlate\": 1}", "look.json:1:29: ", "true or false");
    refuses("{\"version\": 1, \"correlate\": null}", "look.json:1:29: ", "not null");
    refuses("{\"version\": 1, \"padding\": \"mirrror\"}",
            "look.json:1:27: ", "did you mean 'mirror'");
    refuses("{\"version\": 1, \"padding\": [\"zero\"]}", "look.json:1:27: ", "two values");
    refuses("{\"version\": 1, \"padding\": [\"zero\", 1]}", "look.json:1:36: ", "not a number");
    refuses("{\"version\": 1, \"padding\": {\"x\": \"zero\"}}",
            "look.json:1:27: ", "not an object");
    refuses("{\"version\": 1, \"layers\": [\"a\", 2]}", "look.json:1:32: ", "not a number");
    refuses("{\"version\": 1, \"kernel_center\": [1, \"2\"]}", "look.json:1:37: ", "not a string");
    refuses("{\"version\": 1, \"layers\": []}", "look.json:1:26: ", "layers must not be empty");
    refuses("{\"version\": 1, \"layers\": [\"\"]}", "look.json:1:27: ", "layers must not be empty");
    refuses("{\"version\": 1, \"exclude\": \"\"}", "look.json:1:27: ", "exclude must not be empty");
    refuses("{\"version\": 1, \"mem_limit\": \"0x40000000\"}",
            "look.json:1:29: ", "a size in bytes");
    refuses("{\"version\": 1, \"per_layer\": {\"a\": {\"knee\": \"0x1\"}}}",
            "look.json:1:44: ", "must be a number from 0, not '0x1'");
    refuses("{\"version\": 1, \"sandbox\": \"off\"}",
            "look.json:1:27: ", "a config file cannot say off of sandbox; --sandbox off does");
    refuses("{\"version\": 1, \"kernel\": \"\"}", "look.json:1:26: ", "empty");
    refuses("{\"version\": 1, \"mem_limit\": \"2 elephants\"}", "look.json:1:29: ", "size");
    refuses("{\"version\": 1, \"include\": \"a.json\"}",
            "look.json:1:16: ", "\"include\" is gone: give");
    refuses("{\"version\": 1, \"sharpen\": 0.5, \"amount\": 0.5}",
            "look.json:1:32: ", "\"sharpen\" and \"amount\" set the same value; keep one of them");
    refuses("{\"version\": 1, \"sharpen\": \"${x}\"}",
            "look.json:1:27: ", "a fraction from 0 to 1");
}

static const char GOOD[] = "{\n  \"$schema\": \"x\",\n  \"version\": 1,\n  \"input\": "
                           "\"in.####.exr\",\n  \"kernel\": \"k.exr\",\n"
                           "  \"padding\": [\"mirror\", \"wrap\"],\n  \"sharpen\": "
                           "0.25,\n  \"mem_limit\": \"2GB\",\n"
                           "  \"vram_limit\": 1000000,\n  \"layers\": [\"dif*\", \"spec\"],\n  "
                           "\"kernel_center\": [3.5, 4],\n"
                           "  \"kernel_scale\": \"0.5h\",\n  \"correlate\": true,\n  \"verify\": "
                           "12,\n  \"threshold\": \"inf\"\n}\n";

TEST(a_whole_config) {
    OWN(settings) s;
    assert_true(settings_init(&s, &e));
    if (!load(&s, GOOD, sizeof GOOD - 1, &e)) fail_msg("%s", e.msg);
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
    if (!load(&s, CONFIG, sizeof CONFIG - 1, &e)) fail_msg("%s", e.msg);
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
    assert_true(load(&s, GOOD, sizeof GOOD - 1, &e));
    text_add(&again, "{\"version\": 1");
    for (int i = 0; i < OPTION_COUNT; i++) {
        OWN(text) value = {0};
        settings_json(&s, &OPTIONS[i], &(json_out){.to = &value}, NULL);
        if (!option_in_config(&OPTIONS[i]) || OPTIONS[i].type == OPTION_SHARPEN) continue;
        if (strcmp(value.s, "null") != 0)
            text_add(&again, ", \"%s\": %s", OPTIONS[i].name, value.s);
    }
    text_add(&again, "}");
    if (!load(&t, again.s, again.n, &e)) fail_msg("%s: %s", e.msg, again.s);
    for (int i = 0; i < OPTION_COUNT; i++) {
        OWN(text) a = {0}, b = {0};
        settings_json(&s, &OPTIONS[i], &(json_out){.to = &a}, NULL);
        settings_json(&t, &OPTIONS[i], &(json_out){.to = &b}, NULL);
        assert_string_equal(a.s, b.s);
    }
}

RUN_TESTS(NULL, NULL)
