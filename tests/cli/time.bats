#!/usr/bin/env bats
# Values and kernels that change from frame to frame, views, and the ways to write a frame's number.

load files

setup_file() {
    shared_folder || return 0
    make_images
    for i in 1001 1002 1003 1004 1005; do cp in.exr in.$i.exr; done
    image k.1001.exr 9x7 float 0.02,0.01,0.01 4,3=1,1,1
    for i in 1002 1003 1004 1005; do
        oiiotool kernel.exr --cmul 1,1,0.$((i - 1000)) -o k.$i.exr
    done
}

bloom() { "$FFTBLOOM" apply --device cpu "$@"; }

# Each frame is the one that a command of its own makes with this value.
same_as() { # NAME OPTION VALUES...
    local name=$1 option=$2 i=1001
    shift 2
    for value in "$@"; do
        bloom in.$i.exr kernel.exr -o one.exr --$option $value
        cmp one.exr "$name.$i.exr" || { echo "frame $i is not the one with --$option $value"; return 1; }
        i=$((i + 1))
    done
}

@test "a value keyed by frame is linear between its keys and held outside" {
    bloom in.####.exr kernel.exr -o flag.####.exr --amount 1002:0.8,1004:0.4
    same_as flag amount 0.8 0.8 0.6 0.4 0.4
}

@test "keys come from a flag, a config file and a CSV file alike, in any order" {
    echo '{"version": 1, "sharpen": {"1004": 0.6, "1002": 0.2}, "kernel_scale": {"1001": "0.5h", "1005": "0.3h"}}' >look.json
    printf '# shot 7\r\nframe, sharpen, kernel_scale\r\n1004,0.6,\r\n1002,0.2,\r\n\r\n1001,,0.5h\r\n1005,,0.3h\r\n' >keys.csv
    bloom in.####.exr kernel.exr -o config.####.exr --config look.json
    bloom in.####.exr kernel.exr -o csv.####.exr --keys keys.csv
    printf '\xef\xbb\xbfframe;sharpen;kernel_scale\r\n1004;0,6;\r\n1002;0,2;\r\n1001;;0.5h\r\n1005;;0.3h\r\n' >keys.csv
    bloom in.####.exr kernel.exr -o sheet.####.exr --keys keys.csv
    bloom in.####.exr kernel.exr -o flag.####.exr --amount '1004:0.4, 1002:80%' --kernel-scale 1001:0.5h,1005:0.3h
    for i in 1001 1002 1003 1004 1005; do
        cmp config.$i.exr csv.$i.exr
        cmp config.$i.exr sheet.$i.exr
        cmp config.$i.exr flag.$i.exr
    done
    bloom in.1003.exr kernel.exr -o one.exr --amount 0.6 --kernel-scale 0.4h
    cmp one.exr flag.1003.exr
}

@test "--existing update makes the frames again whose value has changed, and only those" {
    bloom in.####.exr kernel.exr -o b.####.exr --amount 1001:1,1003:0.6 --existing update
    bloom in.####.exr kernel.exr -o b.####.exr --amount 1001:1,1003:0.6,1005:0.2 --existing update --report r.json
    python3 -c '
import json
frames = json.load(open("r.json"))["frames"]
assert [f["state"] for f in frames] == ["current"] * 3 + ["done"] * 2, frames'
}

@test "a kernel pattern gives each frame its own kernel, and --existing update knows which" {
    bloom in.####.exr k.####.exr -o b.####.exr --existing update
    for i in 1001 1002 1003 1004 1005; do
        bloom in.$i.exr k.$i.exr -o one.exr
        cmp one.exr b.$i.exr
    done
    cp k.1001.exr k.1004.exr
    bloom in.####.exr k.####.exr -o b.####.exr --existing update --report r.json
    python3 -c '
import json
frames = json.load(open("r.json"))["frames"]
assert [f["frame"] for f in frames if f["state"] == "done"] == [1004], frames'
    cmp b.1001.exr b.1004.exr
}

@test "a kernel that is missing fails its frame, and --keep-going makes the others" {
    rm k.1002.exr
    run bloom in.####.exr k.####.exr -o b.####.exr --keep-going
    [ "$status" -eq 66 ]
    [[ "$output" == *"k.1002.exr"* ]]
    [ -f b.1001.exr ]
    [ ! -f b.1002.exr ]
    [ -f b.1005.exr ]
}

@test "views are made with their names and their letters" {
    mkdir left right
    for i in 1001 1002; do
        cp in.exr left/p_l.$i.exr
        oiiotool in.exr --cmul 0.5 -o right/p_r.$i.exr
    done
    cp kernel.exr k_l.exr
    cp k.1001.exr k_r.exr
    bloom '%V/p_%v.####.exr' k_%v.exr -o '%V/out.####.exr' --report r.json
    bloom left/p_l.1002.exr k_l.exr -o l.exr
    cmp l.exr left/out.1002.exr
    bloom right/p_r.1001.exr k_r.exr -o r.exr
    cmp r.exr right/out.1001.exr
    python3 -c '
import json
frames = json.load(open("r.json"))["frames"]
assert [(f["frame"], f["view"]) for f in frames] == [
    (1001, "left"), (1001, "right"), (1002, "left"), (1002, "right")], frames'
    cp left/p_l.1001.exr still.main.exr
    bloom 'still.%V.exr' kernel.exr -o 'made.%V.exr' --views main
    cmp made.main.exr <(bloom still.main.exr kernel.exr -o x.exr && cat x.exr)
}

@test "frames are written with @, and may be negative" {
    cp in.exr n.-0010.exr
    cp in.exr n.0005.exr
    bloom 'n.@@@@@.exr' kernel.exr -o 'm.@@@@@.exr' --frames=-10
    [ -f m.-0010.exr ]
    bloom 'n.@@@@.exr' kernel.exr -o 'm.@@@@.exr' --frames 5
    [ -f m.0005.exr ]
    for i in -2 -1 0 1; do cp in.exr p.$i.exr; done
    bloom 'p.%d.exr' kernel.exr -o 'q.%d.exr' --frames -2-1
    [ -f q.-2.exr ]
    [ -f q.-1.exr ]
    [ -f q.0.exr ]
    [ -f q.1.exr ]
    rm q.*.exr
    bloom 'p.@.exr' kernel.exr -o 'q.@.exr'
    [ -f q.-2.exr ]
    [ -f q.1.exr ]
    bloom in.####.exr kernel.exr -o b.####.exr --frames 1001-1005:2
    [ -f b.1003.exr ]
    [ ! -f b.1002.exr ]
}

@test "plans know values and kernels of the first frame" {
    "$FFTBLOOM" plan in.####.exr k.####.exr --json | grep -q '"kernel": "k.1001.exr"'
    "$FFTBLOOM" plan in.####.exr k.####.exr -o b.####.exr --amount 1001:1,1005:0 | grep -q '5 of 5 frames'
}

@test "what cannot change or cannot be read is refused" {
    refused 64 "in.exr' is one image" in.exr kernel.exr -o o.exr --amount 1001:1,1002:0
    refused 64 "the kernel 'k.####.exr' has a frame field, but the input 'in.exr' has none" in.exr k.####.exr -o o.exr
    refused 64 "from 0 to 1" in.####.exr kernel.exr -o o.####.exr --amount 1001:1,1002:-1
    refused 64 "frame 1001 has two values" in.####.exr kernel.exr -o o.####.exr --amount 1001:1,1001:0
    refused 64 "different units" in.####.exr kernel.exr -o o.####.exr --kernel-scale 1001:1,1002:0.5h
    refused 64 "1001:0,1050:1" in.####.exr kernel.exr -o o.####.exr --amount 1001:1,x:1
    refused 64 "takes one" precompute kernel.exr -o k.spectrum --kernel-scale 1001:1,1002:2
    refused 64 "--views has no effect" in.####.exr kernel.exr -o o.####.exr --views left
    refused 64 "has a field for views" 'in.%V.exr' kernel.exr -o o.exr
    printf 'frame,sharpem\n1,0\n' >bad.csv
    refused 64 "bad.csv:1: there is no option 'sharpem'" in.####.exr kernel.exr -o o.####.exr --keys bad.csv
    printf 'frame,padding\n1,zero\n' >bad.csv
    refused 64 "bad.csv:1: padding cannot change" in.####.exr kernel.exr -o o.####.exr --keys bad.csv
    printf 'frame,sharpen\n1,0,3\n' >bad.csv
    refused 64 "bad.csv:2: more than the 2 cells" in.####.exr kernel.exr -o o.####.exr --keys bad.csv
    printf 'frame,frame\n1,2\n' >bad.csv
    refused 64 "bad.csv:1: two columns are named 'frame'" in.####.exr kernel.exr -o o.####.exr --keys bad.csv
    printf 'sharpen\n1\n' >bad.csv
    refused 64 "one of them 'frame'" in.####.exr kernel.exr -o o.####.exr --keys bad.csv
    printf 'frame,sharpen\n1001,0.5\n' >keys.csv
    refused 64 "is also given by --amount" in.####.exr kernel.exr -o o.####.exr --keys keys.csv --amount 0
    [ ! -e o.1001.exr ]
}
