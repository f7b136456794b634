#!/usr/bin/env bats
# fftlab, the program of the lab: its tables, its pictures and what it refuses. test_fftlab.c has the
# transforms and the article's bloom themselves.

load ../../cli/files

# The lab ends with this status, and what it prints has these words.
lab_refused() { # STATUS WORDS arguments...
    FFTBLOOM=$FFTLAB says "$@"
}

@test "refused: actions, sizes, transforms, devices and options that are none" {
    local f="fft --rounds 2 --warm-up 0 --device cpu"
    for s in 0 15 4097 8..16 64..32 16x16 1,,2 -16 16..x; do
        lab_refused 64 "give sizes from 16 to 4096" $f --size "$s"
    done
    each lab_refused <<'T'
64 | give an action: fft, ocean or article |
64 | give an action | fff
64 | 'ct2-dat' is unknown; did you mean 'ct2-dit'?; docs/inside/fft.md has the names | $f --algorithm ct2-dat
64 | '' is unknown | $f --algorithm ct2-dit,
64 | none of the transforms asked for can do it; lengths are | $f --size 17
64 | none of the transforms asked for can do it | $f --size 48 --algorithm ct2-dit
64 | --kernel has no effect in this action | $f --kernel 256
64 | unknown option '--amount' | $f --amount 1
64 | --rounds 0: give a number from 1 to 1000 | $f --rounds 0
64 | --size needs a value | $f --size
69 | ct2-stages runs on a GPU | $f --algorithm ct2-stages
69 | unknown device 'quantum' | fft --device quantum
64 | ends in .svg | $f --size 16 --plot p.png
69 | ocean needs a GPU | ocean --size 64 --device cpu
69 | article needs a GPU | article --size 64x48 --device cpu
T
}

# LINES ARGUMENTS CONDITIONS...: words, and conditions on the JSON, of one of the lab's benchmarks.
lab() {
    run --separate-stderr "$FFTLAB" $2 --warm-up 0
    echo "$output $stderr"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq "$1" ]
    "$FFTLAB" $2 --warm-up 0 --json >lab.json
    holds lab.json '(d := d["results"])' "${@:3}"
}

@test "fft, article, ocean: words and JSON have a row for each" {
    lab 4 "fft --rounds 2 --size 16..64 --device cpu --algorithm ct2-dit" '[r["size"] for r in d] == [16, 32, 64]' \
        'all(r["algorithm"] == "ct2-dit" and r["device"] == "cpu" and r["bytes"] == 16 * r["size"] ** 2 for r in d)' \
        'all(0 < r[way]["least"] <= r[way]["median"] for r in d for way in ("forward", "inverse"))' \
        'all(0 < r["rms"] < 1e-6 > r["worst"] / 12 for r in d)'
    needs software
    lab 7 "article --device software --size 64x48,48x40 --kernel 16 --rounds 1 --queue 2" \
        '[(r["bloom"], r["width"]) for r in d] == [(b, w) for w in (64, 48) for b in ("article", "article", "fftbloom")]' \
        'all(r["kernel"] == 16 and r["rounds"] == 1 and r["queue"] == 2 and r["copies"] > 0 and r["pixels"] > 0 for r in d)' \
        'all(r["bytes"] > 3 * 16 * r["width"] * r["height"] and r["frame"]["least"] > 0 for r in d)' \
        'all((p := [r[k]["median"] for k in ("forward", "convolve", "inverse")]) and min(p) > 0 and abs(sum(p) - r["frame"]["median"]) < 1e-8 for r in d)' \
        'all(r["rms"] > 1e-3 if r["bloom"] == "article" else r["worst"] < 1e-5 for r in d)' \
        '[r["first"] for r in d[:2]] == ["x", "y"] and d[1]["length_1"] == 64' \
        'abs(d[0]["rms"] - d[1]["rms"]) < 1e-5' # which axis is first changes nothing but rounding
    export FFTBLOOM_VALIDATION=1
    lab 3 "ocean --device software --size 64 --rounds 1 --algorithm ours,ct2-axis" '[r["algorithm"] for r in d] == ["ct2-axis", "ours"]' \
        'all(r["size"] == 64 and 0 < r["rms"] < 1e-6 and r["worst"] < 5e-6 for r in d)' \
        'all(abs(r["frames_per_second"] * r["frame"]["median"] - 1) < 1e-2 for r in d)'
    local sea="ocean --device software --size 64 --rounds 1 --warm-up 0"
    "$FFTLAB" $sea --algorithm ours -o sea.exr >/dev/null
    "$FFTBLOOM" info sea.exr --json | holds - '(d["parts"][0]["width"], d["parts"][0]["height"]) == (64, 32)'
    each lab_refused <<'T'
64 | the sea is made on a GPU | $sea --algorithm ct2-dit
64 | a sea has an even side, from 64 on | $sea --size 32
64 | a sea has an even side, from 64 on | $sea --size 135
74 | | $sea -o no/sea.exr
T
}

@test "--plot draws each of the lab's benchmarks as an SVG" {
    needs software
    while read -r curves sizes what; do
        "$FFTLAB" $what --device software --rounds 1 --warm-up 0 --plot p.svg >/dev/null
        python3 -c "
import xml.dom.minidom as m
lines = m.parse('p.svg').getElementsByTagName('polyline')
assert [len(l.getAttribute('points').split()) for l in lines] == [$sizes] * $curves"
    done <<'T'
2 3 fft --size 16..64 --algorithm ct2-dit,ours
1 1 ocean --size 64 --algorithm ours
3 2 article --size 64x48,48x40 --kernel 16
T
}
