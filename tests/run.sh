#!/bin/bash
# Runs every test program and every bats file against the build in $1; prints one line each, the
# output of what fails, and a closing count. Programs and files that need what is not there skip
# with a word. ONLY='apply sequence test_plan' runs those alone.
build=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
export FFTBLOOM=$build/fftbloom FFTBLOOM_ROOT=$root
export FFTBLOOM_CACHE_DIR=$(mktemp -d)
export TEST_TMP=$(mktemp -d)
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$root/tests/lsan.supp:print_suppressions=0
trap 'rm -rf "$FFTBLOOM_CACHE_DIR" "$TEST_TMP"' EXIT
passed=0 failed=0 skipped=0
log=$TEST_TMP/log

run_one() { # name command...
    local name=$1 start=$EPOCHREALTIME
    shift
    "$@" >"$log" 2>&1
    local status=$? seconds
    seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')
    # Test programs and bats both say what they ran.
    local p f s
    p=$(grep -cE '^\[       OK \]|^ok [0-9]+ ' "$log")
    s=$(grep -cE '^\[  SKIPPED \] [^0-9]|^ok [0-9]+ .*# skip' "$log")
    f=$(grep -cE '^\[  FAILED  \] [a-z].*[^:]$|^not ok ' "$log")
    grep -qE '^ok [0-9]+ ' "$log" && p=$((p - s))
    if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [ $status -eq 0 ]; then
        printf 'ok    %-34s %4d tests%s  %s\n' "$name" "$p" "$([ "$s" -gt 0 ] && echo ", $s skipped")" "$seconds"
    else
        printf 'FAIL  %-34s (exit %d)\n' "$name" "$status"
        tail -n 80 "$log"
    fi
}

cd "$root" || exit 1
wanted() { [ -z "$ONLY" ] || grep -qwF -- "$(basename "$1" .bats)" <<<"$ONLY"; }
for t in $(ls "$build"/tests/ | grep -E '^test_[a-z0-9_]+$'); do
    wanted "$t" && run_one "$t" "$build/tests/$t"
done
for b in tests/cli/*.bats; do
    wanted "$b" && run_one "$(basename "$b")" bats --tap "$b"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
