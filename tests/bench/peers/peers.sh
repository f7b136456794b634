#!/bin/bash
# fftbloom beside VkFFT and cuFFT on one device, in one run: the same images, kernels and precision,
# data on the device, frames queued back to back, medians of the device's clock.
#
#   peers.sh BUILD [cases] [WIDTHxHEIGHT/KERNEL ...]   a table with ratios
#   peers.sh BUILD sweep   [WIDTHxHEIGHT/KERNEL ...]   fftbloom alone from 256^2 to 16384^2: does the
#                                                      time grow as N log N?
#
# BUILD holds fftbloom and bench_vkfft. Environment: DEVICE (gpu), ROUNDS (21), QUEUE (50), LIMIT
# (300 s for one program). A peer that is not there is a line saying
# so. Needs bash, awk, python3 and the two programs; cuFFT needs python3 with torch.
build=$1 what=${2:-cases}
here=$(cd "$(dirname "$0")" && pwd)
shift; [ $# -gt 0 ] && shift
device=${DEVICE:-gpu} rounds=${ROUNDS:-21} queue=${QUEUE:-50} limit=${LIMIT:-300}
cases=("$@")
cache=$(mktemp -d) || exit 1
trap 'rm -rf "$cache"' EXIT
export FFTBLOOM_CACHE_DIR=$cache

# The last result as words, the two lists of passes with "+" between. Empty where it fails; why goes
# to stderr.
#   1 class 2 w 3 h 4,5 kernel 6 first 7,8 lengths 9 rounds ... 13 frame 14 least 16 passes
#   19 low 20 high 22 bytes 23 copy 24 copies of passes
ours() { # case rounds queue
    timeout "$limit" "$build/fftbloom" bench --device "$device" --size "${1%/*}" \
        --padding zero --kernel "${1#*/}" --rounds "$2" --queue "$3" --json |
        python3 -c 'import json, sys
r = json.load(sys.stdin)["results"][-1]
p, s, each = r["plan"], r["spread"], r["passes"]
x_first = p["first"] == "x"
print(r["device"]["class"], *p["image"], *r["kernel"], p["first"], *p["lengths"][::1 if x_first else -1],
      r["rounds"], *("%.9f" % r[k] for k in ("spectrum", "open", "prepare", "frame", "least")),
      "%.9f" % r["times"]["upload"], "+".join("%.9f" % q["spread"]["median"] for q in each),
      "%.9f" % r["times"]["download"], r["queue"], *("%.9f" % s[k] for k in ("low", "high", "most")),
      r["bytes"], "%.9f" % r["copy"], "+".join("%.9f" % q["copy"] for q in each))' 2>/dev/null
}

vkfft() { # case: 1,2 lengths 3 median 4 least 5 low 6 high 7 version 8 padding
    local w=${1%%x*} rest=${1#*x}
    # VkFFT prints a shader that does not compile.
    timeout "$limit" "$build/bench_vkfft" "$device" "$w" "${rest%/*}" "${rest#*/}" "$rounds" "$queue" | tail -n 1
}

cases_table() {
    [ ${#cases[@]} -gt 0 ] ||
        cases=(1280x720/256 1280x720/512 1920x1080/256 1920x1080/512 3840x2160/512 7680x4320/512)
    local name version=
    name=$("$build/fftbloom" bench --device "$device" --size 32x32 --kernel 8 --rounds 1 --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["results"][-1]["device"]["name"])')
    [ -n "$name" ] || exit 1
    echo "$(date -u +%Y-%m-%d), $("$build/fftbloom" devices --json | python3 -c 'import json, sys
print(*("%(name)s, %(driver)s" % d for d in json.load(sys.stdin)["devices"] if d["class"] == "gpu"), sep="\n")' | head -n 1)"
    echo "$name; RGB float32, microseconds per frame, medians of $rounds rounds of $queue frames back to back"
    [ -x "$build/bench_vkfft" ] || echo "VkFFT is not measured: there is no $build/bench_vkfft"
    [ -x "$build/bench_vkfft" ] && echo "VkFFT has its best lengths of a short search; *: it is not told of zero padding, which makes its result wrong"
    : >"$cache/cufft"
    if ! python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        echo "cuFFT is not measured: there is no python3 with torch and CUDA"
    elif [ "$device" != software ]; then
        timeout $((limit * 2)) python3 "$here/cufft.py" "$rounds" "$queue" "${cases[@]}" >"$cache/cufft"
    fi
    printf '%-15s %-13s %9s %-19s %9s %6s  %-22s %-22s\n' "image/kernel" lengths fftbloom \
        "(passes)" quartiles "copies" "VkFFT (ratio)" "cuFFT (ratio)"
    for c in "${cases[@]}"; do
        local a v u
        a=$(ours "$c" "$rounds" "$queue")
        v=$([ -x "$build/bench_vkfft" ] && vkfft "$c")
        [ -n "$v" ] && version=$(echo "$v" | cut -d' ' -f7)
        u=$(grep "^$c " "$cache/cufft")
        # Again, after the peers: what the clocks did in between shows.
        local b
        b=$(ours "$c" "$rounds" "$queue")
        awk -v c="$c" -v a="$a" -v b="$b" -v v="$v" -v u="$u" '
            function us(s) { return sprintf(s < 1e-3 ? "%.1f" : "%.0f", s * 1e6) }
            function peer(lengths, s) {
                return s > 0 ? sprintf("%s (%.2f) %s", us(s), own / s, lengths) : "-"
            }
            BEGIN {
                n = split(a, A, " "); split(b, B, " "); split(v, V, " "); split(u, U, " ")
                if (n < 23) { printf "%-15s failed\n", c; exit }
                own = (A[13] + B[13]) / 2
                k = split(A[16], P, "+")
                for (i = 1; i <= k; i++) passes = passes (i > 1 ? "+" : "") us(P[i])
                printf("%-15s %-13s %9s %-19s %9s %5.0f%%  %-22s %-22s\n", c, A[7] "x" A[8] A[6], us(own),
                    passes, us(A[19]) "-" us(B[20] > A[20] ? B[20] : A[20]), own > 0 ? 100 * A[23] / own : 0,
                    peer(V[1] "x" V[2] (V[8] == "padding" ? "" : "*"), V[3]), peer(U[2] "x" U[3], U[4]))
            }'
    done
    [ -n "$version" ] && echo "VkFFT $version"
    echo "copies: the share of the speed of copies that move as many bytes; ratio: fftbloom's time by the peer's"
}

sweep() {
    if [ ${#cases[@]} -eq 0 ]; then
        for n in 256 360 512 720 1024 1400 2048 3000 4096 6000 8192 12000 16384; do
            cases+=("${n}x$n/64")
        done
    fi
    echo "RGB float32; per pass: of three, and of each stage that is a pass of its own"
    printf '%-16s %-13s %6s %10s %12s %14s %18s\n' "image/kernel" lengths passes "us" "us / Mpixel" \
        "... and pass" "... and log2(L1 L2)"
    for c in "${cases[@]}"; do
        local w=${c%%x*} frames=$queue
        # Large frames need no long queue, and their buffers take a while to fill.
        [ "$w" -gt 2048 ] && frames=$(((queue + 9) / 10))
        a=$(ours "$c" $(((rounds + 3) / 4)) "$frames")
        awk -v c="$c" -v a="$a" 'BEGIN {
            if (split(a, A, " ") < 23) { printf "%-16s failed\n", c; exit }
            passes = split(A[16], P, "+")
            mega = A[2] * A[3] * 1e-6
            us = A[13] * 1e6
            printf "%-16s %-13s %6d %10.1f %12.3f %14.3f %18.4f\n", c, A[7] "x" A[8] A[6], passes, us,
                us / mega, us / mega / passes, us / mega / (log(A[7] * A[8]) / log(2))
        }'
    done | tee "$cache/sweep"
    awk '/failed/ { next } { split($1, s, "[x/]") }
        s[1] * s[2] >= 1e6 { n++; for (i = 5; i <= 7; i++) {
            if (n == 1 || $i < low[i]) low[i] = $i
            if (n == 1 || $i > high[i]) high[i] = $i } }
        END { if (n) printf "from 1 megapixel on, most by least: %.2f per pixel, %.2f per pixel and pass, %.2f per pixel and log2(L1 L2)\n",
                  high[5] / low[5], high[6] / low[6], high[7] / low[7] }' "$cache/sweep"
}

[ -x "$build/fftbloom" ] || { echo "there is no $build/fftbloom; run make" >&2; exit 1; }
case $what in
cases) cases_table ;;
sweep) sweep ;;
*) echo "usage: peers.sh BUILD [cases|sweep] [WIDTHxHEIGHT/KERNEL ...]" >&2; exit 2 ;;
esac
