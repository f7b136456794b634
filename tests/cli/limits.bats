#!/usr/bin/env bats
# How large images may be: what the windows of a file may ask for, and what memory decides.

bats_require_minimum_version 1.5.0

setup() {
    cd "$(mktemp -d "$TEST_TMP/XXXXXX")"
    corpus=$FFTBLOOM_ROOT/testdata/corpus
    kernel=$FFTBLOOM_ROOT/kernels/star.exr
}

refused() { # code, words of the sentence, arguments
    local code=$1 words=$2
    shift 2
    run --separate-stderr "$FFTBLOOM" "$@"
    echo "$status $stderr"
    [ "$status" -eq "$code" ]
    [[ "$stderr" == "fftbloom: error: "*"$words"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [ -z "$output" ]
    [ ! -e out.exr ]
}

@test "windows that are farther apart than 32 bits" {
    refused 65 "has 4294967296 x 1 pixels; a side may have 1 to 65536" \
        "$corpus/far_windows.exr" "$kernel" -o out.exr --window display
    refused 65 "has 4294967296 x 1 pixels; a side may have 1 to 65536" \
        plan "$corpus/far_windows.exr" "$kernel" --window display
    refused 65 "the display window (-2147483648,0)-(2147483647,0) has 4294967296 x 1 pixels" \
        "$corpus/far_display.exr" "$kernel" -o out.exr --window display
}

@test "a display window of 17 GB ends before any of it is touched" {
    refused 75 "needs 17.2 GB; " \
        "$corpus/wide_display.exr" "$kernel" -o out.exr --window display --mem-limit 2GB
}
