"""Uses docs/programs/fftbloom_blender.py inside Blender, with star.exr: leaves plain.exr and plain_bloom_0001.exr."""
import os
import sys
import types

import bpy
import numpy

sys.path.insert(0, os.environ["FFTBLOOM_ROOT"] + "/docs/programs")
import fftbloom
import fftbloom_blender as addon

addon.register()
scene = bpy.context.scene
s = scene.fftbloom
tree = addon.compositor(scene)
tree.nodes.new("CompositorNodeBrightContrast")


def nodes():
    return [n.name for n in tree.nodes], len(tree.links)


def pixels(name):
    return addon.pixels_of(bpy.data.images[name], scene).copy()


class Layout:
    """Stands for a layout of a panel."""
    def __init__(self):
        self.names = []

    def row(self):
        return self

    def prop(self, of, name):
        getattr(of, name)
        self.names.append(name)

    def operator(self, name):
        getattr(bpy.ops.fftbloom, name.split(".")[1]).get_rna_type()
        self.names.append(name)


def refused(words):
    try:
        bpy.ops.fftbloom.image()
    except RuntimeError as e:
        assert words in str(e), e
    else:
        raise AssertionError("this passed: " + words)


before = nodes()
out = scene.render.image_settings
out.file_format, out.color_depth = "OPEN_EXR", "32"
scene.render.filepath = os.path.abspath("plain.exr")
bpy.ops.render.render(write_still=True)
assert not os.path.exists("plain_bloom_0001.exr") and "fftbloom result" not in bpy.data.images
assert s.kernel == "lens-night"
s.kernel, s.file, s.amount, s.padding, s.after_render = "FILE", os.path.abspath("star.exr"), 0.8, "clamp", True
bpy.ops.render.render(write_still=True)
assert s.message == "", s.message
for name, want in (("//shot_", "shot_bloom_0001.exr"), ("/a/b.##", "/a/b_bloom.01.exr"), ("/a/", "/a/bloom_0001.exr")):
    scene.render.filepath = name
    assert addon.bloomed_path(scene).endswith(want), addon.bloomed_path(scene)
    assert scene.render.filepath == name

# The user's nodes stay; there is one more, once.
assert nodes() == before
for _ in range(2):
    assert bpy.ops.fftbloom.node() == {"FINISHED"}
assert nodes() == (before[0] + ["fftbloom"], before[1])
assert tree.nodes["fftbloom"].image.name == "fftbloom result"

# The image editor: a preview that follows the settings, and the whole image.
plain = bpy.data.images.load(os.path.abspath("plain.exr"))
window = bpy.context.window_manager.windows[0]
area = window.screen.areas[0]
area.type = "IMAGE_EDITOR"
with bpy.context.temp_override(window=window, area=area, space_data=area.spaces.active):
    area.spaces.active.image = plain
    s.preview_size = 48
    assert bpy.ops.fftbloom.preview() == {"FINISHED"}
    first = pixels("fftbloom preview")
    assert first.shape == (32, 48, 4) and area.spaces.active.image.name == "fftbloom preview"
    small = pixels(plain.name).reshape(32, 2, 48, 2, 4).mean(axis=(1, 3))
    want = fftbloom.Bloom(s.file, padding="clamp", amount=0.8, kernel_scale=0.5)(small.astype("f4"))
    assert numpy.allclose(first, want, rtol=1e-5)
    s.amount = 0
    assert numpy.allclose(pixels("fftbloom preview"), small, rtol=1e-5)
    s.live = False
    s.amount = 0.8
    assert numpy.allclose(pixels("fftbloom preview"), small, rtol=1e-5)
    assert bpy.ops.fftbloom.image() == {"FINISHED"}
    assert area.spaces.active.image.name == "fftbloom result"
    bloomed = pixels("fftbloom result")
    # A preview of the render follows each render.
    s.source, s.live, s.amount = "Render Result", True, 0.0
    scene.render.film_transparent = True
    bpy.ops.render.render()
    assert s.message == "", s.message
    small = pixels("Render Result").reshape(32, 2, 48, 2, 4).mean(axis=(1, 3))
    assert not small[..., 3].all() and numpy.allclose(pixels("fftbloom preview"), small, rtol=1e-5)
    s.live = False
    # The panel shows settings and operators that there are.
    shown = Layout()
    addon.Panel.draw(types.SimpleNamespace(layout=shown), bpy.context)
    assert {"kernel", "file", "amount", "threshold", "padding", "fftbloom.preview", "fftbloom.node"} <= set(shown.names)
    s.kernel, shown.names = "portrait", []
    addon.Panel.draw(types.SimpleNamespace(layout=shown), bpy.context)
    assert "file" not in shown.names
    assert bpy.ops.fftbloom.preview() == {"FINISHED"}  # kernels by their names
    # What is wrong is said.
    s.kernel, s.file = "FILE", ""
    refused("choose its file")
    s.file = "none.exr"
    area.spaces.active.image = plain
    refused("none.exr")
    area.spaces.active.image = bpy.data.images.new("coded", 8, 8)
    refused("8 bits")
written = bpy.data.images.load(os.path.abspath("plain_bloom_0001.exr"))
assert numpy.array_equal(bloomed, pixels(written.name))
scene.render.filepath = os.path.abspath("second.exr")
bpy.ops.render.render(write_still=True)  # a failure does not end a render
assert "none.exr" in s.message and os.path.exists("second.exr") and not os.path.exists("second_bloom_0001.exr")

# Blender 5 has no tree until somebody makes one; here stands what it has for what is called.
class Fake:
    def __init__(self, **has):
        self.calls, self.inputs, self.outputs = [], {"Image": "in"}, {"Image": "out"}
        self.__dict__.update(has)

    def new(self, *words, **more):
        self.calls.append((*words, *more.values()))
        return self

    new_socket = new


group = Fake(interface=Fake(), nodes=Fake(), links=Fake())
five, addon.bpy = Fake(compositing_node_group=None), Fake(data=Fake(node_groups=types.SimpleNamespace(new=lambda *w: group)))
assert addon.compositor(five) is group and addon.compositor(five) is five.compositing_node_group
assert group.interface.calls == [("Image", "OUTPUT", "NodeSocketColor")] and group.links.calls == [("out", "in")]
assert group.nodes.calls == [("CompositorNodeRLayers",), ("NodeGroupOutput",)]
addon.bpy = bpy
addon.unregister()
assert not hasattr(bpy.types.Scene, "fftbloom")
print("all is well")
