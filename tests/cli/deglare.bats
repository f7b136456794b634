#!/usr/bin/env bats
# Glare that is taken away: the round trip, what is told of it, and what is refused.

load files

setup_file() {
    shared_folder || return 0
    image in.exr 40x30 float 0.2,0.3,0.1 7,9=20,30,10 30,20=0,0,0 31,20=0,0,0 30,21=0,0,0 31,21=0,0,0
    image one.exr 1x1 float 1,1,1
    "$FFTBLOOM" kernel crop mist-4 --taps 21 -o kernel.exr -q
    "$FFTBLOOM" in.exr kernel.exr --core 2 -o plate.exr -q --device cpu
    "$FFTBLOOM" in.exr kernel.exr --core 2 --amount 0.6 -o weak.exr -q --device cpu
}

deglare() { # PLATE OPTIONS...
    "$FFTBLOOM" deglare "$1" kernel.exr --core 2 -o out.exr --device cpu --report r.json "${@:2}"
}

solved() { # PYTHON...: conditions on what is told, d
    holds r.json "${@//d[/f[\"deglare\"][}"
}

@test "the round trip: away and back, within the tolerance, verified" {
    deglare plate.exr --verify 50
    solved 'd["core_radius"] == 2 and 0 < d["ratio"] < 1 and d["error_bound"] > 0' \
        'd["blooms"] <= 2 * d["steps"] + 2' \
        'f["promise"]["kept"] and f["verify"]["broken"] == 0' \
        'all(abs(row["gap"]) < 1e-4 for row in f["ledger"])' 'd["negative"] == 0'
    "$FFTBLOOM" diff out.exr in.exr --fail 1e-4
    "$FFTBLOOM" out.exr kernel.exr --core 2 -o again.exr --device cpu
    "$FFTBLOOM" diff again.exr plate.exr --fail 1e-4
}

@test "steps in doubles: a black beside a lamp is within the tolerance; a promise that is not kept is said once" {
    image lamp.exr 40x30 float 0.2,0.3,0.1 7,9=90000,30,10 9,9=1e-6,1e-6,1e-6 10,9=1e-5,0,1e-6
    "$FFTBLOOM" lamp.exr kernel.exr --core 2 -o lamps.exr -q --device cpu --pixel-type half
    deglare lamps.exr --verify 100
    solved 'd["blooms"] <= 2 * d["steps"] + 2' \
        'f["promise"]["kept"] and f["promise"]["precision"] == "float64" and f["verify"]["broken"] == 0'
    run deglare lamps.exr --precision float32
    [ "$(grep -o 'not kept' <<<"$output" | wc -l)" -eq 1 ]
}

@test "a kernel of one tap gives every bit back" {
    "$FFTBLOOM" deglare in.exr one.exr -o out.exr --device cpu
    "$FFTBLOOM" diff out.exr in.exr --fail 0
}

@test "under a mask: the plate outside, a part of the step at its rim, verified; a lamp outside counts" {
    image m.exr 40x30 float 0.2,0.3,0.1,0 7,9=20,30,10,0 20,15=0.1,0.1,0.1,1 21,15=0.1,0.1,0.1,0.3 names=R,G,B,m
    for device in cpu software; do
        has $device || continue
        "$FFTBLOOM" deglare m.exr kernel.exr --core 2 --mask m -o masked.exr --verify 200 --device $device --report r.json
        holds r.json 'f["promise"]["kept"] and f["verify"]["broken"] == 0 and f["verify"]["pixels"] == 200'
        [ "$(python3 "$FFTBLOOM_ROOT/tests/cli/image.py" pixel masked.exr 7 9 R)" = 20 ]
    done
}

@test "too strong a kernel: pixels below zero are told, and cut off with --clamp" {
    says 0 "values below zero, down to -" deglare weak.exr kernel.exr --core 2 -o out.exr --device cpu
    deglare weak.exr
    solved 'd["negative"] > 0 and d["lowest"] < 0' '0.4 < d["amount_for_none"] < 0.75'
    image deep.exr 40x30 float 0.2,0.3,0.1 7,9=-3,30,10
    says 0 "the plate itself has values below zero" deglare deep.exr kernel.exr --core 2 -o out.exr --device cpu
    deglare weak.exr --clamp
    solved 'd["negative"] > 0'
    "$FFTBLOOM" diff out.exr out.exr --fail 0
    holds r.json 'all(row["negative"] < 0 for row in f["ledger"])' \
        'all(abs(row["gap"]) < 1e-4 for row in f["ledger"])'
}

@test "the amount that a black region tells" {
    deglare weak.exr --black 30,20,2,2
    solved 'abs(d["amount"] - 0.6) < 1e-3 and d["amount_error"] >= 0'
    "$FFTBLOOM" diff out.exr in.exr --fail 1e-2
    run deglare weak.exr --black 39,29,2,2
    [ "$status" -eq 64 ]
    [[ "$output" == *"lies outside the image"* ]]
    run deglare weak.exr --black 1,2,3
    [ "$status" -eq 64 ]
    [[ "$output" == *"four whole numbers"* ]]
    run deglare in.exr --black 30,20,2,2
    [ "$status" -eq 65 ]
    [[ "$output" == *"no glare"* ]]
}

@test "lamps that are cut off are counted" {
    image cut.exr 40x30 float 0.2,0.3,0.1 7,9=1,1,1 8,9=1,1,1 20,5=1,1,1
    deglare cut.exr
    solved 'd["clipped"] == 9 and d["clip"] == 1 and d["clip_reach"] >= 1'
    deglare cut.exr --clip off
    solved 'd["clipped"] == 0'
    deglare plate.exr
    solved 'd["clipped"] == 0'
}

@test "a kernel that spreads more than it keeps is refused, with what would do" {
    run "$FFTBLOOM" deglare plate.exr kernel.exr --core off -o no.exr --device cpu
    [ "$status" -eq 64 ]
    [[ "$output" == *"needs to be below 1"* ]]
    core=$(grep -oE 'core=[0-9]+ or' <<<"$output" | grep -oE '[0-9]+')
    amount=$(grep -oE 'amount=[0-9.]+ would' <<<"$output" | grep -oE '[0-9.]+')
    "$FFTBLOOM" plan plate.exr kernel.exr --command deglare --core "$core" --device cpu
    "$FFTBLOOM" plan plate.exr kernel.exr --command deglare --core off --amount "$amount" --device cpu
    [ ! -e no.exr ]
}

@test "options that a plate has no use for: 64" {
    for o in "--threshold 1" "--emit-layer glare" "--window grow" "--command apply"; do
        [[ $("$FFTBLOOM" help deglare) != *" ${o%% *} "* ]]
        [ -z "$("$FFTBLOOM" completion words -- deglare "${o%% *}")" ]
        run deglare plate.exr $o
        [ "$status" -eq 64 ]
        [[ "$output" == *"where glare is taken away"* || "$output" == *"no effect in 'deglare'"* ]]
    done
    for o in "--clip 3" --clamp "--black 1,1,2,2" "--core 2"; do
        run "$FFTBLOOM" deglare plate.exr kernel.exr -o out.exr --amount 0 $o
        [ "$status" -eq 64 ]
        [[ "$output" == "fftbloom: error: ${o% *} has no effect with --amount 0"* ]]
    done
    run deglare plate.exr --amount 0.5 --black 1,1,2,2
    [ "$status" -eq 64 ]
    [[ "$output" == *"--amount has no effect with --black, which finds the amount"* ]]
    run "$FFTBLOOM" in.exr kernel.exr -o out.exr --clamp
    [ "$status" -eq 64 ]
    echo '{"command": "deglare", "threshold": 1}' >c.json
    run "$FFTBLOOM" plate.exr kernel.exr -o out.exr --config c.json
    [ "$status" -eq 64 ]
}

# Blooms an image with these options, and takes the glare away again.
returns() { # IN KERNEL OPTIONS...
    echo "$*"
    "$FFTBLOOM" "$1" "$2" --core 2 -o there.exr -q --device cpu "${@:3}"
    "$FFTBLOOM" deglare there.exr "$2" --core 2 -o back.exr -q --device cpu --verify 10 "${@:3}"
    "$FFTBLOOM" diff back.exr "$1" --fail 1e-3
}

@test "what apply spreads, deglare takes away: borders, kernels, parts, windows, sizes" {
    local o
    image window.exr 40x30-5+3 float 0.2,0.3,0.1 7,9=20,30,10
    image dot.exr 1x1 float 0.2,0.3,0.1
    image row.exr 50x1 float 0.2,0.3,0.1 7,0=20,30,10
    image black.exr 9x9 float 0,0,0
    oiiotool in.exr in.exr --siappend -o parts.exr
    while read -r o; do returns in.exr kernel.exr $o; done <<-'T'
		--padding zero,wrap
		--padding clamp --kernel-scale 1.7
		--kernel-scale 0.3h --kernel-turn 30 --correlate
		--amount 60% --tint 0.5,1,1.5 --precision float64 --spectrum exact
	T
    for o in window dot row black parts; do returns $o.exr kernel.exr --padding wrap; done
}

@test "as with a bloom: sequences, pipes and farms, byte for byte" {
    mkdir o
    for i in 1 2 3; do cp plate.exr p.000$i.exr; done
    deglare plate.exr -q
    "$FFTBLOOM" deglare p.####.exr kernel.exr --core 2 -o o/c.####.exr --frames 1-3x2 --device cpu -q
    [ "$(echo o/*)" = "o/c.0001.exr o/c.0003.exr" ]
    "$FFTBLOOM" farm p.####.exr kernel.exr --command deglare --core 2 -o o/d.####.exr --to openjd >t.json
    python3 - <<-'P' # farm.bats has the schema of a template; its task is run here as a worker does
		import json, re, subprocess
		t = json.load(open("t.json"))
		(step,), names = t["steps"], {"Param." + p["name"]: p["default"] for p in t["parameterDefinitions"]}
		task, = step["parameterSpace"]["taskParameterDefinitions"]
		assert t["specificationVersion"] == "jobtemplate-2023-09" and task["type"] == "CHUNK[INT]"
		names["Task.Param." + task["name"]] = "1-3"
		run = step["script"]["actions"]["onRun"]
		command = [re.sub(r"\{\{ *([\w.]+) *\}\}", lambda m: names[m[1]], a) for a in [run["command"], *run["args"]]]
		assert "--command=deglare" in command
		subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)
	P
    for i in 1 2 3; do "$FFTBLOOM" diff o/d.000$i.exr out.exr --fail 0; done
    "$FFTBLOOM" farm p.####.exr kernel.exr --command deglare --core 2 -o o/c.####.exr --to slurm --dry-run >job.sh
    mkdir -p "$(grep -om1 "$PWD/fftbloom-farm/[^']*" job.sh)"
    SLURM_ARRAY_TASK_ID=0 FFTBLOOM_DEVICE=cpu bash job.sh
    for i in 1 2 3; do "$FFTBLOOM" diff o/c.000$i.exr out.exr --fail 0; done
    "$FFTBLOOM" plate.exr kernel.exr --amount 0 -o plate.pfm -q
    "$FFTBLOOM" out.exr kernel.exr --amount 0 -o out.pfm -q
    cat plate.pfm plate.pfm | "$FFTBLOOM" deglare - kernel.exr --core 2 -o pfm:- --device cpu -q | cmp - <(cat out.pfm out.pfm)
}

@test "a plan: core, tail, ratio, noise and steps" {
    "$FFTBLOOM" plan plate.exr kernel.exr --command deglare --core 2 --device cpu --json >p.json
    holds p.json '"promise" not in d' 'd["deglare"]["steps_at_most"] > 3' \
        '1 < (g := d["deglare"])["noise_gain"] < g["noise_gain_at_most"]' \
        'abs((g := d["deglare"])["noise_gain_at_most"] * (g["core"] - g["tail"]) - 1) < 1e-9' \
        'abs((g := d["deglare"])["tail"] / g["core"] - g["ratio"]) < 1e-9'
}

@test "a plate that does not fit: 75, with both numbers; without room for doubles, floats do what they can" {
    image lamp.exr 500x400 float 0.2,0.3,0.1 7,9=90000,30,10 9,9=1e-6,1e-6,1e-6 10,9=1e-5,0,1e-6
    "$FFTBLOOM" lamp.exr kernel.exr --core 2 -o lamps.exr -q --device cpu --pixel-type half
    local m floats=0
    for m in 32 26 24 22 20 18 16 14; do
        run deglare lamps.exr --mem-limit ${m}MB
        [ "$status" -eq 0 ] || [ "$status" -eq 75 ]
        [[ "$output" != *"not kept: float32"* ]] || floats=$((floats + 1))
    done
    [ $floats -gt 0 ]
    image big.exr 3000x2000 half 0.2,0.3,0.1
    run "$FFTBLOOM" deglare big.exr kernel.exr -o out.exr --device cpu --mem-limit 150MB
    [ "$status" -eq 75 ]
    [[ "$output" == *"GB of memory"*"are allowed"* ]]
}

@test "update knows whether a frame was bloomed or solved, and a suite has the command" {
    "$FFTBLOOM" plate.exr kernel.exr --core 2 -o u.exr --existing update --device cpu -q
    "$FFTBLOOM" deglare plate.exr kernel.exr --core 2 -o u.exr --existing update --device cpu --report r.json
    holds r.json 'f["state"] == "done"'
    "$FFTBLOOM" deglare plate.exr kernel.exr --core 2 -o u.exr --existing update --device cpu --report r.json
    holds r.json 'f["state"] != "done"'
    cat >s.json <<-'S'
		{"version": 1, "cases": [{"name": "away", "reference": "in.exr",
		            "command": "deglare", "config": {"input": "plate.exr", "kernel": "kernel.exr", "core": 2}, "fail": 1e-3}]}
	S
    "$FFTBLOOM" check s.json --device cpu
}
