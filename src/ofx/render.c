#include "ofx/render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One frame on its way. */
typedef struct {
    instance *own;
    controls look;
    plate source, mask, output;
    ofx_rect_i window, frame; /* frame: what the library blooms, the source or more */
    double scale;             /* of the host's proxies, along y */
    double aspect;            /* of the pixels that are there, whatever the proxy */
    bool masked, multiplied;
    keep_session *session;
    user going;
    fb_error error;
} job;

bool kernel_fits(double reach[2], const keep_session *s, double aspect, const double frame[2],
                 fb_error *e) {
    enum { TIMES = 8, LEAST = 256 };
    const double side = fmax(fmax(frame[0], frame[1]), LEAST);
    keep_reach(s, reach);
    reach[0] /= aspect;
    const double wide = 2 * fmax(reach[0], reach[1]);
    if (wide <= TIMES * side) return true;
    *e = (fb_error){.code = FB_BAD_SETTING};
    snprintf(e->text, sizeof e->text,
             "the kernel is %.0f pixels wide here, and at most %d times the frame's %.0f are "
             "possible: make Size smaller",
             wide, TIMES, side);
    return false;
}

/* Gives the planes of a frame: those of the plate, or of a copy where it does not cover that. */
static bool find_planes(const plate *from, ofx_rect_i frame, plate *copy, fb_plane to[4]) {
    const ofx_rect_i r = rect_common(frame, from->at);
    if (memcmp(&r, &frame, sizeof r) != 0) {
        if (!plate_new(copy, frame, from->channels, from->type)) return false;
        plate_copy(copy, from, frame);
        from = copy;
    }
    plate_planes(from, frame, to);
    return true;
}

/* Blooms the whole frame into a plate that covers it, from the host's pixels where these are the
 * frame. */
static bool make_frame(job *j, const plate *to) {
    plate wide = {0}, mask = {0}, rest = {0};
    const plate *from = &j->source;
    const ofx_rect_i whole = from->whole;
    const int channels = from->channels;
    fb_plane in[4], out[4], emit[4], of_mask[4];
    const char *space = j->look.space;
    if (!space) space = from->type >= FB_BYTE ? "srgb" : "linear";
    /* The library divides by alpha what a curve codes, which is right where it was multiplied. */
    const bool apart = channels == 4 && !j->multiplied && strcmp(space, "linear") != 0;
    const bool emits = j->look.bloom.set.emit != FB_EMIT_NONE;
    j->error = (fb_error){.code = FB_NO_MEMORY};
    if ((!j->masked || find_planes(&j->mask, j->frame, &mask, of_mask)) &&
        find_planes(from, j->frame, &wide, in) &&
        (!emits || plate_new(&rest, j->frame, channels, to->type))) {
        plate_planes(emits ? &rest : to, j->frame, out);
        plate_planes(to, j->frame, emit);
        const fb_image pixels = {.size = sizeof pixels,
                                 .width = (uint32_t)(j->frame.x2 - j->frame.x1),
                                 .height = (uint32_t)(j->frame.y2 - j->frame.y1),
                                 .channels = apart ? 3 : (uint32_t)channels,
                                 .in = in,
                                 .out = out,
                                 .progress = user_ask,
                                 .user = &j->going,
                                 .mask = j->masked ? of_mask + j->mask.channels - 1 : NULL,
                                 .emit = emits ? emit : NULL,
                                 .pixel_aspect = j->aspect == 1 ? 0 : j->aspect,
                                 .space = channels == 1 ? NULL : space,
                                 .frame = {whole.x1 - j->frame.x1, j->frame.y2 - whole.y2,
                                           whole.x2 - whole.x1, whole.y2 - whole.y1}};
        fb_bloom(j->session->session, &pixels, NULL, &j->error);
        if (channels == 4 && (apart || (emits && j->look.bloom.set.alpha == FB_ALPHA_KEEP)))
            plate_copy_alpha(to, wide.data ? &wide : from);
    }
    plate_close(&wide);
    plate_close(&mask);
    plate_close(&rest);
    return j->error.code == FB_OK;
}

/* Brings a window of a frame that is kept, or made and kept. */
static void bring_window(job *j) {
    const plate *o = &j->output;
    const double rest[] = {j->scale, j->aspect, o->type, j->masked, j->multiplied};
    uint64_t key = plate_hash(plate_hash(1, &j->source), &j->mask);
    key = plate_hash_bytes(plate_hash_bytes(key, rest, sizeof rest), &j->look, sizeof j->look);
    plate whole;
    if (frames_window(key, o, j->window, &j->going)) return;
    bool made = plate_new(&whole, j->frame, o->channels, o->type);
    if (!made) j->error.code = FB_NO_MEMORY;
    if (made && (made = make_frame(j, &whole))) plate_copy(o, &whole, j->window);
    frames_keep(key, made ? &whole : NULL);
    plate_close(&whole);
}

static void bloom(job *j) {
    const ofx_rect_i s = j->source.at, whole = j->source.whole;
    const double size[] = {whole.x2 - whole.x1, whole.y2 - whole.y1};
    double reach[2];
    j->going.works = true;
    j->session = keep_take(&j->look.bloom,
                           controls_scale(&j->look, size[0] * j->aspect, size[1], j->scale),
                           &j->going, &j->error);
    if (!j->session || !kernel_fits(reach, j->session, j->aspect, size, &j->error)) return;
    const int grow = j->look.grow, x = grow * (int)ceil(reach[0]), y = grow * (int)ceil(reach[1]);
    j->frame = (ofx_rect_i){s.x1 - x, s.y1 - y, s.x2 + x, s.y2 + y};
    if (!memcmp(&j->frame, &j->output.at, sizeof s) && !memcmp(&j->frame, &j->window, sizeof s))
        make_frame(j, &j->output);
    else
        bring_window(j);
}

/* --- the action ------------------------------------------------------------------------------- */

/* Some hosts tell the scale with the render, some with the image, some not at all. What is far
 * from any proxy or screen counts as 1. */
static void find_scale(job *j, ofx_properties in) {
    double v[2] = {1, 1}, pixel = 1;
    if (!fx_doubles(in, OFX_SCALE, 2, v)) fx_doubles(j->source.image, OFX_SCALE, 2, v);
    fx_doubles(j->source.image, OFX_PIXEL_ASPECT, 1, &pixel);
    for (int a = 0; a < 2; a++)
        if (!(v[a] > 1e-3 && v[a] < 1e3)) v[a] = 1;
    j->scale = v[1];
    j->aspect = (pixel > 0.02 && pixel < 50 ? pixel : 1) * v[1] / v[0];
}

static void describe(const plate *p, const char *what, char *to, size_t room) {
    const size_t n = strlen(to);
    if (p->image)
        snprintf(to + n, room - n, " The %s is %s, %s, %d x %d pixels.", what,
                 fx_string(p->image, OFX_COMPONENTS), fx_string(p->image, OFX_DEPTH),
                 p->at.x2 - p->at.x1, p->at.y2 - p->at.y1);
}

/* Refuses images of kinds that the host was not told of, or that do not go together. */
static bool are_alike(job *j) {
    const plate *s = &j->source, *o = &j->output, *m = &j->mask;
    fb_error *e = &j->error;
    const bool odd = (s->image && !s->data) || (m->image && !m->data) || !o->data;
    if (!odd && (!s->data || (s->channels == o->channels && s->type == o->type))) return true;
    e->code = FB_BAD_PIXELS;
    snprintf(e->text, sizeof e->text,
             "source and output must be alike: RGBA, RGB or Alpha, of 8 or 16 bits, half or float, "
             "with at most 65536 pixels a side.");
    describe(s, "source", e->text, sizeof e->text);
    describe(m, "mask", e->text, sizeof e->text);
    describe(o, "output", e->text, sizeof e->text);
    return false;
}

/* Tells what came out of it. Where there is no bloom, the source passes. */
static ofx_status tell(job *j) {
    const fb_error *e = &j->error;
    const bool odd = e->code == FB_BAD_PIXELS && !j->session;
    if (j->going.stopped) return OFX_FAILED;
    if (e->code == FB_NO_MEMORY) return OFX_MEMORY;
    if (e->code != FB_OK && !odd) plate_copy(&j->output, &j->source, j->window);
    const char *note = j->session ? j->session->note : NULL;
    fx_say(j->own->effect, &j->own->shown, e->code ? OFX_MESSAGE_ERROR : OFX_MESSAGE_WARNING,
           e->code ? e->text : note);
    return odd ? OFX_FAILED : OFX_OK;
}

ofx_status render_frame(instance *own, ofx_properties in) {
    job j = {.own = own, .multiplied = true, .going = {.effect = own->effect}};
    ofx_properties clip = NULL;
    ofx_time time = 0;
    int masked = 0;
    fx_doubles(in, OFX_TIME, 1, &time);
    controls_read(&j.look, own->params, time);
    if (own->mask && fx.effect->clip_properties(own->mask, &clip) == OFX_OK)
        fx_ints(clip, OFX_CONNECTED, 1, &masked);
    j.masked = masked;
    if (fx.effect->clip_properties(own->source, &clip) == OFX_OK)
        j.multiplied = strcmp(fx_string(clip, OFX_PREMULTIPLICATION), OFX_UNPREMULTIPLIED) != 0;
    plate_open(&j.output, own->output, time);
    plate_open(&j.source, own->source, time);
    if (masked) plate_open(&j.mask, own->mask, time);
    if (!j.mask.image) j.mask = (plate){.channels = 1, .type = FB_BYTE}; /* no light glares */
    if (!fx_ints(in, OFX_WINDOW, 4, &j.window.x1)) j.window = j.output.at;
    j.window = rect_common(j.window, j.output.at);
    find_scale(&j, in);
    ofx_status status = OFX_FAILED;
    if (j.output.image) {
        if (are_alike(&j)) {
            if (!j.source.data || rect_empty(j.window) || controls_do_nothing(&j.look))
                plate_copy(&j.output, &j.source, j.window);
            else
                bloom(&j);
        }
        status = tell(&j);
    }
    plate_close(&j.mask);
    plate_close(&j.source);
    plate_close(&j.output);
    keep_give(j.session, &j.going);
    return status;
}
