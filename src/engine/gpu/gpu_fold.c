#include "engine/gpu/gpu_fold.h"

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
    OP_CONSTANT_TRUE = 41,
    OP_CONSTANT_FALSE = 42,
    OP_CONSTANT = 43,
    OP_SPEC_TRUE = 48,
    OP_SPEC_FALSE = 49,
    OP_SPEC_CONSTANT = 50,
    OP_SPEC_OP = 52,
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
    NOP_WORD = 1 << 16,   /* a whole instruction */
    SPEC_ID = 1,
    HEADER = 5,
    BOUND = 3
};

/* --- folding branches ------------------------------------------------------------------------ */

typedef struct {
    uint32_t *value;
    uint8_t *known;
    uint32_t *spec_id; /* SpecId + 1 of a result id */
    uint8_t *has_phi;  /* of a label: its block names where it was entered from */
    uint32_t bound;
} table;

static void set(table *t, uint32_t id, uint32_t value) {
    if (id >= t->bound) return;
    t->value[id] = value;
    t->known[id] = 1;
}

static bool get(const table *t, uint32_t id, uint32_t *value) {
    if (id >= t->bound || !t->known[id]) return false;
    *value = t->value[id];
    return true;
}

/* The 32-bit integer and boolean operations that the shaders' constants are made with. */
static bool evaluate(uint32_t op, uint32_t a, uint32_t b, uint32_t c, uint32_t *r) {
    switch (op) {
    case 128: *r = a + b; return true;
    case 130: *r = a - b; return true;
    case 132: *r = a * b; return true;
    case 134: *r = b ? a / b : 0; return b != 0;
    case 137: *r = b ? a % b : 0; return b != 0;
    case 164:
    case 170: *r = a == b; return true; /* LogicalEqual, IEqual */
    case 165:
    case 171: *r = a != b; return true;
    case 166: *r = a | b; return true; /* LogicalOr */
    case 167: *r = a & b; return true;
    case 168: *r = !a; return true;
    case 169: *r = a ? b : c; return true; /* Select */
    case 172: *r = a > b; return true;
    case 174: *r = a >= b; return true;
    case 176: *r = a < b; return true;
    case 178: *r = a <= b; return true;
    default: return false;
    }
}

static void fold_operation(table *t, const uint32_t *w, uint32_t length) {
    uint32_t v[3] = {0}, r;
    uint32_t operands = length - 4;
    if (operands < 1 || operands > 3) return;
    for (uint32_t i = 0; i < operands; i++)
        if (!get(t, w[4 + i], &v[i])) return;
    if (evaluate(w[3], v[0], v[1], v[2], &r)) set(t, w[2], r);
}

static void note_constant(table *t, const uint32_t *w, uint32_t op, uint32_t length,
                          const uint32_t *id, const uint32_t *value, uint32_t constants) {
    if (op == OP_SPEC_OP && length >= 5) {
        fold_operation(t, w, length);
        return;
    }
    if (op == OP_CONSTANT || op == OP_SPEC_CONSTANT) {
        if (length == 4) set(t, w[2], w[3]);
    } else if (op == OP_CONSTANT_TRUE || op == OP_SPEC_TRUE) {
        set(t, w[2], 1);
    } else if (op == OP_CONSTANT_FALSE || op == OP_SPEC_FALSE) {
        set(t, w[2], 0);
    } else {
        return;
    }
    uint32_t spec = w[2] < t->bound ? t->spec_id[w[2]] : 0;
    for (uint32_t i = 0; spec && i < constants; i++)
        if (id[i] == spec - 1) set(t, w[2], value[i]);
}

/* `w` is a conditional branch, `merge` the selection merge right before it or NULL (a loop's). */
static bool fold_branch(const table *t, uint32_t *w, uint32_t length, uint32_t *merge) {
    uint32_t v;
    if (!merge || t->has_phi[merge[1] % t->bound] || !get(t, w[1], &v)) return false;
    uint32_t target = v ? w[2] : w[3];
    for (int i = 0; i < 3; i++) merge[i] = NOP_WORD;
    w[0] = NOP_WORD;
    for (uint32_t i = 1; i < length; i++) w[i] = NOP_WORD;
    /* A block ends with its branch, so the branch takes the last two words. */
    w[length - 2] = 2u << 16 | OP_BRANCH;
    w[length - 1] = target;
    return true;
}

static void note_phis(table *t, const uint32_t *words, size_t count) {
    uint32_t label = 0;
    for (size_t i = HEADER; i < count;) {
        uint32_t op = words[i] & 0xffff, length = words[i] >> 16;
        if (length == 0 || i + length > count) return;
        if (op == OP_PHI && label) t->has_phi[label % t->bound] = 1;
        label = op == OP_LABEL && length == 2 ? words[i + 1] : op == OP_PHI ? label : 0;
        i += length;
    }
}

uint32_t gpu_fold(uint32_t *words, size_t count, const uint32_t *id, const uint32_t *value,
                  uint32_t constants) {
    if (count < HEADER) return 0;
    table t = {.bound = words[BOUND]};
    t.value = mem_new(t.bound, sizeof *t.value, "shader constants", NULL);
    t.known = mem_new(t.bound, sizeof *t.known, "shader constants", NULL);
    t.spec_id = mem_new(t.bound, sizeof *t.spec_id, "shader constants", NULL);
    uint32_t folded = 0, *merge = NULL;
    t.has_phi = mem_new(t.bound, sizeof *t.has_phi, "shader constants", NULL);
    bool ready = t.bound && t.value && t.known && t.spec_id &&
                 t.has_phi; /* without memory nothing is folded */
    if (ready) note_phis(&t, words, count);
    for (size_t i = HEADER; ready && i < count;) {
        uint32_t *w = words + i, op = w[0] & 0xffff, length = w[0] >> 16;
        if (length == 0 || i + length > count) break;
        if (op == OP_DECORATE && length == 4 && w[2] == SPEC_ID && w[1] < t.bound)
            t.spec_id[w[1]] = w[3] + 1;
        if (length >= 3) note_constant(&t, w, op, length, id, value, constants);
        if (op == OP_BRANCH_CONDITIONAL && length >= 4) folded += fold_branch(&t, w, length, merge);
        merge = op == OP_SELECTION_MERGE && length == 3 ? w : NULL;
        i += length;
    }
    mem_free(t.value);
    mem_free(t.known);
    mem_free(t.spec_id);
    mem_free(t.has_phi);
    return folded;
}

/* --- dropping what is not reached ------------------------------------------------------------ */

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
