#!/bin/sh
# Every header compiles alone, and flags of single objects in the Makefile are for files that are there.
status=0
for h in $(find src -name '*.h' | sort); do
    echo "#include \"$h\"" | $CC -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror $INC -I. -fsyntax-only -x c - || status=1
done
for o in $(grep -oE '\$\(BUILD\)/(app|base|bloom|engine|image|kernel|lib|math)/[a-z0-9_/]+\.o' Makefile | sort -u); do
    f=src/${o#*/} f=${f%.o}
    [ -e "$f.c" ] || [ -e "$f.cc" ] || { echo "Makefile: $o has flags, but $f.c is not there"; status=1; }
done
exit $status
