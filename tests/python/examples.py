"""examples.py PAGE NUMBER: runs one of the examples of docs/python.md in this folder; 77: a module is missing."""
import re
import sys

with open(sys.argv[1]) as page:
    code = re.findall(r"(?ms)^```python\n(.*?)^```", page.read())
if len(sys.argv) < 3:
    print(len(code))
    sys.exit()
try:
    exec(compile(code[int(sys.argv[2])], sys.argv[1], "exec"), {"__name__": "example"})
except ModuleNotFoundError as e:
    print(e)
    sys.exit(77)
