#!/bin/bash
# newer.sh: does the program compile against the newest OpenColorIO? Downloads the headers of Debian's sid
# and installs nothing. Skips and says so where they cannot be had.
cd "$(dirname "$0")/.." || exit 1
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
skip() {
    echo "skipped: the headers of a newer OpenColorIO cannot be had: $*"
    exit 0
}
command -v apt-get >/dev/null || skip "there is no apt-get"
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | grep -v snapshot | head -n 1)
mkdir -p "$at/state/lists/partial" "$at/cache/archives/partial"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian} sid main" >"$at/sources"
apt() {
    timeout 120 apt-get -qq -o Dir::Etc::sourcelist="$at/sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::State="$at/state" \
        -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$at/cache" -o APT::Sandbox::User=root "$@" 2>"$at/log"
}
apt update >/dev/null || skip "$(tail -n 1 "$at/log")"
(cd "$at" && apt download libopencolorio-dev >/dev/null) || skip "$(tail -n 1 "$at/log")"
dpkg -x "$at"/libopencolorio-dev_*.deb "$at/x" || exit 1
version=$(sed -nE 's/^#define OCIO_VERSION_FULL_STR +"(.*)"/\1/p' "$at"/x/usr/include/OpenColorIO/OpenColorABI.h)
"${CXX:-g++}" -std=c++17 -D_GNU_SOURCE -DWITH_OCIO=1 -Isrc -I"$at/x/usr/include" -Wall -Wextra -Werror -fsyntax-only src/image/flat/screen_ocio.cc ||
    exit 1
echo "ok    screen_ocio.cc compiles against OpenColorIO ${version:-of sid}"
