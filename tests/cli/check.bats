#!/usr/bin/env bats
# fftbloom check: the cases of a suite, what it says of them, and its exit codes.

load files

setup_file() {
    "$FFTBLOOM" devices 2>/dev/null | grep -q '^[0-9]* *cpu' || { export NOT_HERE="no CPU engine"; return 0; }
    shared_folder || return 0
    make_images k.exr
    cat >s.json <<'J'
{
  "version": 1,
  "variables": {"t": 0.5, "limit": 0},
  "defaults": {
    "config": {"input": "in.exr", "kernel": "k.exr", "device": "cpu"},
    "reference": "refs/${case}.exr", "fail": "${limit}"
  },
  "cases": [
    {"name": "plain", "energy": [0.8, 1.4], "verify": 8},
    {"name": "sharp", "config": {"sharpen": "${t}"}},
    {"name": "mirror <&>#\"", "config": {"padding": "mirror"}, "crop": [4, 5, 16, 8]}
  ]
}
J
    "$FFTBLOOM" check -q s.json --bless
}

# A suite of one case with these members, beside the files.
one() { echo '{"version": 1, "defaults": {"config": {"input": "in.exr", "kernel": "k.exr", "device": "cpu"}}, "cases": [{"name": "one", '"$1"'}]}' >one.json; }

check() { # status, arguments
    local want=$1
    shift
    run --separate-stderr "$FFTBLOOM" check "$@"
    echo "$status: $output $stderr"
    [ "$status" -eq "$want" ]
}

@test "exit codes are idiff's: 0 match, 1 warn, 2 fail, 3 sizes, 4 file; the worst counts" {
    check 0 s.json
    [[ "${lines[0]}" == "PASS     plain"*" s  cpu" ]]
    [ "${lines[-1]}" = PASS ]
    one '"reference": "refs/sharp.exr", "failpercent": 100'
    check 1 one.json
    [[ "$output" == *"WARNING  one"* ]]
    [ "${lines[-1]}" = WARNING ]
    one '"reference": "refs/sharp.exr"'
    check 2 one.json
    [[ "$output" == *"FAILURE  one"*"Max error  = "*" @ (7, 9, R)"* ]]
    [ "${lines[-1]}" = FAILURE ]
    one '"reference": "refs/sharp.exr", "crop": [0, 0, 3, 3]'
    check 3 one.json
    [[ "$output" == *"data windows differ: 3 x 3 at (0, 0) and 40 x 30"* ]]
    one '"reference": "none.exr"'
    check 4 one.json
    [[ "$output" == "ERROR    one"*"no reference yet: there is no 'none.exr'; run with --bless to create it"* ]]
    one '"reference": "s.json"'
    check 4 one.json
    one '"reference": "refs/plain.exr", "config": {"input": "none.exr"}'
    check 4 one.json
    check 2 s.json --set t=0.6 --keep-going
    rm refs/plain.exr
    check 4 s.json --set t=0.6 --keep-going
}

@test "thresholds: each counts alone, as docs/suites.md says" {
    # The reference is off by up to 25, all pixels by more than 1e-4.
    one '"reference": "refs/sharp.exr", "fail": 100'
    check 0 one.json
    one '"reference": "refs/sharp.exr", "fail": 100, "hardfail": 1e-4'
    check 2 one.json
    [[ "$output" == *"1200 of 1200 pixels differ from refs/sharp.exr by more than 0.0001, the most by "* ]]
    one '"reference": "refs/sharp.exr", "fail": 100, "warn": 1e-4'
    check 1 one.json
    [[ "$output" == *"1200 of 1200 pixels differ from refs/sharp.exr by more than 0.0001, the most by "* ]]
    one '"reference": "refs/sharp.exr", "fail": 100, "warn": 1e-4, "warnpercent": 100'
    check 0 one.json
    one '"reference": "refs/sharp.exr", "fail": 100, "hardwarn": 1e-4, "allowfailures": 1199'
    check 1 one.json
    one '"reference": "refs/sharp.exr", "fail": 100, "hardwarn": 1e-4, "hardfail": 1e-4, "allowfailures": 1200'
    check 0 one.json
}

@test "names cannot steer a terminal, a runner of GitHub, or the parser of a report" {
    # Channels and names with line ends, commands, escapes, and bytes that are not UTF-8 or not XML.
    python3 - <<'P'
import json, struct
def attr(name, kind, data): return name + b"\0" + kind + b"\0" + struct.pack("<i", len(data)) + data
def exr(path, name, value):
    channel = name + b"\0" + struct.pack("<iBBBBii", 2, 0, 0, 0, 0, 1, 1)
    box = struct.pack("<4i", 0, 0, 1, 0)
    head = b"\x76\x2f\x31\x01\x02\0\0\0" + attr(b"channels", b"chlist", channel + b"\0")
    head += attr(b"compression", b"compression", b"\0") + attr(b"dataWindow", b"box2i", box)
    head += attr(b"displayWindow", b"box2i", box) + attr(b"lineOrder", b"lineOrder", b"\0")
    head += attr(b"pixelAspectRatio", b"float", struct.pack("<f", 1))
    head += attr(b"screenWindowCenter", b"v2f", struct.pack("<2f", 0, 0))
    head += attr(b"screenWindowWidth", b"float", struct.pack("<f", 1)) + b"\0"
    row = struct.pack("<ii2f", 0, 8, value, 1)
    open(path, "wb").write(head + struct.pack("<Q", len(head) + 8) + row)
evil = b"::q\n::error::x\x1b[31m\xff##[error]y\xef\xbf\xbe"
exr("a.exr", evil, 1)
exr("b.exr", evil, 2)
def case(name, input): return {"name": name, "reference": "b.exr", "config": {
    "input": input, "kernel": "k.exr", "sharpen": 1, "device": "cpu"}}
json.dump({"version": 1, "cases": [
    case("::stop-commands::x", "a.exr"),
    case("##[error]\x7f\ufffe\u202e", "gone\n::error::z.exr")]}, open("evil.json", "w"), indent=1)
P
    clean() { ! LC_ALL=C grep -nP '\x1b|\xff|\x7f|^\s*::|##\[|\xe2\x80\xae' <<<"$1"; }
    says 2 "" diff a.exr b.exr
    clean "$output"
    [ "${#lines[@]}" -eq 9 ]
    check 4 evil.json --keep-going --junit j.xml --json j.json --html p.html
    clean "$output"
    [[ "$output" == *'FAILURE  ::stop-commands::x'*'::q\x0a::error::x\x1b[31m\xff\x23#[error]y'* ]]
    [[ "$output" == *'ERROR    \x23#[error]\x7f'*'gone\x0a::error::z.exr'* ]]
    check 0 evil.json --list
    clean "$output"
    [ "${lines[0]}" = '\x3a:stop-commands::x' ]
    python3 -c '
import json, xml.etree.ElementTree as E
E.parse("j.xml")
json.load(open("j.json"))'
    ! LC_ALL=C grep -lP '\x1b|\xff' j.xml || false
}

@test "exit codes of the command line and of the suite: 64, 66, 69" {
    check 64
    check 64 s.json --filter 'nothing*'
    [[ "$stderr" == *"none of the 3 cases of s.json matches 'nothing*'"* ]]
    check 64 s.json --json - --junit -
    [[ "$stderr" == *"--junit and --json both want standard output"* ]]
    check 64 s.json --set t
    check 64 s.json --flter x
    [[ "$stderr" == *"did you mean --filter?"* ]]
    check 66 none.json
    check 69 s.json --require-device "no such device"
    [ -z "$output" ]
    one '"refrence": "x.exr"'
    check 64 one.json
    [[ "$stderr" == *'one.json:1:123: a case has no key "refrence"; did you mean "reference"?'* ]]
    one '"reference": "refs/plain.exr", "crop": [0, 0, 41, 1]'
    check 64 one.json
    [[ "$output" == *"x 0 to 40, y 0 to 0 is not inside the result, which has x 0 to 39"* ]]
}

@test "it stops at the first failure; --keep-going runs all; --filter and --list choose" {
    check 2 s.json --set t=0.6
    [[ "$output" == *"FAILURE  sharp"*"SKIPPED  mirror"*"--keep-going"*"1 passed, 1 failed, 1 skipped"* ]]
    check 2 s.json --set t=0.6 --keep-going
    [[ "$output" == *"2 passed, 1 failed"* ]]
    check 0 s.json --set t=0.6 --filter 'p*,m*'
    [[ "$output" == *"2 passed"* ]]
    check 0 s.json --list
    [ "$output" = $'plain\nsharp\nmirror <&>#"' ]
    check 0 s.json --list --filter '*r*'
    [ "$output" = $'sharp\nmirror <&>#"' ]
}

@test "assertions on energy and accuracy" {
    one '"energy": [0.999, 1.001]'
    check 2 one.json
    [[ "$output" == *"energy: channel 'R' keeps 0."*" of its light; allowed are 0.999 to 1.001"* ]]
    one '"energy": {"R": [0.5, 1.1], "[GB]": [0.5, 1.4]}, "config": {"padding": "wrap"}'
    check 0 one.json
    one '"energy": {"Q": [0.5, 1.1]}'
    check 2 one.json
    [[ "$output" == *"no channel that was bloomed matches 'Q'"* ]]
    one '"verify": 100, "config": {"tolerance": 1e-9, "precision": "float32", "pixel_type": "float"}'
    check 2 one.json
    [[ "$output" == *"verify: channel"*"by the definition"* ]]
}

@test "several references: one that matches will do, and the nearest is shown" {
    one '"reference": ["refs/sharp.exr", "refs/plain.exr"]'
    check 0 one.json
    one '"reference": ["none.exr", "refs/sharp.exr"]'
    check 2 one.json
    [[ "$output" == *"differ from refs/sharp.exr by more"* ]]
    one '"reference": {"cpu": "refs/plain.exr", "any": "refs/sharp.exr"}'
    check 0 one.json
    one '"reference": {"gpu": "refs/sharp.exr", "any": "refs/plain.exr"}'
    check 0 one.json
    # Where nothing has to be computed the device does not matter.
    one '"reference": {"gpu": "in.exr"}, "config": {"sharpen": 1}'
    check 0 one.json
}

@test "skipped is not passed" {
    one '"reference": {"gpu": "refs/sharp.exr"}'
    check 5 one.json
    [[ "$output" == *"no reference for a device of class cpu"*"all cases were skipped"* ]]
    one '"reference": "refs/plain.exr", "skip": "slow"'
    check 5 one.json
    [[ "$output" == *"SKIPPED  one"*slow* ]]
    one '"reference": "refs/plain.exr", "config": {"device": "no such device"}'
    check 5 one.json
    check 0 s.json --require-cases 3 --require-device cpu
    check 2 s.json --require-cases 4
    [[ "$output" == *"3 of 3 cases passed, 4 are required"* ]]
    [ "${lines[-1]}" = FAILURE ]
    if "$FFTBLOOM" devices | grep -q '^[0-9]* *software'; then
        check 69 s.json --require-device software
        [[ "$output" == *"no case ran on the required device 'software'"* ]]
        check 0 s.json --set limit=0.01 --device software --require-device software --require-cases 3
    fi
}

@test "--bless writes what is missing or differs, with its origin, and the same bytes again" {
    "$FFTBLOOM" info refs/plain.exr --json | python3 -c '
import json, re, sys
a = {x["name"]: x["value"] for x in json.load(sys.stdin)["parts"][0]["attributes"]}
assert a["fftbloom:version"].startswith("fftbloom "), a
assert a["fftbloom:device"].startswith("cpu "), a
for k in ("settings", "input", "kernel"): assert re.fullmatch("[0-9a-f]{32}", a["fftbloom:" + k]), a'
    "$FFTBLOOM" info 'refs/mirror <&>#".exr' | grep -q '16 x 8'
    cp -r refs before
    touch -d 2001-01-01 refs/*
    check 0 s.json --bless
    [ -z "$(find refs -newermt 2002-01-01 -name '*.exr')" ]
    check 0 s.json --bless --set t=0.6
    [[ "$output" == *"sharp"*"blessed refs/sharp.exr"* ]]
    cmp before/plain.exr refs/plain.exr
    ! cmp before/sharp.exr refs/sharp.exr || false
    check 0 s.json --set t=0.6
    check 0 s.json --bless
    cmp before/sharp.exr refs/sharp.exr
    rm -r refs
    check 0 s.json --bless
    diff -r before refs
    # Where a result does not match, the report says what changed since the reference was made.
    check 2 s.json --set t=0.6 --keep-going
    [[ "$output" == *"the reference was made with other settings; then amount 0.5; now amount 0.4"* ]]
}

@test "settings that changed since the reference are listed, also to and from a default" {
    one '"reference": "new.exr", "config": {"sharpen": 0.5, "padding": "mirror"}'
    check 0 one.json --bless
    one '"reference": "new.exr", "config": {"padding": "mirror", "threshold": 1}'
    check 2 one.json
    [[ "$output" == *"made with other settings; then amount 0.5; now threshold 1"* ]]
    one '"reference": "plain.exr"'
    check 0 one.json --bless
    one '"reference": "plain.exr", "config": {"sharpen": 0.25}'
    check 2 one.json
    [[ "$output" == *"made with other settings; now amount 0.75"* ]]
    # A reference from before this was written down.
    oiiotool plain.exr --eraseattrib 'fftbloom:look' -o plain.exr
    check 2 one.json
    [[ "$output" == *"made with other settings"* && "$output" != *"; now"* ]]
}

@test "a page of a hundred passing cases has thumbnails and less than 10 MB" {
    oiiotool --pattern noise:type=gaussian:mean=0.5:stddev=0.2 1280x720 3 -d half -o noise.exr
    python3 - <<'P'
import json
case = {"reference": "noise-ref.exr", "config": {"input": "noise.exr", "kernel": "k.exr", "device": "cpu"}}
json.dump({"version": 1, "cases": [dict(case, name=f"case {i}") for i in range(4)]}, open("many.json", "w"))
P
    check 0 many.json --bless
    check 0 many.json --html page.html
    grep -q 'data:image/png;base64' page.html
    local base=$(stat -c %s page.html)
    echo "$base bytes for 4 cases"
    [ "$base" -lt 450000 ]
}

@test "--bless takes no result that breaks its own assertions, and no file without room" {
    one '"reference": "new.exr", "energy": [2, 3]'
    check 4 one.json --bless
    [[ "$output" == *"not blessed"* ]]
    [ ! -e new.exr ]
    one '"reference": "new.pfm"'
    check 74 one.json --bless
    [[ "$output" == *"must be an .exr"* ]]
    one '"reference": "new.exr", "config": {"compression": "b44"}'
    check 0 one.json --bless
    "$FFTBLOOM" info new.exr | grep -q 'stored as   zip'
    [ -z "$(ls -A | grep -i tmp)" ]
}

@test "the cache is the command's, whatever a case says" {
    one '"reference": "refs/plain.exr", "config": {"cache_dir": "elsewhere", "cache_size": 0}'
    check 0 one.json --cache-dir here
    [ -d here ]
    [ ! -e elsewhere ]
    FFTBLOOM_CACHE_DIR= HOME=$dir XDG_CACHE_HOME= check 0 one.json
    [ ! -e elsewhere ]
}

@test "--junit is XML with every case" {
    check 2 s.json --set t=0.6 --keep-going --junit j.xml
    python3 - <<'P'
import xml.etree.ElementTree as E
root = E.parse("j.xml").getroot()
s = root.find("testsuite")
assert root.tag == "testsuites" and s.get("name") == "s.json"
assert (s.get("tests"), s.get("failures"), s.get("errors"), s.get("skipped")) == ("3", "1", "0", "0")
cases = {c.get("name"): c for c in s.findall("testcase")}
assert list(cases) == ["plain", "sharp", 'mirror <&>#"']
f = cases["sharp"].find("failure")
assert "pixels differ" in f.get("message") and "Max error" in f.text
assert f.text.startswith("s.json:10:\n")
assert float(cases["plain"].get("time")) > 0 and not list(cases["plain"])
P
    rm refs/plain.exr
    check 4 s.json --junit - --require-cases 9
    echo "$output" | python3 -c '
import sys, xml.etree.ElementTree as E
s = E.fromstring(sys.stdin.read()).find("testsuite")
assert (s.get("errors"), s.get("skipped")) == ("1", "2")
assert s.findall("testcase")[1].find("skipped").get("message").startswith("an earlier case failed")'
    check 2 s.json --junit - --require-cases 9 --filter 's*'
    echo "$output" | python3 -c '
import sys, xml.etree.ElementTree as E
s = E.fromstring(sys.stdin.read()).find("testsuite")
assert s.get("tests") == "2" and s.findall("testcase")[1].find("failure").get("message") == "1 of 1 cases passed, 9 are required"'
}

@test "--junit has only the attributes and elements of Jenkins' schema" {
    rm refs/plain.exr
    check 4 s.json --set t=0.6 --keep-going --junit j.xml --require-cases 9
    python3 - <<'P'
import xml.etree.ElementTree as E
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "disabled"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "disabled", "skipped", "timestamp",
                  "hostname", "id", "package"},
    "testcase": {"name", "assertions", "time", "classname", "status"},
    "failure": {"type", "message"}, "error": {"type", "message"}, "skipped": {"type", "message"},
    "system-out": set(), "system-err": set(),
}
for e in E.parse("j.xml").iter():
    assert set(e.attrib) <= ALLOWED[e.tag], (e.tag, e.attrib)
P
}

@test "--json has every key that docs/formats.md names" {
    check 2 s.json --set t=0.6 --keep-going --json r.json
    python3 - "$FFTBLOOM_ROOT/docs/formats.md" <<'P'
import json, re, sys
r = json.load(open("r.json"))
assert r["version"] == 1 and r["exit_status"] == 2 and r["complaint"] is None
assert r["counts"] == {"pass": 2, "warn": 0, "fail": 1, "error": 0, "skip": 0}
plain, sharp, mirror = r["cases"]
assert plain["energy"][0]["ok"] and plain["verify"]["broken"] == 0 and plain["verify"]["pixels"] >= 8
assert sharp["state"] == "fail" and sharp["status"] == 2 and sharp["parts"][0]["worst"]["x"] == 7
assert "the reference was made with other settings; then amount 0.5; now amount 0.4" in sharp["notes"]
assert sharp["origin"]["look"] == "amount 0.5\n", sharp["origin"]
assert mirror["parts"][0]["pixels"] == 16 * 8 and mirror["origin"]["device"].startswith("cpu")
assert plain["device"]["class"] == "cpu" and len(plain["times"]["passes"]) == len(plain["plan"]["passes"])
assert "pictures" not in plain
named = set(re.findall(r"`([a-z_]+)`", open(sys.argv[1]).read()))
missing = (set(r) | set(plain)) - named
assert not missing, missing
P
    check 0 s.json --json - -q
    python3 -c 'import json, sys; json.loads(sys.argv[1])' "$output"
}

@test "--html is one page without addresses of others" {
    check 2 s.json --set t=0.6 --keep-going --html p.html
    python3 - <<'P'
import base64, json, re
from html.parser import HTMLParser
page = open("p.html", encoding="utf-8").read()
class P(HTMLParser):
    def handle_starttag(self, tag, attrs):
        assert not {"src", "href", "srcset"} & {k for k, v in attrs}, (tag, attrs)
        assert tag not in ("link", "iframe", "object")
P().feed(page)
assert "url(" not in page and "@import" not in page and "@STYLE@" not in page
run = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
assert [c["name"] for c in run["cases"]] == ["plain", "sharp", 'mirror <&>#"']
for c in run["cases"]:
    for name in ("reference", "result", "difference", "colours") if c["state"] == "fail" else ("result",):
        head, data = c["pictures"][name].split(",")
        png = base64.b64decode(data, validate=True)
        assert head == "data:image/png;base64" and png[:8] == b"\x89PNG\r\n\x1a\n"
        size = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
        assert size == tuple(c["pictures"]["box"][2:])
h = run["cases"][1]["pictures"]["histogram"]
assert h["equal"] + sum(h["bins"]) == 40 * 30 * 3
P
}

@test "reports are whole or not there, and the same run makes the same page but for its times" {
    check 74 s.json --junit none/j.xml
    check 0 s.json --json a.json
    check 0 s.json --json b.json
    strip() { sed -E 's/"(seconds|times)": (\{[^}]*\}|[0-9.]+)//; s/[0-9.e-]+ allowed//' "$1"; }
    diff <(strip a.json) <(strip b.json)
}

@test "-q says nothing of success, -v says more, --progress does" {
    check 0 s.json -q
    [ -z "$output$stderr" ]
    check 2 s.json -q --set t=0.6
    [ -z "$output$stderr" ]
    check 0 s.json -v
    [[ "$output$stderr" == *"float32"* ]]
    check 0 s.json --jobs 1
    check 0 s.json --progress openjd
    [[ "$output" == *"openjd_progress: 100.0"* ]]
}

@test "the schema takes what the program takes, and refuses what it refuses" {
    /usr/bin/python3 -c 'import jsonschema' || skip "python3-jsonschema is not installed"
    "$FFTBLOOM" schema suite >schema.json
    cat >t.py <<'P'
import json, os, subprocess
from jsonschema import Draft202012Validator as V
schema = json.load(open("schema.json"))
V.check_schema(schema)
v = V(schema)
run = {"input": "in.exr", "kernel": "k.exr"}
good = [{}, {"verify": 2}, {"fail": 0.1, "hardfail": "inf"}, {"config": dict(run, sharpen=1, include=[])},
        {"energy": [0, 2]}, {"energy": {"R": [0, 2]}}, {"crop": [0, 0, 1, 1]}, {"skip": "x"},
        {"reference": ["a.exr", "b.exr"]}, {"reference": {"cpu": "a.exr", "any": ["b.exr"]}},
        {"variables": {"a": 1, "b": "x", "c": True}}, {"config": dict(run, sharpen="${t}")}]
bad = [{"verify": -1}, {"fail": "x"}, {"config": dict(run, sharpen=2)}, {"config": dict(run, sharpn=1)},
       {"energy": [1]}, {"energy": {}}, {"crop": [0, 0, 1]}, {"skip": ""}, {"skip": 1}, {"reference": []},
       {"reference": {}}, {"reference": {"tpu": "a.exr"}}, {"variables": {"a": []}}, {"extra": 1},
       {"name": 1}, {"sharpen": 1}]
for want, cases in ((True, good), (False, bad)):
    for case in cases:
        suite = {"version": 1, "variables": {"t": 0.5}, "cases": [
            {"name": "x", "config": run, "reference": "a.exr", **case}]}
        json.dump(suite, open("c.json", "w"))
        ours = subprocess.run([os.environ["FFTBLOOM"], "check", "c.json", "--list"], capture_output=True)
        assert v.is_valid(suite) == want, (case, "schema")
        assert ours.returncode == (0 if want else 64), (case, "program", ours)
for d in ({"version": 1, "include": "a.json"}, {"version": 1, "defaults": {"fail": 1}, "$schema": "x"}):
    assert v.is_valid(d)
for d in ({}, {"version": 2}, {"version": 1, "defaults": {"name": "x"}}):
    assert not v.is_valid(d)
print("ok")
P
    run /usr/bin/python3 t.py
    echo "$output"
    [ "$output" = ok ]
    # The document names every key of the format.
    python3 -c '
import json, re, sys
s = json.load(open("schema.json"))
keys = set(s["properties"]) | set(s["$defs"]["case"]["properties"]) | set(s["$defs"]["defaults"]["properties"])
missing = keys - set(re.findall(r"`\"?([$a-z_]+)\"?`", open(sys.argv[1]).read()))
assert not missing, missing' "$FFTBLOOM_ROOT/docs/suites.md"
}
