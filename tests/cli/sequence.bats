#!/usr/bin/env bats
# Sequences: several frames at a time, on one device or on all there are.

load files

setup_file() {
    shared_folder || return 0
    for i in $(seq 101 116); do
        oiiotool --create 64x48 3 --fill:color=0.1,0.2,0.3 64x48 \
            --point:color=50,40,30 $((i - 90)),20 -d float -o "in.$i.exr"
    done
    oiiotool --create 9x7 3 --fill:color=0.01,0.01,0.02 9x7 --point:color=1,1,1 4,3 \
        -d float -o kernel.exr
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
        --jobs 4 --frames 101-109 --report all.json
    for i in $(seq 101 109); do
        "$FFTBLOOM" in.$i.exr kernel.exr -o one.$i.exr --device software --report one.$i.json
    done
    for i in $(seq 101 109); do cmp "all.$i.exr" "one.$i.exr"; done
    python3 -c '
import json
plans = lambda name: [f["plan"] for f in json.load(open(name))["frames"]]
together, alone = plans("all.json"), [plans(f"one.{i}.json")[0] for i in range(101, 110)]
b, a = together[-1]["bytes"], alone[-1]["bytes"]
assert all(p["frames"] == 4 for p in together) and all(p["frames"] == 1 for p in alone)
assert b["all"] - a["all"] == 3 * sum(a[k] for k in ("image", "input", "mask", "glare", "totals"))
assert len({(tuple(p["image"]), p["bytes"]["input"] > 0) for p in together}) == 3'
}

@test "frames side by side on the CPU are those made one by one, with any number of threads" {
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'many.###.exr' --device cpu --jobs 7 --report many.json
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'few.###.exr' --device cpu --jobs 1
    for i in $(seq 101 116); do
        "$FFTBLOOM" in.$i.exr kernel.exr -o one.$i.exr --device cpu
        cmp many.$i.exr one.$i.exr
        cmp few.$i.exr one.$i.exr
    done
    python3 -c '
import json
frames = json.load(open("many.json"))["frames"]
assert [f["frame"] for f in frames] == list(range(101, 117))
assert all(f["plan"]["frames"] == 8 for f in frames)'
}

@test "--mem-limit: frames that do not fit beside each other are made one after the other" {
    oiiotool --create 1024x1024 3 --fill:color=0.1,0.2,0.3 1024x1024 -d float -o large.exr
    for i in 102 103 104 105 106; do cp large.exr in.$i.exr; done
    # The first frame is small, so it seems that there is room for several.
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'out.###.exr' --frames 101-106 --device cpu --jobs 4 \
        --mem-limit 100MB -v --report made.json 2>log
    grep -q "made again without other frames beside it: .*--mem-limit" log
    [ "$(grep -c '"why"' made.json)" -eq 0 ]
    "$FFTBLOOM" large.exr kernel.exr -o one.exr --device cpu
    for i in 102 103 104 105 106; do cmp out.$i.exr one.exr; done
    # One that does not fit alone is made in tiles, or fails where these do not fit.
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'tiled.###.exr' --frames 101-106 --device cpu --jobs 4 \
        --mem-limit 38MB --report made.json
    [ "$(grep -c '"tiles"' made.json)" -eq 5 ]
    "$FFTBLOOM" diff out.103.exr tiled.103.exr --failrelative 1e-5
    run --separate-stderr "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'bad.###.png' --frames 101-106 \
        --device cpu --jobs 4 --mem-limit 4MB
    [ "$status" -eq 75 ]
    [[ "$stderr" == *"of the limit of 4.0 MB"* ]]
    # Two devices with one frame each stand in each other's way as well.
    both_devices || skip "this machine has not both the CPU engine and software Vulkan"
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'two.###.exr' --frames 102-105 --device cpu,software \
        --mem-limit 38MB --report made.json
    [ "$(grep -c '"why"' made.json)" -eq 0 ]
    "$FFTBLOOM" diff out.103.exr two.103.exr --failrelative 1e-5
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

@test "--device with a list: these devices do frames; a word that names none is refused" {
    both_devices || skip "this machine has not both the CPU engine and software Vulkan"
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'list.###.exr' --device software,cpu --report list.json
    python3 - <<'PY'
import json
frames = json.load(open("list.json"))["frames"]
assert {f["device"]["class"] for f in frames} == {"cpu", "software"}
PY
    refused 69 "no device is 'nonesuch'; the devices are " 'in.###.exr' kernel.exr -o 'none.###.exr' --device cpu,nonesuch
    [ ! -e none.101.exr ]
}

@test "frames whose kernels, values and methods change share a device: the bytes of frames alone" {
    # Every other frame has a light, for which the promise needs another method.
    oiiotool in.101.exr --fill:color=900,800,700 2x2+9+9 -o lit.exr
    for i in 101 103 105 107; do cp lit.exr varied.$i.exr; done
    for i in 102 104 106 108; do cp in.102.exr varied.$i.exr; done
    for device in cpu software; do
        [ "$device" = cpu ] || both_devices || continue
        for keys in "--kernel-scale 101:1,108:1.4" "--amount 101:1,108:0.5" "--tolerance 1e-3"; do
            "$FFTBLOOM" 'varied.###.exr' kernel.exr -o 'many.###.exr' --device $device --jobs 4 $keys
            "$FFTBLOOM" 'varied.###.exr' kernel.exr -o 'one.###.exr' --device $device --jobs 1 $keys
            for i in 101 102 103 107 108; do cmp many.$i.exr one.$i.exr; done
        done
    done
}

@test "--device all: one thread does the work of those that the system does not give" {
    [ ! "$SAN" = 1 ] || skip "the sanitizers' allocator cannot be preloaded"
    both_devices || skip "this machine has not both the CPU engine and software Vulkan"
    alone=(env FAULT_CALL=thread:1- LD_PRELOAD="$(dirname "$FFTBLOOM")/tests/faults.so" timeout 60)
    "${alone[@]}" "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'out.###.exr' --device all --report all.json
    grep -q '"done": 16,' all.json
    # A frame that has no memory does not wait for one that was not begun.
    oiiotool --create 1024x1024 3 -d float -o in.103.exr
    run --separate-stderr "${alone[@]}" "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'bad.###.png' \
        --device all --mem-limit 4MB
    [ "$status" -eq 75 ]
    [[ "$stderr" == *"of the limit of 4.0 MB"* ]]
}

@test "one image: threads that the system does not give leave their work to others" {
    [ ! "$SAN" = 1 ] || skip "the sanitizers' allocator cannot be preloaded"
    "$FFTBLOOM" in.101.exr kernel.exr -o whole.exr --device cpu
    for n in 1 2 3 4 5 6; do
        env FAULT_CALL=thread:$n- LD_PRELOAD="$(dirname "$FFTBLOOM")/tests/faults.so" timeout 60 \
            "$FFTBLOOM" in.101.exr kernel.exr -o out.exr --device cpu --jobs 4
        cmp whole.exr out.exr
    done
}

@test "--device all of one image is the choice of the best" {
    "$FFTBLOOM" in.101.exr kernel.exr -o one.exr --device all
    "$FFTBLOOM" in.101.exr kernel.exr -o auto.exr
    cmp one.exr auto.exr
}

@test "the frame that fails is told, frames after it are not begun for long" {
    head -c 300 in.103.exr >cut
    mv cut in.103.exr
    for d in cpu all; do
        rm -f out.*
        refused 65 "" 'in.###.exr' kernel.exr -o 'out.###.exr' \
            --device $d --report out.json
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
    for i in 101 102; do head -c 300 "in.$i.exr" >cut; mv cut "in.$i.exr"; done
    for i in 1 2 3 4 5; do
        refused 65 "" 'in.###.exr' kernel.exr -o 'out.###.exr' --device cpu
        [[ "$stderr" == *in.101.exr* ]]
    done
}

@test "gaps and what is done already do not stop several devices" {
    rm in.105.exr in.110.exr
    run "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'out.###.exr' --device all --frames 101-116 \
        --keep-going --report out.json
    [ "$status" -eq 5 ]
    [ "$(ls out.*.exr | wc -l)" -eq 14 ]
    run --separate-stderr "$FFTBLOOM" 'in.###.exr' kernel.exr -o 'out.###.exr' --device all \
        --frames 101-116 --keep-going --existing update --report again.json
    [ "$status" -eq 5 ]
    python3 -c '
import json
r = json.load(open("again.json"))
assert (r["current"], r["failed"], r["done"]) == (14, 2, 0), r'
}
