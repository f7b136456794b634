#include "device/device_speed.h"

#include "math/lengths.h"

#include <math.h>

/* Seconds per byte of an image's planes for reading and writing it: EXR with ZIP on two cores. It
 * is the same for every device, so a rough value does. */
static const double FILES = 8e-9;

double device_steps(const plan *p) {
    double pairs = (p->axis[1].extent + 1) / 2;
    double lines[2] = {2 * pairs, 2.0 * p->halves}; /* there and back */
    double steps = 0;
    for (int i = 0; i < 2; i++)
        steps += lines[i] * (p->ask.limits.invocations ? length_cost(p->axis[i].length)
                                                       : length_cost_cpu(p->axis[i].length));
    return steps * p->ask.channels;
}

double device_image_bytes(const plan *p) {
    return (double)p->ask.size[PLAN_X] * p->ask.size[PLAN_Y] * p->ask.channels * p->sample_bytes;
}

double device_travel_bytes(const plan *p) {
    return ((double)plan_bytes_up(p) + (double)plan_bytes_down(p)) / 2;
}

/* CPU: one core of an EPYC, between what 16 and 8 lanes take (docs/notebook.md). Software: lavapipe
 * on the same core, which is never faster, and compiles for most of a second. GPU: an H200 was
 * measured at 0.15 to 0.9 s, 0.1 ms, 6.6e-11 s/byte and 4.0e-13 s/step; other cards start as fast,
 * have a fifth of its memory's speed, and sit behind a slower bus. Doubles: measured on the CPU, on
 * lavapipe, and 1.9 to 2.1 on an H200, where the passes wait for memory. Cards whose doubles run at
 * a 32nd or a 64th of the rate wait for arithmetic: 4 to 10 times, by their data sheets. */
device_speed device_speed_of(engine_class class, int threads) {
    static const device_speed DEFAULT[] = {
        [ENGINE_CPU] = {2e-3, 1e-4, 0, 0.13e-9, .doubles = 1.7},
        [ENGINE_GPU] = {0.3, 2e-4, 1e-10, 2e-12, .doubles = 4},
        [ENGINE_SOFTWARE] = {0.7, 1e-3, 3e-10, 2e-8, .doubles = 2},
    };
    device_speed s = DEFAULT[class];
    /* More cores share the memory, so that each brings a little less. */
    if (class != ENGINE_GPU) s.work /= pow(threads > 1 ? threads : 1, 0.9);
    return s;
}

device_seconds device_predict(const device_speed *s, engine_class class, const plan *p,
                              uint32_t images) {
    double n = images ? images : 1;
    device_seconds t = {.start = s->start, .files = FILES * device_image_bytes(p)};
    double step = s->work * (p->sample_bytes == 8 ? s->doubles : 1);
    t.image = s->frame + s->transfer * device_travel_bytes(p) + step * device_steps(p);
    double next = class == ENGINE_GPU ? fmax(t.files, t.image) : t.files + t.image;
    t.all = t.start + t.files + t.image + (n - 1) * next;
    return t;
}
