/* kernel_scene.h - what a kernel makes of lights of known brightness: a disc, and single pixels on
 * a dark wall, each ten times as bright as the one before. The light is summed in space, in double.
 */
#ifndef APP_KERNEL_SCENE_H
#define APP_KERNEL_SCENE_H

#include "app/kernel/kernel_picture.h"

enum { SCENE_W = 1120, SCENE_H = 200, SCENE_LIGHTS = 5, SCENE_MOON = 80 };
#define SCENE_WALL       0.02
#define SCENE_MOON_LIGHT 4.0

/* Where the lights are from the left edge, in pixels; the disc is at SCENE_MOON. */
extern const uint32_t SCENE_PLACE[SCENE_LIGHTS];
/* Returns the brightness of light i, in times white. */
double kernel_scene_light(int i);

/* Makes the picture, as a PNG at exposure 0 shows it. A kernel's channels are scaled to sum to 1.
 */
bool kernel_scene_make(kernel_picture *to, const kernel_page *page, par *threads, err *e);

#endif
