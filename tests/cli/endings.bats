# How a sequence ends: frames that fail, --keep-going, the closing line, signals, JSON of failures.

load files

setup_file() {
    shared_folder || return 0
    make_images
}

setup() {
    own_folder
    export FFTBLOOM_DEVICE=cpu
    for i in 1001 1002 1003 1004 1005 1006; do cp in.exr in.$i.exr; done
}

bloom() { run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr "$@"; }
made() { ls out.* | grep -o '[0-9]*' | xargs; }
all_alike() { [ "$(sha256sum out.* | cut -c1-64 | sort -u | wc -l)" -eq 1 ]; }
corrupt() { truncate -s 300 in.$1.exr; } # FRAME

# A sequence so long that a signal comes while frames are made.
many() { python3 -c 'import os, sys
for i in range(1, int(sys.argv[1]) + 1): os.symlink("in.exr", f"s.{i:04d}.exr")' "$1"; }

needs_pty() { python3 -c 'import pty; pty.openpty()' 2>/dev/null || skip "there is no pseudo-terminal"; }

# Runs a command on a terminal of 80 columns and prints what the terminal got. With PRESS=FILE,
# Ctrl-C is typed when the file is there.
on_terminal() {
    cat >terminal.py <<'P'
import fcntl, os, pty, select, signal, struct, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL) # in the background it is ignored
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
press, got = os.environ.get("PRESS"), b""
end = time.time() + 60
while time.time() < end:
    if press and os.path.exists(press):
        os.write(fd, b"\x03")
        press = None
    if not select.select([fd], [], [], 0.01)[0]:
        continue
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    got += data
sys.stdout.buffer.write(got)
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)
P
    python3 terminal.py "$@"
}

# What a terminal shows in the end: the last text of each line.
shown() { python3 -c '
import sys
for line in sys.stdin.buffer.read().decode().split("\n"):
    line = line.rstrip("\r").split("\r\x1b[K")[-1]
    print(line)'; }

@test "--keep-going: a missing, a corrupt and an unreadable frame; the others are made" {
    rm in.1001.exr in.1005.exr
    corrupt 1003
    mkdir in.1005.exr
    bloom --frames 1001-1006 --keep-going --report r.json
    [ "$status" -eq 65 ] # of 1003: 1001 is only missing, 1005 comes later
    [ "$(made)" = "1002 1004 1006" ]
    for i in 1002 1004 1006; do cmp out.$i.exr out.1002.exr; done
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 4 ]
    grep -q "^fftbloom: error: cannot open 'in.1001.exr'" <<<"$stderr"
    grep -q "^fftbloom: error: 'in.1003.exr': .*the file ends at 300" <<<"$stderr"
    grep -q "^fftbloom: error: 'in.1005.exr' is not a regular file" <<<"$stderr"
    [[ "${stderr_lines[-1]}" == "fftbloom: 3 frames in "*" -> out.1001-1006.exr, CPU; 3 failed (1 input missing)" ]]
    holds r.json 'd["exit_status"] == d["error"]["code"] == 65 and "in.1003.exr" in d["error"]["message"]' \
        '[f["state"] for f in d["frames"]] == ["failed", "done"] * 3' \
        '(d["done"], d["failed"]) == (3, 3) and "in.1005.exr" in d["frames"][4]["why"]'
    # The status is that of the first failure in the order of the job, not of the first in time.
    mv in.1003.exr in.1006.exr
    cp in.exr in.1003.exr
    bloom --frames 1001-1006 --keep-going -q
    [ "$status" -eq 66 ]
    [ "${#stderr_lines[@]}" -eq 3 ]
    # With several devices, whose first frames fail.
    rm -r in.1002.exr in.1005.exr out.*
    bloom --frames 1001-1006 --keep-going --device all
    [ "$status" -eq 65 ]
    [ "$(made)" = "1003 1004" ]
}

@test "--frames: of a million frames that are missing a thousand are named, the others counted" {
    rm in.1003.exr
    bloom --frames 1-1000000 --keep-going --report r.json --jobs 1
    [ "$status" -eq 5 ]
    [ "$(made)" = "1001 1002 1004 1005 1006" ]
    [ "$(grep -c "^fftbloom: error: cannot open " <<<"$stderr")" -eq 1000 ]
    grep -qx "fftbloom: error: 998995 more inputs cannot be found" <<<"$stderr"
    [[ "${stderr_lines[-1]}" == *"; 999995 failed (999995 inputs missing)" ]]
    holds r.json '(d["done"], d["failed"], len(d["frames"])) == (5, 999995, 1005)'
    says 66 "999995 inputs cannot be found, the first is 'in.0001.exr'" plan in.####.exr kernel.exr -o out.####.exr --frames 1-1000000 --json
}

@test "what was asked for, and what is there; --keep-going is for sequences, and stops where the kernel cannot be used" {
    mkdir other
    touch other/b.exr other/a.exr other/d.exr other/c.exr other/.e.exr
    echo rubbish >bad.exr
    each refused <<'T'
66 | the folder '.' has no frame 50-60 of 'in.####.exr'; it has 1001-1006 | in.####.exr kernel.exr -o out.####.exr --frames 50-60
66 | no files match 'x.####.exr' in the folder 'other/'; it has 'a.exr', 'b.exr', 'c.exr' and 1 more | other/x.#.exr kernel.exr -o out.####.exr --frames 7
66 | no files match 'x.####.exr' in the folder 'other/'; it has 'a.exr', 'b.exr', 'c.exr' and 1 more | other/x.#.exr kernel.exr -o out.####.exr
66 | cannot search the folder 'none/' for frames | none/x.#.exr kernel.exr -o out.####.exr --frames 7
66 | there is no frame 7 of 'o.##/x.exr' | o.##/x.exr kernel.exr -o out.####.exr --frames 7
65 | bad.exr | in.####.exr bad.exr -o out.####.exr --keep-going
66 | nope.exr | in.####.exr nope.exr -o out.####.exr --keep-going
64 | --keep-going has no effect on a single image | in.exr kernel.exr -o out.exr --keep-going
T
}

@test "the closing line shows the gaps of what was made" {
    rm in.1004.exr
    corrupt 1006
    bloom --keep-going
    [ "$status" -eq 65 ]
    [[ "${stderr_lines[-1]}" == *" -> out.1001-1003,1005-1006.exr, CPU; 1 failed" ]]
}

@test "a frame whose input and kernel are both missing has a missing input" {
    cp kernel.exr k.1001.exr
    run --separate-stderr "$FFTBLOOM" in.####.exr k.####.exr -o out.####.exr --device cpu --frames 1001,1009 --keep-going
    [ "$status" -eq 5 ]
    [[ "$stderr" == *"cannot open 'in.1009.exr'"*"1 failed (1 input missing)" ]]
    # A kernel alone that is missing is no missing input.
    run --separate-stderr "$FFTBLOOM" in.####.exr k.####.exr -o out.####.exr --device cpu --frames 1001-1002 --keep-going
    [ "$status" -eq 66 ]
    [[ "$stderr" == *"kernel: cannot open 'k.1002.exr'"*"1 failed" ]]
}

@test "--keep-going: 5 where only inputs are missing, 0 where nothing fails" {
    rm in.1001.exr in.1004.exr
    bloom --frames 1001-1006 --keep-going --report r.json
    [ "$status" -eq 5 ]
    [[ "${stderr_lines[-1]}" == *"; 2 failed (2 inputs missing)" ]]
    holds r.json '(d["exit_status"], d["done"], d["failed"]) == (5, 4, 2) and "error" not in d'
    warns "" in.####.exr kernel.exr -o out.####.exr --keep-going --frames 1002-1003,1005-1006
    # Without it the first one stops the run, as one error.
    rm out.*
    refused 66 "in.1001.exr" in.####.exr kernel.exr -o out.####.exr --frames 1001-1006 --report r.json
    holds r.json 'd["error"]["code"] == 66 and d["failed"] == 1'
    # An input that cannot be opened although it is there counts as another failure.
    ln -s in.1004.exr in.1004.exr
    bloom --frames 1001-1006 --keep-going
    [ "$status" -eq 66 ]
    [[ "$stderr" == *in.1004.exr*"ymbolic link"* ]]
    [ "$(made)" = "1002 1003 1005 1006" ]
}

@test "--keep-going: a frame that does not fit into the memory, and one with bad pixels" {
    oiiotool --create 3000x2000 3 -d float -o in.1002.exr
    image in.1004.exr 40x30 float 0.1,0.2,0.3 3,3=inf,1,1
    # Not even tiles of it fit.
    pictures() { run --separate-stderr "$FFTBLOOM" in.####.exr kernel.exr -o out.####.png --keep-going --mem-limit 4MB "$@"; }
    pictures --report r.json
    [ "$status" -eq 6 ] # a second run may find more memory, but no better pixels
    [ "$(made)" = "1001 1003 1005 1006" ]
    holds r.json '[f["frame"] for f in d["frames"] if f["state"] == "failed"] == [1002, 1004]' \
        'd["frames"][3]["bad_pixels"]["count"] == 1'
    pictures --frames 1001-1003
    [ "$status" -eq 75 ]
}

@test "gaps in frames that were searched for are one line" {
    local run="in.####.exr kernel.exr -o out.####.exr"
    rm in.1002.exr in.1004.exr in.1005.exr
    warns "fftbloom: frames 1002, 1004-1005 of in.####.exr are missing" $run
    cp in.exr in.1002.exr
    cp in.exr in.1005.exr
    warns "fftbloom: frame 1004 of in.####.exr is missing" $run
    warns "" $run -q
    # Frames that were asked for have no gaps, nor have frames on twos.
    warns "" $run --frames 1001,1003,1006
    rm in.1002.exr in.1006.exr
    warns "" $run
}

@test "a change of the frame size is one note" {
    for i in 1003 1004; do image in.$i.exr 20x10 half 0,0,0; done
    warns "fftbloom: the frame size changes: frame 100" in.####.exr kernel.exr -o out.####.exr --jobs 1
    [[ "$stderr" == *"40 x 30"*"20 x 10"*"; the kernel keeps its size in pixels"* ]]
    warns "frame size changes" in.####.exr kernel.exr -o out.####.exr --jobs 1 --kernel-scale 0.5h
    [[ "$stderr" != *"keeps its size"* ]]
    # A data window that moves in the same frame is none.
    for i in 1003 1004; do image in.$i.exr 20x10+3+3 half 0.1,0.2,0.3 full=40x30; done
    warns "" in.####.exr kernel.exr -o out.####.exr
}

@test "a terminal sees the seconds of what takes more than half of one" {
    needs_pty
    run on_terminal timeout --foreground 4 "$FFTBLOOM" kernel make star -o k.pfm --taps 8192
    [[ "$output" == *"kernel make: 0.5 s"* ]]
}

@test "the closing line and a bar on a terminal, and only where a person looks" {
    needs_pty
    on_terminal "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr >typed
    [[ "$(shown <typed)" =~ ^fftbloom:\ 6\ frames\ in\ [0-9.]+\ s\ \([0-9.]+/s\)\ -\>\ out.1001-1006.exr,\ CPU$ ]]
    on_terminal "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr --existing update >typed
    [ "$(shown <typed)" = "fftbloom: no frame was made; 6 up to date" ]
    on_terminal "$FFTBLOOM" in.exr kernel.exr -o out.exr >typed
    [[ "$(shown <typed)" =~ out.exr:\ [0-9.]+\ s,\ CPU$ ]]
    for o in -q --json '--progress json' '--progress openjd' '--progress none'; do
        on_terminal "$FFTBLOOM" in.####.exr kernel.exr -o out.####.exr $o >typed
        ! grep -q '6 frames in' typed || false
    done
    warns "" in.exr kernel.exr -o out.exr
    warns "" in.####.exr kernel.exr -o out.####.exr
    many 400
    on_terminal "$FFTBLOOM" s.####.exr kernel.exr -o out.####.exr >typed
    grep -aqF $'\r\e[K[' typed
}

@test "errors on a terminal do not share a line with the bar" {
    needs_pty
    many 400
    for i in 0150 0250 0350; do rm s.$i.exr; echo x >s.$i.exr; done
    on_terminal "$FFTBLOOM" s.####.exr kernel.exr -o out.####.exr --keep-going >typed || [ $? -eq 65 ]
    shown <typed >seen
    [ "$(grep -c "^fftbloom: .*error:.* 's.0[123]50.exr'" seen)" -eq 3 ]
    [ "$(grep -c '^\[' seen)" -eq 0 ]
    [[ "$(tail -n 2 seen | head -n 1)" == *"; 3 failed" || "$(tail -n 1 seen)" == *"; 3 failed" ]]
}

@test "Ctrl-C on a terminal: the bar goes, one line says how to go on" {
    needs_pty
    many 4000
    status=0
    PRESS=out.0040.exr on_terminal "$FFTBLOOM" s.####.exr kernel.exr -o out.####.exr >typed || status=$?
    [ "$status" -eq 130 ]
    shown <typed >seen
    grep -qE '^fftbloom: interrupted: [0-9]+ of 4000 written; run the same command with --existing update to continue$' seen
    # It is the last, and a whole line.
    [ -z "$(tail -n 1 seen)" ]
    [ "$(grep -c . seen)" -eq 1 ]
    # Every output is whole, and no temporary file stays.
    all_alike
    [ -z "$(ls -A | grep tmp)" ]
    # What it says is so, but for frames that were put in their place just then.
    n=$(sed -n 's/.*interrupted: \([0-9]*\) of.*/\1/p' seen) there=$(ls out.*.exr | wc -l)
    [ "$n" -le "$there" ]
    [ "$((there - n))" -le 16 ]
    "$FFTBLOOM" s.####.exr kernel.exr -o out.####.exr --frames "1-$n" --existing update --report r.json
    holds r.json 'd["current"] > 0'
}

@test "SIGTERM in a log: the same line, and whole outputs; nothing with -q, --json or for schedulers" {
    many 4000
    stopped() { # options...
        rm -f out.*
        env --default-signal=TERM "$FFTBLOOM" s.####.exr kernel.exr -o out.####.exr "$@" >said 2>&1 &
        local pid=$!
        for i in {1..500}; do [ -e out.0003.exr ] || sleep 0.02; done
        kill -TERM $pid
        status=0
        wait $pid || status=$?
        [ "$status" -eq 143 ]
        [ "$(md5sum out.* | cut -d ' ' -f 1 | sort -u | wc -l)" -eq 1 ] # they are one picture
        [ -z "$(ls -A | grep tmp)" ]
        [ ! -e out.4000.exr ]
    }
    told() { grep -qE "^fftbloom: interrupted: [0-9]+ of 4000 written$1\$" said || { cat said && false; }; }
    stopped --existing update
    told '.*; run the same command again to continue'
    # Without a folder that remembers frames, --existing update would make all of them again.
    (unset FFTBLOOM_CACHE_DIR HOME XDG_CACHE_HOME && stopped)
    told ''
    for o in -q '--json --progress openjd' '--progress json'; do
        stopped $o --frames 3-4000
        ! grep -q interrupted said || false
    done
}

@test "a signal is obeyed where nobody reads the messages" {
    many 4000
    mkfifo pipe
    exec 9<>pipe
    # The pipe is full.
    timeout 1 dd if=/dev/zero of=pipe bs=4096 oflag=nonblock status=none 2>/dev/null || true
    env --default-signal=TERM "$FFTBLOOM" s.####.exr kernel.exr -o out.####.exr 2>pipe 9<&- &
    local pid=$!
    for i in {1..500}; do [ -e out.0003.exr ] || sleep 0.02; done
    [ -e out.0003.exr ]
    kill -TERM $pid
    for i in {1..500}; do kill -0 $pid 2>/dev/null || break; sleep 0.02; done
    ! kill -0 $pid 2>/dev/null || false
    exec 9<&-
}

@test "JSON for every ending, also before the first frame" {
    fails() { # STATUS WORDS arguments...: --json prints an object with the error, and nothing else
        run --separate-stderr "$FFTBLOOM" "${@:3}" --json
        echo "${*:3} -> $status $output $stderr"
        [ "$status" -eq "$1" ]
        [[ "$stderr" == "fftbloom: error: "*"$2"* ]]
        SAID=$stderr holds - "d['version'] == 1 and d['exit_status'] == $1 == d['error']['code']" \
            '__import__("os").environ["SAID"].endswith(d["error"]["message"])' <<<"$output"
    }
    echo '{"paddin": "mirror"}' >look.json
    each fails <<'T'
66 | nope | in.exr nope.exr -o out.exr
66 | nope | nope.exr kernel.exr -o out.exr
66 | nope | nope.####.exr kernel.exr -o out.####.exr
64 | padding | in.exr kernel.exr -o out.exr --paddin mirror
64 | kernel | in.exr kernel.exr -o kernel.exr
64 | OUT | in.exr kernel.exr
64 | lies outside | in.exr kernel.exr -o out.exr --kernel-center 500,500
74 | no | in.exr kernel.exr -o no/out.exr
64 | look.json | in.exr kernel.exr -o out.exr --config look.json
66 | nope | plan nope.exr kernel.exr
66 | nope | info nope.exr
T
    [ ! -e out.exr ]
    # Where the result says what is wrong, it is the one object.
    "$FFTBLOOM" precompute kernel.exr -o k.spectrum
    printf x | dd of="$(ls cache/spectra/*)" bs=1 seek=200 conv=notrunc status=none
    run -65 --separate-stderr "$FFTBLOOM" cache verify --json
    holds - '"error" not in d' <<<"$output"
    # --report, the same.
    says 66 "" in.exr nope.exr -o out.exr --report r.json
    holds r.json 'd["exit_status"] == 66 and "nope.exr" in d["error"]["message"] and d["frames"] == []' \
        'd["settings"]["kernel"] == "nope.exr"'
    # A success has no error.
    "$FFTBLOOM" in.exr kernel.exr -o out.exr --report r.json
    holds r.json '"error" not in d and d["exit_status"] == 0'
    # The report of a run that is refused replaces no other file.
    md5sum kernel.exr in.1003.exr >before
    each refused <<'T'
64 | | in.exr kernel.exr -o out.exr --report kernel.exr
64 | | in.####.exr kernel.exr -o out.exr --report in.1003.exr
64 | | in.####.exr kernel.exr -o out.####.exr --frames 5-1 --report in.1003.exr
T
    md5sum --quiet -c before
}

@test "--progress json: one object a line, with frame and state, also of frames that fail" {
    rm in.1002.exr
    bloom --frames 1001-1006 --keep-going --existing update --progress json -q
    bloom --frames 1001-1006 --keep-going --existing update --progress json -q
    [ "$status" -eq 5 ]
    [ -z "$output" ]
    { echo '['; grep -v '^fftbloom: error: ' <<<"$stderr" | sed '$!s/$/,/'; echo ']'; } >progress.json
    holds progress.json '[x["done"] for x in d] == list(range(1, 7)) and all(x["total"] == 6 for x in d)' \
        'sorted((x["frame"], x["state"]) for x in d) == [(i, "failed" if i == 1002 else "current") for i in range(1001, 1007)]' \
        'all(x["seconds"] >= 0 and x["left"] >= 0 and x["step"] == "out.%d.exr" % x["frame"] for x in d)'
    # To a descriptor that the caller opened, and to no other.
    bloom --frames 1001,1003 --progress json:7 7>progress.json
    [ "$status" -eq 0 ]
    [[ "$stderr" != *'"done"'* ]]
    [ "$(grep -c '"done": [12],' progress.json)" -eq 2 ]
    refused 64 "--progress json:777: this descriptor is not open" in.exr kernel.exr -o out.exr --progress json:777
}
