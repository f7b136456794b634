#!/usr/bin/env bats
# `fftbloom kernel`: made by formula, checked, converted.

load files

python=/usr/bin/python3
json() { "$python" -c "import json, sys; d = json.load(sys.stdin); print(($1))"; }

@test "models lists what make takes, as text and JSON, with defaults that can be made" {
    says 0 "" kernel models
    for m in gaussian moffat disc ring spencer cie airy star; do
        [[ "$output" == *$'\n'"$m "* || "$output" == "$m "* ]]
    done
    "$FFTBLOOM" kernel models --json | json "[m['name'] for m in d['models'] if not m['parameters'][0]['min'] <= m['parameters'][0]['default'] <= m['parameters'][0]['max']]" | grep -qx '\[\]'
    # docs/kernels.md has each of them with its parameters.
    "$FFTBLOOM" kernel models --json | json '"\n".join("| `%s` | %s |" % (m["name"], ", ".join("`%s`" % p["name"] for p in m["parameters"])) for m in d["models"])' |
        while read -r row; do grep -qF -- "$row" "$FFTBLOOM_ROOT/docs/kernels.md"; done
    for m in $("$FFTBLOOM" kernel models --json | json "' '.join(m['name'] for m in d['models'])"); do
        "$FFTBLOOM" kernel make "$m" -o "$m.exr" --taps 33
        "$FFTBLOOM" kernel check "$m.exr" --json | json "d['size'], [abs(s - 1) < 1e-6 for s in d['sum']].count(False)" | grep -qxF '([33, 33], 0)'
    done
}

@test "make: parameters from --param, in the file as attributes, the same bytes twice" {
    "$FFTBLOOM" kernel make star --param blades=5,turn=20 --taps 64x48 -o a.exr --json >made.json
    [ "$(json "d['model'], d['parameters']['blades'], d['size'], d['centre'], d['channels']" <made.json)" = "('star', 5, [64, 48], [32, 24], 3)" ]
    "$FFTBLOOM" kernel make star --param blades=5,turn=20 --taps 64x48 -o b.exr --jobs 1
    cmp a.exr b.exr
    "$FFTBLOOM" info a.exr | grep -q 'fftbloom.model .*star'
    "$FFTBLOOM" info a.exr | grep -q 'fftbloom.blades .*5'
    "$FFTBLOOM" kernel make gaussian -o g.pfm --taps 15 -q
    "$FFTBLOOM" kernel check g.pfm
    # A single light keeps its energy.
    if command -v oiiotool >/dev/null; then
        oiiotool --create 65x65 3 --point:color=8,8,8 32,32 -d float -o dot.exr
        "$FFTBLOOM" dot.exr a.exr -o out.exr
        oiiotool --stats out.exr | awk '/Stats Avg/ { exit !($3 * 4225 > 7.99 && $3 * 4225 < 8.01 && $5 * 4225 > 7.99) }'
    fi
}

@test "make: a pattern that does not fit its taps; the primaries; a picture instead of a black square" {
    run "$FFTBLOOM" kernel make gaussian --param sigma=400 --taps 64 -o k.exr
    [[ "$status" -eq 0 && "$output" == *"warning: 64 x 64 taps keep only "*"of this gaussian's light; --taps "*" would keep 80 %"* ]]
    run "$FFTBLOOM" kernel make disc --param radius=4000 --taps 64 -o k.exr
    [[ "$status" -eq 0 && "$output" == *"too large for any kernel"* ]]
    run "$FFTBLOOM" kernel make star --taps 32 -o k.exr
    [[ "$status" -eq 0 && "$output" != *warning* ]] # on a busy machine it says that it takes long
    "$FFTBLOOM" info k.exr | grep -q 'chromaticities .*0.64'
    run "$FFTBLOOM" kernel make moffat --taps 64 -o k.png
    [[ "$status" -eq 0 && "$output" == *"logarithmic scale of six decades"* && "$output" != *"cut off"* ]]
    "$FFTBLOOM" kernel make moffat --taps 64 -o k.exr
    # Half way to the border a veil is far from black.
    command -v oiiotool >/dev/null || skip "oiiotool is not installed"
    oiiotool --dumpdata k.png | awk '$5 > 40 { bright++ } END { exit !(bright > 500) }'
    [[ "$("$FFTBLOOM" kernel models)" == *"light       d65, tungsten"* ]]
}

@test "make: lengths by the camera, the light, the primaries" {
    "$FFTBLOOM" kernel make star --param fnumber=8,pitch=4um,turn=0 --taps 65 -o a.exr
    "$FFTBLOOM" kernel make star --param radius=1.34163686,turn=0 --taps 65 -o b.exr
    "$FFTBLOOM" diff a.exr b.exr --fail 1e-6
    "$FFTBLOOM" kernel make airy --param light=sodium,primaries=ap1 --taps 33 -o c.exr
    "$FFTBLOOM" info c.exr | grep -q 'chromaticities .*0.713'
    run "$FFTBLOOM" kernel make star --param fnumber=8 -o k.exr
    [[ "$status" -eq 64 && "$output" == *"needs the size of a pixel: pitch=, or sensor= and width="* ]]
    run "$FFTBLOOM" kernel make airy --param light=sodum -o k.exr
    [[ "$status" -eq 64 && "$output" == *"did you mean 'sodium'?"* ]]
    [ ! -e k.exr ]
}

@test "make: recipes, their layers, and what is wrong in them" {
    cat >r.json <<'J'
{ "about": "a test", "taps": 64, "common": {"fnumber": 11, "pitch": "4um"},
  "layers": [{"model": "star", "share": 3, "blades": 7}, {"model": "gaussian", "share": 1, "sigma": "8um"}] }
J
    "$FFTBLOOM" kernel make r.json -o r.exr --json >made.json
    [ "$(json "[(l['model'], l['share']) for l in d['layers']], round(d['layers'][1]['parameters']['sigma'], 9), d['size']" <made.json)" = "([('star', 0.75), ('gaussian', 0.25)], 2, [64, 64])" ]
    # It is the sum of the two.
    "$FFTBLOOM" kernel make star --param fnumber=11,pitch=4,blades=7 --taps 64 -o a.exr
    "$FFTBLOOM" kernel make gaussian --param sigma=2 --taps 64 -o b.exr
    "$FFTBLOOM" kernel mix a.exr:0.75 b.exr:0.25 -o sum.exr
    "$FFTBLOOM" diff r.exr sum.exr --fail 1e-6
    # The attribute is a recipe of the same taps.
    strings -n 40 r.exr | grep -o '{"about".*}' >again.json
    "$FFTBLOOM" kernel make again.json -o again.exr
    "$FFTBLOOM" diff r.exr again.exr --fail 0
    # It is one however the numbers were written, and if they were set twice.
    for v in 2.5 3,slope=2.5 +2.5 02.5 2. 0x2p0 25e-1 25E-1; do
        "$FFTBLOOM" kernel make moffat --taps 33 --param slope=$v -o n.exr
        "$FFTBLOOM" info n.exr --json | json "[a['value'] for a in d['parts'][0]['attributes'] if a['name'] == 'fftbloom.recipe'][0]" >again.json
        "$FFTBLOOM" kernel make again.json -o again.exr
        "$FFTBLOOM" diff n.exr again.exr --fail 0
    done
    "$FFTBLOOM" info r.exr | grep -q 'comments .*a test'
    # A parameter of the command line reaches the layers that have it.
    "$FFTBLOOM" kernel make r.json -o c.exr --param pitch=2um --json | json "round(d['layers'][1]['parameters']['sigma'], 9)" | grep -qx 4
    wrong() { # WORDS JSON
        printf '%s' "$2" >w.json
        says 64 "" kernel make w.json -o w.exr
        [[ "$output" == *"w.json:1:"*"$1"* ]]
        [ ! -e w.exr ]
    }
    wrong "did you mean 'gaussian'" '{"model": "gausian"}'
    wrong "no parameter 'blade'; did you mean 'blades'?" '{"model": "star", "blade": 7}'
    wrong "whole number from 3 to 32" '{"model": "star", "blades": 2}'
    wrong "a layer is an object with a" '{"taps": 64}'
    wrong "'blades' belongs into a layer" '{"layers": [{"model": "star"}], "blades": 5}'
    wrong "no layer has a parameter 'light'" '{"layers": [{"model": "gaussian"}], "common": {"light": "d65"}}'
    wrong "share must be a number above 0" '{"model": "star", "share": 0}'
    wrong "share must be a number above 0" '{"model": "star", "share": 1e308}'
    wrong "taps must be" '{"model": "star", "taps": "x"}'
    wrong "fade must be a number from 0 to 1" '{"model": "star", "fade": 2}'
    wrong "layers must be an array" '{"layers": []}'
    says 66 "" kernel make nope.json -o w.exr
    says 64 "" kernel make r.json -o r.json
}

@test "make: an image as the opening, the camera of a plate, taps as the light needs them" {
    command -v oiiotool >/dev/null || skip "oiiotool is not installed"
    oiiotool --create 200x100 1 --fill:color=1 200x100+0+0 -d float -o slit.exr
    "$FFTBLOOM" kernel make aperture --image slit.exr --param radius=3,turn=0 --taps 65 -o k.exr
    # A slit twice as wide as high: its pattern is half as wide.
    oiiotool --dumpdata k.exr | awk '/Pixel \(3[2-9], 32\)/ { split($2, p, /[(,]/); x[p[2]] = $5 }
        /Pixel \(32, 3[2-9]\)/ { y[$3 + 0] = $5 } END { exit !(x[34] < 0.4 * y[34]) }'
    # The picture is not turned unless that is asked for.
    "$FFTBLOOM" kernel make aperture --image slit.exr --param radius=3,turn=0 --taps 65 -o k.pfm
    "$FFTBLOOM" kernel make aperture --image slit.exr --param radius=3 --taps 65 -o plain.pfm
    echo '{"model": "aperture", "image": "slit.exr", "radius": 3}' >slit.json
    "$FFTBLOOM" kernel make slit.json --taps 65 -o recipe.pfm
    cmp k.pfm plain.pfm
    cmp k.pfm recipe.pfm
    run "$FFTBLOOM" kernel make star --image slit.exr -o w.exr
    [[ "$status" -eq 64 && "$output" == *"model aperture; the model star takes none"* ]]
    oiiotool --create 2000x10 3 --attrib:type=float aperture 8 --attrib:type=float nominalFocalLength 50 \
        --attrib:type=float sensorPhotositePitch 4 -d half -o plate.exr
    "$FFTBLOOM" kernel make star --plate plate.exr --taps 33 -o k.exr --json | json "round(d['parameters']['radius'], 4)" | grep -qx 1.3416
    "$FFTBLOOM" kernel make cie --plate plate.exr --taps 33 -o k.exr --json 2>/dev/null | json "round(d['parameters']['pixel'], 6)" | grep -qx 0.004584
    "$FFTBLOOM" kernel make gaussian --param sigma=20 -o k.exr --json | json "d['size']" | grep -qxF '[256, 256]'
    "$FFTBLOOM" kernel make gaussian --param sigma=20 --taps auto -o k.exr --json | json "d['size']" | grep -qxF '[256, 256]'
}

@test "make: a shipped recipe by its name, to vary it" {
    "$FFTBLOOM" kernel make portrait -o a.pfm --taps 33
    "$FFTBLOOM" kernel make "$FFTBLOOM_ROOT/kernels/portrait.json" -o b.pfm --taps 33
    cmp a.pfm b.pfm
    "$FFTBLOOM" kernel make portrait -o b.pfm --taps 33 --param blades=5
    run ! cmp -s a.pfm b.pfm
    run "$FFTBLOOM" kernel make portrat -o c.pfm
    [[ "$status" -eq 64 && "$output" == *"there is no model or recipe 'portrat'"* ]]
    # What takes longer than two seconds says so.
    run timeout -s INT 4 "$FFTBLOOM" kernel make star -o c.pfm --taps 8192
    [[ "$output" == *"kernel make: 2 s, and not done yet"* ]]
    [ ! -e c.pfm ]
}

@test "check, convert, show: what takes longer than two seconds says so" {
    faults=$(dirname "$FFTBLOOM")/tests/faults.so
    [ ! "$SAN" = 1 ] || skip "the sanitizers' allocator cannot be preloaded"
    "$FFTBLOOM" kernel make gaussian --taps 33 -o slow.exr
    for what in "check slow.exr" "convert slow.exr --to oiio -o c.exr" "show slow.exr -o c.svg"; do
        run --separate-stderr env FAULT_SLOW=slow.exr LD_PRELOAD="$faults" "$FFTBLOOM" kernel $what
        [ "$status" -eq 0 ]
        [[ "$stderr" == *"kernel ${what%% *}: 2 s, and not done yet"* ]]
    done
}

@test "list, -k: shipped kernels by their names" {
    "$FFTBLOOM" kernel list | grep -q '^sunstar  *A sun star with 14 rays'
    "$FFTBLOOM" kernel list | grep -q '^star  *Star: six spikes'
    run ! grep -E '^small|made by' <("$FFTBLOOM" kernel list)
    [ "$("$FFTBLOOM" kernel list --json | json "12 <= len(d['kernels']) <= 16, all(k['about'] for k in d['kernels'])")" = "(True, True)" ]
    in=$FFTBLOOM_ROOT/testdata/small.exr
    "$FFTBLOOM" "$in" -k halation -o a.exr
    # It is made at its first use, and kept; the same bytes as by hand.
    "$FFTBLOOM" kernel make "$FFTBLOOM_ROOT/kernels/halation.json" -o b.exr
    cmp b.exr cache/kernels/halation-*.exr
    "$FFTBLOOM" kernel check halation --strict
    "$FFTBLOOM" info b.exr | grep -q 'fftbloom.recipe'
    "$FFTBLOOM" info b.exr | grep -q 'chromaticities'
    "$FFTBLOOM" kernel mix halation:0.5 star:50% -o mixed.exr
    # Half as large it is made again, at half the size; what is made is found on a shared place, too.
    "$FFTBLOOM" "$in" -k halation --kernel-scale 0.5 -o half.exr
    [ "$(ls cache/kernels | wc -l)" -eq 2 ]
    FFTBLOOM_CACHE_DIR=$dir/none FFTBLOOM_CACHE_RO=$dir/cache "$FFTBLOOM" "$in" -k halation -o b.exr
    cmp a.exr b.exr
    [ ! -e none/kernels ]
    run env FFTBLOOM_CACHE_DIR=/dev/null/x "$FFTBLOOM" "$in" -k halation -o c.exr
    [[ "$status" -eq 74 && "$output" == *"is made at its first use and kept in the cache folder"* ]]
    run "$FFTBLOOM" "$in" -k halatoin -o c.exr
    [[ "$status" -eq 66 && "$output" == *"the name of a shipped kernel; did you mean 'halation'?"* ]]
    # A file wins over a name, and another folder over the program's.
    cp "$FFTBLOOM_ROOT/testdata/kernel.exr" cross
    "$FFTBLOOM" "$in" -k cross -o d.exr
    "$FFTBLOOM" "$in" cross -o e.exr
    cmp d.exr e.exr
    mkdir mine
    cp "$FFTBLOOM_ROOT/testdata/kernel.exr" mine/tiny.exr
    FFTBLOOM_KERNELS=mine "$FFTBLOOM" "$in" -k tiny -o f.exr
    cmp d.exr f.exr
    [ "$("$FFTBLOOM" kernel list --kernels mine | wc -l)" -eq 1 ]
    says 66 "" kernel list --kernels nowhere
    mkdir looks
    echo '{"version": 1, "kernel": "halation"}' >looks/look.json
    "$FFTBLOOM" "$in" --config looks/look.json -o g.exr
    cmp a.exr g.exr
    suite() { # KERNEL
        echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "'"$in"'", "kernel": "'"$1"'"}, "verify": 4}]}' >looks/s.json
        run "$FFTBLOOM" check looks/s.json --device cpu
    }
    "$FFTBLOOM" devices | grep -q '^[0-9]* *cpu' || skip "no CPU engine"
    suite halation
    [ "$status" -eq 0 ]
    suite halatoin
    [[ "$status" -eq 64 && "$output" == *"s.json:1:"*"did you mean 'halation'?"* ]]
}

@test "make: what is wrong is said with what would be right" {
    refused() { # STATUS WORDS arguments
        local want=$1 words=$2
        shift 2
        run "$FFTBLOOM" kernel "$@"
        [ "$status" -eq "$want" ]
        [[ "$output" == *"$words"* ]]
    }
    refused 64 "did you mean 'gaussian'" make gausian -o k.exr
    refused 64 "sigma" make gaussian --param span=3 -o k.exr
    refused 64 "from 0.1 to 2000, or a length such as 20um, 0.05deg or 0.002w, not '0'" make gaussian --param sigma=0 -o k.exr
    refused 64 "whole number" make star --param blades=5.5 -o k.exr
    refused 64 "--taps" make gaussian --taps 0 -o k.exr
    refused 64 "--taps" make gaussian --taps 12x -o k.exr
    refused 64 "--taps" make gaussian --taps -5 -o k.exr
    refused 64 "no light" make ring --param radius=1000 --taps 16 -o k.exr
    refused 64 "-o OUT" make gaussian
    refused 64 "MODEL" make
    refused 64 "unknown kernel action 'invent'; there are make, models, " invent x
    refused 64 "kernel needs an action: make, models, "
    refused 74 "no/such" make gaussian -o no/such/k.exr
    refused 66 "nope.exr" check nope.exr
    refused 64 "model star has no parameter 'blade'; did you mean 'blades'?" make star --param blade=5 -o k.exr
    refused 64 "write NAME=VALUE, for example radius=1.5" make star --param blades -o k.exr
    [ ! -e k.exr ]
    "$FFTBLOOM" kernel make gaussian --taps 9 -o k.exr
    before=$(stat -c %Y.%s k.exr)
    says 5 "" kernel make disc -o k.exr --existing skip
    [ "$(stat -c %Y.%s k.exr)" = "$before" ]
}

@test "check: no warnings about the shipped kernels; --strict" {
    "$FFTBLOOM" kernel check "$FFTBLOOM_ROOT/kernels/star.exr" --strict
    "$FFTBLOOM" kernel make moffat --param slope=1.3 --fade 1 -o cut.exr --taps 65
    says 0 "" kernel check cut.exr
    [[ "$output" == *"warning: the border cuts off the tail"*"99.9 %"* ]]
    says 1 "" kernel check cut.exr --strict
    says 1 "" kernel check cut.exr --strict -q
    [ -z "$output" ]
    "$FFTBLOOM" kernel check cut.exr --json | json "d['findings'][0]['level'], d['findings'][0]['key'], d['side_for_999'] > 65" | grep -qxF "('warning', 'tail', True)"
    "$FFTBLOOM" precompute cut.exr -o cut.spectrum
    says 65 "" kernel check cut.spectrum
}

@test "check: a photograph with a blown core fails --strict; even sizes are remarked with -v only" {
    command -v oiiotool >/dev/null || skip "oiiotool is not installed"
    star=$FFTBLOOM_ROOT/kernels/star.exr
    oiiotool "$star" --mulc 1000 --clamp:max=1,1,1 --colorconvert linear sRGB -d uint8 -o blown.png
    says 1 "" kernel check blown.png --strict
    [[ "$output" == *"warning: the core is saturated: "*"shorter exposure"*"8-bit picture"* ]]
    oiiotool "$star" --clamp:max=0.02,0.02,0.02 -o clipped.exr
    says 1 "" kernel check clipped.exr --strict
    [[ "$output" == *"the core is saturated: 5 taps"*"4.66 %"* ]]
    run "$FFTBLOOM" kernel check "$star"
    [[ "$output" == *"no warnings" && "$output" != *"even size"* ]]
    run "$FFTBLOOM" kernel check "$star" -v
    [[ "$output" == *"note: even size: fftbloom's centre is tap 128, 128; scipy and G'MIC use 127, 127"* ]]
}

@test "convert: there and back is the same file's pixels" {
    "$FFTBLOOM" kernel make star --param blades=5 --taps 33x32 -o k.exr
    for tool in blender oiio gmic scipy wrapped; do
        "$FFTBLOOM" kernel convert k.exr --to $tool -o there.exr
        "$FFTBLOOM" kernel convert there.exr --from $tool -o back.exr --taps 33x32
        "$FFTBLOOM" diff k.exr back.exr --fail 0 --warn 0
    done
    # The kernel's parameters come along.
    "$FFTBLOOM" info there.exr | grep -q fftbloom.blades
}

@test "convert: taps land where the conventions say" {
    command -v oiiotool >/dev/null || skip "oiiotool is not installed"
    at() { oiiotool --dumpdata:empty=0 "$1" | sed -n 's/^ *Pixel (\([0-9-]*\), \([0-9-]*\)).*/\1,\2/p' | xargs; }
    # The centre of 4 x 4 is 2, 2; this tap is one right of it.
    oiiotool --create 4x4 1 --chnames Y --point:color=1 3,2 -d half -o k.exr
    "$FFTBLOOM" kernel convert k.exr --to gmic -o o.exr --json | json "d['size'], d['centre'], d['turned'], d['lost']" | grep -qxF "([5, 5], [2, 2], False, 0)"
    [ "$(at o.exr)" = 3,2 ]
    "$FFTBLOOM" kernel convert k.exr --to wrapped --taps 4 -o o.exr
    [ "$(at o.exr)" = 1,0 ]
    "$FFTBLOOM" kernel convert k.exr --to blender -o o.exr
    [ "$(at o.exr)" = 1,2 ]
    "$FFTBLOOM" kernel convert k.exr --kernel-center peak -o o.exr
    [ "$(at o.exr)" = 3,2 ]
    [[ "$("$FFTBLOOM" info o.exr)" == *"7 x 5"* || "$("$FFTBLOOM" info o.exr)" == *"6 x 4"* ]]
    # A size that is too small says what it costs.
    oiiotool --create 5x5 1 --chnames Y --point:color=3 2,2 --point:color=1 4,2 -d float -o k.exr
    says 0 "25 % of the light" kernel convert k.exr --taps 3 -o o.exr
    "$FFTBLOOM" kernel convert k.exr --normalize sum -o o.exr
    [ "$(oiiotool --dumpdata:empty=0 o.exr | sed -n 's/^ *Pixel (2, 2): *//p')" = 0.750000000 ]
    says 64 "" kernel convert k.exr --kernel-center 9,9 -o o.exr
}

@test "convert --normalize: the channels that a run would take, whatever their names" {
    command -v oiiotool >/dev/null || skip "oiiotool is not installed"
    middle() { oiiotool --dumpdata:empty=0 "$1" | sed -n 's/^ *Pixel (1, 1): *//p'; }
    for names in r,g,b glow.red,glow.green,glow.blue; do
        oiiotool --create 3x3 3 --chnames $names --fill:color=1,1,2 3x3 -d float -o k.exr
        "$FFTBLOOM" kernel convert k.exr --normalize channel -o o.exr
        [ "$(middle o.exr)" = "0.111111112 0.111111112 0.111111112" ]
    done
    for name in G B Y depth; do
        oiiotool --create 3x3 1 --chnames $name --fill:color=2 3x3 -d float -o k.exr
        "$FFTBLOOM" kernel convert k.exr --normalize sum -o o.exr
        [ "$(middle o.exr)" = 0.111111112 ]
    done
    # Channels that are not the kernel keep their values.
    oiiotool --create 3x3 4 --chnames R,G,B,Z --fill:color=1,1,1,5 3x3 -d float -o k.exr
    "$FFTBLOOM" kernel convert k.exr --normalize sum -o o.exr
    [ "$(middle o.exr)" = "0.111111112 0.111111112 0.111111112 5.000000000" ]
}

@test "convert: oiiotool makes the same picture of its kernel as fftbloom of ours" {
    command -v oiiotool >/dev/null || skip "oiiotool is not installed"
    oiiotool --create 40x40 1 --chnames Y --point:color=8 20,20 --point:color=3 12,25 -d float -o in.exr
    for size in 6x6 7x6; do
        oiiotool --create $size 1 --chnames Y --point:color=3 3,3 --point:color=1 5,2 --point:color=2 0,4 -d float -o k.exr
        "$FFTBLOOM" kernel convert k.exr --to oiio -o theirs.exr
        oiiotool in.exr theirs.exr --convolve -d float -o theirs_out.exr
        "$FFTBLOOM" in.exr k.exr -o ours_out.exr
        "$FFTBLOOM" diff ours_out.exr theirs_out.exr --fail 1e-5 --warn 1e-5
        # Unconverted it is another picture.
        oiiotool in.exr k.exr --convolve -d float -o theirs_out.exr
        says 2 "" diff ours_out.exr theirs_out.exr --fail 1e-5
        "$FFTBLOOM" kernel convert theirs.exr --from oiio -o back.exr
        "$FFTBLOOM" in.exr back.exr -o back_out.exr
        "$FFTBLOOM" diff ours_out.exr back_out.exr --fail 1e-5 --warn 1e-5
    done
}

# An image and a kernel of W x H taps that no symmetry hides, and what fftbloom makes of them.
lopsided() { # W H
    "$python" - "$1" "$2" <<'PY'
import struct, sys
def write(path, w, h, taps): # rows from the top; the file begins at the bottom
    rows = [[taps.get((x, y), 0) for x in range(w)] for y in range(h)]
    with open(path, "wb") as f:
        f.write(b"Pf\n%d %d\n-1.0\n" % (w, h))
        for row in reversed(rows): f.write(struct.pack("<%df" % w, *row))
write("in.pfm", 40, 36, {(20, 20): 8, (12, 25): 3})
write("k.pfm", int(sys.argv[1]), int(sys.argv[2]), {(3, 3): 3, (5, 2): 1, (0, 4): 2})
PY
    "$FFTBLOOM" in.pfm k.pfm --normalize none -o ours.pfm
}

@test "convert: scipy makes the same picture of its kernel as fftbloom of ours" {
    "$python" -c 'import scipy.signal' 2>/dev/null || skip "scipy is not installed"
    for size in "6 6" "7 6" "8 7"; do
        lopsided $size
        "$FFTBLOOM" kernel convert k.pfm --to scipy -o theirs.pfm
        for kernel in theirs k; do
            "$python" - in.pfm $kernel.pfm out.pfm <<'PY'
import sys, numpy, scipy.signal
def read(path):
    with open(path, "rb") as f:
        assert f.readline().strip() == b"Pf"
        w, h = map(int, f.readline().split())
        order = "<" if float(f.readline()) < 0 else ">"
        return numpy.frombuffer(f.read(), order + "f4").reshape(h, w)[::-1]
def write(path, a):
    with open(path, "wb") as f:
        f.write(b"Pf\n%d %d\n-1.0\n" % (a.shape[1], a.shape[0]) + a[::-1].astype("<f4").tobytes())
write(sys.argv[3], scipy.signal.convolve2d(read(sys.argv[1]), read(sys.argv[2]), mode="same"))
PY
            run "$FFTBLOOM" diff ours.pfm out.pfm --fail 1e-4 --warn 1e-4
            # Unconverted it is another picture, unless both sides are odd.
            [ "$status" -eq "$([ $kernel = theirs ] && echo 0 || echo 2)" ]
        done
    done
}

@test "convert: G'MIC makes the same picture of its kernel as fftbloom of ours" {
    command -v gmic >/dev/null || skip "G'MIC is not installed"
    for size in "6 6" "7 6" "8 7"; do
        lopsided $size
        "$FFTBLOOM" kernel convert k.pfm --to gmic -o theirs.pfm
        for kernel in theirs k; do
            gmic -v 0 in.pfm $kernel.pfm convolve[0] [1],0 keep[0] o out.pfm
            run "$FFTBLOOM" diff ours.pfm out.pfm --fail 1e-4 --warn 1e-4
            [ "$status" -eq "$([ $kernel = theirs ] && echo 0 || echo 2)" ]
        done
    done
}

@test "names are shown clean" {
    mkdir lib
    "$FFTBLOOM" kernel make star --taps 9 -o $'lib/e\e[31mvil.exr'
    run "$FFTBLOOM" kernel check $'lib/e\e[31mvil.exr'
    [[ "$output" == 'lib/e\x1b[31mvil.exr: 9 x 9'* ]]
    run "$FFTBLOOM" kernel list --kernels lib
    [[ "$output" == 'e\x1b[31mvil'* ]]
}
