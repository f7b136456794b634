# The sandbox: what a run can still do once it reads images, and what works in it all the same.

load files

setup() {
    own_folder
    export FFTBLOOM_DEVICE=cpu
    needs_faults # a build with sanitizers has no sandbox either
    mkdir in out elsewhere
    cp "$FFTBLOOM_ROOT"/testdata/small.exr in/a.exr
    cp "$FFTBLOOM_ROOT"/testdata/kernel.exr in/k.exr
    echo secret >elsewhere/secret
    "$FFTBLOOM" in/a.exr in/k.exr -o out/want.exr -v 2>said
    grep -q 'sandbox: Landlock and seccomp' said || skip "this kernel has no Landlock or no seccomp"
}

possible() { # command...: what code in the process could do
    FAULT_TRY="$PWD/elsewhere/secret" timeout 60 env LD_PRELOAD=$faults "$@" 2>&1 | grep '^possible'
}

@test "files elsewhere, sockets, processes, programs: nothing of these can be had" {
    [ "$(possible "$FFTBLOOM" in/a.exr in/k.exr -o out/a.exr)" = possible: ]
    [ "$(possible "$FFTBLOOM" precompute in/k.exr -o out/k.spectrum)" = possible: ]
    [ "$(possible "$FFTBLOOM" kernel crop in/k.exr --taps 9 -o out/t.exr)" = possible: ]
    # A recipe is the kernel of a run by its text alone.
    echo '{"taps": 16, "layers": [{"model": "gaussian", "sigma": 2}]}' >in/g.json
    [ "$(possible "$FFTBLOOM" in/a.exr in/g.json -o out/g.exr)" = possible: ]
    [ ! -e elsewhere/secret.new ]
    cmp out/a.exr out/want.exr
    [ "$(possible "$FFTBLOOM" in/a.exr in/k.exr -o out/b.exr --sandbox off)" = "possible: read write socket fork exec ptrace kill" ]
}

@test "every version of Landlock: what it does not hold, seccomp does" {
    local v on=()
    # tests/unit/test_sandbox.c by itself runs at the machine's own version.
    for v in 1 2 3; do
        FAULT_LANDLOCK=$v LD_PRELOAD=$faults "$(dirname "$faults")/unit" test_sandbox >said.$v 2>&1 &
        on+=($!)
    done
    for v in 1 2 3; do
        wait "${on[v - 1]}" || { cat said.$v; false; }
        grep -q 'PASSED.* 3 test' said.$v
        ! grep -q SKIPPED said.$v || false
        rm -f out/*
        FAULT_LANDLOCK=$v possible "$FFTBLOOM" in/a.exr in/k.exr -o out/a.exr --sandbox on >said
        [ "$(<said)" = possible: ]
        FAULT_LANDLOCK=$v LD_PRELOAD=$faults "$FFTBLOOM" in/a.exr in/k.exr -o out/a.exr --existing update # over an old one
    done
}

@test "words that name no file give no right on the folder where the command runs" {
    cd elsewhere
    here() { FAULT_TRY=$PWD/secret timeout 60 env LD_PRELOAD=$faults "$FFTBLOOM" "$@" 2>&1 | grep '^possible'; }
    [ "$(here kernel rotate ../in/k.exr 5 -o ../out/r.exr)" = possible: ]
    [ "$(here kernel stretch ../in/k.exr 1.5x1 -o ../out/s.exr)" = possible: ]
    [ "$(here ../in/a.exr portrait -o ../out/p.exr)" = possible: ]
    [ "$(here kernel mix portrait:0.7 ../in/k.exr:30%@2,-1 -o ../out/m.exr)" = possible: ]
    [ "$(here kernel make gaussian --param sigma=2 -o ../out/g.exr)" = possible: ]
    [ "$(here ../in/a.exr -k 'portrait:0.7 + ../in/k.exr' -o ../out/p.exr)" = possible: ]
    # A file there is one of its folder.
    cp ../in/k.exr k.exr
    [ "$(here kernel mix portrait:0.7 k.exr:0.3 -o ../out/m.exr)" = "possible: read" ]
    [ "$(here ../in/a.exr -k 'portrait:0.7 + k.exr' -o ../out/p.exr)" = "possible: read" ]
}

@test "rights go before the first byte of a recipe, and the images that it names are not opened" {
    needs_program strace
    echo '{"taps": 64, "layers": [{"model": "aperture", "image": "a.exr", "fnumber": 8, "pitch": 4}]}' >in/r.json
    traced() { # command...: what is opened in `in`, and the two calls that take rights away
        strace -f -e trace=openat,landlock_restrict_self,seccomp -o trace "$@" 2>said || status=$?
        grep -oE 'landlock_restrict_self|seccomp|in/[a-z]*\.[a-z]*' trace | xargs
    }
    strace -o trace true || skip "strace may not trace here"
    status=0
    order=$(traced "$FFTBLOOM" in/k.exr in/r.json -o out/x.exr; echo "$status")
    [[ "$order" == "landlock_restrict_self seccomp "*"in/r.json"* ]]
    [[ "$order" != *in/a.exr* ]]
    grep -q "takes its opening from an image, 'in/a.exr'; make the kernel with 'fftbloom kernel make in/r.json" said
    # A kernel is made of it by an action that may open it.
    order=$(traced "$FFTBLOOM" kernel make in/r.json -o out/k.exr; echo "$status")
    [[ "$order" == "landlock_restrict_self seccomp in/r.json "*"in/a.exr"*0 ]]
    # So are a shipped recipe's.
    order=$(FFTBLOOM_CACHE_DIR=$PWD/none strace -f -e trace=openat,landlock_restrict_self,seccomp -o trace "$FFTBLOOM" in/a.exr halation -o out/x.exr
        grep -oE 'landlock_restrict_self|seccomp|halation.json|in/[a-z]*\.[a-z]*' trace | xargs)
    [[ "$order" == "landlock_restrict_self seccomp "*"halation.json"*in/a.exr* ]]
}

on() { # FAULT DEVICE...: frames, two at a time, on a software device that claims to be a GPU, in the sandbox
    rm -f out/s.*
    run --separate-stderr env FAULT_VK_TYPE=gpu FAULT_VK=$1 LD_PRELOAD=$faults \
        "$FFTBLOOM" 'seq/a.####.exr' in/k.exr -o 'out/s.####.exr' --sandbox on -v --device "${@:2}"
    echo "$*: $status $stderr"
}

@test "--sandbox on: a GPU is opened first, computes two frames at a time in the sandbox, and may be lost there" {
    "$FFTBLOOM" devices | grep -q ' software ' || skip "no software device"
    mkdir seq
    # So small that its passes compile in a third of a second, in floats: in the sandbox no cache of shaders can be read.
    image in/small.exr 40x30 half 0.1,0.2,0.3 9,9=50,40,30
    "$FFTBLOOM" in/small.exr in/k.exr -o out/small.exr
    for i in 1 2; do cp in/small.exr seq/a.000$i.exr; done
    # What is submitted before the sandbox: a plan computes nothing else. Its pipelines are in the cache then,
    # so the first fsync of a run is that of an output.
    FAULT_VK_TYPE=gpu FAULT_VK_COUNT=$FFTBLOOM_CACHE_DIR/count LD_PRELOAD=$faults "$FFTBLOOM" plan in/small.exr in/k.exr --device gpu --sandbox on
    read -r _ before _ <"$FFTBLOOM_CACHE_DIR/count"
    [ "$before" -gt 0 ]
    FAULT_TRY=$PWD/elsewhere/secret on none:0 gpu --precision float32
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"opened before the sandbox: llvmpipe"*"sandbox: Landlock and seccomp"*"llvmpipe"* ]]
    grep -x possible: <<<"$stderr"
    for i in 1 2; do "$FFTBLOOM" diff out/s.000$i.exr out/small.exr --fail 0.02; done
    on lost:$((before + 1)) gpu --precision float32
    [ "$status" -eq 75 ]
    [[ "$stderr" == *"opened before the sandbox"* ]]
    on lost:1 gpu --precision float32
    [ "$status" -ne 0 ]
    [[ "$stderr" == *"cannot be opened before the sandbox"* ]]
    [ "$(FAULT_VK_TYPE=gpu possible "$FFTBLOOM" in/small.exr in/k.exr -o out/a.exr --device gpu --precision float32)" != possible: ]
    [ "$LONG" ] || return 0
    # So many frames of this size that auto takes the GPU.
    "$FFTBLOOM" kernel make disc --taps 2000 -o in/large.exr
    for i in {1000..1033}; do ln -sf ../in/large.exr seq/a.$i.exr; done
    on lost:$((before + 1)) auto --frames 1000-1033
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"llvmpipe"*"lost"*"CPU"* ]]
    "$FFTBLOOM" in/large.exr in/k.exr -o out/large.exr
    cmp out/s.1033.exr out/large.exr
}

@test "--sandbox on: refused where the kernel has none; a config file can say on, but not off" {
    for missing in landlock seccomp; do
        FAULT_REFUSE=$missing LD_PRELOAD=$faults says 69 "--sandbox auto" in/a.exr in/k.exr -o out/no.exr --sandbox on
        [ ! -e out/no.exr ]
        FAULT_REFUSE=$missing LD_PRELOAD=$faults "$FFTBLOOM" in/a.exr in/k.exr -o out/no.exr
        rm out/no.exr
    done
    echo '{"version": 1, "sandbox": "on"}' >on.json
    FAULT_REFUSE=landlock LD_PRELOAD=$faults says 69 "Landlock: Operation not permitted" in/a.exr in/k.exr -o out/no.exr --config on.json
    "$FFTBLOOM" in/a.exr in/k.exr -o out/no.exr --config on.json
    says 64 "cannot say off of sandbox" in/a.exr in/k.exr -o out/no.exr --config <(echo '{"version": 1, "sandbox": "off"}')
}

@test "a suite may name any file, but starts nothing" {
    echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "in/a.exr", "kernel": "in/k.exr"}, "reference": "out/new.exr"}]}' >s.json
    [ "$(possible "$FFTBLOOM" check s.json --bless)" = "possible: read write" ]
    "$FFTBLOOM" check s.json
}

@test "links: of an input, of an output, of frames, and of a folder" {
    mkdir real seq
    mv in/a.exr real/a.exr
    ln -s ../real/a.exr in/a.exr
    echo old >real/o.exr
    ln -s ../real/o.exr out/o.exr
    ln -s real/none.exr out.exr
    "$FFTBLOOM" in/a.exr in/k.exr -o out/o.exr
    "$FFTBLOOM" in/a.exr in/k.exr -o out.exr
    cmp real/o.exr out/want.exr
    cmp real/none.exr out/want.exr
    for i in 1 2 3; do cp real/a.exr real/f$i.exr; ln -s ../real/f$i.exr seq/a.000$i.exr; done
    ln -s out linked
    "$FFTBLOOM" seq/a.####.exr in/k.exr -o linked/a.####.exr
    for i in 1 2 3; do cmp out/a.000$i.exr out/want.exr; done
}

@test "links in a folder of frames: those of other names open nothing, a frame's opens the file alone" {
    mkdir seq
    # So small that its passes compile in a third of a second, in floats: in the sandbox no cache of shaders can be read.
    image in/small.exr 40x30 half 0.1,0.2,0.3 9,9=50,40,30
    "$FFTBLOOM" in/small.exr in/k.exr -o out/small.exr
    for i in 1 2; do cp in/small.exr seq/a.000$i.exr; done
    sequence() { FAULT_TRY=$PWD/elsewhere/secret timeout 60 env LD_PRELOAD=$faults "$FFTBLOOM" 'seq/a.####.exr' in/k.exr -o "$@" 2>&1 | grep '^possible'; }
    [ "$(sequence 'seq/o.####.exr')" = possible: ]
    # What came with an archive, and what others have laid there; names that are nearly those of frames.
    for name in zz a.secret.exr a.1secret.exr a.001.exr a.00001.exr b.0001.exr o.1x.exr; do
        ln -s "$PWD/elsewhere/secret" "seq/$name"
    done
    ln -s "$PWD/elsewhere" seq/folder
    [ "$(sequence 'seq/o.####.exr')" = possible: ]
    # A frame that is a link can be read, and nothing beside it; one to a folder opens nothing.
    cp in/a.exr elsewhere/a.exr
    ln -s ../elsewhere/a.exr seq/a.0003.exr
    [ "$(sequence 'seq/o.####.exr')" = possible: ]
    cmp seq/o.0003.exr out/want.exr
    ln -s ../elsewhere seq/a.0004.exr
    [ "$(sequence 'seq/o.####.exr' --keep-going)" = possible: ]
    rm seq/a.0004.exr
    # Where an output is a link, the folder of what it points to is written.
    ln -s ../elsewhere/new.exr out/b.0003.exr
    [ "$(sequence 'out/b.####.exr')" = "possible: read write" ]
    cmp elsewhere/new.exr out/want.exr
    rm elsewhere/secret.new
    # Views are named by the command: a folder of one may be a link.
    mkdir -p real/left out/left
    cp in/a.exr real/left/a.0001.exr
    ln -s real/left left
    "$FFTBLOOM" '%V/a.####.exr' in/k.exr -o 'out/%V/a.####.exr' --views left
    cmp out/left/a.0001.exr out/want.exr
}

@test "a frame's source that is replaced during the run is told, and so is what the mode forbids" {
    mkdir seq
    cp in/a.exr elsewhere/next.exr
    for i in {1..9}; do
        cp in/a.exr elsewhere/a.$i.exr
        ln -s ../elsewhere/a.$i.exr seq/a.000$i.exr
    done
    FAULT_WAIT=$PWD/out/wait LD_PRELOAD=$faults "$FFTBLOOM" 'seq/a.####.exr' in/k.exr -o 'out/s.####.exr' --jobs 1 --keep-going --report out/r.json 2>said &
    for _ in {1..1000}; do [ ! -e out/wait ] || break; sleep 0.01; done
    mv elsewhere/next.exr elsewhere/a.9.exr
    rm out/wait
    wait $! || true
    holds out/r.json '[g["state"] for g in d["frames"]] == 8 * ["done"] + ["failed"]' \
        'all(w in d["frames"][8]["why"] for w in ("seq/a.0009.exr", "the sandbox keeps it shut", "has replaced what was there"))'
    # A mode that forbids it is no matter of the sandbox.
    if [ "$(id -u)" != 0 ]; then # root reads any file
        chmod 000 in/a.exr
        run "$FFTBLOOM" in/a.exr in/k.exr -o out/m.exr
        [[ "$output" == *"Permission denied"* && "$output" != *sandbox* ]]
    fi
}

@test "pipes, pictures, glare, reports and a first cache work in it" {
    export FFTBLOOM_CACHE_DIR=$PWD/new/cache
    "$FFTBLOOM" in/a.exr in/k.exr -o out/p.png --before elsewhere/before.png --emit-file out/g.exr --report elsewhere/r.json
    "$FFTBLOOM" - in/k.exr -o exr:- <in/a.exr >out/pipe.exr
    "$FFTBLOOM" diff out/pipe.exr out/want.exr
    "$FFTBLOOM" in/a.exr "$FFTBLOOM_ROOT/testdata/star.exr" -o out/s.exr --precision float32 # doubles keep no spectrum
    [ -n "$(ls new/cache/spectra)" ]
}

@test "a file out of reach is said to be one" {
    mkdir -p in/0001
    ln -s "$PWD/elsewhere/deep.exr" in/0001/a.exr
    cp in/a.exr elsewhere/deep.exr
    says 66 "--sandbox off" 'in/####/a.exr' in/k.exr -o 'out/a.####.exr' --frames 1
    "$FFTBLOOM" 'in/####/a.exr' in/k.exr -o 'out/a.####.exr' --frames 1 --sandbox off
}

@test "what OpenEXR's library decodes: the same pixels in a process of its own, which can do nothing else" {
    needs_program oiiotool
    needs_openexr
    local making=(in/a.exr)
    for codec in pxr24 b44 b44a dwaa dwab; do making+=(--compression $codec --scanline -o in/$codec.exr --tile 16 16 -o in/tiled.$codec.exr); done
    oiiotool "${making[@]}"
    for codec in pxr24 b44 b44a dwaa dwab; do
        "$FFTBLOOM" info in/$codec.exr --json | holds - '(d["parts"][0]["compression"], d["parts"][0]["tiles"]) == ("'$codec'", None)'
        "$FFTBLOOM" info in/tiled.$codec.exr --json | holds - 'd["parts"][0]["compression"] == "'$codec'" and d["parts"][0]["tiles"]["width"] == 16'
        for f in $codec tiled.$codec; do
            FAULT_CHILD=escape FAULT_TRY=$PWD/elsewhere/secret LD_PRELOAD=$faults "$FFTBLOOM" in/$f.exr in/k.exr -o out/child.exr
            "$FFTBLOOM" in/$f.exr in/k.exr -o out/here.exr --sandbox off
            cmp out/child.exr out/here.exr
        done
    done
    [ ! -e elsewhere/secret.new ]
}

@test "wide and short files, of fewer lines than a chunk has: the program reads what it wrote" {
    needs_program oiiotool
    needs_openexr
    oiiotool --pattern noise 16384x20 4 -d half -o in/a.exr --pattern noise 4096x1 16 -d half -o in/b.exr --pattern noise 30000x8 4 -d half -o in/c.exr
    for f in a b c; do
        "$FFTBLOOM" in/$f.exr in/k.exr -o out/$f.exr --amount 0 --compression dwab
        oiiotool out/$f.exr --compression none -o out/theirs.exr
        "$FFTBLOOM" diff out/$f.exr out/theirs.exr
    done
}

@test "a decoder that breaks, hangs, takes all memory or talks rubbish is an error of its file" {
    needs_program oiiotool
    needs_openexr
    oiiotool in/a.exr --compression dwaa -o in/d.exr
    for case in "crash broke" "hang within" "speak broke" "eat broke"; do
        export FAULT_CHILD=${case% *}
        run --separate-stderr timeout 60 env LD_PRELOAD=$faults "$FFTBLOOM" in/d.exr in/k.exr -o out/d.exr
        echo "$case: $status $stderr"
        [ "$status" -eq 65 ]
        [[ "$stderr" == *"in/d.exr"*"dwaa"*"OpenEXR's library"*"${case#* }"* ]]
        [ ! -e out/d.exr ]
    done
    # It is the child alone that was hurt.
    LD_PRELOAD=$faults "$FFTBLOOM" in/d.exr in/k.exr -o out/d.exr --sandbox off
}
