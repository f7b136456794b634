#!/usr/bin/env bats
# Small files that would grow without end: includes of includes, variables of variables. Each is
# refused at once with 64.

load files

export BATS_TEST_TIMEOUT=60

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
}

@test "includes that multiply, count too many bytes, or go too deep: of configs, suites and cases" {
    local i many
    # 8 files, each of which includes the next 40 times.
    for i in 0 1 2 3 4 5 6; do
        many=$(printf "\"b$((i + 1)).json\", %.0s" {1..40})
        echo "{\"version\": 1, \"include\": [${many%, }]}" >b$i.json
    done
    echo '{"version": 1}' >b7.json
    each refused <<'T'
64 | more than 10000 files are included | check b0.json
T
}

@test "a file that includes itself, or one that includes it" {
    mkdir sub
    echo '{"version": 1, "include": "e.json"}' >e.json
    echo '{"version": 1, "include": "sub/b.json"}' >a.json
    echo '{"version": 1, "include": "c.json"}' >sub/b.json
    echo '{"version": 1, "include": "../a.json"}' >sub/c.json
    refused 64 "e.json:1:27: files include each other more than 16 deep" check e.json
    refused 64 "a.json:1:27: files include each other more than 16 deep" check a.json
}

@test "suites of too many values or cases, and strings that grow by variables of variables" {
    python3 - <<'P'
def suite(name, variables, cases):
    open(name, "w").write('{"version": 1, %s"cases": [%s]}' % (variables, cases))
suite("values.json", "", '{"name": "a", "skip": "x"},' * 200000 + "{}")
suite("cases.json", "", "{}," * 10000 + "{}")
names = ", ".join('\n"v%d": "%s"' % (i, "${v%d}" % (i - 1) * 10) for i in range(1, 10))
suite("string.json", '"variables": {"v0": "0123456789", %s}, ' % names, '\n{"name": "${v9}", "config": {"input": "a", "kernel": "k"}}')
names = ", ".join('"v%d": "${v0}"' % i for i in range(1, 1201)) # not too long each, but too many
suite("strings.json", '"variables": {"v0": "%s", %s}, ' % ("x" * 60000, names), "")
P
    each refused <<'T'
64 | : the file has more than 524288 values | check values.json
64 | cases.json:1:25: a suite has at most 10000 cases, not 10001 | check cases.json
64 | string.json:5:7: this string is longer than 65536 bytes once its variables are replaced | check string.json
64 | the strings of this suite are longer than 64 MB once their variables are replaced | check strings.json
T
}
