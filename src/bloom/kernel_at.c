#include "bloom/kernel_at.h"

#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/promise/ledger.h"

#include <pthread.h>
#include <stdatomic.h>

void kernel_at_plan(kernel_at *k, const bloom_settings *s) {
    const psf *taps = &k->kernel;
    k->ask = (plan_request){.size = {k->need.w, k->need.h},
                            .reach_lo = {taps->cx, taps->cy},
                            .reach_hi = {taps->w - 1 - taps->cx, taps->h - 1 - taps->cy},
                            .border = {s->border[PLAN_X], s->border[PLAN_Y]},
                            .order = s->order,
                            .channels = k->need.channels,
                            .spectra = taps->channels,
                            .symmetric = psf_is_symmetric(taps),
                            .planes = k->planes,
                            .frames = s->slots};
}

bool kernel_at_sketch(kernel_at *k, const bloom_settings *s, const kernel_source *source, err *e) {
    const kernel_use use = bloom_kernel_use(s);
    float tap = 1;
    OWN(psf) made = {0};
    if (source && !kernel_source_psf(&made, source, &use, &k->need, NULL, e)) return false;
    k->kernel = source ? made : (psf){.tap = &tap, .w = 1, .h = 1, .channels = 1};
    kernel_at_plan(k, s);
    k->kernel = (psf){0};
    return true;
}

device_request kernel_at_device(const bloom_settings *s, const plan_request *ask) {
    /* A GPU computes one frame at a time, while others travel there and back. */
    return (device_request){.want = s->device,
                            .images = s->images,
                            .vram_limit = s->vram_limit,
                            .gpu_frames = 4,
                            .ask = *ask};
}

uint64_t kernel_at_bytes(const plan_request *ask) {
    enum { TIMES = 4 };
    uint64_t taps = sizeof(float) * ask->spectra;
    for (int a = 0; a < PLAN_AXES; a++) taps *= (uint64_t)ask->reach_lo[a] + 1 + ask->reach_hi[a];
    return TIMES * mem_rounded(taps);
}

/* A size, or the attempt to make one. */
typedef struct size_entry {
    kernel_at at;              /* first, so that its address is the entry's */
    double full[PSF_CHANNELS]; /* the sums of the kernel's taps before any were cut off */
    bool making;               /* by a thread that works without the lock */
    err why;                   /* it could not be made */
    uint32_t users;            /* threads that make it, wait for it or have it */
    struct size_entry *next;
} size_entry;

struct kernel_sizes {
    /* Set by kernel_sizes_open, const afterwards. */
    const bloom_settings *s;
    const kernel_source *kernel;
    device_pool *devices;
    par *threads;
    kernel_sizes **node;    /* of a field: the sizes of its nodes; */
    const field_grid *grid; /* of a node: the field's, */
    uint32_t number;        /* and which one it is. NULL: there is no field */

    atomic_flag told; /* the log has said that the primaries of kernel or image are not known */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t made;  /* a size has been made, or not */
    size_entry *first;    /* the last used one */
};

static const char *title_of(const primaries *p) {
    const primaries_row *row = primaries_like(p);
    return row ? row->title : "other primaries";
}

/* Says how the colours of the kernel and the image go together, and in the log once what may
 * surprise. */
static void compare_colours(kernel_sizes *sizes, kernel_at *k) {
    const primaries to = primaries_from_floats(k->need.primaries);
    const char *kernel = title_of(&sizes->kernel->gamut), *image_is = title_of(&to);
    kernel_colours how = kernel_source_colours(sizes->kernel, &k->need);
    if (how == KERNEL_AGREES) return;
    if (how == KERNEL_CONVERTED)
        snprintf(k->fit, sizeof k->fit, "the kernel is converted from %s to the image's %s", kernel,
                 image_is);
    else
        snprintf(k->fit, sizeof k->fit,
                 "the %s does not say its primaries; they are taken to be the %s's, %s",
                 how == KERNEL_UNKNOWN ? "kernel" : "image",
                 how == KERNEL_UNKNOWN ? "image" : "kernel",
                 how == KERNEL_UNKNOWN ? image_is : kernel);
    if (how != KERNEL_CONVERTED && !atomic_flag_test_and_set(&sizes->told)) log_note("%s", k->fit);
}

/* Says how the pixels of the kernel and the image go together. */
static void compare_pixels(const kernel_sizes *sizes, kernel_at *k) {
    const kernel_use use = bloom_kernel_use(sizes->s);
    const double by = kernel_source_squeeze(sizes->kernel, &use, &k->need),
                 own = sizes->kernel->aspect;
    const size_t n = strlen(k->fit);
    if (by != 1)
        snprintf(k->fit + n, sizeof k->fit - n,
                 "%sthe kernel is %.4g times as wide: pixel aspect %.4g of the image, %.4g of the "
                 "kernel",
                 n ? "; " : "", by, own / by, own);
}

/* Makes the nodes of a field, and the window of each. */
static bool make_nodes(const kernel_sizes *sizes, kernel_at *k, err *e) {
    const plan_planes floats = {.in = PLAN_FLOATS, .out = PLAN_FLOATS};
    const field_grid *grid = &sizes->kernel->field->grid;
    kernel_need anywhere = k->need;
    double most = -1;
    anywhere.frame = (field_frame){.extent = {0}};
    k->nodes = field_nodes(grid);
    if (!(k->node = mem_new(k->nodes, sizeof *k->node, "field", e)) ||
        !(k->psf = mem_new(k->nodes, sizeof *k->psf, "field", e)))
        return false;
    for (uint32_t i = 0; i < k->nodes; i++) {
        kernel_node *n = &k->node[i];
        if (!(n->at = kernel_sizes_take(sizes->node[i], &anywhere, floats, e))) return false;
        k->psf[i] = &n->at->kernel;
        n->window = field_window_of(grid, &k->need.frame, i, &n->at->ask);
        if (field_window_empty(&n->window)) continue;
        n->ask = field_window_ask(&n->window, &n->at->ask);
        const device_request r = kernel_at_device(sizes->s, &n->ask);
        device_pool_decide(sizes->devices, &n->decided, &r);
        const double points = (double)n->ask.size[PLAN_X] * n->ask.size[PLAN_Y];
        if (points > most) most = points, k->decided = n->decided;
    }
    return true;
}

/* Makes what an engine needs of a size: the kernel, and where each transform runs. */
static bool make_kernel(kernel_sizes *sizes, size_entry *n, err *e) {
    kernel_at *k = &n->at;
    const kernel_use use = bloom_kernel_use(sizes->s);
    if (!kernel_source_psf(&k->kernel, sizes->kernel, &use, &k->need, n->full, e)) return false;
    for (uint32_t c = 0; sizes->grid && c < k->kernel.channels; c++) {
        k->kernel.scale[c] *= field_share(sizes->grid, sizes->number);
        n->full[c] *= field_share(sizes->grid, sizes->number);
    }
    k->hash = psf_hash(&k->kernel);
    if (!host_ask_again(e)) return false;
    if (!sizes->grid) {
        compare_colours(sizes, k);
        compare_pixels(sizes, k);
    }
    kernel_at_plan(k, sizes->s);
    if (sizes->node) return make_nodes(sizes, k, e);
    if (sizes->grid) return true;
    const device_request r = kernel_at_device(sizes->s, &k->ask);
    device_pool_decide(sizes->devices, &k->decided, &r);
    return host_ask_again(e);
}

bool kernel_at_possible(const kernel_at *k, plan_precision precision, err *e) {
    const device_choice *doubles = &k->decided.way[WAY_FLOAT64];
    const bool wide = precision == PRECISION_FLOAT64 ||
                      (precision == PRECISION_AUTO && doubles->why.code == ERR_LINES);
    const device_choice *needed = wide ? doubles : &k->decided.way[WAY_FLOAT32];
    if (!needed->possible) *e = needed->why;
    return needed->possible;
}

static bool make_part(void *ctx, size_t index, int worker, err *e) {
    kernel_at *k = ctx;
    if (index == 0) return ledger_spill_make(&k->ledger, &k->tail, e);
    uint32_t c = (uint32_t)index - 1;
    k->sums[c] = tail_sums(&k->tail, c);
    return true;
}

static void raise(double *to, double value, bool adds) {
    *to = adds ? *to + value : fmax(*to, value);
}

/* Raises what is known of a field to the most of its nodes: a pixel's kernel is between theirs, and
 * the common one is added to it. */
static void raise_to_nodes(kernel_at *k) {
    for (uint32_t c = 0; c < k->need.channels; c++) {
        const uint32_t at = tail_kernel(&k->tail, c);
        noise_tail *to = &k->sums[c];
        *to = (noise_tail){.signs = false};
        k->tail.centre[at] = k->tail.sum[at] = -INFINITY;
        for (uint32_t i = 0; i < k->nodes; i++) {
            const noise_tail *tail = &k->node[i].at->sums[c];
            const kernel_tail *of = &k->node[i].at->tail;
            const bool adds = kernel_at_common(k, i);
            raise(&to->sum, tail->sum, adds), raise(&to->norm, tail->norm, adds);
            raise(&to->peak, tail->peak, adds), raise(&to->centre, tail->centre, adds);
            raise(&to->alias_sum, tail->alias_sum, adds);
            raise(&to->alias_peak, tail->alias_peak, adds);
            to->signs |= tail->signs;
            raise(&k->tail.centre[at], of->centre[tail_kernel(of, c)], adds);
            raise(&k->tail.sum[at], of->sum[tail_kernel(of, c)], adds);
        }
    }
}

/* Makes the weights and the centres of a field. */
static bool make_field(kernel_at *k, const field_grid *g, err *e) {
    join_field *f = &k->field;
    *f = (join_field){
        {g->nodes[PLAN_X], g->nodes[PLAN_Y]}, {k->need.w, k->need.h}, k->nodes, {NULL}, NULL};
    for (uint32_t a = 0; a < PLAN_AXES; a++) {
        if (!(f->weight[a] =
                  mem_raw(((size_t)f->nodes[a] + 1) * f->extent[a], sizeof(double), "field", e)))
            return false;
        for (uint32_t n = 0; n <= f->nodes[a]; n++)
            for (uint32_t i = 0; i < f->extent[a]; i++)
                f->weight[a][(size_t)n * f->extent[a] + i] =
                    field_weight(g, &k->need.frame, a, n, i);
    }
    if (!(f->centre = mem_raw((size_t)k->nodes * k->need.channels, sizeof(double), "field", e)))
        return false;
    for (uint32_t c = 0; c < k->need.channels; c++)
        for (uint32_t n = 0; n < k->nodes; n++) {
            const kernel_tail *of = &k->node[n].at->tail;
            f->centre[c * k->nodes + n] = of->centre[tail_kernel(of, c)];
        }
    return true;
}

static void join_field_free(join_field *f) {
    for (int a = 0; a < PLAN_AXES; a++) mem_free(f->weight[a]);
    mem_free(f->centre);
}

/* Returns whether this is the node that a field's others leave to be added. */
static bool is_common(const kernel_sizes *sizes) {
    return sizes->grid && sizes->number == sizes->grid->nodes[PLAN_X] * sizes->grid->nodes[PLAN_Y];
}

/* Makes what the promise needs of a size whose kernel is made. */
static bool make_tail(kernel_sizes *sizes, size_entry *n, err *e) {
    kernel_at *k = &n->at;
    const tail_request tail_ask = {&k->kernel, n->full,
                                   &k->need,   sizes->s->spectrum == SPECTRUM_RESAMPLED,
                                   &k->ask,    is_common(sizes)};
    if (!tail_make(&k->tail, &tail_ask, e) || !host_ask_again(e)) return false;
    if (k->nodes) {
        if (!make_field(k, &sizes->kernel->field->grid, e)) return false;
        raise_to_nodes(k);
        return true;
    }
    if (!par_for(sizes->threads, (size_t)k->tail.kernels + 1, make_part, k, e)) return false;
    for (uint32_t c = k->tail.kernels; c < k->need.channels; c++)
        k->sums[c] = k->sums[0]; /* one serves all */
    return true;
}

/* --- all sizes ------------------------------------------------------------------------------- */

/* The number of sizes kept while no thread uses them: the parts of a file may take turns. */
enum { KEPT_SIZES = 4 };

kernel_sizes *kernel_sizes_open(const bloom_settings *s, const kernel_source *k,
                                device_pool *devices, err *e) {
    kernel_sizes *sizes = mem_new(1, sizeof *sizes, "kernel", e);
    if (!sizes) return NULL;
    *sizes = (kernel_sizes){
        .s = s, .kernel = k, .devices = devices, .threads = device_pool_threads(devices)};
    atomic_flag_clear(&sizes->told);
    pthread_mutex_init(&sizes->lock, NULL);
    pthread_cond_init(&sizes->made, NULL);
    const field_grid *grid = k->field ? &k->field->grid : NULL;
    bool ok = !grid || (sizes->node = mem_new(field_nodes(grid), sizeof *sizes->node, "field", e));
    for (uint32_t i = 0; ok && grid && i < field_nodes(grid); i++) {
        ok = (sizes->node[i] = kernel_sizes_open(s, &k->field->node[i], devices, e)) != NULL;
        if (ok) sizes->node[i]->grid = grid, sizes->node[i]->number = i;
    }
    if (!ok) kernel_sizes_close(&sizes);
    return sizes;
}

/* Drops what nobody uses, but for `most` sizes. */
static void drop_unused(kernel_sizes *sizes, int most) {
    int kept = 0;
    for (size_entry **at = &sizes->first; *at;) {
        size_entry *n = *at;
        if (n->users || (!n->why.code && kept++ < most)) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        for (uint32_t i = 0; i < n->at.nodes && n->at.node; i++)
            kernel_sizes_give(sizes->node[i], n->at.node[i].at);
        mem_free(n->at.node);
        mem_free(n->at.psf);
        join_field_free(&n->at.field);
        psf_free(&n->at.kernel);
        tail_free(&n->at.tail);
        ledger_spill_free(&n->at.ledger);
        mem_free(n);
    }
}

void kernel_sizes_close(kernel_sizes **own) {
    kernel_sizes *sizes = *own;
    if (!sizes) return;
    *own = NULL;
    drop_unused(sizes, 0);
    for (uint32_t i = 0; sizes->node && i < field_nodes(&sizes->kernel->field->grid); i++)
        kernel_sizes_close(&sizes->node[i]);
    mem_free(sizes->node);
    pthread_cond_destroy(&sizes->made);
    pthread_mutex_destroy(&sizes->lock);
    mem_free(sizes);
}

/* Moves the entry to the front and counts its user; with the lock held, as all that follows. */
static size_entry *find_size(kernel_sizes *sizes, const kernel_need *need, plan_planes planes) {
    for (size_entry **at = &sizes->first; *at; at = &(*at)->next) {
        size_entry *n = *at;
        if (n->why.code || !kernel_need_same(&n->at.need, need) ||
            memcmp(&n->at.planes, &planes, sizeof planes) != 0)
            continue;
        *at = n->next;
        n->next = sizes->first;
        n->users++;
        return sizes->first = n;
    }
    return NULL;
}

/* Ends the making of a size, which has failed unless `why` is empty. Takes the lock. */
static void publish(kernel_sizes *sizes, size_entry *n, const err *why) {
    pthread_mutex_lock(&sizes->lock);
    n->making = false;
    n->why = *why;
    pthread_cond_broadcast(&sizes->made);
    pthread_mutex_unlock(&sizes->lock);
}

/* Finds or adds a size, and counts its user. *mine: it was added, its kernel is made, and its tail
 * is to be made by the caller. Returns NULL where there is no memory. */
static size_entry *begin_size(kernel_sizes *sizes, const kernel_need *need, plan_planes planes,
                              bool *mine, err *e) {
    err why = {0};
    pthread_mutex_lock(&sizes->lock);
    size_entry *n = find_size(sizes, need, planes);
    *mine = !n && (n = mem_new(1, sizeof *n, "kernel", e));
    if (*mine) {
        *n = (size_entry){.at = {.need = *need, .planes = planes},
                          .making = true,
                          .users = 1,
                          .next = sizes->first};
        sizes->first = n;
    }
    pthread_mutex_unlock(&sizes->lock);
    if (!*mine || make_kernel(sizes, n, &why)) return n;
    publish(sizes, n, &why);
    *mine = false;
    return n;
}

const kernel_at *kernel_sizes_take(kernel_sizes *sizes, const kernel_need *need, plan_planes planes,
                                   err *e) {
    bool mine, again;
    size_entry *n;
    do {
        n = begin_size(sizes, need, planes, &mine, e);
        if (mine) kernel_sizes_end(sizes, &n->at);
        pthread_mutex_lock(&sizes->lock);
        bool stay = true;
        if (n && n->making) {
            par_rest(sizes->threads);
            while (n->making && (stay = host_wait(&sizes->made, &sizes->lock, e))) continue;
            par_resume(sizes->threads);
        }
        /* Who made it was told to stop, which does not concern this thread. */
        again = n && stay && n->why.code == ERR_CANCELLED && host_ask_again(e);
        if (n && (!stay || n->why.code)) {
            if (stay) *e = n->why;
            n->users--;
            n = NULL;
        }
        drop_unused(sizes, KEPT_SIZES);
        pthread_mutex_unlock(&sizes->lock);
    } while (again);
    return n ? &n->at : NULL;
}

void kernel_sizes_give(kernel_sizes *sizes, const kernel_at *k) {
    if (!k) return;
    pthread_mutex_lock(&sizes->lock);
    ((size_entry *)(uintptr_t)k)->users--;
    pthread_mutex_unlock(&sizes->lock);
}

const kernel_at *kernel_sizes_begin(kernel_sizes *sizes, const kernel_need *need,
                                    plan_planes planes) {
    bool mine;
    size_entry *n = begin_size(sizes, need, planes, &mine, NULL);
    if (n && !mine) kernel_sizes_give(sizes, &n->at);
    return n && mine ? &n->at : NULL;
}

void kernel_sizes_end(kernel_sizes *sizes, const kernel_at *begun) {
    err why = {0};
    size_entry *n = (size_entry *)(uintptr_t)begun;
    make_tail(sizes, n, &why);
    publish(sizes, n, &why);
}

void kernel_sizes_rest(kernel_sizes *sizes) {
    pthread_mutex_lock(&sizes->lock);
    drop_unused(sizes, 0);
    pthread_mutex_unlock(&sizes->lock);
    for (uint32_t i = 0; sizes->node && i < field_nodes(&sizes->kernel->field->grid); i++)
        kernel_sizes_rest(sizes->node[i]);
}
