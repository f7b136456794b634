#!/bin/bash
# spdx.sh PROGRAM [LIBS]: prints what a program is made of, as an SPDX 2.3 document: itself, the headers
# that are compiled into it, and the libraries that it loads, each with the version and the licence of
# the Debian package that it comes from. LIBS is the folder of the libraries that go with it: these get
# the checksum of their file. Fails where a library's package or its licence is not known.
set -e -o pipefail
prog=$1 libs=$2
version=$(sed -n 's|^## ||p' CHANGELOG.md | head -n 1)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}"
sum() { sha256sum "$1" | cut -d ' ' -f 1; }

# The licence of what a source package puts into a program, as its copyright file says it.
licence() {
    case $1 in
    glibc) echo LGPL-2.1-or-later ;;
    gcc-*) echo "GPL-3.0-or-later WITH GCC-exception-3.1" ;;
    openexr | imath | opencolorio | pystring | tinyexr) echo BSD-3-Clause ;;
    xxhash) echo BSD-2-Clause ;;
    libstb) echo "MIT OR Unlicense" ;;
    cjson | libdeflate | expat | yaml-cpp) echo MIT ;;
    vulkan-loader) echo Apache-2.0 ;;
    zlib) echo Zlib ;;
    *) echo "spdx.sh: no licence is known of the package '$1'; add it" >&2; return 1 ;;
    esac
}

package() { # NAME VERSION LICENCE RELATION [FILE PURL]: one package, and what it is to the program
    local id=SPDXRef-${1//[^A-Za-z0-9.]/-}
    printf '\nPackageName: %s\nSPDXID: %s\nPackageVersion: %s\nPackageDownloadLocation: NOASSERTION\n' "$1" "$id" "$2"
    printf 'FilesAnalyzed: false\nPackageLicenseConcluded: %s\nPackageLicenseDeclared: %s\nPackageCopyrightText: NOASSERTION\n' "$3" "$3"
    [ -z "$5" ] || printf 'PackageFileName: %s\nPackageChecksum: SHA256: %s\n' "$(basename "$5")" "$(sum "$5")"
    case $4 in
    DESCRIBES) echo "Relationship: SPDXRef-DOCUMENT DESCRIBES $id" ;;
    *) printf 'ExternalRef: PACKAGE-MANAGER purl %s\nRelationship: SPDXRef-fftbloom %s %s\n' "$6" "$4" "$id" ;;
    esac
}

debian() { # PACKAGE RELATION [FILE]: a Debian package, or a file of one, under the file's name
    local source is
    read -r source is < <(dpkg-query -W -f '${source:Package} ${Version}\n' "$1" | head -n 1)
    package "$([ -n "$3" ] && basename "$3" || echo "${1%%:*}")" "$is" "$(licence "$source")" "$2" "$3" \
        "pkg:deb/debian/${1%%:*}@$is"
}

cat <<S
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: fftbloom-$version
DocumentNamespace: https://fftbloom.example.org/spdx/$version/$(sum "$prog")
Creator: Tool: fftbloom-spdx.sh
Created: $(date -ud "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
S
package fftbloom "$version" MIT DESCRIBES "$prog"
# Headers whose code is in the program.
for p in libstb-dev libtinyexr-dev libxxhash-dev; do debian $p CONTAINS; done
mapfile -t names < <(
    ldd "$prog" | grep -oE '^[[:space:]]*[^ ]+\.so[^ ]*' | grep -v vdso | sed 's|.*[/[:space:]]||'
    [ -z "$libs" ] || ls "$libs" # with the Vulkan loader, which is opened at run time
)
owners=$(dpkg -S "${names[@]/#/*lib/$(uname -m)-linux-gnu/}" 2>/dev/null || true)
for name in "${names[@]}"; do
    p=$(sed -n "s|: .*/$name\$||p" <<<"$owners" | head -n 1)
    [ -n "$p" ] || { echo "spdx.sh: no package has '$name'" >&2; exit 1; }
    if [ -n "$libs" ] && [ -e "$libs/$name" ]; then echo "$p CONTAINS $libs/$name"; else echo "$p DYNAMIC_LINK"; fi
done | sort -u | while read -r p relation file; do debian "$p" "$relation" "$file"; done
