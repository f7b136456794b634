# The pages of `fftbloom check --html`, `fftbloom kernel sheet` and `kernel show` in a real browser:
# tests/browser.py says what they must do.

load files

setup() {
    command -v chromium >/dev/null && command -v chromedriver >/dev/null || skip "no chromium with its driver"
    needs_program oiiotool
    needs cpu
    own_folder
}

@test "pictures, slider, filters and keys work, on a phone and in the dark, without a word on the console" {
    make_images k.exr
    cat >suite.json <<'J'
{
  "version": 1,
  "variables": {"t": "0.5"},
  "defaults": {"config": {"input": "in.exr", "kernel": "k.exr", "device": "cpu"}, "reference": "plain.exr"},
  "cases": [
    {"name": "good"},
    {"name": "<b>odd</b> & \"name\"", "reference": "crop.exr", "crop": [3, 3, 5, 5]},
    {"name": "broken", "config": {"sharpen": "${t}"}, "reference": "sharp.exr", "energy": [0, 2], "verify": 9},
    {"name": "absent", "reference": {"gpu": "x.exr"}}
  ]
}
J
    "$FFTBLOOM" check suite.json --bless
    says 2 "" check suite.json --set t=0.6 --html page.html
    run python3 "$FFTBLOOM_ROOT/tests/browser.py" check page.html
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^so: ' <<<"$output")" -eq 40 ]
}

@test "the sheet: kernels, strengths, slider, keys, on a phone and in the dark" {
    make_images k.exr
    cp k.exr '<b>odd.exr'
    "$FFTBLOOM" kernel sheet in.exr --kernels 'k.exr,<b>odd.exr' -o sheet.html
    run python3 "$FFTBLOOM_ROOT/tests/browser.py" sheet sheet.html
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^so: ' <<<"$output")" -eq 33 ]
}

@test "the page of kernel show fits a phone and a wide window, by day and in the dark" {
    "$FFTBLOOM" kernel make aperture --taps 128 -o star.exr -q # many parameters: a long line
    "$FFTBLOOM" kernel show star.exr -o star.svg -q
    run python3 "$FFTBLOOM_ROOT/tests/browser.py" show star.svg
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^so: ' <<<"$output")" -eq 11 ]
}
