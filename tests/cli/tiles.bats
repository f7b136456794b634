# Images that do not fit into the memory: bloomed tile by tile, in rows from file to file. The result
# is compared with that of the whole image; the promise allows a thousandth, and what is asked for
# here is far less.

load files

setup_file() {
    shared_folder || return 0
    # Odd sizes, light at the borders, and a kernel that is not symmetric.
    oiiotool --pattern noise:type=uniform:min=0.05:max=0.9 501x397 3 --point:color=50,40,30 300,390 \
        --point:color=9,8,7 0,200 --point:color=500,400,300 500,0 -d float --attrib compression zip -o in.exr
    image kernel.exr 41x30 float 0.001,0.002,0.003 20,15=1,1,1 3,28=0.3,0.2,0.1
    # Halfs, alpha in square tiles, from the last line up, several parts, other windows.
    oiiotool in.exr --ch R,G,B,A=0.5,b.R=B,b.G=R,b.B=G,c.R=G,c.G=B,c.B=R,d.Y=R,e.R=R,e.G=B,e.B=G --compression none -o layers.exr \
        in.exr --ch R,G,B,A=0.5,spec.R=B,spec.G=R,spec.B=G,m.m=R -o mask.exr \
        in.exr --ch R,G,B,Z.Z=0.25,m.m=R --crop 300x397+150+0 --fullsize 520x301-10+25 \
        --attrib openexr:lineOrder decreasingY -o moved.exr \
        in.exr --ch R,G,B,A=0.5,spec.R=B,spec.G=R,spec.B=G,Z.Z=0.25 -d half --attrib compression piz -o spaces.exr \
        --attrib openexr:lineOrder decreasingY -o below.exr \
        in.exr --attrib compression piz -o half.exr \
        in.exr --ch R,G,B,A=0.5 --tile 64 64 -o rgba.exr \
        in.exr --ch R,G,B,Z.Z=0.25 --fullsize 200x140+30+25 -o inner.exr
    oiiotool in.exr --ch R,G,B,id.x=7,Z=R --attrib oiio:subimagename one \
        in.exr --chsum --chnames crypto00.R --attrib oiio:subimagename two \
        in.exr --mulc 0.5 --attrib oiio:subimagename three --siappendall -o parts.exr
    oiiotool in.exr --attrib oiio:subimagename light --attrib openexr:lineOrder decreasingY \
        in.exr --ch R --chnames mask.m --crop 300x200+150+90 --attrib oiio:subimagename far --siappend -d float -o far.exr
}

alike() { # A B: the sums of light differ in the last bits alone
    "$FFTBLOOM" diff "$1" "$2" --fail "${FAR:-1e-6}" --failrelative "${NEAR:-3e-5}"
}

types() { # FILE CHANNEL=TYPE...
    [ "$("$FFTBLOOM" info "$1" --json | python3 -c 'import json, sys
print(*(c["name"] + "=" + c["type"] for c in json.load(sys.stdin)["parts"][0]["channels"]))')" = "${*:2}" ]
}

# Blooms the whole image, and tiles of it; their results are alike.
same() { # LIMIT INPUT options...
    local limit=$1 input=$2
    shift 2
    echo "$input $*"
    "$FFTBLOOM" "$input" kernel.exr -o whole.exr --device cpu --jobs 2 "$@" --report whole.json
    "$FFTBLOOM" "$input" kernel.exr -o tiled.exr --device cpu --jobs 2 "$@" --report tiled.json --mem-limit "$limit"
    alike whole.exr tiled.exr
    python3 - <<'PY'
import json
whole, tiled = (json.load(open(f))["frames"][0] for f in ("whole.json", "tiled.json"))
assert "tiles" not in whole
tiles = tiled["tiles"]
assert tiles["count"][0] * tiles["count"][1] > 3, tiles
assert tiled["promise"]["kept"] and tiled["groups"] == whole["groups"]
assert len(tiled["ledger"]) == len(whole["ledger"])
for a, b in zip(whole["ledger"], tiled["ledger"]):
    assert abs(b["gap"]) < 1e-6, b
    assert a["channel"] == b["channel"]
    for key in ("in", "gained", "out", "spilled", "overflow"):
        assert abs(a[key] - b[key]) <= 1e-6 * a["in"], (key, a, b)
PY
}

rows() { # of standard input: NEAR FAR LIMIT INPUT options
    while read -r NEAR FAR line; do eval "same $line" </dev/null; done
}

same_header() { # of whole.exr and tiled.exr
    diff <("$FFTBLOOM" info whole.exr --json | sed 's/whole/tiled/; /"bytes"\|"chunks"/d') \
        <("$FFTBLOOM" info tiled.exr --json | sed '/"bytes"\|"chunks"/d')
}

# tests/unit/test_part.c has all borders, precisions and line orders, and tiles of each shape.
@test "tiles give what the whole image gives: kernels, types, parts, layers" {
    [[ "$("$FFTBLOOM" info rgba.exr)" == *"width 64, height 64"* ]]
    rows <<'T'
3e-5 1e-6 7MB in.exr --kernel-center 3.25,20.5
3e-5 1e-6 7MB in.exr --kernel-scale 0.1h --verify 20
3e-5 1e-6 7MB in.exr --spectrum exact
1e-3 1e-6 6MB in.exr --pixel-type half
1e-3 1e-6 6MB half.exr --pixel-type float
1e-3 1e-6 5MB rgba.exr --alpha convolve
1e-3 1e-6 7MB parts.exr
1e-4 1e-4 16MB layers.exr --per-layer b:threshold=1,b:knee=0.5,c:sharpen=0.4
1e-4 1e-4 16MB layers.exr --mask c.G --alpha convolve
1e-4 1e-4 16MB layers.exr --input-space acescg --output-space srgb
T
    # Nothing is bloomed, so no bit changes.
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --mem-limit 6MB --amount 0
    "$FFTBLOOM" diff in.exr out.exr --fail 0
    # The colours are converted all the same.
    "$FFTBLOOM" in.exr kernel.exr -o whole.exr --device cpu --amount 0 --output-space srgb
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --amount 0 --output-space srgb --mem-limit 6MB
    "$FFTBLOOM" diff whole.exr out.exr --fail 0
    run "$FFTBLOOM" diff in.exr out.exr --fail 0
    [ "$status" -eq 2 ]
    # The kernel is larger than what a tile keeps.
    "$FFTBLOOM" kernel make moffat --taps 180 --param core=20 -o kernel.exr
    oiiotool in.exr --resize 1501x397 -o wide.exr
    same 20MB wide.exr --padding mirror,clamp
}

@test "what no tiles fit into is refused, with the numbers" {
    "$FFTBLOOM" kernel make moffat --taps 500 --param core=20 -o large.exr
    each refused <<'T'
75 | 501 x 397 pixels do not fit into the memory, nor do the smallest tiles of a kernel of 41 x 30 taps: they need | -q in.exr kernel.exr -o out.exr --device cpu --mem-limit 2MB
75 | nor do the smallest tiles | plan -q in.exr kernel.exr --device cpu --mem-limit 2MB
75 | nor do the smallest tiles of a kernel of 500 x 500 taps: they need | -q in.exr large.exr -o out.exr --device cpu --mem-limit 16MB
75 | nor do the smallest tiles | -q in.exr kernel.exr -o none.png --before no.png --device cpu --mem-limit 3MB
75 | a picture of 501 x 397 pixels takes 3.0 MB of the limit of 2.0 MB; write an .exr | -q in.exr kernel.exr -o none.png --device cpu --mem-limit 2MB
T
    [ -z "$(ls | grep -e ^out -e ^no)" ]
}

@test "masks: of the part, of another part with another window, of single layers" {
    # Pixels that are not finite come through where nothing of them is spread.
    oiiotool mask.exr --fill:color=0,0,0,0,0,0,0,0 9x9+100+100 --point:color=nan,1,1,1,0,0,0,0 103,104 -o bad.exr
    rows <<'T'
1e-4 1e-6 12MB mask.exr --mask m
2e-3 1e-6 12MB mask.exr --mask m.m --pixel-type half --emit-layer glow
1e-4 1e-6 12MB mask.exr --per-layer "spec:mask=m,rgba:sharpen=0.4" --alpha convolve
1e-4 1e-6 8MB far.exr --mask mask
1e-4 1e-6 12MB bad.exr --mask m.m
T
    for no in no spec; do # spec has three channels
        refused 64 "the mask '$no' is neither a channel of the image nor a layer with one channel" \
            -q mask.exr kernel.exr -o out.exr --device cpu --mem-limit 12MB --mask $no
    done
}

@test "windows: cropped, grown, and as the display shows them; all layers of colour are converted" {
    # Data moves with the colour; lines from the last one up; chunks of several lines. Where colours
    # cancel, values are near 0. What is shown ends where a row of tiles does.
    oiiotool in.exr --fullsize 501x200+0+0 --compression zip -o short.exr
    rows <<'T'
1e-4 1e-6 6MB short.exr --window display --padding zero
1e-4 1e-6 11MB moved.exr --window display
1e-4 1e-6 11MB moved.exr --window grow --mask m --emit-layer glow
1e-4 1e-6 11MB moved.exr --window display --mask m --verify 20 --output-space srgb
1e-4 1e-6 7MB inner.exr --window display --padding mirror --pixel-type float
T
    same_header
    rows <<'T'
1e-3 1e-6 7MB spaces.exr --input-space srgb --layers rgba
1e-3 1e-6 7MB spaces.exr --output-space srgb --layers rgba --pixel-type half
1e-3 1e-4 10MB spaces.exr --input-space acescg --output-space srgb --layers rgba --pixel-type float
1e-3 1e-6 8MB below.exr --input-space srgb --output-space input --alpha convolve
T
    same_header
}

@test "--emit-file: the glare goes to a file of its own" {
    NEAR=1e-3
    while read -r limit input options; do
        "$FFTBLOOM" $input kernel.exr -o whole.exr --emit-file a.exr --device cpu $options
        "$FFTBLOOM" $input kernel.exr -o tiled.exr --emit-file b.exr --device cpu --mem-limit $limit $options -v 2>log
        grep -q "tiles of" log
        alike whole.exr tiled.exr
        alike a.exr b.exr
    done <<'T'
12MB mask.exr --emit-layer glow
14MB mask.exr --emit additive --pixel-type half
8MB parts.exr
T
}

@test "bad pixels: refused with the first place, taken as zero, or as their neighbours" {
    oiiotool in.exr --point:color=nan,1,1 100,250 -o bad.exr
    refused 6 "1 pixel is NaN or infinite, the first in channel 'R' at 100, 250" \
        -q bad.exr kernel.exr -o out.exr --device cpu --mem-limit 6MB
    [ ! -e out.exr ]
    same 6MB bad.exr --nan zero
    holds tiled.json 'f["bad_pixels"]["count"] == 1'
    # Neighbours may be far away, and beyond the rows at hand.
    oiiotool bad.exr --fill:color=inf,inf,inf 90x120+20+150 -o far.exr
    same 6MB far.exr --nan interpolate --verify 50
    NEAR=1e-3 same 8MB far.exr --nan interpolate --window grow
}

@test "values beyond half floats: clamped with one note, refused, or written as floats" {
    oiiotool in.exr --mulc 1000 -o bright.exr
    NEAR=1e-3 same 5MB bright.exr --pixel-type half
    [ "$(grep -c 'values beyond 65504, up to .*, were clamped to it' tiled.json)" = 1 ]
    refused 6 "beyond 65504, the largest that half floats hold" \
        -q bright.exr kernel.exr -o out.exr --device cpu --mem-limit 5MB --pixel-type half --half-overflow error
    [ ! -e out.exr ]
    same 6MB bright.exr --pixel-type half --half-overflow float
    grep -q 'values beyond 65504, up to .*: the layer is written as float' tiled.json
    types tiled.exr B=float G=float R=float
}

@test "only the layer with values beyond halfs becomes float, whole or in tiles; an alpha alone, too" {
    oiiotool in.exr --ch R=0.1,G=0.1,B=0.1,b.R=R,b.G=G,b.B=B --mulc 1,1,1,130.9,130.9,130.9 -d half -o two.exr \
        in.exr --ch R=0.1,G=0.1,B=0.1,A=90000 -d float -o alpha.exr
    same 6MB two.exr --normalize none --half-overflow float
    same_header
    types tiled.exr B=half G=half R=half b.B=float b.G=float b.R=float
    same 6MB alpha.exr --pixel-type half --half-overflow float
    same_header
}

@test "pictures of images in tiles have the exposure of the whole image" {
    oiiotool in.exr --mulc 1e-6 -o dark.exr
    # The last bits of the result, and of the exposure, decide how few values are rounded.
    n=0
    looks_like() { oiiotool "$1" "$2" --fail 0.0001 --failpercent 0.1 --hardfail 0.005 --diff; }
    while read -r limit input options; do
        [ "$LONG" ] || [ $((n++ % 2)) = 0 ] || continue
        echo "$input $options"
        "$FFTBLOOM" $input kernel.exr -o whole.png --before was.png --device cpu $options -v 2>whole
        "$FFTBLOOM" $input kernel.exr -o tiled.png --before is.png --device cpu $options --mem-limit "$limit" -v 2>tiled
        grep -q "tiles of" tiled
        [ "$(grep -o 'exposure .*' whole)" = "$(grep -o 'exposure .*' tiled)" ]
        looks_like whole.png tiled.png
        looks_like was.png is.png
    done <<'CASES'
9MB in.exr
9MB in.exr --exposure 0.5 --view srgb
9MB dark.exr --pixel-type half
11MB moved.exr --window display
10MB moved.exr --input-space acescg --mask Z.Z --emit-file glare.exr
9MB parts.exr
CASES
    "$FFTBLOOM" in.exr kernel.exr -o png:- --device cpu --mem-limit 12MB >stream.png
    "$FFTBLOOM" in.exr kernel.exr -o tiled.png --device cpu --mem-limit 12MB
    # A stream stands in memory, so its tiles may be others.
    looks_like stream.png tiled.png
}

@test "other formats" {
    "$FFTBLOOM" in.exr kernel.exr -o in.pfm --amount 0
    "$FFTBLOOM" in.pfm kernel.exr -o whole.pfm --device cpu
    "$FFTBLOOM" in.pfm kernel.exr -o tiled.pfm --device cpu --mem-limit 6MB -v 2>log
    grep -q "tiles of" log
    "$FFTBLOOM" diff whole.pfm tiled.pfm --fail 1e-5 --failrelative 3e-5
    "$FFTBLOOM" in.exr kernel.exr -o tiled.exr --device cpu --mem-limit 6MB
    # --existing update knows the result.
    "$FFTBLOOM" in.exr kernel.exr -o tiled.exr --device cpu --mem-limit 6MB --existing update
    [[ "$("$FFTBLOOM" in.exr kernel.exr -o tiled.exr --device cpu --mem-limit 6MB --existing update -v 2>&1)" == *"up to date"* ]]
}

@test "plan prints the tiles and their price" {
    says 0 "" plan in.exr kernel.exr --device cpu --mem-limit 7MB
    [[ "$output" == *"tiles       image 501 397, count "*", size "*", kept "*" MB"* ]]
    [[ "$output" != *promise* ]]
    [[ "$output" == *"memory      all "*", a tile "* ]]
    "$FFTBLOOM" plan in.exr kernel.exr --device cpu --mem-limit 7MB --json >plan.json
    "$FFTBLOOM" plan in.exr kernel.exr --device cpu --json >whole.json
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --mem-limit 7MB --report run.json
    python3 - <<'PY'
import json
plan, run = json.load(open("plan.json")), json.load(open("run.json"))["frames"][0]
assert plan["tiles"]["image"] == [501, 397] and plan["forecast"][0]["lengths"][0] >= plan["tiles"]["kept"][0] and plan["work"] > 0
for key in ("count", "size", "kept", "channels"):
    assert plan["tiles"][key] == run["tiles"][key], key
assert plan["plan"]["image"] == run["plan"]["image"] == run["tiles"]["size"]
# What wraps around falls into the margins: a transform along a cut is as long as the tile.
cut = [a for a in (0, 1) if run["tiles"]["count"][a] > 1]
for made in plan, run:
    assert cut and all(made["plan"]["lengths"][a] == made["tiles"]["size"][a] for a in cut), made["plan"]
# The account of an image in tiles, and of a whole one.
def parts(memory):
    named = {k: v for k, v in memory.items() if k != "all"}
    assert memory["all"] == sum(named.values()) and min(named.values()) > 0, memory
    return named
named = parts(plan["memory"])
assert plan["memory"]["all"] <= 7e6 and named["rows that are read"] and named["a tile"]
named = parts(json.load(open("whole.json"))["memory"])
assert named["image"] >= 501 * 397 * 3 * 4 and "a tile" not in named
PY
}

@test "an image is made whole where it fits: the forecast of memory is what a run takes" {
    local type low high middle
    for type in half float; do
        oiiotool --pattern noise:type=uniform:min=0.05:max=0.9 1600x1000 3 -d $type --attrib compression zip -o $type.exr
        low=5 high=200
        while [ $((high - low)) -gt 1 ]; do
            middle=$(((low + high) / 2))
            if [[ "$("$FFTBLOOM" plan $type.exr kernel.exr --device cpu --padding zero --jobs 2 --mem-limit ${middle}MB)" == *$'\ntiles  '* ]]; then
                low=$middle
            else
                high=$middle
            fi
        done
        echo "$type: whole from $high MB"
        # With a tenth more, nothing is refused on the way.
        run --separate-stderr "$FFTBLOOM" $type.exr kernel.exr -o out.exr --device cpu --padding zero --jobs 2 --mem-limit $((high * 11 / 10))MB -v --report r.json
        echo "$stderr"
        [ "$status" -eq 0 ]
        [[ "$stderr" != *"it is made in rows"* ]]
        ! grep -q '"tiles"' r.json || false
        # With a fifth less, the whole would not have fitted: it takes more than that, with the program.
        [ "$SAN" = 1 ] || python3 - $type $high <<'PY'
import os, subprocess, sys
def peak(*words):
    child = subprocess.Popen([os.environ["FFTBLOOM"], *words], stdout=subprocess.DEVNULL)
    return os.wait4(child.pid, 0)[2].ru_maxrss * 1024 / 1e6
image, limit = sys.argv[1] + ".exr", int(sys.argv[2])
took = peak(image, "kernel.exr", "-o", "out.exr", "--device", "cpu", "--padding", "zero", "--jobs", "2", "-q")
assert took > 0.8 * limit, (took, limit)
PY
    done
}

@test "--vram-limit: an image that does not fit into a device is cut, too" {
    needs software
    # A kernel that takes most of a tile, and far less memory than the first choice would need.
    "$FFTBLOOM" kernel make gaussian --taps 300 -o large.exr
    [[ "$("$FFTBLOOM" plan in.exr large.exr --device software --vram-limit 3MB)" == *$'\ntiles  '* ]]
    [ "$LONG" ] || return 0
    "$FFTBLOOM" in.exr kernel.exr -o tiled.exr --device software --vram-limit 3MB --report r.json
    grep -q '"tiles"' r.json
    grep -q '"class": "software"' r.json
    "$FFTBLOOM" in.exr kernel.exr -o whole.exr --device cpu
    "$FFTBLOOM" diff whole.exr tiled.exr --fail 1e-6 --failrelative 3e-5
}

@test "peak resident memory stays below the limit" {
    [ ! "$SAN" = 1 ] || skip "the sanitizers have memory of their own"
    # 1800 squared pixels of three floats, 39 MB: a run that takes 115 MB if it may.
    local side=${LARGE:-1800}
    oiiotool --pattern noise:type=uniform:min=0.05:max=0.9 "${side}x$side" 3 -d float --attrib compression zip -o large.exr
    cat >peak.py <<'PY'
import os, resource, subprocess, sys
device, limit = sys.argv[1], int(sys.argv[2])
subprocess.run([os.environ["FFTBLOOM"], "large.exr", "kernel.exr", "-o", "out.exr", "--device", device,
                "--jobs", "2", "--mem-limit", f"{limit}MB", "--report", "r.json", *sys.argv[3:]], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
print(f"peak {peak:.1f} MB of {limit} MB")
assert peak < limit
assert '"tiles"' in open("r.json").read()
PY
    python3 peak.py cpu "${LIMIT:-60}"
    # Doubles, which the tolerance asks for.
    python3 peak.py cpu $((side * side / 26000)) --tolerance 1e-6
    # A device of software takes its memory from the same, and its driver takes much.
    [ "$LONG" ] || return 0
    needs software
    python3 peak.py software 320
}

# A driver whose workgroups hold short lines, as a real GPU's do for images of 16K.
short() { # arguments...
    env FAULT_VK_SHARED="${SHARED:-1024}" LD_PRELOAD="$faults" "$FFTBLOOM" "$@" --sandbox off
}

@test "lines that are too long for a device: tiles, in floats and in doubles; a longer kernel goes to the CPU" {
    needs software
    needs_faults
    unset FFTBLOOM_VALIDATION
    "$FFTBLOOM" in.exr kernel.exr -o whole.exr --device cpu
    for precision in auto ${LONG:+float32} float64; do
        short in.exr kernel.exr -o tiled.exr --device software --precision $precision --report tiled.json
        alike whole.exr tiled.exr
        holds tiled.json 'f["device"]["class"] == "software" and f["tiles"]["count"][0] * f["tiles"]["count"][1] > 1' \
            "max(f['plan']['lengths']) <= (512 if '$precision' == 'float32' else 256)"
    done
    short plan in.exr kernel.exr --device software --json | holds - 'd["tiles"]["count"][1] > 1'
    # What no tile holds.
    SHARED=256 run --separate-stderr short in.exr kernel.exr -o no.exr --device software
    echo "$stderr"
    [ "$status" -eq 69 ]
    [[ "$stderr" == *"the smallest tile of a kernel of "*" taps needs a line of "*", and the longest that the device holds is "* ]]
    [ ! -e no.exr ]
    SHARED=256 short in.exr kernel.exr -o auto.exr --report auto.json
    holds auto.json 'f["device"]["class"] == "cpu" and "tiles" not in f'
    SHARED=256 short in.exr kernel.exr -o both.exr --device software,cpu --report both.json
    holds both.json 'f["device"]["class"] == "cpu"'
    cmp auto.exr both.exr
}

@test "auto: a long run with long lines is made in tiles on a GPU, a short one whole on the CPU" {
    needs software
    needs_faults
    export FAULT_VK_TYPE=gpu SHARED=16384
    oiiotool --pattern noise 8200x64 3 -d half -o l.0001.exr
    for i in {2..300}; do ln -s l.0001.exr "$(printf 'l.%04d.exr' $i)"; done
    short plan l.####.exr kernel.exr --json | holds - 'd["device"]["class"] == "gpu" and d["work"] > 64' \
        'd["tiles"]["count"][0] > 1 and d["plan"]["lengths"][0] <= 8192'
    short plan l.0001.exr kernel.exr --json | holds - 'd["device"]["class"] == "cpu" and d["work"] < 1' '"tiles" not in d'
}
