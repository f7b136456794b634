# The checks of a result: bad pixels, the promise, --verify and its exit code, the ledger.

load files

setup_file() {
    shared_folder || return 0
    # A dark frame with two suns, and a kernel with a bright centre and a veil.
    image in.exr 64x48 float 0.001,0.002,0.003 7,9=60000,40000,30000 63,47=1000,2000,3000 -- \
        kernel.exr 21x21 float 0.01,0.01,0.02 10,10=9,9,9 6,1=0.5,0.4,0.3
}

frame() { # PYTHON...: conditions on the frame f of r.json
    holds r.json "$@"
}

@test "verify: no more pixels than there are, each once" {
    image one.exr 3x2 float 0.5,0.25,1
    for n in 1 17 18 100000; do
        "$FFTBLOOM" one.exr kernel.exr -o out.exr --verify $n --report r.json --device cpu
        frame "f[\"verify\"][\"pixels\"] == min(18, 2 * $n)"
    done
    # Pixels whose colours are coded together.
    "$FFTBLOOM" one.exr kernel.exr -o out.exr --verify 100 --output-space srgb --report r.json --device cpu
    frame 'f["verify"]["pixels"] == 18'
}

# Both orders keep the promise; in float32 their results differ in the last digits.
@test "the order of the axes by a config, a flag and a suite, on both engines: planned, reported, verified" {
    oiiotool --pattern noise:type=uniform:min=0.1:max=1 96x50 3 -d float -o noise.exr
    oiiotool --pattern noise:type=uniform:min=0:max=1:seed=3 9x9 3 -d float -o kernel.exr
    for a in auto x y; do echo '{"version": 1, "axis": "'$a'", "verify": 200, "precision": "float32"}' >$a.json; done
    cases=
    for d in cpu software; do
        has $d || continue
        for a in x y; do
            "$FFTBLOOM" noise.exr kernel.exr -o $a.exr --config $a.json --device $d --sandbox off --report r.json
            frame 'f["plan"]["first"] == d["settings"]["axis"] == "'$a'"' 'f["verify"]["broken"] == 0 and f["verify"]["pixels"] >= 400' \
                'f["promise"]["kept"] and f["promise"]["precision"] == "float32"'
            cases+="${cases:+,}"'{"name": "'$d' '$a'", "config": {"axis": "'$a'", "device": "'$d'"}}'
        done
        run -1 cmp -s x.exr y.exr
        "$FFTBLOOM" diff x.exr y.exr --fail 1e-5
    done
    "$FFTBLOOM" plan noise.exr kernel.exr --device cpu --config y.json --json | holds - 'd["plan"]["first"] == "y"'
    "$FFTBLOOM" plan noise.exr kernel.exr --device cpu --config y.json --axis x --json | holds - 'd["plan"]["first"] == "x"'
    "$FFTBLOOM" plan noise.exr kernel.exr --device cpu --config auto.json --json |
        holds - '(p := d["plan"])["first"] == "xy"[p["cost"][1] < p["cost"][0]]'
    echo '{"version": 1, "defaults": {"config": {"input": "noise.exr", "kernel": "kernel.exr", "precision": "float32"}, "verify": 200,
        "reference": "x.exr", "fail": 1e-5}, "cases": ['"$cases"']}' >suite.json
    says 0 PASS check suite.json
    [ "$(grep -c '^PASS  ' <<<"$output")" -ge 2 ]
}

@test "exit 7: tolerance and precision forced beyond what float32 can" {
    says 7 "by the definition" in.exr kernel.exr -o out.exr --report r.json --verify 100 --tolerance 1e-9 --precision float32 --device cpu
    [[ "$output" == *"the tolerance of 1e-09 is not kept"*"verify: channel '"* ]]
    [ ! -e out.exr ]
    frame 'f["state"] == "failed" and f["verify"]["broken"] > 0 and not f["promise"]["kept"]' \
        'f["verify"]["worst"]["error"] > f["promise"]["tolerance"]'
    # The sample may be right where the promise is not kept: floats round by more than is allowed.
    image tap.exr 1x1 float 1
    says 7 "verify: the promise is not kept, though the sample of 200 pixels is: channel 'R' may be off by" \
        in.exr tap.exr -o out.exr --report r.json --verify 100 --tolerance 1e-9 --precision float32 --device cpu
    [ ! -e out.exr ]
    frame 'f["state"] == "failed" and f["verify"]["broken"] == 0 and not f["promise"]["kept"]'
    # Left to itself the program takes float64, whose results are floats: rounding them is allowed.
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --verify 100 --tolerance 1e-7 --device cpu --report r.json
    frame 'f["promise"]["precision"] == "float64" and f["promise"]["kept"]'
}

@test "verify judges the pixel that is stored, also where the file codes it" {
    oiiotool --pattern noise:type=uniform:min=-0.02:max=2:mono=0 200x150 3 --fill:color=600,500,400 2x2+40+30 \
        --pattern noise:type=uniform:min=0:max=1:mono=1 200x150 1 --chnames A --chappend -d half -o half.exr
    oiiotool half.exr -d float -o float.exr
    # A space with each way of the file, and each space with one: the worst pixel is the one that is
    # in out.exr, and has the value that is there.
    while read -r space how; do
        rm -f out.exr
        "$FFTBLOOM" $how -k kernel.exr -o out.exr --compression zip --output-space $space --verify 300 --report r.json --device cpu
        read -r channel x y < <(python3 -c '
import json
w = json.load(open("r.json"))["frames"][0]["verify"]["worst"]
print(w["channel"], w["x"], w["y"])')
        IS=$(pixel out.exr $x $y $channel) frame 'f["verify"]["broken"] == 0 and f["verify"]["pixels"] >= 600' \
            '(got := float(__import__("os").environ["IS"])) is not None and abs(got - f["verify"]["worst"]["is"]) <= 1e-5 * abs(got) + 1e-5'
    done <<'T'
srgb half.exr
srgb float.exr
srgb float.exr --pixel-type half --alpha convolve
srgb half.exr --mem-limit 3MB --window grow
srgb half.exr --exclude A
srgb half.exr --input-space lin_ciexyzd65
logc3_awg3 float.exr --pixel-type half --alpha convolve
logc3_awg3 half.exr --mem-limit 3MB --window grow
cineon float.exr
cineon half.exr --mem-limit 3MB --window grow
lin_ciexyzd65 half.exr
lin_ciexyzd65 float.exr --pixel-type half --alpha convolve
T
    # Float32 cannot keep this tolerance, and the codes show it.
    oiiotool in.exr --mulc 1000,1000,1000 -o bright.exr
    says 7 "" bright.exr kernel.exr -o never.exr --output-space logc3 --verify 100 --tolerance 1e-9 --precision float32 --device cpu --report r.json
    frame 'f["verify"]["broken"] > 0' 'abs(f["verify"]["worst"]["should_be"]) < 3'
}

@test "plan foretells the promise that the run keeps" {
    "$FFTBLOOM" plan in.exr kernel.exr --device cpu >plan.txt
    [[ "$(tr -s ' \n' ' ' <plan.txt)" == *"promise tolerance 0.001 kept yes precision float64 channel "* ]]
    "$FFTBLOOM" plan in.exr kernel.exr --device cpu --json >p.json
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --report r.json
    frame '(p := json.load(open("p.json")))["plan"]["lengths"] == f["plan"]["lengths"]' \
        '(a := p["promise"])["kept"] and a["precision"] == f["promise"]["precision"] and (a["attempts"], f["promise"]["attempts"]) == (0, 1)'
    # An image that needs float64 is planned, and priced, in float64.
    "$FFTBLOOM" plan in.exr kernel.exr --device cpu --json --tolerance 1e-8 | holds - 'd["promise"]["precision"] == d["plan"]["precision"] == "float64"'
    says 0 "channel '" in.exr kernel.exr -o out.exr --device cpu -v
    [[ "$output" == *"float64: errors up to "* ]]
}

@test "bad pixels: refused with 6 and named, or replaced" {
    image bad.exr 30x20 float 0.5,0.5,0.5 {0..11},5=0.5,nan,0.5 29,19=0.5,0.5,-inf
    says 6 "13 pixels are NaN or infinite, the first in channel 'G' at 0, 5" bad.exr kernel.exr -o out.exr --report r.json
    [ ! -e out.exr ]
    frame 'f["bad_pixels"]["count"] == 13 and len(f["bad_pixels"]["first"]) == 10' \
        '(b := f["bad_pixels"]["first"][9])["channel"] == "G" and b["x"] in (8, 9) and b["y"] == 5 and b["value"] == "nan"'
    says 0 "bad pixels  count 13, first G, x 0, y 5, nan" plan bad.exr kernel.exr
    for how in zero interpolate; do
        "$FFTBLOOM" bad.exr kernel.exr -o out.exr --nan $how --verify 50 --report r.json
        frame 'f["verify"]["broken"] == 0 and f["bad_pixels"]["count"] == 13' \
            'sorted(r["bad_pixels"] for r in f["ledger"]) == [0, 1, 12]' 'all(abs(r["gap"]) < 1e-6 for r in f["ledger"])'
    done
    # Twelve pixels of 0.5 were put where there were none.
    frame '[r for r in f["ledger"] if r["channel"] == "G"][0]["bad"] == -6'
}

@test "bad pixels take the place of their neighbours: no black beyond the image, none that a mask hides" {
    image one.exr 3x3 float 0 1,1=1 -- bad.exr 4x4+5+3 float 1 5,3=nan 8,6=nan 6,4=2 full=10x9+2+1 -- \
        hid.exr 3x1 float 4,1 0,0=nan,0 1,0=nan,1 names=Y,m -- wide.exr 9x9 float 1
    local window
    for window in keep grow display; do
        "$FFTBLOOM" bad.exr one.exr -o out.exr --nan interpolate --window $window --device cpu --report r.json
        python3 "$FFTBLOOM_ROOT/tests/cli/image.py" check out.exr "5 3 Y=1.33333" "8 6 Y=1"
        frame 'abs(f["ledger"][0]["gap"]) < 1e-6'
    done
    # A border of the kernel's reach, or of the whole shown window, in which the sums of both agree.
    for window in grow display; do
        "$FFTBLOOM" bad.exr wide.exr -o out.exr --nan interpolate --window $window --device cpu --verify 100
    done
    "$FFTBLOOM" hid.exr one.exr -o out.exr --nan interpolate --mask m --layers Y --device cpu
    python3 "$FFTBLOOM_ROOT/tests/cli/image.py" check out.exr "0 0 Y=nan" "1 0 Y=4"
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
    frame 'f["promise"]["kept"] and f["verify"]["broken"] == 0' 'all(1e40 < r["out"] < 1e42 for r in f["ledger"])'
    says 6 '--precision=float64 holds' huge.pfm two.exr -o other.pfm --precision float32
    [ ! -e other.pfm ]
}

@test "a device in floats says where it may take faint light for none" {
    needs software
    python3 -c '
import struct
with open("faint.pfm", "wb") as f:
    f.write(b"Pf\n16 16\n-1.0\n" + struct.pack("<256f", *[5e-39 if i == 40 else 1 for i in range(256)]))'
    image two.exr 9x9 float 0 4,4=3 7,5=1
    "$FFTBLOOM" faint.pfm two.exr -o out.pfm --device software --precision float32 --report r.json
    frame 'any("may take 1 pixel below 1.2e-38 for 0" in n for n in f["notes"])'
    "$FFTBLOOM" faint.pfm two.exr -o out.pfm --device cpu --precision float32 --report r.json
    frame 'not any("1.2e-38" in n for n in f["notes"])'
}
