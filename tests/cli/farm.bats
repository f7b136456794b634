# farm: a sequence as the tasks of a scheduler. Slurm is played by a fake sbatch and squeue that run
# the array at once; where Slurm itself and a way to start it are at hand, it is tried, too.

load files

setup_file() {
    needs_program oiiotool
    export FILES=$(mktemp -d "$TEST_TMP/XXXXXX")
    cd "$FILES"
    image in.exr 24x16 half 0.1,0.2,0.3 7,9=50,40,30 -- kernel.exr 5x5 float 0.01,0.01,0.02 2,2=1,1,1
}

setup() {
    dir=$(mktemp -d "$TEST_TMP/XXXXXX")/"a job's folder"
    mkdir "$dir"
    cd "$dir"
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
[ -n "$FAKE_SAYS" ] && { printf '%s\n' "$FAKE_SAYS" >&2; exit 1; }
cd "$(sed -n 's/^#SBATCH --chdir="\(.*\)"$/\1/p' "$script")" || exit 1
last=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
log=$(sed -n 's/^#SBATCH --output="\(.*\)"$/\1/p' "$script")
for i in $(seq 0 "$last"); do
    name=${log//%%/$'\x01'} name=${name//%a/$i}
    [ "$i" = "$FAKE_KILLS" ] || SLURM_ARRAY_TASK_ID=$i bash "$script" >"${name//$'\x01'/%}" 2>&1
done
echo "77;cluster"
S
    printf '#!/bin/bash\nexit 0\n' >bin/squeue
    chmod +x bin/*
    export FAKE_LOG=$dir/sbatch.log
    PATH=$dir/bin:$PATH
}

SEQUENCE="farm in/a.####.exr kernel.exr -o out/b.####.exr"
job() { "$FFTBLOOM" $SEQUENCE --to slurm --chunk 3 "$@"; }
job_says() { says "$1" "$2" $SEQUENCE --to slurm --chunk 3 "${@:3}"; } # STATUS WORDS arguments...
made() { [ "$(ls out | grep -o '[0-9]*' | xargs)" = "$*" ] || { ls out; return 1; }; }
ALL="1001 1002 1003 1005 1007 1009 1010"

@test "--dry-run prints the script: chunks of frames, settings as flags, and does nothing" {
    job --dry-run --amount 0.5 --existing skip --args "-p gpu --mem=4G" >job.sh
    bash -n job.sh
    grep -qx '#SBATCH --array=0-2' job.sh
    grep -qx '#SBATCH -p gpu --mem=4G' job.sh
    [ "$(sed -n '/^frames=(/,/^)/p' job.sh | xargs)" = "frames=( 1001-1003 1005-1009x2 1010 )" ]
    grep -qF -- "'--amount=0.5'" job.sh
    grep -qF -- "'--existing=update'" job.sh
    [ ! -e sbatch.log ]
    made ""
    # A task of it by hand: its report has a folder only once the job is submitted.
    mkdir -p "$(sed -n 's/^#SBATCH --output="\(.*\)\/log.*$/\1/p' job.sh)"
    SLURM_ARRAY_TASK_ID=1 bash job.sh
    made 1005 1007 1009
    # Not as a task: refused.
    run bash job.sh
    [ "$status" -ne 0 ]
}

@test "submitted and waited for: the frames of one machine, one report, and nothing twice" {
    run -0 --separate-stderr job --wait --report all.json
    [ -z "$output" ]
    [[ "$stderr" == *"job 77: 7 frames in 3 tasks"* ]]
    made $ALL
    "$FFTBLOOM" in/a.1005.exr kernel.exr -o one.exr
    cmp one.exr out/b.1005.exr
    holds all.json '(d["done"], d["failed"], d["exit_status"], len(d["tasks"])) == (7, 0, 0, 3)' \
        '[f["frame"] for t in d["tasks"] for f in t["frames"]] == [1001, 1002, 1003, 1005, 1007, 1009, 1010]'
    # Again: nothing is left, and nothing is submitted.
    job_says 0 "nothing is left to do" --wait
    [ "$(wc -l <sbatch.log)" -eq 1 ]
    # Other settings make all frames again; if a frame is gone, only that one is made.
    job_says 0 "7 frames in 3 tasks" --dry-run --amount 0.5
    rm out/b.1007.exr
    job_says 0 "1 frames in 1 tasks" --dry-run
    [[ "$output" == *"    1007"* ]]
    job_says 0 ""
    made $ALL
    # Options of a config file that have no effect beside the others do not stop the tasks.
    echo '{"version": 1, "knee": 0.5, "sharpen": 0.25}' >look.json
    rm out/*
    job_says 0 "" --wait --config look.json
    made $ALL
    grep -qF "'--amount=0.75'" fftbloom-farm/*/job.sh
}

@test "a task that fails, and one that is killed: their statuses, and the rest the next time" {
    truncate -s 200 in/a.1005.exr
    job_says 65 "1 frames failed" --wait --report all.json
    # The other tasks did theirs; frames of this one that were under way are finished.
    [ "$(ls out | wc -l)" -ge 4 ]
    [ ! -e out/b.1005.exr ]
    grep -q a.1005.exr fftbloom-farm/*/log.1.txt
    cp "$FILES"/in.exr in/a.1005.exr
    rm out/*
    FAKE_KILLS=2 job_says 75 "task 2 left no report" --wait --report all.json
    job_says 0 "" --wait --report all.json
    made $ALL
    holds all.json '(d["done"], d["current"]) == (1, 6)'
}

@test "--keep-going reaches the tasks: all other frames of a chunk are made" {
    local some="--frames 1001-1003,1005,1007,1009-1010 --chunk 4 --wait --report all.json --keep-going"
    rm in/a.1002.exr
    echo rubbish >in/a.1005.exr
    job_says 65 "" $some
    made 1001 1003 1007 1009 1010
    holds all.json '(d["done"], d["failed"], d["exit_status"]) == (5, 2, 65)' '[t["exit_status"] for t in d["tasks"]] == [65, 0]'
    cp in/a.1001.exr in/a.1005.exr
    job_says 5 "" $some
    [ -e out/b.1005.exr ]
}

@test "what cannot be: no sequence, a bad folder, no sbatch, one that refuses or is not configured" {
    refused 64 "needs a sequence" farm in/a.1001.exr kernel.exr -o out/b.exr --to slurm
    job_says 64 "" --args $'-p x\nrm'
    : >file
    run job --dir file/x
    [ "$status" -ne 0 ]
    FAKE_FAILS=1 job_says 75 "exit status 1"
    local configured='sbatch: fatal: Could not establish a configuration source'
    FAKE_SAYS=$'sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\nsbatch: error: fetch_config: DNS SRV lookup failed\n'$configured \
        job_says 69 "sbatch says 'Could not establish a configuration source'"
    [ "$(grep -vc 'are missing$' <<<"$output")" -eq 1 ]
    # A report is written of that, too.
    FAKE_SAYS=$configured job_says 69 "" --wait --report all.json
    holds all.json 'd["error"]["code"] == d["exit_status"] == 69'
    local failed='sbatch: error: Batch job submission failed:'
    FAKE_SAYS="$failed Socket timed out on send/recv operation" job_says 75 "'Batch job submission failed: Socket timed out"
    FAKE_SAYS="$failed Invalid partition name specified" job_says 64 ""
    FAKE_SAYS=$'sbatch: unrecognized option \'--bogus\'\nTry "sbatch --help" for more information' \
        job_says 64 "it says 'sbatch: unrecognized option '--bogus''"
    made ""
    # Words of a Slurm plugin beside the number are not taken for the number.
    mv bin/sbatch bin/real
    printf '#!/bin/bash\necho "sbatch: lua: 3 GPUs are free" >&2\nexec "${0%%/*}/real" "$@"\n' >bin/sbatch
    chmod +x bin/sbatch
    run -0 --separate-stderr job
    [ "$output" = 77 ]
    rm bin/sbatch
    command -v sbatch || job_says 69 "--dry-run" --amount 0.5
}

@test "names and folders reach a script quoted, or are refused before anything is written" {
    for bad in $'x\ntouch pwned' $'x\e[31m' 'q" --wrap="touch pwned' 'back\slash'; do
        job_says 64 "cannot stand in a " --dry-run --dir "$bad"
    done
    mkdir $'line\nend'
    (cd $'line\nend' && ln -s ../in ../out ../kernel.exr . && job_says 64 "cannot stand in a job" --dry-run)
    job_says 64 "" --args $'-p x\e[31m'
    # Blanks and patterns of Slurm are only names. The fake sbatch reads %a and %% as Slurm does.
    job_says 0 "" --dir 'shot_%j, 50% --wrap=x/' --wait
    grep -qx '#SBATCH --job-name=bloom-b-1001-1010' 'shot_%j, 50% --wrap=x/job.sh'
    "$FFTBLOOM" farm in/a.####.exr kernel.exr -o 'out/%j, x.$F4.exr' --to slurm --dry-run | grep -qx '#SBATCH --job-name=bloom-_j__x-1001-1010'
    [ "$(ls 'shot_%j, 50% --wrap=x' | xargs)" = "job.sh log.0.txt log.1.txt log.2.txt report.0.json report.1.json report.2.json" ]
    [ ! -e pwned ]
}

@test "each output has a farm folder of its own, and files of others stay" {
    mkdir a b
    for o in a b; do
        says 0 "" farm in/a.####.exr kernel.exr -o $o/f.####.exr --to slurm --wait --report $o.json
    done
    [ "$(ls -d fftbloom-farm/f.____.exr-* | wc -l)" -eq 2 ]
    # By another way to the same output it is the same folder.
    local folder=$(grep -l -e --output=a/f fftbloom-farm/*/job.sh | xargs -d '\n' dirname)
    (cd a && rm f.1001.exr && says 0 "" farm ../in/a.####.exr ../kernel.exr -o f.####.exr --to slurm --dir "../$folder")
    # One folder for two outputs would mix their reports.
    job_says 0 "" --dir mine
    says 74 "not of this output's job" farm in/a.####.exr kernel.exr -o b/g.####.exr --to slurm --dir mine
    # Reports and scripts that are not ours are neither replaced nor removed.
    for name in job.sh report.1.json; do
        mkdir theirs
        echo precious >theirs/$name
        says 74 "not of this output's job" farm in/a.####.exr kernel.exr -o b/h.####.exr --chunk 3 --to slurm --dir theirs
        [ "$(cat theirs/*)" = precious ]
        rm -r theirs
    done
}

# Counts its calls, and answers the n-th with line n of the file `answers`: "ok", "tasks", "gone" or
# a sentence of a failure; the last line is the answer from then on.
fake_squeue() {
    printf '%s\n' "$@" >"$dir/answers"
    cat >bin/squeue <<'S'
#!/bin/bash
[ "$1" = --version ] && exit 0
cd "${0%/*}/.." && echo x >>calls
n=$(wc -l <calls) last=$(wc -l <answers)
case $(sed -n "$((n < last ? n : last))p" answers) in
    ok) ;;
    tasks) echo "77_2" ;;
    gone) echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1 ;;
    *) echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1 ;;
esac
S
}

@test "a failure of squeue is not the job's end; an unknown job is" {
    fake_squeue tasks fails fails gone
    job_says 0 "it says 'Unable to contact slurm controller (connect failure)'" --wait --report all.json
    [ "$(wc -l <calls)" -eq 4 ]
    [ "$(grep -c 'will be asked again' <<<"$output")" -eq 1 ]
    # Without squeue nothing is submitted that could not be waited for.
    rm bin/squeue out/*
    before=$(wc -l <sbatch.log)
    command -v squeue || job_says 69 "" --wait
    [ "$(wc -l <sbatch.log)" -eq "$before" ]
}

@test "reports with impossible numbers count as none" {
    cat >bin/squeue <<'S'
#!/bin/bash
[ "$1" = --version ] || sed -i "$FAKE_EDIT" "${0%/*}"/../fftbloom-farm/*/report.1.json
S
    n=1
    for edit in 's/"exit_status": 0/"exit_status": 1e300/' 's/"exit_status": 0/"exit_status": "bad"/' \
        's/"exit_status": 0/"exit_status": 0.5/' 's/"done": 3/"done": -1e99/'; do
        FAKE_EDIT=$edit job_says 75 "task 1 left no report" --wait --report all.json --amount 0.$((n++))
        [[ "$output" == *"numbers that no report has"* ]]
        holds all.json '(d["done"], d["silent"]) == (4, 1)'
    done
}

@test "openjd: a template whose tasks do the same, with a shipped kernel by its name" {
    "$FFTBLOOM" $SEQUENCE --to openjd --chunk 3 --amount 0.5 >template.json
    cat >play.py <<'P'
import json, re, subprocess
t = json.load(open("template.json"))
assert t["specificationVersion"] == "jobtemplate-2023-09" and t["extensions"] == ["TASK_CHUNKING"]
assert set(t) == {"specificationVersion", "extensions", "name", "parameterDefinitions", "steps"}
assert t["name"] == "bloom-b-1001-1010", t["name"]
params = {f"Param.{p['name']}": p["default"] for p in t["parameterDefinitions"]}
assert params["Param.Frames"] == "1001-1003,1005-1009:2,1010", params
step, = t["steps"]
task, = step["parameterSpace"]["taskParameterDefinitions"]
assert task["type"] == "CHUNK[INT]" and task["range"] == "{{Param.Frames}}"
assert task["chunks"] == {"defaultTaskCount": 3, "rangeConstraint": "NONCONTIGUOUS"}
run = step["script"]["actions"]["onRun"]
for value in ["1001-1003", "1005-1009:2", "1010"]:
    names = dict(params, **{f"Task.Param.{task['name']}": value})
    fill = lambda s: re.sub(r"\{\{ *([\w.]+) *\}\}", lambda m: names[m[1]], s)
    made = subprocess.run([fill(run["command"])] + [fill(a) for a in run["args"]], cwd="/",
                          capture_output=True, text=True)
    assert made.returncode == 0, made
    assert "openjd_progress: 100" in made.stdout, made.stdout
P
    python3 play.py
    made $ALL
    "$FFTBLOOM" in/a.1010.exr kernel.exr -o one.exr --amount 0.5
    cmp one.exr out/b.1010.exr
    says 64 "" farm in/a.####.exr kernel.exr -o 'out/{{x}}.####.exr' --to openjd
    says 0 '=portrait:0.7 + {{Param.Folder}}/kernel.exr:0.3"' farm in/a.####.exr -k 'portrait:0.7 + kernel.exr:0.3' -o out/b.####.exr --to openjd
    # The cache folder is a parameter, where the user names one; else it is each worker's own.
    grep -qF '"--cache-dir={{Param.Cache}}"' template.json
    grep -qF "\"default\": \"$FFTBLOOM_CACHE_DIR\"" template.json
    run -0 env -u FFTBLOOM_CACHE_DIR XDG_CACHE_HOME="$PWD/home" "$FFTBLOOM" $SEQUENCE --to openjd
    [[ "$output" != *ache* ]]
    says 0 '"--kernel=portrait"' farm in/a.####.exr -k portrait -o out/b.####.exr --to openjd
    # Its recipe is made at the size that was asked for, which a task must know.
    says 0 '"--kernel-scale=0.2"' farm in/a.####.exr -k cross --kernel-scale 0.2 -o out/b.####.exr --to openjd
    "$FFTBLOOM" in/a.1010.exr cross --kernel-scale 0.2 -o one.exr --device cpu --report r.json
    holds r.json 'd["settings"]["kernel_scale"] == 0.2'
}

@test "a field: tasks find the files of its nodes, also where a worker sees the folder elsewhere" {
    mkdir lens
    "$FFTBLOOM" kernel make disc --param radius=2 --taps 9 -o lens/a.exr -q
    "$FFTBLOOM" kernel make streak --taps 9 -o lens/b.exr -q
    echo '{"field": {"x": [0, 1], "y": [0.5], "nodes": [["a.exr", "b.exr:0.5 + a.exr"]]}}' >lens/f.json
    "$FFTBLOOM" apply in/a.1010.exr lens/f.json -o one.exr
    # Slurm's tasks run where the job was submitted, with a field as with a kernel.
    "$FFTBLOOM" farm in/a.####.exr lens/f.json -o out/b.####.exr --to slurm --chunk 3
    made $ALL
    cmp one.exr out/b.1010.exr
    rm out/*
    "$FFTBLOOM" farm in/a.####.exr lens/f.json -o out/b.####.exr --to openjd --chunk 9 >template.json
    mkdir ../worker
    mv in out lens ../worker
    cat >play.py <<'P'
import json, pathlib, re, subprocess
t = json.load(open("template.json"))
names = {f"Param.{p['name']}": p["default"] for p in t["parameterDefinitions"]}
names.update({"Param.Folder": str(pathlib.Path("../worker").resolve()), "Task.Param.Frame": names["Param.Frames"]})
fill = lambda s: re.sub(r"\{\{ *([\w.]+) *\}\}", lambda m: names[m[1]], s)
run = t["steps"][0]["script"]["actions"]["onRun"]
subprocess.run([fill(run["command"])] + [fill(a) for a in run["args"]], cwd="/", check=True)
P
    python3 play.py
    cmp one.exr ../worker/out/b.1010.exr
    # A node that changes makes the frames current no more.
    cp -r ../worker/* .
    run -0 "$FFTBLOOM" farm in/a.####.exr lens/f.json -o out/b.####.exr --to slurm
    "$FFTBLOOM" kernel make disc --param radius=3 --taps 9 -o lens/a.exr -q
    "$FFTBLOOM" farm in/a.####.exr lens/f.json -o out/b.####.exr --to slurm
    ! cmp -s one.exr out/b.1010.exr || false
}

@test "nothing in a job can begin a line, and no name becomes another" {
    printf '{"version":1,"exclude":"x\\nExecutable=/tmp/evil"}' >c.json
    cp kernel.exr $'k\xff.exr'
    for farm in openjd slurm; do
        says 64 "control character" farm in/a.####.exr kernel.exr -o out/b.####.exr --config c.json --to $farm
        says 64 "not UTF-8" farm in/a.####.exr $'k\xff.exr' -o out/b.####.exr --to $farm
        says 64 "not UTF-8" farm in/a.####.exr kernel.exr -o $'out/b\xc3.####.exr' --to $farm
    done
    each says <<'T'
64 | --to must be one of slurm, openjd, not 'template'; docs/farm.md says how | $SEQUENCE --to template
64 | farm takes no option --template | $SEQUENCE --to slurm --template mine.sh
T
}

@test "Deadline: the files of docs/farm.md name a command that makes the frames of a task" {
    sed -n '/^    Plugin=/,/^$/p; /^    Executable=/,/^$/p' "$FFTBLOOM_ROOT/docs/farm.md" >files
    grep -q "^    Frames=1001-1010" files
    words=$(sed -n 's/^    Arguments=//p' files)
    words=${words//<STARTFRAME>/1001} words=${words//<ENDFRAME>/1002}
    says 0 "Progress: 100%" $words
    made 1001 1002
    says 0 "Progress: 100%" $words
}
