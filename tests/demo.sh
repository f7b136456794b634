#!/bin/sh
# The main job on the shipped scene: a bloomed EXR and its PNG preview in out/.
set -e
prog=$1
mkdir -p out
"$prog" --version
echo "demo: nothing to run yet"
