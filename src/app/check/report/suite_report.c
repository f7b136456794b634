#include "app/check/report/suite_report.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

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

static bool is_stdout(const char *path) {
    return path && strcmp(path, "-") == 0;
}

bool suite_reports_check(const settings *asked, bool *taken, err *e) {
    const char *first = NULL;
    *taken = false;
    for (int i = 0; i < REPORTS; i++) {
        const char *path = path_of(asked, i);
        if (path && !is_stdout(path) && !file_out_possible(path, e))
            return err_in(e, "%s", REPORT[i].flag);
        if (!is_stdout(path)) continue;
        if (first)
            return err_set(e, ERR_USAGE, "%s and %s both want standard output", first,
                           REPORT[i].flag);
        first = REPORT[i].flag;
        *taken = true;
    }
    return true;
}

bool suite_reports_add(const settings *asked, file_set *to, err *e) {
    bool ok = true;
    for (int i = 0; ok && i < REPORTS; i++)
        ok = file_set_add(to, FILE_WRITTEN, REPORT[i].flag, path_of(asked, i), e);
    return ok;
}

bool suite_reports_write(const suite_run *r, err *e) {
    bool ok = true;
    for (int i = 0; ok && i < REPORTS; i++) {
        const char *path = path_of(r->asked, i);
        OWN(text) t = {0};
        if (!path) continue;
        REPORT[i].write(r, &t);
        if (is_stdout(path))
            fwrite(t.s, 1, t.n, stdout);
        else
            ok = file_write_all(path, t.s, t.n, e) || err_in(e, "%s", REPORT[i].flag);
    }
    return ok;
}

bool suite_is_bad(const case_result *c) {
    return c->state == CASE_FAIL || c->state == CASE_ERROR;
}

const char *suite_first_line(const case_result *c, char buf[SUITE_LINE]) {
    const char *why = c->why.s ? c->why.s : "";
    snprintf(buf, SUITE_LINE, "%.*s", (int)strcspn(why, "\n"), why);
    return buf;
}
