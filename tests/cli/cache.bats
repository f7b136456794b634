#!/usr/bin/env bats
# fftbloom cache: what it prints, what it removes, what it leaves alone.

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    export FFTBLOOM_CACHE_DIR=$dir/cache
    mkdir -p "$FFTBLOOM_CACHE_DIR/spectra"
    old=00000000000000000000000000000000.v1.spectrum
    new=ffffffffffffffffffffffffffffffff.v1.spectrum
}

# Two entries of 1000 bytes that are no spectra, and two files that are no entries.
fill() {
    head -c 1000 /dev/zero | tee "$FFTBLOOM_CACHE_DIR/spectra/$old" >"$FFTBLOOM_CACHE_DIR/spectra/$new"
    touch -d '2001-02-03 04:05:06 UTC' "$FFTBLOOM_CACHE_DIR/spectra/$old"
    echo speed >"$FFTBLOOM_CACHE_DIR/device-speed-0"
    echo note >"$FFTBLOOM_CACHE_DIR/spectra/note.spectrum"
}

json() { python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }

@test "path says where, by flag, variable and home" {
    [ "$("$FFTBLOOM" cache path)" = "$dir/cache" ]
    [ "$("$FFTBLOOM" cache path --cache-dir elsewhere)" = elsewhere ]
    unset FFTBLOOM_CACHE_DIR
    [ "$(XDG_CACHE_HOME=/x "$FFTBLOOM" cache path)" = /x/fftbloom ]
    [ "$(env -u XDG_CACHE_HOME HOME=/h "$FFTBLOOM" cache path)" = /h/.cache/fftbloom ]
    run --separate-stderr env -u XDG_CACHE_HOME -u HOME "$FFTBLOOM" cache path
    [ "$status" -eq 64 ]
    [[ "$stderr" == *"no cache folder"* ]]
}

@test "nobody else can change what is kept, whatever the umask, and what others own is not believed" {
    [ -e "$FFTBLOOM_ROOT/kernels/portrait.json" ] || skip "no shipped kernels"
    rm -r "$FFTBLOOM_CACHE_DIR"
    cp "$FFTBLOOM_ROOT/testdata/small.exr" "$dir/in.exr"
    (umask 000 && "$FFTBLOOM" "$dir/in.exr" -k portrait -o "$dir/out.exr" --device cpu --existing update -q)
    mode() { stat -c %a "$FFTBLOOM_CACHE_DIR/$1"; }
    [ "$(mode kernels)" = 755 ]
    [ "$(mode spectra)" = 700 ]
    [ "$(mode stamps)" = 700 ]
    case $(mode .) in 700 | 755) ;; *) false ;; esac
    for f in "$FFTBLOOM_CACHE_DIR"/kernels/*; do [ "$(stat -c %a "$f")" = 644 ]; done
    [ "$(id -u)" = 0 ] || skip "only root can give files away"
    # Another user's kernel, and spectrum: they are made again.
    kernel=$(echo "$FFTBLOOM_CACHE_DIR"/kernels/portrait-*.exr)
    cp "$kernel" "$dir/want.exr"
    "$FFTBLOOM" kernel make gaussian --param sigma=30 --taps 257 -o "$dir/other.exr"
    cat "$dir/other.exr" >"$kernel"
    chown nobody "$kernel"
    cp "$dir/out.exr" "$dir/first.exr"
    "$FFTBLOOM" "$dir/in.exr" -k portrait -o "$dir/out.exr" --device cpu -q
    cmp "$dir/out.exr" "$dir/first.exr"
    cmp "$kernel" "$dir/want.exr"
    chown nobody "$FFTBLOOM_CACHE_DIR"/spectra/*
    run --separate-stderr "$FFTBLOOM" "$dir/in.exr" -k portrait -o "$dir/out.exr" --device cpu -v
    [[ "$stderr" == *"belongs to another user, and is not used"* ]]
    cmp "$dir/out.exr" "$dir/first.exr"
}

@test "list prints the entries, last used first, and JSON" {
    fill
    run --separate-stderr "$FFTBLOOM" cache list
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == *"$new" ]]
    [[ "${lines[1]}" == "2001-02-03 04:05:06"*"$old" ]]
    run --separate-stderr "$FFTBLOOM" cache list --json
    [ "$(json 'd["bytes"], [e["name"][0] for e in d["entries"]], d["budget"]' <<<"$output")" = "2000 ['f', '0'] 2000000000" ]
    [ "$(json 'd["entries"][1]["used"]' <<<"$output")" = 981173106 ]
}

@test "a folder that is not there holds nothing" {
    run --separate-stderr "$FFTBLOOM" cache list --cache-dir "$dir/none"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ ! -e "$dir/none" ]
    run --separate-stderr "$FFTBLOOM" cache verify --cache-dir "$dir/none" --json
    [ "$(json 'd["entries"]' <<<"$output")" = "[]" ]
}

@test "verify names what is broken and exits 65" {
    fill
    run --separate-stderr "$FFTBLOOM" cache verify
    [ "$status" -eq 65 ]
    [[ "${lines[0]}" == "bad $new: "*"does not begin as a .spectrum"* ]]
    [[ "$stderr" == *"2 of 2 spectra are broken"* ]]
    run --separate-stderr "$FFTBLOOM" cache verify --json
    [ "$status" -eq 65 ]
    [ "$(json '[e["ok"] for e in d["entries"]]' <<<"$output")" = "[False, False]" ]
}

@test "trim removes the oldest spectra and nothing else" {
    fill
    run --separate-stderr "$FFTBLOOM" cache trim --cache-size 1500 --json
    [ "$status" -eq 0 ]
    [ "$(json 'd["removed"], d["kept_bytes"]' <<<"$output")" = "1 1000" ]
    [ ! -e "$FFTBLOOM_CACHE_DIR/spectra/$old" ]
    [ -e "$FFTBLOOM_CACHE_DIR/spectra/$new" ]
    run --separate-stderr "$FFTBLOOM" cache trim --cache-size 0
    [ ! -e "$FFTBLOOM_CACHE_DIR/spectra/$new" ]
    [ "$(cat "$FFTBLOOM_CACHE_DIR/device-speed-0" "$FFTBLOOM_CACHE_DIR/spectra/note.spectrum")" = "speed
note" ]
}

@test "stamps of --existing update are counted, and go with an emptied cache" {
    fill
    mkdir "$FFTBLOOM_CACHE_DIR/stamps"
    for i in 1 2 3; do echo x >"$FFTBLOOM_CACHE_DIR/stamps/0000000000000000000000000000000$i.stamp"; done
    echo mine >"$FFTBLOOM_CACHE_DIR/stamps/other"
    run --separate-stderr "$FFTBLOOM" cache list
    [[ "$stderr" == *"stamps of finished frames: 3, in "* ]]
    run --separate-stderr "$FFTBLOOM" cache list --json
    [ "$(json 'd["stamps"]' <<<"$output")" = 3 ]
    run --separate-stderr "$FFTBLOOM" cache trim --json
    [ "$(json 'd["stamps_removed"], d["stamps_kept"]' <<<"$output")" = "0 3" ]
    run --separate-stderr "$FFTBLOOM" cache trim --cache-size 0
    [[ "$output" == *"stamps of finished frames: 3 removed, 0 kept"* ]]
    [ "$(ls "$FFTBLOOM_CACHE_DIR/stamps")" = other ]
}

@test "other words are refused with those that are known" {
    refused 64 "unknown cache action 'show'; there are path, list, verify, trim" cache show
    refused 64 "unknown cache action 'clear'; did you mean 'trim --cache-size 0'?" cache clear
    refused 64 "" cache
    refused 64 "" cache trim --cache-size lots
}
