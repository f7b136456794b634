#!/usr/bin/env bats
# --farm: a sequence as the tasks of a scheduler. Slurm is played by a fake sbatch and squeue that run
# the array at once; where Slurm itself and a way to start it are at hand, it is tried, too.

bats_require_minimum_version 1.5.0

setup_file() {
    command -v oiiotool >/dev/null || skip "oiiotool is not installed"
    export FILES=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$FILES"
    oiiotool --create 24x16 3 --fill:color=0.1,0.2,0.3 24x16 --point:color=50,40,30 7,9 -d half -o in.exr
    oiiotool --create 5x5 3 --fill:color=0.01,0.01,0.02 5x5 --point:color=1,1,1 2,2 -d float -o kernel.exr
}

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")/"a job's folder"
    mkdir "$dir" && cd "$dir"
    cp "$FILES"/kernel.exr .
    mkdir in out
    for i in 1001 1002 1003 1005 1007 1009 1010; do cp "$FILES"/in.exr in/a.$i.exr; done
    export FFTBLOOM_CACHE_DIR=$dir/cache
    mkdir bin
    # Takes the array's bounds from the script and runs its tasks one after the other.
    cat >bin/sbatch <<'S'
#!/bin/bash
script=${!#}
echo "$@" >>"$FAKE_LOG"
[ -n "$FAKE_FAILS" ] && exit 1
cd "$(sed -n 's/^#SBATCH --chdir="\(.*\)"$/\1/p' "$script")" || exit 1
last=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
log=$(sed -n 's/^#SBATCH --output="\(.*\)"$/\1/p' "$script")
for i in $(seq 0 "$last"); do
    [ "$i" = "$FAKE_KILLS" ] || SLURM_ARRAY_TASK_ID=$i bash "$script" >"${log//%a/$i}" 2>&1
done
echo "77;cluster"
S
    printf '#!/bin/bash\nexit 0\n' >bin/squeue
    chmod +x bin/*
    export FAKE_LOG=$dir/sbatch.log
    PATH=$dir/bin:$PATH
}

python=/usr/bin/python3
job() { "$FFTBLOOM" in/a.####.exr kernel.exr -o out/b.####.exr --farm slurm --chunk 3 "$@"; }

@test "--dry-run prints the script: chunks of frames, settings as flags, and does nothing" {
    job --dry-run --sharpen 0.5 --no-clobber --farm-args "-p gpu --mem=4G" >job.sh
    bash -n job.sh
    grep -qx '#SBATCH --array=0-2' job.sh
    grep -qx '#SBATCH -p gpu --mem=4G' job.sh
    [ "$(sed -n '/^frames=(/,/^)/p' job.sh | xargs)" = "frames=( 1001-1003 1005-1009x2 1010 )" ]
    grep -qF -- "'--sharpen=0.5'" job.sh
    grep -qF -- "'--clobber=false'" job.sh
    [ ! -e sbatch.log ]
    [ -z "$(ls out)" ]
    # A task of it by hand: its report has a folder only once the job is submitted.
    mkdir -p fftbloom-farm/b.____.exr
    SLURM_ARRAY_TASK_ID=1 bash job.sh
    [ "$(ls out | xargs)" = "b.1005.exr b.1007.exr b.1009.exr" ]
    # Not as a task: refused.
    run bash job.sh
    [ "$status" -ne 0 ]
}

@test "submitted and waited for: the frames of one machine, one report, and nothing twice" {
    run --separate-stderr job --wait --report all.json
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ "$stderr" == *"job 77: 7 frames in 3 tasks"* ]]
    [ "$(ls out | wc -l)" -eq 7 ]
    "$FFTBLOOM" in/a.1005.exr kernel.exr -o one.exr
    cmp one.exr out/b.1005.exr
    "$python" - <<'P'
import json
d = json.load(open("all.json"))
assert (d["done"], d["failed"], d["exit_status"], len(d["tasks"])) == (7, 0, 0, 3), d
assert [f["frame"] for t in d["tasks"] for f in t["frames"]] == [1001, 1002, 1003, 1005, 1007, 1009, 1010]
P
    # Again: nothing is left, and nothing is submitted.
    run --separate-stderr job --wait
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"nothing is left to do"* ]]
    [ "$(wc -l <sbatch.log)" -eq 1 ]
    # Other settings make all of them anew; a frame that is gone, only that.
    [[ "$(job --dry-run --sharpen 0.5)" == *"7 frames in 3 tasks"* ]]
    rm out/b.1007.exr
    [[ "$(job --dry-run 2>/dev/null)" == *"1 frames in 1 tasks"*"    1007"* ]]
    run job
    [ "$status" -eq 0 ]
    [ -e out/b.1007.exr ]
}

@test "asked for by a variable it is submitted once, not by every task again" {
    FFTBLOOM_FARM=slurm FFTBLOOM_CHUNK=4 run --separate-stderr "$FFTBLOOM" in/a.####.exr kernel.exr -o out/b.####.exr --wait
    [ "$status" -eq 0 ]
    [ "$(wc -l <sbatch.log)" -eq 1 ]
    [ "$(ls out | wc -l)" -eq 7 ]
}

@test "a task that fails, and one that is killed: their statuses, and the rest the next time" {
    head -c 200 "$FILES"/in.exr >in/a.1005.exr
    run --separate-stderr job --wait --report all.json
    [ "$status" -eq 65 ]
    [[ "$stderr" == *"1 frames failed"* ]]
    # The other tasks did theirs; frames of this one that were under way are finished.
    [ "$(ls out | wc -l)" -ge 4 ]
    [ ! -e out/b.1005.exr ]
    grep -q a.1005.exr fftbloom-farm/*/log.1.txt
    cp "$FILES"/in.exr in/a.1005.exr
    rm out/*
    FAKE_KILLS=2 run --separate-stderr job --wait --report all.json
    [ "$status" -eq 75 ]
    [[ "$stderr" == *"task 2 left no report"* ]]
    run --separate-stderr job --wait --report all.json
    [ "$status" -eq 0 ]
    [ "$(ls out | wc -l)" -eq 7 ]
    "$python" -c 'import json; d = json.load(open("all.json")); assert (d["done"], d["current"]) == (1, 6), d'
}

@test "what cannot be: no sequence, no sbatch, an sbatch that refuses, a bad folder" {
    run "$FFTBLOOM" in/a.1001.exr kernel.exr -o out/b.exr --farm slurm
    [ "$status" -eq 64 ]
    [[ "$output" == *"needs a sequence"* ]]
    FAKE_FAILS=1 run job
    [ "$status" -eq 75 ]
    [[ "$output" == *"exit status 1"* ]]
    rm bin/sbatch
    if ! command -v sbatch; then
        run job
        [ "$status" -eq 69 ]
        [[ "$output" == *"--dry-run"* ]]
    fi
    run job --farm-args $'-p x\nrm'
    [ "$status" -eq 64 ]
    : >file
    run job --farm-dir file/x
    [ "$status" -ne 0 ]
    [ -z "$(ls out)" ]
}

@test "openjd: a template whose tasks do the same" {
    "$FFTBLOOM" in/a.####.exr kernel.exr -o out/b.####.exr --farm openjd --chunk 3 --sharpen 0.5 >template.json
    cat >play.py <<'P'
import json, re, subprocess
t = json.load(open("template.json"))
assert t["specificationVersion"] == "jobtemplate-2023-09" and len(t["name"]) <= 128
assert set(t) == {"specificationVersion", "name", "parameterDefinitions", "steps"}
params = {f"Param.{p['name']}": p["default"] for p in t["parameterDefinitions"]}
step, = t["steps"]
task, = step["parameterSpace"]["taskParameterDefinitions"]
assert task["type"] == "STRING" and task["range"] == ["1001-1003", "1005-1009x2", "1010"]
run = step["script"]["actions"]["onRun"]
for value in task["range"]:
    names = dict(params, **{f"Task.Param.{task['name']}": value})
    fill = lambda s: re.sub(r"\{\{ *([\w.]+) *\}\}", lambda m: names[m[1]], s)
    made = subprocess.run([fill(run["command"])] + [fill(a) for a in run["args"]], cwd="/",
                          capture_output=True, text=True)
    assert made.returncode == 0, made
    assert "openjd_progress: 100" in made.stdout, made.stdout
P
    run "$python" play.py
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(ls out | wc -l)" -eq 7 ]
    "$FFTBLOOM" in/a.1010.exr kernel.exr -o one.exr --sharpen 0.5
    cmp one.exr out/b.1010.exr
    run "$FFTBLOOM" in/a.####.exr kernel.exr -o 'out/{{x}}.####.exr' --farm openjd
    [ "$status" -eq 64 ]
}

@test "Slurm itself" {
    up=$FFTBLOOM_ROOT/../shared/peers/slurm-up.sh
    [ -x "$up" ] || [ -f "$up" ] || skip "nothing to start Slurm with"
    rm bin/*
    for tool in slurmctld slurmd munged sbatch bc; do
        PATH=$PATH:/usr/sbin command -v $tool >/dev/null || skip "$tool is not installed"
    done
    export CPUS=2 SLURM_CTLD_PORT=$((20000 + RANDOM % 5000)) SLURM_D_PORT=$((26000 + RANDOM % 5000))
    run=$(mktemp -d /tmp/slurm.XXXXXX)
    chmod 755 "$run"
    PATH=$PATH:/usr/sbin timeout 30 bash "$up" "$run" 3>&- || { rm -rf "$run"; skip "Slurm does not start here"; }
    export SLURM_CONF=$run/slurm.conf
    run timeout 150 "$FFTBLOOM" in/a.####.exr kernel.exr -o out/b.####.exr --farm slurm --chunk 3 --wait --report all.json
    said=$output result=$status
    pids="$(cat "$run"/slurmd.pid "$run"/slurmctld.pid "$run"/munge/pid | xargs)"
    kill $pids
    # They write a last state; then the folder can go.
    for i in $(seq 100); do ps -p "${pids// /,}" >/dev/null || break; sleep 0.1; done
    rm -rf "$run" || true
    echo "$said"
    [ "$result" -eq 0 ]
    [ "$(ls out | wc -l)" -eq 7 ]
    "$python" -c 'import json; assert json.load(open("all.json"))["done"] == 7'
}
