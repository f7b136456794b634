#!/usr/bin/python3
"""Makes docs/gallery.md and its pictures: docs_gallery.py PROGRAM STREET.exr

Of each shipped kernel: its false colours by `kernel show`, its light by distance, and the street
at night that it blooms. The order and the sentences come from `kernel list`."""
import json
import math
import os
import subprocess
import sys

PROGRAM, STREET = sys.argv[1:3]
FOLDER = "docs/images/gallery"
SCALE = "0.5"  # the street is narrower than the pictures that the kernels are made for
EXPOSURE = "-3"

HEAD = """# Gallery of kernels

These kernels come with the program. A name can stand wherever a kernel can:

    fftbloom in.exr -k sunstar -o out.exr

Each is a recipe in [kernels/](../kernels/), which is made at its first use and kept in the cache. It can be changed and made again: `fftbloom kernel make sunstar --param blades=9 -o mine.exr` ([kernels.md](kernels.md)). Sizes suit pictures about 2000 pixels wide; `--kernel-scale` makes them again for others.

The first picture is the middle of the kernel in false colours, over six decades. The second is its light by distance from the centre in taps, both logarithmic: the mean of each ring, per channel. The third is a street at night, 400 pixels wide, with the kernel at half its size (`--kernel-scale 0.5`), at exposure -3. `make gallery` makes this page.
"""


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def profile(rings, path):
    """Draws the rings' light, from 1e-9 to 1, by distance."""
    w, h, decades = 300, 225, 9
    last = len(rings) - 1
    left, right, top, bottom = 34, w - 8, 8, h - 22

    def x(r):
        return left + (right - left) * math.log(max(r, 0.5) / 0.5) / math.log(last / 0.5)

    def y(v):
        return bottom + (top - bottom) * (1 + math.log10(max(v, 10**-decades)) / decades)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'font-family="sans-serif" font-size="9">',
        f'<rect width="{w}" height="{h}" fill="#17171c"/>',
        '<g stroke="#33333c" stroke-width="0.7" fill="#a0a0a8">',
    ]
    for d in range(0, decades + 1, 3):
        at = y(10**-d)
        out.append(f'<path d="M{left} {at:.1f}H{right}"/>')
        out.append(f'<text x="{left - 4}" y="{at + 3:.1f}" text-anchor="end" stroke="none">1e-{d}</text>')
    for r in (1, 10, 100):
        if r < last:
            out.append(f'<path d="M{x(r):.1f} {top}V{bottom}"/>')
            out.append(f'<text x="{x(r):.1f}" y="{h - 8}" text-anchor="middle" stroke="none">{r}</text>')
    out.append("</g>")
    channels = len(rings[0]["light"])
    for c in range(channels):
        colour = ("#d8d8d8",) if channels == 1 else ("#f0665a", "#6fce6f", "#6a9cf5")
        points, previous = [], -9.0
        for ring in rings:
            if x(ring["radius"]) - previous < 1.5 and ring["radius"]:
                continue
            previous = x(ring["radius"])
            points.append(f'{previous:.1f},{y(ring["light"][c]):.1f}')
        out.append(f'<polyline fill="none" stroke="{colour[c]}" stroke-width="1.3" points="{" ".join(points)}"/>')
    out.append("</svg>\n")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    page = [HEAD]
    for kernel in json.loads(run("kernel", "list", "--json"))["kernels"]:
        name = kernel["name"]
        if not os.path.exists(f"kernels/{name}.json"):
            continue
        base = f"{FOLDER}/{name}"
        shown = run("kernel", "show", name, "-o", "out/whole.png", "--json")
        run("kernel", "crop", name, "--taps", "300", "-o", "out/middle.exr")
        run("kernel", "show", "out/middle.exr", "-o", f"{base}-kernel.png")
        profile(json.loads(shown)["rings"], f"{base}-profile.svg")
        run(STREET, "-k", name, "-o", f"{base}.png", "--kernel-scale", SCALE, "--exposure", EXPOSURE, "--padding", "mirror")
        relative = f"images/gallery/{name}"
        w, h = kernel["size"]
        page.append(
            f"## {name}\n\n{kernel['about']}. {w}x{h} taps.\n\n"
            f"| ![{name} in false colours]({relative}-kernel.png) | ![its light by distance]({relative}-profile.svg) "
            f"| ![a street at night with {name}]({relative}.png) |\n|---|---|---|\n"
        )
    with open("docs/gallery.md", "w", encoding="utf-8") as f:
        f.write("\n".join(page))


main()
