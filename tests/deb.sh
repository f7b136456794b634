#!/bin/bash
# deb.sh ROOT OUT: Debian packages of the installation in the folder ROOT (make install DESTDIR=ROOT
# PREFIX=/usr LIBDIR=/usr/lib/TRIPLET), written into the folder OUT: the program, the library, what is
# needed to build with it, and the Python module. The same files make the same packages: times in them are
# SOURCE_DATE_EPOCH, or else that of the last commit.
set -e
root=$1 out=$2
version=$(sed -n 's|^## ||p' CHANGELOG.md | head -n 1)
arch=$(dpkg --print-architecture)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}"
export SOURCE_DATE_EPOCH LC_ALL=C
umask 022
# Who made the package, as Debian's tools ask for it.
who="${DEBFULLNAME:-The fftbloom authors} <${DEBEMAIL:-fftbloom@example.org}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/debian"

find "$root/usr" -name fftbloom -path '*/bin/*' -o -name 'lib*.so.*' -type f | xargs strip --remove-section=.comment --remove-section=.note
find "$root/usr/share/man" -name '*.[13]' -exec gzip -9n {} +
rm -f "$root/usr/share/doc/fftbloom/LICENSE"
# Beside the kernels and not among the documents, which slim containers leave out.
tests/spdx.sh "$root/usr/bin/fftbloom" >"$root/usr/share/fftbloom/fftbloom.spdx"

# Moves files into the tree of another package.
move() { # PACKAGE FILES, from $root
    local package=$1 f
    shift
    for f; do
        mkdir -p "$work/$package/$(dirname "$f")"
        mv "$root/$f" "$work/$package/$f"
    done
}
lib=$(cd "$root" && echo usr/lib/*/libfftbloom.so.0)
move libfftbloom0 "$lib"
move libfftbloom-dev "${lib%.0}" "$(dirname "$lib")/pkgconfig/fftbloom.pc" usr/include/fftbloom.h \
    usr/share/man/man3/libfftbloom.3.gz usr/share/doc/libfftbloom-dev/examples
[ ! -d "$root/usr/OFX" ] || move fftbloom-openfx usr/OFX/Plugins/fftbloom.ofx.bundle
find "$root" -type d -empty -delete
mv "$root" "$work/fftbloom"

# Makes a package of $work/PACKAGE.
package() { # PACKAGE SECTION DEPENDS MORE-FIELDS; its description comes in
    local name=$1 tree=$work/$1 doc=$work/$1/usr/share/doc/$1
    mkdir -p "$tree/DEBIAN" "$doc"
    # What every package has, under the names that Debian gives it.
    gzip -9nc >"$doc/changelog.gz" <<C
fftbloom ($version) unstable; urgency=medium

  * CHANGELOG.md of the package fftbloom has the changes of each version.

 -- $who  $(date -Rud "@$SOURCE_DATE_EPOCH")
C
    {
        printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: fftbloom\n\n'
        printf 'Files: *\n%s\nLicense: Expat\n' "$(sed -n 's/^Copyright (c) /Copyright: /p' LICENSE)"
        sed -n '/^Permission/,$p' LICENSE | sed 's/^$/./; s/^/ /'
    } >"$doc/copyright"
    {
        echo "Package: $name"
        [ "$name" = fftbloom ] || echo "Source: fftbloom"
        echo "Version: $version"
        echo "Architecture: $arch"
        echo "Maintainer: $who"
        echo "Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$tree" | cut -f 1)"
        echo "Depends: $3"
        [ -z "$4" ] || echo "$4"
        printf 'Section: %s\nPriority: optional\n' "$2"
        cat
    } >"$tree/DEBIAN/control"
    (cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
    find "$tree" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$out/${name}_${version}_$arch.deb" >/dev/null
    echo "deb: $out/${name}_${version}_$arch.deb, $(du -k "$out/${name}_${version}_$arch.deb" | cut -f 1) kB"
}

# What a file is linked with, by the packages that have it.
printf 'Source: fftbloom\n\nPackage: fftbloom\nArchitecture: any\n' >"$work/debian/control"
needs() { (cd "$work" && dpkg-shlibdeps -O "$1" 2>/dev/null | sed -n 's/^shlibs:Depends=//p'); }

package fftbloom graphics "$(needs "$work/fftbloom/usr/bin/fftbloom")" 'Recommends: libvulkan1, mesa-vulkan-drivers | vulkan-icd' <<C
Description: bloom HDR images with a real point spread function
 fftbloom convolves HDR images with a point spread function, the picture that a
 lens makes of a point of light, by fast Fourier transforms on a GPU or on the
 CPU. Each pixel's error is below a tolerance. Data layers, metadata and windows
 of EXR files stay as they are. It blooms sequences, also on farms, compares
 images, and runs suites of regression cases.
C
mkdir -p "$work/libfftbloom0/DEBIAN"
echo "libfftbloom 0 libfftbloom0 (>= $version)" >"$work/libfftbloom0/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$work/libfftbloom0/DEBIAN/triggers"
package libfftbloom0 libs "$(needs "$work/libfftbloom0/$lib")" "$(printf 'Multi-Arch: same\nRecommends: libvulkan1, mesa-vulkan-drivers | vulkan-icd\nSuggests: fftbloom')" <<C
Description: bloom HDR images with a real point spread function - library
 Convolves images in the memory of a program with a point spread function, by
 fast Fourier transforms on a GPU or on the CPU. Each pixel's error is below a
 tolerance. The shipped kernels are in the package fftbloom.
C
package libfftbloom-dev libdevel "libfftbloom0 (= $version)" "" <<C
Description: bloom HDR images with a real point spread function - development
 The header, which is the manual, of the library that convolves images with a
 point spread function; the link to the library, and an example.
C
ofx=$work/fftbloom-openfx
if [ -d "$ofx" ]; then
    mkdir -p "$ofx/usr/share/lintian/overrides"
    # The specification names the folder, and a plug-in brings its libraries, lest it meets the host's.
    printf 'fftbloom-openfx: %s *\n' non-standard-dir-in-usr file-in-unusual-dir embedded-library \
        >"$ofx/usr/share/lintian/overrides/fftbloom-openfx"
    package fftbloom-openfx graphics "$(needs "$ofx/usr/OFX/Plugins/fftbloom.ofx.bundle/Contents/Linux-x86-64/fftbloom.ofx")" \
        'Recommends: mesa-vulkan-drivers | vulkan-icd' <<C
Description: bloom HDR images with a real point spread function - OpenFX plug-in
 Spreads light as lenses, filters and film do, in programs that load OpenFX
 plug-ins, such as Natron, Nuke and Resolve. The kernels are inside.
C
fi
python=$work/python3-fftbloom
mkdir -p "$python/DEBIAN" "$python/usr/lib/python3/dist-packages/fftbloom"
cp python/fftbloom/*.py python/fftbloom/py.typed "$python/usr/lib/python3/dist-packages/fftbloom"
for when in postinst:py3compile prerm:py3clean; do
    tool=${when#*:}
    printf '#!/bin/sh\nset -e\nif command -v %s >/dev/null 2>&1; then\n    %s -p python3-fftbloom\nfi\n' "$tool" "$tool" >"$python/DEBIAN/${when%:*}"
    chmod 755 "$python/DEBIAN/${when%:*}"
done
arch=all package python3-fftbloom python "python3 (>= 3.9), libfftbloom0 (>= $version)" 'Recommends: fftbloom, python3-numpy' <<C
Description: bloom HDR images with a real point spread function - Python
 Blooms arrays of numpy and other buffers: single images, batches, and streams
 of frames. It has the adjoint, too, for deconvolution and learning. The shipped
 kernels are in the package fftbloom.
C
