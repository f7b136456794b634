#!/usr/bin/env bats
# `fftbloom apply`: files in, files out, sequences, reports, and the manners of a batch tool.

load files

setup_file() {
    shared_folder || return 0
    # A dark image with one bright pixel, and a small lopsided kernel.
    oiiotool --create 40x30 3 --fill:color=0.1,0.2,0.3 40x30 --point:color=50,40,30 7,9 -d half -o in.exr
    oiiotool --create 9x7 3 --fill:color=0.01,0.01,0.02 9x7 --point:color=1,1,1 4,3 \
        --point:color=0.5,0.4,0.3 6,1 -d float -o kernel.exr
}

pixel() { # FILE X Y: the values of a pixel
    oiiotool --dumpdata "$1" | sed -n "s/^ *Pixel ($2, $3): *//p"
}

@test "one image: the whole program in one line" {
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr
    [ "$status" -eq 0 ]
    [ -z "$output$stderr" ]
    [ -s out.exr ]
    # The glare of the bright pixel is at the kernel's second peak: two right of it, two up.
    near=$(pixel out.exr 9 7 | awk '{ print ($1 > 5) }')
    far=$(pixel out.exr 5 11 | awk '{ print ($1 < 5) }')
    [ "$near$far" = 11 ]
    # Nothing else lies around.
    [ "$(ls -A | grep -v -e cache)" = "$(printf 'in.exr\nkernel.exr\nout.exr')" ]
}

@test "apply and the bare form write the same bytes, twice" {
    "$FFTBLOOM" in.exr kernel.exr -o a.exr
    "$FFTBLOOM" apply in.exr kernel.exr -o b.exr
    "$FFTBLOOM" --input in.exr --kernel kernel.exr --output c.exr
    cmp a.exr b.exr
    cmp a.exr c.exr
}

@test "type and compression are the input's, or what is asked for" {
    kind() { oiiotool --info -v "$1" | awk '/channel, / { print $8 } /compression:/ { print $2 }' | xargs; }
    "$FFTBLOOM" in.exr kernel.exr -o out.exr
    [ "$(kind out.exr)" = "$(kind in.exr)" ]
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --compression piz --pixel-type float
    [ "$(kind out.exr)" = 'float piz' ]
    oiiotool in.exr -d float -o f.exr
    "$FFTBLOOM" f.exr kernel.exr -o out.exr --pixel-type half --compression none
    [ "$(kind out.exr)" = 'half none' ]
}

@test "an image of halfs goes to a device as halfs: the same bytes as when it goes as floats" {
    "$FFTBLOOM" devices | grep -q ' software ' || skip "no software device"
    "$FFTBLOOM" in.exr kernel.exr -o f.exr --amount 0 --pixel-type float
    "$FFTBLOOM" in.exr kernel.exr -o a.exr --device software --precision float32 --report a.json
    "$FFTBLOOM" f.exr kernel.exr -o b.exr --device software --precision float32 --report b.json \
        --pixel-type half
    "$FFTBLOOM" diff a.exr b.exr --fail 0 --warn 0
    python3 - a.json b.json <<<'
import json, sys
a, b = (json.load(open(f))["frames"][0]["plan"]["bytes"] for f in sys.argv[1:])
assert a["input"] == a["image"] == b["image"] and b["input"] == 2 * b["image"]
assert a["up"] == a["input"] and a["down"] == a["image"] + a["totals"]'
    "$FFTBLOOM" plan in.exr kernel.exr --device software --precision float32 | grep 'as halfs'
}

@test "half that does not fit: clamped, kept as float, or refused" {
    oiiotool --create 20x20 3 --point:color=1e6,1e6,1e6 10,10 -d float -o hot.exr
    oiiotool --create 3x3 3 --point:color=1,1,1 1,1 -d float -o dot.exr
    "$FFTBLOOM" hot.exr dot.exr -o out.exr --pixel-type half --report r.json
    grep -q 'clamped' r.json
    [ "$(pixel out.exr 10 10 | awk '{ print $1 }' | cut -d. -f1)" = 65504 ]
    "$FFTBLOOM" hot.exr dot.exr -o out.exr --pixel-type half --half-overflow float
    oiiotool --info out.exr | grep -q float
    says 6 "" hot.exr dot.exr -o none.exr --pixel-type half --half-overflow error
    [ ! -e none.exr ]
}

@test "what is missing or wrong: its code and no output" {
    refused() { # code, arguments
        local code=$1
        shift
        run "$FFTBLOOM" "$@"
        echo "$output"
        [ "$status" -eq "$code" ]
        [ ! -e out.exr ]
        [[ "$output" == *"fftbloom: error: "* ]]
    }
    refused 66 none.exr kernel.exr -o out.exr
    refused 66 in.exr none.exr -o out.exr
    echo rubbish >rubbish.exr
    refused 65 rubbish.exr kernel.exr -o out.exr
    refused 65 in.exr rubbish.exr -o out.exr
    refused 74 in.exr kernel.exr -o none/out.exr
    refused 69 in.exr kernel.exr -o out.exr --device nothing-of-this-name
    refused 64 in.exr kernel.exr -o out.####.exr
    refused 64 in.exr kernel.exr -o out.exr --frames 1-3
}

@test "a folder as output takes the input's name" {
    mkdir done
    "$FFTBLOOM" in.exr kernel.exr -o done
    "$FFTBLOOM" in.exr kernel.exr -o done/ --amount 0
    "$FFTBLOOM" diff -q done/in.exr in.exr --fail 0
}

sequence() { for i in "$@"; do cp in.exr "in.$i.exr"; done; }

@test "sequences: every pattern, scanned and listed" {
    sequence 0001 0002 0010
    "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr
    [ "$(ls out.*)" = "$(printf 'out.0001.exr\nout.0002.exr\nout.0010.exr')" ]
    "$FFTBLOOM" in.%04d.exr kernel.exr -o 'b.$F3.exr' --frames 1-2,10
    [ "$(ls b.*)" = "$(printf 'b.001.exr\nb.002.exr\nb.010.exr')" ]
    cmp out.0010.exr b.010.exr
    mkdir c
    "$FFTBLOOM" in.#.exr kernel.exr -o c
    [ "$(ls c)" = "$(printf 'in.0001.exr\nin.0002.exr\nin.0010.exr')" ]
}

@test "many frames into one path are refused, one frame is not" {
    sequence 0001 0002
    says 64 "2 frames would go into the one file" in.####.exr kernel.exr -o out.exr
    [ ! -e out.exr ]
    "$FFTBLOOM" in.####.exr kernel.exr -o out.exr --frames 2
    [ -s out.exr ]
}

@test "no frames at all: 66; bad ranges: 64" {
    says 66 "no files match 'in.####.exr' in the folder '.'; it has " in.####.exr kernel.exr -o out.####.exr
    says 64 "" in.####.exr kernel.exr -o out.####.exr --frames 1004-1001
    [[ "$output" == *"frame range 1004-1001 runs backwards; write 1001-1004" ]]
    says 66 "no files match 'in.####.exr' in the folder '.'; it has " in.@@@@.exr kernel.exr -o out.####.exr --frames 1
}

@test "IN and KERNEL that have changed places: one warning that says why, and no false alarm" {
    swapped() { # WORDS arguments...
        local words=$1
        shift
        run --separate-stderr "$FFTBLOOM" "$@" -o out.exr
        echo "$stderr"
        [ "$status" -eq 0 ]
        [[ "$stderr" == "fftbloom: warning: IN and KERNEL may be swapped: the kernel "*"$words"* ]]
        [ "${#stderr_lines[@]}" -eq 1 ]
    }
    local shipped=$FFTBLOOM_ROOT
    oiiotool in.exr --crop 12x10+5+5 --fullpixels --origin +0+0 -o crop.exr
    # Of equal taps none is the brightest.
    oiiotool --create 40x40 3 --fill:color=.2,.2,.2 40x40 --fill:color=50,50,50 3x3+19+19 -d half -o sun.exr
    "$FFTBLOOM" kernel make disc --param radius=12 --taps 33 -o disc.exr
    # A kernel that is larger than the image is not wrong in itself.
    for pair in "$shipped/testdata/small.exr $shipped/testdata/kernel.exr" "in.exr kernel.exr" \
        "crop.exr $shipped/kernels/star.exr" "sun.exr disc.exr"; do
        run --separate-stderr "$FFTBLOOM" $pair -o out.exr
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
    done
    swapped "(Z, id)" "$shipped/testdata/kernel.exr" "$shipped/testdata/small.exr"
    swapped "is brightest at 7, 9, far from its centre, and larger than the image" kernel.exr in.exr
    swapped "and the image is brightest at its own centre" "$shipped/kernels/star.exr" in.exr
    # Once for a sequence; a plan and a dry run say it as well.
    sequence 0001 0002
    swapped "larger than the image" plan crop.exr in.exr
    for i in 1 2; do cp kernel.exr k.000$i.exr; done
    run --separate-stderr "$FFTBLOOM" k.####.exr in.exr -o out.####.exr
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "a kernel that makes every picture wrong: one line, once in a run, and a note in reports" {
    faulty() { # WORDS arguments...
        local words=$1
        shift
        run --separate-stderr "$FFTBLOOM" "$@"
        echo "$stderr"
        [ "$status" -eq 0 ]
        [ "$stderr" = "fftbloom: warning: kernel '$words: fftbloom kernel check ${words%%\'*}" ]
    }
    "$FFTBLOOM" kernel make moffat --taps 41 -o lamp.exr
    oiiotool lamp.exr --crop 31x31+8+6 --origin +0+0 --fullpixels -o moved.exr
    # A photograph: a core that is cut off, a grey sky, the lamp beside the middle.
    "$FFTBLOOM" kernel make moffat --taps 141 -o night.exr
    oiiotool night.exr --mulc 40 --addc 0.02 --clamp:max=1 --crop 101x101+17+18 --origin +0+0 --fullpixels -o photo.exr
    sequence 0001 0002
    faulty "moved.exr': off centre by -3, -1" in.exr moved.exr -o out.exr --report r.json
    grep -qF "\"notes\": [\"kernel 'moved.exr': off centre by -3, -1\"]" r.json
    faulty "moved.exr': off centre by -3, -1" in.####.exr moved.exr -o out.####.exr --jobs 2
    faulty "moved.exr': off centre by -3, -1" plan in.exr moved.exr
    faulty "moved.exr': off centre by -3, -1" precompute moved.exr -o k.spectrum
    run --separate-stderr "$FFTBLOOM" in.exr moved.exr -o out.exr --kernel-center peak
    [ -z "$stderr" ]
    run --separate-stderr "$FFTBLOOM" in.exr photo.exr -o out.exr
    [[ "$stderr" == *"kernel 'photo.exr': off centre by 3, 1; saturated; "*" % background: fftbloom kernel check photo.exr" ]]
    oiiotool --create 9x9 1 --fill:color=1 9x9 --chnames Y -d half -o box.exr
    faulty "box.exr': all taps are equal" in.exr box.exr -o out.exr
}

@test "an error of the kernel names the kernel first" {
    echo rubbish >text.txt
    says 65 "" in.exr text.txt -o out.exr
    [[ "$output" == "fftbloom: error: kernel: 'text.txt'"* ]]
}

@test "missing frames: an error, or skipped with exit 5" {
    sequence 0001 0003 0004 0005 0006 0007 0008 0009
    # With one thread two frames are under way: the first is finished, the last is never begun.
    says 66 "" in.####.exr kernel.exr -o out.####.exr --frames 1-9 --jobs 1
    [[ "$output" == *in.0002.exr* ]]
    [ -s out.0001.exr ]
    [ ! -e out.0009.exr ]
    says 5 "" in.####.exr kernel.exr -o out.####.exr --frames 1-3 --keep-going
    [ -s out.0003.exr ]
    # A file that cannot be looked at for another reason is not a gap.
    ln -s in.0002.exr in.0002.exr
    says 66 "" in.####.exr kernel.exr -o out.####.exr --frames 1-3 --keep-going
    [[ "$output" == *in.0002.exr*"ymbolic link"* ]]
}

@test "--existing skip leaves what exists and says so with 5" {
    echo mine >out.exr
    says 5 "" in.exr kernel.exr -o out.exr --existing skip
    [ "$(cat out.exr)" = mine ]
    "$FFTBLOOM" in.exr kernel.exr -o out.exr
    [ "$(head -c 4 out.exr | od -An -tx1)" = " 76 2f 31 01" ]
}

@test "--existing update skips what is the same and nothing else" {
    made() { "$FFTBLOOM" "$@" --existing update --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["done"])'; }
    [ "$(made in.exr kernel.exr -o out.exr)" = 1 ]
    [ "$(made in.exr kernel.exr -o out.exr)" = 0 ]
    [ "$(made in.exr kernel.exr -o "$PWD/out.exr" --jobs 1)" = 0 ]
    [ "$(made in.exr kernel.exr -o out.exr --amount 0.9)" = 1 ]
    [ "$(made in.exr kernel.exr -o out.exr)" = 1 ]
    touch -d '2001-01-01' in.exr
    [ "$(made in.exr kernel.exr -o out.exr)" = 1 ]
    # A kernel is known by its content, not by its name.
    cp kernel.exr other.exr
    [ "$(made in.exr other.exr -o out.exr)" = 0 ]
    oiiotool kernel.exr --mulc 1,0.5,1 -o kernel.exr
    [ "$(made in.exr kernel.exr -o out.exr)" = 1 ]
    touch out.exr
    [ "$(made in.exr kernel.exr -o out.exr)" = 1 ]
    rm out.exr
    [ "$(made in.exr kernel.exr -o out.exr)" = 1 ]
    # Of what was made without --existing update, too.
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --amount 0.5
    [ "$(made in.exr kernel.exr -o out.exr --amount 0.5)" = 0 ]
    # A broken stamp is no stamp.
    for f in cache/stamps/*; do echo x >"$f"; done
    [ "$(made in.exr kernel.exr -o out.exr --amount 0.5)" = 1 ]
}

@test "--existing update says once when it will not remember" {
    sequence 0001 0002
    echo rubbish >nocache
    run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --existing update --cache-dir nocache
    [ "$status" -eq 0 ]
    [[ "$stderr" == "fftbloom: warning: "*"made again by the next --existing update: "*nocache* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    run --separate-stderr env -u FFTBLOOM_CACHE_DIR -u XDG_CACHE_HOME -u HOME \
        "$FFTBLOOM" in.exr kernel.exr -o out.exr --existing update
    [[ "$stderr" == "fftbloom: warning: every frame is made"*"no cache folder"* ]]
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr --cache-dir nocache
    [ -z "$stderr" ]
}

@test "a plan with an output lists frames and their plan, and writes nothing" {
    sequence 0001 0002 0003
    "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --frames 1 --existing update
    export FFTBLOOM_CACHE_DIR=$dir/cache
    snapshot() { find . -printf '%p %s %T@\n' | sort; }
    before=$(snapshot)
    run --separate-stderr "$FFTBLOOM" plan in.####.exr kernel.exr -o out.####.exr --existing update
    [ "$status" -eq 0 ]
    [ "$(snapshot)" = "$before" ]
    [ "${lines[0]}" = "in.0001.exr -> out.0001.exr: the output is up to date" ]
    [ "${lines[1]}" = "in.0002.exr -> out.0002.exr" ]
    [[ "${lines[3]}" == "plan     40 x 30 in "*", on "*" s in all" ]]
    [ "${lines[4]}" = "2 of 3 frames would be made, 1 are up to date, 0 skipped" ]
    run --separate-stderr "$FFTBLOOM" plan in.####.exr kernel.exr -o out.####.exr --existing skip
    [ "${lines[0]}" = "in.0001.exr -> out.0001.exr: skipped, the output exists" ]
    run --separate-stderr "$FFTBLOOM" plan in.####.exr kernel.exr -o out.####.exr --json \
        --cache-dir none
    [ ! -e none ]
    python3 -c 'import json, sys
r = json.loads(sys.argv[1])
assert r["dry_run"] and r["to_do"] == 3 and [f["state"] for f in r["frames"]] == ["to do"] * 3
assert r["plan"]["image"] == [40, 30] and r["predicted_seconds"] > 0' "$output"
    [ "$(snapshot)" = "$before" ]
    # One image; an input that is not there.
    run "$FFTBLOOM" plan in.exr kernel.exr -o out.exr
    [ "${lines[0]}" = "in.exr -> out.exr" ]
    [ ! -e out.exr ]
    run --separate-stderr "$FFTBLOOM" plan in.####.exr kernel.exr -o out.####.exr --frames 3-4
    [ "$status" -eq 66 ]
    [ "${lines[1]}" = "in.0004.exr -> out.0004.exr: the input cannot be found" ]
}

@test "the report tells frames, plan, device, times and settings" {
    sequence 0001 0003
    says 5 "" in.####.exr kernel.exr -o out.####.exr --frames 1-3 --keep-going --report r.json --amount 0.75
    python3 - <<'P'
import json
r = json.load(open("r.json"))
assert r["version"] == 1 and r["exit_status"] == 5
assert [f["state"] for f in r["frames"]] == ["done", "failed", "done"]
assert [f["frame"] for f in r["frames"]] == [1, 2, 3]
assert r["settings"]["amount"] == 0.75 and r["settings"]["padding"] == "mirror"
f = r["frames"][0]
assert f["plan"]["image"] == [40, 30] and f["plan"]["channels"] == 3
assert f["device"]["class"] in ("cpu", "gpu", "software")
assert f["seconds"]["bloom"] > 0 and f["groups"] == 1
P
    # A run that fails writes its report, too.
    says 66 "" in.####.exr kernel.exr -o out.####.exr --frames 1-3 --report r.json
    python3 - <<'P'
import json
r = json.load(open("r.json"))
# The frame after the one that fails may have begun before that was known.
assert r["exit_status"] == 66 and [f["state"] for f in r["frames"]][:2] == ["done", "failed"]
assert "in.0002.exr" in r["frames"][1]["why"]
P
}

@test "--json prints the same report, and nothing else, on stdout" {
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr --json -v
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"in.exr -> out.exr"* ]]
    python3 -c 'import json, sys; r = json.loads(sys.argv[1]); assert r["done"] == 1' "$output"
}

@test "-q says nothing, -v what is done" {
    sequence 0001
    run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --frames 1 -q
    [ "$status" -eq 0 ]
    [ -z "$output$stderr" ]
    run --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr -v
    [[ "$stderr" == *"40 x 30 in "* ]]
}

@test "progress: deadline, openjd, json, none" {
    sequence 0001 0002
    run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --progress deadline
    [ "$output" = "$(printf 'Progress: 50%%\nProgress: 100%%')" ]
    run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --progress openjd
    # Both frames are under way at once, so either may be done first.
    [ "$(grep -v status <<<"$output")" = "$(printf 'openjd_progress: 50.0\nopenjd_progress: 100.0')" ]
    [ "$(grep status <<<"$output" | sort)" = "$(printf 'openjd_status: out.0001.exr\nopenjd_status: out.0002.exr')" ]
    run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --progress json
    [ -z "$output" ]
    python3 -c 'import json, sys
l = [json.loads(x) for x in sys.argv[1].splitlines()]
assert [x["done"] for x in l] == [1, 2] and l[0]["total"] == 2' "$stderr"
    run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --progress none
    [ -z "$output$stderr" ]
    run "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --frames 5 --progress openjd
    [[ "$output" == *"openjd_fail: "* ]]
    # A name cannot give the scheduler orders.
    run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o $'o\nopenjd_env: A=b\n.####.exr' --frames 1 --progress openjd
    [ -s $'o\nopenjd_env: A=b\n.0001.exr' ]
    [ "$(grep -c ^openjd_env <<<"$output")" = 0 ]
    run --separate-stderr "$FFTBLOOM" $'no\nopenjd_env: A=b\n.####.exr' kernel.exr -o o.####.exr --frames 1 --progress openjd
    [ "$status" -eq 66 ]
    [ "$(grep -c ^openjd_env <<<"$output")" = 0 ]
}

@test "no bar and no colour where stderr is no terminal; a bar where it is" {
    sequence 0001 0002 0003
    "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr 2>err
    [ "$(tr -d '\n\40-\176' <err | wc -c)" -eq 0 ]
    command -v script || skip "script is not installed"
    script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "there is no pseudo-terminal"
    for i in {1004..1400}; do ln -s in.exr in.$i.exr; done
    script -qec '"$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr' /dev/null >typed </dev/null
    grep -aqF $'\r\e[K[' typed
    grep -aq "400 frames in" typed
}

# A long sequence, so that the signal comes while frames are made, on a busy machine, too.
long_run_stopped_by() { # SIGNAL: its exit status goes to $status
    python3 -c 'import os; [os.symlink("in.exr", f"in.{i:04d}.exr") for i in range(1, 4001)]'
    # A shell lets its background jobs ignore SIGINT; a terminal does not.
    env --default-signal=INT "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr &
    local pid=$!
    for i in {1..500}; do [ -e out.0003.exr ] || sleep 0.02; done
    kill "-$1" $pid
    status=0
    wait $pid || status=$?
    # Nothing half written: every output is whole, no temporary file stays.
    for f in out.*; do cmp "$f" out.0001.exr; done
    [ -z "$(ls -A | grep tmp)" ]
    [ ! -e out.4000.exr ]
}

@test "interrupted: 130, no half file, no temporary file" {
    long_run_stopped_by INT
    [ "$status" -eq 130 ]
}

@test "terminated: 143, likewise" {
    long_run_stopped_by TERM
    [ "$status" -eq 143 ]
}

@test "precompute: the spectrum file serves in the kernel's place" {
    "$FFTBLOOM" precompute kernel.exr -o k.spectrum
    "$FFTBLOOM" in.exr kernel.exr -o a.exr
    "$FFTBLOOM" in.exr k.spectrum -o b.exr
    cmp a.exr b.exr
    run --separate-stderr "$FFTBLOOM" precompute kernel.exr -o k2.spectrum --json
    cmp k.spectrum k2.spectrum
    python3 -c 'import json, sys; r = json.loads(sys.argv[1]); assert r["kernel"] == [9, 7] and r["cached"]' "$output"
    says 5 "" precompute kernel.exr -o k.spectrum --existing skip
    says 66 "" precompute none.exr -o k3.spectrum
    [ ! -e k3.spectrum ]
    says 64 "" precompute kernel.exr -o k3.spectrum --kernel-scale 0.5h
    head -c 100 k.spectrum >cut.spectrum
    says 65 "" in.exr cut.spectrum -o c.exr
    says 64 "" in.exr k.spectrum -o c.exr --normalize none
}

@test "plan: text and JSON, of an image or the first of a sequence" {
    run --separate-stderr "$FFTBLOOM" plan in.exr kernel.exr
    [ "$status" -eq 0 ]
    [[ "$output" == *"40 x 30, 3 channels, kernel reaches 4+4 x 3+3"* ]]
    [[ "$output" == *"lengths  "* && "$output" != *"powers of two"* ]]
    sequence 0005
    "$FFTBLOOM" plan in.####.exr kernel.exr --json >p.json
    "$FFTBLOOM" devices --json >d.json
    python3 - <<'P'
import json
said, p = json.load(open("p.json")), json.load(open("p.json"))["plan"]
# Of the devices it says what `devices` says.
wide = lambda devices: {d["name"]: d["limits"]["float64"] for d in devices}
assert wide(f["device"] for f in said["forecast"]) == wide(json.load(open("d.json"))["devices"])
x, y = p["lengths"]
# Zero border: at least the image and the kernel's reach. The powers of two are there for comparison.
assert x >= 40 + 4 and y >= 30 + 3 and p["power_of_two_lengths"] == [64, 64]
assert p["first"] in "xy" and p["bytes"]["all"] > 0
P
    says 64 "" plan in.exr
    says 66 "" plan none.exr kernel.exr
}

@test "devices: text and JSON; each index can be used" {
    "$FFTBLOOM" devices | grep -qE '^0 +(gpu|cpu|software)'
    # The same devices have 64-bit floats in both.
    [ "$("$FFTBLOOM" devices | grep -c ', float64')" = \
        "$("$FFTBLOOM" devices --json | grep -o '"float64": true' | wc -l)" ]
    n=$("$FFTBLOOM" devices --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["devices"]; assert [x["index"] for x in d] == list(range(len(d))); print(len(d))')
    for ((i = 0; i < n; i++)); do "$FFTBLOOM" in.exr kernel.exr -o "d$i.exr" --device "$i"; done
    [ "$(ls d*.exr | wc -l)" -eq "$n" ]
}
