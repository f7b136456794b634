/* fuzz_text.c - any bytes as one of the texts that users and other programs write: the first byte
 * chooses the reader, '0' the first one of the table below.
 *
 * `make fuzz` builds it with libFuzzer; tests/unit/test_corpus.c runs the corpus through it. */
#include "app/check/suite.h"
#include "app/cli/config.h"
#include "app/farm/farm.h"
#include "app/run/job.h"
#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "kernel/make/kernel_recipe.h"

#include <string.h>

/* The bytes at hand: as a file and as a string. */
typedef struct {
    const char *path, *string;
    settings s; /* the defaults */
    par *one;
} given;

static bool read_config(given *g, err *e) {
    return config_load(&g->s, g->path, e);
}

static bool read_suite(given *g, err *e) {
    suite s = {0};
    bool ok = suite_load(&s, g->path, &(settings){0}, &g->s, e);
    suite_free(&s);
    return ok;
}

static bool read_recipe(given *g, err *e) {
    kernel_recipe *r = mem_new(1, sizeof *r, "recipe", e);
    bool ok = r && kernel_recipe_file(r, g->path, e);
    text all = {0};
    if (ok) kernel_recipe_json(r, &all);
    text_free(&all);
    if (r) kernel_recipe_free(r);
    mem_free(r);
    return ok;
}

static bool read_pattern(given *g, err *e) {
    frame_pattern p = {0};
    bool ok = frame_path_parse(&p, g->string, e);
    char *path = ok ? frame_path(&p, -1001, e) : NULL;
    mem_free(path);
    frame_pattern_free(&p);
    mem_free(frame_view_path(g->string, "left", e));
    return ok;
}

static bool read_ranges(given *g, err *e) {
    frame_list l = {0};
    frame_pattern p = {0};
    text gaps = {0};
    bool ok = strlen(g->string) < 64 && frame_list_parse(&l, g->string, e) &&
              frame_path_parse(&p, "a.####.exr", e);
    if (ok) frame_list_gaps(&l, &p, &gaps);
    text_free(&gaps);
    frame_pattern_free(&p);
    frame_list_free(&l);
    return ok;
}

/* The first character chooses the option. */
static bool read_option(given *g, err *e) {
    if (!*g->string) return true;
    int i = (uint8_t)g->string[0] % OPTION_COUNT;
    return settings_set(&g->s, &OPTIONS[i], g->string + 1, (setting_origin){ORIGIN_FLAG, "--fuzz"},
                        e);
}

static bool (*const READERS[])(given *g, err *e) = {read_config,  read_suite,  read_recipe,
                                                    read_pattern, read_ranges, read_option};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static given g;
    err e = {0};
    if (!n) return 0;
    if (!g.one) g.one = par_open(1, &e);
    char *string = malloc(n);
    if (!g.one || !string || !settings_init(&g.s, &e)) abort();
    memcpy(string, data + 1, n - 1);
    string[n - 1] = 0;
    g.path = fuzz_file(data + 1, n - 1);
    g.string = string;
    READERS[(uint8_t)(data[0] - '0') % (sizeof READERS / sizeof READERS[0])](&g, &e);
    if (e.code == ERR_INTERNAL || (e.code && strlen(e.msg) <= 10)) abort();
    settings_free(&g.s);
    free(string);
    return 0;
}
