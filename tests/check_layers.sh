#!/usr/bin/env python3
"""Holds src/ to src/LAYERS: every file is in a layer that is listed, includes point down or
sideways, and the headers of libraries are seen only by the files that may see them."""
import glob, os, re, sys

layers, owners, bad = [], [], []
for line in open("src/LAYERS"):
    line = line.split("#")[0].strip()
    if not line:
        continue
    head, _, tail = line.partition(":")
    if head.startswith("only "):
        owners.append((head[5:].split(), tail.split()))
    else:
        layers.append((head, tail.split()))
order = {name: i for i, (name, _) in enumerate(layers)}
listed = {f"{name}/{f}" for name, files in layers for f in files}
found = set()
for path in sorted(glob.glob("src/*/*.[ch]") + glob.glob("src/*/*.cc")):
    layer, base = path.split("/")[1:]
    stem = f"{layer}/{os.path.splitext(base)[0]}"
    found.add(stem)
    if layer not in order or stem not in listed:
        bad.append(f"{path}: not in src/LAYERS")
        continue
    for n, line in enumerate(open(path, errors="replace"), 1):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not m:
            continue
        kind, name = m.groups()
        top = name.split("/")[0]
        if kind == '"' and top in order and order[top] > order[layer]:
            bad.append(f"{path}:{n}: {layer} includes {name}, which is a layer above it")
        if kind == '"' and "/" not in name:
            bad.append(f"{path}:{n}: write the layer, too: \"{layer}/{name}\"")
        for headers, files in owners:
            if any(re.fullmatch(h.replace("*", ".*"), name) for h in headers) and \
               not any(re.fullmatch(f.replace("*", ".*"), stem) for f in files):
                bad.append(f"{path}:{n}: <{name}> may be seen by {' '.join(files)} only")
for stem in sorted(listed - found):
    bad.append(f"src/LAYERS: {stem} does not exist")
print("\n".join(bad), end="\n" if bad else "", file=sys.stderr)
sys.exit(bool(bad))
