#include "image/exr/exr_layout.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/exr/exr_chunk.h"

static uint32_t level_length(uint32_t length, int level, bool round_up) {
    uint64_t n = ((uint64_t)length + (round_up ? ((uint64_t)1 << level) - 1 : 0)) >> level;
    return n ? (uint32_t)n : 1;
}

/* Levels halve a length until it is one: floor(log2(n)) + 1 of them, or with ceil. */
static int level_count(uint32_t length, bool round_up) {
    int levels = 1;
    while (((uint64_t)1 << levels) <= length) levels++;
    bool power_of_two = ((uint64_t)1 << (levels - 1)) == length;
    return levels + (round_up && !power_of_two);
}

static uint64_t all_levels(const exr_layout *l, exr_levels levels, bool up) {
    if (levels == LEVELS_ONE) return exr_layout_chunks(l);
    uint64_t sum = 0;
    if (levels == LEVELS_MIPMAP) {
        int n = level_count(max_u32(l->w, l->h), up);
        for (int i = 0; i < n; i++)
            sum += (uint64_t)ceil_div_u32(level_length(l->w, i, up), l->cols) *
                   ceil_div_u32(level_length(l->h, i, up), l->lines);
        return sum;
    }
    for (int y = 0; y < level_count(l->h, up); y++)
        for (int x = 0; x < level_count(l->w, up); x++)
            sum += (uint64_t)ceil_div_u32(level_length(l->w, x, up), l->cols) *
                   ceil_div_u32(level_length(l->h, y, up), l->lines);
    return sum;
}

bool exr_layout_make(exr_layout *out, const image_part *p, exr_levels levels, bool round_up,
                     err *e) {
    exr_layout l = {.w = image_width(p), .h = image_height(p)};
    l.cols = p->tile_w ? p->tile_w : l.w;
    l.lines = p->tile_w ? p->tile_h : exr_chunk_lines(p->packing);
    l.across = ceil_div_u32(l.w, l.cols);
    l.down = ceil_div_u32(l.h, l.lines);
    l.table = all_levels(&l, levels, round_up);
    for (int c = 0; c < p->channels; c++) l.pixel += pixel_bytes(p->channel[c].type);
    size_t pixels = (size_t)min_u32(l.cols, l.w) * min_u32(l.lines, l.h);
    /* Chunks state their size in 31 bits. */
    if (!mem_mul(pixels, l.pixel, &l.raw) || l.raw > INT32_MAX)
        return err_set(e, ERR_DATA, "a chunk of %zu pixels of %zu bytes is more than %d bytes",
                       pixels, l.pixel, INT32_MAX);
    *out = l;
    return true;
}

exr_block exr_layout_block(const exr_layout *l, uint64_t index) {
    exr_block b = {.x = (uint32_t)(index % l->across) * l->cols,
                   .y = (uint32_t)(index / l->across) * l->lines};
    b.w = min_u32(l->cols, l->w - b.x);
    b.h = min_u32(l->lines, l->h - b.y);
    return b;
}

uint64_t exr_layout_stored(const exr_layout *l, line_order order, uint64_t n) {
    if (order != LINES_DECREASING) return n;
    uint64_t row = n / l->across, col = n % l->across;
    return (l->down - 1 - row) * l->across + col;
}
