/* bloom_pfm.c IN.pfm KERNEL OUT.pfm [solve]: blooms a picture by the library, or takes its glare
 * away, for the test that the program makes the same bytes. Rows of PFM go from the bottom up. */
#include "lib/fftbloom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int32_t code, const fb_error *e) {
    if (!code) return;
    fprintf(stderr, "%s\n", e->text);
    exit(1);
}

int main(int argc, char **argv) {
    unsigned w, h;
    fb_context *c;
    fb_kernel *k;
    fb_session *s;
    fb_error e;
    fb_plane plane[3];
    fb_settings set;
    FILE *in = argc > 3 ? fopen(argv[1], "rb") : NULL, *out = in ? fopen(argv[3], "wb") : NULL;
    if (!out || fscanf(in, "PF %u %u -1.0%*c", &w, &h) != 2) return 2;
    float *pixels = malloc(sizeof *pixels * 3 * w * h);
    if (fread(pixels, 12, (size_t)w * h, in) != (size_t)w * h) return 2;
    for (int i = 0; i < 3; i++)
        plane[i] =
            (fb_plane){pixels + (size_t)3 * w * (h - 1) + i, 12, -12 * (ptrdiff_t)w, FB_FLOAT, 0};
    const fb_context_options o = {.size = sizeof o, .device = "cpu"};
    const fb_image is = {
        .size = sizeof is, .width = w, .height = h, .channels = 3, .in = plane, .out = plane};
    check(fb_context_open(&c, &o, &e), &e);
    check(fb_kernel_open(&k, c, argv[2], &e), &e);
    fb_settings_init(&set, sizeof set);
    if (argc > 4) set.core = (double)NAN;
    check(fb_session_open(&s, k, &set, &e), &e);
    check((argc > 4 ? fb_solve : fb_bloom)(s, &is, NULL, &e), &e);
    fprintf(out, "PF\n%u %u\n-1.0\n", w, h);
    fwrite(pixels, 12, (size_t)w * h, out);
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
    free(pixels);
    return fclose(in) | fclose(out);
}
