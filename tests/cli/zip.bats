#!/usr/bin/env bats
# ZIP and ZIPS as they are written: every reader sees the pixels of the uncompressed file, and the
# same run writes the same bytes.

load files

setup() {
    cd "$(mktemp -d "$TEST_TMP/XXXXXX")"
    cp "$FFTBLOOM_ROOT/testdata/small.exr" in.exr
    cp "$FFTBLOOM_ROOT/kernels/star.exr" kernel.exr
    export FFTBLOOM_CACHE_DIR=$PWD/cache
}

bloom() { # OUT OPTION...
    "$FFTBLOOM" in.exr kernel.exr -o "$1" --device cpu "${@:2}"
}
bytes() { stat -c %s "$1"; }

WORDS='zip zips'

@test "OpenEXR reads what is written" {
    needs_program oiiotool
    for type in half float; do
        bloom none.exr --compression none --pixel-type $type
        for word in $WORDS; do
            bloom out.exr --compression $word --pixel-type $type
            oiiotool none.exr out.exr --fail 0 --warn 0 --diff
            [[ "$(oiiotool --info -v out.exr)" == *"compression: \"$word\""* ]]
        done
    done
}

@test "ffmpeg reads what is written" {
    needs_program ffmpeg
    raw() { ffmpeg -nostdin -v error -i "$1" -f rawvideo -pix_fmt gbrpf32le "$2"; }
    for type in half float; do
        bloom none.exr --compression none --pixel-type $type
        raw none.exr none.raw
        for word in $WORDS; do
            bloom out.exr --compression $word --pixel-type $type
            raw out.exr out.raw
            cmp none.raw out.raw
            rm out.raw
        done
        rm none.raw
    done
}

@test "neither is larger than uncompressed" {
    for type in half float; do
        for word in none $WORDS; do bloom "$word.exr" --compression $word --pixel-type $type; done
        [ "$(bytes zip.exr)" -lt "$(bytes none.exr)" ]
        [ "$(bytes zips.exr)" -lt "$(bytes none.exr)" ]
    done
}

@test "any number of threads writes the same bytes" {
    for word in $WORDS; do
        bloom one.exr --compression $word --jobs 1
        bloom three.exr --compression $word --jobs 3
        cmp one.exr three.exr
    done
}
