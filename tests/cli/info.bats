#!/usr/bin/env bats
# fftbloom info: what it says of files that oiiotool makes and of OpenEXR's samples.

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    samples=$FFTBLOOM_ROOT/../shared/data/openexr-images
}

json() { "$FFTBLOOM" info --json "$1" | python3 -c "
import json, sys
d = json.load(sys.stdin); p = d['parts'][0]; x = ($2); print(x)"; }

# A half RGBA with a float Z, cropped, with attributes of several types.
make_beauty() {
    oiiotool --create 20x10 5 --chnames R,G,B,A,Z -d half -d Z=float --compression piz \
        --attrib owner 'me and "you"' --attrib:type=float aperture 2.8 \
        --attrib:type=timecode smpte:TimeCode 01:02:03:04 \
        --origin +3-2 --fullsize 32x16+0+0 -o "$dir/beauty.exr"
}

@test "words: windows, storage, roles, attributes" {
    make_beauty
    run --separate-stderr "$FFTBLOOM" info "$dir/beauty.exr"
    [ "$status" -eq 0 ]
    [[ "$output" == *"part 0: 20 x 10, 5 channels"* ]]
    [[ "$output" == *"(3, -2) to (22, 7)"* ]]
    [[ "$output" == *"(0, 0) to (31, 15)"* ]]
    [[ "$output" == *"piz, scan lines, line order increasing"* ]]
    [[ "$output" == *"colour      R G B with A, half"* ]]
    [[ "$output" == *"data        Z, float"* ]]
    [[ "$output" == *'owner (string): me and "you"'* ]]
    [[ "$output" == *"timeCode (timecode): 01:02:03:04"* ]]
}

@test "JSON says the same" {
    make_beauty
    [ "$(json "$dir/beauty.exr" "d['version'], d['format'], p['compression']")" = "(1, 'exr', 'piz')" ]
    [ "$(json "$dir/beauty.exr" "p['data_window'], p['display_window']")" = "([3, -2, 22, 7], [0, 0, 31, 15])" ]
    [ "$(json "$dir/beauty.exr" "[(c['name'], c['role']) for c in p['channels'] if c['name'] in 'AZ']")" = \
        "[('A', 'alpha'), ('Z', 'data')]" ]
    [ "$(json "$dir/beauty.exr" "p['groups']")" = "[{'layer': '', 'channels': ['R', 'G', 'B'], 'alpha': 'A'}]" ]
    [ "$(json "$dir/beauty.exr" "{a['name']: a['value'] for a in p['attributes']}['owner']")" = 'me and "you"' ]
}

@test "several parts, tiles, and globs" {
    make_beauty
    oiiotool --create 8x8 3 --chnames diffuse.R,diffuse.G,diffuse.B -d half --tile 4 4 --fullsize 32x16+0+0 \
        --attrib oiio:subimagename light "$dir/beauty.exr" --siappend -o "$dir/two.exr"
    [ "$(json "$dir/two.exr" "len(d['parts']), p['name'], p['tiles']['width']")" = "(2, 'light', 4)" ]
    run --separate-stderr "$FFTBLOOM" info "$dir/two.exr" --exclude 'diff*'
    [[ "$output" == *"data        diffuse.B, half"* ]]
    run --separate-stderr "$FFTBLOOM" info "$dir/two.exr" --layers 'Z'
    [[ "$output" == *"colour      Z, "* ]]
}

@test "other formats have windows and channels, too" {
    oiiotool --create 6x4 3 -o "$dir/a.hdr" --create 6x4 4 -o "$dir/a.png"
    [ "$(json "$dir/a.hdr" "d['format'], p['width'], len(p['channels']), 'compression' in p")" = \
        "('hdr', 6, 3, False)" ]
    [ "$(json "$dir/a.png" "d['format'], len(p['channels'])")" = "('png', 4)" ]
}

@test "what cannot be read is refused with its name and reason" {
    refused 66 "" info "$dir/none.exr"
    echo nonsense >"$dir/bad.exr"
    refused 65 "not a recognised image format" info "$dir/bad.exr"
    [ -z "$output" ]
    refused 64 "" info
}

@test "the sample files of OpenEXR" {
    [ -d "$samples" ] || skip "no samples"
    [ "$(json "$samples/MultiView_Fog.exr" "[g['layer'] for g in p['groups']]")" = "['', 'right']" ]
    [ "$(json "$samples/MultiResolution_WavyLinesLatLong.exr" "p['tiles']['mipmapped']")" = True ]
    refused 65 "" info "$samples/v2_LowResLeftView_Trunks.exr"
    [[ "$stderr" == *deep* ]]
    refused 65 "'BY' (2 x 2)" info "$samples/Chromaticities_Rec709_YC.exr"
}

@test "names from files cannot steer a terminal" {
    oiiotool --create 4x4 3 --chnames "$(printf 'a\xc2\x9b31m.R,a\xc2\x9b31m.G,a\xc2\x9b31m.B')" \
        --attrib owner "$(printf 'x\xc2\x9b31m\xff')" -o "$dir/evil.exr"
    run --separate-stderr "$FFTBLOOM" info "$dir/evil.exr"
    [ "$status" -eq 0 ]
    [[ "$output" == *'a\u009b31m.R'* ]]
    [[ "$output" == *'x\u009b31m\xff'* ]]
    ! LC_ALL=C grep -q "$(printf '\x9b')" <<<"$output" || false
}
