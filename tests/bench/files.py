#!/usr/bin/env python3
"""From file to file: fftbloom beside `oiiotool in -o out`, which reads and writes the same file.

files.py FFTBLOOM MAKE_SCENE KERNEL [ROUNDS] [FRAMES] [FOLDER]

Each row is the median of ROUNDS runs that take turns, on two processors. "plate" is the scene
without its lights, which keeps the promise with a plain transform; "grain" is the plate with
noise, as cameras and renderers make it; "scene" has the lights. All have only R G B: beside depth
and ids, oiiotool would make floats of the halfs. The sequence is FRAMES copies of a frame, which
oiiotool copies one after the other. FOLDER should be in memory, so that no disk is measured.
"""
import json, os, shutil, statistics, subprocess, sys, tempfile, time

program, make_scene, kernel = map(os.path.abspath, sys.argv[1:4])
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
frames = int(sys.argv[5]) if len(sys.argv) > 5 else 48
place = sys.argv[6] if len(sys.argv) > 6 else "/dev/shm"

SIZES = {"1080p": (1920, 1080), "4K": (3840, 2160)}
KINDS = {  # what oiiotool makes of the scene
    "plate": ["--clamp:max=4"],
    "grain": ["--clamp:max=4", "--noise:mean=0:stddev=0.02", "--clamp:min=0"],
    "scene": [],
}
CASES = [("plate", "1080p", "half"), ("plate", "1080p", "float"), ("plate", "4K", "half"),
         ("plate", "4K", "float"), ("grain", "1080p", "half"), ("grain", "4K", "half"),
         ("grain", "4K", "float"), ("scene", "1080p", "half"), ("scene", "1080p", "float")]


def run(*command):
    """Runs a command and returns its seconds, seconds of CPU time, and peak memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen(command)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{command[0]} failed")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def bloom(into, out, *more):
    return run(program, into, kernel, "-o", out, "--device", "cpu", "-q", "--report", "report.json",
               *more)


def copy(into, out):
    return run("oiiotool", into, "-o", out)


def medians(rows):
    return [statistics.median(column) for column in zip(*rows)]


def make(kind, size, pixel):
    w, h = SIZES[size]
    name = f"{kind}.{size}.{pixel}.exr"
    subprocess.run([make_scene, "made.exr", str(w), str(h)], check=True)
    # Already bloomed once, so that both write an image of the same kind.
    subprocess.run(["oiiotool", "made.exr", "--ch", "R,G,B", *KINDS[kind], "-o", "plate.exr"],
                   check=True)
    run(program, "plate.exr", kernel, "-o", name, "--device", "cpu", "-q", "--compression", "zip",
        "--pixel-type", pixel)
    return name, w * h * 3 * (2 if pixel == "half" else 4) / 1e6


def one(kind, size, pixel):
    name, megabytes = make(kind, size, pixel)
    bloom(name, "out.exr")  # the kernel's spectrum is cached from here on
    ours, theirs, steps = [], [], []
    for _ in range(rounds):
        ours.append(bloom(name, "out.exr"))
        seconds = json.load(open("report.json"))["frames"][0]["seconds"]
        steps.append([seconds["load"], seconds["bloom"], seconds["save"]])
        theirs.append(copy(name, "copy.exr"))
    (a, cpu, memory), (b, _, their_memory) = medians(ours), medians(theirs)
    speeds = "".join(f"{megabytes / s:8.0f}" for s in medians(steps))
    print(f"{kind:6} {size:6} {pixel:6} {a:8.3f} {b:8.3f} {a / b:7.2f} {cpu:8.3f} {speeds}"
          f" {memory:8.0f} {their_memory:8.0f}", flush=True)


def sequence(kind, size, pixel):
    name, _ = make(kind, size, pixel)
    os.mkdir("in")
    for i in range(1001, 1001 + frames):
        shutil.copy(name, f"in/a.{i}.exr")
    bloom("in/a.####.exr", "out.####.exr")
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(bloom("in/a.####.exr", "out.####.exr"))
        theirs.append([sum(copy(f"in/a.{i}.exr", "copy.exr")[0]
                           for i in range(1001, 1001 + frames))])
    (a, cpu, memory), (b,) = medians(ours), medians(theirs)
    busy = cpu / a / len(os.sched_getaffinity(0))
    print(f"{frames} frames, {kind} {size} {pixel}: {a:.3f} s, oiiotool {b:.3f} s, ratio "
          f"{a / b:.2f}; {busy:.0%} of the processors' time is used; {memory:.0f} MB", flush=True)
    shutil.rmtree("in")


if not shutil.which("oiiotool"):
    sys.exit("oiiotool is not installed (Debian: openimageio-tools)")
processors = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, processors)
with tempfile.TemporaryDirectory(dir=place) as folder:
    os.chdir(folder)
    os.environ["FFTBLOOM_CACHE_DIR"] = os.path.join(folder, "cache")
    print(f"{len(processors)} processors, medians of {rounds}; MB/s are of pixels")
    print("                    seconds oiiotool   ratio CPU time     load   bloom    save"
          "       MB     oiio")
    for case in CASES:
        one(*case)
    for kind in ("plate", "scene"):
        sequence(kind, "1080p", "half")
