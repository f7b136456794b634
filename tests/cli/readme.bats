# The README's commands run as they are written.

@test "the README's commands work, pasted in order into one shell" {
    cd "$FFTBLOOM_ROOT"
    work=$TEST_TMP/readme
    mkdir -p "$work"
    for d in "$(dirname "$FFTBLOOM"):build" testdata:testdata kernels:kernels; do
        ln -sfn "$(realpath "${d%%:*}")" "$work/${d#*:}"
    done
    sed -n '/^```sh paste/,/^```$/p' README.md | grep -v '^```' >"$work/commands"
    [ "$(wc -l <"$work/commands")" -ge 8 ]
    cd "$work"
    env -i HOME="$work" PATH=/usr/bin:/bin FFTBLOOM_CACHE_DIR="$FFTBLOOM_CACHE_DIR" sh -ex commands
    [ -s out/bloom.exr ]
    [ -s out/look.png ]
}

@test "the README's links lead somewhere" {
    cd "$FFTBLOOM_ROOT"
    for link in $(grep -o '](\([^)]*\))' README.md | tr -d '()]'); do
        [ -e "${link%%#*}" ] || { echo "no $link"; false; }
    done
}
