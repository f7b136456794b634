# Shared by all bats files: `load files`.
bats_require_minimum_version 1.5.0

# Debian's: another one in front may lack modules, and take half a second to start.
python3() { /usr/bin/python3 "$@"; }

# For setup_file: makes a folder for the files that the tests of a bats file share, and goes there.
# Where oiiotool is missing it fails, and own_folder skips all tests.
shared_folder() {
    command -v oiiotool >/dev/null || { export NOT_HERE="oiiotool is not installed"; return 1; }
    export FILES=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$FILES"
}

# For setup: a folder for one test, with a copy of the shared files and a cache of its own.
own_folder() {
    [ -z "$NOT_HERE" ] || skip "$NOT_HERE"
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    [ -z "$FILES" ] || cp -r "$FILES"/. .
    export FFTBLOOM_CACHE_DIR=$dir/cache
}

# Where a bats file says nothing else.
setup() {
    own_folder
}

# Small EXR files, and the values of a pixel: image.py says what they take.
image() { python3 "$FFTBLOOM_ROOT/tests/cli/image.py" make "$@"; }
pixel() { python3 "$FFTBLOOM_ROOT/tests/cli/image.py" pixel "$@"; }

# The image that is made of these arguments, out.exr, has these values; on the CPU where they name no device.
makes() { # ARGUMENTS 'X Y [CHANNELS]=VALUES'...
    echo "$1"
    "$FFTBLOOM" --device cpu $1 -o out.exr
    [ $# -eq 1 ] || python3 "$FFTBLOOM_ROOT/tests/cli/image.py" check out.exr "${@:2}"
}

# A dark image with one bright pixel, and a small kernel.
make_images() { # [KERNEL], kernel.exr where it is not said
    image in.exr 40x30 half 0.1,0.2,0.3 7,9=50,40,30 -- "${1:-kernel.exr}" 9x7 float 0.01,0.01,0.02 4,3=1,1,1
}

has() { # CLASS: whether this machine has such a device
    [ -e "$TEST_TMP/devices" ] || "$FFTBLOOM" devices >"$TEST_TMP/devices" 2>/dev/null || true
    grep -q "^[0-9]* *$1 " "$TEST_TMP/devices"
}
needs() { # CLASS
    has "$1" || skip "this machine has no $1 device"
}
needs_program() { # NAME...
    local p
    for p in "$@"; do command -v "$p" >/dev/null || skip "$p is not installed"; done
}
has_openexr() { "$FFTBLOOM" --version | grep -q 'openexr yes'; }
needs_openexr() { # for PXR24, B44 and DWA
    has_openexr || skip "built without OpenEXR"
}
takes_long() { # make test LONG=1, and tests/long.txt
    [ "$LONG" ] || skip "it takes long: make test LONG=1"
}
needs_faults() { # $faults is the library to preload
    [ ! "$SAN" = 1 ] || skip "the sanitizers' allocator cannot be preloaded"
    faults=$(dirname "$FFTBLOOM")/tests/faults.so
}

# Runs the program, and leaves out of $stderr the lines that tell of progress every few seconds: a slow
# machine has some.
run_told() { # arguments...
    run --separate-stderr "$FFTBLOOM" "$@"
    stderr=$(grep -vE '^fftbloom: ([0-9]+ of [0-9]+ done, |.*: [0-9]+ s, and not done yet$)' <<<"$stderr") || true
}

# The program ends with this status and one sentence on stderr that has these words, and prints
# nothing else.
refused() { # STATUS WORDS arguments...
    local code=$1 words=$2
    shift 2
    run_told "$@"
    echo "$* -> $status $stderr"
    [ "$status" -eq "$code" ]
    [[ "$stderr" == "fftbloom: error: "*"$words"* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [ -z "$output" ]
}

# The program ends with this status, and what it prints has these words; $output has all of it.
says() { # STATUS WORDS arguments...
    local code=$1 words=$2
    shift 2
    run "$FFTBLOOM" "$@"
    echo "$* -> $status $output"
    [ "$status" -eq "$code" ]
    [[ "$output" == *"$words"* ]]
}

# The program ends with 0, and says nothing but one sentence on stderr that has these words; or,
# without words, nothing at all.
warns() { # WORDS arguments...
    local words=$1
    shift
    run_told "$@"
    echo "$* -> $status $stderr"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$(grep -c . <<<"$stderr")" -eq "$([ -z "$words" ] && echo 0 || echo 1)" ]
    [[ "$stderr" == *"$words"* ]]
}

# A library that `make alone` or `make ofx` has made loads where glibc is 2.28, and what each glibc rounds in its own
# way decides no byte of it.
needs_old_glibc_alone() { # LIBRARY
    readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\.so\..*\]/\1/p' | sort | tr '\n' ' ' >"$TEST_TMP/needed"
    [ "$(cat "$TEST_TMP/needed")" = "ld-linux-x86-64 libc libdl libgcc_s libm libpthread " ] || { cat "$TEST_TMP/needed"; false; }
    # Loaders before 2.30 look for a symbol in the library that it was linked with.
    readelf -VW "$1" | grep -q 'File: libdl\.so\.2 ' && readelf -VW "$1" | grep -q 'File: libpthread\.so\.0 '
    run bash -c "objdump -T '$1' | grep -E 'GLIBC_(2\.(29|[3-9][0-9])|[3-9])|GLIBCXX| (exp|log|pow|sin|cos|tan)[0-9a-z]*$'"
    echo "$output"
    [ "$status" -eq 1 ]
}

# Calls a check such as refused for each row of standard input: STATUS | WORDS | arguments as a
# shell reads them. A row that begins with # is a comment.
each() { # CHECK
    local code words line
    while IFS='|' read -r code words line; do
        [[ $code != "#"* ]] || continue
        words=${words# }
        eval "\$1 \$code \"\${words% }\" $line" </dev/null
    done
}

# Conditions that a JSON file keeps: d is what it holds, f the first frame of a report. - is
# standard input.
holds() { # FILE CONDITION...
    python3 -c '
import json, sys
d = json.load(sys.stdin if sys.argv[1] == "-" else open(sys.argv[1]))
f = d["frames"][0] if isinstance(d, dict) and isinstance(d.get("frames"), list) and d["frames"] else None
for c in sys.argv[2:]:
    if not eval(c): sys.exit("not so: %s\n%s" % (c, json.dumps(d, indent=1)))' "$@"
}
