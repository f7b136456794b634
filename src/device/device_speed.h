/* device_speed.h - how long a run takes on a device, predicted from four constants.
 *
 *   seconds = start + images * (files + frame + transfer * bytes + work * steps)
 *
 * `steps` are those of the transforms (device_steps: one step is one element in one butterfly of
 * radix 2, weighted as length_cost does). Files cost the same on every device, but beside a GPU
 * the host reads the next image while one is computed, so there the longer of the two counts.
 *
 * The constants are sane defaults per class of device until `fftbloom bench --calibrate` has
 * measured them; then they are kept in the cache directory, one small text file per device. */
#ifndef BLOOM_DEVICE_SPEED_H
#define BLOOM_DEVICE_SPEED_H

#include "engine/engine.h"

typedef struct {
    double start;    /* s, once: opening the device, making its programs or plans */
    double frame;    /* s per image, whatever its size */
    double transfer; /* s per byte of the image's planes, there and back */
    double work;     /* s per step */
    bool measured;
} device_speed;

/* Of all planes of one image. */
double device_steps(const plan *p);
/* Of all planes, once. */
double device_image_bytes(const plan *p);
/* The mean of what travels to the device and what comes back: less than the planes where they go
 * there as halfs. */
double device_travel_bytes(const plan *p);

/* threads: of the host, for the engines that run on it. */
device_speed device_speed_default(engine_class class, int threads);

/* Defaults where nothing was measured; a damaged file is a warning. cache_dir may be NULL. */
device_speed device_speed_load(const engine_device *d, int threads, const char *cache_dir);
bool device_speed_save(const engine_device *d, int threads, const device_speed *s,
                       const char *cache_dir, err *e);

typedef struct {
    double start, image; /* s: once, and per image */
    double files;        /* s: reading and writing an image */
    double all;          /* s: the whole run */
} device_seconds;

device_seconds device_predict(const device_speed *s, engine_class class, const plan *p,
                              uint32_t images);

#endif
