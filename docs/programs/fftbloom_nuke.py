"""Blooms each frame that a Write node of Nuke has written.

Put this file into ~/.nuke, and into ~/.nuke/menu.py the line `import fftbloom_nuke`. Nuke's Python needs the modules
fftbloom, OpenImageIO and numpy. Select a Write node and call `fftbloom_nuke.add_knobs()`: it gets a tab with the
kernel and its settings. The result of `shot.1001.exr` is `shot_bloom.1001.exr`, with all its other channels and its
metadata.
"""
import functools
import os

import nuke
import OpenImageIO as oiio

import fftbloom

KERNEL, AMOUNT, THRESHOLD, PADDING = "fftbloom_kernel", "fftbloom_amount", "fftbloom_threshold", "fftbloom_padding"


def add_knobs(node=None):
    """Adds the tab to a Write node: the selected one, unless it is given."""
    node = node or nuke.selectedNode()
    node.addKnob(nuke.Tab_Knob("fftbloom"))
    node.addKnob(nuke.File_Knob(KERNEL, "kernel"))  # or a name, such as sunstar
    for name, label, value in ((AMOUNT, "amount", 1.0), (THRESHOLD, "threshold", 0.0)):
        node.addKnob(nuke.Double_Knob(name, label))
        node[name].setValue(value)
    node.addKnob(nuke.Enumeration_Knob(PADDING, "padding", ["mirror", "zero", "clamp", "wrap"]))


def bloomed(path):
    """shots/a.1001.exr -> shots/a_bloom.1001.exr"""
    folder, name = os.path.split(path)
    stem, dot, rest = name.partition(".")
    return os.path.join(folder, stem + "_bloom" + dot + rest)


@functools.lru_cache(maxsize=4)
def bloom_of(kernel, amount, threshold, padding):
    return fftbloom.Bloom(kernel, amount=amount, threshold=threshold, padding=padding)


def bloom_file(path, to, bloom):
    """Blooms R, G and B of a file; all else stays as it is. Nuke writes all channels in one type."""
    image = oiio.ImageBuf(path)
    names = list(image.spec().channelnames)
    if image.has_error or not {"R", "G", "B"} <= set(names):
        raise RuntimeError(image.geterror() or "'%s' has no channels R, G and B, but %s" % (path, ", ".join(names)))
    pixels = image.get_pixels(oiio.HALF if image.spec().format == oiio.HALF else oiio.FLOAT)
    first = names.index("R")
    light = pixels[..., first:first + 3]
    bloom(light, out=light)
    result = oiio.ImageBuf(image.spec())  # one of a file cannot be changed
    result.set_pixels(result.roi, pixels)
    part = to + ".part.exr"  # so that nobody sees half a file
    if not result.write(part):
        raise RuntimeError(result.geterror())
    os.replace(part, to)


def after_frame():
    """Nuke calls this with the Write node as thisNode(). A failure stops the render with a message."""
    node = nuke.thisNode()
    if node.knob(KERNEL) and node[KERNEL].value():
        path = nuke.filename(node, nuke.REPLACE)
        settings = [node[name].value() for name in (KERNEL, AMOUNT, THRESHOLD, PADDING)]
        try:
            bloom_file(path, bloomed(path), bloom_of(*settings))
        except fftbloom.Error as e:
            raise RuntimeError("fftbloom: %s" % e) from None


nuke.addAfterFrameRender(after_frame, nodeClass="Write")
