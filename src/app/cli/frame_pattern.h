/* frame_pattern.h - paths with a frame's number and a view's name in them.
 *
 * A frame pattern has one field that stands for the frame's number: `#` (four digits; a run of n
 * means n digits), `@` (one digit; a run of n means n), `%04d` or `%d`, `$F4` or `$F`. A number
 * with more digits than the field is written in full; the sign of a negative one counts as a digit,
 * as in printf. The field is searched in the file's name first, then in the names of its folders; a
 * path that names a file that exists is never a pattern. `%V` stands for the name of a view and
 * `%v` for its first letter, in any number of places. */
#pragma once

#include "base/err.h"

/* A path with its field cut out. */
typedef struct {
    char *before, *after; /* of the path, around the field; after is NULL where there is none */
    int digits;           /* 0: as many as the number needs, no zeros in front */
} frame_pattern;

/* Returns true when the path has a frame field and names no file that exists. */
bool frame_pattern_is(const char *path);
/* Cut the field out of a path. One with two fields is refused with ERR_USAGE; one without is
 * refused by the first, and the same path for every frame for the second. */
bool frame_pattern_parse(frame_pattern *p, const char *path, err *e);
bool frame_path_parse(frame_pattern *p, const char *path, err *e);
void frame_pattern_free(frame_pattern *p);
/* Returns the path of one frame; free with mem_free. */
char *frame_path(const frame_pattern *p, int number, err *e);
/* Returns whether the file's name is the one that the pattern writes for some number. */
bool frame_pattern_number(const frame_pattern *p, const char *name, int *number);
/* Reads a whole number at *s, and moves behind it. */
bool frame_number_take(const char **s, int *number);
/* Returns true when the path has a field for a view and names no file that exists. */
bool frame_views_in(const char *path);
/* Returns a copy of the path with the view's name in its fields, which is freed with mem_free. */
char *frame_view_path(const char *path, const char *view, err *e);
