#!/usr/bin/env bats
# The Python module: tests/python, the examples of docs/python.md, and its packages.

# Debian's python3 has numpy; another python3 in front may not.
python=/usr/bin/python3

setup() {
    [ "${SAN:-0}" = 0 ] || skip "a plain Python cannot load a library with sanitizers"
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    export PYTHONPATH=$FFTBLOOM_ROOT/python:$FFTBLOOM_ROOT/tests/python PYTHONDONTWRITEBYTECODE=1
    export FFTBLOOM_LIBRARY=${FFTBLOOM%/*}/libfftbloom.so.0
}

needs() { # modules
    "$python" -c "import $1" || skip "not installed: $1"
}

@test "results, transposes, batches, threads and errors" {
    needs numpy
    "$python" -W error "$FFTBLOOM_ROOT/tests/python/test_bloom.py"
}

@test "arrays of all kinds and layouts, and a Python without numpy" {
    needs numpy
    "$python" -W error "$FFTBLOOM_ROOT/tests/python/test_arrays.py"
}
