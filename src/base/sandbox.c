#include "base/sandbox.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { RULESET_VERSION = 1, RULE_PATH_BENEATH = 1 };

/* The rights on files, by their bits; a kernel knows those of its version. */
enum { WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3, REMOVE_FILE = 1 << 5 };
enum { MAKE_DIR = 1 << 7, MAKE_REG = 1 << 8, FIRST_VERSION = (1 << 13) - 1 };
enum {
    REFER = 1 << 13, /* files may come from other folders */
    TRUNCATE = 1 << 14,
    OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE,
    READING = READ_FILE | READ_DIR, /* libraries can be loaded, too */
    WRITING = READING | WRITE_FILE | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE
};

/* What a set of rules is about; a kernel knows the first fields, by its version. */
typedef struct {
    uint64_t files, ports, scopes;
} rule_set;
enum { SCOPE_SOCKETS = 1 << 0, SCOPE_SIGNALS = 1 << 1, SCOPES_SINCE = 6 };

/* What Landlock holds from a version on. What an older one lacks holds all the same: */
static const struct {
    int version;
    rule_set rules;
} HOLDS[] = {
    {1, {.files = FIRST_VERSION}},
    {2, {.files = REFER}},    /* version 1 lets no file into another folder */
    {3, {.files = TRUNCATE}}, /* seccomp refuses truncate and O_TRUNC */
    {SCOPES_SINCE,
     {.scopes = SCOPE_SOCKETS | SCOPE_SIGNALS}}, /* seccomp refuses kill and sockets */
};

static rule_set held_by(int version) {
    rule_set rules = {0};
    for (size_t i = 0; i < COUNT(HOLDS) && HOLDS[i].version <= version; i++)
        rules.files |= HOLDS[i].rules.files, rules.scopes |= HOLDS[i].rules.scopes;
    return rules;
}

sandbox sandbox_open(void) {
    sandbox s = {.rules = -1};
    s.version = (int)syscall(CREATE_RULESET, NULL, (size_t)0, RULESET_VERSION);
    const rule_set rules = held_by(s.version);
    size_t known = s.version >= SCOPES_SINCE ? sizeof rules : sizeof rules.files;
    if (s.version >= 1) s.rules = (int)syscall(CREATE_RULESET, &rules, known, 0);
    if (s.rules < 0) s.why = errno;
    return s;
}

static void add_rule(sandbox *s, const char *path, uint64_t rights) {
    struct {
        uint64_t rights;
        int32_t folder;
    } __attribute__((packed)) rule = {rights & held_by(s->version).files, -1};
    struct stat st;
    if (s->rules < 0) return;
    if ((rule.folder = open(path, O_PATH | O_CLOEXEC)) < 0) {
        if (errno == EMFILE || errno == ENFILE) s->lacks = errno;
        return;
    }
    const bool known = fstat(rule.folder, &st) == 0, folder = known && S_ISDIR(st.st_mode);
    if (!folder) rule.rights &= OF_FILES;
    if (known && (!folder || rights & READ_DIR))
        syscall(ADD_RULE, s->rules, RULE_PATH_BENEATH, &rule, 0);
    close(rule.folder);
}

void sandbox_read(sandbox *s, const char *path) {
    add_rule(s, path, READING);
}

void sandbox_read_file(sandbox *s, const char *path) {
    add_rule(s, path, READ_FILE);
}

void sandbox_write(sandbox *s, const char *path) {
    add_rule(s, path, WRITING);
}

/* Calls that are younger than the headers of some systems; all machines have the same numbers. From
 * UNKNOWN on: calls that nobody has looked at. */
enum { SYS_OF_QUOTACTL_FD = 443, SYS_OF_PROCESS_MRELEASE = 448, SYS_OF_FCHMODAT2 = 452 };
enum { SYS_OF_LSM_SET_SELF_ATTR = 460, UNKNOWN = 463 };

#ifdef __x86_64__ /* older forms, and ports */
#define OLDER                                                                                      \
    , SYS_fork, SYS_vfork, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, \
        SYS_creat, SYS_mknod, SYS_inotify_init, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib,  \
        SYS_create_module, SYS_query_module, SYS_get_kernel_syms, SYS_nfsservctl, SYS__sysctl,     \
        SYS_lookup_dcookie
#define OLDER_RULES                            \
    , {SYS_open, 1, OPENS, {0}, false}, {      \
        SYS_mkdir, 1, NO_BIT, {SPECIAL}, false \
    }
#else
#define OLDER
#define OLDER_RULES
#endif

/* What no run needs: the network, other programs and processes, the machine itself. */
static const int DENIED[] = {
    /* sockets */
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
    SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
    /* programs and processes */
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kill,
    SYS_tkill, SYS_rt_sigqueueinfo, SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal,
    SYS_process_madvise, SYS_OF_PROCESS_MRELEASE, SYS_setpriority, SYS_ioprio_set,
    SYS_migrate_pages, SYS_move_pages, SYS_kcmp, SYS_setpgid, SYS_get_robust_list, SYS_personality,
    /* memory and messages that are shared with other processes by a number or a name */
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget,
    SYS_semop, SYS_semctl, SYS_semtimedop, SYS_mq_open, SYS_mq_unlink,
    /* to empty a file, which no output needs: each is a new one; and to make devices and pipes */
    SYS_truncate, SYS_mknodat,
    /* mode, owner, times and attributes of a file by its name; those of an open file stay */
    SYS_fchmodat, SYS_OF_FCHMODAT2, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr,
    /* what happens to files, also to those that cannot be opened */
    SYS_inotify_init1, SYS_inotify_add_watch,
    /* the machine and its kernel */
    SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime,
    SYS_adjtimex, SYS_syslog, SYS_vhangup, SYS_bpf, SYS_perf_event_open, SYS_io_uring_setup,
    SYS_io_uring_enter, SYS_io_uring_register, SYS_userfaultfd, SYS_fanotify_init,
    SYS_fanotify_mark, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_mount, SYS_umount2,
    SYS_pivot_root, SYS_chroot, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_open_tree,
    SYS_move_mount, SYS_mount_setattr, SYS_unshare, SYS_setns, SYS_open_by_handle_at,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load,
    SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_OF_QUOTACTL_FD,
    /* who the process is */
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups,
    SYS_setfsuid, SYS_setfsgid, SYS_capset, SYS_OF_LSM_SET_SELF_ATTR OLDER};

/* Calls that depend on an argument, of which the lower half counts but for NOTHING. */
typedef enum {
    OWN,     /* the number of this process, or of others that `value` has */
    NONE_OF, /* no such value */
    NO_BIT,  /* no such bit */
    OPENS,   /* flags without O_TRUNC, and behind them a mode: no such bit where a file is made */
    NOTHING  /* a pointer that is NULL */
} argument_rule;
enum { SPECIAL = S_ISUID | S_ISGID | S_ISVTX, MAKES = O_CREAT | (O_TMPFILE & ~O_DIRECTORY) };

static const struct {
    int number, arg;
    argument_rule rule;
    unsigned value[6]; /* ends with 0, which OWN takes, too, if `zero` */
    bool zero;
} DEPENDS[] = {
    {SYS_tgkill, 0, OWN, {0}, false},
    {SYS_rt_tgsigqueueinfo, 0, OWN, {0}, false},
    {SYS_prlimit64, 0, OWN, {0}, true},
    {SYS_sched_setaffinity, 0, OWN, {0}, true},
    {SYS_sched_setscheduler, 0, OWN, {0}, true},
    {SYS_sched_setparam, 0, OWN, {0}, true},
    {SYS_sched_setattr, 0, OWN, {0}, true},
    {SYS_utimensat, 1, NOTHING, {0}, false}, /* the times of an open file */
    {SYS_fchmod, 1, NO_BIT, {SPECIAL}, false},
    {SYS_mkdirat, 2, NO_BIT, {SPECIAL}, false},
    {SYS_openat, 2, OPENS, {0}, false},
    /* signals when bytes come, and what delays others */
    {SYS_fcntl, 1, NONE_OF, {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY}, false},
    {SYS_ioctl, 1, NONE_OF, {FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX}, false} OLDER_RULES};
enum { DEPENDING = COUNT(DEPENDS), LONGEST_RULE = 16 };

#if defined __x86_64__
enum { MACHINE = AUDIT_ARCH_X86_64, NUMBERS = 1 << 30 /* those of x32 begin here */ };
#elif defined __aarch64__
enum { MACHINE = AUDIT_ARCH_AARCH64, NUMBERS = 1 << 30 };
#else
enum { MACHINE = 0, NUMBERS = 0 };
#endif

#define FIELD(name)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define IF(test, value)     BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, (value), 0, 1)
#define UNLESS(test, value) BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, (value), 1, 0)
#define FAIL(number)        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))
#define ALLOW               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What a decoder needs beside memory without code in it, which `sandbox_enter_alone` adds. */
static const int NEEDED[] = {
    SYS_read,  SYS_write,       SYS_brk,          SYS_mremap, SYS_munmap,     SYS_madvise,
    SYS_futex, SYS_sched_yield, SYS_rt_sigreturn, SYS_exit,   SYS_exit_group,
};

/* Fills in what is done with a call that depends on an argument: it ends with an answer. */
static unsigned short make_rule(struct sock_filter *to, size_t i) {
    const unsigned *v = DEPENDS[i].value;
    const int arg = DEPENDS[i].arg, own = getpid();
    unsigned short n = 0;
    to[n++] = (struct sock_filter)FIELD(args[arg]);
    switch (DEPENDS[i].rule) {
    case OWN:
        to[n++] = (struct sock_filter)IF(JEQ, (unsigned)own);
        to[n++] = (struct sock_filter)ALLOW;
        if (DEPENDS[i].zero) to[n++] = (struct sock_filter)IF(JEQ, 0);
        if (DEPENDS[i].zero) to[n++] = (struct sock_filter)ALLOW;
        to[n++] = (struct sock_filter)FAIL(EPERM);
        return n;
    case NONE_OF:
        for (int k = 0; k < 6 && v[k]; k++) {
            to[n++] = (struct sock_filter)IF(JEQ, v[k]);
            to[n++] = (struct sock_filter)FAIL(EPERM);
        }
        break;
    case NO_BIT:
        to[n++] = (struct sock_filter)IF(JSET, v[0]);
        to[n++] = (struct sock_filter)FAIL(EPERM);
        break;
    case OPENS:
        to[n++] = (struct sock_filter)IF(JSET, O_TRUNC);
        to[n++] = (struct sock_filter)FAIL(EPERM);
        to[n++] = (struct sock_filter)UNLESS(JSET, MAKES);
        to[n++] = (struct sock_filter)ALLOW;
        to[n++] = (struct sock_filter)FIELD(args[arg + 1]);
        to[n++] = (struct sock_filter)IF(JSET, SPECIAL);
        to[n++] = (struct sock_filter)FAIL(EPERM);
        break;
    case NOTHING:
        to[n++] = (struct sock_filter)UNLESS(JEQ, 0);
        to[n++] = (struct sock_filter)FAIL(EPERM);
        to[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                               offsetof(struct seccomp_data, args[arg]) + 4);
        to[n++] = (struct sock_filter)UNLESS(JEQ, 0);
        to[n++] = (struct sock_filter)FAIL(EPERM);
        break;
    }
    to[n++] = (struct sock_filter)ALLOW;
    return n;
}

/* Fills in the program: each test skips the answer behind it. */
static unsigned short make_filter(struct sock_filter *to) {
    const struct sock_filter begin[] = {FIELD(arch),      UNLESS(JEQ, MACHINE), FAIL(EPERM),
                                        FIELD(nr),        IF(JGE, NUMBERS),     FAIL(EPERM),
                                        IF(JGE, UNKNOWN), FAIL(ENOSYS)};
    /* The flags of clone3 and openat2 lie in memory, which a filter does not see; without these the
     * C library takes clone and openat. A clone that is no thread is a process. */
    const struct sock_filter end[] = {IF(JEQ, SYS_clone3),
                                      FAIL(ENOSYS),
                                      IF(JEQ, SYS_openat2),
                                      FAIL(ENOSYS),
                                      UNLESS(JEQ, SYS_clone),
                                      ALLOW,
                                      FIELD(args[0]),
                                      UNLESS(JSET, CLONE_THREAD),
                                      FAIL(EPERM),
                                      ALLOW};
    unsigned short n = 0;
    for (size_t i = 0; i < COUNT(begin); i++) to[n++] = begin[i];
    for (size_t i = 0; i < COUNT(DENIED); i++) {
        to[n++] = (struct sock_filter)IF(JEQ, (unsigned)DENIED[i]);
        to[n++] = (struct sock_filter)FAIL(EPERM);
    }
    for (size_t i = 0; i < DEPENDING; i++) {
        unsigned short rule = make_rule(to + n + 1, i);
        to[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)DEPENDS[i].number,
                                             0, (uint8_t)rule);
        n = (unsigned short)(n + 1 + rule);
    }
    for (size_t i = 0; i < COUNT(end); i++) to[n++] = end[i];
    return n;
}

void sandbox_enter_alone(void) {
    const struct sock_filter begin[] = {FIELD(arch), UNLESS(JEQ, MACHINE), FAIL(EPERM), FIELD(nr)};
    const struct sock_filter end[] = {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
                                      UNLESS(JEQ, SYS_mprotect),
                                      FAIL(EPERM),
                                      FIELD(args[2]), /* of both: what the memory is for */
                                      IF(JSET, PROT_EXEC),
                                      FAIL(EPERM),
                                      ALLOW};
    struct sock_filter code[2 * COUNT(NEEDED) + 16];
    unsigned short n = 0;
    for (size_t i = 0; i < COUNT(begin); i++) code[n++] = begin[i];
    for (size_t i = 0; i < COUNT(NEEDED); i++) {
        code[n++] = (struct sock_filter)IF(JEQ, (unsigned)NEEDED[i]);
        code[n++] = (struct sock_filter)ALLOW;
    }
    for (size_t i = 0; i < COUNT(end); i++) code[n++] = end[i];
    const struct sock_fprog program = {n, code};
    if (MACHINE != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Gives up what root could make a program of others with: seccomp does not see that the name of an
 * attribute is that of a file's rights. */
static void drop_powers(void) {
    static const int POWER[] = {CAP_FSETID, CAP_MKNOD, CAP_SETFCAP};
    struct __user_cap_header_struct of = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &of, has) != 0) return;
    for (size_t i = 0; i < COUNT(POWER); i++) {
        const uint32_t others = ~(1u << POWER[i]);
        has[0].effective &= others, has[0].permitted &= others, has[0].inheritable &= others;
    }
    syscall(SYS_capset, &of, has);
}

static bool entered; /* written while there is no other thread that opens files */

bool sandbox_refuses(const char *path, int uses) {
    const int why = errno;
    const bool refused = entered && why == EACCES && access(path, uses) == 0;
    errno = why;
    return refused;
}

void sandbox_enter(sandbox *s) {
    drop_powers();
    struct sock_filter code[2 * COUNT(DENIED) + LONGEST_RULE * DEPENDING + 32];
    const struct sock_fprog program = {make_filter(code), code};
    bool bound = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0,
         ruled = bound && s->rules >= 0 && syscall(RESTRICT_SELF, s->rules, 0) == 0;
    if (!ruled) {
        s->version = 0;
        s->why = s->why ? s->why : errno;
    }
    entered = ruled;
    if (s->rules >= 0) close(s->rules);
    s->rules = -1;
    errno = ENOSYS; /* where MACHINE is 0 */
    s->filtered =
        bound && MACHINE != 0 &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
    if (!s->filtered && !s->why) s->why = errno;
}
