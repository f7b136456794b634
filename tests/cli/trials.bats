# A few of the random attacks of tests/trials.py, with another seed each day; make trials runs more of them.

load files

setup() {
    own_folder
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's start takes longer than a trial"
    /usr/bin/python3 -c 'import numpy, OpenImageIO' 2>/dev/null || skip "python3-openimageio is missing"
    trials=$FFTBLOOM_ROOT/tests/trials.py seed=$(date +%j)
}

@test "files: light within the promise, data bit for bit, on the CPU" {
    /usr/bin/python3 "$trials" "$FFTBLOOM" files 10 "$seed" cpu
}
@test "files: the same on a device of Vulkan" {
    "$FFTBLOOM" devices | grep -q software || skip "no software device"
    takes_long
    /usr/bin/python3 "$trials" "$FFTBLOOM" files 3 "$seed" software
}
@test "stored: what is stored keeps the promise, in all codecs, or is called lossy" {
    /usr/bin/python3 "$trials" "$FFTBLOOM" stored 12 "$seed" cpu
}
@test "pieces: tiles are the whole image" {
    /usr/bin/python3 "$trials" "$FFTBLOOM" pieces 4 "$seed" cpu
}
@test "pairs: two settings of pixels in a config file, each run with an end" {
    /usr/bin/python3 "$trials" "$FFTBLOOM" pairs =$((10#$seed)) "$seed" cpu
    /usr/bin/python3 "$trials" "$FFTBLOOM" pairs =$((10#$seed + 30)) "$seed" cpu
}
@test "doubles: float64 with masks and thresholds in Python is within its bounds" {
    /usr/bin/python3 "$trials" "$FFTBLOOM" doubles 40 "$seed" cpu
}
@test "kills: outputs are whole or what they were" {
    /usr/bin/python3 "$trials" "$FFTBLOOM" kills 8 "$seed" cpu
}
@test "codecs: tiles of every edge, short memory, and damaged chunks of DWA" {
    "$FFTBLOOM" --version | grep -q 'openexr yes' || skip "built without OpenEXR"
    /usr/bin/python3 "$trials" "$FFTBLOOM" codecs 12 "$seed" cpu
}
@test "links of others in frames and cache open nothing" {
    [ -e "$(dirname "$FFTBLOOM")/tests/faults.so" ] || skip "no library to preload"
    /usr/bin/python3 "$FFTBLOOM_ROOT/tests/trials_guard.py" "$FFTBLOOM" links 10 "$seed"
}
@test "notes of a sequence are those of each frame alone" {
    /usr/bin/python3 "$FFTBLOOM_ROOT/tests/trials_guard.py" "$FFTBLOOM" notes 6 "$seed"
}
