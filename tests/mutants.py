#!/usr/bin/env python3
"""mutants.py SEED COUNT: draws changes of src/ by lot, makes each alone, and runs the tests beside it.

A line is drawn among all lines of code that have an operator or a constant of CHANGES, then one of
these in it. The tests are the rows of TESTS whose folder the file is in: those that a person would run
after such a change. Prints a line for each mutant: does not build, found, or LIVED. What lived is
looked at by hand: some change nothing that anybody could see. Run it on a tree that is committed."""
import glob, os, random, re, subprocess, sys

CHANGES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
           "+": "-", "-": "+", "true": "false", "false": "true", "0": "1", "1": "2", "min": "max", "max": "min"}
FOUND = re.compile(r"(?<=\s)(<=?|>=?|==|!=|&&|\|\||\+|-)(?=\s)|\b(true|false|0|1)\b|\b(min|max)(?=_u|_i|_s)")
TESTS = {  # the first that fits
    "src/app/check": "test_suite check diff suite", "src/app/farm": "test_slurm farm", "src/app/kernel": "kernel_show kernel_edit sheet kernel",
    "src/app/cli": "test_options test_config options errors apply", "src/app": "test_frames test_record apply sequence endings pipes look",
    "src/base": "test_file test_text test_json test_mem test_par errors apply", "src/bloom": "test_part test_ledger test_solve test_field test_field_cases test_accuracy look comp deglare",
    "src/colour": "test_colour colour", "src/device": "test_device_choice test_device_pool test_device_measure bench", "src/ofx": "test_ofx",
    "src/engine": "test_cpu_engine test_cpu_row test_join test_in_flight", "src/image/exr": "test_exr test_exr_chunk test_exr_zip test_exr_attr test_exr_sound test_corpus test_piz",
    "src/image": "test_formats test_rows test_png test_scan test_layers test_compare test_heat look fields", "src/kernel/make": "test_model test_aperture test_shipped kernel fields",
    "src/kernel": "test_psf test_psf_core test_lint test_spectrum test_spectrum_file test_cache test_edit test_clean kernel_edit",
    "src/lib": "test_lib test_lib_codes test_lib_learn lib", "src/math": "test_plan test_border test_tiling test_lanes test_fft test_noise",
}


def lines():
    for path in sorted(glob.glob("src/**/*.c", recursive=True)):
        for n, line in enumerate(open(path)):
            code = re.sub(r'"(\\.|[^"\\])*"|/\*.*?\*/|//.*|/\*.*', lambda m: " " * len(m[0]), line)
            if not re.match(r"\s*(#|\*|$)", code) and (at := list(FOUND.finditer(code))):
                yield path, n, at


random.seed(int(sys.argv[1]))
for path, n, at in random.sample(list(lines()), int(sys.argv[2])):
    where = random.choice(at)
    whole = open(path).read()
    text = whole.split("\n")
    old = text[n].strip()
    text[n] = text[n][:where.start()] + CHANGES[where[0]] + text[n][where.end():]
    tests = next((t for folder, t in TESTS.items() if path.startswith(folder)), "apply").split()
    groups = [" ".join(t for t in tests if t.startswith("test_") == unit) for unit in (True, False)]
    try:
        open(path, "w").write("\n".join(text))
        run = lambda *command: subprocess.run(command, capture_output=True, timeout=900).returncode
        word = "does not build" if run("make", "-s", "-j2", "all") else "LIVED"
        if word == "LIVED" and any(run("make", "-s", "test", f"ONLY={some}") for some in groups if some):
            word = "found"
    except subprocess.TimeoutExpired:
        word = "found"
    finally:
        open(path, "w").write(whole)
    print(f"{word:14} {path}:{n + 1} {where[0]} -> {CHANGES[where[0]]}: {old}", flush=True)
