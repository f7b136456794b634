#!/usr/bin/env bats
# What compositors need: the bloom as a layer or a file, masks, settings of single layers, provenance.

load files

setup_file() {
    shared_folder || return 0
    # Two points of 8 and 4, and a kernel of two taps: 3/4 in its middle, 1/4 three to the right and
    # one down. The mask is 1/2 at the first point, and 0 elsewhere.
    oiiotool --create 32x24 3 --point:color=8,8,8 10,9 --point:color=4,4,4 20,5 -d float -o in.exr
    oiiotool --create 9x9 1 --chnames Y --point:color=3 4,4 --point:color=1 7,5 -d float -o two.exr
    oiiotool --create 32x24 1 --chnames matte --fill:color=0 32x24 --point:color=0.5 10,9 -d float -o matte.exr
    oiiotool in.exr --ch R,G,B,A=0.5,rim.R=R,rim.G=G,rim.B=B,Z=7 matte.exr --chappend -d float -o layers.exr
    oiiotool layers.exr -d half -o halfs.exr
}

# FILE X Y CHANNELS: the values of a pixel, rounded to a hundred thousandth.
pixel() {
    oiiotool "$1" --ch "$4" -o channels.exr
    oiiotool --dumpdata channels.exr | sed -n "s/^ *Pixel ($2, $3): *//p" |
        awk '{ for (i = 1; i <= NF; i++) printf "%s%.6g", (i > 1 ? " " : ""), int($i * 1e5 + ($i < 0 ? -0.5 : 0.5)) / 1e5 }'
}
bloom() { "$FFTBLOOM" "$@" -o out.exr --device cpu; }
channels() { "$FFTBLOOM" info "$1" --json | python3 -c 'import json, sys; print(*[c["name"] for c in json.load(sys.stdin)["parts"][0]["channels"]])'; }

@test "emit glare and additive are what docs/comp.md says" {
    # centre = 0.5 * 3/4 + 0.5 = 7/8
    bloom in.exr two.exr --amount 0.5 --emit-layer g
    [ "$(pixel out.exr 10 9 R,g.R) $(pixel out.exr 13 10 R,g.R)" = "7 0 1 1" ]
    bloom in.exr two.exr --amount 0.5 --emit-layer g --emit additive
    [ "$(pixel out.exr 10 9 R,g.R) $(pixel out.exr 13 10 R,g.R)" = "7 -1 1 1" ]
    # With a threshold only the excess of 8 over 6 moves.
    bloom in.exr two.exr --threshold 6 --emit-layer g --emit additive
    [ "$(pixel out.exr 10 9 R,g.R) $(pixel out.exr 20 5 R,g.R)" = "7.5 -0.5 4 0" ]
}

@test "the input and an amount of the additive layer are the output of that amount" {
    oiiotool --pattern noise:type=uniform:min=0:max=4 64x48 3 -d float -o noise.exr
    bloom noise.exr "$FFTBLOOM_ROOT/testdata/kernel.exr" --emit-file add.exr --emit additive
    [ "$(channels out.exr)" = "B G R" ]
    [ "$(channels add.exr)" = "B G R" ]
    oiiotool noise.exr add.exr --add -o sum.exr
    "$FFTBLOOM" diff sum.exr out.exr -fail 1e-5
    oiiotool noise.exr add.exr --mulc 0.3 --add -o sum.exr
    bloom noise.exr "$FFTBLOOM_ROOT/testdata/kernel.exr" --amount 30%
    "$FFTBLOOM" diff sum.exr out.exr -fail 1e-5
}

@test "emit_file: a file of its own, also of layers, in sequences, and with a name" {
    bloom layers.exr two.exr --emit-file g.exr
    [ "$(channels g.exr)" = "B G R rim.B rim.G rim.R" ]
    [ "$(channels out.exr)" = "$(channels layers.exr)" ]
    [ "$(pixel g.exr 13 10 R,rim.R)" = "2 2" ]
    bloom layers.exr two.exr --emit-file g.exr --emit-layer glare
    [ "$(channels g.exr)" = "glare.B glare.G glare.R glare.rim.B glare.rim.G glare.rim.R" ]
    cp in.exr s.1.exr
    cp in.exr s.2.exr
    "$FFTBLOOM" s.@.exr two.exr -o o.@.exr --emit-file g.@.exr --device cpu
    cmp g.1.exr g.2.exr
    refused() { run "$FFTBLOOM" "$@" --device cpu; echo "$output"; [ "$status" -eq 64 ]; }
    refused s.@.exr two.exr -o o.@.exr --emit-file g.exr
    refused in.exr two.exr -o o.exr --emit-file o.exr
    refused in.exr two.exr -o o.exr --emit-file g.pfm
    refused in.exr two.exr -o o.exr --emit additive
}

@test "a mask says where light spreads from, in half floats, too; no light is lost" {
    for f in layers halfs; do
        bloom $f.exr two.exr --mask matte --verify 100
        [ "$(pixel out.exr 10 9 R,rim.R) $(pixel out.exr 13 10 R) $(pixel out.exr 20 5 R)" = "7 7 1 4" ]
        [ "$(pixel out.exr 10 9 Z,matte)" = "7 0.5" ]
    done
    # A threshold is held against the light that the mask lets through: 4 at the first point.
    bloom layers.exr two.exr --mask matte --threshold 3
    [ "$(pixel out.exr 10 9 R) $(pixel out.exr 13 10 R)" = "7.75 0.25" ]
    # A mask in a part of its own, and light that its window does not cover.
    oiiotool in.exr --attrib oiio:subimagename beauty matte.exr --crop 11x24+0+0 --attrib oiio:subimagename mattes --siappend -d float -o parts.exr
    bloom parts.exr two.exr --mask matte --layers rgba
    oiiotool out.exr --subimage 0 -o beauty.exr
    [ "$(pixel beauty.exr 10 9 R) $(pixel beauty.exr 20 5 R)" = "7 4" ]
    # With another window of the output.
    bloom layers.exr two.exr --mask matte --window grow
    [ "$(pixel out.exr 10 9 R) $(pixel out.exr 13 10 R)" = "7 1" ]
    run bloom layers.exr two.exr --mask none
    [ "$status" -eq 64 ]
    [[ "$output" == *"the mask 'none' is neither"* ]]
    # A pixel that is not finite is nobody's business where nothing spreads.
    python3 -c '
import struct
with open("n.pfm", "wb") as f:
    f.write(b"Pf\n4 1\n-1.0\n" + struct.pack("<4f", 1, float("nan"), 2, 3))'
    oiiotool n.pfm --chnames Y --create 4x1 1 --fill:color=0 4x1 --point:color=1 3,0 --chnames m --chappend -d float -o n.exr
    bloom n.exr two.exr --mask m --layers Y
    run bloom n.exr two.exr --layers Y
    [ "$status" -eq 6 ]
}

@test "what is beyond half floats with the light that a mask holds back is told" {
    # 30000 are held back, 3/4 of 30000 stay, and 1/4 of 60000 come from the other point.
    oiiotool --create 32x24 3 --point:color=60000,60000,60000 10,9 --point:color=60000,60000,60000 7,8 --ch R,G,B,matte=0 -d half -o big.exr
    oiiotool --create 32x24 1 --chnames matte --point:color=0.5 10,9 --point:color=1 7,8 -d half -o m.exr
    oiiotool big.exr --ch R,G,B m.exr --chappend -d half -o big.exr
    bloom big.exr two.exr --mask matte --report r.json
    [ "$(pixel out.exr 10 9 R)" = "65504" ]
    grep -q "3 values beyond 65504, up to 67500, were clamped to it" r.json
    run bloom big.exr two.exr --mask matte --half-overflow error
    [ "$status" -eq 6 ]
    [[ "$output" == *"3 values of the result, up to 67500, are beyond 65504"* ]]
    bloom big.exr two.exr --mask matte --half-overflow float
    [ "$(pixel out.exr 10 9 R)" = "67500" ]
    bloom big.exr two.exr --mask matte --pixel-type float
    [ "$(pixel out.exr 10 9 R)" = "67500" ]
    # Infinity stays infinity where the mask is 0.
    python3 -c '
import struct
with open("i.pfm", "wb") as f:
    f.write(b"Pf\n4 1\n-1.0\n" + struct.pack("<4f", 1, float("inf"), 2, 3))'
    oiiotool i.pfm --chnames Y --create 4x1 1 --fill:color=0 4x1 --chnames m --chappend -d half -o i.exr
    "$FFTBLOOM" i.exr two.exr -o out.pfm --device cpu --mask m --layers Y
    cmp <(tail -c 16 i.pfm) <(tail -c 16 out.pfm)
}

@test "single layers have settings of their own" {
    bloom layers.exr two.exr --per-layer rim:amount=0.5
    [ "$(pixel out.exr 10 9 R,rim.R)" = "6 7" ]
    echo '{"version": 1, "per_layer": {"*": {"amount": 0}, "rim": {"sharpen": 0.75, "mask": "matte"}, "rgba": {"sharpen": 0, "threshold": 6}}}' >look.json
    bloom layers.exr two.exr --config look.json --verify 100 --report r.json
    # rim: 4 + (0.25 * 3/4 + 0.75) * 4
    [ "$(pixel out.exr 10 9 R,rim.R)" = "7.5 7.75" ]
    grep -q "layer 'rgba': only light above 6 is spread" r.json
    "$FFTBLOOM" schema config >schema.json
    python3 -c 'import json, jsonschema; jsonschema.validate(json.load(open("look.json")), json.load(open("schema.json")))'
    "$FFTBLOOM" --print-config --config look.json | grep -q '^per_layer .*"rim:mask=matte".* look.json:1:'
    refused() { # JSON of layers, words
        echo "{\"version\": 1, \"per_layer\": $1}" >bad.json
        run bloom layers.exr two.exr --config bad.json
        echo "$output"
        [ "$status" -eq 64 ]
        [[ "$output" == *"bad.json:1:"*"$2"* ]]
    }
    refused '{"rim": {"sharpens": 1}}' "'sharpens' is not a setting of a layer"
    refused '{"rim": {"sharpen": 2}}' "from 0 to 1, not '2'"
    refused '{"rim": 2}' "must be an object, not a number"
    run bloom layers.exr two.exr --per-layer rim
    [ "$status" -eq 64 ]
    for o in nosuch:amount=0.5 rim:amount=0.5,nosuch*:knee=1; do
        run bloom layers.exr two.exr --per-layer "$o"
        echo "$output"
        [ "$status" -eq 64 ]
        [[ "$output" == *"no layer matches --per-layer 'nosuch"*"'; the colour layers are: rgba, rim" ]]
    done
    echo '{"version": 1, "per_layer": {"nosuch": {"amount": "20%"}}}' >bad.json
    says 64 "no layer matches --per-layer 'nosuch'" plan layers.exr two.exr --config bad.json --device cpu
    bloom layers.exr two.exr --per-layer rim:amount=0.5 --exclude rim
    # The spellings that the options take.
    bloom layers.exr two.exr --per-layer rim:amount=50%,rgba:threshold=inf
    [ "$(pixel out.exr 10 9 R,rim.R)" = "8 7" ]
    echo '{"version": 1, "per_layer": {"rim": {"amount": "50%"}, "rgba": {"threshold": "inf"}}}' >look.json
    bloom layers.exr two.exr --config look.json
    [ "$(pixel out.exr 10 9 R,rim.R)" = "8 7" ]
    refused '{"rim": {"amount": "120%"}}' "from 0 to 1 or a percentage, not '120%'"
    refused '{"rim": {"sharpen": "20%"}}' "must be a number, not a string"
    # A layer's own threshold of nothing.
    bloom layers.exr two.exr --threshold 6 --per-layer rim:threshold=0
    [ "$(pixel out.exr 10 9 R,rim.R)" = "7.5 6" ]
}

@test "amount is a fraction or a percentage, and sharpen its complement in files" {
    value() { "$FFTBLOOM" "$@" --print-config | awk '$1 == "amount" { print $2 }'; }
    for o in "--amount 0.3" "--amount 30%" "--amount=30%"; do
        [ "$(value $o)" = 0.3 ]
    done
    echo '{"version": 1, "amount": "25%"}' >look.json
    [ "$(value --config look.json)" = 0.25 ]
    echo '{"version": 1, "sharpen": {"1": 0.2, "3": 1}}' >look.json
    [[ "$("$FFTBLOOM" --config look.json --print-config | grep ^amount)" == *'{"1": 0.8, "3": 0}'* ]]
    [[ "$("$FFTBLOOM" --amount 1:80%,3:0 --print-config | grep ^amount)" == *'{"1": 0.8, "3": 0}'* ]]
    [ "$(value --config look.json --amount 0.5)" = 0.5 ]
    for v in 2 -1 101% % x; do
        says 64 "" in.exr two.exr -o out.exr --amount=$v
        [[ "$output" == *"--amount must be"*"not "* ]]
    done
}

@test "stamp: how it was made, and a note on an image that was bloomed already" {
    bloom in.exr two.exr --stamp --amount 0.5
    "$FFTBLOOM" info out.exr | grep -q 'fftbloom:version (string): fftbloom '
    "$FFTBLOOM" info out.exr | grep -q 'fftbloom:source (string): in.exr'
    "$FFTBLOOM" info out.exr | grep -q 'fftbloom:look (string): amount 0.5'
    run --separate-stderr "$FFTBLOOM" out.exr two.exr -o twice.exr --device cpu
    [[ "$stderr" == *"out.exr was bloomed already"* ]]
    run --separate-stderr bloom in.exr two.exr
    [ -z "$stderr" ]
    says 64 "" in.exr two.exr -o out.pfm --stamp
}
