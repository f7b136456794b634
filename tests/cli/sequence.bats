# Sequences: several frames at a time, on one device or on all there are.

load files

setup_file() {
    shared_folder || return 0
    local i frames=()
    for i in $(seq 101 116); do frames+=(-- in.$i.exr 64x48 float 0.1,0.2,0.3 $((i - 90)),20=50,40,30); done
    image kernel.exr 9x7 float 0.01,0.01,0.02 4,3=1,1,1 "${frames[@]}"
}

run_on() { # DEVICE OUT options...: the sequence
    "$FFTBLOOM" 'in.###.exr' kernel.exr -o "$2.###.exr" --device "$1" --sandbox off "${@:3}"
}
both_devices() { has cpu && has software || return 1; }
needs_both() { both_devices || skip "this machine has not both the CPU engine and software Vulkan"; }

@test "frames side by side on the CPU are those made one by one, with any number of threads" {
    run_on cpu many --jobs 7 --report many.json
    run_on cpu few --jobs 1
    for i in $(seq 101 116); do cmp many.$i.exr few.$i.exr; done
    for i in 101 102 108 116; do
        "$FFTBLOOM" in.$i.exr kernel.exr -o one.$i.exr --device cpu
        cmp many.$i.exr one.$i.exr
    done
    holds many.json '[f["frame"] for f in d["frames"]] == list(range(101, 117))' \
        'all(f["state"] == "done" and f["seconds"]["bloom"] > 0 and f["plan"]["frames"] == 8 for f in d["frames"])'
}

@test "frames in flight on one engine, of different sizes and types, are those made one by one" {
    needs software
    image in.104.exr 41x29+3+7 half 0.1,0.2,0.3 14,20=50,40,30 -- in.105.exr 41x29+3+7 half 0.1,0.2,0.3 15,20=50,40,30 -- \
        in.107.exr 64x48 half 0.1,0.2,0.3 17,20=50,40,30 -- in.108.exr 64x48 half 0.1,0.2,0.3 18,20=50,40,30
    FFTBLOOM_VALIDATION=1 run_on software all --jobs 4 --frames 102-109 --report all.json
    frames="103 105 108 109" # one of each size and type
    [ ! "$LONG" ] || frames=$(seq 102 109)
    for i in $frames; do
        "$FFTBLOOM" in.$i.exr kernel.exr -o one.$i.exr --device software --sandbox off --report one.json
        cmp all.$i.exr one.$i.exr
    done
    holds all.json '(alone := json.load(open("one.json"))["frames"][0]["plan"]) and (plans := [f["plan"] for f in d["frames"]])' \
        'all(p["frames"] == 4 for p in plans) and alone["frames"] == 1' \
        '(a := alone["bytes"]) and plans[-1]["bytes"]["all"] - a["all"] == 3 * sum(a[k] for k in ("image", "input", "mask", "glare", "totals"))' \
        'len({(tuple(p["image"]), p["bytes"]["input"] > 0) for p in plans}) == 3'
}

@test "--mem-limit: frames that do not fit beside each other are made one after the other" {
    oiiotool --create 1024x1024 3 --fill:color=0.1,0.2,0.3 1024x1024 -d float -o large.exr
    for i in 102 103 104 105 106; do cp large.exr in.$i.exr; done
    # The first frame is small, so it seems that there is room for several.
    run_on cpu out --frames 101-106 --jobs 4 --mem-limit 100MB -v --report made.json 2>log
    grep -q "made again without other frames beside it: .*--mem-limit" log
    [ "$(grep -c '"why"' made.json)" -eq 0 ]
    "$FFTBLOOM" large.exr kernel.exr -o one.exr --device cpu
    for i in 102 103 104 105 106; do cmp out.$i.exr one.exr; done
    # One that does not fit alone is made in tiles, or fails where these do not fit.
    run_on cpu tiled --frames 101-106 --jobs 4 --mem-limit 38MB --report made.json
    [ "$(grep -c '"tiles"' made.json)" -eq 5 ]
    "$FFTBLOOM" diff out.103.exr tiled.103.exr --failrelative 1e-5
    says 75 "of the limit of 4.0 MB" 'in.###.exr' kernel.exr -o 'bad.###.png' --frames 101-106 --device cpu --jobs 4 --mem-limit 4MB
    # Two devices with one frame each stand in each other's way as well.
    needs_both
    run_on cpu,software two --frames 102-105 --mem-limit 38MB --report made.json
    [ "$(grep -c '"why"' made.json)" -eq 0 ]
    "$FFTBLOOM" diff out.103.exr two.103.exr --failrelative 1e-5
}

@test "--device all, or a list: every device does frames, and each the bytes that its kind does" {
    needs_both
    run_on cpu cpu
    run_on software software
    for devices in all software,cpu; do
        run_on $devices all --report all.json
        holds all.json '[f["frame"] for f in d["frames"]] == list(range(101, 117))' \
            '{"cpu", "software"} <= {f["device"]["class"] for f in d["frames"]}' \
            'all(open(f["output"], "rb").read() == open("%s.%d.exr" % (f["device"]["class"], f["frame"]), "rb").read() for f in d["frames"] if f["device"]["class"] != "gpu")'
    done
    refused 69 "no device is 'nonesuch'; the devices are " 'in.###.exr' kernel.exr -o 'none.###.exr' --device cpu,nonesuch
    [ ! -e none.101.exr ]
    # Of one image it is the choice of the best.
    "$FFTBLOOM" in.101.exr kernel.exr -o one.exr --device all
    "$FFTBLOOM" in.101.exr kernel.exr -o auto.exr
    cmp one.exr auto.exr
}

@test "frames whose methods change share a device: the bytes of frames alone" {
    # Every other frame has a light, for which the promise needs another method.
    image lit.exr 64x48 float 0.1,0.2,0.3 11,20=50,40,30 {9,10},{9,10}=900,800,700
    for i in 101 103 105; do cp lit.exr varied.$i.exr; done
    for i in 102 104 106; do cp in.102.exr varied.$i.exr; done
    varied() { # DEVICE options...
        "$FFTBLOOM" 'varied.###.exr' kernel.exr -o 'many.###.exr' --device "$1" --jobs 4 "${@:2}"
        "$FFTBLOOM" 'varied.###.exr' kernel.exr -o 'one.###.exr' --device "$1" --jobs 1 "${@:2}"
        for f in many.*; do cmp $f ${f/many/one}; done
    }
    varied cpu --kernel-scale 1.4
    varied cpu --amount 0.5
    varied cpu --tolerance 1e-3
    [ "$LONG" ] || return 0
    needs_both
    # Each size of the kernel compiles shaders of its own.
    varied software --kernel-scale 1.4 --amount 0.5 --frames 101-104
}

@test "threads that the system does not give leave their work to others" {
    needs_faults
    needs_both
    alone=(env FAULT_CALL=thread:1- LD_PRELOAD="$faults" timeout 60 "$FFTBLOOM" 'in.###.exr' kernel.exr --device all)
    "${alone[@]}" -o 'out.###.exr' --report all.json
    holds all.json 'd["done"] == 16'
    # A frame that has no memory does not wait for one that was not begun.
    oiiotool --create 1024x1024 3 -d float -o in.103.exr
    run -75 --separate-stderr "${alone[@]}" -o 'bad.###.png' --mem-limit 4MB
    [[ "$stderr" == *"of the limit of 4.0 MB"* ]]
}

@test "the frame that fails is told, the earliest of several; frames after it are not begun for long" {
    truncate -s 300 in.103.exr
    for d in cpu all; do
        rm -f out.*
        refused 65 in.103.exr 'in.###.exr' kernel.exr -o 'out.###.exr' --device $d --report out.json
        [ ! -e out.103.exr ]
        [ ! -e out.116.exr ]
        holds out.json 'd["failed"] == 1 and d["exit_status"] == 65' '[f["frame"] for f in d["frames"] if f["state"] == "failed"] == [103]'
        [ -z "$(ls -A | grep tmp)" ]
    done
    truncate -s 300 in.101.exr in.102.exr
    for i in 1 2 3 4 5; do
        refused 65 in.101.exr 'in.###.exr' kernel.exr -o 'out.###.exr' --device cpu
    done
}

@test "each frame's notes name the kernel, the mask and the layer, long after the first frame is gone" {
    image off.exr 9x7 float 0.01,0.01,0.02 7,5=1,1,1
    oiiotool in.101.exr --ch R,G,B,matte=1.0 -o matte.exr
    for i in $(seq 101 116); do cp matte.exr in.$i.exr; done
    for words in "--mask matte --tolerance 1e-3" "--threshold 0.5 --emit glare --emit-layer veil" "--amount 0.2 --pixel-type half"; do
        for command in apply deglare; do
            [[ $command = apply || $words = --amount* ]] || continue
            "$FFTBLOOM" $command 'in.###.exr' off.exr -o 'out.###.exr' --device cpu --jobs 3 --sandbox off $words --report r.json
            holds r.json 'len(d["frames"]) == 16 and all(g["notes"] == f["notes"] for g in d["frames"])' \
                'any(n.startswith("kernel '"'off.exr'"': off centre by ") for n in f["notes"])'
        done
    done
    # Two kernels that take turns, and errors of frames that fail.
    cp off.exr k.101.exr
    for i in $(seq 102 116); do cp off.exr k.$i.exr; done
    "$FFTBLOOM" 'in.###.exr' 'k.###.exr' -o 'out.###.exr' --device cpu --jobs 3 --sandbox off --report r.json
    holds r.json 'all(any(n.startswith("kernel '"'k.%d.exr'"': off centre by " % g["frame"]) for n in g["notes"]) for g in d["frames"])'
}
