#include "ofx/kernels.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { KERNELS = 4 };

static fb_context *context[DEVICES];
static struct {
    controls_bloom of; /* of which only the kernel counts */
    fb_kernel *kernel;
} opened[KERNELS];
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* guards these two */

/* The budget is the library's: most of what the host has left, also in a container. */
static fb_context *open_context(controls_device device, fb_error *e) {
    static const char *const NAME[DEVICES] = {"auto", "cpu", "gpu"};
    fb_context *c;
    const fb_context_options o = {
        .size = sizeof o, .device = NAME[device], .cache_dir = FB_PROGRAM_CACHE};
    return fb_context_open(&c, &o, e) == FB_OK ? c : NULL;
}

/* Finds or opens a kernel, which belongs to this list. */
static fb_kernel *find_kernel(const controls_bloom *of, fb_error *e) {
    static int oldest;
    fb_kernel *made;
    for (int i = 0; i < KERNELS; i++)
        if (opened[i].kernel && opened[i].of.device == of->device &&
            opened[i].of.stamp == of->stamp && !strcmp(opened[i].of.kernel, of->kernel))
            return opened[i].kernel;
    if (fb_kernel_open(&made, context[of->device], of->kernel, e) != FB_OK) return NULL;
    const int at = oldest++ % KERNELS;
    fb_kernel_close(opened[at].kernel);
    opened[at].of = *of;
    return opened[at].kernel = made;
}

fb_session *kernels_session(const controls_bloom *asked, uint32_t taps[2], char *note,
                            fb_error *e) {
    controls_bloom of = *asked;
    fb_session *made = NULL;
    pthread_mutex_lock(&opening);
    if (!context[of.device]) context[of.device] = open_context(of.device, e);
    if (!context[of.device] && of.device != DEVICE_AUTO) { /* the project is another machine's */
        memcpy(note, e->text, sizeof e->text);
        of.device = DEVICE_AUTO;
        if (!context[of.device]) context[of.device] = open_context(of.device, e);
    }
    fb_kernel *k = context[of.device] ? find_kernel(&of, e) : NULL;
    fb_kernel_size(k, &taps[0], &taps[1], NULL);
    if (k) fb_session_open(&made, k, &of.set, e);
    pthread_mutex_unlock(&opening);
    return made;
}

void kernels_purge(void) {
    pthread_mutex_lock(&opening);
    for (int i = 0; i < KERNELS; i++) fb_kernel_close(opened[i].kernel);
    memset(opened, 0, sizeof opened);
    for (int i = 0; i < DEVICES; i++) fb_context_close(context[i]), context[i] = NULL;
    pthread_mutex_unlock(&opening);
}
