#!/usr/bin/env python3
"""Draws the diagrams of docs/inside/fft.md: docs_fft.py FOLDER."""
import math, sys

COLOUR = ["#0072b2", "#d55e00", "#009e73", "#b0447f", "#c98500", "#5b3fa0", "#2f93cc", "#777"]
GREY = "#999"


class Picture:
    def __init__(self, width, height, title):
        self.size, self.parts = (width, height), [f"<title>{title}</title>"]

    def line(self, x1, y1, x2, y2, colour="#222", width=1.4, dash=None):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" '
                          f'stroke-width="{width}"{dash}/>')

    def arrow(self, x1, y1, x2, y2, colour="#222", width=1.4):
        self.line(x1, y1, x2, y2, colour, width)
        a = math.atan2(y2 - y1, x2 - x1)
        tip = " ".join(f"{x2 - 7 * math.cos(a + t):.1f},{y2 - 7 * math.sin(a + t):.1f}" for t in (-0.42, 0.42))
        self.parts.append(f'<polygon points="{x2:g},{y2:g} {tip}" fill="{colour}"/>')

    def dot(self, x, y, colour="#222", radius=2.6):
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="{colour}"/>')

    def text(self, x, y, words, colour="#222", anchor="middle", size=12, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}" '
                          f'font-size="{size}"{weight}>{words}</text>')

    def box(self, x, y, w, h, fill="#f4f4f4", stroke="none", radius=6):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius}" fill="{fill}" '
                          f'stroke="{stroke}"/>')

    def save(self, folder, name):
        w, h = self.size
        with open(f"{folder}/{name}.svg", "w") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
                    'font-family="Helvetica, Arial, sans-serif">\n'
                    f'<rect width="{w}" height="{h}" fill="#fff"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def reversed_bits(i, bits):
    return int(format(i, f"0{bits}b")[::-1], 2)


# --- flow graphs: numbers stand one above the other, stages one beside the other -----------------

TOP, GAP = 44, 24  # of the lanes


def lane(i):
    return TOP + GAP * i


def stage(p, x, width, butterflies):
    """Draws butterflies (numbers read, numbers written), each in the colour of its thread."""
    for thread, (read, written) in enumerate(butterflies):
        c = COLOUR[thread % len(COLOUR)]
        for a in read:
            for b in written:
                p.line(x, lane(a), x + width, lane(b), c)
    for read, written in butterflies:
        for a in read:
            p.dot(x, lane(a))
        for b in written:
            p.dot(x + width, lane(b))


def ends(p, x1, x2, first, last):
    for i, (a, b) in enumerate(zip(first, last)):
        p.text(x1, lane(i) + 4, f"x{a}", anchor="end")
        p.text(x2, lane(i) + 4, f"X{b}", anchor="start")


def cooley_tukey(folder, name, one_dispatch):
    p = Picture(560, 262, "Cooley-Tukey, radix 2, eight numbers")
    for left, right in ((40, 260), (266, 390), (396, 522)):
        if not one_dispatch:
            p.box(left, 14, right - left, 236)
    if one_dispatch:
        p.box(40, 14, 482, 236)
        p.text(281, 30, "one dispatch, a workgroup for each line", "#555")
    for i in range(8):
        p.line(44, lane(i), 150, lane(reversed_bits(i, 3)), GREY)
    for s, x in enumerate((150, 280, 410)):
        h = 1 << s
        pairs = [(t // h * 2 * h + t % h, t // h * 2 * h + t % h + h) for t in range(4)]
        stage(p, x, 96, [(q, q) for q in pairs])
        if not one_dispatch:
            p.text((150, 328, 459)[s], 30, f"dispatch {s + 1}", "#555")
        if s < 2:
            for i in range(8):
                p.line(x + 96, lane(i), x + 130, lane(i), GREY)
            if one_dispatch:
                p.line(x + 113, 38, x + 113, 232, "#d55e00", 1.6, "5 4")
                p.text(x + 113, 245, "barrier", "#d55e00", size=11)
    ends(p, 38, 512, range(8), range(8))
    p.save(folder, name)


def stockham2(folder):
    p = Picture(560, 262, "Stockham, radix 2, eight numbers")
    for x, name in ((60, "A"), (200, "B"), (340, "A"), (480, "B")):
        p.box(x - 16, 14, 32, 236)
        p.text(x, 30, name, "#555", bold=True)
    for k, s in enumerate((1, 2, 4)):
        x = 60 + 140 * k
        stage(p, x, 140, [((t, t + 4), (2 * t - t % s, 2 * t - t % s + s)) for t in range(4)])
    ends(p, 36, 504, range(8), range(8))
    p.save(folder, "fft_stockham2")


def stockham4(folder):
    global GAP
    GAP = 19
    p = Picture(560, 372, "Stockham, radix 4, sixteen numbers")
    for x, name in ((60, "A"), (270, "B"), (480, "A")):
        p.box(x - 16, 14, 32, 346)
        p.text(x, 30, name, "#555", bold=True)
    for k, s in enumerate((1, 4)):
        legs = [([t + 4 * r for r in range(4)], [t + 3 * (t - t % s) + s * r for r in range(4)]) for t in range(4)]
        stage(p, 60 + 210 * k, 210, legs)
    ends(p, 36, 504, range(16), range(16))
    p.save(folder, "fft_stockham4")
    GAP = 24


# --- other diagrams --------------------------------------------------------------------------------


def definition(folder):
    p = Picture(560, 250, "The definition: every output needs every input")
    for k in range(8):
        p.text(150 + 34 * k, 24, f"x{k}", size=12)
        p.text(126, 46 + 26 * k, f"X{k} =", anchor="end")
        for i in range(8):
            x, y, a = 150 + 34 * i, 42 + 26 * k, 2 * math.pi * i * k / 8
            p.parts.append(f'<circle cx="{x}" cy="{y}" r="10" fill="#f4f4f4"/>')
            p.arrow(x - 8 * math.cos(a), y - 8 * math.sin(a), x + 9 * math.cos(a), y + 9 * math.sin(a),
                    COLOUR[0], 1.3)
    p.text(434, 60, "each hand turns", "#555", "start")
    p.text(434, 78, "a number by", "#555", "start")
    p.text(434, 96, "exp(-2\u03c0i j k / n)", "#555", "start")
    p.save(folder, "fft_dft")


def recursion(folder):
    p = Picture(560, 190, "The recursion: even and odd numbers, until one is left")

    def node(numbers, x, y, width):
        w = 17 * len(numbers) + 6
        p.box(x - w / 2, y - 14, w, 22, "#f4f4f4", "#bbb", 4)
        for i, n in enumerate(numbers):
            p.text(x + 17 * (i - (len(numbers) - 1) / 2), y + 2, str(n), COLOUR[0] if n % 2 == 0 else COLOUR[1])
        if len(numbers) > 1:
            for half, side in ((numbers[::2], -1), (numbers[1::2], 1)):
                p.line(x, y + 8, x + side * width / 4, y + 32, GREY)
                node(half, x + side * width / 4, y + 46, width / 2)

    node(list(range(8)), 280, 24, 480)
    p.text(280, 184, "the order of the last row is that of reversed bits", "#555")
    p.save(folder, "fft_recursion")


def memory(folder):
    p = Picture(560, 206, "Where the numbers are between the stages")
    for y, name in ((34, "global memory"), (112, "shared memory"), (172, "registers")):
        p.box(110, y - 16, 440, 30)
        p.text(102, y + 4, name, anchor="end")
    for x0, label, low in ((120, "stockham2, stockham4", 34), (345, "the same, -shared", 112)):
        p.text(x0 + 90, 12, label, "#555", size=11)
        for s in range(4):
            x, c = x0 + 50 * s, COLOUR[s]
            p.arrow(x, (34 if s == 0 else low) + 6, x + 12, 162, c)
            p.arrow(x + 18, 162, x + 30, (34 if s == 3 else low) + 8, c)
    p.save(folder, "fft_shared")


def wide(folder):
    p = Picture(560, 236, "One butterfly a thread, and four")
    for x, label, threads in ((70, "one butterfly a thread", 8), (330, "four butterflies a thread", 2)):
        p.text(x + 70, 18, label, "#555")
        for i in range(8):
            y, c = 34 + 24 * i, COLOUR[i % threads]
            for a, b in ((0, 0), (0, 14), (14, 0), (14, 14)):
                p.line(x + 60, y + a, x + 100, y + b, c)
            p.text(x + 40, y + 11, f"thread {i % threads}", c, "end", 11)
    p.save(folder, "fft_wide")


def ours(folder):
    p = Picture(560, 178, "The transform of this program: 1024 = 8 * 8 * 16")
    x = 14
    p.box(x, 30, 62, 112)
    p.text(x + 31, 90, "global", "#555")
    for k, (radix, colour) in enumerate(((8, COLOUR[0]), (8, COLOUR[1]), (16, COLOUR[2]))):
        left = 100 + 142 * k
        p.arrow(left - 24, 86, left - 3, 86)
        p.box(left, 30, 72, 112, "#fff", colour)
        rows = 8
        for a in range(rows):
            for b in range(rows):
                p.line(left + 12, 50 + 11 * a, left + 60, 50 + 11 * b, colour, 0.5)
        p.text(left + 36, 22, f"dft{radix}", colour, bold=True)
        p.text(left + 36, 160, "registers", "#555", size=11)
        if k < 2:
            p.arrow(left + 72, 86, left + 90, 86)
            p.box(left + 92, 52, 22, 68, "#f4f4f4")
            p.parts.append(f'<text transform="translate({left + 107} 86) rotate(-90)" text-anchor="middle" '
                           'font-size="11" fill="#555">shared</text>')
    p.arrow(456, 86, 480, 86)
    p.box(484, 30, 62, 112)
    p.text(515, 90, "global", "#555")
    p.save(folder, "fft_ours")


def main():
    folder = sys.argv[1]
    definition(folder)
    recursion(folder)
    cooley_tukey(folder, "fft_ct2_stages", False)
    cooley_tukey(folder, "fft_ct2_axis", True)
    stockham2(folder)
    stockham4(folder)
    memory(folder)
    wide(folder)
    ours(folder)


main()
