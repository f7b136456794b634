#!/usr/bin/env python3
"""Lets the n-th call of the system fail, in a small run of each command and of the library.

    sweep.py FFTBLOOM FAULTS.SO LIBRARY_PROGRAM [PLACES] [COMMAND|KIND...]

For each command and each kind of call, tries PLACES places that differ from run to run (0: all; /N: every N-th). A
run that failed must say why, with one of the documented statuses; an output is whole, or what it was
before; no temporary file is left. Where one allocation or thread failed, tiles may be smaller, so that last bits
differ: `diff` judges these. LIBRARY_PROGRAM is tests/lib/soak.c, linked."""
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

program, faults, library = (os.path.abspath(p) for p in sys.argv[1:4])
places = sys.argv[4] if len(sys.argv) > 4 else "3"
chosen = sys.argv[5:]
root = os.environ["FFTBLOOM_ROOT"]

# name: words after the program's name, outputs. A command without outputs prints.
APPLY = "in.exr kernel.exr -o "
COMMANDS = {
    "apply": (APPLY + "out.exr", "out.exr"),
    "glare": (APPLY + "out.exr --emit-file glare.exr", "out.exr glare.exr"),
    "tiles": ("large.exr kernel.exr -o out.exr --mask Y --verify 50 --mem-limit 4MB", "out.exr"),
    "pictures": (APPLY + "out.png --before before.png --report report.json", "out.png before.png"),
    "formats": ("in.exr kernel.exr -o out.pfm", "out.pfm"),
    "sequence": ("in.####.exr kernel.exr -o out.####.exr", "out.0001.exr out.0002.exr"),
    "update": ("in.####.exr kernel.exr -o out.####.exr --existing update", "out.0001.exr out.0002.exr"),
    "pipe": ("- kernel.exr -o pfm:-", ""),
    "farm": ("farm in.####.exr kernel.exr -o out.####.exr --to openjd", ""),
    "precompute": ("precompute kernel.exr -o out.spectrum", "out.spectrum"),
    "make": ("kernel make star --taps 32 -o out.exr", "out.exr"),
    "shipped": ("in.exr sunstar -o out.exr", "out.exr"),
    "mix": ("kernel mix kernel.exr:2 kernel.exr@3,1 -o out.exr", "out.exr"),
    "clean": ("kernel clean in.exr -o out.exr", "out.exr"),
    "rotate": ("kernel rotate kernel.exr 30 -o out.exr", "out.exr"),
    "stretch": ("kernel stretch kernel.exr 2x1 -o out.exr", "out.exr"),
    "crop": ("kernel crop kernel.exr --taps 8 -o out.exr", "out.exr"),
    "lint": ("kernel check kernel.exr --json", ""),
    "show": ("kernel show kernel.exr -o out.svg", "out.svg"),
    "sheet": ("kernel sheet in.exr -o out.html --kernels few", "out.html"),
    "models": ("kernel models", ""),
    "list": ("kernel list", ""),
    "diff": ("diff in.exr in.0001.exr -o out.exr", "out.exr"),
    "check": ("check suite.json --junit out.xml --html out.html", ""),
    "bless": ("check suite.json --bless", "ref.exr"),
    "plan": ("plan in.exr kernel.exr --json", ""),
    "cache": ("cache verify", ""),
    "trim": ("cache trim --cache-size 0", ""),
    "info": ("info in.exr --json", ""),
    "bench": ("bench --size 64x64 --kernel 16 --queue 1", ""),
    "slurm": ("farm in.####.exr kernel.exr -o out.####.exr --to slurm --dry-run", ""),
    "schema": ("schema", ""),
    "completion": ("completion bash", ""),
    "words": ("completion words -- fftbloom apply --pad", ""),
    "docs": ("docs man", ""),
    "help": ("help apply", ""),
    "library": (None, ""),
    # What OpenEXR's library reads and writes, in a process of its own and in this one; and PIZ.
    "pxr24": (APPLY.replace("in", "pxr24") + "out.exr --compression pxr24", "out.exr"),
    "b44": (APPLY.replace("in", "b44") + "out.exr --compression b44", "out.exr"),
    "b44a": (APPLY.replace("in", "b44a") + "out.exr --compression b44a", "out.exr"),
    "dwaa": (APPLY.replace("in", "dwaa") + "out.exr --compression dwaa", "out.exr"),
    "dwab": (APPLY.replace("in", "dwab") + "out.exr --compression dwab", "out.exr"),
    "piz": (APPLY.replace("in", "piz") + "out.exr --compression piz", "out.exr"),
    "dwaahere": (APPLY.replace("in", "dwaa") + "out.exr --compression dwaa --sandbox off", "out.exr"),
}
KINDS = "alloc open read write fsync rename thread".split()
WORDS = re.compile(rb"[0-9.]+ m?s\b")  # times differ
STATUSES = {0, 4, 64, 65, 66, 69, 74, 75}


def run(words, kind=None, **more):
    """Runs a command; returns its status, what it printed and what it said."""
    env = dict(os.environ, **more)
    if kind:
        env.update(FAULT_CALL=kind, LD_PRELOAD=faults)
    line = [program, *words.split()] if words else [library, "32", "0"]
    if words and not words.startswith(("cache", "docs", "help", "schema", "completion", "info", "kernel")):
        line += ["--jobs", "2"]
    with open("in.exr", "rb") as f:
        p = subprocess.run(line, stdin=f, capture_output=True, env=env, timeout=120)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


def content(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def clear(outputs, old):
    shutil.rmtree("cache", ignore_errors=True)
    for o in outputs:
        if old:
            with open(o, "wb") as f:
                f.write(b"old")
        elif os.path.exists(o):
            os.remove(o)


def is_near(path, whole):
    """Returns whether an image is the same but for its last bits."""
    with open("whole_" + path, "wb") as f:
        f.write(whole)
    return run(f"diff {path} whole_{path}")[0] == 0


def what_is_wrong(name, result, wanted, outputs, kind):
    status, printed, said = result
    if status not in STATUSES and not (kind and status == 1):
        return f"status {status}"
    if status == 65 and kind.startswith("alloc"):
        return "want of memory is called damage"
    if status and not said and not printed:
        return "not a word"
    if any(w in said for w in ("corrupt", "double free", "invalid p", "smashing", "Assertion")):
        return "an alarm of the C library"
    if glob.glob("**/.*.tmp", recursive=True) or glob.glob("cache/**/*.tmp", recursive=True):
        return "a temporary file is left"
    free = outputs or said or kind.startswith("thread") or name in ("plan", "bench", "library")  # numbers differ
    if status == 0 and not free and WORDS.sub(b"", printed) != WORDS.sub(b"", wanted[None]):
        return "another text"
    for o in outputs:
        is_now = content(o)
        if is_now == wanted[o] or (status and is_now in (None, b"old")):
            continue
        if is_now and kind.startswith(("alloc", "thread")) and is_near(o, wanted[o]):
            continue
        return f"{o} is neither whole nor old"
    return None


def sweep(name, words, outputs, kinds):
    tried = {}
    outputs = outputs.split()
    clear(outputs, False)
    status, printed, said = run(words)
    if status:
        sys.exit(f"{name}: status {status}: {said}")
    wanted = {o: content(o) for o in outputs}
    wanted[None] = printed
    clear(outputs, False)
    run(words, None, FAULT_CALLS=os.path.abspath("calls"), LD_PRELOAD=faults)
    calls = content("calls").decode()
    for kind in kinds:
        total = int(re.search(rf"{kind} (\d+)", calls)[1])
        every = range(1, total + 1)
        if places.startswith("/"):
            places_now = every[:: int(places[1:])]
        else:
            places_now = sorted(random.sample(every, min(int(places) or total, total)))
        for n in places_now:
            for rest in ("", "-"):
                if rest and n % 5 and kind != "thread":
                    continue
                clear(outputs, n % 2 and name != "update")
                result = run(words, f"{kind}:{n}{rest}")
                wrong = what_is_wrong(name, result, wanted, outputs, f"{kind}{rest}")
                if wrong:
                    sys.exit(f"{name}, {kind} {n}{rest} of {total}: {wrong}: {result[0]} {result[2][:300]}")
                tried[kind] = tried.get(kind, 0) + 1
    print(f"{name}: " + ", ".join(f"{k} {n}" for k, n in tried.items()), flush=True)
    return sum(tried.values())


def prepare():
    os.environ.update(FFTBLOOM_CACHE_DIR=os.path.abspath("cache"), FFTBLOOM_DEVICE="cpu")
    shutil.copy(f"{root}/testdata/small.exr", "in.exr")
    shutil.copy(f"{root}/testdata/kernel.exr", "kernel.exr")
    for i in (1, 2):
        shutil.copy("in.exr", f"in.000{i}.exr")
    os.mkdir("few")
    shutil.copy(f"{root}/testdata/kernel.exr", "few")
    run("kernel make disc --taps 400 --param radius=90 -o large.exr")
    run("kernel make gaussian --taps 24 -o grey.exr")
    run("in.exr kernel.exr -o ref.exr")
    for codec in ("pxr24", "b44", "b44a", "dwaa", "dwab", "piz"):
        run(f"in.exr kernel.exr -o {codec}.exr --compression {codec}")
    with open("suite.json", "w") as f:
        f.write('{"version": 1, "cases": [{"name": "a", "reference": "ref.exr", '
                '"config": {"input": "in.exr", "kernel": "kernel.exr"}}]}')


with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
    os.chdir(folder)
    prepare()
    runs = 0
    kinds = [k for k in KINDS if k in chosen] or KINDS
    for name, (words, outputs) in COMMANDS.items():
        if name in chosen or not any(w in COMMANDS for w in chosen):
            runs += sweep(name, words, outputs, kinds)
    print(f"{runs} runs")
