# Pixels that are not square: a kernel keeps its shape when an anamorphic plate is shown.

load files

setup_file() {
    shared_folder || return 0
    "$FFTBLOOM" kernel make gaussian --param sigma=4 --taps 41 -o round.exr
    # A light on a plate as it is shown, and on one of half as many columns.
    oiiotool --create 80x40 3 -d float --fill:color=40,30,20 2x1+40+20 -o shown.exr
    oiiotool shown.exr --resize:filter=box 40x40 --attrib PixelAspectRatio 2.0 -d float -o plate.exr
}

@test "a squeezed plate has the glow of the plate as it is shown" {
    "$FFTBLOOM" shown.exr round.exr -o wide.exr
    oiiotool wide.exr --resize:filter=box 40x40 --attrib PixelAspectRatio 2.0 -o want.exr
    "$FFTBLOOM" plate.exr round.exr -o auto.exr --report r.json
    "$FFTBLOOM" diff want.exr auto.exr --fail 2e-3
    holds r.json 'any("0.5 times as wide: pixel aspect 2 of the image, 1 of the kernel" in n for n in f["notes"])'
    "$FFTBLOOM" plate.exr round.exr -o off.exr --pixel-aspect off
    run ! "$FFTBLOOM" diff want.exr off.exr --fail 2e-3
    # What the option says counts, and so do two scales.
    oiiotool plate.exr --attrib PixelAspectRatio 1.0 -o plain.exr
    for how in "--pixel-aspect 2" "--kernel-scale 0.5,1" "--kernel-scale 0.5,1 --pixel-aspect off"; do
        "$FFTBLOOM" plain.exr round.exr -o made.exr $how
        "$FFTBLOOM" diff made.exr auto.exr --fail 0
    done
    says 0 "0.5 times as wide" plan plate.exr round.exr
    # A kernel of the same aspect stays, and so does one that differs by less than 0.1 %.
    oiiotool round.exr --attrib PixelAspectRatio 2.0 -o same.exr
    oiiotool plate.exr --attrib PixelAspectRatio 1.0005 -o nearly.exr
    "$FFTBLOOM" plate.exr same.exr -o made.exr
    "$FFTBLOOM" diff made.exr off.exr --fail 0
    "$FFTBLOOM" nearly.exr round.exr -o made.exr
    "$FFTBLOOM" diff made.exr off.exr --fail 0
}

@test "a spectrum is for one aspect, and another is refused with the command" {
    "$FFTBLOOM" precompute round.exr -o square.spectrum
    "$FFTBLOOM" precompute round.exr -o two.spectrum --pixel-aspect 2
    "$FFTBLOOM" plate.exr round.exr -o want.exr
    "$FFTBLOOM" plate.exr two.spectrum -o made.exr
    "$FFTBLOOM" diff made.exr want.exr --fail 1e-6
    each refused <<'T'
64 | a pixel aspect of 1, and the image has 2: fftbloom precompute KERNEL -o K.spectrum --pixel-aspect 2 | plate.exr square.spectrum -o o.exr
64 | a pixel aspect of 2, and the image has 1: fftbloom precompute KERNEL -o K.spectrum --pixel-aspect 1 | shown.exr two.spectrum -o o.exr
64 | --pixel-aspect must be a number from 0.01 to 100, auto or off | plate.exr round.exr -o o.exr --pixel-aspect wide
64 | must be auto, a factor | plate.exr round.exr -o o.exr --kernel-scale 1,0
T
    "$FFTBLOOM" plate.exr square.spectrum -o made.exr --pixel-aspect off
    # A kernel with an aspect of its own: the spectrum is for the images that were named.
    oiiotool round.exr --attrib PixelAspectRatio 2.0 -o same.exr
    "$FFTBLOOM" precompute same.exr -o same.spectrum --pixel-aspect 2
    "$FFTBLOOM" plate.exr same.exr -o want.exr
    "$FFTBLOOM" plate.exr same.spectrum -o made.exr
    "$FFTBLOOM" diff made.exr want.exr --fail 1e-6
}
