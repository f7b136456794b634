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
    char path[32];      /* its path, while an image is in it */
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
    const bool all = bytes == UINT64_MAX;
    if (!all && !mem_check(bytes - s->bytes, "an image of standard input", e)) return false;
    const size_t most = (size_t)min_u64(PIECE, bytes - s->bytes);
    OWN_MEM uint8_t *piece = mem_raw(most, 1, "standard input", e);
    bool ok = piece != NULL, end = false;
    while (ok && !end && s->bytes < bytes) {
        size_t want = (size_t)min_u64(most, bytes - s->bytes);
        ptrdiff_t n = read_fully(piece, want, e);
        ok = n >= 0 && put(s, piece, (size_t)n, e);
        end = n < (ptrdiff_t)want;
    }
    return ok && (all || s->bytes == bytes ||
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
    const image_source from = {bring, s};
    bool ok = put(s, head, (size_t)n, e) && image_fetch(s->path, &s->format, &from, e);
    s->count += ok;
    return ok;
}

bool pipe_is(const settings *s) {
    return (s->input && strcmp(s->input, "-") == 0) || (s->output && image_is_stream(s->output));
}

/* One run. */
typedef struct {
    run_choice *run;
    frame_maker *maker;
    device_pool *devices;
    device_queue queue;
    bloom_report made;
    frame_pattern output; /* of files; .before is NULL for a stream */
    int first;            /* the number of the first frame */
} piped;

/* A file in memory is what the user calls standard input. */
static void rename_input(const char *path, size_t number, err *e) {
    char *at = e->fault == FAULT_INPUT && *path ? strstr(e->msg, path) : NULL;
    if (!at) return;
    OWN(text) whole = {0};
    text_add(&whole, "%.*sstandard input, image %zu%s", (int)(at - e->msg), e->msg, number,
             at + strlen(path));
    snprintf(e->msg, sizeof e->msg, "%s", whole.s);
}

static bool make(piped *p, const char *input, const char *format, size_t index, err *e) {
    frame_result f = {.alone = true};
    job_files files = {.input = (char *)(uintptr_t)input, .kernel = p->run->kernel->file};
    par *threads = p->maker->threads;
    char as[OPTION_NAME_ROOM]; /* "-" alone is in the format of the input, if that is written */
    snprintf(as, sizeof as, "%s:-", format);
    const char *to = strcmp(p->run->s->output, "-") != 0 ? p->run->s->output
                     : image_is_stream(as)               ? as
                                                         : "exr:-";
    files.output = p->output.before ? frame_path(&p->output, p->first + (int)index, e)
                                    : mem_str(to, e);
    const file_set_file apart[] = {{FILE_READ, "the input", "-"},
                                   {FILE_READ, "the kernel", files.kernel},
                                   {FILE_READ, "the kernel's recipe", p->run->kernel->recipe},
                                   {FILE_WRITTEN, "the output", files.output}};
    par_enter(threads, index);
    bool ok = files.output && file_set_apart(apart, 4, p->run->s, e) &&
              frame_make(p->maker, &p->queue, &files, &f, &p->made, e);
    par_leave(threads);
    mem_free(files.output);
    return ok;
}

static bool make_stream(piped *p, err *e) {
    stream in = {.fd = -1};
    frame_maker *m = p->maker;
    bool ok = true;
    while (ok && stream_next(&in, e)) {
        if (in.count > 1 && !p->output.after && p->output.before)
            ok = err_set(e, ERR_USAGE,
                         "standard input has more than one image; give the output a frame pattern, "
                         "such as out.####.exr, or write -");
        if (ok && in.count == 1 && output_is_picture(p->run->s->output)) { /* more may follow */
            exposure_choose(p->run, in.path, true, m->threads);
            ok = (m->screen = screen_open(p->run->view, e)) != NULL;
        }
        const char *as = ok && strcmp(in.format, "pfm") == 0 ? "pfm" : "exr";
        ok = ok && make(p, in.path, as, in.count - 1, e);
        if (!ok) rename_input(in.path, in.count, e);
    }
    if (ok) rename_input(in.path, in.count + 1, e); /* where the next image could not be had */
    stream_close(&in);
    return !e->code;
}

static bool make_files(piped *p, const job *j, err *e) {
    bool ok = true;
    for (size_t i = 0; ok && i < job_count(j); i++) {
        OWN(job_files) f = {0};
        ok = job_frame(j, i, &f, e) && make(p, f.input, path_ending(f.input), i, e);
    }
    return ok;
}

/* Makes the frames of the job, or those of standard input where there is no job. */
static bool make_all(run_choice *run, frame_maker *m, const job *j, err *e) {
    const settings *s = run->s;
    OWN(frame_list) frames = {0};
    OWN_MEM piped *p = mem_new(1, sizeof *p, "a run", e);
    if (!p) return false;
    *p = (piped){.run = run, .maker = m, .first = 1};
    bloom_settings b = stages_bloom(run);
    b.slots = 1;
    b.images = j ? (uint32_t)job_count(j) : 1000; /* as for a video */
    p->devices = device_pool_open(m->threads, b.cache_dir, 0, e);
    device_queue_open(&p->queue, &b, p->devices);
    bool ok = p->devices &&
              (image_is_stream(s->output) || frame_path_parse(&p->output, s->output, e));
    if (ok && !j && s->frames && (ok = frame_list_parse(&frames, s->frames, e)))
        p->first = frames.number[0];
    mem_keep(mem_left() / 4);
    ok = ok && (j ? make_files(p, j, e) : make_stream(p, e));
    mem_keep(0);
    frame_pattern_free(&p->output);
    device_queue_close(&p->queue);
    device_pool_close(&p->devices);
    return ok;
}

bool pipe_run(const cli *c, err *e) {
    const settings *s = &c->s;
    run_choice run = run_choice_of(c);
    bool from_stream = strcmp(s->input, "-") == 0;
    OPEN(job) j = {.run = &run};
    record_run all = {0};
    frame_maker m = {
        .run = &run, .records = &all, .threads = c->threads, .forgets = ATOMIC_FLAG_INIT};
    /* A file of glare would be written again by each image, also where a config names it. */
    bool ok = (!s->emit_file ||
               err_set(e, ERR_USAGE, "--emit-file has no effect on standard input and output")) &&
              (from_stream ||
               (job_open(&j, &run, e) && file_set_check_job(&j, e) &&
                exposure_choose_job(&run, &j, c->threads, e) &&
                (!output_is_picture(s->output) || (m.screen = screen_open(run.view, e))))) &&
              record_run_open(&all, &j, false, e) && make_all(&run, &m, from_stream ? NULL : &j, e);
    screen_close(&m.screen);
    return ok;
}
