#!/bin/bash
# soak.sh PROGRAM [FRAMES]: one process blooms many small frames of three sizes, under three kernels by
# turns, one in fifty of which is cut off. Prints memory, open files and threads of the process, and the
# temporary files beside the outputs, each second; the last line compares the first quarter with the end.
set -e
prog=$(realpath "$1") frames=${2:-10000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export FFTBLOOM_CACHE_DIR=$dir/cache FFTBLOOM_DEVICE=cpu
mkdir in out k
i=0
for taps in 24 40 56; do
    "$prog" kernel make disc --taps $taps --param radius=$((taps / 4)) -o s$i.exr
    "$prog" kernel make gaussian --taps $((taps / 3 + 5)) --param radius=2 -o k$i.exr 2>/dev/null || "$prog" kernel make gaussian --taps $((taps / 3 + 5)) -o k$i.exr
    i=$((i + 1))
done
head -c 300 s0.exr >cut.exr
for i in $(seq "$frames"); do
    from=s$((i % 3)).exr
    [ $((i % 50)) -ne 0 ] || from=cut.exr
    ln "$from" "$(printf 'in/a.%06d.exr' "$i")"
    ln k$((3 * (i - 1) / frames)).exr "$(printf 'k/a.%06d.exr' "$i")"
done
"$prog" 'in/a.######.exr' ${KERNEL:-'k/a.######.exr'} -o 'out/a.######.exr' --keep-going -q 2>said &
pid=$!
while kill -0 $pid 2>/dev/null; do
    done=$(find out -name '*.exr' | wc -l)
    rss=$(awk '/^VmRSS/ { print $2 }' /proc/$pid/status 2>/dev/null || true)
    fds=$(ls /proc/$pid/fd 2>/dev/null | wc -l)
    [ -z "$rss" ] || echo "$done frames: $rss kB, $fds files, $(ls /proc/$pid/task 2>/dev/null | wc -l) threads, $(find out -name '.*.tmp' | wc -l) temporary"
    sleep 1
done | tee watched
status=0
wait $pid || status=$?
echo "status $status, $(find out -name '*.exr' | wc -l) of $frames frames, $(wc -l <said) lines of errors, $(find . -name '*.tmp' | wc -l) temporary files left"
awk '$1 >= 100 { n++; r[n] = $3; f[n] = $5 }
    END { for (i = 1; i <= n; i++) { q = i <= n / 4 ? 1 : i > 3 * n / 4 ? 2 : 0; if (r[i] > m[q]) m[q] = r[i]; if (f[i] > o[q]) o[q] = f[i] }
          printf "most in the first quarter: %d kB, %d files; in the last: %d kB, %d files\n", m[1], o[1], m[2], o[2] }' watched
