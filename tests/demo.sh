#!/bin/sh
# The main job on a shipped image: a bloomed EXR, and pictures of before and after, in out/.
set -e
prog=$1
mkdir -p out
"$prog" testdata/shore.exr -k sunstar -o out/demo.exr
"$prog" testdata/shore.exr -k sunstar -o out/after.png --before out/before.png --exposure 0
echo "The image testdata/shore.exr, bloomed with the kernel sunstar:"
echo "  out/demo.exr     the result"
echo "  out/after.png    a picture of it"
echo "  out/before.png   the image without bloom"
