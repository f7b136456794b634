/* cmd_help.c - `fftbloom help [COMMAND]` and `fftbloom version`; the texts are made in help.c. */
#include "app/cli/cli.h"
#include "app/cli/help.h"
#include "base/json_out.h"

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

static void version_json(void) {
    text out = {0};
    json_out j = {.to = &out};
    json_object(&j, NULL);
    json_line(&j);
    json_uint(&j, "version", 1);
    json_line(&j);
    json_string(&j, "program", "fftbloom " VERSION);
    json_line(&j);
    json_string(&j, "release", VERSION);
    json_line(&j);
    json_object(&j, "libraries");
    json_bool(&j, "vulkan", true);
    json_bool(&j, "fftw", WITH_FFTW);
    json_bool(&j, "openexr", WITH_OPENEXR);
    json_close(&j);
    json_line(&j);
    json_close(&j);
    puts(out.s);
    text_free(&out);
}

int cmd_version(int argc, char **argv, err *e) {
    cli c;
    if (cli_open(&c, argc, argv, e)) {
        if (c.s.json)
            version_json();
        else
            printf("fftbloom " VERSION "\nVulkan engine: yes\nCPU engine (FFTW): %s\n"
                   "PXR24, B44, DWA (OpenEXR): %s\n",
                   WITH_FFTW ? "yes" : "no", WITH_OPENEXR ? "yes" : "no");
    }
    cli_close(&c);
    return (int)e->code;
}
