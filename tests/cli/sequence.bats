#!/usr/bin/env bats
# Sequences: several frames at a time, on one device or on all there are.

bats_require_minimum_version 1.5.0

setup_file() {
    command -v oiiotool >/dev/null || { export NOT_HERE="oiiotool is not installed"; return 0; }
    export FILES=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$FILES"
    for i in $(seq 101 116); do
        oiiotool --create 64x48 3 --fill:color=0.1,0.2,0.3 64x48 \
            --point:color=50,40,30 $((i - 90)),20 -d float -o "in.$i.exr"
    done
    oiiotool --create 9x7 3 --fill:color=0.01,0.01,0.02 9x7 --point:color=1,1,1 4,3 \
        -d float -o kernel.exr
}

setup() {
    [ -z "$NOT_HERE" ] || skip "$NOT_HERE"
    "$FFTBLOOM" --version | grep -q 'FFTW): yes' || skip "this build has no CPU engine"
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    cp "$FILES"/*.exr .
    export FFTBLOOM_CACHE_DIR=$dir/cache
}

both_devices() {
    "$FFTBLOOM" devices --json | python3 -c '
import json, sys
classes = {d["class"] for d in json.load(sys.stdin)["devices"]}
sys.exit(not {"cpu", "software"} <= classes)'
}

@test "frames that are made several at a time are those made one by one" {
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'all.###.exr' --device cpu --report all.json
    for i in $(seq 101 116); do
        "$FFTBLOOM" "in.$i.exr" kernel.exr -o "one.$i.exr" --device cpu
        cmp "all.$i.exr" "one.$i.exr"
    done
    python3 -c '
import json
frames = json.load(open("all.json"))["frames"]
assert [f["frame"] for f in frames] == list(range(101, 117))
assert all(f["state"] == "done" and f["seconds"]["bloom"] > 0 for f in frames)'
}

@test "frames in flight on one engine, of different sizes and types, are those made one by one" {
    "$FFTBLOOM" devices | grep -q ' software ' || skip "no software device"
    for i in 104 105; do
        oiiotool in.$i.exr --crop 41x29+3+7 --fullpixels -d half -o in.$i.exr
    done
    for i in 107 108 109; do oiiotool in.$i.exr -d half -o in.$i.exr; done
    FFTBLOOM_VALIDATION=1 "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'all.###.exr' --device software \
        --frames 101-109 --report all.json
    # A limit leaves no room for frames in advance.
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'one.###.exr' --device software --frames 101-109 \
        --mem-limit 4GB --report one.json
    for i in $(seq 101 109); do cmp "all.$i.exr" "one.$i.exr"; done
    python3 -c '
import json
together, alone = ([f["plan"] for f in json.load(open(n))["frames"]] for n in ("all.json", "one.json"))
b, a = together[-1]["bytes"], alone[-1]["bytes"]
assert all(p["frames"] == 2 for p in together) and all(p["frames"] == 1 for p in alone)
assert b["all"] - a["all"] == a["image"] + a["input"]
assert len({(tuple(p["image"]), p["bytes"]["input"] > 0) for p in together}) == 3'
}

@test "--device all: every device does frames, and each the bytes that its kind does" {
    both_devices || skip "this machine has not both the CPU engine and software Vulkan"
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'cpu.###.exr' --device cpu
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'software.###.exr' --device software
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'all.###.exr' --device all --report all.json
    python3 - <<'PY'
import json
frames = json.load(open("all.json"))["frames"]
assert [f["frame"] for f in frames] == list(range(101, 117))
seen = set()
for f in frames:
    kind = f["device"]["class"]
    seen.add(kind)
    if kind in ("cpu", "software"):
        alone = open(f"{kind}.{f['frame']}.exr", "rb").read()
        assert open(f["output"], "rb").read() == alone, (kind, f["frame"])
assert {"cpu", "software"} <= seen, seen
PY
}

@test "--device all of one image is the choice of the best" {
    "$FFTBLOOM" in.101.exr kernel.exr -o one.exr --device all
    "$FFTBLOOM" in.101.exr kernel.exr -o auto.exr
    cmp one.exr auto.exr
}

@test "the frame that fails is told, frames after it are not begun for long" {
    head -c 300 in.103.exr >cut && mv cut in.103.exr
    for d in cpu all; do
        rm -f out.*
        run --separate-stderr "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'out.###.exr' \
            --device $d --report out.json
        [ "$status" -eq 65 ]
        [[ "$stderr" == *in.103.exr* ]]
        [ ! -e out.103.exr ]
        [ ! -e out.116.exr ]
        python3 -c '
import json
r = json.load(open("out.json"))
assert r["failed"] == 1 and r["exit_status"] == 65, r
assert [f["frame"] for f in r["frames"] if f["state"] == "failed"] == [103]'
        [ -z "$(ls -A | grep tmp)" ]
    done
}

@test "the earliest of several failures is the one that is told" {
    for i in 101 102; do head -c 300 "in.$i.exr" >cut && mv cut "in.$i.exr"; done
    for i in 1 2 3 4 5; do
        run --separate-stderr "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'out.###.exr' --device cpu
        [ "$status" -eq 65 ]
        [[ "$stderr" == *in.101.exr* ]]
    done
}

@test "gaps and what is done already do not stop several devices" {
    rm in.105.exr in.110.exr
    run "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'out.###.exr' --device all --frames 101-116 \
        --missing skip --report out.json
    [ "$status" -eq 5 ]
    [ "$(ls out.*.exr | wc -l)" -eq 14 ]
    run --separate-stderr "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'out.###.exr' --device all \
        --frames 101-116 --missing skip --update --report again.json
    [ "$status" -eq 5 ]
    python3 -c '
import json
r = json.load(open("again.json"))
assert (r["current"], r["skipped"], r["done"]) == (14, 2, 0), r'
}
