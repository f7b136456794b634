#!/usr/bin/env python3
"""What `auto` is worth: CPU, GPU, auto, and the files alone, from file to file (make bench-devices).

    devices.py FOLDER PANEL SCENE_MAKER FFTBLOOM [DEVICE] [CORES] [FRAMES] [ROUNDS]

Blooms runs of as many frames of 1920 x 1080 halfs as FRAMES says (1,8,96,384) on as many processors as
CORES says (16,8,2) with the CPU, DEVICE (gpu), auto, and --amount 0, which only reads and writes: the input
(files), and what the device made of it (copy), which may be more to pack. The ways take turns, ROUNDS times (5),
fewer where that would take more than some seconds. FOLDER should be in memory, with room for 13 MB a frame;
what is written there is removed. Prints tables in Markdown: medians of seconds, what auto took and how many
times as long it was as the better one, CPU time a frame beside that of the files alone, and by what factor
`fftbloom plan` was off before; and below, what a frame more takes, and where the milliseconds of a thread of the host go with the device, by the reports.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

folder, panel, maker, program = map(os.path.abspath, sys.argv[1:5])
more = sys.argv[5:] + [""] * 4
device = more[0] or "gpu"
cores = [int(n) for n in (more[1] or "16,8,2").split(",")]
frames = [int(n) for n in (more[2] or "1,8,96,384").split(",")]
rounds = int(more[3] or 5)
LONG = 12  # seconds of all rounds of the four ways

# The last scene was made last, and no constant is tuned to it.
SCENES = [("plate", "grain", "none"), ("plate", "grain", "zip"), ("scene", "scene", "zip"),
          ("street", "street", "none"), ("fireflies", "fireflies", "zip")]
WAYS = {"CPU": ["--device", "cpu"], "GPU": ["--device", device], "auto": [], "files": ["--amount", "0"],
        "copy": ["--amount", "0"]}
PHASES = ("load", "contract", "upload", "download", "rest", "save")


def run(*command):
    """Runs a command; returns its seconds, and those of processors."""
    start = time.perf_counter()
    child = subprocess.Popen(command)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


def make(kind, pack):
    """Returns a pattern of frames, which are one file."""
    name = f"{kind}.{pack}"
    if not os.path.exists(f"{name}.exr"):
        run(*([maker] if kind == "scene" else [panel, kind]), "made.exr", "1920", "1080")
        run(program, "made.exr", "k.exr", "-o", f"{name}.exr", "--amount", "0", "--compression", pack,
            "--pixel-type", "half", "-q")
        os.makedirs("in", exist_ok=True)
        for i in range(1, max(frames) + 1):
            os.symlink(f"../{name}.exr", f"in/{name}.{i:04}.exr")
    return f"in/{name}.####.exr"


def keep_result(pattern):
    """Makes a pattern of copies of the first frame that was made last; returns it."""
    name = os.path.basename(pattern).split(".####")[0] + ".made"
    os.replace("out.0001.exr", f"{name}.exr")
    for i in range(1, max(frames) + 1):
        if not os.path.lexists(f"in/{name}.{i:04}.exr"):
            os.symlink(f"../{name}.exr", f"in/{name}.{i:04}.exr")
    return f"in/{name}.####.exr"


def bloom(pattern, count, words):
    return run(program, pattern, "k.exr", "-o", "out.####.exr", "--frames", f"1-{count}", "-q",
               "--report", "r.json", *words)


def told(pattern, count, words):
    """Returns the seconds that `plan` foretells."""
    said = subprocess.run([program, "plan", pattern, "k.exr", "--frames", f"1-{count}", "--json", *words],
                          check=True, capture_output=True).stdout
    return json.loads(said)["seconds"]["about"]


def taken():
    with open("r.json") as f:
        return json.load(f)["frames"][0]["device"]["class"]


def phases():
    """Returns the milliseconds of a thread for a frame of the last run, by phase: what is left of `bloom` are
    waits, the check, and light that leaves the image. The first frames have the start in them."""
    with open("r.json") as f:
        done = json.load(f)["frames"]
    done = done[len(done) // 2:]
    total = dict.fromkeys(PHASES, 0.0)
    for frame in done:
        part = {**frame["seconds"], **frame["times"]}
        part["rest"] = part["bloom"] - part["contract"] - part["upload"] - part["download"]
        for phase in PHASES:
            total[phase] += 1e3 * part[phase] / len(done)
    return total


def measure(pattern, copy, count):
    """Returns the medians of seconds and CPU time of each way, the class that auto took, phases(), and what
    `plan` told of CPU and GPU before."""
    took, turns, turn = {way: [] for way in WAYS}, rounds, 0
    before = {way: told(pattern, count, WAYS[way]) for way in ("CPU", "GPU")}
    while turn < turns:
        start = time.perf_counter()
        for way, words in WAYS.items():
            took[way].append(bloom(copy if way == "copy" else pattern, count, words))
            if way == "GPU":
                where = phases()
            if way == "auto":
                device_taken = taken()
        turn += 1
        if turn == 1:
            turns = max(1, min(rounds, int(LONG / (time.perf_counter() - start))))
    return {way: [statistics.median(c) for c in zip(*rows)] for way, rows in took.items()}, device_taken, where, before


def table(count):
    print(f"\n{count} processors\n\n| scene | frames | CPU, s | GPU, s | auto, s | takes | files alone, s |"
          " auto / better | GPU / files | GPU / files, CPU time | ms of CPU time a frame: CPU, GPU, files | measured / said by plan: CPU, GPU |")
    print("|---|" + "---|" * 11)
    worst, off, slope, host = 1, [], {}, {}
    for title, kind, pack in SCENES:
        pattern = make(kind, pack)
        for way in "files", "CPU", "auto", "GPU":
            bloom(pattern, min(max(frames), 8), WAYS[way])  # fills caches
        copy = keep_result(pattern)
        for n in frames:
            t, device_taken, host[title, pack], before = measure(pattern, copy, n)
            s = {way: t[way][0] for way in WAYS}
            ms = {way: 1e3 * t[way][1] / n for way in WAYS}
            better = min(s["CPU"], s["GPU"])
            ratio = {way: s[way] / before[way] for way in before}
            off += ratio.values()
            slope.setdefault((title, pack), {})[n] = s
            worst = max(worst, (s["CPU"] if device_taken == "cpu" else s["GPU"]) / better)
            print(f"| {title}, {pack} | {n} | {s['CPU']:.3f} | {s['GPU']:.3f} | {s['auto']:.3f} | "
                  f"{device_taken} | {s['files']:.3f} | {s['auto'] / better:.2f} | "
                  f"{s['GPU'] / s['files']:.2f} | {ms['GPU'] / ms['files']:.2f} | "
                  f"{ms['CPU']:.1f}, {ms['GPU']:.1f}, {ms['files']:.1f} | {ratio['CPU']:.2f}, {ratio['GPU']:.2f} |",
                  flush=True)
    print(f"\nWhat auto takes is at most {100 * (worst - 1):.0f} % worse than the better one.")
    print(f"The seconds of plan were right within a factor of 2 in {sum(0.5 <= r <= 2 for r in off)} of {len(off)} runs; "
          f"measured / said is {min(off):.2f} to {max(off):.2f}.")
    for (title, pack), by in slope.items():
        if len(frames) < 2:
            continue
        few, many = sorted(frames)[-2:]
        rate = {way: (by[many][way] - by[few][way]) / (many - few) for way in WAYS}
        print(f"{title}, {pack}, each frame after {few}: CPU {1e3 * rate['CPU']:.2f} ms, GPU "
              f"{1e3 * rate['GPU']:.2f}, files {1e3 * rate['files']:.2f} (GPU {rate['GPU'] / rate['files']:.2f} of it), "
              f"a copy of the result {1e3 * rate['copy']:.2f} ({rate['GPU'] / rate['copy']:.2f})")
    print("\n| of a thread of the host, ms a frame | " + " | ".join(PHASES) + " |\n|---|" + "---|" * len(PHASES))
    for (title, pack), by in host.items():
        print(f"| {title}, {pack} | " + " | ".join(f"{by[phase]:.2f}" for phase in PHASES) + " |")


with tempfile.TemporaryDirectory(dir=folder) as place:
    os.chdir(place)
    known = json.loads(subprocess.run([program, "devices", "--json"], check=True, capture_output=True).stdout)["devices"]
    print(f"{time.strftime('%Y-%m-%d')}, " + "; ".join(d["name"] for d in known) + f"; {rounds} rounds at most")
    os.environ["FFTBLOOM_CACHE_DIR"] = os.path.join(place, "cache")
    run(program, "kernel", "make", "star", "--taps", "256", "-o", "k.exr", "-q")
    all_cores = sorted(os.sched_getaffinity(0))
    for count in cores:
        if count <= len(all_cores):
            os.sched_setaffinity(0, all_cores[:count])
            table(count)
