/* rig.h - a host of OpenFX effects for tests: it loads a binary, holds one effect's properties,
 * controls and clips, and calls its actions. Clips are pictures in memory of any kind; suites can
 * be missing, images can lack properties, and a render can be stopped at any question. */
#pragma once

#include "ofx/abi.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* --- pictures --------------------------------------------------------------------------------- */

typedef enum { PIC_BYTE = 1, PIC_SHORT = 2, PIC_HALF = 3, PIC_FLOAT = 4 } pic_type;

typedef struct {
    ofx_rect_i at;
    int channels;
    pic_type type;
    ptrdiff_t row;
    char *block, *data; /* data: the first pixel of the lowest row */
    size_t bytes;
    bool bare;        /* the image tells neither its scale nor its aspect */
    ofx_rect_i whole; /* of what it is a part; zeros: it does not tell */
} pic;

/* `pad`: bytes between rows. down: rows lie from the top. */
pic *pic_new(ofx_rect_i at, int channels, pic_type type, int pad, bool down);
void pic_close(pic **p);
double pic_get(const pic *p, int x, int y, int c);
void pic_put(pic *p, int x, int y, int c, double v);

/* --- effects ---------------------------------------------------------------------------------- */

enum { RIG_SOURCE, RIG_OUTPUT, RIG_MASK, RIG_CLIPS, RIG_PARAMS = 20 };

/* Properties in a place of their own, so that nothing has to be freed. */
enum { RIG_PROPERTIES = 12, RIG_VALUES = 24, RIG_WORD = 200 };
typedef struct {
    const char *name;
    int count;
    double number[RIG_VALUES];
    char text[RIG_VALUES][RIG_WORD];
    void *pointer;
} rig_property;
typedef struct ofx_property_set {
    rig_property is[RIG_PROPERTIES];
    int count;
} rig_set;

struct ofx_param {
    char name[32], type[32];
    rig_set is;
    double v[3], slope; /* slope: what a number gains per time */
    const char *text;
};
struct ofx_param_set {
    struct ofx_param param[RIG_PARAMS];
    int count;
    rig_set is;
};
struct ofx_clip {
    char name[32];
    rig_set is;
    pic *picture; /* NULL: not connected */
    double scale, aspect;
    bool defined;
};
struct ofx_effect {
    rig_set is;
    struct ofx_param_set params;
    struct ofx_clip clip[RIG_CLIPS];
    atomic_int asked, stop_at; /* stop_at: the question that is answered by yes; 0: none */
    atomic_bool held;          /* questions wait as long as this is set */
    double stop_time;          /* a time (clock_now) from which on it is; 0: none */
    int stopped;               /* that was said */
    atomic_int open_images, messages, cleared;
    char said[1024];
    int progress[3]; /* starts, updates, ends */
};

typedef struct {
    void *binary;
    ofx_plugin *plugin;
    struct ofx_effect about; /* what the plug-in says of itself */
} rig;

/* Which suites a host does not have. */
enum { WITHOUT_MESSAGE2 = 1, WITHOUT_MESSAGE = 2, WITHOUT_PROGRESS = 4, WITHOUT_PARAM = 8 };

/* Loads and describes; NULL: the plug-in refuses, or there is none. */
rig *rig_open(const char *path, int without);
void rig_close(rig **r);
/* Makes an instance in a context, with the controls at their presets. */
struct ofx_effect *rig_effect(rig *r, const char *context);
void rig_effect_close(rig *r, struct ofx_effect **x);

void rig_connect(struct ofx_effect *x, int clip, pic *p);
void rig_scale(struct ofx_effect *x, double scale, double aspect);
struct ofx_param *rig_param(struct ofx_effect *x, const char *name);
void rig_set_number(struct ofx_effect *x, const char *name, double v);
/* Takes a file as the kernel, and the processor. */
void rig_set_kernel(struct ofx_effect *x, const char *file);

/* Calls an action with these arguments; out may be NULL. */
ofx_status rig_call(rig *r, const char *action, struct ofx_effect *x, rig_set *in, rig_set *out);
/* Renders a window, or all of the output where that is NULL. */
ofx_status rig_render(rig *r, struct ofx_effect *x, double time, const ofx_rect_i *window);

/* Properties of the rig's own; those that are not there are 0, or "". */
void rig_put(rig_set *s, const char *name, int index, double v);
void rig_put_text(rig_set *s, const char *name, int index, const char *v);
double rig_get(const rig_set *s, const char *name, int index);
const char *rig_text(const rig_set *s, const char *name, int index);
