#!/usr/bin/env bats
# The effect of the options of light, layers and windows on the numbers in the file.

load files

setup_file() {
    shared_folder || return 0
    # Darkness but for one pixel of 8 at (10, 9), and a kernel of two taps: 3/4 in its middle, 1/4
    # three pixels to the right and one down.
    oiiotool --create 32x24 3 --point:color=8,8,8 10,9 -d float -o in.exr
    oiiotool --create 9x9 1 --chnames Y --point:color=3 4,4 --point:color=1 7,5 -d float -o two.exr
    # A layer of data and one of light beside the picture, and alpha.
    oiiotool in.exr --ch R,G,B,A=0.5,diffuse.R=R,diffuse.G=G,diffuse.B=B,Z=7 -d float -o layers.exr
}

# FILE X Y [CHANNEL]: the values of a pixel, rounded to a millionth.
pixel() {
    local file=$1
    if [ -n "$4" ]; then
        file=channels.exr
        oiiotool "$1" --ch "$4" -o $file
    fi
    oiiotool --dumpdata "$file" | sed -n "s/^ *Pixel ($2, $3): *//p" |
        awk '{ for (i = 1; i <= NF; i++) printf "%s%.6g", (i > 1 ? " " : ""), int($i * 1e6 + 0.5) / 1e6 }'
}
bloom() { "$FFTBLOOM" "$@" -o out.exr --device cpu; }

@test "convolution, and correlation turned by 180 degrees" {
    bloom in.exr two.exr
    [ "$(pixel out.exr 10 9)" = "6 6 6" ]
    [ "$(pixel out.exr 13 10)" = "2 2 2" ]
    bloom in.exr two.exr --correlate
    [ "$(pixel out.exr 10 9)" = "6 6 6" ]
    [ "$(pixel out.exr 7 8)" = "2 2 2" ]
}

@test "sharpen blends with a point and keeps the sum" {
    bloom in.exr two.exr --amount 0.5
    [ "$(pixel out.exr 10 9)" = "7 7 7" ]
    [ "$(pixel out.exr 13 10)" = "1 1 1" ]
}

@test "threshold spreads the excess, the knee softens its start, and energy is kept" {
    bloom in.exr two.exr --threshold 2
    [ "$(pixel out.exr 10 9)" = "6.5 6.5 6.5" ]
    [ "$(pixel out.exr 13 10)" = "1.5 1.5 1.5" ]
    # Within the knee the excess is (v - t + knee)^2 / (4 knee): (8 - 7 + 3)^2 / 12 = 4 / 3.
    bloom in.exr two.exr --threshold 7 --knee 3 --report r.json
    [ "$(pixel out.exr 10 9)" = "7.66667 7.66667 7.66667" ]
    [ "$(pixel out.exr 13 10)" = "0.333333 0.333333 0.333333" ]
    grep -q "a lens does not do this" r.json
    # A knee wider than the threshold spreads no more light than there is: black stays black.
    bloom in.exr two.exr --threshold 1 --knee 9 --verify 100
    [ "$(pixel out.exr 10 9)$(pixel out.exr 13 10)$(pixel out.exr 0 0)" = "6.22222 6.22222 6.222221.77778 1.77778 1.777780 0 0" ]
    # Below it nothing is spread.
    bloom in.exr two.exr --threshold 9
    [ "$(pixel out.exr 10 9)$(pixel out.exr 13 10)" = "8 8 80 0 0" ]
}

@test "padding: what leaves on one side, and what comes in on the other" {
    oiiotool --create 32x24 3 --point:color=8,8,8 31,23 -d float -o edge.exr
    bloom edge.exr two.exr --padding zero
    [ "$(pixel out.exr 31 23)$(pixel out.exr 2 0)" = "6 6 60 0 0" ]
    bloom edge.exr two.exr --padding wrap
    [ "$(pixel out.exr 2 0)" = "2 2 2" ]
    bloom edge.exr two.exr --padding wrap,zero
    [ "$(pixel out.exr 2 0)" = "0 0 0" ]
    # A flat picture stays flat where its edge is repeated or mirrored.
    oiiotool --create 32x24 3 --fill:color=3,3,3 32x24 -d float -o flat.exr
    for p in clamp mirror; do
        bloom flat.exr two.exr --padding $p
        [ "$(oiiotool --stats out.exr | awk '/Stats Min/ { m = $3 } /Stats Max/ { print (m > 2.99999 && $3 < 3.00001) }')" = 1 ]
    done
    bloom flat.exr two.exr
    [ "$(pixel out.exr 0 0)" = "3 3 3" ]
    bloom flat.exr two.exr --padding zero
    [ "$(pixel out.exr 0 0)" = "2.25 2.25 2.25" ]
    # The border is mirrored unless light is to leave the image, for a larger window.
    bloom flat.exr two.exr --window grow
    [ "$(pixel out.exr 0 0)" = "2.25 2.25 2.25" ]
}

@test "normalize: luminance keeps the kernel's colour, channel does not, none scales nothing" {
    oiiotool --create 5x5 3 --point:color=4,2,1 2,2 -d float -o red.exr
    # Y = 0.2126 * 4 + 0.7152 * 2 + 0.0722 * 1 = 2.353
    bloom in.exr red.exr
    pixel out.exr 10 9 | awk '{ exit !($1 > 13.59 && $1 < 13.61 && $2 > 6.79 && $2 < 6.81 && $3 > 3.39 && $3 < 3.41) }'
    bloom in.exr red.exr --normalize channel
    [ "$(pixel out.exr 10 9)" = "8 8 8" ]
    bloom in.exr red.exr --normalize none
    [ "$(pixel out.exr 10 9)" = "32 16 8" ]
    bloom in.exr red.exr --normalize sum
    pixel out.exr 10 9 | awk '{ exit !($1 > 13.714 && $1 < 13.715 && $2 > 6.857 && $2 < 6.858) }'
}

@test "kernel_center moves the picture, and a fraction of a pixel by the right fraction" {
    bloom in.exr two.exr --kernel-center 7,5
    [ "$(pixel out.exr 10 9)$(pixel out.exr 7 8)" = "2 2 26 6 6" ]
    bloom in.exr two.exr --kernel-center peak
    [ "$(pixel out.exr 10 9)" = "6 6 6" ]
    # The centroid lies between taps, at (10.75, 10.25): the light's stays where it was.
    oiiotool --create 21x21 1 --chnames Y --point:color=3 10,10 --point:color=1 13,11 \
        --blur:kernel=gaussian 7x7 -d float -o soft.exr
    bloom in.exr soft.exr --kernel-center centroid --padding wrap
    oiiotool out.exr --ch R -o r.exr
    oiiotool --dumpdata r.exr | awk -F'[(,):]' '/Pixel/ { s += $5; x += $5 * $2; y += $5 * $3 }
        END { x /= s; y /= s; print x, y; exit !(x > 9.98 && x < 10.02 && y > 8.98 && y < 9.02) }'
}

@test "kernel_scale: twice the size reaches twice as far; in image heights a look holds from proxy to full size" {
    oiiotool --create 33x33 3 --fill:color=1,1,1 33x33 -d float -o box.exr
    reach() { "$FFTBLOOM" plan "$@" --device cpu --json | grep -oE '"reach_after": \[[0-9]+' | grep -oE '[0-9]+$'; }
    [ "$(reach in.exr box.exr)" = 16 ]
    [ "$(reach in.exr box.exr --kernel-scale 0.5)" = 8 ]
    # Half the image's height: 24 / 2 = 12 pixels, 48 / 2 = 24.
    oiiotool --create 64x48 3 --point:color=8,8,8 20,18 -d float -o full.exr
    [ "$(reach in.exr box.exr --kernel-scale 0.5h)" = 6 ]
    [ "$(reach full.exr box.exr --kernel-scale 0.5h)" = 12 ]
    bloom full.exr box.exr --kernel-scale 0.5h
    # 8 spread over a square of about 24 x 24.
    pixel out.exr 20 18 | awk '{ exit !($1 > 8 / 625 && $1 < 8 / 529) }'
    # A factor that may have been meant as a percentage is told, or is too much.
    run "$FFTBLOOM" full.exr box.exr -o out.exr --kernel-scale 20
    [[ "$status" -eq 0 && "$output" == *"--kernel-scale 20 makes the kernel 660 x 660, larger than the image; 20 % would be 0.2"* ]]
    # A percentage is refused before it fills the memory.
    run "$FFTBLOOM" full.exr box.exr -o out.exr --kernel-scale 600
    [[ "$status" -eq 64 && "$output" == *"at most 16384 are possible; 600 %? that is 6" ]]
}

@test "window: keep, grow by the kernel's reach, display" {
    box() { "$FFTBLOOM" info "$1" --json | grep -oE '"data_window": \[[^]]*' | cut -d'[' -f2; }
    bloom in.exr two.exr --window keep
    [ "$(box out.exr)" = "0, 0, 31, 23" ]
    bloom in.exr two.exr --window grow
    [ "$(box out.exr)" = "-4, -4, 35, 27" ]
    [ "$(pixel out.exr 13 10)" = "2 2 2" ]
    # The light that a cropped image throws into the rest of the display window.
    oiiotool in.exr --cut 8x8+8+8 --fullsize 32x24+0+0 --origin +8+8 -o crop.exr
    [ "$(box crop.exr)" = "8, 8, 15, 15" ]
    oiiotool --create 15x15 1 --chnames Y --point:color=3 7,7 --point:color=1 14,8 -d float -o far.exr
    bloom crop.exr far.exr --window display
    [ "$(box out.exr)" = "0, 0, 31, 23" ]
    [ "$(pixel out.exr 17 10)" = "2 2 2" ]
    bloom crop.exr far.exr
    [ "$(box out.exr)" = "8, 8, 15, 15" ]
}

@test "alpha: kept, or spread like the light" {
    oiiotool in.exr --ch R,G,B,A=0 --point:color=8,8,8,1 10,9 -d float -o rgba.exr
    bloom rgba.exr two.exr
    [ "$(pixel out.exr 10 9 A)$(pixel out.exr 13 10 A)" = "10" ]
    bloom rgba.exr two.exr --alpha convolve
    [ "$(pixel out.exr 10 9 A) $(pixel out.exr 13 10 A)" = "0.75 0.25" ]
    # The report vouches for what was spread, and for nothing else.
    rows() { bloom rgba.exr two.exr "$@" --json | python3 -c '
import json, sys
f = json.load(sys.stdin)["frames"][0]
print("".join(r["channel"] for r in f["ledger"]), *["%g" % r["in"] for r in f["ledger"] if r["channel"] == "A"])'; }
    [ "$(rows)" = RGB ]
    [ "$(rows --alpha convolve)" = "RGBA 1" ]
}

@test "layers and exclude choose the light; data is never touched" {
    got() { bloom layers.exr two.exr "$@"; pixel out.exr 10 9 R,A,Z,diffuse.R; }
    [ "$(got)" = "6 0.5 7 6" ]
    [ "$(got --layers diffuse)" = "8 0.5 7 6" ]
    [ "$(got --exclude 'diff*')" = "6 0.5 7 8" ]
    # Named, data is light: 7 everywhere stays 7 where nothing is missing around it.
    [ "$(got --layers 'diffuse,Z')" = "8 0.5 7 6" ]
    [ "$(pixel out.exr 0 0 Z)" = 7 ]
    run bloom layers.exr two.exr --exclude '*'
    [ "$status" -eq 65 ]
    [[ "$output" == *"no colour layer"* ]]
}

@test "globs that match nothing are refused with the layers that there are" {
    unmatched() { # command line
        refused 64 "" "$@"
        [[ "$stderr" == *"layers.exr"*"no layer matches --layers 'specular'; this file has: rgba, Z, diffuse"* ]]
    }
    unmatched layers.exr two.exr -o out.exr --layers 'diffuse,specular'
    unmatched layers.exr two.exr -o out.exr --layers specular --amount 0
    unmatched info layers.exr --layers specular
    cp layers.exr layers.exr.0001.exr
    unmatched 'layers.exr.####.exr' two.exr -o 'o.####.exr' --layers specular
    [ ! -e out.exr ]
    [ ! -e o.0001.exr ]
    refused 64 "no layer matches --exclude 'beuty'" plan layers.exr two.exr --exclude beuty
    echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "layers.exr", "kernel": "two.exr", "layers": ["specular"]},
        "reference": "layers.exr"}]}' >suite.json
    run --separate-stderr "$FFTBLOOM" check suite.json
    echo "$output $stderr"
    [ "$status" -ne 0 ]
    [[ "$output$stderr" == *"layers.exr"*"no layer matches --layers 'specular'"* ]]
}

@test "emit_layer: the glare alone, which is what left its place and came to rest" {
    bloom in.exr two.exr --emit-layer glare
    [ "$(pixel out.exr 13 10 glare.R,glare.G,glare.B)" = "2 2 2" ]
    [ "$(pixel out.exr 10 9 R)" = 6 ]
    # The report has what a pixel keeps, and says what is not promised of the layer.
    bloom in.exr two.exr --emit-layer glare --amount 0.5 --report r.json
    python3 -c '
import json
f = json.load(open("r.json"))["frames"][0]
assert [r["centre"] for r in f["ledger"]] == [0.875] * 3, f["ledger"]
assert [r["channel"] for r in f["ledger"]] == ["R", "G", "B"]
assert any("the tolerance holds for the image; layer" in n for n in f["notes"])'
    [ "$(pixel out.exr 10 9 R) $(pixel out.exr 13 10 R) $(pixel out.exr 13 10 glare.R)" = "7 1 1" ]
    # A name that is taken is refused.
    run bloom layers.exr two.exr --emit-layer diffuse
    [ "$status" -ne 0 ]
    [[ "$output" == *diffuse* ]]
}

@test "nan: refused with its place, zero, or the neighbours" {
    oiiotool --create 8x6 3 --fill:color=2,2,2 8x6 -d float -o flat.exr
    oiiotool --create 1x1 3 --fill:color=1,1,1 1x1 -d float -o dot.exr
    "$FFTBLOOM" flat.exr dot.exr -o flat.pfm
    # One sample of a PFM: rows from below, so (3, 2) is in row 3 of the file.
    head=$(head -n 3 flat.pfm | wc -c)
    printf '\000\000\300\177' | dd of=flat.pfm bs=1 seek=$((head + (3 * 8 + 3) * 12)) conv=notrunc status=none
    run bloom flat.pfm dot.exr
    [ "$status" -eq 6 ]
    [[ "$output" == *"R"*"3, 2"* ]]
    bloom flat.pfm dot.exr --nan zero
    [ "$(pixel out.exr 3 2)" = "0 2 2" ]
    bloom flat.pfm dot.exr --nan interpolate
    [ "$(pixel out.exr 3 2)" = "2 2 2" ]
}

@test "verify: kept, and broken with 7" {
    oiiotool --create 64x48 3 --noise:type=uniform:min=0:max=1 -d float -o noise.exr
    oiiotool --create 33x33 3 --fill:color=1,1,1 33x33 -d float -o box.exr
    bloom noise.exr box.exr --verify 20
    run bloom noise.exr box.exr --verify 20 --tolerance 1e-11 --precision float32
    [ "$status" -eq 7 ]
    [[ "$output" == *"by the definition"* ]]
}

@test "a wider window, float64 and sharpening on the software device: as on the CPU" {
    "$FFTBLOOM" devices | grep -q ' software ' || skip "no software device"
    oiiotool --create 60x40 3 --fill:color=0.1,0.2,0.3 60x40 --point:color=50,40,30 7,9 -d float -o soft.exr
    for how in "--window grow" "--precision float64" "--amount 0.7 --padding mirror"; do
        for device in cpu software; do
            "$FFTBLOOM" soft.exr "$FFTBLOOM_ROOT/testdata/kernel.exr" -o $device.exr --device $device $how
        done
        "$FFTBLOOM" diff cpu.exr software.exr --fail 1e-5
    done
}

@test "a PNG picture: one exposure for pictures to compare, opaque, and a word about what is left out" {
    oiiotool --create 32x24 3 --fill:color=0.18,0.18,0.18 32x24 -d float -o grey.exr
    oiiotool grey.exr --box:fill=1:color=50,50,50 0,0,15,23 -o hot.exr
    for name in grey hot; do
        "$FFTBLOOM" $name.exr two.exr -o $name.png --amount 0 --exposure 0
        "$FFTBLOOM" $name.exr two.exr -o auto_$name.png --amount 0
    done
    [ "$(pixel grey.png 30 12)" = "$(pixel hot.png 30 12)" ]
    [ "$(pixel auto_grey.png 30 12)" != "$(pixel auto_hot.png 30 12)" ]
    run "$FFTBLOOM" grey.exr two.exr -o grey.png --exposure bright
    [[ "$status" -eq 64 && "$output" == *"a number from -40 to 40 or auto"* ]]
    run "$FFTBLOOM" grey.exr two.exr -o out.exr --exposure 1
    [[ "$status" -eq 64 && "$output" == *"--exposure has no effect on an output that is not PNG"* ]]
    # As a key of a config file; the number comes back as one.
    echo '{"version": 1, "exposure": -1.5}' >look.json
    "$FFTBLOOM" grey.exr two.exr -o b.png --config look.json
    "$FFTBLOOM" --print-config --config look.json | grep -q '^exposure  *-1.5 '
    "$FFTBLOOM" --print-config | grep -q '^exposure  *"auto"'
    # Alpha does not come into the picture, and what else is in the file is named.
    run "$FFTBLOOM" layers.exr two.exr -o layers.png
    [[ "$status" -eq 0 && "$output" == *"4 channels are left out"* ]]
    oiiotool --info layers.png | grep -q '3 channel'
}

# FILE: the mean of a PNG picture, 0 to 255.
brightness() { oiiotool --stats "$1" | awk '/Stats Avg/ { print int($3 * ($3 <= 1 ? 255 : 1) + 0.5) }'; }

@test "a picture of a PNG image is as it was where nothing spreads, whatever brings it" {
    oiiotool --pattern fill:topleft=0.1,0.2,0.3:topright=0.7,0.9,0.1:bottomleft=0.3,0.1,0.8:bottomright=0.9,0.7,0.5 64x48 3 -d uint8 -o photo.png
    "$FFTBLOOM" photo.png two.exr -o same.png --amount 0 --before before.png
    oiiotool --diff photo.png same.png
    oiiotool --diff photo.png before.png
    "$FFTBLOOM" photo.png two.exr -o same.png --amount 0 --mem-limit 8MB
    oiiotool --diff photo.png same.png
    cp photo.png photo.0001.png
    cp photo.png photo.0002.png
    "$FFTBLOOM" photo.####.png two.exr -o s.####.png --amount 0
    oiiotool --diff photo.png s.0002.png
    "$FFTBLOOM" - two.exr -o png:- --amount 0 <photo.png >piped.png
    oiiotool --diff photo.png piped.png
    # What is asked for is done.
    "$FFTBLOOM" photo.png two.exr -o more.png --amount 0 --exposure 3
    [ "$(brightness more.png)" -gt "$(brightness photo.png)" ]
}

@test "pictures of a sequence have the exposure of its first frame, in any order and in parts" {
    for i in 1 2 3 4 5 6; do
        oiiotool --create 64x48 3 --fill:color=0.0$i,0.0$i,0.0$i 64x48 -d half -o flash.000$i.exr
    done
    oiiotool --create 64x48 3 --fill:color=9,9,9 64x48 -d half -o flash.0003.exr
    run --separate-stderr "$FFTBLOOM" flash.#.exr two.exr -o a.#.png --device cpu --padding mirror
    [[ "$status" -eq 0 && "$stderr" == *"all pictures have --exposure "*", which suits flash.0001.exr"* ]]
    [ "$(brightness a.0003.png)" -gt 250 ]
    [ "$(brightness a.0006.png)" -gt "$(brightness a.0005.png)" ]
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
