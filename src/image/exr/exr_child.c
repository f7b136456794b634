#include "image/exr/exr_chunk.h"

#include "base/mem.h"
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
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
    SLOW = 1 << 17,  /* bytes of samples that it surely encodes in a second: DWA deflates what it
                      * does not lose at level 9, where 300 kB/s were seen */
    TIMES = 16,      /* the memory of a child beside a chunk; the library was seen to take 7. It
                      * reserves for all lines of a chunk, also where the image has fewer. */
    SPARE = 64 << 20,
    NAME = 256 /* a channel's name, with its end: EXR allows no longer one */
};

/* What a child reads: this, the channels, and packed bytes or samples. Pointers in it are NULL. */
typedef struct {
    image_part part;
    uint32_t w, h;
    size_t raw, bytes; /* of samples, and packed */
    bool encode;
    uint32_t level_bytes; /* of the attribute LEVEL, which is all that a codec sees of them */
    uint8_t level[sizeof(float)];
} order;

static char LEVEL[] = "dwaCompressionLevel", LEVEL_TYPE[] = "float";

typedef struct {
    image_channel channel;
    char name[NAME];
} named_channel;

/* What it writes: this, and samples or packed bytes, or the sentence of an error. */
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

/* Reads the rest of an order and does it. The memory goes with the process where this fails. */
static bool obey(int line, order *o, exr_scratch *s, err *e) {
    const size_t names = (size_t)o->part.channels * sizeof(named_channel),
                 data = o->encode ? o->raw : o->bytes;
    OWN_MEM named_channel *c = mem_raw(names, 1, "channels", e);
    OWN_MEM image_channel *channel =
        mem_new((size_t)o->part.channels, sizeof *channel, "channels", e);
    if (!c || !channel || !exr_grow(&s->raw, &s->raw_room, o->raw, e) ||
        !exr_scratch_packed(s, o->encode ? o->raw : o->bytes, e)) {
        char rest[4096];
        for (size_t left = names + data, n; left; left -= n)
            if (!get(line, rest, n = min_size(left, sizeof rest))) break;
        return false;
    }
    if (!get(line, c, names) || !get(line, o->encode ? s->raw : s->packed, data)) _exit(0);
    for (int i = 0; i < o->part.channels; i++) {
        channel[i] = c[i].channel;
        channel[i].name = c[i].name;
    }
    image_attr level = {LEVEL, LEVEL_TYPE, o->level, o->level_bytes};
    o->part.channel = channel;
    o->part.attr = &level;
    o->part.attrs = o->level_bytes != 0;
    s->bytes = o->bytes;
    const exr_shape shape = {&o->part, o->w, o->h, o->raw};
    return (o->encode ? exr_ilm_encode : exr_ilm_decode)(s, &shape, e);
}

static int line_up; /* a child's */

static void reply(const err *e, const void *data, size_t bytes) {
    answer a = {e->code, bytes};
    if (!put(line_up, &a, sizeof a) || !put(line_up, data, bytes) || e->code) _exit(0);
}

/* OpenEXR's library would go on with what it has, or break down. */
static void end_short(void) {
    static const char NO_MEMORY[] = "out of memory in OpenEXR's library";
    reply(&(err){.code = ERR_RETRY}, NO_MEMORY, sizeof NO_MEMORY - 1);
}

static _Noreturn void serve(int line) {
    line_up = line;
    exr_ilm_without_memory(end_short);
    /* The library's buffers are as large for each chunk: the system need not clear them again. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the largest that glibc takes */
    mallopt(M_TRIM_THRESHOLD, WORTH);
    exr_scratch s = {0};
    for (order o; get(line, &o, sizeof o);) {
        err e = {0};
        if (!obey(line, &o, &s, &e))
            reply(&e, e.msg, strlen(e.msg));
        else if (o.encode)
            reply(&e, s.packed, s.bytes);
        else
            reply(&e, s.raw, o.raw);
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

/* What a child is made for. */
typedef struct {
    size_t raw; /* of the largest chunk */
    bool encode;
} purpose;

static _Noreturn void make_children(int orders) {
    const pid_t self = getpid();
    for (purpose p; get(orders, &p, sizeof p);) {
        /* What it encodes are the program's own samples: no file can make it slow. */
        const size_t chunk = PATIENCE + (p.encode ? p.raw / SLOW : 0),
                     life = chunk + (p.encode ? WORTH / SLOW : 0);
        const struct timeval most = {(time_t)chunk, 0};
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
            limit(RLIMIT_CPU, life);
            limit(RLIMIT_DATA, SPARE + TIMES * p.raw);
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

/* Returns the line to a new child, or -1. */
static int new_child(purpose p) {
    line_room with = {0};
    char byte;
    struct iovec one = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &one, .msg_iovlen = 1, .msg_control = &with, .msg_controllen = sizeof with};
    int line = -1;
    pthread_mutex_lock(&nursery.lock);
    if (put(nursery.orders, &p, sizeof p) && recvmsg(nursery.orders, &m, MSG_CMSG_CLOEXEC) == 1 &&
        CMSG_FIRSTHDR(&m))
        memcpy(&line, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof line);
    pthread_mutex_unlock(&nursery.lock);
    return line;
}

static void end_child(exr_scratch *s) {
    if (s->child) close(s->child);
    s->child = 0;
    s->child_done = 0;
}

/* Sees to it that the thread has a child for the chunk. */
static bool have_child(exr_scratch *s, const exr_shape *shape, bool encode, err *e) {
    size_t lines = shape->part->tile_w ? shape->h : exr_chunk_lines(shape->part),
           raw = shape->raw / shape->h * lines;
    if (s->child && raw <= s->child_room && s->child_done < WORTH) return true;
    end_child(s);
    int line = new_child((purpose){raw, encode});
    if (line < 0)
        return err_set(e, ERR_RETRY,
                       "no process could be started for OpenEXR's library and its %zu bytes; "
                       "--sandbox off does without",
                       shape->raw);
    s->child = line;
    s->child_room = raw;
    return true;
}

static bool send_order(int line, const exr_scratch *s, const exr_shape *shape, bool encode) {
    order o = {*shape->part, shape->w, shape->h, shape->raw, s->bytes, .encode = encode};
    const image_attr *level = image_find_attr(shape->part, LEVEL);
    if (level && level->bytes == sizeof o.level && strcmp(level->type, LEVEL_TYPE) == 0) {
        memcpy(o.level, level->data, sizeof o.level);
        o.level_bytes = sizeof o.level;
    }
    o.part.name = NULL;
    o.part.channel = NULL;
    o.part.attr = NULL;
    o.part.attrs = 0;
    if (!put(line, &o, sizeof o)) return false;
    for (int i = 0; i < o.part.channels; i++) {
        named_channel c = {.channel = shape->part->channel[i]};
        snprintf(c.name, sizeof c.name, "%s", c.channel.name);
        c.channel.name = NULL;
        if (!put(line, &c, sizeof c)) return false;
    }
    return encode ? put(line, s->raw, shape->raw) : put(line, s->packed, s->bytes);
}

/* Lets a child decode the chunk, or encode it. */
static bool make_in_child(exr_scratch *s, const exr_shape *shape, bool encode, err *e) {
    if (!have_child(s, shape, encode, e)) return false;
    answer a = {0};
    char said[sizeof e->msg] = "";
    bool heard = send_order(s->child, s, shape, encode) && get(s->child, &a, sizeof a),
         fits = encode ? a.bytes <= shape->raw : a.bytes == shape->raw;
    s->child_done += shape->raw;
    if (heard && a.code == ERR_NONE && fits &&
        get(s->child, encode ? s->packed : s->raw, a.bytes)) {
        if (encode) s->bytes = a.bytes;
        return true;
    }
    bool silent = !heard && errno == EAGAIN;
    bool words = heard && a.code != ERR_NONE && a.bytes < sizeof said &&
                 get(s->child, said, a.bytes);
    end_child(s);
    if (words)
        return err_set(e, err_status(a.code) == ERR_RETRY || encode ? ERR_RETRY : ERR_DATA, "%s",
                       said);
    if (encode) /* the program's own samples, so it is not they that are wrong */
        return err_set(e, ERR_RETRY,
                       "OpenEXR's library %s over %zu bytes of samples; there may be "
                       "too little memory",
                       silent ? "took too long" : "broke down", shape->raw);
    if (silent)
        return err_set(e, ERR_DATA, "OpenEXR's library did not decode its %zu bytes within %d s",
                       s->bytes, PATIENCE);
    return err_set(
        e, ERR_DATA,
        "OpenEXR's library broke down over its %zu bytes: they are damaged, or made to do harm",
        s->bytes);
}

static bool decode_in_child(exr_scratch *s, const exr_shape *shape, err *e) {
    return make_in_child(s, shape, false, e);
}
static bool encode_in_child(exr_scratch *s, const exr_shape *shape, err *e) {
    return make_in_child(s, shape, true, e);
}

void exr_child_start(void) {
    int line[2];
    if (!WITH_OPENEXR) return;
    exr_chunk_ilm_by(decode_in_child, encode_in_child);
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
