#include "app/tools/complete_words.h"

#include "app/cli/library.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "image/format.h"
#include "image/layers.h"
#include "kernel/make/model.h"

#include <string.h>
#include <unistd.h>

/* An answer that is being made. */
typedef struct {
    const complete_question *q;
    const char *typed; /* of the item at hand */
    text before;       /* the items of a list that stand before it */
    text *to;
} answer;

/* Adds a word that begins as what was typed. */
static void complete_add(const answer *a, const char *word, const char *behind) {
    if (*word && strncmp(word, a->typed, strlen(a->typed)) == 0)
        text_add(a->to, "%s%s%s\n", a->before.s ? a->before.s : "", word, behind);
}

static void add_devices(const answer *a) {
    static const char *const CLASS[] = {"auto", "cpu", "gpu", "gpus", "software", "all"};
    engine_device *d = mem_new(ENGINE_DEVICES, sizeof *d, "devices", NULL);
    uint32_t n = d ? engine_devices(d, ENGINE_DEVICES) : 0;
    for (size_t i = 0; i < sizeof CLASS / sizeof CLASS[0]; i++) complete_add(a, CLASS[i], "");
    for (uint32_t i = 0; i < n; i++) {
        text index = {0};
        text_add(&index, "%u", i);
        complete_add(a, index.s, "");
        text_free(&index);
    }
    mem_free(d);
}

/* Adds the layers of the first image of the line. */
static void complete_add_layers(const answer *a) {
    par *threads = par_open(1, NULL);
    image_reader *r = NULL;
    for (int i = 0; i < a->q->words && threads && !r; i++)
        if (access(a->q->line[i], R_OK) == 0) r = image_open(a->q->line[i], NULL, threads, NULL);
    const image_header *h = r ? image_reader_header(r) : NULL;
    for (int part = 0; h && part < h->parts; part++) {
        const image_part *p = &h->part[part];
        layer_map m;
        if (!layer_map_make(&m, p, NULL, NULL, NULL)) break;
        for (int g = 0; g < m.groups; g++)
            complete_add(a, *m.group[g].name ? m.group[g].name : "rgba", "");
        for (int c = 0; c < p->channels; c++)
            if (m.is_data[c]) complete_add(a, p->channel[c].name, "");
        layer_map_free(&m);
    }
    image_close(&r);
    par_close(&threads);
}

/* Adds the parameters of the model in the line. */
static void complete_add_parameters(const answer *a) {
    for (int i = 0; i < a->q->words; i++) {
        const model *m = model_find(a->q->line[i]);
        for (int k = 0; m && k < model_parameters(m); k++)
            complete_add(a, m->parameter[k].name, "=");
        if (m) return;
    }
}

static void add_kernels(const answer *a) {
    char *at;
    text names = {0};
    library_names(a->q->s, &names);
    for (char *w = names.s ? strtok_r(names.s, " ", &at) : NULL; w; w = strtok_r(NULL, " ", &at))
        complete_add(a, w, "");
    text_free(&names);
}

static const struct {
    const char *name;
    void (*add)(const answer *a);
} ASKED[] = {
    {"device", add_devices},         {"require_device", add_devices},
    {"layers", complete_add_layers}, {"exclude", complete_add_layers},
    {"mask", complete_add_layers},   {"param", complete_add_parameters},
    {"kernel", add_kernels},
};
enum { ASKED_COUNT = sizeof ASKED / sizeof ASKED[0] };

bool complete_asks(const option *o) {
    for (int i = 0; i < ASKED_COUNT; i++)
        if (strcmp(ASKED[i].name, o->name) == 0) return true;
    return false;
}

void complete_words(const complete_question *q, text *to) {
    const option *o = option_find(q->option, FOR_ALL);
    const char *comma = strrchr(q->typed, ',');
    answer a = {.q = q, .typed = q->typed, .to = to};
    if (o && o->type == OPTION_LIST && comma) {
        a.typed = comma + 1;
        text_add_bytes(&a.before, q->typed, (size_t)(a.typed - q->typed));
    }
    for (int i = 0; o && i < ASKED_COUNT; i++)
        if (strcmp(ASKED[i].name, o->name) == 0) ASKED[i].add(&a);
    text_free(&a.before);
}
