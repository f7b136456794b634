/* cmd_help.c - `fftbloom help [COMMAND]` and `fftbloom version`. */
#include "app/cli/cli.h"
#include "app/cli/help.h"

#include <stdio.h>

int cmd_help(int argc, char **argv, err *e) {
    cli c;
    text out = {0};
    if (cli_open(&c, argc, argv, e)) {
        if (c.words)
            help_command(command_find(c.word[0]), &out);
        else
            help_general(&out);
        fputs(out.s, stdout);
    }
    text_free(&out);
    cli_close(&c);
    return (int)e->code;
}

int cmd_version(int argc, char **argv, err *e) {
    cli c;
    if (cli_open(&c, argc, argv, e)) {
        if (c.s.json)
            printf("{\n  \"version\": 1,\n  \"program\": \"fftbloom " VERSION "\",\n"
                   "  \"release\": \"" VERSION "\",\n  \"libraries\": {\"vulkan\": true, "
                   "\"fftw\": %s, \"openexr\": %s}\n}\n",
                   WITH_FFTW ? "true" : "false", WITH_OPENEXR ? "true" : "false");
        else
            printf("fftbloom " VERSION "\nVulkan engine: yes\nCPU engine (FFTW): %s\n"
                   "PXR24, B44, DWA (OpenEXR): %s\n",
                   WITH_FFTW ? "yes" : "no", WITH_OPENEXR ? "yes" : "no");
    }
    cli_close(&c);
    return (int)e->code;
}
