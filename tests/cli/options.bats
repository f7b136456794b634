#!/usr/bin/env bats
# The command line: flags, variables, config files, their precedence, and what is refused.

bats_require_minimum_version 1.5.0

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    unset FFTBLOOM_SHARPEN FFTBLOOM_PADDING
}

# value NAME ARGS...: what --print-config shows for an option, with its origin.
value() {
    local name=$1
    shift
    "$FFTBLOOM" apply "$@" --print-config | awk -v n="$name" '$1 == n { $1 = ""; sub(/^ /, ""); print }'
}

@test "alone it prints a short help to stderr and exits 64" {
    run --separate-stderr "$FFTBLOOM"
    [ "$status" -eq 64 ]
    [ -z "$output" ]
    [[ "$stderr" == usage:* ]]
}

@test "--version and --help go to stdout" {
    run --separate-stderr "$FFTBLOOM" --version
    [ "$status" -eq 0 ]
    [[ "$output" == "fftbloom "* ]]
    run --separate-stderr "$FFTBLOOM" --help
    [ "$status" -eq 0 ]
    [[ "$output" == *"Exit status:"* ]]
    [ -z "$stderr" ]
}

@test "every command has a help with its usage, and help of the same words" {
    for c in $("$FFTBLOOM" docs commands); do
        run --separate-stderr "$FFTBLOOM" "$c" --help
        [ "$status" -eq 0 ]
        [[ "$output" == *"Usage: fftbloom $c"* ]]
        [ -z "$stderr" ]
        [ "$output" = "$("$FFTBLOOM" help "$c")" ]
        # Wrapped for 80 columns, examples excepted.
        [ -z "$(grep -v '^  fftbloom' <<<"$output" | grep -v '^Usage' | grep -E '.{101}')" ]
    done
}

@test "a slip in a command's name is noticed" {
    run "$FFTBLOOM" plna a.exr b.exr
    [ "$status" -eq 64 ]
    [[ "$output" == *"unknown command 'plna'; did you mean 'plan'?" ]]
    run "$FFTBLOOM" blom scene.exr
    [ "$status" -eq 64 ]
    [[ "$output" == *"'blom' is neither a command nor a file" ]]
    run "$FFTBLOOM" blom
    [ "$status" -eq 64 ]
    [[ "$output" == *"'blom' is neither a command nor a file" ]]
    run "$FFTBLOOM" complteion
    [ "$status" -eq 64 ]
    [[ "$output" == *"did you mean 'completion'?"* ]]
    run "$FFTBLOOM" help schma
    [ "$status" -eq 64 ]
    [[ "$output" == *"did you mean 'schema'?"* ]]
}

@test "flags: --name value, --name=value, - for _, short, --no-" {
    [ "$(value sharpen --sharpen 0.5)" = "0.5 flag --sharpen" ]
    [ "$(value sharpen --sharpen=0.5)" = "0.5 flag --sharpen=0.5" ]
    [ "$(value half_overflow --half-overflow float)" = '"float" flag --half-overflow' ]
    [ "$(value half_overflow --half_overflow float)" = '"float" flag --half_overflow' ]
    [ "$(value output -o x.exr)" = '"x.exr" flag -o' ]
    [ "$(value output -ox.exr)" = '"x.exr" flag -ox.exr' ]
    [ "$(value clobber)" = "true default" ]
    [ "$(value clobber --no-clobber)" = "false flag --no-clobber" ]
    [ "$(value update --update)" = "true flag --update" ]
    [ "$(value update --update --no-update)" = "false flag --no-update" ]
    [ "$(value update --update=false)" = "false flag --update=false" ]
    [ "$(value sharpen --sharpen 0.5 --sharpen 0.75)" = "0.75 flag --sharpen" ]
}

@test "-- ends options" {
    [ "$("$FFTBLOOM" apply --print-config -- -in.exr --kernel | awk '$1 == "input" { print $2 }')" = '"-in.exr"' ]
}

@test "padding takes one value or one per axis" {
    [ "$(value padding --padding mirror)" = '"mirror" flag --padding' ]
    [ "$(value padding --padding mirror,wrap)" = '["mirror", "wrap"] flag --padding' ]
    run "$FFTBLOOM" a b -o c --padding mirror,wrap,zero
    [ "$status" -eq 64 ]
}

@test "unknown flags name the nearest one, or the command that takes it" {
    run "$FFTBLOOM" a.exr b.exr -o c.exr --paddin zero
    [ "$status" -eq 64 ]
    [[ "$output" == *"did you mean --padding?"* ]]
    run "$FFTBLOOM" schema --padding zero
    [ "$status" -eq 64 ]
    [[ "$output" == *"it is for apply"* ]]
    run "$FFTBLOOM" a.exr b.exr -z
    [ "$status" -eq 64 ]
    run "$FFTBLOOM" a.exr b.exr --no-padding
    [ "$status" -eq 64 ]
}

@test "a flag without its value, too many or too few arguments: 64" {
    run "$FFTBLOOM" a.exr b.exr -o
    [ "$status" -eq 64 ]
    [[ "$output" == *"-o needs a value: OUT"* ]]
    run "$FFTBLOOM" a.exr b.exr -o --sharpen 1
    [ "$status" -eq 64 ]
    run "$FFTBLOOM" a.exr b.exr c.exr -o d.exr
    [ "$status" -eq 64 ]
    [[ "$output" == *"'c.exr'"* ]]
    run "$FFTBLOOM" a.exr b.exr
    [ "$status" -eq 64 ]
    [[ "$output" == *"OUT (--output)"* ]]
    run "$FFTBLOOM" a.exr -o c.exr
    [ "$status" -eq 64 ]
    [[ "$output" == *"KERNEL"* ]]
    run "$FFTBLOOM" completion
    [ "$status" -eq 64 ]
}

@test "a bad value: 64 from a flag, 78 from a variable or a file" {
    run "$FFTBLOOM" a b -o c --sharpen 2
    [ "$status" -eq 64 ]
    [[ "$output" == *"sharpen must be a number from 0 to 1, not '2'"* ]]
    FFTBLOOM_SHARPEN=2 run "$FFTBLOOM" a b -o c
    [ "$status" -eq 78 ]
    [[ "$output" == *"FFTBLOOM_SHARPEN: sharpen"* ]]
    printf '{\n  "version": 1,\n  "sharpen": 2\n}\n' >look.json
    run "$FFTBLOOM" a b -o c --config look.json
    [ "$status" -eq 78 ]
    [[ "$output" == *"look.json:3:14: sharpen"* ]]
}

@test "flags win over variables, these over the file, this over defaults" {
    echo '{"version": 1, "sharpen": 0.1}' >look.json
    [ "$(value sharpen)" = "0 default" ]
    [ "$(value sharpen --config look.json)" = "0.1 look.json:1:27" ]
    export FFTBLOOM_SHARPEN=0.2
    [ "$(value sharpen --config look.json)" = "0.2 environment FFTBLOOM_SHARPEN" ]
    [ "$(value sharpen --config look.json --sharpen 0.3)" = "0.3 flag --sharpen" ]
    [ "$(value sharpen --sharpen 0.3 --config look.json)" = "0.3 flag --sharpen" ]
}

@test "arguments stand for input and kernel, and win over the file" {
    echo '{"version": 1, "input": "a.exr", "kernel": "k.exr"}' >look.json
    [ "$(value input b.exr --config look.json)" = '"b.exr" argument IN' ]
    [ "$(value kernel b.exr --config look.json)" = '"k.exr" look.json:1:44' ]
}

@test "paths of a config file are meant from its folder" {
    mkdir looks
    echo '{"version": 1, "kernel": "k.exr", "report": "/abs"}' >looks/a.json
    [[ "$(value kernel --config looks/a.json)" == '"looks/k.exr" '* ]]
    [[ "$(value report --config looks/a.json)" == '"/abs" '* ]]
}

@test "config files: unknown keys, versions, comments, commas, duplicates: 78 with the place" {
    refused() { # content, place, words
        printf '%b' "$1" >bad.json
        run "$FFTBLOOM" a b -o c --config bad.json
        [ "$status" -eq 78 ]
        [[ "$output" == *"bad.json:$2: "*"$3"* ]]
    }
    refused '{"version": 1,\n "paddin": "zero"}' 2:2 'did you mean "padding"?'
    refused '{"version": 7}' 1:13 'reads version 1 only'
    refused '{}' 1:1 'needs "version": 1'
    refused '{"version": 1, // x\n}' 1:16 'no comments'
    refused '{"version": 1,}' 1:14 'trailing commas'
    refused '{"version": 1, "axis": "x", "axis": "y"}' 1:29 'already given in line 1'
    refused '{"version": 1, "axis": 3}' 1:24 'must be a string, not a number'
    refused '[1]' 1:1 'is an object, not an array'
    refused '' 1:1 'empty'
    run "$FFTBLOOM" a b -o c --config none.json
    [ "$status" -eq 66 ]
}

@test "--print-config as JSON is JSON" {
    "$FFTBLOOM" a.exr --sharpen 0.5 --print-config --json >c.json
    python3 - <<'P'
import json
c = json.load(open("c.json"))
assert c["sharpen"] == {"value": 0.5, "origin": "flag --sharpen"}, c["sharpen"]
assert c["kernel"]["value"] is None
P
}

says() { # code, words, arguments
    local code=$1 words=$2
    shift 2
    run "$FFTBLOOM" "$@"
    echo "$* -> $status $output"
    [ "$status" -eq "$code" ]
    [[ "$output" == *"$words"* ]]
}

@test "options that have no effect in the command as given: 64" {
    none() { # option and condition, arguments
        says 64 "$1 has no effect $2" "${@:3}"
        [ "$(grep -c '^fftbloom: ' <<<"$output")" -eq 1 ]
    }
    local a="a.exr k.exr -o o.exr"
    none --knee "without --threshold" $a --knee 1
    none --knee "without --threshold" plan a.exr k.exr --knee 1
    none --half-overflow "with --pixel-type float" $a --half-overflow error --pixel-type float
    none --compression "on an output that is not EXR" a.exr k.exr -o o.pfm --compression zip
    none --emit-layer "on an output that is not EXR" a.exr k.exr -o o.png --emit-layer glare
    mkdir folder
    none --compression "on an output that is not EXR" a.pfm k.exr -o folder --compression zip
    none --missing "on a single image" $a --missing skip
    none --keep-going "on a single image" $a --keep-going
    none --chunk "without --farm" $a --chunk 5
    none --farm-dir "without --farm" $a --farm-dir x
    none --wait "without --farm slurm" $a --wait
    none --farm-args "without --farm slurm" $a --farm-args=-pgpu
    none --wait "without --farm slurm" a.####.exr k.exr -o o.####.exr --farm openjd --wait
    none --report "with --farm but without --wait" a.####.exr k.exr -o o.####.exr --farm slurm --report r.json
    none --json "with --farm but without --wait" a.####.exr k.exr -o o.####.exr --farm slurm --json
    none --progress "with --farm but without --wait" a.####.exr k.exr -o o.####.exr --farm slurm --progress json
    none --verbose "with --quiet" $a -q -v
    none --fade "in 'convert'; it is for make" kernel convert k.exr -o o.exr --fade 0.5
    none --param "in 'check'; it is for make" kernel check k.exr --param radius=3
    none --output "in 'check'; it is for make, convert" kernel check k.exr -o o.exr
    none --no-clobber "in 'models'; it is for make, convert" kernel models --no-clobber
    none --taps "in 'check'; it is for make, convert" kernel check k.exr --taps 3
    none --normalize "in 'make'; it is for convert" kernel make star -o o.exr --normalize sum
    none --kernel-center "in 'check'; it is for convert" kernel check k.exr --kernel-center peak
    none --from "in 'make'; it is for convert" kernel make star -o o.exr --from oiio
    none --strict "in 'make'; it is for check" kernel make star -o o.exr --strict
    none --jobs "in 'models'; it is for make, list, check, convert" kernel models --jobs 2
    none --cache-size "in 'path'; it is for list, trim" cache path --cache-size 0
    none --abs "without --output" diff a.exr b.exr -abs
    none --scale "without --output" diff a.exr b.exr -scale 100
    none --od "without --output" diff a.exr b.exr -od
    for o in --bless --keep-going --github --junit=x --json=x --html=x --device=cpu --require-cases=1; do
        none "${o%%=*}" "with --list" check s.json --list $o
    done
    none --normalize "without a file as --kernel" bench --kernel 64 --normalize sum
    none --csv "with --json" bench --json --csv
    says 64 "bench takes no option --layers; it is for apply, plan, info" bench --layers rgba
    [ ! -e o.exr ]
    # They do no harm in files and variables, which may be for several commands, and none at all
    # where the command only shows what it has read.
    "$FFTBLOOM" a.exr --knee 1 --print-config >/dev/null
    echo '{"version": 1, "knee": 1}' >look.json
    FFTBLOOM_CHUNK=3 says 66 "cannot open" $a --config look.json
}

@test "names that people look for are pointed to the right option" {
    local a="a.exr k.exr -o o.exr"
    says 64 "use --amount" $a --strength 2
    says 64 "use --jobs" $a --threads 4
    says 64 "use --jobs" $a -j 4
    says 64 "replaced unless --no-clobber is given" $a --overwrite
    says 64 "--exposure has no effect on an output that is not PNG" $a --exposure 2
    says 64 "write 'fftbloom --version'" $a --version
    says 64 "write --param blades=VALUE" kernel make star --blades 7
    says 64 "apply takes no option --rotate; see 'fftbloom help apply'" $a --rotate 15
    says 64 "did you mean --padding?" $a --padidng zero
}

@test "values that are nearly right" {
    local a="a.exr k.exr -o o.exr"
    says 64 "--mem-limit 8 is 8 bytes; did you mean 8GB?" $a --mem-limit 8
    says 64 "--kernel-scale must be a factor (0.5) or a height in image heights (0.5h), from 0.001 to 1000, not '50%'; write 0.5" $a --kernel-scale 50%
    says 64 "'0,5'; write 0.5" $a --kernel-scale 0,5
    says 64 "'0,5'; write 0.5" $a --amount 0,5
    FFTBLOOM_VRAM_LIMIT=2 says 78 "FFTBLOOM_VRAM_LIMIT: vram_limit 2 is 2 bytes; did you mean 2GB?" $a
}

@test "standard input and output where they are not supported" {
    says 64 "kernel is '-': standard input" a.exr - -o o.exr
    says 73 "standard output needs a format: exr:-" kernel make star -o -
    says 64 "'-': standard input is not supported" info -
    says 64 "'-': standard input is not supported" diff a.exr -
    says 64 "'-': standard input is not supported" kernel check -
    echo '{"version": 1, "kernel": "-"}' >look.json
    says 78 "look.json:1:26: kernel is '-'" a.exr -o o.exr --config look.json
}

@test "variables that no command reads are warned of, with the nearest name" {
    printf 'Pf\n1 1\n-1.0\n\0\0\200?' >a.pfm
    cp a.pfm k.pfm
    export FFTBLOOM_PADING=mirror FFTBLOOM_HOME=/opt FFTBLOOM_DRY_RUN=1 FFTBLOOM_QQ=1 FFTBLOOM_FADE=1
    run --separate-stderr "$FFTBLOOM" info a.pfm
    [ "$status" -eq 0 ]
    echo "$stderr"
    [[ "$stderr" == *"FFTBLOOM_PADING is not a variable of this program; did you mean FFTBLOOM_PADDING?"* ]]
    [[ "$stderr" == *"FFTBLOOM_DRY_RUN is ignored: --dry-run can only be given on the command line"* ]]
    [[ "$stderr" == *"FFTBLOOM_QQ is not a variable of this program"* ]]
    [ "${#stderr_lines[@]}" -eq 3 ]
    run --separate-stderr "$FFTBLOOM" info a.pfm -q
    [ -z "$stderr" ]
}

@test "the version: --version, -V, version, and as JSON" {
    run "$FFTBLOOM" --version
    [ "$status" -eq 0 ]
    text=$output
    for w in -V version; do [ "$("$FFTBLOOM" $w)" = "$text" ]; done
    "$FFTBLOOM" --version --json | python3 -c 'import json, sys
v = json.load(sys.stdin)
assert v["version"] == 1 and v["program"] == "fftbloom " + v["release"]
assert set(v["libraries"]) == {"vulkan", "openexr", "opencolorio"}'
    [ "$("$FFTBLOOM" version --json)" = "$("$FFTBLOOM" --version --json)" ]
}

@test "a value of the command line that is refused later is 64, one of a file 78" {
    printf 'Pf\n1 1\n-1.0\n\0\0\200?' >a.pfm
    cp a.pfm k.pfm
    says 64 "lies outside the kernel" a.pfm k.pfm -o o.pfm --kernel-center 500,500 --report r.json
    grep -q '"exit_status": 64' r.json
    echo '{"version": 1, "kernel_center": [500, 500]}' >look.json
    says 78 "lies outside the kernel" a.pfm k.pfm -o o.pfm --config look.json --sharpen 0.5
}

@test "precompute writes .spectrum files only" {
    says 64 "precompute writes a .spectrum file, not 'x.exr'" precompute k.exr -o x.exr
    [ ! -e x.exr ]
}

@test "a config can come through a pipe" {
    run "$FFTBLOOM" plan --print-config --json --config <(echo '{"version": 1, "threshold": 0.25}')
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *'0.25'* ]]
}
