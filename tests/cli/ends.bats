#!/usr/bin/env bats
# How a run ends that cannot finish: signals, closed descriptors, no memory, interrupted calls.

bats_require_minimum_version 1.5.0
load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    cp "$FFTBLOOM_ROOT"/testdata/small.exr in.exr
    cp "$FFTBLOOM_ROOT"/testdata/kernel.exr kernel.exr
    export FFTBLOOM_CACHE_DIR=$dir/cache FFTBLOOM_DEVICE=cpu
    echo '{"version": 1, "cache_size": 0}' >look.json
    export FFTBLOOM_CONFIG=$dir/look.json # without a cache the first fsync is that of the output
    faults=$(dirname "$FFTBLOOM")/tests/faults.so
    [ ! "$SAN" = 1 ] || skip "the sanitizers' allocator cannot be preloaded"
}

teardown() {
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
}

# Starts a run that stops at its first fsync, when its temporary file is whole; $pid is its process.
start_waiting() { # command...
    env FAULT_WAIT="$dir/wait" LD_PRELOAD="$faults" "$@" &
    pid=$!
    for i in {1..1000}; do [ -e wait ] && break || sleep 0.01; done
    ls -A | grep -q '^\.out\.exr\..*\.tmp$'
}

ended_with() { # STATUS: the run above; no temporary file and no output is there
    status=0
    wait $pid || status=$?
    [ "$status" -eq "$1" ]
    [ -z "$(find . -name '*.tmp')" ]
}

@test "signals that end the program leave no temporary file" {
    for signal in INT:130 TERM:143 HUP:129 QUIT:131 XCPU:152 USR1:138 USR2:140 ALRM:142 ABRT:134; do
        rm -f wait
        start_waiting env --default-signal "$FFTBLOOM" in.exr kernel.exr -o out.exr 2>said
        kill "-${signal%:*}" $pid
        ended_with "${signal#*:}"
        [ ! -e out.exr ]
    done
}

@test "signals that are ignored stay ignored" {
    trap '' HUP INT
    start_waiting "$FFTBLOOM" in.exr kernel.exr -o out.exr
    kill -HUP $pid
    kill -INT $pid
    rm wait
    ended_with 0
    [ -e out.exr ]
}

@test "a limit on the size of files: 74, and no temporary file" {
    run bash -c 'ulimit -f 4; "$FFTBLOOM" in.exr kernel.exr -o out.exr --compression none'
    [ "$status" -eq 74 ]
    [[ "$output" == *"File too large"* ]]
    [ -z "$(find . -name '*.tmp')" ]
    [ ! -e out.exr ]
}

@test "what SIGKILL leaves is removed by the next run" {
    start_waiting "$FFTBLOOM" in.exr kernel.exr -o out.exr
    kill -KILL $pid
    wait $pid || true
    ls -A | grep -q '^\.out\.exr\..*\.tmp$'
    "$FFTBLOOM" in.exr kernel.exr -o another.exr
    [ -z "$(ls -A | grep tmp)" ]
}

@test "closed descriptors: no message can land in an output" {
    start_waiting "$FFTBLOOM" in.exr kernel.exr -o out.exr -v <&- >&- 2>&-
    for fd in 0 1 2; do [ "$(readlink /proc/$pid/fd/$fd)" = /dev/null ]; done
    rm wait
    ended_with 0
    run bash -c '"$FFTBLOOM" devices >&-'
    [ "$status" -eq 74 ]
}

@test "open, fsync and close are tried again when they are interrupted" {
    for call in open fsync close; do
        run --separate-stderr env FAULT_INTERRUPT=$call LD_PRELOAD="$faults" \
            "$FFTBLOOM" in.exr kernel.exr -o out.$call.exr
        [ "$status" -eq 0 ]
        [ -z "$stderr" ] # not even that the input has changed
        cmp out.$call.exr out.open.exr
    done
}

# Lets allocations of a command fail one by one, at some 40 places that differ from run to run, or at
# all of them (FAULT_ALL=1), and then all that follow. Each ends with 75 and a sentence, or the run
# could do without. Never another status, an alarm of the C library, a temporary file, or an output
# that is not the whole one.
sweep() { # command...
    local total step more i
    FAULT_COUNT=count LD_PRELOAD=$faults "$@" >/dev/null
    mkdir whole
    [ -z "$(ls | grep '^out')" ] || mv out* whole
    total=$(<count)
    [ "$total" -gt 100 ]
    step=$((FAULT_ALL ? 1 : total / 40 + 1))
    for i in $(seq $((RANDOM % step + 1)) $step "$total"); do
        for more in "" -; do
            [ -z "$more" ] || [ $((i % 5)) -eq 0 ] || continue
            rm -rf cache out out.*
            status=0
            FAULT_ALLOC=$i$more LD_PRELOAD=$faults "$@" >stdout 2>said || status=$?
            echo "allocation $i$more of $total: $status $(<said)"
            [ "$status" -eq 75 ] || [ "$status" -eq 0 ]
            [ "$status" -eq 0 ] || [ -s said ] || [ -s stdout ]
            [ -z "$more" ] || for f in $(ls | grep '^out'); do cmp "$f" "whole/$f"; done
            run grep -iE 'corrupt|double free|invalid (pointer|size|next)|smashing|munmap_chunk|free\(' said
            [ "$status" -ne 0 ]
            [ -z "$(find . -name '*.tmp')" ]
        done
    done
}

@test "out of memory: a plain run" {
    sweep "$FFTBLOOM" in.exr kernel.exr -o out.exr --jobs 1
}

@test "out of memory: glare in a file of its own" {
    sweep "$FFTBLOOM" in.exr kernel.exr -o out.exr --emit-file out.glare.exr --jobs 1
}

@test "out of memory: tiles, with a mask and a check" {
    "$FFTBLOOM" kernel make disc --taps 400 --param radius=90 -o large.exr
    sweep "$FFTBLOOM" large.exr kernel.exr -o out.exr --mask Y --verify 50 --mem-limit 4MB --jobs 1
}

@test "out of memory: pictures" {
    sweep "$FFTBLOOM" in.exr kernel.exr -o out.png --before out.before.png --jobs 1
}

@test "out of memory: a kernel's page" {
    sweep "$FFTBLOOM" kernel show kernel.exr -o out.svg --jobs 1
}

@test "out of memory: a suite" {
    "$FFTBLOOM" in.exr kernel.exr -o want.exr
    echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "in.exr", "kernel": "kernel.exr"}, "reference": "want.exr"}]}' >s.json
    sweep "$FFTBLOOM" check s.json --jobs 1
}
