/* bench_vkfft.c - the same convolution by VkFFT, on the device and by the clock of fftbloom's own
 * benchmark (engine/gpu/gpu_time.h).
 *
 *   bench_vkfft DEVICE WIDTH HEIGHT KERNEL ROUNDS QUEUE
 *
 * VkFFT's fused convolution of a three-channel image with a kernel whose spectrum is ready, in
 * place in a padded buffer (its formatted input and output are wrong together with a convolution).
 * VkFFT is told which part of the buffer is zero, so that it skips that part; if a few pixels then
 * differ from the direct sum, as in VkFFT 1.3.4, it is not told.
 *
 * VkFFT's time depends on the lengths more than on their size. So several are tried: for each axis
 * 2-3-5-7-smooth lengths from N + K / 2 on, up to a sixteenth more, and multiples of 32 up to a
 * third more; first those of x, then those of y with the best of x. The best pair is timed.
 *
 * Prints one line: lengths, then seconds per frame: median, least, quartiles; then VkFFT's version,
 * and "padding" if it was told. DEVICE is a class (gpu, software) or an index of `fftbloom
 * devices`. */
#define VKFFT_BACKEND 0
#include "device/device_choice.h"
#include "device/device_measure.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/gpu_time.h"

#include "vkFFT.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, PIXELS_CHECKED = 8, LENGTHS = 24 };

typedef struct {
    uint32_t w, h, kernel;
    uint32_t length[2];
    size_t pitch, plane; /* floats: two more than the length of a row, as an in-place r2c has it */
    bool padding;        /* VkFFT is told where the zeros are */
    float *image, *taps; /* padded planes, as on the device */
} problem;

typedef struct {
    gpu_device g;
    VkFence fence;
    gpu_buffer host, spectrum, data;
    VkFFTApplication kernel, convolution;
} peer;

static bool is_smooth(uint32_t n) {
    for (uint32_t p = 2; p <= 7; p++)
        while (n % p == 0) n /= p;
    return n == 1;
}

/* Lists lengths of an axis, from `least` on. */
static uint32_t lengths_to_try(uint32_t to[LENGTHS], uint32_t least, uint32_t multiple) {
    uint32_t n = 0;
    for (uint32_t l = least; n < LENGTHS && (!n || l <= least + least / 3); l++)
        if (is_smooth(l) && l % multiple == 0 && (l <= least + least / 16 || l % 32 == 0 || !n))
            to[n++] = l;
    return n;
}

/* Noise, and a round kernel with its centre in the corner that falls off with distance. */
static bool problem_make(problem *p) {
    p->pitch = p->length[0] + 2;
    p->plane = p->pitch * p->length[1];
    p->image = calloc(CHANNELS * p->plane, sizeof *p->image);
    p->taps = calloc(CHANNELS * p->plane, sizeof *p->taps);
    if (!p->image || !p->taps) return false;
    uint32_t seed = 1;
    for (uint32_t c = 0; c < CHANNELS; c++)
        for (uint32_t y = 0; y < p->h; y++)
            for (uint32_t x = 0; x < p->w; x++) {
                seed = seed * 1664525u + 1013904223u;
                p->image[c * p->plane + y * p->pitch + x] = (float)(seed >> 8) * 0x1p-24f;
            }
    int half = (int)p->kernel / 2;
    for (uint32_t c = 0; c < CHANNELS; c++) {
        double sum = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int y = -half; y < half; y++)
                for (int x = -half; x < half; x++) {
                    size_t row = (size_t)((y + (int)p->length[1]) % (int)p->length[1]);
                    size_t column = (size_t)((x + (int)p->length[0]) % (int)p->length[0]);
                    double v = pow((double)x * x + (double)y * y + 1 + c, -1.5);
                    if (pass)
                        p->taps[c * p->plane + row * p->pitch + column] = (float)(v / sum);
                    else
                        sum += v;
                }
    }
    return true;
}

static double direct(const problem *p, uint32_t c, uint32_t x, uint32_t y) {
    int half = (int)p->kernel / 2;
    double sum = 0;
    for (int j = -half; j < half; j++)
        for (int i = -half; i < half; i++) {
            int sx = (int)x - i, sy = (int)y - j;
            if (sx < 0 || sy < 0 || sx >= (int)p->w || sy >= (int)p->h) continue;
            size_t row = (size_t)((j + (int)p->length[1]) % (int)p->length[1]);
            size_t column = (size_t)((i + (int)p->length[0]) % (int)p->length[0]);
            sum += (double)p->taps[c * p->plane + row * p->pitch + column] *
                   p->image[c * p->plane + (size_t)sy * p->pitch + (size_t)sx];
        }
    return sum;
}

static void everything_before(VkCommandBuffer c) {
    VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkAccessFlags any = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    VkMemoryBarrier b = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = any, .dstAccessMask = any};
    vkCmdPipelineBarrier(c, all, all | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &b, 0, NULL, 0, NULL);
}

/* from -> to, or one run of an application, and waits. */
static bool once(peer *v, const gpu_buffer *from, const gpu_buffer *to, VkFFTApplication *app,
                 err *e) {
    const gpu_device *g = &v->g;
    VkCommandBuffer c;
    VkFFTLaunchParams launch = {.commandBuffer = &c};
    if (!gpu_begin(g, g->compute.pool, &c, 0, e)) return false;
    if (app && VkFFTAppend(app, -1, &launch) != VKFFT_SUCCESS) {
        vkFreeCommandBuffers(g->dev, g->compute.pool, 1, &c);
        return err_set(e, ERR_INTERNAL, "VkFFTAppend failed");
    }
    if (!app) vkCmdCopyBuffer(c, from->buf, to->buf, 1, &(VkBufferCopy){0, 0, v->data.bytes});
    everything_before(c);
    return gpu_run_once(g, c, e);
}

static bool put(peer *v, const gpu_buffer *to, const float *values, err *e) {
    memcpy(v->host.map, values, v->data.bytes);
    return once(v, &v->host, to, NULL, e);
}

static bool make_app(VkFFTApplication *app, VkFFTConfiguration config, const char *what, err *e) {
    VkFFTResult r = initializeVkFFT(app, config);
    return r == VKFFT_SUCCESS ||
           err_set(e, ERR_INTERNAL, "VkFFT cannot do the %s: its error %d", what, (int)r);
}

static bool make_peer(peer *v, const problem *p, const engine_device *d, err *e) {
    static uint64_t bytes; /* VkFFT keeps the pointer */
    bytes = CHANNELS * p->plane * sizeof(float);
    if (!gpu_device_open(&v->g, d, e)) return false;
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VK_TRY(&v->g, vkCreateFence(v->g.dev, &fence, NULL, &v->fence), e);
    if (!gpu_buffer_make(&v->host, &v->g, &(gpu_buffer_params){"host", GPU_DOWNLOAD, bytes}, e) ||
        !gpu_buffer_make(&v->spectrum, &v->g,
                         &(gpu_buffer_params){"spectrum", GPU_ON_DEVICE, bytes}, e) ||
        !gpu_buffer_make(&v->data, &v->g, &(gpu_buffer_params){"data", GPU_ON_DEVICE, bytes}, e))
        return false;
    VkFFTConfiguration c = {.FFTdim = 2,
                            .size = {p->length[0], p->length[1], 1},
                            .performR2C = 1,
                            .coordinateFeatures = CHANNELS,
                            .normalize = 1,
                            .isCompilerInitialized = 1,
                            .physicalDevice = &v->g.physical,
                            .device = &v->g.dev,
                            .queue = &v->g.compute.queue,
                            .commandPool = &v->g.compute.pool,
                            .fence = &v->fence};
    VkFFTConfiguration k = c;
    k.kernelConvolution = 1;
    k.buffer = &v->spectrum.buf;
    k.bufferSize = &bytes;
    if (!make_app(&v->kernel, k, "kernel", e) || !put(v, &v->spectrum, p->taps, e) ||
        !once(v, NULL, NULL, &v->kernel, e))
        return false;
    c.performConvolution = 1;
    c.kernel = &v->spectrum.buf;
    c.kernelSize = &bytes;
    c.buffer = &v->data.buf;
    c.bufferSize = &bytes;
    const uint32_t extent[2] = {p->w, p->h};
    for (int i = 0; i < 2; i++) {
        c.performZeropadding[i] = p->padding && extent[i] < p->length[i];
        c.fft_zeropad_left[i] = extent[i];
        c.fft_zeropad_right[i] = p->length[i];
    }
    return make_app(&v->convolution, c, "convolution", e);
fail:
    return false;
}

static void free_peer(peer *v) {
    if (!v->g.dev) return;
    vkDeviceWaitIdle(v->g.dev);
    if (v->convolution.localFFTPlan) deleteVkFFT(&v->convolution);
    if (v->kernel.localFFTPlan) deleteVkFFT(&v->kernel);
    gpu_buffer_free(&v->host, &v->g);
    gpu_buffer_free(&v->spectrum, &v->g);
    gpu_buffer_free(&v->data, &v->g);
    if (v->fence) vkDestroyFence(v->g.dev, v->fence, NULL);
    gpu_device_close(&v->g);
}

static bool check(peer *v, const problem *p, err *e) {
    if (!put(v, &v->data, p->image, e) || !once(v, NULL, NULL, &v->convolution, e) ||
        !once(v, &v->data, &v->host, NULL, e))
        return false;
    for (uint32_t i = 0; i < PIXELS_CHECKED; i++) {
        uint32_t c = i % CHANNELS, x = i * 7919u % p->w, y = i * 104729u % p->h;
        double want = direct(p, c, x, y);
        double got = ((float *)v->host.map)[c * p->plane + y * p->pitch + x];
        if (!(fabs(got - want) <= 1e-4 * fabs(want)))
            return err_set(e, ERR_INTERNAL, "VkFFT's pixel %u,%u of channel %u is %g, not %g", x, y,
                           c, got, want);
    }
    return true;
}

static void record(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    peer *v = ctx;
    VkFFTLaunchParams launch = {.commandBuffer = &c};
    VkFFTAppend(&v->convolution, -1, &launch);
    everything_before(c);
    gpu_stamp(c, stamps, next);
}

static bool measure(peer *v, const problem *p, uint32_t rounds, uint32_t queue, measure_spread *to,
                    err *e) {
    double *seconds = calloc(rounds, sizeof *seconds);
    gpu_timing t = {queue, 1, record, v};
    bool ok = seconds != NULL;
    for (double warm = 0, all, step; ok && warm < 0.1; warm += 2 * queue * all)
        ok = gpu_time(&v->g, &t, &all, &step, e);
    for (uint32_t i = 0; ok && i < rounds; i++) {
        double step;
        ok = put(v, &v->data, p->image, e) && gpu_time(&v->g, &t, &seconds[i], &step, e);
    }
    if (ok) *to = measure_spread_of(seconds, rounds);
    free(seconds);
    return ok;
}

/* Times the problem at its lengths, after a check. `right` says whether that failed only. */
static bool run(problem *p, const engine_device *d, uint32_t rounds, uint32_t queue,
                measure_spread *to, bool *right, err *e) {
    peer v = {0};
    *right = true;
    bool ok = (problem_make(p) || err_set(e, ERR_RETRY, "no memory")) && make_peer(&v, p, d, e);
    if (ok) ok = *right = check(&v, p, e);
    ok = ok && measure(&v, p, rounds, queue, to, e);
    free_peer(&v);
    free(p->image);
    free(p->taps);
    p->image = p->taps = NULL;
    return ok;
}

/* Finds the best lengths, and whether VkFFT may be told of padding. */
static bool search(problem *p, const engine_device *d, uint32_t queue, err *e) {
    uint32_t list[2][LENGTHS], count[2] = {lengths_to_try(list[0], p->w + p->kernel / 2, 2),
                                           lengths_to_try(list[1], p->h + p->kernel / 2, 1)};
    for (int i = 0; i < 2; i++) { /* begin with many factors of two */
        p->length[i] = list[i][0];
        for (uint32_t j = 1; j < count[i]; j++)
            if (__builtin_ctz(list[i][j]) > __builtin_ctz(p->length[i])) p->length[i] = list[i][j];
    }
    p->padding = true;
    for (int axis = 0; axis < 2; axis++) {
        uint32_t best = 0;
        double least = 0;
        for (uint32_t i = 0; i < count[axis]; i++) {
            measure_spread s;
            bool right;
            err why = {0};
            p->length[axis] = list[axis][i];
            bool ok = run(p, d, 3, queue, &s, &right, &why);
            if (!ok && !right && p->padding) { /* once more, without */
                p->padding = false;
                ok = run(p, d, 3, queue, &s, &right, &why);
            }
            if (!ok) fprintf(stderr, "VkFFT %u x %u: %s\n", p->length[0], p->length[1], why.msg);
            if (ok && (!best || s.median < least)) best = list[axis][i], least = s.median;
        }
        if (!best) return err_set(e, ERR_INTERNAL, "VkFFT cannot do any length");
        p->length[axis] = best;
    }
    return true;
}

int main(int argc, char **argv) {
    engine_device device[ENGINE_DEVICES];
    uint32_t n = engine_devices(device, ENGINE_DEVICES), number[5] = {0};
    int which = -1;
    for (uint32_t i = 0; argc == 7 && i < n; i++)
        if (which < 0 && device[i].class != ENGINE_CPU && device_is_wanted(argv[1], &device[i], i))
            which = (int)i;
    for (int i = 0; argc == 7 && i < 5; i++) number[i] = (uint32_t)strtoul(argv[2 + i], NULL, 10);
    if (which < 0 || !number[0] || !number[1] || number[2] < 2 || !number[3] || !number[4]) {
        fprintf(stderr, argc == 7 ? "no such device, or a number is wrong\n"
                                  : "usage: bench_vkfft DEVICE WIDTH HEIGHT KERNEL ROUNDS QUEUE\n");
        return 2;
    }
    problem p = {.w = number[0], .h = number[1], .kernel = number[2]};
    measure_spread s;
    bool right;
    err e = {0};
    glslang_initialize_process();
    bool ok = search(&p, &device[which], number[4], &e) &&
              run(&p, &device[which], number[3], number[4], &s, &right, &e);
    int version = VkFFTGetVersion();
    if (ok)
        printf("%u %u %.9f %.9f %.9f %.9f %d.%d.%d%s\n", p.length[0], p.length[1], s.median,
               s.least, s.low, s.high, version / 10000, version / 100 % 100, version % 100,
               p.padding ? " padding" : "");
    else
        fprintf(stderr, "%s\n", e.msg);
    glslang_finalize_process();
    return !ok;
}
