#!/bin/bash
# trials.sh BUILD RUNS SEED DEVICE: all random attacks, each with as many runs as it is worth; fails if one did not hold.
build=$1 runs=$2 seed=$3 device=$4 bad=0
cd "$(dirname "$0")/.." || exit 1
for mask in "" mask; do
    "$build/tests/unit" test_promise "$runs" "$seed" "$device" $mask || bad=1
done
some=$((runs < 100 ? 100 : runs)) # of which some must not be kept, and whose noise has a mean
SOLVE_TRIALS=$some SOLVE_NOISE=$some "$build/tests/unit" test_solve || bad=1
for kind in fields files stored pieces kills codecs pairs doubles; do
    /usr/bin/python3 tests/trials.py "$build/fftbloom" $kind "$runs" "$seed" "$device" || bad=1
done
# What takes long, whole; on a device what its driver compiles, with every case of every list.
if [ "$device" = cpu ]; then
    LONG=1 ONLY=$(grep -oE '^[a-z]\w*' tests/long.txt | xargs) tests/run.sh "$build" || bad=1
else
    PIPE_ALL=1 LONG=1 ONLY='test_pipeline test_join test_promise test_field test_accuracy test_fftlab' JOBS=1 tests/run.sh "$build" || bad=1
fi
if [ "$device" = cpu ]; then
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -Isrc tests/lib/soak.c "$build/libfftbloom.so.0" -Wl,-rpath,"$build" -pthread -o "$build/tests/soak" &&
        python3 tests/faults/sweep.py "$build/fftbloom" "$build/tests/faults.so" "$build/tests/soak" $(((runs + 49) / 50)) || bad=1
    JOBS=1 ONLY='sandbox test_sandbox' tests/run.sh "$build" || bad=1 # at versions 1 to 3 of Landlock, and the machine's own
    /usr/bin/python3 tests/trials_guard.py "$build/fftbloom" links "$runs" "$seed" || bad=1
    # With sanitizers, and each note at least once.
    make -s SAN=1 all && LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0 \
        /usr/bin/python3 tests/trials_guard.py build-san/fftbloom notes $((runs < 46 ? 46 : runs)) "$seed" || bad=1
else
    for kind in links notes; do
        /usr/bin/python3 tests/trials_guard.py "$build/fftbloom" $kind $(((runs + 3) / 4)) "$seed" "$device" || bad=1
    done
fi
exit $bad
