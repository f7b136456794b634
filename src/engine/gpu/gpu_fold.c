#include "engine/gpu/gpu_fold.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

/* SPIR-V's numbers for the few instructions that matter here (SPIR-V specification, 3.52). */
enum {
    OP_NOP = 1 << 16, /* one word long */
    OP_CONSTANT_TRUE = 41,
    OP_CONSTANT_FALSE = 42,
    OP_CONSTANT = 43,
    OP_SPEC_TRUE = 48,
    OP_SPEC_FALSE = 49,
    OP_SPEC_CONSTANT = 50,
    OP_SPEC_OP = 52,
    OP_DECORATE = 71,
    SPEC_ID = 1,
    OP_PHI = 245,
    OP_SELECTION_MERGE = 247,
    OP_LABEL = 248,
    OP_BRANCH = 249,
    OP_BRANCH_CONDITIONAL = 250,
    HEADER = 5,
    BOUND = 3
};

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
    for (int i = 0; i < 3; i++) merge[i] = OP_NOP;
    w[0] = OP_NOP;
    for (uint32_t i = 1; i < length; i++) w[i] = OP_NOP;
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
