#!/usr/bin/env python3
"""Fails on variables, members and parameters of src/ and shaders/ that are named `is` or `all`, which
say nothing of what they hold. Functions and what stands in comments and strings may have the names."""
import re, subprocess, sys

TEXT = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
files = subprocess.run(["git", "ls-files", "src", "shaders"], capture_output=True, text=True).stdout
bad = []
for path in files.split():
    if not re.search(r"\.(c|h|cc|inc|comp|glsl)$", path):
        continue
    code = re.sub(TEXT, lambda m: "\n" * m[0].count("\n"), open(path).read(), flags=re.S)
    for n, line in enumerate(code.split("\n"), 1):
        if m := re.search(r"\b(is|all)\b(?!\s*\()", line):
            bad.append(f"{path}:{n}: name '{m[1]}' after what it is: {line.strip()}")
print("\n".join(bad), end="\n" if bad else "", file=sys.stderr)
sys.exit(bool(bad))
