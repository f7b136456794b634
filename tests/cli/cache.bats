# fftbloom cache: what it prints, what it removes, what it leaves alone.

load files

setup() {
    own_folder
    mkdir -p cache/spectra
    old=00000000000000000000000000000000.v1.spectrum
    new=ffffffffffffffffffffffffffffffff.v1.spectrum
}

@test "path says where, by flag, variable and home; other words are refused with those that are known" {
    is() { [ "$("$FFTBLOOM" cache path "${@:2}")" = "$1" ]; }
    is "$dir/cache"
    is elsewhere --cache-dir elsewhere
    # tests/unit/test_cache.c has the other variables.
    (unset FFTBLOOM_CACHE_DIR XDG_CACHE_HOME HOME && refused 64 "no cache folder" cache path)
    each refused <<'T'
64 | unknown cache action 'show'; there are path, list, verify, trim | cache show
64 | unknown cache action 'clear': 'fftbloom cache trim --cache-size 0' empties it | cache clear
64 | | cache
64 | | cache trim --cache-size lots
T
}

@test "nobody else can change what is kept, whatever the umask, and what others own is not believed" {
    [ -e "$FFTBLOOM_ROOT/kernels/portrait.json" ] || skip "no shipped kernels"
    rm -r "$FFTBLOOM_CACHE_DIR"
    cp "$FFTBLOOM_ROOT/testdata/small.exr" "$dir/in.exr"
    # In floats, which always take the spectrum of the cache.
    (umask 000 && "$FFTBLOOM" "$dir/in.exr" -k portrait -o "$dir/out.exr" --device cpu --precision float32 --existing update -q)
    mode() { stat -c %a "$FFTBLOOM_CACHE_DIR/$1"; }
    for f in . kernels spectra records; do [ "$(mode $f)" = 700 ]; done
    for f in "$FFTBLOOM_CACHE_DIR"/kernels/*; do [ "$(stat -c %a "$f")" = 644 ]; done
    [ "$(id -u)" = 0 ] || skip "only root can give files away"
    # Another user's kernel is made again; tests/unit/test_cache.c has spectra.
    kernel=$(echo "$FFTBLOOM_CACHE_DIR"/kernels/portrait-*.exr)
    cp "$kernel" "$dir/want.exr"
    "$FFTBLOOM" kernel make gaussian --param sigma=30 --taps 257 -o "$dir/other.exr"
    cat "$dir/other.exr" >"$kernel"
    chown nobody "$kernel"
    cp "$dir/out.exr" "$dir/first.exr"
    "$FFTBLOOM" "$dir/in.exr" -k portrait -o "$dir/out.exr" --device cpu --precision float32 -q
    cmp "$dir/out.exr" "$dir/first.exr"
    cmp "$kernel" "$dir/want.exr"
}

@test "list, verify and trim: the entries, last used first; a folder that is not there holds nothing" {
    [ -z "$("$FFTBLOOM" cache list --cache-dir none 2>/dev/null)" ]
    "$FFTBLOOM" cache verify --cache-dir none --json | holds - 'd["entries"] == []'
    [ ! -e none ]
    # Two entries of 1000 bytes that are no spectra, files that are no entries, and records.
    head -c 1000 /dev/zero | tee cache/spectra/$old >cache/spectra/$new
    touch -d '2001-02-03 04:05:06 UTC' cache/spectra/$old
    mkdir cache/records
    echo speed >cache/device-speed-0
    echo note >cache/spectra/note.spectrum
    for i in 1 2 3; do echo x >cache/records/0000000000000000000000000000000$i.record; done
    echo mine >cache/records/other
    run -0 --separate-stderr "$FFTBLOOM" cache list
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == "$new"* ]]
    [[ "${lines[1]}" == "$old"*"2001-02-03 04:05:06" ]]
    [[ "$stderr" == *"records of finished frames: 3, in "* ]]
    "$FFTBLOOM" cache list --json 2>/dev/null | holds - '(d["bytes"], d["budget"], d["records"]) == (2000, 2000000000, 3)' \
        '[e["name"][0] for e in d["entries"]] == ["f", "0"] and d["entries"][1]["used"] == 981173106'
    says 65 "$new  ok no" cache verify
    [[ "$output" == *"does not begin as a .spectrum"*"2 of 2 spectra are broken"* ]]
    run -65 --separate-stderr "$FFTBLOOM" cache verify --json
    holds - '[e["ok"] for e in d["entries"]] == [False, False]' <<<"$output"
    # The oldest spectra go, and nothing else; records with an emptied cache.
    "$FFTBLOOM" cache trim --cache-size 1500 --json 2>/dev/null | holds - '(d["removed"], d["kept_bytes"]) == (1, 1000)' \
        '(d["records_removed"], d["records_kept"]) == (0, 3)'
    [ "$(ls cache/spectra | xargs)" = "$new note.spectrum" ]
    says 0 "records removed 3" cache trim --cache-size 0
    [ "$(find cache -type f | sort | xargs)" = "cache/device-speed-0 cache/records/other cache/spectra/note.spectrum" ]
    [ "$(cat cache/device-speed-0 cache/spectra/note.spectrum | xargs)" = "speed note" ]
}

@test "a link among the entries, or in place of a folder of the cache, is never followed" {
    cp "$FFTBLOOM_ROOT/testdata/small.exr" in.exr
    mkdir out elsewhere
    echo '{"taps": 64, "layers": [{"model": "gaussian", "sigma": 2}]}' >g.json
    bloom() { # in floats, which always take the spectrum of the cache; with every kind of entry, and any rights
        "$FFTBLOOM" in.exr g.json -o out/o.exr --precision float32 --existing update --sandbox off "$@"
    }
    export FFTBLOOM_DEVICE=cpu
    rm -r cache
    bloom
    find cache -type f -printf '%P\n' | sort >entries
    grep -q '^kernels/' entries
    grep -q '^spectra/' entries
    grep -q '^records/.*record$' entries
    cp out/o.exr want.exr
    cp -r cache good
    # Each entry is a link to a file of the user, or to none.
    while read -r entry; do
        for there in yes no; do
            rm -rf cache out/* elsewhere/*
            cp -r good cache
            mv "cache/$entry" elsewhere/good
            [ $there = no ] || echo mine >elsewhere/file
            ln -s "$PWD/elsewhere/file" "cache/$entry"
            bloom
            cmp out/o.exr want.exr
            [ "$(ls elsewhere | xargs)" = "$([ $there = no ] || echo file) good" ] || [ "$(ls elsewhere | xargs)" = good ]
            [ $there = no ] || [ "$(<elsewhere/file)" = mine ]
            # The true entry, behind a link, is not believed either: it is made again, or left out.
            ln -sf "$PWD/elsewhere/good" "cache/$entry"
            cp elsewhere/good before
            touch -d 2001-02-03 elsewhere/good
            bloom
            cmp elsewhere/good before
            [ "$(stat -c %Y elsewhere/good)" -eq "$(date -d 2001-02-03 +%s)" ]
        done
    done <entries
    # A folder is a link; the cache folder itself may be one.
    for folder in spectra kernels records; do
        rm -rf cache out/* elsewhere/*
        cp -r good cache
        mv cache/$folder elsewhere/$folder
        ln -s ../elsewhere/$folder cache/$folder
        find elsewhere -printf '%P %T@\n' | sort >before
        if [ $folder = kernels ]; then
            says 0 "the cache's folder '$PWD/cache/kernels' is a link, which is not followed" in.exr g.json -o out/o.exr --sandbox off
        fi
        bloom
        cmp out/o.exr want.exr
        "$FFTBLOOM" cache trim --cache-size 0 || true
        find elsewhere -printf '%P %T@\n' | sort | cmp - before
    done
    rm -rf cache elsewhere/*
    mv good elsewhere/good
    ln -s elsewhere/good cache
    rm -f out/*
    bloom -v 2>said
    grep -q 'kernel spectrum from the cache' said
}
