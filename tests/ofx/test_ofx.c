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
    assert_int_equal(s.x->params.count, 17);
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
TEST(pixels_are_the_programs) {
    static const struct {
        const char *options;
        struct {
            const char *name;
            double v;
            int of; /* a tint's channel */
        } set[3];
        const char *layer;
        bool half;
    } ROW[] = {
        {"", {{NULL, 0, 0}}, "", false},
        {"--amount 0.4 --padding zero", {{"amount", 0.4, 0}, {"padding", 1, 0}}, "", false},
        {"--padding clamp --kernel-scale 0.7", {{"padding", 2, 0}, {"size", 0.7, 0}}, "", false},
        {"--padding wrap --kernel-turn 30", {{"padding", 3, 0}, {"turn", 30, 0}}, "", false},
        {"--threshold 0.5 --knee 0.2", {{"threshold", 0.5, 0}, {"knee", 0.2, 0}}, "", false},
        {"--alpha convolve", {{"spreadAlpha", 1, 0}}, "", false},
        {"--tolerance 1e-5", {{"quality", 3, 0}}, "", false},
        {"--input-space arrilogc3 --output-space input", {{"space", 8, 0}}, "", false},
        {"--emit-layer e", {{"show", 1, 0}}, "e.", false},
        {"--emit-layer e --emit source --threshold 1",
         {{"show", 2, 0}, {"threshold", 1, 0}},
         "e.",
         false},
        {"--kernel-scale 0.03177083333333333", {{"follow", 1, 0}}, "", false}, /* W / 1920 */
        {"--tint 2,2,2", {{"gain", 2, 0}}, "", false},
        {"--tint 3,1.5,0.75", {{"tint", 0.5, 1}, {"tint", 0.25, 2}, {"gain", 3, 0}}, "", false},
        {"--tint 1,0.5,0.25", {{"tint", 0.5, 1}, {"tint", 0.25, 2}}, "", false},
        {"", {{NULL, 0, 0}}, "", true}};
    for (int i = 0; i < (int)COUNT(ROW); i++) {
        const pic_type type = ROW[i].half ? PIC_HALF : PIC_FLOAT;
        OPEN(stage) s = open_stage(i % 2 ? OFX_FILTER : OFX_GENERAL);
        OWN(image) *img = scene(ROW[i].half ? "half" : "float");
        for (size_t k = 0; i == 7 && k < W * H; k++) /* no curve takes codes that far */
            for (int c = 0; c < 4; c++) glare_put(img, c, k, fminf(0.8f, glare_get(img, c, k)));
        OWN(image) *want = program(img, ROW[i].options);
        OPEN(pic) *in = pic_of(img, i * 7 - 20, 30 - i * 11, 4, type, i % 3 ? 12 : 0, i % 2);
        for (int k = 0; k < 3 && ROW[i].set[k].name; k++)
            rig_param(s.x, ROW[i].set[k].name)->v[ROW[i].set[k].of] = ROW[i].set[k].v;
        rig_connect(s.x, RIG_SOURCE, in);
        OPEN(pic) *out = render(&s);
        check_same(out, want, ROW[i].layer, *ROW[i].layer ? 3 : 4);
        EACH(out) /* what is shown has the source's alpha */
        assert_true(c < 3 || i == 5 || pic_get(out, x, y, 3) == pic_get(in, x, y, 3));
    }
}

/* Black takes all glare away. */
TEST(a_black_tint_is_no_glare) {
    OPEN(stage) s = open_stage(OFX_GENERAL);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT);
    for (int c = 0; c < 3; c++) rig_param(s.x, "tint")->v[c] = 0;
    OPEN(pic) *dark = render(&s);
    EACH(dark) assert_true(pic_get(dark, x, y, c) <= pic_get(in, x, y, c));
}

/* Light that falls beyond the frame, as far as the kernel reaches. */
TEST(grown_frames_are_the_programs) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float"), *want = program(img, "--padding zero --window grow");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT);
    rig_set rod = {.count = 0};
    rig_set_number(s.x, "grow", 1);
    assert_int_equal(rig_call(s.r, OFX_REGION_OF_DEFINITION, s.x, &rod, &rod), OFX_OK);
    const image_box d = want->head.part[0].data;
    const ofx_rect_i all = {(int)floor(rig_get(&rod, OFX_REGION_DEFINED, 0)),
                            (int)floor(rig_get(&rod, OFX_REGION_DEFINED, 1)),
                            (int)ceil(rig_get(&rod, OFX_REGION_DEFINED, 2)),
                            (int)ceil(rig_get(&rod, OFX_REGION_DEFINED, 3))};
    assert_true(all.x1 <= d.x0 && all.x2 > d.x1 && all.y2 >= H - d.y0);
    OPEN(pic) *out = pic_new(all, 4, PIC_FLOAT, 0, false),
              *wanted = pic_of(want, d.x0, H - 1 - d.y1, 3, PIC_FLOAT, 0, false);
    rig_connect(s.x, RIG_OUTPUT, out);
    assert_int_equal(rig_render(s.r, s.x, 0, NULL), OFX_OK);
    double worst = 0, most = 0; /* the frames differ in size, and so in their last bits */
    EACH(wanted) {
        const double v = pic_get(wanted, x, y, c);
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
            const double most = pic_most(t);
            OPEN(pic) *in = pic_of(img, -3, 4, CHANNELS[n], t, n, n == 1),
                      *as = pic_new(in->at, CHANNELS[n], PIC_FLOAT, 0, false);
            EACH(in) pic_put(as, x, y, c, pic_get(in, x, y, c) / most);
            rig_set_number(s.x, "space", 1);
            rig_connect(s.x, RIG_SOURCE, in);
            OPEN(pic) *out = render(&s);
            rig_connect(s.x, RIG_SOURCE, as);
            OPEN(pic) *want = render(&s);
            EACH(out) {
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
        rig_set got = {.count = 0};
        EACH(in) pic_put(in, x, y, c, c < 3 ? 64 : x < W / 2 ? 128 : 255);
        rig_put_text(&s.x->clip[RIG_SOURCE].is, OFX_PREMULTIPLICATION, 0, STATE[i]);
        rig_connect(s.x, RIG_SOURCE, in);
        OPEN(pic) *out = render(&s);
        assert_int_equal(rig_call(s.r, OFX_CLIP_PREFERENCES, s.x, NULL, &got), OFX_OK);
        assert_string_equal(rig_text(&got, OFX_PREMULTIPLICATION, 0), STATE[i]);
        double moved = 0;
        EACH(out) {
            if (c == 3) assert_true(pic_get(out, x, y, 3) == pic_get(in, x, y, 3));
            if (c == 0) moved = fmax(moved, fabs(pic_get(out, x, y, 0) - 64));
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
        const int left = (int)make_below(&seed, W) - 5, low = (int)make_below(&seed, H) + 3;
        const ofx_rect_i w = {left, low, left + 1 + (int)make_below(&seed, W),
                              low + 1 + (int)make_below(&seed, H)};
        rig_connect(s.x, RIG_OUTPUT, part);
        if (i % 10 == 9) { /* another frame than was kept */
            rig_set_number(s.x, "amount", 0.5);
            assert_int_equal(rig_render(s.r, s.x, 0, &w), OFX_OK);
            int others = 0;
            EACH(part)
            others += pic_get(part, x, y, c) != pic_get(whole, x, y, c) &&
                      pic_get(part, x, y, c) != pic_get(clean, x, y, c);
            assert_true(others > 0);
            rig_set_number(s.x, "amount", 1);
        }
        assert_int_equal(rig_render(s.r, s.x, 0, &w), OFX_OK);
        EACH(part) {
            const bool inside = x >= w.x1 && x < w.x2 && y >= w.y1 && y < w.y2;
            assert_true(pic_get(part, x, y, c) == pic_get(inside ? whole : clean, x, y, c));
        }
    }
}

/* A field has its kernels at their places in the frame: pixels are the program's, windows are cut
 * from the whole, and a part of the source, as some hosts give it, has the kernels of its place. */
TEST(fields_lie_in_the_frame) {
    enum { REACH = 8 }; /* of kernels of 15 taps */
    static char field[512];
    uint64_t seed = 5;
    for (int n = 0; n < 6; n++) { /* each has its light elsewhere */
        OWN(image) *k = MADE(image_plain(15, 13, 1, PIXEL_FLOAT, &e));
        for (size_t i = 0; i < 15 * 13; i++)
            glare_put(k, 0, i, (float)make_chance(&seed) + (i == 20 + 30 * (size_t)n) * 100.0f);
        save(make_path((char[]){'n', (char)('0' + n), '.', 'e', 'x', 'r', 0}), k);
    }
    snprintf(field, sizeof field, "%s",
             make_text(
                 "field.json",
                 "{\"field\": {\"x\": [0.1, 0.3, 1], \"y\": [0.2, 0.9], \"nodes\": "
                 "[[\"n0.exr\", \"n1.exr\", \"n2.exr\"], [\"n3.exr\", \"n4.exr\", \"n5.exr\"]]}}"));
    static const ofx_rect_i PART[] = {{-5, 3, 30, 30}, {10, 20, 56, 50}, {-5, 3, 56, 22}};
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float");
    const char *in_file = make_path("in.exr"), *out_file = make_path("out.exr");
    save(in_file, img);
    shell("'%s' -q '%s' '%s' -o '%s' --device cpu --existing replace --padding zero",
          built("fftbloom"), in_file, field, out_file);
    OWN(image) *want = load(out_file);
    OPEN(pic) *in = pic_of(img, -5, 3, 4, PIC_FLOAT, 8, false);
    const image_box d =
        img->head.part[0].display; /* its pixels are a part of that, and beyond it */
    in->whole = (ofx_rect_i){d.x0 - 5, 3 + H - 1 - d.y1, d.x1 - 4, 3 + H - d.y0};
    rig_set_kernel(s.x, field);
    rig_set_number(s.x, "padding", 1);
    rig_connect(s.x, RIG_SOURCE, in);
    OPEN(pic) *whole = render(&s);
    check_same(whole, want, "", 4);
    for (size_t i = 0; i < COUNT(PART); i++) {
        const ofx_rect_i at = PART[i];
        OPEN(pic) *window = pic_like(whole), *part = pic_new(at, 4, PIC_FLOAT, 0, false);
        rig_connect(s.x, RIG_SOURCE, in);
        rig_connect(s.x, RIG_OUTPUT, window);
        assert_int_equal(rig_render(s.r, s.x, 0, &at), OFX_OK);
        EACH(part) assert_true(pic_get(window, x, y, c) == pic_get(whole, x, y, c));
        EACH(part) pic_put(part, x, y, c, pic_get(in, x, y, c));
        part->whole = in->whole;
        rig_connect(s.x, RIG_SOURCE, part);
        OPEN(pic) *made = render(&s);
        int checked = 0;
        EACH(made) { /* what light from beyond the part does not reach */
            if ((x < at.x1 + REACH && at.x1 > in->at.x1) ||
                (x >= at.x2 - REACH && at.x2 < in->at.x2) ||
                (y < at.y1 + REACH && at.y1 > in->at.y1) ||
                (y >= at.y2 - REACH && at.y2 < in->at.y2))
                continue;
            const double is = pic_get(made, x, y, c), all = pic_get(whole, x, y, c);
            CHECK_LE(fabs(is - all), 2e-3 * all + 1e-6); /* both are off by up to 1e-3 */
            checked++;
        }
        assert_true(checked > 1000);
        part->whole =
            (ofx_rect_i){0, 0, 0, 0}; /* a host that does not say: the part is the frame */
        OPEN(pic) *alone = render(&s);
        double off = 0;
        EACH(alone) off = fmax(off, fabs(pic_get(alone, x, y, c) / pic_get(made, x, y, c) - 1));
        assert_true(off > 0.01);
    }
    OPEN(pic) *wide = pic_new((ofx_rect_i){-12, -4, 63, 57}, 4, PIC_FLOAT, 0, false);
    double beyond = 0;
    rig_set_number(s.x, "grow", 1); /* the frame stays where it is */
    rig_connect(s.x, RIG_SOURCE, in);
    rig_connect(s.x, RIG_OUTPUT, wide);
    assert_int_equal(rig_render(s.r, s.x, 0, NULL), OFX_OK);
    EACH(whole) {
        const double is = pic_get(wide, x, y, c), all = pic_get(whole, x, y, c);
        CHECK_LE(fabs(is - all), 2e-3 * all + 1e-6);
    }
    EACH(wide) beyond += x < in->at.x1 || y >= in->at.y2 ? pic_get(wide, x, y, c) : 0;
    assert_true(beyond > 1);
}

/* Outside of the source there is nothing; outputs of other sizes get what they cover. */
TEST(outputs_may_be_larger_or_smaller) {
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = scene("float");
    OPEN(pic) *in = show(&s, img, 4, PIC_FLOAT), *whole = render(&s),
              *wide = pic_new((ofx_rect_i){-9, -8, W + 7, H + 6}, 4, PIC_FLOAT, 0, true),
              *slim = pic_new((ofx_rect_i){20, 10, 30, 15}, 4, PIC_FLOAT, 4, false),
              *away = pic_new((ofx_rect_i){200, 10, 230, 15}, 4, PIC_FLOAT, 4, false);
    pic *const all[] = {wide, slim, away};
    for (int i = 0; i < 3; i++) {
        rig_connect(s.x, RIG_OUTPUT, all[i]);
        assert_int_equal(rig_render(s.r, s.x, 0, NULL), OFX_OK);
        EACH(all[i]) {
            const bool inside = x >= 0 && y >= 0 && x < W && y < H;
            assert_true(pic_get(all[i], x, y, c) == (inside ? pic_get(whole, x, y, c) : 0));
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
        rig_set args = {.count = 0}, got = {.count = 0};
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
    }
}

/* --- proxies ---------------------------------------------------------------------------------- */

/* The picture made small: by n along x and m along y. */
static pic *made_small(const pic *p, int n, int m) {
    pic *to = pic_new((ofx_rect_i){0, 0, p->at.x2 / n, p->at.y2 / m}, 3, PIC_FLOAT, 0, false);
    EACH(to) {
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
        double most; /* the mean difference */
    } ROW[] = {
        {2, 2, false, 0.0105}, {4, 4, false, 0.0125}, {2, 2, true, 0.0105}, {2, 1, false, 0.007}};
    OPEN(stage) s = open_stage(OFX_FILTER);
    OWN(image) *img = load("testdata/street.exr");
    rig_set_number(s.x, "kernel", 1);
    OPEN(pic) *in = show(&s, img, 3, PIC_FLOAT), *full = render(&s);
    for (size_t i = 0; i < COUNT(ROW); i++) {
        OPEN(pic) *want = made_small(full, ROW[i].n, ROW[i].m),
                  *small = made_small(in, ROW[i].n, ROW[i].m);
        double off = 0;
        small->bare = ROW[i].bare;
        rig_connect(s.x, RIG_SOURCE, small);
        rig_scale(s.x, 1.0 / ROW[i].m, (double)ROW[i].n / ROW[i].m);
        OPEN(pic) *got = render(&s);
        EACH(want) off += fabs(pic_get(got, x, y, c) / pic_get(want, x, y, c) - 1);
        off /= 3.0 * want->at.x2 * want->at.y2;
        printf("small by %d x %d: mean difference %.3g %%\n", ROW[i].n, ROW[i].m, 100 * off);
        CHECK_LE(off, ROW[i].most);
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
        const image_part *p = &with->head.part[0];
        with->head.part[0].aspect = 1;
        EACH(in)
        glare_put(with, image_find_channel(p, (char[]){WORDS[c], 0}), (size_t)((H - 1 - y) * W + x),
                  (float)pic_get(in, x, y, c));
        EACH(mask) {
            const double v = (x * 7 + y * 3) % 2;
            pic_put(mask, x, y, c, v * pic_most(mask->type));
            if (x >= 0 && y >= 0 && x < W && y < H)
                glare_put(with, image_find_channel(p, "mask.A"), (size_t)((H - 1 - y) * W + x),
                          (float)v);
        }
        OWN(image) *want = program(with, "--mask mask.A");
        rig_connect(s.x, RIG_SOURCE, in);
        rig_connect(s.x, RIG_MASK, mask);
        OPEN(pic) *out = render(&s);
        check_same(out, want, "", 4);
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
    EACH(out)
    glare_put(img, image_find_channel(&img->head.part[0], (char[]){WORDS[c], 0}),
              (size_t)((out->at.y2 - 1 - y) * out->at.x2 + x), (float)pic_get(out, x, y, c));
    save(argv[2], img);
    return 0;
}
