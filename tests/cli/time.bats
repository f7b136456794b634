# Kernels that change from frame to frame, views, and the ways to write a frame's number.

load files

setup_file() {
    shared_folder || return 0
    make_images
    for i in 1 2 3 4 5; do
        cp in.exr in.100$i.exr
        image k.100$i.exr 9x7 float 0.01,0.01,0.0${i} 4,3=1,1,1
    done
}

bloom() { "$FFTBLOOM" apply --device cpu "$@"; }
states() { # FILE: of the frames of a report
    python3 -c 'import json, sys; print(*[f["state"] for f in json.load(open(sys.argv[1]))["frames"]])' "$1"
}

@test "a pattern gives each frame its own kernel, and --existing update makes those again whose kernel has changed" {
    local again="--existing update --report r.json"
    bloom in.####.exr k.####.exr -o b.####.exr --existing update
    for i in 1001 1003 1005; do
        bloom in.$i.exr k.$i.exr -o one.exr
        cmp one.exr b.$i.exr
    done
    cp k.1001.exr k.1004.exr
    bloom in.####.exr k.####.exr -o b.####.exr $again
    [ "$(states r.json)" = "current current current done current" ]
    cmp b.1001.exr b.1004.exr
    # Provenance names the kernel of the frame.
    bloom in.####.exr k.####.exr -o p.####.exr --stamp
    [ "$("$FFTBLOOM" info --json p.1002.exr | grep -o 'fftbloom:kernel.*')" != "$("$FFTBLOOM" info --json p.1003.exr | grep -o 'fftbloom:kernel.*')" ]
    # One that is missing fails its frame, and --keep-going makes the others.
    rm k.1002.exr b.*
    says 66 "k.1002.exr" in.####.exr k.####.exr -o b.####.exr --keep-going --device cpu
    [ "$(ls b.* | grep -o '[0-9]*' | xargs)" = "1001 1003 1004 1005" ]
}

@test "views are made with their names and their letters" {
    mkdir left right
    for i in 1001 1002; do
        cp in.exr left/p_l.$i.exr
        image right/p_r.$i.exr 40x30 half 0.05,0.1,0.15 7,9=25,20,15
    done
    cp kernel.exr k_l.exr
    cp k.1001.exr k_r.exr
    bloom '%V/p_%v.####.exr' k_%v.exr -o '%V/out.####.exr' --report r.json
    bloom left/p_l.1002.exr k_l.exr -o l.exr
    cmp l.exr left/out.1002.exr
    bloom right/p_r.1001.exr k_r.exr -o r.exr
    cmp r.exr right/out.1001.exr
    holds r.json '[(f["frame"], f["view"]) for f in d["frames"]] == [(1001, "left"), (1001, "right"), (1002, "left"), (1002, "right")]'
    cp left/p_l.1001.exr still.main.exr
    bloom 'still.%V.exr' kernel.exr -o 'made.%V.exr' --views main
    bloom still.main.exr kernel.exr -o x.exr
    cmp made.main.exr x.exr
}

@test "frames are written with @, and may be negative; plans know the kernel of the first frame" {
    made() { [ "$(ls $1.* | xargs)" = "$2" ] || { ls $1.*; return 1; }; } # NAME FILES
    cp in.exr n.-0010.exr
    cp in.exr n.0005.exr
    for i in -2 -1 0 1; do cp in.exr p.$i.exr; done
    bloom 'n.@@@@@.exr' kernel.exr -o 'm.@@@@@.exr' --frames=-10
    bloom 'n.@@@@.exr' kernel.exr -o 'm.@@@@.exr' --frames 5
    made m "m.-0010.exr m.0005.exr"
    bloom 'p.%d.exr' kernel.exr -o 'q.%d.exr' --frames -2-1
    bloom 'p.@.exr' kernel.exr -o 't.@.exr'
    made q "q.-1.exr q.-2.exr q.0.exr q.1.exr"
    made t "t.-1.exr t.-2.exr t.0.exr t.1.exr"
    bloom in.####.exr kernel.exr -o v.####.exr --frames 1001-1005:2
    made v "v.1001.exr v.1003.exr v.1005.exr"
    "$FFTBLOOM" plan in.####.exr k.####.exr --json | grep -q '"kernel": "k.1001.exr"'
    "$FFTBLOOM" plan in.####.exr k.####.exr -o b.####.exr | grep -q '5 of 5 frames'
}

@test "fields of frames that do not fit, and kernels that are phrases, are refused with what to do instead" {
    local f="in.####.exr kernel.exr -o o.####.exr" o="in.exr -o o.exr"
    echo '{"version": 1, "amount": {"red": 1}}' >colour.json
    echo '{"version": 1, "kernel": "portrait:0.7,halation:0.3"}' >mixed.json
    each refused <<'T'
64 | the kernel 'k.####.exr' has a frame field, but the input 'in.exr' has none | in.exr k.####.exr -o o.exr
64 | --views has no effect | $f --views left
64 | has a field for views | in.%V.exr kernel.exr -o o.exr
64 | amount must be a number or a string, not an object | $f --config colour.json
64 | fftbloom kernel make sunstar --param 'fnumber=11,blades=7' -o | $o -k 'sunstar(fnumber=11;blades=7)'
64 | have + between them: 'portrait:0.7+halation:0.3' | $o -k portrait:0.7,halation:0.3
64 | have + between them: 'portrait:0.7+halation:0.3' | $o --config mixed.json
64 | write portrait --amount 0.5 | $o -k portrait@0.5
T
    [ -z "$(ls | grep ^o)" ]
}
