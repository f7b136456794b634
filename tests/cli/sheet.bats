# `fftbloom kernel sheet`: a frame under many kernels. page.bats tries its page in a browser.

load files

setup() {
    needs_program oiiotool
    own_folder
    make_images k.exr
}

@test "a cell of the picture is what apply makes of the frame" {
    "$FFTBLOOM" kernel sheet in.exr --kernels k.exr,portrait --exposure 1 -o sheet.png
    "$FFTBLOOM" in.exr k.exr --exposure 1 --tolerance 1e-2 --device cpu -o k.png
    "$FFTBLOOM" in.exr --amount 0 -k k.exr --exposure 1 -o plain.png
    # Cells of 40 x 30 pixels, 12 pixels from the border and from each other.
    oiiotool sheet.png --cut 40x30+12+12 -o a.png
    oiiotool sheet.png --cut 40x30+64+12 -o b.png
    oiiotool a.png plain.png --fail 0.004 --diff
    oiiotool b.png k.png --fail 0.004 --diff
    run ! oiiotool a.png b.png --fail 0.1 --diff
}

@test "a field stands in a sheet as a kernel does: each lamp has the kernel of its place" {
    "$FFTBLOOM" kernel rotate k.exr 90 -o turned.exr
    echo '{"field": {"x": [0, 1], "y": [0.5], "nodes": [["k.exr", "turned.exr"]]}}' >f.json
    "$FFTBLOOM" kernel sheet in.exr --kernels f.json,k.exr --exposure 1 -o sheet.png
    "$FFTBLOOM" in.exr f.json --exposure 1 --tolerance 1e-2 --device cpu -o f.png
    oiiotool sheet.png --cut 40x30+64+12 -o cell.png
    oiiotool cell.png f.png --fail 0.004 --diff
    "$FFTBLOOM" kernel sheet in.exr --kernels f.json,k.exr -o sheet.html
    grep -q '"fftbloom in.exr f.json -o in-f.exr"' sheet.html
}

@test "a folder of one's own, and the shipped kernels by name" {
    mkdir mine
    cp k.exr mine/one.exr
    cp k.exr mine/two.exr
    "$FFTBLOOM" kernel sheet in.exr --kernels mine -o sheet.html
    [ "$(grep -o '"name": *"[a-z]*"' sheet.html | tr -d ' \n')" = '"name":"one""name":"two"' ]
    # One alone would be shown in three sizes, and the largest takes half a minute to make.
    "$FFTBLOOM" kernel sheet in.exr --kernels k.exr,portrait -o shipped.html
    grep -q '"fftbloom in.exr portrait -o in-portrait.exr --amount 25%"' shipped.html
}

@test "a single kernel is shown in three sizes and three tints" {
    "$FFTBLOOM" kernel sheet in.exr --kernels k.exr -o one.html --exposure 1
    [ "$(grep -o '"name": "[^"]*"' one.html | cut -d'"' -f4 | xargs)" = \
        "k k-warm k-cool k-0.5 k-0.5-warm k-0.5-cool k-2 k-2-warm k-2-cool" ]
    # Each is what its command makes.
    "$FFTBLOOM" kernel sheet in.exr --kernels k.exr --exposure 1 -o one.png
    "$FFTBLOOM" kernel sheet in.exr --kernels k.exr,k.exr --exposure 1 -o two.png
    grep -q '"fftbloom in.exr k.exr -o in-k-2-warm.exr --kernel-scale 2 --tint 1.4,1,0.6 --amount 25%"' one.html
    cell() { oiiotool one.png --cut "40x30+$((12 + 52 * $1))+$((12 + 64 * $2))" -o "$3"; }
    cell 1 0 k.png
    oiiotool two.png --cut 40x30+64+12 -o want.png
    oiiotool k.png want.png --fail 0 --diff
    for look in "2 2 --kernel-scale 2 --tint 1.4,1,0.6" "3 1 --kernel-scale 0.5 --tint 0.6,1,1.4"; do
        read -r x y options <<<"$look"
        cell "$x" "$y" cell.png
        "$FFTBLOOM" in.exr k.exr --exposure 1 --tolerance 1e-2 --device cpu $options -o want.png
        oiiotool cell.png want.png --fail 0.006 --diff
    done
}

@test "what cannot be made is refused, and what exists is kept where that is asked for" {
    says 64 "-o SHEET.html or -o SHEET.png" kernel sheet in.exr
    says 64 "" kernel sheet in.exr -o sheet.exr
    says 66 "" kernel sheet in.exr --kernels k.exr,sunstra -o sheet.html
    [[ "$output" == *"'sunstra'"*"did you mean 'sunstar'"* ]]
    mkdir empty
    says 66 "no kernel in 'empty'" kernel sheet in.exr --kernels empty -o sheet.html
    says 0 "" kernel sheet in.exr --kernels k.exr -o in.exr.html --existing skip
    says 5 "" kernel sheet in.exr --kernels k.exr -o in.exr.html --existing skip
    says 66 "" kernel sheet k.exr.png --kernels k.exr -o sheet.html
    [ ! -e sheet.html ]
}

@test "a kernel that cannot be opened for its description is no kernel without one" {
    needs_faults
    cp "$FFTBLOOM_ROOT/testdata/kernel.exr" told.exr # has comments
    "$FFTBLOOM" kernel sheet in.exr --kernels told.exr -o want.html
    for n in {12..26}; do
        rm -rf cache out.html
        run --separate-stderr env FAULT_CALL=open:$n LD_PRELOAD="$faults" "$FFTBLOOM" kernel sheet in.exr --kernels told.exr -o out.html
        [ "$status" -ne 0 ] || cmp out.html want.html
        [ "$status" -eq 0 ] || [[ -n "$stderr" && ! -e out.html ]]
    done
}
