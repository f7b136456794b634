#include "math/lengths.h"

#include "math/lanes.h"

/* The radices that the shaders have butterflies for. */
enum { RADICES = 15 };
static const uint32_t RADIX[RADICES] = {20, 18, 16, 15, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2};

bool length_is_smooth(uint32_t n) {
    static const uint32_t PRIME[] = {2, 3, 5, 7};
    if (n == 0) return false;
    for (int i = 0; i < 4; i++)
        while (n % PRIME[i] == 0) n /= PRIME[i];
    return n == 1;
}

/* Tries each odd part 3^b 5^c 7^d that may win, times the smallest power of two that reaches n. */
uint32_t length_next(uint32_t n, uint32_t multiple) {
    if (n > LENGTH_MAX) return 0;
    uint64_t best = LENGTH_MAX;
    for (uint64_t d = 1; d * multiple <= best; d *= 7)
        for (uint64_t c = d; c * multiple <= best; c *= 5)
            for (uint64_t b = c; b * multiple <= best; b *= 3) {
                uint64_t l = b * multiple;
                while (l < n) l *= 2;
                if (l < best) best = l;
            }
    return (uint32_t)best;
}

/* A step costs log2 of its prime, times the operations per element of its butterfly relative to
 * those of radix 2, 4 and 8. */
double length_cost(uint32_t n) {
    static const struct {
        uint32_t prime;
        double price;
    } STEP[] = {{2, 1.0}, {3, 1.75}, {5, 2.75}, {7, 3.7}};
    double price = 0;
    for (int i = 0; i < 4; i++)
        for (uint32_t m = n; m % STEP[i].prime == 0 && m > 0; m /= STEP[i].prime)
            price += STEP[i].price;
    return price * n;
}

/* In the unit of length_cost, so that a power of two costs about as much as there. */
double length_cost_cpu(uint32_t n) {
    return n * (lanes_price(n) / 6.5);
}

enum { LIGHT = 16 }; /* numbers that leave room for others in the registers */

/* Returns the numbers that a thread may hold: up to 16; 20 if a radix is larger, or for a complex
 * transform, beside which the thread holds nothing else; 8 if no radix is larger than 8, so that a
 * thread has one butterfly. */
static uint32_t held(const plan_fft *f, length_use use) {
    uint32_t largest = 0;
    for (uint32_t s = 0; s < f->stages; s++)
        if (f->radix[s] > largest) largest = f->radix[s];
    if (largest <= 8) return 8;
    return largest > LIGHT || use == LENGTH_COMPLEX ? PLAN_MOST_HELD : LIGHT;
}

enum { SUBGROUP = 32 }; /* threads that most devices start together */

/* Returns the slots: threads times the numbers they hold, added up over the stages. That is
 * `length` a stage if every thread is busy, and more if some wait, those that fill up the last
 * subgroup of a workgroup of `lines` lines included. Returns 0 if a thread would hold too many. */
static uint64_t slots_of(const plan_fft *f, length_use use, uint32_t threads, uint32_t lines,
                         uint32_t *most) {
    uint64_t slots = 0;
    uint32_t started = ceil_div_u32(threads * lines, SUBGROUP) * SUBGROUP / lines;
    if (threads < SUBGROUP) started = threads; /* more lines share a workgroup */
    *most = 0;
    for (uint32_t s = 0; s < f->stages; s++) {
        bool pairs = f->paired && s + 1 == f->stages;
        uint32_t numbers = (pairs ? 2 : 1) * f->radix[s]; /* of a butterfly, or of a pair of them */
        uint32_t n = ceil_div_u32(f->length / numbers, threads) * numbers;
        *most = max_u32(*most, n);
        if (n > held(f, use) || (pairs && n > 2 * f->radix[s])) return 0;
        slots += (uint64_t)n * started;
    }
    return slots;
}

/* Returns a number of threads with which one thread does k butterflies of stage s. */
static uint32_t threads_for(const plan_fft *f, uint32_t s, uint32_t k) {
    return ceil_div_u32(f->length / f->radix[s], k);
}

/* Chooses the number of threads that wastes least; holding more than 16 numbers costs a fifth more.
 * Returns the slots, or 0 if the device cannot have that many threads. */
static uint64_t choose_threads(plan_fft *f, length_use use, uint32_t invocations) {
    uint64_t best = 0;
    for (uint32_t s = 0; s < f->stages; s++)
        for (uint32_t k = 1; k <= held(f, use) / f->radix[s]; k++) {
            uint32_t t = threads_for(f, s, k), most = 0;
            uint64_t slots = t <= invocations ? slots_of(f, use, t, 1, &most) : 0;
            if (most > LIGHT) slots += slots / 5;
            if (!slots || (best && (slots > best || (slots == best && t >= f->threads)))) continue;
            best = slots;
            f->threads = t;
            f->slots = (uint32_t)slots;
        }
    return best;
}

bool length_share(plan_fft *f, uint32_t lines, uint32_t invocations) {
    uint32_t most, threads = 0;
    uint64_t least = slots_of(f, LENGTH_COMPLEX, f->threads, 1, &most);
    for (uint32_t s = 0; s < f->stages; s++)
        for (uint32_t k = 1; k <= held(f, LENGTH_COMPLEX) / f->radix[s]; k++) {
            uint32_t t = threads_for(f, s, k);
            uint64_t slots = t * lines <= invocations ? slots_of(f, LENGTH_COMPLEX, t, lines, &most)
                                                      : 0;
            if (slots && slots < least) least = slots, threads = t;
        }
    if (threads) f->threads = threads;
    return threads > 0;
}

/* Returns whether a thread can hold a butterfly of the last stage and its mirror image. */
static bool can_pair(const plan_fft *f) {
    uint32_t last = f->radix[f->stages - 1];
    return f->stages > 1 && 2 * last <= held(f, LENGTH_REAL_ROWS) && last % 2 == 0 &&
           f->length / last % 2 == 0;
}

static void move_last(plan_fft *f, uint32_t i) {
    uint32_t r = f->radix[i];
    memmove(&f->radix[i], &f->radix[i + 1], (f->stages - 1 - i) * sizeof r);
    f->radix[f->stages - 1] = r;
}

/* Puts the stages into order; the radices come largest first. The largest goes last, the next one
 * first, and small ones between: the outer stages wait for memory, and many numbers at once help
 * there. In a real transform the largest even radix goes last, or the largest that pairs. Returns
 * false when there is none. */
static bool arrange(plan_fft *f, length_use use) {
    bool pairs = use == LENGTH_REAL_COLUMNS || (use == LENGTH_REAL_ROWS && f->stages > 3);
    for (uint32_t i = 0; pairs && i < f->stages; i++) {
        plan_fft tried = *f;
        move_last(&tried, i);
        tried.paired = can_pair(&tried);
        if (!tried.paired) continue;
        *f = tried;
        return true;
    }
    uint32_t last = 0;
    /* A complex transform's last stage has the kernel's numbers in registers, too. */
    for (uint32_t i = 0; use == LENGTH_COMPLEX && i < f->stages; i++)
        if (f->radix[i] == LIGHT) last = i;
    while (use != LENGTH_COMPLEX && last < f->stages && f->radix[last] % 2) last++;
    if (last == f->stages) return false;
    move_last(f, last);
    return true;
}

/* Returns the price of a set of radices: lower is better. Threads that wait cost a complex
 * transform most, which works within its workgroup; small radices cost it a little. A real one,
 * which works on memory, loses most by small radices, and one of rows also by a last radix other
 * than 16. docs/inside/notebook.md has the measurements. */
static double price_of(const plan_fft *f, uint64_t slots, length_use use) {
    double smallest = f->radix[0], share = (double)slots / f->length;
    for (uint32_t s = 1; s < f->stages; s++)
        if (f->radix[s] < smallest) smallest = f->radix[s];
    if (use == LENGTH_COMPLEX) return share * (1 + 0.5 / smallest);
    double last = f->radix[f->stages - 1];
    return 1000 / smallest + (use != LENGTH_REAL_COLUMNS ? 5 * fabs(last - 16) : 0) + share;
}

typedef struct {
    length_use use;
    uint32_t invocations;
    plan_fft best; /* stages 0: none yet */
    double price;
} choice;

/* Tries all ways to write `rest` as radices that do not grow, after those already in f. */
static void search(plan_fft *f, uint32_t rest, int from, choice *c) {
    if (rest == 1) {
        plan_fft done = *f;
        if (!arrange(&done, c->use)) return;
        uint64_t slots = choose_threads(&done, c->use, c->invocations);
        double price = price_of(&done, slots, c->use);
        bool fewer = !c->best.stages || f->stages < c->best.stages;
        bool same = f->stages == c->best.stages;
        if (slots && (fewer || (same && price < c->price))) c->best = done, c->price = price;
        return;
    }
    if (f->stages == PLAN_STAGES) return;
    for (int i = from; i < RADICES; i++) {
        if (rest % RADIX[i]) continue;
        f->radix[f->stages++] = RADIX[i];
        search(f, rest / RADIX[i], i, c);
        f->radix[--f->stages] = 0;
    }
}

bool length_radices(plan_fft *f, uint32_t n, uint32_t invocations, length_use use) {
    plan_fft start = {.length = n};
    choice c = {.use = use, .invocations = invocations};
    if (n < 2 || !length_is_smooth(n)) return false;
    search(&start, n, 0, &c);
    if (c.best.stages) *f = c.best;
    return c.best.stages > 0;
}

uint32_t length_butterflies(const plan_fft *f, uint32_t s, uint32_t lines, uint32_t threads) {
    return ceil_div_u32(f->length / f->radix[s] * lines, threads);
}
