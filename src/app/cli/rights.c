#include "app/cli/rights.h"

#include "app/cli/library.h"
#include "app/cli/options.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sandbox.h"
#include "image/exr/exr_child.h"
#include "kernel/cache.h"

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void grant(sandbox *s, const char *path);

/* Writes the folder of a path. */
static void rights_folder(const char *path, char to[PATH_MAX]) {
    snprintf(to, PATH_MAX, "%s", path);
    char *slash = strrchr(to, '/');
    if (!slash)
        strcpy(to, ".");
    else
        slash[slash == to] = 0;
}

/* Grants rights on the folder of a path, and on that of what it points to, link by link. */
static void grant_file(sandbox *s, grant *give, const char *path) {
    enum { MOST_LINKS = 40 };
    char at[PATH_MAX], folder[PATH_MAX], to[PATH_MAX], next[PATH_MAX];
    snprintf(at, sizeof at, "%s", path);
    for (int i = 0; i < MOST_LINKS; i++) {
        rights_folder(at, folder);
        give(s, folder);
        ssize_t n = readlink(at, to, sizeof to - 1);
        if (n < 0) return;
        to[n] = 0;
        if (snprintf(next, sizeof next, "%s%s%s", *to == '/' ? "" : folder, *to == '/' ? "" : "/",
                     to) >= PATH_MAX)
            return;
        memcpy(at, next, sizeof at);
    }
}

/* Grants rights on the folders of all that the links in a folder point to: the frames of a sequence
 * may be links. */
static void grant_links(sandbox *s, grant *give, const char *folder) {
    char path[PATH_MAX], real[PATH_MAX], last[PATH_MAX] = "", of[PATH_MAX];
    DIR *d = opendir(folder);
    for (struct dirent *f; d && (f = readdir(d));) {
        if (f->d_type != DT_LNK && f->d_type != DT_UNKNOWN) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, f->d_name) >= PATH_MAX ||
            !realpath(path, real))
            continue;
        rights_folder(real, of);
        if (strcmp(of, last) != 0) give(s, strcpy(last, of));
    }
    if (d) closedir(d);
}

/* Grants rights on a path of the command line: a folder, a file, or a pattern of frames, whose
 * folders end before the first field. */
static void grant_path(sandbox *s, grant *give, const char *path) {
    struct stat st;
    char plain[PATH_MAX], folder[PATH_MAX];
    if (!path || strcmp(path, "-") == 0) return;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) give(s, path);
        grant_file(s, give, path);
        return;
    }
    size_t n = strcspn(path, "#%$@");
    if (!path[n]) {
        grant_file(s, give, path);
        return;
    }
    snprintf(plain, sizeof plain, "%.*s", (int)n, path);
    rights_folder(plain, folder);
    give(s, folder);
    grant_links(s, give, folder);
}

/* Returns true where the run may need files that the command line does not name: a recipe names its
 * pictures, OpenColorIO its tables, and the variables of Vulkan their drivers. */
static bool reads_more(const cli *c) {
    static const char *const DRIVERS[] = {"VK_DRIVER_FILES",     "VK_ICD_FILENAMES",
                                          "VK_ADD_DRIVER_FILES", "VK_LAYER_PATH",
                                          "VK_ADD_LAYER_PATH",   "LD_LIBRARY_PATH"};
    bool more = c->s.view && strncmp(c->s.view, "ocio", 4) == 0;
    for (size_t i = 0; i < sizeof DRIVERS / sizeof *DRIVERS; i++)
        more |= getenv(DRIVERS[i]) != NULL;
    /* Of several kernels, or of a kernel with parameters, only the reader knows the files. */
    more |= c->s.kernel && (strstr(c->s.kernel, ".json") || strpbrk(c->s.kernel, "(,:"));
    for (int i = 0; i < c->words; i++) more |= strstr(c->word[i], ".json") != NULL;
    struct stat st;
    return more || (c->s.kernels && (stat(c->s.kernels, &st) != 0 || !S_ISDIR(st.st_mode)));
}

static void grant_reading(sandbox *s, const cli *c) {
    static const char *const SYSTEM[] = {"/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev"};
    char folder[LIBRARY_PATH], program[PATH_MAX], own[PATH_MAX];
    for (size_t i = 0; i < sizeof SYSTEM / sizeof *SYSTEM; i++) sandbox_read(s, SYSTEM[i]);
    if (reads_more(c)) sandbox_read(s, "/");
    /* A bundle's libraries lie beside its program. */
    if (realpath("/proc/self/exe", program)) {
        rights_folder(program, own);
        strcat(own, "/../lib");
        sandbox_read(s, own);
    }
    if (library_folder(folder, &c->s)) sandbox_read(s, folder);
    const char *const shared = getenv("FFTBLOOM_CACHE_RO");
    if (shared) sandbox_read(s, shared);
    grant_path(s, sandbox_read, c->s.input);
    grant_path(s, sandbox_read, c->s.kernel);
    grant_path(s, sandbox_read, c->s.image);
    grant_path(s, sandbox_read, c->s.plate);
    for (int i = c->action != NULL; i < c->words; i++) grant_path(s, sandbox_read, c->word[i]);
}

static void grant_writing(sandbox *s, const cli *c) {
    char cache[CACHE_PATH];
    grant_path(s, sandbox_write, c->s.output);
    grant_path(s, sandbox_write, c->s.before);
    grant_path(s, sandbox_write, c->s.emit_file);
    grant_path(s, sandbox_write, c->s.report);
    if (!cache_path(cache, c->s.bloom.cache_dir)) return;
    /* Rights can only be had on a folder that is there. */
    bool makes = c->cmd->bit & (FOR_APPLY | FOR_PRECOMPUTE | FOR_KERNEL);
    if (makes && !(c->cmd->bit & FOR_PLAN) && !c->s.dry_run && c->s.bloom.cache_size)
        file_make_dirs(cache, 0700, NULL);
    sandbox_write(s, cache);
}

/* Returns true unless a GPU may do the work: one is asked for, or none is named and there may be
 * one here. */
static bool without_gpu(const cli *c) {
    const char *device = option_find("device", c->cmd->bit) ? c->s.bloom.device : "cpu";
    if (!device || strcmp(device, "auto") == 0) {
        glob_t g = {0};
        bool none = glob("/dev/dri/renderD*", 0, NULL, &g) != 0 &&
                    glob("/dev/nvidia*", 0, NULL, &g) != 0 && access("/dev/kfd", F_OK) != 0 &&
                    access("/dev/dxg", F_OK) != 0 && access("/proc/driver/nvidia", F_OK) != 0;
        globfree(&g);
        return none;
    }
    return strcmp(device, "cpu") == 0 || strcmp(device, "software") == 0;
}

bool rights_give_up(const cli *c) {
    if (!option_find("sandbox", c->cmd->bit) || c->cmd->bit & FOR_FARM) return false;
    const char *why = WITH_SAN                      ? "a build with sanitizers has none"
                      : c->s.sandbox == SANDBOX_OFF ? "--sandbox off"
                                                    : NULL;
    if (!why) exr_child_start(); /* also where the process keeps its rights for a driver */
    if (!why && !without_gpu(c)) why = "a GPU's driver may be needed";
    if (why) {
        log_info("no sandbox: %s", why);
        return false;
    }
    sandbox s = sandbox_open();
    if (c->cmd->bit == FOR_CHECK) {
        sandbox_write(&s, "/");
    } else {
        grant_reading(&s, c);
        grant_writing(&s, c);
    }
    sandbox_enter(&s);
    if (c->cmd->bit == FOR_DIFF) return s.version > 0; /* its words are those of idiff */
    if (!s.version && !s.filtered)
        log_info("no sandbox: this kernel has neither Landlock nor seccomp, or refuses them");
    else
        log_info("sandbox: %s%s%s", s.version ? "Landlock" : "",
                 s.version && s.filtered ? " and " : "", s.filtered ? "seccomp" : "");
    return s.version > 0;
}
