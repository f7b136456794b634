# The schema, manual pages and completions that the tables generate; the keys on the pages.

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
}

# A schema and the program agree on each of these members of an object: the good are taken, the bad
# are refused.
agree() { # SCHEMA OBJECT COMMAND GOOD BAD
    python3 -c 'import jsonschema' || skip "python3-jsonschema is not installed"
    "$FFTBLOOM" schema $1 >schema.json
    python3 - "${@:2}" <<'P'
import json, os, subprocess, sys
from jsonschema import Draft202012Validator as V
schema = json.load(open("schema.json"))
V.check_schema(schema)
for want, cases in ((True, sys.argv[3]), (False, sys.argv[4])):
    for case in json.loads(cases):
        whole = json.loads(sys.argv[1])
        whole.get("cases", [whole])[0].update(case)
        json.dump(whole, open("c.json", "w"))
        ours = subprocess.run([os.environ["FFTBLOOM"], *sys.argv[2].split()], capture_output=True).returncode
        assert V(schema).is_valid(whole) == want, (case, "schema")
        assert (ours == 0) == want, (case, "program", ours)
# Every default is a value that the schema takes.
for name, p in schema["properties"].items():
    assert "default" not in p or V(p).is_valid(p["default"]), name
P
}

@test "the schema of configs takes what the program takes, and refuses what it refuses" {
    agree "" '{"version": 1}' "plan --config c.json --print-config" '
        [{}, {"sharpen": 0.5}, {"padding": "mirror"}, {"padding": ["mirror", "zero"]},
        {"mem_limit": "2GB"}, {"mem_limit": 0}, {"mem_limit": 5000000},
        {"kernel_center": "peak"}, {"kernel_center": [1, 2.5]}, {"kernel_scale": 2},
        {"kernel_scale": "0.5h"}, {"layers": "a,b"}, {"layers": ["a", "b"]}, {"threshold": "inf"},
        {"verify": 10}, {"existing": "update"}, {"$schema": "x"}, {"frames": "1-10"}]' '
        [{"sharpen": 2}, {"verify": "5"}, {"paddin": "zero"}, {"padding": "mirrror"},
        {"padding": ["zero"]}, {"padding": {"x": "zero", "y": "zero"}}, {"mem_limit": "2 elephants"}, {"mem_limit": 5},
        {"kernel_center": "left"}, {"kernel_scale": true}, {"verify": 1.5}, {"update": true},
        {"layers": [1]}, {"layers": []}, {"layers": [""]}, {"sandbox": "off"}, {"kernel": ""}, {"version": 2}, {"config": "x"}, {"threshold": "infinite"}]'
    python3 -m jsonschema -i "$FFTBLOOM_ROOT/testdata/look.json" schema.json 2>/dev/null
    "$FFTBLOOM" --config "$FFTBLOOM_ROOT/testdata/look.json" -o out.exr
    [ -s out.exr ]
}

# A block is a suite, a recipe, a field or a config: the program takes each as what it is.
@test "every block of JSON in the documents is taken by the program" {
    for page in "$FFTBLOOM_ROOT"/README.md "$FFTBLOOM_ROOT"/docs/*.md "$FFTBLOOM_ROOT"/docs/inside/*.md; do
        awk -v p="$(basename "$page" .md)" '/^```json/ { n++; f = p "." n ".json"; next } /^```/ { f = "" } f { print >f }' "$page"
    done
    n=0
    for f in *.[0-9]*.json; do
        [ -e "$f" ] || continue
        echo "$f"
        n=$((n + 1))
        case $(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print("suite" if "cases" in d else "field" if "field" in d else "recipe" if isinstance(d.get("layers"), list) and isinstance(d["layers"][0], dict) else "config")' "$f") in
        suite) "$FFTBLOOM" check "$f" --list >/dev/null ;;
        recipe) "$FFTBLOOM" kernel make "./$f" -o k.exr ;;
        field)
            "$FFTBLOOM" kernel make mist-8 --taps 65 -o k.exr --existing replace
            for k in $(grep -o '[a-z-]*\.exr' "$f"); do cp k.exr "$k"; done
            "$FFTBLOOM" kernel make "./$f" -o field.exr
            ;;
        config) "$FFTBLOOM" plan --config "$f" --print-config >/dev/null ;;
        esac
    done
    [ "$n" -ge 4 ]
}

@test "the schema of suites, likewise; docs/suites.md names every key" {
    local run='"input": "in.exr", "kernel": "k.exr"'
    agree suite '{"version": 1, "variables": {"t": "0.5"}, "cases": [{"name": "x", "config": {'"$run"'}, "reference": "a.exr"}]}' \
        "check c.json --list" '
        [{}, {"verify": 2}, {"fail": 0.1, "hardfail": "inf"}, {"config": {'"$run"', "sharpen": 1}},
        {"energy": [0, 2]}, {"energy": {"R": [0, 2]}}, {"crop": [0, 0, 1, 1]}, {"skip": "x"},
        {"reference": ["a.exr", "b.exr"]}, {"reference": {"cpu": "a.exr", "any": ["b.exr"]}},
        {"variables": {"b": "x"}}, {"config": {'"$run"', "amount": "${t}"}}]' '
        [{"verify": -1}, {"fail": "x"}, {"config": {'"$run"', "sharpen": 2}}, {"config": {'"$run"', "sharpn": 1}},
        {"energy": [1]}, {"energy": {}}, {"crop": [0, 0, 1]}, {"skip": ""}, {"skip": 1}, {"reference": []},
        {"reference": {}}, {"reference": {"tpu": "a.exr"}}, {"variables": {"a": 1}}, {"config": {'"$run"', "sandbox": "on"}}, {"config": {'"$run"', "include": "a.json"}}, {"extra": 1},
        {"name": 1}, {"sharpen": 1}]'
    python3 - "$FFTBLOOM_ROOT/docs/suites.md" <<'P'
import json, re, sys
from jsonschema import Draft202012Validator as V
s = json.load(open("schema.json"))
for want, d in ((True, {"version": 1, "defaults": {"fail": 1}, "$schema": "x"}),
                (False, {}), (False, {"version": 2}), (False, {"version": 1, "defaults": {"name": "x"}})):
    assert V(s).is_valid(d) == want, d
keys = set(s["properties"]) | set(s["$defs"]["case"]["properties"]) | set(s["$defs"]["defaults"]["properties"])
missing = keys - set(re.findall(r"`\"?([$a-z_]+)\"?`", open(sys.argv[1]).read()))
assert not missing, missing
P
    python3 -m jsonschema -i "$FFTBLOOM_ROOT/testdata/suite.json" "$FFTBLOOM_ROOT/docs/suite.schema.json" 2>/dev/null
}

@test "manual pages have no fault that mandoc finds, and every option; so has the reference" {
    "$FFTBLOOM" docs config >config.md
    "$FFTBLOOM" plan --print-config | while read -r name rest; do grep -q "^### \`$name\`" config.md; done
    grep -q '^### `config`' config.md
    says 64 "" docs man nothing
    says 64 "" docs nothing
    needs_program mandoc
    for c in "" $("$FFTBLOOM" docs commands); do
        "$FFTBLOOM" docs man $c >page.1
        mandoc -T lint -W warning page.1
        [ -z "$c" ] || for flag in $("$FFTBLOOM" help "$c" | grep -oE '^ {2,6}(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
            grep -qF -- "${flag//-/\\-}" page.1
        done
    done
}

complete_bash() { # the words of a command line: what bash offers for the last one
    mkdir -p bin
    ln -sf "$FFTBLOOM" bin/fftbloom
    PATH=$PWD/bin:$PATH bash -c 'source <(fftbloom completion bash)
        compopt() { :; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fftbloom; printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}

@test "completions: commands, flags, values, kernels and parameters" {
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
kernel rota|rotate
kernel make air|airy
kernel check ma|
kernel check --str|--strict
kernel check --par|
help kernel rota|rotate
docs man app|apply
kernel make star --param blades=6,ra|blades=6,radius=
layers.exr --device so|software
layers.exr -k halat|halation halated.exr
none.exr --layers |
T
    [ "$("$FFTBLOOM" completion words -- - | grep -c '^--')" -gt 40 ]
}

@test "zsh and fish take their completions; another shell: 64" {
    says 64 "" completion words
    says 64 "" completion tcsh
    "$FFTBLOOM" completion zsh >_fftbloom
    "$FFTBLOOM" completion fish >f.fish
    grep -q '^#compdef fftbloom' _fftbloom
    needs_program zsh fish
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
    [ "$status" -eq 74 ] # as for a full disk
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
    pages = (re.match("[a-z]*", name)[0], "inside/formats")
    page = "".join(open("%s/%s.md" % (sys.argv[1], p)).read() for p in pages)
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", page))))
    assert not keys(json.load(open(name))) - named, (name, keys(json.load(open(name))) - named)
P
}

@test "the help of an action shows its own options; of a command without actions: 64" {
    says 0 "Usage: fftbloom kernel check FILE" help kernel check
    [[ "$output" == *"--strict"* && "$output" != *"--fade"* ]]
    [ "$output" = "$("$FFTBLOOM" kernel check --help)" ]
    "$FFTBLOOM" docs man kernel >page.1
    "$FFTBLOOM" help kernel >help
    for action in $("$FFTBLOOM" completion words -- kernel ''); do
        grep -q "^  $action" help
        "$FFTBLOOM" help kernel "$action" | grep -q "^Usage: fftbloom kernel $action"
        grep -q "^.SS $action" page.1
    done
    says 64 "unknown kernel action 'invent'" help kernel invent
    says 64 "apply has no actions" help apply kernel
}

@test "the speeds of a GPU are those of gpu-peers.txt" {
    local docs=$BATS_TEST_DIRNAME/../../docs name us passes vkfft cufft rows=0
    while read -r name _ us passes _ _ vkfft v _ cufft c _; do
        grep -qF "| $name | $us | $passes | $vkfft $v | $cufft $c |" "$docs/performance.md" || {
            echo "docs/performance.md has not the row of $name"
            false
        }
        [ "$name" != 1920x1080/256 ] || grep -qF "takes $us us, with the data on the device: ${v//[()]/} of VkFFT's time and ${c//[()]/} of cuFFT's" "$docs/../README.md"
        rows=$((rows + 1))
    done < <(grep '^[0-9]*x[0-9]*/' "$docs/gpu-peers.txt")
    [ "$rows" -eq 6 ]
}

@test "tests/long.txt names the files that have a part that takes long, and paths that are there" {
    cd "$FFTBLOOM_ROOT"
    table=$(grep -vE '^(#|$)' tests/long.txt)
    asks=$(grep -lE 'check_long\(\)|takes_long$|"\$LONG"' tests/{unit,gpu,ofx,cli,bench/lab}/*.{c,bats} 2>/dev/null | xargs -n 1 basename | sed 's/\.[a-z]*$//')
    # pipe_takes asks for test_pipeline; this file asks for itself.
    diff <(sort -u <<<"$asks"$'\n'test_pipeline | grep -v docs) <(cut -d' ' -f1 <<<"$table" | grep -vE '^(fresh|every)$' | sort)
    git rev-parse HEAD >/dev/null 2>&1 || skip "no checkout of git"
    set -f
    for path in $(cut -d' ' -f2- <<<"$table"); do [ "$(git ls-files -- "$path" | head -n 1)" ] || { echo "no $path"; false; }; done
    # Without a commit to compare with, all of it is run; so it is where a rule has changed.
    [ "$(tests/long.sh no-such-commit | xargs)" = "$(cut -d' ' -f1 <<<"$table" | grep -v every | xargs)" ]
}

@test "each test that docs/inside/testing.md names beside a sentence is there" {
    python3 - "$FFTBLOOM_ROOT" <<'P'
import re, sys
root = sys.argv[1]
page = open(root + "/docs/inside/testing.md").read()
part = page[page.index("## Which test holds which sentence"):page.index("## Validation layers")]
found = 0
for name, words in re.findall(r'`(\w+\.bats)`((?: "[^"]+",?)+)', part):
    tests = re.findall(r'^@test "(.*)" \{', open(f"{root}/tests/cli/{name}").read(), re.M)
    for begin in re.findall(r'"([^"]+)"', words):
        found += 1
        assert any(t.startswith(begin) for t in tests), (name, begin)
for name, cases in re.findall(r"`(test_\w+)` \(([\w, ]+)\)", part):
    code = open(f"{root}/tests/unit/{name}.c").read()
    for case in cases.split(", "):
        found += 1
        assert f"TEST({case})" in code, (name, case)
kinds = {k for line in re.findall(r"trials ((?:`\w+`(?:, )?)+)", part) for k in re.findall(r"`(\w+)`", line)}
trials = open(root + "/tests/trials.py").read() + open(root + "/tests/trials_guard.py").read()
assert len(kinds) >= 7 and all(f"def trial_{k}(" in trials for k in kinds), kinds
assert found > 50, found
P
}
