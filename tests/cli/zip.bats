# ZIP and ZIPS as they are written: every reader sees the pixels of the uncompressed file, neither is
# larger than that, and any number of threads writes the same bytes.

load files

setup() {
    own_folder
    cp "$FFTBLOOM_ROOT/testdata/small.exr" in.exr
    cp "$FFTBLOOM_ROOT/testdata/star.exr" kernel.exr
}

bloom() { # OUT OPTION...
    "$FFTBLOOM" in.exr kernel.exr -o "$1" --device cpu "${@:2}"
}
raw() { # FILE: its pixels as ffmpeg reads them
    ffmpeg -nostdin -v error -i "$1" -f rawvideo -pix_fmt gbrpf32le -
}

@test "OpenEXR and ffmpeg read what is written, which is no larger, and has the same bytes with any threads" {
    for type in half float; do
        bloom none.exr --compression none --pixel-type $type
        for word in zip zips; do
            bloom out.exr --compression $word --pixel-type $type --jobs 1
            bloom three.exr --compression $word --pixel-type $type --jobs 3
            cmp out.exr three.exr
            [ "$(stat -c %s out.exr)" -lt "$(stat -c %s none.exr)" ]
            if command -v oiiotool >/dev/null; then
                oiiotool none.exr out.exr --fail 0 --warn 0 --diff
                [[ "$(oiiotool --info -v out.exr)" == *"compression: \"$word\""* ]]
            fi
            if command -v ffmpeg >/dev/null; then cmp <(raw none.exr) <(raw out.exr); fi
        done
    done
    needs_program oiiotool ffmpeg
    [ "$(raw none.exr | wc -c)" -gt 1000 ]
}
