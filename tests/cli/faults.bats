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
    local some=$(sed -n 's/^    "\([a-z0-9]*\)": (.*/\1/p' "$FFTBLOOM_ROOT/tests/faults/sweep.py" | shuf -n $((FAULT_ALL ? 99 : 5)))
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

@test "an encoder that breaks, hangs, takes all memory or talks rubbish: try again, and no file" {
    "$FFTBLOOM" --version | grep -q 'openexr yes' || skip "built without OpenEXR"
    for case in "crash broke" "hang took" "speak broke" "eat broke"; do
        export FAULT_CHILD=${case% *}
        run --separate-stderr timeout 60 env LD_PRELOAD=$faults "$FFTBLOOM" in.exr kernel.exr -o d.exr --compression dwaa
        echo "$case: $status $stderr"
        [ "$status" -eq 75 ]
        [[ "$stderr" == *"OpenEXR's library"*"${case#* }"*"too little memory"* ]]
        [ ! -e d.exr ]
    done
    LD_PRELOAD=$faults "$FFTBLOOM" in.exr kernel.exr -o d.exr --compression dwaa --sandbox off
}

@test "what OpenEXR's library encodes in a process of its own has the same bytes, at each level of DWA" {
    needs_program oiiotool
    "$FFTBLOOM" --version | grep -q 'openexr yes' || skip "built without OpenEXR"
    for codec in pxr24 b44 b44a dwaa dwab dwaa:5 dwab:900; do
        oiiotool in.exr --compression "$codec" -o c.exr --tile 16 16 -o t.exr
        for f in c t; do
            "$FFTBLOOM" $f.exr kernel.exr -o child.exr --compression "${codec%:*}"
            "$FFTBLOOM" $f.exr kernel.exr -o here.exr --compression "${codec%:*}" --sandbox off
            cmp child.exr here.exr
            [ "$f" = t ] || cp here.exr "made.${codec/:/_}.exr"
        done
    done
    # The level was heard.
    [ "$(stat -c %s made.dwaa_5.exr)" -gt "$(stat -c %s made.dwaa.exr)" ]
    [ "$(stat -c %s made.dwab_900.exr)" -lt "$(stat -c %s made.dwab.exr)" ]
}

@test "one row of pixels in a tile of B44, and short memory for DWA: no crash, and no file that nobody can read" {
    needs_program oiiotool
    "$FFTBLOOM" --version | grep -q 'openexr yes' || skip "built without OpenEXR"
    oiiotool --pattern constant:color=.2,.3,.4 64x65 3 -d half --tile 64 64 --compression zip -o t.exr
    for box in auto off; do
        for codec in b44 b44a; do
            for i in 1 2 3 4 5; do "$FFTBLOOM" t.exr kernel.exr -o o.exr --compression $codec --sandbox $box; done
        done
        for n in {20..1500..37}; do
            rm -f d.exr
            run env FAULT_CALL=alloc:$n LD_PRELOAD=$faults "$FFTBLOOM" in.exr kernel.exr -o d.exr --compression dwaa --jobs 1 --sandbox $box
            echo "$box $n: $status $output"
            [ "$status" -eq 75 ] || { [ "$status" -eq 0 ] && "$FFTBLOOM" diff d.exr d.exr; }
        done
    done
}
