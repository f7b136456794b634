/* test_rows.c - rows on their way from a source to a sink: bands of which planes are missing, in
 * both orders of lines, with a last band that is shorter; and whole parts. */
#include "base/number.h"
#include "image/rows.h"
#include "unit/check.h"
#include "unit/make_image.h"

/* Wide, so that a band of 16 MB has few rows. */
enum { WIDE = 65536, HIGH = 110, STEP = 5, BEFORE = 5 };

/* A part of two channels: a half that bands have, and a float that the source has. */
typedef struct {
    image_header *head;
    line_order order;
    uint32_t from, rows; /* of the band */
    uint32_t next;       /* the row that the sink waits for: the first, or the one behind it */
    uint32_t bands, least, most;
} way;

static float deep(uint32_t row, uint32_t x) {
    return (float)(row * 131 + x % 131);
}

static uint16_t given(uint32_t row, uint32_t x) {
    return (uint16_t)(row * 7 + x);
}

static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    const way *w = ctx;
    assert_int_equal(part, 0);
    assert_null(plane[0]); /* the band has it */
    assert_non_null(plane[1]);
    assert_true(row >= w->from && row + rows <= w->from + w->rows);
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < WIDE; x++)
            ((float *)plane[1])[(size_t)y * WIDE + x] = deep(row + y, x);
    return true;
}

static uint32_t step_of(void *ctx, int part) {
    return STEP;
}

static bool write_rows(void *ctx, int part, const rows_band *b, err *e) {
    way *w = ctx;
    const bool up = w->order == LINES_DECREASING;
    assert_int_equal(up ? b->row + b->rows : b->row, w->next);
    assert_true(b->rows > 0 && b->row >= w->from && b->row + b->rows <= w->from + w->rows);
    assert_true(b->rows % STEP == 0 || b->row + b->rows == w->from + w->rows);
    w->next = up ? b->row : b->row + b->rows;
    for (uint32_t y = 0; y < b->rows; y++)
        for (uint32_t x = 0; x < WIDE; x += 97) {
            const size_t at = (size_t)y * WIDE + x;
            assert_int_equal(((uint16_t *)b->plane[0])[at], given(b->row + y, x));
            assert_true(((float *)b->plane[1])[at] == deep(b->row + y, x));
        }
    w->bands++;
    w->least = w->least ? min_u32(w->least, b->rows) : b->rows;
    w->most = max_u32(w->most, b->rows);
    return true;
}

static void bring(line_order order) {
    OWN(image) *img = make_blank("A:half Z:float", -3, 9, WIDE, HIGH);
    image_part *p = &img->head.part[0];
    p->order = order;
    way w = {.head = &img->head, .order = order, .from = BEFORE, .rows = HIGH - BEFORE};
    w.next = order == LINES_DECREASING ? w.from + w.rows : w.from;
    const rows_source rest = {.ctx = &w, .head = w.head, .read = read_rows};
    const rows_sink to = {.ctx = &w, .step = step_of, .write = write_rows};
    uint16_t *half = img->plane[0][0];
    for (uint32_t y = 0; y < w.rows; y++)
        for (uint32_t x = 0; x < WIDE; x++) half[(size_t)y * WIDE + x] = given(w.from + y, x);
    void *plane[] = {half, NULL};
    CHECK_OK(rows_write(&rest, &to, 0, &(rows_band){p, w.from, w.rows, plane, false}, &e));
    assert_int_equal(w.next, order == LINES_DECREASING ? w.from : w.from + w.rows);
    assert_int_equal(w.most, rows_some(p, STEP));
    assert_int_equal(w.bands, ceil_div_u32(w.rows, w.most));
    assert_true(w.bands > 2 && w.least == w.rows % w.most); /* the last one is short */
}

TEST(missing_planes_are_read_from_the_top) {
    bring(LINES_INCREASING);
}

TEST(missing_planes_are_read_from_the_bottom) {
    bring(LINES_DECREASING);
}

/* A band that has all of its planes goes on as it is. */
typedef struct {
    const rows_band *was;
    int calls;
} once;

static bool write_once(void *ctx, int part, const rows_band *b, err *e) {
    once *o = ctx;
    o->calls++;
    assert_int_equal(part, 3);
    assert_ptr_equal(b, o->was);
    return true;
}

TEST(a_whole_band_is_written_as_it_is) {
    OWN(image) *img = make_blank("A:half Z:float", 0, 0, 3, 4);
    const rows_band b = {&img->head.part[0], 1, 3, img->plane[0], true};
    once o = {.was = &b};
    const rows_source rest = {.head = &img->head};
    CHECK_OK(rows_write(&rest, &(rows_sink){.ctx = &o, .write = write_once}, 3, &b, &e));
    assert_int_equal(o.calls, 1);
}

/* What nobody has is not written as if it were there, nor read as another type. */
TEST(rows_that_nobody_has_are_refused) {
    OWN(image) *img = make_blank("A:half Z:float", 0, 0, 3, 4);
    way w = {.head = &img->head, .rows = 4};
    const rows_sink to = {.ctx = &w, .step = step_of, .write = write_rows};
    const rows_source rest = {.ctx = &w, .head = w.head, .read = read_rows};
    for (int i = 0; i < 2; i++) {
        OWN(image) *other = make_blank(i ? "A:half D:float" : "A:half Z:half", 0, 0, 3, 4);
        void *plane[] = {other->plane[0][0], NULL};
        CHECK_REFUSED(
            rows_write(&rest, &to, 0, &(rows_band){&other->head.part[0], 0, 4, plane, false}, &e),
            ERR_INTERNAL, i ? "'D'" : "'Z'");
    }
    assert_int_equal(w.bands, 0);
}

/* Parts that are handed on stand behind those that are there, each with its own planes. */
TEST(parts_are_taken_over) {
    OWN(image) *to = image_plain(3, 2, 1, PIXEL_FLOAT, &e);
    for (uint32_t i = 0; i < 2; i++) {
        OWN(image) *from = image_plain(5 + i, 7, 3, PIXEL_HALF, &e);
        CHECK_OK(to && from, e);
        ((uint16_t *)from->plane[0][2])[0] = (uint16_t)(i + 1);
        CHECK_OK(image_take_part(to, from, &e));
        assert_int_equal(from->head.parts, 0);
    }
    assert_int_equal(to->head.parts, 3);
    assert_int_equal(image_width(&to->head.part[0]), 3);
    assert_int_equal(to->head.part[0].channels, 1);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(image_width(&to->head.part[1 + i]), 5 + i);
        assert_int_equal(to->head.part[1 + i].channels, 3);
        assert_int_equal(((const uint16_t *)to->plane[1 + i][2])[0], i + 1);
    }
}

RUN_TESTS(NULL, NULL)
