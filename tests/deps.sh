#!/bin/sh
# Installs those of the named Debian packages that are missing. Says what it does; silent, and
# asking nothing, where all is there.
missing=
if command -v dpkg-query >/dev/null 2>&1; then
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
    done
    [ -z "$missing" ] && exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "This system has no apt-get. Please install what these Debian packages hold, then build with"
    echo "plain 'make':"
    printf '  %s\n' "$@"
    exit 0
fi
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "Installing with apt-get:$missing"
$sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
    echo "apt-get could not install:$missing" >&2
    exit 1
}
