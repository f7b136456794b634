# Machines that fail: calls of the system, signals at any moment, folders, files that change, many
# processes at once, and drivers. Each ends with a status and a sentence; an output is whole or what it
# was before. A sample runs here; FAULT_ALL=1 tries every call (hours), and 500 signals.

load files

setup() {
    own_folder
    needs_faults
    export FFTBLOOM_DEVICE=cpu
    cp "$FFTBLOOM_ROOT"/testdata/small.exr in.exr
    cp "$FFTBLOOM_ROOT"/testdata/kernel.exr kernel.exr
    "$FFTBLOOM" in.exr kernel.exr -o want.exr
}

@test "the n-th allocation, open, read, write, fsync, rename or thread fails, in each command and in the library" {
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's library needs a sanitizer's program"
    local built=$(dirname "$FFTBLOOM")
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -I"$FFTBLOOM_ROOT/src" "$FFTBLOOM_ROOT/tests/lib/soak.c" \
        "$built/libfftbloom.so.0" -Wl,-rpath,"$built" -pthread -o soak
    local some=$(sed -n 's/^    "\([a-z]*\)": (.*/\1/p' "$FFTBLOOM_ROOT/tests/faults/sweep.py" | shuf -n $((FAULT_ALL ? 99 : 5)))
    python3 "$FFTBLOOM_ROOT/tests/faults/sweep.py" "$FFTBLOOM" "$faults" soak $((FAULT_ALL ? 0 : 1)) $some
}

@test "the list of kernels is whole, or an error, whatever allocation fails" {
    "$FFTBLOOM" kernel list >want
    for n in $(seq $((FAULT_ALL ? 80 : 80 + RANDOM % 4)) $((FAULT_ALL ? 1 : 4)) 160); do
        FAULT_CALL=alloc:$n LD_PRELOAD=$faults "$FFTBLOOM" kernel list >got 2>said || [ -s said ]
        [ -s said ] || cmp got want
    done
}

@test "reads and writes of half of what is asked for, and interrupted ones" {
    FAULT_SHORT=1 LD_PRELOAD=$faults "$FFTBLOOM" in.exr kernel.exr -o out.exr
    cmp out.exr want.exr
    FAULT_SHORT=1 LD_PRELOAD=$faults "$FFTBLOOM" - kernel.exr -o exr:- <in.exr >pipe.exr
    FAULT_SHORT=1 LD_PRELOAD=$faults "$FFTBLOOM" in.exr kernel.exr -o out.png
    "$FFTBLOOM" in.exr kernel.exr -o want.png
    cmp out.png want.png
    "$FFTBLOOM" diff pipe.exr want.exr
}

@test "signals at any moment: no partial output, and the next run is as if nothing had been" {
    local rounds=$((FAULT_ALL ? 125 : 3)) signal i
    for i in $(seq $rounds); do
        for signal in TERM INT HUP KILL; do
            [ $((RANDOM % 3)) -gt 0 ] || rm -rf "$FFTBLOOM_CACHE_DIR"
            [ $((RANDOM % 2)) -gt 0 ] && echo old >out.exr || rm -f out.exr
            env --default-signal "$FFTBLOOM" in.exr kernel.exr -o out.exr 2>said &
            pid=$!
            sleep 0.0$((RANDOM % 5))$((RANDOM % 10))
            kill -$signal $pid 2>/dev/null || true
            status=0
            wait $pid || status=$?
            echo "$signal: $status"
            [ ! -e out.exr ] || cmp -s out.exr want.exr || [ "$(<out.exr)" = old ]
            if [ $signal != KILL ]; then [ -z "$(find . -name '*.tmp' -not -path './cache/*')" ]; fi
        done
        "$FFTBLOOM" in.exr kernel.exr -o out.exr
        cmp out.exr want.exr
        # What KILL leaves in a folder goes with the next run that writes into it.
        [ -z "$(find . -name '*.tmp' -not -path './cache/*')" ]
    done
}

@test "many processes warm one cache and write one output" {
    local k=$FFTBLOOM_ROOT/testdata/star.exr
    "$FFTBLOOM" in.exr "$k" -o want.exr
    rm -rf "$FFTBLOOM_CACHE_DIR"
    for i in $(seq $((FAULT_ALL ? 200 : 12))); do
        { "$FFTBLOOM" in.exr "$k" -o out.exr 2>said.$i || echo "$i: $?" >>failed; } &
        pids="$pids $!"
    done
    wait $pids
    [ ! -e failed ] || { cat failed said.*; false; }
    cmp out.exr want.exr
    [ "$(ls "$FFTBLOOM_CACHE_DIR"/spectra | wc -l)" -eq 1 ]
    "$FFTBLOOM" cache verify
    [ -z "$(find . -name '*.tmp')" ]
}

@test "inputs that vanish, grow or are cut, folders that cannot be written" {
    for i in 1 2 3 4 5 6; do cp in.exr in.000$i.exr; done
    timeout 60 env FAULT_WAIT="$dir/wait" LD_PRELOAD="$faults" "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --keep-going --jobs 1 2>said &
    pid=$!
    for i in {1..1000}; do [ -e wait ] && break || sleep 0.01; done
    echo more >>in.0004.exr
    truncate -s 2000 in.0005.exr
    rm in.0006.exr wait
    status=0
    wait $pid || status=$?
    echo "$status $(<said)"
    case $status in 0 | 65 | 66 | 75) ;; *) false ;; esac
    for f in out.000?.exr; do cmp $f want.exr; done
    mkdir closed
    chmod 555 closed
    [ "$(id -u)" -ne 0 ] || skip "root may write into any folder"
    says 73 "" in.exr kernel.exr -o closed/out.exr
}
