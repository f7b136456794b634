#!/bin/bash
# fresh.sh [built|demo|all]: is the README right on a machine that has nothing? Makes a bare Debian 12 in
# a folder of its own (debootstrap, as root), with make and git and no more, clones this checkout's
# last commit into it, and runs there what the README says: the Debian package is installed, used and
# removed; then 'make demo' and all commands, pasted in order into one shell. 'all' runs 'make test' as
# well; 'built' compiles nothing there, and runs what 'make demo' does with the program that is built here. Skips and says so where such a system cannot be made: without root, without debootstrap,
# without a network.
what=${1:-demo}
# The build server compiles all of it optimised a few steps before; here it is tried that it compiles and works.
quick=
[ "$what" = demo ] && quick='export CFLAGS="-O1 -U_FORTIFY_SOURCE" CXXFLAGS="-O1 -U_FORTIFY_SOURCE";'
cd "$(dirname "$0")/.." || exit 1
skip() {
    echo "skipped: a bare Debian cannot be made here: $*"
    exit 0
}
[ "$(id -u)" = 0 ] || skip "this needs root"
command -v apt-get >/dev/null || skip "there is no apt-get"
tests/deps.sh debootstrap >/dev/null || skip "debootstrap cannot be installed"

root=$(mktemp -d) log=$(mktemp)
cleanup() {
    umount "$root/proc" 2>/dev/null
    mountpoint -q "$root/proc" || rm -rf --one-file-system "$root"
    rm -f "$log"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1)
mirror=${mirror:-http://deb.debian.org/debian}
debootstrap --variant=minbase --include=make,git,ca-certificates bookworm "$root" "${mirror% }" >"$log" 2>&1 ||
    skip "debootstrap: $(tail -n 1 "$log")"
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null
mount -t proc proc "$root/proc" 2>/dev/null || skip "/proc cannot be mounted in it"
git -c safe.directory='*' clone -q --no-hardlinks . "$root/root/fftbloom" || exit 1

newcomer() { # script: in the clone, with nothing of ours in the environment
    chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        bash -c "cd /root/fftbloom && $1"
}
step() { # name script
    local start=$SECONDS
    if newcomer "$2" >"$log" 2>&1; then
        echo "ok    $1 on a bare Debian, $((SECONDS - start)) s"
        return
    fi
    echo "FAIL  $1 on a bare Debian:"
    tail -n 40 "$log"
    exit 1
}
# The program's libraries are those of the packages that it is built with.
if [ "$what" = built ]; then
    mkdir "$root/root/fftbloom/build" && cp build/fftbloom "$root/root/fftbloom/build/" || exit 1
    step 'the libraries' "export DEBIAN_FRONTEND=noninteractive; apt-get update -qq &&
        apt-get install -y -qq --no-install-recommends $(ldd build/fftbloom | grep -oE '/[^ ]+' | xargs -n 1 realpath | xargs dpkg-query -S 2>/dev/null | cut -d: -f1 | sort -u | xargs)"
    step 'the commands of make demo' 'tests/demo.sh build/fftbloom && [ -s out/demo.exr ] && [ -s out/after.png ]'
    exit
fi
# The packages, before the system has anything else: it brings what it needs, and takes all of its own
# away again.
DPKG_DEB_COMPRESSOR_LEVEL=0 make -s deb >"$log" 2>&1 || { cat "$log"; exit 1; }
cp dist/*fftbloom*.deb "$root/root/"
step 'the package' 'export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends /root/fftbloom_*.deb &&
    fftbloom testdata/small.exr /usr/share/fftbloom/kernels/sunstar.json -o /root/out.exr --device cpu &&
    fftbloom info /root/out.exr && dpkg --purge fftbloom && rm /root/out.exr &&
    ! find / -xdev -path /root -prune -o -path "/var/*" -prune -o -name "*fftbloom*" -print | grep .'
step 'the Python module' 'export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends /root/*fftbloom0_*.deb /root/python3-fftbloom_*.deb /root/fftbloom_*.deb &&
    cd / && python3 -c "import fftbloom as fb; b = fb.Bloom(\"mist-1\", context=fb.Context(device=\"cpu\"))
out, report = b(memoryview(bytearray(4000)).cast(\"f\", (25, 40)), report=True); assert report.kept" &&
    dpkg --purge python3-fftbloom libfftbloom0 fftbloom &&
    ! find / -xdev -path /root -prune -o -path "/var/*" -prune -o -name "*fftbloom*" -print | grep .'
step 'the library' 'export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends /root/*fftbloom*.deb gcc libc6-dev pkg-config &&
    cc /usr/share/doc/libfftbloom-dev/examples/bloom.c $(pkg-config --cflags --libs fftbloom) -o /root/bloom &&
    /root/bloom sunstar && dpkg --purge python3-fftbloom libfftbloom-dev libfftbloom0 fftbloom'
step 'make demo' "$quick"' make demo && [ -s out/demo.exr ] && [ -s out/after.png ]'
# pip finds there what 'make demo' has compiled, but for the numbers of shaders and what holds them.
step 'the sources for pip' "$quick"' apt-get install -y -qq --no-install-recommends python3-venv && make -s sdist && mv /usr/bin/glslc /root &&
    mkdir /root/pip && tar xzf dist/*.tar.gz -C /root/pip --strip-components 1 && cp -a build /root/pip && rm -r /root/pip/build/shaders &&
    python3 -m venv /root/v && /root/v/bin/pip install -q --no-index /root/pip && mv /root/glslc /usr/bin && cd / &&
    /root/v/bin/python -c "import fftbloom as fb; assert fb.Kernel(\"sunstar\").shape[2] == 3"'
awk '/^```sh paste/ { on = 1; next } /^```/ { on = 0 } on' README.md >"$root/root/commands.sh"
step 'the commands' 'set -e && . /root/commands.sh'
[ "$what" = demo ] || step 'make test' 'make test'
