# fftbloom bench: its forms of output, what it refuses; plans on each device, and the choice of one.

load files

setup() {
    own_folder
    needs cpu
}

bench() { "$FFTBLOOM" bench --device cpu --size 64x48 --kernel 16 --rounds 3 "$@"; }

@test "words name the device, the plan and each pass; JSON has a result per size" {
    run -0 --separate-stderr bench
    [[ "$output" == *"device      cpu"*"kernel      16 16"*"image       64 48"* ]]
    for pass in forward convolve inverse; do [[ "$output" == *"$pass "*"GB/s "*"median "* ]]; done
    bench --size 64x48,30x20 --json | holds - 'd["version"] == 1 and len(d["results"]) == 2' \
        'all(r["device"]["class"] == "cpu" and r["kernel"] == [16, 16] and r["rounds"] == 3 for r in d["results"])' \
        'all(len(r["times"]["passes"]) == 3 and 0 < r["least"] <= r["frame"] for r in d["results"])' \
        'd["results"][1]["plan"]["image"] == [30, 20]'
}

@test "--in-flight: a device has as many frames as its memory holds, and the plan says so" {
    needs software
    software() { "$FFTBLOOM" bench --device software --size 301x203 --kernel 32 --rounds 1 --warm-up 0 "$@"; }
    software --in-flight 3 --json | holds - '(r := d["results"][0])["in_flight"] == 3 and r["plan"]["frames"] == 3' \
        '(b := r["plan"]["bytes"]) and b["all"] == 3 * (b["image"] + b["input"] + b["totals"]) + sum(b[k] for k in ("scratch", "tiled", "spectrum", "twiddle"))'
    run -0 --separate-stderr software --in-flight 3 --vram-limit 3M
    [[ "$output" == *"in flight   1"* ]]
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
    [[ "$output" == *"rounds      3"*"queue       3"*"GB/s"* ]]
}

@test "refused: sizes, kernels, devices, words and options that are none" {
    for size in 64 64x x48 0x4 64x48, 64x48x3 64x-48 0x0; do refused 64 "--size $size" bench --device cpu --size "$size"; done
    each refused <<'T'
64 | | bench --in-flight 2 --queue 3 --device cpu --size 64x48 --kernel 16
64 | | bench --device cpu --kernel 0
66 | | bench --device cpu --kernel nothing.exr
69 | no device is 'quantum'; the devices are 0 ' | bench --device quantum
64 | one argument too many: 'fft' | bench fft --size 64
64 | bench takes no option --algorithm | bench --algorithm all
T
}

@test "plan tells the rule, and lengths and bytes on every device; devices names what auto would take" {
    image in.exr 40x30 float 0.5,0.5,0.5 -- kernel.exr 9x9 float 0.1,0.1,0.1
    "$FFTBLOOM" devices --json >devices.json
    holds devices.json '0 <= d["auto"]["sequence"] < len(d["devices"]) and d["devices"][d["auto"]["image"]]["class"] == "cpu"'
    "$FFTBLOOM" devices | grep -q -- '^--device auto takes [0-9]* for one image'
    forecast() { # IMAGES arguments...
        "$FFTBLOOM" plan "${@:2}" kernel.exr --json | holds - "d['images'] == $1" \
            'all(min(x["lengths"]) >= 30 and x["bytes"] > 0 for x in d["forecast"] if x["possible"])' \
            'd["device"]["class"] == "cpu" and abs(d["work"] - d["images"] * 1200 / 1920 / 1080) < 1e-6' \
            'len(d["forecast"]) == len(json.load(open("devices.json"))["devices"])'
    }
    forecast 1 in.exr
    for i in 1 2 3; do cp in.exr "seq.000$i.exr"; done
    forecast 3 seq.####.exr
    says 0 "from 64 frames of 1920 x 1080 on, else the CPU" plan in.exr kernel.exr
    [[ "$output" == *"work        0.000579 frames of 1920 x 1080"* && "$output" != *"cost"* ]]
}

@test "a plan for the CPU loads no graphics driver" {
    "$FFTBLOOM" kernel make gaussian --taps 9 -o kernel.pfm
    VK_LOADER_DEBUG=all "$FFTBLOOM" devices 2>&1 | grep -q DRIVER || skip "the loader is silent"
    VK_LOADER_DEBUG=all says 0 "device      cpu" plan kernel.pfm kernel.pfm --device cpu # without its number among all devices
    [[ "$output" != *DRIVER* ]]
}

@test "--device all goes on with the devices that can be opened" {
    needs software
    needs_faults
    make_images
    for i in 1 2 3; do cp in.exr in.000$i.exr; done
    export FAULT_DEVICE=1
    run -0 --separate-stderr env LD_PRELOAD="$faults" "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --device all
    [[ "$stderr" == *"device '"*"is not used: "*"failed with VkResult -13"* ]]
    [ -e out.0003.exr ]
    run --separate-stderr env LD_PRELOAD="$faults" \
        "$FFTBLOOM" bench --device all --size 64x48 --kernel 16 --rounds 1 --warm-up 0
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"failed with VkResult -13"* && "$output" == *"kernel      16 16"* ]]
}

@test "devices --verify -o tries each device, the cache and a folder, leaves nothing there, and ends with a status" {
    mkdir out
    export FFTBLOOM_CACHE_DIR="$PWD/c"
    run -0 --separate-stderr "$FFTBLOOM" devices --verify 8 -o out --json
    holds - '[t["what"] for t in d["test"]] == ["device %d" % i for i in range(len(d["devices"]))] + ["cache", "output"]' \
        'all(t["ok"] and t["seconds"] >= 0 and "error" not in t for t in d["test"])' <<<"$output"
    [ -z "$(ls -A out)" ]
    [ ! -e c/fftbloom-self-test ]
    # Each alone.
    "$FFTBLOOM" devices --json | holds - '"test" not in d'
    "$FFTBLOOM" devices -o out --json | holds - '[t["what"] for t in d["test"]] == ["cache", "output"]'
    "$FFTBLOOM" devices -o out | grep -q "^  output  *works"
    # Folders that are not there, or are files: all trials are made, and the first failure gives the status.
    says 74 "there is no folder 'none'" devices -o none
    echo >file
    run --separate-stderr "$FFTBLOOM" devices --verify 8 -o out --cache-dir file --json
    [ "$status" -eq 74 ]
    holds - '[t["ok"] for t in d["test"]] == [True] * len(d["devices"]) + [False, True]' '"file" in d["test"][-2]["error"]' <<<"$output"
    # A device that is lost.
    needs software
    needs_faults
    run --separate-stderr env FAULT_VK=lost:1 LD_PRELOAD="$faults" "$FFTBLOOM" devices --verify 8 --json
    [ "$status" -eq 75 ]
    holds - '[t["ok"] for t in d["test"]] == [True, False, True]' '"llvmpipe" in d["test"][1]["error"]' <<<"$output"
}

@test "plan tells how long a run may take: a guess, then by what such runs took; no link is followed" {
    export FFTBLOOM_CACHE_DIR="$PWD/pace"
    image in.exr 480x270 half 0.5,0.5,0.5 -- kernel.exr 9x9 float 0.1,0.1,0.1
    plan() { "$FFTBLOOM" plan in.exr kernel.exr --device cpu --json; }
    plan | holds - 'd["seconds"]["runs"] == 0 and 0 < d["seconds"]["least"] < d["seconds"]["about"] < d["seconds"]["most"] < 10' \
        'd["forecast"][0]["seconds"] == d["seconds"]'
    says 0 "(a guess: no such run was made with this cache)" plan in.exr kernel.exr --device cpu
    for i in 1 2 3; do "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --existing replace --report $i.json; done
    plan | holds - 'd["seconds"]["runs"] == 3' \
        'all(abs(d["seconds"][k] - t) < 0.1 + 0.2 * t for k, t in zip(("least", "about", "most"), sorted(json.load(open("%d.json" % i))["seconds"] for i in (1, 2, 3))))'
    says 0 "s by 3 runs)" plan in.exr kernel.exr --device cpu
    # Eight of a kind are kept; a sequence is another kind; small frames say nothing.
    for i in {1..9}; do cp in.exr "s.000$i.exr"; "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --existing replace; done
    "$FFTBLOOM" s.####.exr kernel.exr -o t.####.exr --device cpu
    image small.exr 8x8 half 0.5,0.5,0.5
    "$FFTBLOOM" small.exr kernel.exr -o o.exr --device cpu
    [ "$(grep -c "one$" pace/pace.txt)" -eq 8 ]
    [ "$(grep -c "many$" pace/pace.txt)" -eq 1 ]
    "$FFTBLOOM" plan s.####.exr kernel.exr --device cpu --json | holds - 'd["seconds"]["runs"] == 1'
    # Pixels count that are there, not those of the display window.
    image wide.exr 481x270 half 0.5,0.5,0.5 full=9x9
    rm pace/pace.txt
    "$FFTBLOOM" wide.exr kernel.exr -o out.exr --device cpu --existing replace --report wide.json
    "$FFTBLOOM" plan wide.exr kernel.exr --device cpu --json |
        holds - 'd["seconds"]["runs"] == 1 and abs(d["seconds"]["about"] - json.load(open("wide.json"))["seconds"]) < 0.1 + 0.2 * json.load(open("wide.json"))["seconds"]'
    # What is broken counts as nothing, and is replaced.
    printf 'nan\tx\n1e99\t\n\t\nabc' >pace/pace.txt
    plan | holds - 'd["seconds"]["runs"] == 0'
    echo mine >target
    ln -sf ../target pace/pace.txt
    plan | holds - 'd["seconds"]["runs"] == 0'
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --existing replace
    [ "$(<target)" = mine ]
    plan | holds - 'd["seconds"]["runs"] == 1'
}

@test "plan makes the kernel that a name means where there is no cache yet" {
    export FFTBLOOM_CACHE_DIR="$PWD/new"
    image in.exr 40x30 half 0.5,0.5,0.5
    "$FFTBLOOM" plan in.exr -k mist-1 --kernel-scale 0.05 --json | holds - 'd["images"] == 1'
}
