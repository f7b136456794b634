# The relocatable folder, and the installation.

load files

build=$(realpath --relative-to="$FFTBLOOM_ROOT" "$(dirname "$FFTBLOOM")")
moved=$TEST_TMP/moved # the bundle, in another place than that where it was made

install_to() { # PREFIX [DESTDIR]
    make -s --no-print-directory "${3:-install}" PREFIX="$1" DESTDIR="$2" BUILD="$build" ${LIBDIR:+LIBDIR="$LIBDIR"} -o all
}

setup_file() {
    cd "$FFTBLOOM_ROOT"
    [ "${SAN:-0}" = 0 ] && command -v patchelf >/dev/null || return 0
    install_to "$TEST_TMP/b" "" install-program
    sh tests/bundle.sh "$TEST_TMP/b"
    mv "$TEST_TMP/b" "$moved"
}

setup() {
    cd "$FFTBLOOM_ROOT"
}

is_bundled() {
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's program is not bundled"
    needs_program patchelf
}

@test "the bundle runs from another place with nothing but itself, and names no folder of the machine that built it" {
    is_bundled
    check_spdx "$moved"
    run grep -rlaF "$FFTBLOOM_ROOT" "$moved"
    [ -z "$output" ]
    cd /
    [ -s "$moved/share/bash-completion/completions/fftbloom" ]
    env -i "$moved/bin/fftbloom" --version
    # A driver without a cache of shaders compiles small ones.
    image "$TEST_TMP/small.exr" 40x30 half 0.1,0.2,0.3
    run env -i HOME="$TEST_TMP" GALLIVM_PERF="$GALLIVM_PERF" "$moved/bin/fftbloom" "$TEST_TMP/small.exr" \
        "$FFTBLOOM_ROOT/testdata/kernel.exr" -o "$TEST_TMP/moved.exr" --device software --precision float32
    [ "$status" -eq 0 ] || [ "$status" -eq 69 ]
    # Its kernels are found by their names.
    env -i "$moved/bin/fftbloom" kernel list | grep -q '^sunstar '
    env -i "$moved/bin/fftbloom" kernel list --json | grep -q "$moved/.*sunstar.json"
    env -i HOME="$TEST_TMP" "$moved/bin/fftbloom" kernel check portrait
    ls "$TEST_TMP"/.cache/fftbloom/kernels/portrait-*
    run sh -c "ldd $moved/bin/fftbloom | grep '=>' | grep -vE 'moved/|libc.so|libm.so|ld-linux|vdso'"
    [ -z "$output" ]
}

@test "make deps does nothing and says nothing where all is there, and lists without apt" {
    run -0 sh tests/deps.sh make
    [ -z "$output" ]
    mkdir -p "$TEST_TMP/bin"
    for p in sh printf id; do ln -sf "$(command -v $p)" "$TEST_TMP/bin/$p" 2>/dev/null || true; done
    run env PATH="$TEST_TMP/bin" sh tests/deps.sh one-package
    [[ "$output" == *"no apt-get"* && "$output" == *"one-package"* ]]
}

@test "the bundle blooms on a system that has nothing but the C library" {
    is_bundled
    bare=$TEST_TMP/bare
    mkdir -p "$bare/proc" "$bare/lib64" "$bare/lib/x86_64-linux-gnu"
    unshare -m sh -c "mount -t proc proc '$bare/proc'" 2>/dev/null || skip "needs root to change the root folder"
    for f in $(ldd "$FFTBLOOM" | grep -oE '/[^ ]*/(libc|libm|ld-linux-x86-64)\.so[.0-9]*' | sort -u); do
        cp -L "$f" "$bare$(case $f in *ld-linux*) echo /lib64 ;; *) echo /lib/x86_64-linux-gnu ;; esac)"
    done
    cp -r "$moved" "$bare/b"
    cp testdata/small.exr "$bare/in.exr"
    cp testdata/kernel.exr "$bare/kernel.exr"
    # As the container runs: a user without rights, a root that cannot be written, one folder that can.
    mkdir "$TEST_TMP/work" "$bare/work"
    chmod 777 "$TEST_TMP/work"
    chmod 755 "$bare"
    run unshare -m sh -ec "mount --bind '$bare' '$bare'; mount -t proc proc '$bare/proc'; mount --bind '$TEST_TMP/work' '$bare/work'
        mount -o remount,bind,ro '$bare'
        exec env -i FFTBLOOM_CACHE_DIR=/work/cache $(command -v chroot) --userspec=65534:65534 '$bare' /b/bin/fftbloom /in.exr /kernel.exr -o /work/out.exr --device cpu"
    echo "$output"
    [ "$status" -eq 0 ]
    FFTBLOOM_CACHE_DIR= "$FFTBLOOM" "$bare/in.exr" "$bare/kernel.exr" -o "$TEST_TMP/here.exr" --device cpu --cache-dir "$TEST_TMP/none"
    cmp "$TEST_TMP/work/out.exr" "$TEST_TMP/here.exr"
}

# Every library of the bundle is in its SPDX list with the checksum it has, a version and a licence.
check_spdx() { # FOLDER
    python3 - "$1" <<'PY'
import hashlib, os, sys
folder = sys.argv[1]
packages, at = {}, None
for line in open(folder + "/fftbloom.spdx"):
    key, _, value = line.rstrip("\n").partition(": ")
    if key == "PackageName":
        at = packages.setdefault(value, {})
        assert not at, value
    elif at is not None:
        at[key] = value
files = {f: os.path.join(folder, "lib", f) for f in os.listdir(folder + "/lib")}
files["fftbloom"] = folder + "/bin/fftbloom"
for name, path in files.items():
    p = packages[name]
    assert p["PackageChecksum"] == "SHA256: " + hashlib.sha256(open(path, "rb").read()).hexdigest(), name
for name, p in packages.items():
    assert p["PackageVersion"] and p["PackageLicenseDeclared"] not in ("", "NOASSERTION"), name
    assert p["SPDXID"].startswith("SPDXRef-") and len(p["SPDXID"]) > 8
assert len({p["SPDXID"] for p in packages.values()}) == len(packages)
for name in ("libstb-dev", "libtinyexr-dev", "libxxhash-dev", "libc6"): assert name in packages, name
assert len(os.listdir(folder + "/licenses")) >= 10
PY
}

@test "what the VEX file says is so: which of OpenEXR's libraries and classes are used" {
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's program links more"
    readelf -d "$FFTBLOOM" | grep -q 'NEEDED.*libOpenEXR-' || skip "built without OpenEXR"
    run -1 bash -c "ldd '$FFTBLOOM' | grep -E 'OpenEXR(Core|Util)'"
    run -1 bash -c "nm -D --undefined-only '$FFTBLOOM' | grep -E 'Imf.*(Deep|Composite|Rgba|[mM]ultiView|viewFrom|IDManifest)'"
    # Of the other libraries: what is called, by name.
    [ "$(nm -D --undefined-only "$FFTBLOOM" | grep -o 'cJSON.*' | xargs)" = "cJSON_Delete cJSON_IsTrue cJSON_ParseWithLengthOpts" ]
    [ "$(grep -oE 'tinyexr::[a-z][A-Za-z0-9]*|tinyexr::[A-Z][A-Za-z]*\(' src/image/exr/exr_tiny.cc | sort -u | xargs)" = \
        "tinyexr::CompressPiz( tinyexr::applyLut tinyexr::reverseLutFromBitmap tinyexr::wav2Decode" ]
    ilm=$(ldd "$FFTBLOOM" | sed -n 's/.*libOpenEXR-.* => \([^ ]*\) .*/\1/p')
    [ "$(nm -D --undefined-only "$FFTBLOOM" "$ilm" | grep -woE '(un)?compress[0-9A-Za-z]*|crc32[a-z0-9_]*|gz[a-z]*|(de|in)flate[A-Za-z0-9_]*' | sort -u | xargs)" = \
        "compress compress2 compressBound uncompress" ]
    python3 - <<'PY'
import json
vex = json.load(open("docs/openexr.vex.json"))
kinds = {"component_not_present", "vulnerable_code_not_present", "vulnerable_code_not_in_execute_path",
         "inline_mitigations_already_exist"}
library = lambda s: s["products"][0]["subcomponents"][0]["@id"].split("/")[-1].split("@")[0]
names = [s["vulnerability"]["name"] for s in vex["statements"]]
assert len(names) == len(set(names)) == 86
for s in vex["statements"]:
    fixed = s["status"] == "fixed" and library(s) in ("libcjson1", "zlib1g", "libyaml-cpp0.7") and s["status_notes"]
    assert fixed or (s["status"] == "not_affected" and s["justification"] in kinds and s["impact_statement"])
    assert library(s) in ("libopenexr-3-1-30", "libtinyexr-dev", "libcjson1", "zlib1g", "libyaml-cpp0.7")
PY
    # It is about the versions that are linked here.
    v=$(dpkg-query -W -f '${Version}' libcjson1 2>/dev/null) || skip "no package of cJSON"
    dpkg --compare-versions "$v" ge 1.7.15-1+deb12u4
    v=$(dpkg-query -W -f '${Version}' libopenexr-3-1-30 2>/dev/null) || skip "another version of OpenEXR"
    grep -q "libopenexr-3-1-30@$v\"" docs/openexr.vex.json
}

@test "the archive of kernels: all of them as floats and halfs, with licence, recipes, checksums; the same bytes again" {
    needs_program oiiotool
    takes_long
    cd "$TEST_TMP"
    export SOURCE_DATE_EPOCH=1700000000
    for i in 1 2; do "$FFTBLOOM_ROOT/tests/kernels.sh" "$FFTBLOOM" $i --kernel-scale 0.05; done
    cmp 1/*.tar.xz 2/*.tar.xz
    tar xJf 1/*.tar.xz
    cd fftbloom-kernels-*
    sha256sum --quiet -c SHA256SUMS
    [ "$(wc -l <SHA256SUMS)" -eq $(($(find . -type f | wc -l) - 1)) ]
    for f in "$FFTBLOOM_ROOT"/kernels/*.json; do
        name=$(basename "$f" .json)
        if grep -q '"field":' "$f"; then # no other program takes one
            [ -z "$(find . -name "$name.*")" ]
            continue
        fi
        cmp "$f" "recipes/$name.json"
        grep -q "^| $name | [A-Z].* |$" README.md
        ls "half/$name.exr" "float/$name.exr" "pictures/$name.png"
    done
    for name in anamorphic sunstar mist-8; do
        oiiotool --info -v "half/$name.exr" >info
        grep -q "half openexr" info
        grep -q "MIT" info
        grep -q "multiplied: 32768" info
        oiiotool --info -v "float/$name.exr" | grep -q "float openexr"
        oiiotool "float/$name.exr" --mulc 32768 "half/$name.exr" --fail 16 --failpercent 0 --diff
        "$FFTBLOOM" kernel check "half/$name.exr" | grep -q "^middle "
    done
}

@test "make install puts program, pages and completions under PREFIX, uninstall takes them away" {
    install_to "$TEST_TMP/i"
    [ "$("$TEST_TMP/i/bin/fftbloom" --version)" = "$("$FFTBLOOM" --version)" ]
    for f in man/man1/fftbloom.1 bash-completion/completions/fftbloom zsh/site-functions/_fftbloom \
        fish/vendor_completions.d/fftbloom.fish fftbloom/kernels/sunstar.json doc/fftbloom/README.md \
        doc/fftbloom/docs/farm.md; do
        [ -s "$TEST_TMP/i/share/$f" ]
    done
    [ "$(find "$TEST_TMP/i/share/man" -type f | wc -l)" -eq "$(($("$FFTBLOOM" docs commands | wc -l) + 2))" ]
    make -s --no-print-directory uninstall PREFIX="$TEST_TMP/i" BUILD="$build"
    [ -z "$(find "$TEST_TMP/i" -type f)" ]
}

@test "the program needs no library under the GPL: the list of what it links" {
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's program links more"
    # Their licences: C library and compiler's (exceptions for linking), BSD (OpenEXR, Imath,
    # OpenColorIO), MIT (cJSON, libdeflate), zlib.
    readelf -d "$FFTBLOOM" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >"$TEST_TMP/needed"
    run -1 grep -vE '^(lib(c|m|gcc_s|stdc\+\+|cjson|deflate|z|OpenEXR-[0-9_]+|OpenColorIO)|ld-linux.*)\.so' "$TEST_TMP/needed"
    [ -z "$output" ]
    grep -q '^libc\.so' "$TEST_TMP/needed"
}

deb() { # FOLDER: makes a package in it
    LIBDIR=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH) install_to /usr "$1/root" && install_to /usr "$1/root" install-ofx && tests/deb.sh "$1/root" "$1" || return 1
}

@test "make deb: lintian finds nothing, the package has what is installed, and another time makes the same" {
    needs_program dpkg-shlibdeps lintian
    [ "${SAN:-0}" = 0 ] || skip "a sanitizer's program is not packaged"
    export SOURCE_DATE_EPOCH=1700000000 DPKG_DEB_COMPRESSOR_LEVEL=0
    deb "$TEST_TMP/deb"
    has_files() { # PACKAGE FILE...
        dpkg-deb --contents "$(echo "$TEST_TMP"/deb/$1_*.deb)" >"$TEST_TMP/contents"
        for f in "${@:2}"; do grep -q "$f\$" "$TEST_TMP/contents" || { echo "$1 has no $f"; return 1; }; done
    }
    dpkg-deb --info "$(echo "$TEST_TMP"/deb/fftbloom_*.deb)" | grep -q 'Recommends: libvulkan1'
    has_files fftbloom ' ./usr/'{bin/fftbloom,share/man/man1/fftbloom.1.gz,share/doc/fftbloom/copyright,share/fftbloom/kernels/sunstar.json} \
        ' ./usr/'share/{bash-completion/completions/fftbloom,fftbloom/fftbloom.spdx}
    has_files libfftbloom0 /libfftbloom.so.0
    has_files fftbloom-openfx ' ./usr/OFX/Plugins/fftbloom.ofx.bundle/Contents/'{Linux-x86-64/fftbloom.ofx,Resources/kernels/sunstar.json}
    # A link shows what it leads to behind its name.
    has_files libfftbloom-dev /usr/include/fftbloom.h '/libfftbloom.so.*' /pkgconfig/fftbloom.pc '/man3/libfftbloom.3.gz' /examples/bloom.c
    for f in "$TEST_TMP"/deb/*.deb; do dpkg-deb --extract "$f" "$TEST_TMP/deb/x"; done
    pc=$(dirname "$TEST_TMP"/deb/x/usr/lib/*/pkgconfig/fftbloom.pc)
    cc docs/examples/bloom.c $(PKG_CONFIG_SYSROOT_DIR=$TEST_TMP/deb/x PKG_CONFIG_PATH=$pc pkg-config --cflags --libs fftbloom) -o "$TEST_TMP/deb/example"
    LD_LIBRARY_PATH=$(dirname "$pc") "$TEST_TMP/deb/example" sunstar | grep -q ', kept$'
    (cd / && env -i PYTHONPATH="$TEST_TMP/deb/x/usr/lib/python3/dist-packages" LD_LIBRARY_PATH="$(dirname "$pc")" PYTHONDONTWRITEBYTECODE=1 \
        /usr/bin/python3 -c 'import fftbloom as fb; assert fb.Kernel("sunstar").shape == (1024, 1024, 3)')
    [ "$("$TEST_TMP/deb/x/usr/bin/fftbloom" --version)" = "$("$FFTBLOOM" --version)" ]
    [ "$LONG" ] || return 0
    run lintian --allow-root --fail-on error,warning "$TEST_TMP"/deb/{fftbloom,libfftbloom0,libfftbloom-dev,fftbloom-openfx,python3-fftbloom}_*.deb
    echo "$output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    # In another folder, too.
    deb "$TEST_TMP/another"
    [ "$(ls "$TEST_TMP"/another/*.deb | wc -l)" -eq 5 ]
    for f in "$TEST_TMP"/another/*.deb; do cmp "$f" "$TEST_TMP/deb/$(basename "$f")"; done
}

@test "what is built in another folder, at another time, is the same: some objects, or all with SAME_ALL=1" {
    takes_long
    [ "${SAN:-0}" = 0 ] || skip "with sanitizers, paths stay in the program"
    export CCACHE_DISABLE=1 # it would bring back what the first build made
    what="base/file.o engine/cpu/cpu_passes.o app/main.o"
    [ ! "$SAME_ALL" ] || what="fftbloom libfftbloom.so.0"
    mkdir -p "$TEST_TMP/one" "$TEST_TMP/another/place"
    for place in one another/place; do cp -r Makefile packaging.mk CHANGELOG.md src shaders "$TEST_TMP/$place"; done
    for place in one another/place; do
        sleep 1.1
        for f in $what; do make -s --no-print-directory -C "$TEST_TMP/$place" -j2 BUILD=build "build/$f"; done
    done
    for f in $what; do cmp "$TEST_TMP/one/build/$f" "$TEST_TMP/another/place/build/$f"; done
}
