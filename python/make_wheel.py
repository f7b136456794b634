#!/usr/bin/env python3
"""make_wheel.py LIBRARY OUT: a wheel of the Python module with LIBRARY (what `make alone` makes), the shipped kernels,
all licences and an SBOM, in the folder OUT. make_wheel.py sdist OUT: the sources, from which pip makes a wheel by the
functions of PEP 517 below, with `cc` and `make`. The same files make the same archives: times in them are
SOURCE_DATE_EPOCH, or else that of the last commit.
"""
import base64
import glob
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import time
import uuid
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TAG = "manylinux_2_28_x86_64"
# What is inside, by the Debian package that it comes from.
INSIDE = {"libcjson-dev": "MIT", "libdeflate-dev": "MIT", "zlib1g-dev": "Zlib", "libtinyexr-dev": "BSD-3-Clause",
          "libstb-dev": "MIT", "libxxhash-dev": "BSD-2-Clause",
          "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1"}
SOURCES = ("CHANGELOG.md", "LICENSE", "Makefile", "packaging.mk", "README.md", "docs/python.md", "kernels",
           "pyproject.toml", "python", "shaders", "src")
SUMMARY = "Blooms linear images with a real point spread function, with a promised error"


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def read(*path):
    with open(os.path.join(ROOT, *path), "rb") as f:
        return f.read()


VERSION = re.search("(?m)^## (.*)$", read("CHANGELOG.md").decode()).group(1)


def stamp():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    in_git = os.path.exists(os.path.join(ROOT, ".git"))
    return int(run("git", "log", "-1", "--format=%ct") if in_git else os.path.getmtime(ROOT + "/CHANGELOG.md"))


def sbom():
    """Returns an SPDX document: what is inside, in which version, and under which licence."""
    def package(name, version, licence, **more):
        return {"SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
                "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
                "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}

    arch = run("dpkg", "--print-architecture").strip()
    listed = [package("fftbloom", VERSION, "MIT", primaryPackagePurpose="LIBRARY")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", listed[0]["SPDXID"])]
    for name, licence in sorted(INSIDE.items()):
        at = run("dpkg-query", "-W", "-f", "${Version}\n", name).split()[0]
        listed.append(package(name, at, licence, externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
             "referenceLocator": "pkg:deb/debian/%s@%s?arch=%s" % (name, at, arch)}]))
        relations.append((listed[0]["SPDXID"], "STATIC_LINK", listed[-1]["SPDXID"]))
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(listed))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": "fftbloom-" + VERSION,
            "documentNamespace": "https://spdx.org/spdxdocs/fftbloom-%s-%s" % (VERSION, unique),
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp())),
                             "creators": ["Tool: make_wheel.py"]},
            "packages": listed,
            "relationships": [{"spdxElementId": a, "relationshipType": r, "relatedSpdxElement": b}
                              for a, r, b in relations]}


def metadata(licences):
    lines = ["Metadata-Version: 2.1", "Name: fftbloom", "Version: " + VERSION, "Summary: " + SUMMARY, "License: MIT",
             "Requires-Python: >=3.9", "Provides-Extra: numpy", "Requires-Dist: numpy; extra == 'numpy'",
             "Classifier: License :: OSI Approved :: MIT License", "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Topic :: Scientific/Engineering :: Image Processing", "Classifier: Typing :: Typed",
             "Description-Content-Type: text/markdown"] + ["License-File: " + n for n in sorted(licences)]
    return ("\n".join(lines) + "\n\n").encode() + read("docs", "python.md")


def wheel(library, out, tag, licences, more):
    """Writes a wheel; returns its name."""
    info = "fftbloom-%s.dist-info/" % VERSION
    files = {"fftbloom/" + os.path.basename(f): read(f) for f in glob.glob(ROOT + "/python/fftbloom/*.*")}
    files.update({"fftbloom/kernels/" + os.path.basename(f): read(f)
                  for kind in ("exr", "json") for f in glob.glob(ROOT + "/kernels/*." + kind)})
    stripped = os.path.abspath(os.path.join(out, ".stripped"))
    run("strip", "--strip-unneeded", library, "-o", stripped)
    files["fftbloom/lib/libfftbloom.so.0"] = read(stripped)
    os.remove(stripped)
    files.update({info + name: data for name, data in more.items()})
    files.update({info + "licenses/" + name: text for name, text in licences.items()})
    files[info + "METADATA"] = metadata(licences)
    files[info + "WHEEL"] = ("Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-%s\n"
                             % tag).encode()
    record = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append("%s,sha256=%s,%d\n" % (name, digest, len(data)))
    files[info + "RECORD"] = ("".join(record) + info + "RECORD,,\n").encode()
    name = "fftbloom-%s-py3-none-%s.whl" % (VERSION, tag)
    when = time.gmtime(max(stamp(), 315532800))[:6]  # zip files begin in 1980
    with zipfile.ZipFile(os.path.join(out, name), "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in sorted(files.items(), key=lambda f: (".dist-info/" in f[0], f[0])):
            entry = zipfile.ZipInfo(path, when)
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    return name


def build_wheel(out, config_settings=None, metadata_directory=None):
    """Makes a wheel for this machine, of its own libraries."""
    subprocess.run(["make", "-s", "-j%d" % (os.cpu_count() or 1), "build/libfftbloom.so.0"], check=True, cwd=ROOT)
    tag = re.sub("[-.]", "_", sysconfig.get_platform())
    return wheel(ROOT + "/build/libfftbloom.so.0", out, tag, {"LICENSE": read("LICENSE")}, {})


def build_sdist(out, config_settings=None):
    """Packs the sources, with the numbers that glslc makes of shaders."""
    run("make", "-s", "build/shaders/all.inc")
    top = "fftbloom-" + VERSION
    files = {name: read(name) for name in run("git", "ls-files", *SOURCES).split()}
    files.update({"PKG-INFO": metadata(["LICENSE"]), "shaders.inc": read("build/shaders/all.inc")})
    name = top + ".tar.gz"
    with open(os.path.join(out, name), "wb") as f, gzip.GzipFile("", "wb", 6, f, stamp()) as z, \
            tarfile.open(None, "w", z, format=tarfile.PAX_FORMAT) as tar:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(top + "/" + path)
            entry.size, entry.mtime = len(data), stamp()
            entry.mode = 0o644
            tar.addfile(entry, io.BytesIO(data))
    return name


def main(what, out):
    os.makedirs(out, exist_ok=True)
    if what == "sdist":
        name = build_sdist(out)
    else:
        licences = {"LICENSE": read("LICENSE")}
        licences.update({p + ".txt": read("/usr/share/doc", p, "copyright") for p in INSIDE})
        name = wheel(what, out, TAG, licences, {"sboms/fftbloom.spdx.json": json.dumps(sbom(), indent=1).encode()})
    print("%s: %d kB" % (os.path.join(out, name), os.path.getsize(os.path.join(out, name)) // 1024))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
