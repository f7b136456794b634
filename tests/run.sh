#!/bin/bash
# Runs every file of unit tests and every bats file against the build in $1, as many at a time as there
# are processors (JOBS=1: one after the other). Prints one line each with the time that the file took
# and the processors' time, the output of those that fail, and a closing count. Tests that need something that is missing skip and say so.
# ONLY='apply sequence test_plan' runs those alone; FILTER is a regular expression of names of tests in
# bats files. LONG=1 runs all files whole, LONG='python test_join' those; else tests/long.txt says what is left out.
build=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
export build root FFTBLOOM=$build/fftbloom FFTLAB=$build/fftlab FFTBLOOM_ROOT=$root
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$root/tests/lsan.supp:print_suppressions=0
unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this: tests call make, too
# What Mesa's driver has compiled serves all files. The sandbox lets nobody read it: tests that start the
# program often on that driver say --sandbox off, and a start takes 1 s of the processor, not 6.
# Builds with sanitizers find what the plain one has compiled. LLVM does not optimise it: what it
# computes is short, and compiling is what takes the time.
export GALLIVM_PERF=nopt
export MESA_SHADER_CACHE_DIR=$root/build/mesa
mkdir -p "$MESA_SHADER_CACHE_DIR"
export TSAN_OPTIONS=suppressions=$root/tests/tsan.supp
all=$(mktemp -d)
export all long=$LONG
trap 'rm -rf "$all"' EXIT

run_one() { # a file of unit tests or a bats file; each has a cache and a folder of its own
    local name start=$EPOCHREALTIME status seconds p f s TIMEFORMAT='%U %S'
    name=$(basename "$1")
    local log=$all/$name.log
    case " $long " in *" 1 "* | *" ${name%.bats} "*) export LONG=1 ;; *) unset LONG ;; esac
    export TEST_TMP=$all/$name.tmp FFTBLOOM_CACHE_DIR=$all/$name.cache
    mkdir "$TEST_TMP" "$FFTBLOOM_CACHE_DIR"
    { time case $name in
        *.bats) bats --tap ${FILTER:+--filter "$FILTER"} "$1" ;;
        *) "$build/tests/unit" "$name" ;;
        esac >"$log" 2>&1; } 2>"$log.time"
    status=$?
    rm -rf "$TEST_TMP" "$FFTBLOOM_CACHE_DIR"
    seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" '{ printf "%.1f s, %.1f of CPU", b - a, $1 + $2 }' "$log.time")
    # Test programs and bats both say what they ran.
    p=$(grep -cE '^\[       OK \]|^ok [0-9]+ ' "$log")
    s=$(grep -cE '^\[  SKIPPED \] [^0-9]|^ok [0-9]+ .*# skip' "$log")
    # A test program names each failure twice: where it happens, and in a list at the end.
    f=$(grep -E '^\[  FAILED  \] [a-z].*[^:]$|^not ok ' "$log" | sort -u | wc -l)
    grep -qE '^ok [0-9]+ ' "$log" && p=$((p - s))
    if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    echo "$p $f $s" >"$all/$name.count"
    if [ $status -eq 0 ]; then
        printf 'ok    %-34s %4d tests%s  %s\n' "$name" "$p" "$([ "$s" -gt 0 ] && echo ", $s skipped")" "$seconds"
    else
        printf 'FAIL  %-34s (exit %d)\n%s\n' "$name" "$status" "$(tail -n 80 "$log")"
    fi
}
export -f run_one

cd "$root" || exit 1
wanted() { [ -z "$ONLY" ] || grep -qwF -- "$(basename "$1" .bats)" <<<"$ONLY"; }
# The longest first, so that all processors are busy to the end.
first='test_pipeline|python.bats|tiles.bats|test_promise|sandbox.bats|bundle.bats|kernel.bats|test_ofx_hosts|test_accuracy|test_fftlab|sequence.bats|test_join'
files=$("$build/tests/unit"; ls tests/cli/*.bats tests/bench/*/*.bats)
for t in $(grep -E "$first" <<<"$files"; grep -vE "$first" <<<"$files"); do
    wanted "$t" && printf '%s\0' "$t"
done | xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" bash -c 'run_one "$1"' run_one
cat "$all"/*.count 2>/dev/null | awk '{ p += $1; f += $2; s += $3 }
    END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0 || !NR }'
