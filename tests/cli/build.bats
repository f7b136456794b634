# make does what a change asks for, no more and no less. Nothing is built here: make is
# asked what it would do if a file were new.

setup() {
    cd "$FFTBLOOM_ROOT"
    command -v make >/dev/null || skip "make is not installed"
    build=$(realpath --relative-to=. "$(dirname "$FFTBLOOM")") # as its dependency files name it
    [ -e "$build/app/main.d" ] || skip "the program was not built here"
    what_if=(make --no-print-directory -n BUILD="$build" -W)
}

would() { # FILE: the objects that would be made again
    "${what_if[@]}" "$1" all 2>/dev/null | grep -oE -- '-o [^ ]+\.(o|inc)' | sed 's/^-o //' | sort
}

dependencies() { # the dependency files of sources that are there: older builds may have left others
    find "$build" -name "*.d" -not -path "*/tests/*" -not -path "*/assets/*" -not -path "*/shaders/*" |
        while read -r d; do
            s=src/${d#"$build"/}
            if [ -e "${s%.d}.c" ] || [ -e "${s%.d}.cc" ]; then echo "$d"; fi
        done
}

@test "a header that changes rebuilds what includes it, through other headers too, and no more" {
    for h in src/base/err.h src/image/exr/exr_file.h src/engine/cpu/cpu_passes.h src/bloom/session.h; do
        depends=$(grep -l " $h\( \|$\)" $(dependencies) | sed 's/d$/o/' | sort)
        [ -n "$depends" ] || [ "$h" = src/engine/cpu/cpu_passes.h ]
        [ "$(would $h)" = "$depends" ]
        # The dependency files are right: a file that names the header in its own text is among them.
        for c in $(grep -lE "#include \"${h#src/}\"" $(find src -name "*.c")); do
            o=$build/${c#src/}
            o=${o%.c}.o
            [ ! -e "$o" ] || grep -qxF "$o" <<<"$depends"
        done
    done
}

@test "a shader's part that changes rebuilds the shaders that include it, and the program" {
    made=$(would shaders/fft.glsl)
    for s in $(grep -l '"fft.glsl"' shaders/*.comp); do
        name=$(basename "$s" .comp)
        grep -qxF "$build/shaders/${name}_f32.inc" <<<"$made"
        grep -qxF "$build/shaders/${name}_f64.inc" <<<"$made"
    done
    grep -qxF "$build/engine/gpu/gpu_shaders.o" <<<"$made"
    ! grep -q "/app/" <<<"$made" || false
}

@test "where nothing has changed there is nothing to do" {
    make --no-print-directory -q BUILD="$build" all
}

@test "without the lab nothing but the command bench is built otherwise" {
    for d in src/lab shaders/lab; do [ -d $d ] || skip "there is no lab"; done
    made() { make --no-print-directory -n -B BUILD="$TEST_TMP/none" all "$@" | grep -oE '(src|shaders)/[a-z0-9_/]+\.(c|cc|comp)\b' | sort -u; }
    diff <(made LAB=0) <(made | grep -vE '/lab/|/bench_lab\.c')
    # Only what is not built then includes it.
    [ "$(grep -rlE '#include "(shaders/)?lab/' src | grep -vE '^src/lab/|/bench_lab\.[ch]$')" = "" ]
    gcc -std=c11 -D_GNU_SOURCE -DWITH_LAB=0 -Isrc -MM src/app/tools/cmd_bench.c >"$TEST_TMP/cmd_bench.d"
    ! grep -E 'lab/|bench_lab' "$TEST_TMP/cmd_bench.d" || false
    gcc -std=c11 -D_GNU_SOURCE -DWITH_LAB=0 -Isrc -fsyntax-only -Wall -Werror src/app/tools/cmd_bench.c
}
