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
    bloom in.exr two.exr -o out.pfm
    bloom in.exr two.exr -o pfm:- | cmp - out.pfm
    bloom in.exr two.exr -o png:- | head -c 4 | tail -c 3 | grep -q PNG
}

@test "PFM images one after the other, and into files" {
    bloom in.pfm two.exr -o out.pfm
    cat in.pfm in.pfm in.pfm | bloom - two.exr -o - | cmp - <(cat out.pfm out.pfm out.pfm)
    cat in.pfm in.pfm | bloom - two.exr -o o.@@.pfm --frames 8
    cmp o.08.pfm out.pfm
    cmp o.09.pfm out.pfm
    run --separate-stderr bash -c 'cat in.pfm in.pfm | "$FFTBLOOM" - two.exr -o one.pfm --device cpu'
    [ "$status" -eq 64 ]
    [[ "$stderr" == *"more than one image"*"frame pattern"* ]]
    # A sequence of files.
    for i in 1 2; do cp in.exr s.$i.exr; done
    bloom s.@.exr two.exr -o pfm:- | cmp - <(cat out.pfm out.pfm)
}

@test "raw planes: their order, many frames, alpha and grey" {
    bloom - two.exr -o - --raw 4x2x3:gbr --amount 0 <in.raw | cmp - in.raw
    bloom - two.exr -o o.@.exr --raw 4x2x3:gbr --amount 0 <in.raw
    # The second frame's first pixel: red is the third plane.
    [ "$(oiiotool --dumpdata o.2.exr | sed -n 's/^ *Pixel (0, 0): //p')" = "120.000000000 100.000000000 110.000000000" ]
    bloom o.@.exr two.exr -o gbr:- --amount 0 | cmp - in.raw
    head -c 64 in.raw >short.raw
    bloom - two.exr -o - --raw 2x2x4:gbr --amount 0 <short.raw | cmp - short.raw
    bloom - two.exr -o - --raw 4x4x1 --amount 0 <short.raw | cmp - short.raw
    # The same numbers as from a file.
    bloom - two.exr -o - --raw 4x2x3:gbr <in.raw >bloomed.raw
    bloom o.@.exr two.exr -o gbr:- | cmp - bloomed.raw
    # Without an order the first plane is red.
    bloom - two.exr -o p.@.exr --raw 4x2x3 --amount 0 <in.raw
    [ "$(oiiotool --dumpdata p.2.exr | sed -n 's/^ *Pixel (0, 0): //p')" = "100.000000000 110.000000000 120.000000000" ]
    bloom p.@.exr two.exr -o raw:- --amount 0 | cmp - in.raw
    # What gbr cannot hold is said once, not for each frame.
    for f in o.*.exr; do oiiotool "$f" --ch R,G,B,Z=1 -d float -o "z${f#o}"; done
    bloom z.@.exr two.exr -o gbr:- 2>said | cmp - bloomed.raw
    [ "$(grep -c "gbr cannot hold these channels, which are left out: Z" said)" -eq 1 ]
    run bloom o.1.exr two.exr -o foo:-
    [ "$status" -eq 74 ]
    [[ "$output" == *"cannot write 'foo:-': standard output is exr:-, pfm:-, hdr:-, raw:-, gbr:-, npy:- or png:-"* ]]
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

@test "streams that end early, are empty or no images, and readers that go away" {
    whole() { # status, words, bytes that were written
        run --separate-stderr bash -c "$4 >got"
        echo "$status $stderr"
        [ "$status" -eq "$1" ]
        [[ "$stderr" == *"$2"* ]]
        [ "$(stat -c %s got)" -eq "$3" ]
    }
    whole 65 "ends within image 2: 4 of 96 bytes are there; is the size of --raw right?" 96 'head -c 100 in.raw | "$FFTBLOOM" - two.exr -o - --raw 4x2x3:gbr --device cpu'
    # A file says how long it is: no picture of the wrong size is made.
    whole 65 "has 288 bytes, which is no whole number of images: one of --raw 5x3x3:gbr has 180 bytes, so there would be 1.60" 0 '"$FFTBLOOM" - two.exr -o - --raw 5x3x3:gbr --device cpu <in.raw'
    whole 66 "error: standard input is empty" 0 '"$FFTBLOOM" - two.exr -o - --device cpu </dev/null'
    whole 65 "standard input, image 1' is not a recognised image format" 0 'echo hello | "$FFTBLOOM" - two.exr -o - --device cpu'
    whole 65 "ends within image 1" 0 'head -c 1000 in.pfm | "$FFTBLOOM" - two.exr -o - --device cpu'
    whole 65 "PFM image 1 of standard input is damaged" 0 'printf "PF\nx y\n-1\n" | "$FFTBLOOM" - two.exr -o - --device cpu'
    run --separate-stderr bash -c 'for i in 1 2 3 4; do cat in.raw; done | "$FFTBLOOM" - two.exr -o - --raw 4x2x3:gbr --device cpu | true; exit ${PIPESTATUS[1]}'
    [ "$status" -eq 0 ] || [ "$status" -eq 74 ]
}

@test "options that speak of files are refused" {
    refused() {
        says 64 "has no effect" "$@"
    }
    refused in.exr two.exr -o - --json
    refused - two.exr -o out.exr --existing update
    refused - two.exr -o - --report r.json
    refused in.exr two.exr -o exr:- --emit-file g.exr
    refused in.exr two.exr -o out.exr --raw 4x2x3
    says 64 "a plan needs a file" plan - two.exr
    for r in 4x2 4x2x2 0x2x3 4x2x3x 99999x1x3; do
        says 64 "expected WIDTHxHEIGHTxCHANNELS" - two.exr -o - --raw $r
    done
    # A kernel goes to standard output, too.
    "$FFTBLOOM" kernel make star --taps 32 -o exr:- >k.exr
    "$FFTBLOOM" info k.exr | grep -q "32 x 32"
}

@test "streams count under the limit of memory, and an input is looked at before it is copied" {
    run --separate-stderr bash -c 'head -c 40000000 /dev/zero | "$FFTBLOOM" - two.exr -o out.exr -q --mem-limit 20MB'
    [ "$status" -eq 65 ]
    [[ "$stderr" == *"'standard input, image 1' is not a recognised image format"* ]]
    run --separate-stderr bash -c 'printf "PF\n65536 65536\n-1.0\n" | "$FFTBLOOM" - two.exr -o out.exr -q --mem-limit 20MB'
    [ "$status" -eq 75 ]
    [[ "$stderr" == *"51.5 GB are needed for an image of standard input"* ]]
    oiiotool --pattern noise:type=uniform:min=0.1:max=1 1200x800 3 -d float --compression none -o large.exr
    run --separate-stderr bash -c '"$FFTBLOOM" - two.exr -o out.exr -q --device cpu --mem-limit 8MB <large.exr'
    [ "$status" -eq 75 ]
    [[ "$stderr" == *"are needed for standard input; "*" of the limit of 8.0 MB are in use"* ]]
    "$FFTBLOOM" large.exr two.exr -o tiles.exr -q --device cpu --mem-limit 26MB --report r.json
    run --separate-stderr bash -c '"$FFTBLOOM" - two.exr -o out.exr -q --device cpu --mem-limit 26MB <large.exr'
    [ "$status" -eq 0 ]
    "$FFTBLOOM" diff tiles.exr out.exr --failrelative 1e-5
}
