# Files of several parts: those in which nothing changes come out as they went in.

load files

setup_file() {
    has_openexr || { export NOT_HERE="built without OpenEXR"; return 0; }
    shared_folder || return 0
    part() { # NAME COMPRESSION, and how to make it
        local name=$1 packing=$2
        shift 2
        oiiotool "$@" -d half --attrib oiio:subimagename "$name" --attrib compression "$packing" -o "$name.exr"
    }
    part beauty zip --create 40x30 3 --point:color=50,40,30 7,9
    for packing in b44 dwaa; do
        part $packing $packing --pattern noise:type=gaussian:mean=0.5:stddev=0.2 40x30 3 \
            --chnames crypto00.R,crypto00.G,crypto00.B
    done
    oiiotool beauty.exr b44.exr dwaa.exr --siappendall -o in.exr
    image kernel.exr 9x7 float 0,0,0 4,3=1,1,1 6,1=0.5,0.4,0.3
}

same_part() { # NUMBER A B
    oiiotool "$2" --subimage "$1" "$3" --subimage "$1" --fail 0 --warn 0 --diff
}

@test "data parts in lossy codecs stay bit-identical, and only the chosen parts are changed" {
    "$FFTBLOOM" in.exr kernel.exr -o out.exr
    run ! same_part 0 in.exr out.exr
    same_part 1 in.exr out.exr
    same_part 2 in.exr out.exr
    # Also where other channels change their type.
    "$FFTBLOOM" in.exr kernel.exr -o again.exr --pixel-type float
    same_part 1 in.exr again.exr
    same_part 2 in.exr again.exr
    says 0 "R                 float  colour" info again.exr
    [[ "$output" == *"compression dwaa"*"crypto00.R        half"* ]]
    # Another compression is written from the pixels.
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --compression zip
    for n in 1 2; do same_part $n in.exr out.exr; done
    [ "$("$FFTBLOOM" info out.exr | grep -c '^    compression zip')" = 3 ]
    # A window that grows changes no other.
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --layers 'crypto00' --window grow
    same_part 0 in.exr out.exr
    "$FFTBLOOM" info out.exr --json | holds - '[[p["name"], p["width"], p["height"]] for p in d["parts"]][:2] == [["beauty", 40, 30], ["b44", 48, 36]]'
    # A picture shows colour that was not bloomed.
    "$FFTBLOOM" in.exr kernel.exr -o out.png --layers 'crypto00'
    [ -s out.png ]
}

@test "a part that stays as it is takes no memory" {
    # 18 MB of pixels in a run that may take 12 MB.
    oiiotool --create 1500x1000 3 --chnames crypto00.R,crypto00.G,crypto00.B -d float \
        --fullsize 40x30+0+0 --attrib oiio:subimagename large --attrib compression none -o large.exr
    oiiotool "$FILES/beauty.exr" large.exr --siappendall -o parts.exr
    "$FFTBLOOM" parts.exr kernel.exr -o out.exr --device cpu --mem-limit 12MB
    same_part 1 parts.exr out.exr
    run ! same_part 0 parts.exr out.exr
    # As colour it does not fit whole, and is bloomed in tiles.
    "$FFTBLOOM" parts.exr kernel.exr -o out.exr --device cpu --mem-limit 12MB --layers '*' --report r.json
    grep -q '"tiles"' r.json
}

@test "data that outweighs the colour beside it stays in the file, bit for bit" {
    # 60 channels of 500 x 400 pixels in halfs: 24 MB, of which the colour is 1.2.
    local names plain="--device cpu --padding zero --tolerance 1"
    names=R,G,B$(printf ',id%02d.x,id%02d.y,id%02d.z' {1..57} | cut -d, -f1-58)
    oiiotool --pattern noise:type=gaussian:mean=0.5:stddev=0.2 500x400 60 --chnames "$names" -d half \
        --attrib compression zip -o many.exr --attrib compression none -o bare.exr
    same_data() {
        oiiotool many.exr --ch "${names#R,G,B,}" "$1" --ch "${names#R,G,B,}" --fail 0 --warn 0 --diff
    }
    "$FFTBLOOM" many.exr kernel.exr -o out.exr $plain --mem-limit 20MB --jobs 2
    same_data out.exr
    run ! "$FFTBLOOM" diff many.exr out.exr --fail 0
    # A window that may change takes all channels into memory: the same result in another way.
    "$FFTBLOOM" many.exr kernel.exr -o whole.exr $plain --window display
    cmp out.exr whole.exr
    # With channels that are added, that change their type, and in tiles.
    "$FFTBLOOM" many.exr kernel.exr -o out.exr --emit-layer glow --pixel-type float
    same_data out.exr
    "$FFTBLOOM" bare.exr kernel.exr -o out.exr --device cpu --mem-limit 6MB --jobs 2 --pixel-type float --report tiled.json
    grep -q '"tiles"' tiled.json
    same_data out.exr
}
