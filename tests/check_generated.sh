#!/bin/sh
# Fails when a committed page is not what the program makes of its tables.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tests/generate.sh "$1" "$tmp" || exit 1
status=0
for page in config.md config.schema.json suite.schema.json; do
    diff -r -u "$tmp/$page" "docs/$page" >"$tmp/diff" || {
        head -n 20 "$tmp/diff"
        echo "docs/$page is stale; run 'make generated' and commit it" >&2
        status=1
    }
done
exit $status
