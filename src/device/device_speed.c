#include "device/device_speed.h"

#include "math/lengths.h"

#include <math.h>

double device_steps(const plan *p) {
    double pairs = (p->axis[1].extent + 1) / 2;
    double lines[2] = {2 * pairs, 2.0 * p->halves}; /* there and back */
    double steps = 0;
    for (int i = 0; i < 2; i++)
        steps += lines[i] * (p->ask.limits.invocations ? length_cost(p->axis[i].length)
                                                       : length_cost_cpu(p->axis[i].length));
    return steps * p->ask.channels;
}

double device_travel_bytes(const plan *p) {
    return ((double)plan_bytes_up(p) + (double)plan_bytes_down(p)) / 2;
}

/* CPU: a core, between one of an EPYC with nothing else to do and one of the sixteen beside an
 * H200, which takes twice as long. Software: lavapipe on such a core, which is never faster, and
 * compiles for most of a second. GPU: an H200 was measured at 0.15 to 0.9 s, 0.1 ms, 6.6e-11 s/byte
 * and 4.0e-13 s/step; other cards start as fast, have a fifth of its memory's speed, and sit behind
 * a slower bus. Doubles: measured on the CPU, on lavapipe, and 1.9 to 2.1 on an H200, where the
 * passes wait for memory. Cards whose doubles run at a 32nd or a 64th of the rate wait for
 * arithmetic: 4 to 10 times, by their data sheets. The files are ZIP. */
device_speed device_speed_of(engine_class class, int threads) {
    static const device_speed DEFAULT[] = {
        [ENGINE_CPU] = {2e-3, 1e-4, 0, 0.17e-9, 1.7, .files = 6e-9, .host = 1.4e-9},
        [ENGINE_GPU] = {0.3, 2e-4, 1e-10, 2e-12, 4, .files = 6e-9, .host = 1.3e-9},
        [ENGINE_SOFTWARE] = {0.7, 1e-3, 3e-10, 2e-8, 2, .files = 6e-9, .host = 1.3e-9},
    };
    /* More cores share the memory, so that each brings a little less. */
    const double cores = pow(threads > 1 ? threads : 1, 0.9);
    device_speed s = DEFAULT[class];
    s.files /= cores;
    s.host /= cores;
    if (class != ENGINE_GPU) s.work /= cores;
    return s;
}

device_seconds device_predict(const device_speed *s, engine_class class, const plan *p,
                              uint32_t images) {
    double n = images ? images : 1;
    double samples = (double)p->ask.size[PLAN_X] * p->ask.size[PLAN_Y] * p->ask.channels;
    double step = s->work * (p->sample_bytes == 8 ? s->doubles : 1);
    double device = s->frame + s->transfer * device_travel_bytes(p) + step * device_steps(p);
    double host = (s->files + s->host) * samples;
    double next = class == ENGINE_GPU ? fmax(host, device) : host + device;
    return (device_seconds){.start = s->start,
                            .image = s->host * samples + device,
                            .files = s->files * samples,
                            .all = s->start + host + device + (n - 1) * next};
}
