/* bench_street.c - writes a street at night: bench_street OUT.exr WIDTH HEIGHT LIGHTS
 *
 * A dark plate with log-normal grain, and lights of 2 x 2 pixels anywhere in it, from 10 to 10,000:
 * what the promise has to cope with where there are too many lights to add them up one by one. */
#include "unit/street.h"

int main(int argc, char **argv) {
    err e = {0};
    if (argc != 5) {
        fprintf(stderr, "bench_street OUT.exr WIDTH HEIGHT LIGHTS\n");
        return 64;
    }
    image *img = street_image("B:half G:half R:half", (uint32_t)atoi(argv[2]),
                              (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
    bool ok = image_save(argv[1], img, make_threads(), &e);
    if (!ok) fprintf(stderr, "bench_street: %s\n", e.msg);
    image_free(&img);
    return ok ? 0 : 1;
}
