# fftbloom check: the cases of a suite, what it says of them, and its exit codes.

load files

setup_file() {
    "$FFTBLOOM" devices 2>/dev/null | grep -q '^[0-9]* *cpu' || { export NOT_HERE="no CPU engine"; return 0; }
    shared_folder || return 0
    make_images k.exr
    cat >s.json <<'J'
{
  "version": 1,
  "variables": {"t": "0.5"},
  "defaults": {
    "config": {"input": "in.exr", "kernel": "k.exr", "device": "cpu"},
    "reference": "refs/${case}.exr", "fail": 0
  },
  "cases": [
    {"name": "plain", "energy": [0.8, 1.4], "verify": 8},
    {"name": "sharp", "config": {"amount": "${t}"}},
    {"name": "mirror <&>#\"", "config": {"padding": "mirror"}, "crop": [4, 5, 16, 8]}
  ]
}
J
    "$FFTBLOOM" check -q s.json --bless
}

# A suite of one case with these members, beside the files.
one() { echo '{"version": 1, "defaults": {"config": {"input": "in.exr", "kernel": "k.exr", "device": "cpu"}}, "cases": [{"name": "one", '"$1"'}]}' >one.json; }

# Rows of `status | words | members`: what is said of a suite of that one case.
cases() {
    local code words members
    while IFS='|' read -r code words members; do
        one "${members# }"
        words=${words# }
        says $code "${words% }" check one.json
    done
}

check() { # status, arguments
    local want=$1
    shift
    run --separate-stderr "$FFTBLOOM" check "$@"
    echo "$status: $output $stderr"
    [ "$status" -eq "$want" ]
}

@test "keys that have no effect in any case get a warning with their line, wherever they stand" {
    echo '{"version": 1, "half_overflow": "error", "emit": "glare", "knee": 1}' >look.json
    cat >idle.json <<'J'
{"version": 1, "defaults": {"config": {"input": "in.exr", "kernel": "k.exr", "device": "cpu",
  "tint": [1, 2, 1], "knee": 0.5}, "energy": [0, 9]}, "cases": [
  {"name": "a", "config": {"threshold": 0.5, "amount": 0.5}},
  {"name": "b", "config": {"knee": 0.25, "emit": "source"}},
  {"name": "c", "config": "look.json"}, {"name": "d", "config": {"knee": 0, "emit": "glare"}}]}
J
    check 0 idle.json
    diff - <(grep -F "no effect" <<<"$stderr") <<'W'
fftbloom: warning: idle.json:4:36: knee has no effect without --threshold
fftbloom: warning: idle.json:4:50: emit has no effect without --emit-layer or --emit-file
fftbloom: warning: look.json:1:67: knee has no effect without --threshold
W
    # The key of the defaults has an effect in one case; alone, in none.
    sed -i 's/"threshold": 0.5, //' idle.json
    check 0 idle.json --list
    [[ "$stderr" == *"idle.json:2:30: knee has no effect without --threshold"* ]]
}

@test "exit codes are idiff's: 0 match, 1 warn, 2 fail, 3 sizes, 4 file; the worst counts" {
    check 0 s.json
    [[ "${lines[0]}" == "PASS     plain"*" s  cpu" ]]
    [ "${lines[-1]}" = PASS ]
    cases <<'T'
1 | WARNING  one | "reference": "refs/sharp.exr", "failpercent": 100
2 | @ (7, 9, R) | "reference": "refs/sharp.exr"
3 | data windows differ: 3 x 3 at (0, 0) and 40 x 30 | "reference": "refs/sharp.exr", "crop": [0, 0, 3, 3]
4 | no reference yet: there is no 'none.exr'; run with --bless to create it | "reference": "none.exr"
4 | ERROR    one | "reference": "s.json"
4 | ERROR    one | "reference": "refs/plain.exr", "config": {"input": "none.exr"}
T
    one '"reference": "refs/sharp.exr", "crop": [0, 0, 3, 3]'
    check 3 one.json --json -
    [[ "$output" == *'"why": ["data windows differ: 3 x 3'* ]]
    check 2 s.json --set t=0.6
    [ "${lines[-1]}" = FAILURE ]
    rm refs/plain.exr
    check 4 s.json --set t=0.6
}

@test "what a case asserts: limits that count alone, several references, energy, accuracy; skipped is not passed" {
    # The reference is off by up to 25, all pixels by more than 1e-4.
    cases <<'T'
0 | | "reference": "refs/sharp.exr", "fail": 100
2 | 1200 of 1200 pixels differ from refs/sharp.exr by more than 0.0001, the most by | "reference": "refs/sharp.exr", "fail": 100, "hardfail": 1e-4
1 | 1200 of 1200 pixels differ from refs/sharp.exr by more than 0.0001, the most by | "reference": "refs/sharp.exr", "fail": 100, "warn": 1e-4
0 | | "reference": "refs/sharp.exr", "fail": 100, "warn": 1e-4, "warnpercent": 100
1 | | "reference": "refs/sharp.exr", "fail": 100, "hardwarn": 1e-4, "allowfailures": 1199
0 | | "reference": "refs/sharp.exr", "fail": 100, "hardwarn": 1e-4, "hardfail": 1e-4, "allowfailures": 1200
0 | | "reference": ["refs/sharp.exr", "refs/plain.exr"]
2 | differ from refs/sharp.exr by more | "reference": ["none.exr", "refs/sharp.exr"]
0 | | "reference": {"cpu": "refs/plain.exr", "any": "refs/sharp.exr"}
0 | | "reference": {"gpu": "refs/sharp.exr", "any": "refs/plain.exr"}
0 | | "reference": {"gpu": "in.exr"}, "config": {"sharpen": 1}
2 | of its light; allowed are 0.999 to 1.001 | "energy": [0.999, 1.001]
2 | of its light; allowed are 0 to 0.7 | "energy": [0, 0.7]
0 | | "energy": {"R": [0.5, 1.1], "[GB]": [0.5, 1.4]}, "config": {"padding": "wrap"}
2 | no channel that was bloomed matches 'Q' | "energy": {"Q": [0.5, 1.1]}
2 | by the definition | "verify": 100, "config": {"tolerance": 1e-9, "precision": "float32", "pixel_type": "float"}
5 | all cases were skipped | "reference": {"gpu": "refs/sharp.exr"}
5 | no reference for a device of class cpu | "reference": {"gpu": "refs/sharp.exr"}
5 | slow | "reference": "refs/plain.exr", "skip": "slow"
5 | | "reference": "refs/plain.exr", "config": {"device": "no such device"}
T
    check 0 s.json --require-cases 3 --require-device cpu
    check 2 s.json --require-cases 4
    [[ "$output" == *"3 of 3 cases passed, 4 are required"* ]]
    [ "${lines[-1]}" = FAILURE ]
    has software || return 0
    check 69 s.json --require-device software
    [[ "$output" == *"no case ran on the required device 'software'"* ]]
    check 0 s.json --set limit=0.01 --device software --require-device software --require-cases 3
}

@test "names cannot steer a terminal, a runner of GitHub, or the parser of a report" {
    # Channels and names with line ends, commands, escapes, and bytes that are not UTF-8 or not XML.
    local evil=$'::q\n::error::x\x1b[31m\xff##[error]y\xef\xbf\xbe'
    image a.exr 2x1 float 1 names="$evil" -- b.exr 2x1 float 1 0,0=2 names="$evil"
    cat >evil.json <<'J'
{"version": 1, "defaults": {"reference": "b.exr", "config": {"kernel": "k.exr", "sharpen": 1, "device": "cpu"}}, "cases": [
  {"name": "::stop-commands::x", "config": {"input": "a.exr"}},
  {"name": "##[error]\u007f\ufffe\u202e", "config": {"input": "gone\n::error::z.exr"}}]}
J
    clean() { ! LC_ALL=C grep -nP '\x1b|\xff|\x7f|^\s*::|##\[|\xe2\x80\xae' <<<"$1"; }
    says 2 "" diff a.exr b.exr
    clean "$output"
    [ "${#lines[@]}" -eq 9 ]
    check 4 evil.json --junit j.xml --json j.json --html p.html
    clean "$output"
    [[ "$output" == *'FAILURE  ::stop-commands::x'*'::q\x0a::error::x\x1b[31m\xff\x23#[error]y'* ]]
    [[ "$output" == *'ERROR    \x23#[error]\x7f'*'gone\x0a::error::z.exr'* ]]
    check 0 evil.json --list
    clean "$output"
    [ "${lines[0]}" = '\x3a:stop-commands::x' ]
    holds j.json '__import__("xml.etree.ElementTree").etree.ElementTree.parse("j.xml")'
    ! LC_ALL=C grep -lP '\x1b|\xff' j.xml || false
}

@test "what is wrong with the light of an input is told once, and noted in its case" {
    oiiotool --pattern constant:color=0.2,0.2,0.2 64x48 3 --box:color=-90,-90,-90:fill=1 9,9,9,9 \
        --box:color=1000,1000,1000:fill=1 10,9,10,9 -d float -o rings.exr
    oiiotool --pattern fill:top=0,0.1,0.2:bottom=0.9,1,0.7 80x60 3 -d uint8 -o p.tif
    oiiotool p.tif -d half --eraseattrib ".*" -o codes.exr
    cat >light.json <<'J'
{"version": 1, "defaults": {"config": {"kernel": "k.exr", "device": "cpu"}, "verify": 1}, "cases": [
  {"name": "rings", "config": {"input": "rings.exr"}}, {"name": "again", "config": {"input": "rings.exr"}},
  {"name": "codes", "config": {"input": "codes.exr"}}, {"name": "more", "config": {"input": "codes.exr"}},
  {"name": "decoded", "config": {"input": "codes.exr", "input_space": "srgb"}}, {"name": "plain", "config": {"input": "in.exr"}}]}
J
    run --separate-stderr "$FFTBLOOM" check light.json --json l.json
    echo "$stderr"
    [ $status -eq 0 ]
    [ "$(grep -c "values are below zero, down to -90" <<<"$stderr")" -eq 1 ]
    [ "$(grep -c "the values of an 8-bit picture.*--input-space srgb" <<<"$stderr")" -eq 1 ]
    [ "$(wc -l <<<"$stderr")" -eq 2 ]
    holds l.json '[c["name"] for c in d["cases"] if any("below zero" in n for n in c["notes"])] == ["rings", "again"]'
}

@test "exit codes of the command line and of the suite: 64, 66, 69" {
    each says <<'T'
64 | | check
64 | none of the 3 cases of s.json matches 'nothing*' | check s.json --filter 'nothing*'
64 | --junit and --json both want standard output | check s.json --json - --junit -
64 | | check s.json --set t
64 | did you mean --filter? | check s.json --flter x
66 | | check none.json
69 | no such device | check s.json --require-device "no such device"
74 | | check s.json --junit none/j.xml
T
    cases <<'T'
64 | one.json:1:123: a case has no key "refrence"; did you mean "reference"? | "refrence": "x.exr"
64 | x 0 to 40, y 0 to 0 is not inside the result, which has x 0 to 39 | "reference": "refs/plain.exr", "crop": [0, 0, 41, 1]
T
}

@test "all cases run; --stop stops at the first failure; --filter and --list choose; -q is silent" {
    check 2 s.json --set t=0.6 --stop
    [[ "$output" == *"FAILURE  sharp"*"SKIPPED  mirror"*"an earlier case failed, and --stop was given"*"1 passed, 1 failed, 1 skipped"* ]]
    check 2 s.json --set t=0.6 --keep-going # what it was called before, and still may be
    [[ "$output" == *"2 passed, 1 failed"* ]]
    check 2 s.json --set t=0.6
    [[ "$output" == *"2 passed, 1 failed"* ]]
    check 0 s.json --set t=0.6 --filter 'p*,m*'
    [[ "$output" == *"2 passed"* ]]
    check 0 s.json --list --filter '*r*'
    [ "$output" = $'sharp\nmirror <&>#"' ]
    warns "" check s.json -q
    check 2 s.json -q --set t=0.6
    [ -z "$output$stderr" ]
    check 0 s.json -v --progress openjd --jobs 1
    [[ "$output$stderr" == *"float32"* ]]
    [[ "$output" == *"openjd_progress: 100.0"* ]]
}

@test "--bless writes what is missing or differs, with its origin, and the same bytes again" {
    "$FFTBLOOM" info refs/plain.exr --json | python3 -c '
import json, re, sys
a = {x["name"]: x["value"] for x in json.load(sys.stdin)["parts"][0]["attributes"]}
assert a["fftbloom:version"].startswith("fftbloom "), a
assert a["fftbloom:device"].startswith("cpu "), a
for k in ("settings", "input", "kernel"): assert re.fullmatch("[0-9a-f]{32}", a["fftbloom:" + k]), a'
    "$FFTBLOOM" info 'refs/mirror <&>#".exr' | grep 'width       16'
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
    check 2 s.json --set t=0.6
    [[ "$output" == *"the reference was made with other settings; then amount 0.5; now amount 0.6"* ]]
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
    sed -i 's/fftbloom:look/fftbloom:lock/' plain.exr
    check 2 one.json
    [[ "$output" == *"made with other settings"* && "$output" != *"; now"* ]]
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
    "$FFTBLOOM" info new.exr | grep -q 'compression zip'
    [ -z "$(ls -A | grep -i tmp)" ]
}

@test "the cache is the command's, whatever a case says" {
    one '"reference": "refs/plain.exr", "config": {"cache_dir": "elsewhere", "cache_size": 0}'
    check 0 one.json --cache-dir here
    [ -d here ]
    [ ! -e elsewhere ]
    FFTBLOOM_CACHE_DIR= HOME=$dir XDG_CACHE_HOME= check 0 one.json
    [ ! -e elsewhere ]
    # So is the place of a kernel that is made for a case.
    one '"energy": [0, 2], "config": {"kernel": "cross", "kernel_scale": 0.2, "cache_dir": "elsewhere"}'
    check 0 one.json --cache-dir there
    ls there/kernels/cross-*.exr
    [ ! -e elsewhere ]
}

@test "--junit is XML with every case, and only what Jenkins' schema has" {
    check 2 s.json --set t=0.6 --junit j.xml
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
root = E.parse("j.xml").getroot()
for e in root.iter():
    assert set(e.attrib) <= ALLOWED[e.tag], (e.tag, e.attrib)
s = root.find("testsuite")
assert root.tag == "testsuites" and s.get("name") == "s.json"
assert [s.get(k) for k in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "0"]
cases = {c.get("name"): c for c in s.findall("testcase")}
assert list(cases) == ["plain", "sharp", 'mirror <&>#"']
f = cases["sharp"].find("failure")
assert "pixels differ" in f.get("message") and "Max error" in f.text
assert f.text.startswith("s.json:10:\n")
assert float(cases["plain"].get("time")) > 0 and not list(cases["plain"])
P
    rm refs/plain.exr
    check 4 s.json --stop --junit - --require-cases 9
    [[ "$output" == *'errors="1"'*'skipped="2"'*"an earlier case failed"* ]]
    check 2 s.json --junit - --require-cases 9 --filter 's*'
    [[ "$output" == *'tests="2"'*"1 of 1 cases passed, 9 are required"* ]]
}

@test "--json has every key that docs/inside/formats.md names, and the same but for times the next time" {
    check 2 s.json --set t=0.6 --json r.json
    python3 - "$FFTBLOOM_ROOT/docs/inside/formats.md" <<'P'
import json, re, sys
r = json.load(open("r.json"))
assert r["version"] == 1 and r["exit_status"] == 2 and r["complaint"] is None
assert r["counts"] == {"pass": 2, "warn": 0, "fail": 1, "error": 0, "skip": 0}
plain, sharp, mirror = r["cases"]
assert plain["energy"][0]["ok"] and plain["verify"]["broken"] == 0 and plain["verify"]["pixels"] >= 8
assert sharp["state"] == "fail" and sharp["status"] == 2 and sharp["parts"][0]["worst"]["x"] == 7
assert "the reference was made with other settings; then amount 0.5; now amount 0.6" in sharp["notes"]
assert sharp["origin"]["look"] == "amount 0.5\n", sharp["origin"]
assert mirror["parts"][0]["pixels"] == 16 * 8 and mirror["origin"]["device"].startswith("cpu")
assert plain["device"]["class"] == "cpu" and len(plain["times"]["passes"]) == len(plain["plan"]["passes"])
assert "pictures" not in plain
named = set(re.findall(r"`([a-z_]+)`", open(sys.argv[1]).read()))
missing = (set(r) | set(plain)) - named
assert not missing, missing
P
    # Of parts that all fail, the worst is the one that is farthest off.
    oiiotool in.exr in.exr in.exr --siappendall -o parts.exr
    oiiotool in.exr --mulc 1.1,1.1,1.1 in.exr --mulc 1.3,1.3,1.3 in.exr --mulc 1.2,1.2,1.2 --siappendall -o other.exr
    one '"config": {"input": "parts.exr"}, "reference": "other.exr"'
    run "$FFTBLOOM" check one.json --json w.json
    holds w.json 'd["cases"][0]["worst_part"] == 1'
    "$FFTBLOOM" check s.json --json - -q >a.json
    "$FFTBLOOM" check s.json --json - -q >b.json
    holds a.json 'd["exit_status"] == 0'
    strip() { sed -E 's/"(seconds|times)": (\{[^}]*\}|[0-9.]+)//; s/[0-9.e-]+ allowed//' "$1"; }
    diff <(strip a.json) <(strip b.json)
}

@test "--html is one page without addresses of others, and small where cases pass" {
    check 2 s.json --set t=0.6 --html p.html
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
    # Thumbnails of large pictures: a page of a hundred such cases has less than 10 MB.
    oiiotool --pattern noise:type=gaussian:mean=0.5:stddev=0.2 1280x720 3 -d half -o noise.exr
    one '"reference": "new.exr", "config": {"input": "noise.exr"}'
    check 0 one.json --bless
    check 0 one.json --html page.html
    grep -q 'data:image/png;base64' page.html
    [ "$(stat -c %s page.html)" -lt 180000 ]
}
