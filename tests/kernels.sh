#!/bin/bash
# kernels.sh PROGRAM OUT [kernel make's options]: the shipped kernels for people who have not the program: OUT/fftbloom-kernels-VERSION.tar.xz.
# The same sources make the same archive: times in it are SOURCE_DATE_EPOCH, or else that of the last commit.
set -e
prog=$(realpath "$1") out=$(realpath -m "$2")
shift 2
cd "$(dirname "$0")/.."
version=$(sed -n 's|^## ||p' CHANGELOG.md | head -n 1)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
to=$work/fftbloom-kernels-$version
mkdir -p "$to/half" "$to/recipes" "$out"
"$prog" kernel make --all --kernels kernels "$@" -o "$to/float" -q
mv "$to/float/LICENSE.txt" "$to/LICENSE.txt"
mkdir "$to/pictures" && mv "$to"/float/*.png "$to/pictures/"
for f in "$to"/float/*.exr; do cp "kernels/$(basename "$f" .exr).json" "$to/recipes/"; done # fields are for fftbloom alone
# A half has no taps below 6e-8, and the tail of a lens has: 32768 times as bright, taps down to 1.8e-12 stay.
at=$(date -u -d "@$SOURCE_DATE_EPOCH" '+%Y:%m:%d %T')
for f in "$to"/float/*.exr; do
    oiiotool --nosoftwareattrib "$f" --mulc 32768 --attrib:type=float multiplied 32768 --attrib DateTime "$at" \
        -d half --compression zip -o "$to/half/${f##*/}"
done
{
    cat tests/kernels.txt
    for f in "$to"/recipes/*.json; do
        name=$(basename "$f" .json)
        printf '| %s | %s |\n' "$name" "$(sed -n 's/.*"about": *"\([^"]*\)".*/\1/p' "$f")"
    done
} | sed "s/VERSION/$version/" >"$to/README.md"
(cd "$to" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "${to##*/}" | xz -T1 -1 >"$out/${to##*/}.tar.xz"
echo "kernels: $out/${to##*/}.tar.xz, $(du -m "$out/${to##*/}.tar.xz" | cut -f1) MB"
