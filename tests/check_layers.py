#!/usr/bin/env python3
"""Holds src/ to src/LAYERS: each file is in a folder that is listed, each folder that is listed
exists, includes point to the same folder or to one listed before it, no module of base includes
itself through others, and the headers of libraries are seen only by the files that may see them."""
import glob, os, re, sys

folders, owners, bad, base = [], {}, [], {}
for line in open("src/LAYERS"):
    line = line.split("#")[0].strip()
    if line.startswith("only "):
        head, _, tail = line[5:].partition(":")
        for header in head.split():  # of several lines, all count
            owners.setdefault(header, []).extend(tail.split())
    elif line and not line.startswith("circle "):  # tests/check_circles.py
        folders.append(line.split()[0])
order = {name: i for i, name in enumerate(folders)}
seen = set()


def matches(name, patterns):
    return any(re.fullmatch(p.replace(".", r"\.").replace("*", ".*"), name) for p in patterns)


for path in sorted(glob.glob("src/**/*.*", recursive=True)):
    name = os.path.relpath(path, "src")
    folder, stem = os.path.dirname(name), os.path.splitext(name)[0]
    if folder == "pages":
        continue
    seen.add(folder)
    if folder not in order:
        bad.append(f"{path}: src/LAYERS does not list the folder '{folder}'")
        continue
    for n, line in enumerate(open(path, errors="replace"), 1):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not m:
            continue
        kind, header = m.groups()
        if kind == '"' and "/" not in header:
            bad.append(f'{path}:{n}: write the folder, too: "{folder}/{header}"')
        if kind == '"' and order.get(os.path.dirname(header), 0) > order[folder]:
            bad.append(f"{path}:{n}: {folder} includes {header}, which is a layer above it")
        if folder == "base" and header.startswith("base/"):
            base.setdefault(stem, set()).add(os.path.splitext(header)[0])
        files = [f for pattern in owners if matches(header, [pattern]) for f in owners[pattern]]
        if files and not matches(stem, files):
            bad.append(f"{path}:{n}: <{header}> may be seen by {' '.join(files)} only")
for stem in base:
    reached = base[stem] - {stem}
    while more := set().union(*(base.get(s, set()) - {s} for s in reached)) - reached:
        reached |= more
    if stem in reached:
        bad.append(f"src/{stem}: includes itself through others")
for folder in folders:
    if folder not in seen:
        bad.append(f"src/LAYERS: the folder '{folder}' has no file")
print("\n".join(bad), end="\n" if bad else "", file=sys.stderr)
sys.exit(bool(bad))
