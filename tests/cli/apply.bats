# `fftbloom apply`: files in, files out, sequences, reports, and the manners of a batch tool.

load files

setup_file() {
    shared_folder || return 0
    # A dark image with one bright pixel, and a small lopsided kernel.
    image in.exr 40x30 half 0.1,0.2,0.3 7,9=50,40,30 -- \
        kernel.exr 9x7 float 0.01,0.01,0.02 4,3=1,1,1 6,1=0.5,0.4,0.3
}

sequence() { for i in "$@"; do cp in.exr "in.$i.exr"; done; }

@test "one image: the whole program in one line, and the same bytes by every form of it" {
    warns "" in.exr kernel.exr -o out.exr
    # The glare of the bright pixel is at the kernel's second peak: two right of it, two up.
    [ "$(pixel out.exr 9 7 R | cut -d. -f1)" -gt 5 ]
    [ "$(pixel out.exr 5 11 R | cut -d. -f1)" -lt 5 ]
    # Nothing else lies around.
    [ "$(ls -A | grep -v -e cache | xargs)" = "in.exr kernel.exr out.exr" ]
    "$FFTBLOOM" apply in.exr kernel.exr -o b.exr
    "$FFTBLOOM" --input in.exr --kernel kernel.exr --output c.exr
    cmp out.exr b.exr
    cmp out.exr c.exr
}

@test "type and compression are the input's, or what is asked for" {
    kind() { # FILE options...: the type and compression of what is made of it
        "$FFTBLOOM" "$1" kernel.exr -o out.exr "${@:2}"
        "$FFTBLOOM" info out.exr | sed -n 's/^ *R  *\([a-z]*\)  colour/\1/p; s/^ *compression \([a-z0-9]*\)$/\1/p' | xargs
    }
    [ "$(kind in.exr)" = "zip half" ]
    [ "$(kind in.exr --compression piz --pixel-type float)" = "piz float" ]
    [ "$(kind kernel.exr)" = "zip float" ]
    [ "$(kind kernel.exr --pixel-type half --compression none)" = "none half" ]
}

@test "floats become halfs also where nothing is bloomed" {
    "$FFTBLOOM" kernel.exr kernel.exr -o f.exr --amount 0 --pixel-type half
    "$FFTBLOOM" diff f.exr kernel.exr --fail 0.001 --warn 0.001
}

@test "what is missing or wrong: its code, a sentence, and no output" {
    echo rubbish >rubbish.exr
    sequence 0001 0002
    each refused <<'T'
65 | kernel: 'rubbish.exr' | in.exr rubbish.exr -o out.exr
64 | | in.exr kernel.exr -o out.####.exr
64 | | in.exr kernel.exr -o out.exr --frames 1-3
64 | 2 frames would go into the one file | in.####.exr kernel.exr -o out.exr
64 | frame range 1004-1001 runs backwards; write 1001-1004 | in.####.exr kernel.exr -o out.####.exr --frames 1004-1001
66 | | plan none.exr kernel.exr
T
    [ -z "$(ls | grep out)" ]
    "$FFTBLOOM" in.####.exr kernel.exr -o out.exr --frames 2
    [ -s out.exr ]
}

@test "sequences: every pattern, scanned and listed; a folder as output takes the inputs' names" {
    sequence 0001 0002 0010
    "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr
    [ "$(ls out.* | xargs)" = "out.0001.exr out.0002.exr out.0010.exr" ]
    "$FFTBLOOM" in.%04d.exr kernel.exr -o 'b.$F3.exr' --frames 1-2,10
    [ "$(ls b.* | xargs)" = "b.001.exr b.002.exr b.010.exr" ]
    cmp out.0010.exr b.010.exr
    mkdir c
    "$FFTBLOOM" in.#.exr kernel.exr -o c
    "$FFTBLOOM" in.exr kernel.exr -o c/ --amount 0
    [ "$(ls c | xargs)" = "in.0001.exr in.0002.exr in.0010.exr in.exr" ]
    "$FFTBLOOM" diff -q c/in.exr in.exr --fail 0
}

@test "IN and KERNEL that have changed places: one warning that says why, and no false alarm" {
    local shipped=$FFTBLOOM_ROOT before="IN and KERNEL may be swapped: the kernel"
    sequence 0001 0002
    for i in 1 2; do cp kernel.exr k.000$i.exr; done
    image crop.exr 12x10 half 0.1,0.2,0.3 2,4=50,40,30
    # A kernel that is larger than the image is not wrong in itself.
    for pair in "$shipped/testdata/small.exr $shipped/testdata/kernel.exr" "in.exr kernel.exr" \
        "crop.exr $shipped/testdata/star.exr"; do
        warns "" $pair -o out.exr
    done
    warns "$before" "$shipped/testdata/kernel.exr" "$shipped/testdata/small.exr" -o out.exr
    warns "is larger than the image, and off centre by " kernel.exr in.exr -o out.exr
    image below.exr 60x60 half 0 30,50=9 # off centre along y alone
    warns "$before" crop.exr below.exr -o out.exr
    # Once for a sequence; a plan says it as well.
    warns "$before" k.####.exr in.exr -o out.####.exr
    run --separate-stderr "$FFTBLOOM" plan crop.exr in.exr
    [[ "$stderr" == *"$before"*"larger than the image"* ]]
}

@test "a kernel that makes every picture wrong: one line, once in a run, and a note in reports" {
    faulty() { # WORDS arguments...
        run --separate-stderr "$FFTBLOOM" "${@:2}"
        echo "$status $stderr"
        [ "$status" -eq 0 ]
        [ "$stderr" = "fftbloom: warning: kernel '$1: fftbloom kernel check ${1%%\'*}" ]
    }
    "$FFTBLOOM" kernel make moffat --taps 41 -o lamp.exr
    # A photograph: a core that is cut off, a grey sky, the lamp beside the middle.
    "$FFTBLOOM" kernel make moffat --taps 141 -o night.exr
    oiiotool lamp.exr --crop 31x31+8+6 --origin +0+0 --fullpixels -o moved.exr \
        night.exr --mulc 40 --addc 0.02 --clamp:max=1 --crop 101x101+17+18 --origin +0+0 --fullpixels -o photo.exr
    sequence 0001 0002
    faulty "moved.exr': off centre by -3, -1" in.exr moved.exr -o out.exr --report r.json
    grep -qF "\"notes\": [\"kernel 'moved.exr': off centre by -3, -1\"]" r.json
    faulty "moved.exr': off centre by -3, -1" in.####.exr moved.exr -o out.####.exr --jobs 2
    faulty "moved.exr': off centre by -3, -1" plan in.exr moved.exr
    faulty "moved.exr': off centre by -3, -1" in.exr moved.exr -o out.exr --normalize none
    "$FFTBLOOM" in.exr moved.exr -o out.exr --normalize none --kernel-center 1,2 --report r.json # any array
    grep -qF '"notes": []' r.json
    faulty "moved.exr': off centre by -3, -1" precompute moved.exr -o k.spectrum
    warns "" in.exr moved.exr -o out.exr --kernel-center peak
    warns "kernel 'photo.exr': off centre by 3, 1; " in.exr photo.exr -o out.exr
    [[ "$stderr" == *" % background: fftbloom kernel check photo.exr" ]]
}

@test "--existing skip leaves what exists and says so with 5" {
    echo mine >out.exr
    says 5 "" in.exr kernel.exr -o out.exr --existing skip
    [ "$(cat out.exr)" = mine ]
    "$FFTBLOOM" in.exr kernel.exr -o out.exr
    [ "$(head -c 4 out.exr | od -An -tx1)" = " 76 2f 31 01" ]
}

@test "--existing update skips what is the same and nothing else" {
    made() { # COUNT arguments...
        "$FFTBLOOM" "${@:2}" --existing update --json | holds - "d['done'] == $1"
    }
    made 1 in.exr kernel.exr -o out.exr
    made 0 in.exr kernel.exr -o out.exr
    made 0 in.exr kernel.exr -o "$PWD/out.exr" --jobs 1
    made 1 in.exr kernel.exr -o out.exr --amount 0.9
    made 1 in.exr kernel.exr -o out.exr
    touch -d '2001-01-01' in.exr
    made 1 in.exr kernel.exr -o out.exr
    # A kernel is known by its content, not by its name.
    cp kernel.exr other.exr
    made 0 in.exr other.exr -o out.exr
    image kernel.exr 9x7 float 0.01,0.02,0.02 4,3=1,1,1
    made 1 in.exr kernel.exr -o out.exr
    touch out.exr
    made 1 in.exr kernel.exr -o out.exr
    rm out.exr
    made 1 in.exr kernel.exr -o out.exr
    # Of what was made without --existing update, too.
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --amount 0.5
    made 0 in.exr kernel.exr -o out.exr --amount 0.5
    # A broken record is no record.
    for f in cache/records/*.record; do echo x >"$f"; done
    made 1 in.exr kernel.exr -o out.exr --amount 0.5
    # Where nothing can be remembered, that is said once.
    sequence 0001 0002
    echo rubbish >nocache
    warns "made again by the next --existing update: " in.####.exr kernel.exr -o out.####.exr --existing update --cache-dir nocache
    (unset FFTBLOOM_CACHE_DIR XDG_CACHE_HOME HOME && warns "no cache folder" in.exr kernel.exr -o out.exr --existing update)
    warns "" in.exr kernel.exr -o out.exr --cache-dir nocache
}

@test "--existing update knows all files of a frame, and who made them" {
    frame="in.exr kernel.exr -o out.exr --existing update"
    glare="$frame --emit-file glare.exr"
    "$FFTBLOOM" $frame
    cp kernel.exr glare.exr
    "$FFTBLOOM" $glare
    run ! cmp -s kernel.exr glare.exr
    cp glare.exr good.exr
    says 0 "up to date" $glare -v
    says 0 "up to date" in.exr kernel.exr -o ./out.exr --emit-file "$PWD/glare.exr" --existing update -v
    # Damaged, touched, missing.
    for harm in "truncate -s 2" touch rm; do
        $harm glare.exr
        "$FFTBLOOM" $glare
        cmp good.exr glare.exr
    done
    "$FFTBLOOM" in.exr kernel.exr -o out.png --before before.png --existing update
    cp before.png good.png
    echo x >before.png
    "$FFTBLOOM" in.exr kernel.exr -o out.png --before before.png --existing update
    cmp good.png before.png
}

@test "a plan with an output lists frames and their plan, and writes nothing" {
    sequence 0001 0002 0003
    "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --frames 1 --existing update
    snapshot() { find . -printf '%p %s %T@\n' | sort; }
    before=$(snapshot)
    run -0 --separate-stderr "$FFTBLOOM" plan in.####.exr kernel.exr -o out.####.exr --existing update
    [ "${lines[0]}" = "in.0001.exr -> out.0001.exr: the output is up to date" ]
    [ "${lines[1]}" = "in.0002.exr -> out.0002.exr" ]
    [ "${lines[3]}" = "2 of 3 frames would be made, 1 are up to date, 0 skipped" ]
    says 0 "in.0001.exr -> out.0001.exr: skipped, the output exists" plan in.####.exr kernel.exr -o out.####.exr --existing skip
    [ "$("$FFTBLOOM" plan in.exr kernel.exr -o out.exr | head -n 1)" = "in.exr -> out.exr" ]
    says 66 "in.0004.exr -> out.0004.exr: the input cannot be found" plan in.####.exr kernel.exr -o out.####.exr --frames 3-4
    run "$FFTBLOOM" plan in.####.exr kernel.exr -o out.####.exr --json --cache-dir none
    [ "$(snapshot)" = "$before" ]
    holds - <<<"$output" 'd["dry_run"] and d["to_do"] == 3 and [f["state"] for f in d["frames"]] == ["to do"] * 3'
}

@test "the report tells frames, plan, device, times and settings, also of a run that fails" {
    sequence 0001 0003
    says 5 "" in.####.exr kernel.exr -o out.####.exr --frames 1-3 --keep-going --report r.json --amount 0.75
    holds r.json 'd["version"] == 1 and d["exit_status"] == 5' '[f["state"] for f in d["frames"]] == ["done", "failed", "done"]' \
        '[f["frame"] for f in d["frames"]] == [1, 2, 3]' \
        'd["settings"]["amount"] == 0.75 and d["settings"]["padding"] == "mirror"' \
        'f["plan"]["image"] == [40, 30] and f["plan"]["channels"] == 3' \
        'f["device"]["class"] in ("cpu", "gpu", "software")' 'f["seconds"]["bloom"] > 0 and f["groups"] == 1'
    says 66 "" in.####.exr kernel.exr -o out.####.exr --frames 1-3 --report r.json
    # The frame after the one that fails may have begun before that was known.
    holds r.json 'd["exit_status"] == 66 and [f["state"] for f in d["frames"]][:2] == ["done", "failed"]' '"in.0002.exr" in d["frames"][1]["why"]'
}

@test "--json prints the report and nothing else on stdout; -q says nothing, -v what is done" {
    run -0 --separate-stderr "$FFTBLOOM" in.exr kernel.exr -o out.exr --json -v
    [[ "$stderr" == *"in.exr -> out.exr"*"40 x 30 in "* ]]
    holds - 'd["done"] == 1' <<<"$output"
    sequence 0001
    warns "" in.####.exr kernel.exr -o out.####.exr --frames 1 -q
}

@test "progress: deadline, openjd, json, none" {
    sequence 0001 0002
    progress() { run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --progress "$@"; }
    progress deadline
    [ "$output" = "$(printf 'Progress: 50%%\nProgress: 100%%')" ]
    progress openjd
    # Both frames are under way at once, so either may be done first.
    [ "$(grep -v status <<<"$output")" = "$(printf 'openjd_progress: 50.0\nopenjd_progress: 100.0')" ]
    [ "$(grep status <<<"$output" | sort)" = "$(printf 'openjd_status: out.0001.exr\nopenjd_status: out.0002.exr')" ]
    progress none
    [ -z "$output$stderr" ]
    echo x >in.0005.exr
    progress openjd --frames 1,5 --keep-going
    [[ "$output" == *"openjd_progress: 100.0"*"openjd_fail: "* ]]
    # A name cannot give the scheduler orders.
    run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o $'o\nopenjd_env: A=b\n.####.exr' --frames 1 --progress openjd
    [ -s $'o\nopenjd_env: A=b\n.0001.exr' ]
    [ "$(grep -c ^openjd_env <<<"$output")" = 0 ]
    run -66 --separate-stderr "$FFTBLOOM" $'no\nopenjd_env: A=b\n.####.exr' kernel.exr -o o.####.exr --frames 1 --progress openjd
    [ "$(grep -c ^openjd_env <<<"$output")" = 0 ]
}

@test "plan: text and JSON, of an image or the first of a sequence" {
    says 0 "  reach before 4 3" plan in.exr kernel.exr
    [[ "$output" == *"  image       40 30"*"  lengths     "*"  bytes       image 7.2 kB, "* ]]
    sequence 0005
    "$FFTBLOOM" plan in.####.exr kernel.exr --json >p.json
    # At least the image and the kernel's reach. The powers of two are there for comparison.
    holds p.json '(p := d["plan"])["lengths"][0] >= 40 + 4 and p["lengths"][1] >= 30 + 3 and p["power_of_two_lengths"] == [64, 64]' \
        'p["first"] in "xy" and p["bytes"]["all"] > 0'
    # Of the devices it says what `devices` says, in words, too.
    "$FFTBLOOM" devices --json >d.json
    holds d.json '(wide := lambda s: {d["name"]: d["limits"]["float64"] for d in s}) and [x["index"] for x in d["devices"]] == list(range(len(d["devices"])))' \
        'wide(f["device"] for f in json.load(open("p.json"))["forecast"]) == wide(d["devices"])'
    "$FFTBLOOM" devices >d.txt
    grep -qE '^0 +(gpu|cpu|software)' d.txt
    [ "$(grep -c ' float64$' d.txt)" = "$(grep -c '"float64": true' d.json)" ]
}
