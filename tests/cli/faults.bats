#!/usr/bin/env bats
# Machines that fail: calls of the system, signals at any moment, folders, files that change, many
# processes at once, and drivers. Each ends with a status and a sentence; an output is whole or what it
# was before. A sample runs here; FAULT_ALL=1 tries every call, and 500 signals.

bats_require_minimum_version 1.5.0
load files

setup() {
    own_folder
    [ ! "$SAN" = 1 ] || skip "the sanitizers' allocator cannot be preloaded"
    export FFTBLOOM_DEVICE=cpu
    cp "$FFTBLOOM_ROOT"/testdata/small.exr in.exr
    cp "$FFTBLOOM_ROOT"/testdata/kernel.exr kernel.exr
    faults=$(dirname "$FFTBLOOM")/tests/faults.so
    "$FFTBLOOM" in.exr kernel.exr -o want.exr
}

# The status is one that says what happened, with a sentence; the file is whole, old or not there.
settled() { # STATUS FILE WANTED
    echo "$step: status $1, $(head -c 200 said)"
    case $1 in 0 | 4 | 5 | 65 | 66 | 69 | 73 | 74 | 75 | 78) ;; *) return 1 ;; esac
    [ "$1" -eq 0 ] || [ -s said ] || return 1
    if [ "$1" -eq 0 ]; then cmp "$2" "$3" || return 1; fi
    [ ! -e "$2" ] || cmp -s "$2" "$3" || [ "$(<"$2")" = old ] || return 1
    [ -z "$(find . -name '*.tmp')" ]
}

# Lets the n-th call of each kind fail: some of them, or all with FAULT_ALL=1.
sweep() { # OUTPUT WANTED command...
    local out=$1 want=$2 kind n total step
    shift 2
    for kind in open read write fsync rename; do
        rm -rf "$out" "$FFTBLOOM_CACHE_DIR"
        FAULT_CALL=$kind:0 FAULT_CALLS=$dir/calls LD_PRELOAD=$faults "$@" >/dev/null
        total=$(<"$dir/calls")
        [ "$total" -gt 0 ] || return 1
        for n in $(seq $((FAULT_ALL ? 1 : RANDOM % (total / 4 + 1) + 1)) $((FAULT_ALL ? 1 : total / 4 + 1)) "$total"); do
            rm -rf "$FFTBLOOM_CACHE_DIR"
            echo old >"$out"
            status=0 step="$kind $n of $total"
            timeout 60 env FAULT_CALL=$kind:$n LD_PRELOAD=$faults "$@" >said 2>&1 || status=$?
            settled $status "$out" "$want" || return 1
        done
    done
}

@test "calls of the system that fail: one image" {
    sweep out.exr want.exr "$FFTBLOOM" in.exr kernel.exr -o out.exr --jobs 1
}

@test "calls of the system that fail: tiles with glare beside them, a picture, a sequence" {
    "$FFTBLOOM" in.exr kernel.exr -o want.png
    cp in.exr in.0001.exr
    sweep out.png want.png "$FFTBLOOM" in.exr kernel.exr -o out.png --jobs 1
    sweep out.0001.exr want.exr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --jobs 1
    "$FFTBLOOM" kernel make disc --taps 400 --param radius=90 -o large.exr
    "$FFTBLOOM" large.exr kernel.exr -o want2.exr --emit-file glare.exr --mem-limit 4MB --jobs 1
    sweep out.exr want2.exr "$FFTBLOOM" large.exr kernel.exr -o out.exr --emit-file glare.exr --mem-limit 4MB --jobs 1
}

@test "calls of the system that fail: kernels, spectra, suites" {
    "$FFTBLOOM" precompute kernel.exr -o want.spectrum
    sweep out.spectrum want.spectrum "$FFTBLOOM" precompute kernel.exr -o out.spectrum --jobs 1
    "$FFTBLOOM" kernel convert kernel.exr --to oiio -o wanted.exr
    sweep out.exr wanted.exr "$FFTBLOOM" kernel convert kernel.exr --to oiio -o out.exr --jobs 1
    echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "in.exr", "kernel": "kernel.exr"}, "reference": "ref.exr"}]}' >s.json
    "$FFTBLOOM" check s.json --bless >/dev/null
    cp ref.exr blessed.exr
    sweep ref.exr blessed.exr "$FFTBLOOM" check s.json --bless --jobs 1
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
    local rounds=$((FAULT_ALL ? 125 : 5)) signal i
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
    local k=$FFTBLOOM_ROOT/kernels/star.exr
    "$FFTBLOOM" in.exr "$k" -o want.exr
    rm -rf "$FFTBLOOM_CACHE_DIR"
    for i in $(seq $((FAULT_ALL ? 200 : 20))); do
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

@test "inputs that vanish or are cut, folders that cannot be written" {
    for i in 1 2 3 4 5 6; do cp in.exr in.000$i.exr; done
    timeout 60 env FAULT_WAIT="$dir/wait" LD_PRELOAD="$faults" "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --keep-going --jobs 1 2>said &
    pid=$!
    for i in {1..1000}; do [ -e wait ] && break || sleep 0.01; done
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
    run "$FFTBLOOM" in.exr kernel.exr -o closed/out.exr
    [ "$status" -eq 73 ]
}
