# fftbloom info: what it says of files that oiiotool makes and of OpenEXR's samples.

load files

setup_file() {
    shared_folder || return 0
    # A half RGBA with a float Z, cropped, with attributes of several types.
    oiiotool --create 20x10 5 --chnames R,G,B,A,Z -d half -d Z=float --compression piz \
        --attrib owner 'me and "you"' --attrib:type=float aperture 2.8 \
        --attrib:type=timecode smpte:TimeCode 01:02:03:04 \
        --origin +3-2 --fullsize 32x16+0+0 -o beauty.exr
    oiiotool --create 8x8 3 --chnames diffuse.R,diffuse.G,diffuse.B -d half --tile 4 4 --fullsize 32x16+0+0 \
        --attrib oiio:subimagename light beauty.exr --siappend -o two.exr \
        --create 6x4 3 -o a.hdr --create 6x4 4 -o a.png
}

json() { # FILE CONDITIONS...: p is the first part
    "$FFTBLOOM" info --json "$1" | holds - '(p := d["parts"][0])' "${@:2}"
}

@test "windows, storage, roles, attributes: in words, and as JSON" {
    says 0 "    width       20" info beauty.exr
    while read -r words; do [[ "$output" == *"$words"* ]] || { echo "no $words"; return 1; }; done <<'T'
data window 3 -2 22 7
display window 0 0 31 15
compression piz
line order  increasing
A                 half  alpha
Z                 float  data
rgba              channels R G B  A
owner             string  me and "you"
timeCode          timecode  01:02:03:04
T
    json beauty.exr '(d["version"], d["format"], p["compression"]) == (1, "exr", "piz")' \
        'p["data_window"] == [3, -2, 22, 7] and p["display_window"] == [0, 0, 31, 15]' \
        '[(c["name"], c["role"]) for c in p["channels"] if c["name"] in "AZ"] == [("A", "alpha"), ("Z", "data")]' \
        'p["groups"] == [{"layer": "", "channels": ["R", "G", "B"], "alpha": "A"}]' \
        '{a["name"]: a["value"] for a in p["attributes"]}["owner"] == "me and \"you\""'
}

@test "several parts, tiles, and globs; other formats" {
    json two.exr '(len(d["parts"]), p["name"], p["tiles"]["width"]) == (2, "light", 4)'
    says 0 "diffuse.B         half  data" info two.exr --exclude 'diff*'
    says 0 "Z                 half  colour" info two.exr --layers 'Z'
    json a.hdr '(d["format"], p["width"], len(p["channels"]), "compression" in p) == ("hdr", 6, 3, False)'
    json a.png '(d["format"], len(p["channels"])) == ("png", 4)'
}

@test "what cannot be read is refused with its name and reason; the sample files of OpenEXR" {
    samples=$FFTBLOOM_ROOT/../shared/data/openexr-images
    echo nonsense >bad.exr
    refused 66 "none.exr" info none.exr
    refused 65 "not a recognised image format" info bad.exr
    refused 64 "" info
    [ -d "$samples" ] || skip "no samples"
    json "$samples/MultiView_Fog.exr" '[g["layer"] for g in p["groups"]] == ["", "right"]'
    json "$samples/MultiResolution_WavyLinesLatLong.exr" 'p["tiles"]["mipmapped"]'
}
