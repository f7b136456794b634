#!/usr/bin/env bats
# What the compiler and the linker were asked to guard, as it stands in the program.


setup_file() {
    [ "$(uname -m)" = x86_64 ] || skip "looked at on x86-64 alone"
    command -v readelf >/dev/null || skip "readelf is not here"
}

@test "the program is loaded anywhere, its tables are read-only, its stack holds no code" {
    readelf -h "$FFTBLOOM" | grep -q 'DYN (Position-Independent'
    readelf -d "$FFTBLOOM" | grep -q BIND_NOW
    readelf -lW "$FFTBLOOM" | grep -q GNU_RELRO
    readelf -lW "$FFTBLOOM" | grep GNU_STACK | grep -q 'RW '
    run bash -c "readelf -d '$FFTBLOOM' | grep -E 'RPATH|RUNPATH'"
    [ "$status" -eq 1 ]
}

@test "calls are checked, stacks are probed, and jumps land where they may" {
    [ "${SAN:-0}" = 0 ] || skip "a build with sanitizers has their checks"
    nm -D "$FFTBLOOM" | grep -q '__stack_chk_fail'
    nm -D "$FFTBLOOM" | grep -qE '__(memcpy|snprintf|vsnprintf)_chk'
    # A function that may be called by a pointer begins with endbr64.
    [ "$(objdump -d --no-show-raw-insn "$FFTBLOOM" | grep -c endbr64)" -gt 1000 ]
}

@test "no function of a shell, and none that writes without a bound, is called" {
    run bash -c "nm -D --undefined-only '$FFTBLOOM' | grep -wE 'system|popen|tmpnam|gets|strcpy|strcat|sprintf'"
    [ "$status" -eq 1 ]
}
