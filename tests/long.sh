#!/bin/bash
# long.sh [BASE]: the names of tests/long.txt whose sources have changed since a commit: that where origin/main and
# this checkout part, if none is named. What is not committed counts, too. On main itself nobody knows how many
# commits were pushed; there, and without a history, all have changed.
cd "$(dirname "$0")/.." || exit 1
set -f # the paths are git's to expand
head=$(git rev-parse HEAD 2>/dev/null)
base=${1:-$(git merge-base origin/main HEAD 2>/dev/null)}
base=$(git rev-parse -q --verify "${base:-none}^{commit}" 2>/dev/null)
[ "$base" != "$head" ] || base=
changed() { # PATH...
    [ -z "$base" ] || ! git diff --quiet "$base" -- "$@" 2>/dev/null || [ "$(git ls-files -o --exclude-standard -- "$@")" ]
}
rows=$(grep -vE '^(#|$)' tests/long.txt)
! changed $(grep '^every ' <<<"$rows" | cut -d' ' -f2-) || base=
while read -r name paths; do
    if [ "$name" != every ] && changed $paths; then echo "$name"; fi
done <<<"$rows"
