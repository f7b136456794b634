#!/usr/bin/env bats
# Values and kernels that change from frame to frame, views, and the ways to write a frame's number.

load files

setup_file() {
    shared_folder || return 0
    make_images
    for i in 1 2 3 4 5; do
        cp in.exr in.100$i.exr
        cp in.exr s.$i.exr
        image k.100$i.exr 9x7 float 0.01,0.01,0.0${i} 4,3=1,1,1
    done
    image a.exr 9x7 float 0.02,0.01,0.01 4,3=1,1,1 -- b.exr 12x5 float 0.01,0.03,0.01 6,2=1,1,1
    cat >iris.json <<'J'
{"about": "An iris", "taps": 24, "common": {"pitch": "4um", "blades": 7}, "layers": [
    {"model": "aperture", "share": 0.9, "fnumber": 4}, {"model": "moffat", "share": 0.1, "core": 2, "slope": 1.5}]}
J
}

bloom() { "$FFTBLOOM" apply --device cpu "$@"; }
states() { # FILE: of the frames of a report
    python3 -c 'import json, sys; print(*[f["state"] for f in json.load(open(sys.argv[1]))["frames"]])' "$1"
}
same_frames() { # NAME FRAMES OTHERS...: each frame has the bytes of the others' frame
    local i other
    for i in $2; do
        for other in "${@:3}"; do cmp $1.$i.exr $other.$i.exr; done
    done
}

@test "a value keyed by frame is linear between its keys and held outside" {
    bloom in.####.exr kernel.exr -o flag.####.exr --amount 1002:0.8,1004:0.4
    while read -r i amount; do
        bloom in.$i.exr kernel.exr -o one.exr --amount $amount
        cmp one.exr flag.$i.exr
    done <<'T'
1001 0.8
1002 0.8
1003 0.6
1005 0.4
T
}

@test "keys come from a flag, a config file and a CSV file alike, in any order" {
    echo '{"version": 1, "sharpen": {"1004": 0.6, "1002": 0.2}, "kernel_scale": {"1001": "0.5h", "1005": "0.3h"}}' >look.json
    printf '# shot 7\r\nframe, sharpen, kernel_scale\r\n1004,0.6,\r\n1002,0.2,\r\n\r\n1001,,0.5h\r\n1005,,0.3h\r\n' >keys.csv
    printf '\xef\xbb\xbfframe;sharpen;kernel_scale\r\n1004;0,6;\r\n1002;0,2;\r\n1001;;0.5h\r\n1005;;0.3h\r\n' >sheet.csv
    bloom in.####.exr kernel.exr -o config.####.exr --config look.json
    bloom in.####.exr kernel.exr -o csv.####.exr --keys keys.csv
    bloom in.####.exr kernel.exr -o sheet.####.exr --keys sheet.csv
    bloom in.####.exr kernel.exr -o flag.####.exr --amount '1004:0.4, 1002:80%' --kernel-scale 1001:0.5h,1005:0.3h
    same_frames config "1001 1002 1003 1004 1005" csv sheet flag
    bloom in.1003.exr kernel.exr -o one.exr --amount 0.6 --kernel-scale 0.4h
    cmp one.exr flag.1003.exr
    # Kernels, too.
    echo '{"version": 1, "kernel": {"1": "a.exr", "5": "b.exr"}}' >look.json
    mkdir elsewhere
    cp a.exr b.exr look.json elsewhere
    printf 'frame,kernel\n1,a.exr\n5,b.exr\n' >keys.csv
    bloom s.%d.exr 1:a.exr,5:b.exr -o argument.%d.exr
    bloom s.%d.exr --config elsewhere/look.json -o config.%d.exr
    bloom s.%d.exr --keys keys.csv -o table.%d.exr
    same_frames argument "1 2 3 4 5" config table
}

@test "--existing update makes the frames again whose value or kernel has changed, and only those" {
    local again="--existing update --report r.json"
    bloom in.####.exr kernel.exr -o b.####.exr --amount 1001:1,1003:0.6 --existing update
    bloom in.####.exr kernel.exr -o b.####.exr --amount 1001:1,1003:0.6,1005:0.2 $again
    [ "$(states r.json)" = "current current current done done" ]
    bloom s.%d.exr 1:a.exr,5:b.exr -o u.%d.exr --existing update
    bloom s.%d.exr 1:a.exr,3:b.exr -o u.%d.exr $again
    [ "$(states r.json)" = "current done done done current" ]
    # A pattern gives each frame its own kernel.
    bloom in.####.exr k.####.exr -o b.####.exr --existing update
    for i in 1001 1003 1005; do
        bloom in.$i.exr k.$i.exr -o one.exr
        cmp one.exr b.$i.exr
    done
    cp k.1001.exr k.1004.exr
    bloom in.####.exr k.####.exr -o b.####.exr $again
    [ "$(states r.json)" = "current current current done current" ]
    cmp b.1001.exr b.1004.exr
    # One that is missing fails its frame, and --keep-going makes the others.
    rm k.1002.exr b.*
    says 66 "k.1002.exr" in.####.exr k.####.exr -o b.####.exr --keep-going --device cpu
    [ "$(ls b.* | grep -o '[0-9]*' | xargs)" = "1001 1003 1004 1005" ]
}

@test "a cross-fade is the mix of both kernels, whatever their sizes" {
    local float="--pixel-type float"
    bloom s.%d.exr 2:a.exr,4:b.exr -o fade.%d.exr $float
    "$FFTBLOOM" kernel mix a.exr:0.5 b.exr:0.5 -o middle.exr
    for k in a middle b; do bloom in.exr $k.exr -o $k.out.exr $float; done
    for pair in "1 a" "2 a" "3 middle" "4 b"; do
        "$FFTBLOOM" diff fade.${pair% *}.exr ${pair#* }.out.exr --fail 1e-4 --failrelative 1e-5
    done
    cmp fade.4.exr fade.5.exr
    run ! "$FFTBLOOM" diff fade.3.exr a.out.exr --fail 1e-3
}

@test "a parameter of a recipe follows its keys, and is made at the scale that is asked for" {
    printf 'frame,fnumber\n2,4\n4,16\n' >keys.csv
    bloom s.%d.exr iris.json --keys keys.csv --kernel-scale 2 -o iris.%d.exr
    bloom s.%d.exr 'iris.json(fnumber=2:4,4:16)' --kernel-scale 2 -o words.%d.exr
    bloom in.exr iris.json --kernel-scale 2 -o first.exr
    bloom in.exr 'iris.json(fnumber=10;blades=7)' --kernel-scale 2 -o middle.exr
    cmp iris.1.exr first.exr
    cmp iris.3.exr middle.exr
    same_frames iris "1 2 3 4 5" words
    run ! cmp first.exr middle.exr
    "$FFTBLOOM" kernel make iris.json --param fnumber=10 -o ten.exr
    bloom in.exr ten.exr -o taps.exr
    bloom in.exr 'iris.json(fnumber=10)' -o made.exr
    cmp taps.exr made.exr
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

@test "frames are written with @, and may be negative; plans know values and kernels of the first frame" {
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
    "$FFTBLOOM" plan in.####.exr k.####.exr -o b.####.exr --amount 1001:1,1005:0 | grep -q '5 of 5 frames'
}

@test "what cannot change, cannot be read, or names nothing is refused before any work" {
    local f="in.####.exr kernel.exr -o o.####.exr" s="s.%d.exr -o o.%d.exr"
    printf 'frame,sharpem\n1,0\n' >name.csv
    printf 'frame,padding\n1,zero\n' >fixed.csv
    printf 'frame,sharpen\n1,0,3\n' >cells.csv
    printf 'frame,frame\n1,2\n' >twice.csv
    printf 'sharpen\n1\n' >none.csv
    printf 'frame,sharpen\n1001,0.5\n' >keys.csv
    printf 'frame,fnumber\n1,4\n5,16\n' >number.csv
    each refused <<'T'
64 | in.exr' is one image | in.exr kernel.exr -o o.exr --amount 1001:1,1002:0
64 | the kernel 'k.####.exr' has a frame field, but the input 'in.exr' has none | in.exr k.####.exr -o o.exr
64 | from 0 to 1 | $f --amount 1001:1,1002:-1
64 | frame 1001 has two values | $f --amount 1001:1,1001:0
64 | different units | $f --kernel-scale 1001:1,1002:0.5h
64 | 1001:0,1050:1 | $f --amount 1001:1,x:1
64 | takes one | precompute kernel.exr -o k.spectrum --kernel-scale 1001:1,1002:2
64 | --views has no effect | $f --views left
64 | has a field for views | in.%V.exr kernel.exr -o o.exr
64 | name.csv:1: there is no option 'sharpem' | $f --keys name.csv
64 | fixed.csv:1: padding cannot change | $f --keys fixed.csv
64 | cells.csv:2: more than the 2 cells | $f --keys cells.csv
64 | twice.csv:1: two columns are named 'frame' | $f --keys twice.csv
64 | one of them 'frame' | $f --keys none.csv
64 | is also given by --amount | $f --keys keys.csv --amount 0
64 | the input 'in.exr' is one image | in.exr 1:a.exr,5:b.exr -o o.exr
66 | 'c.exr' | $s -k 1:a.exr,5:c.exr
64 | frame 5 has two kernels | $s -k 1:a.exr,5:b.exr,5:a.exr
64 | did you mean 'fnumber' | $s -k 'iris.json(fnumbr=4)'
64 | is no recipe | $s -k 'a.exr(fnumber=4)'
64 | is no recipe | $s -k a.exr --keys number.csv
64 | parameters need one kernel | $s -k 1:a.exr,5:b.exr --keys number.csv
64 | | precompute -k 1:a.exr,5:b.exr -o x.spectrum
T
    [ -z "$(ls | grep ^o)" ]
}
