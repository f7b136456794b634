"""examples.py PAGE [NUMBER...]: runs examples of docs/python.md in this folder, or says how many there are. An example
whose module is missing is said to be skipped; jax has a stand-in."""
import re
import sys

with open(sys.argv[1]) as page:
    code = re.findall(r"(?ms)^```python\n(.*?)^```", page.read())
if len(sys.argv) < 3:
    print(len(code))
    sys.exit()
for number in map(int, sys.argv[2:]):
    if "import jax" in code[number]:
        try:
            import jax
        except ImportError:
            import jax_stand_in
            jax_stand_in.install()
            print("%d: jax is not installed, a stand-in has its place" % number)
    try:
        exec(compile(code[number], sys.argv[1], "exec"), {"__name__": "example"})
        print("%d: ok" % number)
    except ModuleNotFoundError as e:
        print("%d: skipped, %s" % (number, e))
