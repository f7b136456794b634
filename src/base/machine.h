/* machine.h - finds how much of this machine the process may use. The limits of control groups
 * (cgroup version 1 or 2) count, as in containers. */
#pragma once

#include <stdint.h>

/* Returns the number of processors that may be used at the same time, at least 1: those that the
 * process may run on, or the CPU quota, rounded up, if that is less. */
int machine_cpus(void);
/* Returns the bytes that can be allocated now without swapping or being killed; 0: not known. */
uint64_t machine_memory(void);

/* Return the same with /proc and /sys/fs/cgroup elsewhere, for tests; the quota is not rounded, and
 * infinite if there is none. */
double machine_cpu_quota(const char *proc, const char *cgroups);
uint64_t machine_memory_at(const char *proc, const char *cgroups);
