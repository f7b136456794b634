#!/usr/bin/env bats
# Errors before anything is convolved - kernels, .spectrum files, devices - have their sentences and
# exit codes. A file that can serve as a kernel, and each name of a device, is accepted.

load files

setup_file() {
    shared_folder || return 0
    make_images
    "$FFTBLOOM" precompute kernel.exr -o k.spectrum
}

no_output() { # STATUS WORDS arguments...: refused, by default with -o out.exr, which is not there
    [[ " $* " == *" -o "* ]] || set -- "$@" -o out.exr
    refused "$@"
    [ ! -e out.exr ]
}

pfm() { # FILE VALUE: 2 x 2 pixels of 1, one value but for VALUE
    python3 -c 'import struct, sys
open(sys.argv[1], "wb").write(b"Pf\n2 2\n-1.0\n" + struct.pack("<4f", 1, float(sys.argv[2]), 1, 1))' "$1" "$2"
}

@test "what people mean is said: shares of a kernel, percentages, ACES, patterns" {
    refused 66 "the kernel is 'kernel.exr', --amount its strength" in.exr -k kernel.exr:0.5 -o out.exr
    if [ -e "$FFTBLOOM_ROOT/kernels/sunstar.json" ]; then
        refused 66 "the kernel is 'sunstar', --amount its strength" in.exr -k sunstar@0.5 -o out.exr
        refused 64 "100 %? that is 1" in.exr -k portrait -o out.exr --kernel-scale 100
    fi
    run "$FFTBLOOM" in.exr kernel.exr -o out.exr --amount 150%
    [[ "$status" -eq 64 && "$output" == *", not '150%'" ]]
    refused 64 "write acescg for the one that programs work in" in.exr kernel.exr -o out.exr --input-space ACES
    touch a.exr b.exr zz.0001.exr
    refused 66 "it has 'zz.0001.exr', 'a.exr', 'b.exr' and " zz.###.exr kernel.exr -o out.####.exr
}

@test "a part of a colour, and a picture that was not decoded, are warned of" {
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr --layers R
    [[ "$status" -eq 0 && "$stderr" == *"--layers 'R' takes 1 of the 3 channels of the colour 'rgba'"* ]]
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr --layers R,G,B
    [[ "$status" -eq 0 && -z "$stderr" ]]
    oiiotool --pattern fill:top=0,0.1,0.2:bottom=0.9,1,0.7 80x60 3 -d uint8 -o p.tif
    for type in half float; do
        oiiotool p.tif -d $type -o p.exr
        run --separate-stderr "$FFTBLOOM" p.exr kernel.exr -o out.exr --input-space linear
        [[ "$status" -eq 0 && -z "$stderr" ]]
        oiiotool p.tif -d $type --eraseattrib ".*" -o p.exr
        run --separate-stderr "$FFTBLOOM" p.exr kernel.exr -o out.exr
        [[ "$status" -eq 0 && "$stderr" == *"the image has the values of an 8-bit picture"*"--input-space srgb"* ]]
        oiiotool p.exr --mulc 1.01 -o q.exr
        run --separate-stderr "$FFTBLOOM" q.exr kernel.exr -o out.exr
        [[ "$status" -eq 0 && -z "$stderr" ]]
    done
}

@test "kernels that have no sum to divide by" {
    oiiotool --create 4x4 3 -d float -o zero.exr
    no_output 65 "luminance sum is 0" in.exr zero.exr
    pfm minus.pfm -9
    no_output 65 "luminance sum is -6" in.exr minus.pfm
    no_output 65 "must be greater than 0" in.exr minus.pfm --normalize channel
    "$FFTBLOOM" in.exr minus.pfm -o out.exr --normalize none
}

@test "kernels that are not numbers, and where" {
    pfm nan.pfm nan
    no_output 65 "1 of the kernel's 4 taps are not finite numbers, the first (nan) in channel 0 at x 1, y 1" in.exr nan.pfm
    pfm inf.pfm inf
    no_output 65 "the first (inf)" in.exr inf.pfm
}

@test "kernels without colour" {
    oiiotool --create 4x4 3 --chnames N.x,N.y,N.z -d float -o normals.exr
    no_output 65 "no colour channels (R G B, or Y, or a single one), but 3 others: N.x, N.y, N.z" in.exr normals.exr -q
}

@test "a kernel of several parts is the first one that has colour" {
    oiiotool --create 9x7 3 --chnames N.x,N.y,N.z -d float -o normals.exr
    oiiotool normals.exr kernel.exr --siappend -o parts.exr
    "$FFTBLOOM" in.exr kernel.exr -o a.exr
    "$FFTBLOOM" in.exr parts.exr -o b.exr
    cmp a.exr b.exr
    # A lone channel of data serves only where no part has colour.
    oiiotool --create 9x7 1 --chnames Z -d float -o depth.exr
    oiiotool depth.exr kernel.exr --siappend -o parts.exr
    "$FFTBLOOM" in.exr parts.exr -o c.exr
    cmp a.exr c.exr
}

@test "a config that does not fit the kernel's size" {
    echo '{"version": 1, "kernel_center": [100, 3]}' >c.json
    no_output 64 "x = 100 lies outside the kernel, whose taps are 0 to 8" in.exr kernel.exr --config c.json
}

spectrum_with() { # OFFSET NUMBER: k.spectrum with this 32-bit number there, checksum and all as it was
    python3 -c 'import struct, sys
d = bytearray(open("k.spectrum", "rb").read())
d[int(sys.argv[1]):int(sys.argv[1]) + 4] = struct.pack("<I", int(sys.argv[2]))
open("bad.spectrum", "wb").write(d)' "$1" "$2"
}

@test "spectra that are cut short, newer, damaged, of other settings" {
    head -c 1000 k.spectrum >cut.spectrum
    no_output 65 "cut short: 1000 of its $(stat -c %s k.spectrum) bytes" in.exr cut.spectrum
    spectrum_with 8 7
    no_output 65 "version 7" in.exr bad.spectrum
    spectrum_with 400 1234
    no_output 65 "checksum" in.exr bad.spectrum
    no_output 64 "made with kernel_center middle, and peak is asked for" in.exr k.spectrum --kernel-center peak
    no_output 64 "made with normalize luminance, and channel is asked for" in.exr k.spectrum --normalize channel
    no_output 64 "correlate" in.exr k.spectrum --correlate
    no_output 64 "kernel_scale 1, and 1h is asked for" in.exr k.spectrum --kernel-scale 1h
    no_output 64 "kernel_scale 1, and 0.5h is asked for" in.exr k.spectrum --kernel-scale 0.5h
}

@test "a spectrum in the kernel's place, and the second run from the cache: the same bytes" {
    cached() { "$FFTBLOOM" in.exr "$1" -o "$2" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["frames"][0]["spectrum_cached"])'; }
    [ "$(cached kernel.exr a.exr)" = False ]
    [ "$(cached kernel.exr b.exr)" = True ]
    [ "$(cached k.spectrum c.exr)" = False ]
    cmp a.exr b.exr
    cmp a.exr c.exr
    # Known by its content, and by what was asked for.
    cp kernel.exr other.exr
    [ "$(cached other.exr d.exr)" = True ]
    "$FFTBLOOM" cache list | grep -q "$(ls cache/spectra | cut -c1-8)"
    # Broken on disk: made again, with a warning, and right.
    truncate -s 500 cache/spectra/*
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o e.exr
    [ "$status" -eq 0 ]
    [[ "$stderr" == *warning* ]]
    cmp a.exr e.exr
    "$FFTBLOOM" cache verify
}

@test "the kernel is made ready while the image is read; the image's error comes first, and alone" {
    head -c "$(( $(stat -c %s in.exr) - 100 ))" in.exr > cut.exr
    head -c 200 kernel.exr > bad.exr
    no_output 65 "cut.exr': incomplete file" cut.exr bad.exr --jobs 4
    no_output 65 "bad.exr" in.exr bad.exr --jobs 4
    # A device that is missing is told once, too, though it is looked for twice.
    no_output 69 "no device is '77'" in.exr kernel.exr --jobs 4 --device 77
}

@test "all is sharpened: every bit comes back, half and float" {
    oiiotool --create 30x20 3 --noise:type=gaussian:mean=0:stddev=10 -d float -o f.exr
    oiiotool f.exr --mulc 0,-1,1 -d float -o f.exr # a plane of zeros with and without a sign
    oiiotool f.exr -d half -o h.exr
    for i in f.exr h.exr; do
        "$FFTBLOOM" "$i" kernel.exr -o out.exr --amount 0
        cmp <(oiiotool --dumpdata "$i" | tail -n +2) <(oiiotool --dumpdata out.exr | tail -n +2)
        oiiotool --dumpdata out.exr | grep -qF -e '-0.000000000 '
    done
}

@test "no such device: 69, what there is, and what to install" {
    export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent
    for d in gpu software; do
        no_output 69 "no device is '$d'" in.exr kernel.exr --device $d
        [[ "$stderr" == *"install"*"mesa-vulkan-drivers"* ]]
    done
    no_output 69 "there is no Vulkan driver" in.exr kernel.exr --device 7
    no_output 69 "there is no Vulkan driver" in.exr kernel.exr --device Nonesuch
}

@test "devices by index, class, part of a name, uuid" {
    used() { "$FFTBLOOM" in.exr kernel.exr -o out.exr --device "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["frames"][0]["device"]["name"])'; }
    "$FFTBLOOM" devices --json >d.json
    python3 -c 'import json
for d in json.load(open("d.json"))["devices"]:
    print(d["index"], d["class"], d["uuid"] or "-", d["name"], sep="|")' >list
    while IFS='|' read -r index class uuid name; do
        [ "$(used "$index")" = "$name" ]
        [ "$(used "${name:2:9}")" = "$name" ]
        [ "$(grep -c "|$class|" list)" -ne 1 ] || [ "$(used "$class")" = "$name" ]
        if [ "$uuid" != - ]; then
            [ "$(used "$uuid")" = "$name" ]
            [ "$(used "${uuid:0:8}-${uuid:8:4}-${uuid:12}")" = "$name" ]
        fi
    done <list
}

@test "plan --json has every number of the plan, those of a GPU too" {
    for d in cpu software; do
        "$FFTBLOOM" devices | grep -q " $d " || continue
        "$FFTBLOOM" plan in.exr kernel.exr --json --device $d >$d.json
        python3 - $d <<'P'
import json, sys
q = json.load(open(sys.argv[1] + ".json"))
p = q["plan"]
for key in ("image reach_before reach_after channels kernel_channels kernel_symmetric precision first lengths power_of_two_lengths cost "
            "half_lines pitch image_pitch tile_in tile band channels_per_bind bytes axes passes").split():
    assert key in p, key
assert p["half_lines"] == p["axes"][0]["length"] // 2 + 1
for a in p["axes"]:
    assert set("axis extent length split border before after one_pass".split()) <= set(a)
    assert a["length"] >= a["extent"] + max(a["before"], a["after"])
b = p["bytes"]
each = sum(b[k] for k in ("image", "input", "mask", "glare", "totals"))
assert b["all"] == p["frames"] * each + sum(b[k] for k in ("scratch", "tiled", "line", "spectrum", "twiddle"))
assert b["tiled"] == (b["scratch"] if p["tile"] != p["tile_in"] else 0)
if sys.argv[1] == "software":
    limits = q["device"]["limits"]
    assert [x["pass"] for x in p["passes"]] == ["forward", "convolve", "inverse"]
    for x in p["passes"]:
        n = 1
        for r in x["fft"]["radices"]:
            n *= r
        assert n == x["fft"]["length"] == p["axes"][x["along"]]["length"]
        assert x["threads"] <= limits["invocations"] and x["shared_bytes"] <= limits["shared_bytes"]
        assert all(g <= m for g, m in zip(x["groups"], limits["groups"]))
        assert len(x["butterflies"]) == len(x["fft"]["radices"]) and x["lines"] > 0 and x["bytes"] > 0
        assert x["elements"] == max(a * b for a, b in zip(x["butterflies"], x["fft"]["radices"])) <= 16
        assert x["paired"] in (True, False) and x["whole"] in (True, False)
P
    done
}

@test "plan in words has every number too" {
    "$FFTBLOOM" devices | grep -q ' software ' || skip "no software device"
    "$FFTBLOOM" plan in.exr kernel.exr --json --device software >p.json
    "$FFTBLOOM" plan in.exr kernel.exr --device software >p.txt
    cat p.txt
    python3 - <<'P'
import json
p = json.load(open("p.json"))["plan"]
words = open("p.txt").read()
def has(*parts):
    for part in parts:
        assert part in words, part
has("lengths  %d x %d\n" % tuple(p["lengths"]),
    "order    %s first (cost %.4g with x first, %.4g with y first), %s" % (p["first"], *p["cost"], p["precision"]),
    "%d channel" % p["channels"])
for a in p["axes"]:
    has("%s axis" % a["axis"], "%d pixels, %s border, %d needed before and %d after: length %d = %s\n" % (
        a["extent"], a["border"], a["before"], a["after"], a["length"], " x ".join(map(str, a["fft"]["radices"]))))
for name in ("image", "half spectrum", "kernel", "tables"):
    assert name in [l for l in words.splitlines() if l.startswith("memory ")][0], name
P
}

@test "a plan is that of the run, also where the window grows" {
    for o in "--window grow --padding zero" "--window display --padding zero" ""; do
        "$FFTBLOOM" plan in.exr kernel.exr --device cpu $o --json >p.json
        "$FFTBLOOM" in.exr kernel.exr -o grown.exr --device cpu $o --report r.json
        python3 - <<'P'
import json
plan, run = json.load(open("p.json"))["plan"], json.load(open("r.json"))["frames"][0]["plan"]
assert (plan["image"], plan["lengths"]) == (run["image"], run["lengths"]), (plan["image"], run["image"])
P
    done
}

@test "a coloured .spectrum does for a picture of luminance what its kernel does" {
    oiiotool --create 40x30 1 --fill:color=0.1 40x30 --point:color=50 7,9 --chnames Y -d float -o y.exr
    oiiotool --create 9x7 3 --fill:color=0.01,0.02,0.03 9x7 --point:color=1,0.5,0.3 4,3 -d float -o colour.exr
    "$FFTBLOOM" precompute colour.exr -o colour.spectrum
    "$FFTBLOOM" y.exr colour.exr -o a.exr --device cpu
    "$FFTBLOOM" y.exr colour.spectrum -o b.exr --device cpu
    "$FFTBLOOM" diff a.exr b.exr --fail 1e-6
    oiiotool a.exr --printstats | grep -E 'Stats Max: [1-9]'
    # And for alpha, which is spread as luminance is.
    oiiotool --create 40x30 4 --fill:color=0.1,0.2,0.3,0.5 40x30 --point:color=9,8,7,1 7,9 -d float -o rgba.exr
    "$FFTBLOOM" rgba.exr colour.exr -o a.exr --device cpu --alpha convolve
    "$FFTBLOOM" rgba.exr colour.spectrum -o b.exr --device cpu --alpha convolve
    "$FFTBLOOM" diff a.exr b.exr --fail 1e-6
}

@test "formats that are not supported: what to do instead" {
    no_output 74 "cannot write 'o.jpg': unsupported extension; use .exr, .hdr, .pfm, .png or .npy" in.exr kernel.exr -o o.jpg
    oiiotool in.exr -o "a b.jpg"
    no_output 65 "'a b.jpg' is a JPEG file, which is not supported; convert it" in.exr "a b.jpg"
    no_output 65 "'a b.jpg' is a JPEG file" "a b.jpg" kernel.exr
    # The command that it names does it.
    eval "$(sed "s/.*for example: //" <<<"$stderr")"
    "$FFTBLOOM" "a b.exr" kernel.exr -o out.exr
    rm out.exr
    oiiotool in.exr -d float -o a.tif
    no_output 65 "'a.tif' is a TIFF file" a.tif kernel.exr
    [[ "$stderr" == *"oiiotool 'a.tif' -o 'a.exr' (with --colorconvert sRGB linear if it is not linear)" ]]
}

# A scene and its flare that are not part of this project.
@test "a real flare: exact and resampled spectra agree" {
    scene=$FFTBLOOM_ROOT/../shared/data/article
    [ -e "$scene/colorexr.exr" ] || skip "the scene is not here"
    "$FFTBLOOM" "$scene/colorexr.exr" "$scene/physical_flare_256.exr" -o ours.exr --device cpu --pixel-type float
    "$FFTBLOOM" "$scene/colorexr.exr" "$scene/physical_flare_256.exr" -o exact.exr --device cpu --pixel-type float --spectrum exact
    worst() { oiiotool "$1" "$2" --ch R,G,B --absdiff --printstats | sed -n 's/^ *Stats Max: //p' | tr ' ' '\n' | grep -E '^[0-9]' | sort -g | tail -1; }
    oiiotool ours.exr --ch R,G,B -o a.exr
    oiiotool exact.exr --ch R,G,B -o b.exr
    same=$(worst a.exr b.exr)
    echo "ours - exact: $same"
    awk -v a="$same" 'BEGIN { exit !(a < 3e-5) }' # the image's peak is 30
    "$FFTBLOOM" plan "$scene/colorexr.exr" "$scene/physical_flare_512.exr" --json |
        grep -q '"power_of_two_lengths": \[2048, 2048\]'
    "$FFTBLOOM" devices | grep -q ' software ' || skip "there is no software Vulkan"
    oiiotool "$scene/colorexr.exr" --cut 160x120+560+300 -o crop.exr
    "$FFTBLOOM" crop.exr "$scene/physical_flare_256.exr" -o soft.exr --device software --pixel-type float
    "$FFTBLOOM" crop.exr "$scene/physical_flare_256.exr" -o cpu.exr --device cpu --pixel-type float
    same=$(worst soft.exr cpu.exr)
    awk -v a="$same" 'BEGIN { exit !(a < 3e-5) }'
}

@test "what people type: one sentence that names the cure" {
    refused 64 "did you mean 'mirror'?" in.exr kernel.exr -o out.exr --padding reflect
    refused 64 "did you mean 50%?" in.exr kernel.exr -o out.exr --amount 50
    refused 64 "film is near" in.exr kernel.exr -o out.png --view filmic
    refused 64 "--kernel is given twice: 'a.exr' and 'b.exr'" in.exr -k a.exr -k b.exr -o out.exr
    refused 64 "KERNEL is given twice: 'a.exr' by -k, and 'kernel.exr'" in.exr kernel.exr -k a.exr -o out.exr
    refused 64 "'blooom' is neither a command nor a file" blooom in.exr kernel.exr -o out.exr
    refused 64 "write options before it" -- in.exr kernel.exr -o out.exr
    cp in.exr ./-s.exr
    refused 64 "write ./-s.exr" -s.exr kernel.exr -o out.exr
    refused 64 "name another file or folder" in.exr kernel.exr -o .
    refused 74 "mkdir -p 'no/such' makes it" in.exr kernel.exr -o no/such/out.exr
    [ ! -e out.exr ]
}

@test "--layers with data, and @ in names" {
    oiiotool in.exr --ch R,G,B,Z=7 -o data.exr
    run --separate-stderr "$FFTBLOOM" data.exr kernel.exr -o out.exr --layers 'rgba,Z'
    [[ "$status" -eq 0 && "$stderr" == *"--layers 'rgba,Z' takes data as light: Z"* ]]
    run --separate-stderr "$FFTBLOOM" data.exr kernel.exr -o out.exr --layers rgba
    [[ "$status" -eq 0 && "$stderr" != *"takes data"* ]]
    mkdir comp@1
    "$FFTBLOOM" in.exr kernel.exr -o comp@1/img@2x.exr
    [ -s comp@1/img@2x.exr ]
}
