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
    [ "$status" -eq 64 ] || [ "$status" -eq 66 ]
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
