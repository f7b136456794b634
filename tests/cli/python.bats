#!/usr/bin/env bats
# The Python module: tests/python, the examples of docs/python.md, and its packages.

load files

setup() {
    [ "${SAN:-0}" = 0 ] || skip "a plain Python cannot load a library with sanitizers"
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    export PYTHONPATH=$FFTBLOOM_ROOT/python:$FFTBLOOM_ROOT/tests/python PYTHONDONTWRITEBYTECODE=1
    export LIBFFTBLOOM=${FFTBLOOM%/*}/libfftbloom.so.0
}

needs() { # modules
    python3 -c "import $1" || skip "not installed: $1"
}

@test "results, transposes, batches, threads and errors" {
    needs numpy
    python3 -W error "$FFTBLOOM_ROOT/tests/python/test_bloom.py"
}

@test "arrays of all kinds and layouts, and a Python without numpy" {
    needs numpy
    python3 -W error "$FFTBLOOM_ROOT/tests/python/test_arrays.py"
}

@test "what researchers do: layouts, gradients, convolve as scipy's, tensors of others" {
    needs numpy
    python3 -W error "$FFTBLOOM_ROOT/tests/python/test_learn.py"
}

@test "fields of kernels: grids, terms, transposes, files of PSFEx and STPSF" {
    needs numpy
    python3 "$FFTBLOOM_ROOT/tests/python/test_field.py" 2>&1 | tee said
    [ "${PIPESTATUS[0]}" -eq 0 ]
    left=$(grep -oE 'skipped=[0-9]+' said) || true
    [ -z "$left" ] || skip "astropy, psfex or source-extractor are not installed: $left"
}

@test "the types of the module, and of a file that uses it" {
    takes_long
    needs_program mypy
    cat > user.py <<'P'
import fftbloom as fb
k = fb.Kernel.make("gaussian", sigma=2.0, taps=33)
b = fb.Bloom(k, axes=(-2, -1), channel_axis=None, amount="50%")
shape: tuple[int, ...] = k.shape
out, report = b(memoryview(b""), report=True)
bound: float = report.error_bound
code: fb.Code = fb.Error("no").code
P
    mypy --strict --cache-dir "$PWD/types" --python-executable /usr/bin/python3 user.py "$FFTBLOOM_ROOT/python/fftbloom"
    # npm has pyright, and Debian has it not.
    command -v pyright || skip "mypy finds nothing; pyright is not installed"
    echo "{\"extraPaths\": [\"$FFTBLOOM_ROOT/python\"], \"typeCheckingMode\": \"strict\", \"include\": [\"user.py\"]}" >pyrightconfig.json
    pyright -p .
}

examples() { # NUMBER...: runs these examples; the words of the last one that is skipped are its reason
    run python3 -W error "$FFTBLOOM_ROOT/tests/python/examples.py" "$FFTBLOOM_ROOT/docs/python.md" "$@"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the page's examples: a frame, scipy, where transforms are wrong, torch, jax, a kernel found, cubes, threads, pairs, Richardson-Lucy, glare, astronomy, a field" {
    takes_long
    [ "$(python3 "$FFTBLOOM_ROOT/tests/python/examples.py" "$FFTBLOOM_ROOT/docs/python.md")" -eq 15 ]
    needs numpy
    examples 0 1 2 3 4 5 6 7 8 9 10 11 12 13
    [[ "$output" == *"off by at most "* ]]
    [ "$(ls pairs?.npz | wc -l)" -eq 3 ]
    grep -q "<svg" found.html
    left=$(grep -oE '[0-9]+: skipped, .*' <<<"$output") || true
    python3 -W error "$FFTBLOOM_ROOT/tests/python/examples.py" "$FFTBLOOM_ROOT/docs/deglare.md" 0
    [ -z "$left" ] || skip "$left"
}

@test "the page's example of EXR files" {
    takes_long
    needs_program oiiotool
    for i in 1 2 3; do image shot.$i.exr 60x40 half 0.1,0.2,0.3 $((i * 9)),9=50,40,30; done
    examples 14 # by OpenImageIO: what the program makes
    [[ "$output" != *skipped* ]] || skip "$output"
    for i in 1 2 3; do
        "$FFTBLOOM" shot.$i.exr -k mist-1 --kernel-scale 1 --amount 0.5 --device cpu -o want.exr
        oiiotool bloom.$i.exr want.exr --diff
    done
}

@test "the wheel: its record, its licences, the same bytes again; installed by pip, used elsewhere, removed" {
    takes_long
    needs_program dpkg-query dpkg-source
    export SOURCE_DATE_EPOCH=1700000000
    alone=$(realpath --relative-to="$FFTBLOOM_ROOT" "${FFTBLOOM%/*}")/alone
    in_tree() { make -s --no-print-directory -C "$FFTBLOOM_ROOT" BUILD="${alone%/*}" -o all "$@"; }
    in_tree "$alone/cJSON.c" || skip "the source of cJSON cannot be had"
    in_tree "$alone/libfftbloom.so.0"
    for to in one two; do "$FFTBLOOM_ROOT/python/make_wheel.py" "$FFTBLOOM_ROOT/$alone/libfftbloom.so.0" $to; sleep 1.1; done
    cmp one/*.whl two/*.whl
    unzip -q one/*.whl -d x
    # Its tag promises glibc 2.28. It loads the C library's alone.
    [[ "$(echo one/*.whl)" == *manylinux_2_28_x86_64.whl ]]
    needs_old_glibc_alone x/fftbloom/lib/libfftbloom.so.0
    [ "$(stat -c %s one/*.whl)" -le 5000000 ]
    run grep -rlaF "$FFTBLOOM_ROOT" x
    [ -z "$output" ]
    python3 - x <<'P'
import base64, csv, glob, hashlib, json, os, sys
os.chdir(sys.argv[1])
files = {os.path.relpath(os.path.join(d, f)) for d, _, names in os.walk(".") for f in names}
info = glob.glob("*.dist-info")[0]
with open(info + "/RECORD") as f:
    record = {name: (digest, size) for name, digest, size in csv.reader(f)}
assert set(record) == files
for name, (digest, size) in record.items():
    data = open(name, "rb").read()
    if name != info + "/RECORD":
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), name
        assert size == str(len(data)), name
sbom = json.load(open(info + "/sboms/fftbloom.spdx.json"))
ids = {p["SPDXID"] for p in sbom["packages"]}
assert sbom["spdxVersion"] == "SPDX-2.3" and len(ids) == len(sbom["packages"])
assert all({r["spdxElementId"], r["relatedSpdxElement"]} <= ids | {"SPDXRef-DOCUMENT"} for r in sbom["relationships"])
assert os.listdir("fftbloom/lib") == ["libfftbloom.so.0"] and "libcjson-dev" in {p["name"] for p in sbom["packages"]}
for p in sbom["packages"][1:]:
    assert "%s/licenses/%s.txt" % (info, p["name"]) in files, p["name"]
    assert "GPL" not in p["licenseDeclared"].replace("GPL-3.0-or-later WITH GCC-exception-3.1", "")
P
    python3 -c 'import ensurepip, venv' || skip "python3-venv is not installed"
    mkdir away
    unset PYTHONPATH LIBFFTBLOOM FFTBLOOM_ROOT
    python3 -m venv away/v
    away/v/bin/pip install -q --no-index --no-deps one/*.whl
    away/v/bin/pip check
    cd away
    run env -i HOME="$PWD" v/bin/python -W error -c '
import fftbloom as fb
image = memoryview(bytearray(40 * 30 * 4)).cast("f", (30, 40))
image[7, 9] = 5
out, report = fb.Bloom("sunstar", context=fb.Context(device="cpu"))(image, report=True)
assert report.kept and 0 < out[7, 9] < 5 and "/away/v/" in fb.__file__
try: fb.Kernel("sunstr")
except fb.Error as e: print(e)
print(*[line.split("/")[-1].strip() for line in open("/proc/self/maps") if ".so" in line and "/away/" not in line])'
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"did you mean 'sunstar'"* ]]
    [[ "$output" != *OpenEXR* && "$output" != *libvulkan.so* && "$output" != *libdeflate* && "$output" != *libstdc++* ]]
    v/bin/pip uninstall -q -y fftbloom
    [ -z "$(find v -name '*fftbloom*')" ]
}

@test "the package of the sources: the same bytes again; pip builds it with cc and make" {
    takes_long
    python3 -c 'import ensurepip, venv' || skip "python3-venv is not installed"
    export SOURCE_DATE_EPOCH=1700000000
    for to in one two; do "$FFTBLOOM_ROOT/python/make_wheel.py" sdist $to; sleep 1.1; done
    cmp one/*.tar.gz two/*.tar.gz
    tar xzf one/*.tar.gz
    # What is built already is newer than these sources: make looks whether each of the files is there, and compiles none.
    ln -s "${FFTBLOOM%/*}" "$(echo fftbloom-*)"/build
    python3 -m venv v
    v/bin/pip install -q --no-index ./fftbloom-*/
    cd v
    env -i bin/python -c 'import fftbloom as fb; assert "/v/" in fb.__file__ and fb.Kernel("sunstar").shape[2] == 3'
}
