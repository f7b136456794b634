#!/bin/sh
# Makes the shipped images with the programs in $1, and the kernels of recipes with the program $2,
# below the folder $3; with `quick`, all but the large scene, which is the small one at another size
# and takes half a minute.
set -e
mkdir -p "$3/testdata" "$3/kernels"
[ "$4" = quick ] || "$1/make_scene" "$3/testdata/scene.exr" 1280 720
"$1/make_scene" "$3/testdata/small.exr" 256 256
"$1/make_psf" star "$3/kernels/star.exr"
"$1/make_psf" small "$3/testdata/kernel.exr"
for recipe in kernels/*.json; do
    "$2" kernel make "$recipe" -o "$3/kernels/$(basename "$recipe" .json).exr"
done
