# The relocatable folder, and the installation.

setup() { cd "$FFTBLOOM_ROOT"; }

@test "the bundle runs from another place with nothing but itself" {
    command -v patchelf >/dev/null || skip "patchelf is not installed"
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's program is not bundled"
    sh tests/bundle.sh "$FFTBLOOM" "$TEST_TMP/b"
    mv "$TEST_TMP/b" "$TEST_TMP/moved"
    cd /
    run env -i "$TEST_TMP/moved/bin/fftbloom" --version
    [ "$status" -eq 0 ]
    run env -i HOME="$TEST_TMP" "$TEST_TMP/moved/bin/fftbloom" "$FFTBLOOM_ROOT/testdata/small.exr" \
        "$FFTBLOOM_ROOT/kernels/small.exr" -o "$TEST_TMP/moved.exr" --device software
    [ "$status" -eq 0 ] || [ "$status" -eq 69 ]
    run sh -c "ldd $TEST_TMP/moved/bin/fftbloom | grep '=>' | grep -vE 'moved/|libc.so|libm.so|ld-linux|vdso'"
    [ -z "$output" ]
}

@test "the bundle names no folder of the machine that built it" {
    command -v patchelf >/dev/null || skip "patchelf is not installed"
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's program is not bundled"
    sh tests/bundle.sh "$FFTBLOOM" "$TEST_TMP/b2"
    run grep -rlaF "$FFTBLOOM_ROOT" "$TEST_TMP/b2"
    [ -z "$output" ]
}

@test "make deps does nothing and says nothing where all is there, and lists without apt" {
    run sh tests/deps.sh make
    [ "$status" -eq 0 ] && [ -z "$output" ]
    mkdir -p "$TEST_TMP/bin"
    for p in sh printf id; do ln -sf "$(command -v $p)" "$TEST_TMP/bin/$p" 2>/dev/null || true; done
    run env PATH="$TEST_TMP/bin" sh tests/deps.sh one-package
    [[ "$output" == *"no apt-get"* && "$output" == *"one-package"* ]]
}
