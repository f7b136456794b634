#!/usr/bin/python3
"""Makes docs/gallery.md, the README's pictures, the gallery's and those of docs/look.md, docs/deglare.md and docs/ofx.md: docs_gallery.py PROGRAM

Of each shipped kernel: the street at night that it blooms, a part of it pixel by pixel, what it
makes of a white lamp, and its light by distance. The order and the sentences come from
`kernel list`. Needs ffmpeg, which scales, sets words and packs the pictures."""
import json
import math
import os
import struct
import subprocess
import sys

PROGRAM = sys.argv[1]
STREET, SHORE = "testdata/street.exr", "testdata/shore.exr"
FOLDER = "docs/images/gallery"
PART = "1080:640:600:120"  # of the street, in the contact sheet: width:height:x:y
NEAR = "240:320:842:40"  # a lamp of it, pixel by pixel
FAMILIES = {  # of the contact sheet and of the page
    "lens": ("lens-night", "portrait", "vintage", "sunstar", "anamorphic", "prime-open", "sunstar-field"),
    "film": ("halation",),
    "diffusion": ("mist-8", "mist-4", "mist-2", "mist-1"),
    "star filter": ("cross", "star-six"),
    "glass and eye": ("dirty-glass", "eye-night"),
    "telescope": ("telescope", "space-telescope"),
}
CROP = "480:270:620:465"  # pixel by pixel
SPLIT = 672  # of the shore, in the README: the middle of the sun
LAMP = 320  # pixels of the picture of a lamp
ACROSS, DOWN, CELL, SHOWN = (130, 960, 1790), (75, 540, 1005), (240, 135), (320, 180)  # lamps of a frame
LIGHT = 32000  # of the lamp, in white pixels
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

HEAD = f"""# Gallery of kernels

These kernels come with the program. A name can stand wherever a kernel can:

    fftbloom testdata/street.exr -k sunstar -o out.exr

![the same part of a street at night, and a lamp of it pixel by pixel, without bloom and with each kernel, at half strength](images/gallery/sheet.webp)

Most people want half of a kernel (`--amount 50%`), as on this sheet. Each is a recipe in [kernels/](../kernels/), which is made at its first use and kept in the cache. A recipe can be changed and made again: `fftbloom kernel make sunstar --param blades=9 -o mine.exr` ([kernels.md](kernels.md)). Each is made for the size of the frame; here the frame is 1920 pixels long.

The large pictures are `testdata/street.exr` at default settings (`--exposure 0`), at half its size. Below each are a part of it pixel by pixel, what the kernel makes of a white lamp of 4x4 pixels with {LIGHT} times the light of a white one ({LAMP} pixels wide), and the kernel's light by distance: the mean of each ring, per channel. All kernels have the same scales. `make gallery` makes this page.

## Without bloom

![a street at night without bloom](images/gallery/none.webp)
"""


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def ffmpeg(inputs, graph, path, quality):
    files = [word for i in inputs for word in ("-i", i)]
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-y", *files, "-filter_complex", graph, "-frames:v", "1", "-c:v", "libwebp",
         "-quality", str(quality), "-compression_level", "6", "-preset", "photo", path],
        check=True,
    )


def profile(rings, path):
    """Draws the rings' light, from 1e-9 to 1, by distance up to 1000 taps."""
    w, h, decades, last = 480, 270, 9, 1000
    left, right, top, bottom = 64, w - 14, 14, h - 40

    def x(r):
        return left + (right - left) * math.log(max(r, 0.5) / 0.5) / math.log(last / 0.5)

    def y(v):
        return bottom + (top - bottom) * (1 + math.log10(max(v, 10**-decades)) / decades)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{w}" height="{h}" fill="#17171c"/>',
        '<g stroke="#33333c" stroke-width="0.8" fill="#b0b0b8">',
    ]
    for d in range(0, decades + 1, 3):
        at = y(10**-d)
        out.append(f'<path d="M{left} {at:.1f}H{right}"/>')
        label = "1" if d == 0 else f"1e-{d}"
        out.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end" stroke="none">{label}</text>')
    for r in (1, 10, 100, 1000):
        out.append(f'<path d="M{x(r):.1f} {top}V{bottom}"/>')
        out.append(f'<text x="{x(r):.1f}" y="{bottom + 15}" text-anchor="middle" stroke="none">{r}</text>')
    middle = (top + bottom) / 2
    out.append(f'<text x="{(left + right) / 2}" y="{h - 8}" text-anchor="middle" stroke="none">distance from the centre, in taps</text>')
    out.append(f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle" stroke="none">share of the light per tap</text>')
    out.append("</g>")
    for c in range(len(rings[0]["light"])):
        colour = ("#d8d8d8",) if len(rings[0]["light"]) == 1 else ("#f0665a", "#6fce6f", "#6a9cf5")
        points, previous = [], -9.0
        for ring in rings:
            at = x(ring["radius"])
            if (at - previous < 2 and ring["radius"]) or ring["light"][c] <= 0:
                continue
            previous = at
            points.append(f'{at:.1f},{y(ring["light"][c]):.1f}')
        out.append(f'<polyline fill="none" stroke="{colour[c]}" stroke-width="1.6" points="{" ".join(points)}"/>')
    out.append("</svg>\n")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out))


def write_lamps(path, w, h, across, down):
    """A PFM picture with white lamps of 4x4 pixels in darkness."""
    pixel = bytearray(12 * w * h)
    for i in range(16):
        for x in across:
            for y in down:
                at = 12 * ((y - 2 + i // 4) * w + x - 2 + i % 4)
                pixel[at : at + 12] = struct.pack("<3f", *[LIGHT / 16] * 3)
    with open(path, "wb") as f:
        f.write(b"PF\n%d %d\n-1.0\n" % (w, h) + pixel)


def nine(name, path):
    """What a field makes of nine lamps of a frame, each a third larger."""
    run("out/nine.pfm", "-k", name, "-o", "out/nine.png", "--exposure", "0")
    cells = [(x - CELL[0] // 2, y - CELL[1] // 2) for y in DOWN for x in ACROSS]
    graph = [f"[0]split=9{''.join(f'[a{i}]' for i in range(9))}"]
    graph += [f"[a{i}]crop={CELL[0]}:{CELL[1]}:{x}:{y},scale={SHOWN[0] - 2}:{SHOWN[1] - 2},pad=iw+2:ih+2:0:0:gray[b{i}]" for i, (x, y) in enumerate(cells)]
    places = "|".join(f"{SHOWN[0] * (i % 3)}_{SHOWN[1] * (i // 3)}" for i in range(9))
    graph.append("".join(f"[b{i}]" for i in range(9)) + f"xstack=inputs=9:layout={places}")
    ffmpeg(["out/nine.png"], ";".join(graph), path, 88)


def word(text, size=20):
    return f"drawtext=fontfile={FONT}:expansion=none:text='{text}':fontcolor=white:fontsize={size}:x=12:y=h-{size}-12:shadowx=1:shadowy=1"


def sheet(kin):
    """All kernels at half strength, by family, two beside each other: a part of the street, and a lamp of it."""
    cells = [("none", "no bloom")] + [(name, f"{name} ({family})") for name, family in kin.items()]
    graph = [f"[{i}]split[a{i}][b{i}];[a{i}]crop={PART},scale=540:320:flags=area,{word(t)}[c{i}];[b{i}]crop={NEAR}[d{i}];"
             f"[c{i}][d{i}]hstack,pad=iw+4:ih+4[e{i}]" for i, (_, t) in enumerate(cells)]
    places = "|".join(f"{784 * (i % 2)}_{324 * (i // 2)}" for i in range(len(cells)))
    graph.append("".join(f"[e{i}]" for i in range(len(cells))) + f"xstack=inputs={len(cells)}:layout={places}:fill=black")
    ffmpeg([f"out/{name}-half.png" for name, _ in cells], ";".join(graph), f"{FOLDER}/sheet.webp", 80)


def look(name, heading):
    """The pictures of a page, by the commands that stand below a heading of it; other files stay in out/."""
    os.makedirs("docs/images/look", exist_ok=True)
    with open(name, encoding="utf-8") as page:
        commands = [line.split() for line in page.read().split(heading, 1)[1].splitlines() if line.startswith("    ")]
    for name, *arguments in commands:
        made = arguments[arguments.index("-o") + 1]
        words = [f"out/{a}" if a == made or os.path.exists(f"out/{a}") else a for a in arguments]
        subprocess.run([PROGRAM if name == "fftbloom" else name, *words], check=True, capture_output=True)
        if made.endswith(".png"):
            ffmpeg([f"out/{made}"], "scale=960:-1:flags=area", f"docs/images/look/{made[:-4]}.webp", 80)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    os.makedirs("out", exist_ok=True)
    write_lamps("out/lamp.pfm", LAMP, LAMP, (LAMP // 2,), (LAMP // 2,))
    write_lamps("out/nine.pfm", 1920, 1080, ACROSS, DOWN)
    run(STREET, "-k", "portrait", "-o", "out/none.png", "--exposure", "0", "--amount", "0")
    os.replace("out/none.png", "out/none-half.png")
    ffmpeg(["out/none-half.png"], "scale=960:-1:flags=area", f"{FOLDER}/none.webp", 82)
    page, listed = [HEAD], {k["name"]: k for k in json.loads(run("kernel", "list", "--json"))["kernels"]}
    kin = {name: family for family, names in FAMILIES.items() for name in names}
    assert set(kin) == set(listed), set(kin) ^ set(listed)
    for name in kin:
        kernel = listed[name]
        base = f"{FOLDER}/{name}"
        with open(f"kernels/{name}.json", encoding="utf-8") as f:
            varies = "field" in json.load(f)
        if varies:
            nine(name, f"{base}-nine.webp")
        else:
            shown = run("kernel", "show", name, "-o", "out/page.svg", "--json")
            profile(json.loads(shown)["rings"], f"{base}-profile.svg")
            run("out/lamp.pfm", "-k", name, "-o", "out/lamp.png", "--exposure", "0", "--padding", "zero", "--kernel-scale", "1")
            ffmpeg(["out/lamp.png"], "null", f"{base}-lamp.webp", 85)
        run(STREET, "-k", name, "-o", f"out/{name}.png", "--exposure", "0")
        ffmpeg([f"out/{name}.png"], "scale=960:-1:flags=area", f"{base}.webp", 82)
        if not varies:
            ffmpeg([f"out/{name}.png"], f"crop={CROP}", f"{base}-crop.webp", 85)
        run(STREET, "-k", name, "-o", f"out/{name}-half.png", "--exposure", "0", "--amount", "50%")
        relative = f"images/gallery/{name}"
        w, h = kernel["size"]
        if varies:
            page.append(
                f"## {name}\n\n{kernel['about']}. It varies over the frame ([fields.md](fields.md)): {w}x{h} taps at each of 5x3 places, "
                f"and a wide veil. Below, nine lamps of a frame, from its corners to its middle.\n\n![a street at night with {name}]({relative}.webp)\n\n"
                f"![nine lamps]({relative}-nine.webp)\n"
            )
            continue
        page.append(
            f"## {name}\n\n{kernel['about']}. {w}x{h} taps.\n\n![a street at night with {name}]({relative}.webp)\n\n"
            f"| ![part]({relative}-crop.webp) | ![lamp]({relative}-lamp.webp) "
            f"| ![profile]({relative}-profile.svg) |\n|---|---|---|\n"
        )
    sheet(kin)
    part = "crop=800:600:560:230"
    ffmpeg(["out/none-half.png", "out/lens-night.png"], f"[0]{part}[a];[1]{part}[b];[a][b]hstack", "docs/images/ofx.webp", 82)
    look("docs/look.md", "#")
    look("docs/deglare.md", "## On a plate")
    # The README's picture: one frame, which is as it came to the left of the line.
    run(SHORE, "-k", "sunstar", "-o", "out/after.png", "--amount", "50%", "--before", "out/before.png", "--exposure", "0")
    line = f"drawbox=x={SPLIT - 1}:y=0:w=2:h=ih:color=white@0.7:t=fill"
    graph = (
        f"[0]crop={SPLIT}:ih:0:0,{word('without', 30)}[a];[1]crop=iw-{SPLIT}:ih:{SPLIT}:0,{word('with bloom', 30)}[b];"
        f"[a][b]hstack,{line},scale=1200:-1:flags=area"
    )
    ffmpeg(["out/before.png", "out/after.png"], graph, "docs/images/hero.webp", 88)
    with open("docs/gallery.md", "w", encoding="utf-8") as f:
        f.write("\n".join(page))


main()
