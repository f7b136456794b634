# What images and kernels say of their colours, and what is made of it.

load files

AP1=0.713,0.293,0.165,0.830,0.128,0.044,0.32168,0.33767
REC709=0.64,0.33,0.3,0.6,0.15,0.06,0.3127,0.329

setup_file() {
    shared_folder || return 0
    image in.exr 32x24 float 0,0,0 10,9=8,8,8 -- ap1.exr 32x24 float 0,0,0 10,9=8,8,8 chromaticities=$AP1 -- \
        k.exr 5x5 float 0,0,0 2,2=4,2,1 -- k709.exr 5x5 float 0,0,0 2,2=4,2,1 chromaticities=$REC709 -- \
        kap1.exr 5x5 float 0,0,0 2,2=4,2,1 chromaticities=$AP1 -- \
        point.exr 1x1 float 1 -- flat.exr 8x8 float 0.5,0.41,0.2
}

said() { "$FFTBLOOM" info out.exr | sed -n "s/^ *$1  *[a-z]*  //p"; }

@test "a kernel in other primaries is converted, where both are known" {
    # The picture of the kernel at its centre, 4 2 1, is 3.17881 2.12694 1.17142 in AP1, of luminance 2.36199.
    makes "ap1.exr k709.exr --report r.json"
    pixel out.exr 10 9 | awk '{ exit !(($1 - 10.7666) ^ 2 < 1e-6 && ($2 - 7.2039) ^ 2 < 1e-6 && ($3 - 3.9676) ^ 2 < 1e-6) }'
    grep -q "converted from Rec.709 to the image's ACES AP1" r.json
    "$FFTBLOOM" plan ap1.exr k709.exr --device cpu | grep -q "^  the kernel is converted"
    says 0 "converted from Rec.709 to the image's ACES AP1" ap1.exr k709.exr -o out.exr -v
    # In the same primaries nothing is converted, and no word is said.
    warns "" ap1.exr kap1.exr -o out.exr
    warns "" in.exr k709.exr -o out.exr
    # Where those of one are not known, there is a note, unless the other has Rec.709 or no colour.
    warns "the kernel does not say its primaries; they are taken to be the image's, ACES AP1" ap1.exr k.exr -o out.exr
    warns "the image does not say its primaries; they are taken to be the kernel's, ACES AP1" in.exr kap1.exr -o out.exr
    pixel out.exr 10 9 | awk '{ exit !(($1 - 12.8474) ^ 2 < 1e-6 && ($2 - 6.4237) ^ 2 < 1e-6) }' # 8 / 2.49077, AP1's luminance of 4 2 1
    warns "" ap1.exr point.exr -o out.exr
    # With -v once.
    for i in 1 2 3; do cp in.exr s.$i.exr; done
    run --separate-stderr "$FFTBLOOM" 's.%d.exr' k709.exr -o 'o.%d.exr' --device cpu -v
    [ "$(grep -c "taken to be linear Rec.709" <<<"$stderr")" = 1 ]
    # A spectrum forgets them.
    run --separate-stderr "$FFTBLOOM" precompute kap1.exr -o k.spectrum
    [[ "$stderr" == *"does not say its primaries"* ]]
    warns "" precompute k709.exr -o k709.spectrum
}

@test "a colorInteropID names the primaries, and counts more than chromaticities; one of data is no colour" {
    image id.exr 32x24 float 0,0,0 10,9=8,8,8 colorInteropID=lin_ap1_scene chromaticities=$REC709 -- \
        data.exr 8x8 float 0.5,0.41,0.2 colorInteropID=data
    "$FFTBLOOM" info id.exr | grep -q "space       linear, ACES AP1"
    "$FFTBLOOM" info id.exr --json | holds - 'list(d["parts"][0]["space"].values()) == ["lin", "ap1"]'
    says 0 "to the image's ACES AP1" id.exr k709.exr -o out.exr -v
    # It stays as it was.
    [ "$(said colorInteropID)" = lin_ap1_scene ]
    [ "$(said chromaticities)" = "0.64 0.33 0.3 0.6 0.15 0.06 0.3127 0.329" ]
    "$FFTBLOOM" info data.exr | grep -q "^ *B  *float  data"
    says 65 "" data.exr point.exr -o out.exr
}

@test "a curve on light that is linear is warned of, with the values before and after it" {
    image bright.exr 32x24 float 0.1,0.1,0.1 10,9=2000,8,8 -- coded.exr 32x24 float 0.1,0.1,0.1 10,9=1,1.2,1 -- \
        halfs.exr 32x24 half 0.1,0.1,0.1 10,9=2000,8,8
    warns "warning: --input-space srgb made values up to 7.3569e+07 of values up to 2000, and codes go from 0 to 1: the image seems to be linear; leave --input-space out" \
        bright.exr point.exr -o out.exr --input-space srgb --report r.json
    holds r.json 'any("codes go from 0 to 1" in n for n in f["notes"])'
    # Halfs end before.
    warns "made values up to 65504 of values up to 107.1 or more," halfs.exr point.exr -o out.exr --input-space srgb
    warns "" bright.exr point.exr -o out.exr --input-space linear
    warns "" coded.exr point.exr -o out.exr --input-space srgb
}

@test "an image that is coded is refused with the option that decodes it" {
    while read -r id words; do
        image coded.exr 8x8 float 0.5,0.41,0.2 colorInteropID=$id
        refused 65 "$words" coded.exr point.exr -o out.exr
        [[ "$stderr" == *"coded.exr"*"(attribute colorInteropID)"*"--input-space"* ]]
        refused 65 "$words" plan coded.exr point.exr
    done <<'T'
srgb_rec709_scene sRGB
g22_rec709_display gamma 2.2
ocio:arrilogc3_awg3_scene ARRI LogC3
pq_rec2020_display PQ
T
    [ ! -e out.exr ]
    # Only what is bloomed must be linear.
    makes "coded.exr point.exr --input-space linear" "0 0=0.5 0.41 0.2"
    # What is not known is no reason.
    image coded.exr 8x8 float 0.5,0.41,0.2 colorInteropID=studio:plate -- old.exr 8x8 float 0.5,0.41,0.2 colorspace=sRGB
    makes "coded.exr point.exr"
    says 65 "" old.exr point.exr -o out.exr
}

@test "input_space decodes, output_space codes and converts, and the output says what it is" {
    makes "flat.exr point.exr --input-space srgb" "0 0=0.21404 0.13998 0.0331"
    [ "$(said colorInteropID)" = lin_rec709_scene ]
    makes "flat.exr point.exr --input-space gamma22" "0 0=0.21764 0.14065 0.02899"
    makes "flat.exr point.exr --input-space slog3" "0 0=0.41526 0.17905 0.01851"
    [ "$(said colorInteropID)" = ocio:lin_sgamut3cine_scene ]
    [ "$(said chromaticities)" = "0.766 0.275 0.225 0.8 0.089 -0.087 0.3127 0.329" ]
    # The file's own primaries stay, unless the name has others.
    makes "ap1.exr point.exr --input-space srgb"
    [ "$(said colorInteropID)" = lin_ap1_scene ]
    makes "ap1.exr point.exr --input-space srgb_p3d65"
    [ "$(said colorInteropID)" = lin_p3d65_scene ]
    # `input` gives back what came.
    makes "flat.exr point.exr --input-space logc3 --output-space input" "0 0=0.5 0.41 0.2"
    [ "$(said colorInteropID)" = ocio:arrilogc3_awg3_scene ]
    # Rec.709 to AP1, adapted by Bradford.
    makes "flat.exr point.exr --output-space acescg" "0 0=0.45523 0.41349 0.22919"
    [ "$(said chromaticities)" = "0.713 0.293 0.165 0.83 0.128 0.044 0.32168 0.33767" ]
    makes "flat.exr point.exr --output-space srgb" "0 0=0.73536 0.67263 0.48453"
    # Curves are applied to the colour - 1, 0.5, 0.25 under an alpha of a half - and not to data.
    image z.exr 8x8 float 0.5,0.25,0.125,0.5,0.5 names=R,G,B,A,Z
    makes "z.exr point.exr --input-space srgb" "0 0=0.5 0.10702 0.02544 0.5 0.5"
    # A PNG is what --input-space says; its 16 bits are fine enough for four digits.
    oiiotool flat.exr -d uint16 -o flat.png
    makes "flat.png point.exr --input-space slog3"
    pixel out.exr 0 0 | awk '{ exit !(($1 - 0.41526) ^ 2 < 1e-8 && ($2 - 0.17905) ^ 2 < 1e-8 && ($3 - 0.01851) ^ 2 < 1e-8) }'
    # Primaries alone are no curve, and nobody may guess one.
    each refused <<'T'
64 | acescg | flat.exr point.exr -o o.exr --input-space nothing
64 | 'rec709' names primaries and no curve; write lin_rec709 | flat.exr point.exr -o o.exr --input-space rec709
64 | itu709_rec709 | flat.exr point.exr -o o.exr --input-space rec709
64 | PQ is not supported; convert the image to linear light first | flat.exr point.exr -o o.exr --input-space pq_rec2020
T
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
    image grey.exr 8x8 float 0.25,0.25,0.25
    shown() { # VIEW: the bytes of a grey of 0.25
        OCIO=c.ocio "$FFTBLOOM" grey.exr point.exr -o v.png --device cpu --exposure 0 --view "$1"
        oiiotool --dumpdata v.png | sed -n 's/^ *Pixel (0, 0): \([0-9 ]*\) (.*/\1/p'
    }
    [ "$(shown srgb)" = "137 137 137" ]
    [ "$(shown film)" = "141 141 141" ]
    says 64 "there are film, srgb, ocio" grey.exr point.exr -o v.png --view nothing
    "$FFTBLOOM" --version | grep -q "opencolorio yes" || skip "built without OpenColorIO"
    [ "$(shown ocio)" = "128 128 128" ]
    [ "$(shown "ocio:square root")" = "128 128 128" ]
    [ "$(shown ocio:other/raw)" = "64 64 64" ]
    # --existing update asks for the config's content where the view is one of it.
    update() { OCIO=c.ocio "$FFTBLOOM" grey.exr point.exr -o v.png --device cpu --exposure 0 --existing update -v "$@" 2>&1 | grep -c "up to date"; }
    update --view ocio || true
    [ "$(update --view ocio)" -eq 1 ]
    echo '# another' >>c.ocio
    [ "$(update --view ocio)" -eq 0 ]
    [ "$(update --view ocio)" -eq 1 ]
    update --view srgb || true
    echo '# another' >>c.ocio
    [ "$(update --view srgb)" -eq 1 ]
    # A red of Rec.709 at 1 reaches the config as ACES2065-1, which this view doubles.
    image grey.exr 8x8 float 0.5,0,0
    [ "$(shown ocio:twice)" = "112 23 4" ]
    run --separate-stderr shown ocio:screen/none
    [[ "$stderr" == *"has no view 'none'; it has 'twice', 'square root'"* ]]
    (unset OCIO && says 64 "needs the variable OCIO" grey.exr point.exr -o v.png --view ocio)
    OCIO=nothere.ocio says 64 "OCIO=nothere.ocio: this file is not there" grey.exr point.exr -o v.png --view ocio
    # A config of a newer version, in words of one line that say what to do.
    sed 's/^ocio_profile_version: 2$/ocio_profile_version: 2.9/' c.ocio >newer.ocio
    OCIO=newer.ocio says 64 "; docs/colour.md says what to do about newer configs)" grey.exr point.exr -o v.png --view ocio
    (OCIO=newer.ocio "$FFTBLOOM" grey.exr point.exr -o v.png --view ocio 2>&1 || true) >said
    [ "$(wc -l <said)" -eq 1 ]
    [[ "$(<said)" == *"is not able to load that config version. The minor version 9"* ]]
    # What once ended a reader of YAML: tags without a node, and more nesting than a stack holds.
    for yaml in '!2' 'a: [&b' "roles: $(printf '[%.0s' {1..200000})" "roles: $(printf '{a: %.0s' {1..200000})"; do
        printf '%s\n' "$yaml" >hostile.ocio
        OCIO=hostile.ocio says 64 "hostile.ocio" grey.exr point.exr -o v.png --view ocio
    done
    mkfifo fifo.ocio
    OCIO=fifo.ocio run timeout 20 "$FFTBLOOM" grey.exr point.exr -o v.png --view ocio
    [ "$status" -eq 64 ]
}

@test "before: the same light has the same bytes in both pictures, also in sequences" {
    # A grey plate with a hot spot whose glare does not reach its corner.
    image hot.exr 64x48 float 0.18,0.18,0.18 32,24=900,900,900 -- soft.exr 9x9 float 0.01 4,4=1
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
    each refused <<'T'
64 | | hot.@.exr soft.exr -o a.@.png --before b.png
64 | | hot.exr soft.exr -o a.png --before a.png
64 | | hot.exr soft.exr -o a.exr --before b.png
64 | | hot.exr soft.exr -o a.png --before b.exr
64 | | hot.exr soft.exr -o a.png --output-space srgb
T
}

@test "a kernel that is coded is decoded" {
    image coded.exr 3x1 float 0.5 1,0=1 colorInteropID=srgb_rec709_scene
    # 1 of 1 + 2 * 0.21404
    makes "in.exr coded.exr" "10 9=5.60192 5.60192 5.60192"
    warns "kernel 'coded.exr' is coded as sRGB (attribute colorInteropID); it is decoded" in.exr coded.exr -o out.exr
}

@test "-v says what is done to pixels on the way, of an image in memory and of one in tiles" {
    oiiotool --create 1600x1200 3 --fill:color=0.5,0.41,0.2 1600x1200 -d half -o large.exr
    for more in "" "--mem-limit 40MB"; do
        says 0 ": types to float, decode colours, bloom, encode colours" large.exr k.exr -o "out$more.exr" --device cpu -v \
            --pixel-type float --input-space srgb --output-space input $more
    done
    [[ "$output" == *"in rows from file to file"* ]]
    cmp out*.exr
    says 0 "" large.exr k.exr -o out.exr --device cpu -v
    [[ "$output" != *": bloom"* && "$output" != *"types to"* ]]
}
