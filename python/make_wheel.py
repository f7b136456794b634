#!/usr/bin/env python3
"""make_wheel.py LIBRARY OUT: a wheel of the Python module with LIBRARY (libfftbloom.so.0), the libraries that it
needs, the shipped kernels, all licences and an SBOM, in the folder OUT. Needs no network and no pip, but Debian's
patchelf, strip and dpkg. The same files make the same wheel: times in it are SOURCE_DATE_EPOCH, or else that of the
last commit.
"""
import base64
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TAG = "py3-none-manylinux_2_34_x86_64"
# These come from the system: the C library must fit its kernel, and a second C++ library in a process breaks the
# host's modules if it is older than they need.
SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|librt|libstdc\+\+|libgcc_s)\.so|ld-linux|linux-vdso")
# What is inside, by the Debian package that it comes from. Another one must be looked at before it is added here.
LICENCE = {"libcjson1": "MIT", "libdeflate0": "MIT", "libopenexr-3-1-30": "BSD-3-Clause",
           "libimath-3-1-29": "BSD-3-Clause", "zlib1g": "Zlib"}
COMPILED_IN = {"libtinyexr-dev": "BSD-3-Clause", "libstb-dev": "MIT", "libxxhash-dev": "BSD-2-Clause"}
SUMMARY = "Blooms linear images with a real point spread function, with a promised error"


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def needed(library):
    """Lists (soname, path) of what a library loads and not every system has."""
    lines = (line.split() for line in run("ldd", library).splitlines())
    return [(w[0], w[2]) for w in lines if len(w) > 2 and w[1] == "=>" and not SYSTEM.match(w[0])]


def package_of(path):
    """Returns the Debian package that has installed a file."""
    for way in path, os.path.realpath(path):  # /lib is a link to /usr/lib, and dpkg knows one of the two
        for name in way, "/usr" + way, re.sub("^/usr", "", way):
            found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True).stdout
            if found:
                return found.split(":")[0]
    sys.exit("make_wheel.py: no Debian package has '%s', so its licence is not known" % path)


def collect(library, to):
    """Puts the library and what it needs into a folder; returns the packages of these with their files.

    Each gets a name of its own, so that the host's libraries of the same names stay what they are.
    """
    packages, libraries = {}, needed(library)
    own = {soname: re.sub(r"\.so", "-fftbloom.so", soname, count=1) for soname, _ in libraries}
    for soname, path in libraries + [("libfftbloom.so.0", library)]:
        name = own.get(soname, soname)
        copy = os.path.join(to, name)
        shutil.copyfile(path, copy)
        run("strip", "--strip-unneeded", copy)
        run("patchelf", "--set-soname", name, copy)
        for old, new in own.items():  # one by one: patchelf 0.14 forgets some of several
            run("patchelf", "--replace-needed", old, new, copy)
        run("patchelf", "--set-rpath", "$ORIGIN", copy)
        os.chmod(copy, 0o644)
        if path != library:
            packages.setdefault(package_of(path), []).append(name)
    return packages


def sbom(version, packages, folder, stamp):
    """Returns an SPDX document: what is inside, in which version, and under which licence."""
    def package(name, version, licence, **more):
        return {"SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
                "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
                "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}

    arch = run("dpkg", "--print-architecture").strip()
    listed = [package("fftbloom", version, "MIT", primaryPackagePurpose="LIBRARY")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", listed[0]["SPDXID"])]
    for name, files in sorted({**packages, **dict.fromkeys(COMPILED_IN)}.items()):
        if name not in {**LICENCE, **COMPILED_IN}:
            sys.exit("make_wheel.py: the licence of '%s' is not known: look at it, and add it to LICENCE" % name)
        at = run("dpkg-query", "-W", "-f", "${Version}\n", name).split()[0]
        url = "pkg:deb/debian/%s@%s?arch=%s" % (name, at, arch)
        p = package(name, at, {**LICENCE, **COMPILED_IN}[name], externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}])
        if files:
            hashes = ["%s %s" % (hashlib.sha256(read(folder, f)).hexdigest(), f) for f in files]
            p["comment"] = "sha256 of its files: " + ", ".join(hashes)
        listed.append(p)
        relations.append((listed[0]["SPDXID"], "CONTAINS" if files else "STATIC_LINK", p["SPDXID"]))
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(listed))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": "fftbloom-%s" % version,
            "documentNamespace": "https://spdx.org/spdxdocs/fftbloom-%s-%s" % (version, unique),
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp)),
                             "creators": ["Tool: make_wheel.py"]},
            "packages": listed,
            "relationships": [{"spdxElementId": a, "relationshipType": r, "relatedSpdxElement": b}
                              for a, r, b in relations]}


def metadata(version, licences):
    lines = ["Metadata-Version: 2.1", "Name: fftbloom", "Version: " + version, "Summary: " + SUMMARY, "License: MIT",
             "Requires-Python: >=3.9", "Provides-Extra: numpy", "Requires-Dist: numpy; extra == 'numpy'",
             "Classifier: License :: OSI Approved :: MIT License", "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Topic :: Scientific/Engineering :: Image Processing", "Classifier: Typing :: Typed",
             "Description-Content-Type: text/markdown"] + ["License-File: " + n for n in licences]
    return ("\n".join(lines) + "\n\n").encode() + read(ROOT, "docs", "python.md")


def contents(library):
    """Returns the files of the wheel: name to bytes."""
    version = re.search("(?m)^## (.*)$", read(ROOT, "CHANGELOG.md").decode()).group(1)
    stamp = int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct"))
    info = "fftbloom-%s.dist-info/" % version
    files = {"fftbloom/" + os.path.basename(f): read(f) for f in glob.glob(ROOT + "/python/fftbloom/*.*")}
    files.update({"fftbloom/kernels/" + os.path.basename(f): read(f)
                  for kind in ("exr", "json") for f in glob.glob(ROOT + "/kernels/*." + kind)})
    with tempfile.TemporaryDirectory() as folder:
        packages = collect(library, folder)
        files[info + "sboms/fftbloom.spdx.json"] = json.dumps(sbom(version, packages, folder, stamp), indent=1).encode()
        files.update({"fftbloom/lib/" + f: read(folder, f) for f in os.listdir(folder)})
    licences = {"LICENSE": read(ROOT, "LICENSE")}
    for name in [*packages, *COMPILED_IN]:
        licences[name + ".txt"] = read("/usr/share/doc", name, "copyright")
    files.update({info + "licenses/" + name: text for name, text in licences.items()})
    files[info + "METADATA"] = metadata(version, sorted(licences))
    files[info + "WHEEL"] = ("Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: %s\n"
                             % TAG).encode()
    record = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append("%s,sha256=%s,%d\n" % (name, digest, len(data)))
    files[info + "RECORD"] = ("".join(record) + info + "RECORD,,\n").encode()
    return version, stamp, files


def main(library, out):
    for tool in "strip", "patchelf", "dpkg-query":
        if not shutil.which(tool):
            sys.exit("make_wheel.py: this needs %s" % tool)
    version, stamp, files = contents(library)
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, "fftbloom-%s-%s.whl" % (version, TAG))
    when = time.gmtime(max(stamp, 315532800))[:6]  # zip files begin in 1980
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in sorted(files.items(), key=lambda f: (".dist-info/" in f[0], f[0])):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    os.replace(path + ".part", path)
    print("wheel: %s, %d kB" % (path, os.path.getsize(path) // 1024))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
