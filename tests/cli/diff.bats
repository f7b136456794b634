#!/usr/bin/env bats
# `fftbloom diff`, and that it agrees with idiff.

load files

setup_file() {
    command -v oiiotool >/dev/null && command -v idiff >/dev/null || { export NOT_HERE="openimageio-tools is not installed"; return 0; }
    export FILES=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$FILES"
    image flat.exr 8x8 float 0.5,0.5,0.5
    oiiotool flat.exr --point:color=0.6,0.5,0.5 2,3 --point:color=0.5,0.50001,0.5 4,4 -d float -o near.exr
    oiiotool flat.exr --point:color=-4,9,0.5 1,1 --point:color=0.5,0.55,0.45 6,6 -d float -o far.exr
    oiiotool --create 33x17 3 --noise:type=gaussian:stddev=0.1:mean=1 -d half -o noise.exr
    oiiotool noise.exr --mulc 1.001 -d half -o noise2.exr
    oiiotool noise.exr --mulc 1000 -d float -o bright.exr
    oiiotool noise2.exr --mulc 1000 -d float -o bright2.exr
    image alpha.exr 9x5 half 0.1,0.2,0.3,1
    oiiotool alpha.exr --point:color=0.1,0.2,0.3,0.9 8,4 -d half -o alpha2.exr
    image grey.exr 6x6 float 0.25
    oiiotool grey.exr --point:color=0.75 0,0 -d float -o grey2.exr
    oiiotool flat.exr near.exr --siappend -o parts.exr
    oiiotool flat.exr flat.exr --siappend -o parts2.exr
}

setup() {
    [ -z "$NOT_HERE" ] || skip "$NOT_HERE"
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
}

# Both programs on the same pair: status and every line but ours on energy.
agree() {
    local theirs ours their_status=0 our_status=0
    theirs=$(cd "$FILES" && idiff "$@" 2>&1) || their_status=$?
    ours=$(cd "$FILES" && "$FFTBLOOM" diff "$@" 2>&1) || our_status=$?
    [ "$their_status" -eq "$our_status" ] || { echo "$*: idiff $their_status, ours $our_status"; return 1; }
    diff <(echo "$theirs" | sed 's/values are .*//') <(echo "$ours" | grep -vE '^  Energy|\((hardfail|hardwarn)\)$' | sed 's/values are .*//') || {
        echo "$*"
        return 1
    }
}

# One pair of images for each line of options; ALL_PAIRS=1 tries every line on every pair, which
# takes a minute or two, as idiff is slow to start.
@test "agrees with idiff on a table of pairs and options" {
    pairs=("flat.exr flat.exr" "flat.exr near.exr" "near.exr flat.exr" "flat.exr far.exr"
        "noise.exr noise2.exr" "bright.exr bright2.exr" "alpha.exr alpha2.exr" "grey.exr grey2.exr")
    n=0
    while IFS='|' read -r pair options; do
        agree $options $pair
        n=$((n + 1))
        [ -z "$ALL_PAIRS" ] || for pair in "${pairs[@]}"; do agree $options $pair; done
    done <<'O'
flat.exr near.exr|
noise.exr noise.exr|-v
near.exr flat.exr|-fail 0.2
flat.exr near.exr|-fail 0.05 -failpercent 50
flat.exr near.exr|-fail 0.05 -failpercent 50 -warn 0.2
flat.exr near.exr|-fail 0.05 -failpercent 50 -warn 0.2 -hardwarn 0.05
grey.exr grey2.exr|-hardfail 0.01 -failpercent 99
flat.exr far.exr|-hardfail 100 -failpercent 99 -warnpercent 99
flat.exr near.exr|-failpercent 3.2 -v
noise.exr noise2.exr|-failrelative 0.0011
bright.exr bright2.exr|-failrelative 0.0009
flat.exr far.exr|-fail 0.001 -failrelative 0.5 -v
alpha.exr alpha2.exr|-warnrelative 0.1 -failpercent 100
flat.exr near.exr|-allowfailures 1
flat.exr near.exr|-allowfailures 2 -hardfail 0.01 -v
bright.exr bright2.exr|-warn 0.001 -fail 0.01 -failpercent 100 -v
O
    [ "$n" -eq 16 ]
}

@test "agrees with idiff on parts" {
    agree -a parts.exr parts2.exr
    agree parts.exr flat.exr
    # A different number of parts: both fail.
    cd "$FILES"
    run idiff -a parts.exr flat.exr
    [ "$status" -eq 2 ]
    says 2 "differing numbers of subimages (2 vs 1)" diff -a parts.exr flat.exr
}

@test "exit codes: 0 match, 1 warn, 2 fail, 3 sizes, 4 file, 64 usage" {
    cd "$FILES"
    "$FFTBLOOM" diff flat.exr flat.exr
    says 1 "" diff -failpercent 50 flat.exr near.exr
    [ "${lines[-1]}" = WARNING ]
    says 2 "" diff flat.exr near.exr
    [ "${lines[-1]}" = FAILURE ]
    says 3 "data windows differ: 8 x 8 at (0, 0) and 9 x 5 at (0, 0)" diff flat.exr alpha.exr
    says 4 "" diff flat.exr none.exr
    says 4 "" diff none.exr flat.exr
    says 64 "" diff flat.exr
    says 64 "" diff -p flat.exr near.exr
}

@test "each limit counts alone, unlike in idiff, and never where all pixels are within all limits" {
    cd "$FILES"
    t() { # status, options: of a pair that differs by 0.1 and 1e-5
        local want=$1
        shift
        run "$FFTBLOOM" diff "$@" flat.exr near.exr
        echo "$*: $status $output"
        [ "$status" -eq "$want" ]
    }
    t 0 -fail 0.5
    t 2 -fail 0.5 -hardfail 0.05
    [[ "$output" == *"0 pixels (0%) over 0.5"*"1 pixels (1.56%) over 0.05 (hardfail)"* ]]
    t 0 -fail 0.5 -hardfail 0.2
    t 1 -fail 0.5 -hardwarn 0.05
    t 1 -fail 0.5 -warn 1e-4
    t 0 -fail 0.5 -warn 0.2
    t 1 -fail 0.5 -warnpercent 1
    t 0 -fail 0.5 -warnpercent 4
    t 2 -fail 0.5 -hardfail 1e-6 -allowfailures 1
    t 0 -fail 0.5 -hardfail 1e-6 -allowfailures 2
}

@test "-q prints nothing but errors" {
    cd "$FILES"
    run --separate-stderr "$FFTBLOOM" diff -q flat.exr near.exr
    [ "$status" -eq 2 ]
    [ -z "$output$stderr" ]
    run --separate-stderr "$FFTBLOOM" diff -q flat.exr none.exr
    [ "$status" -eq 4 ]
    [[ "$stderr" == *none.exr* ]]
    run --separate-stderr "$FFTBLOOM" diff -q flat.exr flat.exr
    [ -z "$output$stderr" ]
}

@test "difference images are idiff's" {
    for options in "" "-abs -scale 100"; do
        (cd "$FILES" && idiff $options -o "$dir/theirs.exr" flat.exr far.exr >/dev/null) || true
        says 2 "" diff $options -o ours.exr "$FILES/flat.exr" "$FILES/far.exr"
        idiff theirs.exr ours.exr
    done
    run "$FFTBLOOM" diff -od -o none.exr "$FILES/flat.exr" "$FILES/flat.exr"
    [ ! -e none.exr ]
    run "$FFTBLOOM" diff -o some.exr "$FILES/flat.exr" "$FILES/flat.exr"
    [ -s some.exr ]
}

@test "--json: verdict, figures, worst pixel and energy" {
    cd "$FILES"
    "$FFTBLOOM" diff flat.exr near.exr --json >"$dir/d.json" || true
    python3 - "$dir/d.json" <<'P'
import json, math, sys
d = json.load(open(sys.argv[1]))
assert d["verdict"] == "FAILURE" and d["exit_status"] == 2
p = d["parts"][0]
assert p["worst"] == {"x": 2, "y": 3, "channel": "R"} and p["failed"] == 2
assert abs(p["channels"][0]["energy_ratio"] - 32.1 / 32) < 1e-6
assert abs(p["channels"][0]["worst_b"] - 0.6) < 1e-6
P
    "$FFTBLOOM" diff flat.exr flat.exr --json | python3 -c 'import json, sys; assert json.load(sys.stdin)["parts"][0]["psnr"] == "inf"'
    "$FFTBLOOM" diff flat.exr alpha.exr --json >"$dir/d.json" || true
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["exit_status"] == 3' "$dir/d.json"
}
