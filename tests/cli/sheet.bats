#!/usr/bin/env bats
# `fftbloom kernel sheet`: a frame under many kernels. page.bats tries its page in a browser.

load files

setup() {
    needs_program oiiotool
    own_folder
    make_images k.exr
}

@test "a picture of the page is what apply makes of the frame" {
    "$FFTBLOOM" kernel sheet in.exr --kernels portrait,k.exr --exposure 1 -o sheet.html
    "$FFTBLOOM" in.exr k.exr --exposure 1 --tolerance 1e-2 --device cpu -o k.png
    "$FFTBLOOM" in.exr --amount 0 -k k.exr --exposure 1 -o plain.png
    # The frame, then three strengths of portrait, then those of k.exr.
    python3 - <<'PY'
import base64, re
found = re.findall("data:image/jpeg;base64,([A-Za-z0-9+/=]+)", open("sheet.html").read())
assert len(found) == 7
for name, at in ("a", 0), ("b", 6):
    open(name + ".jpg", "wb").write(base64.b64decode(found[at]))
PY
    oiiotool a.jpg plain.png --fail 0.2 --diff
    oiiotool b.jpg k.png --fail 0.2 --diff
    run ! oiiotool a.jpg b.jpg --fail 0.2 --diff
}

@test "a folder of one's own, and the shipped kernels by name" {
    mkdir mine
    cp k.exr mine/one.exr
    cp k.exr mine/two.exr
    "$FFTBLOOM" kernel sheet in.exr --kernels mine -o sheet.html
    [ "$(grep -o '"name": *"[a-z]*"' sheet.html | tr -d ' \n')" = '"name":"one""name":"two"' ]
    "$FFTBLOOM" kernel sheet in.exr --kernels star -o star.html
    grep -q '"fftbloom in.exr star -o in-star.exr --amount 25%"' star.html
}

@test "what cannot be made is refused, and what exists is kept where that is asked for" {
    says 64 "-o SHEET.html" kernel sheet in.exr
    says 64 "" kernel sheet in.exr -o sheet.png
    says 66 "" kernel sheet in.exr --kernels k.exr,sunstra -o sheet.html
    [[ "$output" == *"'sunstra'"*"did you mean 'sunstar'"* ]]
    mkdir empty
    says 66 "no kernel in 'empty'" kernel sheet in.exr --kernels empty -o sheet.html
    says 0 "" kernel sheet in.exr --kernels k.exr -o in.exr.html --existing skip
    says 5 "" kernel sheet in.exr --kernels k.exr -o in.exr.html --existing skip
    says 66 "" kernel sheet k.exr.png --kernels k.exr -o sheet.html
    [ ! -e sheet.html ]
}
