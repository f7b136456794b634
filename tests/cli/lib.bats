# The C library as a program of somebody else meets it.

load files

setup_file() {
    cd "$FFTBLOOM_ROOT"
    make -s --no-print-directory install-lib PREFIX="$TEST_TMP/i" BUILD="$build" SAN="${SAN:-0}"
    export PKG_CONFIG_PATH=$TEST_TMP/i/lib/pkgconfig LD_LIBRARY_PATH=$TEST_TMP/i/lib
}

setup() {
    cd "$FFTBLOOM_ROOT"
    so=$TEST_TMP/i/lib/libfftbloom.so.0
    case ${SAN:-0} in
    1) flags="-fsanitize=address,undefined" ;;
    thread) flags="-fsanitize=thread" ;;
    esac
}

example() { # COMPILER FLAGS...
    "$@" $flags -Wall -Wextra -Werror docs/examples/bloom.c $(pkg-config --cflags --libs fftbloom) -o "$TEST_TMP/example"
    run "$TEST_TMP/example" "$FFTBLOOM_ROOT/testdata/star.exr"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *", kept"* ]]
    [[ "$output" == *"the light is "*" now, and "* ]]
}

@test "the example is C" {
    example "${CC:-gcc}" -std=c11
}

@test "the example is C++" {
    example g++ -std=c++11 -x c++
}

@test "the example takes a shipped kernel by its name, and says what is wrong" {
    cc $flags docs/examples/bloom.c $(pkg-config --cflags --libs fftbloom) -o "$TEST_TMP/example"
    run -1 "$TEST_TMP/example" nothing-like-it
    [[ "$output" == "'nothing-like-it' is neither a file nor the name of a shipped kernel"* ]]
    # Where the kernels are near the library, it lists them.
    run -1 env LD_LIBRARY_PATH="$build" "$TEST_TMP/example" portrat
    [[ "$output" == *"did you mean 'portrait'? (there are anamorphic cross dirty-glass "*" vintage)" ]]
}

@test "the program and the library make the same bytes" {
    "${CC:-gcc}" -std=c11 $flags -Isrc tests/lib/bloom_pfm.c $(pkg-config --libs fftbloom) -o "$TEST_TMP/bloom_pfm"
    cd "$TEST_TMP"
    root=$FFTBLOOM_ROOT
    "$FFTBLOOM" "$root/testdata/small.exr" "$root/testdata/star.exr" --amount 0 -o in.pfm
    "$FFTBLOOM" in.pfm "$root/testdata/star.exr" --device cpu -o program.pfm
    ./bloom_pfm in.pfm "$root/testdata/star.exr" library.pfm
    cmp program.pfm library.pfm
    "$FFTBLOOM" deglare in.pfm "$root/testdata/star.exr" --device cpu -o program.pfm
    ./bloom_pfm in.pfm "$root/testdata/star.exr" library.pfm solve
    cmp program.pfm library.pfm
    run -1 cmp in.pfm library.pfm
}

@test "the library shows its calls alone, and asks the system for nothing that a host would mind" {
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's library shows more"
    run -1 bash -c "nm -D --defined-only '$so' | grep -vE ' T fb_[a-z_]+@@FFTBLOOM_0\$| A FFTBLOOM_0\$'"
    [ "$(nm -D --defined-only "$so" | grep -c ' T fb_')" -eq "$(grep -c '^FB_API' src/lib/fftbloom.h)" ]
    # The environment is asked for the cache folder alone, where the caller gives FB_PROGRAM_CACHE (fftbloom.h).
    [ "$(nm -D --undefined-only "$so" | grep -owE 'getenv|secure_getenv|exit|_exit|abort|atexit|signal|sigaction|setlocale|puts|printf|fputs|putchar|isatty|system|popen')" = getenv ]
    readelf -d "$so" | grep -q 'SONAME.*libfftbloom.so.0'
    readelf -d "$so" | grep -q BIND_NOW
}

@test "loading, blooming and unloading leaves nothing behind" {
    [ "${SAN:-0}" = 0 ] || skip "the sanitizers keep what they have seen"
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -Isrc tests/lib/load_loop.c -o "$TEST_TMP/load_loop" -ldl
    run "$TEST_TMP/load_loop" "$so" "${LOADS:-1000}"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "calls from 8 threads at once answer as if they were alone, and nothing grows" {
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE $flags -Isrc tests/lib/soak.c $(pkg-config --libs fftbloom) -pthread -o "$TEST_TMP/soak"
    calls=20000
    [ "${SAN:-0}" = 0 ] || calls=1000 # whose own memory grows
    run timeout 200 "$TEST_TMP/soak" "${CALLS:-$calls}" 8
    echo "$output"
    [ "$status" -eq 0 ]
}
