#include "app/cli/options.h"
#include "app/run/file_set.h"
#include "app/run/output.h"
#include "app/run/picture.h"
#include "app/run/sequence.h"
#include "base/path.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- images of standard input -------------------------------------------------------------------
 *
 * EXR and PFM images follow one another until the end; of any other format there is one image,
 * which ends with the input. Each is put into memory as a file without a name, so that the readers
 * of images, which read at any offset, can open it. */

typedef struct {
    int fd;             /* the file in memory, or -1 */
    char path[32];      /* its path, while an image is in it, */
    char called[48];    /* and how messages call that */
    const char *format; /* of the image, by its name in the table of formats */
    size_t count;       /* images so far */
    uint64_t bytes;     /* of that file; mem_take knows them */
} stream;

static void stream_close(stream *s) {
    if (s->fd >= 0) close(s->fd);
    mem_give(s->bytes);
    s->bytes = 0;
    s->fd = -1;
}

/* Reads up to n bytes; fewer at the end. Returns -1 when reading fails. */
static ptrdiff_t read_fully(void *to, size_t n, err *e) {
    size_t done = 0;
    while (done < n) {
        ssize_t k = read(STDIN_FILENO, (char *)to + done, n - done);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) {
            err_errno(e, ERR_IO, "cannot read standard input");
            return -1;
        }
        if (k == 0) break;
        done += (size_t)k;
    }
    return (ptrdiff_t)done;
}

static bool put(stream *s, const void *from, size_t n, err *e) {
    if (!mem_take(n, "standard input", e)) return false;
    s->bytes += n;
    for (size_t done = 0; done < n;) {
        ssize_t k = write(s->fd, (const char *)from + done, n - done);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return err_errno(e, ERR_RETRY, "no memory for an image of standard input");
        done += (size_t)k;
    }
    return true;
}

/* Makes the file so long, or as long as the input is. */
static bool bring(void *ctx, uint64_t bytes, err *e) {
    enum { PIECE = 1 << 20 };
    stream *s = ctx;
    if (bytes <= s->bytes) return true;
    const bool to_end = bytes == UINT64_MAX;
    if (!to_end && !mem_check(bytes - s->bytes, "an image of standard input", e)) return false;
    const size_t most = (size_t)min_u64(PIECE, bytes - s->bytes);
    OWN_MEM uint8_t *piece = mem_raw(most, 1, "standard input", e);
    bool ok = piece != NULL, end = false;
    while (ok && !end && s->bytes < bytes) {
        size_t want = (size_t)min_u64(most, bytes - s->bytes);
        ptrdiff_t n = read_fully(piece, want, e);
        ok = n >= 0 && put(s, piece, (size_t)n, e);
        end = n < (ptrdiff_t)want;
    }
    return ok && (to_end || s->bytes == bytes ||
                  err_set(e, ERR_DATA,
                          "the input ends within it: %" PRIu64 " of %" PRIu64 " bytes are there",
                          s->bytes, bytes));
}

/* Fetches the next image. Returns false at the end, with no error, or when it fails. */
static bool stream_next(stream *s, err *e) {
    uint8_t head[IMAGE_HEAD];
    ptrdiff_t n = read_fully(head, sizeof head, e);
    if (n <= 0) {
        if (n == 0 && !s->count) err_set(e, ERR_NO_INPUT, "standard input is empty");
        return false;
    }
    stream_close(s);
    s->fd = memfd_create("an image of standard input", MFD_CLOEXEC);
    if (s->fd < 0) return err_errno(e, ERR_RETRY, "cannot make a file in memory");
    snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->fd);
    snprintf(s->called, sizeof s->called, "standard input, image %zu", s->count + 1);
    const image_source from = {bring, s, s->called};
    bool ok = put(s, head, (size_t)n, e) && image_fetch(s->path, &s->format, &from, e);
    s->count += ok;
    return ok;
}

bool pipe_is(const settings *s) {
    return (s->input && strcmp(s->input, "-") == 0) || (s->output && image_is_stream(s->output));
}

/* A run whose input or output is a stream. */
typedef struct {
    const run_choice *run;
    const job *job;       /* of the files; NULL: the images of standard input */
    stream in;            /* the first image is in it already */
    frame_pattern output; /* of files; .before is NULL for a stream */
    int first;            /* the number of the first frame */
} piped;

/* Finds the files of the next image of standard input; the first one is there already. */
static bool next_image(piped *p, size_t index, job_files *to, err *e) {
    if (index && !stream_next(&p->in, e)) return false;
    if (index && !p->output.after && p->output.before)
        return err_set(e, ERR_USAGE,
                       "standard input has more than one image; give the output a frame pattern, "
                       "such as out.####.exr, or write -");
    const bloom_settings *s = &p->run->s->bloom;
    return (to->input = mem_str(p->in.path, e)) && (to->called = mem_str(p->in.called, e)) &&
           (to->kernel = mem_str(p->run->kernel->file, e)) &&
           (!s->mask_file || (to->mask = mem_str(s->mask, e)));
}

static bool next(void *ctx, size_t index, job_files *to, err *e) {
    piped *p = ctx;
    if (!(p->job ? job_frame(p->job, index, to, e) : next_image(p, index, to, e))) return false;
    /* "-" alone is in the format of the input, if that is written. */
    const char *given = p->run->s->output;
    const char *ending = p->job                             ? path_ending(to->input)
                         : strcmp(p->in.format, "pfm") == 0 ? "pfm"
                                                            : "exr";
    char as[OPTION_NAME_ROOM];
    snprintf(as, sizeof as, "%s:-", ending);
    const char *whole = strcmp(given, "-") != 0 ? given : image_is_stream(as) ? as : "exr:-";
    for (int k = JOB_OUTPUT; k < JOB_PATHS; k++) mem_free(to->path[k]), to->path[k] = NULL;
    to->output = p->output.before ? frame_path(&p->output, p->first + (int)index, e)
                                  : mem_str(whole, e);
    to->number = NULL;
    const file_set_file apart[] = {{FILE_READ, "the input", "-"},
                                   {FILE_READ, "the kernel", to->kernel},
                                   {FILE_READ, "the kernel's recipe", p->run->kernel->recipe},
                                   {FILE_READ, JOB_ROLE[JOB_MASK], to->mask},
                                   {FILE_WRITTEN, "the output", to->output}};
    return to->output && file_set_apart(apart, sizeof apart / sizeof *apart, p->run->s, e);
}

/* Finds the names of the outputs. */
static bool open_output(piped *p, err *e) {
    const settings *s = p->run->s;
    OWN(frame_list) frames = {0};
    if (!image_is_stream(s->output) && !frame_path_parse(&p->output, s->output, e)) return false;
    if (p->job || !s->frames) return true;
    if (!frame_list_parse(&frames, s->frames, e)) return false;
    p->first = frames.number[0];
    return true;
}

static void piped_close(piped *p) {
    stream_close(&p->in);
    frame_pattern_free(&p->output);
}

bool pipe_run(const cli *c, err *e) {
    const settings *s = &c->s;
    const run_choice run = run_choice_of(c);
    bool from_stream = strcmp(s->input, "-") == 0;
    OPEN(job) j = {.run = &run};
    record_run runs = {0};
    frame_maker m = {.run = &run,
                     .look = picture_look_asked(s),
                     .records = &runs,
                     .threads = c->threads,
                     .told = &(light_told){0},
                     .forgets = ATOMIC_FLAG_INIT};
    OPEN(piped) p = {.run = &run, .job = from_stream ? NULL : &j, .in.fd = -1, .first = 1};
    OPEN(report) r = {.run = &run, .brief = true};
    /* A file of glare would be written again by each image, also where a config names it. */
    bool ok = (!s->emit_file ||
               err_set(e, ERR_USAGE, "--emit-file has no effect on standard input and output")) &&
              (from_stream || (job_open(&j, &run, e) && file_set_check_job(&j, e))) &&
              record_run_open(&runs, &j, &m.look, false, e) && open_output(&p, e) &&
              (from_stream ? stream_next(&p.in, e) : picture_look_of(&m.look, &j, c->threads, e));
    if (ok && from_stream) m.look = picture_look_by(&run, p.in.path, p.in.called, c->threads);
    OPEN(screen) *shown = ok && output_is_picture(s->output) ? screen_open(m.look.view, e) : NULL;
    ok = ok && (shown || !output_is_picture(s->output));
    m.screen = shown;
    const job_source frames = {.count = ok && !from_stream ? job_count(&j) : SIZE_MAX,
                               .alone = true,
                               .kernels = true,
                               .next = next,
                               .ctx = &p};
    return ok && sequence_run(&m, &frames, NULL, &r, e);
}
