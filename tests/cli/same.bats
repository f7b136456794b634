# The CPU engine writes the same bytes on every processor: with each form of its code, with any
# number of threads, and on a processor without AVX, which qemu imitates. Its reports are the same,
# too, but for times, names and the device.

load files

setup() {
    cd "$FFTBLOOM_ROOT"
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    export FFTBLOOM_CACHE_DIR=$dir/cache
    "$FFTBLOOM" kernel make gaussian --param sigma=30 --taps 77 -o "$dir/odd.exr"
    "$FFTBLOOM" kernel make gaussian --param sigma=3 --taps 21 -o "$dir/a.exr"
    "$FFTBLOOM" kernel make disc --param radius=4 --taps 15x18 -o "$dir/b.exr"
    echo '{"field": {"x": [0.1, 0.4], "y": [0, 1], "nodes": [["a.exr", "b.exr"], ["b.exr", "a.exr"]],
        "common": {"kernel": "odd.exr", "share": 0.2}}}' >"$dir/field.json"
}

CASES=("" "--precision float64" "--tolerance 1e-5" "--threshold 1 --knee 0.5"
    "--pixel-type float --padding clamp" "--padding wrap --half-overflow float")

# make NAME COMMAND...: the cases by this command, and an image whose rows end between two vectors,
# also with a kernel that varies over it
make_all() {
    local name=$1 i
    shift
    for i in "${!CASES[@]}"; do
        # shellcheck disable=SC2086
        "$@" testdata/small.exr testdata/star.exr -o "$dir/$name.$i.exr" --device cpu ${CASES[$i]} \
            --report "$dir/$name.$i.json"
    done
    "$@" "$dir/odd.exr" testdata/star.exr -o "$dir/$name.odd.exr" --device cpu \
        --report "$dir/$name.odd.json"
    "$@" "$dir/odd.exr" "$dir/field.json" -o "$dir/$name.field.exr" --device cpu --padding mirror \
        --threshold 1e-4 --report "$dir/$name.field.json"
}

# facts REPORT: what the report says of the pictures
facts() {
    grep -q '"spilled"' "$1"
    sed -E '/"(seconds|device|times|report|cache_dir|jobs|output|spectrum_cached)":/d' "$1"
}

same_as_wide() { # NAME
    local i
    for i in "${!CASES[@]}" odd field; do
        echo "case $i"
        cmp "$dir/wide.$i.exr" "$dir/$1.$i.exr"
        diff <(facts "$dir/wide.$i.json") <(facts "$dir/$1.$i.json")
    done
}

@test "each form of the transforms, and one thread or many, write the same bytes" {
    make_all wide "$FFTBLOOM" --jobs 1
    for form in avx2 any; do
        FFTBLOOM_LANES=$form make_all $form "$FFTBLOOM" --jobs 3
        same_as_wide $form
    done
}

@test "a processor without AVX writes the same bytes, of a kernel that it transforms itself" {
    [ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64 >/dev/null || skip "no qemu-x86_64"
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's program is too large for qemu"
    make_all wide "$FFTBLOOM"
    FFTBLOOM_CACHE_DIR=$dir/other make_all old qemu-x86_64 -cpu Nehalem "$FFTBLOOM"
    same_as_wide old
}
