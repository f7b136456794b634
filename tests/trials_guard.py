#!/usr/bin/env python3
"""Random attacks on what outlives a frame, and by links of others: make trials runs both.

    trials_guard.py FFTBLOOM notes|links RUNS SEED [DEVICE]

notes    sequences of frames whose kernels, masks, layers and settings have notes, several at a time, two blooms in turn:
         each frame's notes and errors are those that it has alone. Every second trial draws from all there is; the
         others force one note after the other of NOTES, and fail where it is not said. Meant for a build with sanitizers.
links    a folder of frames and a cache that others may write to, full of links: names that are nearly those of frames,
         frames, outputs, entries, folders. Code in the process reaches the secret only where an output of that very
         name is a link into its folder; no file behind a link of the cache changes; the frames are those of a clean run.
         Landlock is of version 1, 2, 3 or the machine's own.

Each trial draws from its own number, so `=N` for RUNS repeats trial N.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import OpenImageIO as oiio

program, kind, runs, seed = os.path.abspath(sys.argv[1]), *sys.argv[2:5]
device = sys.argv[5] if len(sys.argv) > 5 else "cpu"
faults = os.path.join(os.path.dirname(program), "tests", "faults.so")
top = tempfile.mkdtemp()


def write(path, planes, kind="float", compression="zip", primaries=None, aspect=1):
    """Writes {name: plane}."""
    h, w = next(iter(planes.values())).shape
    spec = oiio.ImageSpec(w, h, len(planes), kind)
    spec.channelnames = tuple(planes)
    if path.endswith(".exr"):
        spec["compression"], spec["PixelAspectRatio"] = compression, float(aspect)
    if primaries:
        spec.attribute("chromaticities", "float[8]", primaries)
    image = oiio.ImageOutput.create(path)
    assert image.open(path, spec) and image.write_image(np.stack(list(planes.values()), 2).astype("f4")), image.geterror()
    image.close()


def run(*words, **env):
    return subprocess.run([program, *map(str, words), "--device", device], capture_output=True, text=True, cwd=top, timeout=600,
                          env={**os.environ, "FFTBLOOM_CACHE_DIR": top + "/cache", **env})


def frame(rng, w, h):
    numbers = np.random.default_rng(rng.getrandbits(32))
    planes = {c: numbers.random((h, w)) ** 4 * 50 for c in "RGB"}
    if rng.random() < 0.4:
        planes["R"][rng.randrange(h), rng.randrange(w)] = rng.choice([np.nan, np.inf, -3, 1e5])
    if rng.random() < 0.5:
        planes["matte"] = numbers.random((h, w))
    return planes


def kernel(rng):
    """Draws a kernel that the linter has something against, as a rule."""
    w, h = rng.randint(3, 15), rng.randint(3, 15)
    taps = np.full((h, w), rng.choice([0, 0.01, -0.01]))
    taps[rng.randrange(h), rng.randrange(w)] += 1
    return {"Y": taps} if rng.random() < 0.5 else {c: taps * (1 + 0.1 * i) for i, c in enumerate("RGB")}


def notes_of(report):
    """Returns what is said of each frame, without what another frame's company changes: its own name."""
    frames = json.load(open(report))["frames"]
    return [(f["state"], f.get("notes"), f.get("why", "")) for f in frames]


AP1 = (0.713, 0.293, 0.165, 0.83, 0.128, 0.044, 0.32168, 0.33767)
REC709 = (0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329)


def plain(frame, kernel):
    """Makes a frame and a kernel about which nothing is said."""
    h, w = next(iter(frame.values())).shape
    for c in "RGB":
        frame[c] = np.full((h, w), 0.25)
    frame["matte"] = np.full((h, w), 0.5)
    kernel.clear()
    kernel["Y"] = np.zeros((9, 9))
    kernel["Y"][4, (0, 4, 8)] = 0.1, 0.8, 0.1  # far enough to be no core


def at(name, value):
    return lambda frame, kernel: frame.setdefault(name, frame["R"] * 0 + 1).__setitem__((2, 3), value)


def off_centre(frame, kernel):
    kernel["Y"][8, 8] = 5


def in_colours(frame, kernel):
    kernel.update({c: kernel["Y"] for c in "RGB"})
    del kernel["Y"]


def layer(frame, kernel):
    frame.update({"rim." + c: frame["R"] for c in "RGB"})


def glare_on_black(frame, kernel):
    for c in "RGB":
        frame[c] *= 0
        frame[c][2:4, 3], frame[c][2:4, 7] = 100, (5, 5.2)


def all_white(frame, kernel):
    for c in "RGB":
        frame[c][2, 3] = 1


def two_clipped(frame, kernel):
    frame["R"][2, 3] = frame["R"][3, 3] = 60000


# Each note that a report can have: words of it, options, what it needs of frame and kernel, how files are written. Two are
# not here: a device that fails (tests/gpu/test_lost.c) and an input that changes while it is read (files.bats).
NOTES = [
    ("kernel 'k.0001.exr': off centre", [], off_centre, {}),
    ("only light above 2 is spread: a lens", ["--threshold", "2"], None, {}),
    ("layer 'veil' has the same absolute errors", ["--emit", "glare", "--emit-layer", "veil"], None, {}),
    ("only light within the mask 'matte' is spread", ["--mask", "matte"], None, {}),
    ("taken away within the mask 'matte' alone", ["deglare", "--mask", "matte"], None, {}),
    ("layer 'rim': only light above 0.5", ["--per-layer", "rim:threshold=0.5"], layer, {}),
    ("the kernel is converted from", [], in_colours, {"a": {"primaries": AP1}, "k": {"primaries": REC709}}),
    ("the kernel does not say its primaries", [], in_colours, {"a": {"primaries": AP1}}),
    ("the image does not say its primaries", [], in_colours, {"k": {"primaries": AP1}}),
    ("0.5 times as wide: pixel aspect 2", [], None, {"a": {"aspect": 2}}),
    ("were clamped to it: 'R'", ["--pixel-type", "half"], at("R", 1e6), {}),
    ("the layer is written as float", ["--pixel-type", "half", "--half-overflow", "float"], at("R", 1e6), {}),
    ("were clamped to it: 'A'", ["--pixel-type", "half"], at("A", 1e6), {}),
    ("may have lost light", ["deglare"], two_clipped, {}),
    ("more glare than the lens", ["deglare"], at("R", 1000), {}),
    ("the plate itself has values below zero", ["deglare"], at("R", -3), {}),
    ("the black region asks for", ["deglare", "--black", "7,2,1,2"], glare_on_black, {}),
    ("values are below zero, down to -3 in channel 'R'", [], at("R", -3), {}),
    ("--input-space srgb made values up to", ["--input-space", "srgb"], at("G", 100), {}),
    ("lights above 1 are missing in this PNG", [], all_white, {"suffix": "png"}),
    ("dwaa changes pixels as they are stored", ["--compression", "dwaa"], None, {}),
    ("so they are written as zip", [], None, {"a": {"compression": "dwaa"}}),
    ("dwaa changes data: id.R", ["--compression", "dwaa", "--exclude", "id"], lambda f, k: f.update({"id.R": f["R"]}), {}),
] + [("below 1.2e-38 for 0", ["--precision", "float32"], at("R", 5e-39), {})] * (device != "cpu")


def trial_notes(rng, n):
    count, w, h = rng.randint(4, 12), rng.randint(8, 40), rng.randint(8, 40)
    note, options, change, files = NOTES[n // 2 % len(NOTES)]
    forced = n % 2 == 1
    mask = not forced and rng.random() < 0.3
    suffix = files.get("suffix", "exr") if forced else "exr"
    for i in range(1, count + 1):
        planes, taps = frame(rng, w, h), kernel(rng)
        if mask and rng.random() < 0.9:
            planes["matte"] = np.ones((h, w))
        if forced:
            plain(planes, taps)
            change and change(planes, taps)
            planes = planes if suffix == "exr" else {c: planes[c] for c in "RGB"}
        type = rng.choice(["half", "float"]) if suffix == "exr" else "uint8"
        type = "float" if forced and change is not None else type
        write(f"{top}/a.{i:04d}.{suffix}", planes, "uint8" if suffix == "png" else type, **(files.get("a", {}) if forced else {}))
        write(f"{top}/k.{i:04d}.exr", taps, **(files.get("k", {}) if forced else {}))
    words = ["--nan", rng.choice(["error", "zero", "interpolate"]), "--keep-going", "--sandbox", "off"]
    if forced:
        command, more = ("deglare", options[1:]) if options[:1] == ["deglare"] else ("apply", options)
        words += more
    else:
        words += rng.choice([[], ["--threshold", "2"], ["--amount", "0.3"], ["--tint", "1,0.5,2"], ["--tolerance", "1e-6", "--precision", "float32"]])
        words += rng.choice([[], ["--emit", "glare", "--emit-layer", "veil"], ["--pixel-type", "half"], ["--verify", "3"]])
        words += ["--mask", "matte"] if mask else []
        command = "deglare" if rng.random() < 0.2 and "--threshold" not in words and "--emit" not in words else "apply"
    taps = "k.####.exr" if not forced and rng.random() < 0.3 else "k.0001.exr"
    source = f"a.####.{suffix}"
    all_of = run(command, source, taps, "-o", "o.####.exr", "--jobs", rng.randint(1, 4), "--report", "all.json", *words)
    if "Sanitizer" in all_of.stderr or all_of.returncode < 0:
        return all_of.stderr[-2000:]
    if not forced and all_of.returncode == 64 and not os.path.exists(top + "/all.json"):  # options that do not go together
        return ""
    got = notes_of(top + "/all.json")
    if forced and not all(any(note in said for said in f[1] or []) for f in got):
        return f"'{note}' is not said of each frame: {command} {' '.join(words)}: {got[0]} {all_of.stderr[-300:]}"
    for i in rng.sample(range(count), min(3, count)):
        one = run(command, source, taps, "-o", "o.####.exr", "--frames", i + 1, "--report", "one.json", *words)
        if "Sanitizer" in one.stderr:
            return one.stderr[-2000:]
        want = notes_of(top + "/one.json")[0]
        if got[i] != want:
            return f"frame {i + 1} of {command} {' '.join(words)}: {got[i]}, alone {want}"
    return ""


def lay(path, target):
    if not os.path.lexists(path):
        os.symlink(target, path)


def stamps(d):
    return {f: os.lstat(f"{d}/{f}").st_mtime for f in os.listdir(d)} if os.path.isdir(d) else {}


def trial_links(rng, _):
    for d in ("seq", "out", "else", "kept"):
        os.makedirs(f"{top}/{d}")
    count = rng.randint(2, 5)
    for i in range(1, count + 1):
        write(f"{top}/seq/a.{i:04d}.exr", frame(random.Random(i), 16, 12) | {"R": np.ones((12, 16))})
    write(top + "/kept/k.exr", {"Y": np.eye(5)})
    json.dump({"taps": 32, "layers": [{"model": "gaussian", "sigma": 2}]}, open(top + "/kept/g.json", "w"))
    words = ["seq/a.####.exr", rng.choice(["kept/k.exr", "kept/g.json"]), "-o", "out/o.####.exr", "--precision", "float32"]
    words += rng.choice([[], ["--existing", "update"]])
    clean = run(*words)
    if clean.returncode:
        return clean.stderr
    want = {f: open(f"{top}/out/{f}", "rb").read() for f in os.listdir(top + "/out")}
    entries = [os.path.join(d, f) for d, _, files in os.walk(top + "/cache") for f in files]
    open(top + "/else/secret", "w").write("secret")
    reached = False
    for i in range(rng.randint(1, 8)):  # links of the frames' folders, to the secret and its folder
        name = rng.choice(["zz", ".a.0001.exr", "a.x.exr", "a.1x.exr", "a.00007.exr", "a.07.exr", "b.0001.exr", "a.-7.exr", "a.0007.exr.tmp"])
        lay(f"{top}/{rng.choice(['seq', 'out'])}/{name}", rng.choice(["../else/secret", "../else", top + "/else/secret", "nowhere"]))
    if rng.random() < 0.5:  # a frame that is a link opens that file alone
        n = rng.randint(1, count)
        os.rename(f"{top}/seq/a.{n:04d}.exr", f"{top}/else/a.exr")
        lay(f"{top}/seq/a.{n:04d}.exr", "../else/a.exr")
    if rng.random() < 0.3:  # an output's opens the folder of what is replaced
        n = rng.randint(1, count)
        os.rename(f"{top}/out/o.{n:04d}.exr", f"{top}/else/o.exr")
        lay(f"{top}/out/o.{n:04d}.exr", "../else/o.exr")
        reached = True
    before = {}
    for e in rng.sample(entries, rng.randint(0, len(entries))):  # entries of the cache
        victim = f"{top}/else/{len(before)}.victim"
        if rng.random() < 0.5:
            os.rename(e, victim)
        elif rng.random() < 0.8:
            open(victim, "w").write("victim")
        os.path.exists(e) and os.remove(e)
        os.symlink(victim, e)
        before[victim] = open(victim, "rb").read() if os.path.exists(victim) else None
    d = top + "/cache/" + rng.choice(["spectra", "records"])
    if rng.random() < 0.3 and os.path.isdir(d) and not before:  # a folder of the cache
        os.rename(d, top + "/else/folder")
        os.symlink(top + "/else/folder", d)
    inside = stamps(top + "/else/folder")
    if rng.random() < 0.5:
        for f in want:
            os.path.islink(f"{top}/out/{f}") or os.remove(f"{top}/out/{f}")
    version = rng.choice(["1", "2", "3", ""])
    bound = rng.random() < 0.7
    got = run(*words, *([] if bound else ["--sandbox", "off"]), LD_PRELOAD=faults, FAULT_LANDLOCK=version, FAULT_TRY=top + "/else/secret")
    possible = [line for line in got.stderr.splitlines() if line.startswith("possible:")]
    if got.returncode:
        return f"status {got.returncode}: {got.stderr}"
    if bound and any(p != "possible:" and not (reached and p == "possible: read write") for p in possible):
        return f"Landlock {version}: {possible}"
    for f, pixels in want.items():
        if open(f"{top}/out/{f}", "rb").read() != pixels:
            return f"{f} is another one"
    for victim, bytes_ in before.items():
        now = open(victim, "rb").read() if os.path.exists(victim) else None
        if now != bytes_:
            return f"{victim} was {bytes_ and bytes_[:20]}, is {now and now[:20]}"
    if inside != stamps(top + "/else/folder"):
        return "a folder behind a link of the cache was written to"
    return "" if open(top + "/else/secret").read() == "secret" else "the secret is another one"


trial = {"notes": trial_notes, "links": trial_links}[kind]
numbers = [int(runs[1:])] if runs.startswith("=") else range(int(runs))
wrong = 0
for n in numbers:
    said = trial(random.Random(f"{seed} {kind} {n}"), n)
    if said:
        wrong += 1
        print(f"{kind}: trial ={n} of seed {seed} on {device}: {said}")
    for f in os.listdir(top):
        shutil.rmtree(f"{top}/{f}") if os.path.isdir(f"{top}/{f}") else os.remove(f"{top}/{f}")
shutil.rmtree(top)
print(f"{kind}: {len(numbers)} trials of seed {seed} on {device}, {wrong} wrong")
sys.exit(wrong > 0)
