#include "ofx/render.h"

#include "ofx/plate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One frame on its way. */
typedef struct {
    instance *own;
    controls look;
    plate source, mask, output;
    ofx_rect_i window, frame; /* frame: what the library blooms, the source or more */
    double scale[2];          /* of the host's proxies */
    double aspect;            /* of the pixels that are there, whatever the proxy */
    bool masked, multiplied;
    keep_session *session;
    keep_render going;
} job;

/* --- the kernel's size ------------------------------------------------------------------------ */

/* Refuses a kernel that is far larger than a frame of w x h pixels, of which it makes one colour:
 * a proxy's scale, a pixel's aspect and Size may be anything, and time and memory grow with its
 * square. */
static bool kernel_fits(const keep_session *s, double aspect, double w, double h, fb_error *e) {
    enum { TIMES = 8, LEAST = 256 };
    double reach[2];
    keep_reach(s, reach);
    const double side = 2 * fmax(reach[0] / aspect, reach[1]), frame = fmax(fmax(w, h), LEAST);
    if (side <= TIMES * frame) return true;
    *e = (fb_error){.code = FB_BAD_SETTING};
    snprintf(e->text, sizeof e->text,
             "the kernel is %.0f pixels wide here, and at most %d times the frame's %.0f are "
             "possible: make Size smaller",
             side, TIMES, frame);
    return false;
}

/* --- regions ---------------------------------------------------------------------------------- */

/* Finds how far light goes, in canonical units, in which pixels are square and whole, and the
 * region of the source in these; false: it stays as it is. */
static bool find_reach(double to[2], ofx_rect_d *all, instance *own, const controls *c,
                       ofx_time time) {
    keep_render going;
    fb_error e;
    if (fx.effect->clip_region(own->source, time, all) != OFX_OK) return false;
    keep_begin(&going, own->effect);
    keep_session *s = keep_take(c, 1, &going, &e);
    const bool ok = s && kernel_fits(s, 1, all->x2 - all->x1, all->y2 - all->y1, &e);
    if (ok) keep_reach(s, to);
    keep_give(s);
    keep_end(&going);
    return ok;
}

static void put_rect(ofx_properties to, const char *name, const ofx_rect_d *r, const double by[2]) {
    const double v[] = {r->x1 - by[0], r->y1 - by[1], r->x2 + by[0], r->y2 + by[1]};
    fx_put_doubles(to, name, 4, v);
}

ofx_status render_region_defined(instance *own, ofx_properties in, ofx_properties out) {
    const ofx_time time = fx_double(in, OFX_TIME, 0, 0);
    controls c;
    ofx_rect_d r;
    double reach[2];
    controls_read(&c, own->params, time);
    if (!c.grow || controls_do_nothing(&c) || !find_reach(reach, &r, own, &c, time))
        return OFX_DEFAULT; /* the source's */
    put_rect(out, OFX_REGION_DEFINED, &r, reach);
    return OFX_OK;
}

/* What is asked for grows by the kernel; where the frame wraps, light comes from everywhere. */
ofx_status render_regions_asked(instance *own, ofx_properties in, ofx_properties out,
                                const char *mask) {
    const ofx_time time = fx_double(in, OFX_TIME, 0, 0);
    controls c;
    ofx_rect_d r = {0}, all;
    double reach[2] = {0};
    char name[64] = OFX_REGION_OF_CLIP;
    controls_read(&c, own->params, time);
    for (int i = 0; i < 4; i++) (&r.x1)[i] = fx_double(in, OFX_REGION_ASKED, i, NAN);
    if (controls_do_nothing(&c) || isnan(r.x1 + r.y1 + r.x2 + r.y2) ||
        !find_reach(reach, &all, own, &c, time))
        return OFX_DEFAULT;
    if (c.set.padding_x == FB_PADDING_WRAP) r = all;
    r.x1 = fmax(r.x1, all.x1 + reach[0]), r.x2 = fmin(r.x2, all.x2 - reach[0]);
    r.y1 = fmax(r.y1, all.y1 + reach[1]), r.y2 = fmin(r.y2, all.y2 - reach[1]);
    put_rect(out, strcat(name, OFX_SOURCE), &r, reach);
    name[strlen(OFX_REGION_OF_CLIP)] = 0;
    if (own->mask) put_rect(out, strcat(name, mask), &r, reach);
    return OFX_OK;
}

/* --- a frame ---------------------------------------------------------------------------------- */

/* Gives the mask for the frame, in a plate of its own where the host's does not cover that. */
static bool find_mask(const job *j, plate *own, fb_plane to[4]) {
    const plate *m = &j->mask;
    const int alpha = m->channels - 1;
    fb_plane all[4];
    if (!j->masked) return true;
    if (plate_covers(m, j->frame)) {
        plate_planes(m, j->frame, all);
        to[0] = all[alpha];
        return true;
    }
    if (!plate_new(own, j->frame, 1, m->data ? m->type : FB_BYTE)) return false;
    if (m->data) plate_copy_channel(own, 0, m, alpha);
    plate_planes(own, j->frame, to);
    return true;
}

/* Blooms the whole frame into a plate that covers it, from the host's pixels where these are the
 * frame. */
static int32_t make_frame(job *j, const plate *to, fb_error *e) {
    plate wide = {0}, mask = {0}, rest = {0};
    const plate *from = &j->source;
    const int channels = from->channels;
    fb_plane in[4], out[4], emit[4], of_mask[4];
    const char *space = j->look.space;
    if (!space) space = from->type >= FB_BYTE ? "srgb" : "linear";
    /* The library divides by alpha what a curve codes, which is right where it was multiplied. */
    const bool apart = channels == 4 && !j->multiplied && strcmp(space, "linear") != 0;
    const bool emits = j->look.show != SHOW_RESULT;
    bool ok = find_mask(j, &mask, of_mask);
    if (ok && !plate_covers(from, j->frame)) {
        ok = plate_new(&wide, j->frame, channels, from->type);
        if (ok) plate_copy(&wide, from, j->frame);
        from = &wide;
    }
    ok = ok && (!emits || plate_new(&rest, j->frame, channels, to->type));
    *e = (fb_error){.code = FB_NO_MEMORY};
    if (ok) {
        plate_planes(from, j->frame, in);
        plate_planes(emits ? &rest : to, j->frame, out);
        plate_planes(to, j->frame, emit);
        const fb_image is = {.size = sizeof is,
                             .width = (uint32_t)(j->frame.x2 - j->frame.x1),
                             .height = (uint32_t)(j->frame.y2 - j->frame.y1),
                             .channels = apart ? 3 : (uint32_t)channels,
                             .in = in,
                             .out = out,
                             .progress = keep_ask,
                             .user = &j->going,
                             .mask = j->masked ? of_mask : NULL,
                             .emit = emits ? emit : NULL,
                             .pixel_aspect = j->aspect == 1 ? 0 : j->aspect,
                             .space = channels == 1 ? NULL : space};
        fb_bloom(keep_handle(j->session), &is, NULL, e);
        if (channels == 4 && (apart || (emits && j->look.set.alpha == FB_ALPHA_KEEP)))
            plate_copy_channel(to, 3, from, 3);
    }
    plate_close(&wide);
    plate_close(&mask);
    plate_close(&rest);
    return e->code;
}

/* Brings a window of a frame that is kept, or made and kept. */
static int32_t bring_window(job *j, fb_error *e) {
    const plate *s = &j->source, *m = &j->mask, *o = &j->output;
    keep_frame_key key;
    memset(&key, 0, sizeof key);
    memcpy(&key.look, &j->look, sizeof key.look);
    key.pixels[0] = plate_hash(s);
    key.pixels[1] = m->data ? plate_hash(m) : 0;
    const int shape[] = {s->at.x1,    s->at.y1,    s->at.x2, s->at.y2,  m->at.x1,
                         m->at.y1,    m->at.x2,    m->at.y2, o->type,   s->type,
                         s->channels, m->channels, m->type,  j->masked, j->multiplied};
    memcpy(key.shape, shape, sizeof shape);
    memcpy(key.scale, (double[]){j->scale[0], j->scale[1], j->aspect}, sizeof key.scale);
    plate all = {.data = NULL};
    keep_frame *f = keep_frame_find(&key);
    *e = (fb_error){0};
    if (f) {
        plate_on(&all, f->data, j->frame, o->channels, o->type);
    } else if (!plate_new(&all, j->frame, o->channels, o->type) || !(f = calloc(1, sizeof *f))) {
        plate_close(&all);
        return e->code = FB_NO_MEMORY;
    } else {
        memcpy(&f->key, &key, sizeof key);
        f->users = 1;
        f->data = all.data;
        if (make_frame(j, &all, e) == FB_OK) keep_frame_put(f);
    }
    if (e->code == FB_OK) plate_copy(o, &all, j->window);
    keep_frame_give(f);
    return e->code;
}

/* Finds the frame that is bloomed: the source, or what its light reaches. */
static void find_frame(job *j) {
    double reach[2];
    const ofx_rect_i r = j->source.at;
    j->frame = r;
    if (!j->look.grow) return;
    keep_reach(j->session, reach);
    const int x = (int)ceil(reach[0] / j->aspect), y = (int)ceil(reach[1]);
    j->frame = (ofx_rect_i){r.x1 - x, r.y1 - y, r.x2 + x, r.y2 + y};
}

static int32_t bloom(job *j, fb_error *e) {
    *e = (fb_error){.code = FB_CANCELLED};
    if (!keep_enter(&j->going)) return e->code;
    j->session = keep_take(&j->look, j->scale[1], &j->going, e);
    const ofx_rect_i s = j->source.at;
    if (j->session && kernel_fits(j->session, j->aspect, s.x2 - s.x1, s.y2 - s.y1, e)) {
        find_frame(j);
        const ofx_rect_i f = j->frame;
        if (!memcmp(&f, &j->output.at, sizeof f) && !memcmp(&f, &j->window, sizeof f))
            make_frame(j, &j->output, e);
        else
            bring_window(j, e);
    } else if (j->going.stopped) {
        e->code = FB_CANCELLED;
    }
    keep_leave();
    return e->code;
}

/* --- the action ------------------------------------------------------------------------------- */

static void find_scale(job *j, ofx_properties in) {
    double v[2];
    for (int a = 0; a < 2; a++) {
        v[a] = fx_double(in, OFX_SCALE, a, fx_double(j->source.image, OFX_SCALE, a, 1));
        j->scale[a] = v[a] > 1e-3 && v[a] < 1e3 ? v[a] : 1;
    }
    const double pixel = fx_double(j->source.image, OFX_PIXEL_ASPECT, 0, 1);
    j->aspect = (pixel > 0.02 && pixel < 50 ? pixel : 1) * j->scale[1] / j->scale[0];
}

/* Tells what came out of it. Where there is no bloom, the source passes. */
static ofx_status tell(job *j, const fb_error *e) {
    const char *note = j->session ? keep_note(j->session) : NULL;
    if (j->going.stopped) return OFX_FAILED;
    if (e->code == FB_NO_MEMORY) return OFX_MEMORY;
    if (e->code != FB_OK) plate_copy(&j->output, &j->source, j->window);
    fx_say(j->own->effect, &j->own->shown, e->code ? OFX_MESSAGE_ERROR : OFX_MESSAGE_WARNING,
           e->code ? e->text : note);
    return OFX_OK;
}

ofx_status render_frame(instance *own, ofx_properties in) {
    job j = {.own = own, .aspect = 1};
    fb_error e = {0};
    ofx_properties clip = NULL;
    const ofx_time time = fx_double(in, OFX_TIME, 0, 0);
    ofx_status status = OFX_FAILED;
    keep_begin(&j.going, own->effect);
    controls_read(&j.look, own->params, time);
    if (!plate_open(&j.output, own->output, time)) return OFX_FAILED;
    if (!fx_rect(in, OFX_WINDOW, &j.window)) j.window = j.output.at;
    j.window = rect_common(j.window, j.output.at);
    if (own->mask && fx.effect->clip_properties(own->mask, &clip) == OFX_OK)
        j.masked = fx_int(clip, OFX_CONNECTED, 0);
    if (fx.effect->clip_properties(own->source, &clip) == OFX_OK)
        j.multiplied = !fx_is(clip, OFX_PREMULTIPLICATION, OFX_UNPREMULTIPLIED);
    const bool there = plate_open(&j.source, own->source, time);
    if (j.masked) plate_open(&j.mask, own->mask, time);
    find_scale(&j, in);
    if (!there || rect_empty(j.window) || controls_do_nothing(&j.look)) {
        plate_copy(&j.output, &j.source, j.window);
        status = OFX_OK;
    } else if (j.source.channels == j.output.channels) {
        bloom(&j, &e);
        status = tell(&j, &e);
    }
    keep_give(j.session);
    plate_close(&j.mask);
    plate_close(&j.source);
    plate_close(&j.output);
    keep_end(&j.going);
    return status;
}
