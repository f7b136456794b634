/* fft_vkfft.c - the transforms of `fftlab fft` by VkFFT, on the device and by the clock of
 * that benchmark: n x n complex numbers, in place, forward and inverse, checked against the same
 * transform in double.
 *
 *   fft_vkfft DEVICE ROUNDS N ...
 *
 * Prints a line for each n: n, then seconds forward and inverse, the largest error and the root of
 * the mean squared error. DEVICE is a class (gpu, software) or an index of `fftbloom devices`. */
#define VKFFT_BACKEND 0
#include "device/device_choice.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_time.h"
#include "lab/lab_bench.h"

#include "vkFFT.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int DIRECTION[LAB_WAYS] = {-1, 1}; /* VkFFT's */

typedef struct {
    gpu_device g;
    VkFence fence;
    gpu_buffer host, data;
    VkFFTApplication app;
    uint64_t bytes; /* VkFFT keeps its address */
} peer;

static void record_way(peer *v, VkCommandBuffer c, int way) {
    VkFFTLaunchParams launch = {.commandBuffer = &c};
    VkFFTAppend(&v->app, DIRECTION[way], &launch);
    gpu_barrier(c, GPU_BY_PASS | GPU_BY_COPY, GPU_BY_PASS | GPU_BY_COPY | GPU_BY_HOST);
}

static void record(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    for (int way = 0; way < LAB_WAYS; way++) {
        record_way(ctx, c, way);
        gpu_stamp(c, stamps, next);
    }
}

static bool make(peer *v, uint32_t n, err *e) {
    v->bytes = 8ull * n * n;
    if (!gpu_buffer_make(&v->host, &v->g, &(gpu_buffer_params){"host", GPU_DOWNLOAD, v->bytes},
                         e) ||
        !gpu_buffer_make(&v->data, &v->g, &(gpu_buffer_params){"data", GPU_ON_DEVICE, v->bytes}, e))
        return false;
    VkFFTConfiguration c = {.FFTdim = 2,
                            .size = {n, n, 1},
                            .normalize = 1,
                            .isCompilerInitialized = 1,
                            .physicalDevice = &v->g.physical,
                            .device = &v->g.dev,
                            .queue = &v->g.compute.queue,
                            .commandPool = &v->g.compute.pool,
                            .fence = &v->fence,
                            .buffer = &v->data.buf,
                            .bufferSize = &v->bytes};
    VkFFTResult r = initializeVkFFT(&v->app, c);
    return r == VKFFT_SUCCESS || err_set(e, ERR_INTERNAL, "VkFFT's error %d", (int)r);
}

static bool check(peer *v, lab_row *to, const lab_truth *t, int way, err *e) {
    lab_complex *image = v->host.map;
    size_t count = v->bytes / sizeof *image;
    VkBufferCopy all = {0, 0, v->bytes};
    VkCommandBuffer c;
    for (size_t i = 0; i < count; i++)
        image[i] = (lab_complex){(float)t->value[!way][2 * i], (float)t->value[!way][2 * i + 1]};
    if (!gpu_begin(&v->g, v->g.compute.pool, &c, 0, e)) return false;
    vkCmdCopyBuffer(c, v->host.buf, v->data.buf, 1, &all);
    gpu_barrier(c, GPU_BY_COPY, GPU_BY_PASS);
    record_way(v, c, way);
    vkCmdCopyBuffer(c, v->data.buf, v->host.buf, 1, &all);
    gpu_barrier(c, GPU_BY_COPY, GPU_BY_HOST);
    if (!gpu_run_once(&v->g, c, e)) return false;
    lab_compare(to, (float *)image, t->value[way], 2 * count);
    return true;
}

static bool one_round(void *of, engine_repeat *r, err *e) {
    peer *v = of;
    gpu_timing t = {r->count, LAB_WAYS, record, v};
    return gpu_time(&v->g, &t, &r->frame, r->pass, e);
}

static bool run(const engine_device *d, uint32_t n, uint32_t rounds, par *threads, err *e) {
    static peer v;
    lab_truth t = {0};
    lab_row row = {.name = "VkFFT"};
    const lab_pace pace = {.rounds = rounds, .warm_up = 0.1, .frames = LAB_WAYS};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    bool ok = gpu_device_open(&v.g, d, e) &&
              vkCreateFence(v.g.dev, &fence, NULL, &v.fence) == VK_SUCCESS && make(&v, n, e) &&
              lab_truth_make(&t, n, e) && check(&v, &row, &t, LAB_FORWARD, e) &&
              check(&v, &row, &t, LAB_BACKWARD, e) && lab_rounds(&row, &pace, one_round, &v, e);
    if (ok)
        printf("%u %.9f %.9f %.2g %.2g\n", n, row.part[LAB_FORWARD].median,
               row.part[LAB_BACKWARD].median, row.worst, row.rms);
    fflush(stdout);
    if (v.g.dev) {
        vkDeviceWaitIdle(v.g.dev);
        if (v.app.localFFTPlan) deleteVkFFT(&v.app);
        gpu_buffer_free(&v.host, &v.g);
        gpu_buffer_free(&v.data, &v.g);
        if (v.fence) vkDestroyFence(v.g.dev, v.fence, NULL);
    }
    gpu_device_close(&v.g);
    memset(&v, 0, sizeof v);
    lab_truth_free(&t);
    return ok;
}

int main(int argc, char **argv) {
    engine_device device[ENGINE_DEVICES];
    uint32_t devices = engine_devices(device, ENGINE_DEVICES);
    uint32_t rounds = argc > 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    const engine_device *d = NULL;
    err e = {0};
    par *threads = par_open(0, &e);
    for (uint32_t i = 0; rounds && i < devices && !d; i++)
        if (device[i].class != ENGINE_CPU && device_is_wanted(argv[1], &device[i], i))
            d = &device[i];
    if (!d || !threads) {
        fprintf(stderr, "usage: fft_vkfft DEVICE ROUNDS N ...\n");
        return 2;
    }
    glslang_initialize_process();
    bool ok = true;
    for (int i = 3; ok && i < argc; i++)
        ok = run(d, (uint32_t)strtoul(argv[i], NULL, 10), rounds, threads, &e);
    if (!ok) fprintf(stderr, "%s\n", e.code ? e.msg : "Vulkan failed");
    glslang_finalize_process();
    par_close(&threads);
    return !ok;
}
