#include "math/lanes.h"

#include "base/host.h"
#include "base/mem.h"
#include "base/steady.h"

/* The time of a number in a stage, by its radix: loads, stores and twiddles are 10. Sums over the
 * stages follow what was measured at 13 lengths (16 lanes, Zen 5) to five per cent. */
static const uint32_t PRICE[LANES_RADIX + 1] = {
    [1] = 10, [2] = 12, [3] = 15, [4] = 14,  [5] = 19, [6] = 18,
    [7] = 26, [8] = 17, [9] = 23, [10] = 23, [12] = 24};

typedef struct {
    uint32_t stages, radix[LANES_STAGES], price;
} choice;

/* Tries all ways to write `rest` as radices that do not grow, after those of c. */
static void search(choice *c, uint32_t rest, uint32_t most, choice *best) {
    if (rest == 1 && c->stages) {
        if (!best->stages || c->price < best->price) *best = *c;
        return;
    }
    for (uint32_t r = most; r > 1; r--) {
        if (!PRICE[r] || rest % r || c->stages == LANES_STAGES - 1) continue;
        c->radix[c->stages++] = r;
        c->price += PRICE[r];
        search(c, rest / r, r, best);
        c->price -= PRICE[r];
        c->stages--;
    }
}

/* Returns the radices of a level, the smallest first. No stages: n has other factors. */
static choice radices_of(uint32_t n) {
    choice c = {0}, best = {0};
    if (n == 1)
        best = (choice){.stages = 1, .radix = {1}, .price = PRICE[1]};
    else
        search(&c, n, LANES_RADIX, &best);
    if (best.stages == 1) {
        best.radix[best.stages++] = 1;
        best.price += PRICE[1];
    }
    for (uint32_t i = 0; i < best.stages / 2; i++) {
        uint32_t r = best.radix[i], *other = &best.radix[best.stages - 1 - i];
        best.radix[i] = *other, *other = r;
    }
    return best;
}

/* Finds the rows of the split that costs least, among those next to square: a level is for the
 * first-level cache. Returns its price, or 0 where n has other factors. */
static uint32_t split(uint32_t n, uint32_t *rows) {
    enum { TRIED = 4 };
    uint32_t a = 1, least = 0;
    while ((uint64_t)(a + 1) * (a + 1) <= n) a++;
    for (uint32_t tried = 0; a > 0 && tried < TRIED; a--) {
        if (n % a) continue;
        choice column = radices_of(a), row = radices_of(n / a);
        uint32_t price = column.price + row.price;
        if (!column.stages || !row.stages) continue;
        tried++;
        if (least && price >= least) continue;
        least = price;
        *rows = a;
    }
    return least;
}

uint32_t lanes_price(uint32_t n) {
    uint32_t rows;
    return n ? split(n, &rows) : 0;
}

static void store(void *to, size_t i, bool float64, uint64_t t, uint64_t n) {
    double re, im;
    steady_root(t, n, &re, &im);
    if (float64)
        ((double *)to)[2 * i] = re, ((double *)to)[2 * i + 1] = im;
    else
        ((float *)to)[2 * i] = (float)re, ((float *)to)[2 * i + 1] = (float)im;
}

static size_t complex_bytes(bool float64) {
    return 2 * (float64 ? sizeof(double) : sizeof(float));
}

bool lanes_level_make(lanes_level *f, uint32_t n, bool float64, err *e) {
    choice c = n ? radices_of(n) : (choice){0};
    *f = (lanes_level){.n = n, .stages = c.stages};
    if (!c.stages)
        return err_set(e, ERR_INTERNAL,
                       "a transform of length %u is asked for; only 2^a 3^b 5^c 7^d can be done",
                       n);
    memcpy(f->radix, c.radix, sizeof f->radix);
    size_t count = 0;
    for (uint32_t s = 1, l = f->radix[0]; s < f->stages; l *= f->radix[s++]) {
        f->twiddle[s] = 2 * count;
        count += (size_t)l * (f->radix[s] - 1);
    }
    if (!(f->twiddles = mem_raw(count + 1, complex_bytes(float64), "twiddles", e))) return false;
    for (uint32_t s = 1, l = f->radix[0]; s < f->stages; l *= f->radix[s++]) {
        uint32_t r = f->radix[s];
        for (uint32_t u = 0; u < l; u++)
            for (uint32_t t = 1; t < r; t++)
                store(f->twiddles, f->twiddle[s] / 2 + u * (r - 1) + t - 1, float64,
                      (uint64_t)u * t, (uint64_t)l * r);
    }
    return true;
}

void lanes_level_free(lanes_level *f) {
    mem_free(f->twiddles);
    *f = (lanes_level){0};
}

lanes *lanes_new(uint32_t n, bool float64, err *e) {
    lanes *f = mem_new(1, sizeof *f, "a transform", e);
    if (!f) return NULL;
    uint32_t a = 0, b = n;
    if (n && split(n, &a)) b = n / a;
    *f = (lanes){.n = n, .a = a, .b = b, .pitch = b + 1};
    if (!lanes_level_make(&f->row, b, float64, e) || !lanes_level_make(&f->column, a, float64, e) ||
        !(f->seat = mem_raw(n, sizeof *f->seat, "a transform", e)) ||
        !(f->place = mem_raw((size_t)n + 1, sizeof *f->place, "a transform", e)) ||
        !(f->down = mem_raw(a, sizeof *f->down, "a transform", e)) ||
        !(f->along = mem_raw(b, sizeof *f->along, "a transform", e)) ||
        !(f->turns = mem_raw(n, complex_bytes(float64), "twiddles", e)) ||
        !(f->turns_t = mem_raw(n, complex_bytes(float64), "twiddles", e))) {
        lanes_free(&f);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        f->seat[i] = i / b * f->pitch + i % b;
        f->place[i] = i % a * f->pitch + i / a;
    }
    f->place[n] = f->place[0];
    for (uint32_t i = 0; i < a; i++) f->down[i] = i * f->pitch;
    for (uint32_t i = 0; i < b; i++) f->along[i] = i;
    for (uint32_t k = 0; k < a; k++)
        for (uint32_t j = 0; j < b; j++) {
            store(f->turns, (size_t)k * b + j, float64, (uint64_t)j * k, n);
            store(f->turns_t, (size_t)j * a + k, float64, (uint64_t)j * k, n);
        }
    return f;
}

void lanes_free(lanes **f) {
    if (!*f) return;
    lanes_level_free(&(*f)->column);
    lanes_level_free(&(*f)->row);
    mem_free((*f)->seat);
    mem_free((*f)->place);
    mem_free((*f)->down);
    mem_free((*f)->along);
    mem_free((*f)->turns);
    mem_free((*f)->turns_t);
    mem_free(*f);
    *f = NULL;
}

int lanes_form(void) {
    static const char *const WORD[LANES_FORMS] = {"any", "avx2", "avx512"};
    int best = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) best = 1;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        best = 2;
#endif
    const char *forced = host_variable("FFTBLOOM_LANES");
    for (int i = 0; forced && i < best; i++)
        if (strcmp(forced, WORD[i]) == 0) best = i;
    return best;
}

const lanes_code *lanes_code_of(int form, bool float64) {
    static const lanes_code *const CODES[LANES_FORMS][2] = {
        {&LANES_ANY_FLOAT32, &LANES_ANY_FLOAT64},
#if defined(__x86_64__)
        {&LANES_AVX2_FLOAT32, &LANES_AVX2_FLOAT64},
        {&LANES_AVX512_FLOAT32, &LANES_AVX512_FLOAT64},
#endif
    };
    return CODES[form][float64];
}
