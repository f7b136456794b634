# The README's recipes run as they are written.

@test "every recipe of the README works" {
    cd "$FFTBLOOM_ROOT"
    work=$TEST_TMP/readme
    mkdir -p "$work/bin" "$work/out"
    ln -sf "$FFTBLOOM" "$work/bin/fftbloom"
    ln -sfn "$FFTBLOOM_ROOT/testdata" "$work/testdata"
    ln -sfn "$FFTBLOOM_ROOT/kernels" "$work/kernels"
    sed -n '/^```sh recipe/,/^```$/p' README.md | grep -v '^```' >"$work/recipes"
    [ "$(wc -l <"$work/recipes")" -ge 6 ]
    cd "$work"
    while read -r line; do
        echo "$line"
        PATH="$work/bin:$PATH" sh -c "$line"
    done <"$work/recipes"
    [ -s out/bloom.exr ] && [ -s out/look.png ]
}

@test "the README's links lead somewhere" {
    cd "$FFTBLOOM_ROOT"
    for link in $(grep -o '](\([^)]*\))' README.md | tr -d '()]'); do
        [ -e "$link" ] || { echo "no $link"; false; }
    done
}
