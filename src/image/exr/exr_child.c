#include "image/exr/exr_chunk.h"

#include "base/mem.h"
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    PATIENCE = 120,  /* seconds that the answer to a chunk may take, and that a child may compute */
    WORTH = 1 << 30, /* bytes of samples after which a child is replaced: it takes less than that */
    TIMES = 16,      /* the memory of a child beside a chunk; the library was seen to take 7. It
                      * reserves for all lines of a chunk, also where the image has fewer. */
    SPARE = 64 << 20,
    NAME = 256 /* a channel's name, with its end: EXR allows no longer one */
};

/* What a child reads: this, the channels, the packed bytes. Pointers in it are NULL. */
typedef struct {
    image_part part;
    uint32_t w, h;
    size_t raw, bytes;
} order;

typedef struct {
    image_channel is;
    char name[NAME];
} named_channel;

/* What it writes: this, and the samples, or the sentence of an error. */
typedef struct {
    err_code code;
    size_t bytes;
} answer;

static bool move(int line, void *at, size_t bytes, bool out) {
    errno = 0;
    for (ssize_t n = 0; bytes; at = (char *)at + n, bytes -= (size_t)n) {
        n = out ? write(line, at, bytes) : read(line, at, bytes);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            return false;
    }
    return true;
}

static bool get(int from, void *to, size_t bytes) {
    return move(from, to, bytes, false);
}
static bool put(int to, const void *from, size_t bytes) {
    return move(to, (void *)from, bytes, true);
}

/* Reads the rest of an order and decodes. The memory goes with the process where this fails. */
static bool decode(int line, order *o, exr_scratch *s, err *e) {
    OWN_MEM named_channel *c = mem_new((size_t)o->part.channels, sizeof *c, "channels", e);
    o->part.channel = mem_new((size_t)o->part.channels, sizeof *o->part.channel, "channels", e);
    s->raw = mem_raw(o->raw, 1, "a chunk", e);
    if (!c || !o->part.channel || !s->raw || !exr_scratch_packed(s, o->bytes, e)) return false;
    if (!get(line, c, (size_t)o->part.channels * sizeof *c) || !get(line, s->packed, o->bytes))
        _exit(0);
    for (int i = 0; i < o->part.channels; i++) {
        o->part.channel[i] = c[i].is;
        o->part.channel[i].name = c[i].name;
    }
    s->bytes = o->bytes;
    bool ok = exr_ilm_decode(s, &(exr_shape){&o->part, o->w, o->h, o->raw}, e);
    mem_free(o->part.channel);
    return ok;
}

static _Noreturn void serve(int line) {
    for (order o; get(line, &o, sizeof o);) {
        exr_scratch s = {0};
        err e = {0};
        bool ok = decode(line, &o, &s, &e);
        answer a = {e.code, ok ? o.raw : strlen(e.msg)};
        if (!put(line, &a, sizeof a) || !put(line, ok ? (char *)s.raw : e.msg, a.bytes) || !ok)
            break;
        exr_scratch_free(&s);
    }
    _exit(0);
}

/* Ends with the process that it was split off from, and takes no signals of the terminal's. */
static void settle(pid_t parent, int line) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    for (int i = 1; i < NSIG; i++) signal(i, SIG_IGN);
    int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; i <= STDERR_FILENO; i++) dup2(nothing, i);
    /* Where the system is too old for this call, the files that were open stay open. */
    syscall(SYS_close_range, STDERR_FILENO + 1, line - 1, 0);
    syscall(SYS_close_range, line + 1, ~0U, 0);
}

static void limit(int what, size_t to) {
    setrlimit(what, &(struct rlimit){to, to});
}

/* What carries a line from one process to another. */
typedef union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
} line_room;

/* Sends the other end of a child's line; -1: there is none. */
static void send_line(int to, int line) {
    line_room with = {.head = {CMSG_LEN(sizeof line), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec one = {"", 1};
    struct msghdr m = {.msg_iov = &one, .msg_iovlen = 1};
    memcpy(CMSG_DATA(&with.head), &line, sizeof line);
    if (line >= 0) {
        m.msg_control = &with;
        m.msg_controllen = sizeof with;
    }
    sendmsg(to, &m, 0);
}

static _Noreturn void make_children(int orders) {
    const pid_t self = getpid();
    const struct timeval most = {PATIENCE, 0};
    for (size_t raw; get(orders, &raw, sizeof raw);) {
        int line[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) {
            send_line(orders, -1);
            continue;
        }
        setsockopt(line[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        setsockopt(line[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        pid_t child = fork();
        if (child == 0) {
            settle(self, line[1]);
            limit(RLIMIT_CORE, 0);
            limit(RLIMIT_CPU, PATIENCE);
            limit(RLIMIT_DATA, SPARE + TIMES * raw);
            sandbox_enter_alone();
            serve(line[1]);
        }
        send_line(orders, child < 0 ? -1 : line[0]);
        close(line[0]);
        close(line[1]);
    }
    _exit(0);
}

static struct {
    int orders;           /* to the process that makes children */
    pthread_mutex_t lock; /* held from an order to its answer */
} nursery = {.orders = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the line to a new child that may decode chunks of `raw` bytes, or -1. */
static int new_child(size_t raw) {
    line_room with = {0};
    char byte;
    struct iovec one = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &one, .msg_iovlen = 1, .msg_control = &with, .msg_controllen = sizeof with};
    int line = -1;
    pthread_mutex_lock(&nursery.lock);
    if (put(nursery.orders, &raw, sizeof raw) &&
        recvmsg(nursery.orders, &m, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&m))
        memcpy(&line, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof line);
    pthread_mutex_unlock(&nursery.lock);
    return line;
}

static void end_child(exr_scratch *s) {
    if (s->child) close(s->child);
    s->child = 0;
    s->child_done = 0;
}

/* Sees to it that the thread has a child that may decode the chunk. */
static bool have_child(exr_scratch *s, const exr_shape *shape, err *e) {
    size_t lines = shape->part->tile_w ? shape->h : exr_chunk_lines(shape->part),
           raw = shape->raw / shape->h * lines;
    if (s->child && raw <= s->child_room && s->child_done < WORTH) return true;
    end_child(s);
    int line = new_child(raw);
    if (line < 0)
        return err_set(e, ERR_RETRY,
                       "no process could be started for OpenEXR's library to decode %zu bytes in; "
                       "--sandbox off does without",
                       shape->raw);
    s->child = line;
    s->child_room = raw;
    return true;
}

static bool send_order(int line, const exr_scratch *s, const exr_shape *shape) {
    order o = {*shape->part, shape->w, shape->h, shape->raw, s->bytes};
    o.part.name = NULL;
    o.part.channel = NULL;
    o.part.attr = NULL;
    o.part.attrs = 0;
    if (!put(line, &o, sizeof o)) return false;
    for (int i = 0; i < o.part.channels; i++) {
        named_channel c = {.is = shape->part->channel[i]};
        snprintf(c.name, sizeof c.name, "%s", c.is.name);
        c.is.name = NULL;
        if (!put(line, &c, sizeof c)) return false;
    }
    return put(line, s->packed, s->bytes);
}

static bool decode_in_child(exr_scratch *s, const exr_shape *shape, err *e) {
    if (!have_child(s, shape, e)) return false;
    answer a = {0};
    char said[sizeof e->msg] = "";
    bool heard = send_order(s->child, s, shape) && get(s->child, &a, sizeof a);
    s->child_done += shape->raw;
    if (heard && a.code == ERR_NONE && a.bytes == shape->raw && get(s->child, s->raw, shape->raw))
        return true;
    bool silent = !heard && errno == EAGAIN;
    bool words = heard && a.code != ERR_NONE && a.bytes < sizeof said &&
                 get(s->child, said, a.bytes);
    end_child(s);
    if (words) return err_set(e, a.code == ERR_RETRY ? ERR_RETRY : ERR_DATA, "%s", said);
    if (silent)
        return err_set(e, ERR_DATA, "OpenEXR's library did not decode its %zu bytes within %d s",
                       s->bytes, PATIENCE);
    return err_set(
        e, ERR_DATA,
        "OpenEXR's library broke down over its %zu bytes: they are damaged, or made to do harm",
        s->bytes);
}

void exr_child_start(void) {
    int line[2];
    if (!WITH_OPENEXR) return;
    exr_chunk_decode_by(decode_in_child);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) return;
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        settle(self, line[1]);
        make_children(line[1]);
    }
    if (child > 0)
        nursery.orders = line[0];
    else
        close(line[0]);
    close(line[1]);
}
