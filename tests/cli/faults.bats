# Machines that fail: calls of the system, folders, files that change. Each ends with a status and a
# sentence; an output is whole or what it was before. A sample runs here; FAULT_ALL=1 tries every call
# (hours). Signals at any moment: trials.bats; many processes at once: test_cache.c, test_file.c.

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

@test "reads and writes of half of what is asked for, and interrupted ones" {
    FAULT_SHORT=1 LD_PRELOAD=$faults "$FFTBLOOM" in.exr kernel.exr -o out.exr
    cmp out.exr want.exr
    FAULT_SHORT=1 LD_PRELOAD=$faults "$FFTBLOOM" - kernel.exr -o exr:- <in.exr >pipe.exr
    FAULT_SHORT=1 LD_PRELOAD=$faults "$FFTBLOOM" in.exr kernel.exr -o out.png
    "$FFTBLOOM" in.exr kernel.exr -o want.png
    cmp out.png want.png
    "$FFTBLOOM" diff pipe.exr want.exr
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
