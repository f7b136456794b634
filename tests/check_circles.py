#!/usr/bin/env python3
"""Finds circles of objects by the linker's symbols: a call that no include shows still ties two files.

    check_circles.py BUILD        the objects of a build; src/LAYERS lists the circles that may stay
"""
import glob, os, re, subprocess, sys

build, bad = sys.argv[1], []
allowed = {frozenset(line.split("#")[0].split()[1:]) for line in open("src/LAYERS") if line.startswith("circle ")}
defines, needs = {}, {}
for path in glob.glob(f"{build}/*/**/*.o", recursive=True):
    name = re.sub(r"_form_(any|avx2|avx512)$", "_form", os.path.relpath(path, build)[:-2])
    if not glob.glob(f"src/{name}.c*"):  # of tests and of the plug-in's own library
        continue
    for line in subprocess.run(["nm", "-P", "-g", path], capture_output=True, text=True, check=True).stdout.splitlines():
        symbol, kind = line.split()[:2]
        if kind == "U":
            needs.setdefault(name, set()).add(symbol)
        else:
            defines[symbol] = name
calls = {name: {defines[s] for s in some if s in defines} - {name} for name, some in needs.items()}


def reached(name):
    """Returns all objects that `name` calls, and those that these call."""
    found, todo = set(), [name]
    while todo:
        new = calls.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


far = {name: reached(name) for name in calls}
circles = {frozenset(o for o in far[name] if name in far.get(o, ())) for name in calls if name in far[name]}
for circle in sorted(circles - allowed, key=len):
    ties = [f"{a} -> {b}" for a in sorted(circle) for b in sorted(calls[a] & circle)]
    bad.append(f"{len(circle)} objects call each other in a circle that src/LAYERS does not list: " + ", ".join(ties))
for gone in allowed - circles:
    bad.append(f"src/LAYERS lists a circle that is none: {' '.join(sorted(gone))}")
if not calls:
    bad.append(f"{build} has no objects of src/")
print("\n".join(bad), end="\n" if bad else "", file=sys.stderr)
sys.exit(bool(bad))
