#!/usr/bin/env bats
# The checks of a result: bad pixels, the promise, --verify and its exit code, the ledger.

load files

setup_file() {
    shared_folder || return 0
    # A dark frame with two suns, and a kernel with a bright centre and a veil.
    image in.exr 64x48 float 0.001,0.002,0.003 7,9=60000,40000,30000 63,47=1000,2000,3000 -- \
        kernel.exr 21x21 float 0.01,0.01,0.02 10,10=9,9,9 6,1=0.5,0.4,0.3
}

frame() { # PYTHON: a condition on the frame f of r.json
    python3 -c "
import json, sys
f = json.load(open('r.json'))['frames'][0]
if not ($1): sys.exit('not so: $1\n' + json.dumps(f, indent=1))"
}

@test "verify: a run that keeps its promise, on every device" {
    devices=$("$FFTBLOOM" devices --json | python3 -c 'import json, sys; [print(d["index"]) for d in json.load(sys.stdin)["devices"]]')
    [ -n "$devices" ]
    for d in $devices; do
        "$FFTBLOOM" in.exr kernel.exr -o out.exr --verify 300 --report r.json --device "$d"
        frame 'f["verify"]["pixels"] == 600 and f["verify"]["broken"] == 0'
        frame '0 < f["verify"]["worst"]["error"] < 1e-3'
        frame 'f["promise"]["kept"] and f["promise"]["precision"] == "float64"'
        frame 'f["promise"]["error"] <= f["promise"]["allowed"]'
    done
}

# Runs, wants 7, no output, and what was found in the report.
broken() {
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr --report r.json --verify 100 "$@"
    echo "$stderr"
    [ "$status" -eq 7 ]
    [[ "$stderr" == *"verify: channel '"*"by the definition"* ]]
    [ ! -e out.exr ]
    frame 'f["state"] == "failed" and f["verify"]["broken"] > 0'
    frame 'f["verify"]["worst"]["error"] > f["promise"]["tolerance"]'
}

@test "exit 7: tolerance and precision forced beyond what float32 can" {
    broken --tolerance 1e-9 --precision float32 --device cpu
    [[ "$stderr" == *"the tolerance of 1e-09 is not kept"* ]]
    frame 'not f["promise"]["kept"]'
    # Left to itself the program takes float64, whose results are floats: rounding them is allowed.
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --verify 100 --tolerance 1e-7 --device cpu --report r.json
    frame 'f["promise"]["precision"] == "float64" and f["promise"]["kept"]'
}

# The worst pixel of --verify is the one that is in out.exr, and has the value that is there.
is_stored() {
    local channel x y is
    read -r channel x y is < <(python3 -c '
import json
w = json.load(open("r.json"))["frames"][0]["verify"]["worst"]
print(w["channel"], w["x"], w["y"], w["is"])')
    oiiotool out.exr --ch "$channel" --cut "$(printf '1x1%+d%+d' "$x" "$y")" -d float -o pixel.exr
    oiiotool --dumpdata pixel.exr >pixel.txt
    python3 - "$is" <<'EOF'
import re, sys
got = float(re.search(r"\): (\S+)", open("pixel.txt").read()).group(1))
if abs(got - float(sys.argv[1])) > 1e-5 * abs(got) + 1e-8: sys.exit(f"stored is {got}, judged {sys.argv[1]}")
EOF
}

@test "verify judges the pixel that is stored, also where the file codes it" {
    oiiotool --pattern noise:type=uniform:min=-0.02:max=2:mono=0 200x150 3 --fill:color=600,500,400 2x2+40+30 \
        --pattern noise:type=uniform:min=0:max=1:mono=1 200x150 1 --chnames A --chappend -d half -o half.exr
    oiiotool half.exr -d float -o float.exr
    for space in srgb logc3_awg3 cineon lin_ciexyzd65; do
        for how in "half.exr" "float.exr" "float.exr --pixel-type half --alpha convolve" \
            "half.exr --mem-limit 3MB --window grow" "half.exr --exclude A"; do
            rm -f out.exr
            "$FFTBLOOM" $how -k kernel.exr -o out.exr --output-space $space --verify 300 --report r.json --device cpu
            frame 'f["verify"]["broken"] == 0 and f["verify"]["pixels"] >= 600'
            is_stored
        done
    done
    # Float32 cannot keep this tolerance, and the codes show it.
    oiiotool in.exr --mulc 1000,1000,1000 -o bright.exr
    run --separate-stderr "$FFTBLOOM" bright.exr kernel.exr -o never.exr --output-space logc3 --verify 100 \
        --tolerance 1e-9 --precision float32 --device cpu --report r.json
    [ "$status" -eq 7 ]
    frame 'f["verify"]["broken"] > 0'
    frame 'abs(f["verify"]["worst"]["should_be"]) < 3'
}

@test "plan foretells the promise that the run keeps" {
    "$FFTBLOOM" plan in.exr kernel.exr --device cpu >plan.txt
    grep -qE '^promise  tolerance 0.001, .*float64: errors up to' plan.txt
    "$FFTBLOOM" plan in.exr kernel.exr --device cpu --json >p.json
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --report r.json
    python3 - <<'P'
import json
p, f = json.load(open("p.json")), json.load(open("r.json"))["frames"][0]
a, b = p["promise"], f["promise"]
assert a["precision"] == b["precision"]
assert a["attempts"] == 0 and b["attempts"] == 1 and a["kept"]
assert p["plan"]["lengths"] == f["plan"]["lengths"]
P
    # An image that needs float64 is planned, and priced, in float64.
    "$FFTBLOOM" plan in.exr kernel.exr --device cpu --json --tolerance 1e-8 >p.json
    python3 -c 'import json; p = json.load(open("p.json")); assert p["promise"]["precision"] == p["plan"]["precision"] == "float64"'
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu -v
    [[ "$stderr" == *"channel '"*"float64: errors up to "* ]]
}

bad_frame() {
    python3 - <<'P'
import struct
w, h = 30, 20
v = [[0.5] * 3 for _ in range(w * h)]
for i in range(12):
    v[5 * w + i][1] = float("nan")
v[19 * w + 29][2] = float("-inf")
with open("bad.pfm", "wb") as f: # rows from the bottom up
    f.write(b"PF\n%d %d\n-1.0\n" % (w, h))
    for y in reversed(range(h)):
        for x in range(w): f.write(struct.pack("<3f", *v[y * w + x]))
P
}

@test "bad pixels: refused with 6 and named, or replaced" {
    bad_frame
    run --separate-stderr "$FFTBLOOM" bad.pfm kernel.exr -o out.exr --report r.json
    [ "$status" -eq 6 ]
    [ ! -e out.exr ]
    [[ "$stderr" == *"13 pixels are NaN or infinite, the first in channel 'G' at 0, 5"* ]]
    frame 'f["bad_pixels"]["count"] == 13 and len(f["bad_pixels"]["first"]) == 10'
    frame 'f["bad_pixels"]["first"][9] in ({"channel": "G", "x": 9, "y": 5, "value": "nan"}, {"channel": "G", "x": 8, "y": 5, "value": "nan"})'
    says 0 "bad      13 pixels are NaN or infinite" plan bad.pfm kernel.exr
    "$FFTBLOOM" plan bad.pfm kernel.exr --json >plan.json
    [ "$(python3 -c 'import json; p = json.load(open("plan.json")); print("ledger" in p, p["bad_pixels"]["count"])')" = "False 13" ]
    for how in zero interpolate; do
        "$FFTBLOOM" bad.pfm kernel.exr -o out.exr --nan $how --verify 50 --report r.json
        frame 'f["verify"]["broken"] == 0 and f["bad_pixels"]["count"] == 13'
        frame 'sorted(r["bad_pixels"] for r in f["ledger"]) == [0, 1, 12]'
        frame 'all(abs(r["gap"]) < 1e-6 for r in f["ledger"])'
    done
    # Twelve pixels of 0.5 were put where there were none.
    frame '[r for r in f["ledger"] if r["channel"] == "G"][0]["bad"] == -6'
}

@test "the ledger adds up: borders, kernels, thresholds, types" {
    balance() {
        "$FFTBLOOM" in.exr kernel.exr -o out.exr --report r.json "$@"
        frame 'len(f["ledger"]) == 3'
        frame 'all(abs(r["gap"]) < 1e-6 for r in f["ledger"])'
        frame 'all(abs(r["in"] + r["gained"] - r["out"] - r["spilled"] - r["bad"] - r["overflow"] - r["negative"]) <= 1e-6 * max(r["in"], r["out"]) for r in f["ledger"])'
    }
    for p in zero mirror clamp wrap; do balance --padding $p; done
    balance --padding wrap
    frame 'all(abs(r["spilled"]) < 1e-6 * r["in"] for r in f["ledger"])'
    balance --window grow
    frame 'all(abs(r["spilled"]) < 1e-9 * r["in"] for r in f["ledger"])'
    for n in luminance channel sum none; do balance --normalize $n; done
    balance --normalize channel
    frame 'all(abs(r["gained"]) < 1e-6 * r["in"] for r in f["ledger"])'
    balance --threshold 10 --knee 5 --amount 0.7
    balance --half-overflow clamp --pixel-type half --normalize none
    frame 'any(r["overflow_pixels"] > 0 and r["overflow"] > 0 for r in f["ledger"])'
}

@test "pixels near the largest float: their sums are beyond floats, and doubles make them right" {
    python3 -c '
import random, struct
r = random.Random(1)
v = [3e38 if r.random() < 0.1 else 3e37 * (1 + r.random()) for i in range(64 * 48)]
with open("huge.pfm", "wb") as f:
    f.write(b"Pf\n64 48\n-1.0\n" + struct.pack("<3072f", *v))'
    image two.exr 9x9 float 0 4,4=3 7,5=1
    "$FFTBLOOM" huge.pfm two.exr -o out.pfm --verify 200 --report r.json
    frame 'f["promise"]["kept"] and f["verify"]["broken"] == 0'
    frame 'all(1e40 < r["out"] < 1e42 for r in f["ledger"])'
    says 6 "" huge.pfm two.exr -o other.pfm --precision float32
    [[ "$output" == *'--precision float64 holds'* ]]
    [ ! -e other.pfm ]
}

@test "sample files: all half values, and rings with NaN and infinity" {
    samples=$FFTBLOOM_ROOT/../shared/data/openexr-images
    [ -e "$samples/TestImages_AllHalfValues.exr" ] || skip "the sample files are not here"
    for name in TestImages_AllHalfValues TestImages_BrightRingsNanInf; do
        says 6 "" "$samples/$name.exr" kernel.exr -o out.exr
        for how in zero interpolate; do
            "$FFTBLOOM" "$samples/$name.exr" kernel.exr -o out.exr --nan $how --half-overflow float --verify 200 --report r.json
            frame 'f["verify"]["broken"] == 0 and f["promise"]["kept"] and f["bad_pixels"]["count"] > 0'
            frame 'all(abs(r["gap"]) < 1e-6 for r in f["ledger"])'
            run oiiotool --stats out.exr
            [[ "$output" == *NanCount* ]]
            [ -z "$(grep -E '(Nan|Inf)Count: .*[1-9]' <<<"$output")" ]
        done
    done
}
