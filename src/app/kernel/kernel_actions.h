/* kernel_actions.h - the actions of `fftbloom kernel`: their functions, whose rows are in
 * kernel_actions.c, the files that they read and write, and the page of `kernel show`.
 * To add an action: one function here, one row there; `make generated`. */
#pragma once

#include "app/cli/cli.h"
#include "base/json_out.h"
#include "colour/primaries.h"
#include "image/flat/preview.h"

extern const command_action KERNEL_ACTIONS[];

int kernel_make(const cli *c, text *out, err *e);
int kernel_models(const cli *c, text *out, err *e);
int kernel_list(const cli *c, text *out, err *e);
int kernel_check(const cli *c, text *out, err *e);
int kernel_show(const cli *c, text *out, err *e);
int kernel_sheet(const cli *c, text *out, err *e);
/* Serves every row of EDITS (kernel/edit/edit.h): the action has the edit's name. */
int kernel_edit(const cli *c, text *out, err *e);
/* Append the words that may follow an action, and the parameters of one. */
void kernel_model_names(text *to);
void kernel_edit_details(const command_action *a, text *to);

/* --- files: kernel_files.c --- */

/* Reads the kernel of a file and the linter's numbers. Free `in`, also after a failure. */
bool kernel_load(kernel_source *in, lint *l, const cli *c, const char *path, err *e);
/* Returns whether the output exists and is kept; says so, and sets the status. */
bool kernel_is_kept(const settings *s, int *status);
/* Returns whether there is a kernel to write: false with no error where the output is kept. */
bool kernel_may_write(const settings *s, int *status, err *e);
/* Write the output. Return false with no error where it exists by now and is kept. */
bool kernel_write(const settings *s, const void *bytes, size_t n, int *status, err *e);
bool kernel_save(const settings *s, const image *img, par *threads, int *status, err *e);

/* --- the page: an SVG of any width, dark or light as the reader's system, that needs no other
 * file, script or font --- */

enum { PAGE_CHANNELS = 3 };

/* What is drawn. The kernel is centred: its middle is tap floor(size / 2). */
typedef struct {
    const char *name;
    const char *origin; /* how it was made, in words; may be "" */
    const lint *figures;
    uint32_t w, h, channels;
    const float *plane[PAGE_CHANNELS];
    primaries colour;
    /* By distance in taps, per channel: the mean of a ring, as a share of the channel's light; and
     * the share of the light within the ring. */
    uint32_t rings;
    double *mean[PAGE_CHANNELS], *within[PAGE_CHANNELS];
} kernel_page;

/* Takes a kernel, all but the name and the origin. */
bool kernel_page_take(kernel_page *page, const kernel_source *in, const lint *l, err *e);
/* Fills in the rings. `page` has name to colour already. Free with kernel_page_free. */
bool kernel_page_measure(kernel_page *page, err *e);
void kernel_page_free(kernel_page *page);

/* A part of a kernel in false colours. */
typedef struct {
    int64_t x, y;   /* its first tap; may lie outside the kernel, where it is dark */
    uint32_t w, h;  /* taps */
    double low;     /* log10 of the light that is black: of a tap, as a share of all light */
    double decades; /* from black to white */
} kernel_part;

/* Returns the part that people see: the square that 99 % of the light falls into. Its black is the
 * light at its border, its white a thousand times that, so its core is white as in a photograph. */
kernel_part kernel_part_seen(const kernel_page *page);
/* Returns the whole kernel, nine decades down from its brightest tap. */
kernel_part kernel_part_whole(const kernel_page *page);
/* Shows the logarithm of the mean of the channels, with no side longer than `most`. */
bool kernel_picture_colours(preview_picture *to, const kernel_page *page, const kernel_part *part,
                            uint32_t most, err *e);
/* Adds a part in a box x, y, w, h, of at most two pixels for one of the page. */
bool kernel_part_svg(text *to, const kernel_page *k, const kernel_part *of, const double box[4],
                     err *e);
/* Appends the page. */
bool kernel_page_svg(const kernel_page *page, par *threads, text *to, err *e);
/* Appends the points of its curves. */
void kernel_page_json(const kernel_page *k, json_out *to);
/* Appends the page of a field, whose file has this header, and with --json what that is. */
bool kernel_field_page(const kernel_source *k, const cli *c, const image_header *h, text *page,
                       text *told, err *e);
