# The command line: flags, variables, config files, their precedence, and what is refused.
# tests/unit/test_options.c and test_config.c have the values of each type.

load files

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$dir"
    unset FFTBLOOM_SHARPEN FFTBLOOM_PADDING
}

# What --print-config shows for an option, with its origin.
value() { # WANT NAME ARGUMENTS...
    local got
    got=$("$FFTBLOOM" plan "${@:3}" --print-config | awk -v n="$2" '$1 == n { $1 = ""; sub(/^ /, ""); print }')
    echo "$2 of ${*:3}: $got"
    [ "$got" = "$1" ]
}

@test "help: short without words, the options that matter, every command, one option, the exit statuses" {
    run -64 --separate-stderr "$FFTBLOOM"
    [ -z "$output" ]
    [[ "$stderr" == Usage:*"fftbloom COMMAND"* ]]
    run -0 --separate-stderr "$FFTBLOOM" --help
    [ -z "$stderr" ]
    [[ "$output" == *"The options that matter most:"*"--existing"*"--amount"* ]]
    [[ "$output" != *"--tolerance"* ]]
    [ "$output" = "$("$FFTBLOOM" help)" ]
    for c in $("$FFTBLOOM" docs commands); do
        run -0 --separate-stderr "$FFTBLOOM" "$c" --help
        [[ "$output" == *"Usage: fftbloom $c"* ]]
        [ -z "$stderr" ]
        [ "$output" = "$("$FFTBLOOM" help "$c")" ]
        # Wrapped for 80 columns, examples excepted.
        [ -z "$(grep -v '^  fftbloom' <<<"$output" | grep -v '^Usage' | grep -E '.{101}')" ]
    done
    run "$FFTBLOOM" help apply
    [[ "$output" == *"The options that matter most:"*"--amount"*"Layers and pixels:"*"For experts:"*"--tolerance"* ]]
    [ "$(grep -cE '^ +(-., )?--' <<<"$output")" -le 60 ] # with --help
    for o in padding --padding; do
        says 0 "mirrored" help $o
        [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"--padding zero|"*"the default is mirror; for apply, deglare, farm, plan, bench. " ]]
    done
    says 0 "75          Temporary failure" help exit
}

@test "the version: --version, -V, version, and as JSON" {
    says 0 "fftbloom " --version
    text=$output
    for w in -V version; do [ "$("$FFTBLOOM" $w)" = "$text" ]; done
    "$FFTBLOOM" --version --json | holds - 'd["version"] == 1 and d["program"] == "fftbloom " + d["release"]' \
        'set(d["libraries"]) == {"vulkan", "openexr", "opencolorio"}'
    [ "$("$FFTBLOOM" version --json)" = "$("$FFTBLOOM" --version --json)" ]
}

@test "flags: --name value, --name=value, - for _, short, --no-, and the last one wins" {
    value "0.5 flag --amount" amount --amount 0.5
    value "0.5 flag --amount=0.5" amount --amount=0.5
    value '"float" flag --half-overflow' half_overflow --half-overflow float
    value '"float" flag --half_overflow' half_overflow --half_overflow float
    value '"x.exr" flag -o' output -o x.exr
    value '"x.exr" flag -ox.exr' output -ox.exr
    value '"replace" default' existing
    value '"skip" flag --existing' existing --existing skip
    value "true flag --stamp" stamp --stamp
    value "false flag --no-stamp" stamp --stamp --no-stamp
    value "false flag --stamp=false" stamp --stamp=false
    value "0.25 flag --amount" amount --amount 0.5 --amount 0.25
    value '"mirror" flag --padding' padding --padding mirror
    value '["mirror", "wrap"] flag --padding' padding --padding mirror,wrap
    # -- ends options.
    [ "$("$FFTBLOOM" plan --print-config -- -in.exr --kernel | awk '$1 == "input" { print $2 }')" = '"-in.exr"' ]
}

@test "flags win over variables, these over the file, this over defaults; arguments stand for input and kernel" {
    echo '{"version": 1, "jobs": 1, "sharpen": 0.1}' >look.json
    echo '{"version": 1, "input": "a.exr", "kernel": "k.exr"}' >files.json
    mkdir looks
    echo '{"version": 1, "kernel": "k.exr", "report": "/abs"}' >looks/a.json
    value "0 default" jobs
    value "1 look.json:1:24" jobs --config look.json
    value '"b.exr" argument IN' input b.exr --config files.json
    value '"k.exr" files.json:1:44' kernel b.exr --config files.json
    # Paths of a config file are meant from its folder.
    value '"looks/k.exr" looks/a.json:1:26' kernel --config looks/a.json
    value '"/abs" looks/a.json:1:45' report --config looks/a.json
    export FFTBLOOM_JOBS=2
    value "2 environment FFTBLOOM_JOBS" jobs --config look.json
    value "3 flag --jobs" jobs --config look.json --jobs 3
    value "3 flag --jobs" jobs --jobs 3 --config look.json
    # A file that a variable names is read as one that a flag names.
    export FFTBLOOM_CONFIG=look.json
    value "0.9 look.json:1:38" amount
    value "0.7 flag --amount" amount --amount 0.7
}

@test "amount is a fraction or a percentage, and sharpen its complement in files" {
    echo '{"version": 1, "amount": "25%"}' >percent.json
    value "0.3 flag --amount" amount --amount 30%
    value "0.25 percent.json:1:26" amount --config percent.json
    value "0.5 flag --amount" amount --config percent.json --amount 0.5
    "$FFTBLOOM" plan a.exr --amount 0.5 --print-config --json | holds - \
        'd["amount"] == {"value": 0.5, "origin": "flag --amount"} and d["kernel"]["value"] is None'
    # A config can come through a pipe.
    says 0 0.125 plan --print-config --json --config <(echo '{"version": 1, "threshold": 0.125}')
}

@test "slips in commands, flags, values and config files: 64, with the nearest name or the place" {
    printf '{\n  "version": 1,\n  "sharpen": 2\n}\n' >range.json
    echo '{"version": 1, "kernel": "-"}' >pipe.json
    each refused <<'T'
64 | unknown command 'plna'; did you mean 'plan'? | plna a.exr b.exr
64 | 'blom' is neither a command nor a file | blom scene.exr
64 | 'blom' is neither a command nor a file | blom
64 | did you mean 'completion'? | complteion
64 | did you mean 'schema'? | help schma
64 | did you mean | help appply
64 | did you mean --padding? | a.exr b.exr -o c.exr --paddin zero
64 | it is for apply | schema --padding zero
64 | | a.exr b.exr -z
64 | | a.exr b.exr --no-padding
64 | | a b -o c --padding mirror,wrap,zero
64 | -o needs a value: OUT | a.exr b.exr -o
64 | | a.exr b.exr -o --amount 0
64 | 'c.exr' | a.exr b.exr c.exr -o d.exr
64 | OUT (--output) | a.exr b.exr
64 | KERNEL | a.exr -o c.exr
64 | | completion
64 | amount must be a fraction from 0 to 1, or a percentage (30%), not '-1' | a b -o c --amount -1
64 | range.json:3:14: sharpen | a b -o c --config range.json
64 | --json needs a value: FILE; write --json FILE, or --json - for standard output | check suite.json --json
64 | 'room.exr' is an image, and check takes a suite, a JSON file of cases (docs/suites.md) | check room.exr
64 | --to must be one of slurm, openjd, not 'deadline'; docs/farm.md says how Deadline and others run fftbloom | farm a.####.exr k.exr -o b.####.exr --to deadline
64 | there is no model or recipe 'mofat'; did you mean 'moffat'? | kernel make mofat -o o.exr
64 | blades of the model star must be a whole number from 3 to 32, not '0x6' | kernel make star --param blades=0x6 -o o.exr
64 | --taps 0x40: a side must have 1 to 32768 taps | kernel make star --taps 0x40 -o o.exr
66 | none.json | a b -o c --config none.json
64 | --mem-limit 8 is 8 bytes; did you mean 8GB? | a b -o c --mem-limit 8
64 | from 0.001 to 1000, not '50%'; write 0.5 | a b -o c --kernel-scale 50%
64 | '0,5'; write 0.5 | a b -o c --kernel-scale 0,5
64 | '0,5' | a b -o c --amount 0,5
64 | --amount must be from 0 to 1, not 150%: a kernel spreads the light that there is; to add glare, write it apart with --emit additive | a b -o c --amount 150%
64 | --amount must be from 0 to 1, not 50; did you mean 50%? | a b -o c --amount 50
64 | --amount must be from 0 to 1, not 200: a kernel spreads | a b -o c --amount 200
# Standard input and output where they are not supported.
64 | kernel is '-': standard input | a.exr - -o o.exr
64 | standard output needs a format: exr:- | kernel make star -o -
64 | '-': standard input is not supported | info -
64 | '-': standard input is not supported | diff a.exr -
64 | '-': standard input is not supported | kernel check -
64 | pipe.json:1:26: kernel is '-' | a.exr -o o.exr --config pipe.json
T
    FFTBLOOM_JOBS=x refused 64 "FFTBLOOM_JOBS: jobs" a b -o c
    FFTBLOOM_MEM_LIMIT=2 refused 64 "FFTBLOOM_MEM_LIMIT: mem_limit 2 is 2 bytes; did you mean 2GB?" a b -o c
}

@test "names that are no options of the command are pointed to the right place" {
    local a="a.exr k.exr -o o.exr"
    each refused <<'T'
64 | apply takes no option --sharpen; did you mean --amount? (sharpen is 1 minus the amount, and a key of config files) | $a --sharpen 0.5
64 | apply takes no option --emit-leyer; did you mean --emit-layer? | $a --emit-leyer x
64 | apply takes no option --amunt; did you mean --amount? | $a --amunt 1
64 | write --param blades=VALUE | kernel make star --blades 7
64 | apply takes no option --qqqqqqqq; see 'fftbloom help apply' | $a --qqqqqqqq 15
64 | apply takes no option --warm-up; it is for bench | $a --warm-up 1
64 | bench takes no option --layers; it is for apply, deglare, farm, plan, info | bench --layers rgba
T
}

@test "keys of a config file that have no effect in any command get a warning with their line" {
    local a="in.exr kernel.exr -o o.exr --device cpu"
    cp "$FFTBLOOM_ROOT/testdata/small.exr" in.exr
    cp "$FFTBLOOM_ROOT/testdata/kernel.exr" kernel.exr
    printf '{"version": 1, "emit": "source",\n "knee": 0.5, "clip": 3, "view": "film", "padding": "zero"}' >idle.json
    echo '{"version": 1, "knee": 0, "threshold": 0, "emit": "glare"}' >presets.json
    echo '{"version": 1, "amount": 0, "tint": [1, 2, 1]}' >none.json
    for run in "$a" "plan in.exr kernel.exr" "precompute kernel.exr -o k.spectrum"; do
        run "$FFTBLOOM" $run --config idle.json
        [ "$status" = 0 ]
        grep -qF "idle.json:1:24: emit has no effect without --emit-layer or --emit-file" <<<"$output"
        grep -qF "idle.json:2:10: knee has no effect without --threshold" <<<"$output"
        [ "$(grep -c 'has no effect' <<<"$output")" = 2 ]
    done
    run "$FFTBLOOM" $a --config idle.json --threshold 1 --emit-layer g
    [ "$status$output" = 0 ]
    # The command line may take an effect away from what a file serves others with.
    run "$FFTBLOOM" $a --config idle.json --amount 0 --threshold 0 --emit-layer g
    [ "$status$output" = 0 ]
    run "$FFTBLOOM" $a --config presets.json
    [ "$status$output" = 0 ]
    run "$FFTBLOOM" $a --config none.json
    [ "$status" = 0 ]
    grep -qF "none.json:1:37: tint has no effect with --amount 0" <<<"$output"
}

@test "options that have no effect in the command as given: 64" {
    local a="a.exr k.exr -o o.exr" f="farm a.####.exr k.exr -o o.####.exr"
    mkdir folder
    echo '{"amount": 0, "nan": "error", "version": 1}' >nan.json
    each refused <<'T'
64 | --knee has no effect without --threshold | $a --knee 1
64 | --knee has no effect without --threshold | plan a.exr k.exr --knee 1
64 | --tint has no effect with --amount 0 | $a --amount 0 --tint 1,1,2
64 | --kernel-turn has no effect with --amount 0 | $a --amount 0 --kernel-turn 90
64 | --pixel-aspect has no effect with --amount 0 | $a --amount 0 --pixel-aspect 2
64 | nan.json:1:22: nan has no effect with --amount 0 | $a --config nan.json
64 | --padding has no effect with --amount 0 | plan a.exr k.exr --amount 0 --padding zero
64 | --half-overflow has no effect with --pixel-type float | $a --half-overflow error --pixel-type float
64 | --compression has no effect on an output that is not EXR | a.exr k.exr -o o.pfm --compression zip
64 | --compression has no effect on an output that is not EXR | a.pfm k.exr -o folder --compression zip
64 | --emit-layer has no effect on an output that is not EXR | a.exr k.exr -o o.png --emit-layer glare
64 | --exposure has no effect on an output that is not PNG | $a --exposure 2
64 | --wait has no effect without --to slurm | $f --to openjd --wait
64 | --dir has no effect without --to slurm | $f --to openjd --dir x
64 | --args has no effect without --to slurm | $f --to openjd --args=-pgpu
64 | --report has no effect without --wait | $f --report r.json
64 | --progress has no effect without --wait | $f --progress json
64 | --report has no effect in a plan | plan $a --report r.json
64 | --verbose has no effect with --quiet | $a -q -v
64 | --fade has no effect in 'rotate'; it is for make | kernel rotate k.exr 5 -o o.exr --fade 0.5
64 | --param has no effect in 'check'; it is for make | kernel check k.exr --param radius=3
64 | --output has no effect in 'check'; it is for make, | kernel check k.exr -o o.exr
64 | --existing has no effect in 'models'; it is for make, | kernel models --existing skip
64 | --taps has no effect in 'check'; it is for make, | kernel check k.exr --taps 3
64 | --kernel-center has no effect in 'check'; it is for clean | kernel check k.exr --kernel-center peak
64 | --strict has no effect in 'make'; it is for check | kernel make star -o o.exr --strict
64 | --jobs has no effect in 'models'; it is for make, | kernel models --jobs 2
64 | --cache-size has no effect in 'path'; it is for list, trim | cache path --cache-size 0
64 | --abs has no effect without --output | diff a.exr b.exr -abs
64 | --scale has no effect without --output | diff a.exr b.exr -scale 100
64 | --od has no effect without --output | diff a.exr b.exr -od
64 | --bless has no effect with --list | check s.json --list --bless
64 | --stop has no effect with --list | check s.json --list --stop
64 | --junit has no effect with --list | check s.json --list --junit=x
64 | --json has no effect with --list | check s.json --list --json=x
64 | --html has no effect with --list | check s.json --list --html=x
64 | --device has no effect with --list | check s.json --list --device=cpu
64 | --require-cases has no effect with --list | check s.json --list --require-cases=1
T
    says 64 "--json has no effect without --wait" $f --json
    [ ! -e o.exr ]
    # They do no harm in files and variables, which may be for several commands, and none at all
    # where the command only shows what it has read.
    "$FFTBLOOM" plan a.exr --knee 1 --print-config >/dev/null
    echo '{"version": 1, "knee": 1}' >look.json
    says 66 "cannot open" $a --config look.json
}

@test "variables that no command reads are warned of; a value that a kernel refuses: 64" {
    printf 'Pf\n1 1\n-1.0\n\0\0\200?' >a.pfm
    export FFTBLOOM_JOBBS=2 FFTBLOOM_HOME=/opt FFTBLOOM_PADDING=mirror FFTBLOOM_QQ=1 FFTBLOOM_JOBS=1
    run -0 --separate-stderr "$FFTBLOOM" info a.pfm
    echo "$stderr"
    for name in JOBBS PADDING QQ; do
        [[ "$stderr" == *"FFTBLOOM_$name is not a variable of this program; for options there are FFTBLOOM_DEVICE, JOBS, "* ]]
    done
    [ "${#stderr_lines[@]}" -eq 3 ]
    run --separate-stderr "$FFTBLOOM" info a.pfm -q
    [ -z "$stderr" ]
    says 64 "lies outside the kernel" a.pfm a.pfm -o o.pfm --kernel-center 500,500 --report r.json
    holds r.json 'd["exit_status"] == 64'
    echo '{"version": 1, "kernel_center": [500, 500]}' >look.json
    says 64 "lies outside the kernel" a.pfm a.pfm -o o.pfm --config look.json --amount 0.5
}

@test "words that people bring from other programs: 64, and what is meant" {
    local a="a.exr k.exr -o o.exr" word option
    while read -r option words; do
        for word in $words; do
            refused 64 "apply takes no option --$word; did you mean --$option?" $a --$word 1
            refused 64 "; did you mean --$option?" $a --$word=1
        done
    done <<'T'
amount strength intensity mix gain opacity blend
kernel-turn rotate rotation angle
kernel-scale scale size radius
padding border edge edge-mode pad
jobs threads cores
existing overwrite force
frames start end range
device gpu cuda
tint colour color
input-space colorspace color_space iscolorspace
threshold cutoff
knee softness
pixel-type depth
T
    each refused <<'T'
64 | -j4; did you mean --jobs? | $a -j4
64 | -f; did you mean --existing? (a file that is there is replaced by default) | $a -f
64 | --dry-run: 'fftbloom plan' shows what the same line would do | $a --dry-run
64 | --falloff: the kernel decides the shape of the glare | $a --falloff 2
64 | kernel takes no option --size; did you mean --taps? | kernel make star --size 4
64 | check takes no option --threads; did you mean --jobs? | check s.json --threads 2
64 | 'bloom' is neither a command nor a file: blooming needs no command: fftbloom IN KERNEL -o OUT | bloom a k -o b
64 | unknown command 'strength'; did you mean --amount? | help strength
T
    # What the shell makes of s.*.exr, with and without a kernel behind it, and what it left as it was.
    touch s.0998.exr s.0999.exr s.1000.exr a1.exr k1.exr
    each refused <<'T'
64 | 's.0998.exr' and 's.0999.exr' are frames of a sequence, which is one argument, in quotes: 's.####.exr' | s.*.exr k.exr -o o.exr
64 | in quotes: 's.####.exr' | -k k.exr s.*.exr -o o.exr
64 | in quotes: './s.####.exr' | plan ./s.*.exr k.exr
64 | 's.*.exr' is not there; if a sequence is meant, its frame numbers are ####: 's.####.exr' | 's.*.exr' k.exr -o o.exr
64 | one argument too many: 'b.exr' | a1.exr k1.exr b.exr -o o.exr
T
    echo '{"version": 1, "pad": "zero"}' >pad.json
    echo '{"version": 1, "axis_order": "x"}' >axis.json
    echo '{"version": 1, "sharpening": 0.3}' >sharp.json
    echo '{"version": 1, "gpu": true}' >gpu.json
    each refused <<'T'
64 | pad.json:1:16: there is no option "pad"; did you mean "padding"? | $a --config pad.json
64 | there is no option "axis_order"; did you mean "axis"? | $a --config axis.json
64 | there is no option "sharpening"; did you mean "sharpen"? | $a --config sharp.json
64 | there is no option "gpu"; did you mean "device"? | $a --config gpu.json
T
    # The entry of a key that is no flag names none.
    says 0 '"sharpen": T' help sharpen
    [[ "$output" != *--sharpen* && "$(tr -s ' \n' ' ' <<<"$output")" == *"for config files alone. " ]]
}
