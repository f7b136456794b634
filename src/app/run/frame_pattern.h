/* frame_pattern.h - paths with a frame's number and a view's name in them, and lists of frames.
 *
 * A frame pattern has one field that stands for the frame's number: `#` (four digits; a run of n
 * means n digits), `@` (one digit; a run of n means n), `%04d` or `%d`, `$F4` or `$F`. A number
 * with more digits than the field is written in full; the sign of a negative one counts as a digit,
 * as in printf. The field is searched in the file's name first, then in the names of its folders; a
 * path that names a file that exists is never a pattern. `%V` stands for the name of a view and
 * `%v` for its first letter, in any number of places. Ranges are "1001-1100,1200-1300x2": first,
 * last, step, which may also be written "1200-1300:2". */
#ifndef APP_FRAME_PATTERN_H
#define APP_FRAME_PATTERN_H

#include "base/err.h"
#include "base/text.h"

#include <stddef.h>

/* A path with its field cut out. */
typedef struct {
    char *before, *after; /* of the path, around the field; after is NULL where there is none */
    int digits;           /* 0: as many as the number needs, no zeros in front */
} frame_pattern;

typedef struct {
    int *number; /* rising, each once */
    size_t count;
} frame_list;

enum { FRAMES_MOST = 1000000 };

/* Returns true when the path has a frame field and names no file that exists. */
bool frame_pattern_is(const char *path);
/* Cuts the field out of a path. Fails with ERR_USAGE when the path has no field, or two. */
bool frame_pattern_parse(frame_pattern *p, const char *path, err *e);
/* Does the same, but takes a path without a field as it is: the same path for every frame. */
bool frame_path_parse(frame_pattern *p, const char *path, err *e);
void frame_pattern_free(frame_pattern *p);
/* Returns the path of one frame; free with mem_free. */
char *frame_path(const frame_pattern *p, int number, err *e);

/* Returns true when the path has a field for a view and names no file that exists. */
bool frame_views_in(const char *path);
/* Returns a copy of the path with the view's name in its fields, which is freed with mem_free. */
char *frame_view_path(const char *path, const char *view, err *e);

/* Reads ranges. Fails with ERR_USAGE and what is wrong; refuses more than FRAMES_MOST frames. */
bool frame_list_parse(frame_list *l, const char *ranges, err *e);
/* Lists the frames whose files are there. Fails with ERR_NO_INPUT when there is none, and with
 * ERR_USAGE when the field is in the name of a folder, where only ranges can list them. */
bool frame_list_scan(frame_list *l, const frame_pattern *p, err *e);
void frame_list_free(frame_list *l);
/* Adds the numbers that are missing between those of the list, "1003, 1005-1007", as the pattern
 * writes them, and returns how many. Frames that are equally far apart have no gaps. Of many gaps
 * the first are named. */
size_t frame_list_gaps(const frame_list *l, const frame_pattern *p, text *to);
/* Adds the file's name with its field: "b.####.exr". */
void frame_field_words(const frame_pattern *p, text *to);
/* Adds "1005-1007", or "1005" where both are the same. */
void frame_range_words(const frame_pattern *p, int first, int last, text *to);

#endif
