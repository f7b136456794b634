#include "app/cli/cli.h"
#include "app/cli/frame_pattern.h"
#include "app/cli/kernel_option.h"
#include "app/cli/options.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sandbox.h"
#include "device/device_measure.h"
#include "engine/engine.h"
#include "image/exr/exr_chunk.h"
#include "kernel/cache.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <unistd.h>

typedef void grant(sandbox *s, const char *path);

/* Grants rights on the folder of a path, and on that of what it points to, link by link. */
static void grant_file(sandbox *s, grant *give, const char *path) {
    char at[PATH_MAX], folder[PATH_MAX];
    int i = 0;
    snprintf(at, sizeof at, "%s", path);
    do
        if (path_folder(at, folder)) give(s, folder);
    while (i++ < PATH_LINKS && path_follow(at));
}

/* Grants rights on the frames in a folder that are links: to read the file alone, or to write the
 * folder where an output is replaced. Links of other names grant nothing: others may have laid
 * them. */
static void grant_links(sandbox *s, grant *give, const char *folder, const frame_pattern *p) {
    char path[PATH_MAX], at[PATH_MAX];
    int number;
    DIR *d = opendir(folder);
    for (struct dirent *f; d && (f = readdir(d));) {
        if ((f->d_type != DT_LNK && f->d_type != DT_UNKNOWN) ||
            !frame_pattern_number(p, f->d_name, &number) ||
            snprintf(path, sizeof path, "%s/%s", folder, f->d_name) >= PATH_MAX ||
            !path_follow(strcpy(at, path)))
            continue;
        if (give == sandbox_write)
            grant_file(s, give, at);
        else
            sandbox_read_file(s, path);
    }
    if (d) closedir(d);
}

/* Grants rights on a path of the command line: a folder, a file, or a pattern of frames, whose
 * folders end before the field. What is not there is only to be written: to be read it may be the
 * name of a shipped kernel, or an angle. */
static void grant_one(sandbox *s, grant *give, const char *path) {
    char folder[PATH_MAX];
    OWN(frame_pattern) p = {0};
    if (!frame_pattern_is(path)) {
        if (path_is_folder(path)) give(s, path);
        if (give == sandbox_write || access(path, F_OK) == 0) grant_file(s, give, path);
    } else if (frame_pattern_parse(&p, path, NULL) && path_folder(p.before, folder)) {
        give(s, folder);
        if (!strchr(p.after, '/')) grant_links(s, give, folder, &p);
    }
}

/* Does so in each view where the path has a field for one. */
static void grant_path(sandbox *s, const cli *c, grant *give, const char *path) {
    const char *views = c->s.views;
    if (!path || strcmp(path, "-") == 0) return;
    if (!views || !frame_views_in(path)) grant_one(s, give, path);
    for (text_piece view; views && frame_views_in(path) && text_item(&views, &view);) {
        OWN_MEM char *name = mem_strf(NULL, "%.*s", (int)view.n, view.s);
        OWN_MEM char *own = name ? frame_view_path(path, name, NULL) : NULL;
        if (own) grant_one(s, give, own);
    }
}

/* Grants reading of a kernel: a path, or a mix of some. */
static void grant_kernel(sandbox *s, const cli *c, const char *word) {
    char part[KERNEL_PATH];
    double share;
    if (!word || !kernel_word_is_mix(word))
        grant_path(s, c, sandbox_read, word);
    else
        while (kernel_word_part(&word, part, &share)) grant_path(s, c, sandbox_read, part);
}

/* Grants reading of an argument: a path, or a kernel that is mixed, FILE[:AMOUNT][@X,Y]. */
static void grant_word(sandbox *s, const cli *c, const char *word) {
    char path[PATH_MAX];
    if (kernel_word_is_mix(word)) grant_kernel(s, c, word);
    snprintf(path, sizeof path, "%s", word);
    for (char *end; access(path, F_OK) != 0 && (end = strpbrk(path, ":@"));) {
        while (strpbrk(end + 1, ":@")) end = strpbrk(end + 1, ":@");
        *end = 0;
    }
    grant_path(s, c, sandbox_read, path);
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
    bool makes = c->action && strcmp(c->action->name, "make") == 0;
    for (int i = 0; makes && i < c->words; i++) more |= strstr(c->word[i], ".json") != NULL;
    return more || (c->s.kernels && !path_is_folder(c->s.kernels));
}

static void grant_reading(sandbox *s, const cli *c) {
    static const char *const SYSTEM[] = {"/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev"};
    char program[PATH_MAX], own[PATH_MAX];
    for (size_t i = 0; i < sizeof SYSTEM / sizeof *SYSTEM; i++) sandbox_read(s, SYSTEM[i]);
    if (reads_more(c)) sandbox_read(s, "/");
    /* A bundle's libraries lie beside its program. */
    if (realpath("/proc/self/exe", program) && path_folder(program, own) &&
        strlen(own) + sizeof "/../lib" <= sizeof own)
        sandbox_read(s, strcat(own, "/../lib"));
    if (c->kernels.in.shipped) sandbox_read(s, c->kernels.in.shipped);
    if (c->kernels.in.shared) sandbox_read(s, c->kernels.in.shared);
    grant_path(s, c, sandbox_read, c->s.input);
    grant_kernel(s, c, c->s.kernel);
    if (c->s.bloom.mask_file) grant_path(s, c, sandbox_read, c->s.bloom.mask);
    grant_path(s, c, sandbox_read, c->s.image);
    grant_path(s, c, sandbox_read, c->s.plate);
    for (int i = c->action != NULL; i < c->words; i++) grant_word(s, c, c->word[i]);
}

static void grant_writing(sandbox *s, const cli *c) {
    const char *cache = c->kernels.in.cache;
    grant_path(s, c, sandbox_write, c->s.output);
    grant_path(s, c, sandbox_write, c->s.before);
    grant_path(s, c, sandbox_write, c->s.emit_file);
    grant_path(s, c, sandbox_write, c->s.report);
    if (!cache) return;
    /* Rights can only be had on a folder that is there. */
    bool makes = c->cmd->bit & (FOR_APPLY | FOR_PRECOMPUTE | FOR_KERNEL);
    bool looks = (c->cmd->bit & FOR_PLAN) || c->s.dry_run;
    /* Who only looks makes the kernel that a name means, and nothing else. */
    bool named = c->s.kernel && access(c->s.kernel, F_OK) != 0;
    if (makes && (looks ? named : c->s.bloom.cache_size > 0))
        cache_folder((char[CACHE_PATH]){0}, cache, "", NULL);
    sandbox_write(s, cache);
}

/* Returns the device that the command is told to take; one without --device takes the CPU. */
static const char *device_of(const cli *c) {
    const char *device = option_find("device", c->cmd->bit) ? c->s.bloom.device : "cpu";
    return device ? device : "auto";
}

static bool names_software(const cli *c) {
    return strcmp(device_of(c), "software") == 0;
}

/* Returns whether a GPU may do the work: it is asked for, or none is named and one may be here. */
static bool may_use_gpu(const cli *c) {
    const char *device = device_of(c);
    if (strcmp(device, "auto") != 0) return strcmp(device, "cpu") != 0 && !names_software(c);
    glob_t g = {0};
    bool may = glob("/dev/dri/renderD*", 0, NULL, &g) == 0 ||
               glob("/dev/nvidia*", 0, NULL, &g) == 0 || access("/dev/kfd", F_OK) == 0 ||
               access("/dev/dxg", F_OK) == 0 || access("/proc/driver/nvidia", F_OK) == 0;
    globfree(&g);
    return may;
}

/* Starts the drivers before the sandbox, and grants what they need afterwards: the devices, and
 * what systems keep drivers in beside /usr. */
static void start_drivers(sandbox *s, const cli *c) {
    static const char *const MORE[] = {"/opt", "/run", "/nix"};
    device_ahead(c->s.bloom.device, c->kernels.in.cache);
    for (size_t i = 0; i < sizeof MORE / sizeof *MORE; i++) sandbox_read(s, MORE[i]);
    sandbox_write(s, "/dev");
}

bool rights_give_up(const cli *c, bool *bound, err *e) {
    if (!option_find("sandbox", c->cmd->bit) || c->cmd->bit & FOR_FARM) return true;
    bool must = c->s.sandbox == SANDBOX_ON, gpu = may_use_gpu(c);
    const char *why = c->s.sandbox == SANDBOX_OFF ? "--sandbox off"
                      : WITH_SAN                  ? "a build with sanitizers has none"
                                                  : NULL;
    if (why && must) return err_set(e, ERR_NO_DEVICE, "--sandbox on: %s", why);
    if (!why) exr_child_start(); /* also where the process keeps its rights for a driver */
    if (!why && gpu && !must) why = "a GPU's driver may be needed; --sandbox on opens it first";
    if (why) {
        log_info("no sandbox: %s", why);
        return true;
    }
    if (strcmp(device_of(c), "cpu") != 0) engine_libraries();
    sandbox s = sandbox_open();
    if (must && (gpu || names_software(c))) start_drivers(&s, c);
    if (c->cmd->bit == FOR_CHECK) {
        sandbox_write(&s, "/");
    } else {
        grant_reading(&s, c);
        grant_writing(&s, c);
    }
    errno = s.lacks;
    if (errno)
        return err_errno(e, ERR_RETRY,
                         "cannot look at the folders of the run (ulimit -n is too low)");
    sandbox_enter(&s);
    if (must && s.why)
        return err_set(
            e, ERR_NO_DEVICE,
            "--sandbox on: this kernel or container refuses %s: %s; Linux has both since "
            "5.13, and --sandbox auto goes on without",
            s.version ? "seccomp" : "Landlock", strerror(s.why));
    *bound = s.version > 0;
    if (c->cmd->bit == FOR_DIFF) return true; /* its words are those of idiff */
    if (!s.version && !s.filtered)
        log_info("no sandbox: this kernel has neither Landlock nor seccomp, or refuses them");
    else
        log_info("sandbox: %s%s%s", s.version ? "Landlock" : "",
                 s.version && s.filtered ? " and " : "", s.filtered ? "seccomp" : "");
    return true;
}
