/* The sandbox: every call of the system, from inside, with arguments that would do harm outside.
 * What reaches the kernel all the same is in a list here, with the reason. */
#include "base/sandbox.h"

#include "unit/make_image.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "unit/check.h"

#if defined __x86_64__ && !WITH_SAN

enum { LAST = 500, X32 = 1 << 30 };

/* Calls by their names, or their numbers where the headers are older than the calls: 335 uretprobe,
 * 336 uprobe, 450 set_mempolicy_home_node, 451 cachestat, 453 map_shadow_stack, 454 to 456
 * futex_wake, _wait and _requeue, 457 statmount, 458 listmount, 459 lsm_get_self_attr,
 * 461 lsm_list_modules, 462 mseal. */
#define CALLS(...) \
    { __VA_ARGS__, -1 }
static const struct {
    const char *why;
    int call[48]; /* ends with -1 */
} REACH[] = {
    {"to read, write and look at files: Landlock holds their names, and what is open is the run's",
     CALLS(SYS_read, SYS_write, SYS_open, SYS_close, SYS_stat, SYS_fstat, SYS_lstat, SYS_lseek,
           SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_access, SYS_openat, SYS_newfstatat,
           SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_statx, SYS_faccessat,
           SYS_faccessat2, SYS_getdents, SYS_getdents64, SYS_readlink, SYS_sendfile,
           SYS_copy_file_range, SYS_readlinkat, SYS_statfs, SYS_fstatfs, SYS_ustat, SYS_sysfs,
           SYS_fadvise64, SYS_readahead, SYS_close_range, SYS_name_to_handle_at)},
    {"to make, move and remove files: Landlock holds the folders",
     CALLS(SYS_rename, SYS_mkdir, SYS_rmdir, SYS_link, SYS_unlink, SYS_symlink, SYS_mkdirat,
           SYS_unlinkat, SYS_renameat, SYS_linkat, SYS_symlinkat, SYS_renameat2, SYS_ftruncate,
           SYS_fallocate, SYS_flock, SYS_fsync, SYS_fdatasync, SYS_sync, SYS_syncfs,
           SYS_sync_file_range)},
    {"attributes of a file that is open", /* a file elsewhere cannot be opened */
     CALLS(SYS_fchmod, SYS_fchown, SYS_fsetxattr, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr,
           SYS_listxattr, SYS_llistxattr, SYS_flistxattr, SYS_utimensat)},
    {"descriptors, pipes and waiting for them",
     CALLS(SYS_poll, SYS_select, SYS_pipe, SYS_dup, SYS_dup2, SYS_fcntl, SYS_pselect6, SYS_ppoll,
           SYS_dup3, SYS_pipe2, SYS_epoll_create, SYS_epoll_ctl_old, SYS_epoll_wait_old,
           SYS_epoll_wait, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_create1, SYS_epoll_pwait2,
           SYS_eventfd, SYS_eventfd2, SYS_signalfd, SYS_signalfd4, SYS_timerfd_create,
           SYS_timerfd_settime, SYS_timerfd_gettime, SYS_inotify_rm_watch, SYS_tee, SYS_splice,
           SYS_vmsplice, SYS_ioctl, SYS_io_setup, SYS_io_destroy, SYS_io_getevents, SYS_io_submit,
           SYS_io_cancel, SYS_io_pgetevents)},
    {"a socket or queue that is open already: the way to the decoders alone",
     CALLS(SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_shutdown, SYS_getsockname, SYS_getpeername,
           SYS_setsockopt, SYS_getsockopt, SYS_mq_timedsend, SYS_mq_timedreceive, SYS_mq_notify,
           SYS_mq_getsetattr, SYS_shmdt)},
    {"its own memory",
     CALLS(SYS_mmap, SYS_mprotect, SYS_munmap, SYS_brk, SYS_mremap, SYS_msync, SYS_mincore,
           SYS_madvise, SYS_mlock, SYS_munlock, SYS_mlockall, SYS_munlockall, SYS_remap_file_pages,
           SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_mlock2, SYS_pkey_mprotect,
           SYS_pkey_alloc, SYS_pkey_free, SYS_memfd_create, SYS_memfd_secret, 450, SYS_membarrier,
           451, 453, 462)},
    {"its own threads, and locks among them",
     CALLS(SYS_clone, SYS_futex, SYS_futex_waitv, 454, 455, 456, SYS_set_robust_list,
           SYS_set_tid_address, SYS_gettid, SYS_set_thread_area, SYS_get_thread_area,
           SYS_arch_prctl, SYS_prctl, SYS_rseq, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid,
           SYS_restart_syscall)},
    {"its own signals and timers",
     CALLS(SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending,
           SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_sigaltstack, SYS_pause, SYS_nanosleep,
           SYS_getitimer, SYS_alarm, SYS_setitimer, SYS_timer_create, SYS_timer_settime,
           SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete, SYS_clock_nanosleep)},
    {"to know the time, the machine and itself, and what may be known of other processes",
     CALLS(SYS_getpid, SYS_getppid, SYS_uname, SYS_gettimeofday, SYS_getrlimit, SYS_getrusage,
           SYS_sysinfo, SYS_times, SYS_getuid, SYS_getgid, SYS_geteuid, SYS_getegid, SYS_getpgrp,
           SYS_getgroups, SYS_getresuid, SYS_getresgid, SYS_getpgid, SYS_getsid, SYS_capget,
           SYS_time, SYS_clock_gettime, SYS_clock_getres, SYS_getcpu, SYS_getrandom,
           SYS_getpriority, SYS_ioprio_get, SYS_sched_yield, SYS_sched_getparam,
           SYS_sched_getscheduler, SYS_sched_get_priority_max, SYS_sched_get_priority_min,
           SYS_sched_rr_get_interval, SYS_sched_getaffinity, SYS_sched_getattr, 457, 458, 459,
           461)},
    {"its own limits, folder, mask and session", /* prlimit64: of this process alone */
     CALLS(SYS_setrlimit, SYS_umask, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_setsid)},
    {"to give up more rights", CALLS(SYS_seccomp, SYS_landlock_create_ruleset,
                                     SYS_landlock_add_rule, SYS_landlock_restrict_self)},
    {"of the kernel's own trampolines: called from anywhere else, the process ends",
     CALLS(335, 336)},
    {"not in Linux any more, or never in it",
     CALLS(SYS_getpmsg, SYS_putpmsg, SYS_afs_syscall, SYS_tuxcall, SYS_security, SYS_vserver)},
};

/* These take the number of a process, and 0 for the one that calls: nothing else may reach. */
static const int OF_ITSELF[] = {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler,
                                SYS_sched_setparam, SYS_sched_setattr};
enum { OF_ZERO = 1 << 3 /* the vector that begins with 0 */ };

/* Returns the vectors, as bits, with which a call may reach the kernel. */
static int may_reach(long number) {
    for (size_t i = 0; i < COUNT(REACH); i++)
        for (const int *c = REACH[i].call; *c >= 0; c++)
            if (*c == number) return -1;
    for (size_t i = 0; i < COUNT(OF_ITSELF); i++)
        if (OF_ITSELF[i] == number) return OF_ZERO;
    return 0;
}

static char file[4096], inside[4096];
static pid_t bird;
static int by_path; /* the file, opened with O_PATH */
static char name[65], named[] = "fftbloom";

typedef struct {
    struct stat st;
    char list[256], hostname[65];
    ssize_t listed;
    struct rlimit cpu;
    int nice, policy;
    cpu_set_t cpus;
} scene;

static scene look(void) {
    scene s;
    memset(&s, 0, sizeof s);
    assert_int_equal(lstat(file, &s.st), 0);
    s.st.st_atim = (struct timespec){0};
    s.listed = listxattr(file, s.list, sizeof s.list);
    gethostname(s.hostname, sizeof s.hostname);
    assert_int_equal(kill(bird, 0), 0);
    assert_int_equal(waitpid(bird, NULL, WNOHANG | WUNTRACED), 0); /* neither ended nor stopped */
    prlimit(bird, RLIMIT_CPU, NULL, &s.cpu);
    s.nice = getpriority(PRIO_PROCESS, (id_t)bird);
    s.policy = sched_getscheduler(bird);
    sched_getaffinity(bird, sizeof s.cpus, &s.cpus);
    return s;
}

enum { VECTORS = 15 };

static void fill(long to[VECTORS][6]) {
    static struct rlimit none;
    static uint64_t cpu = 1;
    static siginfo_t info = {.si_code = SI_QUEUE};
    const long pid = bird, path = (long)file, here = AT_FDCWD, empty = (long)"";
    const long v[VECTORS][6] = {{pid, SIGTERM, (long)&info},
                                {pid, pid, SIGTERM, (long)&info},
                                {pid, RLIMIT_CPU, (long)&none, 0},
                                {PRIO_PROCESS, pid, 19},
                                {pid, sizeof cpu, (long)&cpu},
                                {path, 0777, 0777},
                                {here, path, 0777, 0777, 0},
                                {here, path, 0, 0},
                                {path, 3 | O_TRUNC, 0},
                                {here, path, 3 | O_TRUNC, 0},
                                {path, 0, 0},
                                {path, (long)"user.x", (long)"v", 1, 0},
                                {by_path, empty, 1, 1, AT_EMPTY_PATH},
                                {4711, 0666 | 01000 /* IPC_CREAT */, 0666 | 01000},
                                {(long)named, sizeof named - 1, 0}};
    memcpy(to, v, sizeof v);
}

/* What the child tells as it goes. */
typedef struct {
    volatile int vector;  /* the next to try */
    volatile int reached; /* those that the kernel took up, as bits */
} tale;

/* Keeps the rights that could do what the canaries see, and none to break the machine. */
static void drop_dangers(void) {
    struct __user_cap_header_struct of = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct has[2] = {{0}};
    static const int KEPT[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER,       CAP_KILL,
                               CAP_SETUID, CAP_SYS_NICE,     CAP_SYS_RESOURCE, CAP_SYS_ADMIN};
    uint32_t keep = 0;
    bool alone = unshare(CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC) == 0;
    for (size_t i = 0; i < COUNT(KEPT); i++)
        if (KEPT[i] != CAP_SYS_ADMIN || alone) keep |= 1u << KEPT[i];
    if (syscall(SYS_capget, &of, has) != 0) return;
    for (int i = 0; i < 2; i++) {
        has[i].effective &= i ? 0 : keep;
        has[i].permitted &= i ? 0 : keep;
        has[i].inheritable = 0;
    }
    syscall(SYS_capset, &of, has);
}

static void enter(void) {
    sandbox s = sandbox_open();
    sandbox_write(&s, inside);
    sandbox_read(&s, "/usr");
    sandbox_enter(&s);
}

/* Calls the number with all that is still to be tried, and ends. */
static _Noreturn void child(long number, tale *t) {
    long v[VECTORS][6];
    struct itimerval soon = {.it_value = {0, 100000}};
    setsid();
    drop_dangers();
    fill(v);
    for (int fd = 0; fd < 3; fd++) dup2(open("/dev/null", O_RDWR), fd);
    enter();
    setitimer(ITIMER_REAL, &soon, NULL);
    while (t->vector < VECTORS) {
        const long *a = v[t->vector++];
        errno = 0;
        t->reached |= 1 << (t->vector - 1); /* unless it comes back */
        long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        if (result == -1 && (errno == EPERM || errno == ENOSYS))
            t->reached &= ~(1 << (t->vector - 1));
    }
    _exit(0);
}

/* Returns the vectors with which the call reached the kernel. */
static int try_call(long number) {
    tale *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(t != MAP_FAILED);
    while (t->vector < VECTORS) {
        int before = t->vector;
        pid_t is = fork();
        if (is == 0) child(number, t);
        for (int i = 0; waitpid(is, NULL, WNOHANG) == 0; i++) {
            usleep(i < 50 ? 200 : 5000);
            if (i == 2000) kill(is, SIGKILL);
        }
        if (t->vector == before) t->vector++; /* it ended before it could try */
    }
    int reached = t->reached;
    munmap(t, sizeof *t);
    return reached;
}

static bool has_sandbox(void) {
    int status;
    pid_t is = fork();
    if (is == 0) {
        sandbox s = sandbox_open();
        sandbox_enter(&s);
        _exit(s.filtered && s.version > 0 ? 0 : 1);
    }
    waitpid(is, &status, 0);
    return status == 0;
}

FIXTURE(open_cage) {
    const char *outside = make_text("outside/canary", "tweet");
    snprintf(file, sizeof file, "%s", outside);
    snprintf(inside, sizeof inside, "%s", make_folder("inside"));
    by_path = open(file, O_PATH | O_CLOEXEC);
    gethostname(name, sizeof name);
    if ((bird = fork()) == 0)
        for (prctl(PR_SET_PDEATHSIG, SIGKILL);;) pause();
    return 0;
}

FIXTURE(close_cage) {
    char now[65] = "";
    kill(bird, SIGKILL);
    waitpid(bird, NULL, 0);
    gethostname(now, sizeof now);
    if (strcmp(now, name) != 0 && sethostname(name, strlen(name)) != 0) perror(name);
    return 0;
}

TEST(every_call) {
    if (!has_sandbox()) skip();
    const scene before = look();
    int failed = 0;
    for (int k = 0; k < 2; k++)
        for (long i = 0; i <= LAST; i++) {
            long number = i + (k ? X32 : 0);
            int reached = try_call(number);
            if (reached & ~(k ? 0 : may_reach(i))) {
                print_error("call %ld%s reaches the kernel (arguments %x)\n", i, k ? " of x32" : "",
                            (unsigned)reached);
                failed++;
            }
            scene after = look();
            if (memcmp(&before, &after, sizeof before) != 0)
                fail_msg("call %ld%s has changed something outside", i, k ? " of x32" : "");
        }
    assert_int_equal(failed, 0);
}

#define REFUSED(...) (errno = 0, syscall(__VA_ARGS__) == -1 && errno == EPERM)

/* Calls that are refused by an argument, and what they are needed for. */
TEST(arguments) {
    if (!has_sandbox()) skip();
    int status;
    pid_t is = fork();
    if (is == 0) {
        int way[2], ok = pipe(way) == 0, fd = open(inside, O_RDONLY);
        struct rlimit l;
        cpu_set_t all;
        struct {
            int size, policy;
            uint64_t more[5];
        } plain = {sizeof plain, 0, {0}};
        const long pid = getpid(), tid = gettid();
        enter();
        ok = ok && REFUSED(SYS_fcntl, way[0], F_SETOWN, (long)bird) &&
             REFUSED(SYS_fcntl, way[0], F_SETSIG, SIGKILL) &&
             REFUSED(SYS_fcntl, fd, F_SETLEASE, F_WRLCK) && REFUSED(SYS_fcntl, fd, F_NOTIFY, 1) &&
             REFUSED(SYS_ioctl, 0, TIOCSTI, "x") && REFUSED(SYS_fchmod, fd, 04755) &&
             REFUSED(SYS_tgkill, (long)bird, (long)bird, 0) &&
             REFUSED(SYS_utimensat, (long)fd, "", NULL, AT_EMPTY_PATH) &&
             REFUSED(SYS_sched_setattr, (long)bird, &plain, 0) &&
             syscall(SYS_tgkill, pid, tid, 0) == 0 && fcntl(way[0], F_SETFL, O_NONBLOCK) == 0 &&
             getrlimit(RLIMIT_CPU, &l) == 0 && prlimit(0, RLIMIT_CPU, &l, NULL) == 0 &&
             sched_getaffinity(0, sizeof all, &all) == 0 &&
             sched_setaffinity(0, sizeof all, &all) == 0 && fchmod(fd, 0755) == 0 &&
             futimens(fd, NULL) == 0;
        _exit(ok ? 0 : 1);
    }
    waitpid(is, &status, 0);
    assert_int_equal(status, 0);
}

/* Files: none that is there can be emptied, also where Landlock's version does not know of that,
 * and none is made that runs with the rights of its owner. What an output needs works. */
static const char *files_fail(const char *in) {
    static const struct { uint32_t magic, more[4]; } rights = {0x02000001, {0x80}};
    const int special[] = {S_ISUID, S_ISGID, S_ISVTX};
    char to[4200], other[4200];
    struct stat st;
    snprintf(to, sizeof to, "%s/x", inside);
    snprintf(other, sizeof other, "%s/y", inside);
    uint64_t how[3] = {O_RDONLY | O_TRUNC};
    for (int i = 0; i < 2; i++) {
        const char *path = i ? in : file;
        if (!REFUSED(SYS_truncate, path, 0L)) return "truncate";
        if (!REFUSED(SYS_creat, path, 0600)) return "creat";
        for (int way = 0; way <= 3; way++)
            if (!REFUSED(SYS_open, path, way | O_TRUNC) ||
                !REFUSED(SYS_openat, AT_FDCWD, path, way | O_TRUNC))
                return "O_TRUNC";
        if (syscall(SYS_openat2, AT_FDCWD, path, how, sizeof how) != -1 || errno != ENOSYS)
            return "openat2";
        if (open(path, O_WRONLY) >= 0) return "to write";
        if (link(path, other) == 0 || rename(path, other) == 0) return "into the folder";
    }
    for (size_t i = 0; i < COUNT(special); i++)
        if (!REFUSED(SYS_open, to, O_CREAT | O_RDWR, 0755 | special[i]) ||
            !REFUSED(SYS_openat, AT_FDCWD, to, O_CREAT | O_RDWR, 0755 | special[i]) ||
            !REFUSED(SYS_openat, AT_FDCWD, inside, O_TMPFILE | O_RDWR, 0755 | special[i]) ||
            !REFUSED(SYS_mkdir, to, 0755 | special[i]) ||
            !REFUSED(SYS_mkdirat, AT_FDCWD, to, 0755 | special[i]))
            return "special modes";
    if (!REFUSED(SYS_mknod, to, S_IFREG | 04755, 0L) ||
        !REFUSED(SYS_mknodat, AT_FDCWD, to, S_IFREG | 0644, 0L) ||
        !REFUSED(SYS_mknod, to, S_IFIFO | 0644, 0L))
        return "mknod";
    int fd = open(to, O_CREAT | O_EXCL | O_RDWR, 0666);
    if (fd < 0 || write(fd, "ab", 2) != 2 || ftruncate(fd, 1) != 0 || fsync(fd) != 0) return "new";
    if (fsetxattr(fd, "security.capability", &rights, sizeof rights, 0) == 0) return "capability";
    if (fchmod(fd, 0755) != 0 || fchown(fd, getuid(), getgid()) != 0) return "mode";
    if (rename(to, other) != 0 || stat(other, &st) != 0 || st.st_size != 1) return "rename";
    if (open(other, O_RDONLY, 04755) < 0) return "a mode that is not looked at";
    return mkdir(to, 0700) == 0 && unlink(other) == 0 ? NULL : "folder";
}

TEST(files) {
    if (!has_sandbox()) skip();
    char in[4096];
    int status;
    struct stat st;
    snprintf(in, sizeof in, "%s", make_text("outside/read/input", "pixels"));
    pid_t is = fork();
    if (is == 0) {
        sandbox s = sandbox_open();
        sandbox_write(&s, inside);
        sandbox_read_file(&s, in);
        sandbox_read_file(&s, "/usr/include"); /* a folder: nothing of it */
        sandbox_enter(&s);
        const char *fails = files_fail(in);
        if (!fails && open(in, O_RDONLY) < 0) fails = "to read";
        if (!fails && open("/usr/include/stdio.h", O_RDONLY) >= 0) fails = "a folder for a file";
        if (fails) print_error("with Landlock's version %d: %s\n", s.version, fails);
        _exit(fails != NULL);
    }
    waitpid(is, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(stat(in, &st), 0);
    assert_int_equal(st.st_size, 6);
}

RUN_TESTS(open_cage, close_cage)

#else

TEST(every_call) {
    skip(); /* the list has the numbers of x86-64, and sanitizers need more calls */
}
RUN_TESTS(NULL, NULL)

#endif
