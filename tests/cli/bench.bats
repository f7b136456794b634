#!/usr/bin/env bats
# fftbloom bench: its three forms of output, what it refuses.

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    export FFTBLOOM_CACHE_DIR=$dir/cache
    needs cpu
}

bench() { "$FFTBLOOM" bench --device cpu --size 64x48 --kernel 16 --rounds 3 "$@"; }

@test "words name the device, the plan and each pass" {
    run --separate-stderr bench
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == *"kernel 16 x 16: 64 x 48 in "* ]]
    for pass in forward convolve inverse frame; do [[ "$output" == *"$pass "*ms* ]]; done
    run bench --in-flight 2 --queue 3
    [ "$status" -eq 64 ]
}

@test "JSON has a result per size, with times of three passes" {
    bench --size 64x48,30x20 --json | python3 -c "
import json, sys
d = json.load(sys.stdin)
assert d['version'] == 1 and len(d['results']) == 2
for r in d['results']:
    assert r['device']['class'] == 'cpu' and r['kernel'] == [16, 16] and r['rounds'] == 3
    assert len(r['times']['passes']) == 3
    assert 0 < r['least'] <= r['frame']
assert d['results'][1]['plan']['image'] == [30, 20]"
}

@test "--in-flight: a device has as many frames as its memory holds, and the plan says so" {
    needs software
    software() {
        "$FFTBLOOM" bench --device software --size 301x203 --kernel 32 --rounds 1 --warm-up 0 "$@"
    }
    software --in-flight 3 --json | python3 -c "
import json, sys
r = json.load(sys.stdin)['results'][0]
p, b = r['plan'], r['plan']['bytes']
assert r['in_flight'] == 3 and p['frames'] == 3
assert b['all'] == 3 * (b['image'] + b['input'] + b['totals']) + sum(
    b[k] for k in ('scratch', 'tiled', 'line', 'spectrum', 'twiddle'))"
    run --separate-stderr software --in-flight 3 --vram-limit 3M
    [ "$status" -eq 0 ]
    [[ "$output" != *"in flight"* ]]
    [[ "$stderr" == *"3000000 bytes have room for 1 frame in flight, not for 3"* ]]
}

@test "--queue repeats frames on the device, and holds them against copies" {
    for device in cpu software; do
        "$FFTBLOOM" devices | grep -q " $device " || continue
        "$FFTBLOOM" bench --device $device --size 64x48,48x40 --kernel 8,16 --rounds 4 --queue 3 \
            --warm-up 0 --json | python3 -c "
import json, sys
d = json.load(sys.stdin)['results']
assert [(r['plan']['image'][0], r['kernel'][0]) for r in d] == [(64, 8), (64, 16), (48, 8), (48, 16)]
for r in d:
    assert r['queue'] == 3 and r['times']['upload'] == 0
    assert r['bytes'] == sum(p['bytes'] for p in r['passes'])
    for s in [r['spread']] + [p['spread'] for p in r['passes']]:
        assert 0 < s['least'] <= s['low'] <= s['median'] <= s['high'] <= s['most']
    copies = '$device' != 'cpu' # which reads much from its caches
    assert (r['copy'] > 0) == copies and all((p['copy'] > 0) == copies for p in r['passes'])
    w, h = r['plan']['image']
    assert r['bytes'] > 2 * 12 * w * h"
    done
    run --separate-stderr bench --queue 3
    [[ "${lines[1]}" == *"3 rounds of 3 frames back to back"* ]]
    [[ "$output" == *"GB/s"* ]]
}

@test "refused: sizes and kernels that are none, devices that are not there" {
    for size in 64 64x x48 0x4 64x48, 64x48x3 64x-48 0x0; do
        says 64 "--size $size" bench --device cpu --size "$size"
    done
    says 64 "" bench --device cpu --kernel 0
    says 66 "" bench --device cpu --kernel nothing.exr
    says 69 "no device is 'quantum'; the devices are 0 '" bench --device quantum
}

@test "plan forecasts every device, and takes the least time" {
    needs_program oiiotool
    cd "$dir"
    oiiotool --create 40x30 3 --addc 0.5 -d float -o in.exr
    oiiotool --create 9x9 3 --addc 0.1 -d float -o kernel.exr
    forecast() {
        "$FFTBLOOM" plan "$@" kernel.exr --json | python3 -c "
import json, sys
d = json.load(sys.stdin)
f = d['forecast']
can = [x for x in f if x['possible'] and x['wanted']]
least = min(can, key=lambda x: x['seconds']['all'])
assert least['device'] == d['device'], (least, d['device'])
assert all(x['seconds']['all'] > 0 for x in can)
cpu = next(x for x in f if x['device']['class'] == 'cpu')
print(d['images'], len(f), cpu['seconds']['start'])"
    }
    devices=$("$FFTBLOOM" devices --json | python3 -c "import json, sys; print(len(json.load(sys.stdin)['devices']))")
    [ "$(forecast in.exr)" = "1 $devices 0.002" ]
    for i in 1 2 3; do cp in.exr "seq.000$i.exr"; done
    [ "$(forecast seq.####.exr)" = "3 $devices 0.002" ]
    run --separate-stderr "$FFTBLOOM" plan in.exr kernel.exr
    [[ "$output" == *"forecast of 1 image, file to file"*"0.002 to start"* ]]
}

@test "devices names what auto would take" {
    "$FFTBLOOM" devices --json | python3 -c "
import json, sys
d = json.load(sys.stdin)
n = len(d['devices'])
assert 0 <= d['auto']['image'] < n and 0 <= d['auto']['sequence'] < n
assert d['devices'][d['auto']['image']]['class'] == 'cpu'"
    "$FFTBLOOM" devices | grep -q -- '^--device auto takes [0-9]* for one image'
}

@test "a plan for the CPU loads no graphics driver" {
    cd "$dir"
    "$FFTBLOOM" kernel make gaussian --taps 9 -o kernel.pfm
    cp kernel.pfm in.pfm
    VK_LOADER_DEBUG=all "$FFTBLOOM" devices 2>&1 | grep -q DRIVER || skip "the loader is silent"
    run --separate-stderr env VK_LOADER_DEBUG=all "$FFTBLOOM" plan in.pfm kernel.pfm --device cpu
    [ "$status" -eq 0 ]
    [[ "$stderr" != *DRIVER* ]]
    [[ "$output" == *"-> cpu "* ]] # without the number that it has among all devices
}

@test "--device all goes on with the devices that can be opened" {
    needs_program oiiotool
    needs software
    needs_faults
    cd "$dir"
    for i in 1 2 3; do oiiotool --pattern noise:type=uniform 40x30 3 -d float -o "in.000$i.exr"; done
    oiiotool --create 9x9 3 --addc 0.1 -d float -o kernel.exr
    run --separate-stderr env FAULT_DEVICE=1 LD_PRELOAD="$faults" \
        "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --device all
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"device '"*"is not used: "*"failed with VkResult -13"* ]]
    [ -e out.0003.exr ]
    run --separate-stderr env FAULT_DEVICE=1 LD_PRELOAD="$faults" \
        "$FFTBLOOM" bench --device all --size 64x48 --kernel 16 --rounds 1 --warm-up 0
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"failed with VkResult -13"* && "$output" == *"kernel 16 x 16"* ]]
}

# --- bench fft: tests/gpu/test_lab.c has the transforms themselves --------------------------------

fft() { "$FFTBLOOM" bench fft --rounds 2 --warm-up 0 "$@"; }

@test "bench fft: words and JSON have a row per transform and size" {
    run --separate-stderr fft --size 16..64 --device cpu --algorithm ct2-dit
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 4 ]
    fft --size 16,64 --device cpu --algorithm ct2-dit --json | python3 -c "
import json, sys
d = json.load(sys.stdin)['results']
assert [r['size'] for r in d] == [16, 64]
for r in d:
    assert r['algorithm'] == 'ct2-dit' and r['device'] == 'cpu' and r['bytes'] == 16 * r['size'] ** 2
    for way in ('forward', 'inverse'):
        assert 0 < r[way]['least'] <= r[way]['median']
    assert 0 < r['rms'] < 1e-6 > r['worst'] / 12"
}

@test "bench fft: names and sizes that are wrong are refused, and options that do nothing" {
    refused() { run --separate-stderr fft --device cpu "${@:2}"; [ "$status" -eq 64 ] && [[ "$stderr" == *"$1"* ]]; }
    refused "'ct2-dat' is unknown; did you mean 'ct2-dit'?; docs/fft.md has the names" --algorithm ct2-dat
    refused "'' is unknown" --algorithm ct2-dit,
    for s in 0 15 4097 8..16 64..32 16x16 1,,2 -16 16..x; do refused "give sizes from 16 to 4096" --size "$s"; done
    refused "none of the transforms asked for can do it; lengths are" --size 17
    refused "none of the transforms asked for can do it" --size 48 --algorithm ct2-dit
    refused "--kernel has no effect in 'fft'; it is for frames" --kernel 256
    run --separate-stderr bench --algorithm all
    [ "$status" -eq 64 ]
    [[ "$stderr" == *"--algorithm has no effect in 'frames'; it is for fft"* ]]
    run --separate-stderr fft --device cpu --algorithm ct2-stages
    [ "$status" -eq 69 ]
    [[ "$stderr" == *"ct2-stages runs on a GPU"* ]]
    says 64 "did you mean 'fft'" bench fff
}

# --- bench --engine article: tests/gpu/test_lab.c has the bloom itself -------------------------

article() {
    "$FFTBLOOM" bench --engine article --device software --size 64x48,48x40 --kernel 16 --rounds 1 \
        --warm-up 0 "$@"
}

@test "--engine article: both orders of the article's bloom, and ours, on one device" {
    needs software
    "$FFTBLOOM" help bench frames | grep -q -- --engine
    run --separate-stderr article
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 7 ]
    [[ "${lines[1]}" == "article "*" x     128    64 "* ]]
    [[ "${lines[3]}" == fftbloom* ]]
    article --queue 2 --json | python3 -c "
import json, sys
d = json.load(sys.stdin)['results']
assert [(r['bloom'], r['width']) for r in d] == [
    (b, w) for w in (64, 48) for b in ('article', 'article', 'fftbloom')]
for r in d:
    passes = [r[p] for p in ('forward', 'convolve', 'inverse')]
    assert r['kernel'] == 16 and r['rounds'] == 1 and r['queue'] == 2 and r['copies'] > 0
    assert r['bytes'] > 3 * 16 * r['width'] * r['height'] and r['frame']['least'] > 0
    assert all(p['median'] > 0 for p in passes)
    assert abs(sum(p['median'] for p in passes) - r['frame']['median']) < 1e-8
    assert r['pixels'] > 0
    assert r['rms'] > 1e-3 if r['bloom'] == 'article' else r['worst'] < 1e-5
assert [r['first'] for r in d[:2]] == ['x', 'y'] and d[1]['length_1'] == 64
assert abs(d[0]['rms'] - d[1]['rms']) < 1e-5 # which axis is first changes nothing but rounding"
}

@test "--plot draws each of the lab's benchmarks as an SVG; without one of them it is refused" {
    needs software
    for what in "fft --size 16..64 --algorithm ct2-dit,ours" "ocean --size 64 --algorithm ours" \
        "--engine article --size 64x48,48x40 --kernel 16"; do
        "$FFTBLOOM" bench $what --device software --rounds 1 --warm-up 0 --plot "$dir/p.svg" >/dev/null
        python3 -c "
import sys, xml.dom.minidom as m
d = m.parse(sys.argv[1])
lines = d.getElementsByTagName('polyline')
sizes = 3 if 'fft' in sys.argv[2].split() else 1 if 'ocean' in sys.argv[2] else 2
assert len(lines) == (2 if 'fft' in sys.argv[2].split() else 1 if sizes == 1 else 3)
assert all(len(l.getAttribute('points').split()) == sizes for l in lines)" "$dir/p.svg" "$what"
    done
    run --separate-stderr bench --plot "$dir/p.svg"
    [[ "$status" -eq 64 && "$stderr" == *"--plot has no effect without --engine article"* ]]
    run --separate-stderr fft --device cpu --size 16 --plot p.png
    [[ "$status" -eq 64 && "$stderr" == *"ends in .svg"* ]]
}

@test "bench ocean: frames by transform, checked against double, and a view" {
    needs software
    sea() { "$FFTBLOOM" bench ocean --device software --size 64 --rounds 1 --warm-up 0 "$@"; }
    export FFTBLOOM_VALIDATION=1
    run --separate-stderr sea --algorithm ours,nabla
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 3 ]
    sea --algorithm ours,ct2-axis --json | python3 -c "
import json, sys
d = json.load(sys.stdin)['results']
assert [r['algorithm'] for r in d] == ['ct2-axis', 'ours']
for r in d:
    assert r['size'] == 64 and 0 < r['rms'] < 1e-6 and r['worst'] < 5e-6
    assert abs(r['frames_per_second'] * r['frame']['median'] - 1) < 1e-2"
    sea --algorithm ours -o "$dir/sea.exr" >/dev/null
    "$FFTBLOOM" info "$dir/sea.exr" | grep -q "64 x 32"
    refused() { run --separate-stderr sea "${@:2}"; [ "$status" -eq 64 ] && [[ "$stderr" == *"$1"* ]]; }
    refused "the sea is made on a GPU" --algorithm ct2-dit
    refused "a sea has an even side, from 64 on" --size 32
    refused "a sea has an even side, from 64 on" --size 135
    run --separate-stderr sea --device cpu
    [ "$status" -eq 69 ]
    run --separate-stderr sea -o "$dir/no/sea.exr"
    [ "$status" -eq 74 ]
}
