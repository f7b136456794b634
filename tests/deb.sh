#!/bin/bash
# deb.sh ROOT OUT: a Debian package of the installation in the folder ROOT (make install
# DESTDIR=ROOT PREFIX=/usr), written into the folder OUT. The same files make the same package:
# times in it are SOURCE_DATE_EPOCH, or else that of the last commit.
set -e
root=$1 out=$2
doc=$root/usr/share/doc/fftbloom
version=$(sed -n 's|^## ||p' CHANGELOG.md | head -n 1)
arch=$(dpkg --print-architecture)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}"
export SOURCE_DATE_EPOCH LC_ALL=C
umask 022
# Who made the package, as Debian's tools ask for it.
who="${DEBFULLNAME:-The fftbloom authors} <${DEBEMAIL:-fftbloom@example.org}>"

strip --remove-section=.comment --remove-section=.note "$root/usr/bin/fftbloom"
find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
mkdir -p "$root/DEBIAN" "$doc"
# What every package has, under the names that Debian gives it.
gzip -9nc >"$doc/changelog.gz" <<C
fftbloom ($version) unstable; urgency=medium

  * CHANGELOG.md in this folder has the changes of each version.

 -- $who  $(date -Rud "@$SOURCE_DATE_EPOCH")
C
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: fftbloom\n\n'
    printf 'Files: *\n%s\nLicense: Expat\n' "$(sed -n 's/^Copyright (c) /Copyright: /p' LICENSE)"
    sed -n '/^Permission/,$p' LICENSE | sed 's/^$/./; s/^/ /'
} >"$doc/copyright"
rm -f "$doc/LICENSE"
# What the program is linked with, by the packages that have it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debian"
printf 'Source: fftbloom\n\nPackage: fftbloom\nArchitecture: any\n' >"$work/debian/control"
needs=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/fftbloom" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$root/DEBIAN/control" <<C
Package: fftbloom
Version: $version
Architecture: $arch
Maintainer: $who
Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$root" | cut -f 1)
Depends: $needs
Recommends: mesa-vulkan-drivers | vulkan-icd
Section: graphics
Priority: optional
Description: bloom HDR images with a real point spread function
 fftbloom convolves HDR images with a point spread function, the picture that a
 lens makes of a point of light, by fast Fourier transforms on a GPU or on the
 CPU. Each pixel's error is below a tolerance. Data layers, metadata and windows
 of EXR files stay as they are. It blooms sequences, also on farms, compares
 images, and runs suites of regression cases.
C
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$out"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/fftbloom_${version}_$arch.deb" >/dev/null
echo "deb: $out/fftbloom_${version}_$arch.deb, $(du -k "$out/fftbloom_${version}_$arch.deb" | cut -f 1) kB"
