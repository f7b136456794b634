# `fftbloom kernel`: made by formula, listed, checked; kernels of other tools.

load files

@test "models lists what make takes, as text and JSON, with defaults that can be made" {
    says 0 "" kernel models
    for m in gaussian moffat disc ring spencer cie airy star; do grep -q "^$m$" <<<"$output"; done
    [[ "$output" == *"lights      d65 tungsten"* ]]
    "$FFTBLOOM" kernel models --json >models.json
    holds models.json 'all(p["min"] <= p["default"] <= p["max"] for m in d["models"] for p in m["parameters"][:1])'
    # docs/kernels.md has each of them with its parameters.
    PAGE=$FFTBLOOM_ROOT/docs/kernels.md holds models.json '(page := open(__import__("os").environ["PAGE"]).read())' \
        'all("| `%s` | %s |" % (m["name"], ", ".join("`%s`" % p["name"] for p in m["parameters"])) in page for m in d["models"])'
    for m in $(grep -xE '[a-z]+' <<<"$output"); do
        "$FFTBLOOM" kernel make "$m" -o "$m.exr" --taps 33
        "$FFTBLOOM" kernel check "$m.exr" --json | holds - 'd["size"] == [33, 33] and all(abs(s - 1) < 1e-6 for s in d["sum"])'
    done
    [ "$(ls *.exr | wc -l)" -ge 8 ]
}

@test "make: parameters from --param, in the file as attributes, the same bytes twice" {
    "$FFTBLOOM" kernel make star --param blades=5,turn=20 --taps 64x48 -o a.exr --json | holds - \
        'd["model"] == "star" and d["parameters"]["blades"] == 5 and d["channels"] == 3' 'd["size"] == [64, 48] and d["centre"] == [32, 24]'
    "$FFTBLOOM" kernel make star --param blades=5,turn=20 --taps 64x48 -o b.exr --jobs 1
    cmp a.exr b.exr
    "$FFTBLOOM" info a.exr | grep -q 'fftbloom.model .*star'
    "$FFTBLOOM" info a.exr | grep -q 'fftbloom.blades .*5'
    "$FFTBLOOM" kernel make gaussian -o g.pfm --taps 15 -q
    "$FFTBLOOM" kernel check g.pfm
    "$FFTBLOOM" kernel make airy --param light=sodium,primaries=ap1 --taps 33 -o c.exr
    "$FFTBLOOM" info c.exr | grep -q 'chromaticities .*0.713'
    # A single light keeps its energy.
    image dot.exr 65x65 float 0,0,0 32,32=8,8,8
    "$FFTBLOOM" dot.exr a.exr -o out.exr --padding wrap --report r.json
    holds r.json 'all(abs(row["out"] - 8) < 0.01 for row in f["ledger"])'
}

@test "make: a pattern that does not fit its taps; the primaries; no black square" {
    says 0 "warning: 64 x 64 taps keep only " kernel make gaussian --param sigma=400 --taps 64 -o k.exr
    [[ "$output" == *"of this gaussian's light; --taps "*" would keep 80 %"* ]]
    says 0 "too large for any kernel" kernel make disc --param radius=4000 --taps 64 -o k.exr
    says 0 "" kernel make star --taps 32 -o k.exr
    [[ "$output" != *warning* ]] # on a busy machine it says that it takes long
    "$FFTBLOOM" info k.exr | grep -q 'chromaticities .*0.64'
    says 64 "draw it with 'kernel show'" kernel make moffat --taps 64 -o k.png
    [ ! -e k.png ]
}

@test "make: all shipped kernels for other programs, with licence and picture; a name means one kernel" {
    mkdir two
    cp "$FFTBLOOM_ROOT"/kernels/{mist-8,halation,prime-open}.json two # a field is left out
    "$FFTBLOOM" kernel make --all -o out --kernel-scale 0.25 --kernels two --json >all.json
    holds all.json '[(k["name"], k["size"]) for k in d["kernels"]] == [("halation", [256, 256]), ("mist-8", [256, 256])]'
    [ "$(cd out && echo *)" = "LICENSE.txt halation.exr halation.png mist-8.exr mist-8.png" ]
    cmp out/LICENSE.txt "$FFTBLOOM_ROOT/LICENSE"
    "$FFTBLOOM" info out/mist-8.exr | grep -q 'license .*MIT License'
    "$FFTBLOOM" kernel check out/mist-8.exr --strict
    # The picture: a lamp that is white in the middle, on black.
    for p in out/*.png; do
        oiiotool "$p" --printinfo --cut 4x4+62+62 --printstats "$p" --cut 128x4+0+0 --printstats >said
        grep -q " 128 x  128" said
        awk '/Stats Max/ { max[++n] = $3 } END { exit n != 2 || max[1] != 1 || max[2] * 255 > 9.01 }' said
    done
    # Its taps are those of the name and of the recipe, made at that size.
    "$FFTBLOOM" kernel make halation --kernel-scale 0.25 -o one.exr -q
    "$FFTBLOOM" diff one.exr out/halation.exr --fail 0
    says 5 "out/mist-8.png skipped" kernel make --all -o out --kernel-scale 0.25 --kernels two --existing skip
    mkdir photos
    cp one.exr photos/photo.exr
    each refused <<'T'
64 | 'photo' is an image, and is made at no other size | kernel make --all -o more --kernel-scale 2 --kernels photos
64 | needs one MODEL or RECIPE, or --all | kernel make halation --all -o more
64 | needs one MODEL or RECIPE, or --all | kernel make -o more.exr
64 | one factor as --kernel-scale | kernel make halation --kernel-scale 0.5h -o k.exr
64 | one factor as --kernel-scale | kernel make halation --kernel-scale 1,2 -o k.exr
64 | with --all | kernel make --all --taps 64 -o more
64 | needs a folder for its files | kernel make --all
T
}

@test "make: recipes, their layers, and what is wrong in them" {
    cat >r.json <<'J'
{ "about": "a test", "taps": 64, "common": {"fnumber": 11, "pitch": "4um"},
  "layers": [{"model": "star", "share": 3, "blades": 7}, {"model": "gaussian", "share": 1, "sigma": "8um"}] }
J
    "$FFTBLOOM" kernel make r.json -o r.exr --json | holds - 'd["size"] == [64, 64]' \
        '[(l["model"], l["share"]) for l in d["layers"]] == [("star", 0.75), ("gaussian", 0.25)]' \
        'round(d["layers"][1]["parameters"]["sigma"], 9) == 2'
    # It is the sum of the two.
    "$FFTBLOOM" kernel make star --param fnumber=11,pitch=4,blades=7 --taps 64 -o a.exr
    "$FFTBLOOM" kernel make gaussian --param sigma=2 --taps 64 -o b.exr
    "$FFTBLOOM" kernel mix a.exr:0.75 b.exr:0.25 -o sum.exr
    "$FFTBLOOM" diff r.exr sum.exr --fail 1e-6
    # The attribute is a recipe of the same taps, however the numbers were written, and if set twice.
    strings -n 40 r.exr | grep -o '{"about".*}' >again.json
    "$FFTBLOOM" kernel make again.json -o again.exr
    "$FFTBLOOM" diff r.exr again.exr --fail 0
    for v in 2.5 3,slope=2.5 +2.5 02.5 2. 25e-1 25E-1; do
        "$FFTBLOOM" kernel make moffat --taps 33 --param slope=$v -o n.exr
        strings -n 40 n.exr | grep -o '{".*}' >again.json
        "$FFTBLOOM" kernel make again.json -o again.exr
        "$FFTBLOOM" diff n.exr again.exr --fail 0
    done
    "$FFTBLOOM" info r.exr | grep -q 'comments .*a test'
    # A parameter of the command line reaches the layers that have it.
    "$FFTBLOOM" kernel make r.json -o c.exr --param pitch=2um --json | holds - 'round(d["layers"][1]["parameters"]["sigma"], 9) == 4'
    # A tint divides a layer's light between the colours; each of them has the sum 1 again.
    printf '{"taps": 64, "layers": [{"model": "gaussian", "sigma": 9, "tint": [2, 1, 0]}, {"model": "gaussian", "sigma": 1}]}' >t.json
    "$FFTBLOOM" kernel make t.json -o t.exr
    "$FFTBLOOM" kernel make gaussian --param sigma=9 --taps 64 -o wide.exr
    "$FFTBLOOM" kernel make gaussian --param sigma=1 --taps 64 -o near.exr
    "$FFTBLOOM" kernel mix wide.exr:0.6666666667 near.exr:0.3333333333 -o red.exr
    "$FFTBLOOM" kernel mix wide.exr:0.5 near.exr:0.5 -o green.exr
    oiiotool red.exr green.exr --chappend near.exr --chappend --chnames R,G,B -o rgb.exr
    "$FFTBLOOM" diff t.exr rgb.exr --fail 1e-7
    strings -n 40 t.exr | grep -o '{"taps".*}' >again.json
    "$FFTBLOOM" kernel make again.json -o again.exr
    "$FFTBLOOM" diff t.exr again.exr --fail 0
    while IFS='|' read -r json words; do
        printf '%s' "$json" >w.json
        refused 64 "$words" kernel make w.json -o w.exr
        [[ "$stderr" == *"w.json:1:"* ]]
    done <<'T'
{"model": "gausian"}|did you mean 'gaussian'
{"model": "star", "blade": 7}|no parameter 'blade'; did you mean 'blades'?
{"model": "star", "blades": 2}|whole number from 3 to 32
{"taps": 64}|a layer is an object with a
{"layers": [{"model": "star"}], "blades": 5}|'blades' belongs into a layer
{"layers": [{"model": "star", "shar": 0.5}]}|unknown key "shar"; did you mean "share"?
{"layers": [{"model": "gaussian"}], "common": {"light": "d65"}}|no layer has a parameter 'light'
{"model": "star", "share": 0}|share must be a number above 0
{"model": "star", "share": 1e308}|share must be a number above 0
{"model": "star", "taps": "x"}|taps must be
{"model": "star", "fade": 2}|fade must be a number from 0 to 1
{"layers": []}|layers must be an array
{"model": "star", "tint": [1, 2]}|tint must be three numbers from 0 to 1e+09, for R, G and B
{"model": "star", "tint": [1, 2, -1]}|tint must be three numbers
{"model": "star", "tint": [1, 2, 3, 4]}|tint must be three numbers
{"model": "star", "tint": 1}|tint must be three numbers
{"version": 7, "model": "star"}|version is 7; this program reads version 1 of recipes
{"version": "1", "model": "star"}|version is 1; this program reads version 1 of recipes
{"layers": [{"model": "star", "bits": -8}]}|'bits' belongs to the whole recipe, not into a layer
{"layers": [{"model": "star", "taps": 64}]}|'taps' belongs to the whole recipe, not into a layer
T
    printf '{"model": "star", "tint": [1, 1, 0]}' >w.json
    refused 64 "no layer of the recipe has light in B" kernel make w.json -o w.exr
    [ ! -e w.exr ]
}

@test "a kernel's old name is taken for one more version, with a word" {
    image in.exr 40x30 half 1
    "$FFTBLOOM" in.exr -k star-six --kernel-scale 0.1 -o same.exr -q
    warns "the kernel 'star' is gone, and 'star-six' is taken in its place" in.exr -k star --kernel-scale 0.1 -o out.exr
    "$FFTBLOOM" diff out.exr same.exr --fail 0
}

@test "make: an image as the opening, the camera of a plate, taps as the light needs them" {
    needs_program oiiotool
    image slit.exr 200x100 float 1
    "$FFTBLOOM" kernel make aperture --image slit.exr --param radius=3,turn=0 --taps 65 -o k.exr
    # A slit twice as wide as high: its pattern is half as wide.
    x=$(pixel k.exr 34 32 R) y=$(pixel k.exr 32 34 R)
    awk "BEGIN { exit !($x < 0.4 * $y) }"
    # The picture is not turned unless that is asked for.
    echo '{"model": "aperture", "image": "slit.exr", "radius": 3}' >slit.json
    "$FFTBLOOM" kernel make aperture --image slit.exr --param radius=3,turn=0 --taps 65 -o k.pfm
    "$FFTBLOOM" kernel make aperture --image slit.exr --param radius=3 --taps 65 -o plain.pfm
    "$FFTBLOOM" kernel make slit.json --taps 65 -o recipe.pfm
    cmp k.pfm plain.pfm
    cmp k.pfm recipe.pfm
    oiiotool --create 2000x10 3 --attrib:type=float aperture 8 --attrib:type=float nominalFocalLength 50 \
        --attrib:type=float sensorPhotositePitch 4 -d half -o plate.exr
    "$FFTBLOOM" kernel make star --plate plate.exr --taps 33 -o k.exr --json | holds - 'round(d["parameters"]["radius"], 4) == 1.3416'
    "$FFTBLOOM" kernel make cie --plate plate.exr --taps 33 -o k.exr --json 2>/dev/null | holds - 'round(d["parameters"]["pixel"], 6) == 0.004584'
    for taps in "" "--taps auto"; do
        "$FFTBLOOM" kernel make gaussian --param sigma=20 -o k.exr --json $taps | holds - 'd["size"] == [256, 256]'
    done
}

@test "make: a shipped recipe by its name, to vary it" {
    "$FFTBLOOM" kernel make portrait -o a.pfm --taps 33
    "$FFTBLOOM" kernel make "$FFTBLOOM_ROOT/kernels/portrait.json" -o b.pfm --taps 33
    cmp a.pfm b.pfm
    "$FFTBLOOM" kernel make portrait -o b.pfm --taps 33 --param blades=5
    run ! cmp -s a.pfm b.pfm
}

@test "what takes longer than two seconds says so" {
    needs_faults
    run timeout -s INT 4 "$FFTBLOOM" kernel make star -o c.pfm --taps 8192
    [[ "$output" == *"kernel make: 2 s, and not done yet"* ]]
    [ ! -e c.pfm ]
    "$FFTBLOOM" kernel make gaussian --taps 33 -o slow.exr
    for what in "check slow.exr" "rotate slow.exr 5 -o c.exr" "show slow.exr -o c.svg"; do
        env FAULT_SLOW=slow.exr LD_PRELOAD="$faults" "$FFTBLOOM" kernel $what 2>"said.${what%% *}" &
        pids="$pids $!"
    done
    for p in $pids; do wait $p; done
    for action in check show; do grep -q "kernel $action: 2 s, and not done yet" said.$action; done
    grep -q "the kernel: 2 s, and not done yet" said.rotate
}

@test "list, -k: shipped kernels by their names" {
    "$FFTBLOOM" kernel list >list
    grep -q '^sunstar  *A sun star with 14 rays' list
    run ! grep -E '^small|made by' list
    "$FFTBLOOM" kernel list --json | holds - '12 <= len(d["kernels"]) <= 20 and all(k["about"] for k in d["kernels"])'
    # The gallery shows each of them, and the add-on for Blender offers it.
    for name in $("$FFTBLOOM" kernel list | sed 's/ .*//'); do
        grep -q "^## $name$" "$FFTBLOOM_ROOT/docs/gallery.md"
        grep -q "\"$name\"" "$FFTBLOOM_ROOT/docs/programs/fftbloom_blender.py"
    done
    in=$FFTBLOOM_ROOT/testdata/small.exr
    "$FFTBLOOM" "$in" -k halation -o a.exr
    # It is made at its first use, and kept; the same bytes as by hand.
    rm cache/kernels/*
    "$FFTBLOOM" "$in" -k halation --kernel-scale 1 -o one.exr
    "$FFTBLOOM" kernel make "$FFTBLOOM_ROOT/kernels/halation.json" -o b.exr
    cmp b.exr cache/kernels/halation-*.exr
    "$FFTBLOOM" kernel check halation --strict
    "$FFTBLOOM" info b.exr | grep -q 'fftbloom.recipe'
    "$FFTBLOOM" info b.exr | grep -q 'chromaticities'
    # mix and show call a kernel by its word.
    says 0 "halation gives 0.5 of the light" kernel mix halation:0.5 "$FFTBLOOM_ROOT/testdata/kernel.exr":50% -o mixed.exr
    "$FFTBLOOM" kernel show halation -o h.svg --json | holds - 'd["kernel"] == "halation"'
    grep -q '>halation<' h.svg
    run ! grep -E 'halation-[0-9a-f]{16}' h.svg
    # A kernel without light has no share of it.
    image zero.exr 4x4 float 0,0,0
    refused 65 "the taps of 'zero.exr' add up to 0" kernel mix halation:0.5 zero.exr:0.5 -o z.exr
    [ ! -e z.exr ]
    # Half as large it is made again, at half the size; what is made is found on a shared place, too.
    "$FFTBLOOM" "$in" -k halation --kernel-scale 0.5 -o half.exr
    [ "$(ls cache/kernels/halation-* | wc -l)" -eq 2 ]
    "$FFTBLOOM" "$in" -k halation -o a.exr
    FFTBLOOM_CACHE_DIR=$dir/none FFTBLOOM_CACHE_RO=$dir/cache "$FFTBLOOM" "$in" -k halation -o b.exr
    cmp a.exr b.exr
    [ ! -e none/kernels ]
    # Where no folder can keep it, it is made in memory: once for all that ask for it.
    FFTBLOOM_CACHE_DIR=/dev/null/x warns "shipped kernels are made in memory each time: the cache folder cannot be used: cannot make the folder '/dev/null/x': Not a directory; give another with --cache-dir" \
        "$in" -k halation -o c.exr --device cpu
    cmp a.exr c.exr
    mkdir closed
    chmod 500 closed
    (unset FFTBLOOM_CACHE_DIR XDG_CACHE_HOME; HOME=$dir/closed; export HOME
        [ "$EUID" -ne 0 ] || run_as="setpriv --reuid=65534 --clear-groups"
        $run_as "$FFTBLOOM" "$in" -k 'halation:0.5 + halation' -o - --device cpu >c.exr
        env -u HOME "$FFTBLOOM" "$in" -k halation -o b.exr --device cpu)
    cmp a.exr b.exr
    # A file wins over a name, and another folder over the program's.
    mkdir mine looks
    for f in cross mine/tiny.exr; do cp "$FFTBLOOM_ROOT/testdata/kernel.exr" $f; done
    "$FFTBLOOM" "$in" -k cross -o d.exr
    FFTBLOOM_KERNELS=mine "$FFTBLOOM" "$in" -k tiny -o e.exr
    cmp d.exr e.exr
    "$FFTBLOOM" "$in" "$FFTBLOOM_ROOT/testdata/kernel.exr" -o e.exr
    cmp d.exr e.exr
    [ "$("$FFTBLOOM" kernel list --kernels mine | wc -l)" -eq 1 ]
    echo '{"version": 1, "kernel": "halation"}' >looks/look.json
    "$FFTBLOOM" "$in" --config looks/look.json -o g.exr
    cmp a.exr g.exr
    for k in halation halatoin; do
        echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "'"$in"'", "kernel": "'"$k"'"}, "verify": 4}]}' >looks/$k.json
    done
    says 0 "" check looks/halation.json --device cpu
    says 64 "halatoin.json:1:" check looks/halatoin.json --device cpu
    [[ "$output" == *"did you mean 'halation'?"* ]]
}

@test "a recipe without taps is made at any size, as large as its light needs" {
    echo '{"version": 1, "layers": [{"model": "gaussian", "sigma": 3}]}' >free.json
    in=$FFTBLOOM_ROOT/testdata/small.exr
    "$FFTBLOOM" "$in" free.json --kernel-scale 2 -o a.exr
    "$FFTBLOOM" kernel make gaussian --param sigma=6 -o six.exr
    "$FFTBLOOM" "$in" six.exr -o b.exr
    cmp a.exr b.exr
}

# tests/unit/test_model.c has what is wrong in parameters.
@test "a mix in a word: what kernel mix makes, in runs, configs, suites and other actions" {
    local in=$FFTBLOOM_ROOT/testdata/small.exr
    mkdir looks
    for k in a b; do image $k.exr 9x7 float 0.01,0.02,0.03 4,3=1,1,1; done
    image looks/c.exr 5x5 float 0,0.1,0 2,2=1,1,1
    "$FFTBLOOM" kernel make disc --param radius=3 -o grey.exr
    "$FFTBLOOM" kernel mix a.exr:0.7 grey.exr:0.3 -o want.exr -q
    "$FFTBLOOM" "$in" want.exr -o want.pfm
    "$FFTBLOOM" "$in" want.exr -o wanted.exr
    for word in 'a.exr:0.7 + grey.exr:0.3' a.exr:0.7+grey.exr:30% 'a.exr + grey.exr:0.3' 'a.exr:0.7 +grey.exr'; do
        warns "" "$in" -k "$word" -o mix.pfm -q
        cmp want.pfm mix.pfm
    done
    [ "$(ls cache/kernels)" = "$(cd cache/kernels && echo mix-????????????????.exr)" ] # one, by its content
    cmp <("$FFTBLOOM" kernel check want.exr --json | grep -v '"kernel"') \
        <("$FFTBLOOM" kernel check 'a.exr:0.7 + grey.exr:0.3' --json | grep -v '"kernel"')
    # Shipped kernels are made once, and at the size that is asked for where all of them are recipes.
    "$FFTBLOOM" "$in" -k 'mist-8:0.6 + halation:0.4' --kernel-scale 0.25 -o mix.pfm
    [ "$(ls cache/kernels/*-????????????????.exr | wc -l)" -eq 4 ]
    # A file of that very name wins.
    cp grey.exr 'a.exr:0.7 + grey.exr:0.3'
    "$FFTBLOOM" "$in" -k 'a.exr:0.7 + grey.exr:0.3' -o file.pfm
    "$FFTBLOOM" "$in" grey.exr -o grey.pfm
    cmp file.pfm grey.pfm
    rm 'a.exr:0.7 + grey.exr:0.3'
    # Another file is another kernel, and files of a config lie beside it.
    image a.exr 9x7 float 0.02,0.02,0.03 4,3=1,1,1
    "$FFTBLOOM" "$in" -k 'a.exr:0.7 + grey.exr:0.3' -o other.pfm
    run ! cmp -s want.pfm other.pfm
    cp b.exr looks/a.exr
    cp grey.exr looks
    echo '{"version": 1, "kernel": "a.exr:0.7 + grey.exr:0.3"}' >looks/look.json
    "$FFTBLOOM" "$in" --config looks/look.json -o mix.pfm
    cmp want.pfm mix.pfm
    echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "'"$in"'", "kernel": "a.exr + grey.exr:30%"},
        "reference": "../wanted.exr"}]}' >looks/suite.json
    says 0 "" check looks/suite.json --device cpu
    # Shares that do not add up to 1 are said.
    warns "the shares of 'b.exr:0.7 + grey.exr:0.2' add up to 0.9, and are scaled to 1" \
        b.exr -k 'b.exr:0.7 + grey.exr:0.2' -o o.exr
    each refused <<'T'
64 | 'mist-4:0.5': a mix has two kernels or more, with + between them; the strength of one is the option amount | "$in" -k mist-4:0.5 -o o.pfm
64 | the kernels of a mix have + between them: 'b.exr:0.7+grey.exr:0.3' | "$in" -k b.exr:0.7,grey.exr:0.3 -o o.pfm
64 | the share 0 of 'b.exr' must be above 0 | "$in" -k b.exr:0+grey.exr:1 -o o.pfm
64 | the shares add up to 1.2 and leave nothing for a kernel without one | "$in" -k 'b.exr:1.2 + grey.exr' -o o.pfm
66 | did you mean 'sunstar'? | "$in" -k 'sunsta:0.5 + b.exr' -o o.pfm
66 | none.exr | "$in" -k 'none.exr:0.5 + b.exr' -o o.pfm
64 | the output 'b.exr' is a kernel of the mix, which it would replace | "$in" -k 'grey.exr:0.5 + b.exr' -o b.exr
T
}

# The mean difference from the larger one made half as large, in squares of 8 pixels, which a share of the light
# that crosses the border of a pixel leaves alone, in percent of the mean.
off() { # KIND SIZE
    oiiotool $1.$2.exr $1.$((2 * $2)).exr --resize:filter=box $2x$(($2 * 9 / 16)) --sub --resize:filter=box 12.5% --abs -d float -o d.exr
    python3 -c 'import sys; d, m = (float(x) for x in sys.argv[1:]); print(100 * d / m)' \
        "$(oiiotool --stats d.exr | sed -n 's/.*Stats Avg: \([^ ]*\) .*/\1/p')" \
        "$(oiiotool --stats $1.$2.exr | sed -n 's/.*Stats Avg: \([^ ]*\) .*/\1/p')"
}
# The street under a shipped kernel at several sizes, each beside the larger one.
alike() { # KERNEL SIZE...
    needs_program oiiotool
    local n k=$1
    for n in "${@:2}"; do
        oiiotool "$FFTBLOOM_ROOT/testdata/street.exr" --resize:filter=box ${n}x$((n * 9 / 16)) --compression none -d half -o street.$n.exr
        "$FFTBLOOM" street.$n.exr $k -o auto.$n.exr --device cpu
        "$FFTBLOOM" street.$n.exr $k -o one.$n.exr --device cpu --kernel-scale 1
    done
    for n in "${@:2:$#-2}"; do
        echo "$k $n: $(off auto $n) %, at one size $(off one $n) %"
        python3 -c "import sys; sys.exit(not ($(off auto $n) < 1.5 < 5 < $(off one $n)))"
    done
}
@test "the street at 480, 960 and 1920 pixels looks alike under a shipped kernel" {
    alike lens-night 480 960 1920
}
@test "so it does at 3840, and under other kernels" {
    takes_long
    alike lens-night 1920 3840
    alike sunstar 480 960 1920
    alike star-six 480 960 1920
}

@test "a shipped kernel has the size of each frame; a file, and a size that is given, stay" {
    needs_program oiiotool
    local n
    for n in 120 240 480; do image s.000$((n / 120)).exr ${n}x30 half 0,0,0 9,9=90,70,40; done
    # The frames of a sequence, the image of a pipe, a plan and a suite have that of their own.
    "$FFTBLOOM" s.####.exr mist-8 -o t.####.exr --device cpu --report r.json
    holds r.json '[f["kernel_scale"] for f in d["frames"]] == [0.0625, 0.125, 0.25] and d["settings"]["kernel_scale"] == "auto"'
    for n in 1 2 4; do
        "$FFTBLOOM" s.000$n.exr mist-8 -o n.$n.exr --device cpu --kernel-scale $(python3 -c "print($n / 16)")
        cmp n.$n.exr t.000$n.exr
    done
    "$FFTBLOOM" - mist-8 -o - --device cpu <s.0002.exr >p.exr
    cmp n.2.exr p.exr
    "$FFTBLOOM" plan s.0004.exr mist-8 --json | holds - 'd["kernel_scale"] == 0.25'
    says 0 "s.0002.exr: the kernel is 0.125 times as large as for 1920 pixels" s.0002.exr mist-8 -o o.exr -v --device cpu
    "$FFTBLOOM" s.0002.exr mist-8 -o o.exr --stamp --device cpu
    "$FFTBLOOM" info o.exr --json | holds - '"kernel_scale 0.125\n" in next(a["value"] for a in d["parts"][0]["attributes"] if a["name"] == "fftbloom:look")'
    # Update knows a size that is given from one that follows.
    "$FFTBLOOM" s.####.exr mist-8 -o t.####.exr --device cpu --existing update --report r.json
    holds r.json 'd["current"] == 3'
    "$FFTBLOOM" s.####.exr mist-8 -o t.####.exr --device cpu --existing update --kernel-scale 0.0625 --report r.json
    holds r.json 'd["current"] == 0'
    # The longer side counts, as it is shown.
    image high.exr 30x240 half 0,0,0 9,9=90,70,40
    oiiotool s.0001.exr --attrib:type=float PixelAspectRatio 2 -o wide.exr
    for n in high wide; do
        "$FFTBLOOM" $n.exr mist-8 -o o.exr --device cpu --report r.json
        holds r.json 'd["frames"][0]["kernel_scale"] == 0.125'
    done
    "$FFTBLOOM" wide.exr mist-8 -o o.exr --device cpu --pixel-aspect off --report r.json
    holds r.json 'd["frames"][0]["kernel_scale"] == 0.0625'
    # So does a mix of names; a recipe that is a file, and taps, have a size when asked.
    "$FFTBLOOM" s.0002.exr 'mist-8:0.5 + mist-4' -o a.exr --device cpu
    "$FFTBLOOM" s.0002.exr 'mist-8:0.5 + mist-4' -o b.exr --device cpu --kernel-scale 0.125
    cmp a.exr b.exr
    cp "$FFTBLOOM_ROOT/kernels/mist-8.json" mine.json
    "$FFTBLOOM" s.0002.exr mine.json -o a.exr --device cpu --report r.json
    holds r.json '"kernel_scale" not in d["frames"][0]'
    "$FFTBLOOM" s.0002.exr mine.json -o a.exr --device cpu --kernel-scale auto
    cmp a.exr n.2.exr
    image k.exr 9x9 float 0.1,0.1,0.1 4,4=1,1,1
    "$FFTBLOOM" s.####.exr k.exr -o t.####.exr --device cpu --kernel-scale auto
    "$FFTBLOOM" s.0004.exr k.exr -o b.exr --device cpu --kernel-scale 0.25
    cmp b.exr t.0004.exr
    echo '{"version": 1, "kernel_scale": "auto"}' >auto.json
    "$FFTBLOOM" s.0002.exr mine.json -o b.exr --config auto.json --device cpu
    cmp b.exr n.2.exr
    # A suite's reference says the size that was taken.
    echo '{"version": 1, "cases": [{"name": "a", "reference": "ref.exr", "config": {"input": "s.0002.exr", "kernel": "mist-8"}}]}' >suite.json
    "$FFTBLOOM" check suite.json --bless --device cpu
    "$FFTBLOOM" diff ref.exr n.2.exr
    "$FFTBLOOM" info ref.exr --json | holds - 'any("kernel_scale 0.125" in str(a["value"]) for a in d["parts"][0]["attributes"])'
}

@test "what is wrong is said with what would be right" {
    each refused <<'T'
64 | did you mean 'gaussian' | kernel make gausian -o k.exr
64 | there is no model or recipe 'portrat' | kernel make portrat -o k.exr
64 | model aperture; the model star takes none | kernel make star --image slit.exr -o k.exr
64 | --taps | kernel make gaussian --taps 12x -o k.exr
64 | no light | kernel make ring --param radius=1000 --taps 16 -o k.exr
64 | -o OUT | kernel make gaussian
64 | MODEL | kernel make
64 | unknown kernel action 'invent'; there are make, models, | kernel invent x
64 | kernel needs an action: make, models, | kernel
74 | no/such | kernel make gaussian -o no/such/k.exr
66 | nope.exr | kernel check nope.exr
66 | nope.json | kernel make nope.json -o k.exr
66 | give it with --kernels DIR | kernel list --kernels nowhere
66 | the name of a shipped kernel; did you mean 'halation'? | "$FFTBLOOM_ROOT/testdata/small.exr" -k halatoin -o k.exr
64 | kernel_center x = 999 lies outside the kernel, whose taps are 0 to 63 | kernel clean "$FFTBLOOM_ROOT/testdata/kernel.exr" --kernel-center 999,999 -o k.exr
64 | unknown kernel action 'convert'; there are make, models, list | kernel convert k.exr -o k.exr
T
    refused 64 "; the models are gaussian, " kernel make qqqqqq -o k.exr
    [ ! -e k.exr ]
    echo '{"model": "gaussian", "taps": 9}' >k.json
    refused 64 "" kernel make k.json -o k.json
    "$FFTBLOOM" kernel make k.json -o k.exr
    before=$(stat -c %Y.%s k.exr)
    says 5 "" kernel make disc -o k.exr --existing skip
    [ "$(stat -c %Y.%s k.exr)" = "$before" ]
}

@test "check: no warnings about the shipped kernels; --strict" {
    star=$FFTBLOOM_ROOT/testdata/star.exr
    says 0 "no warnings" kernel check "$star" --strict
    "$FFTBLOOM" kernel make moffat --param slope=1.3 --fade 1 -o cut.exr --taps 65
    says 0 "warning: the border cuts off the tail" kernel check cut.exr
    [[ "$output" == *"goes as distance^-2.58"* ]]
    says 1 "" kernel check cut.exr --strict
    says 1 "" kernel check cut.exr --strict -q
    [ -z "$output" ]
    "$FFTBLOOM" kernel check cut.exr --json | holds - '(x := d["findings"][0])["level"] == "warning" and x["key"] == "tail" and d["side_for_999"] > 65'
    "$FFTBLOOM" precompute cut.exr -o cut.spectrum
    says 65 "" kernel check cut.spectrum
    # A photograph of 8 bits.
    needs_program oiiotool
    oiiotool "$star" --mulc 1000 --clamp:max=1,1,1 --colorconvert linear sRGB -d uint8 -o blown.png
    says 0 "note: the taps have the values of an 8-bit picture: " kernel check blown.png
}

# docs/kernels.md has a table of what to do with kernels of other tools.
@test "oiiotool makes the same picture of a turned kernel as fftbloom of ours" {
    needs_program oiiotool
    image in.exr 40x40 float 0 20,20=8 12,25=3
    for size in 6x6 7x6; do
        image k.exr $size float 0 3,3=3 5,2=1 0,4=2
        "$FFTBLOOM" kernel rotate k.exr 180 -o turned.exr -q
        read -r w h < <("$FFTBLOOM" info turned.exr | awk '$1 == "width" || $1 == "height" { print $2 }' | xargs)
        oiiotool turned.exr --origin -$((w / 2))-$((h / 2)) -o theirs.exr in.exr theirs.exr --convolve -d float -o theirs_out.exr in.exr k.exr --convolve -d float -o raw_out.exr
        "$FFTBLOOM" in.exr k.exr -o ours_out.exr
        "$FFTBLOOM" diff ours_out.exr theirs_out.exr --fail 1e-5 --warn 1e-5
        # As it is, it makes another picture.
        says 2 "" diff ours_out.exr raw_out.exr --fail 1e-5
        "$FFTBLOOM" in.exr theirs.exr -o back_out.exr --correlate
        "$FFTBLOOM" diff ours_out.exr back_out.exr --fail 1e-5 --warn 1e-5
    done
}

# What a program makes of in.pfm and a kernel: its convolution, as it stores kernels.
by_scipy() { # KERNEL... : out.KERNEL.pfm
    python3 - "$@" <<'PY'
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
for k in sys.argv[1:]:
    write(f"out.{k}.pfm", scipy.signal.convolve2d(read("in.pfm"), read(f"{k}.pfm"), mode="same"))
PY
}
by_gmic() { for k in "$@"; do gmic -v 0 in.pfm $k.pfm convolve[0] [1],0 keep[0] o out.$k.pfm; done; }

same_picture() { # TOOL: as fftbloom's, of a kernel that no symmetry hides, whatever its size
    while read -r size odd centre; do
        image in.exr 40x36 float 0 20,20=8 12,25=3 -- k.exr $size float 0 3,3=3 5,2=1 0,4=2
        for f in in k; do "$FFTBLOOM" $f.exr k.exr -o $f.pfm --amount 0; done
        "$FFTBLOOM" in.pfm k.pfm --normalize none -o ours.pfm
        "$FFTBLOOM" kernel crop k.pfm --taps $odd -o theirs.pfm
        by_$1 theirs k
        "$FFTBLOOM" diff ours.pfm out.theirs.pfm --fail 1e-4 --warn 1e-4
        # As it is, it makes another picture: that of its own centre.
        says 2 "" diff ours.pfm out.k.pfm --fail 1e-4 --warn 1e-4
        "$FFTBLOOM" in.pfm k.pfm --normalize none --kernel-center $centre -o ours.pfm
        "$FFTBLOOM" diff ours.pfm out.k.pfm --fail 1e-4 --warn 1e-4
    done <<'T'
6x6 7x7 2,2
7x6 7x7 3,2
8x7 9x7 3,3
T
}

@test "scipy makes the same picture of an odd kernel as fftbloom of ours" {
    python3 -c 'import scipy.signal' 2>/dev/null || skip "scipy is not installed"
    same_picture scipy
}

@test "G'MIC makes the same picture of an odd kernel as fftbloom of ours" {
    needs_program gmic
    same_picture gmic
}

@test "numpy's transforms: a kernel whose centre is its first tap" {
    python3 -c 'import numpy' 2>/dev/null || skip "numpy is not installed"
    for size in 6x7 9x8; do
        image in.exr 40x36 float 0 20,20=8 12,25=3 -- k.exr $size float 0 3,3=3 5,2=1 0,4=2
        "$FFTBLOOM" k.exr k.exr -o k.pfm --amount 0
        python3 - <<'PY'
import numpy
f = open("k.pfm", "rb")
head = [f.readline() for i in range(3)]
w, h = map(int, head[1].split())
k = numpy.frombuffer(f.read(), "<f4").reshape(h, w)[::-1]
open("first.pfm", "wb").write(b"".join(head) + numpy.fft.ifftshift(k)[::-1].tobytes())
PY
        "$FFTBLOOM" in.exr k.pfm -o ours.exr
        "$FFTBLOOM" in.exr first.pfm -o theirs.exr --kernel-center corner
        "$FFTBLOOM" diff ours.exr theirs.exr --fail 1e-6 --warn 1e-6
    done
}
