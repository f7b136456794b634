#include "app/run/stream.h"

#include "base/mem.h"
#include "image/flat/raw.h"
#include "image/format.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20, LONGEST_HEAD = 256 };

/* Standard input that is a file says how long it is: it must be a number of whole images. */
static bool check_file(const stream *s, const char *raw, err *e) {
    struct stat st;
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at < 0 || fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= at)
        return true;
    uint64_t bytes = (uint64_t)(st.st_size - at);
    return bytes % s->frame_bytes == 0 ||
           err_set(e, ERR_DATA,
                   "standard input has %" PRIu64
                   " bytes, which is no whole number of images: one of "
                   "--raw %s has %" PRIu64 " bytes, so there would be %.2f",
                   bytes, raw, s->frame_bytes, (double)bytes / (double)s->frame_bytes);
}

bool stream_open(stream *s, const char *raw, err *e) {
    *s = (stream){.fd = -1};
    if (!raw) return true;
    int used = 0;
    bool ok = sscanf(raw, "%5" SCNu32 "x%5" SCNu32 "x%1" SCNu32 "%n", &s->width, &s->height,
                     &s->channels, &used) == 3 &&
              (!raw[used] || strcmp(raw + used, ":gbr") == 0 || strcmp(raw + used, ":rgb") == 0) &&
              s->width && s->height && s->width <= IMAGE_SIDE && s->height <= IMAGE_SIDE &&
              (s->channels == 1 || s->channels == 3 || s->channels == 4);
    if (!ok)
        return err_set(e, ERR_USAGE,
                       "--raw '%s': expected WIDTHxHEIGHTxCHANNELS with 1, 3 or 4 channels, such "
                       "as 1920x1080x3, or 1920x1080x3:gbr for planes in ffmpeg's order",
                       raw);
    strcpy(s->format, strcmp(raw + used, ":gbr") == 0 ? "gbr" : "raw");
    s->frame_bytes = (uint64_t)s->width * s->height * s->channels * 4;
    return check_file(s, raw, e);
}

void stream_close(stream *s) {
    if (s->fd >= 0) close(s->fd);
    mem_give(s->counted);
    s->counted = 0;
    s->fd = -1;
}

/* Reads up to n bytes; fewer at the end. Returns -1 when reading fails. */
static ptrdiff_t read_fully(stream *s, void *to, size_t n, err *e) {
    size_t done = s->n < n ? s->n : n;
    memcpy(to, s->ahead, done);
    memmove(s->ahead, s->ahead + done, s->n - done);
    s->n -= done;
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
    s->counted += n;
    for (size_t done = 0; done < n;) {
        ssize_t k = write(s->fd, (const char *)from + done, n - done);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return err_errno(e, ERR_RETRY, "no memory for an image of standard input");
        done += (size_t)k;
    }
    return true;
}

/* Copies `bytes` of the input, or all of it for UINT64_MAX. */
static bool copy(stream *s, uint64_t bytes, err *e) {
    uint8_t *piece = mem_raw(PIECE, 1, "standard input", e);
    uint64_t done = 0;
    bool ok = piece != NULL;
    while (ok && done < bytes) {
        uint64_t left = bytes - done;
        size_t want = left < PIECE ? (size_t)left : PIECE;
        ptrdiff_t n = read_fully(s, piece, want, e);
        ok = n >= 0 && put(s, piece, (size_t)n, e);
        done += n > 0 ? (uint64_t)n : 0;
        if (ok && (size_t)n < want && bytes != UINT64_MAX)
            ok = err_set(e, ERR_DATA,
                         "standard input ends within image %zu: %" PRIu64 " of %" PRIu64
                         " bytes are there%s",
                         s->count + 1, done, bytes,
                         s->width ? "; is the size of --raw right?" : "");
        if (ok && (size_t)n < want) break;
    }
    mem_free(piece);
    return ok;
}

/* Copies a PFM image: the three lines of its head say how long it is. */
static bool copy_pfm(stream *s, err *e) {
    char head[LONGEST_HEAD + 1] = {0};
    uint32_t w = 0, h = 0;
    size_t n = 0;
    for (int words = 0; words < 4 && n < LONGEST_HEAD; n++) {
        ptrdiff_t k = read_fully(s, head + n, 1, e);
        if (k < 0) return false;
        if (k == 0) break;
        words += n > 0 && isspace((unsigned char)head[n]) && !isspace((unsigned char)head[n - 1]);
    }
    bool sized = sscanf(head + 2, "%" SCNu32 " %" SCNu32, &w, &h) == 2 && w && h &&
                 w <= IMAGE_SIDE && h <= IMAGE_SIDE;
    if (!sized)
        return err_set(e, ERR_DATA, "the head of PFM image %zu of standard input is damaged",
                       s->count + 1);
    uint64_t bytes = (uint64_t)w * h * (head[1] == 'F' ? 3 : 1) * 4;
    return mem_check(bytes, "an image of standard input", e) && put(s, head, n, e) &&
           copy(s, bytes, e);
}

bool stream_next(stream *s, err *e) {
    uint8_t first[IMAGE_HEAD];
    char head[RAW_HEAD];
    ptrdiff_t n = read_fully(s, first, sizeof first, e);
    if (n <= 0) {
        if (n == 0 && !s->count) err_set(e, ERR_NO_INPUT, "standard input is empty");
        return false;
    }
    memcpy(s->ahead, first, (size_t)n);
    s->n = (size_t)n;
    stream_close(s);
    s->fd = memfd_create("an image of standard input", MFD_CLOEXEC);
    bool ok = s->fd >= 0 || err_errno(e, ERR_RETRY, "cannot make a file in memory");
    if (ok) snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->fd);
    if (ok && s->width) {
        ok = mem_check(s->frame_bytes, "an image of standard input", e) &&
             put(s, head, raw_head(head, s->format, s->width, s->height, s->channels), e) &&
             copy(s, s->frame_bytes, e);
    } else if (ok && n >= 3 && first[0] == 'P' && (first[1] == 'F' || first[1] == 'f') &&
               isspace(first[2])) {
        strcpy(s->format, "pfm");
        ok = copy_pfm(s, e);
    } else if (ok) {
        strcpy(s->format, "exr");
        ok = image_is_known(s->path, first, (size_t)n, e) && copy(s, UINT64_MAX, e);
    }
    s->count += ok;
    return ok;
}
