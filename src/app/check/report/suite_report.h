/* suite_report.h - the table of reports on a suite's run that is over, and what they share.
 *
 * To add a format: a suite_*.c with a writer, an option, one row in suite_report.c. */
#ifndef APP_SUITE_REPORT_H
#define APP_SUITE_REPORT_H

#include "app/check/suite_run.h"
#include "app/run/file_set.h"

/* Writes the reports of --junit, --json and --html atomically; "-" is standard output. */
bool suite_reports_write(const suite_run *r, err *e);
/* Checks before the run that all of them can be written, and tells in *taken whether one of them
 * takes standard output. ERR_USAGE if two want it. */
bool suite_reports_check(const settings *asked, bool *taken, err *e);
/* Adds the files of all reports that were asked for. */
bool suite_reports_add(const settings *asked, file_set *to, err *e);

void suite_junit(const suite_run *r, text *to);
void suite_json(const suite_run *r, text *to);
void suite_html(const suite_run *r, text *to);

/* Add lines for people: of a case when it is over, and of all cases at the end. */
void suite_text_case(const case_result *c, bool verbose, text *to);
void suite_text_end(const suite_run *r, text *to);
/* Adds one line for people, broken where a build server would take it for a command. */
void suite_add_line(text *to, const char *line);

/* Adds the run as one JSON object; `pictures`: with its pictures as data URIs. */
void suite_json_run(const suite_run *r, bool pictures, text *to);

/* Returns whether the case failed or is in error. */
bool suite_is_bad(const case_result *c);
/* Copies the first line of a case's `why`, without its end; "" where there is none. Returns buf. */
enum { SUITE_LINE = 512 };
const char *suite_first_line(const case_result *c, char buf[SUITE_LINE]);

#endif
