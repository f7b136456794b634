# The project's own suite, testdata/suite.json: the shipped scenes look as they did, on both engines.
# After a change that was meant: fftbloom check testdata/suite.json --device cpu --bless

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$FFTBLOOM_ROOT"
}

@test "all cases on the CPU engine, against references of the same settings and inputs" {
    needs cpu
    says 0 "" check testdata/suite.json --device cpu --require-device cpu --require-cases 17 --json "$dir/r.json"
    holds "$dir/r.json" 'all({"version", "device", "settings", "input", "kernel"} <= c["origin"].keys() for c in d["cases"])' \
        'not [n for c in d["cases"] for n in c["notes"] if "was made with" in n]'
    [ "$(cat testdata/references/*.exr | wc -c)" -lt 500000 ]
}

# Software Vulkan compiles its shaders for seconds, so only cases of two shapes; ALL_CASES=1 for all.
@test "small cases on software Vulkan, against the same references" {
    needs software
    cases=small,small-nothing,small-half-glare,small-bright-only,small-layer,small-wrap
    [ -z "$ALL_CASES" ] || cases='small*'
    says 0 "" check testdata/suite.json --device software --require-device software --require-cases 6 --filter "$cases"
}

@test "a look that is a hair off fails" {
    needs cpu
    says 2 "made with other settings" check testdata/suite.json --device cpu --filter small-half-glare --set half=0.502
}

@test "the suite and the commands of docs/suites.md and docs/ci.md run as written" {
    needs cpu
    mkdir -p "$dir/shots" "$dir/tests/fftbloom"
    ln -s "$(dirname "$FFTBLOOM")" "$dir/tests/fftbloom/build"
    cp testdata/scene.exr "$dir/shots/night.exr"
    cp testdata/star.exr "$dir/shots/star.exr"
    cd "$dir/tests"
    sed -n '/^```json/,/^```/p' "$FFTBLOOM_ROOT/docs/suites.md" | sed '1d;$d' >suite.json
    export PATH="$(dirname "$FFTBLOOM"):$PATH"
    n=0
    while read -r line; do
        run bash -c "$line"
        echo "$line: $output"
        [ "$status" -eq 0 ]
        n=$((n + 1))
    done < <(grep -hoE '^    fftbloom check suite.json[^#]*' "$FFTBLOOM_ROOT/docs/suites.md"
        grep -hoE 'fftbloom/build/fftbloom check .*|^    fftbloom check suite.json.*' "$FFTBLOOM_ROOT/docs/ci.md")
    [ "$n" -eq 5 ]
    [ -s references/night.exr ]
    [ -s look.html ]
    [ -s look.xml ]
}
