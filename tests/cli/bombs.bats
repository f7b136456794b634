# Small files that would grow without end: configs of cases, variables of variables. Each is
# refused at once with 64.

load files

export BATS_TEST_TIMEOUT=60

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
}

@test "a suite whose cases name more bytes of config files than it may" {
    { echo '{"version": 1, "input": "a.exr", "kernel": "k.exr"}'; head -c 4000000 /dev/zero | tr '\0' ' '; } >large.json
    for i in 1 2 3 4 5; do echo ', {"name": "'$i'", "config": "large.json", "verify": 1}'; done |
        sed '1s/,/{"version": 1, "cases": [/; $s/$/]}/' >s.json
    refused 64 "s.json:5:27: the config files of this suite have more than 16 MB" check s.json
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
