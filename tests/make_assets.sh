#!/bin/sh
# Makes the shipped images with the programs in $1 below the folder $2; with `quick`, all but the
# large ones: the scene is the small one at another size, and the street and the shore take minutes.
set -e
mkdir -p "$2/testdata" "$2/kernels"
if [ "$3" != quick ]; then
    "$1/make_scene" "$2/testdata/scene.exr" 1280 720
    "$1/make_street" "$2/testdata/street.exr" 1920 1080 256
    "$1/make_shore" "$2/testdata/shore.exr" 1920 1080 256
fi
"$1/make_scene" "$2/testdata/small.exr" 256 256
"$1/make_psf" star "$2/kernels/star.exr"
"$1/make_psf" small "$2/testdata/kernel.exr"
