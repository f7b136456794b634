/* kernel_word_text.c - words for kernels as text: names, and the parts of a mix. */
#include "base/mem.h"
#include "kernel/make/kernel_word.h"

#include <unistd.h>

bool kernel_word_is_name(const char *word) {
    return *word && !strpbrk(word, "./#%$@,: ");
}

bool kernel_word_part(const char **list, char word[KERNEL_PATH], double *share) {
    const char *s = *list + strspn(*list, " "), *end = s + strcspn(s, "+");
    if (!*s) return false;
    *list = *end ? end + 1 : end;
    while (end > s && end[-1] == ' ') end--;
    snprintf(word, KERNEL_PATH, "%.*s", (int)(end - s), s);
    *share = NAN;
    char *colon = access(word, F_OK) != 0 ? strrchr(word, ':') : NULL;
    double given;
    if (!colon || !text_fraction(colon + 1, &given)) return true;
    *share = given;
    while (colon > word && colon[-1] == ' ') colon--;
    *colon = 0;
    return true;
}

bool kernel_word_is_mix(const char *word) {
    char part[KERNEL_PATH];
    double share;
    if (access(word, F_OK) == 0) return false;
    bool shares = strstr(word, " + ") != NULL;
    while (!shares && kernel_word_part(&word, part, &share)) shares = !isnan(share);
    return shares;
}

void kernel_word_add_mix(text *to, const char *word, const char *folder) {
    char part[KERNEL_PATH];
    double share;
    for (const char *between = ""; kernel_word_part(&word, part, &share); between = " + ") {
        OWN(text) path = {0};
        text_add(&path, "%s%s", *part == '/' ? "" : folder, part);
        const bool named = kernel_word_is_name(part) && access(path.s, F_OK) != 0;
        text_add(to, "%s%s", between, named ? part : path.s);
        if (!isnan(share)) text_add(to, ":%.15g", share);
    }
}
