#!/usr/bin/env bats
# Kernels in time: a cross-fade of kernels, and recipes whose parameters change from frame to frame.

load files

setup_file() {
    shared_folder || return 0
    make_images
    for i in 1 2 3 4 5; do cp in.exr in.$i.exr; done
    image a.exr 9x7 float 0.02,0.01,0.01 4,3=1,1,1 -- b.exr 12x5 float 0.01,0.03,0.01 6,2=1,1,1
    cat >iris.json <<'J'
{"about": "An iris", "taps": 24, "common": {"pitch": "4um", "blades": 7}, "layers": [
    {"model": "aperture", "share": 0.9, "fnumber": 4}, {"model": "moffat", "share": 0.1, "core": 2, "slope": 1.5}]}
J
}

bloom() { "$FFTBLOOM" apply --device cpu "$@"; }

@test "a cross-fade is the mix of both kernels, whatever their sizes" {
    bloom in.%d.exr 2:a.exr,4:b.exr -o fade.%d.exr --pixel-type float
    bloom in.1.exr a.exr -o first.exr --pixel-type float
    "$FFTBLOOM" kernel mix a.exr:0.5 b.exr:0.5 -o middle.exr
    bloom in.1.exr middle.exr -o middle.out.exr --pixel-type float
    bloom in.1.exr b.exr -o last.exr --pixel-type float
    "$FFTBLOOM" diff fade.1.exr first.exr --fail 1e-4 --failrelative 1e-5
    "$FFTBLOOM" diff fade.2.exr first.exr --fail 1e-4 --failrelative 1e-5
    "$FFTBLOOM" diff fade.3.exr middle.out.exr --fail 1e-4 --failrelative 1e-5
    "$FFTBLOOM" diff fade.4.exr last.exr --fail 1e-4 --failrelative 1e-5
    cmp fade.4.exr fade.5.exr
    run ! "$FFTBLOOM" diff fade.3.exr first.exr --fail 1e-3
}

@test "a config file and a table say the same as the argument" {
    bloom in.%d.exr 1:a.exr,5:b.exr -o argument.%d.exr
    echo '{"version": 1, "kernel": {"1": "a.exr", "5": "b.exr"}}' >look.json
    mkdir elsewhere
    cp a.exr b.exr look.json elsewhere
    bloom in.%d.exr --config elsewhere/look.json -o config.%d.exr
    printf 'frame,kernel\n1,a.exr\n5,b.exr\n' >keys.csv
    bloom in.%d.exr --keys keys.csv -o table.%d.exr
    for i in 1 2 3 4 5; do
        cmp argument.$i.exr config.$i.exr
        cmp argument.$i.exr table.$i.exr
    done
}

@test "a parameter of a recipe follows its keys, and is made at the scale that is asked for" {
    printf 'frame,fnumber\n2,4\n4,16\n' >keys.csv
    bloom in.%d.exr iris.json --keys keys.csv --kernel-scale 2 -o iris.%d.exr --report r.json
    bloom in.%d.exr 'iris.json(fnumber=2:4,4:16)' --kernel-scale 2 -o words.%d.exr
    bloom in.1.exr iris.json --kernel-scale 2 -o first.exr
    bloom in.1.exr 'iris.json(fnumber=10;blades=7)' --kernel-scale 2 -o middle.exr
    cmp iris.1.exr first.exr
    cmp iris.3.exr middle.exr
    for i in 1 2 3 4 5; do cmp iris.$i.exr words.$i.exr; done
    run ! cmp first.exr middle.exr
    "$FFTBLOOM" kernel make iris.json --param fnumber=10 -o ten.exr
    bloom in.1.exr ten.exr -o taps.exr
    bloom in.1.exr 'iris.json(fnumber=10)' -o made.exr
    cmp taps.exr made.exr
}

@test "--existing update makes the frames again whose kernel has changed" {
    bloom in.%d.exr 1:a.exr,5:b.exr -o u.%d.exr --existing update
    bloom in.%d.exr 1:a.exr,3:b.exr -o u.%d.exr --existing update --report r.json
    [ "$(python3 -c 'import json; print([f["state"] for f in json.load(open("r.json"))["frames"]])')" = \
        "['current', 'done', 'done', 'done', 'current']" ]
}

@test "what names nothing, or has no frames, is refused before any work" {
    refuse() { # WORDS ARGUMENTS...
        local words=$1
        shift
        run bloom "$@"
        [ "$status" -ne 0 ] && [[ "$output" == *"$words"* ]] || { echo "$output"; return 1; }
    }
    refuse "the input 'in.1.exr' is one image" in.1.exr 1:a.exr,5:b.exr -o x.exr
    refuse "'c.exr'" in.%d.exr 1:a.exr,5:c.exr -o x.%d.exr
    refuse "frame 5 has two kernels" in.%d.exr 1:a.exr,5:b.exr,5:a.exr -o x.%d.exr
    refuse "did you mean 'fnumber'" in.%d.exr 'iris.json(fnumbr=4)' -o x.%d.exr
    refuse "is no recipe" in.%d.exr 'a.exr(fnumber=4)' -o x.%d.exr
    printf 'frame,fnumber\n1,4\n5,16\n' >keys.csv
    refuse "is no recipe" in.%d.exr a.exr --keys keys.csv -o x.%d.exr
    refuse "parameters need one kernel" in.%d.exr 1:a.exr,5:b.exr --keys keys.csv -o x.%d.exr
    refused 64 "" precompute -k 1:a.exr,5:b.exr -o x.spectrum
    [ ! -e x.1.exr ]
}
