#!/usr/bin/env python3
"""What the promise costs, on a panel of scenes (make bench-promise).

Blooms frames of each scene in one run, in floats whatever they do to the promise (--precision float32
--tolerance 1), with --tolerance 1, and with the default, in turn. Prints, for each scene and kernel, the
CPU time of a frame (user and system, of the process alone) in floats, how many times as long the default
takes beside these and beside --tolerance 1, and the method that was taken; then the geometric mean and
the worst of both ratios. Times are the least of all rounds, as what else runs only adds to them. Several
programs can be compared: NAME=FFTBLOOM.

    promise.py FOLDER PANEL SCENE_MAKER ROUNDS [NAME=]FFTBLOOM ...
"""
import json
import math
import os
import resource
import statistics
import subprocess
import sys

SCENES = [("grain", 1920, 1080), ("negative", 1920, 1080), ("night", 1280, 720),
          ("stars", 1920, 1080), ("street", 1280, 720), ("street", 1920, 1080),
          ("street", 3840, 2160), ("crowd", 1920, 1080), ("fireflies", 1920, 1080),
          ("sun", 1920, 1080), ("lamps", 1280, 720), ("scene", 1280, 720),
          ("scene", 1920, 1080), ("scene", 3840, 2160)]
KERNELS = {"gaussian": ["gaussian", "--param", "sigma=6", "--taps", "65"],
           "moffat": ["moffat", "--taps", "256"],
           "star": ["star", "--taps", "256"]}
FRAMES = {1280: 8, 1920: 6, 3840: 3}


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def make_files(folder, panel, maker, program):
    for kind, w, h in SCENES:
        path = f"{folder}/{kind}{w}.exr"
        if not os.path.exists(path):
            subprocess.run([maker, path, str(w), str(h)] if kind == "scene" else
                           [panel, kind, path, str(w), str(h)], check=True)
        for i in range(1, FRAMES[w] + 1):
            link = f"{folder}/{kind}{w}.{i:04}.exr"
            if not os.path.lexists(link):
                os.symlink(os.path.abspath(path), link)
    for name, words in KERNELS.items():
        if not os.path.exists(f"{folder}/{name}.exr"):
            subprocess.run([program, "kernel", "make", *words, "-o", f"{folder}/{name}.exr", "-q"],
                           check=True)


def promise_of(report):
    """Finds the first account of the promise, and says how it was kept."""
    todo = [report]
    while todo:
        is_ = todo.pop(0)
        if isinstance(is_, dict) and "promise" in is_:
            p = is_["promise"]
            return p["precision"] + ("" if p["kept"] else ", NOT KEPT")
        todo += is_.values() if isinstance(is_, dict) else is_ if isinstance(is_, list) else []
    return "?"


def measure(program, folder, scene, kernel, rounds):
    kind, w, _ = scene
    report = f"{folder}/report.json"
    command = [program, "apply", f"{folder}/{kind}{w}.####.exr", f"{folder}/{kernel}.exr", "-o",
               f"{folder}/out.####.exr", "--device", "cpu", "--jobs", "2", "--quiet",
               "--report", report]
    ways = {"floats": ["--precision", "float32", "--tolerance", "1"], "one": ["--tolerance", "1"],
            "default": []}
    took = {way: [] for way in ways}
    for i in range(rounds + 1):  # the first round fills the cache and does not count
        for way, words in ways.items():
            s = seconds([*command, *words]) / FRAMES[w]
            if i:
                took[way].append(s)
    with open(report) as f:
        how = promise_of(json.load(f))
    least = {way: min(took[way]) for way in ways}
    return least["floats"], [least["default"] / least[way] for way in ("floats", "one")], how


def main():
    folder, panel, maker, rounds = sys.argv[1:4] + [int(sys.argv[4])]
    programs = [p.split("=", 1) if "=" in p else ["fftbloom", p] for p in sys.argv[5:]]
    make_files(folder, panel, maker, programs[0][1])
    ratios = {name: [] for name, _ in programs}
    print(f"{'scene, kernel':28}" + "".join(f"{name:>42}" for name, _ in programs))
    for scene in SCENES:
        for kernel in KERNELS:
            cells = []
            for name, program in programs:
                base, ratio, how = measure(program, folder, scene, kernel, rounds)
                ratios[name].append(ratio)
                cells.append(f"{1e3 * base:6.0f} ms x {ratio[0]:4.2f}, {ratio[1]:4.2f} {how[:20]:>20}")
            print(f"{scene[0] + ' ' + str(scene[1]) + ', ' + kernel:28}" +
                  "".join(f"{c:>42}" for c in cells), flush=True)
    for name, all_ratios in ratios.items():
        for beside, r in zip(("floats", "--tolerance 1"), zip(*all_ratios)):
            mean = math.exp(statistics.mean(map(math.log, r)))
            print(f"{name} beside {beside}: geometric mean {mean:.3f}, worst {max(r):.2f}")


main()
