#include "app/run/stream.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void stream_open(stream *s) {
    *s = (stream){.fd = -1};
}

void stream_close(stream *s) {
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
    uint8_t *piece = mem_raw(most, 1, "standard input", e);
    bool ok = piece != NULL, end = false;
    while (ok && !end && s->bytes < bytes) {
        size_t want = (size_t)min_u64(most, bytes - s->bytes);
        ptrdiff_t n = read_fully(piece, want, e);
        ok = n >= 0 && put(s, piece, (size_t)n, e);
        end = n < (ptrdiff_t)want;
    }
    mem_free(piece);
    return ok && (all || s->bytes == bytes ||
                  err_set(e, ERR_DATA,
                          "the input ends within it: %" PRIu64 " of %" PRIu64 " bytes are there",
                          s->bytes, bytes));
}

bool stream_next(stream *s, err *e) {
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
