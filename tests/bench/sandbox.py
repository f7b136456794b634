#!/usr/bin/env python3
"""What the sandbox costs: runs with it and without it, that take turns.

sandbox.py FFTBLOOM MAKE_SCENE KERNEL [ROUNDS] [FOLDER]

Each row is the median and the fastest of ROUNDS runs on the CPU engine, in milliseconds: a small
image, a scene of 4K that the program decodes itself, and the same where OpenEXR's library decodes
it. FOLDER should be in memory, so that no disk is measured.
"""
import os, statistics, subprocess, sys, tempfile, time

program, make_scene, kernel = map(os.path.abspath, sys.argv[1:4])
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 15
small = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/small.exr")


def run(image, sandbox):
    start = time.perf_counter()
    subprocess.run([program, image, kernel, "-o", "out.exr", "--device", "cpu", "-q", "--tolerance", "1e-3",
                    "--sandbox", sandbox], check=True)
    return 1e3 * (time.perf_counter() - start)


with tempfile.TemporaryDirectory(dir=sys.argv[5] if len(sys.argv) > 5 else "/dev/shm") as folder:
    os.chdir(folder)
    os.environ["FFTBLOOM_CACHE_DIR"] = folder + "/cache"
    subprocess.run([make_scene, "zip.exr", "3840", "2160"], check=True)
    for codec in "pxr24", "b44", "dwaa", "dwab":
        subprocess.run(["oiiotool", "zip.exr", "--compression", codec, "-o", codec + ".exr"], check=True)
    print(f"{'image':8} {'with':>8} {'without':>8} {'fastest with':>13} {'without':>8}")
    for image in small, "zip.exr", "pxr24.exr", "b44.exr", "dwaa.exr", "dwab.exr":
        times = {"auto": [], "off": []}
        for i in range(rounds + 1):
            for sandbox, to in times.items():
                seconds = run(image, sandbox)
                to += [seconds] * (i > 0)  # the first round fills the cache
        a, o = times["auto"], times["off"]
        name = os.path.basename(image).split(".")[0]
        print(f"{name:8} {statistics.median(a):8.1f} {statistics.median(o):8.1f} {min(a):13.1f} {min(o):8.1f}",
              flush=True)
