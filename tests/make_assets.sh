#!/bin/sh
# Makes the shipped images that have programs, with those in $1 below the folder $2; with `quick`, all
# but the scene, which is the small one at another size.
set -e
mkdir -p "$2/testdata" "$2/kernels"
[ "$3" = quick ] || "$1/make_scene" "$2/testdata/scene.exr" 1280 720
"$1/make_scene" "$2/testdata/small.exr" 256 256
"$1/make_psf" star "$2/testdata/star.exr"
"$1/make_psf" small "$2/testdata/kernel.exr"
