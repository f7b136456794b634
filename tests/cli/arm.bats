# The CPU engine writes the same bytes on aarch64, which qemu imitates, as on this processor: a
# program of its sources and a test's, compiled for both (tests/arm/sums.c).

load files

SOURCES="base/err base/half base/host base/log base/machine base/mem base/par base/text
    math/fft math/lanes math/lanes_form math/lengths math/noise math/plan kernel/psf kernel/spectrum
    kernel/spectrum_resample kernel/stretch engine/engine engine/cpu/cpu_engine engine/cpu/cpu_passes
    engine/cpu/cpu_passes_form engine/cpu/cpu_join engine/cpu/cpu_row engine/join"

setup() {
    cd "$FFTBLOOM_ROOT"
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
}

# What is not reached, as the GPU's engine, is thrown away by the linker, and needs no library.
compile() {
    local cc=aarch64-linux-gnu-gcc f
    local flags="-std=c11 -D_GNU_SOURCE -DWITH_SAN=0 -DFORM=0 -O1 -ffp-contract=off -Wno-psabi
        -ffunction-sections -fdata-sections -Isrc -I."
    for f in $SOURCES; do echo "src/$f.c $dir/${f//\//_}.o"; done >"$dir/list"
    echo "tests/arm/sums.c $dir/sums.o" >>"$dir/list"
    # shellcheck disable=SC2086
    xargs -n 2 -P "$(nproc)" sh -c "$(echo $cc $flags) -c \$0 -o \$1" <"$dir/list" || return 1
    $cc -static -Wl,--gc-sections "$dir"/*.o -o "$dir/sums" -lm -pthread
}

@test "the CPU engine makes the same bytes on aarch64" {
    command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
    command -v qemu-aarch64 >/dev/null || skip "no qemu-aarch64"
    compile
    qemu-aarch64 "$dir/sums" >"$dir/arm"
    "$build/tests/sums" >"$dir/here"
    [ "$(wc -l <"$dir/here")" = 32 ]
    diff "$dir/here" "$dir/arm"
}
