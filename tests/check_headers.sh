#!/bin/sh
# Every header compiles alone.
status=0
for h in $(find src -name '*.h' | sort); do
    echo "#include \"$h\"" | $CC -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror $INC -I. -fsyntax-only -x c - || status=1
done
exit $status
