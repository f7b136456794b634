/* kernel_sheet.c - `fftbloom kernel sheet`: a frame under many kernels, to choose one by eye.
 *
 * A copy of the frame at preview size is bloomed once with each kernel, which is scaled with it.
 * Strength is a mix with the frame itself, so all strengths come from that one result. */
#include "app/check/html.h"
#include "app/cli/kernel_option.h"
#include "app/cli/terminal.h"
#include "app/kernel/kernel_actions.h"
#include "app/run/file_set.h"
#include "app/run/frame.h"
#include "base/path.h"
#include "image/flat/png.h"
#include "image/format.h"
#include "kernel/spectrum_file.h"

enum {
    SHEET_PAGE = 960,  /* the width of a picture of the page, */
    SHEET_CELL = 480,  /* and of the PNG picture */
    SHEET_QUALITY = 88 /* of JPEG */
};
static const double SHEET_STRENGTH[] = {0.25, 0.5, 1};
enum { SHEET_STRENGTHS = 3 };
/* A single kernel is shown in these sizes, each in these tints. */
static const double SHEET_SIZE[] = {1, 0.5, 2};
static const struct {
    const char *name;
    double tint[3];
} SHEET_TINT[] = {{"", {0}}, {"warm", {1.4, 1, 0.6}}, {"cool", {0.6, 1, 1.4}}};
enum { SHEET_SIZES = 3, SHEET_TINTS = 3 };

static const char HTML[] = {
#include "pages/sheet.html.inc"
    0};
static const char STYLE[] = {
#include "pages/sheet.css.inc"
    0};
static const char SCRIPT[] = {
#include "pages/sheet.js.inc"
    0};

/* The frame, and how it is shown. Const once it is made. */
typedef struct {
    const cli *c;
    const kernel_finder *kernels;
    preview_light light;
    preview_options as;
    screen *screen; /* NULL: film */
    double scale;   /* pixels of the preview for one of the frame */
    double follows; /* the size of a kernel that follows from that of the frame, in the preview */
    float aspect;   /* of these pixels */
} sheet;

/* The frame under a kernel, and the pictures of it. */
typedef struct {
    const sheet *of;
    const char *word; /* as it follows the input in a command */
    char name[96], about[400];
    double size; /* of the kernel, and its tint: zeros where it has none */
    const double *tint;
    char path[KERNEL_PATH]; /* of the kernel at the size of the preview, */
    double scale;           /* with its taps stretched by this */
    preview_light bloomed;  /* without pixels: not bloomed */
    preview_picture picture[SHEET_STRENGTHS];
    text jpeg[SHEET_STRENGTHS];
} sheet_look;

static void sheet_look_free(sheet_look *l) {
    mem_free(l->bloomed.pixel);
    for (int i = 0; i < SHEET_STRENGTHS; i++) mem_free(l->picture[i].pixel), text_free(&l->jpeg[i]);
}

typedef struct {
    sheet_look *look;
    size_t count;
} sheet_looks;

static void sheet_looks_free(sheet_looks *l) {
    for (size_t i = 0; i < l->count; i++) sheet_look_free(&l->look[i]);
    mem_free(l->look);
}

/* Takes the light of the frame at preview size. A picture has been graded already. */
static bool sheet_open(sheet *s, const cli *c, const kernel_finder *kernels, uint32_t width,
                       err *e) {
    *s = (sheet){.c = c, .kernels = kernels, .as = {.width = width, .exposed = true}};
    OWN(image) *img = frame_read(&c->s, c->word[1], c->threads, e);
    if (!img) return false;
    const bool graded = strcmp(img->head.format, "png") == 0;
    s->as.part = preview_part(&img->head, NULL);
    bool ok = (!graded || (s->as.on = s->screen = screen_open("srgb", e))) &&
              preview_take(&s->light, img, &s->as, c->threads, e);
    const image_part *p = &img->head.part[s->as.part];
    s->aspect = p->aspect;
    s->scale = (double)s->light.width / (double)image_box_width(&p->display);
    s->follows = s->scale * kernel_frame(&c->s, p);
    if (!isnan(c->s.exposure))
        s->as.stops = (float)c->s.exposure;
    else if (ok && !graded)
        s->as.stops = preview_stops(&s->light);
    return ok;
}

static void sheet_close(sheet *s) {
    mem_free(s->light.pixel);
    screen_close(&s->screen);
}

/* --- under a kernel --------------------------------------------------------------------------- */

static image *sheet_image(const sheet *s, err *e) {
    const preview_light *l = &s->light;
    image *img = image_plain(l->width, l->height, 3, PIXEL_FLOAT, e);
    if (img) img->head.part[0].aspect = s->aspect;
    for (size_t i = 0; img && i < (size_t)l->width * l->height; i++)
        for (int c = 0; c < 3; c++)
            ((float *)img->plane[0][c])[i] = l->pixel[3 * i + 2 - (size_t)c];
    return img;
}

/* Finds the file of a look's kernel: a recipe is made at the size of the preview, the taps of a
 * file are stretched. Kernels are made side by side, each by one thread. */
static bool sheet_kernel(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    sheet_look *l = (sheet_look *)ctx + i;
    const sheet *s = l->of;
    kernel_making how = {.scale = s->scale * l->size, .draft = true};
    kernel_word k;
    bool ok = kernel_word_find(&k, l->word, &s->kernels->in, e);
    if (ok && l->size == 1 && k.recipe && kernel_word_is_name(l->word)) how.scale = s->follows;
    ok = ok && kernel_finder_file(l->path, &k, &how, s->kernels, e);
    l->scale = how.scale;
    return ok;
}

static bool sheet_bloom(sheet_look *l, err *e) {
    const sheet *s = l->of;
    par *threads = s->c->threads;
    bloom_settings how = s->c->s.bloom;
    how.kernel.size = l->scale;
    memcpy(how.tint, l->tint, sizeof how.tint);
    how.device = "cpu";
    how.cache_size = 0;
    how.tolerance = 1e-2; /* a hundredth of a pixel's light is below a step of 8 bits */
    how.half_overflow = OVERFLOW_FLOAT;
    how.nan = NAN_INTERPOLATE;
    const bool ready = spectrum_file_is(l->path); /* and says nothing of itself */
    OPEN(image_reader) *r = ready ? NULL : image_open(l->path, NULL, threads, e);
    if (!r && !ready) return false;
    if (r) image_attr_text(&image_reader_header(r)->part[0], "comments", l->about, sizeof l->about);
    OPEN(bloom) *b = bloom_open(&how, l->path, threads, e);
    OWN(image) *img = b ? sheet_image(s, e) : NULL;
    OWN_MEM bloom_report *made = img ? mem_new(1, sizeof *made, "a report", e) : NULL;
    return made && bloom_image(b, img, made, e) &&
           preview_take(&l->bloomed, img, &(preview_options){.width = s->light.width}, threads, e);
}

/* --- pictures --------------------------------------------------------------------------------- */

static bool sheet_picture(sheet_look *l, int which, err *e) {
    const sheet *s = l->of;
    const float *from = s->light.pixel, *to = l->bloomed.pixel;
    const float a = (float)SHEET_STRENGTH[which];
    const size_t n = 3 * (size_t)s->light.width * s->light.height;
    preview_light mixed = s->light;
    if (to && !(mixed.pixel = mem_raw(n, sizeof *mixed.pixel, "a preview", e))) return false;
    for (size_t i = 0; to && i < n; i++) mixed.pixel[i] = from[i] + a * (to[i] - from[i]);
    bool ok = preview_develop(&l->picture[which], &mixed, &s->as, s->c->threads, e);
    if (to) mem_free(mixed.pixel);
    return ok;
}

static bool sheet_jpeg(void *ctx, size_t which, int worker, err *e) {
    (void)worker;
    sheet_look *l = ctx;
    const preview_picture *p = &l->picture[which];
    bool ok = png_encode_jpeg(&l->jpeg[which], &(png_picture){p->pixel, p->width, p->height, 3},
                              SHEET_QUALITY, e);
    mem_free(p->pixel);
    l->picture[which] = (preview_picture){0};
    return ok;
}

/* Makes the first `strengths` pictures for the page. */
static bool sheet_jpegs(sheet_look *l, int strengths, err *e) {
    for (int i = 0; i < strengths; i++)
        if (!sheet_picture(l, i, e)) return false;
    return par_for(l->of->c->threads, (size_t)strengths, sheet_jpeg, l, e);
}

/* --- the page --------------------------------------------------------------------------------- */

static void sheet_add_uri(json_out *j, const char *name, const text *jpeg) {
    text *uri = json_here(j, name);
    text_add(uri, "\"data:image/jpeg;base64,");
    text_add_base64(uri, (const uint8_t *)jpeg->s, jpeg->n);
    text_add(uri, "\"");
}

/* Adds a word, in quotes where a shell needs them. */
static void sheet_add_word(text *to, const char *word) {
    static const char PLAIN[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    text_add(to, " ");
    if (*word && !word[strspn(word, PLAIN)])
        text_add(to, "%s", word);
    else
        text_add_quoted(to, word);
}

/* Adds the command that blooms the frame itself like this. */
static void sheet_add_command(json_out *j, const sheet_look *l, double strength) {
    const char *input = l->of->c->word[1], *base = path_name(input), *ending = path_ending(base);
    OWN(text) line = {0}, out = {0};
    text_add(&out, "%.*s-%s.%s", path_stem(base), base, l->name, *ending ? ending : "exr");
    text_add(&line, "fftbloom");
    sheet_add_word(&line, input);
    sheet_add_word(&line, l->word);
    text_add(&line, " -o");
    sheet_add_word(&line, out.s);
    if (l->size != 1) text_add(&line, " --kernel-scale %g", l->size);
    if (l->tint[0] > 0) text_add(&line, " --tint %g,%g,%g", l->tint[0], l->tint[1], l->tint[2]);
    if (strength < 1) text_add(&line, " --amount %g%%", 100 * strength);
    json_string(j, NULL, line.s);
}

static void sheet_add_look(json_out *j, const sheet_look *l) {
    json_object(j, NULL);
    json_string(j, "name", l->name);
    json_string(j, "about", l->about);
    json_list(j, "commands");
    for (int i = 0; i < SHEET_STRENGTHS; i++) sheet_add_command(j, l, SHEET_STRENGTH[i]);
    json_close(j);
    json_list(j, "pictures");
    for (int i = 0; i < SHEET_STRENGTHS; i++) sheet_add_uri(j, NULL, &l->jpeg[i]);
    json_close(j);
    json_close(j);
}

static bool sheet_page(const sheet *s, sheet_look *look, size_t looks, text *to, err *e) {
    OWN(text) json = {0};
    OWN(sheet_look) plain = {.of = s};
    if (!sheet_jpegs(&plain, 1, e)) return false;
    json_out j = json_begin(&json);
    json_string(&j, "frame", path_name(s->c->word[1]));
    json_uints(&j, "size", (uint32_t[]){s->light.width, s->light.height}, 2);
    json_reals(&j, "strengths", 3, SHEET_STRENGTH, SHEET_STRENGTHS);
    sheet_add_uri(&j, "plain", &plain.jpeg[0]);
    json_list(&j, "kernels");
    for (size_t i = 0; i < looks; i++) sheet_add_look(&j, &look[i]);
    json_end(&j);
    html_add(to, &(html_page){HTML, STYLE, SCRIPT}, json.s);
    return text_check(to, e);
}

/* Lays out the frame and all looks at full strength, four in a row, their names below. Those of a
 * single kernel stand beside the frame, a row for each size. */
static bool sheet_png(const sheet *s, sheet_look *look, size_t looks, text *to, err *e) {
    enum { ACROSS = 4, GAP = 12, BELOW = 34, SCALE = 2 };
    static const uint8_t PAPER[3] = {22, 22, 25}, INK[3] = {215, 215, 220};
    const uint32_t w = s->light.width, h = s->light.height;
    const uint32_t across = min_u32(ACROSS, (uint32_t)looks + 1);
    const uint32_t down = ceil_div_u32((uint32_t)looks + 1, across);
    label_picture picture = {.w = GAP + across * (w + GAP), .h = GAP + down * (h + BELOW)};
    OWN(sheet_look) plain = {.of = s, .name = "no bloom"};
    bool ok = preview_may_have(picture.w, picture.h, e) &&
              sheet_picture(&plain, SHEET_STRENGTHS - 1, e);
    size_t bytes = 0;
    OWN_MEM uint8_t *paper = ok ? mem_raw((size_t)picture.w * picture.h, 3, "a picture", e) : NULL,
                    *png = NULL;
    if ((picture.pixel = paper)) {
        label_box(&picture, 0, 0, picture.w, picture.h, PAPER);
        for (uint32_t i = 0; i <= looks; i++) {
            const sheet_look *l = i ? &look[i - 1] : &plain;
            const uint32_t at = i && looks == SHEET_SIZES * SHEET_TINTS &&
                                        look[0].word == look[1].word
                                    ? i + (i - 1) / SHEET_TINTS
                                    : i;
            uint32_t x = GAP + at % across * (w + GAP), y = GAP + at / across * (h + BELOW);
            for (uint32_t row = 0; row < h; row++)
                memcpy(picture.pixel + 3 * ((size_t)(y + row) * picture.w + x),
                       l->picture[SHEET_STRENGTHS - 1].pixel + 3 * (size_t)row * w, 3 * (size_t)w);
            label_words(&picture, x, y + h + 7, SCALE, l->name, INK);
        }
        png = png_encode(&(png_picture){picture.pixel, picture.w, picture.h, 3}, &bytes, e);
    }
    if (png) text_add_bytes(to, (const char *)png, bytes);
    return png && text_check(to, e);
}

/* --- the command ------------------------------------------------------------------------------ */

/* Splits the words, and gives each look its name. A single kernel has several sizes and tints. */
static size_t sheet_words(sheet_look *look, size_t most, const sheet *s, char *words) {
    size_t n = 0;
    char *at;
    for (char *w = strtok_r(words, ", ", &at); w && n < most; w = strtok_r(NULL, ", ", &at)) {
        const char *base = path_name(w);
        look[n] = (sheet_look){.of = s, .word = w, .size = 1, .tint = SHEET_TINT[0].tint};
        snprintf(look[n].name, sizeof look[n].name, "%.*s", path_stem(base), base);
        n++;
    }
    if (n != 1) return n;
    const sheet_look first = look[0];
    for (int i = 1; i < SHEET_SIZES * SHEET_TINTS; i++) {
        const int of = i / SHEET_TINTS, tint = i % SHEET_TINTS;
        char size[32] = "";
        look[i] = first;
        look[i].size = SHEET_SIZE[of], look[i].tint = SHEET_TINT[tint].tint;
        if (of) snprintf(size, sizeof size, "-%g", SHEET_SIZE[of]);
        snprintf(look[i].name, sizeof look[i].name, "%.60s%s%s%s", first.name, size,
                 tint ? "-" : "", SHEET_TINT[tint].name);
    }
    return SHEET_SIZES * SHEET_TINTS;
}

static int sheet_make(const cli *c, const kernel_finder *kernels, char *words, err *e) {
    enum { MOST = 64 };
    const bool paged = path_ends_in(c->s.output, "html");
    int status = 0;
    OPEN(sheet) s = {.c = c};
    OWN(text) file = {0};
    char told[160];
    OWN(sheet_looks) made = {mem_new(MOST, sizeof(sheet_look), "a sheet", e), 0};
    sheet_look *look = made.look;
    if (!look) return 0;
    bool ok = sheet_open(&s, c, kernels, paged ? SHEET_PAGE : SHEET_CELL, e);
    const size_t looks = made.count = ok ? sheet_words(look, MOST, &s, words) : 0;
    snprintf(told, sizeof told, "blooming a frame under %zu kernels", looks);
    ticker *ticking = ticker_open(told);
    ok = ok && par_for(c->threads, looks, sheet_kernel, look, e);
    for (size_t i = 0; ok && i < looks; i++) {
        ok = sheet_bloom(&look[i], e) && (paged ? sheet_jpegs(&look[i], SHEET_STRENGTHS, e)
                                                : sheet_picture(&look[i], SHEET_STRENGTHS - 1, e));
        mem_free(look[i].bloomed.pixel);
        look[i].bloomed.pixel = NULL;
    }
    ok = ok && (paged ? sheet_page : sheet_png)(&s, look, looks, &file, e);
    ticker_close(&ticking);
    if (ok) kernel_write(&c->s, file.s, file.n, &status, e);
    return status;
}

int kernel_sheet(const cli *c, text *out, err *e) {
    (void)out;
    const settings *s = &c->s;
    const char *given = s->kernels;
    const bool listed = given && !path_is_folder(given); /* a list, and no folder */
    kernel_finder kernels;
    OWN(text) words = {0};
    int status = 0;
    const file_set_file FILES[] = {{FILE_READ, "the frame", c->word[1]},
                                   {FILE_WRITTEN, "the sheet", s->output}};
    kernel_finder_open(&kernels, listed ? NULL : given, s->bloom.cache_dir, 1);
    if (listed)
        text_add(&words, "%s", given);
    else
        kernel_finder_names(&kernels, &words);
    if (!s->output)
        err_set(e, ERR_USAGE, "sheet needs an output: -o SHEET.html or -o SHEET.png");
    else if (!path_ends_in(s->output, "html") && !path_ends_in(s->output, "png"))
        err_set(e, ERR_USAGE, "sheet writes .html (a page) and .png (a picture), not '%s'",
                s->output);
    else if (!words.n)
        err_set(e, ERR_NO_INPUT, "there is no kernel in '%s'",
                given ? given : "the folder of shipped kernels");
    else if (file_set_apart(FILES, 2, NULL, e) && !kernel_is_kept(s, &status))
        status = sheet_make(c, &kernels, words.s, e);
    return status;
}
