#include "app/cli/old_words.h"

#include "app/cli/options.h"

#include <stdio.h>
#include <string.h>

#define BY_FRAME                                                                          \
    "give each part of a shot a command of its own, with --frames, or fade the layer of " \
    "--emit additive in comp; docs/sequences.md has both"

/* To refuse a word, add a row: the commands that took it; the word, or several with commas between,
 * with _ for -; and a sentence without a full stop. A value is written behind its option, as
 * "existing=in-place"; `users` do not count for it. */
static const struct {
    uint32_t users;
    const char *words, *instead;
} GONE[] = {
    {FOR_KERNEL, "convert,from,to",
     "give --correlate or --kernel-center to the run, or turn the kernel by 'kernel rotate FILE "
     "180'; docs/kernels.md has a table of tools"},
    {FOR_KERNEL, "convolve", "bloom twice, or add the kernels with 'kernel mix'"},
    {FOR_KERNEL, "disperse", "'kernel make' with wavelengths makes a coloured kernel"},
    {FOR_KERNEL, "decades", "show draws nine decades; 'kernel show --json' has the points"},
    {FOR_KERNEL, "merge",
     "merge exposures where photographs are developed, and make a kernel of the result with "
     "'kernel clean'"},
    {FOR_KERNEL, "pad", "'kernel crop FILE --taps N' makes a kernel larger, too"},
    {FOR_CONFIG, "include",
     "give one file with all keys; a flag overrides a key, and jq -s 'add' a.json b.json merges "
     "two files"},
    {FOR_CASE, "include", "give one suite with all cases, or run 'fftbloom check' for each suite"},
    {FOR_APPLY | FOR_PLAN | FOR_FARM | FOR_CONFIG, "keys", BY_FRAME},
    {FOR_ALL, "kernel=*[0-9]:*",
     BY_FRAME "; frames have kernels of their own by a pattern, such as k.####.exr"},
    {FOR_ALL,
     "amount=*[0-9]:*,threshold=*[0-9]:*,knee=*[0-9]:*,kernel_scale=*[0-9]:*,exposure=*[0-9]:*",
     BY_FRAME},
    {FOR_APPLY, "existing=in-place",
     "an input is never written; name another file or folder as OUT"},
    {FOR_BENCH, "fft,ocean,engine,algorithm,plot",
     "it is a program of its own: make lab, then build/fftlab fft, ocean or article"},
    {FOR_APPLY, "print_config",
     "'fftbloom plan' with the same options and --print-config prints them"},
    {FOR_BENCH, "frames", "write 'fftbloom bench'"},
    {FOR_APPLY | FOR_PLAN | FOR_FARM | FOR_CONFIG, "raw",
     "pipes carry EXR and PFM images in a row: ffmpeg -vf format=gbrpf32le -c:v pfm "
     "-f image2pipe - before, and ffmpeg -f pfm_pipe -i - after (docs/pipes.md)"},
    {FOR_FARM, "to=template,template",
     "docs/farm.md shows how Deadline and others run fftbloom with --frames and --existing update"},
};

static const char *find(const char *word, uint32_t users) {
    for (size_t i = 0; i < sizeof GONE / sizeof GONE[0]; i++)
        if (GONE[i].users & users && text_glob_any(GONE[i].words, word)) return GONE[i].instead;
    return NULL;
}

const char *old_word(const char *word, uint32_t users) {
    char plain[OPTION_NAME_ROOM];
    snprintf(plain, sizeof plain, "%s", word);
    for (char *p = plain; *p; p++)
        if (*p == '-') *p = '_';
    return find(plain, users);
}

const char *old_value(const char *name, const char *value) {
    char both[2 * OPTION_NAME_ROOM];
    snprintf(both, sizeof both, "%s=%s", name, value);
    return find(both, ~0u);
}
