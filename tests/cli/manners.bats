#!/usr/bin/env bats
# The manners of a batch tool that other files do not try: where outputs cannot go, memory, colour,
# the shared cache, and statuses that are rare.

load files

setup_file() {
    shared_folder || return 0
    make_images
}

@test "a folder that is not there: 74, named, before any work" {
    refused 74 "there is no folder 'no/such'" in.exr kernel.exr -o no/such/out.exr
    refused 74 "there is no folder 'no'" in.exr kernel.exr -o out.exr --report no/r.json
    [ ! -e out.exr ]
    refused 74 "there is no folder 'no'" precompute kernel.exr -o no/k.spectrum
    refused 74 "there is no folder but a file 'in.exr'" in.exr kernel.exr -o in.exr/out.exr
    refused 74 "use .exr, .hdr, .pfm, .png or .npy" in.exr kernel.exr -o out.tif
    # Nothing was computed for any of them.
    [ -z "$(ls -A cache)" ]
    oiiotool in.exr --mulc 2 -o twice.exr
    says 74 "" diff in.exr twice.exr -o no/d.exr
}

@test "--mem-limit: 75 with both numbers, from flag, variable and file; enough is enough" {
    oiiotool --create 640x480 3 --fill:color=0.1,0.2,0.3 640x480 -d float -o in.exr
    refused 75 "640 x 480 pixels do not fit into the memory, nor do the smallest tiles" in.exr kernel.exr -o out.exr --mem-limit 2MB
    [ ! -e out.exr ]
    refused 75 "of the limit of 3.0 MB; raise --mem-limit" in.exr kernel.exr -o out.png --mem-limit 3MB
    FFTBLOOM_MEM_LIMIT=3MB refused 75 "3.0 MB" in.exr kernel.exr -o out.png
    echo '{"version": 1, "mem_limit": "3MB"}' >c.json
    refused 75 "3.0 MB" in.exr kernel.exr -o out.png --config c.json
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --mem-limit 1GB
}

@test "a full disk: 75, and no half file" {
    command -v unshare >/dev/null && unshare -rm true 2>/dev/null || skip "no private mounts here"
    mkdir small
    run unshare -rm bash -c 'mount -t tmpfs -o size=8k none small && "$FFTBLOOM" in.exr kernel.exr \
        -o small/out.exr --compression none --pixel-type float; s=$?; ls -A small; exit $s'
    [ "$status" -eq 75 ]
    [[ "$output" == *"No space left"* ]]
    [[ "$output" != *.tmp* ]]
}

@test "colour only where stderr is a terminal, and not with NO_COLOR or a dumb one" {
    command -v script >/dev/null || skip "script is not installed"
    script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "there is no pseudo-terminal"
    said() { env "$@" script -qec "'$FFTBLOOM' nope.exr kernel.exr -o out.exr" /dev/null </dev/null; }
    red=$'\033[1;31m'
    [[ "$(said TERM=xterm)" == *"$red"error:* ]]
    [[ "$(said TERM=xterm NO_COLOR=1)" == "fftbloom: error: "* ]]
    [[ "$(said TERM=dumb)" == "fftbloom: error: "* ]]
    run "$FFTBLOOM" nope.exr kernel.exr -o out.exr
    [[ "$output" == "fftbloom: error: "* ]]
}

@test "the cache: a read-only tier is read, never written; a broken entry is made again" {
    "$FFTBLOOM" precompute kernel.exr -o k.spectrum --cache-dir "$dir/shared"
    entry=$(basename "$dir"/shared/spectra/*.spectrum)
    chmod -R a-w shared
    FFTBLOOM_CACHE_RO=$dir/shared run "$FFTBLOOM" in.exr kernel.exr -o a.exr --kernel-scale 1 -v --spectrum resampled
    [[ "$output" == *"from the cache: $dir/shared"* ]]
    [ "$(ls shared/spectra)" = "$entry" ]
    # Without it: made, kept in the own tier, and found there the next time.
    "$FFTBLOOM" in.exr kernel.exr -o b.exr
    cmp a.exr b.exr
    printf x | dd of="$(ls cache/spectra/*)" bs=1 seek=200 conv=notrunc status=none
    says 0 "broken entry" in.exr kernel.exr -o b.exr
    cmp a.exr b.exr
    "$FFTBLOOM" cache verify
    # --cache-size 0 neither reads nor writes.
    "$FFTBLOOM" in.exr kernel.exr -o b.exr --cache-dir "$dir/none" --cache-size 0
    [ ! -e none/spectra ]
    cmp a.exr b.exr
}

@test "an image that is a pipe, a folder or nothing: 66; garbage: 65" {
    mkfifo pipe
    refused 66 "not a regular file" pipe kernel.exr -o out.exr
    mkdir folder
    refused 66 "folder" folder kernel.exr -o out.exr
    : >empty.exr
    refused 65 "empty.exr" empty.exr kernel.exr -o out.exr
    head -c 300 in.exr >cut.exr
    refused 65 "cut.exr" cut.exr kernel.exr -o out.exr
    [ ! -e out.exr ]
}

@test "a standard output that closes early needs no message" {
    run bash -c '"$FFTBLOOM" help apply | head -n 1'
    [ "${#lines[@]}" -eq 1 ]
}
