#include "app/run/pace.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

/* A line of the file is a rate, in seconds for a frame of 1920 x 1080, and the kind of the run. */
enum { LINES = 256, SEEN = 8, LINE = 160, LONGEST = LINES * LINE };

typedef struct {
    text kind;
    char *file, *lines; /* NULL: there is no cache, or nothing in it */
} pace_book;

static double start_of(const pace_kind *k) {
    return k->device->class == ENGINE_CPU ? 0.02 : 0.25;
}

/* Guesses for a machine on which nothing ran yet: halfs with ZIP on a few years' old cores. */
static double rate_guess(const pace_kind *k) {
    double cores = k->threads > 16 ? 16 : k->threads;
    double host = k->many ? 0.2 / cores : 0.02 + 0.4 / cores;
    return k->device->class == ENGINE_SOFTWARE ? host + 4 / cores : host;
}

static void pace_book_free(pace_book *b) {
    text_free(&b->kind);
    mem_free(b->file);
    mem_free(b->lines);
}

static void book_open(pace_book *b, const char *cache, const pace_kind *k) {
    size_t n;
    err ignored = {0};
    *b = (pace_book){0};
    text_add(&b->kind, "%s, %d threads, %s%s", k->device->name, k->threads,
             k->many ? "many" : "one", k->field ? ", field" : "");
    b->file = cache ? mem_strf(&ignored, "%s/pace.txt", cache) : NULL;
    if (b->file && file_is_own(b->file))
        b->lines = (char *)file_read_all(b->file, LONGEST, &n, &ignored);
}

/* Returns the next line that is whole and well-formed, cut out of the file, with its rate; or NULL
 * at the end. */
static const char *next_line(char **at, double *rate) {
    for (char *line; (line = strsep(at, "\n"));) {
        char *kind = strchr(line, '\t');
        if (!kind || strlen(line) >= LINE) continue;
        *kind++ = 0;
        if (text_number(line, rate) && *rate >= 0 && *rate < 1e6) return kind;
    }
    return NULL;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

pace_time pace_of(const char *cache, const pace_kind *kind, double work) {
    OWN(pace_book) b = {0};
    double seen[SEEN], rate, start = start_of(kind);
    int n = 0;
    book_open(&b, cache, kind);
    char *at = b.lines;
    for (const char *line; at && (line = next_line(&at, &rate));)
        if (strcmp(line, b.kind.s) == 0) seen[n++ % SEEN] = rate;
    int known = n < SEEN ? n : SEEN;
    if (!known) {
        double about = start + work * rate_guess(kind);
        return (pace_time){about, about / 3, about * 3, 0};
    }
    qsort(seen, known, sizeof *seen, by_value);
    return (pace_time){start + work * seen[known / 2], start + work * seen[0],
                       start + work * seen[known - 1], known};
}

void pace_keep(const char *cache, const pace_kind *kind, double work, double seconds) {
    OWN(pace_book) b = {0};
    OWN(text) kept = {0};
    double rate, own = fmax(seconds - start_of(kind), 0) / work;
    int lines = 0, same = 0;
    if (!cache || work < 0.05) return;
    book_open(&b, cache, kind);
    OWN_MEM char *copy = b.lines ? mem_str(b.lines, NULL) : NULL;
    char *at = copy;
    for (const char *line; at && (line = next_line(&at, &rate)); lines++)
        same += strcmp(line, b.kind.s) == 0;
    /* The oldest lines go: of this kind and of all. */
    at = b.lines;
    for (const char *line; at && (line = next_line(&at, &rate)); lines--) {
        const bool mine = strcmp(line, b.kind.s) == 0;
        if ((mine && same-- >= SEEN) || lines >= LINES) continue;
        text_add(&kept, "%.6g\t%s\n", rate, line);
    }
    text_add(&kept, "%.6g\t%s\n", own, b.kind.s);
    err e = {0};
    OWN(file_out) *f = b.file ? file_out_open(b.file, FILE_OWN, &e) : NULL;
    bool ok = f && file_out_write(f, 0, kept.s, kept.n, &e) && file_out_commit(&f, &e);
    if (!ok) log_info("what this run took is not kept: %s", e.msg);
}

void pace_words(const pace_time *p, text *to) {
    text_add(to, "about %.2g s", p->about);
    if (p->runs)
        text_add(to, " (%.2g to %.2g s by %d run%s)", p->least, p->most, p->runs,
                 p->runs == 1 ? "" : "s");
    else
        text_add(to, " (a guess: no such run was made with this cache)");
}
