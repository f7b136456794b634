/* Models without colour are evaluated where they are needed. The others first become a table over
 * log(distance) and direction, which holds the sum over all wavelengths. A wavelength stretches a
 * diffraction pattern, and on a grid of log(distance) a stretch is a shift, so every step of the
 * grid can have its wavelength. So fringes far out blend as they do in white light; a sum over a
 * few wavelengths would leave false rings. What is blended has no detail along the distance that is
 * finer than the colours' curves, so the table holds every second step. Near the centre directions
 * are closer than they need to be, so there every fourth is enough. */
#include "kernel/make/model_maker.h"

#include "base/mem.h"
#include "base/steady.h"
#include "base/vector.h"

/* Of log(distance), and of log(wavelength): of a single line, and of light that is blended. */
static const double STEP_LINE = 0.005, STEP_BLEND = 0.01;
/* Samples per pixel's side: the farther from the centre, the flatter the pattern. From NEAR on
 * there are three samples a side, and two from FAR on, and each pixel takes the table as even
 * between these samples. */
enum { FINE = 48, COARSE = 5, STEEP = 64, NEAR = 16, FAR = 64 };
/* Samples of the pattern per fringe. Along the distance many are averaged, and the finest waves in
 * them, which have more than one sample each, vanish; those in the directions have two. A step has
 * up to FEW samples before it has less than four per fringe. */
static const double PER_FRINGE = 2, FEW = 4, DIRECTIONS_PER_FRINGE = 2.2;
/* The table within this part of the way to the corner has every FEWER-th direction. */
static const double INNER = 1 / 48.0;
/* Of an opening's aberrations. */
static const double MOST_WAVES = 10;
enum { FEWER = 4 };

/* Returns pixels from the centre to beyond the farthest tap that is not faded to zero. */
static double corner(const model_request *r) {
    if (r->fade < 1) return max_u32(r->w, r->h) / 2.0 + 2;
    return sqrt((double)r->w * r->w + (double)r->h * r->h) / 2 + 2;
}

static double at_step(const maker *m, double step) {
    return NEAREST * steady_exp(step * m->step);
}

static double step_wavelength(const maker *m, int step) {
    return m->reference * steady_exp(-step * m->step);
}

/* Returns the light of the model's formula and lines, before the turn. */
static double light_at(const maker *m, double x, double y, double colour) {
    double light = m->of->light ? m->of->light(m->p, x, y, colour) : 0;
    return light + lines_at(&m->lines, x * m->turn_c - y * m->turn_s, y * m->turn_c + x * m->turn_s,
                            (int)colour);
}

/* Returns the first wavelength, counted from the longest, of one of the opening's patterns. */
static int band(const maker *m, int which) {
    return (m->before + m->after + 1) * which / m->patterns;
}

void maker_light(const maker *m, int which, double c, double s, const double *r, size_t n,
                 double colour, double *to) {
    const double k = MODEL_FIRST_DARK / m->p[0];
    if (m->opening)
        pattern_along(m->opening, which, k * c, k * s, r, n, to);
    else
        for (size_t i = 0; i < n; i++) to[i] = light_at(m, r[i] * c, r[i] * s, colour);
}

double maker_sector(const maker *m) {
    return m->turns ? 2 * STEADY_PI / m->turns / (m->mirrored ? 2 : 1) : 0;
}

/* Returns the pixels between the first dark ring and the peak, over 1.22: one fringe. */
static double fringe(const maker *m) {
    return m->p[0] / 1.2196698912665045;
}

/* The most samples of a step, and steps that are sampled in a few directions at a time: neighbours
 * share what the processor has at hand. */
enum { MOST = 61, STEPS = 8, TOGETHER = 16 };

/* Chooses where directions are sampled. Fringes narrower than a step are averaged over it. */
static bool place_samples(maker *m, err *e) {
    size_t shifts = (size_t)(m->before + m->after + 1);
    m->steps = m->radii * m->each + shifts;
    m->phase = m->radii + shifts / m->each + 16;
    m->square = mem_raw(m->radii, sizeof *m->square, "one direction", e);
    m->samples = mem_raw(m->steps, sizeof *m->samples, "one direction", e);
    if (!m->square || !m->samples) return false;
    for (size_t i = 0; i < m->radii; i++) {
        double r = at_step(m, (double)(i * m->each));
        m->square[i] = (float)(r * r);
    }
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !(m->place = mem_raw(m->places, sizeof *m->place, "one direction", e)))
            return false;
        m->places = 0;
        for (size_t i = 0; i < m->steps; i++) {
            double r = at_step(m, (double)i - m->before) / m->widest;
            double waves = m->step * r / fringe(m);
            if (m->patterns > 1) waves /= 2; /* a band's steps are averaged, too */
            int n = 1 + (int)fmax(fmin(4 * waves, FEW - 1), fmin(PER_FRINGE * waves, MOST - 1));
            m->samples[i] = n;
            for (int f = 0; f < n; f++, m->places++)
                if (pass) m->place[m->places] = r * (1 + m->step * ((f + 0.5) / n - 0.5));
        }
    }
    return true;
}

/* Adds up eight radii's steps, each step in the colour of the wavelength that is shifted there. */
VECTOR_INLINE void eight_radii(const maker *m, int which, const float *plain, size_t at,
                               float to[MODEL_CHANNELS][8]) {
    vec8f sum[MODEL_CHANNELS] = {{0}};
    for (int t = band(m, which); t < band(m, which + 1); t++) {
        const float *step = plain + (size_t)t % m->each * m->phase + (size_t)t / m->each + at;
        vec8f light = *(const vec8f_any *)step;
        for (int c = 0; c < MODEL_CHANNELS; c++) sum[c] += m->tint[t][c] * light;
    }
    memcpy(to, sum, sizeof sum);
}

VECTOR_WIDE static void eight_wide(const maker *m, int which, const float *plain, size_t at,
                                   float to[MODEL_CHANNELS][8]) {
    eight_radii(m, which, plain, at, to);
}

/* Adds what all wavelengths make of a pattern. One that is wider is fainter by the square. */
static void add_band(const maker *m, int which, const float *plain, const float *square,
                     size_t radii, vec4f *to) {
    float sum[MODEL_CHANNELS][8];
    for (size_t i = 0; i < radii; i++) {
        if (i % 8 == 0) (vector_wide() ? eight_wide : eight_radii)(m, which, plain, i, sum);
        for (int c = 0; c < MODEL_CHANNELS; c++)
            to[i][c] = (which ? to[i][c] : 0) + sum[c][i % 8] * square[i];
    }
}

/* Returns how many radii of a direction are used: the fade ends at an ellipse. `more` is what the
 * samples of a tap may lie outside it, and the directions beside them. A pattern that is folded
 * onto a smaller sector has several ellipses, and is filled in to the corner. */
static size_t radii_used(const maker *m, double c, double s) {
    const double more = 8 + 2 * corner(m->r) * maker_sector(m) / (double)m->directions;
    const double u = (c * m->turn_c - s * m->turn_s) / (border_of(m->r->w) + more),
                 v = (s * m->turn_c + c * m->turn_s) / (border_of(m->r->h) + more);
    if (m->r->fade >= 1 || m->turns > 2 || m->mirrored) return m->radii;
    const double end = steady_log(1 / (NEAREST * sqrt(u * u + v * v)));
    return min_size(m->radii, (size_t)(end / (m->step * (double)m->each)) + 3);
}

typedef struct {
    const maker *m;
    const table *of;
} filler;

/* Fills in a few directions by a pattern that each wavelength stretches. `plain` has the mean of
 * each step: every each-th beside each other. */
static bool diffract(void *ctx, size_t piece, int worker, err *e) {
    const filler *f = ctx;
    const maker *m = f->m;
    const table *of = f->of;
    const size_t first = piece * TOGETHER, count = min_size(of->directions - first, TOGETHER),
                 size = m->phase * m->each;
    OWN_MEM float *plain = mem_new(count * size, sizeof *plain, "some directions", e);
    double c[TOGETHER], s[TOGETHER], light[STEPS * MOST];
    size_t radii = 0;
    if (!plain) return false;
    for (size_t d = 0; d < count; d++) {
        double total = (double)(of->directions > 1 ? of->directions - 1 : 1);
        double angle = maker_sector(m) * (double)(first + d) / total;
        c[d] = steady_cos(angle), s[d] = steady_sin(angle);
        radii = max_size(radii, min_size(radii_used(m, c[d], s[d]), of->first + of->radii));
    }
    radii -= min_size(radii, of->first);
    const int *samples = m->samples + of->first * m->each;
    for (int which = 0; which < m->patterns; which++) {
        const double *place = m->place + of->place;
        const size_t start = (size_t)band(m, which),
                     steps = radii * m->each + (size_t)band(m, which + 1);
        for (size_t i = 0; i < start; i++) place += samples[i];
        for (size_t from = start, n; from < steps; from += STEPS, place += n) {
            const size_t end = min_size(from + STEPS, steps);
            n = 0;
            for (size_t i = from; i < end; i++) n += (size_t)samples[i];
            for (size_t d = 0; d < count; d++) {
                const double *at = light;
                maker_light(m, which, c[d], s[d], place, n, MODEL_GREEN, light);
                for (size_t i = from; i < end; i++) {
                    double mean = 0;
                    for (int k = 0; k < samples[i]; k++) mean += *at++;
                    plain[d * size + i % m->each * m->phase + i / m->each] =
                        (float)(mean / samples[i]);
                }
            }
        }
        for (size_t d = 0; d < count; d++)
            add_band(m, which, plain + d * size, m->square + of->first, radii,
                     of->grid + (first + d) * of->radii);
    }
    return true;
}

/* Fills in a round pattern that takes the wavelength. */
static void add_colours(const maker *m) {
    for (size_t i = 0; i < m->radii; i++) {
        double r = at_step(m, (double)(i * m->each)), sum[MODEL_CHANNELS] = {0}, light;
        for (int t = -m->before; t <= m->after; t++) {
            maker_light(m, 0, 1, 0, &r, 1, step_wavelength(m, t), &light);
            for (int c = 0; c < MODEL_CHANNELS; c++)
                sum[c] += (double)m->tint[t + m->before][c] * light;
        }
        for (int c = 0; c < MODEL_CHANNELS; c++) m->table[1].grid[i][c] = (float)(sum[c] * r * r);
    }
}

static bool make_table(maker *m, par *threads, err *e) {
    const lamp *l = m->r->light;
    double far = corner(m->r);
    m->widest = m->reference / MODEL_GREEN;
    m->radii = (size_t)(steady_log(far / NEAREST) / (m->step * (double)m->each)) + 3;
    /* At the far end; half a pixel apart where the formula costs little. */
    double apart = fmax(fringe(m) * m->widest / DIRECTIONS_PER_FRINGE, m->patterns > 1 ? 1
                                                                       : m->r->draft   ? 0.6
                                                                                       : 0.2);
    if (!m->opening) apart = fmin(apart, 0.5);
    const size_t fewer = m->turns ? (size_t)(far * maker_sector(m) / apart) / FEWER + 16 : 0;
    const double inner = steady_log(fmax(far * INNER / NEAREST, 1));
    const size_t first = m->turns ? (size_t)(inner / (m->step * (double)m->each)) : 0;
    m->directions = FEWER * fewer + 1;
    m->table[0] = (table){0, first + 2, fewer + 1, .per = 1.0 / FEWER};
    m->table[1] = (table){first, m->radii - first, m->directions, .per = 1};
    m->tint = mem_new((size_t)(m->before + m->after + 1), sizeof *m->tint, "colours", e);
    if (!m->tint || !place_samples(m, e)) return false;
    const lamp_steps steps = {m->r->colours, m->of->spectrum == MODEL_DIFFRACTS,
                              m->reference,  m->step,
                              m->before,     m->after};
    if (!lamp_tints(m->tint, l, &steps, e)) return false;
    for (int i = 0; i < PARTS; i++) {
        table *of = &m->table[i];
        const filler f = {m, of};
        of->grid = mem_raw(of->radii * of->directions, sizeof *of->grid, "the pattern", e);
        if (!of->grid) return false;
        for (size_t k = 0; k < of->first * m->each; k++) of->place += (size_t)m->samples[k];
        if (m->of->spectrum == MODEL_DIFFRACTS &&
            !par_for(threads, (of->directions + TOGETHER - 1) / TOGETHER, diffract, (void *)&f, e))
            return false;
    }
    if (m->of->spectrum == MODEL_COLORED) add_colours(m);
    return true;
}

/* A place in the table, in steps of distance and direction; over: 1 / distance^2. */
typedef struct {
    double i, d, over;
} table_place;

VECTOR_INLINE void add_from_table(const maker *m, table_place at, vec4d *sum) {
    double last = (double)(m->directions - 1), i = at.i > 0 ? at.i : 0, d = at.d;
    if (d < 0) d = m->mirrored ? -d : d + last;
    if (d > last) d = m->mirrored ? 2 * last - d : d - last;
    const table *of = &m->table[i >= (double)m->table[1].first];
    d *= of->per;
    size_t ri = min_size((size_t)i - of->first, of->radii - 2), di = (size_t)d;
    if (of->directions > 1) di = min_size(di, of->directions - 2);
    const float fi = (float)(i - (double)(of->first + ri)), fd = (float)(d - (double)di);
    const vec4f *a = of->grid + di * of->radii + ri, *b = of->directions > 1 ? a + of->radii : a;
    const vec4f here = a[0] + fi * (a[1] - a[0]), next = b[0] + fi * (b[1] - b[0]);
    const vec4f light = here + fd * (next - here);
    *sum += at.over * VECTOR_DOUBLES(light, 0);
}

/* Returns the direction of a place, folded into the first of the pattern's equal parts. */
VECTOR_INLINE double folded(const maker *m, double x, double y, double *sign) {
    *sign = 1;
    if (!m->turns) return 0;
    double part = 2 * STEADY_PI / m->turns, a = fmod(steady_atan2(y, x), part);
    if (a < 0) a += part;
    if (!m->mirrored || a <= part / 2) return a;
    *sign = -1;
    return part - a;
}

VECTOR_INLINE double steps_per_radian(const maker *m) {
    return m->directions > 1 ? (double)(m->directions - 1) / maker_sector(m) : 0;
}

VECTOR_INLINE table_place find_place(const maker *m, double x, double y, double *sign) {
    double r = max_double(sqrt(x * x + y * y), NEAREST);
    double i = steady_log(r / NEAREST) / (m->step * (double)m->each);
    return (table_place){i, folded(m, x, y, sign) * steps_per_radian(m), 1 / (r * r)};
}

/* Adds samples of a pixel that is far from the centre: within it, places of the table are even. */
VECTOR_INLINE void add_far(const maker *m, double x, double y, int n, vec4d *sum) {
    double sign, square = x * x + y * y, steps = m->step * (double)m->each;
    const table_place at = find_place(m, x, y, &sign);
    double per_r = 1 / (square * steps), per_a = sign * steps_per_radian(m) / square;
    for (int i = 0; i < n * n; i++) {
        double u = (i % n + 0.5) / n - 0.5, v = (i / n + 0.5) / n - 0.5;
        double dx = u * m->turn_c + v * m->turn_s, dy = v * m->turn_c - u * m->turn_s;
        double px = x + dx, py = y + dy;
        const table_place near = {at.i + (x * dx + y * dy) * per_r,
                                  at.d + (x * dy - y * dx) * per_a, 1 / (px * px + py * py)};
        add_from_table(m, near, sum);
    }
    *sum /= n * n;
}

/* Returns how many samples a side a pixel has where it is `away` from the centre. */
static int samples_of(double away, bool smooth) {
    return (int)clamp_double(STEEP / max_double(away, 1), smooth ? 1 : COARSE, FINE);
}

/* Sums up the mean of the table over the pixel around (x, y), counted from the centre. */
VECTOR_INLINE void mean_of_table(const maker *m, double x, double y, vec4d *sum) {
    double away = max_double(fabs(x), fabs(y));
    const double tx = x * m->turn_c + y * m->turn_s, ty = y * m->turn_c - x * m->turn_s;
    if (away > FAR) return add_far(m, tx, ty, 2, sum);
    if (away > NEAR) return add_far(m, tx, ty, 3, sum);
    const int n = samples_of(away, false);
    for (int i = 0; i < n * n; i++) {
        double sx = x + (i % n + 0.5) / n - 0.5, sy = y + (i / n + 0.5) / n - 0.5, sign;
        double px = sx * m->turn_c + sy * m->turn_s, py = sy * m->turn_c - sx * m->turn_s;
        add_from_table(m, find_place(m, px, py, &sign), sum);
    }
    *sum /= n * n;
}

/* The same of the formula, and the lines, of which those in `near` may have light. */
static void mean_of_light(const maker *m, double x, double y, uint32_t near, vec4d *to) {
    double away = max_double(fabs(x), fabs(y)), sum[MODEL_CHANNELS] = {0};
    bool smooth = m->of->smooth.from != 0 && m->p[m->of->smooth.parameter] >= m->of->smooth.from;
    const int kinds = m->share ? 2 : 1, n = samples_of(away, smooth);
    /* A core that is exactly 0 in a pixel's middle is 0 all over it. */
    bool lit = m->of->light && (!m->of->lines || away <= NEAR || m->of->light(m->p, x, y, 0) != 0);
    for (int i = 0; lit && i < n * n; i++) {
        double sx = x + (i % n + 0.5) / n - 0.5, sy = y + (i / n + 0.5) / n - 0.5;
        double px = sx * m->turn_c + sy * m->turn_s, py = sy * m->turn_c - sx * m->turn_s;
        for (int k = 0; k < kinds; k++) sum[k] += m->of->light(m->p, px, py, k);
    }
    for (int k = 0; k < kinds; k++) sum[k] /= n * n;
    if (near) lines_add(&m->lines, &(line_pixel){x, y, n, away > NEAR, near}, sum);
    for (int c = 0; c < MODEL_CHANNELS; c++)
        (*to)[c] = m->share ? (1 - m->share[c]) * sum[0] + m->share[c] * sum[1] : sum[c];
}

/* Taps of a row that are looked at together. */
enum { BLOCK = 16 };

/* Returns which lines may have light on a block of taps; what a model has beside its lines is a
 * core around the centre. *dark: there is no light at all. */
static uint32_t lines_on(const maker *m, double first, double last, double y, bool *dark) {
    const double middle = (first + last) / 2, reach = (last - first) / 2 + 1;
    const uint32_t near = lines_near(&m->lines, middle, y, reach);
    const double x = clamp_double(0, first, last);
    *dark = m->of->lines && !near && max_double(fabs(x), fabs(y)) > NEAR &&
            !(m->of->light && m->of->light(m->p, x, y, 0) != 0);
    return near;
}

/* Colours that lie outside Rec.709 are clipped. Of an even pattern half is computed, and of a round
 * one a quarter. */
VECTOR_INLINE void make_row(const maker *m, size_t row) {
    const uint32_t w = m->r->w, h = m->r->h, half = w / 2;
    const bool round = m->turns == 0;
    const uint32_t taps = round ? half + 1 : m->even ? 2 * half + 1 : w;
    const size_t below = m->even ? 2 * (size_t)(h / 2) - row : h; /* as far from the centre */
    const double y = (double)row - h / 2;
    for (uint32_t c = 0; c < m->channels; c++) {
        memset(m->to->plane[c] + row * w, 0, w * sizeof(float));
        if (below < h) memset(m->to->plane[c] + below * w, 0, w * sizeof(float));
    }
    uint32_t near = 0;
    bool dark = false;
    for (uint32_t i = 0; i < taps; i++) {
        const uint32_t mirror = 2 * half - i;
        const double x = (double)i - half;
        if (i % BLOCK == 0) near = lines_on(m, x, x + min_u32(BLOCK, taps - i) - 1, y, &dark);
        if (dark) continue;
        vec4d sum = {0};
        double u = x / border_of(w), v = y / border_of(h);
        double fade = fade_at(m->r->fade, sqrt(u * u + v * v));
        if (fade > 0 && m->table[0].grid) mean_of_table(m, x, y, &sum);
        if (fade > 0 && !m->table[0].grid) mean_of_light(m, x, y, near, &sum);
        for (uint32_t c = 0; c < m->channels; c++) {
            const float tap = (float)(sum[c] > 0 ? sum[c] * fade : 0);
            float *here = m->to->plane[c] + row * w, *there = m->to->plane[c] + below * w;
            if (i < w) here[i] = tap;
            if (round && mirror < w) here[mirror] = tap;
            if (below < h && mirror < w) there[mirror] = tap;
            if (below < h && round) there[i] = tap;
        }
    }
}

VECTOR_WIDE static void make_wide(const maker *m, size_t row) {
    make_row(m, row);
}

static void add_row(const maker *m, size_t row) {
    for (uint32_t c = 0; c < m->channels; c++) {
        const float *taps = m->to->plane[c] + row * m->r->w;
        double sum = 0;
        for (uint32_t i = 0; i < m->r->w; i++) sum += (double)taps[i];
        m->to->rows[c][row] = sum;
    }
}

static bool fill_row(void *ctx, size_t row, int worker, err *e) {
    const maker *m = ctx;
    const size_t below = m->even ? 2 * (size_t)(m->r->h / 2) - row : m->r->h;
    (vector_wide() ? make_wide : make_row)(m, row);
    add_row(m, row);
    if (below < m->r->h) add_row(m, below);
    return true;
}

bool maker_open(maker *m, const model_request *r, double far, par *threads, err *e) {
    const lamp *l = r->light;
    *m = (maker){.r = r, .of = r->of, .turn_c = 1, .patterns = 1};
    m->reference = l->power ? MODEL_GREEN : l->line > 0 ? l->line : r->setup[SETUP_WAVELENGTH];
    if (!model_resolve(m->p, r, e)) return false;
    pupil open = {0};
    const bool opens = r->of->opening && r->of->opening(&open, m->p);
    const double bent = pupil_waves(&open);
    m->each = l->power && bent == 0 ? 2 : 1;
    m->step = l->power ? STEP_BLEND * (3 - (int)m->each) : STEP_LINE;
    m->before = l->power ? (int)(steady_log(LAMP_RED / MODEL_GREEN) / m->step) : 0;
    m->after = l->power ? (int)(steady_log(MODEL_GREEN / LAMP_VIOLET) / m->step) : 0;
    for (int i = 0; i < model_parameters(r->of); i++) {
        if (strcmp(r->of->parameter[i].name, "turn") == 0) {
            m->turn_c = steady_cos(m->p[i] * STEADY_PI / 180);
            m->turn_s = steady_sin(m->p[i] * STEADY_PI / 180);
        }
        if (strcmp(r->of->parameter[i].name, "red") == 0) m->share = &m->p[i];
    }
    m->turns = r->of->mirrors ? r->of->mirrors(m->p) : 0;
    m->mirrored = m->even = true;
    if (r->of->lines) {
        const line_shape shape = r->of->lines(m->p);
        lines_set(&m->lines, &shape, m->p, m->turn_c, m->turn_s);
        m->even = shape.uneven == 0;
    }
    if (!opens) return true;
    if (!r->of->mirrors) m->turns = bent > 0 ? 1 : 2, m->even = bent == 0, m->mirrored = false;
    if (r->mask) {
        open.shape = PUPIL_MASK;
        open.mask = r->mask, open.mask_w = r->mask_w, open.mask_h = r->mask_h;
    }
    double shortest = l->power ? LAMP_VIOLET : m->reference;
    double reach = MODEL_FIRST_DARK / m->p[0] * far * MODEL_GREEN / shortest;
    if (bent > MOST_WAVES)
        return err_set(e, ERR_USAGE,
                       "coma, astigmatism and focus of the model %s add up to %.9g waves; at most "
                       "%g can be drawn: with a larger radius they make as wide a picture",
                       r->of->name, bent, MOST_WAVES);
    /* Within a pattern's band a wavelength has at most a seventh of a wave more, or less. */
    if (bent > 0 && l->power) m->patterns = 2 + (int)ceil(2 * bent);
    double times[PATTERNS];
    for (int i = 0; i < m->patterns; i++)
        times[i] = MODEL_GREEN / m->reference *
                   steady_exp(((band(m, i) + band(m, i + 1) - 1) / 2.0 - m->before) * m->step);
    m->opening = pattern_new(&open, times, m->patterns, reach, r->draft, threads, e);
    return m->opening != NULL;
}

void maker_free(maker *m) {
    pattern_free(&m->opening);
    lines_free(&m->lines);
    mem_free(m->tint);
    for (int i = 0; i < PARTS; i++) mem_free(m->table[i].grid);
    mem_free(m->place);
    mem_free(m->square);
    mem_free(m->samples);
}

bool model_make(model_taps *to, const model_request *r, par *threads, err *e) {
    OWN(maker) m = {0};
    if (r->w < 1 || r->h < 1 || r->w > MODEL_SIDE || r->h > MODEL_SIDE)
        return err_set(e, ERR_USAGE, "a kernel of %u x %u taps: 1 to %d a side can be made", r->w,
                       r->h, MODEL_SIDE);
    if (!maker_open(&m, r, corner(r), threads, e)) return false;
    m.channels = model_channels(r->of);
    m.to = to;
    if ((r->of->spectrum == MODEL_DIFFRACTS || r->of->spectrum == MODEL_COLORED) &&
        !make_table(&m, threads, e))
        return false;
    if (r->of->lines && !lines_table(&m.lines, corner(r), e)) return false;
    if (!par_for(threads, m.even ? r->h / 2 + 1 : r->h, fill_row, &m, e)) return false;
    for (uint32_t c = 0; c < m.channels; c++) {
        double *sum = &to->sum[c];
        *sum = 0;
        for (uint32_t row = 0; row < r->h; row++) *sum += to->rows[c][row];
        if (!(*sum > 0) || !isfinite(*sum))
            return err_set(e, ERR_CONFIG,
                           "no light falls on these taps: their sum is %g; make the kernel larger, "
                           "or the pattern smaller",
                           *sum);
    }
    return true;
}
