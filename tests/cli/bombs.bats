#!/usr/bin/env bats
# Small files that would grow without end: includes of includes, variables of variables. Each is
# refused at once with 78.

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
}

# 8 files, each of which includes the next 40 times.
bomb() {
    local i many
    for i in 0 1 2 3 4 5 6; do
        many=$(printf "\"b$((i + 1)).json\", %.0s" {1..40})
        echo "{\"version\": 1, \"include\": [${many%, }]}" >b$i.json
    done
    echo '{"version": 1}' >b7.json
}

@test "includes of a config that multiply end at once" {
    bomb
    run timeout 20 "$FFTBLOOM" a.exr k.exr -o o.exr --config b0.json
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *"b6.json:1:"*": more than 10000 files are included" ]]
}

@test "includes of a suite that multiply end at once, in the suite and in a case" {
    bomb
    run timeout 20 "$FFTBLOOM" check b0.json
    [ "$status" -eq 64 ]
    [[ "$output" == *"more than 10000 files are included" ]]
    echo '{"version": 1, "cases": [{"name": "a", "config": "b0.json"}]}' >s.json
    run timeout 20 "$FFTBLOOM" check s.json
    [ "$status" -eq 64 ]
    [[ "$output" == *"more than 10000 files are included" ]]
}

@test "includes of large files count their bytes" {
    { echo '{"version": 1, "include": ['; printf '"b.json",%.0s' {1..4}; echo '"b.json"]}'; } >a.json
    { echo '{"version": 1}'; head -c 4000000 /dev/zero | tr '\0' ' '; } >b.json
    run timeout 20 "$FFTBLOOM" a.exr k.exr -o o.exr --config a.json
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *"a.json:2:37: the included files have more than 16 MB" ]]
}

@test "a suite of too many cases is refused before anything is made of it" {
    python3 -c 'print("{\"version\": 1, \"cases\": [" + "{\"name\": \"a\", \"skip\": \"x\"}," * 200000 + "{}]}")' >s.json
    run timeout 20 "$FFTBLOOM" check s.json
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *"s.json:1:"*": the file has more than 524288 values" ]]
    python3 -c 'print("{\"version\": 1, \"cases\": [" + "{}," * 10000 + "{}]}")' >s.json
    run timeout 20 "$FFTBLOOM" check s.json
    [ "$status" -eq 64 ]
    [[ "$output" == *"s.json:1:25: a suite has at most 10000 cases, not 10001" ]]
}

@test "a file that includes itself, or one that includes it" {
    mkdir sub
    echo '{"version": 1, "include": "e.json"}' >e.json
    echo '{"version": 1, "include": "sub/b.json"}' >a.json
    echo '{"version": 1, "include": "c.json"}' >sub/b.json
    echo '{"version": 1, "include": "../a.json"}' >sub/c.json
    for command in "apply a.exr k.exr -o o.exr --config" check; do
        refused 64 "e.json:1:27: files include each other more than 16 deep" $command e.json
        refused 64 "a.json:1:27: files include each other more than 16 deep" $command a.json
    done
}

@test "files that include each other too deep" {
    for i in {1..17}; do echo "{\"version\": 1, \"include\": \"$((i + 1)).json\"}" >$i.json; done
    echo '{"version": 1}' >18.json
    refused 64 "16.json:1:27: files include each other more than 16 deep" a.exr k.exr -o o.exr --config 1.json
    "$FFTBLOOM" apply --print-config --config 3.json >/dev/null
}

@test "variables of variables: a string has at most 64 kB" {
    {
        echo '{"version": 1, "variables": {"v0": "0123456789"'
        for i in {1..9}; do echo ", \"v$i\": \"$(printf "\${v$((i - 1))}%.0s" {1..10})\""; done
        echo '}, "cases": [{"name": "${v9}", "config": {"input": "a", "kernel": "k"}}]}'
    } >s.json
    run timeout 20 "$FFTBLOOM" check s.json
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *"s.json:5:9: this string is longer than 65536 bytes once its variables are replaced" ]]
    # Not too long each, but too many.
    {
        echo '{"version": 1, "variables": {"v0": "'$(head -c 60000 /dev/zero | tr '\0' x)'"'
        for i in {1..1200}; do echo ", \"v$i\": \"\${v0}\""; done
        echo '}, "cases": []}'
    } >s.json
    run timeout 20 "$FFTBLOOM" check s.json
    [ "$status" -eq 64 ]
    [[ "$output" == *"the strings of this suite are longer than 64 MB once their variables are replaced" ]]
}
