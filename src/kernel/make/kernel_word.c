#include "kernel/make/kernel_word.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "image/format.h"
#include "kernel/cache.h"
#include "kernel/edit/edit.h"
#include "kernel/kernel_field.h"
#include "kernel/make/field_recipe.h"
#include "kernel/make/kernel_recipe.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

double kernel_word_scale(double side) {
    return fmin(fmax(side / 1920, 1.0 / 64), 4);
}

bool kernel_word_folder(char to[KERNEL_PATH], const char *file) {
    static const char *const NEAR[] = {"../share/fftbloom/kernels", "../../share/fftbloom/kernels",
                                       "kernels", "../kernels",
                                       "../Resources/kernels"}; /* of an OpenFX bundle */
    const int folder = (int)(path_name(file) - file);           /* with its slash */
    for (size_t i = 0; folder && i < COUNT(NEAR); i++)
        if (snprintf(to, KERNEL_PATH, "%.*s%s", folder, file, NEAR[i]) < KERNEL_PATH &&
            path_is_folder(to))
            return true;
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum { MOST = 1024 };

void kernel_word_names(const char *folder, text *to) {
    const char *name[MOST];
    OWN(text) names = {0}; /* each name with its zero byte; without memory the program ends */
    int n = 0;
    DIR *dir = opendir(folder);
    if (!dir) log_warn("the folder of kernels '%s' cannot be read: %s", folder, strerror(errno));
    for (struct dirent *d; dir && (d = readdir(dir));) {
        const char *ending = path_ending(d->d_name);
        if (strcmp(ending, "exr") != 0 && strcmp(ending, "json") != 0) continue;
        d->d_name[path_stem(d->d_name)] = 0;
        if (kernel_word_is_name(d->d_name))
            text_add_bytes(&names, d->d_name, strlen(d->d_name) + 1);
    }
    if (dir) closedir(dir);
    for (size_t at = 0; n < MOST && at < names.n; at += strlen(names.s + at) + 1)
        name[n++] = names.s + at;
    qsort(name, (size_t)n, sizeof name[0], by_name);
    for (int i = 0; i < n; i++)
        if (i == 0 || strcmp(name[i - 1], name[i]) != 0)
            text_add(to, "%s%s", to->n ? " " : "", name[i]);
}

/* Says that a word names nothing, and what was probably meant. Returns false. */
static bool no_such(const char *word, const kernel_places *in, err *e) {
    const char *name[MOST];
    char meant[TEXT_MEANT], *at;
    OWN(text) names = {0}, listed = {0};
    int n = 0;
    if (in->shipped) kernel_word_names(in->shipped, &names);
    if (names.n && in->lists) text_add(&listed, "%s", in->lists);
    if (names.n && !in->lists) text_add(&listed, " (there are %s)", names.s);
    for (char *w = names.s ? strtok_r(names.s, " ", &at) : NULL; w && n < MOST;
         w = strtok_r(NULL, " ", &at))
        name[n++] = w;
    return err_set(e, ERR_NO_INPUT, "'%s' is neither a file nor the name of a shipped kernel%s%s",
                   word, text_meant(meant, word, name, n, '\''), listed.s ? listed.s : "");
}

/* --- mixes ------------------------------------------------------------------------------------ */

typedef struct {
    kernel_word of;
    double share;
} mix_part;

typedef struct {
    mix_part part[EDIT_INPUTS];
    int parts;
    double given; /* the sum of all shares that the word has */
} mix;

/* Reads the parts. Those without a share divide among them what the others leave. */
static mix *read_parts(const char *word, const kernel_places *in, err *e) {
    char part[KERNEL_PATH];
    double share;
    int rest = 0;
    mix *m = mem_new(1, sizeof *m, "a mix of kernels", e);
    bool ok = m != NULL;
    for (const char *at = word; ok && kernel_word_part(&at, part, &share);) {
        if (m->parts == EDIT_INPUTS) {
            ok = err_set(e, ERR_USAGE, "'%s': a mix has at most %d kernels", word, EDIT_INPUTS);
            break;
        }
        if (share <= 0 || share > EDIT_MOST)
            ok = err_set(e, ERR_USAGE, "'%s': the share %g of '%s' must be above 0 and at most %g",
                         word, share, part, EDIT_MOST);
        ok = ok && kernel_word_find(&m->part[m->parts].of, part, in, e);
        m->part[m->parts++].share = share;
        rest += isnan(share);
        if (!isnan(share)) m->given += share;
    }
    if (ok && m->parts < 2)
        ok =
            err_set(e, ERR_USAGE,
                    "'%s': a mix has two kernels or more, with + between them; the strength of one "
                    "is the option amount",
                    word);
    if (ok && rest && !(m->given < 1))
        ok = err_set(e, ERR_USAGE,
                     "'%s': the shares add up to %.9g and leave nothing for a kernel without one",
                     word, m->given);
    for (int i = 0; ok && i < m->parts; i++)
        if (isnan(m->part[i].share)) m->part[i].share = (1 - m->given) / rest;
    if (ok && rest) m->given = 1;
    if (!ok) mem_free(m), m = NULL;
    return m;
}

/* Says where the shares do not add up to 1. */
static bool find_mix(kernel_word *k, const kernel_places *in, err *e) {
    OWN_MEM mix *m = read_parts(k->path, in, e);
    k->recipe = m != NULL;
    for (int i = 0; m && i < m->parts; i++) k->recipe = k->recipe && m->part[i].of.recipe;
    if (m && fabs(m->given - 1) > 1e-9)
        log_note("the shares of '%s' add up to %.9g, and are scaled to 1", k->path, m->given);
    return m != NULL;
}

/* Finds out whether a recipe is a field, and the kernels at its nodes; those of another field would
 * never end. */
static bool find_field(kernel_word *k, const kernel_places *in, err *e) {
    OWN(field_recipe) r = {0};
    err why = {0};
    kernel_places nodes = *in;
    nodes.field = k->path;
    if (!(k->field = field_recipe_is(&r, k->path, &why))) return true;
    if (in->field)
        return err_set(e, ERR_CONFIG, "the field '%s' has the field '%s' as a node", in->field,
                       k->path);
    bool ok = !why.code;
    if (!ok && e) *e = why;
    for (uint32_t i = 0; ok && i < field_nodes(&r.grid); i++) {
        kernel_word node;
        if (!r.word[i]) continue;
        ok = kernel_word_find(&node, r.word[i], &nodes, e) || err_in(e, "the field '%s'", k->path);
        k->recipe = k->recipe && ok && node.recipe;
    }
    return ok;
}

static bool find_file(kernel_word *k, const char *word, const kernel_places *in, err *e) {
    static const char *const KIND[] = {"exr", "json"};
    bool there = access(word, F_OK) == 0;
    if (!there && strcmp(word, "star") == 0) {
        log_say_once(
            LOG_WARN,
            "the kernel 'star' is gone, and 'star-six' is taken in its place; a later version "
            "will not know the name 'star'");
        word = "star-six";
    }
    k->mix = kernel_word_is_mix(word);
    k->recipe = strcmp(path_ending(word), "json") == 0;
    if (there || k->mix || (!k->recipe && !kernel_word_is_name(word)))
        return snprintf(k->path, KERNEL_PATH, "%s", word) < KERNEL_PATH
                   ? !k->mix || find_mix(k, in, e)
                   : err_set(e, ERR_NO_INPUT, "the path of the kernel is too long: '%.80s...'",
                             word);
    for (int i = 0; i < 2 && !k->recipe && in->shipped; i++) {
        if (snprintf(k->path, KERNEL_PATH, "%s/%s.%s", in->shipped, word, KIND[i]) >= KERNEL_PATH ||
            access(k->path, F_OK) != 0)
            continue;
        k->recipe = i == 1;
        return true;
    }
    return no_such(word, in, e);
}

bool kernel_word_find(kernel_word *k, const char *word, const kernel_places *in, err *e) {
    if (!find_file(k, word, in, e)) return false;
    k->field = false;
    return !k->recipe || k->mix || find_field(k, in, e);
}

/* Changes when recipes make other taps. */
#define TAPS_VERSION "5"

static bool hash_file(hash_state *to, const char *path, err *e) {
    size_t n;
    OWN_MEM uint8_t *bytes = file_read_all(path, 1 << 30, &n, e);
    if (bytes) hash_add(to, bytes, n);
    return bytes != NULL;
}

/* Adds all that decides the taps. */
static bool hash_mix(hash_state *to, const kernel_word *k, const kernel_places *in, err *e) {
    OWN_MEM mix *m = read_parts(k->path, in, e);
    for (int i = 0; m && i < m->parts; i++) {
        char share[32]; /* 1 - 0.7 is not quite 0.3 */
        if (!hash_file(to, m->part[i].of.path, e)) return false;
        hash_add(to, share,
                 (size_t)snprintf(share, sizeof share, "%.9g ", m->part[i].share / m->given));
    }
    return m != NULL;
}

static bool hash_field(hash_state *to, const kernel_word *k, const kernel_places *in, err *e) {
    OWN(field_recipe) r = {0};
    bool ok = hash_file(to, k->path, e) && field_recipe_file(&r, k->path, e);
    for (uint32_t i = 0; ok && i < field_nodes(&r.grid); i++) {
        kernel_word node;
        if (!r.word[i]) continue;
        ok = kernel_word_find(&node, r.word[i], in, e) &&
             (node.mix ? hash_mix(to, &node, in, e) : hash_file(to, node.path, e));
        ok = ok || err_in(e, "the field '%s'", k->path);
    }
    return ok;
}

static bool entry_name(char to[160], const kernel_word *k, const kernel_making *how,
                       const kernel_places *in, err *e) {
    const char *name = k->mix ? "mix.json" : path_name(k->path);
    char hash[HASH_TEXT], more[64];
    hash_state state;
    hash_begin(&state);
    if (!(k->mix     ? hash_mix(&state, k, in, e)
          : k->field ? hash_field(&state, k, in, e)
                     : hash_file(&state, k->path, e)))
        return false;
    hash_add(&state, more,
             (size_t)snprintf(more, sizeof more, "%.17g %d " TAPS_VERSION, how->scale, how->draft));
    hash_text(hash_end(&state), hash);
    snprintf(to, 160, "%.*s-%.16s.exr", (int)strlen(name) - 5, name, hash);
    return true;
}

bool kernel_word_kept(char to[KERNEL_PATH], const kernel_word *k, const kernel_making *how,
                      const kernel_places *in, bool *there, err *e) {
    char name[160], folder[CACHE_PATH];
    err why = {0};
    if (!entry_name(name, k, how, in, e)) return false;
    *there = in->shared && *in->shared && cache_file(to, in->shared, "kernels", name, NULL) &&
             file_is_own(to);
    if (*there) return true;
    if (in->cache && cache_folder(folder, in->cache, "kernels", &why) &&
        cache_file(to, in->cache, "kernels", name, &why)) {
        *there = file_is_own(to);
        if (*there || access(folder, W_OK) == 0) return true;
    }
    if (!(*there = file_in_memory(to, name))) snprintf(to, KERNEL_PATH, "%s", name);
    if (!*there)
        log_say_once(LOG_NOTE,
                     "shipped kernels are made in memory each time: the cache folder cannot be used"
                     "%s%s; give another with --cache-dir",
                     why.code ? ": " : "", why.msg);
    return true;
}

/* Makes what `fftbloom kernel mix` makes of the same kernels. */
static image *make_mix(const kernel_word *k, const kernel_making *how, const kernel_places *in,
                       par *threads, err *e) {
    OWN_MEM mix *m = read_parts(k->path, in, e);
    OWN_MEM edit_request *r = mem_new(1, sizeof *r, "an edit", e);
    edit_colour colour = {0};
    edit_account told = {0};
    OWN(edit_kernel) made = {0};
    image *img = NULL;
    bool ok = m && r;
    for (int i = 0; ok && i < m->parts; i++) {
        edit_input *to = &r->input[r->inputs++];
        OWN(kernel_source) taps = {0};
        to->amount = m->part[i].share / m->given;
        text_clean(to->name, sizeof to->name, path_name(m->part[i].of.path));
        ok = kernel_word_load(&taps, &m->part[i].of, how, in, threads, e) &&
             kernel_source_taps(&taps, e) && edit_take(to, &taps, &colour, false, &told, e);
    }
    if (ok) r->threads = threads;
    ok = ok && edit_find("mix")->apply(&made, r, &told, e) &&
         (img = edit_image(&made, &colour, e)) != NULL;
    OWN(text) history = {0};
    text_add(&history, "mix %s", k->path);
    if (ok && !image_set_text(&img->head.part[0], KERNEL_ATTR "edit", history.s, e))
        image_free(&img);
    for (int i = 0; r && i < r->inputs; i++) edit_kernel_free(&r->input[i].kernel);
    return img;
}

/* How the kernel at a node is made. */
typedef struct {
    const kernel_word *field;
    const kernel_making *how;
    const kernel_places *in;
    par *threads;
} node_making;

static bool load_node(kernel_source *to, const field_recipe *r, uint32_t node, const void *by,
                      err *e) {
    const node_making *m = by;
    kernel_word k = *m->field;
    kernel_making how = *m->how;
    if (!r->word[node]) {
        k.field = false, how.set = r->set[node].s, how.everywhere = !how.set;
        OWN(image) *img = kernel_word_make(&k, &how, m->in, m->threads, e);
        return img && kernel_source_image(to, k.path, img, e);
    }
    if (!kernel_word_find(&k, r->word[node], m->in, e)) return false;
    if (!k.recipe) how.scale = 1;
    return kernel_word_load(to, &k, &how, m->in, m->threads, e);
}

static image *make_field(const kernel_word *k, const kernel_making *how, const kernel_places *in,
                         par *threads, err *e) {
    OWN(field_recipe) r = {0};
    kernel_places nodes = *in;
    nodes.field = k->path;
    const node_making m = {k, how, &nodes, threads};
    image *img = field_recipe_file(&r, k->path, e)
                     ? field_recipe_make(&r, &(field_loader){load_node, &m}, e)
                     : NULL;
    if (!img) err_in(e, "the field '%s'", k->path);
    return img;
}

image *kernel_word_make(const kernel_word *k, const kernel_making *how, const kernel_places *in,
                        par *threads, err *e) {
    if (k->mix) return make_mix(k, how, in, threads, e);
    if (k->field) return make_field(k, how, in, threads, e);
    OWN(kernel_recipe) r = {0};
    if (!(how->everywhere ? kernel_recipe_everywhere : kernel_recipe_file)(&r, k->path, e))
        return NULL;
    const char *other = kernel_recipe_names_image(&r);
    if (other)
        return err_set(
                   e, ERR_CONFIG,
                   "the recipe '%s' takes its opening from an image, '%s'; make the kernel with "
                   "'fftbloom kernel make %s -o KERNEL.exr' and give its file",
                   k->path, other, k->path),
               NULL;
    if (how->set && !kernel_recipe_set(&r, how->set, e)) return NULL;
    if (how->scale != 1 && !kernel_recipe_scale(&r, how->scale, e)) return NULL;
    r.draft = how->draft;
    return kernel_recipe_make(&r, threads, e);
}

bool kernel_word_keep(char path[KERNEL_PATH], const kernel_word *k, const kernel_making *how,
                      const kernel_places *in, par *threads, err *e) {
    const file_way way = strchr(path, '/') ? FILE_OWN : FILE_MEMORY;
    OWN_MEM char *name = mem_str(path, e);
    OWN(image) *img = name ? kernel_word_make(k, how, in, threads, e) : NULL;
    if (!img || !image_save_to(image_create(path, &img->head, way, threads, e), img, e))
        return false;
    if (way == FILE_OWN) file_set_mode(path, 0644); /* for its owner alone, whatever the umask */
    return way == FILE_OWN || file_in_memory(path, name) ||
           err_set(e, ERR_IO, "cannot find the kernel '%s' in /proc/self/fd", name);
}

bool kernel_word_load(kernel_source *to, const kernel_word *k, const kernel_making *how,
                      const kernel_places *in, par *threads, err *e) {
    char path[KERNEL_PATH];
    bool there;
    if (!k->recipe && !k->mix && !k->field) return kernel_field_load(to, k->path, threads, e);
    if (in->cache)
        return kernel_word_kept(path, k, how, in, &there, e) &&
               (there || kernel_word_keep(path, k, how, in, threads, e)) &&
               kernel_field_load(to, path, threads, e);
    OWN(image) *img = kernel_word_make(k, how, in, threads, e);
    return img && kernel_field_image(to, k->path, img, e);
}
