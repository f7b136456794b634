/* NumPy's arrays, byte by byte as numpy.save writes them. */
#include "base/half.h"
#include "unit/check.h"
#include "unit/file_bytes.h"

/* Makes a file with this head, in version 1 or 2 of the format, and these numbers. */
static const char *array(int version, const char *head, const void *numbers, size_t bytes) {
    buffer b = {.n = 0};
    size_t n = strlen(head);
    const uint8_t start[12] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0, (uint8_t)n, (uint8_t)(n >> 8)};
    add(&b, start, version == 1 ? 10 : 12);
    add(&b, head, n);
    add(&b, numbers, bytes);
    return make_file("a.npy", b.bytes, b.n);
}

TEST(every_type_of_number) {
    const uint16_t halfs[6] = {0x3c00, 0x4000, 0x0001, 0xbc00, 0x7bff, 0};
    const float floats[6] = {1, 2, 5.9604645e-8f, -1, 65504, 0};
    const double doubles[6] = {1, 2, 5.9604645e-8, -1, 65504, 0};
    const uint8_t bytes[6] = {1, 2, 3, 4, 255, 0};
    const uint16_t words[6] = {1, 2, 300, 4, 65535, 0};
    const struct {
        const char *name;
        const void *numbers;
        size_t bytes;
        pixel_type type;
        double want[6];
    } CASE[] = {
        {"<f2", halfs, 12, PIXEL_HALF, {1, 2, 0x1p-24, -1, 65504, 0}},
        {"<f4", floats, 24, PIXEL_FLOAT, {1, 2, (double)5.9604645e-8f, -1, 65504, 0}},
        {"<f8", doubles, 48, PIXEL_FLOAT, {1, 2, (double)5.9604645e-8f, -1, 65504, 0}},
        {"|u1", bytes, 6, PIXEL_FLOAT, {1, 2, 3, 4, 255, 0}},
        {"<u2", words, 12, PIXEL_FLOAT, {1, 2, 300, 4, 65535, 0}},
    };
    for (size_t i = 0; i < COUNT(CASE); i++)
        for (int version = 1; version <= 3; version++) {
            char head[128];
            snprintf(head, sizeof head,
                     "{'shape': (2, 1, 3), \"descr\": '%s', 'fortran_order':False}\n",
                     CASE[i].name);
            OWN(image) *img = load(array(version, head, CASE[i].numbers, CASE[i].bytes));
            assert_string_equal(img->head.format, "npy");
            assert_int_equal(img->head.part[0].channel[0].type, CASE[i].type);
            for (uint32_t y = 0; y < 2; y++)
                for (uint32_t c = 0; c < 3; c++)
                    assert_true((double)sample(img, (const char *[]){"R", "G", "B"}[c], 0, y) ==
                                CASE[i].want[3 * y + c]);
        }
}

TEST(every_shape_of_a_picture) {
    const float v[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const struct {
        const char *shape, *first;
        uint32_t w, h;
        int channels;
    } CASE[] = {{"(3, 4)", "Y", 4, 3, 1},
                {"(3, 4, 1)", "Y", 4, 3, 1},
                {"(2, 2, 3)", "R", 2, 2, 3},
                {"(1, 3, 4,)", "R", 3, 1, 4}};
    for (size_t i = 0; i < COUNT(CASE); i++) {
        char head[128];
        snprintf(head, sizeof head, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }",
                 CASE[i].shape);
        OWN(image) *img = load(array(1, head, v, sizeof v));
        assert_int_equal(image_width(&img->head.part[0]), CASE[i].w);
        assert_int_equal(image_height(&img->head.part[0]), CASE[i].h);
        assert_int_equal(img->head.part[0].channels, CASE[i].channels);
        uint32_t x = CASE[i].w - 1, y = CASE[i].h - 1;
        assert_true(sample(img, CASE[i].first, x, y) ==
                    v[(y * CASE[i].w + x) * (uint32_t)CASE[i].channels]);
    }
}

TEST(what_is_no_picture_is_refused) {
    static const char *const CASE[][2] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1)}", "a.astype('<f4')"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1)}", "'<c8'"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1)}", "ascontiguousarray"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "0 sides"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}", "1 sides"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1)}", "4 sides"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1)}", "5 sides"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2)}", "not 1, 3 or 4"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2)}", "2 x 0 pixels"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (70000, 2)}", "70000"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2)}", "pixels"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", "need 16 bytes, 4 are there"},
        {"{'descr': '<f4', 'fortran_order': False}", "damaged"},
        {"{'descr': [('r', '<f4')], 'fortran_order': False, 'shape': (1, 1)}", "damaged"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 1)}", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)", "damaged"},
        {"{'descr", "damaged"},
        {"", "damaged"},
    };
    for (size_t i = 0; i < COUNT(CASE); i++)
        refuse(array(1, CASE[i][0], "\0\0\0\0", 4), CASE[i][1]);
    refuse(make_file("a.npy", "\x93NUMPY\1\0\xff\xff", 10), "65535 bytes");
    refuse(make_file("a.npy", "\x93NUMPY\2\0\xff\xff\xff\xff", 12), "4294967295 bytes");
    refuse(make_file("a.npy", "\x93NUMPY\1\0\x20\0{", 11), "the file has 11");
}

/* What is written is read back, and the head is one of numpy.save's. */
TEST(arrays_are_written) {
    static const struct {
        const char *channels, *head;
    } CASE[] = {
        {"Y:half", "{'descr': '<f2', 'fortran_order': False, 'shape': (5, 7), }"},
        {"B:half G:half R:half Z:float",
         "{'descr': '<f2', 'fortran_order': False, 'shape': (5, 7, 3), }"},
        {"B:half G:float R:half", "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 7, 3), }"},
        {"A:float B:float G:float R:float",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 7, 4), }"},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) {
        OWN(image) *img = MAKE(CASE[i].channels, 3, 4, 7, 5);
        const char *path = make_path("out.npy");
        save(path, img);
        char head[128] = "";
        FILE *f = fopen(path, "rb");
        assert_int_equal(fread(head, 1, sizeof head - 1, f), sizeof head - 1);
        fclose(f);
        assert_memory_equal(head, "\x93NUMPY\1\0\x76\0", 10);
        assert_memory_equal(head + 10, CASE[i].head, strlen(CASE[i].head));
        OWN(image) *back = load(path);
        const image_part *p = &back->head.part[0];
        for (int c = 0; c < p->channels; c++)
            for (uint32_t k = 0; k < 35; k++) {
                float a = sample(img, p->channel[c].name, k % 7, k / 7);
                float b = sample(back, p->channel[c].name, k % 7, k / 7);
                assert_true(a == b || (isnan(a) && isnan(b)));
            }
    }
}

RUN_TESTS(NULL, NULL)
