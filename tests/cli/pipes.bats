# Images through standard input and output.

load files

setup_file() {
    shared_folder || return 0
    image in.exr 32x24 float 0,0,0 10,9=8,8,8 -- two.exr 9x9 float 0 4,4=3 7,5=1
    "$FFTBLOOM" in.exr two.exr -o in.pfm --amount 0 --device cpu
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
    "$FFTBLOOM" info k.exr --json | holds - '(d["parts"][0]["width"], d["parts"][0]["height"]) == (32, 32)'
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

@test "messages and stamps call the images of a pipe by their number, and pictures share the first one's exposure" {
    cat in.exr in.exr >twice.exr
    says 0 "which suits standard input, image 1" - two.exr -o o.@.png --device cpu <twice.exr
    [ -s o.2.png ]
    says 0 "standard input, image 2 -> o.2.exr" - two.exr -o o.@.exr --device cpu --stamp -v <twice.exr
    [[ "$stderr" != */proc/self/fd* ]]
    "$FFTBLOOM" info o.2.exr | grep -F "standard input, image 2"
}

@test "EXR images in a row: an image ends where its last chunk ends" {
    needs_program oiiotool
    oiiotool --pattern noise 40x30 3 -d half --compression piz -o a.exr --pattern noise 50x20 4 --tile 16 16 -d float -o b.exr \
        --pattern noise 33x44 3 -d half --compression zip --attrib oiio:subimagename x -o x.exr --pattern noise 20x60 3 --fullsize 33x44+0+0 \
        --attrib oiio:subimagename y -o y.exr
    oiiotool x.exr y.exr --siappend -o c.exr
    oiiotool --pattern noise 64x32 3 -d half -otex:fileformatname=openexr d.exr
    for f in a b c d; do bloom $f.exr two.exr -o $f.out.exr; done
    bloom in.exr two.exr -o in.out.exr
    cat a.exr b.exr c.exr d.exr in.exr | bloom - two.exr -o o.@.exr
    i=0
    for f in a b c d in; do i=$((i + 1)); cmp o.$i.exr $f.out.exr; done
    # From standard output to standard input, and with PFM between.
    cat a.exr in.pfm c.exr in.exr | bloom - two.exr -o - | bloom - two.exr -o p.@.exr --amount 0 2>said
    [ "$(ls p.*.exr | wc -l)" -eq 4 ]
    "$FFTBLOOM" diff p.3.exr c.out.exr
    # The next image is taken while the pipe stays open.
    mkfifo in.pipe
    (cat in.exr; cat in.exr; until [ -s q.2.exr ]; do sleep 0.1; done; echo more) >in.pipe &
    run --separate-stderr timeout 60 "$FFTBLOOM" - two.exr -o q.@.exr --device cpu <in.pipe
    wait
    [ "$status" -eq 65 ]
    [[ "$stderr" == *"standard input, image 3' is not a recognised image format"* ]]
    cmp q.2.exr in.out.exr
}

@test "bytes behind a single image are told" {
    cat in.exr in.exr >twice.exr
    cat in.pfm <(echo x) >more.pfm
    bloom in.exr two.exr -o a.png
    cat a.png a.png >twice.png
    printf '#?RADIANCE\n\n-Y 1 +X 2\nabcdabcdxyz' >more.hdr
    warns "'twice.exr' has $(stat -c %s in.exr) bytes behind the image, which are left out" twice.exr two.exr -o o.exr --device cpu
    warns "'more.pfm' has 2 bytes behind" more.pfm two.exr -o o.pfm --device cpu
    says 0 "'twice.png' has $(stat -c %s a.png) bytes behind" twice.png two.exr -o o.png --device cpu
    says 0 "'more.hdr' has 3 bytes behind" info more.hdr
    says 0 "'standard input, image 1' has $(stat -c %s a.png) bytes behind" - two.exr -o o.exr --device cpu <twice.png
    warns "" in.exr two.exr -o o.exr --device cpu
}

@test "video in, bloomed video out" {
    needs_program ffmpeg
    ffmpeg -v error -f lavfi -i "color=black:size=96x64:rate=10" -vf "drawbox=x=40+10*0:y=30:w=4:h=4:color=white:t=fill" \
        -frames:v 6 -c:v ffv1 -pix_fmt yuv444p v.mkv
    ffmpeg -v error -i v.mkv -vf format=gbrpf32le -c:v pfm -f image2pipe - |
        bloom - "$FFTBLOOM_ROOT/testdata/kernel.exr" -o - --input-space gamma24 --output-space input |
        ffmpeg -v error -framerate 10 -f pfm_pipe -i - -c:v ffv1 -pix_fmt yuv444p out.mkv
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
65|image 2': the input ends within it: 88 of |9230|(cat in.pfm; head -c 88 in.pfm) | "$FFTBLOOM" - two.exr -o - --device cpu
65|image 1': the input ends within it: |0|head -c -1 in.exr | "$FFTBLOOM" - two.exr -o - --device cpu
65|image 1': the input ends within it: 300 of |0|head -c 300 in.exr | "$FFTBLOOM" - two.exr -o - --device cpu
65|image 1': the name of an attribute at byte 8 has no end|0|(head -c 8 in.exr; yes) | "$FFTBLOOM" - two.exr -o - --device cpu
66|error: standard input is empty|0|"$FFTBLOOM" - two.exr -o - --device cpu </dev/null
65|standard input, image 1' is not a recognised image format|0|echo hello | "$FFTBLOOM" - two.exr -o - --device cpu
65|image 1': the input ends within it|0|head -c 1000 in.pfm | "$FFTBLOOM" - two.exr -o - --device cpu
65|standard input, image 1': the header of the PFM file is damaged|0|printf "PF\nx y\n-1\n" | "$FFTBLOOM" - two.exr -o - --device cpu
64|standard input has more than one image|0|cat in.pfm in.pfm | "$FFTBLOOM" - two.exr -o one.pfm --device cpu
65|'standard input, image 1' is not a recognised image format|0|head -c 40000000 /dev/zero | "$FFTBLOOM" - two.exr -o out.exr -q --mem-limit 20MB
75|51.5 GB are needed for an image of standard input|0|printf "PF\n65536 65536\n-1.0\n" | "$FFTBLOOM" - two.exr -o out.exr -q --mem-limit 20MB
T
    run --separate-stderr bash -c 'for i in 1 2 3 4; do cat in.pfm; done | "$FFTBLOOM" - two.exr -o - --device cpu | true; exit ${PIPESTATUS[1]}'
    [ "$status" -eq 0 ] || [ "$status" -eq 74 ]
}

@test "only the image of standard input is called so, not a kernel whose number begins like its own" {
    echo junk >junk.exr
    for n in {3..12}; do eval "exec ${n}0<junk.exr"; done
    for n in {3..12}; do
        run "$FFTBLOOM" - /proc/self/fd/${n}0 -o out.exr --device cpu <in.exr
        echo "$output"
        [ "$status" -eq 65 ]
        [[ "$output" == *"kernel: '/proc/self/fd/${n}0' is not a recognised"* ]]
    done
    for n in {3..12}; do eval "exec ${n}0<&-"; done
}

@test "options that speak of files are refused" {
    each says <<'T'
64 | has no effect | in.exr two.exr -o - --json
64 | has no effect | - two.exr -o out.exr --existing update
64 | has no effect | - two.exr -o - --report r.json
64 | has no effect | in.exr two.exr -o exr:- --emit-file g.exr
64 | a plan needs a file | plan - two.exr
64 | cannot write 'foo:-': standard output is exr:-, pfm:- or png:- | in.exr two.exr -o foo:-
T
}

@test "streams count under the limit of memory, in tiles, too" {
    oiiotool --pattern noise:type=uniform:min=0.1:max=1 1200x800 3 -d float --compression none -o large.exr
    says 75 "are needed for an image of standard input; " - two.exr -o out.exr -q --device cpu --mem-limit 8MB <large.exr
    [[ "$output" == *" of the limit of 8.0 MB are in use"* ]]
    "$FFTBLOOM" large.exr two.exr -o tiles.exr -q --device cpu --mem-limit 26MB --report r.json
    "$FFTBLOOM" - two.exr -o out.exr -q --device cpu --mem-limit 26MB <large.exr
    "$FFTBLOOM" diff tiles.exr out.exr --failrelative 1e-5
}
