# The files of a command: no output replaces another output or an input, whatever the names and
# links; and what happens to files while a run is under way.

load files

setup_file() {
    shared_folder || return 0
    make_images
}

all_files() { find . -path ./cache -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; }

unchanged() { # STATUS WORDS arguments...: refused, and no file changes
    local before
    before=$(all_files)
    refused "$@"
    [ "$(all_files)" = "$before" ]
}

@test "an output that is the kernel, the report, a config file or what is read is refused" {
    ln -s kernel.exr link.exr
    ln kernel.exr hard.exr
    mkdir -p sub
    ln -s .. sub/up
    # Not there yet: by the folder and the name that links lead to.
    ln -s out.exr soon.exr
    echo '{"version": 1, "sharpen": 0.5}' >look.json
    cp kernel.exr k.spectrum
    each unchanged <<'T'
64 | the output 'kernel.exr' is the kernel, which it would replace | in.exr kernel.exr -o kernel.exr
64 | the output './kernel.exr' is the kernel 'kernel.exr', which | in.exr kernel.exr -o ./kernel.exr
64 | the kernel | in.exr kernel.exr -o link.exr
64 | the kernel | in.exr kernel.exr -o hard.exr
64 | the kernel | in.exr kernel.exr -o sub/up/kernel.exr
64 | is also the report; each needs a name of its own | in.exr kernel.exr -o out.exr --report out.exr
64 | is also the report | in.exr kernel.exr -o soon.exr --report sub/up/out.exr
64 | the report 'in.exr' is the input, which | in.exr kernel.exr -o out.exr --report in.exr
64 | the report 'kernel.exr' is the kernel | in.exr kernel.exr -o out.exr --report kernel.exr
64 | a config file | in.exr kernel.exr -o out.exr --config look.json --report look.json
64 | the kernel | precompute k.spectrum -o k.spectrum
64 | the kernel | kernel rotate kernel.exr 5 -o ./kernel.exr
64 | the difference image 'in.exr' is the first image | diff in.exr kernel.exr -o in.exr
64 | the second image | diff in.exr kernel.exr -o kernel.exr
T
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --report r.json --config look.json
}

@test "an output that is its input is refused, however it is spelled, and on pipes" {
    for i in 1 2; do cp in.exr s.000$i.exr; done
    mkdir -p sub
    ln -s in.exr link.exr
    ln in.exr hard.exr
    ln -s .. sub/up
    echo '{"version": 1, "existing": "in-place"}' >look.json
    each unchanged <<'T'
64 | the output 'in.exr' is the input, which is never written | in.exr kernel.exr -o in.exr
64 | is never written | in.exr kernel.exr -o ./in.exr
64 | is never written | in.exr kernel.exr -o "$PWD/in.exr"
64 | is never written | in.exr kernel.exr -o sub/up/in.exr
64 | is never written | in.exr kernel.exr -o .
64 | is never written | in.exr kernel.exr -o link.exr
64 | is never written | link.exr kernel.exr -o in.exr
64 | is never written | in.exr kernel.exr -o hard.exr --existing update
64 | is never written | s.####.exr kernel.exr -o s.####.exr --existing skip
64 | the output 'kernel.exr' is the kernel | /dev/stdin kernel.exr -o kernel.exr <in.exr
64 | --existing must be one of replace, skip, update, not 'in-place' | in.exr kernel.exr -o in.exr --existing in-place
64 | look.json:1:28: existing must be one of replace, skip, update, not 'in-place' | in.exr kernel.exr -o out.exr --config look.json
T
    local before
    before=$(all_files)
    for out in in.exr ./sub/up/hard.exr; do
        run -64 "$FFTBLOOM" - kernel.exr -o $out <in.exr
        [[ "$output" == *"is the input"* ]]
    done
    run -64 "$FFTBLOOM" - kernel.exr -o kernel.exr <in.exr
    [[ "$output" == *"the output 'kernel.exr' is the kernel"* ]]
    run -64 "$FFTBLOOM" - kernel.exr -o s.####.exr <s.0001.exr
    [ "$(all_files)" = "$before" ]
}

@test "a recipe is no output either" {
    echo '{"version": 1, "taps": 8, "layers": [{"model": "gaussian", "sigma": 1}]}' >r.json
    each unchanged <<'T'
64 | the report 'r.json' is the kernel's recipe | in.exr r.json -o out.exr --report r.json
64 | the kernel's recipe | in.exr r.json -o ./r.json
T
}

@test "outputs of frames are compared with each other and with all inputs" {
    for i in 1 2; do cp in.exr in.000$i.exr; done
    mkdir same other out
    ln -s a.exr same/in.0001.exr
    ln -s a.exr same/in.0002.exr
    ln -s ../in.0002.exr other/in.0001.exr
    each unchanged <<'T'
64 | the outputs of two frames are one file | in.####.exr kernel.exr -o same
64 | the output 'other/in.0001.exr' is the input 'in.0002.exr' | in.####.exr kernel.exr -o other
64 | the output 'out/in.0002.exr' is also the report; each needs | in.####.exr kernel.exr -o out --report out/in.0002.exr
T
    # Frames may be links to one image.
    ln -sf in.0001.exr in.0002.exr
    "$FFTBLOOM" in.####.exr kernel.exr -o out
    [ "$(ls out | wc -l)" -eq 2 ]
}

@test "check: reports, suite and references stay apart" {
    local case='"config": {"input": "in.exr", "kernel": "kernel.exr"}, "reference"'
    echo '{"version": 1, "cases": [{"name": "a", '"$case"': "ref.exr"}, {"name": "b", '"$case"': "ref.exr"}]}' >suite.json
    echo '{"version": 1, "cases": [{"name": "b", '"$case"': "in.exr"}]}' >input.json
    echo '{"version": 1, "input": "in.exr", "kernel": "kernel.exr"}' >look.json
    echo '{"version": 1, "cases": [{"name": "c", "config": "look.json", "verify": 1}]}' >with.json
    each unchanged <<'T'
64 | --html 'suite.json' is the suite | check suite.json --html suite.json
64 | each needs a name of its own | check suite.json --html x --junit x
64 | --json 'ref.exr' is a reference | check suite.json --json ref.exr
64 | --json 'in.exr' is the input of a case | check suite.json --json in.exr
64 | --json 'look.json' is a config file | check with.json --json look.json
64 | a reference | check input.json --bless
T
    "$FFTBLOOM" check suite.json --bless # two cases may share a reference
    "$FFTBLOOM" check input.json --list
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

@test "a record that is a link to another file does not empty it" {
    make_images
    export FFTBLOOM_CACHE_DIR=$PWD/cache
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --existing update
    echo precious >precious
    for s in cache/records/*; do ln -f precious "$s"; done
    run "$FFTBLOOM" in.exr kernel.exr -o out.exr --existing update
    echo "$output"
    [ "$(<precious)" = precious ]
    [[ "$output" == *"link to another file"* ]]
}
