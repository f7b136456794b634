/* view.h - one colour group of an image, and all that blooming it needs.
 *
 * A view is made once from the image's header and the settings, and is const afterwards. It knows
 * where pixels are, and does nothing with them. */
#ifndef BLOOM_VIEW_H
#define BLOOM_VIEW_H

#include "bloom/layer_light.h"
#include "bloom/session.h"
#include "engine/join.h"
#include "image/layers.h"

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
    const session_size *size;
    buffers *buf;
    image *img;
    int part;
    uint32_t channels;
    int channel[VIEW_CHANNELS];     /* the part's channels */
    pixel_type type[VIEW_CHANNELS]; /* as they came */
    size_t pixels;
    double sharpen;
    join_spread spread;
    /* How a tile lies in the image that it was cut from. */
    join_box kept;      /* the pixels that count; a width of 0: all */
    const double *dark; /* accuracy_dark of the image, of each channel; NULL: it is found here */
    bool floats;        /* the result is to be floats */
    bool emits;         /* the glare is wanted alone, too: see `glare` */
    bool all;           /* all light is spread: there is neither threshold nor mask */
    /* Planes of floats beside the result, of group_bloom; NULL where they are not wanted: */
    float *glare[VIEW_CHANNELS]; /* receives the glare alone, for emit_layer */
    double *const *doubles;      /* receive the result before it is rounded; the caller's */
} view;

/* Returns a view with everything that follows from the header, the layer and the settings. */
view view_make(const bloom_settings *s, image *img, int part, const layer_group *layer,
               const join_spread *spread);

/* Returns the planes of the view's frames. */
plan_planes view_planes(const view *v);
image_part *view_part(const view *v);
/* Writes the chromaticities of the image's primaries, or zeros where they are not known. */
void view_primaries(const view *v, float xy[8]);
void **view_plane(const view *v, uint32_t c); /* the image's */
const char *view_name(const view *v, uint32_t c);

/* Calls fn for blocks of at most VIEW_BLOCK pixels of every channel, from several threads. */
enum { VIEW_BLOCK = 1 << 15 };
typedef void view_fn(const view *v, void *ctx, uint32_t c, size_t first, size_t n);
bool view_blocks(const view *v, view_fn *fn, void *ctx, err *e);
/* Does so for one channel. */
bool view_channel_blocks(const view *v, uint32_t c, view_fn *fn, void *ctx, err *e);

/* Makes `channels` planes of n bytes; what they held is lost if they were of another size. */
bool buffers_room(buffers *b, uint32_t channels, size_t bytes, err *e);
void buffers_free(buffers *b);

#endif
