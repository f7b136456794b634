/* device_speed.h - how long a run takes on a device, predicted from a few constants.
 *
 *   of an image, by the host:    files + host * samples
 *   of an image, by the device:  frame + transfer * bytes + work * steps
 *
 * `steps` are those of the transforms (device_steps: one step is one element in one butterfly of
 * radix 2, weighted as length_cost does). In doubles a step takes `doubles` times as long. Files
 * cost the same on every device. The CPU, and Vulkan on the CPU, do one after the other; beside a
 * GPU the host reads the next image while one is computed, so only the longer of the two counts.
 *
 * The constants are those of a class of devices (docs/notebook.md, "The choice of a device"). This
 * module opens no device. */
#ifndef DEVICE_DEVICE_SPEED_H
#define DEVICE_DEVICE_SPEED_H

#include "engine/engine.h"

/* Of the whole machine: what many threads do at once is told as their common speed. */
typedef struct {
    double start;    /* s, once: opening the device, making its programs or plans */
    double frame;    /* s per image, whatever its size */
    double transfer; /* s per byte of the image's planes, there and back */
    double work;     /* s per step, in floats */
    double doubles;  /* times as long in doubles */
    double files;    /* s per sample, for reading and writing */
    double host;     /* s per sample, for what the host does beside: scan, join or copy */
} device_speed;

/* Returns the steps of the transforms of all planes of one image. */
double device_steps(const plan *p);
/* Returns the mean of the bytes that travel to the device and back. Planes that travel as halfs
 * count half in one direction. */
double device_travel_bytes(const plan *p);

/* Returns the speed of a class on a host with that many threads. */
device_speed device_speed_of(engine_class class, int threads);

typedef struct {
    double start, image; /* s: once, and per image */
    double files;        /* s: reading and writing an image */
    double all;          /* s: the whole run */
} device_seconds;

/* Predicts a run of this number of images (0 stands for 1). */
device_seconds device_predict(const device_speed *s, engine_class class, const plan *p,
                              uint32_t images);

#endif
