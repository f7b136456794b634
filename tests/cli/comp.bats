# What compositors need: the bloom as a layer or a file, masks, settings of single layers, provenance.

load files

setup_file() {
    shared_folder || return 0
    # Two points of 8 and 4, and a kernel of two taps: 3/4 in its middle, 1/4 three to the right and
    # one down. The mask is 1/2 at the first point, and 0 elsewhere.
    local names=names=R,G,B,A,rim.R,rim.G,rim.B,Z,matte
    local pixels="0,0,0,0.5,0,0,0,7,0 10,9=8,8,8,0.5,8,8,8,7,0.5 20,5=4,4,4,0.5,4,4,4,7,0"
    image in.exr 32x24 float 0,0,0 10,9=8,8,8 20,5=4,4,4 -- two.exr 9x9 float 0 4,4=3 7,5=1 -- \
        layers.exr 32x24 float $pixels $names -- halfs.exr 32x24 half $pixels $names
}

channels() { # FILE WANT
    "$FFTBLOOM" info "$1" --json | holds - "' '.join(c['name'] for c in d['parts'][0]['channels']) == '$2'"
}

@test "emit glare, additive and source are what docs/comp.md says" {
    # centre = 0.5 * 3/4 + 0.5 = 7/8
    makes "in.exr two.exr --amount 0.5 --emit-layer g" "10 9 R,g.R=7 0" "13 10 R,g.R=1 1"
    makes "in.exr two.exr --amount 0.5 --emit-layer g --emit additive" "10 9 R,g.R=7 -1" "13 10 R,g.R=1 1"
    # With a threshold only the excess of 8 over 6 moves.
    makes "in.exr two.exr --threshold 6 --emit-layer g --emit additive" "10 9 R,g.R=7.5 -0.5" "20 5 R,g.R=4 0"
    makes "in.exr two.exr --threshold 6 --emit-layer g --emit source" "10 9 R,g.R=7.5 2" "20 5 g.R=0" "13 10 R,g.R=0.5 0"
    makes "halfs.exr two.exr --mask matte --emit-layer g --emit source --mem-limit 40MB" "10 9 g.R,g.rim.R=4 4" "20 5 g.R=0"
    if has software; then
        makes "in.exr two.exr --threshold 6 --emit-layer g --emit source --device software --sandbox off" "10 9 R,g.R=7.5 2" "20 5 g.R=0"
    fi
}

@test "the input and an amount of the additive layer are the output of that amount" {
    local k=$FFTBLOOM_ROOT/testdata/kernel.exr
    oiiotool --pattern noise:type=uniform:min=0:max=4 64x48 3 -d float -o noise.exr
    makes "noise.exr $k --emit-file add.exr --emit additive"
    channels out.exr "B G R"
    channels add.exr "B G R"
    oiiotool noise.exr add.exr --add -o sum.exr noise.exr add.exr --mulc 0.3 --add -o part.exr
    "$FFTBLOOM" diff sum.exr out.exr -fail 1e-5
    makes "noise.exr $k --amount 30%"
    "$FFTBLOOM" diff part.exr out.exr -fail 1e-5
}

@test "emit_file: a file of its own, also of layers, in sequences, and with a name" {
    makes "layers.exr two.exr --emit-file g.exr"
    channels g.exr "B G R rim.B rim.G rim.R"
    channels out.exr "A B G R Z matte rim.B rim.G rim.R"
    [ "$(pixel g.exr 13 10 R,rim.R)" = "2 2" ]
    makes "layers.exr two.exr --emit-file g.exr --emit-layer glare"
    channels g.exr "glare.B glare.G glare.R glare.rim.B glare.rim.G glare.rim.R"
    cp in.exr s.1.exr
    cp in.exr s.2.exr
    "$FFTBLOOM" s.@.exr two.exr -o o.@.exr --emit-file g.@.exr --device cpu
    cmp g.1.exr g.2.exr
    # Beside a picture it may be one; in a file are parts, too, that no picture shows.
    "$FFTBLOOM" in.exr two.exr -o out.png --emit-file g.png --exposure 1 --device cpu
    "$FFTBLOOM" g.1.exr two.exr -o want.png --amount 0 --exposure 1
    "$FFTBLOOM" diff want.png g.png -fail 0.02
    ! "$FFTBLOOM" diff out.png g.png -fail 0.02 || false
    oiiotool in.exr --attrib oiio:subimagename a in.exr --attrib oiio:subimagename b --siappend -o parts.exr
    "$FFTBLOOM" parts.exr two.exr -o out.png --emit-file g.exr
    [ "$("$FFTBLOOM" info g.exr | grep -c "colour$")" -ge 6 ]
    each refused <<'T'
64 | | s.@.exr two.exr -o o.@.exr --emit-file g.exr
64 | | in.exr two.exr -o o.exr --emit-file o.exr
64 | | in.exr two.exr -o o.exr --emit-file g.pfm
64 | .png beside a .png | in.exr two.exr -o o.exr --emit-file g.png
64 | | in.exr two.exr -o o.exr --emit additive
64 | | in.exr two.exr -o out.pfm --stamp
T
}

@test "a mask says where light spreads from, in half floats, too; no light is lost" {
    for f in layers halfs; do
        makes "$f.exr two.exr --mask matte --verify 100" "10 9 R,rim.R=7 7" "13 10 R=1" "20 5 R=4" "10 9 Z,matte=7 0.5"
    done
    # A threshold is held against the light that the mask lets through: 4 at the first point.
    makes "layers.exr two.exr --mask matte --threshold 3" "10 9 R=7.75" "13 10 R=0.25"
    # A mask in a part of its own, and light that its window does not cover.
    oiiotool in.exr --attrib oiio:subimagename beauty layers.exr --ch matte --crop 11x24+0+0 \
        --attrib oiio:subimagename mattes --siappend -d float -o parts.exr
    makes "parts.exr two.exr --mask matte --layers rgba"
    oiiotool out.exr --subimage 0 -o beauty.exr
    [ "$(pixel beauty.exr 10 9 R) $(pixel beauty.exr 20 5 R)" = "7 4" ]
    # With another window of the output.
    makes "layers.exr two.exr --mask matte --window grow" "10 9 R=7" "13 10 R=1"
    refused 64 "the mask 'none' is neither" layers.exr two.exr --mask none -o out.exr
    # A layer with one channel may have layers within.
    image deep.exr 4x1 float 1,0,0 3,0=3,1,1 names=Y,m.a,m.b.c
    makes "deep.exr two.exr --mask m --layers Y"
    # A pixel that is not finite is nobody's business where nothing spreads.
    image n.exr 4x1 float 1,0 1,0=nan,0 3,0=3,1 names=Y,m
    makes "n.exr two.exr --mask m --layers Y"
    says 6 "" n.exr two.exr --layers Y -o out.exr --device cpu
}

@test "a mask may be a file: its channel, its window, frames of it, and what remembers its bytes" {
    image m.exr 32x24 half 0 10,9=0.5
    makes "in.exr two.exr --mask m.exr --verify 100" "10 9 R=7" "13 10 R=1" "20 5 R=4"
    makes "in.exr two.exr --mask m.exr --mem-limit 40MB --window grow" "10 9 R=7" "13 10 R=1" "20 5 R=4"
    # Of several channels Y counts, else A, else R, else the first.
    image c.exr 32x24 float 0,1 10,9=0.5,1 names=Y,A -- a.exr 32x24 float 1,1,1,0 10,9=1,1,1,0.5 -- \
        r.exr 32x24 float 1,1,0 10,9=1,1,0.5 names=B,G,R -- first.exr 32x24 float 0,1 10,9=0.5,1 names=m,z
    for m in c a r first; do makes "in.exr two.exr --mask $m.exr" "10 9 R=7" "20 5 R=4"; done
    says 0 "the mask is channel 'A' of 'a.exr'" in.exr two.exr --mask a.exr -o out.exr -v --device cpu
    # A channel of that very name wins, and is not looked for in the folder.
    image named.exr 32x24 float 0,0,0,0 10,9=8,8,8,0.5 20,5=4,4,4,0 names=R,G,B,gone.exr
    makes "named.exr two.exr --mask gone.exr" "10 9 R=7" "20 5 R=4"
    # Windows are matched as they are.
    image off.exr 32x24+3+2 float 0,0,0 13,11=8,8,8 -- offm.exr 32x24+3+2 half 0 13,11=0.5
    makes "off.exr two.exr --mask offm.exr" "13 11 R=7"
    says 0 "" plan in.exr two.exr --mask m.exr
    # Frames have masks of their own. Update makes those again whose mask has other bytes.
    for i in 1 2; do cp in.exr s.$i.exr; cp m.exr m.$i.exr; done
    "$FFTBLOOM" s.@.exr two.exr -o o.@.exr --mask m.@.exr --existing update --device cpu
    [ "$(pixel o.2.exr 10 9 R)" = 7 ]
    image m.2.exr 32x24 half 1
    run_told s.@.exr two.exr -o o.@.exr --mask m.@.exr --existing update --device cpu -v
    [[ "$stderr" == *"o.1.exr: the output is up to date"* && "$stderr" != *"o.2.exr: the output is up to date"* ]]
    [ "$(pixel o.2.exr 10 9 R)" = 6 ]
    # So do a stamp and a suite's reference.
    for m in m m.1; do "$FFTBLOOM" in.exr two.exr --mask $m.exr --stamp -o $m.out.exr --device cpu; done
    cmp m.out.exr m.1.out.exr
    "$FFTBLOOM" info m.out.exr --json | holds - '"\nmask " in next(a["value"] for a in d["parts"][0]["attributes"] if a["name"] == "fftbloom:look")'
    mkdir suite
    mv in.exr two.exr m.exr suite
    echo '{"version": 1, "cases": [{"name": "a", "reference": "r.exr",
        "config": {"input": "in.exr", "kernel": "two.exr", "mask": "m.exr", "device": "cpu"}}]}' >suite/suite.json
    "$FFTBLOOM" check suite/suite.json --bless
    "$FFTBLOOM" check suite/suite.json
    cp m.2.exr suite/m.exr
    run "$FFTBLOOM" check suite/suite.json
    [[ "$status" -eq 2 && "$output" == *"made with other settings; then mask "* ]]
    mv suite/*.exr .
    "$FFTBLOOM" farm s.@.exr two.exr -o f.@.exr --mask m.@.exr --to openjd | grep -F '"--mask={{Param.Folder}}/m.@.exr"'
    image small.exr 16x12 half 0
    each refused <<'T'
65 | the mask 'small.exr' has the data window 0,0 to 15,11, and that of 'in.exr' is 0,0 to 31,23 | in.exr two.exr -o o.exr --mask small.exr
66 | none.exr | in.exr two.exr -o o.exr --mask none.exr
64 | the output 'm.1.exr' is the mask | in.exr two.exr -o m.1.exr --mask m.1.exr
64 | the mask 'm.%V.exr' has a field for views | in.exr two.exr -o o.exr --mask m.%V.exr
64 | the mask 'm.@.exr' has a frame field | in.exr two.exr -o o.exr --mask m.@.exr
64 | nor a layer with one channel; did you mean 'matte'?; it has A, B, G, R, Z, matte, rim.B, rim.G, rim.R | layers.exr two.exr -o o.exr --mask mate
64 | nor a layer with one channel; it has | in.exr two.exr -o o.exr --per-layer rgba:mask=m.exr
T
    "$FFTBLOOM" - two.exr -o p.exr --mask m.1.exr --device cpu <in.exr
    [ "$(pixel p.exr 10 9 R)" = 7 ]
}

@test "what is beyond half floats with the light that a mask holds back is told" {
    # 30000 are held back, 3/4 of 30000 stay, and 1/4 of 60000 come from the other point.
    image big.exr 32x24 half 0,0,0,0 10,9=60000,60000,60000,0.5 7,8=60000,60000,60000,1 names=R,G,B,matte
    makes "big.exr two.exr --mask matte --report r.json" "10 9 R=65504"
    grep -q "3 values beyond 65504, up to 67500, were clamped to it" r.json
    says 6 "3 values of the result, up to 67500, are beyond 65504" big.exr two.exr --mask matte --half-overflow error -o out.exr --device cpu
    makes "big.exr two.exr --mask matte --half-overflow float" "10 9 R=67500"
    makes "big.exr two.exr --mask matte --pixel-type float" "10 9 R=67500"
    # Nothing becomes half where the layer is kept, and its alpha stays with it.
    image wide.exr 32x24 float 0,0,0,1 10,9=90000,90000,90000,1
    for channels in '*' rgba R,G,B; do
        run "$FFTBLOOM" wide.exr two.exr -o out.exr --pixel-type half --half-overflow float --device cpu --layers "$channels" -v
        [[ "$status" -eq 0 && "$output" == *"the layer is written as float"* && "$output" != *"types to half"* ]]
        "$FFTBLOOM" info out.exr --json | holds - 'all(c["type"] == "float" for c in d["parts"][0]["channels"])'
    done
    # Infinity stays infinity where the mask is 0, and nothing is promised for it.
    image i.exr 4x1 half 1,0 1,0=inf,0 names=Y,m
    makes "i.exr two.exr --mask m --layers Y --verify 20" "1 0 Y=inf" "2 0 Y=1"
}

@test "a layer of glare that halfs do not hold: floats in the image and in a file of its own, once" {
    image big.exr 8x8 float 100000 -- one.exr 3x3 float 0 1,1=1 -- point.exr 32x24 float 0.5 10,9=100000 -- flat.exr 5x5 float 1
    layered() { timeout 60 "$FFTBLOOM" "$@" -o out.exr --pixel-type half --device cpu -v; }
    types() { "$FFTBLOOM" info "$1" --json | holds - "{c['type'] for c in d['parts'][0]['channels']} == {'$2'}"; }
    local emit how
    for emit in glare additive source; do
        for how in "" "--mem-limit 40MB"; do
            layered big.exr flat.exr --half-overflow float --emit-layer e --emit $emit $how
            types out.exr float
            layered big.exr flat.exr --half-overflow float --emit-file e.exr --emit $emit $how
            types out.exr float
            types e.exr float
        done
    done
    # The image has 4000 there, and what spreads is 100000: the layer counts as the image does.
    layered point.exr flat.exr --half-overflow float --emit-layer e --emit source
    types out.exr float
    python3 "$FFTBLOOM_ROOT/tests/cli/image.py" check out.exr "10 9 e.Y=100000"
    layered point.exr flat.exr --emit-layer e --emit source --report r.json
    types out.exr half
    grep -q "1 values beyond 65504, up to 100000, were clamped to it" r.json
    refused 6 "1 values of the result, up to 100000, are beyond 65504" point.exr flat.exr --emit-layer e --emit source \
        --pixel-type half --half-overflow error -o out.exr --device cpu
}

@test "single layers have settings of their own" {
    makes "layers.exr two.exr --per-layer rim:amount=0.5" "10 9 R,rim.R=6 7"
    echo '{"version": 1, "per_layer": {"*": {"amount": 0}, "rim": {"sharpen": 0.75, "mask": "matte"}, "rgba": {"sharpen": 0, "threshold": 6}}}' >look.json
    # rim: 4 + (0.25 * 3/4 + 0.75) * 4
    makes "layers.exr two.exr --config look.json --verify 100 --report r.json" "10 9 R,rim.R=7.5 7.75"
    grep -q "layer 'rgba': only light above 6 is spread" r.json
    "$FFTBLOOM" schema config >schema.json
    python3 -c 'import json, jsonschema; jsonschema.validate(json.load(open("look.json")), json.load(open("schema.json")))'
    "$FFTBLOOM" plan --print-config --config look.json | grep -q '^per_layer .*"rim:mask=matte".* look.json:1:'
    while IFS='|' read -r layers words; do
        echo "{\"version\": 1, \"per_layer\": $layers}" >bad.json
        refused 64 "$words" layers.exr two.exr --config bad.json -o out.exr
        [[ "$stderr" == *"bad.json:1:"* ]]
    done <<'T'
{"rim": {"sharpens": 1}}|'sharpens' is not a setting of a layer
{"rim": {"sharpen": 2}}|from 0 to 1 or a percentage, not '2'
{"rim": 2}|must be an object, not a number
{"rim": {"amount": "120%"}}|from 0 to 1 or a percentage, not '120%'
{"rim": {"knee": "20%"}}|must be a number from 0, not '20%'
T
    echo '{"version": 1, "per_layer": {"nosuch": {"amount": "20%"}}}' >bad.json
    each refused <<'T'
64 | | layers.exr two.exr --per-layer rim -o out.exr
64 | no layer matches --per-layer 'nosuch'; the colour layers are: rgba, rim | layers.exr two.exr --per-layer nosuch:amount=0.5 -o out.exr
64 | no layer matches --per-layer 'nosuch*'; the colour layers are: rgba, rim | layers.exr two.exr --per-layer rim:amount=0.5,nosuch*:knee=1 -o out.exr
64 | no layer matches --per-layer 'nosuch' | plan layers.exr two.exr --config bad.json --device cpu
T
    makes "layers.exr two.exr --per-layer rim:amount=0.5 --exclude rim"
    # The spellings that the options take.
    makes "layers.exr two.exr --per-layer rim:amount=50%,rgba:threshold=inf" "10 9 R,rim.R=8 7"
    echo '{"version": 1, "per_layer": {"rim": {"amount": "50%"}, "rgba": {"threshold": "inf"}}}' >look.json
    makes "layers.exr two.exr --config look.json" "10 9 R,rim.R=8 7"
    # A layer's own threshold of nothing.
    makes "layers.exr two.exr --threshold 6 --per-layer rim:threshold=0" "10 9 R,rim.R=7.5 6"
}

@test "stamp: how it was made, and a note on an image that was bloomed already" {
    makes "in.exr two.exr --stamp --amount 0.5"
    "$FFTBLOOM" info out.exr >info
    grep -q 'fftbloom:version  *string  fftbloom ' info
    grep -q 'fftbloom:source  *string  in.exr' info
    grep -q 'fftbloom:look  *string  amount 0.5' info
    says 0 "an input was bloomed already" out.exr two.exr -o twice.exr
    warns "" in.exr two.exr -o out.exr
}

# The commands of a section of docs/comp.md.
section() { # TITLE
    awk -v title="## $1" '/^## / { on = $0 == title } on && sub(/^    /, "")' "$FFTBLOOM_ROOT/docs/comp.md"
}

@test "the round trip of a distorted plate: glare of lamps in the overscan lands where the plate has them" {
    needs_program oiiotool
    cat >maps.py <<'PY'
import numpy as np
import OpenImageIO as oiio

W, H, OVER, K = 96, 64, 8, -0.05  # a point of the flat picture is at r (1 + K r^2) in the plate, r in half widths

def distorted(x, y):
    u, v = (x - W / 2) / (W / 2), (y - H / 2) / (W / 2)
    f = 1 + K * (u * u + v * v)
    return W / 2 + u * f * W / 2, H / 2 + v * f * W / 2

def flat(x, y):
    a, b = x.copy(), y.copy()
    for _ in range(80):
        p, q = distorted(a, b)
        a, b = a + x - p, b + y - q
    return a, b

def write(name, x, y, at, over):  # places as shares of the frame, or of the picture with overscan
    spec = oiio.ImageSpec(x.shape[1], x.shape[0], 3, oiio.FLOAT)
    spec.x = spec.y = at
    spec.full_width, spec.full_height = W + 2 * over, H + 2 * over
    out = oiio.ImageOutput.create(name)
    out.open(name, spec)
    out.write_image(np.dstack([(x + over) / spec.full_width, (y + over) / spec.full_height, 0 * x]).astype("f4"))

grown = np.meshgrid(-OVER + np.arange(W + 2 * OVER) + 0.5, -OVER + np.arange(H + 2 * OVER) + 0.5)
write("undistort.exr", *distorted(*grown), -OVER, 0)
write("redistort.exr", *flat(*grown), 0, OVER)
PY
    /usr/bin/python3 -c "import numpy, OpenImageIO" 2>/dev/null || skip "no OpenImageIO for Python"
    /usr/bin/python3 maps.py
    # One lamp in the middle, one beside the corner, which is beyond the frame in the flat picture.
    oiiotool --pattern constant:color=0.2,0.2,0.2 96x64 3 -d float --fill:color=300,300,300 2x2+47+31 \
        --fill:color=500,400,300 2x2+92+59 -o plate.exr
    "$FFTBLOOM" kernel make mist-1 --taps 41 -o kernel.exr -q
    section "Undistort, bloom, distort again" | sed "s|^fftbloom|$FFTBLOOM|" >trip.sh
    [ "$(wc -l <trip.sh)" -eq 5 ]
    bash -e trip.sh
    "$FFTBLOOM" info flat.exr --json | holds - "d['parts'][0]['data_window'] == [-8, -8, 103, 71]" "d['parts'][0]['display_window'] == [0, 0, 95, 63]"
    "$FFTBLOOM" info out.exr --json | holds - "d['parts'][0]['data_window'] == [0, 0, 95, 63]"
    # Beside a bloom of the plate as it is, and a round trip that forgets the overscan.
    "$FFTBLOOM" plate.exr kernel.exr -o direct.exr --padding zero
    mv out.exr trip.exr
    sed 's/--crop 112x80-8-8//; s/--origin +0+0 --fullpixels//; s/--cut 96x64+8+8//' trip.sh >narrow.sh
    bash -e narrow.sh
    /usr/bin/python3 - <<'PY'
import numpy as np
import OpenImageIO as oiio
read = lambda name: oiio.ImageBuf(name).get_pixels(oiio.FLOAT)[..., 0]
plate, trip, direct, narrow = (read(n) for n in ("plate.exr", "trip.exr", "direct.exr", "out.exr"))
y, x = np.mgrid[:64, :96]
far = (np.hypot(x - 92.5, y - 59.5) > 6) & (np.hypot(x - 47.5, y - 31.5) > 6)
off = abs(trip - direct)[far] / direct[far]
assert np.percentile(off, 90) < 0.04, np.percentile(off, 90)  # the lens changes sizes by up to a sixth here
near = ~far & (x > 80)  # glare of the lamp beside the corner
dark = near & (plate < 1)
light = [p[dark].sum() for p in (trip, direct, narrow)]
assert 0.8 < light[0] / light[1] < 1.25 and light[2] < 0.3 * light[0], light  # without overscan the lamp is lost
for lamp in ((90, 56, 96, 64), (44, 28, 52, 36)):  # in its place, to a tenth of a pixel or two
    part = np.s_[lamp[1]:lamp[3], lamp[0]:lamp[2]]
    at = [[(p * n)[part].sum() / p[part].sum() for n in (x, y)] for p in (trip, direct)]
    assert np.abs(np.subtract(*at)).max() < 0.3, at
PY
}
