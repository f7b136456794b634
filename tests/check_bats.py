#!/usr/bin/env python3
"""Fails on lines of bats files that cannot fail: `! command` and `A && B`.

bats ends a test at the first command that fails, except where bash does not look: at a command after
`!`, and at the left side of `&&`. Write one condition a line, `run` and a look at $status, or end the
line with `|| false`.
"""
import glob, re, sys

QUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\[\[.*?\]\]|\$?\([^()]*\)|\{[^{}]*;\s*\}")


def bare(line):
    """Returns the line without what is quoted, in brackets or a comment."""
    before = None
    while before != line:
        before, line = line, QUOTED.sub("Q", line)
    return re.sub(r"(^|\s)#.*", "", line)


def lines(text):
    """Yields the number and the text of each command line, without heredocs and quoted lines."""
    end, whole, first = None, "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if end:
            end = None if line.strip() == end else end
            continue
        first = first if whole else number
        whole += line
        heredoc = re.search(r"<<-?\s*['\"]?(\w+)", line)
        if heredoc:
            end = heredoc[1]
        if whole.endswith("\\"):
            whole = whole[:-1]
            continue
        if whole.replace("\\'", "").count("'") % 2 and not heredoc and '"' not in whole:
            whole += " "  # a quotation that goes on
            continue
        yield first, whole.strip()
        whole = ""


bad = 0
for name in sorted(glob.glob("tests/cli/*.bats") + glob.glob("tests/bench/*/*.bats")):
    for number, line in lines(open(name).read()):
        for command in re.split(r"; ?(?:do|then|else)?|^(?:do|then|else) ", bare(line)):
            command = command.strip()
            if re.match(r"(if|elif|while|until)\b", command) or "||" in command:
                continue
            if command.startswith("! ") or "&&" in command:
                print(f"{name}:{number}: {line}: this cannot fail", file=sys.stderr)
                bad += 1
                break
sys.exit(bad > 0)
