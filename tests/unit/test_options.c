/* The table of options and the parsers of its types. */
#include "app/cli/option_rules.h"
#include "app/cli/options.h"
#include "app/commands.h"
#include "unit/check.h"

static int row(const char *name) {
    const option *o = option_find(name, FOR_ALL);
    assert_non_null(o);
    return (int)(o - OPTIONS);
}

TEST(rows_are_sound) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        size_t n = strlen(o->help);
        assert_true(n > 10 && o->help[n - 1] == '.');
        assert_true(o->on != 0);
        assert_true((o->type == OPTION_BOOL) == (!o->value && !o->words));
        assert_int_equal(strspn(o->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(o->name));
        assert_true(o->type != OPTION_INT || o->max > 0);
        assert_true(o->type != OPTION_FLOAT || o->max > 0);
        for (int k = 0; k < i; k++) {
            if (o->on & OPTIONS[k].on) assert_string_not_equal(o->name, OPTIONS[k].name);
            if (o->letter) assert_false(o->letter == OPTIONS[k].letter && o->on & OPTIONS[k].on);
            /* An option that means different things to different commands has a row for each, and
             * sharpen is another name of what amount leaves. No others share a place. */
            bool same = strcmp(o->name, OPTIONS[k].name) == 0 && o->type == OPTIONS[k].type;
            if (o->at == OPTIONS[k].at) assert_true(same || o->type == OPTION_SHARPEN);
        }
    }
}

TEST(commands_are_sound) {
    for (int i = 0; i < COMMANDS.count; i++) {
        const command *c = &COMMANDS.row[i];
        size_t n = strlen(c->summary);
        assert_true(c->summary[n - 1] == '.');
        uint32_t own = c->bit & ~(uint32_t)FOR_APPLY; /* farm and plan take apply's options, too */
        if (c->bit != FOR_APPLY) assert_true(own && !(own & (own - 1)));
        for (int k = 0; k < COMMAND_WORDS; k++) {
            if (c->stands_for[k]) assert_non_null(option_find(c->stands_for[k], c->bit));
            if (c->needs[k]) assert_non_null(option_find(c->needs[k], c->bit));
        }
        for (int k = 0; k < i; k++) assert_int_equal(own & COMMANDS.row[k].bit, 0);
    }
}

TEST(defaults_are_those_of_the_contract) {
    OWN(settings) s;
    assert_true(settings_init(&s, &e));
    assert_int_equal(s.bloom.border[PLAN_X], BORDER_MIRROR);
    assert_int_equal(s.bloom.border[PLAN_Y], BORDER_MIRROR);
    assert_int_equal(s.bloom.kernel.normalize, PSF_LUMINANCE);
    assert_int_equal(s.bloom.kernel.center, PSF_MIDDLE);
    assert_true(s.bloom.kernel.size == 1 && !s.bloom.kernel_relative);
    assert_true(s.bloom.tolerance == 1e-3);
    assert_true(s.bloom.sharpen == 0 && s.bloom.threshold == 0 && s.bloom.verify == 0);
    assert_int_equal(s.bloom.nan, NAN_ERROR);
    assert_int_equal(s.bloom.half_overflow, OVERFLOW_CLAMP);
    assert_string_equal(s.bloom.device, "auto");
    assert_null(s.bloom.layers);
    assert_true(s.existing == EXISTING_REPLACE);
    assert_true(s.compare.fail == 1e-6 && isinf(s.compare.hard_fail));
}

/* Sets the values of a list that | separates, each of them from nothing. */
static void accepts(const char *name, const char *values, bool ok) {
    char list[256], *rest = list;
    snprintf(list, sizeof list, "%s", values);
    for (char *v; (v = strsep(&rest, "|"));) {
        OWN(settings) s;
        char flag[OPTION_NAME_ROOM];
        assert_true(settings_init(&s, &e));
        bool set =
            settings_set(&s, &OPTIONS[row(name)], v, (setting_origin){ORIGIN_FLAG, "--x"}, &e);
        if (set != ok) fail_msg("%s = '%s': %s", name, v, ok ? e.msg : "taken");
        if (ok) continue;
        assert_int_equal(e.code, ERR_CONFIG);
        assert_non_null(strstr(e.msg, option_flag(&OPTIONS[row(name)], flag)));
    }
}

TEST(ranges_and_words) {
    static const struct {
        const char *name, *good, *bad;
    } CASE[] = {
        {"amount", "0|1|1e-3|.5", "100.1%|-0.1|nan|inf|0x1||0.5 | 0.5"},
        {"threshold", "inf", "1e999"},
        {"verify", "1000|1e3", "1.5|-1|99999999"},
        {"jobs", "4", NULL},
        {"tolerance", "1e-6", "0"},
        {"axis", "x", "z|X"},
        {"correlate", "yes|off", "maybe"},
        {"mem_limit", "2GB|512MiB|0", "2 GB|-1|1e30|8|8k|5X"},
        {"input", "-|./-", NULL},
        {"output", "-", NULL},
        {"padding", "mirror|mirror,zero", "mirror,|a,b,c|,"},
        {"kernel_center", "peak|3,4|3.5,-4", "3|3,x"},
        {"kernel_scale", "0.5h|2", "0|h|2w"},
        {"kernel_turn", "-12.5|360", "4000|90deg|nan"},
        {"compression", "dwab", "lzma"},
        {"layers", "a", ""},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) {
        accepts(CASE[i].name, CASE[i].good, true);
        if (CASE[i].bad) accepts(CASE[i].name, CASE[i].bad, false);
    }
}

static void set(settings *s, const char *name, const char *value) {
    if (!settings_set(s, &OPTIONS[row(name)], value, (setting_origin){ORIGIN_FLAG, "--x"}, &e))
        fail_msg("%s", e.msg);
}

TEST(values_land_where_they_belong) {
    OWN(settings) s;
    assert_true(settings_init(&s, &e));
    set(&s, "padding", "mirror, wrap");
    assert_int_equal(s.bloom.border[PLAN_X], BORDER_MIRROR);
    assert_int_equal(s.bloom.border[PLAN_Y], BORDER_WRAP);
    set(&s, "padding", "clamp");
    assert_int_equal(s.bloom.border[PLAN_X], BORDER_CLAMP);
    assert_int_equal(s.bloom.border[PLAN_Y], BORDER_CLAMP);
    set(&s, "kernel_scale", "0.5h");
    assert_true(s.bloom.kernel.size == 0.5 && s.bloom.kernel_relative);
    set(&s, "normalize", "none");
    set(&s, "kernel_center", "3.5,4");
    assert_int_equal(s.bloom.kernel.center, PSF_AT);
    assert_true(s.bloom.kernel.at[0] == 3.5 && s.bloom.kernel.at[1] == 4);
    assert_true(s.bloom.kernel.size == 0.5);
    assert_int_equal(s.bloom.kernel.normalize, PSF_NONE);
    set(&s, "mem_limit", "1.5GiB");
    assert_true(s.bloom.mem_limit == 1610612736u);
    set(&s, "mem_limit", "2G");
    assert_true(s.bloom.mem_limit == 2000000000u);
    set(&s, "compression", "dwab");
    assert_int_equal(s.packing, COMPRESSION_DWAB + 1);
    set(&s, "layers", "a");
    set(&s, "layers", "b,c");
    assert_string_equal(s.bloom.layers, "b,c");
}

/* Behind a window that grows is nothing, where nobody has said what; a window that is kept has the
 * mirror. */
TEST(what_is_not_said_is_settled) {
    static const struct {
        const char *window, *padding;
        plan_border is;
    } CASE[] = {{"keep", NULL, BORDER_MIRROR},  {"keep", "wrap", BORDER_WRAP},
                {"grow", NULL, BORDER_ZERO},    {"grow", "wrap", BORDER_WRAP},
                {"display", NULL, BORDER_ZERO}, {"display", "mirror", BORDER_MIRROR},
                {NULL, NULL, BORDER_MIRROR}};
    for (size_t i = 0; i < COUNT(CASE); i++) {
        OWN(settings) s;
        assert_true(settings_init(&s, &e));
        if (CASE[i].window) set(&s, "window", CASE[i].window);
        if (CASE[i].padding) set(&s, "padding", CASE[i].padding);
        settings_settle(&s);
        for (int a = 0; a < PLAN_AXES; a++) assert_int_equal(s.bloom.border[a], CASE[i].is);
    }
}

/* The words of a row are in the order of its enum. */
TEST(words_match_enums) {
    const option *o = option_find("padding", FOR_ALL);
    for (int i = 0; i < BORDERS; i++)
        assert_string_equal(o->words[i], plan_border_name((plan_border)i));
    o = option_find("compression", FOR_ALL);
    for (int i = 0; i < COMPRESSIONS; i++)
        assert_string_equal(o->words[i + 1], compression_name((compression)i));
    o = option_find("spectrum", FOR_ALL);
    for (int i = 0; i < SPECTRUM_MODES; i++)
        assert_string_equal(o->words[i], spectrum_mode_name((spectrum_mode)i));
}

/* A value may have several spellings; the option has had another one before. */
TEST(values_are_compared) {
    static const struct {
        const char *name, *same[2], *other;
    } CASE[] = {
        {"clamp", {"true", "yes"}, "no"},
        {"jobs", {"4", "4"}, "5"},
        {"knee", {"1", "1.0"}, "1.5"},
        {"exposure", {"auto", "auto"}, "0"},
        {"existing", {"skip", "skip"}, "update"},
        {"sandbox", {"on", "on"}, "off"},
        {"progress", {"json", "json:2"}, "json:1"},
        {"cache_size", {"2GB", "2000MB"}, "2GiB"},
        {"padding", {"zero", "zero,zero"}, "zero,wrap"},
        {"kernel_center", {"3,4", "3.0,4.0"}, "3,5"},
        {"kernel_center", {"peak", "peak"}, "corner"},
        {"kernel_scale", {"2", "2,2"}, "2h"},
        {"kernel_scale", {"1.2,1", "1.2,1"}, "1,1.2"},
        {"kernel_scale", {"auto", "auto"}, "1"},
        {"tint", {"1,1,1", "1,1.0,1"}, "1,1,2"},
        {"amount", {"0.5", "50%"}, "0.4"},
        {"device", {"cpu", "cpu"}, "gpu"},
        {"layers", {"a,b", "a,b"}, "a"},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) {
        const option *o = &OPTIONS[row(CASE[i].name)];
        OWN(settings) one = {0}, other = {0}, none = {0};
        assert_true(settings_init(&one, &e) && settings_init(&other, &e) &&
                    settings_init(&none, &e));
        set(&one, o->name, CASE[i].other); /* leaves nothing behind */
        set(&one, o->name, CASE[i].same[0]);
        set(&other, o->name, CASE[i].same[1]);
        if (!settings_same(&one, &other, o)) fail_msg("%s is not the same", o->name);
        set(&other, o->name, CASE[i].other);
        if (settings_same(&one, &other, o)) fail_msg("%s is the same", o->name);
        if (!o->preset) assert_false(settings_same(&one, &none, o));
    }
}

TEST(failure_changes_nothing) {
    OWN(settings) s;
    assert_true(settings_init(&s, &e));
    set(&s, "padding", "mirror");
    CHECK_REFUSED(settings_set(&s, &OPTIONS[row("padding")], "wrap,nonsense",
                               (setting_origin){ORIGIN_FILE, "f:1:2"}, &e),
                  ERR_CONFIG, "");
    assert_int_equal(strncmp(e.msg, "f:1:2: ", 7), 0);
    assert_int_equal(s.bloom.border[PLAN_X], BORDER_MIRROR);
    OWN(text) origin = {0};
    option_origin(&s, &OPTIONS[row("padding")], &origin);
    assert_string_equal(origin.s, "flag --x");
}

TEST(names) {
    assert_ptr_equal(option_find("half-overflow", FOR_APPLY),
                     option_find("half_overflow", FOR_APPLY));
    assert_null(option_find("half", FOR_APPLY));
    assert_null(option_find("fail", FOR_APPLY));
    assert_non_null(option_find("fail", FOR_DIFF));
    assert_string_equal(option_nearest("paddin", FOR_APPLY), "padding");
    assert_string_equal(option_nearest("half-overflw", FOR_APPLY), "half_overflow");
    assert_null(option_nearest("zzzzzz", FOR_APPLY));
    char buf[OPTION_NAME_ROOM];
    assert_string_equal(option_flag(option_find("mem_limit", FOR_APPLY), buf), "--mem-limit");
    assert_string_equal(option_env(option_find("mem_limit", FOR_APPLY), buf), "FFTBLOOM_MEM_LIMIT");
    assert_null(option_env(option_find("padding", FOR_APPLY), buf));
}

/* A need counts in a command that takes the option, and has words. */
TEST(rules_are_sound) {
    uint32_t needed = 0;
    for (int i = 0; i < OPTION_COUNT; i++) {
        needed |= OPTIONS[i].needs;
        for (int n = 0; n < NEEDS; n++) {
            if (!(OPTIONS[i].needs >> n & 1)) continue;
            bool met = false;
            for (int c = 0; c < COMMANDS.count; c++)
                met |= OPTION_RULES[n].on & OPTIONS[i].on & COMMANDS.row[c].bit;
            if (!met && n != NEED_RUN && n != NEED_WAIT) /* plan and farm take those of apply */
                fail_msg("%s: its need %d counts in no command", OPTIONS[i].name, n);
        }
    }
    assert_int_equal(needed, (1u << NEEDS) - 1);
    for (int n = 0; n < NEEDS; n++) {
        assert_non_null(OPTION_RULES[n].otherwise);
        if (OPTION_RULES[n].by) assert_non_null(option_find(OPTION_RULES[n].by, FOR_APPLY));
    }
}

/* Records and stamps are compared with those of older runs: an option that comes or goes here makes
 * every frame of every shot once more. A new one belongs here unless its row says `aside`. */
TEST(options_that_decide_an_output) {
    static const char DECIDE[] =
        "padding,amount,command,clip,clamp,black,tint,mask,threshold,knee,highlights,axis,"
        "normalize,kernel_center,kernel_scale,kernel_turn,pixel_aspect,correlate,core,spectrum,"
        "layers,"
        "exclude,"
        "alpha,window,nan,half_overflow,emit_layer,emit,per_layer,stamp,compression,exposure,view,"
        "input_space,output_space,pixel_type,precision,tolerance,verify";
    OWN(text) found = {0};
    for (const option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++)
        if (option_decides(o)) text_add(&found, "%s%s", found.n ? "," : "", o->name);
    assert_string_equal(found.s, DECIDE);
}

/* Actions name options that their command takes, and each option of the command has an action. */
TEST(actions_are_sound) {
    for (int c = 0; c < COMMANDS.count; c++) {
        const command *of = &COMMANDS.row[c];
        assert_true(!of->actions == (of->run != NULL));
        for (const command_action *a = of->actions; a && a->name; a++) {
            char names[256], *at = NULL;
            size_t n = strlen(a->help);
            assert_true(a->run && a->help[n - 1] == '.' && a->min_words <= a->max_words);
            assert_true(a->max_words < of->max_words || of->max_words == 1);
            assert_ptr_equal(command_find_action(of, a->name), a);
            assert_true(strlen(a->options) < sizeof names);
            snprintf(names, sizeof names, "%s", a->options);
            for (char *o = strtok_r(names, " ", &at); o; o = strtok_r(NULL, " ", &at))
                if (!option_find(o, of->bit)) fail_msg("%s takes no %s", of->name, o);
        }
        for (int i = 0; of->actions && i < OPTION_COUNT; i++) {
            OWN(text) names = {0};
            if (!(OPTIONS[i].on & of->bit)) continue;
            option_actions(&OPTIONS[i], of, &names);
            if (!names.n) fail_msg("no action of %s takes %s", of->name, OPTIONS[i].name);
        }
    }
}

/* Values from a config file or a variable are not held to the rules. */
TEST(rules_hold_for_flags_alone) {
    static const setting_origin FILE_ = {ORIGIN_FILE, "look.json:1:1"},
                                OTHER = {ORIGIN_ENVIRONMENT, "FFTBLOOM_KNEE"},
                                FLAG = {ORIGIN_FLAG, "--knee"};
    OWN(settings) s;
    CHECK_OK(settings_init(&s, &e));
    CHECK_OK(settings_set(&s, &OPTIONS[row("knee")], "1", FILE_, &e));
    CHECK_OK(option_rules_check(&s, FOR_APPLY, &e));
    CHECK_OK(settings_set(&s, &OPTIONS[row("knee")], "1", OTHER, &e));
    CHECK_OK(option_rules_check(&s, FOR_APPLY, &e));
    CHECK_OK(settings_set(&s, &OPTIONS[row("knee")], "1", FLAG, &e));
    CHECK_REFUSED(option_rules_check(&s, FOR_APPLY, &e), ERR_USAGE,
                  "--knee has no effect without --threshold");
    CHECK_OK(settings_set(&s, &OPTIONS[row("threshold")], "1", FILE_, &e));
    CHECK_OK(option_rules_check(&s, FOR_APPLY, &e));
}

RUN_TESTS(NULL, NULL)
