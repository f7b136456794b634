#!/bin/bash
# Measures what is lost by sampling a kernel's spectrum bilinearly and kept by resampling it: a
# picture of each difference from the exact result, 20 times as bright, and the figures of
# docs/math.md, "What `bilinear` is".
#     docs_sampling.sh PROGRAM SCENE FOLDER-FOR-PICTURES
set -e
program=$1 scene=$2 to=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export FFTBLOOM_CACHE_DIR=$work

for mode in exact resampled bilinear; do
    "$program" "$scene" kernels/star.exr -o "$work/$mode.pfm" --spectrum $mode --precision float32 \
        --device cpu --pixel-type float -q
done
"$program" "$scene" kernels/star.exr -o "$to/exact.png" --exposure 2 -q
echo '| spectrum | largest difference | root mean square | pixels off by more than 1 % | light in R, G, B |'
echo '|---|---|---|---|---|'
for mode in bilinear resampled; do
    "$program" diff "$work/$mode.pfm" "$work/exact.pfm" --abs --scale 20 -o "$to/$mode.png" -q >"$work/log" 2>&1 || true
    "$program" diff "$work/$mode.pfm" "$work/exact.pfm" --fail 0 --failrelative 0.01 --json -q >"$work/json" 2>"$work/log" || true
    python3 - $mode "$work/json" <<'P'
import json, sys
part = json.load(open(sys.argv[2]))["parts"][0]
light = ", ".join("%+.2f %%" % (100 * (c["energy_a"] / c["energy_b"] - 1)) for c in part["channels"])
print("| `%s` | %.1e | %.1e | %.0f %% | %s |" % (
    sys.argv[1], part["max"], part["rms"], 100 * part["failed"] / part["pixels"], light.replace("-0.00", "+0.00")))
P
done
