# `fftbloom diff`, and that it agrees with idiff. tests/unit/test_compare.c has each limit alone, in
# which the two differ.

load files

setup_file() {
    shared_folder || return 0
    command -v idiff >/dev/null || { export NOT_HERE="idiff is not installed"; return 0; }
    local grey=0.5,0.5,0.5 sky=0.1,0.2,0.3
    image flat.exr 8x8 float $grey -- near.exr 8x8 float $grey 2,3=0.6,0.5,0.5 4,4=0.5,0.50001,0.5 -- \
        far.exr 8x8 float $grey 1,1=-4,9,0.5 6,6=0.5,0.55,0.45 -- \
        alpha.exr 9x5 half $sky,1 -- alpha2.exr 9x5 half $sky,1 8,4=$sky,0.9 -- \
        grey.exr 6x6 float 0.25 -- grey2.exr 6x6 float 0.25 0,0=0.75
    oiiotool --create 33x17 3 --noise:type=gaussian:stddev=0.1:mean=1 -d half -o noise.exr --mulc 1.001 -o noise2.exr \
        noise.exr --mulc 1000 -d float -o bright.exr noise2.exr --mulc 1000 -o bright2.exr \
        flat.exr near.exr --siappend -o parts.exr flat.exr flat.exr --siappend -o parts2.exr
}

# Both programs on the same pair: status and every line but ours on energy.
agree() {
    local theirs ours their_status=0 our_status=0
    theirs=$(idiff "$@" 2>&1) || their_status=$?
    ours=$("$FFTBLOOM" diff "$@" 2>&1) || our_status=$?
    [ "$their_status" -eq "$our_status" ] || { echo "$*: idiff $their_status, ours $our_status"; return 1; }
    diff <(echo "$theirs" | sed 's/values are .*//') <(echo "$ours" | grep -vE '^fftbloom: no sandbox|^  Energy|\((hardfail|hardwarn)\)$' | sed 's/values are .*//') || {
        echo "$*"
        return 1
    }
}

# One pair of images for each line of options; ALL_PAIRS=1 tries every line on every pair, which
# takes a minute or two, as idiff is slow to start.
@test "agrees with idiff on a table of pairs and options, and on parts" {
    pairs=("flat.exr flat.exr" "flat.exr near.exr" "near.exr flat.exr" "flat.exr far.exr"
        "noise.exr noise2.exr" "bright.exr bright2.exr" "alpha.exr alpha2.exr" "grey.exr grey2.exr")
    while IFS='|' read -r pair options; do
        agree $options $pair
        [ -z "$ALL_PAIRS" ] || for pair in "${pairs[@]}"; do agree $options $pair; done
    done <<'O'
flat.exr near.exr|
noise.exr noise.exr|-v
near.exr flat.exr|-fail 0.2
flat.exr near.exr|-fail 0.05 -failpercent 50 -warn 0.2 -hardwarn 0.05
grey.exr grey2.exr|-hardfail 0.01 -failpercent 99
flat.exr far.exr|-hardfail 100 -failpercent 99 -warnpercent 99
noise.exr noise2.exr|-failrelative 0.0011
flat.exr far.exr|-fail 0.001 -failrelative 0.5 -v
alpha.exr alpha2.exr|-warnrelative 0.1 -failpercent 100
flat.exr near.exr|-allowfailures 2 -hardfail 0.01 -v
bright.exr bright2.exr|-warn 0.001 -fail 0.01 -failpercent 100 -v
parts.exr parts2.exr|-a
parts.exr flat.exr|
O
    # A different number of parts: both fail.
    run -2 idiff -a parts.exr flat.exr
    says 2 "differing numbers of subimages (2 vs 1)" diff -a parts.exr flat.exr
}

@test "exit codes: 0 match, 1 warn, 2 fail, 3 sizes, 4 file, 64 usage; -q prints nothing but errors" {
    each says <<'T'
0 | PASS | diff flat.exr flat.exr
1 | WARNING | diff -failpercent 50 flat.exr near.exr
2 | FAILURE | diff flat.exr near.exr
2 | 1 pixels (1.56%) over 0.05 (hardfail) | diff -fail 0.5 -hardfail 0.05 flat.exr near.exr
3 | data windows differ: 8 x 8 at (0, 0) and 9 x 5 at (0, 0) | diff flat.exr alpha.exr
4 | none.exr | diff flat.exr none.exr
4 | none.exr | diff none.exr flat.exr
64 | | diff flat.exr
64 | | diff -p flat.exr near.exr
4 | none.exr | diff -q flat.exr none.exr
T
    warns "" diff -q flat.exr flat.exr
    says 2 "" diff -q flat.exr near.exr
    [ -z "$output" ]
}

@test "difference images are idiff's" {
    for options in "" "-abs -scale 100"; do
        idiff $options -o theirs.exr flat.exr far.exr >/dev/null || true
        says 2 "" diff $options -o ours.exr flat.exr far.exr
        idiff theirs.exr ours.exr
    done
    says 0 "" diff -od -o none.exr flat.exr flat.exr
    [ ! -e none.exr ]
    says 0 "" diff -o some.exr flat.exr flat.exr
    [ -s some.exr ]
}

@test "--json: verdict, figures, worst pixel and energy" {
    json() { "$FFTBLOOM" diff flat.exr $1 --json >d.json || true; }
    json near.exr
    holds d.json 'd["verdict"] == "FAILURE" and d["exit_status"] == 2' \
        '(p := d["parts"][0])["worst"] == {"x": 2, "y": 3, "channel": "R"} and p["failed"] == 2' \
        'abs(p["channels"][0]["energy_ratio"] - 32.1 / 32) < 1e-6 and abs(p["channels"][0]["worst_b"] - 0.6) < 1e-6'
    json flat.exr
    holds d.json 'd["parts"][0]["psnr"] == "inf"'
    json alpha.exr
    holds d.json 'd["exit_status"] == 3'
}
