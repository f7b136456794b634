# Shared by all bats files: `load files`.
bats_require_minimum_version 1.5.0

# For setup_file: makes a folder for the files that the tests of a bats file share, and goes there.
# Where oiiotool is missing it fails, and own_folder skips all tests.
shared_folder() {
    command -v oiiotool >/dev/null || { export NOT_HERE="oiiotool is not installed"; return 1; }
    export FILES=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$FILES"
}

# A dark image with one bright pixel, and a small kernel.
make_images() { # [KERNEL], kernel.exr where it is not said
    oiiotool --create 40x30 3 --fill:color=0.1,0.2,0.3 40x30 --point:color=50,40,30 7,9 -d half -o in.exr
    oiiotool --create 9x7 3 --fill:color=0.01,0.01,0.02 9x7 --point:color=1,1,1 4,3 -d float -o "${1:-kernel.exr}"
}

# For setup: a folder for one test, with a copy of the shared files and a cache of its own.
own_folder() {
    [ -z "$NOT_HERE" ] || skip "$NOT_HERE"
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    [ -z "$FILES" ] || cp -r "$FILES"/. .
    export FFTBLOOM_CACHE_DIR=$dir/cache
}

# The program ends with this status and one sentence on stderr that has these words, and prints
# nothing else.
refused() { # STATUS WORDS arguments...
    local code=$1 words=$2
    shift 2
    run --separate-stderr "$FFTBLOOM" "$@"
    echo "$status $stderr"
    [ "$status" -eq "$code" ]
    [[ "$stderr" == "fftbloom: error: "*"$words"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [ -z "$output" ]
}

# The program ends with this status, and what it prints has these words; $output has all of it.
says() { # STATUS WORDS arguments...
    local code=$1 words=$2
    shift 2
    run "$FFTBLOOM" "$@"
    echo "$* -> $status $output"
    [ "$status" -eq "$code" ]
    [[ "$output" == *"$words"* ]]
}

# Where a bats file says nothing else.
setup() {
    own_folder
}
