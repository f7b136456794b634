#!/usr/bin/python3
"""ratios.py [--write] [--software FFTBLOOM] FILE COMMAND..: compares the ratios that COMMAND prints with FILE.

FILE has a line for each ratio, with names. A ratio that is more than 1.5 times that of FILE is measured up to
five times again, and the least counts. Ratios without lines in FILE are not judged. --write: writes their lines.
--software: the passes of the software device, too."""
import argparse
import json
import os
import subprocess
import sys

MOST, AGAIN = 1.5, 5
options = argparse.ArgumentParser()
options.add_argument("path")
options.add_argument("--write", action="store_true")
options.add_argument("--software")
options.add_argument("command", nargs=argparse.REMAINDER)
given = options.parse_args()
path, write, program = given.path, given.write, given.software


def printed():
    lines = subprocess.run(given.command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}


def lavapipe():
    """Passes beside the first one, and that beside a copy of as many bytes."""
    done = subprocess.run([program, "bench", "--device", "software", "--size", "480x270", "--kernel", "64", "--padding",
                           "zero", "--rounds", "7", "--queue", "2", "--json"], capture_output=True, text=True,
                          env={**os.environ, "LP_NUM_THREADS": "1"})
    if done.returncode:
        print("no software device: %s" % done.stderr.strip())
        return {}
    result = json.loads(done.stdout)["results"][0]
    times = [p["spread"]["median"] for p in result["passes"]]
    names = [p["pass"] for p in result["passes"]]
    ratios = {"lavapipe float32 %s/copy" % names[0]: times[0] / result["passes"][0]["copy"]}
    for name, t in zip(names[1:], times[1:]):
        ratios["lavapipe float32 %s/%s" % (name, names[0])] = t / times[0]
    return ratios


def read():
    with open(path) as f:
        lines = [line.split("#")[0].split() for line in f]
    return {" ".join(words[:-1]): float(words[-1]) for words in lines if words}


known, bad = read(), []
for measure in [printed] + [lavapipe] * bool(program):
    found = measure()
    for _ in range(AGAIN):
        if write or all(v <= MOST * known.get(name, v) for name, v in found.items()):
            break
        print("slow: measured again")
        found = {name: min(v, found[name]) for name, v in measure().items()}
    for name, v in found.items():
        was = known.get(name)
        print("%-46s %7.3f  %s" % (name, v, "%7.3f  %4.2f of it" % (was, v / was) if was else "not in the file"))
        if was and v > MOST * was:
            bad.append(name)
        known[name] = v if write else was
if write:
    with open(path) as f:
        head = [line for line in f if line.startswith("#")]
    with open(path, "w") as f:
        f.writelines(head + ["%s %.3f\n" % line for line in sorted(known.items())])
if bad:
    sys.exit("slower than %s says, by more than %g times: %s" % (path, MOST, "; ".join(bad)))
