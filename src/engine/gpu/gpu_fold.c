#include "engine/gpu/gpu_fold.h"

#include "base/mem.h"

/* SPIR-V's numbers for the few instructions that matter here (SPIR-V specification, 3.52). A module
 * is a header and instructions; the first word of each has its length in words and its number. */
enum { HEADER = 5, BOUND = 3, SPEC_ID = 1, NOP_WORD = 1 << 16 /* a whole instruction */ };
enum { OP_NOP = 0, OP_NAME = 5, OP_MEMBER_NAME = 6, OP_LINE = 8, OP_DECORATE = 71 };
enum { OP_EXTENSION = 10, OP_ENTRY_POINT = 15, OP_EXECUTION_MODE = 16, OP_CAPABILITY = 17 };
enum { OP_CONSTANT_TRUE = 41, OP_CONSTANT_FALSE = 42, OP_CONSTANT = 43 };
enum { OP_SPEC_TRUE = 48, OP_SPEC_FALSE = 49, OP_SPEC_CONSTANT = 50, OP_SPEC_OP = 52 };
enum { OP_FUNCTION = 54, OP_FUNCTION_END = 56, OP_CALL = 57, OP_STORE = 62 };
enum { OP_COPY_MEMORY_SIZED = 64, OP_CONTROL_BARRIER = 224, OP_MEMORY_BARRIER = 225 };
enum { OP_PHI = 245, OP_LOOP_MERGE = 246, OP_SELECTION_MERGE = 247, OP_LABEL = 248 };
/* The ends of a block, from the first to the last. */
enum { OP_BRANCH = 249, OP_BRANCH_CONDITIONAL = 250, OP_SWITCH = 251, OP_UNREACHABLE = 255 };

/* Goes through the instructions of a module. Begins zeroed. */
typedef struct {
    size_t at;
    uint32_t *w, op, length;
} fold_cursor;

/* Steps to the next instruction; false at the end, or before one that reaches beyond it. The words
 * of the instruction before may have been changed or moved meanwhile. */
static bool next(fold_cursor *c, uint32_t *words, size_t count) {
    c->at = c->w ? c->at + c->length : HEADER;
    if (c->at >= count) return false;
    c->w = words + c->at;
    c->op = c->w[0] & 0xffff;
    c->length = c->w[0] >> 16;
    return c->length > 0 && c->length <= count - c->at;
}

typedef struct {
    uint32_t value, spec_id; /* spec_id: its SpecId + 1; 0: none */
    bool known;              /* `value` counts */
    bool has_phi;            /* of a label: its block names the blocks that it was entered from */
} fact;

typedef struct {
    fact *of; /* by id */
    uint32_t bound;
    const uint32_t *given_id, *given; /* SpecIds and values that were given for them */
    uint32_t given_count;
} table;

static void fold_set(table *t, uint32_t id, uint32_t value) {
    if (id >= t->bound) return;
    t->of[id].value = value;
    t->of[id].known = true;
}

static bool get(const table *t, uint32_t id, uint32_t *value) {
    if (id >= t->bound || !t->of[id].known) return false;
    *value = t->of[id].value;
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

/* Notes the value of an instruction that makes a constant: a given one, or its default. */
static void note_constant(table *t, const uint32_t *w, uint32_t op, uint32_t length) {
    uint32_t v[3] = {0}, r, operands = length - 4;
    if (op == OP_SPEC_OP) {
        if (length < 5 || operands > 3) return;
        for (uint32_t i = 0; i < operands; i++)
            if (!get(t, w[4 + i], &v[i])) return;
        if (evaluate(w[3], v[0], v[1], v[2], &r)) fold_set(t, w[2], r);
        return;
    }
    if (op == OP_CONSTANT || op == OP_SPEC_CONSTANT) {
        if (length == 4) fold_set(t, w[2], w[3]);
    } else if (op == OP_CONSTANT_TRUE || op == OP_SPEC_TRUE) {
        fold_set(t, w[2], 1);
    } else if (op == OP_CONSTANT_FALSE || op == OP_SPEC_FALSE) {
        fold_set(t, w[2], 0);
    } else {
        return;
    }
    uint32_t spec = w[2] < t->bound ? t->of[w[2]].spec_id : 0;
    for (uint32_t i = 0; spec && i < t->given_count; i++)
        if (t->given_id[i] == spec - 1) fold_set(t, w[2], t->given[i]);
}

/* Makes a conditional branch plain. `merge`: the selection merge before it, or NULL (a loop's). */
static bool fold_branch(const table *t, uint32_t *w, uint32_t length, uint32_t *merge) {
    uint32_t v;
    if (!merge || t->of[merge[1] % t->bound].has_phi || !get(t, w[1], &v)) return false;
    uint32_t target = v ? w[2] : w[3];
    for (int i = 0; i < 3; i++) merge[i] = NOP_WORD;
    for (uint32_t i = 0; i < length; i++) w[i] = NOP_WORD;
    /* A block ends with its branch, so the branch takes the last two words. */
    w[length - 2] = 2u << 16 | OP_BRANCH;
    w[length - 1] = target;
    return true;
}

uint32_t gpu_fold(uint32_t *words, size_t count, const uint32_t *id, const uint32_t *value,
                  uint32_t constants) {
    if (count < HEADER) return 0;
    table t = {.bound = words[BOUND], .given_id = id, .given = value, .given_count = constants};
    t.of = mem_new(t.bound, sizeof *t.of, "shader constants", NULL);
    uint32_t folded = 0, label = 0, *merge = NULL;
    bool ready = t.bound && t.of; /* without memory nothing is folded */
    for (fold_cursor c = {0}; ready && next(&c, words, count);) {
        if (c.op == OP_PHI && label) t.of[label % t.bound].has_phi = true;
        if (c.op != OP_PHI) label = c.op == OP_LABEL && c.length == 2 ? c.w[1] : 0;
    }
    for (fold_cursor c = {0}; ready && next(&c, words, count);) {
        uint32_t *w = c.w;
        if (c.op == OP_DECORATE && c.length == 4 && w[2] == SPEC_ID && w[1] < t.bound)
            t.of[w[1]].spec_id = w[3] + 1;
        if (c.length >= 3) note_constant(&t, w, c.op, c.length);
        if (c.op == OP_BRANCH_CONDITIONAL && c.length >= 4)
            folded += fold_branch(&t, w, c.length, merge);
        merge = c.op == OP_SELECTION_MERGE && c.length == 3 ? w : NULL;
    }
    mem_free(t.of);
    return folded;
}

/* Where a function or a block begins, and whether it is reached from `main`. */
typedef struct {
    size_t start; /* 0: the id is neither */
    bool reached;
    bool gone; /* of any id: the instruction that defines it was left out */
} fold_place;

typedef struct {
    uint32_t *words;
    size_t count;
    fold_place *of; /* by id */
    uint32_t bound;
    uint32_t *todo, waiting; /* functions and blocks that are reached and not yet read */
} reach;

static void reach_id(reach *r, uint32_t id) {
    if (id >= r->bound || !r->of[id].start || r->of[id].reached) return;
    r->of[id].reached = true;
    r->todo[r->waiting++] = id;
}

/* Reads a block, or a function with its first block, from its beginning to its end, and reaches
 * where it may go on and what it calls. Merges count: they are part of the structure. */
static void reach_from(reach *r, size_t start) {
    fold_cursor c = {.at = start, .w = r->words};
    while (next(&c, r->words, r->count)) {
        const uint32_t *w = c.w;
        uint32_t op = c.op, length = c.length;
        if (op == OP_LABEL && length >= 2 && w[1] < r->bound) r->of[w[1]].reached = true;
        if (op == OP_CALL && length >= 4) reach_id(r, w[3]);
        if ((op == OP_SELECTION_MERGE || op == OP_BRANCH) && length >= 2) reach_id(r, w[1]);
        if (op == OP_LOOP_MERGE && length >= 3) reach_id(r, w[1]), reach_id(r, w[2]);
        if (op == OP_BRANCH_CONDITIONAL && length >= 4) reach_id(r, w[2]), reach_id(r, w[3]);
        if (op == OP_SWITCH && length >= 3) {
            reach_id(r, w[2]);
            for (uint32_t i = 4; i < length; i += 2) reach_id(r, w[i]);
        }
        if ((op >= OP_BRANCH && op <= OP_UNREACHABLE) || op == OP_FUNCTION_END) return;
    }
}

/* Returns the id that an instruction in a function defines, or 0. */
static uint32_t result_of(const fold_cursor *c) {
    uint32_t op = c->op;
    bool none = op == OP_LINE || (op >= OP_STORE && op <= OP_COPY_MEMORY_SIZED) ||
                op == OP_CONTROL_BARRIER || op == OP_MEMORY_BARRIER || op == OP_LOOP_MERGE ||
                op == OP_SELECTION_MERGE || (op >= OP_BRANCH && op <= OP_UNREACHABLE) ||
                op == OP_FUNCTION_END;
    if (op == OP_LABEL) return c->length >= 2 ? c->w[1] : 0;
    return none || c->length < 3 ? 0 : c->w[2];
}

/* Moves an instruction to word `to`, the end of those that are kept; returns the new end. */
static size_t fold_keep(uint32_t *words, size_t to, const fold_cursor *c) {
    memmove(words + to, c->w, c->length * sizeof *words);
    return to + c->length;
}

/* A block that is reached may say of its values from which blocks they come. Nothing is dropped
 * where one of those would be missing. */
static bool phis_are_whole(const reach *r) {
    bool here = false;
    for (fold_cursor c = {0}; next(&c, r->words, r->count);) {
        if (c.op == OP_LABEL && c.length >= 2) here = c.w[1] < r->bound && r->of[c.w[1]].reached;
        for (uint32_t k = 4; here && c.op == OP_PHI && k < c.length; k += 2)
            if (c.w[k] >= r->bound || !r->of[c.w[k]].reached) return false;
    }
    return true;
}

/* Leaves out functions and blocks that are not reached, and notes which ids are gone with them. */
static void drop_code(reach *r) {
    size_t to = HEADER;
    bool function = true, block = true; /* wanted */
    for (fold_cursor c = {0}; next(&c, r->words, r->count);) {
        if (c.op == OP_FUNCTION && c.length >= 3)
            function = c.w[2] >= r->bound || r->of[c.w[2]].reached;
        if (c.op == OP_LABEL && c.length >= 2) block = c.w[1] >= r->bound || r->of[c.w[1]].reached;
        if (c.op == OP_FUNCTION_END) block = true;
        uint32_t id = function && block ? 0 : result_of(&c);
        if (id && id < r->bound) r->of[id].gone = true;
        if (function && block && c.op != OP_NOP) to = fold_keep(r->words, to, &c);
        if (c.op == OP_FUNCTION_END) function = true;
    }
    r->count = to;
}

static void drop_names(reach *r) {
    size_t to = HEADER;
    for (fold_cursor c = {0}; next(&c, r->words, r->count);) {
        bool names = c.op == OP_NAME || c.op == OP_MEMBER_NAME || c.op == OP_DECORATE;
        if (names && c.length >= 2 && c.w[1] < r->bound && r->of[c.w[1]].gone) continue;
        to = fold_keep(r->words, to, &c);
    }
    r->count = to;
}

size_t gpu_drop(uint32_t *words, size_t count) {
    fold_cursor cursor = {0};
    while (next(&cursor, words, count)) {
    }
    if (count < HEADER || cursor.at != count) return count; /* not a whole module */
    reach r = {.words = words, .count = count, .bound = words[BOUND]};
    r.of = mem_new(r.bound, sizeof *r.of, "shader blocks", NULL);
    r.todo = mem_new(r.bound, sizeof *r.todo, "shader blocks", NULL);
    if (!r.bound || !r.of || !r.todo) goto end; /* without memory nothing is dropped */
    for (fold_cursor c = {0}; next(&c, words, count);) {
        uint32_t id = c.op == OP_FUNCTION && c.length >= 3 ? c.w[2]
                      : c.op == OP_LABEL && c.length >= 2  ? c.w[1]
                                                           : 0;
        if (id && id < r.bound) r.of[id].start = c.at;
    }
    for (fold_cursor c = {0}; next(&c, words, count);)
        if (c.op == OP_ENTRY_POINT && c.length >= 3) reach_id(&r, c.w[2]);
    bool any = r.waiting > 0;
    while (r.waiting) reach_from(&r, r.of[r.todo[--r.waiting]].start);
    if (any && phis_are_whole(&r)) {
        drop_code(&r);
        drop_names(&r);
    }
end:
    mem_free(r.of);
    mem_free(r.todo);
    return r.count;
}

/* Of SPV_KHR_float_controls: capabilities, and modes of an entry point. */
enum { KEEPS_SUBNORMALS = 4464, ROUNDS_TO_EVEN = 4467, KEEP = 4459, TO_EVEN = 4462, HALFS = 16 };

size_t gpu_add_half_modes(uint32_t *to, const uint32_t *words, size_t count) {
    static const char NAME[24] = "SPV_KHR_float_controls";
    size_t n = HEADER;
    bool named = false;
    memcpy(to, words, HEADER * sizeof *to);
    for (fold_cursor c = {0}; next(&c, (uint32_t *)(uintptr_t)words, count);) {
        if (!named && c.op != OP_CAPABILITY) {
            const uint32_t more[] = {2u << 16 | OP_CAPABILITY, KEEPS_SUBNORMALS,
                                     2u << 16 | OP_CAPABILITY, ROUNDS_TO_EVEN,
                                     7u << 16 | OP_EXTENSION};
            memcpy(to + n, more, sizeof more);
            n += COUNT(more);
            memcpy(to + n, NAME, sizeof NAME);
            n += sizeof NAME / sizeof *to;
            named = true;
        }
        memcpy(to + n, c.w, c.length * sizeof *to);
        n += c.length;
        if (c.op != OP_ENTRY_POINT) continue;
        const uint32_t more[] = {4u << 16 | OP_EXECUTION_MODE, c.w[2], KEEP,    HALFS,
                                 4u << 16 | OP_EXECUTION_MODE, c.w[2], TO_EVEN, HALFS};
        memcpy(to + n, more, sizeof more);
        n += COUNT(more);
    }
    return n;
}
