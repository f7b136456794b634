#!/bin/bash
# The transforms of `fftlab fft` beside those of VkFFT and cuFFT, on one device: n x n complex
# numbers, forward and inverse averaged, data on the device, medians of the device's clock.
#
#   peers.sh BUILD [N ...]
#
# BUILD holds fftlab and fft_vkfft. Environment: DEVICE (gpu), ROUNDS (15), ALGORITHM (ours). A peer
# that is not there has no column. cuFFT needs python3 with torch.
build=$1 here=$(cd "$(dirname "$0")" && pwd)
shift
sizes=("$@") device=${DEVICE:-gpu} rounds=${ROUNDS:-15} algorithm=${ALGORITHM:-ours}
[ $# -gt 0 ] || sizes=(128 256 512 1024 2048 4096)
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT

list=$(IFS=,; echo "${sizes[*]}")
"$build/fftlab" fft --device "$device" --rounds "$rounds" --algorithm "$algorithm" --size "$list" --json |
    python3 -c 'import json, sys
for r in json.load(sys.stdin)["results"]:
    ways = r["forward"], r["inverse"]
    print(r["algorithm"], r["size"], sum(w["median"] for w in ways) / 2, r["worst"])' >"$t/ours" || exit 1
[ -s "$t/ours" ] || exit 1
for peer in vkfft cufft; do
    : >"$t/$peer"
done
[ ! -x "$build/fft_vkfft" ] || "$build/fft_vkfft" "$device" "$rounds" "${sizes[@]}" >"$t/vkfft"
[ "$device" = software ] || "$here/fft_cufft.py" "$rounds" "${sizes[@]}" >"$t/cufft" ||
    echo "cuFFT is not measured: there is no python3 with torch and CUDA"

echo "microseconds; in brackets: fftbloom's time in parts of the peer's; largest error of all ways"
awk -v v="$t/vkfft" -v c="$t/cufft" '
    function peer(file, time, worst,   line, f) {
        while ((getline line <file) > 0) { split(line, f, " "); time[f[1]] = (f[2] + f[3]) / 2; worst[f[1]] = f[4] }
    }
    function column(time, worst, n, ours) {
        return n in time ? sprintf("%10.2f (%4.2f) %8s", time[n] * 1e6, ours / time[n], worst[n]) : sprintf("%26s", "-")
    }
    BEGIN {
        peer(v, vt, vw); peer(c, ct, cw)
        printf "%-22s %5s %10s %8s %10s %-15s %10s %-15s\n", "algorithm", "n", "fftbloom", "error", "VkFFT", "", "cuFFT", ""
    }
    { t = $3; e = $4
      printf "%-22s %5d %10.2f %8s %s %s\n", $1, $2, t * 1e6, e, column(vt, vw, $2, t), column(ct, cw, $2, t) }' "$t/ours"
