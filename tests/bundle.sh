#!/bin/sh
# Makes the folder $1, into which `make install` has put the program, one that runs on other x86-64
# Linux machines of the same age or newer: beside the program go, in lib/, the libraries it needs, but
# for the C library. Nothing to install there but a Vulkan driver.
set -e
to=$1
prog=$to/bin/fftbloom
mkdir -p "$to/lib"
# Every machine has these, and they must be the ones that fit its kernel and each other.
# The Vulkan loader, which is opened at run time, goes with them.
own='libc\.so|libm\.so|libpthread|libdl\.so|librt\.so|ld-linux'
loader=$(PATH=$PATH:/sbin ldconfig -p | awk '$1 == "libvulkan.so.1" && /x86-64/ { print $NF; exit }')
{ ldd "$prog" | awk '$2 == "=>" { print $1, $3 }' | grep -vE "^($own)"; echo "libvulkan.so.1 $loader"; } | while read -r name path; do
    cp -L "$path" "$to/lib/$name"
    strip --strip-unneeded "$to/lib/$name"
    patchelf --set-rpath '$ORIGIN' "$to/lib/$name"
done
strip "$prog"
patchelf --set-rpath '$ORIGIN/../lib' "$prog"
# What is in it, and the notices that its libraries ask to go with them.
tests/spdx.sh "$prog" "$to/lib" >"$to/fftbloom.spdx"
mkdir -p "$to/licenses"
sed -n 's|^ExternalRef:.*pkg:deb/debian/\(.*\)@.*|\1|p' "$to/fftbloom.spdx" | sort -u | while read -r package; do
    cp -L "/usr/share/doc/$package/copyright" "$to/licenses/$package.txt"
done
cp LICENSE "$to/LICENSE"
cat >"$to/README.txt" <<'TXT'
fftbloom, in a folder that can be moved anywhere. Start bin/fftbloom; it finds its libraries in lib/.
share/ has the kernels, the documents, the man pages, and completions for bash, zsh and fish.
A GPU needs its Vulkan driver installed; without one the CPU does the work.

The program is under the MIT licence (LICENSE). The libraries in lib/ keep their own, which are
permissive or, as those of the compiler, allow this use: licenses/ has their notices, and fftbloom.spdx
lists what is in this folder.
TXT
size=$(du -sm "$to" | cut -f1)
echo "bundle: $to, $size MB"
