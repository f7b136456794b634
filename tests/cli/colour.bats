#!/usr/bin/env bats
# What images and kernels say of their colours, and what is made of it.

load files

AP1=0.713,0.293,0.165,0.830,0.128,0.044,0.32168,0.33767
REC709=0.64,0.33,0.3,0.6,0.15,0.06,0.3127,0.329

setup_file() {
    shared_folder || return 0
    oiiotool --create 32x24 3 --point:color=8,8,8 10,9 -d float -o in.exr
    oiiotool --create 5x5 3 --point:color=4,2,1 2,2 -d float -o k.exr
    oiiotool --create 1x1 1 --chnames Y --fill:color=1 1x1 -d float -o point.exr
    oiiotool in.exr --attrib:type="float[8]" chromaticities $AP1 -o ap1.exr
    oiiotool k.exr --attrib:type="float[8]" chromaticities $REC709 -o k709.exr
    oiiotool --create 8x8 4 --chnames R,G,B,A --fill:color=0.5,0.25,0.125,0.5 8x8 -d float -o rgba.exr
    oiiotool --create 8x8 3 --fill:color=0.5,0.41,0.2 8x8 -d float -o flat.exr
}

# FILE [X Y]: the values of a pixel, to a hundred thousandth.
pixel() {
    oiiotool --dumpdata "$1" | sed -n "s/^ *Pixel (${2:-0}, ${3:-0}): *//p" |
        awk '{ for (i = 1; i <= NF; i++) printf "%s%.5f", (i > 1 ? " " : ""), $i }'
}
bloom() { "$FFTBLOOM" "$@" -o out.exr --device cpu; }
says() { "$FFTBLOOM" info "$1" | sed -n "s/^ *\(attributes\)\? *$2 ([a-z]*): //p"; }

@test "a kernel in other primaries is converted, where both are known" {
    run --separate-stderr bloom ap1.exr k709.exr -v --report r.json
    grep -q "converted from Rec.709 to the image's ACES AP1" r.json
    "$FFTBLOOM" plan ap1.exr k709.exr --device cpu | grep -q "^note .*the kernel is converted"
    [[ "$stderr" == *"converted from Rec.709 to the image's ACES AP1"* ]]
    # The picture of the kernel at its centre, 4 2 1, in AP1, times 8 and of luminance 8 there.
    want=$(python3 -c '
m = [[0.613097, 0.339523, 0.047379], [0.070194, 0.916354, 0.013452], [0.020616, 0.109570, 0.869815]]
v = [sum(a * b for a, b in zip(row, (4, 2, 1))) for row in m]
y = sum(a * b for a, b in zip((0.2722287, 0.6740818, 0.0536895), v))
print(*["%.4f" % (8 * x / y) for x in v])')
    echo "$(pixel out.exr 10 9) is not $want"
    paste -d' ' <(pixel out.exr 10 9) <(echo "$want") |
        awk '{ for (i = 1; i <= 3; i++) if (($i - $(i + 3)) ^ 2 > 1e-6) exit 1 }'
    # In the same primaries nothing is converted, and no word is said.
    oiiotool k709.exr --attrib:type="float[8]" chromaticities $AP1 -o kap1.exr
    run --separate-stderr bloom ap1.exr kap1.exr
    [ -z "$stderr" ]
    run --separate-stderr bloom in.exr k709.exr
    [ -z "$stderr" ]
}

@test "a note where the primaries of one are not known" {
    run --separate-stderr bloom ap1.exr k.exr
    [[ "$stderr" == *"the kernel does not say its primaries; they are taken to be the image's, ACES AP1"* ]]
    [ "$(grep -c . <<<"$stderr")" = 1 ]
    oiiotool k.exr --attrib:type="float[8]" chromaticities $AP1 -o kap1.exr
    run --separate-stderr bloom in.exr kap1.exr
    [[ "$stderr" == *"the image does not say its primaries; they are taken to be the kernel's, ACES AP1"* ]]
    # Nothing is said where the other has those of Rec.709, or no colour; with -v once.
    run --separate-stderr bloom ap1.exr point.exr
    [ -z "$stderr" ]
    for i in 1 2 3; do cp in.exr s.$i.exr; done
    run --separate-stderr "$FFTBLOOM" 's.%d.exr' k709.exr -o 'o.%d.exr' --device cpu -v
    [ "$(grep -c "taken to be linear Rec.709" <<<"$stderr")" = 1 ]
}

@test "a colorInteropID names the primaries, and counts more than chromaticities" {
    oiiotool in.exr --attrib colorInteropID lin_ap1_scene --attrib:type="float[8]" chromaticities $REC709 -o id.exr
    "$FFTBLOOM" info id.exr | grep -q "space       linear, ACES AP1 primaries"
    [ "$("$FFTBLOOM" info id.exr --json | python3 -c 'import json, sys; print(*json.load(sys.stdin)["parts"][0]["space"].values())')" = "lin ap1" ]
    run --separate-stderr bloom id.exr k709.exr -v
    [[ "$stderr" == *"to the image's ACES AP1"* ]]
    # It stays as it was.
    [ "$(says out.exr colorInteropID)" = lin_ap1_scene ]
    [ "$(says out.exr chromaticities)" = "0.64 0.33 0.3 0.6 0.15 0.06 0.3127 0.329" ]
}

@test "an image that is coded is refused with the option that decodes it" {
    refused() { # ID, words of the message
        oiiotool flat.exr --attrib colorInteropID "$1" -o coded.exr
        run --separate-stderr bloom coded.exr point.exr
        echo "$1: $status $stderr"
        [ "$status" -eq 65 ]
        [[ "$stderr" == *"coded.exr"*"$2"*"(attribute colorInteropID)"*"--input-space"* ]]
        run "$FFTBLOOM" plan coded.exr point.exr
        [ "$status" -eq 65 ]
    }
    refused srgb_rec709_scene "sRGB"
    refused g22_rec709_display "gamma 2.2"
    refused ocio:arrilogc3_awg3_scene "ARRI LogC3"
    refused pq_rec2020_display "PQ"
    [ ! -e out.exr ]
    # What is not known is no reason.
    oiiotool flat.exr --attrib colorInteropID studio:plate -o coded.exr
    bloom coded.exr point.exr
    oiiotool flat.exr --attrib colorspace sRGB -o coded.exr
    run bloom coded.exr point.exr
    [ "$status" -eq 65 ]
    # Only what is bloomed must be linear.
    run bloom coded.exr point.exr --input-space linear
    [ "$status" -eq 0 ]
    [ "$(pixel out.exr)" = "0.50000 0.41000 0.20000" ]
}

@test "input_space decodes, and the output says that it is linear" {
    decoded() { # SPACE, values
        bloom flat.exr point.exr --input-space "$1"
        echo "$1: $(pixel out.exr)"
        [ "$(pixel out.exr)" = "$2" ]
    }
    decoded srgb "0.21404 0.13998 0.03310"
    [ "$(says out.exr colorInteropID)" = lin_rec709_scene ]
    decoded gamma22 "0.21764 0.14065 0.02899"
    decoded slog3 "0.41526 0.17905 0.01851"
    [ "$(says out.exr colorInteropID)" = ocio:lin_sgamut3cine_scene ]
    [ "$(says out.exr chromaticities)" = "0.766 0.275 0.225 0.8 0.089 -0.087 0.3127 0.329" ]
    # The file's own primaries stay, unless the name has others.
    bloom ap1.exr point.exr --input-space srgb
    [ "$(says out.exr colorInteropID)" = lin_ap1_scene ]
    bloom ap1.exr point.exr --input-space srgb_p3d65
    [ "$(says out.exr colorInteropID)" = lin_p3d65_scene ]
}

@test "output_space codes and converts; input gives back what came" {
    bloom flat.exr point.exr --input-space logc3 --output-space input
    [ "$(pixel out.exr)" = "$(pixel flat.exr)" ]
    [ "$(says out.exr colorInteropID)" = ocio:arrilogc3_awg3_scene ]
    bloom flat.exr point.exr --output-space acescg
    # Rec.709 to AP1, adapted by Bradford.
    [ "$(pixel out.exr)" = "0.45523 0.41349 0.22919" ]
    [ "$(says out.exr chromaticities)" = "0.713 0.293 0.165 0.83 0.128 0.044 0.32168 0.33767" ]
    bloom flat.exr point.exr --output-space srgb
    [ "$(pixel out.exr)" = "0.73536 0.67263 0.48453" ]
    run bloom flat.exr point.exr --input-space nothing
    [ "$status" -eq 64 ]
    [[ "$output" == *"acescg"*"logc3"* ]]
    # Primaries alone are no curve, and nobody may guess one.
    run bloom flat.exr point.exr --input-space rec709
    [[ "$status" -eq 64 && "$output" == *"'rec709' names primaries and no curve; write lin_rec709"*"itu709_rec709"* ]]
    run bloom flat.exr point.exr --input-space pq_rec2020
    [ "$status" -eq 64 ]
    [[ "$output" == *"PQ is not supported; convert the image to linear light first"* ]]
}

@test "curves are applied to the colour and not to its coverage; data stays" {
    oiiotool rgba.exr --ch R,G,B,A,Z=0.5 -d float -o z.exr
    bloom z.exr point.exr --input-space srgb
    # 1, 0.5 and 0.25 under an alpha of a half; Z is not light.
    [ "$(pixel out.exr)" = "0.50000 0.10702 0.02544 0.50000 0.50000" ]
}

@test "views: plain sRGB, film, and those of an OpenColorIO config" {
    cat >c.ocio <<'END'
ocio_profile_version: 2
roles: {aces_interchange: ap0, scene_linear: ap0, default: ap0}
file_rules:
  - !<Rule> {name: Default, colorspace: ap0}
displays:
  screen:
    - !<View> {name: twice, colorspace: doubled}
    - !<View> {name: square root, colorspace: root}
  other:
    - !<View> {name: raw, colorspace: ap0}
colorspaces:
  - !<ColorSpace>
    name: ap0
  - !<ColorSpace>
    name: doubled
    from_scene_reference: !<MatrixTransform> {matrix: [2,0,0,0,0,2,0,0,0,0,2,0,0,0,0,1]}
  - !<ColorSpace>
    name: root
    from_scene_reference: !<ExponentTransform> {value: [2,2,2,1], direction: inverse}
END
    oiiotool --create 8x8 3 --fill:color=0.25,0.25,0.25 8x8 -d float -o grey.exr
    shown() { # VIEW: the bytes of a grey of 0.25
        OCIO=c.ocio "$FFTBLOOM" grey.exr point.exr -o v.png --device cpu --exposure 0 --view "$1"
        oiiotool --dumpdata v.png | sed -n 's/^ *Pixel (0, 0): \([0-9 ]*\) (.*/\1/p'
    }
    [ "$(shown srgb)" = "137 137 137" ]
    [ "$(shown film)" = "141 141 141" ]
    run "$FFTBLOOM" grey.exr point.exr -o v.png --view nothing
    [ "$status" -eq 64 ]
    [[ "$output" == *"there are film, srgb, ocio"* ]]
    "$FFTBLOOM" --version | grep -q "OpenColorIO: yes" || skip "built without OpenColorIO"
    [ "$(shown ocio)" = "128 128 128" ]
    [ "$(shown "ocio:square root")" = "128 128 128" ]
    [ "$(shown ocio:other/raw)" = "64 64 64" ]
    # A red of Rec.709 at 1 reaches the config as ACES2065-1, which this view doubles.
    oiiotool --create 8x8 3 --fill:color=0.5,0,0 8x8 -d float -o grey.exr
    [ "$(shown ocio:twice)" = "112 23 4" ]
    run --separate-stderr shown ocio:screen/none
    [[ "$stderr" == *"has no view 'none'; it has 'twice', 'square root'"* ]]
    run env -u OCIO "$FFTBLOOM" grey.exr point.exr -o v.png --view ocio
    [ "$status" -eq 64 ]
    [[ "$output" == *"needs the variable OCIO"* ]]
    mkfifo fifo.ocio
    OCIO=fifo.ocio run timeout 20 "$FFTBLOOM" grey.exr point.exr -o v.png --view ocio
    [ "$status" -eq 64 ]
}

@test "before: the same light has the same bytes in both pictures, also in sequences" {
    # A grey plate with a hot spot whose glare does not reach its corner.
    oiiotool --create 64x48 3 --fill:color=0.18,0.18,0.18 64x48 --point:color=900,900,900 32,24 -d float -o hot.exr
    oiiotool --create 9x9 1 --chnames Y --fill:color=0.01 9x9 --point:color=1 4,4 -d float -o soft.exr
    "$FFTBLOOM" hot.exr soft.exr -o after.png --before before.png --padding clamp --device cpu
    byte() { oiiotool --dumpdata "$1" | sed -n "s/^ *Pixel ($2): \([0-9]*\) .*/\1/p"; }
    [ "$(byte after.png "2, 2")" = "$(byte before.png "2, 2")" ]
    [ "$(byte after.png "30, 24")" -gt "$(byte before.png "30, 24")" ]
    for i in 1 2; do cp hot.exr hot.$i.exr; done
    "$FFTBLOOM" hot.@.exr soft.exr -o a.@.png --before b.@.png --device cpu
    [ -s b.1.png ]
    cmp b.1.png b.2.png
    rm b.2.png
    "$FFTBLOOM" hot.@.exr soft.exr -o a.@.png --before b.@.png --device cpu --existing update
    [ -s b.2.png ]
    refused() { run "$FFTBLOOM" "$@" --device cpu; echo "$output"; [ "$status" -eq 64 ]; }
    refused hot.@.exr soft.exr -o a.@.png --before b.png
    refused hot.exr soft.exr -o a.png --before a.png
    refused hot.exr soft.exr -o a.exr --before b.png
    refused hot.exr soft.exr -o a.png --before b.exr
    refused hot.exr soft.exr -o a.png --output-space srgb
}

@test "a part whose id is data is not colour, and a spectrum forgets its primaries" {
    oiiotool flat.exr --attrib colorInteropID data -o data.exr
    "$FFTBLOOM" info data.exr | grep -q "data  *B, float"
    run "$FFTBLOOM" data.exr point.exr -o out.exr
    [ "$status" -eq 65 ]
    oiiotool k.exr --attrib:type="float[8]" chromaticities $AP1 -o kap1.exr
    run --separate-stderr "$FFTBLOOM" precompute kap1.exr -o k.spectrum
    [[ "$stderr" == *"does not say its primaries"* ]]
    run --separate-stderr "$FFTBLOOM" precompute k709.exr -o k709.spectrum
    [ -z "$stderr" ]
}

@test "a kernel that is coded is decoded, and a PNG is what --input-space says" {
    oiiotool --create 3x1 1 --chnames Y --fill:color=0.5 3x1 --point:color=1 1,0 -d float --attrib colorInteropID srgb_rec709_scene -o coded.exr
    run --separate-stderr bloom in.exr coded.exr
    [[ "$stderr" == *"kernel 'coded.exr' is coded as sRGB (attribute colorInteropID); it is decoded"* ]]
    # 1 of 1 + 2 * 0.21404
    [ "$(pixel out.exr 10 9)" = "5.60192 5.60192 5.60192" ]
    oiiotool flat.exr -d uint16 -o flat.png
    bloom flat.png point.exr --input-space slog3
    paste -d' ' <(pixel out.exr) <(echo 0.41526 0.17905 0.01851) |
        awk '{ for (i = 1; i <= 3; i++) if (($i - $(i + 3)) ^ 2 > 1e-8) exit 1 }'
}
