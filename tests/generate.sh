#!/bin/sh
# Writes the pages that the program makes of its tables: generate.sh PROGRAM FOLDER
# What stands before the first section of docs/config.md is written by hand and stays.
set -e
prog=$1 out=$2
intro=$(sed '/^## /,$d' docs/config.md)
{
    printf '%s\n\n' "$intro"
    "$prog" docs config
} >"$out/config.md"
"$prog" schema >"$out/config.schema.json"
"$prog" schema suite >"$out/suite.schema.json"
