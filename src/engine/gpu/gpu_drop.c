#include "engine/gpu/gpu_drop.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

/* SPIR-V's numbers for the few instructions that matter here (SPIR-V specification, 3.52). */
enum {
    OP_NOP = 0,
    OP_NAME = 5,
    OP_MEMBER_NAME = 6,
    OP_LINE = 8,
    OP_ENTRY_POINT = 15,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_CALL = 57,
    OP_STORE = 62,
    OP_COPY_MEMORY_SIZED = 64,
    OP_DECORATE = 71,
    OP_CONTROL_BARRIER = 224,
    OP_MEMORY_BARRIER = 225,
    OP_PHI = 245,
    OP_LOOP_MERGE = 246,
    OP_SELECTION_MERGE = 247,
    OP_LABEL = 248,
    OP_BRANCH = 249,
    OP_BRANCH_CONDITIONAL = 250,
    OP_SWITCH = 251,
    OP_UNREACHABLE = 255, /* the last of the ends of a block */
    HEADER = 5,
    BOUND = 3
};

/* Ids of functions and of blocks: where they begin, and which of them are reached from `main`. */
typedef struct {
    uint32_t *words;
    size_t count;
    size_t *start; /* of an id; 0: it is neither */
    uint8_t *reached;
    uint32_t bound;
    uint32_t *todo, waiting;
} reach;

static void reach_id(reach *r, uint32_t id) {
    if (id >= r->bound || !r->start[id] || r->reached[id]) return;
    r->reached[id] = 1;
    r->todo[r->waiting++] = id;
}

/* Where an instruction may go on, or what it calls. Merges count: they are part of the structure.
 */
static void reach_targets(reach *r, const uint32_t *w, uint32_t op, uint32_t length) {
    if (op == OP_CALL && length >= 4) reach_id(r, w[3]);
    if ((op == OP_SELECTION_MERGE || op == OP_BRANCH) && length >= 2) reach_id(r, w[1]);
    if (op == OP_LOOP_MERGE && length >= 3) reach_id(r, w[1]), reach_id(r, w[2]);
    if (op == OP_BRANCH_CONDITIONAL && length >= 4) reach_id(r, w[2]), reach_id(r, w[3]);
    if (op == OP_SWITCH && length >= 3) {
        reach_id(r, w[2]);
        for (uint32_t i = 4; i < length; i += 2) reach_id(r, w[i]);
    }
}

/* From the beginning of a block, or of a function and its first block, to the end of the block. */
static void reach_from(reach *r, size_t i) {
    while (i < r->count) {
        const uint32_t *w = r->words + i;
        uint32_t op = w[0] & 0xffff, length = w[0] >> 16;
        if (op == OP_LABEL && length >= 2 && w[1] < r->bound) r->reached[w[1]] = 1;
        reach_targets(r, w, op, length);
        i += length;
        if ((op >= OP_BRANCH && op <= OP_UNREACHABLE) || op == OP_FUNCTION_END) return;
    }
}

/* What an instruction in a function defines, or 0. */
static uint32_t result_of(const uint32_t *w, uint32_t op, uint32_t length) {
    bool none = op == OP_LINE || (op >= OP_STORE && op <= OP_COPY_MEMORY_SIZED) ||
                op == OP_CONTROL_BARRIER || op == OP_MEMORY_BARRIER || op == OP_LOOP_MERGE ||
                op == OP_SELECTION_MERGE || (op >= OP_BRANCH && op <= OP_UNREACHABLE) ||
                op == OP_FUNCTION_END;
    if (op == OP_LABEL) return length >= 2 ? w[1] : 0;
    return none || length < 3 ? 0 : w[2];
}

/* Keeps an instruction, or leaves it out, at the end of what is kept. */
static size_t keep(uint32_t *words, size_t to, size_t from, bool wanted) {
    uint32_t length = words[from] >> 16;
    if (!wanted) return to;
    memmove(words + to, words + from, length * sizeof *words);
    return to + length;
}

/* A block that is reached may say of its values from which blocks they come. Nothing is dropped
 * where one of those would be missing. */
static bool phis_are_whole(const reach *r) {
    bool here = false;
    for (size_t i = HEADER; i < r->count; i += r->words[i] >> 16) {
        const uint32_t *w = r->words + i;
        uint32_t op = w[0] & 0xffff, length = w[0] >> 16;
        if (op == OP_LABEL && length >= 2) here = w[1] < r->bound && r->reached[w[1]];
        for (uint32_t k = 4; here && op == OP_PHI && k < length; k += 2)
            if (w[k] >= r->bound || !r->reached[w[k]]) return false;
    }
    return true;
}

/* Leaves out functions and blocks that are not reached, and marks what they defined. */
static size_t drop_code(reach *r, uint8_t *gone) {
    size_t to = HEADER;
    bool function = true, block = true; /* wanted */
    for (size_t i = HEADER, next; i < r->count; i = next) {
        const uint32_t *w = r->words + i;
        uint32_t op = w[0] & 0xffff, length = w[0] >> 16;
        next = i + length;
        if (op == OP_FUNCTION && length >= 3) function = w[2] >= r->bound || r->reached[w[2]];
        if (op == OP_LABEL && length >= 2) block = w[1] >= r->bound || r->reached[w[1]];
        if (op == OP_FUNCTION_END) block = true;
        bool wanted = function && block;
        uint32_t id = wanted ? 0 : result_of(w, op, length);
        if (id && id < r->bound) gone[id] = 1;
        to = keep(r->words, to, i, wanted && op != OP_NOP);
        if (op == OP_FUNCTION_END) function = true;
    }
    return to;
}

static size_t drop_names(uint32_t *words, size_t count, uint32_t bound, const uint8_t *gone) {
    size_t to = HEADER;
    for (size_t i = HEADER, next; i < count; i = next) {
        const uint32_t *w = words + i;
        uint32_t op = w[0] & 0xffff, length = w[0] >> 16;
        next = i + length;
        bool names = op == OP_NAME || op == OP_MEMBER_NAME || op == OP_DECORATE;
        to = keep(words, to, i, !(names && length >= 2 && w[1] < bound && gone[w[1]]));
    }
    return to;
}

/* Every instruction ends within the module. */
static bool is_whole(const uint32_t *words, size_t count) {
    size_t i = HEADER;
    while (i < count && words[i] >> 16) i += words[i] >> 16;
    return i == count;
}

/* Where functions and blocks begin; then `main`. */
static void note_starts(reach *r) {
    for (size_t i = HEADER; i < r->count; i += r->words[i] >> 16) {
        const uint32_t *w = r->words + i;
        uint32_t op = w[0] & 0xffff, length = w[0] >> 16, id = 0;
        if (op == OP_FUNCTION && length >= 3) id = w[2];
        if (op == OP_LABEL && length >= 2) id = w[1];
        if (id && id < r->bound) r->start[id] = i;
    }
    for (size_t i = HEADER; i < r->count; i += r->words[i] >> 16)
        if ((r->words[i] & 0xffff) == OP_ENTRY_POINT && r->words[i] >> 16 >= 3)
            reach_id(r, r->words[i + 2]);
}

size_t gpu_drop(uint32_t *words, size_t count) {
    if (count < HEADER || !is_whole(words, count)) return count;
    reach r = {.words = words, .count = count, .bound = words[BOUND]};
    r.start = mem_new(r.bound, sizeof *r.start, "shader blocks", NULL);
    r.reached = mem_new(r.bound, sizeof *r.reached, "shader blocks", NULL);
    r.todo = mem_new(r.bound, sizeof *r.todo, "shader blocks", NULL);
    uint8_t *gone = mem_new(r.bound, sizeof *gone, "shader blocks", NULL);
    if (r.bound && r.start && r.reached && r.todo && gone) { /* without memory nothing is dropped */
        note_starts(&r);
        bool any = r.waiting > 0;
        while (r.waiting) reach_from(&r, r.start[r.todo[--r.waiting]]);
        if (any && phis_are_whole(&r))
            count = drop_names(words, drop_code(&r, gone), r.bound, gone);
    }
    mem_free(r.start);
    mem_free(r.reached);
    mem_free(r.todo);
    mem_free(gone);
    return count;
}
