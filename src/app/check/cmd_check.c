/* cmd_check.c - `fftbloom check SUITE.json`: runs a regression suite, for build servers. */
#include "app/check/html.h"
#include "app/check/suite_run.h"
#include "app/cli/terminal.h"
#include "app/run/file_set.h"
#include "app/run/progress.h"
#include "app/run/report.h"
#include "base/file.h"
#include "image/format.h"

#include <unistd.h>

enum { LINE = 512 };

static bool is_bad(const case_result *c) {
    return c->state == CASE_FAIL || c->state == CASE_ERROR;
}

/* Copies the first line of a case's `why`, without its end. */
static const char *first_line(const case_result *c, char buf[LINE]) {
    const char *why = c->why.s ? c->why.s : "";
    snprintf(buf, LINE, "%.*s", (int)strcspn(why, "\n"), why);
    return buf;
}

/* --- JSON, and the data of the page --- */

enum { DIGITS = 9 };

static void add_heat(const heat *h, json_out *j) {
    JSON_EACH(j, json_real, DIGITS, {"gain", h->gain}, {"low", h->low}, {"high", h->high});
    json_array(j, "scale");
    for (int i = 0; i <= 4; i++) {
        uint8_t rgb[3];
        char name[8];
        heat_colour((float)i / 4, rgb);
        snprintf(name, sizeof name, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
        json_string(j, NULL, name);
    }
    json_close(j);
    json_object(j, "histogram");
    json_uint(j, "equal", h->equal);
    json_int(j, "from", HEAT_LOWEST);
    json_int(j, "per_decade", HEAT_PER_DECADE);
    json_array(j, "bins");
    for (int i = 0; i < HEAT_BINS; i++) json_uint(j, NULL, h->bin[i]);
    json_close(j);
    json_close(j);
}

static void add_pictures(const suite_pictures *p, json_out *j) {
    const image_box *b = &p->box;
    const int32_t box[] = {b->x0, b->y0, b->x1 - b->x0 + 1, b->y1 - b->y0 + 1};
    json_block(j, "pictures");
    json_ints(j, "box", box, 4);
    if (p->compared) add_heat(&p->h, j);
    for (int i = 0; i < PICTURES; i++) {
        if (!p->png[i]) continue;
        text *uri = json_here(j, SUITE_PICTURE_NAME[i]);
        text_add(uri, "\"data:image/png;base64,");
        text_add_base64(uri, p->png[i], p->bytes[i]);
        text_add(uri, "\"");
    }
    json_close(j);
}

static void suite_json_case(const case_result *c, bool pictures, json_out *j) {
    json_block(j, NULL);
    json_string(j, "name", c->c->name);
    json_string(j, "state", CASE_KEY[c->state]);
    json_int(j, "status", c->status);
    json_bool(j, "blessed", c->blessed);
    json_string(j, "file", c->c->file);
    json_int(j, "line", c->c->line);
    json_int(j, "column", c->c->column);
    json_string(j, "input", c->c->s.input);
    json_string(j, "kernel", c->c->kernel.file);
    json_array(j, "why");
    json_lines(j, c->why.s);
    json_close(j);
    describe_notes_json(j, c->notes.s, c->made);
    json_object(j, "seconds");
    JSON_EACH(j, json_fixed, 6, {"load", c->load}, {"bloom", c->bloom}, {"check", c->check});
    json_close(j);
    if (c->match.path) {
        json_string(j, "reference", c->match.path);
        if (c->origin.s) json_raw(j, "origin", c->origin.s);
        json_raw(j, "parts", c->match.parts.s ? c->match.parts.s : "[]");
        json_int(j, "worst_part", c->match.worst.of.part);
    }
    if (c->energy.s) json_raw(j, "energy", c->energy.s);
    if (c->made) describe_made_json(j, c->made);
    if (c->made && c->made->groups && pictures) {
        OWN(text) words = {0};
        json_out in = told_begin(&words, false);
        describe_plan_json(&in, "plan", &c->made->sum.plan);
        json_end(&in);
        json_string(j, "plan_words", words.s);
    }
    if (c->made && pictures) add_pictures(&c->pictures, j);
    json_close(j);
}

static void suite_json_run(const suite_run *r, bool pictures, text *to) {
    json_out j = json_begin(to);
    json_string(&j, "program", "fftbloom " VERSION);
    json_string(&j, "suite", r->s->path);
    json_int(&j, "exit_status", r->status);
    json_fixed(&j, "seconds", 6, r->seconds);
    json_string(&j, "complaint", r->complaint.s);
    json_object(&j, "counts");
    for (int i = 0; i < CASE_STATES; i++) json_uint(&j, CASE_KEY[i], r->states[i]);
    json_close(&j);
    json_list(&j, "cases");
    for (size_t i = 0; i < r->count; i++) suite_json_case(&r->item[i], pictures, &j);
    json_end(&j);
}

static void suite_json(const suite_run *r, text *to) {
    suite_json_run(r, false, to);
}

static const char HTML[] = {
#include "pages/check.html.inc"
    0};
static const char STYLE[] = {
#include "pages/check.css.inc"
    0};
static const char SCRIPT[] = {
#include "pages/check.js.inc"
    0};

static void suite_html(const suite_run *r, text *to) {
    OWN(text) run = {0};
    suite_json_run(r, true, &run);
    html_add(to, &(html_page){HTML, STYLE, SCRIPT}, run.s);
}

/* --- JUnit --- */

/* Adds an attribute, which is one clean line. */
static void add_attribute(text *to, const char *name, const char *value) {
    OWN(text) clean = {0};
    text_add_clean(&clean, value);
    text_add(to, " %s=\"", name);
    text_add_xml(to, clean.s);
    text_add(to, "\"");
}

static void junit_add_case(const suite_run *r, const case_result *c, text *to) {
    static const char *const ELEMENT[CASE_STATES] = {NULL, "system-out", "failure", "error",
                                                     "skipped"};
    const char *element = ELEMENT[c->state];
    char line[LINE];
    text_add(to, "    <testcase");
    add_attribute(to, "name", c->c->name);
    add_attribute(to, "classname", r->s->path);
    text_add(to, " time=\"%.6f\">", c->load + c->bloom + c->check);
    if (element) {
        text_add(to, "\n      <%s", element);
        if (c->state != CASE_WARN) add_attribute(to, "message", first_line(c, line));
        if (is_bad(c)) add_attribute(to, "type", CASE_WORD[c->state]);
        text_add(to, ">");
        text_add_xml(to, c->c->file);
        text_add(to, ":%d:\n", c->c->line);
        text_add_xml(to, c->why.s);
        text_add_xml(to, c->match.words.s);
        text_add(to, "</%s>\n    ", element);
    }
    text_add(to, "</testcase>\n");
}

static void suite_junit(const suite_run *r, text *to) {
    size_t complaints = r->complaint.s != NULL;
    OWN(text) counts = {0};
    text_add(&counts, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.6f\"",
             r->count + complaints, r->states[CASE_FAIL] + complaints, r->states[CASE_ERROR],
             r->seconds);
    text_add(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s>\n  <testsuite",
             counts.s);
    add_attribute(to, "name", r->s->path);
    text_add(to, "%s skipped=\"%zu\">\n", counts.s, r->states[CASE_SKIP]);
    for (size_t i = 0; i < r->count; i++) junit_add_case(r, &r->item[i], to);
    if (complaints) {
        text_add(to, "    <testcase name=\"requirements\"");
        add_attribute(to, "classname", r->s->path);
        text_add(to, ">\n      <failure");
        add_attribute(to, "message", r->complaint.s);
        text_add(to, "/>\n    </testcase>\n");
    }
    text_add(to, "  </testsuite>\n</testsuites>\n");
}

/* --- lines for people --- */

static void suite_add_line(text *to, const char *line) {
    size_t blank = strspn(line, " ");
    bool runs = strncmp(line + blank, "::", 2) == 0; /* to a runner of GitHub */
    text_add_bytes(to, line, blank);
    if (runs) text_add(to, "\\x3a");
    text_add_clean(to, line + blank + runs);
    text_add(to, "\n");
}

/* Adds lines, indented by two blanks more than they are, and by at least four. */
static void add_indented(const char *lines, text *to) {
    while (lines && *lines) {
        size_t n = strcspn(lines, "\n"), blank = strspn(lines, " ");
        OWN(text) line = {0};
        if (blank < n) {
            size_t cut = blank < 2 ? blank : 2;
            text_add(&line, "    ");
            text_add_bytes(&line, lines + cut, n - cut);
            suite_add_line(to, line.s);
        }
        lines += n + (lines[n] == '\n');
    }
}

static void suite_text_case(const case_result *c, bool verbose, text *to) {
    const engine_device *d = case_device(c);
    OWN(text) line = {0};
    text_add(&line, "%-8s %-32s", CASE_WORD[c->state], c->c->name);
    if (c->state != CASE_SKIP) text_add(&line, " %7.3f s", c->load + c->bloom + c->check);
    if (d) text_add(&line, "  %s", engine_class_name(d->class));
    if (c->blessed) text_add(&line, "  blessed %s", c->match.path);
    while (line.s[line.n - 1] == ' ') line.s[--line.n] = 0;
    suite_add_line(to, line.s);
    add_indented(c->why.s, to);
    if (c->state != CASE_PASS || verbose) add_indented(c->notes.s, to);
    add_indented(c->match.words.s, to);
    for (uint32_t i = 0; verbose && c->made && i < c->made->notes; i++)
        add_indented(c->made->note[i], to);
}

static void suite_text_end(const suite_run *r, text *to) {
    static const char *const WORD[CASE_STATES] = {"passed", "with warnings", "failed", "in error",
                                                  "skipped"};
    text_add(to, "%zu case%s in %.1f s: ", r->count, r->count == 1 ? "" : "s", r->seconds);
    for (int i = 0, any = 0; i < CASE_STATES; i++)
        if (r->states[i]) text_add(to, "%s%zu %s", any++ ? ", " : "", r->states[i], WORD[i]);
    text_add(to, "\n");
    if (r->complaint.s) suite_add_line(to, r->complaint.s);
    text_add(to, "%s\n",
             CASE_WORD[r->status == 0              ? CASE_PASS
                       : r->status == COMPARE_WARN ? CASE_WARN
                                                   : CASE_FAIL]);
}

/* --- all reports --- */

static const struct {
    const char *flag;
    size_t at; /* of its path in the settings */
    void (*write)(const suite_run *r, text *to);
} REPORT[] = {
    {"--junit", offsetof(settings, junit), suite_junit},
    {"--json", offsetof(settings, json_file), suite_json},
    {"--html", offsetof(settings, html), suite_html},
};
enum { REPORTS = sizeof REPORT / sizeof REPORT[0] };

static const char *path_of(const settings *s, int i) {
    return *(const char *const *)((const char *)s + REPORT[i].at);
}

/* Checks before the run that all reports can be written; *first is the one that takes standard
 * output, or NULL. */
static bool check_reports(const settings *asked, const char **first, err *e) {
    *first = NULL;
    for (int i = 0; i < REPORTS; i++) {
        const char *path = path_of(asked, i), *flag = REPORT[i].flag;
        if (!path) continue;
        if (strcmp(path, "-") != 0) {
            if (!file_out_possible(path, e)) return err_in(e, "%s", flag);
        } else if (*first) {
            return err_set(e, ERR_USAGE, "%s and %s both want standard output", *first, flag);
        } else {
            *first = flag;
        }
    }
    return true;
}

static bool suite_reports_write(const suite_run *r, err *e) {
    bool ok = true;
    for (int i = 0; ok && i < REPORTS; i++) {
        const char *path = path_of(r->asked, i);
        OWN(text) t = {0};
        if (!path) continue;
        REPORT[i].write(r, &t);
        if (strcmp(path, "-") == 0)
            fwrite(t.s, 1, t.n, stdout);
        else
            ok = file_write_all(path, t.s, t.n, e) || err_in(e, "%s", REPORT[i].flag);
    }
    return ok;
}

/* --- the command --- */

typedef struct {
    const settings *s;
    bool words; /* lines for people go to standard output */
    progress progress;
} teller;

static void tell_case(void *ctx, const case_result *c) {
    teller *t = ctx;
    text line = {0};
    terminal_status(NULL);
    if (t->words) suite_text_case(c, t->s->verbose, &line);
    cli_print(&line);
    progress_step(&t->progress, &(progress_event){.what = c->c->name,
                                                  .state = CASE_KEY[c->state],
                                                  .worked = c->state != CASE_SKIP});
}

/* Runs the cases and writes all reports. The lines of the cases are progress enough. */
static void check_run(suite_run *r, const settings *s, bool words, err *e) {
    teller t = {.s = s, .words = words};
    text end = {0};
    bool seen = s->progress == PROGRESS_AUTO && words && isatty(STDOUT_FILENO);
    if (!progress_open(&t.progress, s, r->count, e)) return;
    if (seen) t.progress.mode = PROGRESS_NONE;
    suite_run_all(r, tell_case, &t);
    progress_close(&t.progress);
    if (words) suite_text_end(r, &end);
    cli_print(&end);
    suite_reports_write(r, e);
}

/* Refuses a report or a reference that would replace another file of the suite. */
static bool check_files(const suite_run *r, err *e) {
    OWN(file_set) files = {0};
    for (int i = 0; i < REPORTS; i++)
        file_set_add(&files, FILE_WRITTEN, REPORT[i].flag, path_of(r->asked, i));
    file_set_add(&files, FILE_READ, "the suite", r->s->path);
    for (size_t i = 0; i < r->count; i++) {
        const suite_case *c = r->item[i].c;
        file_set_add(&files, FILE_READ, "the input of a case", c->s.input);
        file_set_add(&files, FILE_READ, "the kernel of a case", c->kernel.file);
        file_set_add(&files, FILE_READ, "the kernel's recipe", c->kernel.recipe);
        file_set_add_configs(&files, &c->s);
        /* --bless writes the first reference for each class of device. */
        for (int k = 0; k < SUITE_CLASSES; k++)
            for (size_t n = 0; n < c->reference[k].count; n++)
                file_set_add(&files, r->asked->bless && n == 0 ? FILE_WRITTEN_AGAIN : FILE_READ,
                             "a reference", c->reference[k].path[n]);
    }
    return file_set_check(&files, e);
}

int cmd_check(const cli *c, text *out, err *e) {
    OWN(suite) s = {0};
    OPEN(suite_run) r = {0};
    const char *taken;
    if (image_can_create(c->word[0], NULL))
        err_set(e, ERR_USAGE,
                "'%s' is an image, and check takes a suite, a JSON file of cases (docs/suites.md); "
                "two images are compared by 'fftbloom diff A B'",
                c->word[0]);
    if (!e->code && check_reports(&c->s, &taken, e) &&
        suite_load(&s, c->word[0], &c->s, &c->presets, e) && suite_run_open(&r, &s, c, e) &&
        check_files(&r, e)) {
        for (size_t i = 0; c->s.list && i < r.count; i++) suite_add_line(out, r.item[i].c->name);
        if (!c->s.list) check_run(&r, &c->s, !taken && !c->s.quiet, e);
    }
    return r.status;
}
