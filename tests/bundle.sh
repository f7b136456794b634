#!/bin/sh
# A folder that runs on other x86-64 Linux machines of the same age or newer: the program $1, and
# beside it in lib/ the libraries it needs, but for the C library. Nothing to install there but a
# Vulkan driver. The folder is $2.
set -e
prog=$1 to=$2
rm -rf "$to"
mkdir -p "$to/bin" "$to/lib" "$to/share/man/man1"
cp "$prog" "$to/bin/fftbloom"
strip "$to/bin/fftbloom"
patchelf --set-rpath '$ORIGIN/../lib' "$to/bin/fftbloom"
# Every machine has these, and they must be the ones that fit its kernel and each other.
own='libc\.so|libm\.so|libpthread|libdl\.so|librt\.so|ld-linux'
ldd "$prog" | awk '$2 == "=>" { print $1, $3 }' | grep -vE "^($own)" | while read -r name path; do
    cp -L "$path" "$to/lib/$name"
    strip --strip-unneeded "$to/lib/$name"
    patchelf --set-rpath '$ORIGIN' "$to/lib/$name"
done
cp docs/man/*.1 "$to/share/man/man1/"
cp LICENSE "$to/LICENSE"
cat >"$to/README.txt" <<'TXT'
fftbloom, in a folder that can be moved anywhere. Start bin/fftbloom; it finds its libraries in lib/.
A GPU needs its Vulkan driver installed; without one the CPU does the work.

The program is under the MIT licence (LICENSE). The libraries in lib/ keep their own. FFTW (libfftw3)
is under the GNU General Public License. If you pass this folder on, you must do so under its terms;
make bundle FFTW=0 makes a folder without FFTW.
TXT
size=$(du -sm "$to" | cut -f1)
echo "bundle: $to, $size MB"
