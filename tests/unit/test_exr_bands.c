/* EXR in bands: any rows can be read, and bands may be written in any order. */
#include "unit/load_save.h"

TEST(any_band_is_a_part_of_the_whole) {
    uint64_t seed = 9;
    for (int tiled = 0; tiled < 2; tiled++)
        for (int c = COMPRESSION_NONE; c <= COMPRESSION_PIZ; c++) {
            make_part m = PART("R:half Z:float", 0, 0, 33, 100, .packing = (compression)c);
            if (tiled) m.tile_w = 13, m.tile_h = 11;
            OWN(image) *img = make_image(&m, 1);
            const char *path = make_path("bands.exr");
            save(path, img);
            OPEN(image_reader) *r = MADE(image_open(path, NULL, make_threads(), &e));
            for (int i = 0; i < 30; i++) {
                uint32_t row = (uint32_t)(make_random(&seed) % 100);
                uint32_t rows = 1 + (uint32_t)(make_random(&seed) % (100 - row));
                uint16_t half[33 * 100] = {0};
                float z[33 * 100] = {0};
                bool skip_half = i % 3 == 0;
                void *plane[2] = {skip_half ? NULL : half, z};
                CHECK_OK(image_read(r, 0, row, rows, plane, &e));
                const uint16_t *want = (uint16_t *)img->plane[0][0] + row * 33;
                if (!skip_half) assert_memory_equal(half, want, rows * 33 * 2);
                assert_memory_equal(z, (float *)img->plane[0][1] + row * 33, rows * 33 * 4);
            }
        }
}

/* Writes bands in the given order of steps and compares with the file written at once. */
static void check_band_order(const image *img, bool upwards, uint32_t bands) {
    const char *whole = make_path("whole.exr"), *path = make_path("bands.exr");
    save(whole, img);
    const image_part *p = &img->head.part[0];
    image_writer *w = MADE(image_create(path, &img->head, true, make_threads(), &e));
    uint32_t step = image_writer_rows(w, 0) * bands, height = image_height(p);
    uint32_t count = (height - 1) / step + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = (upwards ? count - 1 - i : i) * step;
        uint32_t rows = height - row < step ? height - row : step;
        const void *plane[8];
        for (int c = 0; c < p->channels; c++)
            plane[c] = (uint8_t *)img->plane[0][c] +
                       (size_t)row * image_width(p) * pixel_bytes(p->channel[c].type);
        CHECK_OK(image_write(w, 0, row, rows, plane, &e));
    }
    CHECK_OK(image_commit(&w, &e));
    check_same_file(whole, path);
}

TEST(bands_come_in_any_order) {
    for (int i = 0; i < COMPRESSIONS * 3 * 2 * 3; i++) {
        int order = i % 3, tiled = i / 3 % 2;
        uint32_t bands = 1 + i / 6 % 3;
        make_part m = PART("R:half Z:float", 0, 9, 40, 150, .packing = (compression)(i / 18),
                           .order = (line_order)order);
        if (!WITH_OPENEXR && m.packing > COMPRESSION_PIZ) continue;
        if (tiled) m.tile_w = m.tile_h = 16;
        OWN(image) *img = make_image(&m, 1);
        check_band_order(img, false, bands);
        check_band_order(img, true, bands);
    }
}

TEST(wrong_bands_are_refused) {
    OWN(image) *img = MAKE("Y:half", 0, 0, 10, 40, .packing = COMPRESSION_ZIP);
    const void *plane[1] = {img->plane[0][0]};
    image_writer *w = MADE(image_create(make_path("x.exr"), &img->head, true, make_threads(), &e));
    assert_false(image_write(w, 0, 8, 16, plane, &e));
    assert_false(image_write(w, 0, 0, 15, plane, &e));
    assert_false(image_write(w, 0, 32, 9, plane, &e));
    assert_false(image_write(w, 1, 0, 16, plane, &e));
    CHECK_OK(image_write(w, 0, 16, 16, plane, &e));
    assert_false(image_write(w, 0, 16, 16, plane, &e));
    assert_false(image_commit(&w, &e)); /* rows are missing */
    assert_null(w);
    CHECK_REFUSED(image_load(make_path("x.exr"), NULL, make_threads(), &e), ERR_NO_INPUT, "");
}

RUN_TESTS(NULL, NULL)
