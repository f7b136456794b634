/* help.c - `fftbloom help`, `docs` and `version`. */
#include "app/cli/cli.h"
#include "app/cli/page.h"
#include "base/json_out.h"

#include <string.h>

int cmd_help(cli *c, text *out, err *e) {
    page p = {.as = PAGE_SCREEN, .to = out};
    const char *word = c->words ? c->word[0] : NULL, *action = c->words > 1 ? c->word[1] : NULL;
    p.command = word ? command_find(word) : NULL;
    if (!word)
        page_write(&p);
    else if (!p.command && strcmp(word, "exit") == 0)
        page_statuses(&p);
    else if (action && (!p.command || !p.command->actions))
        err_set(e, ERR_USAGE, "%s has no actions, and so no help on '%s'", word, action);
    else if (p.command && (!action || command_check_choice(p.command, action, e)))
        p.action = action ? command_find_action(p.command, action) : NULL, page_write(&p);
    p.full = true;
    /* There may be several rows of one name, for other commands. */
    for (int i = 0; word && !p.command && i < OPTION_COUNT; i++)
        if (&OPTIONS[i] == option_find(word, OPTIONS[i].on)) page_option(&p, &OPTIONS[i]);
    return 0;
}

int cmd_docs(cli *c, text *out, err *e) {
    const bool man = strcmp(c->word[0], "man") == 0;
    page p = {man ? PAGE_MAN : PAGE_MARKDOWN, out, .full = true};
    p.command = c->words > 1 ? command_find(c->word[1]) : NULL;
    if (c->words > 1 && !man)
        err_set(e, ERR_USAGE, "one argument too many: '%s'", c->word[1]);
    else if (c->words > 1 && !p.command)
        err_set(e, ERR_USAGE, "unknown command '%s'", c->word[1]);
    else if (man)
        page_write(&p);
    else if (strcmp(c->word[0], "config") == 0)
        page_sections(&p, FOR_ALL & ~FOR_BENCH, -1);
    else
        for (int i = 0; i < COMMAND_COUNT; i++) text_add(out, "%s\n", COMMANDS[i].name);
    return 0;
}

int cmd_version(cli *c, text *out, err *e) {
    (void)e;
    if (!c->s.json) {
        text_add(out,
                 "fftbloom " VERSION
                 "\nGPU engine (Vulkan): yes\nPXR24, B44, DWA (OpenEXR): %s\nOpenColorIO: %s\n",
                 WITH_OPENEXR ? "yes" : "no", WITH_OCIO ? "yes" : "no");
        return 0;
    }
    json_out j = json_begin(out);
    json_string(&j, "program", "fftbloom " VERSION);
    json_string(&j, "release", VERSION);
    json_object(&j, "libraries");
    json_bool(&j, "vulkan", true);
    json_bool(&j, "openexr", WITH_OPENEXR);
    json_bool(&j, "opencolorio", WITH_OCIO);
    json_close(&j);
    json_end(&j);
    return 0;
}
