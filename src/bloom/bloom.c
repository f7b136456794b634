#include "bloom/bloom.h"

#include "bloom/part.h"
#include "bloom/session.h"
#include "bloom/window.h"
#include "image/layers.h"

struct bloom {
    bloom_settings s;
    par *threads;
    device_pool *own; /* NULL: the devices are shared */
    session *session;
};

bloom *bloom_open(const bloom_settings *s, const char *kernel, par *threads, err *e) {
    device_pool *own = device_pool_open(threads, s->cache_dir, 0, e);
    bloom *b = own ? bloom_open_on(s, kernel, NULL, own, e) : NULL;
    if (b)
        b->own = own;
    else
        device_pool_close(&own);
    return b;
}

/* Refuses what a kernel that varies over the frame does not do yet. */
static bool check_field(const bloom_settings *s, const kernel_source *k, err *e) {
    if (!k->field) return true;
    const struct {
        bool asked;
        const char *what;
    } refused[] = {
        {s->solve != BLOOM_APPLY, "deglare takes one kernel, whose series stays on one plan"},
        {s->window != WINDOW_KEEP, "--window keep is the only window that takes one"},
        {s->kernel.center != PSF_MIDDLE, "the centres of its kernels are their middles"},
        {isnan(s->core), "--core auto is of one kernel: give a radius"}};
    for (size_t i = 0; i < COUNT(refused); i++)
        if (refused[i].asked)
            return err_set(e, ERR_CONFIG, "kernel '%s' is a field of %u kernels: %s", k->path,
                           field_nodes(&k->field->grid), refused[i].what);
    return true;
}

bloom *bloom_open_on(const bloom_settings *s, const char *path, const kernel_source *read,
                     device_pool *devices, err *e) {
    const plan_border x = s->border[PLAN_X], y = s->border[PLAN_Y];
    if (s->window == WINDOW_GROW && (x != BORDER_ZERO || y != BORDER_ZERO))
        return err_set(e, ERR_CONFIG,
                       "window grow needs padding zero: with padding %s,%s the image continues "
                       "without end",
                       plan_border_name(x), plan_border_name(y)),
               NULL;
    if (s->solve && (s->threshold > 0 || s->window != WINDOW_KEEP || bloom_emits(s)))
        return err_set(e, ERR_CONFIG,
                       "glare is taken away without threshold, window and emit_layer: the whole "
                       "image spreads, and stays as large as it is"),
               NULL;
    bloom *b = layer_light_check(s, e) ? mem_new(1, sizeof *b, "bloom", e) : NULL;
    if (!b) return NULL;
    b->s = *s;
    b->threads = device_pool_threads(devices);
    if (!(b->session = session_open(&b->s, path, read, devices, e)) ||
        !check_field(&b->s, session_kernel(b->session), e))
        bloom_close(&b);
    return b;
}

void bloom_close(bloom **pb) {
    bloom *b = *pb;
    if (!b) return;
    session_close(&b->session);
    device_pool_close(&b->own);
    mem_free(b);
    *pb = NULL;
}

const lint_faults *bloom_kernel_faults(const bloom *b) {
    return session_faults(b->session);
}

bool bloom_kernel_size(const bloom *b, const image_part *p, uint32_t size[2]) {
    const kernel_source *k = session_kernel(b->session);
    const kernel_use use = bloom_kernel_use(&b->s);
    double scale = use.options.size * (use.relative ? (double)image_height(p) / k->h : 1);
    size[0] = (uint32_t)(k->w * scale), size[1] = (uint32_t)(k->h * scale);
    return !k->is_spectrum;
}

static part_job job_of(const bloom *b, int part, const bloom_rows *rows, const window_rows *w) {
    part_job j = {.s = &b->s,
                  .threads = b->threads,
                  .session = b->session,
                  .part = part,
                  .height = image_height(&rows->in.head->part[part]),
                  .came = rows->in.head->part[part].data,
                  .in = &w->in,
                  .out = &w->out,
                  .beside = rows->memory,
                  .marks = rows->marks ? &rows->marks->part[part] : NULL,
                  .mask = rows->mask,
                  .predict = rows->predict,
                  .doubles = rows->doubles,
                  .bounds = rows->bounds,
                  .lost = rows->lost,
                  .digits = rows->digits};
    window_memory(&j.beside, w, part);
    return j;
}

static void begin(const bloom *b, bloom_report *r) {
    const char *faults = session_faults(b->session)->words;
    *r = (bloom_report){.sum.promise.tolerance = b->s.tolerance};
    if (*faults) report_note(r, "kernel '%.100s': %s", session_kernel(b->session)->path, faults);
    if (b->s.threshold > 0)
        report_note(
            r,
            "only light above %g is spread: a lens does not do this, and the glare does not "
            "have the kernel's shape",
            b->s.threshold);
    if (bloom_emits(&b->s))
        report_note(
            r,
            "the tolerance holds for the image; layer '%s' has the same absolute errors, which "
            "may be more than that of its own, darker pixels",
            b->s.emit_layer);
    if (b->s.mask)
        report_note(r,
                    b->s.solve ? "glare is taken away within the mask '%.200s' alone"
                               : "only light within the mask '%.200s' is spread",
                    b->s.mask);
}

/* Refuses the result where --verify is wanted and either the sample of pixels or the promise does
 * not hold. The image is done all the same. */
static bool judge(const bloom *b, const bloom_report *r, err *e) {
    const bloom_verified *v = &r->sum.verified;
    const verify_pixel *p = &v->found.worst;
    const bloom_promise *promise = &r->sum.promise;
    if (!v->found.broken && (!b->s.verify || !promise->method.precision || promise->method.kept))
        return true;
    if (!v->found.broken)
        return err_set(e, ERR_TOLERANCE,
                       "verify: the promise is not kept, though the sample of %llu pixels is: "
                       "channel '%s' may be off by %.2g, and the tolerance of %g allows %.2g; "
                       "give a larger --tolerance or another --precision",
                       (unsigned long long)v->found.pixels, promise->channel, promise->method.floor,
                       promise->tolerance, promise->method.allowed);
    if (b->s.solve)
        return err_set(
            e, ERR_TOLERANCE,
            "verify: bloomed again, channel '%s' is %.9g at %d, %d, and the plate has %.9g: "
            "more than the certificate reckons with; so have %llu of %llu pixels",
            v->channel, p->got, v->x, v->y, p->want, (unsigned long long)v->found.broken,
            (unsigned long long)v->found.pixels);
    return err_set(e, ERR_TOLERANCE,
                   "verify: channel '%s' is %.9g at %d, %d, by the definition %.9g: off by %.2g, "
                   "the tolerance is %g; %llu of the sample's %llu pixels are off by more",
                   v->channel, p->got, v->x, v->y, p->want, p->error, b->s.tolerance,
                   (unsigned long long)v->found.broken, (unsigned long long)v->found.pixels);
}

static bool no_layer(err *e) {
    return err_set(e, ERR_DATA,
                   "the image has no colour layer to bloom; name layers with --layers");
}

static bool check_globs(const bloom *b, const image_header *h, err *e) {
    return layer_globs_check(h, b->s.layers, b->s.exclude, e) && layer_light_find(&b->s, h, e);
}

static bool note_thresholds(const bloom *b, const image_header *h, bloom_report *r, err *e) {
    for (const image_part *p = h->part; p < h->part + h->parts; p++) {
        OWN(layer_map) m = {0};
        if (!layer_map_make(&m, p, b->s.layers, b->s.exclude, e)) return false;
        for (const layer_group *g = m.group; g < m.group + m.groups; g++) {
            layer_light of_layer;
            if (!layer_light_of(&of_layer, &b->s, p, g, e)) return false;
            if (of_layer.threshold > 0 && !(b->s.threshold > 0))
                report_note(r, "layer '%.100s': only light above %g is spread",
                            *g->name ? g->name : "rgba", of_layer.threshold);
        }
    }
    return true;
}

bool bloom_has_light(const bloom_settings *s, const image_part *p) {
    OWN(layer_map) m = {0};
    return !layer_map_make(&m, p, s->layers, s->exclude, NULL) || m.groups > 0;
}

bool bloom_changes(const bloom_settings *s) {
    return s->sharpen != 1 || s->window != WINDOW_KEEP || s->per_layer || bloom_emits(s) || s->half;
}

bool bloom_run(const bloom *b, const bloom_rows *rows, bloom_report *r, err *e) {
    OPEN(window_rows) w = {.own = NULL};
    const image_header *h = rows->in.head;
    /* The whole kernel is its centre: every bit stays, even of NaNs and negative zeros. */
    bloom_settings own = b->s;
    own.half &= !rows->in.lend; /* what is lent takes its types on the way */
    const bool none = !rows->predict && !bloom_changes(&own);
    OWN(image_header) becomes = {0}; /* halfs where the settings ask for them */
    begin(b, r);
    bool ok = image_header_copy(&becomes, h, e) && bloom_header(b, &becomes, e) &&
              check_globs(b, h, e) && note_thresholds(b, h, r, e) &&
              window_open(&w, &b->s, b->session, &rows->in, &rows->out, e);
    for (int part = 0; ok && part < h->parts && !(rows->predict && r->groups); part++) {
        const part_job j = job_of(b, part, rows, &w);
        OWN(part_made) made = {.done = false};
        ok = none ? rows_copy(&w.in, &w.out, part, &becomes.part[part], e)
                  : part_bloom(&made, &j, e);
        if (ok) window_cut(&w, part, &made);
        report_add_part(r, &made);
    }
    return ok && (none || (r->groups ? rows->predict || judge(b, r, e) : no_layer(e)));
}

bool bloom_image_with(const bloom *b, image *img, bloom_rows more, bloom_report *r, err *e) {
    OPEN(rows_image) rows = {.img = NULL};
    if (!rows_image_open(&rows, img, e)) return false;
    more.in = rows.in, more.out = rows.out;
    return bloom_run(b, &more, r, e);
}

bool bloom_image(const bloom *b, image *img, bloom_report *r, err *e) {
    return bloom_image_with(b, img, (bloom_rows){.predict = false}, r, e);
}

bool bloom_predict(const bloom *b, image *img, const rows_source *mask, bloom_report *r, err *e) {
    return bloom_image_with(b, img, (bloom_rows){.mask = mask, .predict = true}, r, e);
}

bool bloom_header(const bloom *b, image_header *h, err *e) {
    for (int part = 0; part < h->parts; part++) {
        window_boxes box;
        if (!window_choose(&box, &b->s, b->session, &h->part[part], e) ||
            !part_header(&h->part[part], &b->s, e))
            return false;
        h->part[part].data = box.kept;
    }
    return true;
}

/* --- before it is done ---------------------------------------------------------------------- */

/* Opens the job of the image's first part with colour. Close the windows also after a failure. */
static bool open_first(part_job *j, window_rows *w, const bloom *b, const bloom_rows *rows,
                       err *e) {
    const image_header *h = rows->in.head;
    bool colour = false;
    int part = 0;
    if (!check_globs(b, h, e)) return false;
    for (; !colour && part < h->parts; part++) {
        OWN(layer_map) m = {0};
        if (!layer_map_make(&m, &h->part[part], b->s.layers, b->s.exclude, e)) return false;
        colour = m.groups > 0;
    }
    if (!colour || !window_open(w, &b->s, b->session, &rows->in, &rows->out, e))
        return colour ? false : no_layer(e);
    *j = job_of(b, part - 1, rows, w);
    return true;
}

bool bloom_tiling(const bloom *b, const bloom_rows *rows, tiling *t, mem_plan *memory, err *e) {
    OPEN(window_rows) w = {.own = NULL};
    part_job j;
    return open_first(&j, &w, b, rows, e) && part_choose(t, memory, &j, e);
}

/* Finds what the image's first colour group needs of the kernel, and its planes. */
static bool first_need(const bloom *b, const image_header *h, kernel_need *need,
                       plan_planes *planes, err *e) {
    image img = {.head = *h};
    OPEN(rows_image) rows = {.img = NULL};
    OPEN(window_rows) w = {.own = NULL};
    part_job j;
    const bool ok = rows_image_open(&rows, &img, e) &&
                    open_first(&j, &w, b, &(bloom_rows){.in = rows.in, .out = rows.out}, e) &&
                    part_first_need(need, planes, &j, e);
    return ok;
}

static bool first_request(const bloom *b, const image_header *h, plan_precision precision,
                          plan_request *ask, err *e) {
    kernel_at k = {.fit = ""};
    if (!first_need(b, h, &k.need, &k.planes, e) ||
        !kernel_at_sketch(&k, &b->s, session_kernel(b->session), e))
        return false;
    *ask = k.ask;
    ask->precision = precision;
    return true;
}

double bloom_expect(const bloom *b, const image_header *h) {
    static const device_way WAY[] = {[PRECISION_AUTO] = DEVICE_WAYS,
                                     [PRECISION_FLOAT32] = WAY_FLOAT32,
                                     [PRECISION_FLOAT64] = WAY_FLOAT64};
    kernel_need need;
    plan_planes planes;
    err ignored = {0};
    /* The nodes of a field are made one after the other, by the first frame. */
    if (b->s.sharpen == 1 || session_kernel(b->session)->field ||
        !first_need(b, h, &need, &planes, &ignored))
        return 0;
    return session_expect(b->session, &need, planes, WAY[b->s.precision]);
}

int bloom_forecast(const bloom *b, const image_header *h, plan_precision precision,
                   bloom_forecasts *to, err *e) {
    plan_request ask;
    if (!first_request(b, h, precision, &ask, e)) return -1;
    return session_forecast(b->session, &ask, to, e);
}

/* The part that takes most counts, as a whole. What cannot be known is told by the run. */
void bloom_memory(const bloom *b, const image_header *h, mem_plan *to) {
    image img = {.head = *h};
    OPEN(rows_image) rows = {.img = NULL};
    OPEN(window_rows) w = {.own = NULL};
    mem_plan most = {0};
    err ignored = {0};
    bool ok = rows_image_open(&rows, &img, &ignored) &&
              window_open(&w, &b->s, b->session, &rows.in, &rows.out, &ignored);
    for (int part = 0; ok && part < h->parts; part++) {
        const bloom_rows ends = {.in = rows.in, .out = rows.out};
        const part_job j = job_of(b, part, &ends, &w);
        tiling t;
        mem_plan one;
        if (part_choose(&t, &one, &j, &ignored) && one.bytes > most.bytes) most = one;
    }
    mem_plan_add_all(to, &most);
}

void bloom_memory_before(const bloom_settings *s, par *threads, const image_header *h,
                         mem_plan *to) {
    bloom_memory(&(bloom){.s = *s, .threads = threads}, h, to);
}

int bloom_tile_forecast(const bloom *b, const image_header *h, const tiling *t, bloom_forecasts *to,
                        err *e) {
    plan_request ask;
    if (!first_request(b, h, b->s.precision, &ask, e)) return -1;
    to->pixels = (double)ask.size[PLAN_X] * ask.size[PLAN_Y];
    ask = tiling_ask(t, &ask);
    return session_forecast(b->session, &ask, to, e);
}
