/* bloom.c - a light in the dark, bloomed by libfftbloom.
 *
 *     cc bloom.c $(pkg-config --cflags --libs fftbloom) -o bloom && ./bloom sunstar */
#include <fftbloom.h>
#include <stdio.h>

enum { W = 320, H = 180 };
static float in[H][W][3], out[H][W][3];

static int fail(const fb_error *e) {
    fprintf(stderr, "%s\n", e->text);
    return 1;
}

int main(int argc, char **argv) {
    fb_context *c;
    fb_kernel *k;
    fb_session *s;
    fb_error e;
    fb_settings set;
    fb_report r;
    fb_image image = {sizeof image, W,    H,    3,    NULL, NULL, NULL,
                      NULL,         NULL, NULL, NULL, 0,    NULL, {0, 0, 0, 0}};
    fb_plane from[3], to[3];

    fb_settings_init(&set, sizeof set);
    set.amount = 0.5;
    if (fb_context_open(&c, NULL, &e) ||
        fb_kernel_open(&k, c, argc > 1 ? argv[1] : "star-six", &e) ||
        fb_session_open(&s, k, &set, &e))
        return fail(&e);
    for (int i = 0; i < 3; i++) {
        in[H / 2][W / 2][i] = 1000;
        const fb_plane plane = {&in[0][0][i], sizeof in[0][0], sizeof in[0], FB_FLOAT, 0};
        from[i] = to[i] = plane;
        to[i].data = &out[0][0][i];
    }
    image.in = from;
    image.out = to;
    r.size = sizeof r;
    if (fb_bloom(s, &image, &r, &e)) return fail(&e);
    printf("%s: error %.2g of %.2g, %s\n", r.device, r.error, r.allowed,
           r.kept ? "kept" : "broken");
    printf("the light is %g now, and %g stands beside it\n", (double)out[H / 2][W / 2][1],
           (double)out[H / 2][W / 2 + 1][1]);
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
    return 0;
}
