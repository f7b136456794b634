/* The OpenFX plug-in in a host that takes every liberty that the specification gives: pixels
 * against those of the program, kinds of pixels, windows, proxies, masks. */
#include "ofx/stage.h"

/* --- the description -------------------------------------------------------------------------- */

TEST(the_effect_describes_itself) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    const rig_set *about = &s.r->about.is;
    assert_string_equal(rig_text(about, OFX_CONTEXTS, 0), OFX_FILTER);
    assert_string_equal(rig_text(about, OFX_CONTEXTS, 1), OFX_GENERAL);
    assert_string_equal(rig_text(about, OFX_THREAD_SAFETY, 0), OFX_FULLY_SAFE);
    assert_string_equal(rig_text(about, OFX_DEPTHS, 3), OFX_BYTE);
    assert_true(rig_get(about, OFX_TILES, 0) == 0);
    assert_true(rig_get(&s.x->clip[RIG_SOURCE].is, OFX_TILES, 0) == 0);
    assert_false(s.x->clip[RIG_MASK].defined);
    assert_int_equal(s.x->params.count, 15);
    for (int i = 0; i < s.x->params.count; i++) {
        const struct ofx_param *p = &s.x->params.param[i];
        assert_true(*rig_text(&p->is, OFX_LABEL, 0) && *rig_text(&p->is, OFX_HINT, 0));
    }
    struct ofx_effect *general = rig_effect(s.r, OFX_GENERAL);
    assert_true(general->clip[RIG_MASK].defined);
    assert_true(rig_get(&general->clip[RIG_MASK].is, OFX_OPTIONAL, 0) == 1);
    rig_effect_close(s.r, &general);
    assert_string_equal(s.r->plugin->id, "org.fftbloom.bloom");
    assert_int_equal(s.r->plugin->major, 1);
}

/* --- the program's pixels --------------------------------------------------------------------- */

/* The same bytes with every control, wherever the picture lies and however its rows do. */
TEST(floats_are_the_programs) {
    static const struct {
        const char *options;
        struct {
            const char *name;
            double v;
        } set[3];
        const char *layer;
    } ROW[] = {
        {"", {{NULL, 0}}, ""},
        {"--amount 0.4 --padding zero", {{"amount", 0.4}, {"padding", 1}}, ""},
        {"--padding clamp --kernel-scale 0.7", {{"padding", 2}, {"size", 0.7}}, ""},
        {"--padding wrap --kernel-turn 30", {{"padding", 3}, {"turn", 30}}, ""},
        {"--threshold 0.5 --knee 0.2", {{"threshold", 0.5}, {"knee", 0.2}}, ""},
        {"--alpha convolve", {{"spreadAlpha", 1}}, ""},
        {"--tolerance 1e-5", {{"quality", 3}}, ""},
        {"--input-space arrilogc3 --output-space input", {{"space", 8}}, ""},
        {"--emit-layer e", {{"show", 1}}, "e."},
        {"--emit-layer e --emit source --threshold 1", {{"show", 2}, {"threshold", 1}}, "e."}};
    OWN(image) *img = scene("float");
    for (size_t i = 0; i < COUNT(ROW); i++) {
        OPEN(stage) s = open_stage(OFX_FILTER);
        for (size_t k = 0; i == 7 && k < W * H; k++) /* no curve takes codes that far */
            for (int c = 0; c < 4; c++) glare_put(img, c, k, fminf(0.8f, glare_get(img, c, k)));
        OWN(image) *want = program(img, ROW[i].options);
        const int left = (int)i * 7 - 20, low = 30 - (int)i * 11, pad = i % 3 ? 12 : 0;
        OPEN(pic) *in = pic_of(img, left, low, 4, PIC_FLOAT, pad, i % 2);
        for (int k = 0; k < 3 && ROW[i].set[k].name; k++)
            rig_set_number(s.x, ROW[i].set[k].name, ROW[i].set[k].v);
        rig_connect(s.x, RIG_SOURCE, in);
        OPEN(pic) *out = render(&s);
        check_same(out, want, ROW[i].layer, left, low + H, *ROW[i].layer ? 3 : 4);
        for (int y = 0; y < H; y++) /* what is shown has the source's alpha */
            assert_true(i == 5 || pic_get(out, left, low + y, 3) == pic_get(in, left, low + y, 3));
    }
}

/* A tint is a colour of three numbers, and black takes all glare away. */
TEST(tints_are_the_programs) {
    OPEN(stage) s = open_stage(OFX_GENERAL);
    OWN(image) *img = scene("float"), *want = program(img, "--tint 1,0.5,0.25");
    OPEN(pic) *in = pic_of(img, 0, 0, 4, PIC_FLOAT, 0, false);
    rig_connect(s.x, RIG_SOURCE, in);
    for (int c = 0; c < 3; c++) rig_param(s.x, "tint")->v[c] = pow(0.5, c);
    OPEN(pic) *out = render(&s);
    check_same(out, want, "", 0, H, 4);
    for (int c = 0; c < 3; c++) rig_param(s.x, "tint")->v[c] = 0;
    OPEN(pic) *dark = render(&s);
    for (int y = 0; y < H; y++) assert_true(pic_get(dark, 9, y, 1) <= pic_get(in, 9, y, 1));
}

TEST(halfs_are_the_programs) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("half"), *want = program(img, "");
    OPEN(pic) *in = pic_of(img, 5, 5, 4, PIC_HALF, 6, true);
    rig_connect(s.x, RIG_SOURCE, in);
    OPEN(pic) *out = render(&s);
    check_same(out, want, "", 5, 5 + H, 4);
}

/* Light that falls beyond the frame, as far as the kernel reaches. */
TEST(grown_frames_are_the_programs) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float"), *want = program(img, "--padding zero --window grow");
    OPEN(pic) *in = pic_of(img, 10, 20, 4, PIC_FLOAT, 0, false);
    rig_set rod = {NULL}, args = {NULL};
    rig_set_number(s.x, "grow", 1);
    rig_connect(s.x, RIG_SOURCE, in);
    rig_put(&args, OFX_TIME, 0, 0);
    assert_int_equal(rig_call(s.r, OFX_REGION_OF_DEFINITION, s.x, &args, &rod), OFX_OK);
    const image_box d = want->head.part[0].data;
    const ofx_rect_i all = {(int)floor(rig_get(&rod, OFX_REGION_DEFINED, 0)),
                            (int)floor(rig_get(&rod, OFX_REGION_DEFINED, 1)),
                            (int)ceil(rig_get(&rod, OFX_REGION_DEFINED, 2)),
                            (int)ceil(rig_get(&rod, OFX_REGION_DEFINED, 3))};
    rig_set_free(&rod);
    rig_set_free(&args);
    assert_true(all.x1 <= 10 + d.x0 && all.x2 > 10 + d.x1 && all.y2 >= 20 + H - d.y0);
    OPEN(pic) *out = pic_new(all, 4, PIC_FLOAT, 0, false);
    rig_connect(s.x, RIG_OUTPUT, out);
    assert_int_equal(rig_render(s.r, s.x, 0, NULL), OFX_OK);
    /* The frames differ in size, and so in their last bits. */
    const image_part *p = &want->head.part[0];
    double worst = 0, most = 0;
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < image_width(p) * image_height(p); i++) {
            const int x = 10 + d.x0 + (int)(i % image_width(p)),
                      y = 20 + H - 1 - d.y0 - (int)(i / image_width(p));
            const double v =
                (double)glare_get(want, image_find_channel(p, (char[]){WORDS[c], 0}), i);
            worst = fmax(worst, fabs(v - pic_get(out, x, y, c)));
            most = fmax(most, v);
        }
    CHECK_LE(worst, 1e-6 * most);
}

/* --- kinds of pixels -------------------------------------------------------------------------- */

/* Every kind against floats with as many channels: alpha and grey by their own rules, codes to a
 * step of theirs. */
TEST(all_kinds_of_pixels) {
    static const int CHANNELS[] = {1, 3, 4};
    OWN(image) *img = scene("float");
    for (size_t i = 0; i < W * H; i++)
        for (int c = 0; c < 4; c++)
            glare_put(img, c, i, fminf(1, glare_get(img, c, i) + (float)(i % 7) / 9));
    for (int n = 0; n < 3; n++)
        for (pic_type t = PIC_BYTE; t <= PIC_HALF; t++) {
            OPEN(stage) s = open_stage(OFX_FILTER);
            const double most = t == PIC_BYTE ? 255 : t == PIC_SHORT ? 65535 : 1;
            OPEN(pic) *in = pic_of(img, -3, 4, CHANNELS[n], t, n, n == 1),
                      *as = pic_new(in->at, CHANNELS[n], PIC_FLOAT, 0, false);
            for (int c = 0; c < CHANNELS[n]; c++)
                for (int i = 0; i < W * H; i++)
                    pic_put(as, i % W - 3, i / W + 4, c,
                            pic_get(in, i % W - 3, i / W + 4, c) / most);
            rig_set_number(s.x, "space", 1);
            rig_connect(s.x, RIG_SOURCE, in);
            OPEN(pic) *out = render(&s);
            rig_connect(s.x, RIG_SOURCE, as);
            OPEN(pic) *want = render(&s);
            for (int c = 0; c < CHANNELS[n]; c++)
                for (int i = 0; i < W * H; i++) {
                    const int x = i % W - 3, y = i / W + 4;
                    const double v = fmin(pic_get(want, x, y, c), most > 1 ? 1 : 65504);
                    CHECK_LE(fabs(pic_get(out, x, y, c) - most * v), most > 1 ? 1 : 1e-3 * (1 + v));
                    if (c == 3) assert_true(pic_get(out, x, y, c) == pic_get(in, x, y, c));
                }
        }
}

/* Curves are for the colour of a pixel and not for its alpha, and codes that say nothing else are
 * sRGB: a code of the middle of a flat picture stays. */
TEST(alpha_counts_where_it_was_multiplied) {
    static const char *const STATE[] = {OFX_PREMULTIPLIED, OFX_UNPREMULTIPLIED};
    for (int i = 0; i < 2; i++) {
        OPEN(stage) s = open_stage(OFX_FILTER);
        OPEN(pic) *in = pic_new((ofx_rect_i){0, 0, W, H}, 4, PIC_BYTE, 0, false);
        rig_set out_args = {NULL};
        for (int c = 0; c < 4; c++)
            for (int k = 0; k < W * H; k++)
                pic_put(in, k % W, k / W, c, c == 3 ? (k % W < W / 2 ? 128 : 255) : 64);
        rig_put_text(&s.x->clip[RIG_SOURCE].is, OFX_PREMULTIPLICATION, 0, STATE[i]);
        rig_connect(s.x, RIG_SOURCE, in);
        OPEN(pic) *out = render(&s);
        assert_int_equal(rig_call(s.r, OFX_CLIP_PREFERENCES, s.x, NULL, &out_args), OFX_OK);
        assert_string_equal(rig_text(&out_args, OFX_PREMULTIPLICATION, 0), STATE[i]);
        rig_set_free(&out_args);
        double moved = 0;
        for (int k = 0; k < W * H; k++) {
            moved = fmax(moved, fabs(pic_get(out, k % W, k / W, 0) - 64));
            assert_true(pic_get(out, k % W, k / W, 3) == pic_get(in, k % W, k / W, 3));
        }
        assert_true(i ? moved <= 1 : moved > 1); /* unmultiplied, the picture is flat */
    }
}

/* --- windows ---------------------------------------------------------------------------------- */

/* Any window has the pixels of the whole frame, and nothing else is written. */
TEST(windows_are_cut_from_the_whole) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = pic_of(img, -5, 3, 4, PIC_FLOAT, 8, false);
    uint64_t seed = 7;
    rig_connect(s.x, RIG_SOURCE, in);
    OPEN(pic) *whole = render(&s);
    for (int i = 0; i < 30; i++) {
        OPEN(pic) *part = pic_like(whole), *clean = pic_like(whole);
        const int x = (int)make_below(&seed, W) - 5, y = (int)make_below(&seed, H) + 3;
        const ofx_rect_i w = {x, y, x + 1 + (int)make_below(&seed, W),
                              y + 1 + (int)make_below(&seed, H)};
        rig_connect(s.x, RIG_OUTPUT, part);
        if (i % 10 == 9) rig_set_number(s.x, "amount", 1 - i / 100.0); /* and back */
        if (i % 10 == 9) assert_int_equal(rig_render(s.r, s.x, 0, &w), OFX_OK);
        rig_set_number(s.x, "amount", 1);
        assert_int_equal(rig_render(s.r, s.x, 0, &w), OFX_OK);
        for (int c = 0; c < 4; c++)
            for (int k = 0; k < W * H; k++) {
                const int px = k % W - 5, py = k / W + 3;
                const bool inside = px >= w.x1 && px < w.x2 && py >= w.y1 && py < w.y2;
                assert_true(pic_get(part, px, py, c) == pic_get(inside ? whole : clean, px, py, c));
            }
    }
}

/* Outside of the source there is nothing; outputs of other sizes get what they cover. */
TEST(outputs_may_be_larger_or_smaller) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = pic_of(img, 0, 0, 4, PIC_FLOAT, 0, false);
    rig_connect(s.x, RIG_SOURCE, in);
    OPEN(pic) *whole = render(&s),
              *wide = pic_new((ofx_rect_i){-9, -8, W + 7, H + 6}, 4, PIC_FLOAT, 0, true),
              *slim = pic_new((ofx_rect_i){20, 10, 30, 15}, 4, PIC_FLOAT, 4, false),
              *away = pic_new((ofx_rect_i){200, 10, 230, 15}, 4, PIC_FLOAT, 4, false);
    pic *const all[] = {wide, slim, away};
    for (int i = 0; i < 3; i++) {
        rig_connect(s.x, RIG_OUTPUT, all[i]);
        assert_int_equal(rig_render(s.r, s.x, 0, NULL), OFX_OK);
        for (int y = all[i]->at.y1; y < all[i]->at.y2; y++)
            for (int x = all[i]->at.x1; x < all[i]->at.x2; x++) {
                const bool in_it = x >= 0 && y >= 0 && x < W && y < H;
                assert_true(pic_get(all[i], x, y, 1) == (in_it ? pic_get(whole, x, y, 1) : 0));
            }
    }
    rig_connect(s.x, RIG_SOURCE, NULL); /* and no source is nothing everywhere */
    rig_connect(s.x, RIG_OUTPUT, slim);
    assert_int_equal(rig_render(s.r, s.x, 0, NULL), OFX_OK);
    assert_true(pic_get(slim, 25, 12, 1) == 0);
}

/* The regions that a host is asked for. */
TEST(regions_grow_by_the_kernel) {
    OPEN(stage) s = open_stage(OFX_GENERAL);
    OPEN(pic) *in = pic_new((ofx_rect_i){0, 0, 2000, 1500}, 4, PIC_BYTE, 0, false);
    const double size[] = {1, 2};
    rig_connect(s.x, RIG_SOURCE, in);
    for (int i = 0; i < 2; i++) {
        rig_set args = {NULL}, got = {NULL};
        const double window[] = {900, 700, 950, 720};
        OWN(image) *k = load(KERNEL);
        const double reach = size[i] * image_width(&k->head.part[0]) / 2 + 1;
        rig_set_number(s.x, "size", size[i]);
        for (int c = 0; c < 4; c++) rig_put(&args, OFX_REGION_ASKED, c, window[c]);
        assert_int_equal(rig_call(s.r, OFX_REGION_OF_DEFINITION, s.x, &args, &got), OFX_DEFAULT);
        assert_int_equal(rig_call(s.r, OFX_REGIONS_OF_INTEREST, s.x, &args, &got), OFX_OK);
        for (int c = 0; c < 4; c++) {
            const double want = window[c] + (c < 2 ? -reach : reach);
            assert_true(rig_get(&got, OFX_REGION_OF_CLIP OFX_SOURCE, c) == want);
            assert_true(rig_get(&got, OFX_REGION_OF_CLIP "Mask", c) == want);
        }
        rig_set_free(&args);
        rig_set_free(&got);
    }
}

/* --- proxies ---------------------------------------------------------------------------------- */

/* The picture made small: by n along x and m along y. */
static pic *made_small(const pic *p, int n, int m, int channels) {
    pic *to =
        pic_new((ofx_rect_i){0, 0, p->at.x2 / n, p->at.y2 / m}, channels, PIC_FLOAT, 0, false);
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < to->at.y2; y++)
            for (int x = 0; x < to->at.x2; x++) {
                double sum = 0;
                for (int i = 0; i < n * m; i++) sum += pic_get(p, x * n + i % n, y * m + i / n, c);
                pic_put(to, x, y, c, sum / (n * m));
            }
    return to;
}

/* A proxy is the full frame made small, and so is a frame of wide pixels; also where images say
 * neither. Where lamps are smaller than a pixel of the proxy, nobody knows where in it they are. */
TEST(proxies_are_frames_made_small) {
    static const struct {
        int n, m;
        bool bare;
    } ROW[] = {{2, 2, false}, {4, 4, false}, {2, 2, true}, {2, 1, false}};
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = load("testdata/street.exr");
    OPEN(pic) *in = pic_of(img, 0, 0, 3, PIC_FLOAT, 0, false);
    rig_set_number(s.x, "kernel", 1);
    rig_connect(s.x, RIG_SOURCE, in);
    OPEN(pic) *full = render(&s);
    for (size_t i = 0; i < COUNT(ROW); i++) {
        OPEN(pic) *want = made_small(full, ROW[i].n, ROW[i].m, 3),
                  *small = made_small(in, ROW[i].n, ROW[i].m, 3);
        double off = 0;
        small->bare = ROW[i].bare;
        rig_connect(s.x, RIG_SOURCE, small);
        rig_scale(s.x, 1.0 / ROW[i].m, (double)ROW[i].n / ROW[i].m);
        OPEN(pic) *got = render(&s);
        for (int c = 0; c < 3; c++)
            for (int y = 0; y < want->at.y2; y++)
                for (int x = 0; x < want->at.x2; x++)
                    off += fabs(pic_get(got, x, y, c) / pic_get(want, x, y, c) - 1);
        off /= 3.0 * want->at.x2 * want->at.y2;
        printf("small by %d x %d: mean difference %.2g %%\n", ROW[i].n, ROW[i].m, 100 * off);
        CHECK_LE(off, 0.01);
    }
}

/* --- masks ------------------------------------------------------------------------------------ */

/* A mask of another size and kind; it is 0 where it has no pixels. */
TEST(masks_say_what_glares) {
    OWN(image) *img = scene("float");
    for (int kind = 0; kind < 3; kind++) {
        OPEN(stage) s = open_stage(OFX_GENERAL);
        const ofx_rect_i at = kind == 1 ? (ofx_rect_i){-9, -9, 300, 200}
                                        : (ofx_rect_i){10, 7, 40, 30};
        OPEN(pic) *in = pic_of(img, 0, 0, 4, PIC_FLOAT, 0, false),
                  *mask = pic_new(at, kind == 1 ? 4 : 1, kind == 2 ? PIC_BYTE : PIC_FLOAT, 3,
                                  kind == 1);
        OWN(image) *with = make_blank("R:float G:float B:float A:float mask.A:float", 0, 0, W, H);
        with->head.part[0].aspect = 1;
        for (int c = 0; c < 4; c++)
            for (size_t i = 0; i < W * H; i++) {
                const char name[] = {WORDS[c], 0};
                glare_put(with, image_find_channel(&with->head.part[0], name), i,
                          glare_get(img, image_find_channel(&img->head.part[0], name), i));
            }
        const double most = kind == 2 ? 255 : 1;
        for (int y = at.y1; y < at.y2; y++)
            for (int x = at.x1; x < at.x2; x++) {
                const double v = (x * 7 + y * 3) % 2;
                pic_put(mask, x, y, mask->channels - 1, v * most);
                if (x >= 0 && y >= 0 && x < W && y < H)
                    glare_put(with, image_find_channel(&with->head.part[0], "mask.A"),
                              (size_t)((H - 1 - y) * W + x), (float)v);
            }
        OWN(image) *want = program(with, "--mask mask.A");
        rig_connect(s.x, RIG_SOURCE, in);
        rig_connect(s.x, RIG_MASK, mask);
        OPEN(pic) *out = render(&s);
        check_same(out, want, "", 0, H, 4);
    }
}

/* Without arguments the tests; with IN.exr and OUT.exr, what the plug-in makes of a picture. */
int main(int argc, char **argv) {
    if (argc < 3) return check_run(NULL, NULL);
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = load(argv[1]);
    OPEN(pic) *in = pic_of(img, 0, 0, 3, PIC_FLOAT, 0, false);
    rig_set_number(s.x, "kernel", rig_get(&rig_param(s.x, "kernel")->is, OFX_PRESET, 0));
    rig_connect(s.x, RIG_SOURCE, in);
    OPEN(pic) *out = render(&s);
    const int w = out->at.x2, h = out->at.y2;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < w * h; i++)
            glare_put(img, image_find_channel(&img->head.part[0], (char[]){WORDS[c], 0}), (size_t)i,
                      (float)pic_get(out, i % w, h - 1 - i / w, c));
    save(argv[2], img);
    return 0;
}
