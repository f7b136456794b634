#include "image/image.h"

#include "base/half.h"
#include "base/mem.h"
#include "colour/space.h"

static const struct {
    const char *name;
    size_t bytes;
} PIXEL[] = {{"uint", 4}, {"half", 2}, {"float", 4}};

static const char *const COMPRESSION[COMPRESSIONS] = {
    "none", "rle", "zips", "zip", "piz", "pxr24", "b44", "b44a", "dwaa", "dwab",
};

size_t pixel_bytes(pixel_type t) {
    return PIXEL[t].bytes;
}

const char *pixel_name(pixel_type t) {
    return PIXEL[t].name;
}

const char *compression_name(compression c) {
    return COMPRESSION[c];
}

uint32_t image_width(const image_part *p) {
    return (uint32_t)image_box_width(&p->data);
}

uint32_t image_height(const image_part *p) {
    return (uint32_t)image_box_height(&p->data);
}

uint64_t image_bytes(const image_part *p) {
    return image_channel_bytes(p, NULL);
}

uint64_t image_channel_bytes(const image_part *p, const bool *wanted) {
    uint64_t pixel = 0;
    for (int c = 0; c < p->channels; c++)
        if (!wanted || wanted[c]) pixel += pixel_bytes(p->channel[c].type);
    return pixel * image_width(p) * image_height(p);
}

/* Lists of a part have room for the next power of two, so they grow by appending, and a copy made
 * to the same rule can be appended to as well. */
static size_t room_for(int n) {
    size_t room = 1;
    while (room < (size_t)n) room *= 2;
    return room;
}

static bool reserve(void **list, int n, size_t item, const char *what, err *e) {
    if (n > 0 && room_for(n) > (size_t)n) return true;
    void *more = mem_raw(room_for(n + 1), item, what, e);
    if (!more) return false;
    if (n > 0) memcpy(more, *list, (size_t)n * item);
    mem_free(*list);
    *list = more;
    return true;
}

int image_find_channel(const image_part *p, const char *name) {
    for (int c = 0; c < p->channels; c++)
        if (strcmp(p->channel[c].name, name) == 0) return c;
    return -1;
}

const image_attr *image_find_attr(const image_part *p, const char *name) {
    for (int a = 0; a < p->attrs; a++)
        if (strcmp(p->attr[a].name, name) == 0) return &p->attr[a];
    return NULL;
}

void image_attr_text(const image_part *p, const char *name, char *to, size_t room) {
    const image_attr *a = image_find_attr(p, name);
    OWN(text) raw = {0};
    if (a && strcmp(a->type, "string") == 0)
        text_add_bytes(&raw, (const char *)a->data, min_size(a->bytes, room));
    text_clean(to, room, raw.s ? raw.s : "");
}

static void free_attr(image_attr *a) {
    mem_free(a->name);
    mem_free(a->type);
    mem_free(a->data);
}

static bool make_attr(image_attr *a, const char *name, const char *type, const void *data,
                      uint32_t bytes, err *e) {
    *a = (image_attr){.name = mem_str(name, e), .type = mem_str(type, e), .bytes = bytes};
    a->data = mem_raw(bytes, 1, "an attribute", e);
    if (!a->name || !a->type || !a->data) {
        free_attr(a);
        return false;
    }
    if (bytes) memcpy(a->data, data, bytes);
    return true;
}

bool image_push_attr(image_part *p, const char *name, const char *type, const void *data,
                     uint32_t bytes, err *e) {
    bool ok = reserve((void **)&p->attr, p->attrs, sizeof *p->attr, "attributes", e) &&
              make_attr(&p->attr[p->attrs], name, type, data, bytes, e);
    p->attrs += ok;
    return ok;
}

bool image_set_attr(image_part *p, const char *name, const char *type, const void *data,
                    uint32_t bytes, err *e) {
    const image_attr *found = image_find_attr(p, name);
    if (!found) return image_push_attr(p, name, type, data, bytes, e);
    image_attr made;
    if (!make_attr(&made, name, type, data, bytes, e)) return false;
    image_attr *old = &p->attr[found - p->attr];
    free_attr(old);
    *old = made;
    return true;
}

bool image_set_text(image_part *p, const char *name, const char *value, err *e) {
    return image_set_attr(p, name, "string", value, (uint32_t)strlen(value), e);
}

static void remove_attr(image_part *p, const char *name) {
    const image_attr *found = image_find_attr(p, name);
    if (!found) return;
    image_attr *at = &p->attr[found - p->attr];
    free_attr(at);
    memmove(at, at + 1, (size_t)(p->attr + --p->attrs - at) * sizeof *at);
}

bool image_add_channel(image_part *p, const char *name, pixel_type t, err *e) {
    if (image_find_channel(p, name) >= 0)
        return err_set(e, ERR_DATA, "there are two channels with the name '%s'", name);
    if (!reserve((void **)&p->channel, p->channels, sizeof *p->channel, "channels", e))
        return false;
    image_channel made = {.name = mem_str(name, e), .type = t};
    if (!made.name) return false;
    int at = p->channels;
    for (; at > 0 && strcmp(p->channel[at - 1].name, name) > 0; at--)
        p->channel[at] = p->channel[at - 1];
    p->channel[at] = made;
    p->channels++;
    return true;
}

const float IMAGE_REC709[8] = {0.64f, 0.33f, 0.30f, 0.60f, 0.15f, 0.06f, 0.3127f, 0.3290f};

/* The attributes by which programs name a colour space, the one that counts first: the id of the
 * Color Interop Forum, and what OpenImageIO and other programs write. */
static const char *const SPACE_NAMES[] = {"colorInteropID", "oiio:ColorSpace", "colorspace",
                                          "ColorSpace"};

/* Returns the first attribute that names a space that is known, or NULL. */
static const image_attr *named_space(const image_part *p, colour_space *to) {
    char name[64];
    for (size_t i = 0; i < COUNT(SPACE_NAMES); i++) {
        const image_attr *a = image_find_attr(p, SPACE_NAMES[i]);
        if (!a || strcmp(a->type, "string") != 0 || a->bytes >= sizeof name) continue;
        memcpy(name, a->data, a->bytes);
        name[a->bytes] = 0;
        if (space_find(to, name)) return a;
    }
    return NULL;
}

bool image_set_primaries(image_part *p, const primaries *gamut, err *e) {
    float xy[8];
    primaries_to_floats(xy, gamut);
    return image_set_attr(p, "chromaticities", "chromaticities", xy, sizeof xy, e);
}

bool image_primaries(const image_part *p, primaries *to) {
    float xy[8];
    matrix m;
    colour_space named;
    const image_attr *a = image_find_attr(p, "chromaticities");
    const image_attr *by = named_space(p, &named);
    if (by && named.primaries_named && strcmp(by->name, SPACE_NAMES[0]) == 0) {
        *to = named.primaries->gamut;
        return true;
    }
    if (a && a->bytes == sizeof xy) {
        memcpy(xy, a->data, sizeof xy);
        *to = primaries_from_floats(xy);
        if (primaries_to_xyz(&m, to)) return true;
    }
    bool known = by && named.primaries_named;
    *to = known ? named.primaries->gamut : primaries_from_floats(IMAGE_REC709);
    return known;
}

const curve *image_curve(const image_part *p, const image_attr **by) {
    colour_space named = {.curve = CURVE_LINEAR};
    *by = named_space(p, &named);
    if (named.curve == CURVE_LINEAR) *by = NULL;
    return named.curve;
}

bool image_set_space(image_part *p, const curve *c, const primaries *gamut, err *e) {
    primaries now;
    OWN(text) id = {0};
    bool known = image_primaries(p, &now) || gamut;
    if (gamut) now = *gamut;
    const primaries_row *row = known ? primaries_like(&now) : NULL;
    if (row) space_id(c, row, &id);
    if (!text_check(&id, e)) return false;
    for (size_t i = 0; i < COUNT(SPACE_NAMES); i++)
        if (!row)
            remove_attr(p, SPACE_NAMES[i]);
        else if ((i == 0 || image_find_attr(p, SPACE_NAMES[i])) &&
                 !image_set_text(p, SPACE_NAMES[i], id.s, e))
            return false;
    return !known || image_set_primaries(p, &now, e);
}

void image_luminance(const image_part *p, double weight[3]) {
    primaries gamut;
    matrix m = MATRIX_IDENTITY;
    image_primaries(p, &gamut);
    primaries_to_xyz(&m, &gamut);
    memcpy(weight, m.m[1], sizeof m.m[1]);
}

static void free_part(image_part *p) {
    for (int c = 0; c < p->channels; c++) mem_free(p->channel[c].name);
    for (int a = 0; a < p->attrs; a++) free_attr(&p->attr[a]);
    mem_free(p->channel);
    mem_free(p->attr);
    mem_free(p->name);
}

void image_header_free(image_header *h) {
    for (int i = 0; i < h->parts; i++) free_part(&h->part[i]);
    mem_free(h->part);
    *h = (image_header){0};
}

void image_header_cut(image_header *h, int count) {
    while (h->parts > count) free_part(&h->part[--h->parts]);
}

/* Copies a part. After a failure `to` holds what was copied before it. */
static bool copy_part(image_part *to, const image_part *from, err *e) {
    *to = *from;
    to->name = NULL;
    to->attr = NULL;
    to->channels = to->attrs = 0;
    to->channel = mem_raw(room_for(from->channels), sizeof *to->channel, "channels", e);
    if (!to->channel) return false;
    if (from->name && !(to->name = mem_str(from->name, e))) return false;
    for (; to->channels < from->channels; to->channels++) {
        image_channel *c = &to->channel[to->channels];
        *c = from->channel[to->channels];
        if (!(c->name = mem_str(c->name, e))) return false;
    }
    for (const image_attr *a = from->attr; to->attrs < from->attrs; a++)
        if (!image_push_attr(to, a->name, a->type, a->data, a->bytes, e)) return false;
    return true;
}

bool image_header_copy(image_header *to, const image_header *from, err *e) {
    image_header h = {.format = from->format};
    bool ok = (h.part = mem_new((size_t)from->parts, sizeof *h.part, "parts", e));
    for (; ok && h.parts < from->parts; h.parts++)
        ok = copy_part(&h.part[h.parts], &from->part[h.parts], e);
    if (!ok) return image_header_free(&h), false;
    *to = h;
    return true;
}

image *image_new_unset(const image_header *h, bool *const *wanted, err *e) {
    uint64_t bytes = 0;
    for (int p = 0; p < h->parts; p++)
        if (!wanted || wanted[p])
            bytes += image_channel_bytes(&h->part[p], wanted ? wanted[p] : NULL);
    if (!mem_check(bytes, "the image", e)) return NULL;
    OWN(image) *img = mem_new(1, sizeof *img, "image", e);
    if (!img || !image_header_copy(&img->head, h, e)) return NULL;
    img->plane = mem_new((size_t)h->parts, sizeof *img->plane, "planes", e);
    if (!img->plane) return NULL;
    for (int i = 0; i < h->parts; i++) {
        const image_part *p = &h->part[i];
        size_t samples = (size_t)image_width(p) * image_height(p);
        if (wanted && !wanted[i]) continue;
        void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
        if (!(img->plane[i] = plane)) return NULL;
        for (int c = 0; c < p->channels; c++)
            if ((!wanted || wanted[i][c]) &&
                !(plane[c] = mem_raw(samples, pixel_bytes(p->channel[c].type), "a plane", e)))
                return NULL;
    }
    return GIVE(img);
}

image *image_new(const image_header *h, err *e) {
    image *img = image_new_unset(h, NULL, e);
    for (int i = 0; img && i < h->parts; i++) {
        const image_part *p = &h->part[i];
        const size_t samples = (size_t)image_width(p) * image_height(p);
        for (int c = 0; c < p->channels; c++)
            memset(img->plane[i][c], 0, samples * pixel_bytes(p->channel[c].type));
    }
    return img;
}

image *image_plain(uint32_t w, uint32_t h, int channels, pixel_type type, err *e) {
    static char *const NAME[] = {"Y", "B", "G", "R"}; /* in the order of files */
    image_channel channel[3] = {{.name = NAME[0], .type = type}};
    const image_box box = {0, 0, (int32_t)w - 1, (int32_t)h - 1};
    image_part part = {.data = box,
                       .display = box,
                       .aspect = 1,
                       .packing = COMPRESSION_ZIP,
                       .channel = channel,
                       .channels = channels};
    for (int c = 0; channels > 1 && c < channels; c++)
        channel[c] = (image_channel){.name = NAME[1 + c], .type = type};
    return image_new(&(image_header){.format = "exr", .part = &part, .parts = 1}, e);
}

bool image_take_part(image *to, image *from, err *e) {
    const size_t have = (size_t)to->head.parts, more = (size_t)from->head.parts;
    image_part *part =
        mem_more(to->head.part, have * sizeof *part, (have + more) * sizeof *part, "parts", e);
    if (part) to->head.part = part;
    void ***plane =
        part ? mem_more(to->plane, have * sizeof *plane, (have + more) * sizeof *plane, "planes", e)
             : NULL;
    if (!plane) return false;
    to->plane = plane;
    memcpy(part + have, from->head.part, more * sizeof *part);
    memcpy(plane + have, from->plane, more * sizeof *plane);
    to->head.parts += from->head.parts, from->head.parts = 0;
    return true;
}

void image_free(image **ip) {
    image *img = *ip;
    if (!img) return;
    for (int p = 0; img->plane && p < img->head.parts; p++) {
        for (int c = 0; img->plane[p] && c < img->head.part[p].channels; c++)
            mem_free(img->plane[p][c]);
        mem_free(img->plane[p]);
    }
    mem_free(img->plane);
    image_header_free(&img->head);
    mem_free(img);
    *ip = NULL;
}

void image_to_float(float *to, const void *plane, pixel_type t, size_t first, size_t n) {
    const uint32_t *u = (const uint32_t *)plane + first;
    switch (t) {
    case PIXEL_HALF: half_to_floats(to, (const uint16_t *)plane + first, n); break;
    case PIXEL_FLOAT: memcpy(to, (const float *)plane + first, n * sizeof *to); break;
    case PIXEL_UINT:
        for (size_t i = 0; i < n; i++) to[i] = (float)u[i];
        break;
    }
}

void image_from_float(void *plane, pixel_type t, size_t first, const float *from, size_t n) {
    uint32_t *u = (uint32_t *)plane + first;
    switch (t) {
    case PIXEL_HALF: half_from_floats((uint16_t *)plane + first, from, n); break;
    case PIXEL_FLOAT: memcpy((float *)plane + first, from, n * sizeof *from); break;
    case PIXEL_UINT: /* NaN and what is negative become 0, as in OpenEXR; cut off above */
        for (size_t i = 0; i < n; i++)
            u[i] = !(from[i] > 0) ? 0 : from[i] >= 0x1p32f ? UINT32_MAX : (uint32_t)from[i];
        break;
    }
}

void image_from_floats(void *plane, pixel_type t, size_t first, float *from, size_t n) {
    for (size_t i = 0; t == PIXEL_HALF && i < n; i++)
        from[i] = clamp_float(from[i], -HALF_MAX, HALF_MAX);
    image_from_float(plane, t, first, from, n);
}

uint64_t image_convert(void *to, pixel_type becomes, const void *from, pixel_type type, size_t n) {
    enum { SOME = 4096 };
    float v[SOME];
    uint64_t over = 0;
    bool widens = pixel_bytes(becomes) > pixel_bytes(type);
    for (size_t done = 0; done < n; done += SOME) {
        size_t at = widens ? (n - done - 1) / SOME * SOME : done, some = min_size(n - at, SOME);
        image_to_float(v, from, type, at, some);
        for (size_t i = 0; becomes == PIXEL_HALF && i < some; i++) {
            if (!(fabsf(v[i]) > HALF_MAX) || isinf(v[i])) continue;
            v[i] = copysignf(HALF_MAX, v[i]);
            over++;
        }
        image_from_float(to, becomes, at, v, some);
    }
    return over;
}

/* EXR readers accept corners up to this. Beyond it widths would not fit 32 bits. */
enum { FARTHEST = INT32_MAX / 2 };

image_box image_box_union(const image_box *a, const image_box *b) {
    return (image_box){min_int(a->x0, b->x0), min_int(a->y0, b->y0), max_int(a->x1, b->x1),
                       max_int(a->y1, b->y1)};
}

bool image_box_holds(const image_box *box, const image_box *in) {
    return in->x0 >= box->x0 && in->y0 >= box->y0 && in->x1 <= box->x1 && in->y1 <= box->y1;
}

bool image_box_check(const image_box *b, const char *what, uint32_t most, err *e) {
    int64_t w = (int64_t)b->x1 - b->x0 + 1, h = (int64_t)b->y1 - b->y0 + 1;
    if (w > 0 && h > 0 && w <= most && h <= most) return true;
    return err_set(e, ERR_DATA,
                   "the %s window (%d,%d)-(%d,%d) has %" PRId64 " x %" PRId64
                   " pixels; a side may have 1 to %u",
                   what, b->x0, b->y0, b->x1, b->y1, w, h, most);
}

bool image_box_grow(image_box *box, const image_margins *by, err *e) {
    const int64_t at[4] = {(int64_t)box->x0 - by->left, (int64_t)box->y0 - by->top,
                           (int64_t)box->x1 + by->right, (int64_t)box->y1 + by->bottom};
    for (int i = 0; i < 4; i++)
        if (llabs(at[i]) > FARTHEST)
            return err_set(e, ERR_CONFIG,
                           "the data window would reach to %c = %" PRId64 "; up to %d is possible",
                           "xy"[i & 1], at[i], FARTHEST);
    *box = (image_box){(int32_t)at[0], (int32_t)at[1], (int32_t)at[2], (int32_t)at[3]};
    return true;
}

void image_copy_box(void *to, const image_box *tb, const void *from, const image_box *fb,
                    size_t bytes) {
    const image_box both = {max_int(tb->x0, fb->x0), max_int(tb->y0, fb->y0),
                            min_int(tb->x1, fb->x1), min_int(tb->y1, fb->y1)};
    if (both.x0 > both.x1 || both.y0 > both.y1) return;
    size_t n = ((size_t)(both.x1 - both.x0) + 1) * bytes;
    size_t tw = image_box_width(tb), fw = image_box_width(fb);
    for (int64_t y = both.y0; y <= both.y1; y++) {
        size_t ty = (size_t)(y - tb->y0), fy = (size_t)(y - fb->y0);
        memcpy((uint8_t *)to + (ty * tw + (size_t)((int64_t)both.x0 - tb->x0)) * bytes,
               (const uint8_t *)from + (fy * fw + (size_t)((int64_t)both.x0 - fb->x0)) * bytes, n);
    }
}

bool image_set_window(image_part *p, void **planes, const image_box *box, err *e) {
    if (memcmp(&p->data, box, sizeof *box) == 0) return true;
    if (!image_box_check(box, "new data", IMAGE_SIDE, e)) return false;
    image_part made = *p;
    made.data = *box;
    if (!mem_check(image_bytes(&made), "the new data window", e)) return false;
    size_t samples = (size_t)image_width(&made) * image_height(&made);
    OWN_MEM void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    /* All memory is there before any of it is touched. */
    for (int c = 0; ok && c < p->channels; c++)
        if (planes[c])
            ok = (plane[c] = mem_raw(samples, pixel_bytes(p->channel[c].type), "a plane", e));
    for (int c = 0; ok && c < p->channels; c++) {
        size_t each = pixel_bytes(p->channel[c].type);
        void *old = planes[c];
        if (!old) continue;
        memset(plane[c], 0, samples * each);
        image_copy_box(plane[c], box, old, &p->data, each);
        planes[c] = plane[c];
        plane[c] = old;
    }
    if (ok) p->data = *box;
    for (int c = 0; plane && c < p->channels; c++) mem_free(plane[c]);
    return ok;
}
