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
static void compare_colours(kernel_sizes *all, kernel_at *k) {
    const primaries to = primaries_from_floats(k->need.primaries);
    const char *kernel = title_of(&all->kernel->is), *image_is = title_of(&to);
    kernel_colours how = kernel_source_colours(all->kernel, &k->need);
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
    if (how != KERNEL_CONVERTED && !atomic_flag_test_and_set(&all->told)) log_note("%s", k->fit);
}

/* Says how the pixels of the kernel and the image go together. */
static void compare_pixels(const kernel_sizes *all, kernel_at *k) {
    const kernel_use use = bloom_kernel_use(all->s);
    const double by = kernel_source_squeeze(all->kernel, &use, &k->need), own = all->kernel->aspect;
    const size_t n = strlen(k->fit);
    if (by != 1)
        snprintf(k->fit + n, sizeof k->fit - n,
                 "%sthe kernel is %.4g times as wide: pixel aspect %.4g of the image, %.4g of the "
                 "kernel",
                 n ? "; " : "", by, own / by, own);
}

/* Makes the nodes of a field, each in its window. */
static bool make_nodes(const kernel_sizes *all, kernel_at *k, err *e) {
    const plan_planes floats = {.in = PLAN_FLOATS, .out = PLAN_FLOATS};
    double most = -1;
    k->nodes = field_nodes(&all->kernel->field->grid);
    if (!(k->node = mem_new(k->nodes, sizeof *k->node, "field", e)) ||
        !(k->psf = mem_new(k->nodes, sizeof *k->psf, "field", e)))
        return false;
    for (uint32_t i = 0; i < k->nodes; i++) {
        if (!(k->node[i] = kernel_sizes_take(all->node[i], &k->need, floats, e))) return false;
        k->psf[i] = &k->node[i]->kernel;
        const field_stretch *w = k->node[i]->window.axis;
        const double points = (double)w[PLAN_X].length * w[PLAN_Y].length;
        if (points > most) most = points, k->decided = k->node[i]->decided;
    }
    return true;
}

/* Makes what an engine needs of a size: the kernel, and where each transform runs. */
static bool make_kernel(kernel_sizes *all, size_entry *n, err *e) {
    kernel_at *k = &n->at;
    const kernel_use use = bloom_kernel_use(all->s);
    if (!kernel_source_psf(&k->kernel, all->kernel, &use, &k->need, n->full, e)) return false;
    k->hash = psf_hash(&k->kernel);
    if (!host_ask_again(e)) return false;
    if (!all->grid) {
        compare_colours(all, k);
        compare_pixels(all, k);
    }
    kernel_at_plan(k, all->s);
    if (all->node) return make_nodes(all, k, e);
    /* Doubles may be impossible; floats must not be, unless doubles are asked for. */
    if (all->grid) {
        k->window = field_window_of(all->grid, &k->need.frame, all->number, &k->ask);
        if (field_window_empty(&k->window)) return true;
        k->ask = field_window_ask(&k->window, &k->ask);
    }
    const device_request r = kernel_at_device(all->s, &k->ask);
    device_pool_decide(all->devices, &k->decided, &r);
    /* Where only the lines of doubles are too long, tiles have them. */
    const device_choice *doubles = &k->decided.way[WAY_FLOAT64];
    const bool wide = all->s->precision == PRECISION_FLOAT64 ||
                      (all->s->precision == PRECISION_AUTO && doubles->why.code == ERR_LINES);
    const device_choice *needed = wide ? doubles : &k->decided.way[WAY_FLOAT32];
    if (!needed->possible) *e = needed->why;
    return needed->possible && host_ask_again(e);
}

static bool make_part(void *ctx, size_t index, int worker, err *e) {
    kernel_at *k = ctx;
    if (index == 0) return ledger_spill_make(&k->ledger, &k->tail, e);
    uint32_t c = (uint32_t)index - 1;
    k->sums[c] = tail_sums(&k->tail, c);
    return true;
}

/* Raises what is known of a field to the most of its nodes: a pixel's kernel is between theirs. */
static void raise_to_nodes(kernel_at *k) {
    for (uint32_t c = 0; c < k->need.channels; c++) {
        const uint32_t at = tail_kernel(&k->tail, c);
        k->sums[c] = k->node[0]->sums[c];
        for (uint32_t i = 0; i < k->nodes; i++) {
            const noise_tail *is = &k->node[i]->sums[c];
            const kernel_tail *of = &k->node[i]->tail;
            noise_tail *to = &k->sums[c];
            to->sum = fmax(to->sum, is->sum), to->norm = fmax(to->norm, is->norm);
            to->peak = fmax(to->peak, is->peak), to->centre = fmax(to->centre, is->centre);
            to->alias_sum = fmax(to->alias_sum, is->alias_sum);
            to->alias_peak = fmax(to->alias_peak, is->alias_peak);
            to->signs |= is->signs;
            k->tail.centre[at] = fmax(k->tail.centre[at], of->centre[tail_kernel(of, c)]);
            k->tail.sum[at] = fmax(k->tail.sum[at], of->sum[tail_kernel(of, c)]);
        }
    }
}

/* Makes the weights and the centres of a field. */
static bool make_field(kernel_at *k, const field_grid *g, err *e) {
    join_field *f = &k->field;
    *f = (join_field){{g->nodes[PLAN_X], g->nodes[PLAN_Y]}, {k->need.w, k->need.h}, {NULL}, NULL};
    for (uint32_t a = 0; a < PLAN_AXES; a++) {
        if (!(f->weight[a] =
                  mem_raw((size_t)f->nodes[a] * f->extent[a], sizeof(double), "field", e)))
            return false;
        for (uint32_t n = 0; n < f->nodes[a]; n++)
            for (uint32_t i = 0; i < f->extent[a]; i++)
                f->weight[a][(size_t)n * f->extent[a] + i] =
                    field_weight(g, &k->need.frame, a, n, i);
    }
    if (!(f->centre = mem_raw((size_t)k->nodes * k->need.channels, sizeof(double), "field", e)))
        return false;
    for (uint32_t c = 0; c < k->need.channels; c++)
        for (uint32_t n = 0; n < k->nodes; n++) {
            const kernel_tail *of = &k->node[n]->tail;
            f->centre[c * k->nodes + n] = of->centre[tail_kernel(of, c)];
        }
    return true;
}

static void join_field_free(join_field *f) {
    for (int a = 0; a < PLAN_AXES; a++) mem_free(f->weight[a]);
    mem_free(f->centre);
}

/* Makes what the promise needs of a size whose kernel is made. */
static bool make_tail(kernel_sizes *all, size_entry *n, err *e) {
    kernel_at *k = &n->at, whole = *k;
    kernel_at_plan(&whole, all->s); /* light leaves the image, and not a node's window */
    const tail_request tail_ask = {&k->kernel, n->full, &k->need,
                                   all->s->spectrum == SPECTRUM_RESAMPLED, &whole.ask};
    if (!tail_make(&k->tail, &tail_ask, e) || !host_ask_again(e)) return false;
    if (k->nodes) return raise_to_nodes(k), make_field(k, &all->kernel->field->grid, e);
    if (!par_for(all->threads, (size_t)k->tail.kernels + 1, make_part, k, e)) return false;
    for (uint32_t c = k->tail.kernels; c < k->need.channels; c++)
        k->sums[c] = k->sums[0]; /* one serves all */
    return true;
}

/* --- all sizes ------------------------------------------------------------------------------- */

/* The number of sizes kept while no thread uses them: the parts of a file may take turns. */
enum { KEPT_SIZES = 4 };

kernel_sizes *kernel_sizes_open(const bloom_settings *s, const kernel_source *k,
                                device_pool *devices, err *e) {
    kernel_sizes *all = mem_new(1, sizeof *all, "kernel", e);
    if (!all) return NULL;
    *all = (kernel_sizes){
        .s = s, .kernel = k, .devices = devices, .threads = device_pool_threads(devices)};
    atomic_flag_clear(&all->told);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->made, NULL);
    const field_grid *grid = k->field ? &k->field->grid : NULL;
    bool ok = !grid || (all->node = mem_new(field_nodes(grid), sizeof *all->node, "field", e));
    for (uint32_t i = 0; ok && grid && i < field_nodes(grid); i++) {
        ok = (all->node[i] = kernel_sizes_open(s, &k->field->node[i], devices, e)) != NULL;
        if (ok) all->node[i]->grid = grid, all->node[i]->number = i;
    }
    if (!ok) kernel_sizes_close(&all);
    return all;
}

/* Drops what nobody uses, but for `most` sizes. */
static void drop_unused(kernel_sizes *all, int most) {
    int kept = 0;
    for (size_entry **at = &all->first; *at;) {
        size_entry *n = *at;
        if (n->users || (!n->why.code && kept++ < most)) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        for (uint32_t i = 0; i < n->at.nodes && n->at.node; i++)
            kernel_sizes_give(all->node[i], n->at.node[i]);
        mem_free(n->at.node);
        mem_free(n->at.psf);
        join_field_free(&n->at.field);
        psf_free(&n->at.kernel);
        tail_free(&n->at.tail);
        ledger_spill_free(&n->at.ledger);
        mem_free(n);
    }
}

void kernel_sizes_close(kernel_sizes **pall) {
    kernel_sizes *all = *pall;
    if (!all) return;
    *pall = NULL;
    drop_unused(all, 0);
    for (uint32_t i = 0; all->node && i < field_nodes(&all->kernel->field->grid); i++)
        kernel_sizes_close(&all->node[i]);
    mem_free(all->node);
    pthread_cond_destroy(&all->made);
    pthread_mutex_destroy(&all->lock);
    mem_free(all);
}

/* Moves the entry to the front and counts its user; with the lock held, as all that follows. */
static size_entry *find_size(kernel_sizes *all, const kernel_need *need, plan_planes planes) {
    for (size_entry **at = &all->first; *at; at = &(*at)->next) {
        size_entry *n = *at;
        if (n->why.code || !kernel_need_same(&n->at.need, need) ||
            memcmp(&n->at.planes, &planes, sizeof planes) != 0)
            continue;
        *at = n->next;
        n->next = all->first;
        n->users++;
        return all->first = n;
    }
    return NULL;
}

/* Ends the making of a size, which has failed unless `why` is empty. Takes the lock. */
static void publish(kernel_sizes *all, size_entry *n, const err *why) {
    pthread_mutex_lock(&all->lock);
    n->making = false;
    n->why = *why;
    pthread_cond_broadcast(&all->made);
    pthread_mutex_unlock(&all->lock);
}

/* Finds or adds a size, and counts its user. *mine: it was added, its kernel is made, and its tail
 * is to be made by the caller. Returns NULL where there is no memory. */
static size_entry *begin_size(kernel_sizes *all, const kernel_need *need, plan_planes planes,
                              bool *mine, err *e) {
    err why = {0};
    pthread_mutex_lock(&all->lock);
    size_entry *n = find_size(all, need, planes);
    *mine = !n && (n = mem_new(1, sizeof *n, "kernel", e));
    if (*mine) {
        *n = (size_entry){.at = {.need = *need, .planes = planes},
                          .making = true,
                          .users = 1,
                          .next = all->first};
        all->first = n;
    }
    pthread_mutex_unlock(&all->lock);
    if (!*mine || make_kernel(all, n, &why)) return n;
    publish(all, n, &why);
    *mine = false;
    return n;
}

const kernel_at *kernel_sizes_take(kernel_sizes *all, const kernel_need *need, plan_planes planes,
                                   err *e) {
    bool mine, again;
    size_entry *n;
    do {
        n = begin_size(all, need, planes, &mine, e);
        if (mine) kernel_sizes_end(all, &n->at);
        pthread_mutex_lock(&all->lock);
        bool stay = true;
        if (n && n->making) {
            par_rest(all->threads);
            while (n->making && (stay = host_wait(&all->made, &all->lock, e))) continue;
            par_resume(all->threads);
        }
        /* Who made it was told to stop, which does not concern this thread. */
        again = n && stay && n->why.code == ERR_CANCELLED && host_ask_again(e);
        if (n && (!stay || n->why.code)) {
            if (stay) *e = n->why;
            n->users--;
            n = NULL;
        }
        drop_unused(all, KEPT_SIZES);
        pthread_mutex_unlock(&all->lock);
    } while (again);
    return n ? &n->at : NULL;
}

void kernel_sizes_give(kernel_sizes *all, const kernel_at *k) {
    if (!k) return;
    pthread_mutex_lock(&all->lock);
    ((size_entry *)(uintptr_t)k)->users--;
    pthread_mutex_unlock(&all->lock);
}

const kernel_at *kernel_sizes_begin(kernel_sizes *all, const kernel_need *need,
                                    plan_planes planes) {
    bool mine;
    size_entry *n = begin_size(all, need, planes, &mine, NULL);
    if (n && !mine) kernel_sizes_give(all, &n->at);
    return n && mine ? &n->at : NULL;
}

void kernel_sizes_end(kernel_sizes *all, const kernel_at *begun) {
    err why = {0};
    size_entry *n = (size_entry *)(uintptr_t)begun;
    make_tail(all, n, &why);
    publish(all, n, &why);
}

void kernel_sizes_rest(kernel_sizes *all) {
    pthread_mutex_lock(&all->lock);
    drop_unused(all, 0);
    pthread_mutex_unlock(&all->lock);
    for (uint32_t i = 0; all->node && i < field_nodes(&all->kernel->field->grid); i++)
        kernel_sizes_rest(all->node[i]);
}
