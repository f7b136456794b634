/* view.h - one colour group of an image, and all that blooming it needs: made once from the image's
 * header and the settings, and const afterwards; and its transforms. */
#pragma once

#include "bloom/layer_light.h"
#include "bloom/promise/accuracy.h"
#include "bloom/session.h"

enum { VIEW_CHANNELS = LAYER_MAX_CHANNELS };

/* Planes of a result, or of what is spread, kept from group to group. They may change places with
 * the image's own. One thread uses them. */
typedef struct {
    void *plane[ENGINE_CHANNELS];
    size_t bytes; /* of each plane */
} buffers;

typedef struct {
    const bloom_settings *s;
    par *threads;
    session *session;
    buffers *buf;
    image *img; /* of one part, with these channels alone */
    const char *layer;
    uint32_t channels;
    pixel_type type[VIEW_CHANNELS]; /* as they came */
    size_t pixels;
    kernel_need need;
    double sharpen;
    join_spread spread;
    bool all_spread;                /* all light is spread: there is neither threshold nor mask */
    const double *dark;             /* accuracy_dark of the image, of each channel */
    const scan *scanned;            /* of the image's pixels; NULL: this is a tile of it, */
    join_box kept;                  /* of which these pixels count; a width of 0: all */
    bool emits;                     /* the glare, or its source, is wanted alone: see `glare` */
    double *doubles[VIEW_CHANNELS]; /* receive the result before it is rounded; NULL: not wanted */
    double *bounds[VIEW_CHANNELS];  /* and by how much it may be off where glare is taken away */
    const float *lost[VIEW_CHANNELS]; /* as engine_frame has it; NULL: nothing */
    double digits;                    /* as accuracy_facts has it */
    /* What group_bloom adds: */
    const kernel_at *size;
    float *glare[VIEW_CHANNELS]; /* planes of floats, which receive what is emitted */
} view;

/* Returns the planes of the view's frames. */
plan_planes view_planes(const view *v);
static inline image_part *view_part(const view *v) {
    return v->img->head.part;
}
static inline void **view_plane(const view *v, uint32_t c) { /* the image's */
    return &v->img->plane[0][c];
}
static inline const char *view_name(const view *v, uint32_t c) {
    return view_part(v)->channel[c].name;
}

/* Calls fn for blocks of at most VIEW_BLOCK pixels of every channel, from several threads. */
enum { VIEW_BLOCK = 1 << 15 };
typedef void view_fn(const view *v, void *ctx, uint32_t c, size_t first, size_t n);
bool view_blocks(const view *v, view_fn *fn, void *ctx, err *e);

/* Makes `channels` planes of n bytes; what they held is lost if they were of another size. */
bool buffers_room(buffers *b, uint32_t channels, size_t bytes, err *e);
void buffers_free(buffers *b);

/* --- attempts: one transform by one method, which does not judge the result ------------------- */

/* What the planes of a group hold: what the choice of a precision rests on, and the join. */
typedef struct {
    const scan *scanned;             /* of the light that is spread */
    bool nonnegative[VIEW_CHANNELS]; /* neither what is spread nor the kernel is below zero */
    bool signs[VIEW_CHANNELS];       /* the image or the kernel is, somewhere */
} light;

typedef struct {
    /* The result, in the view's buffers: floats; or halfs, where the largest stands for more. */
    void *out[VIEW_CHANNELS];
    pixel_type type; /* of all channels */
    join_stats stats[VIEW_CHANNELS];
    engine_times times;
    session_lease lease; /* given back; it tells device, plan and the spectrum's seconds */
    /* Of a field: the floor of each channel, and the light that the kernels add to it. */
    double floor[VIEW_CHANNELS], gained[VIEW_CHANNELS];
} outcome;

/* Runs the method, and fills v->glare and v->doubles where they are wanted. */
/* Returns what becomes of a pixel: docs/inside/math.md, "As it is done". */
join attempt_join(const view *v, const light *l);
bool attempt_run(outcome *to, const view *v, const light *l, const accuracy *method, err *e);
/* Fills the outcome's planes with what v->doubles has, where that is wanted. */
bool attempt_narrow(outcome *o, const view *v, err *e);
/* Returns the bytes of the planes that an attempt takes beside the image's own. */
uint64_t attempt_bytes(const view *v);
/* Returns which of a size's choices a method takes. */
device_way attempt_way(const accuracy *method);

/* The planes that an engine reads: the image's own, or floats of these where the channels of a
 * group are stored differently. Start with zeros, and free them also after a failure. */
typedef struct {
    const void *in[VIEW_CHANNELS];
    float *widened[VIEW_CHANNELS];
} attempt_sources;
bool attempt_sources_find(attempt_sources *s, const view *v, err *e);
void attempt_sources_free(attempt_sources *s);
