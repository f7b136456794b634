#!/bin/sh
# Fails when clang-format would change a source file (`make format` mends it), on overlong files, and on
# lines of bats files that cannot fail, and on names that say nothing.
files=$(git ls-files 'src/*.[ch]' 'src/*.cc' 'tests/*.[ch]' 'testdata/*.[ch]' 'docs/examples/*.c' ':!*/shaders/*')
[ -n "$files" ] || exit 0
clang-format --dry-run -Werror $files || { echo "run 'make format'" >&2; exit 1; }
long=$(wc -l $files | awk '$2 != "total" && $1 > 600 {print $2 " has " $1 " lines"}' | while read -r f rest; do
    head -40 "$f" | grep -q 'Over 600 lines because' || echo "$f $rest"
done)
[ -z "$long" ] || { echo "$long: split it, or say at its top 'Over 600 lines because ...'" >&2; exit 1; }
tests/check_bats.py && tests/check_names.py
