/* sandbox.h - gives up rights of this process that it does not need, by Landlock and seccomp.
 *
 * Afterwards only the folders and files that were named can be read or written; what reaches other
 * programs, processes or machines fails with EPERM, and calls younger than this list with ENOSYS.
 * No file is emptied, and none becomes setuid. Files that are open stay open, and their mode, owner
 * and times can be changed. Rights never come back. tests/unit/test_sandbox.c has the list of what
 * is left, with the reasons. */
#pragma once

#include <stdbool.h>

typedef struct {
    int rules; /* Landlock's rules, or -1: the kernel has none */
    int version;
    bool filtered; /* by seccomp */
    int why;       /* errno of the first of the two that the kernel has refused; 0: it has both */
    int lacks;     /* errno: a rule could not be made, since too many files are open; 0: all are */
} sandbox;

/* Begins a set of rules. Where the kernel has no Landlock, the two calls below do nothing. */
sandbox sandbox_open(void);
/* Allow what is below a folder, or one file; a path that is not there is left out. */
void sandbox_read(sandbox *s, const char *path);
void sandbox_read_file(sandbox *s, const char *path); /* nothing of a folder */
void sandbox_write(sandbox *s, const char *path);     /* reading, too */
/* Gives up all other rights, and closes the rules. Other threads that there are get seccomp alone,
 * those that this one begins later have no more rights than it. */
void sandbox_enter(sandbox *s);

/* Returns whether it is Landlock, and not the mode of a file or a folder, that has refused to open
 * a path just now (errno) for these uses (R_OK, W_OK): access(2) asks for the mode alone. */
bool sandbox_refuses(const char *path, int uses);

/* Leaves a process that has one thread the rights to compute, to get memory, and to read and write
 * what is open. Does nothing where the kernel has no seccomp. */
void sandbox_enter_alone(void);
