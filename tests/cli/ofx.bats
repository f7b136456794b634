#!/usr/bin/env bats
# The OpenFX plug-in as it is shipped; tests/ofx has what it does.

load files

setup() {
    cd "$FFTBLOOM_ROOT"
    ofx=$(dirname "$FFTBLOOM")/fftbloom.ofx
    binary=$TEST_TMP/p.ofx.bundle/Contents/Linux-x86-64/fftbloom.ofx
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's plug-in is not shipped"
    [ "$(uname -m)" = x86_64 ] || skip "the bundle is for x86-64"
    [ -e "$binary" ] || tests/ofx/bundle.py "$ofx" "$TEST_TMP/p.ofx.bundle"
}

@test "the plug-in needs the C library of 2.28 alone, and shows three calls" {
    # libgcc_s is a part of every system that has glibc; a static one would need glibc 2.35.
    needs_old_glibc_alone "$binary"
    [ "$(nm -D --defined-only "$binary" | cut -d ' ' -f 3 | sort | tr '\n' ' ')" = "OfxGetNumberOfPlugins OfxGetPlugin OfxSetHost " ]
    run bash -c "objdump -T '$binary' | grep -E 'GLIBCXX|Imf_|OpenColorIO| (exit|_exit|abort_handler|signal|sigaction)$'"
    echo "$output"
    [ "$status" -eq 1 ]
    run grep -aF "$FFTBLOOM_ROOT" "$binary"
    [ "$status" -eq 1 ]
}

@test "the bundle has the kernels, and the licences of what is inside" {
    local r=$TEST_TMP/p.ofx.bundle/Contents/Resources
    diff <(cd kernels && ls *.json) <(ls "$r/kernels")
    grep -q 'MIT' "$r/LICENSE"
    python3 - "$r" <<'P'
import json, os, sys
names = {p["name"] for p in json.load(open(sys.argv[1] + "/fftbloom.spdx.json"))["packages"]} - {"fftbloom"}
assert {n + ".txt" for n in names} == set(os.listdir(sys.argv[1] + "/licenses")), names
P
}

@test "the plug-in sees the public header alone, and offers each shipped kernel by its name" {
    run bash -c "grep -h '#include \"' src/ofx/*.[ch] | grep -vE '\"(ofx/[a-z]+|lib/fftbloom)\.h\"'"
    echo "$output"
    [ "$status" -eq 1 ]
    diff <(cd kernels && ls *.json | sed 's/\.json//' | sort) \
        <(sed -n '/KERNEL\[\] = /,/PADDING/s/.*{"[^"]*", "\([^"]\+\)"}.*/\1/p' src/ofx/controls.c | sort)
}

@test "docs/ofx.md has the id, the version and a row for each control" {
    grep -q "$(sed -n 's/.*\.id = "\(.*\)".*/`\1`/p' src/ofx/plugin.c)" docs/ofx.md
    grep -qF "version $(sed -n 's/.*\.major = \(.*\),/\1/p' src/ofx/plugin.c).$(sed -n 's/.*\.minor = \(.*\),/\1/p' src/ofx/plugin.c)" docs/ofx.md
    grep -oE '"[a-zA-Z]+", +"[A-Z][A-Za-z ]+", OFX_TYPE|^ *"[A-Z][a-z ]+",$' src/ofx/controls.c >/dev/null
    for label in Kernel "Kernel file" Amount Size Turn Tint Threshold Knee Padding Grow "Spread alpha" Show Space Quality Device Mask; do
        grep -q "^| .*$label" docs/ofx.md || { echo "no row of '$label'"; false; }
    done
}
