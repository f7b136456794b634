#include "app/cli/other_words.h"

#include "app/cli/options.h"

#include <stdio.h>
#include <string.h>

/* Words of earlier versions, and those by which other programs call what an option does. */
static const struct {
    const char *said; /* with commas between; letters are short flags */
    const char *now;  /* a sentence, or "--amount" for "use --amount" where the command has it */
} OTHER_WORDS[] = {
    {"mix,strength,intensity,opacity,blend", "--amount"},
    {"sharpen", "write --amount A, where A is 1 - sharpen"},
    {"progress_fd", "write --progress json:N"},
    {"clobber", "write --existing skip"},
    {"update", "write --existing update"},
    {"in_place", "write --existing in-place"},
    {"missing", "--keep-going passes over inputs that are missing, too"},
    {"farm,farm_args,farm_dir,farm_template",
     "it is a command: fftbloom farm IN KERNEL -o OUT --to slurm"},
    {"dry_run", "'fftbloom plan IN KERNEL -o OUT' prints what would be made"},
    {"threads,thread,nthreads,cores,cpus,j", "--jobs"},
    {"overwrite,force,replace,f,y", "an existing output is replaced; --existing skip leaves it"},
    {"border,edge,boundary,wrap,mirror", "--padding"},
    {"size,scale,radius,kernel_size", "--kernel-scale"},
    {"gpu,cpu", "--device"},
    {"out,outfile", "--output"},
    {"range,sequence", "--frames"},
    {"channels,layer", "--layers"},
    {"bits,depth,half,float", "--pixel-type"},
    {"memory,ram", "--mem-limit"},
    {"debug", "--verbose"},
    {"silent,s", "--quiet"},
    {"brightness,gain", "--exposure"},
    {"version,V", "write 'fftbloom --version'"},
};

bool other_word_find(const char *name, uint32_t users, text *to) {
    char word[OPTION_NAME_ROOM];
    snprintf(word, sizeof word, "%s", name);
    for (char *p = word; *p; p++)
        if (*p == '-') *p = '_';
    for (size_t i = 0; i < sizeof OTHER_WORDS / sizeof OTHER_WORDS[0]; i++) {
        const char *now = OTHER_WORDS[i].now;
        bool flag = *now == '-' && !strchr(now, ' ');
        if (!text_glob_any(OTHER_WORDS[i].said, word) || (flag && !option_find(now + 2, users)))
            continue;
        text_add(to, flag ? "use %s" : "%s", now);
        return true;
    }
    return false;
}
