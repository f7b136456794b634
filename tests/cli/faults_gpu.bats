# A driver that fails, loses its device, never comes back or lacks something: a device that was named
# ends with 69 or 75 and a sentence, `auto` and `all` go on, and no picture is wrong.

load files

setup() {
    own_folder
    needs_faults
    needs software
    for i in 1 2; do cp "$FFTBLOOM_ROOT"/testdata/small.exr in.000$i.exr; done
    cp "$FFTBLOOM_ROOT"/testdata/kernel.exr kernel.exr
}

bloom() { # DEVICE FAULT: two frames at a time
    rm -f out.*
    status=0
    timeout 400 env FAULT_VK="$2" LD_PRELOAD="$faults" "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --device "$1" --sandbox off 2>said || status=$?
    echo "$1 $2: $status $(head -c 300 said)"
    for f in out.*; do [ ! -e "$f" ] || "$FFTBLOOM" diff $f want.exr --fail 0.02 || return 1; done
    [ -z "$(find . -name '*.tmp')" ]
}

@test "allocations, submissions and waits that fail, a lost device, a fence that never comes" {
    "$FFTBLOOM" in.0001.exr kernel.exr -o want.exr --device cpu
    FAULT_VK_COUNT=$dir/count bloom software none:0
    [ "$status" -eq 0 ]
    read -r allocs submits waits <count
    echo "$allocs allocations, $submits submissions, $waits waits"
    [ "$allocs" -gt 0 ]
    [ "$submits" -gt 1 ]
    kinds=("alloc $allocs" "submit $submits" "lost $submits" "wait $waits" "hang $waits")
    [ "$FAULT_ALL" ] || kinds=("${kinds[RANDOM % 2]}" "${kinds[RANDOM % 3 + 2]}")
    for kind in "${kinds[@]}"; do
        set -- $kind
        for n in $(seq $((FAULT_ALL ? 1 : RANDOM % $2 + 1)) $((FAULT_ALL ? 1 : $2)) "$2"); do
            bloom software "$1:$n"
            case $status in 0 | 69 | 75) ;; *) false ;; esac
            if [ "$status" -ne 0 ]; then [ -s said ]; else [ -e out.0002.exr ]; fi
        done
    done
}

@test "one of several devices is lost or hangs: the frames are made, or the status is 75" {
    "$FFTBLOOM" in.0001.exr kernel.exr -o want.exr --device cpu
    faults_of_all=(lost:2 hang:1)
    [ "$FAULT_ALL" ] || faults_of_all=("${faults_of_all[RANDOM % 2]}")
    for fault in "${faults_of_all[@]}"; do
        bloom all $fault
        case $status in 0) [ -e out.0002.exr ] ;; 75) [ -s said ] ;; *) false ;; esac
    done
}

@test "a device without 64-bit floats, subgroups or timestamps, or with the least limits" {
    "$FFTBLOOM" in.0001.exr kernel.exr -o want.exr --device cpu
    words=("float64 subgroups timestamps limits" float64 subgroups timestamps limits)
    [ "$FAULT_ALL" ] || words=("${words[0]}")
    for hide in "${words[@]}"; do
        rm -rf "$FFTBLOOM_CACHE_DIR"
        FAULT_VK_HIDE=$hide bloom software none:0
        case $status in 0) [ -e out.0002.exr ] ;; 69) [ -s said ] ;; *) false ;; esac
    done
    # Rows that are longer than a workgroup of the least limits takes.
    "$FFTBLOOM" kernel make disc --taps 900 --param radius=300 -o large.exr
    export FAULT_VK_HIDE=limits
    env LD_PRELOAD="$faults" "$FFTBLOOM" plan large.exr kernel.exr --device software --json | grep '"invocations": 128'
    env LD_PRELOAD="$faults" "$FFTBLOOM" large.exr kernel.exr -o small.exr --device software
    "$FFTBLOOM" large.exr kernel.exr -o all.exr --device cpu
    "$FFTBLOOM" diff small.exr all.exr --fail 0.02
}

@test "a machine without a Vulkan loader: the CPU does the work, and a sentence says why" {
    "$FFTBLOOM" in.0001.exr kernel.exr -o want.exr --device cpu
    export FAULT_VK_HIDE=loader LD_PRELOAD="$faults"
    run --separate-stderr "$FFTBLOOM" in.0001.exr kernel.exr -o out.exr --device all
    [ "$status" -eq 0 ]
    [ "$(grep -c . <<<"$stderr")" -eq 1 ]
    [[ "$stderr" == *"so the CPU does the work: libvulkan.so.1 cannot be opened"* ]]
    run --separate-stderr "$FFTBLOOM" in.0001.exr kernel.exr -o silent.exr --device cpu
    [ -z "$stderr" ]
    run "$FFTBLOOM" in.0001.exr kernel.exr -o none.exr --device software
    [ "$status" -eq 69 ]
    [ ! -e none.exr ]
    unset LD_PRELOAD
    for f in out silent; do cmp $f.exr want.exr; done
    run readelf -d "$FFTBLOOM"
    [[ "$output" != *libvulkan* ]]
}
