# How a run ends that cannot finish: signals, closed descriptors, interrupted calls.

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    cp "$FFTBLOOM_ROOT"/testdata/small.exr in.exr
    cp "$FFTBLOOM_ROOT"/testdata/kernel.exr kernel.exr
    export FFTBLOOM_CACHE_DIR=$dir/cache FFTBLOOM_DEVICE=cpu
    echo '{"version": 1, "cache_size": 0}' >look.json
    export FFTBLOOM_CONFIG=$dir/look.json # without a cache the first fsync is that of the output
    needs_faults
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
    run -74 bash -c 'ulimit -f 4; "$FFTBLOOM" in.exr kernel.exr -o out.exr --compression none'
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
    run -74 bash -c '"$FFTBLOOM" devices >&-'
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
