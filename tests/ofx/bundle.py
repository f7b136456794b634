#!/usr/bin/env python3
"""bundle.py BINARY BUNDLE: makes the folder of an OpenFX plug-in: its binary, the shipped kernels, and the licences of
what is inside, with a list of that. Both come from make_wheel.py, since the wheel has the same library."""
import glob
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
sys.dont_write_bytecode = True
import make_wheel  # noqa: E402

binary, bundle = sys.argv[1:]
place = os.path.join(bundle, "Contents", "Linux-x86-64")
resources = os.path.join(bundle, "Contents", "Resources")
shutil.rmtree(bundle, ignore_errors=True)
for folder in place, os.path.join(resources, "kernels"), os.path.join(resources, "licenses"):
    os.makedirs(folder)
target = os.path.join(place, "fftbloom.ofx")
shutil.copyfile(binary, target)
subprocess.run(["strip", "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note", target], check=True)
for path in glob.glob(os.path.join(make_wheel.ROOT, "kernels", "*.json")):
    shutil.copyfile(path, os.path.join(resources, "kernels", os.path.basename(path)))
for name in make_wheel.INSIDE:
    shutil.copyfile("/usr/share/doc/%s/copyright" % name, os.path.join(resources, "licenses", name + ".txt"))
shutil.copyfile(os.path.join(make_wheel.ROOT, "LICENSE"), os.path.join(resources, "LICENSE"))
with open(os.path.join(resources, "fftbloom.spdx.json"), "w") as f:
    json.dump(make_wheel.sbom(), f, indent=1)
size = sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(bundle) for n in names)
print("ofx: %s, %d kB" % (bundle, size // 1024))
