#include "app/run/file_set.h"

#include "app/cli/options.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/format.h"
#include "image/layers.h"
#include "kernel/kernel_source.h"
#include "kernel/lint.h"
#include "kernel/spectrum_file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NO_FRAME = -1 };

struct file_set_item {
    file_use use;
    const char *role;
    char *path;      /* as it was given */
    ptrdiff_t frame; /* of a sequence or a lone image; NO_FRAME: of none */
    /* A hash of the file's device and inode; where it is not there yet, of those of its folder and
     * its name in it. */
    hash128 identity;
};
typedef struct file_set_item item;

/* --- where a path leads ----------------------------------------------------------------------- */

static hash128 identity_of(const char *given) {
    if (strcmp(given, "-") == 0)
        given = "/dev/stdin"; /* which a shell may have opened a file for */
    char path[PATH_MAX], folder[PATH_MAX];
    struct stat st;
    text key = {0};
    snprintf(path, sizeof path, "%s", given);
    for (int i = 0; i < FILE_LINKS && file_follow(path);) i++;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (stat(given, &st) == 0)
        text_add(&key, "%ju %ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    else if (file_folder(path, folder) && stat(folder, &st) == 0)
        text_add(&key, "%ju %ju/%s", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, name);
    else
        text_add(&key, "%s", path);
    hash128 identity = hash_bytes(key.s, key.n);
    text_free(&key);
    return identity;
}

/* --- filling ---------------------------------------------------------------------------------- */

static bool add(file_set *s, const item *as, const char *path, err *e) {
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        item *larger = mem_new(room, sizeof *larger, "the names of the files", e);
        if (!larger) return false;
        if (s->count) memcpy(larger, s->item, s->count * sizeof *larger);
        mem_free(s->item);
        s->item = larger;
        s->room = room;
    }
    item *to = &s->item[s->count];
    *to = *as;
    if (!(to->path = mem_str(path, e))) return false;
    to->identity = identity_of(path);
    s->count++;
    return true;
}

bool file_set_add(file_set *s, file_use use, const char *role, const char *path, err *e) {
    if (!path || (use != FILE_READ && image_is_stream(path))) return true;
    return add(s, &(item){.use = use, .role = role, .frame = NO_FRAME}, path, e);
}

bool file_set_add_frame(file_set *s, size_t index, const char *input, const char *output, err *e) {
    const item in = {.use = FILE_READ, .role = "the input", .frame = (ptrdiff_t)index};
    const item out = {.use = FILE_WRITTEN, .role = "the output", .frame = (ptrdiff_t)index};
    return add(s, &in, input, e) && (image_is_stream(output) || add(s, &out, output, e));
}

bool file_set_add_configs(file_set *s, const settings *from, err *e) {
    static const char ROLE[] = "a config file";
    text path = {0};
    bool ok = file_set_add(s, FILE_READ, ROLE, from->config, e) &&
              file_set_add(s, FILE_READ, "the kernel's recipe", from->recipe, e);
    for (int i = 0; ok && i < SETTINGS_ROOM; i++) {
        const setting *v = &from->value[i];
        if (v->origin != ORIGIN_FILE || !v->where) continue;
        /* "look.json:7:3"; many values in a row come from one file */
        size_t n = strlen(v->where);
        for (int colons = 0; n > 0 && colons < 2; n--) colons += v->where[n - 1] == ':';
        if (!n || (path.n == n && memcmp(path.s, v->where, n) == 0)) continue;
        text_free(&path);
        text_add_bytes(&path, v->where, n);
        ok = file_set_add(s, FILE_READ, ROLE, path.s, e);
    }
    text_free(&path);
    return ok;
}

void file_set_free(file_set *s) {
    for (size_t i = 0; i < s->count; i++) mem_free(s->item[i].path);
    mem_free(s->item);
    *s = (file_set){0};
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool is_own_frame(const item *a, const item *b) {
    return a->frame != NO_FRAME && a->frame == b->frame;
}

static bool refuse(const item *a, const item *b, err *e) {
    bool swap = a->use == FILE_READ || (b->use != FILE_READ && b->frame != NO_FRAME);
    const item *out = swap ? b : a, *other = swap ? a : b;
    bool same = strcmp(out->path, other->path) == 0;
    if (is_own_frame(a, b))
        return err_set(e, ERR_USAGE,
                       "the output '%s' is the input, which is never written; name another file or "
                       "folder",
                       out->path);
    if (out->frame != NO_FRAME && other->frame != NO_FRAME && other->use == FILE_WRITTEN)
        return err_set(e, ERR_USAGE, "the outputs of two frames are one file: '%s' and '%s'",
                       out->path, other->path);
    return err_set(e, ERR_USAGE,
                   other->use == FILE_READ
                       ? "%s '%s' is %s%s%s%s, which it would replace"
                       : "%s '%s' is also %s%s%s%s; each needs a name of its own",
                   out->role, out->path, other->role, same ? "" : " '", same ? "" : other->path,
                   same ? "" : "'");
}

static int by_identity(const void *a, const void *b) {
    const hash128 *x = &((const item *)a)->identity, *y = &((const item *)b)->identity;
    return x->hi != y->hi ? (x->hi > y->hi) - (x->hi < y->hi) : (x->lo > y->lo) - (x->lo < y->lo);
}

bool file_set_check(file_set *s, err *e) {
    if (s->count) qsort(s->item, s->count, sizeof *s->item, by_identity);
    for (size_t from = 0, to; from < s->count; from = to) {
        for (to = from + 1; to < s->count && !by_identity(&s->item[from], &s->item[to]);) to++;
        for (size_t i = from; i < to; i++)
            for (size_t k = from; k < to; k++) {
                const item *a = &s->item[i], *b = &s->item[k];
                /* Inputs may be one file, and so may files that are written again. */
                if (k == i || a->use == FILE_READ || (a->use == b->use && a->use != FILE_WRITTEN))
                    continue;
                return refuse(a, b, e);
            }
    }
    return true;
}

bool file_set_apart(const file_set_file *file, size_t count, const settings *configs, err *e) {
    file_set set = {0};
    bool ok = !configs || file_set_add_configs(&set, configs, e);
    for (size_t i = 0; ok && i < count; i++)
        ok = file_set_add(&set, file[i].use, file[i].role, file[i].path, e);
    ok = ok && file_set_check(&set, e);
    file_set_free(&set);
    return ok;
}

bool file_set_check_job(const settings *s, const job *j, err *e) {
    file_set files = {0};
    job_files f;
    bool ok = true;
    for (size_t i = 0; ok && i < job_count(j); i++) {
        ok =
            job_frame(j, i, &f, e) && file_set_add_frame(&files, i, f.input, f.output, e) &&
            (!(i == 0 || j->kernels) || file_set_add(&files, FILE_READ, "the kernel", f.kernel, e));
        for (int k = JOB_BEFORE; ok && k < JOB_PATHS; k++)
            ok = file_set_add(&files, FILE_WRITTEN, JOB_ROLE[k], f.path[k], e);
        job_files_free(&f);
    }
    ok = ok && file_set_add(&files, FILE_WRITTEN, "the report", s->report, e) &&
         file_set_add_configs(&files, s, e) && file_set_check(&files, e);
    file_set_free(&files);
    return ok;
}

/* --- IN and KERNEL exchanged ------------------------------------------------------------------ */

/* Adds the names of up to four channels that are neither the kernel's colour nor its alpha. */
static void add_other_channels(const image_header *h, text *to) {
    int named = 0;
    bool found = false; /* the part whose first group is the kernel */
    for (int part = 0; part < h->parts; part++) {
        layer_map m;
        const image_part *p = &h->part[part];
        if ((h->parts == 1 && p->channels == 1) || !layer_map_make(&m, p, NULL, NULL, NULL)) return;
        const layer_group *kernel = m.groups && !found ? &m.group[0] : NULL;
        found = found || kernel;
        for (int c = 0; c < p->channels; c++) {
            bool plain = kernel && kernel->alpha == c;
            for (int i = 0; kernel && i < kernel->channels; i++) plain |= kernel->channel[i] == c;
            if (!plain && named++ < 4) text_add(to, "%s%s", to->n ? ", " : "", p->channel[c].name);
        }
        layer_map_free(&m);
    }
    if (named > 4) text_add(to, ", and %d more", named - 4);
}

/* Tells in `at` where a kernel is brightest whose middle is not its centre, if that is farther from
 * it than an eighth of the size. */
static bool kernel_is_off_centre(const char *kernel, uint32_t at[2], par *threads) {
    kernel_source k;
    lint l;
    if (!kernel_source_load(&k, kernel, threads, NULL)) return false;
    const psf_planes taps = kernel_source_planes(&k);
    bool off = lint_kernel(&l, &taps, NULL) && !l.centred && !l.corner;
    kernel_source_free(&k);
    memcpy(at, l.peak, sizeof l.peak);
    return off && (fabs(at[0] - (l.w - 1) / 2.0) > fmax(1, l.w / 8.0) ||
                   fabs(at[1] - (l.h - 1) / 2.0) > fmax(1, l.h / 8.0));
}

void file_set_tell_faults(const char *kernel, const char *faults) {
    if (*faults)
        log_say_once(LOG_WARN, "kernel '%s': %s: fftbloom kernel check %s", kernel, faults, kernel);
}

/* Warns once of data that --layers takes as light, and of a colour of which it takes a part: its
 * glare has another colour. */
static void warn_of_layers(const settings *s, const image_header *h) {
    text names = {0};
    for (int part = 0; s->bloom.layers && part < h->parts; part++) {
        const image_part *p = &h->part[part];
        layer_map taken = {0}, own = {0};
        bool ok = layer_map_make(&own, p, NULL, NULL, NULL) &&
                  layer_map_make(&taken, p, s->bloom.layers, s->bloom.exclude, NULL);
        for (int c = 0; ok && c < p->channels; c++)
            if (own.is_data[c] && !taken.is_data[c])
                text_add(&names, "%s%s", names.n ? ", " : "", p->channel[c].name);
        for (int i = 0; ok && i < own.groups; i++) {
            int some = 0;
            const layer_group *g = &own.group[i];
            for (int c = 0; c < g->channels; c++) some += !taken.is_data[g->channel[c]];
            if (some && some < g->channels)
                log_warn("--layers '%s' takes %d of the %d channels of the colour '%s': its glare "
                         "has another colour than its light",
                         s->bloom.layers, some, g->channels, *g->name ? g->name : "rgba");
        }
        layer_map_free(&taken);
        layer_map_free(&own);
    }
    if (names.n)
        log_warn("--layers '%s' takes data as light: %s; depth, ids and masks are wrong afterwards",
                 s->bloom.layers, names.s);
    text_free(&names);
}

/* Returns whether a plane has the values of an 8-bit picture and many of them: steps of 1 / 255,
 * which its type may have rounded. */
static bool has_steps(const void *plane, pixel_type type, size_t n) {
    enum { LOOKED_AT = 4096, CODES = 24 };
    bool seen[256] = {false};
    int codes = 0;
    for (size_t i = 0, step = n / LOOKED_AT + 1; i < n; i += step) {
        float v, is;
        image_to_float(&v, plane, type, i, 1);
        if (!(v >= 0 && v <= 1)) return false;
        int code = (int)lrintf(v * 255);
        is = (float)code / 255;
        float room = type == PIXEL_HALF ? 0x1p-11f * is : 0x1p-22f;
        if (fabsf(v - is) > room) return false;
        codes += !seen[code];
        seen[code] = true;
    }
    return codes >= CODES;
}

/* Warns once of a picture whose colours seem to be coded. */
static void warn_of_codes(const settings *s, const image *img) {
    layer_map m;
    const image_part *p = &img->head.part[0];
    if (s->input_space || strcmp(img->head.format, "png") == 0 ||
        !layer_map_make(&m, p, s->bloom.layers, s->bloom.exclude, NULL))
        return;
    size_t n = (size_t)image_width(p) * image_height(p);
    bool coded = m.groups > 0;
    for (int c = 0; coded && c < m.group[0].channels; c++) {
        int at = m.group[0].channel[c];
        coded = img->plane[0] && img->plane[0][at] &&
                has_steps(img->plane[0][at], p->channel[at].type, n);
    }
    layer_map_free(&m);
    if (coded)
        log_warn("the image has the values of an 8-bit picture, from 0 to 1: if it is one in sRGB "
                 "that was not decoded, give --input-space srgb");
}

bool file_set_warn_swapped(const settings *s, const char *kernel, const image *img, par *threads) {
    warn_of_layers(s, &img->head);
    warn_of_codes(s, img);
    static const char MAYBE[] = "IN and KERNEL may be swapped";
    const image_part *in = &img->head.part[0];
    image_reader *r = spectrum_file_is(kernel) ? NULL : image_open(kernel, NULL, threads, NULL);
    if (!r) return false;
    const image_header *head = image_reader_header(r);
    uint32_t w = image_width(&head->part[0]), h = image_height(&head->part[0]);
    text others = {0};
    uint32_t at[2];
    bool warns = true;
    add_other_channels(head, &others);
    image_close(&r);
    double scale = s->bloom.kernel.size;
    if (s->bloom.kernel_relative) scale *= (double)image_height(in) / h;
    bool larger = w * scale > image_width(in) && h * scale > image_height(in);
    if (larger && s->bloom.kernel.size >= 5)
        log_warn(
            "--kernel-scale %g makes the kernel %.0f x %.0f, larger than the image; %g %% would "
            "be %g",
            s->bloom.kernel.size, w * scale, h * scale, s->bloom.kernel.size,
            s->bloom.kernel.size / 100);
    if (others.n) {
        log_warn("%s: the kernel '%s' has channels that a kernel has no use for (%s)", MAYBE,
                 kernel, others.s);
    } else if (!settings_given(s, "kernel_center", FOR_APPLY) && larger &&
               kernel_is_off_centre(kernel, at, threads)) {
        log_warn("%s: the kernel '%s' is brightest at %u, %u, far from its centre, and larger than "
                 "the image",
                 MAYBE, kernel, at[0], at[1]);
    } else {
        warns = false;
    }
    text_free(&others);
    return warns;
}
