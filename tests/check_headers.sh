#!/bin/sh
# Every header compiles alone.
status=0
for h in $(find src -name '*.h' | sort); do
    $CC -std=c11 -Wall -Wextra -Werror $INC -fsyntax-only -x c "$h" || status=1
done
exit $status
