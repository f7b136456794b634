"""Blooms what a Write node of Nuke has written, when its render is over.

Put this file into ~/.nuke, and into ~/.nuke/menu.py the line `import fftbloom_nuke`. Select a Write
node and call `fftbloom_nuke.add_knobs()`: it gets a tab with the kernel and with more options. The
result of `shot.####.exr` is `shot_bloom.####.exr`.
"""
import os
import shlex
import subprocess

import nuke

TAB, KERNEL, OPTIONS = "fftbloom", "fftbloom_kernel", "fftbloom_options"


def add_knobs(node=None):
    """Adds the tab to a Write node: the selected one, unless it is given."""
    node = node or nuke.selectedNode()
    node.addKnob(nuke.Tab_Knob(TAB))
    node.addKnob(nuke.File_Knob(KERNEL, "kernel"))
    node.addKnob(nuke.String_Knob(OPTIONS, "options", "--amount 1"))


def bloomed(path):
    """shots/a.####.exr -> shots/a_bloom.####.exr"""
    folder, name = os.path.split(path)
    stem, dot, rest = name.partition(".")
    return os.path.join(folder, stem + "_bloom" + dot + rest)


def command(node):
    """The command for a Write node, or None where it has no kernel."""
    kernel = node.knob(KERNEL)
    if kernel is None or not kernel.value():
        return None
    path = node["file"].value()
    words = [os.environ.get("FFTBLOOM", "fftbloom"), path, kernel.value(), "-o", bloomed(path)]
    if "%" in path or "#" in path:
        limited = node["use_limit"].value()
        first = node["first"].value() if limited else nuke.root().firstFrame()
        last = node["last"].value() if limited else nuke.root().lastFrame()
        words += ["--frames=%d-%d" % (first, last), "--existing=update"]
    return words + shlex.split(node[OPTIONS].value())


def after_render():
    """Nuke calls this with the Write node as thisNode(). A failure stops the render with a message."""
    words = command(nuke.thisNode())
    if words is None:
        return
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or "fftbloom ended with %d" % done.returncode)


nuke.addAfterRender(after_render, nodeClass="Write")
