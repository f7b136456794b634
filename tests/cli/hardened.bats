# What the compiler and the linker were asked to guard, as it stands in the program and the library.

load files

setup() {
    [ "$(uname -m)" = x86_64 ] || skip "looked at on x86-64 alone"
    needs_program readelf
    both=("$FFTBLOOM" "$(dirname "$FFTBLOOM")/libfftbloom.so.0")
}

@test "they are loaded anywhere, their tables are read-only, their stacks hold no code" {
    readelf -h "$FFTBLOOM" | grep -q 'DYN (Position-Independent'
    for f in "${both[@]}"; do
        readelf -d "$f" | grep -q BIND_NOW
        readelf -lW "$f" | grep -q GNU_RELRO
        readelf -lW "$f" | grep GNU_STACK | grep -q 'RW '
        run -1 bash -c "readelf -d '$f' | grep -E 'RPATH|RUNPATH|TEXTREL'"
    done
}

@test "calls are checked, stacks are probed, and jumps land where they may" {
    [ "${SAN:-0}" = 0 ] || skip "a build with sanitizers has their checks"
    for f in "${both[@]}"; do
        nm -D "$f" >"$TEST_TMP/names"
        grep -q '__stack_chk_fail' "$TEST_TMP/names"
        grep -qE '__(memcpy|snprintf|vsnprintf)_chk' "$TEST_TMP/names"
        objdump -d --no-show-raw-insn "$f" >"$TEST_TMP/code"
        # A function that may be called by a pointer begins with endbr64.
        [ "$(grep -c endbr64 "$TEST_TMP/code")" -gt 1000 ]
        # A frame of more than a page touches each of its pages.
        grep -qE 'or[ql] +\$0x0,\(%rsp\)' "$TEST_TMP/code"
    done
}

@test "no function of a shell, and none that writes without a bound, is called" {
    for f in "${both[@]}"; do
        run -1 bash -c "nm -D --undefined-only '$f' | grep -wE 'system|popen|tmpnam|gets|strcpy|strcat|sprintf'"
    done
}

@test "no call that reaches a network, and one alone that starts a program: for Slurm, in the program" {
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's own calls are among them"
    for f in "${both[@]}"; do
        run -1 bash -c "nm -D --undefined-only '$f' | grep -wE 'socket|connect|bind|listen|accept4?|sendto|getaddrinfo|gethostby[a-z0-9_]+|posix_spawnp?|vfork|exec(l|le|lp|v|ve|vpe|veat)'"
        [[ $f = "$FFTBLOOM" ]] || run -1 bash -c "nm -D --undefined-only '$f' | grep -wE 'fork|execvp'"
    done
    # Only the farm executes, and only what it is told on the spot.
    [ "$(grep -l 'execvp(' -r "$FFTBLOOM_ROOT/src" | xargs -n 1 basename)" = farm_slurm.c ]
    [ "$(grep -hoE 'dlopen\([^,]*' -r "$FFTBLOOM_ROOT/src" --include=*.c --include=*.cc)" = 'dlopen("libvulkan.so.1"' ]
    run -1 grep -rnE '\b(socket|connect|bind|getaddrinfo)\(' "$FFTBLOOM_ROOT/src" --include=*.c --include=*.cc
}

commands() { # VARIABLES...: how a file of C and the program would be made
    make -C "$FFTBLOOM_ROOT" -n -B V=1 BUILD="$TEST_TMP/none" "$@" "$TEST_TMP/none/base/err.o" "$TEST_TMP/none/fftbloom" | tr -s ' '
}

@test "the flags of dpkg-buildflags come behind ours, and build without a warning" {
    [ "${SAN:-0}" = 0 ] || skip "a build with sanitizers has others"
    command -v dpkg-buildflags >/dev/null || skip "dpkg-dev is not installed"
    commands >"$TEST_TMP/ours"
    for flag in -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-clash-protection -fcf-protection=full -fstack-protector-strong \
        -Werror=format-security -pie -Wl,-z,relro,-z,now; do
        grep -qwF -- "$flag" "$TEST_TMP/ours"
    done
    eval "flags=($(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --export=cmdline))"
    commands "${flags[@]}" >"$TEST_TMP/theirs"
    grep -q -- '-fPIC.*-D_FORTIFY_SOURCE=2.* -c src/base/err.c' "$TEST_TMP/theirs"
    run -1 grep -- '-D_FORTIFY_SOURCE=3' "$TEST_TMP/theirs"
    make -s -C "$FFTBLOOM_ROOT" BUILD="$TEST_TMP/deb" "${flags[@]}" "$TEST_TMP/deb/base/err.o" 2>"$TEST_TMP/said"
    [ ! -s "$TEST_TMP/said" ]
}
