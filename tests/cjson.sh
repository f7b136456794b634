#!/bin/bash
# cjson.sh FILE: the source of cJSON, in the version of libcjson-dev, since Debian has no static library of it. It
# comes from the mirrors that apt knows; their lists of sources are kept apart from apt's own.
set -e
command -v apt-get dpkg-source >/dev/null || { echo "cjson.sh: this needs apt-get and dpkg-dev" >&2; exit 1; }
version=$(dpkg-query -W -f '${source:Version}' libcjson-dev)
to=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p lists/partial cache/archives/partial parts
for f in $(grep -lE 'https?://[^ ]+/debian' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null); do
    sed -E 's/^Types: *deb$/Types: deb-src/; s/^deb /deb-src /' "$f" >"parts/$(basename "$f")"
done
printf '%s "%s";\n' Dir::State::Lists "$work/lists" Dir::Etc::sourcelist /dev/null Dir::Etc::sourceparts "$work/parts" \
    Dir::Cache "$work/cache" APT::Sandbox::User root >apt.conf
export APT_CONFIG=$work/apt.conf
{ apt-get update && apt-get source "cjson=$version"; } >log 2>&1 || { tail -n 3 log >&2; exit 1; }
sed 's,"cJSON.h",<cjson/cJSON.h>,' cjson-*/cJSON.c >"$to"
