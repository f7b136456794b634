# The effect of the options of light, layers and windows on the numbers in the file.

load files

setup_file() {
    shared_folder || return 0
    # Darkness but for one pixel of 8 at (10, 9), and a kernel of two taps: 3/4 in its middle, 1/4
    # three pixels to the right and one down.
    image in.exr 32x24 float 0,0,0 10,9=8,8,8 -- two.exr 9x9 float 0 4,4=3 7,5=1
    # A layer of data and one of light beside the picture, and alpha.
    image layers.exr 32x24 float 0,0,0,0.5,0,0,0,7 10,9=8,8,8,0.5,8,8,8,7 names=R,G,B,A,diffuse.R,diffuse.G,diffuse.B,Z
}

bloom() { "$FFTBLOOM" "$@" -o out.exr --device cpu; }

@test "convolution, and correlation turned by 180 degrees; sharpening blends with a point and keeps the sum" {
    makes "in.exr two.exr" "10 9=6 6 6" "13 10=2 2 2"
    makes "in.exr two.exr --correlate" "10 9=6 6 6" "7 8=2 2 2"
    makes "in.exr two.exr --amount 0.5" "10 9=7 7 7" "13 10=1 1 1"
}

@test "threshold spreads the excess, the knee softens its start, and energy is kept" {
    makes "in.exr two.exr --threshold 2" "10 9=6.5 6.5 6.5" "13 10=1.5 1.5 1.5"
    # Within the knee the excess is (v - t + knee)^2 / (4 knee): (8 - 7 + 3)^2 / 12 = 4 / 3.
    makes "in.exr two.exr --threshold 7 --knee 3 --report r.json" "10 9=7.66667 7.66667 7.66667" "13 10=0.33333 0.33333 0.33333"
    grep -q "a lens does not do this" r.json
    # A knee wider than the threshold spreads no more light than there is: black stays black.
    makes "in.exr two.exr --threshold 1 --knee 9 --verify 100" "10 9 R=6.22222" "13 10 R=1.77778" "0 0=0 0 0"
    # Below it nothing is spread.
    makes "in.exr two.exr --threshold 9" "10 9=8 8 8" "13 10=0 0 0"
}

@test "values deep below zero and a PNG picture without its lights are told once, with the cure" {
    oiiotool --pattern constant:color=0.2,0.2,0.2 100x100 3 --box:color=1000,1000,1000:fill=1 40,40,44,44 -d float -o room.exr
    for f in lanczos3 triangle; do oiiotool room.exr --resize:filter=$f 50x50 -d float -o $f.exr; done
    warns "66 values are below zero, down to -89.6 in channel 'R': they become black rings around lights; resize" \
        lanczos3.exr two.exr -o out.exr --report r.json
    holds r.json 'any("66 values are below zero" in n for n in f["notes"])'
    warns "" triangle.exr two.exr -o out.exr
    # All channels count, and a sequence has one note.
    oiiotool triangle.exr --ch R -o r.exr; oiiotool lanczos3.exr --ch B -o b.exr
    oiiotool r.exr b.exr --chappend --ch R,G=R,B -o s.1.exr
    cp s.1.exr s.2.exr
    warns "22 values are below zero, down to -89.6 in channel 'B'" 's.%d.exr' two.exr -o 'out.%d.exr'
    # Noise of both signs in darkness, and its rare end in grey, are nothing to speak of.
    for sigma in 0.002 0.01 0.04; do
        oiiotool --pattern constant:color=0.01,0.02,0.1 500x400 3 --noise:type=gaussian:mean=0:stddev=$sigma:seed=3 -d float -o noise.exr
        warns "" noise.exr two.exr -o out.exr
    done
    warns "" noise.exr two.exr -o out.exr --mem-limit 12MB
    # The same where rows are read, and not held.
    oiiotool lanczos3.exr --resize:filter=box 800x800 -d float -o large.exr
    says 0 "are below zero, down to -89.6" large.exr two.exr -o out.exr --mem-limit 12MB --device cpu -v
    [[ "$output" == *"in tiles"* || "$output" == *"from file to file"* ]]

    oiiotool room.exr -d uint8 -o clipped.png
    oiiotool room.exr --clamp:max=0.9 -d uint8 -o dull.png
    warns "lights above 1 are missing in this PNG picture" clipped.png two.exr -o out.exr --report r.json
    [[ "$stderr" == *"render or develop to EXR, or raise them (--highlights 4); --threshold does not bring the light back" ]]
    holds r.json 'any("lights above 1 are missing" in n for n in f["notes"])'
    warns "" dull.png two.exr -o out.exr
    # One white channel is a colour, and not a light.
    oiiotool clipped.png --mulc 1,1,0.5 -d uint8 -o yellow.png
    warns "" yellow.png two.exr -o out.exr
}

@test "highlights: what is cut off at the white of a PNG is raised before the bloom" {
    # Codes of 16 bits: white, a yellow lamp, 98 and 99 % of light, grey; a lamp that half covers its pixel.
    oiiotool --pattern constant:color=0,0,0 32x24 3 --point:color=1,1,1 10,9 --point:color=1,0.5,0.25 12,9 \
        --point:color=0.98,0.98,0.98 14,9 --point:color=0.99,0.99,0.99 16,9 --point:color=0.5,0.5,0.5 18,9 -d float -o light.exr
    oiiotool light.exr --colorconvert linear sRGB -d uint16 -o lamps.png
    "$FFTBLOOM" lamps.png two.exr -o plain.exr --amount 0 --device cpu --window display
    "$FFTBLOOM" lamps.png two.exr -o out.exr --amount 0 --highlights 2 --device cpu --window display
    # At 99 % it is half of the stops.
    oiiotool light.exr --point:color=4,4,4 10,9 --point:color=4,2,1 12,9 --point:color=1.98,1.98,1.98 16,9 -d float -o want.exr
    "$FFTBLOOM" diff want.exr out.exr -fail 0.004
    "$FFTBLOOM" diff light.exr plain.exr -fail 0.0001
    # The bloom, its promise and --verify are of what was made.
    "$FFTBLOOM" want.exr two.exr -o bloomed.exr --device cpu
    "$FFTBLOOM" lamps.png two.exr -o out.exr --highlights 2 --verify 200 --device cpu --report r.json
    "$FFTBLOOM" diff bloomed.exr out.exr -fail 0.004
    holds r.json 'd["settings"]["highlights"] == 2 and "lights within 2 % of white were raised by 2 stops before the bloom" in d["frames"][0]["notes"]'
    "$FFTBLOOM" lamps.png two.exr -o out.png --highlights 2 --device cpu
    # Covered by half, it is white all the same.
    oiiotool --pattern constant:color=0,0,0,0 32x24 4 --point:color=0.5,0.5,0.5,0.5 10,9 -d uint8 -o half.png
    "$FFTBLOOM" half.png two.exr -o out.exr --amount 0 --highlights 2 --device cpu --window display
    [ "$(pixel out.exr 10 9 R,A)" = "2.00784 0.50196" ]
    each refused <<'T'
64 | --highlights is for PNG pictures, which are cut off at white; this image has the light of its lamps | light.exr two.exr -o o.exr --highlights 2
64 | --highlights has no effect where glare is taken away | deglare lamps.png two.exr -o o.exr --highlights 2
64 | --highlights must be a number from 0 to 12, not '20' | lamps.png two.exr -o o.exr --highlights 20
T
}

@test "padding: what leaves on one side, and what comes in on the other" {
    image edge.exr 32x24 float 0,0,0 31,23=8,8,8 -- flat.exr 32x24 float 3,3,3
    makes "edge.exr two.exr --padding zero" "31 23=6 6 6" "2 0=0 0 0"
    makes "edge.exr two.exr --padding wrap" "2 0=2 2 2"
    makes "edge.exr two.exr --padding wrap,zero" "2 0=0 0 0"
    # A flat picture stays flat where its edge is repeated or mirrored.
    for p in clamp mirror; do
        bloom flat.exr two.exr --padding $p
        "$FFTBLOOM" diff flat.exr out.exr --fail 1e-5
    done
    # The border is mirrored unless light is to leave the image, for a larger window.
    makes "flat.exr two.exr" "0 0=3 3 3"
    makes "flat.exr two.exr --padding zero" "0 0=2.25 2.25 2.25"
    makes "flat.exr two.exr --window grow" "0 0=2.25 2.25 2.25"
}

@test "normalize: luminance keeps the kernel's colour, channel does not, none scales nothing" {
    image red.exr 5x5 float 0,0,0 2,2=4,2,1
    # Y = 0.21264 * 4 + 0.71517 * 2 + 0.07219 * 1 = 2.35309
    makes "in.exr red.exr" "10 9=13.5992 6.79958 3.39979"
    makes "in.exr red.exr --normalize channel" "10 9=8 8 8"
    makes "in.exr red.exr --normalize none" "10 9=32 16 8"
    makes "in.exr red.exr --normalize sum" "10 9=13.7143 6.85714 3.42857"
}

@test "kernel_center moves the picture, and a fraction of a pixel by the right fraction" {
    makes "in.exr two.exr --kernel-center 7,5" "10 9=2 2 2" "7 8=6 6 6"
    makes "in.exr two.exr --kernel-center peak" "10 9=6 6 6"
    # The centroid lies between taps, at (10.75, 10.25): the light's stays where it was.
    oiiotool --create 21x21 1 --chnames Y --point:color=3 10,10 --point:color=1 13,11 \
        --blur:kernel=gaussian 7x7 -d float -o soft.exr
    bloom in.exr soft.exr --kernel-center centroid --padding wrap
    oiiotool out.exr --ch R -o r.exr
    oiiotool --dumpdata r.exr | awk -F'[(,):]' '/Pixel/ { s += $5; x += $5 * $2; y += $5 * $3 }
        END { x /= s; y /= s; print x, y; exit !(x > 9.98 && x < 10.02 && y > 8.98 && y < 9.02) }'
}

@test "kernel_scale: twice the size reaches twice as far; in image heights a look holds from proxy to full size" {
    image box.exr 33x33 float 1,1,1 -- full.exr 64x48 float 0,0,0 20,18=8,8,8
    reach() { # PIXELS arguments...
        "$FFTBLOOM" plan "${@:2}" --device cpu --json | holds - "d['plan']['reach_after'][0] == $1"
    }
    reach 16 in.exr box.exr
    reach 8 in.exr box.exr --kernel-scale 0.5
    # Half the image's height: 24 / 2 = 12 pixels, 48 / 2 = 24.
    reach 6 in.exr box.exr --kernel-scale 0.5h
    reach 12 full.exr box.exr --kernel-scale 0.5h
    bloom full.exr box.exr --kernel-scale 0.5h
    # 8 spread over a square of about 24 x 24.
    pixel out.exr 20 18 R | awk '{ exit !($1 > 8 / 625 && $1 < 8 / 529) }'
    # A factor that may have been meant as a percentage is told, or is refused before it fills the memory.
    says 0 "--kernel-scale 20 makes the kernel 660 x 660, larger than the image; 20 % would be 0.2" \
        full.exr box.exr -o out.exr --kernel-scale 20
    says 64 "at most 16384 are possible; 600 %? that is 6" full.exr box.exr -o out.exr --kernel-scale 600
}

@test "kernel_turn: the same kernel as kernel rotate makes, in spectra too" {
    "$FFTBLOOM" kernel make streak --param lines=2,turn=10 --taps 33 -o line.exr -q
    "$FFTBLOOM" kernel rotate line.exr 30 -o turned.exr -q
    bloom in.exr turned.exr
    mv out.exr want.exr
    bloom in.exr line.exr --kernel-turn 30
    "$FFTBLOOM" diff out.exr want.exr --fail 1e-5
    bloom in.exr line.exr --kernel-turn -330 --report r.json
    "$FFTBLOOM" diff out.exr want.exr --fail 1e-5
    # Recipes; spectra, which keep their turn.
    bloom in.exr sunstar --kernel-turn 20 --kernel-scale 0.1
    "$FFTBLOOM" precompute line.exr -o line.spectrum --kernel-turn 30
    bloom in.exr line.spectrum --kernel-turn 30
    "$FFTBLOOM" diff out.exr want.exr --fail 1e-5
    says 64 "made with kernel_turn 30, and 0 is asked for" in.exr line.spectrum -o out.exr
}

@test "window: keep, grow by the kernel's reach, display" {
    box() { # WINDOW: that of out.exr
        "$FFTBLOOM" info out.exr --json | holds - "d['parts'][0]['data_window'] == [$1]"
    }
    bloom in.exr two.exr --window keep
    box "0, 0, 31, 23"
    makes "in.exr two.exr --window grow" "13 10=2 2 2"
    box "-4, -4, 35, 27"
    # The light that a cropped image throws into the rest of the display window.
    image crop.exr 8x8+8+8 float 0,0,0 10,9=8,8,8 full=32x24 -- far.exr 15x15 float 0 7,7=3 14,8=1
    makes "crop.exr far.exr --window display" "17 10=2 2 2"
    box "0, 0, 31, 23"
    bloom crop.exr far.exr
    box "8, 8, 15, 15"
}

@test "alpha: kept, or spread like the light" {
    image rgba.exr 32x24 float 0,0,0,0 10,9=8,8,8,1
    makes "rgba.exr two.exr --report kept.json" "10 9 A=1" "13 10 A=0"
    makes "rgba.exr two.exr --alpha convolve --report spread.json" "10 9 A=0.75" "13 10 A=0.25"
    # The report vouches for what was spread, and for nothing else.
    holds kept.json '[r["channel"] for r in f["ledger"]] == ["R", "G", "B"]'
    holds spread.json '[r["channel"] for r in f["ledger"]] == ["R", "G", "B", "A"] and f["ledger"][3]["in"] == 1'
}

@test "layers and exclude choose the light; data is never touched; globs that match nothing are refused" {
    makes "layers.exr two.exr" "10 9 R,A,Z,diffuse.R=6 0.5 7 6"
    makes "layers.exr two.exr --layers diffuse" "10 9 R,A,Z,diffuse.R=8 0.5 7 6"
    makes "layers.exr two.exr --exclude diff*" "10 9 R,A,Z,diffuse.R=6 0.5 7 8"
    # Named, data is light: 7 everywhere stays 7 where nothing is missing around it.
    makes "layers.exr two.exr --layers diffuse,Z" "10 9 R,A,Z,diffuse.R=8 0.5 7 6" "0 0 Z=7"
    rm out.exr
    cp layers.exr layers.exr.0001.exr
    each refused <<'T'
65 | no colour layer | layers.exr two.exr --exclude '*' -o out.exr
64 | no layer matches --layers 'specular'; this file has: rgba, Z, diffuse | layers.exr two.exr -o out.exr --layers diffuse,specular
64 | no layer matches --layers 'specular' | layers.exr two.exr -o out.exr --layers specular --amount 0
64 | no layer matches --layers 'specular' | info layers.exr --layers specular
64 | no layer matches --layers 'specular' | layers.exr.####.exr two.exr -o o.####.exr --layers specular
64 | no layer matches --exclude 'beuty' | plan layers.exr two.exr --exclude beuty
T
    [ -z "$(ls | grep ^o)" ]
    echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "layers.exr", "kernel": "two.exr", "layers": ["specular"]},
        "reference": "layers.exr"}]}' >suite.json
    run "$FFTBLOOM" check suite.json
    [ "$status" -ne 0 ]
    [[ "$output" == *"layers.exr"*"no layer matches --layers 'specular'"* ]]
}

@test "emit_layer: the glare alone, which is what left its place and came to rest" {
    # The report has what a pixel keeps, and says what is not promised of the layer.
    makes "in.exr two.exr --emit-layer glare --amount 0.5 --report r.json" "10 9 R=7" "13 10 R,glare.R=1 1"
    holds r.json '[(r["channel"], r["centre"]) for r in f["ledger"]] == [(c, 0.875) for c in "RGB"]' \
        'any("the tolerance holds for the image; layer" in n for n in f["notes"])'
    # A tint is of the glare alone: what stays in a pixel keeps its colour.
    makes "in.exr two.exr --tint 0,0.5,2 --emit-layer glare" "13 10 glare.R,glare.G,glare.B=0 1 4" "10 9 R,G,B=6 6 6"
    makes "in.exr two.exr --tint 2,2,2 --amount 0.5 --report r.json" "10 9 R=7" "13 10 R=2"
    holds r.json '[(r["channel"], r["centre"]) for r in f["ledger"]] == [(c, 0.875) for c in "RGB"]' \
        'all(r["gained"] > 0 and abs(r["gap"]) < 1e-6 for r in f["ledger"])'
    image grey.exr 32x24 float 0 10,9=8 names=Y
    makes "grey.exr two.exr --tint 0,1,0 --emit-layer glare" "13 10 glare.Y=1.43034"
    # A name that is taken is refused.
    run bloom layers.exr two.exr --emit-layer diffuse
    [ "$status" -ne 0 ]
    [[ "$output" == *diffuse* ]]
}

# FILE: the values of a pixel of a PNG picture, decoded.
value() {
    "$FFTBLOOM" "$1" two.exr -o value.exr --amount 0 --device cpu
    pixel value.exr 30 12
}
brighter() { # A B: in red
    awk -v a="$(value "$1")" -v b="$(value "$2")" 'BEGIN { exit !(a + 0 > b + 0) }'
}

@test "a PNG picture: one exposure for pictures to compare, opaque, and a word about what is left out" {
    image grey.exr 32x24 float 0.18,0.18,0.18
    oiiotool grey.exr --box:fill=1:color=50,50,50 0,0,15,23 -o hot.exr # on its left half
    for name in grey hot; do
        "$FFTBLOOM" $name.exr two.exr -o $name.png --amount 0 --exposure 0
        "$FFTBLOOM" $name.exr two.exr -o auto_$name.png --amount 0
    done
    [ "$(value grey.png)" = "$(value hot.png)" ]
    [ "$(value auto_grey.png)" != "$(value auto_hot.png)" ]
    says 64 "a number from -40 to 40 or auto" grey.exr two.exr -o grey.png --exposure bright
    says 64 "--exposure has no effect on an output that is not PNG" grey.exr two.exr -o out.exr --exposure 1
    # As a key of a config file; the number comes back as one.
    echo '{"version": 1, "exposure": -1.5}' >look.json
    "$FFTBLOOM" grey.exr two.exr -o b.png --config look.json
    "$FFTBLOOM" plan --print-config --config look.json | grep -q '^exposure  *-1.5 '
    "$FFTBLOOM" plan --print-config | grep -q '^exposure  *"auto"'
    # Alpha does not come into the picture, and what else is in the file is named.
    says 0 "4 channels are left out" layers.exr two.exr -o layers.png
    [ "$("$FFTBLOOM" info layers.png | grep -c '  colour')" = 3 ]
}

@test "a PNG with alpha makes an opaque picture, and is told of it" {
    oiiotool --pattern constant:color=0.5,0.5,0.5,0.5 32x24 4 -d uint16 -o in.png
    warns "the picture is opaque, over black, and has 8 bits: an .exr keeps the alpha and the depth of the input" in.png two.exr -o out.png --report r.json
    holds r.json '"the picture is opaque" in str(d["frames"][0]["notes"])'
    warns "" in.png two.exr -o out.exr
}

@test "a picture of a PNG image is as it was where nothing spreads, whatever brings it" {
    oiiotool --pattern fill:topleft=0.1,0.2,0.3:topright=0.7,0.9,0.1:bottomleft=0.3,0.1,0.8:bottomright=0.9,0.7,0.5 64x48 3 -d uint8 -o photo.png
    "$FFTBLOOM" photo.png two.exr -o same.png --amount 0 --before before.png
    "$FFTBLOOM" diff photo.png same.png
    "$FFTBLOOM" diff photo.png before.png
    "$FFTBLOOM" photo.png two.exr -o same.png --amount 0 --mem-limit 8MB
    "$FFTBLOOM" diff photo.png same.png
    cp photo.png photo.0001.png
    cp photo.png photo.0002.png
    "$FFTBLOOM" photo.####.png two.exr -o s.####.png --amount 0
    "$FFTBLOOM" diff photo.png s.0002.png
    "$FFTBLOOM" - two.exr -o png:- --amount 0 <photo.png >piped.png
    "$FFTBLOOM" diff photo.png piped.png
    # What is asked for is done.
    "$FFTBLOOM" photo.png two.exr -o more.png --amount 0 --exposure 3
    brighter more.png photo.png
}

@test "pictures of a sequence have the exposure of its first frame, in any order and in parts" {
    for i in 1 2 4 5 6; do image flash.000$i.exr 64x48 half 0.0$i,0.0$i,0.0$i; done
    image flash.0003.exr 64x48 half 9,9,9
    run --separate-stderr "$FFTBLOOM" flash.#.exr two.exr -o a.#.png --device cpu --padding mirror
    [[ "$status" -eq 0 && "$stderr" == *"all pictures have --exposure "*", which suits flash.0001.exr"* ]]
    [ "$(value a.0003.png)" = "1 1 1" ]
    brighter a.0006.png a.0005.png
    # The number that was told is that of every frame.
    stops=$(sed -n 's/.*--exposure \([-0-9.]*\),.*/\1/p' <<<"$stderr")
    "$FFTBLOOM" flash.#.exr two.exr -o b.#.png --device cpu --padding mirror --exposure "$stops" --frames 4-6
    cmp a.0005.png b.0005.png
    # A job for a farm has the number.
    run --separate-stderr "$FFTBLOOM" farm flash.#.exr two.exr -o c.#.png --to openjd --frames 1-6
    [[ "$status" -eq 0 && "$output" == *"--exposure=$stops"* ]]
    run --separate-stderr "$FFTBLOOM" farm none.#.exr two.exr -o c.#.png --to openjd --frames 1-6
    [[ "$status" -eq 64 && "$stderr" == *"give --exposure STOPS"* ]]
}
