#!/usr/bin/env bats
# The command line: flags, variables, config files, their precedence, and what is refused.

load files

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
    [[ "$output" == *"The options that matter most:"* ]]
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
    says 64 "" plna a.exr b.exr
    [[ "$output" == *"unknown command 'plna'; did you mean 'plan'?" ]]
    says 64 "" blom scene.exr
    [[ "$output" == *"'blom' is neither a command nor a file" ]]
    says 64 "" blom
    [[ "$output" == *"'blom' is neither a command nor a file" ]]
    says 64 "did you mean 'completion'?" complteion
    says 64 "did you mean 'schema'?" help schma
}

@test "flags: --name value, --name=value, - for _, short, --no-" {
    [ "$(value amount --amount 0.5)" = "0.5 flag --amount" ]
    [ "$(value amount --amount=0.5)" = "0.5 flag --amount=0.5" ]
    [ "$(value half_overflow --half-overflow float)" = '"float" flag --half-overflow' ]
    [ "$(value half_overflow --half_overflow float)" = '"float" flag --half_overflow' ]
    [ "$(value output -o x.exr)" = '"x.exr" flag -o' ]
    [ "$(value output -ox.exr)" = '"x.exr" flag -ox.exr' ]
    [ "$(value existing)" = '"replace" default' ]
    [ "$(value existing --existing skip)" = '"skip" flag --existing' ]
    [ "$(value stamp --stamp)" = "true flag --stamp" ]
    [ "$(value stamp --stamp --no-stamp)" = "false flag --no-stamp" ]
    [ "$(value stamp --stamp=false)" = "false flag --stamp=false" ]
    [ "$(value amount --amount 0.5 --amount 0.25)" = "0.25 flag --amount" ]
}

@test "-- ends options" {
    [ "$("$FFTBLOOM" apply --print-config -- -in.exr --kernel | awk '$1 == "input" { print $2 }')" = '"-in.exr"' ]
}

@test "padding takes one value or one per axis" {
    [ "$(value padding --padding mirror)" = '"mirror" flag --padding' ]
    [ "$(value padding --padding mirror,wrap)" = '["mirror", "wrap"] flag --padding' ]
    says 64 "" a b -o c --padding mirror,wrap,zero
}

@test "unknown flags name the nearest one, or the command that takes it" {
    says 64 "did you mean --padding?" a.exr b.exr -o c.exr --paddin zero
    says 64 "it is for apply" schema --padding zero
    says 64 "" a.exr b.exr -z
    says 64 "" a.exr b.exr --no-padding
}

@test "a flag without its value, too many or too few arguments: 64" {
    says 64 "-o needs a value: OUT" a.exr b.exr -o
    says 64 "" a.exr b.exr -o --amount 0
    says 64 "'c.exr'" a.exr b.exr c.exr -o d.exr
    says 64 "OUT (--output)" a.exr b.exr
    says 64 "KERNEL" a.exr -o c.exr
    says 64 "" completion
}

@test "a bad value of a flag, a variable or a file: 64" {
    says 64 "amount must be a fraction from 0 to 1, or a percentage (30%), not '-1'" a b -o c --amount -1
    FFTBLOOM_JOBS=x run "$FFTBLOOM" a b -o c
    [ "$status" -eq 64 ]
    [[ "$output" == *"FFTBLOOM_JOBS: jobs"* ]]
    printf '{\n  "version": 1,\n  "sharpen": 2\n}\n' >look.json
    says 64 "look.json:3:14: sharpen" a b -o c --config look.json
}

@test "flags win over variables, these over the file, this over defaults" {
    echo '{"version": 1, "jobs": 1, "sharpen": 0.1}' >look.json
    [ "$(value jobs)" = "0 default" ]
    [ "$(value jobs --config look.json)" = "1 look.json:1:24" ]
    # The counterpart of amount in files.
    [ "$(value amount --config look.json)" = "0.9 look.json:1:38" ]
    export FFTBLOOM_JOBS=2
    [ "$(value jobs --config look.json)" = "2 environment FFTBLOOM_JOBS" ]
    [ "$(value jobs --config look.json --jobs 3)" = "3 flag --jobs" ]
    [ "$(value jobs --jobs 3 --config look.json)" = "3 flag --jobs" ]
    # A file that a variable names is read as one that a flag names.
    export FFTBLOOM_CONFIG=look.json
    [ "$(value amount)" = "0.9 look.json:1:38" ]
    [ "$(value amount --amount 0.7)" = "0.7 flag --amount" ]
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

@test "config files: unknown keys, versions, comments, commas, duplicates: 64 with the place" {
    refused() { # content, place, words
        printf '%b' "$1" >bad.json
        says 64 "" a b -o c --config bad.json
        [[ "$output" == *"bad.json:$2: "*"$3"* ]]
    }
    refused '{"version": 1,\n "paddin": "zero"}' 2:2 'did you mean "padding"?'
    refused '{"version": 7}' 1:13 'reads version 1 only'
    refused '{}' 1:1 'needs "version": 1'
    refused '{"version": 1, // x\n}' 1:16 'no comments'
    refused '{"version": 1,}' 1:14 'trailing commas'
    refused '{"version": 1, "alpha": "keep", "alpha": "keep"}' 1:33 'already given in line 1'
    refused '{"version": 1, "alpha": 3}' 1:25 'must be a string, not a number'
    refused '[1]' 1:1 'is an object, not an array'
    refused '' 1:1 'empty'
    says 66 "" a b -o c --config none.json
}

@test "--print-config as JSON is JSON" {
    "$FFTBLOOM" a.exr --amount 0.5 --print-config --json >c.json
    python3 - <<'P'
import json
c = json.load(open("c.json"))
assert c["amount"] == {"value": 0.5, "origin": "flag --amount"}, c["amount"]
assert c["kernel"]["value"] is None
P
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
    none --keep-going "on a single image" $a --keep-going
    local f="farm a.####.exr k.exr -o o.####.exr"
    none --wait "without --to slurm" $f --to openjd --wait
    none --dir "without --to slurm" $f --to openjd --dir x
    none --args "without --to slurm" $f --to openjd --args=-pgpu
    none --template "without --to template" $f --template t
    none --report "without --wait" $f --report r.json
    none --json "without --wait" $f --json
    none --progress "without --wait" $f --progress json
    none --report "in a plan" plan $a --report r.json
    none --verbose "with --quiet" $a -q -v
    none --fade "in 'convert'; it is for make" kernel convert k.exr -o o.exr --fade 0.5
    none --param "in 'check'; it is for make" kernel check k.exr --param radius=3
    none --output "in 'check'; it is for make, " kernel check k.exr -o o.exr
    none --existing "in 'models'; it is for make, " kernel models --existing skip
    none --taps "in 'check'; it is for make, " kernel check k.exr --taps 3
    none --normalize "in 'make'; it is for convert" kernel make star -o o.exr --normalize sum
    none --kernel-center "in 'check'; it is for convert" kernel check k.exr --kernel-center peak
    none --from "in 'make'; it is for convert" kernel make star -o o.exr --from oiio
    none --strict "in 'make'; it is for check" kernel make star -o o.exr --strict
    none --jobs "in 'models'; it is for make, " kernel models --jobs 2
    none --cache-size "in 'path'; it is for list, trim" cache path --cache-size 0
    none --abs "without --output" diff a.exr b.exr -abs
    none --scale "without --output" diff a.exr b.exr -scale 100
    none --od "without --output" diff a.exr b.exr -od
    for o in --bless --keep-going --junit=x --json=x --html=x --device=cpu --require-cases=1; do
        none "${o%%=*}" "with --list" check s.json --list $o
    done
    says 64 "bench takes no option --layers; it is for apply, farm, plan, info" bench --layers rgba
    [ ! -e o.exr ]
    # They do no harm in files and variables, which may be for several commands, and none at all
    # where the command only shows what it has read.
    "$FFTBLOOM" a.exr --knee 1 --print-config >/dev/null
    echo '{"version": 1, "knee": 1}' >look.json
    says 66 "cannot open" $a --config look.json
}

@test "names that people look for are pointed to the right option" {
    local a="a.exr k.exr -o o.exr"
    says 64 "use --amount" $a --strength 2
    says 64 "use --jobs" $a --threads 4
    says 64 "use --jobs" $a -j 4
    says 64 "--existing skip leaves it" $a --overwrite
    # What earlier versions had.
    says 64 "write --existing skip" $a --no-clobber
    says 64 "write --existing update" $a --update
    says 64 "write --existing in-place" $a --in-place
    says 64 "use --amount" $a --mix 0.5
    says 64 "write --amount A, where A is 1 - sharpen" $a --sharpen 0.5
    says 64 "--keep-going passes over" $a --missing skip
    says 64 "fftbloom farm IN KERNEL -o OUT --to slurm" $a --farm slurm
    says 64 "'fftbloom plan IN KERNEL -o OUT'" $a --dry-run
    says 64 "write --progress json:N" $a --progress-fd 3
    echo '{"version": 1, "update": true}' >look.json
    says 64 'there is no option "update"; write --existing update' $a --config look.json
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
    says 64 "'0,5'" $a --amount 0,5
    FFTBLOOM_MEM_LIMIT=2 says 64 "FFTBLOOM_MEM_LIMIT: mem_limit 2 is 2 bytes; did you mean 2GB?" $a
}

@test "standard input and output where they are not supported" {
    says 64 "kernel is '-': standard input" a.exr - -o o.exr
    says 74 "standard output needs a format: exr:-" kernel make star -o -
    says 64 "'-': standard input is not supported" info -
    says 64 "'-': standard input is not supported" diff a.exr -
    says 64 "'-': standard input is not supported" kernel check -
    echo '{"version": 1, "kernel": "-"}' >look.json
    says 64 "look.json:1:26: kernel is '-'" a.exr -o o.exr --config look.json
}

@test "variables that no command reads are warned of, with the nearest name" {
    printf 'Pf\n1 1\n-1.0\n\0\0\200?' >a.pfm
    cp a.pfm k.pfm
    export FFTBLOOM_JOBBS=2 FFTBLOOM_HOME=/opt FFTBLOOM_PADDING=mirror FFTBLOOM_QQ=1 FFTBLOOM_JOBS=1
    run --separate-stderr "$FFTBLOOM" info a.pfm
    [ "$status" -eq 0 ]
    echo "$stderr"
    [[ "$stderr" == *"FFTBLOOM_JOBBS is not a variable of this program; did you mean FFTBLOOM_JOBS?"* ]]
    [[ "$stderr" == *"FFTBLOOM_PADDING is ignored: --padding is given on the command line or in a config file"* ]]
    [[ "$stderr" == *"FFTBLOOM_QQ is not a variable of this program"* ]]
    [ "${#stderr_lines[@]}" -eq 3 ]
    run --separate-stderr "$FFTBLOOM" info a.pfm -q
    [ -z "$stderr" ]
}

@test "the version: --version, -V, version, and as JSON" {
    says 0 "" --version
    text=$output
    for w in -V version; do [ "$("$FFTBLOOM" $w)" = "$text" ]; done
    "$FFTBLOOM" --version --json | python3 -c 'import json, sys
v = json.load(sys.stdin)
assert v["version"] == 1 and v["program"] == "fftbloom " + v["release"]
assert set(v["libraries"]) == {"vulkan", "openexr", "opencolorio"}'
    [ "$("$FFTBLOOM" version --json)" = "$("$FFTBLOOM" --version --json)" ]
}

@test "a value of the command line that or of a file that is refused later: 64" {
    printf 'Pf\n1 1\n-1.0\n\0\0\200?' >a.pfm
    cp a.pfm k.pfm
    says 64 "lies outside the kernel" a.pfm k.pfm -o o.pfm --kernel-center 500,500 --report r.json
    grep -q '"exit_status": 64' r.json
    echo '{"version": 1, "kernel_center": [500, 500]}' >look.json
    says 64 "lies outside the kernel" a.pfm k.pfm -o o.pfm --config look.json --amount 0.5
}

@test "precompute writes .spectrum files only" {
    says 64 "precompute writes a .spectrum file, not 'x.exr'" precompute k.exr -o x.exr
    [ ! -e x.exr ]
}

@test "a config can come through a pipe" {
    says 0 "" plan --print-config --json --config <(echo '{"version": 1, "threshold": 0.25}')
    [[ "$output" == *'0.25'* ]]
}

@test "help: the options that matter, one option, the exit statuses" {
    run "$FFTBLOOM" help
    [[ "$status" -eq 0 && "$output" == *"The options that matter most:"*"--existing"*"--amount"* ]]
    [[ "$output" != *"--tolerance"* ]]
    run "$FFTBLOOM" help apply
    [[ "$output" == *"The options that matter most:"*"--amount"*"Layers and pixels:"*"For experts:"*"--tolerance"* ]]
    [ "$(grep -cE '^ +(-., )?--' <<<"$output")" -le 57 ] # with --help
    for o in padding --padding; do
        run "$FFTBLOOM" help $o
        [[ "$status" -eq 0 && "$output" == *"--padding"*"mirrored"*"For: apply, "*"also a key of config files" ]]
    done
    run "$FFTBLOOM" help exit
    [[ "$status" -eq 0 && "$output" == *"75   Temporary failure"* ]]
    says 64 "did you mean" help appply
}
