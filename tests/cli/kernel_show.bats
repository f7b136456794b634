# `fftbloom kernel show`: the page of a kernel.

load files

kernel() { "$FFTBLOOM" kernel "$@"; }

@test "show: an SVG page that is whole, well formed and the same twice" {
    kernel make spencer --param adaptation=2 --taps 128 -o eye.exr
    kernel show eye.exr -o eye.svg --json >eye.json
    kernel show eye.exr -o again.svg --jobs 1
    cmp eye.svg again.svg
    # The same in a page of HTML.
    kernel show eye.exr -o page.html
    [ "$(head -1 page.html)" = '<!doctype html>' ]
    tail -n +4 page.html | cmp - <(sed 's/eye.svg/page.html/' eye.svg)
    python3 - <<'PY'
import base64, re, xml.etree.ElementTree as tree
page = tree.parse("eye.svg").getroot()
words = " ".join(page.itertext())
for w in ("eye.exr", "model spencer", "adaptation 2", "Light by distance", "within a radius",
          "three decades", "over 9 decades", "share of the light"):
    assert w in words, w
ns = "{http://www.w3.org/2000/svg}"
pictures = [i.get("href") for i in page.iter(ns + "image")]
assert len(pictures) == 5, len(pictures)  # the part that people see, the whole, two scales, lights
for i, p in enumerate(pictures):
    assert p.startswith("data:image/png;base64,")
    open(f"{i}.png", "wb").write(base64.b64decode(p.split(",")[1]))
assert "http" not in open("eye.svg").read().replace("http://www.w3.org/2000/svg", "")
PY
    # JSON has the points of its curves.
    holds eye.json 'len(d["rings"]) > 64 and abs(d["rings"][-1]["within"][1] - 1) < 1e-9'
    "$FFTBLOOM" info 1.png | grep -q "data window 0 0 127 127"
    "$FFTBLOOM" info 4.png | grep -q "data window 0 0 719 199"
    # Parameters in a file that are no numbers of the model do not reach it.
    kernel make moffat --taps 33 -o k.exr
    python3 - <<'P'
import struct
mark = b"fftbloom.slope\0double\0" + struct.pack("<I", 8)
whole = open("k.exr", "rb").read()
at = whole.index(mark) + len(mark)
open("bad.exr", "wb").write(whole[:at] + struct.pack("<d", float("nan")) + whole[at + 8:])
P
    kernel show bad.exr -o page.svg
    grep -qE 'model moffat: core [0-9.]+, slope [0-9.]+<' page.svg
}

@test "show: the scene is the kernel's own: of a point, lights stay points" {
    needs_program oiiotool
    image point.exr 1x1 float 1
    kernel show point.exr -o point.svg
    python3 - <<'PY'
import base64, xml.etree.ElementTree as tree
p = [i.get("href") for i in tree.parse("point.svg").getroot().iter("{http://www.w3.org/2000/svg}image")]
open("scene.png", "wb").write(base64.b64decode(p[4].split(",")[1]))
PY
    oiiotool scene.png --cut 3x1+569+100 -o row.png
    oiiotool --dumpdata row.png >row.txt
    python3 - <<'PY'
import re
rows = [int(l.split(":")[1].split()[0]) for l in open("row.txt") if "Pixel" in l]
assert abs(rows[0] - rows[2]) <= 2 and rows[1] > rows[0] + 2, rows  # pictures are dithered
PY
}

@test "show: the edges of the large picture have round distances, each at its tap" {
    image a.exr 17x17 float 1 -- b.exr 45x45 float 1 -- c.exr 81x81 float 1 -- d.exr 301x301 float 1
    for k in a b c d; do kernel show $k.exr -o $k.svg; done
    python3 - <<'PY'
import xml.etree.ElementTree as tree
STEP = {"a": (17, 2), "b": (45, 5), "c": (81, 10), "d": (301, 50)}  # taps a side: at most nine distances
for name, (w, step) in STEP.items():
    texts = [(t.get("class"), float(t.get("x")), float(t.get("y")), (t.text or "").replace("\u2212", "-"))
             for t in tree.parse(name + ".svg").getroot().iter("{http://www.w3.org/2000/svg}text")]
    left = [(y - 4 - 118, int(v)) for c, x, y, v in texts if c == "tick end" and x == 52]
    lower = [(x - 60, int(v)) for c, x, y, v in texts if c == "tick mid" and y == 118 + 420 + 18]
    n = w // 2 // step
    assert [v for _, v in left] == [v for _, v in lower] == [step * i for i in range(-n, n + 1)], (name, left)
    for at, v in left + lower:
        assert abs(at - 420 / w * (w // 2 + v + 0.5)) < 0.06, (name, at, v)
PY
}

@test "show: a field has its nodes where they are, with their numbers" {
    kernel make disc --param radius=3 --taps 21 -o a.exr -q
    kernel make disc --param radius=5 --taps 15x17 -o b.exr -q
    kernel make gaussian --param sigma=1 --taps 21 -o c.exr -q
    cat >f.json <<'J'
{"version": 1, "about": "Of <three> lenses", "field": {"x": [-0.1, 0.4, 0.75], "y": [0.2, 1],
 "nodes": [["a.exr", "b.exr", "c.exr"], ["c.exr", "c.exr", "a.exr:0.5 + c.exr"]], "common": {"kernel": "c.exr", "share": 0.25}}}
J
    kernel show f.json -o f.svg --json >f.out
    kernel show f.json -o again.svg --jobs 1
    cmp f.svg again.svg
    kernel show f.json -o f.html
    tail -n +4 f.html | cmp - f.svg
    kernel check f.json --json >check.out
    python3 - <<'PY'
import json, xml.etree.ElementTree as tree
page, ns = tree.parse("f.svg").getroot(), "{http://www.w3.org/2000/svg}"
box = lambda n: [float(n.get(k)) for k in ("x", "y", "width", "height")]
left, top, w, h = [box(r) for r in page.iter(ns + "rect") if r.get("class") == "outline"][0]
assert abs(w / h - 16 / 9) < 1e-2
pictures = [box(i) for i in page.iter(ns + "image")]
assert len(pictures) == 8, len(pictures)  # six nodes, the scale, the common one
words = [t.text for t in page.iter(ns + "text") if t.get("class") == "node mid"]
nodes = json.load(open("check.out"))["nodes"]
for n, (x, y, side, _) in zip(nodes[:6], pictures):
    at = (x + side / 2 - left) / w, (y + side / 2 - top) / h
    assert abs(at[0] - n["at"][0]) < 1e-3 and abs(at[1] - n["at"][1]) < 1e-3, (at, n)
for i, n in enumerate(nodes):
    assert words[2 * i:2 * i + 2] == ["sum 1", "90 %% in %.3g" % n["radius_90"]], (words, n)
del pictures[6]
apart = lambda a, b: a[0] + a[2] <= b[0] or a[1] + a[3] + 28 <= b[1]
assert all(apart(a, b) or apart(b, a) for a in pictures for b in pictures if a is not b)
wide, high = map(float, page.get("viewBox").split()[2:])
assert all(0 <= x and x + side <= wide and 0 <= y and y + side + 28 <= high for x, y, side, _ in pictures)
said = " ".join(page.itertext())
for s in ("3 × 2 nodes", "Of <three> lenses", "25 % of all light", "21 × 21 taps"):
    assert s in said, s
told = json.load(open("f.out"))["nodes"]
assert [n.get("at") for n in told] == [n.get("at") for n in nodes]
assert all(abs(n["rings"][-1]["within"][0] - 1) < 1e-9 for n in told)
PY
    # A full grid has no room for numbers; nodes that are alike are one kernel.
    python3 - <<'PY'
import json
n = range(32)
field = {"x": [i / 31 for i in n], "y": [i / 31 for i in n], "nodes": [["ac"[(x + y) % 2] + ".exr" for x in n] for y in n]}
json.dump({"field": field}, open("many.json", "w"))
json.dump({"field": {"x": [0.5], "y": [0.5], "nodes": [["a.exr"]]}}, open("one.json", "w"))
PY
    kernel show many.json -o many.svg
    grep -q "too many for numbers" many.svg
    [ "$(grep -c "<image" many.svg)" = 1025 ]
    kernel show one.json -o one.svg
    grep -q "Light by distance" one.svg
}

@test "show: what is wrong" {
    kernel make star --taps 64 -o star.exr
    kernel show star.exr -o star.svg
    each refused <<'T'
64 | show needs an output | kernel show star.exr
64 | show writes an .svg or an .html page, not | kernel show star.exr -o star.png
64 | kernel takes no option --decades | kernel show star.exr -o star.svg --decades 4
74 | no/such | kernel show star.exr -o no/such/x.svg
64 | star.exr | kernel show star.exr -o ./star.exr
64 | | kernel check star.exr --fade 4
T
    says 5 "" kernel show star.exr -o star.svg --existing skip
}
