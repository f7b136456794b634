"""Stands in for `deadlinecommand JOB_INFO PLUGIN_INFO` and for the worker that runs the job: it reads
both files as Deadline 10 does, cuts the frames into chunks, and runs the CommandLine plugin's
executable once for each. Tasks that fail are not tried again; any failure is the exit status."""
import re
import shlex
import subprocess
import sys


def read(path):
    return dict(line.rstrip("\n").split("=", 1) for line in open(path) if "=" in line)


def frames(text):
    for part in text.split(","):
        first, last, step = re.fullmatch(r"(-?\d+)(?:-(-?\d+)(?:x(\d+))?)?", part).groups()
        yield from range(int(first), int(last or first) + 1, int(step or 1))


job, plugin = read(sys.argv[1]), read(sys.argv[2])
assert job["Plugin"] == "CommandLine" and job["Name"], job
assert plugin["ShellExecute"] == "False", plugin
todo, size, worst = list(frames(job["Frames"])), int(job["ChunkSize"]), 0
while todo:
    chunk = [todo.pop(0)]
    while todo and len(chunk) < size and todo[0] == chunk[-1] + 1:
        chunk.append(todo.pop(0))
    words = plugin["Arguments"]
    for name, value in (("<STARTFRAME>", chunk[0]), ("<ENDFRAME>", chunk[-1]), ("<QUOTE>", '"')):
        words = words.replace(name, str(value))
    task = subprocess.run([plugin["Executable"], *shlex.split(words)], cwd=plugin["StartupDirectory"],
                          capture_output=True, text=True)
    percent = [int(m) for m in re.findall(r"Progress: (\d+)%", task.stdout)]
    print(f"{job['Name']} {chunk[0]}-{chunk[-1]}: exit {task.returncode}, {percent}")
    if task.returncode:
        print(task.stderr, end="")
    worst = worst or task.returncode
sys.exit(worst)
