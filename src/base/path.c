#include "base/path.h"

#include <errno.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_ending(const char *path) {
    const char *name = path_name(path), *dot = strrchr(name, '.');
    return dot ? dot + 1 : name + strlen(name);
}

bool path_ends_in(const char *path, const char *ending) {
    return strcasecmp(path_ending(path), ending) == 0;
}

int path_stem(const char *path) {
    const char *ending = path_ending(path);
    return (int)(ending - path) - (ending > path && ending[-1] == '.');
}

bool path_folder(const char *path, char to[PATH_MAX]) {
    int folder = (int)(path_name(path) - path);
    int n = snprintf(to, PATH_MAX, "%.*s", folder > 1 ? folder - 1 : 1, folder ? path : ".");
    if (n < PATH_MAX) return true;
    errno = ENAMETOOLONG;
    return false;
}

bool path_real(const char *path, text *to) {
    char folder[PATH_MAX], real[PATH_MAX];
    if (!path_folder(path, folder) || !realpath(folder, real)) return false;
    text_add(to, "%s/%s", strcmp(real, "/") == 0 ? "" : real, path_name(path));
    return true;
}

bool path_follow(char path[PATH_MAX]) {
    char to[PATH_MAX], whole[PATH_MAX];
    ssize_t n = readlink(path, to, sizeof to - 1);
    if (n < 0) return false;
    to[n] = 0;
    int folder = to[0] == '/' ? 0 : (int)(path_name(path) - path);
    bool fits = snprintf(whole, sizeof whole, "%.*s%s", folder, path, to) < PATH_MAX;
    if (fits)
        memcpy(path, whole, strlen(whole) + 1);
    else
        errno = ELOOP;
    return fits;
}

bool path_is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

uint64_t path_bytes(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}
