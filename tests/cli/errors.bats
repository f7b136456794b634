# Errors before anything is convolved - arguments, kernels, .spectrum files, devices, places - have
# their sentences and exit codes. A file that can serve as a kernel is accepted.

load files

setup_file() {
    shared_folder || return 0
    make_images
    "$FFTBLOOM" precompute kernel.exr -o k.spectrum
}

@test "what people type: one sentence that names the cure" {
    cp in.exr ./-s.exr
    touch a.exr b.exr zz.0001.exr
    each refused <<'T'
64 | for 100 % write 1 | in.exr -k portrait -o out.exr --kernel-scale 100
64 | to add glare, write it apart with --emit additive | in.exr kernel.exr -o out.exr --amount 150%
64 | did you mean 50%? | in.exr kernel.exr -o out.exr --amount 50
64 | write acescg for the one that programs work in | in.exr kernel.exr -o out.exr --input-space ACES
66 | it has 'zz.0001.exr', '-s.exr', 'a.exr' and | zz.###.exr kernel.exr -o out.####.exr
64 | did you mean 'mirror'? | in.exr kernel.exr -o out.exr --padding miror
64 | film is near | in.exr kernel.exr -o out.png --view filmic
64 | --kernel is given twice: 'a.exr' and 'b.exr' | in.exr -k a.exr -k b.exr -o out.exr
64 | KERNEL is given twice: 'a.exr' by -k, and 'kernel.exr' | in.exr kernel.exr -k a.exr -o out.exr
64 | 'blooom' is neither a command nor a file | blooom in.exr kernel.exr -o out.exr
64 | stands behind the image: fftbloom IN portrait -o OUT | portrait
64 | stands behind the image: fftbloom in.exr portrait -o OUT | portrait in.exr
64 | stands behind the image: fftbloom in.exr portrait -o OUT | portrait in.exr out.exr
69 | give --device gpu, and if 'fftbloom devices' lists no gpu, install | in.exr kernel.exr -o out.exr --device cuda:0
69 | the devices are 0 ' | in.exr kernel.exr -o out.exr --device cuda
64 | write options before it | -- in.exr kernel.exr -o out.exr
64 | write ./-s.exr | -s.exr kernel.exr -o out.exr
64 | name another file or folder | in.exr kernel.exr -o .
64 | stands behind the image: fftbloom in.exr portrait -o out.exr | portrait in.exr -o out.exr
64 | '.' is a folder; name an image, or the frames in it: fftbloom './plate.####.exr' portrait -o | . portrait
64 | '.' is a folder; name an image, or the frames in it: fftbloom './plate.####.exr' portrait -o | . portrait -o out.exr
66 | kernel list --kernels '.' | in.exr . -o out.exr
T
    [ ! -e out.exr ]
    mkdir comp@1
    "$FFTBLOOM" in.exr kernel.exr -o comp@1/img@2x.exr
    [ -s comp@1/img@2x.exr ]
}

@test "a picture that was not decoded is warned of" {
    oiiotool --pattern fill:top=0,0.1,0.2:bottom=0.9,1,0.7 80x60 3 -d uint8 -o p.tif
    for type in half float; do
        oiiotool p.tif -d $type -o p.exr --eraseattrib ".*" -o q.exr --mulc 1.01 -o r.exr
        warns "" p.exr kernel.exr -o out.exr --input-space linear
        warns "the image has the values of an 8-bit picture" q.exr kernel.exr -o out.exr
        [[ "$stderr" == *"--input-space srgb"* ]]
        warns "" r.exr kernel.exr -o out.exr
    done
}

# tests/unit/test_psf.c has taps that are refused.
@test "kernels that have no colour, or no tap where their centre is said to be" {
    image normals.exr 9x7 float 0,0,0 names=N.x,N.y,N.z
    echo '{"version": 1, "kernel_center": [100, 3]}' >c.json
    each refused <<'T'
65 | no colour channels (R G B, or Y, or a single one), but 3 others: N.x, N.y, N.z | in.exr normals.exr -q -o out.exr
64 | x = 100 lies outside the kernel, whose taps are 0 to 8 | in.exr kernel.exr --config c.json -o out.exr
T
    [ ! -e out.exr ]
    # A kernel of several parts is the first one that has colour. A lone channel of data serves only
    # where no part has colour.
    image depth.exr 9x7 float 0 names=Z
    oiiotool normals.exr kernel.exr --siappend -o parts.exr depth.exr kernel.exr --siappend -o other.exr
    for k in kernel parts other; do "$FFTBLOOM" in.exr $k.exr -o $k.out.exr; done
    cmp kernel.out.exr parts.out.exr
    cmp kernel.out.exr other.out.exr
}

spectrum_with() { # FILE OFFSET NUMBER: k.spectrum with this 32-bit number there, checksum and all as it was
    python3 -c 'import struct, sys
d = bytearray(open("k.spectrum", "rb").read())
d[int(sys.argv[2]):int(sys.argv[2]) + 4] = struct.pack("<I", int(sys.argv[3]))
open(sys.argv[1], "wb").write(d)' "$@"
}

@test "precompute, and spectra that are cut short, newer, damaged, of other settings" {
    "$FFTBLOOM" precompute kernel.exr -o k2.spectrum
    "$FFTBLOOM" precompute kernel.exr -o k2.spectrum --json | holds - 'd["kernel"] == [9, 7] and d["cached"]'
    cmp k.spectrum k2.spectrum
    says 5 "" precompute kernel.exr -o k.spectrum --existing skip
    head -c 1000 k.spectrum >cut.spectrum
    spectrum_with new.spectrum 8 7
    spectrum_with bad.spectrum 400 1234
    each refused <<'T'
66 | none.exr | precompute none.exr -o k3.spectrum
64 | | precompute kernel.exr -o k3.spectrum --kernel-scale 0.5h
64 | precompute writes a .spectrum file, not 'x.exr' | precompute kernel.exr -o x.exr
65 | cut short: 1000 of its | in.exr cut.spectrum -o out.exr
65 | version 7 | in.exr new.spectrum -o out.exr
65 | checksum | in.exr bad.spectrum -o out.exr
64 | made with kernel_center middle, and peak is asked for | in.exr k.spectrum --kernel-center peak -o out.exr
64 | made with normalize luminance, and channel is asked for | in.exr k.spectrum --normalize channel -o out.exr
64 | correlate | in.exr k.spectrum --correlate -o out.exr
64 | kernel_scale 1, and 1h is asked for | in.exr k.spectrum --kernel-scale 1h -o out.exr
64 | kernel_scale 1, and 0.5h is asked for | in.exr k.spectrum --kernel-scale 0.5h -o out.exr
T
    [ -z "$(ls | grep -e out -e k3 -e ^x)" ]
}

@test "a spectrum in the kernel's place, and the second run from the cache: the same bytes" {
    cached() { # True or False, KERNEL OUT
        "$FFTBLOOM" in.exr "$2" -o "$3" --json | holds - "f['spectrum_cached'] == $1"
    }
    cached False kernel.exr a.exr
    cached True kernel.exr b.exr
    cached False k.spectrum c.exr
    # Known by its content, and by what was asked for.
    cp kernel.exr other.exr
    cached True other.exr d.exr
    "$FFTBLOOM" cache list | grep -q "$(ls cache/spectra | cut -c1-8)"
    # Broken on disk: made again, with a warning, and right.
    truncate -s 500 cache/spectra/*
    warns "warning: " in.exr kernel.exr -o e.exr
    for f in b c d e; do cmp a.exr $f.exr; done
    "$FFTBLOOM" cache verify
    says 0 "from the cache: $dir/cache" in.exr kernel.exr -o f.exr -v
    # --cache-size 0 neither reads nor writes.
    "$FFTBLOOM" in.exr kernel.exr -o g.exr --cache-dir none --cache-size 0
    [ ! -e none/spectra ]
    cmp a.exr g.exr
}

@test "places where nothing can be written, and images that are none, are named before any work" {
    mkfifo pipe
    mkdir folder
    : >empty.exr
    head -c "$(($(stat -c %s in.exr) - 100))" in.exr >cut.exr
    head -c 200 kernel.exr >bad.exr
    each refused <<'T'
74 | there is no folder 'no/such'; mkdir -p 'no/such' makes it | in.exr kernel.exr -o no/such/out.exr
74 | there is no folder 'no' | in.exr kernel.exr -o out.exr --report no/r.json
74 | there is no folder 'no' | precompute kernel.exr -o no/k.spectrum
74 | there is no folder but a file 'in.exr' | in.exr kernel.exr -o in.exr/out.exr
64 | cannot write 'o.jpg': unsupported extension; use .exr, .pfm or .png | in.exr kernel.exr -o o.jpg
64 | .hdr is read, but not written: write .exr, or .pfm | in.exr kernel.exr -o o.hdr
64 | standard output is exr:-, pfm:- or png:- | in.exr kernel.exr -o gbr:-
66 | not a regular file | pipe kernel.exr -o out.exr
64 | is a folder | folder kernel.exr -o out.exr
65 | empty.exr | empty.exr kernel.exr -o out.exr
65 | bad.exr | in.exr bad.exr -o out.exr --jobs 4
# The kernel is made ready while the image is read; the image's error comes first, and alone.
65 | cut.exr': incomplete file | cut.exr bad.exr -o out.exr --jobs 4
# A device that is missing is told once, though it is looked for twice.
69 | no device is '77' | in.exr kernel.exr -o out.exr --jobs 4 --device 77
T
    [ ! -e out.exr ]
    # Nothing was computed for any of them.
    [ -z "$(ls -A cache)" ]
    image twice.exr 40x30 half 0.2,0.4,0.6
    says 74 "" diff in.exr twice.exr -o no/d.exr
}

@test "formats that are not supported: what to do instead" {
    oiiotool in.exr -o "a b.jpg" -d float -o a.tif
    refused 65 "'a b.jpg' is a JPEG file, which is not supported; convert it" in.exr "a b.jpg" -o out.exr
    refused 65 "'a.tif' is a TIFF file" a.tif kernel.exr -o out.exr
    [[ "$stderr" == *"oiiotool 'a.tif' -o 'a.exr' (with --colorconvert sRGB linear if it is not linear)" ]]
    refused 65 "'a b.jpg' is a JPEG file" "a b.jpg" kernel.exr -o out.exr
    [ ! -e out.exr ]
    # The command that it names does it.
    eval "$(sed "s/.*for example: //" <<<"$stderr")"
    "$FFTBLOOM" "a b.exr" kernel.exr -o out.exr
}

@test "no such device: 69, what there is, and what to install" {
    export VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent
    each refused <<'T'
69 | mesa-vulkan-drivers | in.exr kernel.exr -o out.exr --device gpu
69 | no device is 'software' | in.exr kernel.exr -o out.exr --device software
69 | there is no Vulkan driver | in.exr kernel.exr -o out.exr --device 7
69 | there is no Vulkan driver | in.exr kernel.exr -o out.exr --device Nonesuch
T
    [ ! -e out.exr ]
}

@test "plan --json has every number of the plan, those of a GPU too; in words, too" {
    for d in cpu software; do
        has $d || continue
        "$FFTBLOOM" plan in.exr kernel.exr --json --device $d >$d.json
        "$FFTBLOOM" plan in.exr kernel.exr --device $d >$d.txt
        python3 - $d <<'P'
import json, sys
q = json.load(open(sys.argv[1] + ".json"))
p = q["plan"]
for key in ("image reach_before reach_after channels kernel_channels kernel_symmetric precision first lengths power_of_two_lengths cost "
            "channels_per_bind frames bytes passes").split():
    assert key in p, key
b = p["bytes"]
each = sum(b[k] for k in ("image", "input", "mask", "glare", "totals"))
assert b["all"] == p["frames"] * each + sum(b[k] for k in ("scratch", "tiled", "spectrum", "twiddle"))
if sys.argv[1] == "software":
    assert p["passes"] == ["forward", "convolve", "inverse"]
words = open(sys.argv[1] + ".txt").read()
def has(*parts):
    for part in parts:
        assert part in words, part
has("  lengths     %d %d\n" % tuple(p["lengths"]), "  first       %s\n" % p["first"], "  precision   %s\n" % p["precision"],
    "  channels    %d\n" % p["channels"], "  passes      %s\n" % " ".join(p["passes"]))
bytes = [l for l in words.splitlines() if l.startswith("  bytes       image")][0]
assert all((name in bytes) == (p["bytes"][name] > 0) for name in p["bytes"]), bytes
P
    done
    # It is that of the run, also where the window grows.
    for o in "--window grow --padding zero" "--window display --padding zero" ""; do
        "$FFTBLOOM" plan in.exr kernel.exr --device cpu $o --json >p.json
        "$FFTBLOOM" in.exr kernel.exr -o grown.exr --device cpu $o --report r.json
        holds r.json '(p := json.load(open("p.json"))["plan"])["image"] == f["plan"]["image"] and p["lengths"] == f["plan"]["lengths"]'
    done
}

@test "a coloured .spectrum does for a picture of luminance what its kernel does" {
    image y.exr 40x30 float 0.1 7,9=50 -- colour.exr 9x7 float 0.01,0.02,0.03 4,3=1,0.5,0.3
    "$FFTBLOOM" precompute colour.exr -o colour.spectrum
    "$FFTBLOOM" y.exr colour.exr -o a.exr --device cpu
    "$FFTBLOOM" y.exr colour.spectrum -o b.exr --device cpu
    "$FFTBLOOM" diff a.exr b.exr --fail 1e-6
    oiiotool a.exr --printstats | grep -E 'Stats Max: [1-9]'
    # And for alpha, which is spread as luminance is.
    image rgba.exr 40x30 float 0.1,0.2,0.3,0.5 7,9=9,8,7,1
    "$FFTBLOOM" rgba.exr colour.exr -o a.exr --device cpu --alpha convolve
    "$FFTBLOOM" rgba.exr colour.spectrum -o b.exr --device cpu --alpha convolve
    "$FFTBLOOM" diff a.exr b.exr --fail 1e-6
}

@test "a file that its owner has protected is not replaced, nor by root" {
    cp in.exr held.exr
    cp in.exr r.json
    chmod 444 held.exr r.json
    for way in "-o held.exr" "-o o.exr --emit-file held.exr" "-o o.exr --report r.json"; do
        refused 74 "is write-protected (mode 444) and not replaced; chmod u+w allows it" in.exr kernel.exr $way --device cpu
    done
    cmp held.exr in.exr
    cmp r.json in.exr
    says 5 "" in.exr kernel.exr -o held.exr --existing skip
    "$FFTBLOOM" in.exr kernel.exr -o made.exr --existing update --device cpu
    chmod 444 made.exr
    says 0 "up to date" in.exr kernel.exr -o made.exr --existing update --device cpu -v
    refused 74 "is write-protected" in.exr kernel.exr -o made.exr --existing update --device cpu --amount 0.5
    chmod 644 held.exr
    "$FFTBLOOM" in.exr kernel.exr -o held.exr --device cpu
    ! cmp -s held.exr in.exr || false
}

@test "too few descriptors are told as such" {
    for n in 5 6 8; do
        run bash -c 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n $1; shift; "$@"' - $n "$FFTBLOOM" in.exr kernel.exr -o few.exr --device cpu
        echo "$n: $status $output"
        [ "$status" -eq 0 ] || [[ "$status $output" == "75 "*"Too many open files"* ]]
        [[ "$output" != *"Permission denied"* ]]
    done
}

@test "luminance and chroma are refused, also where they are not subsampled" {
    image yc.exr 8x6 half 1,1,1 names=Y,RY,BY
    refused 65 "the channels Y RY BY are luminance and chroma" yc.exr kernel.exr -o o.exr
}

@test "a full disk: 74, and no half file" {
    command -v unshare >/dev/null && unshare -rm true 2>/dev/null || skip "no private mounts here"
    mkdir small
    run unshare -rm bash -c 'mount -t tmpfs -o size=8k none small && "$FFTBLOOM" in.exr kernel.exr \
        -o small/out.exr --compression none --pixel-type float; s=$?; ls -A small; exit $s'
    [ "$status" -eq 74 ]
    [[ "$output" == *"No space left"* ]]
    [[ "$output" != *.tmp* ]]
}

@test "colour only where stderr is a terminal, and not with NO_COLOR or a dumb one" {
    needs_program script
    script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "there is no pseudo-terminal"
    said() { env "$@" script -qec "'$FFTBLOOM' nope.exr kernel.exr -o out.exr" /dev/null </dev/null; }
    red=$'\033[1;31m'
    [[ "$(said TERM=xterm)" == *"$red"error:* ]]
    [[ "$(said TERM=xterm NO_COLOR=1)" == "fftbloom: error: "* ]]
    [[ "$(said TERM=dumb)" == "fftbloom: error: "* ]]
    run "$FFTBLOOM" nope.exr kernel.exr -o out.exr
    [[ "$output" == "fftbloom: error: "* ]]
}

@test "a standard output that closes early needs no message" {
    run bash -c '"$FFTBLOOM" help apply | head -n 1'
    [ "${#lines[@]}" -eq 1 ]
}

@test "whose fault it is does not depend on words in a sentence, nor on the names of files" {
    local said
    # Each name is a part of the sentence, or stands at its start.
    for name in e kernels 'kernel in.exr' in.exr; do
        [ -e "$name" ] || cp in.exr "$name"
        run "$FFTBLOOM" "$name" kernel.exr -o out.exr --device cpu --mask nope
        echo "$output"
        [ "$status" -eq 64 ]
        [[ "$output" == "fftbloom: error: $name: the mask 'nope' is neither"* ]]
    done
    # A write that fails is the output's, also where the name of the input is within its name.
    mkdir full
    for name in full/in.exr full/o.exr; do
        run bash -c 'trap "" XFSZ; ulimit -f 0; "$@"' - "$FFTBLOOM" in.exr kernel.exr -o $name --device cpu
        echo "$output"
        [ "$status" -eq 74 ]
        [[ "$output" =~ ^"fftbloom: error: cannot write "[0-9]+" bytes to '$name': File too large"$ ]]
    done
    # The kernel's fault stays the kernel's, whatever it is called.
    echo junk >e.exr
    run "$FFTBLOOM" e e.exr -o out.exr --device cpu
    [ "$output" = "fftbloom: error: kernel: 'e.exr' is not a recognised image format (.exr, .hdr, .pfm or .png)" ]
    # A report that cannot be made is told of once.
    run "$FFTBLOOM" in.exr kernel.exr -o out.exr --device cpu --report nowhere/r.json
    echo "$output"
    [ "$status" -eq 74 ]
    [ "$(grep -c "cannot create 'nowhere/r.json'" <<<"$output")" -eq 1 ]
}

@test "the name of an output is told where a layer is called like it" {
    local long
    long=o.exr$(printf 'x%.0s' {1..260})
    for name in o.exr q.exr; do
        run "$FFTBLOOM" in.exr kernel.exr -o $name --device cpu --emit-layer "$long"
        echo "$output"
        [ "$status" -ne 0 ]
        [[ "$output" == "fftbloom: error: "*"'$name': "*"the name of "* ]]
    done
}
