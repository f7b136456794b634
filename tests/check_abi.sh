#!/bin/sh
# check_abi.sh LIBRARY: compares what the library shows to programs with what was committed. A change
# must be a decision: `make abi` commits it; one that breaks programs needs another soname.
out=$(abidiff --exported-interfaces-only --no-show-locs src/lib/fftbloom.abi "$1") && exit 0
echo "$out"
echo "the interface of $1 is not that of src/lib/fftbloom.abi: 'make abi' writes it anew" >&2
exit 1
