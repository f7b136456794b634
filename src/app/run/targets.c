#include "app/run/targets.h"

#include "app/run/picture.h"
#include "app/run/provenance.h"
#include "app/run/record.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "image/layers.h"

/* --- the glare's file ------------------------------------------------------------------------- */

/* Returns the name of a channel in the glare's file, or NULL if it is not emitted. */
static const char *emit_name(const image_channel *c, const settings *s) {
    const char *layer = s->bloom.emit_layer ? s->bloom.emit_layer : EMIT_LAYER;
    size_t n = strlen(layer);
    if (strncmp(c->name, layer, n) != 0 || c->name[n] != '.') return NULL;
    return s->bloom.emit_layer ? c->name : c->name + n + 1;
}

/* Keeps the channels that are emitted, by their names in the glare's file, or the others. */
static void keep_channels(image_part *p, bool emitted, const settings *s) {
    int kept = 0;
    for (int c = 0; c < p->channels; c++) {
        image_channel channel = p->channel[c];
        const char *name = emit_name(&channel, s);
        if ((name != NULL) != emitted) {
            mem_free(channel.name);
            continue;
        }
        if (emitted) memmove(channel.name, name, strlen(name) + 1); /* the end of it */
        p->channel[kept++] = channel;
    }
    p->channels = kept;
}

/* Moves the channels of the emitted layer from `own` to a header of the glare's file, which is like
 * the image otherwise; parts without any are not in it. */
static bool emit_split(image_header *own, image_header *apart, const settings *s, err *e) {
    if (!image_header_copy(apart, own, e)) return false;
    int parts = 0;
    for (int i = 0; i < own->parts; i++) {
        keep_channels(&own->part[i], false, s);
        keep_channels(&apart->part[i], true, s);
        image_part part =
            apart->part[i]; /* one without glare goes to the end, where it is dropped */
        apart->part[i] = apart->part[parts];
        apart->part[parts] = part;
        parts += part.channels > 0;
    }
    image_header_cut(apart, parts);
    return true;
}

/* --- packing ------------------------------------------------------------------------ */

static bool has_glare(const targets *t, int part) {
    return t->apart.parts && t->own.part[part].channels < t->head.part[part].channels;
}

/* Returns whether nothing of a part changes on the way from file to file. */
static bool stays(const targets *t, int part) {
    const bloom_settings b = stages_bloom(t->o->run);
    const image_part *from = &t->in->head->part[part], *to = &t->own.part[part];
    bool same = t->in->from && !stages_change(t->in, part) && !stages_change(t->out, part) &&
                !has_glare(t, part) && from->channels == to->channels &&
                memcmp(&from->data, &to->data, sizeof to->data) == 0 &&
                (!bloom_changes(&b) || !bloom_has_light(&b, from));
    for (int c = 0; same && c < to->channels; c++)
        same = from->channel[c].type == to->channel[c].type &&
               strcmp(from->channel[c].name, to->channel[c].name) == 0;
    return same;
}

static bool loses(const char *path, const image_part *p) {
    bool any = false;
    for (int c = 0; c < p->channels; c++) any |= image_loses(path, p, c);
    return any;
}

/* Lists the channels that change and are not bloomed; `from` is the part as it came. */
static void add_data(targets *t, const image_part *from, const image_part *to) {
    enum { MOST = 4 };
    const settings *s = t->o->run->s;
    OWN(layer_map) m = {0};
    int more = 0, named = 0;
    if (!layer_map_make(&m, from, s->bloom.layers, s->bloom.exclude, NULL)) return;
    for (int c = 0; c < to->channels; c++) {
        const int at = image_find_channel(from, to->channel[c].name);
        if (at < 0 || !m.is_data[at] || !image_loses(t->o->path, to, c)) continue;
        if (named++ < MOST)
            text_add(&t->data, "%s%.40s", t->data.n ? ", " : "", to->channel[c].name);
        else
            more++;
    }
    if (more) text_add(&t->data, " and %d more", more);
}

/* Chooses how the parts of a file are packed. What is promised is about the samples that are
 * stored, so a codec that would change some is not kept, but only taken where it is asked for. A
 * part that stays is copied as it is packed, unless another codec leaves it whole, too. */
static void pack(targets *t, const char *path, image_header *h, bool apart) {
    const bool asked = t->o->run->s->packing;
    for (int i = 0; i < h->parts; i++) {
        image_part *p = &h->part[i];
        const image_part *from = apart ? NULL : &t->in->head->part[i];
        if (!loses(path, p)) continue;
        if (from && stays(t, i) && !(asked && bloom_has_light(&t->o->run->s->bloom, from))) {
            p->packing = image_reader_header(t->in->from)->part[i].packing;
        } else if (asked) {
            t->losing |= 1u << p->packing;
            if (from) add_data(t, from, p);
        } else {
            t->replaced |= 1u << p->packing;
            p->packing = COMPRESSION_ZIP;
        }
    }
}

static void add_codecs(text *to, unsigned which) {
    for (compression c = 0; c < COMPRESSIONS; c++)
        if (which >> c & 1) text_add(to, "%s%s", to->n ? ", " : "", compression_name(c));
}

void targets_tell(const targets *t, bloom_report *r) {
    OWN(text) codecs = {0}, zip = {0}, data = {0};
    const char *path = t->o->path;
    add_codecs(&codecs, t->replaced | t->losing);
    r->stored = output_is_picture(path) ? STORED_PICTURE : t->lossy ? STORED_LOSSY : STORED_ROUNDED;
    if (t->replaced)
        text_add(&zip,
                 "%s, as the input is packed, would change pixels, so they are written as zip; "
                 "--compression %.*s keeps it",
                 codecs.s, (int)strcspn(codecs.s, ","), codecs.s);
    if (t->lossy && t->data.n) text_add(&data, "%s changes data: %s", codecs.s, t->data.s);
    if (t->lossy)
        report_note(r,
                    "%s changes pixels as they are stored; the tolerance is about those before it",
                    codecs.s);
    const image_header *in = t->in->head;
    const bool covers = r->stored == STORED_PICTURE && strcmp(in->format, "png") == 0 &&
                        image_find_channel(in->part, "A") >= 0;
    const char *const note[] = {zip.s, data.s,
                                covers ? "the picture is opaque, over black, and has 8 bits: an "
                                         ".exr keeps the alpha and the depth of the input"
                                       : NULL};
    for (size_t i = 0; i < COUNT(note); i++) {
        if (!note[i]) continue;
        report_note(r, "%s", note[i]);
        if (log_get_level() < LOG_INFO) log_say_once(LOG_NOTE, "%s", note[i]); /* -v has them all */
    }
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The output says how it was made, --stamp. */
static bool write_provenance(image_header *h, const output *o, const char *input, err *e) {
    OWN(provenance) p = {0};
    const provenance_files from = {o->kernel ? o->kernel : o->run->kernel->file, o->mask, NULL,
                                   o->kernel_scale};
    bool ok = provenance_make(&p, o->run, &o->look, &from, e);
    text_add(&p.of[PROVENANCE_SOURCE], "%s", path_name(input));
    return ok && provenance_write(&p, h, e);
}

static bool open_glare(targets *t, const char *path, err *e) {
    const output *o = t->o;
    if (output_is_picture(path)) return picture_open(&t->lit, o, &t->apart, path, e);
    t->glare = image_create(path, &t->apart, o->run->s->existing != EXISTING_SKIP, o->threads, e);
    return t->glare;
}

bool targets_plan(targets *t, const output *o, stages *in, const stages *out,
                  const targets_wanted *w, err *e) {
    *t = (targets){.o = o, .in = in, .out = out, .want = *w};
    if (!image_header_copy(&t->head, out->head, e) || !image_header_copy(&t->own, out->head, e) ||
        (w->glare && !emit_split(&t->own, &t->apart, o->run->s, e)))
        return false;
    pack(t, o->path, &t->own, false);
    if (w->glare) pack(t, w->glare, &t->apart, true);
    t->lossy = t->losing; /* as far as is known before */
    return true;
}

bool targets_open(targets *t, const output *o, stages *in, const stages *out,
                  const targets_wanted *w, const char *source, err *e) {
    const settings *s = o->run->s;
    double start = clock_now();
    bool ok = targets_plan(t, o, in, out, w, e) && (!w->glare || open_glare(t, w->glare, e));
    ok = ok && (!s->stamp || write_provenance(&t->own, o, source, e));
    if (ok && output_is_picture(o->path))
        ok = picture_open(&t->picture, o, &t->own, o->path, e);
    else
        ok = ok && (t->file = image_create(o->path, &t->own, s->existing != EXISTING_SKIP,
                                           o->threads, e));
    t->seconds += clock_now() - start;
    return ok;
}

void targets_close(targets *t) {
    image_writer_free(&t->glare);
    image_writer_free(&t->file);
    picture_close(&t->before);
    picture_close(&t->lit);
    picture_close(&t->picture);
    image_header_free(&t->head);
    image_header_free(&t->own);
    image_header_free(&t->apart);
    text_free(&t->data);
    *t = (targets){.o = NULL};
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Returns the part of the glare's file that the part's glare goes to, or -1. */
static int glare_part(const targets *t, int part) {
    int before = 0;
    for (int i = 0; i < part; i++) before += has_glare(t, i);
    return has_glare(t, part) ? before : -1;
}

static uint32_t greatest_divisor(uint32_t a, uint32_t b) {
    return b ? greatest_divisor(b, a % b) : a;
}

/* Both files take as many rows at a time. */
static uint32_t step_of(void *ctx, int part) {
    const targets *t = ctx;
    uint32_t step = t->file ? image_writer_rows(t->file, part) : 1;
    int glare = glare_part(t, part);
    if (glare < 0 || !t->glare) return step;
    uint32_t other = image_writer_rows(t->glare, glare);
    return step / greatest_divisor(step, other) * other;
}

/* Hands rows to the file, or to the picture if it shows the part. */
static bool put_rows(targets *t, int part, const rows_band *b, void *const *plane, err *e) {
    const void *const *rows = (const void *const *)plane;
    if (t->file) return image_write(t->file, part, b->row, b->rows, rows, e);
    const rows_band shown = {b->part, b->row, b->rows, (void **)(uintptr_t)plane, false};
    return part != t->picture.as.part || picture_add(&t->picture, &shown, e);
}

static bool write_rows(targets *t, int part, const rows_band *b, err *e) {
    const image_part *shape = &t->head.part[part];
    int glare = glare_part(t, part);
    if (glare < 0) return put_rows(t, part, b, b->plane, e);
    const image_part *own = &t->own.part[part], *apart = &t->apart.part[glare];
    OWN_MEM void **to = mem_new((size_t)shape->channels, sizeof *to, "planes", e);
    OWN_MEM void **other = mem_new((size_t)shape->channels, sizeof *other, "planes", e);
    for (int c = 0; to && other && c < shape->channels; c++) {
        const char *name = emit_name(&shape->channel[c], t->o->run->s);
        if (name)
            other[image_find_channel(apart, name)] = b->plane[c];
        else
            to[image_find_channel(own, shape->channel[c].name)] = b->plane[c];
    }
    return to && other &&
           (t->glare ? image_write(t->glare, glare, b->row, b->rows, (const void *const *)other, e)
                     : glare != t->lit.as.part ||
                           picture_add(&t->lit, &(rows_band){apart, b->row, b->rows, other, false},
                                       e)) &&
           put_rows(t, part, b, to, e);
}

/* An image that is held has left some of its channels in the file. */
static bool write_band(void *ctx, int part, const rows_band *b, err *e) {
    targets *t = ctx;
    if (b->yours) {
        const rows_source rest = stages_source(t->in);
        const rows_sink to = targets_sink(t);
        return rows_write(&rest, &to, part, &(rows_band){b->part, b->row, b->rows, b->plane, false},
                          e);
    }
    double start = clock_now();
    bool ok = write_rows(t, part, b, e);
    t->seconds += clock_now() - start;
    return ok;
}

/* A part without glare that is the same in both files goes over as it is packed. A picture does
 * not need the parts that it does not show. */
static bool copy_part(void *ctx, int part, bool *done, err *e) {
    targets *t = ctx;
    *done = t->picture.file && part != t->picture.as.part && glare_part(t, part) < 0;
    if (!t->file || !stays(t, part)) return true;
    double start = clock_now();
    bool ok = image_copy_part(t->file, part, t->in->from, part, done, e);
    t->seconds += clock_now() - start;
    return ok;
}

rows_sink targets_sink(targets *t) {
    return (rows_sink){.ctx = t, .step = step_of, .write = write_band, .copy = copy_part};
}

/* --- ending ----------------------------------------------------------------------------------- */

/* The image as it came is read once more for its picture, which has the exposure of the other. */
static bool develop(targets *t, err *e) {
    const char *before = t->want.before;
    float *stops = &t->want.stops;
    bool ok =
        picture_develop(&t->picture, stops, e) &&
        (!t->lit.file || picture_develop(&t->lit, stops, e)) &&
        (!before || (picture_open(&t->before, t->o, t->in->head, before, e) &&
                     picture_take(&t->before, t->in, e) && picture_develop(&t->before, stops, e)));
    if (ok) log_info("'%s': developed with --exposure %.2f", t->o->path, (double)*stops);
    return ok;
}

bool targets_commit(targets *t, err *e) {
    double start = clock_now();
    t->lossy = (t->file && image_lossy(t->file)) || (t->glare && image_lossy(t->glare));
    bool ok = (!t->picture.file || develop(t, e)) && (!t->glare || image_commit(&t->glare, e)) &&
              (!t->before.file || picture_commit(&t->before, e)) &&
              (!t->lit.file || picture_commit(&t->lit, e)) &&
              (t->picture.file ? picture_commit(&t->picture, e) : image_commit(&t->file, e));
    t->seconds += clock_now() - start;
    return ok;
}

/* The rows of channels that come from the file are there twice, and so are some that change. */
void targets_memory(mem_plan *to, const output *o, const stages *in, const image_header *head) {
    uint64_t most = 0, some = 0;
    for (int i = 0; i < head->parts; i++) {
        const image_part *p = &head->part[i], *own = &image_reader_header(in->from)->part[i];
        uint32_t chunk = image_reader_rows(in->from, i);
        most = max_u64(most, image_hands_bytes(own, p, chunk));
        some = max_u64(some, image_bytes(p) / image_height(p) * rows_some(p, chunk));
    }
    mem_plan_add(to, "files", most * (uint64_t)par_threads(o->threads) + some);
    if (output_is_picture(o->path)) mem_plan_add(to, "a picture", picture_bytes(o, head));
    mem_plan_add(to, "streams", output_stream_bytes(o, image_reader_path(in->from), head));
}
