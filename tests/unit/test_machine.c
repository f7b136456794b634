/* The processors and memory that a container may use, from trees of control groups like those that
 * kernels show. */
#include "base/machine.h"
#include "unit/check.h"
#include "unit/make_image.h"

static const char *box; /* the folder of a test's own machine */
static char proc[300], groups[300];

static void put(const char *path, const char *content) {
    char name[300];
    snprintf(name, sizeof name, "%s/%s", box, path);
    make_text(name, content);
}

static void fresh(const char *name) {
    box = name;
    put("cg/empty", "");
    put("proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable:   40000000 kB\n");
    snprintf(proc, sizeof proc, "%s/%s/proc", make_path("."), name);
    snprintf(groups, sizeof groups, "%s/%s/cg", make_path("."), name);
}

TEST(no_limits) {
    fresh("no limits");
    assert_true(isinf(machine_cpu_quota(proc, groups)));
    assert_true(machine_memory_at(proc, groups) == 40000000ull * 1024);
    put("proc/self/cgroup", "0::/a/b\n");
    put("cg/a/b/cpu.max", "max 100000\n");
    put("cg/a/b/memory.max", "max\n");
    put("cg/a/b/memory.current", "1000\n");
    assert_true(isinf(machine_cpu_quota(proc, groups)));
    assert_true(machine_memory_at(proc, groups) == 40000000ull * 1024);
    assert_true(machine_memory_at("/nowhere", "/nowhere") == 0);
}

/* Version 2: the least of the group and those above it. Idle file pages do not count as used. */
TEST(version_2) {
    fresh("version 2");
    put("proc/self/cgroup", "0::/pods/pod7/box\n");
    put("cg/pods/cpu.max", "400000 100000\n");
    put("cg/pods/pod7/cpu.max", "150000 100000\n");
    put("cg/pods/pod7/box/cpu.max", "max 100000\n");
    put("cg/pods/memory.max", "9000000000\n");
    put("cg/pods/memory.current", "7000000000\n");
    put("cg/pods/memory.stat", "anon 5\ninactive_file 1000000000\nactive_file 7\n");
    put("cg/pods/pod7/box/memory.max", "4000000000\n");
    put("cg/pods/pod7/box/memory.current", "500000000\n");
    assert_true(fabs(machine_cpu_quota(proc, groups) - 1.5) < 1e-9);
    assert_true(machine_memory_at(proc, groups) == 3000000000);
    put("cg/pods/pod7/box/memory.current", "5000000000\n"); /* over the limit: not unknown */
    assert_true(machine_memory_at(proc, groups) == 1);
}

/* In a container with a name space of its own, or with its part mounted at the root. */
TEST(at_the_root) {
    fresh("root");
    put("proc/self/cgroup", "0::/\n");
    put("cg/cpu.max", "50000 100000\n");
    put("cg/memory.max", "1000000\n");
    put("cg/memory.current", "0\n");
    assert_true(fabs(machine_cpu_quota(proc, groups) - 0.5) < 1e-9);
    assert_true(machine_memory_at(proc, groups) == 1000000);
}

TEST(version_1) {
    fresh("version 1");
    put("proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/y\n");
    put("cg/cpu/cpu.cfs_quota_us", "250000\n"); /* the container sees its own part at the root */
    put("cg/cpu/cpu.cfs_period_us", "100000\n");
    put("cg/memory/memory.limit_in_bytes", "2000000\n");
    put("cg/memory/memory.usage_in_bytes", "900000\n");
    put("cg/memory/memory.stat", "cache 1\ninactive_file 1\ntotal_inactive_file 400000\n");
    assert_true(fabs(machine_cpu_quota(proc, groups) - 2.5) < 1e-9);
    assert_true(machine_memory_at(proc, groups) == 1500000);
    put("cg/cpu/cpu.cfs_quota_us", "-1\n");
    assert_true(isinf(machine_cpu_quota(proc, groups)));
}

TEST(this_machine) {
    assert_true(machine_cpus() >= 1);
    assert_true(machine_memory() > 1000000);
}

RUN_TESTS(NULL, NULL)
