# How large images may be: what the windows of a file may ask for, and what memory decides.

load files

setup() {
    cd "$(mktemp -d "$TEST_TMP/XXXXXX")"
    corpus=$FFTBLOOM_ROOT/testdata/corpus/image
    kernel=$FFTBLOOM_ROOT/testdata/star.exr
}

@test "windows that are farther apart than 32 bits, or of 4 billion pixels" {
    export BATS_TEST_TIMEOUT=60
    each refused <<'T'
65 | has 4294967296 x 1 pixels; a side may have 1 to 65536 | $corpus/far_windows.exr $kernel -o out.exr --window display
65 | has 4294967296 x 1 pixels; a side may have 1 to 65536 | plan $corpus/far_windows.exr $kernel --window display
65 | the display window (-2147483648,0)-(2147483647,0) has 4294967296 x 1 pixels | $corpus/far_display.exr $kernel -o out.exr --window display
65 | 65536 x 65536 pixels are too many for a picture, which has 2^30 at the most | $corpus/wide_display.exr $kernel -o out.png --window display --mem-limit 2GB
T
    [ -z "$(ls)" ]
    says 0 "tiles       image 65536 65536, count " plan "$corpus/wide_display.exr" "$kernel" --window display --mem-limit 2GB --device cpu
}

# A header and a table for 16384 x 32768 pixels, whose chunks hold nothing that can be decoded.
huge() { # FILE
    python3 - "$1" <<'END'
import struct, sys
def attr(name, kind, data): return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<I", len(data)) + data
channel = lambda name: name + b"\0" + struct.pack("<4I", 1, 0, 1, 1)
box = struct.pack("<4i", 0, 0, 16383, 32767)
head = struct.pack("<2I", 20000630, 2)
head += attr("channels", "chlist", channel(b"B") + channel(b"G") + channel(b"R") + b"\0")
head += attr("compression", "compression", b"\3") + attr("dataWindow", "box2i", box) + attr("displayWindow", "box2i", box)
head += attr("lineOrder", "lineOrder", b"\0") + attr("pixelAspectRatio", "float", struct.pack("<f", 1))
head += attr("screenWindowCenter", "v2f", struct.pack("<2f", 0, 0)) + attr("screenWindowWidth", "float", struct.pack("<f", 1)) + b"\0"
at = len(head) + 2048 * 8
open(sys.argv[1], "wb").write(head + b"".join(struct.pack("<Q", at + 9 * i) for i in range(2048))
                              + b"".join(struct.pack("<iIB", 16 * i, 1, 0) for i in range(2048)))
END
}

@test "memory decides, not the number of samples; files that claim more than their length holds are damaged" {
    huge huge.exr
    [[ "$("$FFTBLOOM" info huge.exr)" == *"width       16384"*"height      32768"* ]]
    head -c 20000 huge.exr >cut.exr
    head -c 10000 huge.exr >table.exr
    printf '#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 60000 +X 60000\n\2\2\1\1' >huge.hdr
    printf 'PF\n60000 60000\n-1.0\n1234' >huge.pfm
    printf 'Pf\n65536 65536\n-1.0\n' >big.pfm # its pixels would be missing
    local o="$kernel -o out.exr --mem-limit"
    # Where tiles fit, the pixels are read. A kernel that is too large is refused by its header.
    each refused <<'T'
75 | 16384 x 32768 pixels do not fit into the memory, nor do the smallest tiles of a kernel of | huge.exr $o 20MB
65 | the chunk of zip that starts at pixel (0, 0): the deflated data is damaged | huge.exr $o 1GB
65 | incomplete file: chunk | cut.exr $o 1GB
65 | incomplete file: the table of 2048 chunks | table.exr $o 1GB
65 | the file is cut off: 4 bytes do not hold 60000 scan lines | huge.hdr $o 1GB
65 | the file is cut off: its samples need 43200000000 bytes | huge.pfm $o 1GB
65 | a side must have 1 to 32768 | kernel check big.pfm
65 | a side must have 1 to 32768 | "$FFTBLOOM_ROOT/testdata/small.exr" big.pfm -o out.exr
T
    [ ! -e out.exr ]
}

@test "every command that reads pixels takes --mem-limit" {
    "$FFTBLOOM" kernel make gaussian --taps 1000 -o k.exr
    echo '{"version": 1, "cases": [{"name": "a", "config": {"kernel": "'"$kernel"'", "input": "k.exr"}, "reference": "k.exr"}]}' >s.json
    for words in "kernel check k.exr" "kernel show k.exr -o k.svg" "diff k.exr k.exr" "check s.json --device cpu"; do
        says 75 "--mem-limit" $words --mem-limit 1M
    done
    "$FFTBLOOM" info k.exr --mem-limit 1M
}

@test "a stack that is too small is enlarged, or refused with the size it needs" {
    image in.exr 40x30 half 0.1,0.2,0.3 7,9=50,40,30
    "$FFTBLOOM" in.exr "$kernel" -o want.exr --device cpu
    run -0 --separate-stderr bash -c 'ulimit -Ss 64; "$@"' - "$FFTBLOOM" in.exr "$kernel" -o out.exr --device cpu
    cmp out.exr want.exr
    # Root may pass the hard limit. Where the stack starts in its page differs from run to run.
    for kb in 64 32 {1..20}; do
        [ "${SAN:-0}" = 0 ] || ((kb > 20)) || continue # a sanitizer's own calls need more
        ((kb > 20)) || kb=16
        run --separate-stderr env -i FFTBLOOM_CACHE_DIR="$PWD/cache" bash -c "ulimit -s $kb; exec \"\$@\"" - "$FFTBLOOM" in.exr "$kernel" -o out.exr --device cpu
        echo "$kb: $status $stderr"
        [ "$status" -eq 0 ] || [[ "$status $stderr" == "64 "*"may have $kb KB here, and fftbloom needs 512 KB"*"ulimit -s 512"* ]]
    done
}
