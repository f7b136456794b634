#include "base/machine.h"

#include "base/number.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads up to `n` numbers from a file of one line (max: UINT64_MAX). Returns how many there are. */
static int read_numbers(const char *folder, const char *name, uint64_t *to, int n) {
    char path[PATH_MAX], word[32];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX) return 0;
    FILE *f = fopen(path, "re");
    int found = 0;
    while (f && found < n && fscanf(f, "%31s", word) == 1) {
        if (strcmp(word, "max") == 0 || word[0] == '-') /* version 1 writes -1 for no quota */
            to[found++] = UINT64_MAX;
        else if (sscanf(word, "%" SCNu64, &to[found]) == 1)
            found++;
        else
            break;
    }
    if (f) fclose(f);
    return found;
}

/* Reads the number behind a key from a file of lines "key number ..."; 0 where there is none. */
static uint64_t read_key(const char *path, const char *key) {
    char line[256];
    uint64_t found = 0;
    size_t n = strlen(key);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f))
        if (strncmp(line, key, n) == 0) sscanf(line + n, " %" SCNu64, &found);
    if (f) fclose(f);
    return found;
}

/* Looks at one folder of control groups, of version 1 or 2, for a limit below *least. */
typedef void look_fn(const char *folder, bool version_2, void *least);

/* Calls `look` for the folder of this process's group and for each above it, because any of them
 * may set a limit. Version 1 has a tree for each controller, version 2 one for all. In a container
 * folders may be missing. */
static void for_each_group(const char *proc, const char *cgroups, const char *controller,
                           look_fn *look, void *least) {
    char line[PATH_MAX], folder[PATH_MAX];
    snprintf(line, sizeof line, "%s/self/cgroup", proc);
    FILE *f = fopen(line, "re");
    /* Lines are "7:memory:/path" or "3:cpu,cpuacct:/path" in version 1, "0::/path" in version 2. */
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *names = strchr(line, ':'), *path = names ? strchr(++names, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        bool version_2 = !*names, ours = version_2;
        for (char *rest = names, *name; (name = strsep(&rest, ","));)
            ours |= strcmp(name, controller) == 0;
        if (!ours || snprintf(folder, sizeof folder, "%s%s%s%s", cgroups, version_2 ? "" : "/",
                              version_2 ? "" : controller, path) >= PATH_MAX)
            continue;
        size_t root = strlen(folder) - strlen(path);
        for (;;) {
            look(folder, version_2, least);
            char *slash = strrchr(folder + root, '/');
            if (!slash) break;
            *slash = 0;
        }
    }
    if (f) fclose(f);
}

static void look_at_quota(const char *folder, bool version_2, void *least) {
    uint64_t max[2]; /* quota and period in microseconds */
    bool there = version_2 ? read_numbers(folder, "cpu.max", max, 2) == 2
                           : read_numbers(folder, "cpu.cfs_quota_us", &max[0], 1) == 1 &&
                                 read_numbers(folder, "cpu.cfs_period_us", &max[1], 1) == 1;
    if (there && max[0] != UINT64_MAX && max[1] > 0)
        *(double *)least = min_double(*(double *)least, (double)max[0] / (double)max[1]);
}

double machine_cpu_quota(const char *proc, const char *cgroups) {
    double least = (double)INFINITY;
    for_each_group(proc, cgroups, "cpu", look_at_quota, &least);
    return least;
}

int machine_cpus(void) {
    cpu_set_t set;
    long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);
    double quota = ceil(machine_cpu_quota("/proc", "/sys/fs/cgroup"));
    return (int)clamp_double(quota, 1, (double)(n > 0 ? n : 1));
}

/* Lowers *least to the memory that is left in a group: its limit less its use. File pages that were
 * not touched lately do not count as used, because the kernel drops them before it kills. */
static void look_at_memory(const char *folder, bool version_2, void *least) {
    uint64_t most, used, *left = least;
    char stat[PATH_MAX];
    const char *limit = version_2 ? "memory.max" : "memory.limit_in_bytes";
    const char *usage = version_2 ? "memory.current" : "memory.usage_in_bytes";
    if (read_numbers(folder, limit, &most, 1) != 1 || most == UINT64_MAX ||
        read_numbers(folder, usage, &used, 1) != 1)
        return;
    if (snprintf(stat, sizeof stat, "%s/memory.stat", folder) < PATH_MAX)
        used -= min_u64(used, read_key(stat, version_2 ? "inactive_file" : "total_inactive_file"));
    *left = min_u64(*left, most > used ? most - used : 1);
}

uint64_t machine_memory_at(const char *proc, const char *cgroups) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/meminfo", proc) >= PATH_MAX) return 0;
    uint64_t kilobytes = read_key(path, "MemAvailable:");
    uint64_t least = kilobytes ? kilobytes * 1024 : UINT64_MAX;
    for_each_group(proc, cgroups, "memory", look_at_memory, &least);
    return least == UINT64_MAX ? 0 : least;
}

uint64_t machine_memory(void) {
    return machine_memory_at("/proc", "/sys/fs/cgroup");
}
