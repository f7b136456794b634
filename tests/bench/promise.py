#!/usr/bin/env python3
"""What the promise costs where there are lights (make bench-promise).

Runs the program from file to file on one core, on the shipped scene and on a street at night with
5000 lights, with --tolerance 1 and with the tolerances that are promised, in turn. Prints medians of
the CPU time (user and system, of the process alone) and of its ratio to --tolerance 1 in the same
round; "sequence" is twelve frames in one run.

    promise.py FFTBLOOM STREET.exr SCENE.exr KERNEL FOLDER [ROUNDS]
"""
import os
import resource
import statistics
import subprocess
import sys

TOLERANCES = ["1", "1e-2", "2e-3", "1e-3", "1e-4"]
FRAMES = 12


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(program, image, kernel, folder, rounds):
    out = os.path.join(folder, "out.####.exr" if "#" in image else "out.exr")
    took = {t: [] for t in TOLERANCES}
    for i in range(rounds + 1):  # the first round fills the cache and does not count
        for t in TOLERANCES:
            s = seconds([program, "apply", image, kernel, "-o", out, "--device", "cpu", "--jobs",
                         "1", "--quiet", "--tolerance", t])
            if i:
                took[t].append(s)
    ratio = {t: statistics.median(a / b for a, b in zip(took[t], took["1"])) for t in TOLERANCES}
    return took, ratio


def main():
    program, street, scene, kernel, folder = sys.argv[1:6]
    rounds = int(sys.argv[6]) if len(sys.argv) > 6 else 7
    print("CPU time in ms (ratio to --tolerance 1)")
    print(f"{'':18}" + "".join(f"{t:>16}" for t in TOLERANCES))
    for name, image in (("scene", scene), ("street", street)):
        for i in range(1, FRAMES + 1):
            link = os.path.join(folder, f"{name}.{i:04}.exr")
            if not os.path.exists(link):
                os.symlink(os.path.abspath(image), link)
        for what, path in ((name, image), (name + ", sequence", f"{folder}/{name}.####.exr")):
            took, ratio = measure(program, path, kernel, folder, rounds)
            cells = (f"{1e3 * statistics.median(took[t]):.0f} ({ratio[t]:.2f})" for t in TOLERANCES)
            print(f"{what:18}" + "".join(f"{c:>16}" for c in cells), flush=True)


main()
