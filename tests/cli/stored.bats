# What is promised is about the samples that are stored: compressions that change pixels are written where they are
# asked for, and then nothing is promised.

load files

# Light of several layers and data whose names DWA takes for colour, the same in all codecs that lose.
setup_file() {
    shared_folder || return 0
    image kernel.exr 9x7 float 0.01,0.01,0.02 4,3=1,1,1
    local types="-d half -d Z=float -d CryptoObject00.R=float -d CryptoObject00.G=float -d CryptoObject00.B=float"
    oiiotool --pattern noise:type=uniform:min=0.05:max=2:seed=1 96x70 14 --compression zip \
        --chnames R,G,B,A,Z,rim.R,rim.G,rim.B,CryptoObject00.R,CryptoObject00.G,CryptoObject00.B,N.X,N.Y,N.Z $types -o zip.exr
    has_openexr || return 0
    local codec
    for codec in pxr24 b44 b44a dwaa dwab; do
        oiiotool zip.exr $types --compression $codec -o $codec.exr # loses; what is in the file is what counts
        oiiotool $codec.exr $types --compression zip -o $codec.as.zip.exr
    done
}

bloom() { "$FFTBLOOM" "$@" --device cpu; }

promise() { # REPORT KEPT STORED: as Python says them
    holds "$1" "(f['promise']['kept'], f['promise']['stored']) == ($2, '$3')"
}

packed() { # FILE CODEC
    "$FFTBLOOM" info "$1" --json | holds - "{p['compression'] for p in d['parts']} == {'$2'}"
}

same() { # A B [CHANNELS]: bit for bit
    oiiotool "$1" ${3:+--ch "$3"} "$2" ${3:+--ch "$3"} --fail 0 --warn 0 --diff >/dev/null
}

DATA=Z,CryptoObject00.R,CryptoObject00.G,CryptoObject00.B,N.X,N.Y,N.Z

@test "keep: the stored samples of the street, packed by DWAA, are those of ZIP" {
    needs_openexr
    local street=$FFTBLOOM_ROOT/testdata/street.exr
    packed "$street" dwaa
    run --separate-stderr "$FFTBLOOM" "$street" kernel.exr -o kept.exr --verify 64 --report r.json --device cpu
    echo "$stderr"
    [ "$status" -eq 0 ]
    [ "$(grep -c 'dwaa' <<<"$stderr")" -eq 1 ]
    [[ "$stderr" == *"written as zip; --compression dwaa keeps it"* ]]
    promise r.json True rounded
    holds r.json 'f["verify"]["broken"] == 0' 'len([n for n in f["notes"] if "--compression dwaa" in n]) == 1'
    packed kept.exr zip
    bloom "$street" kernel.exr -o zip.street.exr --compression zip
    cmp kept.exr zip.street.exr
    # What reads the file finds the promise kept, too.
    bloom "$street" kernel.exr -o doubles.exr --compression zip --precision float64 --pixel-type float --tolerance 1e-6
    "$FFTBLOOM" diff kept.exr doubles.exr --fail 1e-6 --failrelative 0.0015
}

@test "keep: data beside light stays bit for bit, in each codec" {
    needs_openexr
    local codec
    for codec in pxr24 b44 b44a dwaa dwab; do
        bloom $codec.exr kernel.exr -o out.exr --report r.json
        packed out.exr zip
        same out.exr $codec.as.zip.exr $DATA
        run ! same out.exr $codec.as.zip.exr R,G,B
        promise r.json True rounded
    done
}

@test "keep: a codec that loses nothing of a part stays" {
    needs_openexr
    local codec
    says 0 "" zip.exr kernel.exr -o out.exr --device cpu
    [ -z "$output" ]
    packed out.exr zip
    for codec in dwaa dwab; do # names that DWA leaves whole
        oiiotool zip.exr --ch Z,N.X,N.Z --compression $codec -o data.exr
        bloom data.exr kernel.exr -o out.exr --layers N.X --report r.json
        packed out.exr $codec
        promise r.json True rounded
        same data.exr out.exr Z,N.Z
    done
    oiiotool zip.exr --ch R,G,B,N.Y -d float --compression b44 -o b.exr
    bloom b.exr kernel.exr -o out.exr --report r.json
    packed out.exr b44
    promise r.json True rounded
    same b.exr out.exr N.Y
    oiiotool zip.exr --ch R,G,B,N.Y -d half --compression pxr24 -o p.exr
    bloom p.exr kernel.exr -o out.exr
    packed out.exr pxr24
    # Floats come in: PXR24 changes them.
    bloom p.exr kernel.exr -o out.exr --pixel-type float
    packed out.exr zip
}

@test "keep: glare as a layer and as a file: in + additive is the output" {
    needs_openexr
    oiiotool dwaa.exr --ch R,G,B -d half --compression dwaa -o in.exr
    bloom in.exr kernel.exr -o out.exr --emit additive --emit-file glare.exr --pixel-type float
    packed out.exr zip
    packed glare.exr zip
    oiiotool in.exr --ch R,G,B -d float glare.exr --add -d float --compression zip -o sum.exr
    "$FFTBLOOM" diff sum.exr out.exr --fail 1e-6 --failrelative 1e-6
    bloom in.exr kernel.exr -o out.exr --emit additive --emit-layer glow --pixel-type float
    packed out.exr zip
    oiiotool in.exr -d float out.exr --ch R=glow.R,G=glow.G,B=glow.B --add -d float --compression zip -o sum.exr
    oiiotool out.exr --ch R,G,B -d float --compression zip -o only.exr
    "$FFTBLOOM" diff sum.exr only.exr --fail 1e-6 --failrelative 1e-6
    # A file of glare decides for itself: B44 loses nothing of floats.
    oiiotool zip.exr --ch Y=R,N.X -d Y=float -d N.X=half --compression b44 -o y.exr
    bloom y.exr kernel.exr -o out.exr --emit-file glare.exr
    packed out.exr zip
    packed glare.exr b44
}

@test "a lossy codec that is named: nothing is promised, and data that changes is named" {
    needs_openexr
    run --separate-stderr "$FFTBLOOM" zip.exr kernel.exr -o out.exr --compression dwaa --report r.json --device cpu
    [ "$status" -eq 0 ]
    [ "$stderr" = "fftbloom: dwaa changes data: CryptoObject00.B, CryptoObject00.G, CryptoObject00.R, N.Y" ] || { echo "$stderr"; false; }
    packed out.exr dwaa
    promise r.json None lossy
    holds r.json 'any("the tolerance is about those before" in n for n in f["notes"])' 'any("changes data" in n for n in f["notes"])'
    says 0 "dwaa changes pixels as they are stored" zip.exr kernel.exr -o out.exr --compression dwaa -v --device cpu
    says 0 "stored      lossy" plan zip.exr kernel.exr --compression dwaa
    [[ "$output" == *"dwaa changes pixels"*"dwaa changes data: "* ]]
    "$FFTBLOOM" plan zip.exr kernel.exr --compression dwaa --json 2>/dev/null | holds - 'd["promise"]["kept"] is None'
    "$FFTBLOOM" plan dwaa.exr kernel.exr --json 2>/dev/null | holds - '(d["promise"]["kept"], d["promise"]["stored"]) == (True, "rounded")' '"--compression dwaa" in d["notes"][0]'
    # More names than fit a line.
    oiiotool --pattern noise 40x30 7 --chnames Y,a.x,b.x,c.x,d.x,e.x,f.x -d half --compression zip -o six.exr
    says 0 "b44 changes data: N.X, N.Y, N.Z" zip.exr kernel.exr -o out.exr --compression b44 --device cpu
    says 0 "b44 changes data: a.x, b.x, c.x, d.x and 2 more" six.exr kernel.exr -o out.exr --compression b44 --device cpu
    # A codec that may lose, and does not here.
    oiiotool zip.exr --ch R,G,B -d float -o float.exr
    bloom float.exr kernel.exr -o out.exr --compression b44 --report r.json
    promise r.json True rounded
    packed out.exr b44
    # One pixel is larger packed, and so is stored as it is.
    image one.exr 1x1 half 0.5,0.25,0.125
    bloom one.exr kernel.exr -o out.exr --compression dwaa --report r.json
    promise r.json True rounded
    # The glare's file counts, too.
    bloom float.exr kernel.exr -o out.pfm --emit-file glare.exr --report r.json
    promise r.json True rounded
}

@test "without OpenEXR a lossy codec becomes ZIP, of which all is promised" {
    if has_openexr; then skip "built with OpenEXR"; fi
    local codec
    for codec in pxr24 b44 b44a dwaa dwab; do
        says 0 "writing zip" zip.exr kernel.exr -o out.exr --compression $codec --report r.json --device cpu
        [[ "$output" != *"changes"* ]]
        packed out.exr zip
        promise r.json True rounded
        same out.exr zip.exr $DATA
    done
}

@test "a picture is one, and its promise is that of the light" {
    bloom zip.exr kernel.exr -o out.png --report r.json
    promise r.json True picture
}

@test "nothing changes: the part is copied as it is packed, unless a codec that loses nothing is named" {
    needs_openexr
    for codec in pxr24 b44 dwaa; do
        says 0 "" $codec.exr kernel.exr -o out.exr --amount 0 --device cpu
        [ -z "$output" ]
        packed out.exr $codec
        same $codec.exr out.exr
        bloom $codec.exr kernel.exr -o out.exr --amount 0 --compression piz
        packed out.exr piz
        same $codec.exr out.exr
    done
    # A part of data beside one of light: also where all of it is in memory for a space.
    oiiotool dwaa.exr --ch R,G,B -d half --attrib oiio:subimagename beauty -o beauty.exr
    oiiotool dwaa.exr --ch CryptoObject00.R,CryptoObject00.G,CryptoObject00.B --attrib oiio:subimagename ids -d half --compression dwaa -o ids.exr
    oiiotool beauty.exr ids.exr --siappendall -o parts.exr
    local how
    for how in "" "--compression b44" "--compression dwab" "--output-space acescg" "--pixel-type float" "--compression dwaa --mem-limit 5MB"; do
        bloom parts.exr kernel.exr -o out.exr $how --report r.json
        oiiotool parts.exr --subimage 1 out.exr --subimage 1 --fail 0 --warn 0 --diff >/dev/null
        "$FFTBLOOM" info out.exr --json | holds - 'd["parts"][1]["compression"] == "dwaa"'
    done
    bloom parts.exr kernel.exr -o out.exr --compression zip
    oiiotool parts.exr --subimage 1 out.exr --subimage 1 --fail 0 --warn 0 --diff >/dev/null
    packed out.exr zip
}

@test "a suite's case is compared before a codec" {
    needs_openexr
    cat >suite.json <<'J'
{"version": 1, "cases": [{"name": "a", "config": {"input": "dwaa.exr", "kernel": "kernel.exr", "device": "cpu", "compression": "dwaa"},
 "reference": "ref.exr", "verify": 64}]}
J
    "$FFTBLOOM" check suite.json --bless
    packed ref.exr zip
    says 0 "" check suite.json --json told.json
    holds told.json '(d["cases"][0]["promise"]["kept"], "stored" in d["cases"][0]["promise"]) == (True, False)' || { cat told.json; false; }
    bloom dwaa.exr kernel.exr -o zip.out.exr --compression zip
    same zip.out.exr ref.exr
}

@test "a frame whose record is of a program that kept DWAA is made once more" {
    says 0 "" zip.exr kernel.exr -o out.exr --existing update -v --device cpu
    says 0 "up to date" zip.exr kernel.exr -o out.exr --existing update -v --device cpu
    sed -i 's/^fftbloom record 2$/fftbloom record 1/' cache/records/*.record
    grep -q '^fftbloom record 1$' cache/records/*.record
    run "$FFTBLOOM" zip.exr kernel.exr -o out.exr --existing update -v --device cpu
    [[ "$status" -eq 0 && "$output" != *"up to date"* ]]
}

@test "clamped pixels: the note has the channels" {
    image big.exr 8x6 float 0,0,0 3,3=90000,10,90000 -- one.exr 1x1 float 1
    bloom big.exr one.exr -o out.exr --pixel-type half --report r.json
    holds r.json "any(\"were clamped to it: 'R' 'B'\" in n for n in f['notes'])"
}
