#!/usr/bin/env bats
# The schema, manual pages and completions that the tables generate; the keys on the pages.

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
}

# Debian's python3 has python3-jsonschema; another python3 in front may not.
@test "the schema is valid, takes good configs and refuses what the program refuses" {
    python3 -c 'import jsonschema' || skip "python3-jsonschema is not installed"
    "$FFTBLOOM" schema >schema.json
    cat >check.py <<'P'
import json, subprocess, sys, os
from jsonschema import Draft202012Validator as V
schema = json.load(open("schema.json"))
V.check_schema(schema)
v = V(schema)
good = [{}, {"sharpen": 0.5}, {"padding": "mirror"}, {"padding": ["mirror", "zero"]},
        {"padding": {"x": "mirror", "y": "zero"}}, {"mem_limit": "2GB"}, {"mem_limit": 0}, {"mem_limit": 5000000},
        {"kernel_center": "peak"}, {"kernel_center": [1, 2.5]}, {"kernel_scale": 2},
        {"kernel_scale": "0.5h"}, {"layers": "a,b"}, {"layers": ["a", "b"]}, {"threshold": "inf"},
        {"verify": 10}, {"existing": "update"}, {"$schema": "x"}, {"frames": "1-10"}]
bad = [{"sharpen": 2}, {"sharpen": "0.5"}, {"paddin": "zero"}, {"padding": "mirrror"},
       {"padding": ["zero"]}, {"padding": {"x": "zero"}}, {"mem_limit": "2 elephants"}, {"mem_limit": 5},
       {"kernel_center": "left"}, {"kernel_scale": True}, {"verify": 1.5}, {"update": True},
       {"layers": [1]}, {"kernel": ""}, {"version": 2}, {"config": "x"}, {"threshold": "infinite"}]
for want, cases in ((True, good), (False, bad)):
    for case in cases:
        config = {"version": 1, **case}
        json.dump(config, open("c.json", "w"))
        ours = subprocess.run([os.environ["FFTBLOOM"], "apply", "--config", "c.json", "--print-config"],
                              capture_output=True).returncode
        assert v.is_valid(config) == want, (config, "schema")
        assert (ours == 0) == want, (config, "program", ours)
# Every default is a value that the schema takes.
for name, p in schema["properties"].items():
    if "default" in p:
        assert V(p).is_valid(p["default"]), name
print("ok", len(good) + len(bad))
P
    run python3 check.py
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "ok 36" ]
}

@test "the shipped config files are valid by the schema, and run" {
    python3 -c 'import jsonschema' || skip "python3-jsonschema is not installed"
    "$FFTBLOOM" schema >schema.json
    cat >valid.py <<'P'
import json, sys
from jsonschema import Draft202012Validator as V
v = V(json.load(open("schema.json")))
for path in sys.argv[1:]:
    v.validate(json.load(open(path)))
P
    python3 valid.py "$FFTBLOOM_ROOT"/testdata/look.json
    "$FFTBLOOM" --config "$FFTBLOOM_ROOT/testdata/look.json" -o out.exr
    [ -s out.exr ]
}

@test "manual pages have no fault that mandoc finds" {
    needs_program mandoc
    for c in "" $("$FFTBLOOM" docs commands); do
        "$FFTBLOOM" docs man $c >page.1
        mandoc -T lint -W warning page.1
        # Every option of the command is on its page.
        if [ -n "$c" ]; then
            "$FFTBLOOM" help "$c" | grep -oE '^ {2,6}(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | while read -r flag; do
                grep -qF -- "\\${flag#-}" page.1
            done
        fi
    done
    says 64 "" docs man nothing
    says 64 "" docs nothing
}

@test "the reference has every option" {
    "$FFTBLOOM" docs config >config.md
    "$FFTBLOOM" apply --print-config | while read -r name rest; do grep -q "^### \`$name\`" config.md; done
    grep -q '^### `config`' config.md
}

complete_bash() { # the words of a command line: what bash offers for the last one
    mkdir -p bin
    ln -sf "$FFTBLOOM" bin/fftbloom
    PATH=$PWD/bin:$PATH bash -c 'source <(fftbloom completion bash)
        compopt() { :; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fftbloom; printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}

@test "completions: commands, flags, values, and what depends on machine and files" {
    touch halated.exr
    while IFS='|' read -r line want; do
        read -ra words <<<"$line"
        [[ $line != *' ' ]] || words+=('')
        got=$(complete_bash fftbloom "${words[@]}" | xargs)
        [ "$got" = "$want" ] || { echo "$line: '$got', not '$want'"; false; }
    done <<'T'
compl|completion
apply --thresh|--threshold
a.exr --thresh|--threshold
apply --padding mi|mirror
apply --padding = mi|mirror
apply --padding=mi|--padding=mirror
completion z|zsh
help sch|schema
apply --json --thresh|--threshold
check --json hal|halated.exr
kernel conve|convert
kernel make air|airy
kernel check ma|
kernel check --str|--strict
kernel check --par|
help kernel conve|convert
docs man app|apply
kernel make star --param blades=6,ra|blades=6,radius=
layers.exr --device so|software
layers.exr -k halat|halation halated.exr
none.exr --layers |
T
    "$FFTBLOOM" completion words -- a --device '' | grep -qx 0
    [ "$("$FFTBLOOM" completion words -- - | grep -c '^--')" -gt 40 ]
    needs_program oiiotool
    image layers.exr 8x8 half 0,0,0,0,0 names=R,G,B,rim.Y,Z
    [ "$(complete_bash fftbloom layers.exr k.exr --layers '' | xargs)" = "rgba rim Z" ]
    [ "$(complete_bash fftbloom apply --x layers.exr --layers rgba,ri)" = "rgba,rim" ]
}

@test "zsh and fish take their completions; another shell: 64" {
    says 64 "" completion words
    says 64 "" completion tcsh
    "$FFTBLOOM" completion zsh >_fftbloom
    "$FFTBLOOM" completion fish >f.fish
    grep -q '^#compdef fftbloom' _fftbloom
    command -v zsh && command -v fish || skip "zsh or fish is not installed"
    zsh -n _fftbloom
    ln -s "$FFTBLOOM" fftbloom
    PATH=$PWD:$PATH
    [ "$(zsh -c 'autoload -U compinit; compinit -u -D; source ./_fftbloom; echo $_comps[fftbloom]')" = _fftbloom ]
    fished() { fish -c 'source f.fish; complete -C $argv[1]' "$1"; }
    [ "$(fished "fftbloom completion z")" = zsh ]
    [[ "$(fished "fftbloom a.exr --thresh")" == --threshold* ]]
    [ "$(fished "fftbloom kernel make air")" = airy ]
    [ -z "$(fished "fftbloom kernel check make")" ]
}

@test "a full standard output is an error, not silence" {
    [ -e /dev/full ] || skip "no /dev/full here"
    run bash -c '"$FFTBLOOM" schema >/dev/full'
    [ "$status" -eq 75 ] # as for a full disk
}

@test "the pages name every key of the JSON that they describe" {
    "$FFTBLOOM" kernel make star --taps 33 -o kernel.exr
    image=$FFTBLOOM_ROOT/testdata/small.exr
    "$FFTBLOOM" kernel check kernel.exr --json >kernels.json
    "$FFTBLOOM" info "$image" --json >images.json
    "$FFTBLOOM" "$image" kernel.exr -o out.exr --device cpu --verify 4 --report report.json
    "$FFTBLOOM" plan "$image" kernel.exr --json >report-plan.json
    "$FFTBLOOM" plan "$image" kernel.exr -o dry.exr --json >report-dry.json
    "$FFTBLOOM" devices --json >report-devices.json
    says 2 "" diff out.exr "$image" --json
    echo "$output" >suites.json
    python3 - "$FFTBLOOM_ROOT/docs" <<'P'
import glob, json, re, sys
def keys(v):
    if isinstance(v, list):
        return set().union(*map(keys, v))
    if not isinstance(v, dict):
        return set()
    return set(v).union(*(keys(w) for k, w in v.items() if k != "settings"))
for name in glob.glob("*.json"):
    pages = (re.match("[a-z]*", name)[0], "formats")
    page = "".join(open("%s/%s.md" % (sys.argv[1], p)).read() for p in pages)
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", page))))
    assert not keys(json.load(open(name))) - named, (name, keys(json.load(open(name))) - named)
P
}

@test "the help of an action shows its own options; of a command without actions: 64" {
    run "$FFTBLOOM" help kernel check
    [[ "$status" -eq 0 && "$output" == *"Usage: fftbloom kernel check FILE"*"--strict"* && "$output" != *"--fade"* ]]
    [ "$output" = "$("$FFTBLOOM" kernel check --help)" ]
    run "$FFTBLOOM" help kernel
    for action in $("$FFTBLOOM" completion words -- kernel ''); do
        [[ "$output" == *$'\n'"  $action"* ]]
        "$FFTBLOOM" help kernel "$action" | grep -q "^Usage: fftbloom kernel $action"
        "$FFTBLOOM" docs man kernel | grep -q "^.It Ic $action"
    done
    says 64 "unknown kernel action 'invent'" help kernel invent
    says 64 "apply has no actions" help apply kernel
}
