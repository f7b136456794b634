#!/usr/bin/env bats
# The files of a command: no output replaces another output or an input, whatever the names and
# links; and what happens to files while a run is under way.

load files

setup_file() {
    shared_folder || return 0
    make_images
}

all_files() { find . -path ./cache -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; }

unchanged() { # WORDS arguments...: refused with 64, and no file changes
    local before
    before=$(all_files)
    refused 64 "$@"
    [ "$(all_files)" = "$before" ]
}

@test "an output that is the kernel, the report or a config file is refused" {
    unchanged "the output 'kernel.exr' is the kernel, which it would replace" in.exr kernel.exr -o kernel.exr
    unchanged "the output './kernel.exr' is the kernel 'kernel.exr', which" in.exr kernel.exr -o ./kernel.exr
    ln -s kernel.exr link.exr
    ln kernel.exr hard.exr
    mkdir -p sub
    ln -s .. sub/up
    unchanged "the kernel" in.exr kernel.exr -o link.exr
    unchanged "the kernel" in.exr kernel.exr -o hard.exr
    unchanged "the kernel" in.exr kernel.exr -o sub/up/kernel.exr
    # Not there yet: by the folder and the name that links lead to.
    ln -s out.exr soon.exr
    unchanged "is also the report; each needs a name of its own" in.exr kernel.exr -o out.exr --report out.exr
    unchanged "is also the report" in.exr kernel.exr -o soon.exr --report sub/up/out.exr
    unchanged "the report 'in.exr' is the input, which" in.exr kernel.exr -o out.exr --report in.exr
    unchanged "the report 'kernel.exr' is the kernel" in.exr kernel.exr -o out.exr --report kernel.exr
    echo '{"version": 1, "sharpen": 0.5}' >inner.json
    echo '{"version": 1, "include": "inner.json"}' >look.json
    unchanged "a config file" in.exr kernel.exr -o out.exr --config look.json --report look.json
    unchanged "a config file" in.exr kernel.exr -o out.exr --config look.json --report inner.json
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --report r.json --config look.json
}

@test "a file that is replaced keeps its access list" {
    needs_program setfacl
    cp in.exr out.exr
    chmod 640 out.exr
    setfacl -m u:daemon:rw,g:games:r out.exr 2>/dev/null || skip "this file system has no access lists"
    local before=$(getfacl -c out.exr)
    [[ "$before" == *user:daemon:rw-*group:games:r--* ]]
    "$FFTBLOOM" in.exr kernel.exr -o out.exr
    ! cmp -s in.exr out.exr || false
    [ "$(getfacl -c out.exr)" = "$before" ]
}

@test "an output that is its input needs --existing in-place, for sequences as well" {
    unchanged "give --existing in-place to replace the input" in.exr kernel.exr -o in.exr
    ln -s in.exr link.exr
    unchanged "--existing in-place" in.exr kernel.exr -o link.exr
    "$FFTBLOOM" in.exr kernel.exr -o out.exr
    "$FFTBLOOM" in.exr kernel.exr -o in.exr --existing in-place
    cmp in.exr out.exr
    # --existing update: a frame that was replaced is not bloomed again.
    cp "$FILES/in.exr" s.0001.exr
    cp "$FILES/in.exr" s.0002.exr
    unchanged "--existing in-place" s.####.exr kernel.exr -o s.####.exr
    "$FFTBLOOM" s.####.exr kernel.exr -o s.####.exr --existing in-place
    cmp s.0001.exr out.exr
    "$FFTBLOOM" s.####.exr kernel.exr -o s.####.exr --existing in-place
    cmp s.0002.exr out.exr
}

@test "outputs of frames are compared with each other and with all inputs" {
    for i in 0001 0002; do cp in.exr "in.$i.exr"; done
    mkdir out
    ln -s a.exr out/in.0001.exr
    ln -s a.exr out/in.0002.exr
    unchanged "the outputs of two frames are one file" in.####.exr kernel.exr -o out
    rm out/*
    ln -s ../in.0002.exr out/in.0001.exr
    unchanged "the output 'out/in.0001.exr' is the input 'in.0002.exr'" in.####.exr kernel.exr -o out --existing in-place
    rm out/*
    unchanged "the output 'out/in.0002.exr' is also the report; each needs" in.####.exr kernel.exr -o out \
        --report out/in.0002.exr
    # Frames may be links to one image.
    ln -sf in.0001.exr in.0002.exr
    "$FFTBLOOM" in.####.exr kernel.exr -o out
    [ "$(ls out | wc -l)" -eq 2 ]
}

@test "precompute, kernel convert and diff do not write over what they read" {
    cp kernel.exr k.spectrum
    unchanged "the kernel" precompute k.spectrum -o k.spectrum
    unchanged "the kernel" kernel convert kernel.exr --to oiio -o ./kernel.exr
    unchanged "the difference image 'in.exr' is the first image" diff in.exr kernel.exr -o in.exr
    unchanged "the second image" diff in.exr kernel.exr -o kernel.exr
}

@test "check: reports, suite and references stay apart" {
    cat >suite.json <<'J'
{"version": 1, "cases": [
 {"name": "a", "config": {"input": "in.exr", "kernel": "kernel.exr"}, "reference": "ref.exr"},
 {"name": "b", "config": {"input": "in.exr", "kernel": "kernel.exr"}, "reference": "ref.exr"}]}
J
    unchanged "--html 'suite.json' is a file of the suite" check suite.json --html suite.json
    unchanged "each needs a name of its own" check suite.json --html x --junit x
    unchanged "--json 'ref.exr' is a reference" check suite.json --json ref.exr
    unchanged "--json 'in.exr' is the input of a case" check suite.json --json in.exr
    echo '{"version": 1, "input": "in.exr", "kernel": "kernel.exr"}' >look.json
    echo '{"version": 1, "cases": [{"name": "c", "config": "look.json", "verify": 1}]}' >with.json
    unchanged "--json 'look.json' is a config file" check with.json --json look.json
    "$FFTBLOOM" check suite.json --bless # two cases may share a reference
    sed -i 's/ref.exr"}]/in.exr"}]/' suite.json
    unchanged "a reference" check suite.json --bless
    "$FFTBLOOM" check suite.json --list
}

@test "--existing skip: of several at once one writes, the others skip" {
    race() { # arguments...
        local pids="" done="" p
        for i in 1 2 3 4; do
            "$FFTBLOOM" "$@" --existing skip 2>"err.$i" &
            pids+=" $!"
        done
        for p in $pids; do
            status=0
            wait "$p" || status=$?
            done+="$status "
        done
        [ "$(tr ' ' '\n' <<<"$done" | sort | xargs)" = "0 5 5 5" ]
        [ "$(cat err.* | grep -c skipped)" -eq 3 ]
    }
    race in.exr kernel.exr -o n.exr
    race precompute kernel.exr -o n.spectrum
    race kernel make star --taps 64 -o star.exr
}

@test "links that others have laid in a shared folder are not followed" {
    [ "$(id -u)" -eq 0 ] || skip "only root can lay a link as somebody else"
    make_images
    mkdir -m 1777 shared
    echo mine >mine.exr
    ln -s "$PWD/mine.exr" shared/out.exr
    chown -h 65534 shared/out.exr
    refused 74 "another user has laid" in.exr kernel.exr -o shared/out.exr
    [ "$(<mine.exr)" = mine ]
    chown -h 0 shared/out.exr
    "$FFTBLOOM" in.exr kernel.exr -o shared/out.exr
    cmp shared/out.exr mine.exr
}

@test "a stamp that is a link to another file does not empty it" {
    make_images
    export FFTBLOOM_CACHE_DIR=$PWD/cache
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --existing update
    echo precious >precious
    for s in cache/stamps/*; do ln -f precious "$s"; done
    run "$FFTBLOOM" in.exr kernel.exr -o out.exr --existing update
    echo "$output"
    [ "$(<precious)" = precious ]
    [[ "$output" == *"link to another file"* ]]
}
