#!/usr/bin/env bats
# fftbloom bench: its forms of output, what it refuses; forecasts of plans, and the choice of devices.

load files

setup() {
    own_folder
    needs cpu
}

bench() { "$FFTBLOOM" bench --device cpu --size 64x48 --kernel 16 --rounds 3 "$@"; }

@test "words name the device, the plan and each pass; JSON has a result per size" {
    run --separate-stderr bench
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == *"kernel 16 x 16: 64 x 48 in "* ]]
    for pass in forward convolve inverse frame; do [[ "$output" == *"$pass "*ms* ]]; done
    bench --size 64x48,30x20 --json | holds - 'd["version"] == 1 and len(d["results"]) == 2' \
        'all(r["device"]["class"] == "cpu" and r["kernel"] == [16, 16] and r["rounds"] == 3 for r in d["results"])' \
        'all(len(r["times"]["passes"]) == 3 and 0 < r["least"] <= r["frame"] for r in d["results"])' \
        'd["results"][1]["plan"]["image"] == [30, 20]'
}

@test "--in-flight: a device has as many frames as its memory holds, and the plan says so" {
    needs software
    software() { "$FFTBLOOM" bench --device software --size 301x203 --kernel 32 --rounds 1 --warm-up 0 "$@"; }
    software --in-flight 3 --json | holds - '(r := d["results"][0])["in_flight"] == 3 and r["plan"]["frames"] == 3' \
        '(b := r["plan"]["bytes"]) and b["all"] == 3 * (b["image"] + b["input"] + b["totals"]) + sum(b[k] for k in ("scratch", "tiled", "line", "spectrum", "twiddle"))'
    run --separate-stderr software --in-flight 3 --vram-limit 3M
    [ "$status" -eq 0 ]
    [[ "$output" != *"in flight"* ]]
    [[ "$stderr" == *"3000000 bytes have room for 1 frame in flight, not for 3"* ]]
}

@test "--queue repeats frames on the device, and holds them against copies" {
    for device in cpu software; do
        has $device || continue
        "$FFTBLOOM" bench --device $device --size 64x48,48x40 --kernel 8,16 --rounds 4 --queue 3 --warm-up 0 --json >q.json
        holds q.json '(d := d["results"]) and [(r["plan"]["image"][0], r["kernel"][0]) for r in d] == [(64, 8), (64, 16), (48, 8), (48, 16)]' \
            'all(r["queue"] == 3 and r["times"]["upload"] == 0 and r["bytes"] == sum(p["bytes"] for p in r["passes"]) for r in d)' \
            'all(0 < s["least"] <= s["low"] <= s["median"] <= s["high"] <= s["most"] for r in d for s in [r["spread"]] + [p["spread"] for p in r["passes"]])' \
            'all(r["bytes"] > 2 * 12 * r["plan"]["image"][0] * r["plan"]["image"][1] for r in d)'
        # A CPU reads much from its caches.
        holds q.json "all((x['copy'] > 0) == ('$device' != 'cpu') for r in d['results'] for x in [r] + r['passes'])"
    done
    run --separate-stderr bench --queue 3
    [[ "${lines[1]}" == *"3 rounds of 3 frames back to back"* ]]
    [[ "$output" == *"GB/s"* ]]
}

@test "refused: sizes, kernels, devices, transforms and options that are none" {
    local f="bench fft --rounds 2 --warm-up 0 --device cpu"
    for size in 64 64x x48 0x4 64x48, 64x48x3 64x-48 0x0; do refused 64 "--size $size" bench --device cpu --size "$size"; done
    for s in 0 15 4097 8..16 64..32 16x16 1,,2 -16 16..x; do refused 64 "give sizes from 16 to 4096" $f --size "$s"; done
    each refused <<'T'
64 | | bench --in-flight 2 --queue 3 --device cpu --size 64x48 --kernel 16
64 | | bench --device cpu --kernel 0
66 | | bench --device cpu --kernel nothing.exr
69 | no device is 'quantum'; the devices are 0 ' | bench --device quantum
64 | 'ct2-dat' is unknown; did you mean 'ct2-dit'?; docs/fft.md has the names | $f --algorithm ct2-dat
64 | '' is unknown | $f --algorithm ct2-dit,
64 | none of the transforms asked for can do it; lengths are | $f --size 17
64 | none of the transforms asked for can do it | $f --size 48 --algorithm ct2-dit
64 | --kernel has no effect in 'fft'; it is for frames | $f --kernel 256
64 | --algorithm has no effect in 'frames'; it is for fft | bench --device cpu --algorithm all
69 | ct2-stages runs on a GPU | $f --algorithm ct2-stages
64 | did you mean 'fft' | bench fff
64 | --plot has no effect without --engine article | bench --device cpu --plot p.svg
64 | ends in .svg | $f --size 16 --plot p.png
69 | | bench ocean --size 64 --device cpu
T
}

@test "plan forecasts every device, and takes the least time; devices names what auto would take" {
    image in.exr 40x30 float 0.5,0.5,0.5 -- kernel.exr 9x9 float 0.1,0.1,0.1
    "$FFTBLOOM" devices --json >devices.json
    holds devices.json '0 <= d["auto"]["sequence"] < len(d["devices"]) and d["devices"][d["auto"]["image"]]["class"] == "cpu"'
    "$FFTBLOOM" devices | grep -q -- '^--device auto takes [0-9]* for one image'
    forecast() { # IMAGES arguments...
        "$FFTBLOOM" plan "${@:2}" kernel.exr --json | holds - "d['images'] == $1" \
            '(can := [x for x in d["forecast"] if x["possible"] and x["wanted"]]) and all(x["seconds"]["all"] > 0 for x in can)' \
            'min(can, key=lambda x: x["seconds"]["all"])["device"] == d["device"]' \
            'len(d["forecast"]) == len(json.load(open("devices.json"))["devices"])' \
            'next(x for x in d["forecast"] if x["device"]["class"] == "cpu")["seconds"]["start"] == 0.002'
    }
    forecast 1 in.exr
    for i in 1 2 3; do cp in.exr "seq.000$i.exr"; done
    forecast 3 seq.####.exr
    says 0 "forecast of 1 image, file to file" plan in.exr kernel.exr
    [[ "$output" == *"0.002 to start"* ]]
}

@test "a plan for the CPU loads no graphics driver" {
    "$FFTBLOOM" kernel make gaussian --taps 9 -o kernel.pfm
    VK_LOADER_DEBUG=all "$FFTBLOOM" devices 2>&1 | grep -q DRIVER || skip "the loader is silent"
    VK_LOADER_DEBUG=all says 0 "-> cpu " plan kernel.pfm kernel.pfm --device cpu # without its number among all devices
    [[ "$output" != *DRIVER* ]]
}

@test "--device all goes on with the devices that can be opened" {
    needs software
    needs_faults
    make_images
    for i in 1 2 3; do cp in.exr in.000$i.exr; done
    export FAULT_DEVICE=1
    run --separate-stderr env LD_PRELOAD="$faults" "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --device all
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"device '"*"is not used: "*"failed with VkResult -13"* ]]
    [ -e out.0003.exr ]
    run --separate-stderr env LD_PRELOAD="$faults" \
        "$FFTBLOOM" bench --device all --size 64x48 --kernel 16 --rounds 1 --warm-up 0
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"failed with VkResult -13"* && "$output" == *"kernel 16 x 16"* ]]
}

# --- the lab: tests/gpu/test_lab.c has the transforms and the article's bloom themselves ----------

# LINES ARGUMENTS CONDITIONS...: words, and conditions on the JSON, of one of the lab's benchmarks.
lab() {
    run --separate-stderr "$FFTBLOOM" bench $2 --warm-up 0
    echo "$output $stderr"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq "$1" ]
    "$FFTBLOOM" bench $2 --warm-up 0 --json >lab.json
    holds lab.json '(d := d["results"])' "${@:3}"
}

@test "bench fft, --engine article, ocean: words and JSON have a row for each" {
    lab 4 "fft --rounds 2 --size 16..64 --device cpu --algorithm ct2-dit" '[r["size"] for r in d] == [16, 32, 64]' \
        'all(r["algorithm"] == "ct2-dit" and r["device"] == "cpu" and r["bytes"] == 16 * r["size"] ** 2 for r in d)' \
        'all(0 < r[way]["least"] <= r[way]["median"] for r in d for way in ("forward", "inverse"))' \
        'all(0 < r["rms"] < 1e-6 > r["worst"] / 12 for r in d)'
    needs software
    "$FFTBLOOM" help bench frames | grep -q -- --engine
    lab 7 "--engine article --device software --size 64x48,48x40 --kernel 16 --rounds 1 --queue 2" \
        '[(r["bloom"], r["width"]) for r in d] == [(b, w) for w in (64, 48) for b in ("article", "article", "fftbloom")]' \
        'all(r["kernel"] == 16 and r["rounds"] == 1 and r["queue"] == 2 and r["copies"] > 0 and r["pixels"] > 0 for r in d)' \
        'all(r["bytes"] > 3 * 16 * r["width"] * r["height"] and r["frame"]["least"] > 0 for r in d)' \
        'all((p := [r[k]["median"] for k in ("forward", "convolve", "inverse")]) and min(p) > 0 and abs(sum(p) - r["frame"]["median"]) < 1e-8 for r in d)' \
        'all(r["rms"] > 1e-3 if r["bloom"] == "article" else r["worst"] < 1e-5 for r in d)' \
        '[r["first"] for r in d[:2]] == ["x", "y"] and d[1]["length_1"] == 64' \
        'abs(d[0]["rms"] - d[1]["rms"]) < 1e-5' # which axis is first changes nothing but rounding
    export FFTBLOOM_VALIDATION=1
    lab 3 "ocean --device software --size 64 --rounds 1 --algorithm ours,ct2-axis" '[r["algorithm"] for r in d] == ["ct2-axis", "ours"]' \
        'all(r["size"] == 64 and 0 < r["rms"] < 1e-6 and r["worst"] < 5e-6 for r in d)' \
        'all(abs(r["frames_per_second"] * r["frame"]["median"] - 1) < 1e-2 for r in d)'
    local sea="bench ocean --device software --size 64 --rounds 1 --warm-up 0"
    "$FFTBLOOM" $sea --algorithm ours -o sea.exr >/dev/null
    "$FFTBLOOM" info sea.exr | grep -q "64 x 32"
    each says <<'T'
64 | the sea is made on a GPU | $sea --algorithm ct2-dit
64 | a sea has an even side, from 64 on | $sea --size 32
64 | a sea has an even side, from 64 on | $sea --size 135
74 | | $sea -o no/sea.exr
T
}

@test "--plot draws each of the lab's benchmarks as an SVG" {
    needs software
    while read -r curves sizes what; do
        "$FFTBLOOM" bench $what --device software --rounds 1 --warm-up 0 --plot p.svg >/dev/null
        python3 -c "
import xml.dom.minidom as m
lines = m.parse('p.svg').getElementsByTagName('polyline')
assert [len(l.getAttribute('points').split()) for l in lines] == [$sizes] * $curves"
    done <<'T'
2 3 fft --size 16..64 --algorithm ct2-dit,ours
1 1 ocean --size 64 --algorithm ours
3 2 --engine article --size 64x48,48x40 --kernel 16
T
}
