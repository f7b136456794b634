/* lab_texture.h - the kernel's spectrum as a texture, which texture units sample linearly. It
 * is the only texture of the program: engines use buffers alone.
 *
 * A layer per channel; row k1 = 0 .. K / 2 and column k2 = 0 .. K - 1 of the spectrum are texels of
 * two floats. The texture is as high as it is wide, K, so that the place of a row, as a share of
 * the height, has no rounding. Columns go round at the end. */
#ifndef LAB_LAB_TEXTURE_H
#define LAB_LAB_TEXTURE_H

#include "engine/gpu/gpu_memory.h"

/* What it holds: layers of (k / 2 + 1) * k complex numbers. */
typedef struct {
    const float *value;
    uint32_t k, layers;
    bool fetch; /* the shader interpolates in any case */
} lab_layers;

/* Set by lab_texture_make and const until lab_texture_free. */
typedef struct lab_texture {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VkSampler sampler;
    VkDescriptorSetLayout layout; /* the texture at binding 0 */
    VkDescriptorPool pool;
    VkDescriptorSet set;
    bool filters; /* texture units interpolate such texels; else the shader does it */
} lab_texture;

/* Makes it from a zeroed one, with the values in `from`; the caller frees it after a failure,
 * too. */
bool lab_texture_make(lab_texture *t, const gpu_device *g, const lab_layers *from, err *e);
void lab_texture_free(lab_texture *t, const gpu_device *g);

#endif
