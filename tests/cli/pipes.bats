#!/usr/bin/env bats
# Images through standard input and output.

load files

setup_file() {
    shared_folder || return 0
    image in.exr 32x24 float 0,0,0 10,9=8,8,8 -- two.exr 9x9 float 0 4,4=3 7,5=1
    "$FFTBLOOM" in.exr two.exr -o in.pfm --amount 0 --device cpu
    # Three frames of raw planes, 4 x 2: green, blue and red.
    python3 - <<'P'
import struct
with open("in.raw", "wb") as f:
    for frame in range(3):
        for plane in range(3):
            f.write(struct.pack("<8f", *[100 * frame + 10 * plane + i for i in range(8)]))
P
}

bloom() { "$FFTBLOOM" "$@" --device cpu; }

@test "an image through standard input, output, or both is that of files" {
    bloom in.exr two.exr -o out.exr
    bloom in.exr two.exr -o - >a.exr
    bloom - two.exr -o - <in.exr >b.exr
    bloom - two.exr -o c.exr <in.exr
    for f in a b c; do cmp $f.exr out.exr; done
    bloom in.exr two.exr -o png:- | head -c 4 | tail -c 3 | grep -q PNG
    "$FFTBLOOM" kernel make star --taps 32 -o exr:- >k.exr
    "$FFTBLOOM" info k.exr | grep -q "32 x 32"
    # PFM images one after the other, into files, and of a sequence of files.
    bloom in.pfm two.exr -o out.pfm
    bloom in.exr two.exr -o pfm:- | cmp - out.pfm
    cat in.pfm in.pfm in.pfm | bloom - two.exr -o - | cmp - <(cat out.pfm out.pfm out.pfm)
    cat in.pfm in.pfm | bloom - two.exr -o o.@@.pfm --frames 8
    cmp o.08.pfm out.pfm
    cmp o.09.pfm out.pfm
    for i in 1 2; do cp in.exr s.$i.exr; done
    bloom s.@.exr two.exr -o pfm:- | cmp - <(cat out.pfm out.pfm)
}

@test "raw planes: their order, many frames, alpha and grey" {
    same() { # INPUT arguments...: that comes out again
        bloom - two.exr -o - --amount 0 "${@:2}" <$1 | cmp - $1
    }
    head -c 64 in.raw >short.raw
    same in.raw --raw 4x2x3:gbr
    same short.raw --raw 2x2x4:gbr
    same short.raw --raw 4x4x1
    # The second frame's first pixel: red is the third plane; without an order it is the first.
    bloom - two.exr -o o.@.exr --raw 4x2x3:gbr --amount 0 <in.raw
    bloom - two.exr -o p.@.exr --raw 4x2x3 --amount 0 <in.raw
    [ "$(pixel o.2.exr 0 0)" = "120 100 110" ]
    [ "$(pixel p.2.exr 0 0)" = "100 110 120" ]
    bloom o.@.exr two.exr -o gbr:- --amount 0 | cmp - in.raw
    bloom p.@.exr two.exr -o raw:- --amount 0 | cmp - in.raw
    # The same numbers as from a file.
    bloom - two.exr -o - --raw 4x2x3:gbr <in.raw >bloomed.raw
    bloom o.@.exr two.exr -o gbr:- | cmp - bloomed.raw
    # What gbr cannot hold is said once, not for each frame.
    for i in 1 2; do image z.$i.exr 4x2 float 1,2,3,4 names=R,G,B,Z; done
    bloom z.@.exr two.exr -o gbr:- 2>said | head -c 4 >/dev/null
    [ "$(grep -c "gbr cannot hold these channels, which are left out: Z" said)" -eq 1 ]
}

@test "video in, bloomed video out" {
    needs_program ffmpeg
    ffmpeg -v error -f lavfi -i "color=black:size=96x64:rate=10" -vf "drawbox=x=40+10*0:y=30:w=4:h=4:color=white:t=fill" \
        -frames:v 6 -c:v ffv1 -pix_fmt yuv444p v.mkv
    ffmpeg -v error -i v.mkv -f rawvideo -pix_fmt gbrpf32le - |
        bloom - "$FFTBLOOM_ROOT/testdata/kernel.exr" -o - --raw 96x64x3:gbr --input-space gamma24 --output-space input |
        ffmpeg -v error -f rawvideo -pix_fmt gbrpf32le -s 96x64 -r 10 -i - -c:v ffv1 -pix_fmt yuv444p out.mkv
    [ "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 out.mkv)" = 6 ]
    # The last frame has glare beside the white box, and none at its corner; the box is darker.
    for f in v out; do ffmpeg -v error -i $f.mkv -f rawvideo -pix_fmt gray - | tail -c 6144 >$f.gray; done
    byte() { od -An -tu1 -j $(($3 * 96 + $2)) -N 1 $1.gray | tr -d ' '; }
    [ "$(byte v 46 32)" -eq 0 ]
    [ "$(byte out 46 32)" -gt 5 ]
    [ "$(byte out 42 32)" -lt "$(byte v 42 32)" ]
    [ "$(byte out 42 32)" -gt 100 ]
}

@test "streams that end early, are empty, no images, too large or too many, and readers that go away" {
    while IFS='|' read -r code words bytes line; do
        run --separate-stderr bash -c "$line >got"
        echo "$line: $status $stderr"
        [ "$status" -eq "$code" ]
        [[ "$stderr" == *"$words"* ]]
        [ "$(stat -c %s got)" -eq "$bytes" ]
    done <<'T'
65|ends within image 2: 4 of 96 bytes are there; is the size of --raw right?|96|head -c 100 in.raw | "$FFTBLOOM" - two.exr -o - --raw 4x2x3:gbr --device cpu
65|has 288 bytes, which is no whole number of images: one of --raw 5x3x3:gbr has 180 bytes, so there would be 1.60|0|"$FFTBLOOM" - two.exr -o - --raw 5x3x3:gbr --device cpu <in.raw
66|error: standard input is empty|0|"$FFTBLOOM" - two.exr -o - --device cpu </dev/null
65|standard input, image 1' is not a recognised image format|0|echo hello | "$FFTBLOOM" - two.exr -o - --device cpu
65|ends within image 1|0|head -c 1000 in.pfm | "$FFTBLOOM" - two.exr -o - --device cpu
65|PFM image 1 of standard input is damaged|0|printf "PF\nx y\n-1\n" | "$FFTBLOOM" - two.exr -o - --device cpu
64|standard input has more than one image|0|cat in.pfm in.pfm | "$FFTBLOOM" - two.exr -o one.pfm --device cpu
65|'standard input, image 1' is not a recognised image format|0|head -c 40000000 /dev/zero | "$FFTBLOOM" - two.exr -o out.exr -q --mem-limit 20MB
75|51.5 GB are needed for an image of standard input|0|printf "PF\n65536 65536\n-1.0\n" | "$FFTBLOOM" - two.exr -o out.exr -q --mem-limit 20MB
T
    run --separate-stderr bash -c 'for i in 1 2 3 4; do cat in.raw; done | "$FFTBLOOM" - two.exr -o - --raw 4x2x3:gbr --device cpu | true; exit ${PIPESTATUS[1]}'
    [ "$status" -eq 0 ] || [ "$status" -eq 74 ]
}

@test "options that speak of files are refused" {
    for r in 4x2 4x2x2 0x2x3 4x2x3x 99999x1x3; do
        refused 64 "expected WIDTHxHEIGHTxCHANNELS" - two.exr -o - --raw $r
    done
    each says <<'T'
64 | has no effect | in.exr two.exr -o - --json
64 | has no effect | - two.exr -o out.exr --existing update
64 | has no effect | - two.exr -o - --report r.json
64 | has no effect | in.exr two.exr -o exr:- --emit-file g.exr
64 | has no effect | in.exr two.exr -o out.exr --raw 4x2x3
64 | a plan needs a file | plan - two.exr
74 | cannot write 'foo:-': standard output is exr:-, pfm:-, hdr:-, raw:-, gbr:-, npy:- or png:- | in.exr two.exr -o foo:-
T
}

@test "streams count under the limit of memory, in tiles, too" {
    oiiotool --pattern noise:type=uniform:min=0.1:max=1 1200x800 3 -d float --compression none -o large.exr
    says 75 "are needed for standard input; " - two.exr -o out.exr -q --device cpu --mem-limit 8MB <large.exr
    [[ "$output" == *" of the limit of 8.0 MB are in use"* ]]
    "$FFTBLOOM" large.exr two.exr -o tiles.exr -q --device cpu --mem-limit 26MB --report r.json
    "$FFTBLOOM" - two.exr -o out.exr -q --device cpu --mem-limit 26MB <large.exr
    "$FFTBLOOM" diff tiles.exr out.exr --failrelative 1e-5
}
