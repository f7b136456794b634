/* What codecs change, by codec, type and name: the table of exr_chunk.c beside what comes back. */
#include "base/log.h"
#include "image/exr/exr_chunk.h"
#include "unit/load_save.h"

static const char *const NAMES[] = {"R", "G",   "B",   "Y",       "BY",   "RY",  "A",
                                    "Z", "N.X", "u.r", "layer.R", "x.BY", "red", "r.G.x"};
enum { NAME_COUNT = COUNT(NAMES), SMOOTH = 0 };

/* Smooth shapes, or a seed of noise: every bit by chance. Lines are more than a chunk has. */
static image *make(const char *channels, compression packing, uint64_t noise) {
    image *img = MAKE(channels, 3, -2, 24, 270, .packing = packing);
    if (noise) make_noise(img, noise);
    return img;
}

/* Returns which channels of the part are other bits in the file. */
static uint64_t changed(const image *img, const char *path) {
    uint64_t which = 0;
    const image_part *p = &img->head.part[0];
    const size_t n = (size_t)image_width(p) * image_height(p);
    OWN(image) *back = load(path);
    for (int c = 0; c < p->channels; c++)
        if (memcmp(back->plane[0][c], img->plane[0][c], n * pixel_bytes(p->channel[c].type)) != 0)
            which |= (uint64_t)1 << c;
    return which;
}

/* A channel that the table says is left whole comes back bit by bit, whatever it holds; one that it
 * says changes does change, where it is smooth and so is packed. */
static void check_channels(const char *channels, compression packing) {
    for (uint64_t noise = SMOOTH; noise < 2; noise++) {
        OWN(image) *img = make(channels, packing, noise);
        const char *path = make_path("packed.exr");
        save(path, img);
        const uint64_t is = changed(img, path);
        for (int c = 0; c < img->head.part[0].channels; c++) {
            const bool loses = exr_chunk_loses(&img->head.part[0], c);
            if (is >> c & 1 ? !loses : loses && noise == SMOOTH)
                fail_msg("%s: channel %s of '%s' %s", compression_name(packing),
                         img->head.part[0].channel[c].name, channels, loses ? "stays" : "changes");
        }
    }
}

TEST(channels_change_as_the_table_says) {
    log_set_level(LOG_ERROR);
    for (compression c = 0; c < COMPRESSIONS; c++)
        for (pixel_type t = 0; t <= PIXEL_FLOAT; t++)
            for (size_t n = 0; n < NAME_COUNT; n++) {
                char one[64];
                snprintf(one, sizeof one, "%s:%s", NAMES[n], pixel_name(t));
                check_channels(one, c);
            }
}

/* Channels of a colour are packed together; others beside them, of all types, stay what they are.
 */
TEST(channels_side_by_side_change_as_the_table_says) {
    log_set_level(LOG_ERROR);
    for (compression c = 0; c < COMPRESSIONS; c++)
        for (size_t turn = 0; turn < 4; turn++) {
            char all[512] = "";
            for (size_t n = 0, at = 0; n < NAME_COUNT; n++) {
                if (strcmp(NAMES[n], "BY") == 0)
                    continue; /* Y, RY and BY are luminance and chroma */
                pixel_type t = turn == 3 ? PIXEL_HALF : (pixel_type)((n + turn) % 3);
                at +=
                    (size_t)snprintf(all + at, sizeof all - at, "%s:%s ", NAMES[n], pixel_name(t));
            }
            check_channels(all, c);
        }
}

RUN_TESTS(NULL, NULL)
