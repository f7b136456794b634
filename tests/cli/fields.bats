# Kernels that vary over the frame (docs/fields.md), as files: tests/unit/test_field.c sums each pixel.
load files

# Makes field.exr of two rows of rays, which differ in number and angle.
setup_file() {
    shared_folder || return 0
    local i=0 at
    for at in "0 0" "1 0" "0 1" "1 1"; do
        "$FFTBLOOM" kernel make star --param blades=$((4 + 2 * (i % 2))),turn=$((7 * i)) --taps 61 -o k$i.exr
        oiiotool k$i.exr --attrib:type=string fftbloom.node "$at" --attrib oiio:subimagename node$i -o p$i.exr
        i=$((i + 1))
    done
    oiiotool p0.exr p1.exr p2.exr p3.exr --siappendall -o field.exr
    oiiotool --pattern constant:color=.1,.1,.1 200x120 3 --box:color=200,150,80:fill=1 10,20,12,22 \
        --box:color=20,15,80:fill=1 180,100,182,104 -d half -o in.exr
}

@test "a field blooms a frame, and --verify sums with the kernel of each pixel" {
    "$FFTBLOOM" apply in.exr field.exr -o out.exr --verify 3000 --report r.json
    python3 -c 'import json; d = json.load(open("r.json"))["frames"][0]; assert d["promise"]["kept"] and d["verify"]["pixels"] > 1000 and not d["verify"]["broken"]'
    run -0 "$FFTBLOOM" plan in.exr field.exr
    [[ $output == *"the kernel is a field of 4: 4 windows, which have "* ]]
}

@test "nodes of unknown primaries go with a shipped kernel; messages name the field and what is wrong" {
    for i in 0 1; do oiiotool k$i.exr --eraseattrib chromaticities -o n$i.exr; done
    field() { printf '{"version": 1, "field": {"x": [0, 1], "y": [0], "nodes": [["n0.exr", "%s"]], "common": {"share": 0.3, "kernel": %s}}}' "$@"; }
    field n1.exr '"mist-2"' >veiled.json
    "$FFTBLOOM" apply in.exr veiled.json -o out.exr --verify 300
    "$FFTBLOOM" kernel make veiled.json -o veiled.exr
    "$FFTBLOOM" apply in.exr veiled.exr -o same.exr
    "$FFTBLOOM" diff out.exr same.exr
    field nothere.exr '"mist-2"' >missing.json
    says 66 "the field 'missing.json'" apply in.exr missing.json -o never.exr
    field n1.exr '{"layers": [{"model": "moffat"}], "field": {}}' >twice.json
    says 64 'the common kernel is the same everywhere, and has no "field"' apply in.exr twice.json -o never.exr
    says 64 "add up to 10.0001 waves; at most 10" kernel make aperture --param coma=5,focus=5.0001 --taps 33 -o never.exr
}

@test "plan prices a field by the points of its windows, and by runs with fields" {
    export FFTBLOOM_CACHE_DIR="$PWD/pace"
    oiiotool --pattern constant:color=.1,.1,.1 960x540 3 -d half -o large.exr
    plan() { "$FFTBLOOM" plan large.exr "$1" --device cpu --json "${@:2}"; }
    plan k0.exr >one.json
    for more in "" "--mem-limit 60M"; do
        plan field.exr $more | holds - 'd["seconds"]["runs"] == 0' '1.5 < (d["seconds"]["about"] - 0.02) / (json.load(open("one.json"))["seconds"]["about"] - 0.02) < 4.5'
    done
    "$FFTBLOOM" large.exr k0.exr -o o.exr --device cpu
    plan field.exr | holds - 'd["seconds"]["runs"] == 0'
    "$FFTBLOOM" large.exr field.exr -o o.exr --existing replace --device cpu
    plan field.exr | holds - 'd["seconds"]["runs"] == 1'
    [ "$(grep -c "one, field$" pace/pace.txt)" -eq 1 ]
}

@test "frames of a sequence and threads give the same bytes" {
    for i in 1 2 3; do cp in.exr s.000$i.exr; done
    "$FFTBLOOM" apply s.####.exr field.exr -o o.####.exr --jobs 2
    "$FFTBLOOM" apply in.exr field.exr -o out.exr --jobs 1
    for i in 1 2 3; do "$FFTBLOOM" diff out.exr o.000$i.exr; done
}

@test "masks, thresholds, tints, layers of glare and sizes work with a field" {
    oiiotool in.exr --ch R,G,B,m=0.5 -o masked.exr
    "$FFTBLOOM" apply masked.exr field.exr -o a.exr --mask m --threshold 0.2 --knee 0.1 --tint 1,0.5,2 \
        --amount 0.7 --emit-layer glare --kernel-scale 0.7 --kernel-turn 20 --padding mirror,wrap \
        --precision float64 --core 2 --verify 500
}

@test "a field as JSON: mirrors and names, the same bytes as its EXR file, and files beside it in the sandbox" {
    mkdir -p lens
    cp k0.exr k1.exr lens
    cat >lens/f.json <<'J'
{"version": 1, "field": {"x": [0, 0.3, 0.5], "y": [0.2, 1], "mirror": "x",
 "nodes": [["k0.exr", "k1.exr", "k0.exr"], ["k1.exr", "k1.exr:0.7 + k0.exr", "k0.exr"]],
 "common": {"kernel": "veil.exr", "share": 0.3}}}
J
    "$FFTBLOOM" kernel make star --param blades=8 --taps 99 -o lens/veil.exr
    local sandbox=on
    [ "${SAN:-0}" = 0 ] || sandbox=off # a build with sanitizers has none
    "$FFTBLOOM" apply in.exr lens/f.json -o a.exr --sandbox "$sandbox" --verify 1000 --amount 0.6
    "$FFTBLOOM" kernel make lens/f.json -o f.exr
    "$FFTBLOOM" apply in.exr f.exr -o b.exr --amount 0.6
    "$FFTBLOOM" diff a.exr b.exr
    run -0 "$FFTBLOOM" plan in.exr lens/f.json
    [[ $output == *"the kernel is a field of 11: 11 windows"* ]]
    run -64 --separate-stderr "$FFTBLOOM" apply in.exr lens/f.json -o lens/k1.exr
    [[ $stderr == *"a kernel of the field"* ]]
    run -64 --separate-stderr "$FFTBLOOM" kernel make lens/f.json -o x.exr --taps 9
    [[ $stderr == *"is a field; its kernels have parameters"* ]]
}

@test "each corner has its own kernel, through JSON and through a file of oiiotool" {
    # Kernels of one tap move a lamp by an offset of their own; the grid is uneven and not square.
    local n=0 x y parts=() json=() row
    for y in 0.2 0.9; do
        row=()
        for x in 0.1 0.3 0.95; do
            oiiotool --create 15x13 1 --ch Y=0 --box:color=1:fill=1 $((12 - 2 * n)),$((1 + n)),$((12 - 2 * n)),$((1 + n)) -d float -o m$n.exr
            oiiotool m$n.exr --attrib:type=string fftbloom.node "$x $y" --attrib oiio:subimagename n$n -o n$n.exr
            parts+=("n$n.exr") row+=("\"m$n.exr\"") n=$((n + 1))
        done
        json+=("[$(IFS=,; echo "${row[*]}")]")
    done
    oiiotool "${parts[@]}" --siappendall -o six.exr
    echo "{\"field\": {\"x\": [0.1, 0.3, 0.95], \"y\": [0.2, 0.9], \"nodes\": [$(IFS=,; echo "${json[*]}")]}}" >six.json
    # Lamps at the corners, beyond the outer nodes.
    python3 - <<'PY'
import struct
w, h = 70, 50
at = [(5, 8), (5, 47), (67, 8), (67, 47)]
rows = [[float((x, y) in at) for x in range(w)] for y in range(h)]
open("lamps.pfm", "wb").write(b"Pf\n%d %d\n-1\n" % (w, h) + b"".join(struct.pack("<%df" % w, *r) for r in rows[::-1]))
PY
    for field in six.exr six.json; do
        "$FFTBLOOM" apply lamps.pfm "$field" -o got.pfm --padding zero --existing replace
        python3 - <<'PY'
import struct
f = open("got.pfm", "rb")
f.readline(), f.readline(), f.readline()
v = struct.unpack("<3500f", f.read())
bright = {(i % 70, 49 - i // 70) for i, p in enumerate(v) if p > 0.4}
node = {(5, 8): 0, (67, 8): 2, (5, 47): 3, (67, 47): 5}
want = {(x + 12 - 2 * n - 7, y + 1 + n - 6) for (x, y), n in node.items()}
assert bright == want, (sorted(bright), sorted(want))
PY
    done
}

@test "kernel check says of each node where it is, its sums and its faults, and how far neighbours are apart" {
    "$FFTBLOOM" kernel make gaussian --param sigma=2 --taps 21 -o a.exr -q
    "$FFTBLOOM" kernel make disc --param radius=4 --taps 15x17 -o b.exr -q
    echo '{"field": {"x": [0, 0.25, 1], "y": [0.5], "nodes": [["a.exr", "b.exr", "a.exr"]], "common": {"kernel": "b.exr", "share": 0.2}}}' >f.json
    "$FFTBLOOM" kernel check f.json --json | holds - 'd["grid"] == [3, 1] and len(d["nodes"]) == 4 and 0.1 < d["neighbours"] < 1' \
        'abs(d["neighbours"] - d["left_out"]) < 1e-9' 'd["nodes"][1]["at"] == [0.25, 0.5] and d["nodes"][1]["size"] == [15, 17]' \
        'd["nodes"][0]["share"] == 0.8 and d["nodes"][3]["share"] == 0.2 and "at" not in d["nodes"][3]' \
        'all(abs(n["sum"][0] - 1) < 1e-6 and n["warnings"] == [] for n in d["nodes"])'
    "$FFTBLOOM" kernel check f.json --strict | grep -q "^left out"
    "$FFTBLOOM" kernel make gaussian --param sigma=30 --taps 21 --fade 1 -o cut.exr -q
    sed s/b.exr/cut.exr/ f.json >g.json
    run -1 "$FFTBLOOM" kernel check g.json --strict
    [[ $output == *"a background of about"* ]]
}

@test "stamps name all files of a field: the same on a second run, another when one of them changes" {
    mkdir lens
    local file
    for file in a:2 b:3 veil:4; do
        "$FFTBLOOM" kernel make disc --param radius=${file#*:} --taps 9 -o lens/${file%:*}.exr -q
    done
    echo '{"field": {"x": [0, 1], "y": [0.5], "nodes": [["a.exr", "b.exr:0.5 + a.exr"]], "common": {"kernel": "veil.exr", "share": 0.1}}}' >lens/f.json
    stamp() { # prints that of the kernel
        "$FFTBLOOM" apply in.exr "${1:-lens/f.json}" -o o.exr --stamp --existing replace -q
        "$FFTBLOOM" info o.exr | grep -oE 'fftbloom:kernel  *string  [0-9a-f]{32}'
    }
    local first
    first=$(stamp)
    [ "$(stamp)" = "$first" ]
    [ "$(FFTBLOOM_CACHE_DIR=/dev/null/x stamp)" = "$first" ]
    printf '{"version": 1, "cases": [{"name": "one", "reference": "ref.exr", "config": {"input": "in.exr", "kernel": "lens/f.json"}}]}' >s.json
    "$FFTBLOOM" check s.json --bless
    "$FFTBLOOM" check s.json
    for file in a b veil; do
        cp lens/$file.exr kept.exr
        "$FFTBLOOM" kernel make disc --param radius=1 --taps 9 -o lens/$file.exr -q
        [ "$(stamp)" != "$first" ]
        run -2 --separate-stderr "$FFTBLOOM" check s.json
        [[ $output == *"the reference was made with another kernel"* ]]
        cp kept.exr lens/$file.exr
    done
    # So does a place.
    sed 's/0, 1/0, 0.9/' lens/f.json >lens/g.json
    [ "$(stamp lens/g.json)" != "$first" ]
    [ "$(stamp)" = "$first" ]
    "$FFTBLOOM" check s.json
}

@test "what takes one kernel refuses a field by name" {
    local of="is a field of 4 kernels"
    for what in "precompute field.exr -o x.spectrum" \
        "kernel mix field.exr k0.exr -o x.exr" "deglare in.exr field.exr -o x.exr" \
        "apply in.exr field.exr -o x.exr --window grow" "apply in.exr field.exr -o x.exr --core auto" \
        "apply in.exr field.exr -o x.exr --kernel-center peak"; do
        run -64 --separate-stderr "$FFTBLOOM" $what || { echo "$what: $status $stderr"; false; }
        [[ $stderr == *"$of"* ]] || { echo "$what: $stderr"; false; }
    done
    [ ! -e x.exr ]
}

@test "an image that does not fit the memory is bloomed in tiles, with the kernel of each pixel" {
    oiiotool --pattern constant:color=.1,.1,.1 1500x1100 3 --box:color=200,150,80:fill=1 10,20,12,22 \
        --box:color=20,15,80:fill=1 1480,1000,1482,1004 --box:color=9,15,80:fill=1 700,500,702,504 -d half -o large.exr
    for padding in zero mirror wrap,clamp; do
        "$FFTBLOOM" apply large.exr field.exr -o whole.exr --padding $padding --report w.json
        "$FFTBLOOM" apply large.exr field.exr -o tiles.exr --padding $padding --mem-limit 42M --verify 500 --report t.json
        holds t.json 'd["frames"][0]["tiles"]["count"][1] > 1' 'd["frames"][0]["promise"]["kept"]' \
            'd["frames"][0]["verify"]["pixels"] > 400 and not d["frames"][0]["verify"]["broken"]'
        "$FFTBLOOM" diff whole.exr tiles.exr --fail 1e-4 --failrelative 0.002
        python3 - <<'END'
import json
w, t = (json.load(open(n))["frames"][0]["ledger"] for n in ("w.json", "t.json"))
for a, b in zip(w, t):
    for key in ("in", "out", "gained", "spilled"):
        assert abs(a[key] - b[key]) <= 1e-5 * a["in"], (key, a[key], b[key])
END
    done
    run -0 "$FFTBLOOM" plan large.exr field.exr --mem-limit 42M
    [[ $output == *"windows of a field"* ]]
    "$FFTBLOOM" plan large.exr field.exr --mem-limit 42M --json | holds - '1.5 < d["tiles"]["windows"] <= 4' 'd["notes"] == []'
}

@test "masks, thresholds, layers of glare and settings of a layer in tiles are those of the whole" {
    oiiotool --pattern constant:color=.1,.1,.1 1200x900 3 --box:color=200,150,80:fill=1 10,20,12,22 \
        --box:color=9,15,80:fill=1 700,500,702,504 -o rgb.exr
    oiiotool --pattern fill:left=0:right=1 1200x900 1 --chnames m -o m.exr
    oiiotool rgb.exr --dup --chnames key.R,key.G,key.B --chappend m.exr --chappend -d half -o in4.exr
    for what in "--mask m --threshold 0.2 --knee 0.1" "--emit-layer glow" "--emit-layer glow --emit additive --amount 0.5" \
        "--per-layer key:amount=0.3,key:threshold=1"; do
        "$FFTBLOOM" apply in4.exr field.exr -o w4.exr $what -q
        "$FFTBLOOM" apply in4.exr field.exr -o t4.exr $what -q --mem-limit 46M --verify 100 --report t4.json
        holds t4.json 'd["frames"][0]["tiles"]["count"][1] > 1' 'not d["frames"][0]["verify"]["broken"]'
        "$FFTBLOOM" diff w4.exr t4.exr --fail 1e-4 --failrelative 0.002
    done
}
