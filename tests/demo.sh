#!/bin/sh
# The main job on the shipped scene: a bloomed EXR, and pictures of before and after, in out/.
set -e
prog=$1
mkdir -p out
"$prog" testdata/scene.exr kernels/star.exr -o out/demo.exr
"$prog" testdata/scene.exr kernels/star.exr -o out/before.png --exposure 2 --amount 0
"$prog" testdata/scene.exr kernels/star.exr -o out/after.png --exposure 2
echo "The scene testdata/scene.exr, bloomed with kernels/star.exr:"
echo "  out/demo.exr     the result: all layers, Z and id untouched"
echo "  out/after.png    a picture of it"
echo "  out/before.png   the scene without bloom"
