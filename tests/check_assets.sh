#!/bin/sh
# The shipped images are what their programs make: the same pixels, compared by the program in $2.
# Pixels, not bytes: another release of the deflate library may pack them otherwise.
set -e
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
tests/make_assets.sh "$1" "$made" quick
for f in testdata/small.exr testdata/kernel.exr testdata/star.exr; do
    "$2" diff -q "$f" "$made/$f" --fail 0 >/dev/null || {
        echo "$f is not what its program makes; run 'make assets'" >&2
        exit 1
    }
done
