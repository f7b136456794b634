# The actions of `fftbloom kernel` that make one kernel of others.

load files

json() { python3 -c "import json, sys; d = json.load(sys.stdin); print(($1))"; }
kernel() { "$FFTBLOOM" kernel "$@"; }

# tests/unit/test_edit.c has their taps.
@test "edits: rotate, stretch, mix and crop say what they change" {
    made() { # CONDITIONS... -- arguments: of the JSON
        local conditions=()
        while [ "$1" != -- ]; do conditions+=("$1"); shift; done
        "$FFTBLOOM" kernel "${@:2}" --json | holds - "${conditions[@]}"
    }
    kernel make star --param blades=6 --taps 64 -o star.exr
    kernel make moffat --taps 65 -o veil.exr
    says 0 "turned by 60 degrees" kernel rotate star.exr 60 -o t.exr
    [[ "$output" == *"size        65 65"*"channels    3"* ]]
    kernel rotate star.exr 90 -o t.exr -q
    kernel rotate t.exr -90 -o back.exr -q
    "$FFTBLOOM" info back.exr | grep -q 'fftbloom.edit .*rotate star.exr 90.*rotate t.exr -90'
    "$FFTBLOOM" info back.exr | grep -q 'fftbloom.model .*star'
    made 'd["size"][1] == 64 and d["size"][0] > 100 and abs(d["light"] - 1) < 1e-6' -- stretch star.exr 2x1 -o t.exr
    run ! grep -q fftbloom.model <("$FFTBLOOM" info t.exr)
    made '(m := d["inputs"][1])["amount"] == 0.3 and m["offset"] == [2, -1] and d["channels"] == 3' \
        '[c["key"] for c in d["changed"]] == ["share", "share"]' -- mix star.exr:0.7 veil.exr:0.3@2,-1 -o m.exr
    "$FFTBLOOM" info m.exr | grep -q 'chromaticities .*0.64'
    says 0 "the shares add up to 2" kernel mix star.exr:1 veil.exr:1 -o m.exr
    says 0 "hold all but " kernel crop veil.exr -o s.exr --param keep=0.9
    says 0 "lay outside 21 x 21 taps" kernel crop veil.exr --taps 21 -o s.exr
    kernel crop veil.exr --taps 33 --fade 0.5 -o s.exr
    made 'd["size"] == [65, 41] and d["lost"] == 0' -- crop s.exr --taps 65x41 -o p.exr
    says 64 "would be a picture" kernel rotate star.exr 10 -o t.png
    # The same bytes with one thread and with four.
    for edit in "rotate star.exr 17" "stretch star.exr 1.5x0.7" "mix star.exr:0.5 veil.exr:0.5@1.5,-2"; do
        kernel $edit -o one.exr --jobs 1 -q
        kernel $edit -o four.exr --jobs 4 -q
        cmp one.exr four.exr
    done
    # Kernels of different primaries are brought to those of the first.
    image ap1.exr 5x5 float 0.1,0.2,0.3 chromaticities=0.713,0.293,0.165,0.83,0.128,0.044,0.32168,0.33767
    says 0 "ap1.exr was converted to the primaries of the first kernel" kernel mix star.exr:0.5 ap1.exr:0.5 -o m.exr
    says 0 "" kernel mix star.exr:0.5 star.exr:0.5 -o m.exr
    [[ "$output" != *"converted"* ]]
    "$FFTBLOOM" diff star.exr m.exr --fail 1e-7 --warn 1e-7
}

@test "edits: what is wrong is said with what would be right" {
    kernel make disc --param radius=3 --taps 9 -o k.exr
    for at in 3 nan,0 0,inf 1e300,0 0,-40000 1,2,3; do
        refused 64 "an offset must be @X,Y in taps" kernel mix k.exr:1@$at k.exr -o o.exr
    done
    each refused <<'T'
64 | separate several kernels by blanks: k.exr:0.7 k.exr:0.3 | kernel mix k.exr:0.7,k.exr:0.3 -o o.exr
64 | at most 1e+09 | kernel mix k.exr:1e308 k.exr:1e308 -o o.exr
64 | 'k.exr:0,5' is not a file, and '0,5' is not a share of the light | kernel mix k.exr:0,5 k.exr -o o.exr
64 | takes no @X,Y | kernel crop k.exr@1,1 -o o.exr
66 | nope.exr | kernel rotate nope.exr 3 -o o.exr
64 | angle of rotate must be a number | kernel rotate k.exr much -o o.exr
64 | needs 2 arguments, not 1 | kernel rotate k.exr -o o.exr
64 | one number too many | kernel stretch k.exr 1x2x3 -o o.exr
64 | did you mean 'keep'? | kernel crop k.exr --param kep=0.9 -o o.exr
64 | no effect with --taps | kernel crop k.exr --taps 5 --param keep=0.9 -o o.exr
64 | one argument too many | kernel clean k.exr k.exr -o o.exr
64 | k.exr | kernel rotate k.exr 3 -o k.exr
64 | it is for make | kernel rotate k.exr 3 -o o.exr --fade 0.5
66 | 'sunstra' is neither a file nor the name of a shipped kernel; did you mean 'sunstar'? | kernel check sunstra
66 | did you mean 'sunstar'? | kernel show sunstra -o x.svg
66 | did you mean 'sunstar'? | kernel rotate sunstra 5 -o o.exr
T
    [ ! -e o.exr ]
    # A file whose name looks like an amount is a file.
    cp k.exr a:2
    kernel mix a:2 a:2:0.5 -o o.exr -q
    says 5 "" kernel rotate k.exr 3 -o o.exr --existing skip
}

# tests/unit/test_clean.c has what clean does to photographs.
@test "docs/kernels.md: from a phone picture of a lamp to a kernel, command by command" {
    needs_program oiiotool
    # A bracket that was merged: noise, the glow of the sky, a lamp off the middle, a warm colour.
    kernel make star --param radius=2.5,blades=6 --taps 301 -o spikes.exr
    kernel make moffat --param core=2,slope=1.4 --taps 301 -o veil.exr
    kernel mix spikes.exr:0.6 veil.exr:0.4 -o lens.exr -q
    oiiotool lens.exr --mulc 50 --mulc 1,0.9,0.7 --create 500x440 3 --chnames R,G,B -d float --paste +101+71 \
        --addc 2e-5 --noise:type=gaussian:stddev=1e-6 -d float -o merged.exr
    # And one picture of a phone, which is cut off.
    oiiotool merged.exr --cut 400x360+50+40 --mulc 50 --clamp:max=1,1,1 --colorconvert linear sRGB \
        --noise:type=gaussian:stddev=0.003 --clamp:min=0,0,0:max=1,1,1 -d uint8 -o middle.png
    oiiotool --create 320x240 3 --point:color=900,900,900 100,90 -d half -o in.exr
    mkdir bin
    ln -s "$FFTBLOOM" bin/fftbloom
    sed -n '/^## From a phone/,/^## Choosing/s/^    //p' "$FFTBLOOM_ROOT/docs/kernels.md" >commands.sh
    [ "$(grep -c ^fftbloom commands.sh)" -ge 6 ]
    PATH=$dir/bin:$PATH bash -ex commands.sh >said.txt 2>&1 || { cat said.txt; false; }
    grep -q "taps of the saturated core are extrapolated" said.txt
    grep -q "a background of " said.txt
    grep -q "^no warnings" said.txt
    # What came back is the lamp's kernel: a wrong core, background or tail is far from this.
    for k in kernel lens; do
        kernel show $k.exr -o $k.svg --json >$k.json
    done
    holds kernel.json '(l := json.load(open("lens.json"))["rings"])' \
        'all(abs(d["rings"][r]["within"][c] - l[r]["within"][c]) < 0.05 for r in (2, 5, 10, 20, 40, 80) for c in range(3))'
}

@test "clean: a picture that is no lamp is refused, with the share that would go, and --force writes it" {
    needs_program oiiotool
    oiiotool --create 90x60 3 --fill:color=0.5,0.5,0.5 90x60 --point:color=9,9,9 20,25 -d half -o street.exr
    refused 65 "% of the light of 'street.exr' would be cut" kernel clean street.exr -o k.exr --fade 0.8
    [ ! -e k.exr ]
    says 0 "" kernel clean street.exr -o k.exr --fade 0.8 --force
    says 64 "--force has no effect in 'mix'; it is for clean" kernel mix k.exr -o m.exr --force
}

@test "what has no effect is not printed, and one line tells of progress at a time" {
    kernel make disc --param radius=9 --taps 64 -o k.exr
    kernel crop k.exr --taps 32 -o c.exr >said
    grep -q "brought to 32 x 32 taps" said
    run ! grep keep said
}
