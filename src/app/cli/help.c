#include "app/cli/help.h"

#include "app/cli/options.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, COLUMN = 28 };

void help_wrap(text *to, const char *s, int at, int indent, int width) {
    bool first = true;
    while (*s) {
        int n = (int)strcspn(s, " ");
        if (!first && at + 1 + n > width) {
            text_add(to, "\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            text_add(to, " ");
            at++;
        }
        text_add_bytes(to, s, (size_t)n);
        at += n;
        first = false;
        s += n + (s[n] == ' ');
    }
    text_add(to, "\n");
}

static void add_option(const option *o, text *to) {
    char flag[OPTION_NAME_ROOM];
    text head = {0};
    if (o->letter) {
        text_add(&head, "  -%c, %s", o->letter, option_flag(o, flag));
    } else {
        text_add(&head, "      %s", option_flag(o, flag));
    }
    if (o->type != OPTION_BOOL) {
        text_add(&head, " ");
        option_placeholder(o, &head);
    }
    text_add(to, "%s", head.s);
    if (head.n + 2 > COLUMN) {
        text_add(to, "\n%*s", COLUMN, "");
    } else {
        text_add(to, "%*s", COLUMN - (int)head.n, "");
    }
    text words = {0};
    text_add(&words, "%s", o->help);
    if (o->preset && o->type != OPTION_BOOL) text_add(&words, " [%s]", o->preset);
    help_wrap(to, words.s, COLUMN, COLUMN, WIDTH);
    text_free(&words);
    text_free(&head);
}

static void add_options(uint32_t users, text *to) {
    for (int section = 0; section < SECTIONS; section++) {
        bool titled = false;
        for (int i = 0; i < OPTION_COUNT; i++) {
            if (!(OPTIONS[i].on & users) || (int)OPTIONS[i].section != section) continue;
            if (!titled) text_add(to, "\n%s:\n", SECTION_TITLE[section]);
            titled = true;
            add_option(&OPTIONS[i], to);
        }
    }
}

/* Appends paragraphs, which \n\n separates, with an empty line before each. */
static void add_paragraphs(const char *s, text *to) {
    while (s && *s) {
        const char *end = strstr(s, "\n\n");
        text one = {0};
        text_add_bytes(&one, s, end ? (size_t)(end - s) : strlen(s));
        text_add(to, "\n");
        help_wrap(to, one.s, 0, 0, WIDTH);
        text_free(&one);
        s = end ? end + 2 : NULL;
    }
}

static void add_examples(const command *c, text *to) {
    for (int i = 0; i < COMMAND_EXAMPLES && c->example[i].line; i++)
        text_add(to, "  # %s\n  %s\n", c->example[i].does, c->example[i].line);
}

void help_command(const command *c, text *to) {
    text_add(to, "fftbloom %s: %s\n\n", c->name, c->summary);
    add_examples(c, to);
    text_add(to, "%sUsage: fftbloom %s%s%s\n", c->example[0].line ? "\n" : "", c->name,
             *c->usage ? " " : "", c->usage);
    add_paragraphs(c->about, to);
    add_options(c->bit, to);
    text_add(to, "      --help                Show this text.\n");
}

static void add_commands(text *to) {
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_add(to, "  %-12s", COMMANDS[i].name);
        help_wrap(to, COMMANDS[i].summary, 14, 14, WIDTH);
    }
}

void help_general(text *to) {
    text_add(to, "fftbloom blooms HDR images with a real point spread function.\n\n");
    add_examples(command_find("apply"), to);
    text_add(to, "\nUsage: fftbloom IN KERNEL -o OUT [options]\n"
                 "       fftbloom COMMAND [arguments] [options]\n\nCommands:\n");
    add_commands(to);
    text_add(to, "\nExit status:\n");
    for (int i = 0; i < EXIT_CODE_COUNT; i++) {
        text_add(to, "  %-4d", EXIT_CODES[i].code);
        help_wrap(to, EXIT_CODES[i].means, 6, 6, WIDTH);
    }
    text_add(
        to,
        "\n'fftbloom help COMMAND' shows all options of a command. Options can also be set in a\n"
        "JSON file (--config) or in environment variables (FFTBLOOM_PADDING=mirror).\n");
}

void help_short(text *to) {
    text_add(to, "usage: fftbloom IN KERNEL -o OUT [options]\n"
                 "       fftbloom COMMAND [arguments] [options]\n\n");
    add_commands(to);
    text_add(to,
             "\n'fftbloom --help' shows more, 'fftbloom help COMMAND' everything on a command.\n");
}
